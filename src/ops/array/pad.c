/* Pad, PadV2: a border of one value around a tensor. */
#include "ops/array/array.h"
#include "ops/build.h"

/* paddings: [rank, 2]; out[d] = before + size + after. */
static ef_status *pad_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *p = &i->in[1].shape;
    const ef_tensor *t = i->in[1].value;
    EF_TRY(ef_need_rank(i, 1, 2));
    if (i->n_in > 2) EF_TRY(ef_need_rank(i, 2, 0));
    int64_t rank = x->rank;
    if (p->rank == 2) {
        if (!ef_dim_may_equal(p->dim[1], 2))
            return ef_error(EF_INVALID,
                            "%s: paddings must be a matrix with 2 columns, but its shape is %s",
                            i->op->name, EF_SHAPE(p));
        if (rank >= 0 && !ef_dim_may_equal(p->dim[0], rank))
            return ef_error(EF_INVALID,
                            "%s: The first dimension of paddings must be the rank of inputs; "
                            "paddings has shape %s and the input %s",
                            i->op->name, EF_SHAPE(p), EF_SHAPE(x));
        if (rank < 0) rank = p->dim[0];
    }
    if (rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, rank));
    ef_shape out = ef_shape_of_rank((int)rank);
    for (int d = 0; t != NULL && t->data != NULL && d < rank; d++) {
        int64_t before = ef_element_int((ef_dtype)t->dtype, t->data, 2 * d);
        int64_t after = ef_element_int((ef_dtype)t->dtype, t->data, 2 * d + 1);
        if (before < 0 || after < 0)
            return ef_error(EF_INVALID, "%s: Paddings must be non-negative: %lld %lld (axis %d)",
                            i->op->name, (long long)before, (long long)after, d);
        if (before > INT64_MAX / 4 || after > INT64_MAX / 4)
            return ef_error(EF_INVALID, "%s: paddings %lld %lld of axis %d are too large",
                            i->op->name, (long long)before, (long long)after, d);
        if (x->rank >= 0) out.dim[d] = ef_dim_add(x->dim[d], before + after);
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

/* Fills positions [begin, begin + n) of axis d: along the inner axes completely, along the outer
 * axes only where the input is. So the slabs of all axes together fill the border, each element
 * once. */
static ef_status *fill_slab(const ef_call *c, const int64_t *before, int d, int64_t begin,
                            int64_t n, const void *value) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    int64_t to[EF_MAX_RANK] = {0}, at = 0;
    ef_block b;
    b.rank = 0;
    ef_steps(o, to);
    for (int k = 0; k < o->rank; k++) {
        int64_t first = k < d ? before[k] : k == d ? begin : 0;
        ef_block_axis(&b, k < d ? x->dim[k] : k == d ? n : o->dim[k], 0, to[k]);
        at += first * to[k];
    }
    return ef_block_copy(t, (char *)o->data + (size_t)at * ef_dtype_size(t), value, &b);
}

static ef_status *pad_run(const ef_call *c) {
    static const uint64_t zero[4] = {0};
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t from[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0}, before[EF_MAX_RANK] = {0}, at = 0;
    const void *value = c->n_in > 2 ? c->in[2]->data : zero;
    ef_block b;
    b.rank = 0;
    for (int d = 0; d < x->rank; d++) {
        int64_t after = ef_in_int(c, 1, 2 * d + 1);
        before[d] = ef_in_int(c, 1, 2 * d);
        if (before[d] < 0 || after < 0 || before[d] + x->dim[d] + after != o->dim[d])
            return ef_error(EF_INVALID, "%s: Paddings must be non-negative: %lld %lld (axis %d)",
                            c->op->name, (long long)before[d], (long long)after, d);
    }
    EF_TRY(ef_out_memory(c, 0));
    ef_steps(x, from);
    ef_steps(o, to);
    for (int d = 0; d < x->rank; d++) {
        ef_block_axis(&b, x->dim[d], from[d], to[d]);
        at += before[d] * to[d];
        int64_t end = before[d] + x->dim[d];
        EF_TRY(fill_slab(c, before, d, 0, before[d], value));
        EF_TRY(fill_slab(c, before, d, end, o->dim[d] - end, value));
    }
    if (ef_count(x) == 0) return NULL;
    return ef_block_copy(t, (char *)o->data + (size_t)at * ef_dtype_size(t), x->data, &b);
}

/* dx is the region of dy where the input was. */
static ef_status *pad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->dout[0];
    ef_dtype t = g->in[1]->fact.dtype;
    ef_value *size = ef_shape_value(b, g->in[0], t), *begin;
    int64_t v[EF_MAX_RANK] = {0};
    const ef_tensor *p = g->in[1]->fact.value;
    if (p != NULL && p->data != NULL && p->rank == 2 && p->dim[0] <= EF_MAX_RANK) {
        for (int d = 0; d < p->dim[0]; d++)
            v[d] = ef_element_int((ef_dtype)p->dtype, p->data, 2 * d);
        begin = ef_const_ints(b, t, (int)p->dim[0], v);
    } else {
        ef_attr_value set[] = {EF_SET_INT("begin_mask", 1), EF_SET_INT("end_mask", 1),
                               EF_SET_INT("shrink_axis_mask", 2)};
        begin = ef_emit_set(b, "StridedSlice", set, 3, 4, g->in[1],
                            ef_const_ints(b, EF_I32, 2, (int64_t[]){0, 0}),
                            ef_const_ints(b, EF_I32, 2, (int64_t[]){0, 1}),
                            ef_const_ints(b, EF_I32, 2, (int64_t[]){1, 1}));
    }
    g->din[0] = ef_emit(b, "Slice", 3, dy, begin, size);
    return NULL;
}

#define PAD_EXAMPLES(v)                                                                       \
    {                                                                                         \
        "float[2,3] int32[2,2]{1,0,2,1}" v("float"), "double[2] int64[1,2]{0,3}" v("double"), \
            "float[0,2] int32[2,2]{1,1,0,0}" v("float"), "float[] int32[0,2]" v("float")      \
    }
#define NO_VALUE(t) ""
#define ONE_VALUE(t) " " t "[]"

const ef_op ef_op_Pad = {
    EF_NAMED(Pad),
    .doc = "`input` with `paddings[d, 0]` zeros before and `paddings[d, 1]` after it along each "
           "axis d.",
    .in = {"input: T", "paddings: Tpaddings"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tpaddings: {int32, int64} = int32",
    .traits = EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(1),
    .sized = {EF_SIZED_PADDED, 1},
    .host_in = 2,
    .shape = pad_shape,
    .kernel = EF_MOVE_KERNEL_AWAY(pad_run, EF_QUANTIZED_USUAL),
    .grad = pad_grad,
    .examples = PAD_EXAMPLES(NO_VALUE),
};

const ef_op ef_op_PadV2 = {
    EF_NAMED(PadV2),
    .doc = "Like Pad, with `constant_values` instead of zeros.",
    .in = {"input: T", "paddings: Tpaddings", "constant_values: T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tpaddings: {int32, int64} = int32",
    .keeps = EF_KEEP_IN(1),
    .no_grad_in = 1u << 2,
    .sized = {EF_SIZED_PADDED, 1},
    .shape = pad_shape,
    .kernel = EF_MOVE_KERNEL_OF(pad_run, EF_QUANTIZED_USUAL),
    .grad = pad_grad,
    .examples = PAD_EXAMPLES(ONE_VALUE),
};
