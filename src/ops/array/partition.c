/* DynamicPartition: rows distributed into groups by number; DynamicStitch: rows put back by
 * index. */
#include "base/pool.h"
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

enum { CHUNKS = 16, CHUNK_ROWS = 8192 };

/* The rows are cut into chunks. Each counts its rows of every part; from these counts follows where
 * each chunk writes its rows. */
typedef struct {
    const ef_call *c;
    int64_t rows, chunks, inner;
    int64_t *count; /* [chunks][parts]: rows, or -1 for the first if a part is out of range */
    char **next;    /* [chunks][parts]: where the next row goes */
    size_t bytes;   /* of a row */
} partition;

static int64_t chunks_of(int64_t rows, int64_t parts) {
    if (parts > CHUNK_ROWS / 16 || rows < 2 * CHUNK_ROWS) return 1;
    return rows / CHUNK_ROWS < CHUNKS ? rows / CHUNK_ROWS : CHUNKS;
}

/* Space for the counts and the pointers. */
static size_t partition_scratch(const ef_call *c) {
    int64_t chunks = chunks_of(ef_count(c->in[1]), c->n_out);
    return (size_t)chunks * (size_t)c->n_out * (sizeof(int64_t) + sizeof(char *));
}

static void chunk_bounds(const partition *p, int64_t chunk, int64_t *from, int64_t *to) {
    int64_t each = p->rows / p->chunks;
    *from = chunk * each;
    *to = chunk + 1 == p->chunks ? p->rows : *from + each;
}

static void count_chunks(void *arg, int64_t begin, int64_t end) {
    const partition *p = arg;
    const int32_t *part = p->c->in[1]->data;
    for (int64_t chunk = begin, from, to; chunk < end; chunk++) {
        int64_t *count = p->count + chunk * p->c->n_out;
        chunk_bounds(p, chunk, &from, &to);
        for (int64_t k = from; k < to; k++) {
            if ((uint32_t)part[k] >= (uint32_t)p->c->n_out) {
                count[0] = -1;
                break;
            }
            count[part[k]]++;
        }
    }
}

typedef struct {
    uint64_t a, b;
} two_words;

#define DEAL(T)                                                     \
    {                                                               \
        const T *x = p->c->in[0]->data;                             \
        T **to = (T **)(void *)next;                                \
        for (int64_t k = from; k < end; k++) *to[part[k]]++ = x[k]; \
        break;                                                      \
    }
static void deal_rows(const partition *p, char **next, int64_t from, int64_t end) {
    const int32_t *part = p->c->in[1]->data;
    switch (p->bytes) {
    case 1: DEAL(uint8_t)
    case 2: DEAL(uint16_t)
    case 4: DEAL(uint32_t)
    case 8: DEAL(uint64_t)
    case 16: DEAL(two_words)
    default:
        for (int64_t k = from; k < end; k++, next[part[k - 1]] += p->bytes)
            memcpy(next[part[k]], (const char *)p->c->in[0]->data + (size_t)k * p->bytes, p->bytes);
    }
}

static void deal_chunks(void *arg, int64_t begin, int64_t end) {
    const partition *p = arg;
    for (int64_t chunk = begin, from, to; chunk < end; chunk++) {
        chunk_bounds(p, chunk, &from, &to);
        deal_rows(p, p->next + chunk * p->c->n_out, from, to);
    }
}

static ef_status *deal_strings(const partition *p) {
    const int32_t *part = p->c->in[1]->data;
    for (int64_t k = 0; k < p->rows; k++) {
        EF_TRY(ef_copy_elements(EF_STRING, p->next[part[k]],
                                (const char *)p->c->in[0]->data + (size_t)k * p->bytes, p->inner));
        p->next[part[k]] += p->bytes;
    }
    return NULL;
}

static ef_status *part_outside(const ef_call *c, int64_t rows) {
    const int32_t *part = c->in[1]->data;
    int64_t k = 0;
    while (k + 1 < rows && part[k] >= 0 && part[k] < c->n_out) k++;
    return ef_error(EF_INVALID, "DynamicPartition: partitions[%lld] = %d is not in [0, %d)",
                    (long long)k, part[k], c->n_out);
}

static ef_status *partition_run(const ef_call *c) {
    const ef_tensor *data = c->in[0], *parts = c->in[1];
    ef_dtype t = (ef_dtype)data->dtype;
    int n = c->n_out;
    partition p = {.c = c, .rows = ef_count(parts), .count = c->scratch};
    p.chunks = t == EF_STRING ? 1 : chunks_of(p.rows, n);
    p.next = (char **)(void *)(p.count + p.chunks * n);
    memset(p.count, 0, (size_t)(p.chunks * n) * sizeof *p.count);
    double each = (double)p.rows / (double)p.chunks;
    ef_parallel_each(p.chunks, each, count_chunks, &p);
    for (int64_t chunk = 0; chunk < p.chunks; chunk++)
        if (p.count[chunk * n] < 0) return part_outside(c, p.rows);
    ef_shape s = ef_shape_from(data), out = {.rank = 1};
    for (int d = parts->rank; d < data->rank; d++) out.dim[out.rank++] = data->dim[d];
    p.inner = ef_shape_span(&s, parts->rank, s.rank);
    p.bytes = (size_t)p.inner * ef_dtype_size(t);
    for (int k = 0; k < n; k++) {
        out.dim[0] = 0;
        for (int64_t chunk = 0; chunk < p.chunks; chunk++) out.dim[0] += p.count[chunk * n + k];
        EF_TRY(ef_out_alloc(c, k, &out));
        char *next = c->out[k]->data;
        for (int64_t chunk = 0; chunk < p.chunks; chunk++) {
            p.next[chunk * n + k] = next;
            if (next != NULL) next += (size_t)p.count[chunk * n + k] * p.bytes;
        }
    }
    if (p.bytes == 0) return NULL;
    if (t == EF_STRING) return deal_strings(&p);
    ef_parallel_each(p.chunks, each * (1.0 + 0.1 * (double)p.bytes), deal_chunks, &p);
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
