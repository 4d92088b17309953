/* Helpers for tests of the optimiser: examples of rules, and graphs run with and without passes. */
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

/* Builds example k of a rule with every T as dtype t. swap: the operands of the root are swapped.
 * Fails if the pattern's ops do not accept the dtype. */
ef_status *ef_case_rule(const ef_rule *r, int k, ef_dtype t, bool swap, ef_case *out);
/* Compares the optimised graph (without the passes in `off`) with the graph as given. Returns NULL
 * if both give the same values within `tolerance` (relative; 0: to the bit) or the same error; else
 * an error that says what differs. */
ef_status *ef_case_compare(const ef_case *c, const char *off, double tolerance);
/* The same comparison with the graph's small constants lifted out and passed as inputs. */
ef_status *ef_case_compare_lifted(const ef_case *c, double tolerance);
/* Runs the graph as it is given; out has room for all outputs. */
ef_status *ef_case_run(ef_graph *g, ef_tensor *in, int n_in, ef_tensor *out);
/* Compares two tensors of one dtype and shape; *worst is the largest relative difference. */
bool ef_case_same(const ef_tensor *a, const ef_tensor *b, double tolerance, double *worst);
void ef_case_fill(ef_tensor *t, uint64_t *state); /* random values of a plain dtype */
uint64_t ef_case_draw(uint64_t *state);
/* Makes a random function over many ops, with loops, branches, calls and sometimes a variable, and
 * inputs for it. *tolerance: how much its values may differ if sums have another order. */
ef_status *ef_case_random(uint64_t seed, ef_case *out, double *tolerance);
#endif
