/* Casts from and to the narrow types that TensorFlow has: the two 8-bit floats from floats and to
 * everything, int4 and uint4 from and to integers. TensorFlow converts element by element here, so
 * a number outside the integer's range always loses its high bits. */
#include "ops/math/cast.h"
#include "ops/records.h"
#include "tensor/narrow.h"

static inline float e5m2_float(uint8_t x) { return ef_small_to_float(ef_f8e5m2, x); }
static inline float e4m3_float(uint8_t x) { return ef_small_to_float(ef_f8e4m3fn, x); }
static inline uint8_t float_e5m2(float x) { return ef_float_to_small(ef_f8e5m2, x); }
static inline uint8_t float_e4m3(float x) { return ef_float_to_small(ef_f8e4m3fn, x); }

#define TO_HALF(name, half)                                      \
    static void name##_##half(EF_TILE_PARAMS) {                  \
        ef_tile_to_half(name##_F32, EF_##half, 1, EF_TILE_PASS); \
    }
#define OF_FLOAT8(name)                                                    \
    EF_TILE1(name, BOOL, uint8_t, uint8_t, name##_float(x) != 0)           \
    EF_TILE1(name, I8, uint8_t, int8_t, int32_of_F32(name##_float(x)))     \
    EF_TILE1(name, U8, uint8_t, uint8_t, int32_of_F32(name##_float(x)))    \
    EF_TILE1(name, I16, uint8_t, int16_t, int32_of_F32(name##_float(x)))   \
    EF_TILE1(name, U16, uint8_t, uint16_t, int32_of_F32(name##_float(x)))  \
    EF_TILE1(name, I32, uint8_t, int32_t, int32_of_F32(name##_float(x)))   \
    EF_TILE1(name, U32, uint8_t, uint32_t, int64_of_F32(name##_float(x)))  \
    EF_TILE1(name, I64, uint8_t, int64_t, int64_of_F32(name##_float(x)))   \
    EF_TILE1(name, U64, uint8_t, uint64_t, uint64_of_F32(name##_float(x))) \
    EF_TILE1(name, F32, uint8_t, float, name##_float(x))                   \
    EF_TILE1(name, F64, uint8_t, double, name##_float(x))                  \
    EF_TILE1(name, C64, uint8_t, ef_c64, name##_float(x))                  \
    EF_TILE1(name, C128, uint8_t, ef_c128, name##_float(x))                \
    TO_HALF(name, F16) TO_HALF(name, BF16)
OF_FLOAT8(e5m2)
OF_FLOAT8(e4m3)
EF_TILE1(e5m2, F8E4M3FN, uint8_t, uint8_t, float_e4m3(e5m2_float(x)))
EF_TILE1(e4m3, F8E5M2, uint8_t, uint8_t, float_e5m2(e4m3_float(x)))

#define TO_FLOAT8(name)                                            \
    EF_TILE1(name, F32, float, uint8_t, name(x))                   \
    EF_TILE1(name, F64, double, uint8_t, name(ef_round_to_odd(x))) \
    static void name##_F16(EF_TILE_PARAMS) {                       \
        ef_tile_half(name##_F32, EF_F16, 1, 1, EF_TILE_PASS);      \
    }                                                              \
    static void name##_BF16(EF_TILE_PARAMS) {                      \
        ef_tile_half(name##_F32, EF_BF16, 1, 1, EF_TILE_PASS);     \
    }
TO_FLOAT8(float_e5m2)
TO_FLOAT8(float_e4m3)

#define OF_INT4(T, type)                         \
    EF_TILE1(i4, T, uint8_t, type, ef_i4_int(x)) \
    EF_TILE1(u4, T, uint8_t, type, x & 15)       \
    EF_TILE1(nibble, T, type, uint8_t, (uint8_t)x & 15)
EF_EACH_INT(OF_INT4)

EF_TILE1(same, U8, uint8_t, uint8_t, x)

static ef_tile_fn *const of_e5m2[EF_DTYPES] = {EF_ROWS_FLOAT(e5m2) EF_ROWS_INT(e5m2)
                                                   EF_ROWS_COMPLEX(e5m2)[EF_BOOL] = e5m2_BOOL,
                                               [EF_F8E4M3FN] = e5m2_F8E4M3FN};
static ef_tile_fn *const of_e4m3[EF_DTYPES] = {EF_ROWS_FLOAT(e4m3) EF_ROWS_INT(e4m3)
                                                   EF_ROWS_COMPLEX(e4m3)[EF_BOOL] = e4m3_BOOL,
                                               [EF_F8E5M2] = e4m3_F8E5M2};
static ef_tile_fn *const to_e5m2[EF_DTYPES] = {EF_ROWS_FLOAT(float_e5m2)};
static ef_tile_fn *const to_e4m3[EF_DTYPES] = {EF_ROWS_FLOAT(float_e4m3)};
static ef_tile_fn *const of_i4[EF_DTYPES] = {EF_ROWS_INT(i4)[EF_U4] = same_U8};
static ef_tile_fn *const of_u4[EF_DTYPES] = {EF_ROWS_INT(u4)[EF_I4] = same_U8};
static ef_tile_fn *const to_nibble[EF_DTYPES] = {EF_ROWS_INT(nibble)};

ef_tile_fn *ef_cast_narrow(ef_dtype from, ef_dtype to) {
    if (from == to) return ef_dtype_in(from, EF_NARROW) ? same_U8 : NULL;
    switch (from) {
    case EF_F8E5M2: return of_e5m2[to];
    case EF_F8E4M3FN: return of_e4m3[to];
    case EF_I4: return of_i4[to];
    case EF_U4: return of_u4[to];
    default: break;
    }
    switch (to) {
    case EF_F8E5M2: return to_e5m2[from];
    case EF_F8E4M3FN: return to_e4m3[from];
    case EF_I4:
    case EF_U4: return to_nibble[from];
    default: return NULL;
    }
}
