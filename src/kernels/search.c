/* Binary searches without branches, several of them interleaved: a mispredicted branch costs more
 * than all else in a step, and the loads of one search depend on each other. Every search probes
 * the same elements as std::lower_bound, so that rows which are not sorted, or hold NaN, give
 * TensorFlow's answers too. */
#include "kernels/search.h"
#include "base/pool.h"
#include "kernels/half.h"

enum { LANES = 32 }; /* searches that run together */

/* Calls in which `upper` is a constant are compiled without the test. */
#define EACH "kernels/search.inc"
#include "kernels/each_float.inc"
#include "kernels/each_int.inc"

/* Halves are compared as floats, one search after another. */
static void search_half(const ef_search *s, int64_t row, int64_t first, int count, int64_t *out) {
    const ef_f16 *x = (const ef_f16 *)s->sorted + row * s->n;
    const ef_f16 *v = (const ef_f16 *)s->values + row * s->m + first;
    float wanted[LANES], there;
    ef_widen(s->dtype, wanted, v, count);
    for (int q = 0; q < count; q++) {
        int64_t lo = 0, length = s->n;
        while (length > 0) {
            int64_t half = length / 2;
            ef_widen(s->dtype, &there, x + lo + half, 1);
            bool below = s->upper ? !(wanted[q] < there) : there < wanted[q];
            lo = below ? lo + half + 1 : lo;
            length = below ? length - half - 1 : half;
        }
        out[q] = lo;
    }
}

#define CASE(E, suffix) \
    case E: search_##suffix(s, row, first, count, out); return;
static void search_some(const ef_search *s, int64_t row, int64_t first, int count, int64_t *out) {
    switch (s->dtype) {
        CASE(EF_F32, f32)
        CASE(EF_F64, f64)
        CASE(EF_I8, i8)
        CASE(EF_I16, i16)
        CASE(EF_I32, i32)
        CASE(EF_I64, i64)
        CASE(EF_U8, u8)
        CASE(EF_U16, u16)
        CASE(EF_U32, u32)
        CASE(EF_U64, u64)
    default: search_half(s, row, first, count, out);
    }
}

/* Values [begin, end), counted over all rows. */
static void search_range(void *arg, int64_t begin, int64_t end) {
    const ef_search *s = arg;
    int64_t found[LANES];
    while (begin < end) {
        int64_t row = begin / s->m, first = begin % s->m, left = s->m - first;
        if (left > end - begin) left = end - begin;
        int count = left < LANES ? (int)left : LANES;
        search_some(s, row, first, count, found);
        if (s->index_type == EF_I32)
            for (int q = 0; q < count; q++) ((int32_t *)s->out)[begin + q] = (int32_t)found[q];
        else
            for (int q = 0; q < count; q++) ((int64_t *)s->out)[begin + q] = found[q];
        begin += count;
    }
}

void ef_search_run(const ef_search *s) {
    double cost = 2;
    for (int64_t n = s->n; n > 0; n /= 2) cost += 0.7;
    ef_parallel(s->rows * s->m, LANES, cost, search_range, (void *)(uintptr_t)s);
}
