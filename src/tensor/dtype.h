/* Element types: sets of them as bit masks, the 16-bit floats, and lists of them from which macros
 * instantiate code for each type. */
#ifndef EF_TENSOR_DTYPE_H
#define EF_TENSOR_DTYPE_H
#include "evenflow.h"
#include <complex.h>
#include <string.h>

typedef struct {
    uint16_t bits;
} ef_f16;
typedef struct {
    uint16_t bits;
} ef_bf16;
typedef float _Complex ef_c64;
typedef double _Complex ef_c128;

#define EF_BIT(T) (UINT64_C(1) << EF_##T)
enum {
    EF_FLOATS = EF_BIT(F16) | EF_BIT(BF16) | EF_BIT(F32) | EF_BIT(F64),
    EF_SIGNED_INTS = EF_BIT(I8) | EF_BIT(I16) | EF_BIT(I32) | EF_BIT(I64),
    EF_UNSIGNED_INTS = EF_BIT(U8) | EF_BIT(U16) | EF_BIT(U32) | EF_BIT(U64),
    EF_INTS = EF_SIGNED_INTS | EF_UNSIGNED_INTS,
    EF_COMPLEX = EF_BIT(C64) | EF_BIT(C128),
    EF_REALS = EF_FLOATS | EF_INTS,
    EF_NUMBERS = EF_REALS | EF_COMPLEX,
    EF_QUANTIZED = EF_BIT(QI8) | EF_BIT(QU8) | EF_BIT(QI16) | EF_BIT(QU16) | EF_BIT(QI32),
    EF_QUANTIZED_USUAL =
        EF_BIT(QI8) | EF_BIT(QU8) | EF_BIT(QI32), /* those that most kernels support */
    EF_COMPUTED = EF_NUMBERS | EF_BIT(BOOL),      /* plain types that have arithmetic kernels */
    EF_MANAGED = EF_BIT(STRING) | EF_BIT(RESOURCE) | EF_BIT(VARIANT) /* elements own memory */
};
/* Sets with members beyond an enum's 31 bits. The narrow and the quantized types have no
 * arithmetic: kernels only move, cast and compare them with their own type. */
#define EF_FLOAT8 (EF_BIT(F8E5M2) | EF_BIT(F8E4M3FN)) /* those that kernels support */
#define EF_INT4 (EF_BIT(I4) | EF_BIT(U4))
#define EF_NARROW                                                                            \
    (EF_FLOAT8 | EF_INT4 | EF_BIT(F8E4M3FNUZ) | EF_BIT(F8E4M3B11FNUZ) | EF_BIT(F8E5M2FNUZ) | \
     EF_BIT(I2) | EF_BIT(U2) | EF_BIT(F4E2M1FN))
#define EF_STORED (EF_NARROW | EF_QUANTIZED)
#define EF_PLAIN (EF_COMPUTED | EF_STORED) /* bytes that memcpy may move */
#define EF_ANY (EF_PLAIN | EF_MANAGED)
static inline bool ef_dtype_in(ef_dtype t, uint64_t set) { return (set >> t) & 1u; }

/* X-lists: X(enum suffix, C type). Ints and full floats compute in their own type; the 16-bit
 * floats compute in float (see tile.h). */
#define EF_EACH_SIGNED(X) X(I8, int8_t) X(I16, int16_t) X(I32, int32_t) X(I64, int64_t)
#define EF_EACH_UNSIGNED(X) X(U8, uint8_t) X(U16, uint16_t) X(U32, uint32_t) X(U64, uint64_t)
#define EF_EACH_INT(X) EF_EACH_SIGNED(X) EF_EACH_UNSIGNED(X)
#define EF_EACH_QUANTIZED(X) \
    X(QI8, int8_t) X(QU8, uint8_t) X(QI16, int16_t) X(QU16, uint16_t) X(QI32, int32_t)
#define EF_EACH_FULL_FLOAT(X) X(F32, float) X(F64, double)
#define EF_EACH_HALF(X) X(F16, ef_f16) X(BF16, ef_bf16)
#define EF_EACH_COMPLEX(X) X(C64, ef_c64) X(C128, ef_c128)

static inline float ef_bf16_float(ef_bf16 h) {
    uint32_t u = (uint32_t)h.bits << 16;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static inline ef_bf16 ef_float_bf16(float f) { /* nearest even; NaN stays NaN */
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    uint32_t nan = (u & 0x7FFFFFFFu) > 0x7F800000u;
    uint32_t r = (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16;
    return (ef_bf16){(uint16_t)(nan ? (u >> 16) | 0x40u : r)};
}
float ef_f16_float(ef_f16 h);
ef_f16 ef_float_f16(float f);
void ef_f16_to_f32(float *out, const ef_f16 *in, size_t n); /* vectorised */
void ef_f32_to_f16(ef_f16 *out, const float *in, size_t n);

/* One element of any plain type as a double (real part) or an int64, and back. */
double ef_element_double(ef_dtype t, const void *p, int64_t i);
int64_t ef_element_int(ef_dtype t, const void *p, int64_t i);
void ef_element_set(ef_dtype t, void *p, int64_t i, double v); /* rounds as a cast would */
#endif
