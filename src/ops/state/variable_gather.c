/* Reading rows of variables without reading the whole variable. Gradients stay sparse:
 * IndexedSlices of the rows that were read. */
#include "kernels/gather.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/state/variable.h"

#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }

/* The shape of the variable of input 0 as a value. */
static ef_value *variable_shape(ef_grad *g, ef_dtype t) {
    const ef_fact *f = g->in[0]->fact.handle;
    if (f != NULL && ef_shape_known(&f->shape))
        return ef_const_ints(g->b, t, f->shape.rank, f->shape.dim);
    const ef_attr_value set[] = {EF_SET_TYPE("out_type", t)};
    return ef_emit_set(g->b, "VariableShape", set, 1, 1, g->in[0]);
}

/* ---- ResourceGather ---- */

typedef struct gather_attrs {
    int64_t batch_dims;
    bool validate_indices;
    ef_dtype dtype;
} gather_attrs;

static ef_status *batch_of(const ef_op *op, const void *attrs, int indices_rank, int *batch) {
    int64_t given = ((const gather_attrs *)attrs)->batch_dims;
    if (given < 0 || given > indices_rank)
        return ef_error(EF_INVALID,
                        "%s: batch_dims is %lld; it must be in [0, %d], the rank of indices",
                        op->name, (long long)given, indices_rank);
    *batch = (int)given;
    return NULL;
}

/* p, x: shapes of the variable and of the indices, of known rank. */
static ef_status *gathered(const ef_op *op, const void *attrs, const ef_shape *p, const ef_shape *x,
                           ef_shape *out) {
    int batch = 0;
    EF_TRY(batch_of(op, attrs, x->rank, &batch));
    if (p->rank < 1 || batch >= p->rank)
        return ef_error(EF_INVALID, "%s: the variable is %s; it must have more than %d dimensions",
                        op->name, EF_SHAPE(p), batch);
    EF_TRY(ef_need_rank_held(op, x->rank + p->rank - 1 - batch));
    for (int d = 0; d < batch; d++)
        if (!ef_dim_may_equal(p->dim[d], x->dim[d]))
            return ef_error(EF_INVALID,
                            "%s: the variable is %s and indices %s; the first %d sizes "
                            "must be equal",
                            op->name, EF_SHAPE(p), EF_SHAPE(x), batch);
    *out = *x;
    for (int d = batch + 1; d < p->rank; d++) out->dim[out->rank++] = p->dim[d];
    return ef_need_size_held(op, out);
}

static ef_status *gather_shape(ef_infer *i) {
    ef_shape p = ef_infer_variable_shape(i, 0);
    const ef_shape *x = &i->in[1].shape;
    EF_TRY(ef_need_rank(i, 0, 0));
    if (p.rank < 0 || x->rank < 0) return NULL;
    return gathered(i->op, i->attrs, &p, x, &i->out[0].shape);
}

static ef_status *gather_from(const ef_call *c, const ef_tensor *p) {
    const ef_tensor *x = c->in[1];
    int batch = (int)((const gather_attrs *)c->attrs)->batch_dims;
    ef_shape ps = ef_shape_from(p), xs = ef_shape_from(x), out;
    EF_TRY(gathered(c->op, c->attrs, &ps, &xs, &out));
    int64_t rows = ps.dim[batch];
    int64_t bad = ef_index_outside((ef_dtype)x->dtype, x->data, ef_count(x), rows);
    if (bad >= 0)
        return ef_error(EF_INVALID, "ResourceGather: indices[%lld] = %lld is not in [0, %lld)",
                        (long long)bad, (long long)ef_in_int(c, 1, bad), (long long)rows);
    EF_TRY(ef_out_ready(c, 0, &out));
    ef_gather_job g = {.dtype = (ef_dtype)p->dtype,
                       .index_dtype = (ef_dtype)x->dtype,
                       .batches = ef_shape_span(&ps, 0, batch),
                       .outer = 1,
                       .n = ef_shape_span(&xs, batch, xs.rank),
                       .rows = rows,
                       .inner = ef_shape_span(&ps, batch + 1, ps.rank),
                       .params = p->data,
                       .index = x->data,
                       .out = c->out[0]->data};
    return ef_gather(&g);
}

static ef_status *with_value(const ef_call *c, ef_dtype dtype,
                             ef_status *(*use)(const ef_call *c, const ef_tensor *p)) {
    ef_variable *v = NULL;
    ef_tensor now;
    EF_TRY(ef_call_variable(c, 0, dtype, &v));
    EF_TRY(ef_variable_read(v, &now));
    ef_status *s = ef_tensor_materialize(&now);
    if (s == NULL) s = use(c, &now);
    ef_tensor_release(&now);
    return s;
}
static ef_status *gather_run(const ef_call *c) {
    return with_value(c, ((const gather_attrs *)c->attrs)->dtype, gather_from);
}

static ef_status *gather_grad(ef_grad *g) {
    ef_build *b = g->b;
    if (((const gather_attrs *)g->attrs)->batch_dims != 0)
        return ef_error(
            EF_UNIMPLEMENTED,
            "ResourceGather: there is no gradient for batch_dims other than 0; read the "
            "variable and gather from the value");
    ef_value *shape = variable_shape(g, EF_I64);
    ef_value *n = ef_shape_product(b, ef_shape_value(b, g->in[1], EF_I64));
    ef_value *values =
        ef_reshape(b, g->dout[0], ef_shape_join(b, 2, n, ef_shape_part(b, shape, 1, -1)));
    ef_value *flat = ef_const_ints(b, EF_I32, 1, (const int64_t[]){-1});
    g->din[0] = ef_slices(b, values, ef_reshape(b, g->in[1], flat), shape);
    return NULL;
}

