/* Loops as passes see them, and how a pass rebuilds one with further variables. */
#ifndef EF_PASSES_LOOP_H
#define EF_PASSES_LOOP_H
#include "passes/passes.h"
#include "passes/walk.h"

typedef struct ef_loop {
    const ef_node *node;
    ef_graph *cond, *body;
} ef_loop;
/* Whether n is a loop that passes can rewrite: its functions have no captures. */
bool ef_loop_of(const ef_node *n, ef_loop *l);
/* Whether g holds such a loop. */
bool ef_graph_has_loop(const ef_graph *g);

/* Whether every iteration returns variable k unchanged. */
static inline bool ef_loop_fixed(const ef_loop *l, size_t k) {
    return l->body->output[k].node == l->body->input[k];
}
/* The index of the fixed variable if edge e of the body is one, else -1. */
int ef_loop_fixed_at(const ef_loop *l, ef_edge e);

/* Whether edge e of g is a list that loop *l fills: it starts as a new list, and every iteration
 * pushes one element, *pushed of the body, and reads none. */
bool ef_loop_fills(const ef_graph *g, ef_edge e, ef_loop *l, ef_edge *pushed);
/* Whether every iteration pops an element of variable k and does nothing else with it. */
bool ef_loop_pops(const ef_loop *l, size_t k, const ef_node **pop);
/* in: where the loop's inputs are in g. The variable whose elements the condition counts, if the
 * loop pops all elements that an earlier loop pushed to it; else -1. */
int ef_loop_emptied(const ef_graph *g, const ef_loop *l, const ef_edge *in);
/* Whether the loop pops all elements that this earlier loop pushed to variable k. */
bool ef_loop_empties(const ef_graph *g, const ef_loop *l, const ef_edge *in, size_t k);

/* Whether the condition is known to hold after `steps` iterations. in: where the loop's inputs are
 * in w->to. Only constants, and integers to which each iteration adds a constant, are known. */
ef_status *ef_loop_runs(const ef_walk *w, const ef_loop *l, const ef_edge *in, int64_t steps,
                        bool *yes);

enum { EF_LOOP_MOST_NEW = 64 }; /* variables that one rewrite adds */
typedef struct ef_loop_change ef_loop_change;
struct ef_loop_change {
    const ef_loop *loop;
    ef_walk_fn *visit; /* of the body; new variable k is input n_inputs + k of the new body */
    /* Sets back[k] to what the new body returns for new variable k, and may add nodes to it. NULL:
     * new variables are returned unchanged. */
    ef_status *(*finish)(ef_loop_change *c, ef_graph *body, ef_edge *back);
    const ef_fact *more[EF_LOOP_MOST_NEW]; /* facts of the new variables, */
    ef_edge start[EF_LOOP_MOST_NEW];       /* and their first values, edges around the loop */
    int n_more;
};
/* Adds the changed loop to w->to; out: the outputs that the old one had. c->start becomes the final
 * values of the new variables. The walk of the body has `c` as its user. */
ef_status *ef_loop_rebuild(ef_passing *p, ef_walk *w, ef_loop_change *c, const ef_edge *in,
                           ef_edge *out);
#endif
