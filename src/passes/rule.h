/* Rewrite rules as data. A rule is a row: name, pattern, replacement, and a guard that may decline.
 * Patterns are trees in prefix order; capitals bind, and a name used twice must bind the same
 * value. Ops with the trait EF_COMMUTES match in both orders, so no rule is written twice.
 *
 *     {"x*1 -> x", P(OP(Mul), X, ONE), P(X), .when = keeps_real_x, .examples = {"T[2,3] T[]{1}"}}
 *
 * A rule matches a node and the nodes it reads, which the walk has already put into their final
 * form; a replacement is built through the same rules. So one pass reaches the fixpoint. */
#ifndef EF_PASSES_RULE_H
#define EF_PASSES_RULE_H
#include "passes/walk.h"

enum { EF_RULE_TOKENS = 12, EF_RULE_INNER = 4, EF_RULE_EXAMPLES = 4 };

/* Tokens: an op is its id plus one. */
enum ef_rule_token {
    EF_RULE_END = 0,
    /* bind one value each */
    EF_RULE_X = -1,
    EF_RULE_Y = -2,
    EF_RULE_Z = -3,
    EF_RULE_B = -4,
    EF_RULE_R = -5,
    EF_RULE_NAMES = 5,
    EF_RULE_REST = -8,           /* all further inputs of the pattern's one node that has it */
    EF_RULE_ZERO = -16,          /* 0, +0.0 or false in every element */
    EF_RULE_NEGATIVE_ZERO = -17, /* 0 or -0.0: adding it changes no bit */
    EF_RULE_ONE = -18,           /* 1 or true */
    EF_RULE_TWO = -19,
    EF_RULE_MINUS_ONE = -20
};
typedef struct ef_match {
    ef_walk *walk;
    const ef_graph *g; /* the new graph, where everything below lives */
    const ef_op *op;   /* the root: not yet a node */
    const ef_attrs *attrs;
    const void *fields;
    const ef_edge *in;
    int n_in;
    ef_edge bound[EF_RULE_NAMES + 1]; /* by -token; node -1: free */
    ef_edge constant;                 /* the last value that matched a number */
    const ef_edge *rest;
    int n_rest;
    const ef_node *inner[EF_RULE_INNER]; /* the pattern's other nodes in prefix order */
    int n_inner;
} ef_match;

typedef struct ef_rule {
    const char *name;
    int16_t pattern[EF_RULE_TOKENS], replacement[EF_RULE_TOKENS];
    /* NULL: always. May bind names that the pattern left free (ef_match_bind). */
    bool (*when)(ef_match *m);
    /* Attributes of the replacement's root, counted. NULL: those of the pattern's root that have
     * the same name, defaults otherwise. */
    ef_status *(*attrs)(const ef_match *m, const ef_op *op, const ef_attrs **out);
    bool loose; /* changes floating-point results: only with EF_MATH=loose */
    /* Values for the names in order of appearance and numbers in place, then attributes that go to
     * every node that has them ("DstT=float,int32": to the first, the second ... in prefix order).
     * The rule's test is made from these. T: each dtype that fits. */
    const char *examples[EF_RULE_EXAMPLES];
} ef_rule;

/* Every table of rules; ends with NULL. Each table ends with a row without a name. */
extern const ef_rule *const ef_rule_tables[];
extern const ef_rule ef_rules_arithmetic[], ef_rules_shape[], ef_rules_fused[];

/* For guards and attribute functions. */
static inline ef_edge ef_match_get(const ef_match *m, int name) { return m->bound[-name]; }
static inline const ef_fact *ef_match_fact(const ef_match *m, int name) {
    return ef_edge_fact(m->g, m->bound[-name]);
}
/* Binds a name the pattern left free; false: out of memory or not possible. */
bool ef_match_bind_ints(ef_match *m, int name, int n, const int64_t *v);
bool ef_match_bool(const ef_op *op, const void *fields, const char *attr);
/* The dtype of the root's first input. */
static inline ef_dtype ef_match_dtype(const ef_match *m) {
    return ef_edge_fact(m->g, m->in[0])->dtype;
}

/* Called for each rewrite; NULL: none. `before` and `after` look like "Sub(%1, Neg(%2))". With
 * EF_LOG=rewrite and no hook, lines go to the standard error stream. */
typedef void ef_rewrite_hook_fn(const char *rule, const char *before, const char *after);
extern ef_rewrite_hook_fn *ef_rewrite_hook;
extern _Thread_local const struct ef_pass_observer
    *ef_rewrite_observer; /* of this thread, or NULL */

/* Applies the first rule that matches such a node: *done says whether there is one, and *out
 * replaces its first output. */
ef_status *ef_rule_try(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out, bool *done);
/* Adds a node, or what a rule makes of it: *out is the node's first output or its replacement. */
ef_status *ef_rule_add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out);
#endif
