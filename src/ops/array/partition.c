/* DynamicPartition: rows distributed into groups by number; DynamicStitch: rows put back by
 * index. */
#include "ops/array/array.h"
#include "ops/build.h"
#include <string.h>

typedef struct {
    int64_t num_partitions;
} partition_attrs;

static ef_status *partition_shape(ef_infer *i) {
    const ef_shape *data = &i->in[0].shape, *parts = &i->in[1].shape;
    if (data->rank < 0 || parts->rank < 0) return NULL;
    bool fits = parts->rank <= data->rank;
    for (int d = 0; fits && d < parts->rank; d++)
        fits = ef_dim_may_equal(data->dim[d], parts->dim[d]);
    if (!fits)
        return ef_error(EF_INVALID,
                        "DynamicPartition: data.shape must start with partitions.shape, got "
                        "data.shape = %s, partitions.shape = %s",
                        EF_SHAPE(data), EF_SHAPE(parts));
    EF_TRY(ef_need_rank_held(i->op, 1 + data->rank - parts->rank));
    ef_shape out = {.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    for (int d = parts->rank; d < data->rank; d++) out.dim[out.rank++] = data->dim[d];
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = out;
    return NULL;
}

/* Space for the number of rows of each part, and later for the index of its next row. */
static size_t partition_scratch(const ef_call *c) { return (size_t)c->n_out * sizeof(int64_t); }

static ef_status *partition_run(const ef_call *c) {
    const ef_tensor *data = c->in[0], *parts = c->in[1];
    ef_dtype t = (ef_dtype)data->dtype;
    int64_t rows = ef_count(parts), *count = c->scratch;
    const int32_t *part = parts->data;
    memset(count, 0, partition_scratch(c));
    for (int64_t k = 0; k < rows; k++) {
        if (part[k] < 0 || part[k] >= c->n_out)
            return ef_error(EF_INVALID, "DynamicPartition: partitions[%lld] = %d is not in [0, %d)",
                            (long long)k, part[k], c->n_out);
        count[part[k]]++;
    }
    ef_shape s = ef_shape_from(data), out = {.rank = 1};
    for (int d = parts->rank; d < data->rank; d++) out.dim[out.rank++] = data->dim[d];
    int64_t inner = ef_shape_span(&s, parts->rank, s.rank);
    for (int k = 0; k < c->n_out; k++) {
        out.dim[0] = count[k];
        EF_TRY(ef_out_alloc(c, k, &out));
        count[k] = 0;
    }
    size_t bytes = (size_t)inner * ef_dtype_size(t);
    for (int64_t k = 0; k < rows; k++) {
        char *to = (char *)c->out[part[k]]->data + (size_t)count[part[k]]++ * bytes;
        EF_TRY(ef_copy_elements(t, to, (const char *)data->data + (size_t)k * bytes, inner));
    }
    return NULL;
}

/* Partitioning the row indices in the same way gives the row to which each gradient row belongs. */
static ef_status *partition_grad(ef_grad *g) {
    ef_build *b = g->b;
    int n = g->n_out;
    ef_value **in = b->memory(b, sizeof(ef_value *) * 2 * (size_t)n), *stitched = NULL;
    if (in == NULL) return ef_no_memory(sizeof(ef_value *) * 2 * (size_t)n);
    ef_value *shape = ef_shape_value(b, g->in[1], EF_I32);
    ef_value *rows = ef_reshape(b, ef_shape_product(b, shape), ef_const_ints(b, EF_I32, 0, NULL));
    ef_value *number =
        ef_emit(b, "Range", 3, ef_const_number(b, EF_I32, 0), rows, ef_const_number(b, EF_I32, 1));
    ef_value *from[2] = {ef_reshape(b, number, shape), g->in[1]};
    ef_attr_value set[] = {EF_SET_INT("num_partitions", n)};
    ef_emit_many(b, "DynamicPartition", set, 1, from, 2, in, n);
    for (int k = 0; k < n; k++) in[n + k] = ef_dout(g, k);
    ef_emit_many(b, "ParallelDynamicStitch", NULL, 0, in, 2 * n, &stitched, 1);
    g->din[0] = ef_reshape(b, stitched, ef_shape_value(b, g->in[0], EF_I32));
    return NULL;
}

const ef_op ef_op_DynamicPartition = {
    EF_NAMED(DynamicPartition),
    .doc = "Distributes the rows of `data` to `num_partitions` tensors: row i goes to number "
           "`partitions[i]`.",
    .in = {"data: T", "partitions: int32"},
    .out = {"outputs: num_partitions * T"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = {EF_ATTR(partition_attrs, num_partitions, "int >= 1", NULL)},
    .attr_size = sizeof(partition_attrs),
    .traits = EF_DYNAMIC,
    .keeps = EF_KEEP_IN(1),
    .shape = partition_shape,
    .kernel = {{EF_CPU, EF_COMPUTED | EF_BIT(STRING), partition_run, partition_scratch, NULL, NULL,
                NULL}},
    .grad = partition_grad,
    .examples = {"float[4,2] int32[4]{1,0,1,1} num_partitions=3",
                 "double[2,2] int32[2,2]{0,1,1,0} num_partitions=2",
                 "float[3] int32[]{1} num_partitions=2", "int32[0,2] int32[0] num_partitions=1",
                 "string[2]{a,b} int32[2]{1,0} num_partitions=2"},
};

/* ---- DynamicStitch ----------------------------------------------------------------------------
 */

/* data[k].shape must be indices[k].shape followed by the shape all rows share. */
static ef_status *row_shape(ef_infer *i, int n, ef_shape *row) {
    *row = ef_unknown_shape();
    for (int k = 0; k < n; k++) {
        const ef_shape *x = &i->in[k].shape, *data = &i->in[n + k].shape;
        if (x->rank < 0 || data->rank < 0) continue;
        bool fits = x->rank <= data->rank;
        for (int d = 0; fits && d < x->rank; d++) fits = ef_dim_may_equal(x->dim[d], data->dim[d]);
        if (!fits)
            return ef_error(EF_INVALID,
                            "%s: data[%d].shape = %s does not start with indices[%d].shape = %s",
                            i->op->name, k, EF_SHAPE(data), k, EF_SHAPE(x));
        ef_shape rest = {.rank = 0}, both;
        for (int d = x->rank; d < data->rank; d++) rest.dim[rest.rank++] = data->dim[d];
        ef_status *s = ef_shape_merge(row, &rest, &both);
        if (s != NULL) {
            ef_status_free(s);
            return ef_error(EF_INVALID,
                            "%s: rows of data[%d] have shape %s, but rows before it %s; they must "
                            "agree",
                            i->op->name, k, EF_SHAPE(&rest), EF_SHAPE(row));
        }
        *row = both;
    }
    return NULL;
}

static ef_status *stitch_shape(ef_infer *i) {
    int n = i->n_in / 2;
    int64_t most = -1;
    bool known = true;
    ef_shape row;
    EF_TRY(row_shape(i, n, &row));
    for (int k = 0; k < n; k++) {
        const ef_tensor *t = i->in[k].value;
        known = known && t != NULL && t->data != NULL;
        for (int64_t j = 0; known && j < ef_count(t); j++) {
            int32_t v = ((const int32_t *)t->data)[j];
            if (v < 0)
                return ef_error(EF_INVALID, "%s: indices[%d] is out of range: element %lld is %d",
                                i->op->name, k, (long long)j, v);
            if (v > most) most = v;
        }
    }
    if (row.rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, row.rank + 1));
    ef_shape out = {.rank = row.rank + 1, .dim = {known ? most + 1 : EF_DIM_UNKNOWN}};
    for (int d = 0; d < row.rank; d++) out.dim[d + 1] = row.dim[d];
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *stitch_run(const ef_call *c) {
    int n = c->n_in / 2;
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    ef_shape s = ef_shape_from(o);
    int64_t inner = ef_shape_span(&s, 1, s.rank);
    size_t bytes = (size_t)inner * ef_dtype_size(t);
    EF_TRY(ef_out_memory(c, 0));
    EF_TRY(ef_zero_elements(t, o->data, ef_count(o))); /* rows that no index selects */
    for (int k = 0; k < n; k++) {
        const int32_t *index = c->in[k]->data;
        for (int64_t j = 0; j < ef_count(c->in[k]); j++) {
            if (index[j] < 0 || index[j] >= s.dim[0])
                return ef_error(EF_INVALID, "%s: indices[%d] is out of range: element %lld is %d",
                                c->op->name, k, (long long)j, index[j]);
            EF_TRY(ef_copy_elements(t, (char *)o->data + (size_t)index[j] * bytes,
                                    (const char *)c->in[n + k]->data + (size_t)j * bytes, inner));
        }
    }
    return NULL;
}

static ef_status *stitch_grad(ef_grad *g) {
    int n = g->n_in / 2;
    for (int k = 0; k < n; k++)
        g->din[n + k] =
            ef_emit(g->b, "GatherV2", 3, g->dout[0], g->in[k], ef_const_number(g->b, EF_I32, 0));
    return NULL;
}

#define STITCH(N, words)                                                                 \
    const ef_op ef_op_##N = {                                                            \
        EF_NAMED(N),                                                                     \
        .doc = words,                                                                    \
        .in = {"indices: N * int32", "data: N * T"},                                     \
        .out = {"merged: T"},                                                            \
        .types = "T: " EF_MOVE_TYPES "; N: int >= 1",                                    \
        .shape = stitch_shape,                                                           \
        .kernel = EF_MOVE_KERNEL_OF(stitch_run, EF_QUANTIZED_USUAL),                     \
        .grad = stitch_grad,                                                             \
        .examples = {"int32[2]{0,3} int32[2,1]{1,2} float[2,2] float[2,1,2]",            \
                     "int32[]{1} int32[1]{0} double[] double[1]", "int32[0] float[0,3]", \
                     "int32[2]{1,0} string[2]{a,b}"},                                    \
    };
STITCH(DynamicStitch, "Puts row j of each `data[k]` at `indices[k][j]` of one tensor; of rows with "
                      "the same index, the last one wins.")
STITCH(ParallelDynamicStitch, "Like DynamicStitch, for indices that do not repeat.")
