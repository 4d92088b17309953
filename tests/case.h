/* Tests of the optimiser: rules taken at their word, graphs run as they are and optimised. */
#ifndef EF_TESTS_CASE_H
#define EF_TESTS_CASE_H
#include "passes/rule.h"

enum { EF_CASE_MAX_IN = 16, EF_CASE_MAX_OUT = 16 };

/* A function graph with values for its inputs. */
typedef struct ef_case {
    ef_graph *graph;
    int n_in;
    ef_tensor in[EF_CASE_MAX_IN];
} ef_case;
void ef_case_free(ef_case *c);

/* Example k of a rule with every T as dtype t. swap: operands of the root the other way round.
 * Fails where the pattern's ops do not take the dtype. */
ef_status *ef_case_rule(const ef_rule *r, int k, ef_dtype t, bool swap, ef_case *out);
/* Runs the graph optimised (but for passes in `off`) against the graph as it is. NULL: same
 * values within `tolerance` (relative; 0: to the bit), or the same error; else what differs. */
ef_status *ef_case_compare(const ef_case *c, const char *off, double tolerance);
/* The same with the graph's small numbers taken out and given as inputs. */
ef_status *ef_case_compare_lifted(const ef_case *c, double tolerance);
/* Runs the graph as it is given; out has room for all outputs. */
ef_status *ef_case_run(ef_graph *g, ef_tensor *in, int n_in, ef_tensor *out);
/* Compares two tensors of one dtype and shape; *worst is the largest relative difference. */
bool ef_case_same(const ef_tensor *a, const ef_tensor *b, double tolerance, double *worst);
void ef_case_fill(ef_tensor *t, uint64_t *state); /* random values of a plain dtype */
uint64_t ef_case_draw(uint64_t *state);
/* A random function over many ops, with loops, branches, calls and a variable now and then, and
 * inputs for it. *tolerance: what its values may differ by when sums are made in another order. */
ef_status *ef_case_random(uint64_t seed, ef_case *out, double *tolerance);
#endif
