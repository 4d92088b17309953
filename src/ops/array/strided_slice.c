/* StridedSlice, its gradient StridedSliceGrad, and TensorStridedSliceUpdate. */
#include "ops/array/array.h"
#include "ops/array/strided.h"
#include "ops/build.h"

/* Checks the three vectors at inputs k, k+1, k+2; *n: their common length, -1 if not known. */
static ef_status *check_vectors(const ef_infer *i, int k, int64_t *n) {
    *n = -1;
    for (int j = k; j < k + 3; j++) {
        const ef_shape *s = &i->in[j].shape;
        EF_TRY(ef_need_rank(i, j, 1));
        if (s->rank < 0 || s->dim[0] < 0) continue;
        if (*n >= 0 && s->dim[0] != *n)
            return ef_error(EF_INVALID,
                            "%s: Expected begin, end, and strides to be 1D equal size tensors, "
                            "but got %lld and %lld entries",
                            i->op->name, (long long)*n, (long long)s->dim[0]);
        *n = s->dim[0];
    }
    return NULL;
}

static ef_status *strided_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t n;
    EF_TRY(check_vectors(i, 1, &n));
    if (x->rank < 0 || i->in[3].value == NULL) return NULL;
    ef_strided s;
    EF_TRY(ef_strided_read(i->op, i->attrs, x, ef_count(i->in[3].value), i->in[1].value,
                           i->in[2].value, i->in[3].value, &s));
    i->out[0].shape = s.out;
    return NULL;
}

/* Reads begin, end and strides from inputs k.. for a tensor of shape x. */
static ef_status *read_slice(const ef_call *c, int k, const ef_shape *x, ef_strided *s) {
    int64_t n = ef_count(c->in[k]);
    if (ef_count(c->in[k + 1]) != n || ef_count(c->in[k + 2]) != n)
        return ef_error(EF_INVALID,
                        "%s: Expected begin, end, and strides to be 1D equal size tensors, but "
                        "got %lld, %lld and %lld entries",
                        c->op->name, (long long)n, (long long)ef_count(c->in[k + 1]),
                        (long long)ef_count(c->in[k + 2]));
    return ef_strided_read(c->op, c->attrs, x, n, c->in[k], c->in[k + 1], c->in[k + 2], s);
}

static ef_status *strided_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_shape shape = ef_shape_from(x);
    ef_strided s;
    ef_block b;
    int64_t first;
    EF_TRY(read_slice(c, 1, &shape, &s));
    EF_TRY(ef_out_memory(c, 0));
    ef_strided_block(&s, x->dim, false, &b, &first);
    const char *at = (const char *)x->data + first * (int64_t)ef_dtype_size((ef_dtype)x->dtype);
    return ef_block_copy((ef_dtype)x->dtype, c->out[0]->data, at, &b);
}

static ef_status *strided_grad(ef_grad *g) {
    ef_dtype t = g->in[1]->fact.dtype;
    ef_value *in[4] = {ef_shape_value(g->b, g->in[0], t == EF_I16 ? EF_I32 : t), g->in[1], g->in[2],
                       g->in[3]};
    if (t == EF_I16)
        for (int k = 1; k < 4; k++) in[k] = ef_cast(g->b, in[k], EF_I32);
    g->din[0] =
        ef_emit_like(g, "StridedSliceGrad", NULL, 0, 5, in[0], in[1], in[2], in[3], g->dout[0]);
    return NULL;
}

/* x[i]: if every axis is indexed by one number or taken whole, the shape is the same for all i. */
static bool is_index(const void *attrs, int k, const ef_fact *in_k) {
    const ef_strided_attrs *a = attrs;
    const ef_shape *s = &in_k->shape;
    if ((k != 1 && k != 2) || s->rank != 1 || s->dim[0] < 0 || s->dim[0] > 62) return false;
    int64_t all = (INT64_C(1) << s->dim[0]) - 1;
    int64_t free =
        a->shrink_axis_mask | a->new_axis_mask | a->ellipsis_mask | (a->begin_mask & a->end_mask);
    return (free & all) == all;
}

