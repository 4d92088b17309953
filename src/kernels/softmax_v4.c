/* The loops of softmax for AVX-512: twice as many elements at a time, and an instruction that
 * scales by a power of two. CMakeLists.txt compiles this file for x86-64-v4; softmax.c checks the
 * processor before it calls anything here. */
#define TABLE ef_softmax_v4
#ifdef __AVX512F__
#include "kernels/softmax_rows.h"
#include "kernels/vmath_v4.h"
#define OWN_F32 /* softmax_rows.inc uses these instead of its own */

enum { LANES = 16 };

/* Mask of the first n lanes, or of all. */
static __mmask16 lanes(int64_t n) { return (__mmask16)(n >= LANES ? 0xFFFF : (1u << n) - 1); }

static float highest_F32(const float *x, int64_t n) {
    __m512 none = _mm512_set1_ps(-INFINITY), m = none, m1 = none, m2 = none, m3 = none;
    int64_t j = 0;
    for (; j + 4 * LANES <= n; j += 4 * LANES) { /* four, to hide the latency; NaN is ignored */
        m = _mm512_max_ps(_mm512_loadu_ps(x + j), m);
        m1 = _mm512_max_ps(_mm512_loadu_ps(x + j + LANES), m1);
        m2 = _mm512_max_ps(_mm512_loadu_ps(x + j + 2 * LANES), m2);
        m3 = _mm512_max_ps(_mm512_loadu_ps(x + j + 3 * LANES), m3);
    }
    for (; j < n; j += LANES) m = _mm512_max_ps(_mm512_mask_loadu_ps(none, lanes(n - j), x + j), m);
    return _mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(m, m1), _mm512_max_ps(m2, m3)));
}

/* The exponentials of at most EF_SOFTMAX_STRETCH elements, stored if y is not NULL; each lane has
 * its own sum. */
static inline __m512 exps_block(const float *x, float *y, int64_t n, __m512 m) {
    __m512 s = _mm512_setzero_ps(), s1 = s;
    int64_t j = 0;
    for (; j + 2 * LANES <= n; j += 2 * LANES) {
        __m512 e = ef_exp_below_v4(_mm512_sub_ps(_mm512_loadu_ps(x + j), m));
        __m512 e1 = ef_exp_below_v4(_mm512_sub_ps(_mm512_loadu_ps(x + j + LANES), m));
        if (y != NULL) _mm512_storeu_ps(y + j, e);
        if (y != NULL) _mm512_storeu_ps(y + j + LANES, e1);
        s = _mm512_add_ps(s, e);
        s1 = _mm512_add_ps(s1, e1);
    }
    for (; j < n; j += LANES) {
        __mmask16 k = lanes(n - j);
        __m512 e = ef_exp_below_v4(_mm512_sub_ps(_mm512_maskz_loadu_ps(k, x + j), m));
        if (y != NULL) _mm512_mask_storeu_ps(y + j, k, e);
        s = _mm512_mask_add_ps(s, k, s, e);
    }
    return _mm512_add_ps(s, s1);
}

static inline double exps_or_sum(const float *x, float *y, int64_t n, float highest) {
    __m512 m = _mm512_set1_ps(highest);
    __m512d low = _mm512_setzero_pd(), high = low;
    for (int64_t at = 0; at < n; at += EF_SOFTMAX_STRETCH) {
        int64_t k = n - at < EF_SOFTMAX_STRETCH ? n - at : EF_SOFTMAX_STRETCH;
        __m512 s = exps_block(x + at, y != NULL ? y + at : NULL, k, m);
        low = _mm512_add_pd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(s)));
        high = _mm512_add_pd(high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(s, 1)));
    }
    return _mm512_reduce_add_pd(_mm512_add_pd(low, high));
}
static double exps_F32(const float *x, float *y, int64_t n, float m) {
    return exps_or_sum(x, y, n, m);
}
static double exp_sum_F32(const float *x, int64_t n, float m) { return exps_or_sum(x, NULL, n, m); }
#endif
#include "kernels/softmax_rows.inc"
