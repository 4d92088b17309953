/* Gather and GatherV2: slices selected by index along an axis. The gradient along axis 0 stays
 * sparse: IndexedSlices of the rows of params that were read. */
#include "kernels/gather.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include <stdio.h>

typedef struct {
    int64_t batch_dims;
} gather_attrs;
typedef struct {
    bool validate_indices;
} gather1_attrs;

/* Reads batch_dims and maps it into [0, rank of indices]. */
static ef_status *batch_of(const ef_op *op, const void *attrs, int rank, int *batch) {
    int64_t given = op->id == EF_OP_GatherV2 ? ((const gather_attrs *)attrs)->batch_dims : 0;
    if (given < -rank || given > rank)
        return ef_error(EF_INVALID, "%s: Expected batch_dims in the range [%d, %d], but got %lld",
                        op->name, -rank, rank, (long long)given);
    *batch = (int)(given < 0 ? given + rank : given);
    return NULL;
}

static ef_status *check_axis(const ef_op *op, int64_t given, int rank, int batch, int *axis) {
    if (rank == 0)
        return ef_error(EF_INVALID, "%s: params must be at least 1 dimensional", op->name);
    EF_TRY(ef_need_axis(op, given, rank, axis));
    if (batch > *axis)
        return ef_error(EF_INVALID, "%s: batch_dims (%d) must be less than or equal to axis (%d)",
                        op->name, batch, *axis);
    return NULL;
}

static ef_status *gather_shape(ef_infer *i) {
    const ef_shape *p = &i->in[0].shape, *x = &i->in[1].shape;
    int64_t given = 0;
    bool known = true;
    int axis = 0, batch = 0;
    if (i->n_in > 2) {
        EF_TRY(ef_need_rank(i, 2, 0));
        EF_TRY(ef_known_int(i, 2, &given, &known));
    }
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    if (x->rank < 0) return NULL;
    EF_TRY(batch_of(i->op, i->attrs, x->rank, &batch));
    if (p->rank < 0) return NULL;
    int rank = p->rank - 1 + x->rank - batch;
    EF_TRY(ef_need_rank_held(i->op, rank));
    i->out[0].shape = ef_shape_of_rank(rank);
    if (!known) return NULL;
    EF_TRY(check_axis(i->op, given, p->rank, batch, &axis));
    ef_shape out = {.rank = 0};
    for (int d = 0; d < batch; d++)
        EF_TRY(ef_need_same_dim(i, p->dim[d], x->dim[d], "batch dimensions of params and indices",
                                &out.dim[out.rank++]));
    for (int d = batch; d < axis; d++) out.dim[out.rank++] = p->dim[d];
    for (int d = batch; d < x->rank; d++) out.dim[out.rank++] = x->dim[d];
    for (int d = axis + 1; d < p->rank; d++) out.dim[out.rank++] = p->dim[d];
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *outside(const ef_call *c, int64_t at, int64_t rows) {
    const ef_tensor *x = c->in[1];
    int64_t step[EF_MAX_RANK], rest = at;
    char where[160];
    size_t n = 0;
    where[0] = 0;
    ef_steps(x, step);
    for (int d = 0; d < x->rank && n < sizeof where; d++) {
        n += (size_t)snprintf(where + n, sizeof where - n, "%s%lld", d ? "," : "",
                              (long long)(rest / step[d]));
        rest %= step[d];
    }
    return ef_error(EF_INVALID, "%s: indices%s%s%s = %lld is not in [0, %lld)", c->op->name,
                    x->rank > 0 ? "[" : "", where, x->rank > 0 ? "]" : "",
                    (long long)ef_in_int(c, 1, at), (long long)rows);
}

static ef_status *gather_run(const ef_call *c) {
    const ef_tensor *p = c->in[0], *x = c->in[1];
    int axis = 0, batch = 0;
    EF_TRY(batch_of(c->op, c->attrs, x->rank, &batch));
    EF_TRY(check_axis(c->op, c->n_in > 2 ? ef_in_int(c, 2, 0) : 0, p->rank, batch, &axis));
    ef_shape ps = ef_shape_from(p), xs = ef_shape_from(x);
    for (int d = 0; d < batch; d++)
        if (ps.dim[d] != xs.dim[d])
            return ef_error(EF_INVALID,
                            "%s: params.shape[%d]: %lld should be equal to indices.shape[%d]: "
                            "%lld",
                            c->op->name, d, (long long)ps.dim[d], d, (long long)xs.dim[d]);
    EF_TRY(ef_out_memory(c, 0));
    if (ef_count(c->out[0]) == 0) return NULL; /* indices are not checked if the result is empty */
    int64_t bad = ef_index_outside((ef_dtype)x->dtype, x->data, ef_count(x), ps.dim[axis]);
    if (bad >= 0) return outside(c, bad, ps.dim[axis]);
    ef_gather_job g = {.dtype = (ef_dtype)p->dtype,
                       .index_dtype = (ef_dtype)x->dtype,
                       .batches = ef_shape_span(&ps, 0, batch),
                       .outer = ef_shape_span(&ps, batch, axis),
                       .n = ef_shape_span(&xs, batch, xs.rank),
                       .rows = ps.dim[axis],
                       .inner = ef_shape_span(&ps, axis + 1, ps.rank),
                       .params = p->data,
                       .index = x->data,
                       .out = c->out[0]->data};
    return ef_gather(&g);
}

/* Indices in a dtype that the segment sums accept: int16 is widened. */
static ef_value *wide_indices(ef_grad *g) {
    return g->in[1]->fact.dtype == EF_I16 ? ef_cast(g->b, g->in[1], EF_I32) : g->in[1];
}

/* The gradient of the gathered rows of params, as IndexedSlices. */
static ef_value *rows_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I64);
    ef_value *flat = ef_const_ints(b, EF_I32, 1, (int64_t[]){-1});
    ef_value *n = ef_shape_product(b, ef_shape_value(b, g->in[1], EF_I64));
    ef_value *values =
        ef_reshape(b, g->dout[0], ef_shape_join(b, 2, n, ef_shape_part(b, shape, 1, -1)));
    return ef_slices(b, values, ef_reshape(b, wide_indices(g), flat), shape);
}

