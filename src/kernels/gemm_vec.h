/* One vector of floats, as the small products use it. */
#ifndef EF_KERNELS_GEMM_VEC_H
#define EF_KERNELS_GEMM_VEC_H
#include <string.h>
#ifdef __FMA__
#include <immintrin.h>
#endif

#ifdef __AVX__
enum { LANES = 8 };
typedef float vec __attribute__((vector_size(32)));
#else
enum { LANES = 4 };
typedef float vec __attribute__((vector_size(16)));
#endif

static inline vec load(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void store(float *p, vec v) { memcpy(p, &v, sizeof v); }
static inline vec madd(float x, vec y, vec sum) {
#ifdef __FMA__
    return (vec)_mm256_fmadd_ps(_mm256_set1_ps(x), (__m256)y, (__m256)sum);
#else
    return x * y + sum;
#endif
}
#endif
