/* Tensors of a few floats, for tests of the C library. */
#ifndef EF_TESTS_SMALL_TENSORS_H
#define EF_TESTS_SMALL_TENSORS_H
#include <evenflow.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static inline void scalar(ef_tensor *t, float v) {
    ef_status_free(ef_tensor_from(EF_F32, NULL, &v, t));
}

static inline void vector(ef_tensor *t, int n, const float *v) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_status_free(ef_tensor_from(EF_F32, &s, v, t));
}

static inline float at(const ef_tensor *t, int k) {
    const void *v = NULL;
    ef_status_free(ef_tensor_data(t, &v));
    return v != NULL ? ((const float *)v)[k] : NAN;
}

/* Whether it is an error of this code; frees it. */
static inline bool fails(ef_status *s, ef_code code) {
    bool yes = ef_status_code(s) == code;
    if (!yes) printf("  status %d: %s\n", (int)ef_status_code(s), ef_status_message(s));
    ef_status_free(s);
    return yes;
}
#endif
