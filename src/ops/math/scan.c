/* Cumulative sums and products along one axis: Cumsum, Cumprod, CumulativeLogsumexp. */
#include "kernels/scan.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <float.h>

typedef struct {
    bool exclusive, reverse;
} scan_attrs;

static ef_status *scan_shape(ef_infer *i) {
    const ef_fact *axis = &i->in[1];
    if (axis->shape.rank > 0)
        return ef_error(EF_INVALID, "%s: axis must be a scalar, but has shape %s", i->op->name,
                        EF_SHAPE(&axis->shape));
    if (axis->value != NULL && i->in[0].shape.rank >= 0) {
        int at;
        int64_t a = ef_element_int(axis->dtype, axis->value->data, 0);
        EF_TRY(ef_need_axis(i->op, a, i->in[0].shape.rank, &at));
    }
    return ef_shape_same(i);
}

static ef_status *scan(const ef_call *c, ef_scan_kind kind) {
    const scan_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    int axis;
    EF_TRY(ef_need_axis(c->op, ef_element_int(c->in[1]->dtype, c->in[1]->data, 0), x->rank, &axis));
    ef_shape shape = ef_shape_from(x);
    ef_scan s = {kind,
                 x->dtype,
                 ef_shape_span(&shape, 0, axis),
                 x->dim[axis],
                 ef_shape_span(&shape, axis + 1, x->rank),
                 t->exclusive,
                 t->reverse,
                 x->data,
                 c->out[0]->data};
    ef_scan_run(&s);
    return NULL;
}
static ef_status *run_sum(const ef_call *c) { return scan(c, EF_SCAN_SUM); }
static ef_status *run_prod(const ef_call *c) { return scan(c, EF_SCAN_PROD); }
static ef_status *run_lse(const ef_call *c) { return scan(c, EF_SCAN_LOGSUMEXP); }

/* The same scan in the opposite direction. */
static ef_value *back(ef_grad *g, const char *op, ef_value *x) {
    const scan_attrs *t = g->attrs;
    const ef_attr_value set[] = {EF_SET_BOOL("exclusive", t->exclusive),
                                 EF_SET_BOOL("reverse", !t->reverse)};
    return ef_emit_set(g->b, op, set, 2, 2, x, g->in[1]);
}

static ef_status *sum_grad(ef_grad *g) {
    g->din[0] = back(g, "Cumsum", g->dout[0]);
    return NULL;
}

static ef_status *prod_grad(ef_grad *g) {
    ef_value *sums = back(g, "Cumsum", ef_mul(g->b, ef_conj(g->b, g->out[0]), g->dout[0]));
    g->din[0] = ef_emit(g->b, "DivNoNan", 2, sums, ef_conj(g->b, g->in[0]));
    return NULL;
}

/* The positive or the negative part of the gradient, computed with logarithms so that nothing
 * overflows. */
static ef_value *lse_part(ef_grad *g, ef_value *part) {
    ef_build *b = g->b;
    ef_dtype t = part->fact.dtype;
    double lowest = t == EF_F64    ? -DBL_MAX
                    : t == EF_F16  ? -65504
                    : t == EF_BF16 ? -3.38953139e38
                                   : -FLT_MAX;
    ef_value *is_there = ef_emit(b, "Greater", 2, part, ef_const_number(b, t, 0));
    ef_value *logs =
        ef_select(b, is_there, ef_emit(b, "Log", 1, part), ef_const_number(b, t, lowest));
    ef_value *sums = back(g, "CumulativeLogsumexp", ef_sub(b, logs, g->out[0]));
    return ef_emit(b, "Exp", 1, ef_add(b, sums, g->in[0]));
}

static ef_status *lse_grad(ef_grad *g) {
    ef_value *dy = g->dout[0];
    g->din[0] = ef_sub(g->b, lse_part(g, dy), lse_part(g, ef_neg(g->b, dy)));
    return NULL;
}

#define NUMBERS                                                                          \
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, " \
    "complex128, half, uint32, uint64}; Tidx: {int32, int64} = int32"
#define SCAN(N, DOC, TYPES, RUN, KEEPS, GRAD, EXCLUSIVE)                                         \
    const ef_op ef_op_##N = {                                                                    \
        EF_NAMED(N),                                                                             \
        .doc = DOC " `exclusive` leaves out the element itself; `reverse` starts from the end.", \
        .in = {"x: T", "axis: Tidx"},                                                            \
        .out = {"out: T"},                                                                       \
        .types = TYPES,                                                                          \
        .declared = EF_QUANTIZED,                                                                \
        .attr = {EF_ATTR(scan_attrs, exclusive, "bool", "false"),                                \
                 EF_ATTR(scan_attrs, reverse, "bool", "false")},                                 \
        .attr_size = sizeof(scan_attrs),                                                         \
        .traits = EF_MAY_ALIAS_0,                                                                \
        .keeps = (KEEPS),                                                                        \
        .shape = scan_shape,                                                                     \
        .kernel = {{EF_CPU, EF_NUMBERS, RUN, NULL, NULL, NULL, NULL}},                           \
        .grad = GRAD,                                                                            \
        .examples = {"T[4] int32[]{0}", "T[2,3,4] int64[]{1}" EXCLUSIVE,                         \
                     "T[2,3] int32[]{-1} reverse=true",                                          \
                     "T[3,2] int32[]{0} reverse=true" EXCLUSIVE, "T[0,3] int32[]{1}"},           \
    };
SCAN(Cumsum, "Cumulative sums along an axis.", NUMBERS, run_sum, EF_KEEP_IN(1), sum_grad,
     " exclusive=true")
SCAN(Cumprod, "Cumulative products along an axis.", NUMBERS, run_prod,
     EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), prod_grad, " exclusive=true")
/* Exclusive sums begin with -inf, where finite differences cannot check a gradient. */
SCAN(CumulativeLogsumexp, "The logarithm of the cumulative sums of exponentials along an axis.",
     "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32", run_lse,
     EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), lse_grad, "")
