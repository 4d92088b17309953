/* The functions of math_f32.inc for 16 floats at a time, with AVX-512: the same operations as in
 * vmath.h, so the results are bit-identical. For files that are compiled for x86-64-v4. */
#ifndef EF_KERNELS_VMATH_V4_H
#define EF_KERNELS_VMATH_V4_H
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

#define FUNCTION(name) static inline __m512 ef_##name##_v4(__m512 x)
#define REAL __m512
#define BITS __m512i
#define NUMBER(c) _mm512_set1_ps(c)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define DIV(a, b) _mm512_div_ps(a, b)
#define FMA(a, b, c) _mm512_fmadd_ps(a, b, c)
#define MAX(a, b) _mm512_max_ps(a, b)
#define MIN(a, b) _mm512_min_ps(a, b)
#define LESS(a, b) _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ)
#define EQUAL(a, b) _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ)
#define BOTH(a, b) _kand_mask16(a, b)
#define CHOOSE(test, a, b) _mm512_mask_blend_ps(test, b, a)
#define ABS(a) _mm512_abs_ps(a)
#define SQRT(a) _mm512_sqrt_ps(a)
#define CALL(name, a) ef_##name##_v4(a)
#define WORD(c) _mm512_set1_epi32((int32_t)(c))
#define AS_BITS(a) _mm512_castps_si512(a)
#define AS_REAL(a) _mm512_castsi512_ps(a)
#define PLUS(a, b) _mm512_add_epi32(a, b)
#define MINUS(a, b) _mm512_sub_epi32(a, b)
#define AND_BITS(a, b) _mm512_and_si512(a, b)
#define XOR_BITS(a, b) _mm512_xor_si512(a, b)
#define SHIFT_LEFT(a, k) _mm512_slli_epi32(a, k)
#define SHIFT_RIGHT(a, k) _mm512_srai_epi32(a, k)
#define CONVERT(a) _mm512_cvtepi32_ps(a)
#define SCALE(a, n, t) ((void)(t), _mm512_scalef_ps(a, n))
#include "kernels/math_f32.inc"
#undef FUNCTION
#undef REAL
#undef BITS
#undef NUMBER
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef FMA
#undef MAX
#undef MIN
#undef LESS
#undef EQUAL
#undef BOTH
#undef CHOOSE
#undef ABS
#undef SQRT
#undef CALL
#undef WORD
#undef AS_BITS
#undef AS_REAL
#undef PLUS
#undef MINUS
#undef AND_BITS
#undef XOR_BITS
#undef SHIFT_LEFT
#undef SHIFT_RIGHT
#undef CONVERT
#undef SCALE
#endif
