/* Cross - the vector product of three-element vectors along the last axis. */
#include "ops/build.h"
#include "ops/shapes.h"

static ef_status *three(const ef_op *op, const ef_shape *y, ef_code code) {
    if (y->rank <= 0 || ef_dim_may_equal(y->dim[y->rank - 1], 3)) return NULL;
    return ef_error(code,
                    "%s: Cross-products are only defined for 3-element vectors, but the inputs are "
                    "%s",
                    op->name, EF_SHAPE(y));
}

static ef_status *cross_shape(ef_infer *i) {
    const ef_shape *a = &i->in[0].shape, *b = &i->in[1].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    if (!ef_shape_may_equal(a, b))
        return ef_error(EF_INVALID, "%s: Both inputs must be of same shape: %s vs. %s", i->op->name,
                        EF_SHAPE(a), EF_SHAPE(b));
    EF_TRY(ef_shape_merge(a, b, &i->out[0].shape));
    return NULL;
}

static ef_status *cross_check(ef_infer *i) { return three(i->op, &i->out[0].shape, EF_INVALID); }

/* Integers are multiplied as unsigned numbers, so overflow wraps. */
#define CROSS(SUF, T, W, GET, PUT)                                                 \
    static void cross_##SUF(const void *a_, const void *b_, void *y_, int64_t n) { \
        const T *a = a_, *b = b_;                                                  \
        T *y = y_;                                                                 \
        for (int64_t i = 0; i < n; i++, a += 3, b += 3, y += 3)                    \
            for (int k = 0; k < 3; k++) {                                          \
                W p = (W)GET(a[(k + 1) % 3]), q = (W)GET(b[(k + 2) % 3]);          \
                W r = (W)GET(a[(k + 2) % 3]), s = (W)GET(b[(k + 1) % 3]);          \
                y[k] = PUT(p * q - r * s);                                         \
            }                                                                      \
    }
#define SAME(x) (x)
CROSS(F32, float, float, SAME, SAME)
CROSS(F64, double, double, SAME, SAME)
CROSS(F16, ef_f16, float, ef_f16_float, ef_float_f16)
CROSS(BF16, ef_bf16, float, ef_bf16_float, ef_float_bf16)
CROSS(I8, int8_t, uint32_t, SAME, (int8_t))
CROSS(I16, int16_t, uint32_t, SAME, (int16_t))
CROSS(I32, int32_t, uint32_t, SAME, (int32_t))
CROSS(I64, int64_t, uint64_t, SAME, (int64_t))
CROSS(U8, uint8_t, uint32_t, SAME, (uint8_t))
CROSS(U16, uint16_t, uint32_t, SAME, (uint16_t))
CROSS(U32, uint32_t, uint32_t, SAME, SAME)
CROSS(U64, uint64_t, uint64_t, SAME, SAME)

static ef_status *cross_run(const ef_call *c) {
#define ROW(SUF, T) [EF_##SUF] = cross_##SUF,
    static void (*const table[EF_DTYPES])(const void *, const void *, void *, int64_t) = {
        EF_EACH_INT(ROW) EF_EACH_FULL_FLOAT(ROW) EF_EACH_HALF(ROW)};
    const ef_tensor *a = c->in[0];
    ef_shape shape = ef_shape_from(a);
    EF_TRY(three(c->op, &shape, EF_FAILED_PRECONDITION));
    table[a->dtype](a->data, c->in[1]->data, c->out[0]->data, ef_count(a) / 3);
    return NULL;
}

static ef_status *cross_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "Cross", 2, g->in[1], g->dout[0]);
    g->din[1] = ef_emit(g->b, "Cross", 2, g->dout[0], g->in[0]);
    return NULL;
}

const ef_op ef_op_Cross = {
    EF_NAMED(Cross),
    .doc = "The vector product of the three-element vectors in the last axes of `a` and `b`.",
    .in = {"a: T", "b: T"},
    .out = {"product: T"},
    .types = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, "
             "uint64}",
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = cross_shape,
    .graph_check = cross_check,
    .kernel = {{EF_CPU, EF_REALS, cross_run, NULL, NULL, NULL, NULL}},
    .grad = cross_grad,
    .examples = {"T[3] T[3]", "T[2,4,3] T[2,4,3]", "T[0,3] T[0,3]"},
};
