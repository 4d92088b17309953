/* What the casts share: conversion of single elements to integers, and the tiles of narrow
 * types. */
#ifndef EF_OPS_CAST_H
#define EF_OPS_CAST_H
#include "ops/op.h"

/* Where C leaves the result undefined, it is the smallest integer, as on x86. */
#define EF_FROM_FLOAT(T, SUF)                                             \
    static inline int32_t int32_of_##SUF(T x) {                           \
        return x >= (T)-0x1p31 && x < (T)0x1p31 ? (int32_t)x : INT32_MIN; \
    }                                                                     \
    static inline int64_t int64_of_##SUF(T x) {                           \
        return x >= (T)-0x1p63 && x < (T)0x1p63 ? (int64_t)x : INT64_MIN; \
    }                                                                     \
    static inline uint64_t uint64_of_##SUF(T x) {                         \
        if (x >= (T)0x1p63 && x < (T)0x1p64) return (uint64_t)x;          \
        return (uint64_t)int64_of_##SUF(x);                               \
    }
EF_FROM_FLOAT(float, F32)
EF_FROM_FLOAT(double, F64)
#undef EF_FROM_FLOAT

/* The integer type by which a quantized type is cast; any other type is returned as it is. */
static inline ef_dtype ef_unquantized(ef_dtype t) {
    switch (t) {
    case EF_QI8: return EF_I8;
    case EF_QU8: return EF_U8;
    case EF_QI16: return EF_I16;
    case EF_QU16: return EF_U16;
    case EF_QI32: return EF_I32;
    default: return t;
    }
}

/* A cast from or to a narrow type; NULL: TensorFlow has none. */
ef_tile_fn *ef_cast_narrow(ef_dtype from, ef_dtype to);
#endif