const ef_op ef_op_ResourceGather = {
    EF_NAMED(ResourceGather),
    .doc = "The rows of the variable that `indices` select.",
    .in = {"resource: resource", "indices: Tindices"},
    .out = {"output: dtype"},
    .types = "Tindices: {int32, int64}",
    .attr = {EF_ATTR(gather_attrs, batch_dims, "int", "0"),
             EF_ATTR(gather_attrs, validate_indices, "bool", "true"),
             EF_ATTR(gather_attrs, dtype, "type", NULL)},
    .attr_size = sizeof(gather_attrs),
    .traits = EF_STATEFUL,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .data_in = 2,
    .shape = gather_shape,
    .kernel = ROW(gather_run),
    .grad = gather_grad,
    .examples = {"var(float[4,3]) int32[2]{3,0} dtype=float",
                 "var(float[4]) int64[2,2]{0,1,3,3} dtype=float",
                 "var(int32[4,3]) int32[]{2} dtype=int32", "var(float[4,3]) int32[0] dtype=float"},
};

/* ---- ResourceGatherNd ---- */

typedef struct dtype_attrs {
    ef_dtype dtype;
} dtype_attrs;

/* The last dim of x is known. */
static ef_status *picked(const ef_op *op, const ef_shape *p, const ef_shape *x, ef_shape *out) {
    int64_t depth = x->dim[x->rank - 1];
    if (depth > p->rank)
        return ef_error(EF_INVALID,
                        "%s: indices is %s, so each index has %lld coordinates, but the variable "
                        "is %s; there must not be more than its rank",
                        op->name, EF_SHAPE(x), (long long)depth, EF_SHAPE(p));
    EF_TRY(ef_need_rank_held(op, x->rank - 1 + p->rank - depth));
    *out = *x;
    out->rank--;
    for (int d = (int)depth; d < p->rank; d++) out->dim[out->rank++] = p->dim[d];
    return ef_need_size_held(op, out);
}

static ef_status *nd_shape(ef_infer *i) {
    ef_shape p = ef_infer_variable_shape(i, 0);
    const ef_shape *x = &i->in[1].shape;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank_at_least(i, 1, 1));
    if (p.rank < 0 || x->rank < 1 || x->dim[x->rank - 1] < 0) return NULL;
    return picked(i->op, &p, x, &i->out[0].shape);
}

static ef_status *nd_from(const ef_call *c, const ef_tensor *p) {
    const ef_tensor *x = c->in[1];
    ef_shape ps = ef_shape_from(p), xs = ef_shape_from(x), out;
    EF_TRY(picked(c->op, &ps, &xs, &out));
    int depth = (int)xs.dim[xs.rank - 1];
    int64_t n = ef_shape_span(&xs, 0, xs.rank - 1), inner = ef_shape_span(&ps, depth, ps.rank);
    if (n > 0 && ef_count(p) == 0)
        return ef_error(EF_INVALID,
                        "%s: cannot take %lld slices from a variable that is empty (shape %s)",
                        c->op->name, (long long)n, EF_SHAPE(&ps));
    EF_TRY(ef_out_ready(c, 0, &out));
    size_t size = ef_dtype_size((ef_dtype)p->dtype), row = (size_t)inner * size;
    for (int64_t k = 0; k < n; k++) {
        int64_t at = 0;
        for (int d = 0; d < depth; d++) {
            int64_t j = ef_in_int(c, 1, k * depth + d);
            if (j < 0 || j >= ps.dim[d])
                return ef_error(
                    EF_INVALID,
                    "ResourceGatherNd: indices[%lld] has %lld for axis %d, which is not in "
                    "[0, %lld)",
                    (long long)k, (long long)j, d, (long long)ps.dim[d]);
            at = at * ps.dim[d] + j;
        }
        EF_TRY(ef_copy_elements((ef_dtype)p->dtype, (char *)c->out[0]->data + (size_t)k * row,
                                (const char *)p->data + (size_t)at * row, inner));
    }
    return NULL;
}
static ef_status *nd_run(const ef_call *c) {
    return with_value(c, ((const dtype_attrs *)c->attrs)->dtype, nd_from);
}

static ef_status *nd_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[1], *shape = variable_shape(g, x->fact.dtype);
    const ef_shape *xs = &x->fact.shape;
    if (xs->rank == 2 && xs->dim[1] == 1) {
        ef_value *flat = ef_const_ints(b, EF_I32, 1, (const int64_t[]){-1});
        g->din[0] = ef_slices(b, g->dout[0], ef_reshape(b, x, flat), shape);
    } else {
        g->din[0] = ef_emit(b, "ScatterNd", 3, x, g->dout[0], shape);
    }
    return NULL;
}

const ef_op ef_op_ResourceGatherNd = {
    EF_NAMED(ResourceGatherNd),
    .doc = "The slices of the variable at the coordinates in the rows of `indices`.",
    .in = {"resource: resource", "indices: Tindices"},
    .out = {"output: dtype"},
    .types = "Tindices: {int32, int64}",
    .attr = {EF_ATTR(dtype_attrs, dtype, "type", NULL)},
    .attr_size = sizeof(dtype_attrs),
    .traits = EF_STATEFUL,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = nd_shape,
    .kernel = ROW(nd_run),
    .grad = nd_grad,
    .examples = {"var(float[4,3]) int32[2,1]{3,0} dtype=float",
                 "var(float[4,3]) int64[2,2]{0,1,3,2} dtype=float"},
};
