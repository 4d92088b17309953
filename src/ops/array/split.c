/* Split, SplitV, Unpack: one tensor divided along an axis. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/searched_ops.h"

typedef struct {
    int64_t num_split;
} split_attrs;
typedef struct {
    int64_t num, axis;
} unpack_attrs;

static ef_status *split_shape(ef_infer *i) {
    const ef_shape *v = &i->in[1].shape;
    int64_t n = ((const split_attrs *)i->attrs)->num_split, given = 0;
    bool known;
    int axis;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_known_int(i, 0, &given, &known));
    if (v->rank < 0) return NULL;
    if (v->rank == 0)
        return ef_error(EF_INVALID,
                        "Split: value is a scalar; only a tensor with axes can be split");
    ef_shape out = known ? *v : ef_shape_of_rank(v->rank);
    if (known) {
        EF_TRY(ef_need_axis(i->op, given, v->rank, &axis));
        if (v->dim[axis] >= 0 && v->dim[axis] % n != 0)
            return ef_error(EF_INVALID,
                            "Split: Number of ways to split should evenly divide the split "
                            "dimension, but axis %d has size %lld and num_split is %lld",
                            axis, (long long)v->dim[axis], (long long)n);
        out.dim[axis] = ef_dim_div(v->dim[axis], n);
    }
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = out;
    return NULL;
}

/* Copies x into the outputs: of each row of x, every output gets `inner` elements, its own
 * number. */
static ef_status *cut(const ef_call *c, const ef_tensor *x, int64_t rows) {
    ef_dtype t = (ef_dtype)x->dtype;
    const char *at = x->data;
    int64_t row = rows > 0 ? ef_count(x) / rows : 0;
    for (int k = 0; k < c->n_out; k++) {
        EF_TRY(ef_out_memory(c, k));
        int64_t n = rows > 0 ? ef_count(c->out[k]) / rows : 0;
        ef_block b;
        b.rank = 0;
        if (n == 0) continue;
        ef_block_axis(&b, rows, row, n);
        ef_block_axis(&b, n, 1, 1);
        EF_TRY(ef_block_copy(t, c->out[k]->data, at, &b));
        at += (size_t)n * ef_dtype_size(t);
    }
    return NULL;
}

static ef_status *split_run(const ef_call *c) {
    const ef_tensor *x = c->in[1];
    int axis;
    EF_TRY(ef_need_axis(c->op, ef_in_int(c, 0, 0), x->rank, &axis));
    ef_shape s = ef_shape_from(x);
    return cut(c, x, ef_shape_span(&s, 0, axis));
}

static ef_value *joined(ef_grad *g, ef_value *axis) {
    ef_build *b = g->b;
    int n = g->n_out;
    if (n == 1) return g->dout[0];
    ef_value **in = b->memory(b, sizeof(ef_value *) * (size_t)(n + 1)), *out = NULL;
    if (in == NULL) {
        ef_build_fail(b, ef_no_memory(sizeof(ef_value *) * (size_t)(n + 1)));
        return NULL;
    }
    for (int k = 0; k < n; k++) in[k] = ef_dout(g, k);
    in[n] = axis;
    ef_emit_many(b, "ConcatV2", NULL, 0, in, n + 1, &out, 1);
    return out;
}

static ef_status *split_grad(ef_grad *g) {
    g->din[1] = joined(g, g->in[0]);
    return NULL;
}

