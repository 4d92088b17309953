/* The table of element types and the conversions of single elements. The 16-bit floats follow
 * IEEE 754: round to nearest, ties to even, subnormals kept, NaN stays NaN. */
#include "tensor/dtype.h"
#include "tensor/narrow.h"
#include "tensor/tensor.h"
#ifdef __F16C__
#include <immintrin.h>
#endif

static const struct {
    const char *name, *alias; /* alias: TensorFlow's other word for it */
    size_t size;
} dtypes[EF_DTYPES] = {
    [EF_F32] = {"float32", "float", 4},
    [EF_F64] = {"float64", "double", 8},
    [EF_I32] = {"int32", NULL, 4},
    [EF_U8] = {"uint8", NULL, 1},
    [EF_I16] = {"int16", NULL, 2},
    [EF_I8] = {"int8", NULL, 1},
    [EF_STRING] = {"string", NULL, sizeof(ef_str)},
    [EF_C64] = {"complex64", NULL, 8},
    [EF_I64] = {"int64", NULL, 8},
    [EF_BOOL] = {"bool", NULL, 1},
    [EF_BF16] = {"bfloat16", NULL, 2},
    [EF_U16] = {"uint16", NULL, 2},
    [EF_C128] = {"complex128", NULL, 16},
    [EF_F16] = {"float16", "half", 2},
    [EF_RESOURCE] = {"resource", NULL, sizeof(void *)},
    [EF_VARIANT] = {"variant", NULL, sizeof(void *)},
    [EF_U32] = {"uint32", NULL, 4},
    [EF_U64] = {"uint64", NULL, 8},
    [EF_QI8] = {"qint8", NULL, 1},
    [EF_QU8] = {"quint8", NULL, 1},
    [EF_QI16] = {"qint16", NULL, 2},
    [EF_QU16] = {"quint16", NULL, 2},
    [EF_QI32] = {"qint32", NULL, 4},
    [EF_F8E5M2] = {"float8_e5m2", NULL, 1},
    [EF_F8E4M3FN] = {"float8_e4m3fn", NULL, 1},
    [EF_F8E4M3FNUZ] = {"float8_e4m3fnuz", NULL, 1},
    [EF_F8E4M3B11FNUZ] = {"float8_e4m3b11fnuz", NULL, 1},
    [EF_F8E5M2FNUZ] = {"float8_e5m2fnuz", NULL, 1},
    [EF_F4E2M1FN] = {"float4_e2m1fn", NULL, 1},
    [EF_I4] = {"int4", NULL, 1},
    [EF_U4] = {"uint4", NULL, 1},
    [EF_I2] = {"int2", NULL, 1},
    [EF_U2] = {"uint2", NULL, 1},
};

static bool in_table(ef_dtype t) { return (unsigned)t < EF_DTYPES && dtypes[t].name != NULL; }

size_t ef_dtype_size(ef_dtype t) { return in_table(t) ? dtypes[t].size : 0; }

const char *ef_dtype_name(ef_dtype t) { return in_table(t) ? dtypes[t].name : "no dtype"; }

ef_dtype ef_dtype_find(const char *name) {
    if (name == NULL) return EF_NO_DTYPE;
    for (int t = 0; t < EF_DTYPES; t++) {
        if (dtypes[t].name == NULL) continue;
        if (strcmp(dtypes[t].name, name) == 0) return (ef_dtype)t;
        if (dtypes[t].alias != NULL && strcmp(dtypes[t].alias, name) == 0) return (ef_dtype)t;
    }
    return EF_NO_DTYPE;
}

const ef_small_float *ef_small_float_of(ef_dtype t) {
    static const ef_small_float e4m3fnuz = {3, 8, 0x80, 0x7F, 0x80, 0x80, false, true};
    static const ef_small_float e4m3b11fnuz = {3, 11, 0x80, 0x7F, 0x80, 0x80, false, true};
    static const ef_small_float e5m2fnuz = {2, 16, 0x80, 0x7F, 0x80, 0x80, false, true};
    static const ef_small_float e2m1fn = {1, 1, 8, 7, 7, 0, false, false};
    switch (t) {
    case EF_F8E5M2: return &ef_f8e5m2;
    case EF_F8E4M3FN: return &ef_f8e4m3fn;
    case EF_F8E4M3FNUZ: return &e4m3fnuz;
    case EF_F8E4M3B11FNUZ: return &e4m3b11fnuz;
    case EF_F8E5M2FNUZ: return &e5m2fnuz;
    case EF_F4E2M1FN: return &e2m1fn;
    default: return NULL;
    }
}

