/* Rows of one element are gathered by a loop for each element and index size; longer rows are
 * copied with memcpy. The output rows are divided among threads. */
#include "kernels/gather.h"
#include "base/pool.h"
#include "tensor/tensor.h"
#include <string.h>

typedef struct e16 {
    uint64_t a, b;
} e16;

static inline int64_t load(ef_dtype t, const void *p, int64_t k) {
    return t == EF_I32   ? ((const int32_t *)p)[k]
           : t == EF_I64 ? ((const int64_t *)p)[k]
                         : ef_element_int(t, p, k);
}

#define OUTSIDE(I)                                                                   \
    {                                                                                \
        const I *x = index;                                                          \
        bool bad = false;                                                            \
        for (int64_t k = 0; k < n; k++) bad |= (x[k] < 0) | ((int64_t)x[k] >= rows); \
        if (!bad) return -1;                                                         \
    }
int64_t ef_index_outside(ef_dtype t, const void *index, int64_t n, int64_t rows) {
    if (t == EF_I32) OUTSIDE(int32_t)
    if (t == EF_I64) OUTSIDE(int64_t)
    for (int64_t k = 0; k < n; k++) {
        int64_t v = load(t, index, k);
        if (v < 0 || v >= rows) return k;
    }
    return -1;
}

typedef void pick_fn(void *out, const void *params, const void *index, int64_t n);
#define PICK(T, I, name)                                                            \
    static void name(void *out, const void *params, const void *index, int64_t n) { \
        T *restrict o = out;                                                        \
        const T *restrict p = params;                                               \
        const I *restrict x = index;                                                \
        for (int64_t k = 0; k < n; k++) o[k] = p[x[k]];                             \
    }
#define PICKS(T, size) PICK(T, int32_t, pick_##size##_32) PICK(T, int64_t, pick_##size##_64)
PICKS(uint8_t, 1)
PICKS(uint16_t, 2)
PICKS(uint32_t, 4)
PICKS(uint64_t, 8)
PICKS(e16, 16)
static pick_fn *const picks[5][2] = {{pick_1_32, pick_1_64},
                                     {pick_2_32, pick_2_64},
                                     {pick_4_32, pick_4_64},
                                     {pick_8_32, pick_8_64},
                                     {pick_16_32, pick_16_64}};

typedef struct job {
    const ef_gather_job *g;
    size_t row; /* bytes */
    size_t index_size;
    pick_fn *pick; /* for rows of one element */
} job;

/* Output rows [begin, end), counted over batches, outer and indices. */
static void gather_range(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_gather_job *g = j->g;
    while (begin < end) {
        int64_t slab = begin / g->n, i = begin % g->n, stop = g->n;
        if (stop - i > end - begin) stop = i + (end - begin);
        const char *from = (const char *)g->params + (size_t)slab * (size_t)g->rows * j->row;
        const char *index =
            (const char *)g->index + (size_t)(slab / g->outer * g->n) * j->index_size;
        char *to = (char *)g->out + (size_t)begin * j->row;
        begin += stop - i;
        if (j->pick != NULL) {
            j->pick(to, from, index + (size_t)i * j->index_size, stop - i);
            continue;
        }
        for (; i < stop; i++, to += j->row)
            memcpy(to, from + (size_t)load(g->index_dtype, index, i) * j->row, j->row);
    }
}

static ef_status *gather_strings(const ef_gather_job *g) {
    ef_str *to = g->out;
    for (int64_t slab = 0; slab < g->batches * g->outer; slab++)
        for (int64_t i = 0; i < g->n; i++) {
            int64_t row = load(g->index_dtype, g->index, slab / g->outer * g->n + i);
            const ef_str *from = (const ef_str *)g->params + (slab * g->rows + row) * g->inner;
            for (int64_t k = 0; k < g->inner; k++, to++)
                EF_TRY(ef_str_set(to, from[k].at, from[k].n));
        }
    return NULL;
}

ef_status *ef_gather(const ef_gather_job *g) {
    int64_t all = g->batches * g->outer * g->n;
    if (all == 0 || g->inner == 0) return NULL;
    if (g->dtype == EF_STRING) return gather_strings(g);
    size_t size = ef_dtype_size(g->dtype);
    job j = {.g = g, .row = (size_t)g->inner * size, .index_size = ef_dtype_size(g->index_dtype)};
    if (g->inner == 1 && (g->index_dtype == EF_I32 || g->index_dtype == EF_I64)) {
        int k = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4;
        j.pick = picks[k][g->index_dtype == EF_I64];
    }
    ef_parallel(all, 64, j.pick ? 1.0 : 4.0 + (double)j.row * 0.12, gather_range, &j);
    return NULL;
}
