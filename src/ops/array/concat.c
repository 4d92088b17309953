/* Concat, ConcatV2, ConcatOffset, Pack: tensors concatenated along an axis. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/searched_ops.h"

/* Which inputs hold the values, and which one holds the axis. */
typedef struct {
    int first, n, axis;
} layout;
static layout concat_layout(const ef_op *op, int n_in) {
    return op->id == EF_OP_Concat ? (layout){1, n_in - 1, 0} : (layout){0, n_in - 1, n_in - 1};
}

static ef_status *join_dims(const ef_infer *i, int k, int axis, const ef_shape *s, ef_shape *out) {
    for (int d = 0; d < out->rank; d++) {
        if (axis < 0) { /* the axis is unknown, so each dim may differ */
            if (out->dim[d] != s->dim[d]) out->dim[d] = EF_DIM_UNKNOWN;
        } else if (d == axis) {
            out->dim[d] = ef_dim_add(out->dim[d], s->dim[d]);
        } else {
            if (!ef_dim_may_equal(out->dim[d], s->dim[d]))
                return ef_error(
                    EF_INVALID,
                    "%s: Dimension %d in both shapes must be equal: values[0] has "
                    "%lld and values[%d] has %lld; only the axis of concatenation (%d) may "
                    "differ",
                    i->op->name, d, (long long)out->dim[d], k, (long long)s->dim[d], axis);
            if (out->dim[d] < 0)
                out->dim[d] = s->dim[d] == EF_DIM_UNKNOWN ? out->dim[d] : s->dim[d];
        }
    }
    return NULL;
}