const ef_op ef_op_Split = {
    EF_NAMED(Split),
    .doc = "Splits `value` along `split_dim` into `num_split` equal parts.",
    .in = {"split_dim: int32", "value: T"},
    .out = {"output: num_split * T"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = {EF_ATTR(split_attrs, num_split, "int >= 1", NULL)},
    .attr_size = sizeof(split_attrs),
    .keeps = EF_KEEP_IN(0),
    .shape = split_shape,
    .kernel = EF_MOVE_KERNEL_OF(split_run, EF_BIT(QU8) | EF_FLOAT8 | EF_INT4),
    .grad = split_grad,
    .examples = {"int32[]{0} float[4,3] num_split=2", "int32[]{-1} float[2,3] num_split=3",
                 "int32[]{0} double[2] num_split=1", "int32[]{1} float[2,0] num_split=2",
                 "int32[]{0} string[2]{a,b} num_split=2"},
};
const ef_op *const ef_split_op = &ef_op_Split;

/* The size of part k of SplitV. At most one of the given sizes is -1; it gets what is left of
 * `total`. Sizes that do not add up to `total` are an error. */
static ef_status *part_sizes(const ef_tensor *given, int64_t n, int64_t total, int64_t k,
                             int64_t *out) {
    int64_t sum = 0, wild = -1;
    for (int64_t j = 0; j < n; j++) {
        int64_t v = ef_element_int((ef_dtype)given->dtype, given->data, j);
        if (v == -1) {
            if (wild >= 0)
                return ef_error(EF_INVALID,
                                "SplitV: There can only be one -1 in the input, but size_splits "
                                "has it at %lld and at %lld",
                                (long long)wild, (long long)j);
            wild = j;
        } else if (v < 0) {
            return ef_error(EF_INVALID,
                            "SplitV: size_splits[%lld] = %lld; Split size at index %lld must be "
                            ">= 0",
                            (long long)j, (long long)v, (long long)j);
        } else if (v > INT64_MAX - sum) {
            return ef_error(EF_INVALID, "SplitV: the sizes in size_splits are too large to add up");
        } else {
            sum += v;
        }
        if (j == k) *out = v;
    }
    if (total < 0) return NULL;
    if (wild >= 0 ? sum > total : sum != total)
        return ef_error(
            EF_INVALID,
            "SplitV: Determined shape must either match input shape along "
            "split_dim exactly if fully specified, or be less than the size of the input along "
            "split_dim if not fully specified; the sizes add up to %lld, the axis has %lld",
            (long long)sum, (long long)total);
    if (k == wild) *out = total - sum;
    return NULL;
}

static ef_status *splitv_shape(ef_infer *i) {
    const ef_shape *v = &i->in[0].shape, *sizes = &i->in[1].shape;
    int64_t n = ((const split_attrs *)i->attrs)->num_split, given = 0;
    bool known;
    int axis = 0;
    EF_TRY(ef_known_int(i, 2, &given, &known));
    EF_TRY(ef_need_rank(i, 1, 1));
    if (sizes->rank == 1 && sizes->dim[0] >= 0 && sizes->dim[0] != n)
        return ef_error(EF_INVALID,
                        "SplitV: size_splits has %lld entries, but num_split is %lld; they must "
                        "agree",
                        (long long)sizes->dim[0], (long long)n);
    if (v->rank < 0) return NULL;
    if (v->rank == 0)
        return ef_error(EF_INVALID,
                        "SplitV: value is a scalar; only a tensor with axes can be split");
    if (known) EF_TRY(ef_need_axis(i->op, given, v->rank, &axis));
    for (int k = 0; k < i->n_out; k++) {
        ef_shape out = known ? *v : ef_shape_of_rank(v->rank);
        if (known && n > 1) out.dim[axis] = EF_DIM_UNKNOWN;
        if (known && i->in[1].value != NULL) {
            int64_t size = -1;
            EF_TRY(part_sizes(i->in[1].value, n, v->dim[axis], k, &size));
            out.dim[axis] = size < 0 && n == 1 ? v->dim[axis] : size;
        }
        i->out[k].shape = out;
    }
    return NULL;
}

static ef_status *splitv_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int axis;
    int64_t first;
    EF_TRY(ef_need_axis(c->op, ef_in_int(c, 2, 0), x->rank, &axis));
    if (ef_count(c->in[1]) != c->n_out)
        return ef_error(EF_INVALID,
                        "SplitV: size_splits has %lld entries, but there are %d outputs",
                        (long long)ef_count(c->in[1]), c->n_out);
    EF_TRY(part_sizes(c->in[1], c->n_out, x->dim[axis], 0, &first));
    ef_shape s = ef_shape_from(x);
    return cut(c, x, ef_shape_span(&s, 0, axis));
}

static ef_status *splitv_grad(ef_grad *g) {
    g->din[0] = joined(g, g->in[2]);
    return NULL;
}

