/* Columns of features as tensors: sparse, ragged, dense. */
#include "ops/io/feature.h"

/* Copies n values starting at `from` to position `to` of the output. */
static ef_status *put(const ef_call *c, int out, int64_t to, const ef_column *k, int64_t from,
                      int64_t n) {
    size_t size = ef_dtype_size(k->dtype);
    if (n == 0) return NULL;
    if (k->dtype != EF_STRING) {
        memcpy((char *)c->out[out]->data + (size_t)to * size, k->value + (size_t)from * size,
               (size_t)n * size);
        return NULL;
    }
    const ef_str *in = (const ef_str *)(const void *)k->value + from;
    ef_str *strings = (ef_str *)c->out[out]->data + to;
    for (int64_t j = 0; j < n; j++) EF_TRY(ef_str_set(&strings[j], in[j].at, in[j].n));
    return NULL;
}

static ef_status *put_all(const ef_call *c, int out, const ef_column *k) {
    int64_t n = k->inner.sum;
    EF_TRY(ef_out_alloc(c, out, &(ef_shape){.rank = 1, .dim = {n}}));
    return put(c, out, 0, k, 0, n);
}

ef_status *ef_column_sparse(const ef_call *c, int indices, int values, int shape,
                            const ef_column *k, bool nested, bool single) {
    const int rank = 1 + nested + !single;
    EF_TRY(ef_out_alloc(c, indices, &(ef_shape){.rank = 2, .dim = {k->inner.sum, rank}}));
    EF_TRY(ef_out_alloc(c, shape, &(ef_shape){.rank = 1, .dim = {rank}}));
    EF_TRY(put_all(c, values, k));
    int64_t *at = c->out[indices]->data, *size = c->out[shape]->data;
    size_t feature = 0, examples = nested ? k->outer.n : k->inner.n;
    for (size_t row = 0; row < examples; row++) {
        int64_t features = nested ? k->outer.at[row] : 1;
        for (int64_t time = 0; time < features; time++, feature++)
            for (int64_t j = 0; j < k->inner.at[feature]; j++) {
                if (!single) *at++ = (int64_t)row;
                if (nested) *at++ = time;
                *at++ = j;
            }
    }
    if (!single) *size++ = (int64_t)examples;
    if (nested) *size++ = k->outer.most;
    *size = k->inner.most;
    return NULL;
}

/* Writes 0 and then the cumulative sums of the counts. */
static ef_status *put_splits(const ef_call *c, int out, const ef_counts *counts) {
    EF_TRY(ef_out_alloc(c, out, &(ef_shape){.rank = 1, .dim = {(int64_t)counts->n + 1}}));
    int64_t sum = 0;
    for (size_t j = 0;; j++) {
        if (c->out[out]->dtype == EF_I64)
            ((int64_t *)c->out[out]->data)[j] = sum;
        else if (sum <= INT32_MAX)
            ((int32_t *)c->out[out]->data)[j] = (int32_t)sum;
        else
            return ef_error(EF_INVALID, "%s: %lld values do not fit splits of int32; use int64",
                            c->op->name, (long long)sum);
        if (j == counts->n) return NULL;
        sum += counts->at[j];
    }
}

ef_status *ef_column_ragged(const ef_call *c, int values, int inner, int outer, const ef_column *k,
                            bool single) {
    EF_TRY(put_all(c, values, k));
    const ef_counts *outermost = outer >= 0 ? &k->outer : &k->inner;
    if (outer >= 0) EF_TRY(put_splits(c, inner, &k->inner));
    int splits = outer >= 0 ? outer : inner;
    /* For a single example the splits would only repeat the number of values. */
    if (single) return ef_out_alloc(c, splits, &(ef_shape){.rank = 1, .dim = {0}});
    return put_splits(c, splits, outermost);
}

/* Fills the part of a row that a shorter example leaves empty. */
static ef_status *pad(const ef_call *c, int out, int64_t from, int64_t n, const ef_column *k) {
    size_t size = ef_dtype_size(k->dtype);
    const ef_tensor *value = k->fallback != NULL && ef_count(k->fallback) == 1 ? k->fallback : NULL;
    char *to = (char *)c->out[out]->data + (size_t)from * size;
    if (k->dtype == EF_STRING) {
        const ef_str *s = value != NULL ? ef_strs(value) : NULL;
        for (int64_t j = 0; s != NULL && j < n; j++)
            EF_TRY(ef_str_set((ef_str *)(void *)to + j, s->at, s->n));
        return NULL;
    }
    if (value == NULL) memset(to, 0, (size_t)n * size);
    for (int64_t j = 0; value != NULL && j < n; j++)
        memcpy(to + (size_t)j * size, value->data, size);
    return NULL;
}

ef_status *ef_column_dense(const ef_call *c, int values, const ef_column *k,
                           const ef_shape *element, bool nested, bool single) {
    const bool varies = !nested && k->size < 0;
    const int64_t most = nested ? k->outer.most : varies ? k->inner.most / k->step : 1;
    const int64_t width = nested ? k->size : varies ? k->step : k->size;
    const size_t examples = nested ? k->outer.n : k->inner.n;
    ef_shape shape = {.rank = 0};
    if (!single) shape.dim[shape.rank++] = (int64_t)examples;
    if (nested || varies) shape.dim[shape.rank++] = most;
    for (int d = varies ? 1 : 0; d < element->rank; d++) {
        if (shape.rank == EF_MAX_RANK) return ef_need_rank_held(c->op, EF_MAX_RANK + 1);
        shape.dim[shape.rank++] = element->dim[d];
    }
    EF_TRY(ef_need_size_held(c->op, &shape));
    EF_TRY(ef_out_alloc(c, values, &shape));
    int64_t from = 0;
    for (size_t row = 0; row < examples; row++) {
        int64_t n = nested ? k->outer.at[row] * width : k->inner.at[row];
        int64_t to = (int64_t)row * most * width;
        EF_TRY(put(c, values, to, k, from, n));
        EF_TRY(pad(c, values, to + n, most * width - n, k));
        from += n;
    }
    return NULL;
}

ef_status *ef_column_lengths(const ef_call *c, int out, const ef_column *k, bool single) {
    ef_shape shape = {.rank = single ? 0 : 1, .dim = {(int64_t)k->outer.n}};
    EF_TRY(ef_out_alloc(c, out, &shape));
    for (size_t j = 0; j < k->outer.n; j++) ((int64_t *)c->out[out]->data)[j] = k->outer.at[j];
    return NULL;
}