static ef_status *concat_shape(ef_infer *i) {
    layout l = concat_layout(i->op, i->n_in);
    int64_t given = 0;
    bool known;
    int axis = -1, rank = -1, first = 0;
    EF_TRY(ef_need_single(i, l.axis));
    EF_TRY(ef_known_int(i, l.axis, &given, &known));
    for (int k = 0; k < l.n; k++) {
        const ef_shape *s = &i->in[l.first + k].shape;
        if (s->rank < 0) continue;
        if (s->rank == 0)
            return ef_error(EF_INVALID,
                            "%s: cannot concatenate scalars (values[%d] is one); use Pack",
                            i->op->name, k);
        if (rank >= 0 && s->rank != rank)
            return ef_error(EF_INVALID,
                            "%s: Ranks of all input tensors should match: values[%d] has shape "
                            "%s and values[%d] has shape %s",
                            i->op->name, first, EF_SHAPE(&i->in[l.first + first].shape), k,
                            EF_SHAPE(s));
        if (rank < 0) rank = s->rank, first = k;
    }
    if (rank < 0) return NULL;
    if (known) EF_TRY(ef_need_axis(i->op, given, rank, &axis));
    ef_shape out = i->in[l.first + first].shape, any = ef_shape_of_rank(rank);
    for (int k = 0; k < l.n; k++) {
        const ef_shape *s = &i->in[l.first + k].shape;
        if (k != first) EF_TRY(join_dims(i, k, axis, s->rank < 0 ? &any : s, &out));
    }
    if (!known && l.n > 1) out = ef_shape_of_rank(rank);
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

/* Concatenates values: `rows` times, inner[k] elements of each. */
static ef_status *join(const ef_call *c, const layout *l, int64_t rows, const int64_t axis_step) {
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    char *at = o->data;
    size_t size = ef_dtype_size(t);
    int64_t row = rows > 0 ? ef_count(o) / rows : 0;
    for (int k = 0; k < l->n; k++) {
        const ef_tensor *x = c->in[l->first + k];
        int64_t n = axis_step < 0 ? ef_count(x) / (rows > 0 ? rows : 1) : axis_step;
        ef_block b;
        b.rank = 0;
        if (rows == 0 || n == 0) continue;
        ef_block_axis(&b, rows, n, row);
        ef_block_axis(&b, n, 1, 1);
        EF_TRY(ef_block_copy(t, at, x->data, &b));
        at += (size_t)n * size;
    }
    return NULL;
}

static ef_status *concat_run(const ef_call *c) {
    layout l = concat_layout(c->op, c->n_in);
    int rank = c->out[0]->rank, axis;
    EF_TRY(ef_need_axis(c->op, ef_in_int(c, l.axis, 0), rank, &axis));
    EF_TRY(ef_out_memory(c, 0));
    ef_shape s = ef_shape_from(c->out[0]);
    return join(c, &l, ef_shape_span(&s, 0, axis), -1);
}

/* Slices of dy for each input. With known shapes the sizes are constants. */
static ef_status *concat_grad(ef_grad *g) {
    layout l = concat_layout(g->op, g->n_in);
    ef_build *b = g->b;
    const ef_tensor *at = g->in[l.axis]->fact.value;
    int n = l.n;
    ef_value **shapes = b->memory(b, sizeof(ef_value *) * (size_t)(2 * n + 1));
    if (shapes == NULL) return ef_no_memory(sizeof(ef_value *) * (size_t)(2 * n + 1));
    ef_value **offsets = shapes + n + 1;
    /* One SplitV is enough. */
    if (at != NULL && ef_count(at) == 1 && g->out[0]->fact.shape.rank > 0) {
        int64_t axis = ef_element_int((ef_dtype)at->dtype, at->data, 0);
        int rank = g->out[0]->fact.shape.rank;
        if (axis < 0) axis += rank;
        int64_t *sizes = b->memory(b, sizeof(int64_t) * (size_t)n);
        if (sizes == NULL) return ef_no_memory(sizeof(int64_t) * (size_t)n);
        bool all = axis >= 0 && axis < rank;
        for (int k = 0; all && k < n; k++) {
            const ef_shape *s = &g->in[l.first + k]->fact.shape;
            sizes[k] = s->rank == rank ? s->dim[axis] : -1;
            all = sizes[k] >= 0;
        }
        if (all) {
            ef_value *in[3] = {g->dout[0], ef_const_ints(b, EF_I64, n, sizes),
                               ef_const_number(b, EF_I32, (double)axis)};
            ef_attr_value count[] = {EF_SET_INT("num_split", n)};
            ef_emit_many(b, "SplitV", count, 1, in, 3, g->din + l.first, n);
            return NULL;
        }
    }
    ef_value *rank = ef_emit(b, "Rank", 1, g->dout[0]);
    shapes[0] = ef_emit(b, "FloorMod", 2, ef_cast(b, g->in[l.axis], EF_I32), rank);
    for (int k = 0; k < n; k++) shapes[k + 1] = ef_shape_value(b, g->in[l.first + k], EF_I32);
    ef_emit_many(b, "ConcatOffset", NULL, 0, shapes, n + 1, offsets, n);
    for (int k = 0; k < n && b->failed == NULL; k++)
        g->din[l.first + k] = ef_emit(b, "Slice", 3, g->dout[0], offsets[k], shapes[k + 1]);
    return NULL;
}

const ef_op ef_op_Concat = {
    EF_NAMED(Concat),
    .doc =
        "Concatenates tensors along the axis `concat_dim`; all other axes must have equal sizes.",
    .in = {"concat_dim: int32", "values: N * T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; N: int >= 2",
    .keeps = EF_KEEP_IN(0),
    .scalar_in = 1,
    .shape = concat_shape,
    .kernel = EF_MOVE_KERNEL_OF(concat_run, EF_QUANTIZED | EF_FLOAT8),
    .grad = concat_grad,
    .examples = {"int32[]{0} float[2,3] float[1,3]", "int32[]{1} float[2,3] float[2,0] float[2,1]"},
};

const ef_op ef_op_ConcatV2 = {
    EF_NAMED(ConcatV2),
    .doc = "Concatenates tensors along `axis`; all other axes must have equal sizes.",
    .in = {"values: N * T", "axis: Tidx"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tidx: {int32, int64} = int32; N: int >= 2",
    .scalar_in = 2,
    .shape_value = EF_SHAPE_VALUE_JOINED,
    .traits = EF_NEVER_FAILS,
    .shape = concat_shape,
    .kernel = EF_MOVE_KERNEL_OF(concat_run, EF_QUANTIZED | EF_FLOAT8),
    .grad = concat_grad,
    .examples = {"float[2,3] float[1,3] int32[]{0}", "float[2,3] float[2,0] float[2,1] int64[]{-1}",
                 "double[2] double[3] int32[]{0}", "string[1]{a} string[2]{b,c} int32[]{0}"},
};
const ef_op *const ef_join_op = &ef_op_ConcatV2;

static ef_status *offset_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    for (int k = 1; k < i->n_in; k++) i->out[k - 1].shape = i->in[k].shape;
    return NULL;
}

static ef_status *offset_run(const ef_call *c) {
    int64_t rank = ef_count(c->in[1]), sum = 0;
    int axis;
    EF_TRY(ef_need_axis(c->op, ef_in_int(c, 0, 0), (int)rank, &axis));
    for (int k = 1; k < c->n_in; k++) {
        if (c->in[k]->rank != 1)
            return ef_error(EF_INVALID, "ConcatOffset: input %d should be a vector, but is %s",
                            k - 1, EF_TENSOR(c->in[k]));
        if (ef_count(c->in[k]) != rank)
            return ef_error(EF_INVALID,
                            "ConcatOffset: input %d should contain %lld elements, as the first "
                            "does, but has %lld",
                            k - 1, (long long)rank, (long long)ef_count(c->in[k]));
        ef_tensor *o = c->out[k - 1];
        for (int64_t d = 0; d < rank; d++) {
            int64_t v = ef_in_int(c, k, d);
            if (d != axis && v != ef_in_int(c, 1, d))
                return ef_error(EF_INVALID,
                                "ConcatOffset: All dimensions except %d must match. Input %d has "
                                "size %lld along %lld, and input 0 has %lld",
                                axis, k - 1, (long long)v, (long long)d,
                                (long long)ef_in_int(c, 1, d));
            ef_element_set((ef_dtype)o->dtype, o->data, d, d == axis ? (double)sum : 0.0);
        }
        /* Unsigned, so that overflow wraps. */
        sum = (int64_t)((uint64_t)sum + (uint64_t)ef_in_int(c, k, axis));
    }
    return NULL;
}

const ef_op ef_op_ConcatOffset = {
    EF_NAMED(ConcatOffset),
    .doc = "The offset of each of the tensors with these shapes in their concatenation.",
    .in = {"concat_dim: int32", "shape: N * shape_type"},
    .out = {"offset: N * shape_type"},
    .types = "shape_type: {int32, int64} = int32; N: int >= 2",
    .traits = EF_NO_GRAD,
    .shape = offset_shape,
    .kernel = EF_ANY_KERNEL(offset_run),
    .examples = {"int32[]{1} int32[2]{2,3} int32[2]{2,1} int32[2]{2,7}",
                 "int32[]{-2} int64[2]{2,3} int64[2]{5,3}"},
};

typedef struct {
    int64_t axis;
} pack_attrs;

static ef_status *pack_shape(ef_infer *i) {
    ef_shape s = ef_unknown_shape();
    for (int k = 0; k < i->n_in; k++) {
        ef_shape merged;
        ef_status *bad = ef_shape_merge(&s, &i->in[k].shape, &merged);
        if (bad != NULL) {
            ef_status_free(bad);
            return ef_error(EF_INVALID,
                            "Pack: Shapes of all inputs must match: values[0] has shape %s and "
                            "values[%d] has shape %s",
                            EF_SHAPE(&i->in[0].shape), k, EF_SHAPE(&i->in[k].shape));
        }
        s = merged;
    }
    if (s.rank < 0) return NULL;
    int axis;
    EF_TRY(ef_need_axis(i->op, ((const pack_attrs *)i->attrs)->axis, s.rank + 1, &axis));
    EF_TRY(ef_need_rank_held(i->op, s.rank + 1));
    ef_shape *out = &i->out[0].shape;
    out->rank = s.rank + 1;
    for (int d = 0; d < out->rank; d++) out->dim[d] = d == axis ? i->n_in : s.dim[d - (d > axis)];
    return ef_need_size_held(i->op, out);
}

static ef_status *pack_run(const ef_call *c) {
    layout l = {0, c->n_in, 0};
    int axis;
    EF_TRY(ef_need_axis(c->op, ((const pack_attrs *)c->attrs)->axis, c->out[0]->rank, &axis));
    EF_TRY(ef_out_memory(c, 0));
    ef_shape s = ef_shape_from(c->out[0]);
    return join(c, &l, ef_shape_span(&s, 0, axis), ef_shape_span(&s, axis + 1, s.rank));
}

static ef_status *pack_grad(ef_grad *g) {
    const pack_attrs *a = g->attrs;
    ef_attr_value set[] = {EF_SET_INT("num", g->n_in), EF_SET_INT("axis", a->axis)};
    ef_emit_many(g->b, "Unpack", set, 2, &g->dout[0], 1, g->din, g->n_in);
    return NULL;
}

const ef_op ef_op_Pack = {
    EF_NAMED(Pack),
    .doc = "Stacks tensors of one shape along a new axis.",
    .in = {"values: N * T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; N: int >= 1",
    .attr = {EF_ATTR(pack_attrs, axis, "int", "0")},
    .attr_size = sizeof(pack_attrs),
    .traits = EF_NEVER_FAILS,
    .keeps = EF_KEEP_NONE,
    .shape_value = EF_SHAPE_VALUE_PACKED,
    .shape = pack_shape,
    .kernel = EF_MOVE_KERNEL_OF(pack_run, EF_QUANTIZED | EF_FLOAT8),
    .grad = pack_grad,
    .examples = {"float[2,3] float[2,3]", "float[2,3] float[2,3] float[2,3] axis=1",
                 "double[2] double[2] axis=-1", "int32[] int32[] int32[]",
                 "string[]{a} string[]{b}"},
};
