/* Bias: one pass over memory in each direction. The gradient sums blocks of rows, then the blocks'
 * sums: this rounds less than one long sum, and gives the same result for any number of threads. */
#include "kernels/bias.h"
#include "base/pool.h"
#include "tensor/scratch.h"

enum { ROWS = 256 }; /* rows in a block */

typedef struct job {
    ef_bias b;
    const void *x, *bias;
    void *out;
    int64_t block; /* rows per block in the gradient */
} job;

/* Rows are [channels] when inner is 1, else [inner] with one bias. */
#define ADD(SUF, T, LOAD, STORE)                                             \
    static void add_##SUF(void *arg, int64_t begin, int64_t end) {           \
        const job *j = arg;                                                  \
        const T *bias = j->bias;                                             \
        int64_t n = j->b.inner == 1 ? j->b.channels : j->b.inner;            \
        for (int64_t r = begin; r < end; r++) {                              \
            const T *x = (const T *)j->x + r * n;                            \
            T *out = (T *)j->out + r * n;                                    \
            if (j->b.inner == 1) {                                           \
                _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = \
                    STORE(LOAD(x[i]) + LOAD(bias[i]));                       \
            } else {                                                         \
                T one = bias[r % j->b.channels];                             \
                _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = \
                    STORE(LOAD(x[i]) + LOAD(one));                           \
            }                                                                \
        }                                                                    \
    }
/* Sums blocks [begin, end) of rows into one row of SUM each: [blocks][channels]. */
#define SUM_UP(SUF, T, SUM, LOAD)                                                                 \
    static void sum_##SUF(void *arg, int64_t begin, int64_t end) {                                \
        const job *j = arg;                                                                       \
        int64_t n = j->b.channels, inner = j->b.inner;                                            \
        for (int64_t k = begin; k < end; k++) {                                                   \
            SUM *restrict out = (SUM *)j->out + k * n;                                            \
            int64_t stop = (k + 1) * j->block < j->b.outer ? (k + 1) * j->block : j->b.outer;     \
            for (int64_t c = 0; c < n; c++) out[c] = 0;                                           \
            for (int64_t r = k * j->block; r < stop; r++) {                                       \
                const T *restrict x = (const T *)j->x + r * n * inner;                            \
                if (inner == 1) {                                                                 \
                    for (int64_t c = 0; c < n; c++) out[c] += LOAD(x[c]);                         \
                    continue;                                                                     \
                }                                                                                 \
                for (int64_t c = 0; c < n; c++) {                                                 \
                    SUM s = 0;                                                                    \
                    _Pragma("omp simd reduction(+ : s)") for (int64_t i = 0; i < inner; i++) s += \
                        LOAD(x[c * inner + i]);                                                   \
                    out[c] += s;                                                                  \
                }                                                                                 \
            }                                                                                     \
        }                                                                                         \
    }
#define SUM_LOOP(SUF, T, SUM, LOAD)                                                           \
    static void sum_##SUF(void *arg, int64_t begin, int64_t end) {                            \
        const job *j = arg;                                                                   \
        int64_t n = j->b.channels, inner = j->b.inner;                                        \
        for (int64_t k = begin; k < end; k++) {                                               \
            SUM *out = (SUM *)j->out + k * n;                                                 \
            int64_t stop = (k + 1) * j->block < j->b.outer ? (k + 1) * j->block : j->b.outer; \
            for (int64_t c = 0; c < n; c++) out[c] = 0;                                       \
            for (int64_t r = k * j->block; r < stop; r++)                                     \
                for (int64_t c = 0; c < n; c++)                                               \
                    for (int64_t i = 0; i < inner; i++)                                       \
                        out[c] += LOAD(((const T *)j->x)[(r * n + c) * inner + i]);           \
        }                                                                                     \
    }
/* Adds the sums of the blocks to the result. */
#define FINISH(SUF, T, SUM, STORE)                                                    \
    static void finish_##SUF(const void *sums, int64_t blocks, int64_t n, void *to) { \
        const SUM *s = sums;                                                          \
        for (int64_t c = 0; c < n; c++) {                                             \
            SUM all = 0;                                                              \
            for (int64_t k = 0; k < blocks; k++) all += s[k * n + c];                 \
            ((T *)to)[c] = STORE(all);                                                \
        }                                                                             \
    }