const ef_op ef_op_SplitV = {
    EF_NAMED(SplitV),
    .doc =
        "Splits `value` along `split_dim` into parts of the given sizes, one of which may be -1: "
        "the rest.",
    .in = {"value: T", "size_splits: Tlen", "split_dim: int32"},
    .out = {"output: num_split * T"},
    .types = "T: " EF_MOVE_TYPES "; Tlen: {int8, int32, int64} = int64",
    .attr = {EF_ATTR(split_attrs, num_split, "int >= 1", NULL)},
    .attr_size = sizeof(split_attrs),
    .keeps = EF_KEEP_IN(2),
    .scalar_in = 4,
    .shape = splitv_shape,
    .kernel = EF_MOVE_KERNEL_OF(splitv_run, EF_BIT(QU8) | EF_FLOAT8 | EF_INT4),
    .grad = splitv_grad,
    .examples = {"float[5,3] int64[2]{2,3} int32[]{0} num_split=2",
                 "float[2,6] int32[3]{1,-1,2} int32[]{-1} num_split=3",
                 "double[3] int64[2]{3,0} int32[]{0} num_split=2",
                 "string[3]{a,b,c} int64[2]{2,1} int32[]{0} num_split=2"},
};

static ef_status *unpack_check(ef_infer *i) {
    const unpack_attrs *a = i->attrs;
    const ef_shape *v = &i->in[0].shape;
    int axis;
    if (v->rank < 0) return NULL;
    EF_TRY(ef_need_axis(i->op, a->axis, v->rank, &axis));
    if (!ef_dim_may_equal(v->dim[axis], a->num))
        return ef_error(EF_INVALID,
                        "Unpack: axis %d of the input, of shape %s, must have size num = %lld",
                        axis, EF_SHAPE(v), (long long)a->num);
    return NULL;
}

/* With num = 0 there are no outputs, and any value is accepted; only a graph checks its shape. */
static ef_status *unpack_shape(ef_infer *i) {
    const unpack_attrs *a = i->attrs;
    const ef_shape *v = &i->in[0].shape;
    int axis;
    if (v->rank < 0 || a->num == 0) return NULL;
    EF_TRY(unpack_check(i));
    EF_TRY(ef_need_axis(i->op, a->axis, v->rank, &axis));
    ef_shape out = {.rank = v->rank - 1};
    for (int d = 0; d < out.rank; d++) out.dim[d] = v->dim[d + (d >= axis)];
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = out;
    return NULL;
}

static ef_status *unpack_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int axis;
    if (c->n_out == 0) return NULL;
    EF_TRY(ef_need_axis(c->op, ((const unpack_attrs *)c->attrs)->axis, x->rank, &axis));
    if (x->dim[axis] != c->n_out)
        return ef_error(EF_INVALID, "Unpack: axis %d of the input has size %lld, but num is %d",
                        axis, (long long)x->dim[axis], c->n_out);
    ef_shape s = ef_shape_from(x);
    return cut(c, x, ef_shape_span(&s, 0, axis));
}

static ef_status *unpack_grad(ef_grad *g) {
    const unpack_attrs *a = g->attrs;
    ef_build *b = g->b;
    size_t bytes = sizeof(ef_value *) * (size_t)(g->n_out + 1);
    ef_value **in = b->memory(b, bytes);
    if (in == NULL) return ef_no_memory(bytes);
    for (int k = 0; k < g->n_out; k++) in[k] = ef_dout(g, k);
    ef_attr_value set[] = {EF_SET_INT("axis", a->axis)};
    ef_emit_many(b, "Pack", set, 1, in, g->n_out, &g->din[0], 1);
    return NULL;
}

const ef_op ef_op_Unpack = {
    EF_NAMED(Unpack),
    .doc = "Unstacks `value` along `axis` into `num` tensors whose rank is one less.",
    .in = {"value: T"},
    .out = {"output: num * T"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = {EF_ATTR(unpack_attrs, num, "int >= 0", NULL), EF_ATTR(unpack_attrs, axis, "int", "0")},
    .attr_size = sizeof(unpack_attrs),
    .keeps = EF_KEEP_NONE,
    .shape = unpack_shape,
    .graph_check = unpack_check,
    .kernel = EF_MOVE_KERNEL_OF(unpack_run, EF_FLOAT8),
    .grad = unpack_grad,
    .examples = {"float[2,3] num=2", "float[2,3] num=3 axis=-1", "double[3] num=3",
                 "string[2]{a,b} num=2", "float[2,0] num=2"},
};
