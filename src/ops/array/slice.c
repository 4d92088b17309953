/* Slice: a contiguous region of a tensor. */
#include "ops/array/array.h"
#include "ops/build.h"

static ef_status *check_box(const ef_op *op, int d, int64_t dim, int64_t begin, int64_t size) {
    if (size == -1 && begin >= 0 && begin <= dim) return NULL;
    if (begin < 0 || begin > dim)
        return ef_error(EF_INVALID, "%s: Expected begin[%d] in [0, %lld], but got %lld", op->name,
                        d, (long long)dim, (long long)begin);
    if (size < 0 || size > dim - begin)
        return ef_error(EF_INVALID,
                        "%s: Expected size[%d] in [0, %lld], but got %lld (begin[%d] is %lld and "
                        "the axis has size %lld)",
                        op->name, d, (long long)(dim - begin), (long long)size, d, (long long)begin,
                        (long long)dim);
    return NULL;
}

/* dim - k, if it is certain not to be negative. */
static int64_t dim_less(int64_t dim, int64_t k) {
    int s;
    int64_t a, b;
    if (dim >= 0) return dim >= k ? dim - k : EF_DIM_UNKNOWN;
    if (k == 0) return dim;
    if (ef_dim_parts(dim, &s, &a, &b) && a > 0 && b >= k) return ef_dim_sub(dim, k);
    return EF_DIM_UNKNOWN;
}

static int vector_length(const ef_infer *i, int k) {
    const ef_shape *s = &i->in[k].shape;
    return s->rank == 1 && s->dim[0] >= 0 && s->dim[0] < INT32_MAX ? (int)s->dim[0] : -1;
}

static ef_status *slice_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t begin[EF_MAX_RANK] = {0}, size[EF_MAX_RANK] = {0};
    int nb = 0, ns = 0, rank = x->rank;
    bool begins, sizes;
    for (int k = 1; k <= 2; k++) {
        int n = vector_length(i, k);
        EF_TRY(ef_need_rank(i, k, 1));
        if (n >= 0 && rank >= 0 && n != rank)
            return ef_error(EF_INVALID,
                            "Slice: Expected begin and size arguments to be 1-D tensors of size "
                            "%d, but input %d has %d elements",
                            rank, k, n);
        if (n >= 0) rank = n;
    }
    if (rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, rank));
    EF_TRY(ef_known_ints(i, 1, begin, EF_MAX_RANK, &nb, &begins));
    EF_TRY(ef_known_ints(i, 2, size, EF_MAX_RANK, &ns, &sizes));
    ef_shape out = ef_shape_of_rank(rank);
    for (int d = 0; sizes && d < rank; d++) {
        int64_t dim = x->rank < 0 ? EF_DIM_UNKNOWN : x->dim[d];
        if (size[d] < -1)
            return ef_error(EF_INVALID,
                            "Slice: size[%d] = %lld; it must be >= -1 (-1: up to the end)", d,
                            (long long)size[d]);
        if (begins && begin[d] < 0)
            return ef_error(EF_INVALID, "Slice: begin[%d] = %lld; it must be >= 0", d,
                            (long long)begin[d]);
        if (begins && dim >= 0) EF_TRY(check_box(i->op, d, dim, begin[d], size[d]));
        out.dim[d] = size[d] >= 0 ? size[d] : begins ? dim_less(dim, begin[d]) : EF_DIM_UNKNOWN;
    }
    i->out[0].shape = out;
    return NULL;
}

static ef_status *slice_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    int64_t from[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0}, at = 0;
    ef_block b;
    b.rank = 0;
    ef_steps(x, from);
    ef_steps(o, to);
    for (int d = 0; d < x->rank; d++) {
        int64_t begin = ef_in_int(c, 1, d);
        EF_TRY(check_box(c->op, d, x->dim[d], begin, ef_in_int(c, 2, d)));
        ef_block_axis(&b, o->dim[d], from[d], to[d]);
        at += begin * from[d];
    }
    EF_TRY(ef_out_memory(c, 0));
    size_t size = ef_dtype_size((ef_dtype)x->dtype);
    return ef_block_copy((ef_dtype)x->dtype, o->data, (const char *)x->data + (size_t)at * size,
                         &b);
}

/* Zeros around dy: `begin` before it, and the rest after it. */
static ef_status *slice_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *begin = g->in[1];
    ef_dtype t = begin->fact.dtype;
    ef_value *after = ef_sub(b, ef_sub(b, ef_shape_value(b, g->in[0], t), begin),
                             ef_shape_value(b, g->dout[0], t));
    ef_attr_value axis[] = {EF_SET_INT("axis", 1)};
    g->din[0] = ef_emit(b, "Pad", 2, g->dout[0], ef_emit_set(b, "Pack", axis, 1, 2, begin, after));
    return NULL;
}

const ef_op ef_op_Slice = {
    EF_NAMED(Slice),
    .doc = "The region of `input` that starts at `begin` and has size `size`; a size of -1 reaches "
           "to the end.",
    .in = {"input: T", "begin: Index", "size: Index"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Index: {int32, int64}",
    .keeps = EF_KEEP_IN(1),
    .sized = {EF_SIZED_GIVEN, 2},
    .host_in = 6,
    .shape = slice_shape,
    .kernel = EF_MOVE_KERNEL_AWAY(slice_run, EF_QUANTIZED_USUAL | EF_FLOAT8),
    .grad = slice_grad,
    .examples = {"float[4,5] int32[2]{1,2} int32[2]{2,-1}",
                 "float[3,2,4] int64[3]{0,0,1} int64[3]{3,1,3}",
                 "double[3] int32[1]{1} int32[1]{0}", "float[] int32[0] int32[0]",
                 "string[3]{a,b,c} int32[1]{1} int32[1]{2}"},
};
