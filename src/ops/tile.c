/* Tiles of 16-bit floats, made from the float tile: converting whole blocks is much cheaper than
 * one element at a time, and every float expression works for three dtypes. */
#include "ops/tile.h"

enum { BLOCK = 512 };

static void widen(float *out, const void *in, ef_dtype half, int64_t n) {
    if (half == EF_F16) {
        ef_f16_to_f32(out, in, (size_t)n);
        return;
    }
    const ef_bf16 *h = in;
    EF_SIMD for (int64_t i = 0; i < n; i++) out[i] = ef_bf16_float(h[i]);
}

static void narrow(void *out, const float *in, ef_dtype half, int64_t n) {
    if (half == EF_F16) {
        ef_f32_to_f16(out, in, (size_t)n);
        return;
    }
    ef_bf16 *h = out;
    EF_SIMD for (int64_t i = 0; i < n; i++) h[i] = ef_float_bf16(in[i]);
}

void ef_tile_split(ef_tile_fn *most, ef_tile_fn *rest, int lanes, int n_in, size_t in_size,
                   size_t out_size, EF_TILE_PARAMS) {
    int64_t first = n - n % lanes;
    const void *in[3];
    for (int k = 0; k < n_in; k++)
        in[k] = (const char *)in_[k] + (scalars >> k & 1u ? 0 : (size_t)first * in_size);
    if (first > 0) most(out_, in_, first, scalars, attrs);
    if (first < n) rest((char *)out_ + (size_t)first * out_size, in, n - first, scalars, attrs);
}

void ef_tile_half(ef_tile_fn *f32, ef_dtype half, int n_in, int out_size, EF_TILE_PARAMS) {
    float wide[3][BLOCK], result[BLOCK];
    const void *in[3] = {wide[0], wide[1], wide[2]};
    for (int k = 0; k < n_in; k++)
        if (scalars >> k & 1u) widen(wide[k], in_[k], half, 1);
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t m = n - at < BLOCK ? n - at : BLOCK;
        for (int k = 0; k < n_in; k++)
            if (!(scalars >> k & 1u)) widen(wide[k], (const uint16_t *)in_[k] + at, half, m);
        if (out_size > 0) {
            f32((char *)out_ + at * out_size, in, m, scalars, attrs);
        } else {
            f32(result, in, m, scalars, attrs);
            narrow((uint16_t *)out_ + at, result, half, m);
        }
    }
}

void ef_tile_to_half(ef_tile_fn *f32, ef_dtype half, int in_size, EF_TILE_PARAMS) {
    float result[BLOCK];
    for (int64_t at = 0; at < n; at += BLOCK) {
        int64_t m = n - at < BLOCK ? n - at : BLOCK;
        const void *in = (const char *)in_[0] + (scalars != 0 ? 0 : at * in_size);
        f32(result, &in, m, scalars, attrs);
        narrow((uint16_t *)out_ + at, result, half, m);
    }
}
