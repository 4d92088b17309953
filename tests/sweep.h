/* Calls at the edge of what an op accepts, generated from the examples in its record. Each change
 * of an example has a number, so a finding can be repeated and another program can be given the
 * same list of calls. */
#ifndef EF_TESTS_SWEEP_H
#define EF_TESTS_SWEEP_H
#include "ops/example.h"
#include <stdio.h>

typedef struct ef_sweep_call {
    const ef_op *op;
    ef_example e;
    bool declared;                     /* sizes that are only declared: inference, no run */
    ef_shape shape[EF_EXAMPLE_MAX_IN]; /* what inference is told if `declared` */
    char about[600];                   /* "Sum #3 (...): input 0 is float32[0, 3]" */
} ef_sweep_call;

/* Change `number` (from 0) of example k of op. False: there are fewer changes, or the example
 * cannot be made; nothing is held then. */
bool ef_sweep_make(const ef_op *op, int k, int number, ef_sweep_call *out);
/* Applies one more change to a call that was made; false: no such change. */
bool ef_sweep_change(ef_sweep_call *c, int number);
/* Runs it. NULL, or what must not happen, in a buffer of this thread. */
const char *ef_sweep_run(ef_sweep_call *c);
/* Whether it is refused, or its results are of moderate size. */
bool ef_sweep_moderate(const ef_sweep_call *c);
void ef_sweep_free(ef_sweep_call *c);
/* One line of JSON, for a program that asks another engine; false: not expressible (resources). */
bool ef_sweep_print(const ef_sweep_call *c, FILE *to);
#endif
