/* Conversion of arrays of 16-bit floats to float and back. */
#ifndef EF_KERNELS_HALF_H
#define EF_KERNELS_HALF_H
#include "tensor/dtype.h"

static inline bool ef_is_half(ef_dtype t) { return t == EF_F16 || t == EF_BF16; }
static inline void ef_widen(ef_dtype t, float *out, const void *in, int64_t n) {
    const ef_bf16 *b = in;
    if (t == EF_F16)
        ef_f16_to_f32(out, in, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++) out[i] = ef_bf16_float(b[i]);
}
static inline void ef_narrow(ef_dtype t, void *out, const float *in, int64_t n) {
    ef_bf16 *b = out;
    if (t == EF_F16)
        ef_f32_to_f16(out, in, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++) b[i] = ef_float_bf16(in[i]);
}
#endif
