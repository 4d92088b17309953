/* Few of many: a heap of the best so far; each element is compared with its worst. Many: a radix
 * sort by bytes, which is stable, so that equal elements keep their order, and which skips bytes
 * that are equal in all keys. */
#include "kernels/sort.h"
#include "base/pool.h"
#include "tensor/scratch.h"
#include <math.h>
#include <stdatomic.h>

typedef struct item {
    uint64_t key; /* inverted: the smallest key is the largest value */
    int64_t at;
} item;

static uint64_t float_key(float f) {
    uint32_t u;
    if (f != f) return UINT32_MAX;
    if (f == 0) f = 0;
    memcpy(&u, &f, sizeof u);
    return u >> 31 ? (uint32_t)~u : u | 0x80000000u;
}
static uint64_t double_key(double f) {
    uint64_t u;
    if (f != f) return UINT64_MAX;
    if (f == 0) f = 0;
    memcpy(&u, &f, sizeof u);
    return u >> 63 ? ~u : u | (uint64_t)1 << 63;
}

/* Flips the sign bit, so that negative numbers come first. */
#define SIGNED_KEY(T, U) ((U)((U)((const T *)p)[i] ^ (U)((U)1 << (8 * sizeof(T) - 1))))
static inline uint64_t key_at(ef_dtype t, const void *p, int64_t i) {
    switch (t) {
    case EF_F32: return float_key(((const float *)p)[i]);
    case EF_F64: return double_key(((const double *)p)[i]);
    case EF_F16: return float_key(ef_f16_float(((const ef_f16 *)p)[i]));
    case EF_BF16: return float_key(ef_bf16_float(((const ef_bf16 *)p)[i]));
    case EF_I8: return SIGNED_KEY(int8_t, uint8_t);
    case EF_I16: return SIGNED_KEY(int16_t, uint16_t);
    case EF_I32: return SIGNED_KEY(int32_t, uint32_t);
    case EF_I64: return SIGNED_KEY(int64_t, uint64_t);
    case EF_U8: return ((const uint8_t *)p)[i];
    case EF_U16: return ((const uint16_t *)p)[i];
    case EF_U32: return ((const uint32_t *)p)[i];
    default: return ((const uint64_t *)p)[i];
    }
}
uint64_t ef_sort_key(ef_dtype t, const void *p, int64_t i) { return key_at(t, p, i); }

static inline bool before(item a, item b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }

static void insertion_sort(item *a, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        item x = a[i];
        int64_t j = i;
        for (; j > 0 && before(x, a[j - 1]); j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* NaN is neither above nor below a number, so its position depends on the order of comparisons.
 * Short rows are sorted with the algorithm of std::sort, which TensorFlow uses for them. */
enum { SHORT_ROW = 16 };
static inline bool ahead(item a, item b, uint64_t nan) {
    return a.key != b.key && a.key != nan && b.key != nan ? a.key < b.key : a.at < b.at;
}
static void sort_short(item *a, int64_t n, uint64_t nan) {
    for (int64_t i = 1; i < n; i++) {
        item x = a[i];
        int64_t j = i;
        if (ahead(x, a[0], nan))
            for (; j > 0; j--) a[j] = a[j - 1];
        else
            for (; ahead(x, a[j - 1], nan); j--) a[j] = a[j - 1];
        a[j] = x;
    }
}

/* Sorts items, given in order of `at`, by key; returns the array that holds the result. */
static item *radix_sort(item *a, item *b, int64_t n) {
    uint64_t all = ~(uint64_t)0, any = 0;
    for (int64_t i = 0; i < n; i++) all &= a[i].key, any |= a[i].key;
    for (int shift = 0; shift < 64; shift += 8) {
        if ((((all ^ any) >> shift) & 0xFF) == 0) continue;
        int64_t start[256] = {0}, sum = 0;
        for (int64_t i = 0; i < n; i++) start[(a[i].key >> shift) & 0xFF]++;
        for (int d = 0; d < 256; d++) {
            int64_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) b[start[(a[i].key >> shift) & 0xFF]++] = a[i];
        item *other = a;
        a = b, b = other;
    }
    return a;
}

/* The root of the heap is its worst item. */
static void sift_down(item *heap, int64_t k, int64_t i) {
    item x = heap[i];
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= k) break;
        if (child + 1 < k && before(heap[child], heap[child + 1])) child++;
        if (!before(x, heap[child])) break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = x;
}

static item *select_few(const ef_top_k *t, const void *row, item *heap) {
    int64_t k = t->k;
    for (int64_t i = 0; i < k; i++) heap[i] = (item){~key_at(t->dtype, row, i), i};
    for (int64_t i = k / 2 - 1; i >= 0; i--) sift_down(heap, k, i);
    for (int64_t i = k; i < t->n; i++) {
        uint64_t key = ~key_at(t->dtype, row, i);
        if (key >= heap[0].key) continue; /* an earlier equal element stays */
        heap[0] = (item){key, i};
        sift_down(heap, k, 0);
    }
    for (int64_t m = k - 1; m > 0; m--) { /* moves the worst to the end, repeatedly */
        item worst = heap[0];
        heap[0] = heap[m];
        heap[m] = worst;
        sift_down(heap, m, 0);
    }
    return heap;
}

static item *sort_all(const ef_top_k *t, const void *row, item *a) {
    for (int64_t i = 0; i < t->n; i++) a[i] = (item){~key_at(t->dtype, row, i), i};
    if (t->n > 48) return radix_sort(a, a + t->n, t->n);
    if (t->n <= SHORT_ROW && ef_dtype_in(t->dtype, EF_FLOATS))
        sort_short(a, t->n, ~(t->dtype == EF_F64 ? UINT64_MAX : (uint64_t)UINT32_MAX));
    else
        insertion_sort(a, t->n);
    return a;
}

static void put_row(const ef_top_k *t, int64_t r, const char *row, const item *best) {
    size_t size = ef_dtype_size(t->dtype);
    char *values = (char *)t->values + (size_t)(r * t->k) * size;
    for (int64_t j = 0; j < t->k; j++) {
        int64_t at = best[j].at, to = r * t->k + j;
        memcpy(values + (size_t)j * size, row + (size_t)at * size, size);
        if (t->index_type == EF_I32)
            ((int32_t *)t->indices)[to] = (int32_t)at;
        else if (t->index_type == EF_I64)
            ((int64_t *)t->indices)[to] = at;
        else
            ((int16_t *)t->indices)[to] = (int16_t)at;
    }
}

enum { ON_STACK = 128 };
typedef struct top_k_job {
    const ef_top_k *t;
    bool few;
    size_t items; /* memory that one thread needs */
    atomic_bool failed;
} top_k_job;

static void top_k_rows(void *arg, int64_t from, int64_t to) {
    top_k_job *j = arg;
    const ef_top_k *t = j->t;
    item stack[ON_STACK] = {{0, 0}}, *room = stack;
    if (j->items > ON_STACK && (room = ef_scratch_take(j->items * sizeof *room)) == NULL) {
        atomic_store_explicit(&j->failed, true, memory_order_relaxed);
        return;
    }
    for (int64_t r = from; r < to; r++) {
        const char *row = (const char *)t->in + (size_t)(r * t->n) * ef_dtype_size(t->dtype);
        put_row(t, r, row, j->few ? select_few(t, row, room) : sort_all(t, row, room));
    }
    if (room != stack) ef_scratch_end(room);
}

ef_status *ef_top_k_run(const ef_top_k *t) {
    if (t->k == 0 || t->rows == 0) return NULL;
    top_k_job j = {.t = t, .few = t->k <= t->n / 16 || (t->k <= 16 && t->k < t->n)};
    j.items = (size_t)(j.few ? t->k : t->n <= 48 ? t->n : 2 * t->n);
    ef_parallel(t->rows, 1, (j.few ? 2.0 : 40.0) * (double)t->n + 20, top_k_rows, &j);
    return atomic_load(&j.failed) ? ef_no_memory(j.items * sizeof(item)) : NULL;
}

/* ---- n-th element -----------------------------------------------------------------------------
 */

/* Hoare's selection: moves key[nth] to its sorted position. */
static void quick_select(uint64_t *key, int64_t n, int64_t nth) {
    int64_t lo = 0, hi = n - 1;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2, i = lo, j = hi;
        uint64_t a = key[lo], b = key[mid], c = key[hi];
        uint64_t pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        while (i <= j) {
            while (key[i] < pivot) i++;
            while (key[j] > pivot) j--;
            if (i > j) break;
            uint64_t x = key[i];
            key[i++] = key[j];
            key[j--] = x;
        }
        if (nth <= j)
            hi = j;
        else if (nth >= i)
            lo = i;
        else
            return;
    }
}

ef_status *ef_nth_element(ef_dtype t, const void *in, void *out, int64_t rows, int64_t n,
                          int64_t nth, bool largest) {
    if (rows == 0) return NULL;
    size_t size = ef_dtype_size(t), bytes = 2 * (size_t)n * sizeof(uint64_t);
    uint64_t *key = ef_scratch_take(bytes);
    if (key == NULL) return ef_no_memory(bytes);
    uint64_t *sorted = key + n;
    for (int64_t r = 0; r < rows; r++) {
        const char *row = (const char *)in + (size_t)(r * n) * size;
        for (int64_t i = 0; i < n; i++) key[i] = sorted[i] = key_at(t, row, i);
        int64_t want = largest ? n - 1 - nth : nth;
        quick_select(sorted, n, want);
        int64_t at = 0;
        while (key[at] != sorted[want]) at++;
        memcpy((char *)out + (size_t)r * size, row + (size_t)at * size, size);
    }
    ef_scratch_end(key);
    return NULL;
}