/* The permutation for a transpose that moves `n` axes starting at `from` to position `to`. */
static ef_value *move_axes(ef_build *b, ef_value *x, int rank, int from, int n, int to) {
    int64_t perm[EF_MAX_RANK];
    int at = 0;
    if (from == to || n == 0) return x;
    for (int d = 0; d < rank; d++) {
        bool moved = d >= from && d < from + n;
        if (at == to)
            for (int k = 0; k < n; k++) perm[at++] = from + k;
        if (!moved) perm[at++] = d;
    }
    if (at == to)
        for (int k = 0; k < n; k++) perm[at++] = from + k;
    return ef_transpose(b, x, rank, perm);
}

/* Indices into all batches flattened to one axis: index + batch number * rows. `per`: the number of
 * indices in one batch. */
static ef_value *global_indices(ef_grad *g, ef_value *batches, ef_value *rows, ef_value *per) {
    ef_build *b = g->b;
    ef_value *x = ef_cast(b, g->in[1], EF_I64);
    ef_value *number = ef_emit(b, "Range", 3, ef_const_number(b, EF_I64, 0),
                               ef_reshape(b, batches, ef_const_ints(b, EF_I32, 0, NULL)),
                               ef_const_number(b, EF_I64, 1));
    ef_value *start =
        ef_reshape(b, ef_mul(b, number, rows), ef_const_ints(b, EF_I32, 2, (int64_t[]){-1, 1}));
    ef_value *all = ef_add(b, ef_reshape(b, x, ef_shape_join(b, 2, batches, per)), start);
    return ef_reshape(b, all, ef_const_ints(b, EF_I32, 1, (int64_t[]){-1}));
}

/* Any axis and any batch dims: transposes dy to [batch, index, outer, inner], sums its rows by
 * their index, and transposes the sums back to params' order of axes. */
