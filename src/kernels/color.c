/* Pixels are taken apart into blocks of one array for each channel, in which the loops have no
 * branches and become vector code. */
#include "kernels/color.h"
#include "base/pool.h"
#include <math.h>

enum { BLOCK = 128 };

#define COLOR(SUF, W, FLOOR, ABS)                                                                 \
    typedef struct {                                                                              \
        W a[BLOCK], b[BLOCK], c[BLOCK];                                                           \
    } block_##SUF;                                                                                \
    static void to_hsv_##SUF(block_##SUF *restrict p) {                                           \
        for (int k = 0; k < BLOCK; k++) {                                                         \
            W r = p->a[k], g = p->b[k], b = p->c[k];                                              \
            W v = r > g ? (r > b ? r : b) : (g > b ? g : b);                                      \
            W range = v - (r < g ? (r < b ? r : b) : (g < b ? g : b));                            \
            W norm = (W)1 / ((W)6 * range);                                                       \
            W from_r = norm * (g - b), from_g = norm * (b - r) + (W)2 / (W)6;                     \
            W from_b = norm * (r - g) + (W)4 / (W)6;                                              \
            W h = r == v ? from_r : g == v ? from_g : from_b, s = range / v;                      \
            h = range > 0 ? h : 0;                                                                \
            p->a[k] = h < 0 ? h + 1 : h;                                                          \
            p->b[k] = v > 0 ? s : 0;                                                              \
            p->c[k] = v;                                                                          \
        }                                                                                         \
    }                                                                                             \
    static inline W clip_##SUF(W x) { return x < 0 ? 0 : x > 1 ? 1 : x; }                         \
    static void to_rgb_##SUF(block_##SUF *restrict p) {                                           \
        for (int k = 0; k < BLOCK; k++) {                                                         \
            W h = p->a[k] * 6, s = p->b[k], v = p->c[k];                                          \
            W dr = clip_##SUF(ABS(h - 3) - 1);                                                    \
            W dg = clip_##SUF(2 - ABS(h - 2)), db = clip_##SUF(2 - ABS(h - 4));                   \
            p->a[k] = (1 - s + s * dr) * v;                                                       \
            p->b[k] = (1 - s + s * dg) * v;                                                       \
            p->c[k] = (1 - s + s * db) * v;                                                       \
        }                                                                                         \
    }                                                                                             \
    static void map_##SUF(ef_color_map map, W amount, block_##SUF *restrict p) {                  \
        if (map != EF_HSV_TO_RGB) to_hsv_##SUF(p);                                                \
        if (map == EF_ADJUST_HUE)                                                                 \
            for (int k = 0; k < BLOCK; k++) p->a[k] = p->a[k] + amount - FLOOR(p->a[k] + amount); \
        else if (map == EF_ADJUST_SATURATION)                                                     \
            for (int k = 0; k < BLOCK; k++) p->b[k] = clip_##SUF(p->b[k] * amount);               \
        if (map != EF_RGB_TO_HSV) to_rgb_##SUF(p);                                                \
    }
COLOR(F32, float, floorf, fabsf)
COLOR(F64, double, floor, fabs)

#define PIXELS(SUF, T, W, VIA, GET, PUT)                                                        \
    static void pixels_##SUF(const ef_colors *c, int64_t begin, int64_t end) {                  \
        const T *x = (const T *)c->x + 3 * begin;                                               \
        T *y = (T *)c->y + 3 * begin;                                                           \
        block_##VIA p = {{0}, {0}, {0}};                                                        \
        for (int64_t n; begin < end; begin += n, x += 3 * n, y += 3 * n) {                      \
            n = end - begin < BLOCK ? end - begin : BLOCK;                                      \
            for (int64_t k = 0; k < n; k++)                                                     \
                p.a[k] = GET(x[3 * k]), p.b[k] = GET(x[3 * k + 1]), p.c[k] = GET(x[3 * k + 2]); \
            map_##VIA(c->map, (W)c->amount, &p);                                                \
            for (int64_t k = 0; k < n; k++)                                                     \
                y[3 * k] = PUT(p.a[k]), y[3 * k + 1] = PUT(p.b[k]), y[3 * k + 2] = PUT(p.c[k]); \
        }                                                                                       \
    }
#define SAME(x) (x)
PIXELS(F32, float, float, F32, SAME, SAME)
PIXELS(F64, double, double, F64, SAME, SAME)
PIXELS(F16, ef_f16, float, F32, ef_f16_float, ef_float_f16)
PIXELS(BF16, ef_bf16, float, F32, ef_bf16_float, ef_float_bf16)

static void run_range(void *arg, int64_t begin, int64_t end) {
    const ef_colors *c = arg;
    switch (c->dtype) {
    case EF_F64: pixels_F64(c, begin, end); break;
    case EF_F16: pixels_F16(c, begin, end); break;
    case EF_BF16: pixels_BF16(c, begin, end); break;
    default: pixels_F32(c, begin, end); break;
    }
}

void ef_colors_run(const ef_colors *c) {
    ef_parallel(c->n, 256, c->map == EF_HSV_TO_RGB ? 2 : 4, run_range, (void *)(uintptr_t)c);
}