#define SAME(x) (x)
ADD(f32, float, SAME, SAME)
ADD(f64, double, SAME, SAME)
ADD(u8, uint8_t, SAME, (uint8_t))
ADD(u16, uint16_t, SAME, (uint16_t))
ADD(u32, uint32_t, SAME, SAME)
ADD(u64, uint64_t, SAME, SAME)
ADD(c64, ef_c64, SAME, SAME)
ADD(c128, ef_c128, SAME, SAME)
ADD(f16, ef_f16, ef_f16_float, ef_float_f16)
ADD(bf16, ef_bf16, ef_bf16_float, ef_float_bf16)
SUM_UP(f32, float, float, SAME)
SUM_UP(f64, double, double, SAME)
SUM_UP(u8, uint8_t, uint64_t, SAME)
SUM_UP(u16, uint16_t, uint64_t, SAME)
SUM_UP(u32, uint32_t, uint64_t, SAME)
SUM_UP(u64, uint64_t, uint64_t, SAME)
SUM_LOOP(c64, ef_c64, ef_c64, SAME)
SUM_LOOP(c128, ef_c128, ef_c128, SAME)
SUM_LOOP(f16, ef_f16, float, ef_f16_float)
SUM_UP(bf16, ef_bf16, float, ef_bf16_float)
FINISH(f32, float, float, SAME)
FINISH(f64, double, double, SAME)
FINISH(u8, uint8_t, uint64_t, (uint8_t))
FINISH(u16, uint16_t, uint64_t, (uint16_t))
FINISH(u32, uint32_t, uint64_t, (uint32_t))
FINISH(u64, uint64_t, uint64_t, SAME)
FINISH(c64, ef_c64, ef_c64, SAME)
FINISH(c128, ef_c128, ef_c128, SAME)
FINISH(f16, ef_f16, float, ef_float_f16)
FINISH(bf16, ef_bf16, float, ef_float_bf16)

#define ROW(SUF, SUM) \
    { add_##SUF, sum_##SUF, finish_##SUF, sizeof(SUM) }
static const struct loops {
    ef_range_fn *add, *sum;
    void (*finish)(const void *, int64_t, int64_t, void *);
    size_t sum_bytes;
} loops[EF_DTYPES] = {
    [EF_F32] = ROW(f32, float),    [EF_F64] = ROW(f64, double),   [EF_I8] = ROW(u8, uint64_t),
    [EF_U8] = ROW(u8, uint64_t),   [EF_I16] = ROW(u16, uint64_t), [EF_U16] = ROW(u16, uint64_t),
    [EF_I32] = ROW(u32, uint64_t), [EF_U32] = ROW(u32, uint64_t), [EF_I64] = ROW(u64, uint64_t),
    [EF_U64] = ROW(u64, uint64_t), [EF_C64] = ROW(c64, ef_c64),   [EF_C128] = ROW(c128, ef_c128),
    [EF_F16] = ROW(f16, float),    [EF_BF16] = ROW(bf16, float)};

void ef_bias_add(const ef_bias *b, ef_dtype t, const void *x, const void *bias, void *out) {
    job j = {*b, x, bias, out, 0};
    int64_t rows = b->inner == 1 ? b->outer : b->outer * b->channels;
    int64_t n = b->inner == 1 ? b->channels : b->inner;
    if (rows == 0 || n == 0) return;
    ef_parallel(rows, 1, 1 + (double)n * (double)ef_dtype_size(t) * 0.06, loops[t].add, &j);
}

ef_status *ef_bias_grad(const ef_bias *b, ef_dtype t, const void *dy, void *out) {
    if (b->channels == 0) return NULL;
    if (b->outer == 0 || b->inner == 0) {
        memset(out, 0, (size_t)b->channels * ef_dtype_size(t));
        return NULL;
    }
    job j = {*b, dy, NULL, NULL, ROWS / b->inner + 1};
    int64_t blocks = (b->outer + j.block - 1) / j.block;
    size_t bytes = (size_t)blocks * (size_t)b->channels * loops[t].sum_bytes;
    char small[4096];
    void *sums = bytes <= sizeof small ? small : ef_scratch_take(bytes);
    if (sums == NULL) return ef_no_memory(bytes);
    j.out = sums;
    ef_parallel(blocks, 1, (double)j.block * (double)(b->channels * b->inner) * 0.2, loops[t].sum,
                &j);
    loops[t].finish(sums, blocks, b->channels, out);
    if (sums != small) ef_scratch_end(sums);
    return NULL;
}