static ef_value *any_axis_grad(ef_grad *g, int axis, int batch) {
    ef_build *b = g->b;
    int pr = g->in[0]->fact.shape.rank, xr = g->in[1]->fact.shape.rank;
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I64);
    ef_value *rows = ef_shape_part(b, shape, axis, axis + 1);
    ef_value *head = ef_shape_part(b, shape, 0, batch), *batches = ef_shape_product(b, head);
    ef_value *rest = ef_shape_join(b, 2, ef_shape_part(b, shape, batch, axis),
                                   ef_shape_part(b, shape, axis + 1, -1));
    ef_value *n = ef_shape_product(b, ef_shape_value(b, g->in[1], EF_I64));
    ef_value *dy = move_axes(b, g->dout[0], pr - 1 + xr - batch, axis, xr - batch, batch);
    ef_value *values = ef_reshape(b, dy, ef_shape_join(b, 2, n, rest));
    ef_value *all = ef_reshape(b, ef_mul(b, batches, rows), ef_const_ints(b, EF_I32, 0, NULL));
    ef_value *flat = ef_const_ints(b, EF_I32, 1, (int64_t[]){-1});
    ef_value *per =
        ef_shape_product(b, ef_shape_part(b, ef_shape_value(b, g->in[1], EF_I64), batch, -1));
    ef_value *indices =
        batch == 0 ? ef_reshape(b, wide_indices(g), flat) : global_indices(g, batches, rows, per);
    ef_value *sums = ef_emit(b, "UnsortedSegmentSum", 3, values, indices, all);
    sums = ef_reshape(b, sums, ef_shape_join(b, 3, head, rows, rest));
    return move_axes(b, sums, pr, batch, 1, axis);
}

/* The same when the axis or a rank is known only at run time: permutations and shapes are computed
 * by ops, from scalars batch <= axis < rank and n, the number of axes of the indices. */
static ef_value *as_vector(ef_build *b, ef_value *v) {
    return ef_reshape(b, v, ef_const_ints(b, EF_I32, 1, (int64_t[]){1}));
}
static ef_value *count_up(ef_build *b, ef_value *from, ef_value *to) {
    return ef_emit(b, "Range", 3, from, to, ef_const_number(b, EF_I32, 1));
}
static ef_value *cut(ef_build *b, ef_value *v, ef_value *from, ef_value *to) {
    return ef_emit(b, "Slice", 3, v, as_vector(b, from), as_vector(b, ef_sub(b, to, from)));
}

static ef_value *open_axis_grad(ef_grad *g) {
    ef_build *b = g->b;
    int64_t given = ((const gather_attrs *)g->attrs)->batch_dims;
    ef_value *none = ef_const_number(b, EF_I32, 0), *one = ef_const_number(b, EF_I32, 1);
    ef_value *rank = ef_emit(b, "Rank", 1, g->in[0]), *index_rank = ef_emit(b, "Rank", 1, g->in[1]);
    ef_value *batch = ef_const_number(b, EF_I32, (double)given);
    if (given < 0) batch = ef_add(b, batch, index_rank);
    ef_value *axis = ef_emit(
        b, "FloorMod", 2,
        ef_cast(b, ef_reshape(b, g->in[2], ef_const_ints(b, EF_I32, 0, NULL)), EF_I32), rank);
    ef_value *after = ef_add(b, axis, one), *n = ef_sub(b, index_rank, batch);
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I64),
             *index_shape = ef_shape_value(b, g->in[1], EF_I64);
    ef_value *head = cut(b, shape, none, batch), *rows = cut(b, shape, axis, after);
    ef_value *rest = ef_shape_join(b, 2, cut(b, shape, batch, axis), cut(b, shape, after, rank));
    ef_value *out_rank = ef_sub(b, ef_add(b, rank, n), one), *behind = ef_add(b, axis, n);
    ef_value *order = ef_shape_join(b, 4, count_up(b, none, batch), count_up(b, axis, behind),
                                    count_up(b, batch, axis), count_up(b, behind, out_rank));
    ef_value *back =
        ef_shape_join(b, 4, count_up(b, none, batch), count_up(b, ef_add(b, batch, one), after),
                      as_vector(b, batch), count_up(b, after, rank));
    ef_value *batches = ef_shape_product(b, head), *scalar = ef_const_ints(b, EF_I32, 0, NULL);
    ef_value *values = ef_reshape(b, ef_emit(b, "Transpose", 2, g->dout[0], order),
                                  ef_shape_join(b, 2, ef_shape_product(b, index_shape), rest));
    ef_value *per = ef_shape_product(b, cut(b, index_shape, batch, index_rank));
    ef_value *indices = global_indices(g, batches, rows, per);
    ef_value *sums = ef_emit(b, "UnsortedSegmentSum", 3, values, indices,
                             ef_reshape(b, ef_mul(b, batches, rows), scalar));
    return ef_emit(b, "Transpose", 2, ef_reshape(b, sums, ef_shape_join(b, 3, head, rows, rest)),
                   back);
}

