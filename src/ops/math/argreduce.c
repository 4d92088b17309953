/* ArgMax and ArgMin: the index of the largest or smallest element along one axis. */
#include "kernels/argreduce.h"
#include "ops/build.h"
#include "ops/shapes.h"

typedef struct {
    ef_dtype output_type;
} arg_attrs;

static ef_status *check_axis(const ef_op *op, int64_t axis, const ef_shape *x, int *out) {
    EF_TRY(ef_need_axis(op, axis, x->rank, out));
    if (x->dim[*out] == 0)
        return ef_error(EF_INVALID,
                        "%s: Reduction axis %d is empty in shape %s; it needs an element", op->name,
                        *out, EF_SHAPE(x));
    return NULL;
}

static ef_status *arg_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    const ef_fact *axis = &i->in[1];
    ef_shape *y = &i->out[0].shape;
    if (axis->shape.rank > 0)
        return ef_error(EF_INVALID, "%s: dimension must be a scalar, but has shape %s", i->op->name,
                        EF_SHAPE(&axis->shape));
    if (x->rank < 0) return NULL;
    if (axis->value == NULL) {
        y->rank = x->rank > 0 ? x->rank - 1 : 0;
        for (int d = 0; d < y->rank; d++) y->dim[d] = EF_DIM_UNKNOWN;
        return NULL;
    }
    int at;
    EF_TRY(check_axis(i->op, ef_element_int(axis->dtype, axis->value->data, 0), x, &at));
    y->rank = 0;
    for (int d = 0; d < x->rank; d++)
        if (d != at) y->dim[y->rank++] = x->dim[d];
    return NULL;
}

static ef_status *run(const ef_call *c, bool smallest) {
    const ef_tensor *x = c->in[0], *y = c->out[0];
    ef_shape shape = ef_shape_from(x);
    int axis;
    EF_TRY(check_axis(c->op, ef_element_int(c->in[1]->dtype, c->in[1]->data, 0), &shape, &axis));
    ef_argreduce a = {x->dtype,     y->dtype,
                      smallest,     ef_shape_span(&shape, 0, axis),
                      x->dim[axis], ef_shape_span(&shape, axis + 1, x->rank),
                      x->data,      y->data};
    ef_argreduce_run(&a);
    return NULL;
}
static ef_status *run_max(const ef_call *c) { return run(c, false); }
static ef_status *run_min(const ef_call *c) { return run(c, true); }

#define REALS                                                                               \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, " \
    "uint64, "                                                                              \
    "bool}; "
#define ARG(N, DOC, TIDX, OUT, RUN)                                              \
    const ef_op ef_op_##N = {                                                    \
        EF_NAMED(N),                                                             \
        .doc = DOC,                                                              \
        .in = {"input: T", "dimension: Tidx"},                                   \
        .out = {"output: output_type"},                                          \
        .types = REALS TIDX,                                                     \
        .declared = EF_QUANTIZED,                                                \
        .attr = {EF_ATTR(arg_attrs, output_type, OUT, "int64")},                 \
        .attr_size = sizeof(arg_attrs),                                          \
        .traits = EF_NO_GRAD,                                                    \
        .shape = arg_shape,                                                      \
        .kernel = {{EF_CPU, EF_PLAIN, RUN, NULL, NULL, NULL, NULL}},             \
        .examples = {"T[2,3,4] int32[]{1}", "T[5] int64[]{0} output_type=int32", \
                     "T[3,4] int32[]{-1}", "T[0,3] int32[]{1}"},                 \
    };
ARG(ArgMax, "The index of the largest element along an axis; the first one if several are equal.",
    "Tidx: {int16, int32, int64} = int32", "{int16, uint16, int32, int64}", run_max)
ARG(ArgMin, "The index of the smallest element along an axis; the first one if several are equal.",
    "Tidx: {int32, int64} = int32", "{int32, int64}", run_min)
