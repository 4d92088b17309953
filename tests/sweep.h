/* Calls with arguments at the limits of what an op accepts, generated from the examples in its
 * record. Each change of an example has a number, so that a finding can be repeated and another
 * program can run the same list of calls. */
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

/* Makes change `number` (from 0) of example k of op. Returns false, with nothing to free, if there
 * are fewer changes or the example cannot be made. */
bool ef_sweep_make(const ef_op *op, int k, int number, ef_sweep_call *out);
/* Applies one more change to a call that was made; false: no such change. */
bool ef_sweep_change(ef_sweep_call *c, int number);
/* Runs the call. Returns NULL, or a description of a failure in a buffer of this thread. */
const char *ef_sweep_run(ef_sweep_call *c);
/* Whether the call is rejected, or its results have a moderate size. */
bool ef_sweep_moderate(const ef_sweep_call *c);
void ef_sweep_free(ef_sweep_call *c);
/* Writes one line of JSON for a program that runs another engine; false if it cannot be expressed
 * (resources). */
bool ef_sweep_print(const ef_sweep_call *c, FILE *to);
#endif