static ef_status *gather_grad(ef_grad *g) {
    int pr = g->in[0]->fact.shape.rank, xr = g->in[1]->fact.shape.rank, batch = 0, axis = 0;
    if (g->n_in == 2) {
        g->din[0] = rows_grad(g);
        return NULL;
    }
    const ef_tensor *t = g->in[2]->fact.value;
    bool batched = ((const gather_attrs *)g->attrs)->batch_dims != 0;
    int64_t given = t != NULL ? ef_element_int((ef_dtype)t->dtype, t->data, 0) : -1;
    if (t != NULL && given == 0 && !batched) {
        g->din[0] = rows_grad(g);
        return NULL;
    }
    if (t == NULL || pr < 0 || xr < 0) {
        g->din[0] = open_axis_grad(g);
        return NULL;
    }
    EF_TRY(batch_of(g->op, g->attrs, xr, &batch));
    EF_TRY(check_axis(g->op, given, pr, batch, &axis));
    g->din[0] = axis == 0 ? rows_grad(g) : any_axis_grad(g, axis, batch);
    return NULL;
}

const ef_op ef_op_Gather = {
    EF_NAMED(Gather),
    .doc = "The slices of `params` along its first axis that `indices` select.",
    .in = {"params: Tparams", "indices: Tindices"},
    .out = {"output: Tparams"},
    .types = "Tparams: " EF_MOVE_TYPES "; Tindices: {int32, int64}",
    .attr = {EF_ATTR(gather1_attrs, validate_indices, "bool", "true")},
    .attr_size = sizeof(gather1_attrs),
    .keeps = EF_KEEP_IN(1),
    .shape = gather_shape,
    .kernel = EF_MOVE_KERNEL_OF(gather_run, EF_QUANTIZED | EF_FLOAT8),
    .grad = gather_grad,
    .examples = {"float[4,3] int32[2]{3,0}", "float[4] int64[2,2]{0,1,1,3}",
                 "double[2] int32[]{1}"},
};

const ef_op ef_op_GatherV2 = {
    EF_NAMED(GatherV2),
    .doc = "The slices of `params` along `axis` that `indices` select. The first `batch_dims` axes "
           "are common to both.",
    .in = {"params: Tparams", "indices: Tindices", "axis: Taxis"},
    .out = {"output: Tparams"},
    .types = "Tparams: " EF_MOVE_TYPES "; Tindices: {int16, int32, int64}; Taxis: {int32, int64}",
    .attr = {EF_ATTR(gather_attrs, batch_dims, "int", "0")},
    .attr_size = sizeof(gather_attrs),
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape_value = EF_SHAPE_VALUE_GATHERED,
    .data_in = 2,
    .shape = gather_shape,
    .kernel = EF_MOVE_KERNEL_OF(gather_run, EF_QUANTIZED | EF_FLOAT8),
    .grad = gather_grad,
    .examples = {"float[4,3] int32[2]{3,0} int32[]{0}",
                 "float[2,4,3] int64[2,2]{0,1,1,3} int32[]{1}",
                 "float[2,3,4] int32[2,2]{0,2,1,1} int64[]{-1} batch_dims=1",
                 "double[2,3] int32[]{1} int32[]{1}", "string[3]{a,b,c} int32[2]{2,0} int32[]{0}"},
};