static float float_of(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t bits_of(float f) {
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

/* Written without branches that depend on data, so that loops over them become vector code. */
static inline float half_to_float(uint16_t h) {
    uint32_t sign = (uint32_t)(h & 0x8000u) << 16, e = (h >> 10) & 31u, m = h & 0x3FFu;
    uint32_t normal = (e + 112u) << 23 | m << 13;
    uint32_t special = 0x7F800000u | m << 13 | (m != 0 ? 0x400000u : 0); /* NaN becomes quiet */
    uint32_t tiny = bits_of((float)m * 0x1p-24f);                        /* exact */
    uint32_t u = e == 0 ? tiny : e == 31 ? special : normal;
    return float_of(sign | u);
}

static inline uint16_t float_to_half(float f) {
    uint32_t u = bits_of(f), sign = (u >> 16) & 0x8000u;
    u &= 0x7FFFFFFFu;
    /* Between 1/2 and 1 a float's last bit is worth 2^-24, just as a subnormal half's: the addition
     * does the rounding. */
    uint32_t tiny = bits_of(float_of(u < 0x38800000u ? u : 0) + 0.5f) - bits_of(0.5f);
    uint32_t normal = (u + 0xFFFu + ((u >> 13) & 1u) - (112u << 23)) >> 13;
    uint32_t nan = 0x7E00u | (u >> 13 & 0x3FFu);
    uint32_t h = u < 0x38800000u ? tiny : normal;
    h = u >= 0x477FF000u ? 0x7C00u : h; /* 65520 and above round to infinity */
    h = u > 0x7F800000u ? nan : h;
    return (uint16_t)(sign | h);
}

#ifdef __F16C__
float ef_f16_float(ef_f16 h) { return _cvtsh_ss(h.bits); }

ef_f16 ef_float_f16(float f) {
    return (ef_f16){_cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
#else
float ef_f16_float(ef_f16 h) { return half_to_float(h.bits); }

ef_f16 ef_float_f16(float f) { return (ef_f16){float_to_half(f)}; }
#endif

void ef_f16_to_f32(float *out, const ef_f16 *in, size_t n) {
    size_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8) {
        __m128i h;
        memcpy(&h, in + i, sizeof h);
        _mm256_storeu_ps(out + i, _mm256_cvtph_ps(h));
    }
#endif
    for (; i < n; i++) out[i] = half_to_float(in[i].bits);
}

void ef_f32_to_f16(ef_f16 *out, const float *in, size_t n) {
    size_t i = 0;
#ifdef __F16C__
    for (; i + 8 <= n; i += 8) {
        __m128i h =
            _mm256_cvtps_ph(_mm256_loadu_ps(in + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        memcpy(out + i, &h, sizeof h);
    }
#endif
    for (; i < n; i++) out[i].bits = float_to_half(in[i]);
}

/* A cast of a double that no integer can hold is undefined in C; the processor gives the least one.
 */
static int64_t double_to_int(double v) {
    return v >= -0x1p63 && v < 0x1p63 ? (int64_t)v : INT64_MIN;
}

static uint64_t double_to_uint(double v) {
    return v >= 0x1p63 && v < 0x1p64 ? (uint64_t)(v - 0x1p63) + (UINT64_C(1) << 63)
                                     : (uint64_t)double_to_int(v);
}

/* The narrow types, by the byte of an element. */
static double narrow_double(ef_dtype t, uint8_t code) {
    const ef_small_float *f = ef_small_float_of(t);
    if (f != NULL) return (double)ef_small_to_float(*f, code);
    switch (t) {
    case EF_I4: return ef_i4_int(code);
    case EF_I2: return ef_i2_int(code);
    case EF_U4: return code & 15;
    case EF_U2: return code & 3;
    default: return 0;
    }
}

static uint8_t double_narrow(ef_dtype t, double v) {
    const ef_small_float *f = ef_small_float_of(t);
    if (f != NULL) return ef_float_to_small(*f, ef_round_to_odd(v));
    return (uint8_t)(double_to_int(v) & (t == EF_I4 || t == EF_U4 ? 15 : 3));
}

double ef_element_double(ef_dtype t, const void *p, int64_t i) {
#define READ(T, type) \
    case EF_##T: return (double)((const type *)p)[i];
    switch (t) {
        EF_EACH_INT(READ)
        EF_EACH_FULL_FLOAT(READ)
        EF_EACH_QUANTIZED(READ)
        READ(BOOL, uint8_t)
    case EF_F16: return (double)ef_f16_float(((const ef_f16 *)p)[i]);
    case EF_BF16: return (double)ef_bf16_float(((const ef_bf16 *)p)[i]);
    case EF_C64: return (double)((const float *)p)[2 * i];
    case EF_C128: return ((const double *)p)[2 * i];
    default: return ef_dtype_in(t, EF_NARROW) ? narrow_double(t, ((const uint8_t *)p)[i]) : 0;
    }
#undef READ
}

int64_t ef_element_int(ef_dtype t, const void *p, int64_t i) {
#define READ(T, type) \
    case EF_##T: return (int64_t)((const type *)p)[i];
    switch (t) {
        EF_EACH_INT(READ)
        EF_EACH_QUANTIZED(READ)
        READ(BOOL, uint8_t)
    default: return double_to_int(ef_element_double(t, p, i));
    }
#undef READ
}

void ef_element_set(ef_dtype t, void *p, int64_t i, double v) {
#define WRITE(T, type, from)            \
    case EF_##T:                        \
        ((type *)p)[i] = (type)from(v); \
        break;
#define WRITE_SIGNED(T, type) WRITE(T, type, double_to_int)
#define WRITE_UNSIGNED(T, type) WRITE(T, type, double_to_uint)
#define WRITE_FLOAT(T, type) WRITE(T, type, (double))
    switch (t) {
        EF_EACH_SIGNED(WRITE_SIGNED)
        EF_EACH_UNSIGNED(WRITE_UNSIGNED)
        EF_EACH_QUANTIZED(WRITE_SIGNED)
        EF_EACH_FULL_FLOAT(WRITE_FLOAT)
    case EF_BOOL: ((uint8_t *)p)[i] = v != 0; break;
    case EF_F16: ((ef_f16 *)p)[i] = ef_float_f16((float)v); break;
    case EF_BF16: ((ef_bf16 *)p)[i] = ef_float_bf16((float)v); break;
    case EF_C64:
        ((float *)p)[2 * i] = (float)v;
        ((float *)p)[2 * i + 1] = 0;
        break;
    case EF_C128:
        ((double *)p)[2 * i] = v;
        ((double *)p)[2 * i + 1] = 0;
        break;
    default:
        if (ef_dtype_in(t, EF_NARROW)) ((uint8_t *)p)[i] = double_narrow(t, v);
        break;
    }
#undef WRITE_FLOAT
#undef WRITE_UNSIGNED
#undef WRITE_SIGNED
#undef WRITE
}