const ef_op ef_op_StridedSlice = {
    EF_NAMED(StridedSlice),
    .doc = "The slice `input[begin:end:strides]` as in Python. The masks mark open ends, the "
           "ellipsis, new axes and axes that are indexed by one number and so removed.",
    .in = {"input: T", "begin: Index", "end: Index", "strides: Index"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Index: {int16, int32, int64}",
    .attr = EF_STRIDED_ATTRS,
    .attr_size = sizeof(ef_strided_attrs),
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .shape_value = EF_SHAPE_VALUE_SLICED,
    .data_when = is_index,
    .shape = strided_shape,
    .kernel = EF_MOVE_KERNEL_OF(strided_run, EF_QUANTIZED_USUAL | EF_FLOAT8),
    .grad = strided_grad,
    .examples = {"float[4,5] int32[2]{1,0} int32[2]{4,5} int32[2]{2,3}",
                 "float[4,5] int64[2]{-1,0} int64[2]{0,3} int64[2]{-2,1} begin_mask=2",
                 "float[2,3,4] int32[3]{0,0,1} int32[3]{0,0,2} int32[3]{1,1,1} ellipsis_mask=1 "
                 "new_axis_mask=2 shrink_axis_mask=4",
                 "double[3] int32[1]{2} int32[1]{1} int32[1]{1}",
                 "string[3]{a,b,c} int32[1]{0} int32[1]{0} int32[1]{-1} begin_mask=1 end_mask=1"},
};

static ef_status *strided_grad_shape(ef_infer *i) {
    int64_t n;
    ef_shape x;
    EF_TRY(check_vectors(i, 1, &n));
    EF_TRY(ef_shape_input(i, 0, false, &x));
    i->out[0].shape = x;
    if (x.rank < 0 || i->in[3].value == NULL) return NULL;
    ef_strided s;
    EF_TRY(ef_strided_read(i->op, i->attrs, &x, ef_count(i->in[3].value), i->in[1].value,
                           i->in[2].value, i->in[3].value, &s));
    if (!ef_shape_may_equal(&s.out, &i->in[4].shape))
        return ef_error(EF_INVALID, "StridedSliceGrad: shape of dy was %s instead of %s",
                        EF_SHAPE(&i->in[4].shape), EF_SHAPE(&s.out));
    return NULL;
}

/* Writes value (input k) into the slice of out given by begin, end and strides (inputs 1..3). */
static ef_status *put_slice(const ef_call *c, int k) {
    ef_tensor *o = c->out[0];
    const ef_tensor *v = c->in[k];
    ef_shape shape = ef_shape_from(o), have = ef_shape_from(v);
    ef_strided s;
    EF_TRY(read_slice(c, 1, &shape, &s));
    EF_TRY(ef_strided_fits(c->op, &s, &have));
    return ef_strided_put(&s, o, v);
}

static ef_status *strided_grad_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    EF_TRY(ef_out_memory(c, 0));
    EF_TRY(ef_zero_elements((ef_dtype)o->dtype, o->data, ef_count(o)));
    return put_slice(c, 4);
}

static ef_status *strided_grad_grad(ef_grad *g) {
    g->din[4] =
        ef_emit_like(g, "StridedSlice", NULL, 0, 4, g->dout[0], g->in[1], g->in[2], g->in[3]);
    return NULL;
}

