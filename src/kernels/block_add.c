/* An odometer over the outer axes and a plain loop over the innermost one. Threads divide the
 * longest axis whose stride in dst is not 0, so no two of them add to one element. */
#include "kernels/block_add.h"
#include "base/pool.h"
#include <string.h>

typedef void row_fn(void *dst, const void *src, int64_t n, int64_t to, int64_t from);

#define ROW(SUF, T)                                                                          \
    static void row_##SUF(void *dst, const void *src, int64_t n, int64_t to, int64_t from) { \
        T *o = dst;                                                                          \
        const T *x = src;                                                                    \
        if (to == 1 && from == 1) {                                                          \
            for (int64_t k = 0; k < n; k++) o[k] = (T)(o[k] + x[k]);                         \
        } else if (to == 0) {                                                                \
            T sum = 0;                                                                       \
            for (int64_t k = 0; k < n; k++) sum = (T)(sum + x[k * from]);                    \
            o[0] = (T)(o[0] + sum);                                                          \
        } else {                                                                             \
            for (int64_t k = 0; k < n; k++) o[k * to] = (T)(o[k * to] + x[k * from]);        \
        }                                                                                    \
    }
EF_EACH_UNSIGNED(ROW)
EF_EACH_FULL_FLOAT(ROW)
EF_EACH_COMPLEX(ROW)
static void row_F16(void *dst, const void *src, int64_t n, int64_t to, int64_t from) {
    float *o = dst;
    const ef_f16 *x = src;
    for (int64_t k = 0; k < n; k++) o[k * to] += ef_f16_float(x[k * from]);
}
static void row_BF16(void *dst, const void *src, int64_t n, int64_t to, int64_t from) {
    float *o = dst;
    const ef_bf16 *x = src;
    for (int64_t k = 0; k < n; k++) o[k * to] += ef_bf16_float(x[k * from]);
}

/* Signed numbers wrap around like the unsigned ones of their size. */
static row_fn *const rows[EF_DTYPES] = {
    [EF_I8] = row_U8,   [EF_U8] = row_U8,     [EF_I16] = row_U16, [EF_U16] = row_U16,
    [EF_I32] = row_U32, [EF_U32] = row_U32,   [EF_I64] = row_U64, [EF_U64] = row_U64,
    [EF_F32] = row_F32, [EF_F64] = row_F64,   [EF_C64] = row_C64, [EF_C128] = row_C128,
    [EF_F16] = row_F16, [EF_BF16] = row_BF16,
};

typedef struct {
    const ef_block *b;
    row_fn *row;
    char *dst;
    const char *src;
    int64_t to_size, from_size;
    int shared; /* the axis that is divided among threads, or -1 */
} job;

static void add_range(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    ef_block b = *j->b;
    char *dst = j->dst;
    const char *src = j->src;
    if (j->shared >= 0) {
        dst += begin * b.to[j->shared] * j->to_size;
        src += begin * b.from[j->shared] * j->from_size;
        b.dim[j->shared] = end - begin;
    }
    int64_t at[EF_BLOCK_RANK] = {0}, from = 0, to = 0;
    int last = b.rank - 1;
    int64_t n = last < 0 ? 1 : b.dim[last];
    for (;;) {
        j->row(dst + to * j->to_size, src + from * j->from_size, n, last < 0 ? 1 : b.to[last],
               last < 0 ? 1 : b.from[last]);
        int d = last - 1;
        for (; d >= 0; d--) {
            from += b.from[d];
            to += b.to[d];
            if (++at[d] < b.dim[d]) break;
            from -= b.dim[d] * b.from[d];
            to -= b.dim[d] * b.to[d];
            at[d] = 0;
        }
        if (d < 0) return;
    }
}

void ef_block_add(ef_dtype t, void *dst, const void *src, const ef_block *b) {
    ef_block s = {0};
    int64_t total = 1;
    for (int d = 0; d < b->rank; d++) {
        if (b->dim[d] <= 0) return;
        total *= b->dim[d];
        if (b->dim[d] > 1) ef_block_axis(&s, b->dim[d], b->from[d], b->to[d]);
    }
    job j = {.b = &s,
             .row = rows[t],
             .dst = dst,
             .src = src,
             .to_size = (int64_t)ef_dtype_size(ef_sum_dtype(t)),
             .from_size = (int64_t)ef_dtype_size(t),
             .shared = -1};
    for (int d = 0; d < s.rank; d++)
        if (s.to[d] != 0 && (j.shared < 0 || s.dim[d] > s.dim[j.shared])) j.shared = d;
    int64_t n = j.shared < 0 ? 1 : s.dim[j.shared];
    ef_parallel(n, 1, (double)total / (double)n * 0.5, add_range, &j);
}

void ef_round_sums(ef_dtype t, void *dst, const void *src, int64_t n) {
    const float *x = src;
    if (t == EF_F16) {
        ef_f32_to_f16(dst, src, (size_t)n);
    } else if (t == EF_BF16) {
        for (int64_t k = 0; k < n; k++) ((ef_bf16 *)dst)[k] = ef_float_bf16(x[k]);
    } else if (dst != src) {
        memcpy(dst, src, (size_t)n * ef_dtype_size(t));
    }
}
