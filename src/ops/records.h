/* Macros that the records of elementwise ops share, so that an op is written as its expression, its
 * gradient and a doc string. */
#ifndef EF_OPS_RECORDS_H
#define EF_OPS_RECORDS_H
#include "ops/build.h"
#include "ops/elementwise.h"
#include "ops/shapes.h"
#include "ops/tile.h"

#define EF_T_FLOATS "T: {bfloat16, half, float, double}"
#define EF_T_FLOATS_COMPLEX "T: {bfloat16, half, float, double, complex64, complex128}"
#define EF_T_REALS \
    "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64}"
#define EF_T_NUMBERS                                                                         \
    "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, " \
    "int64, "                                                                                \
    "complex64, complex128}"
#define EF_T_INTS "T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
#define EF_T_SIGNED \
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"

/* The fields that all these records have in common; types, traits, tile and grad are the op's
 * own. */
#define EF_BINARY(N, text)                                               \
    EF_NAMED(N), .doc = (text), .in = {"x: T", "y: T"}, .out = {"z: T"}, \
                 .shape = ef_shape_broadcast, .kernel = EF_ELEMENTWISE_KERNEL
#define EF_UNARY(N, text)                                                                \
    EF_NAMED(N), .doc = (text), .in = {"x: T"}, .out = {"y: T"}, .shape = ef_shape_same, \
                 .kernel = EF_ELEMENTWISE_KERNEL
#define EF_IN_PLACE (EF_ELEMENTWISE | EF_MAY_ALIAS_0)
#define EF_BROADCAST_EXAMPLES \
    { "T[2,3] T[3]", "T[2,1,3] T[2,1]", "T[] T[4]", "T[0,3] T[3]" }
#define EF_UNARY_EXAMPLES \
    { "T[2,3]", "T[]", "T[0,3]" }

/* Gradients of two operands that broadcast: each is summed back to its operand's shape. */
static inline ef_status *ef_grad_pair(ef_grad *g, ef_value *dx, ef_value *dy) {
    g->din[0] = ef_sum_like(g->b, dx, g->in[0]);
    g->din[1] = ef_sum_like(g->b, dy, g->in[1]);
    return NULL;
}
/* Emits the op of this name with one or two operands. */
static inline ef_value *ef_emit1(ef_build *b, const char *op, ef_value *x) {
    return ef_emit(b, op, 1, x);
}
static inline ef_value *ef_emit2(ef_build *b, const char *op, ef_value *x, ef_value *y) {
    return ef_emit(b, op, 2, x, y);
}
/* Stamps name_grad: EXPR, in terms of b, x, y (the result) and dy, is the gradient of input 0. */
#define EF_UNARY_GRAD(name, EXPR)                                 \
    static ef_status *name##_grad(ef_grad *g) {                   \
        ef_build *b = g->b;                                       \
        ef_value *x = g->in[0], *y = g->out[0], *dy = g->dout[0]; \
        (void)b, (void)x, (void)y;                                \
        g->din[0] = (EXPR);                                       \
        return NULL;                                              \
    }

/* Index of the element of `in` that element `at` of the broadcast result reads. */
static inline int64_t ef_broadcast_at(const ef_tensor *in, const ef_tensor *out, int64_t at) {
    int64_t index = 0, step = 1;
    for (int d = out->rank - 1, k = in->rank - 1; k >= 0; d--, k--) {
        if (in->dim[k] != 1) index += at % out->dim[d] * step;
        at /= out->dim[d];
        step *= in->dim[k];
    }
    return index;
}
#endif
