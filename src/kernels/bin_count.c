/* Each thread counts in tables of its own: two, used in turn, since increments of one counter that
 * follow each other wait for each other. Where bins are so many that adding up these tables would
 * cost as much as counting, one thread counts in the output. */
#include "kernels/bin_count.h"
#include "base/alloc.h"
#include "base/pool.h"
#include <stdatomic.h>
#include <string.h>

typedef struct {
    const ef_bin_count *t;
    int64_t *tables; /* two for each lane, of bins + 1 counters */
    atomic_bool bad;
} counting;

static void count_range(void *arg, int64_t begin, int64_t end) {
    counting *c = arg;
    int64_t size = c->t->bins + 1;
    int32_t bin[EF_BIN_BLOCK];
    int64_t *even = c->tables + 2 * ef_pool_lane() * size, *odd = even + size;
    for (int64_t n; begin < end; begin += n) {
        n = end - begin < EF_BIN_BLOCK ? end - begin : EF_BIN_BLOCK;
        if (!c->t->fn(c->t->arg, begin, n, bin)) {
            atomic_store_explicit(&c->bad, true, memory_order_relaxed);
            return;
        }
        int64_t k = 0;
        for (; k + 1 < n; k += 2) even[bin[k]]++, odd[bin[k + 1]]++;
        if (k < n) even[bin[k]]++;
    }
}

/* A sum of ones in float ends at 2^24. */
#define STORE(T, limit)                                                            \
    {                                                                              \
        T *out = t->out;                                                           \
        for (int64_t k = 0; k < t->bins; k++) {                                    \
            int64_t count = 0;                                                     \
            for (int l = 0; l < tables; l++) count += from[l * (t->bins + 1) + k]; \
            if (count > (limit)) count = (limit);                                  \
            out[k] = (T)(t->binary ? count > 0 : count);                           \
        }                                                                          \
        break;                                                                     \
    }
static void store(const ef_bin_count *t, const int64_t *from, int tables) {
    switch (t->type) {
    case EF_I32: STORE(uint32_t, INT64_MAX) /* wraps */
    case EF_I64: STORE(int64_t, INT64_MAX)
    case EF_F32: STORE(float, 1 << 24)
    default: STORE(double, INT64_MAX)
    }
}

#define COUNT(T)                                                                 \
    {                                                                            \
        T *out = t->out;                                                         \
        for (int64_t k = 0; k < n; k++)                                          \
            if (bin[k] < t->bins) out[bin[k]] = t->binary ? 1 : out[bin[k]] + 1; \
        break;                                                                   \
    }
static bool count_in_output(const ef_bin_count *t) {
    int32_t bin[EF_BIN_BLOCK];
    memset(t->out, 0, (size_t)t->bins * ef_dtype_size(t->type));
    for (int64_t n, from = 0; from < t->n; from += n) {
        n = t->n - from < EF_BIN_BLOCK ? t->n - from : EF_BIN_BLOCK;
        if (!t->fn(t->arg, from, n, bin)) return false;
        switch (t->type) {
        case EF_I32: COUNT(uint32_t)
        case EF_I64: COUNT(int64_t)
        case EF_F32: COUNT(float)
        default: COUNT(double)
        }
    }
    return true;
}

ef_status *ef_bin_count_run(const ef_bin_count *t, bool *ok) {
    int lanes = ef_pool_lanes();
    if (t->bins > t->n / 8 / lanes) {
        *ok = count_in_output(t);
        return NULL;
    }
    size_t bytes = (size_t)(t->bins + 1) * 2 * (size_t)lanes * sizeof(int64_t);
    counting c = {.t = t, .tables = ef_malloc(bytes)};
    if (c.tables == NULL) return ef_no_memory(bytes);
    memset(c.tables, 0, bytes);
    ef_parallel(t->n, EF_BIN_BLOCK, 1.0, count_range, &c);
    store(t, c.tables, 2 * lanes);
    *ok = !atomic_load_explicit(&c.bad, memory_order_relaxed);
    ef_free(c.tables);
    return NULL;
}
