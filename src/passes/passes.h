/* Optimising a function graph: named passes in one ordered table, each graph -> graph. */
#ifndef EF_PASSES_PASSES_H
#define EF_PASSES_PASSES_H
#include "graph/graph.h"

typedef struct ef_passing ef_passing; /* one run of the optimiser */

/* A pass reads g and writes a new graph with the same inputs and outputs; *out = NULL: nothing to
 * do. */
typedef ef_status *ef_pass_fn(ef_passing *p, const ef_graph *g, ef_graph **out);
typedef struct ef_pass {
    const char *name;
    ef_pass_fn *run;
} ef_pass;
extern const ef_pass ef_passes[]; /* in order, ends with a NULL name */

/* Runs all passes except those switched off by name (EF_PASSES=-fold,-rules), verifying after each
 * in debug builds. Functions inside (bodies, branches) are optimised too. *out is a new, finished
 * graph, or g itself, counted. A pass that fails for another reason than memory is skipped. */
ef_status *ef_optimise(ef_graph *g, ef_graph **out);
/* The same with the given passes switched off ("fold,rules"; "all"; NULL: none). */
ef_status *ef_optimise_without(ef_graph *g, const char *off, ef_graph **out);

/* Callbacks that are told what the optimiser does to one function: each pass that changed a graph,
 * and each rewrite as ef_rewrite_hook. depth: how deep the function is nested; 0: the outermost. */
typedef struct ef_pass_observer {
    void *user;
    void (*pass)(void *user, const char *name, int depth, const ef_graph *before,
                 const ef_graph *after);
    void (*rewrite)(void *user, const char *rule, const char *before, const char *after);
} ef_pass_observer;
ef_status *ef_optimise_observed(ef_graph *g, const ef_pass_observer *observer, ef_graph **out);

/* For passes: optimises a nested function in the same run; each function is optimised once. *out is
 * borrowed from the run. */
ef_status *ef_optimise_inner(ef_passing *p, ef_graph *g, ef_graph **out);

ef_pass_fn ef_pass_inline;    /* replaces each call by the nodes of the called function */
ef_pass_fn ef_pass_functions; /* optimises loop bodies and branches as functions of their own */
ef_pass_fn ef_pass_invariant; /* loop-invariant code motion */
ef_pass_fn ef_pass_saved;     /* gradients of loops read a value that no iteration changes once */
ef_pass_fn ef_pass_products;  /* computes the matrix products of all iterations as one product */
ef_pass_fn ef_pass_lists;     /* fills no lists of which the gradient of a loop reads nothing */
ef_pass_fn ef_pass_fold;      /* constant folding */
ef_pass_fn ef_pass_rules;     /* the rewrite rules, and common subexpression elimination */
ef_pass_fn ef_pass_attention; /* replaces attention and its gradients by one op each */
ef_pass_fn ef_pass_updates;   /* fuses the assignments of an optimizer update into one op */
ef_pass_fn ef_pass_layout;    /* gives images the layout with channels last (NHWC) */
ef_pass_fn ef_pass_prune;     /* removes nodes that no output depends on */
#endif