const ef_op ef_op_StridedSliceGrad = {
    EF_NAMED(StridedSliceGrad),
    .doc = "Zeros of shape `shape` with `dy` at the positions that StridedSlice reads.",
    .in = {"shape: Index", "begin: Index", "end: Index", "strides: Index", "dy: T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Index: {int32, int64}",
    .attr = EF_STRIDED_ATTRS,
    .attr_size = sizeof(ef_strided_attrs),
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .shape = strided_grad_shape,
    .kernel = EF_MOVE_KERNEL_OF(strided_grad_run, EF_QUANTIZED_USUAL | EF_FLOAT8),
    .grad = strided_grad_grad,
    .examples =
        {"int32[2]{4,5} int32[2]{1,0} int32[2]{4,5} int32[2]{2,3} float[2,2]",
         "int64[2]{4,5} int64[2]{-1,0} int64[2]{0,3} int64[2]{-2,1} double[2,3] begin_mask=2",
         "int32[2]{2,3} int32[1]{1} int32[1]{2} int32[1]{1} float[3] shrink_axis_mask=1"},
};

static ef_status *update_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t n;
    EF_TRY(check_vectors(i, 1, &n));
    i->out[0].shape = *x;
    if (x->rank < 0 || i->in[3].value == NULL) return NULL;
    ef_strided s;
    EF_TRY(ef_strided_read(i->op, i->attrs, x, ef_count(i->in[3].value), i->in[1].value,
                           i->in[2].value, i->in[3].value, &s));
    return ef_strided_fits(i->op, &s, &i->in[4].shape);
}

static ef_status *update_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    if (ef_dtype_in((ef_dtype)x->dtype, EF_STORED)) /* rejected as by TensorFlow's kernel */
        return ef_error(EF_INVALID, "TensorStridedSliceUpdate: Unsupported data type: %s",
                        ef_dtype_name((ef_dtype)x->dtype));
    EF_TRY(ef_out_memory(c, 0));
    if (c->out[0]->data != x->data)
        EF_TRY(ef_copy_elements((ef_dtype)x->dtype, c->out[0]->data, x->data, ef_count(x)));
    return put_slice(c, 4);
}

static ef_status *update_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *begin = g->in[1], *end = g->in[2], *strides = g->in[3];
    ef_value *zeros = ef_emit(b, "Fill", 2, ef_shape_value(b, g->in[4], EF_I32),
                              ef_const_number(b, dy ? dy->fact.dtype : EF_F32, 0));
    g->din[0] =
        ef_emit_like(g, "TensorStridedSliceUpdate", NULL, 0, 5, dy, begin, end, strides, zeros);
    ef_value *cut = ef_emit_like(g, "StridedSlice", NULL, 0, 4, dy, begin, end, strides);
    if (cut == NULL) return NULL;
    int rank = g->in[4]->fact.shape.rank, have = cut->fact.shape.rank;
    if (rank < 0 || have < 0 || rank > have) { /* the value may have extra leading dims of 1 */
        ef_value *shape = ef_emit(b, "BroadcastArgs", 2, ef_shape_value(b, cut, EF_I32),
                                  ef_shape_value(b, g->in[4], EF_I32));
        cut = ef_emit(b, "BroadcastTo", 2, cut, shape);
    }
    g->din[4] = ef_sum_like(b, cut, g->in[4]);
    return NULL;
}

const ef_op ef_op_TensorStridedSliceUpdate = {
    EF_NAMED(TensorStridedSliceUpdate),
    .doc =
        "`input` with `value`, broadcast to its shape, in place of the slice that `begin`, `end` "
        "and `strides` name.",
    .in = {"input: T", "begin: Index", "end: Index", "strides: Index", "value: T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Index: {int32, int64}",
    .attr = EF_STRIDED_ATTRS,
    .attr_size = sizeof(ef_strided_attrs),
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .shape = update_shape,
    .kernel = EF_MOVE_KERNEL_OF(update_run, EF_QUANTIZED_USUAL | EF_FLOAT8),
    .grad = update_grad,
    .examples = {"float[4,5] int32[2]{1,0} int32[2]{4,5} int32[2]{2,3} float[2,2]",
                 "double[3] int64[1]{-1} int64[1]{0} int64[1]{1} double[] shrink_axis_mask=1",
                 "float[2,2,3,2] int32[3]{0,0,1} int32[3]{1,0,2} int32[3]{1,1,1} float[2,1] "
                 "ellipsis_mask=2 shrink_axis_mask=5",
                 "float[4,3] int32[2]{1,0} int32[2]{4,0} int32[2]{2,1} float[2,1,1] "
                 "new_axis_mask=2",
                 "string[3]{a,b,c} int32[1]{0} int32[1]{2} int32[1]{1} string[2]{x,y}"},
};
