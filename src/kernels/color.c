#include "kernels/color.h"
#include "base/pool.h"
#include <math.h>

#define COLOR(SUF, W, FLOOR, ABS)                                           \
    static void to_hsv_##SUF(const W *p, W *q) {                            \
        W r = p[0], g = p[1], b = p[2];                                     \
        W v = r > g ? (r > b ? r : b) : (g > b ? g : b);                    \
        W range = v - (r < g ? (r < b ? r : b) : (g < b ? g : b)), h = 0;   \
        W norm = (W)1 / ((W)6 * range);                                     \
        if (range > 0)                                                      \
            h = r == v   ? norm * (g - b)                                   \
                : g == v ? norm * (b - r) + (W)2 / (W)6                     \
                         : norm * (r - g) + (W)4 / (W)6;                    \
        q[0] = h < 0 ? h + 1 : h;                                           \
        q[1] = v > 0 ? range / v : 0;                                       \
        q[2] = v;                                                           \
    }                                                                       \
    static W clip_##SUF(W x) { return x < 0 ? 0 : x > 1 ? 1 : x; }          \
    static void to_rgb_##SUF(const W *p, W *q) {                            \
        W h = p[0] * 6, s = p[1], v = p[2];                                 \
        W dr = clip_##SUF(ABS(h - 3) - 1);                                  \
        W dg = clip_##SUF(2 - ABS(h - 2)), db = clip_##SUF(2 - ABS(h - 4)); \
        q[0] = (1 - s + s * dr) * v;                                        \
        q[1] = (1 - s + s * dg) * v;                                        \
        q[2] = (1 - s + s * db) * v;                                        \
    }                                                                       \
    static void pixel_##SUF(ef_color_map map, W amount, const W *p, W *q) { \
        W t[3];                                                             \
        if (map == EF_HSV_TO_RGB) {                                         \
            to_rgb_##SUF(p, q);                                             \
            return;                                                         \
        }                                                                   \
        to_hsv_##SUF(p, map == EF_RGB_TO_HSV ? q : t);                      \
        if (map == EF_RGB_TO_HSV) return;                                   \
        if (map == EF_ADJUST_HUE)                                           \
            t[0] = t[0] + amount - FLOOR(t[0] + amount);                    \
        else                                                                \
            t[1] = clip_##SUF(t[1] * amount);                               \
        to_rgb_##SUF(t, q);                                                 \
    }
COLOR(F32, float, floorf, fabsf)
COLOR(F64, double, floor, fabs)

#define PIXELS(SUF, T, W, VIA, GET, PUT)                                       \
    static void pixels_##SUF(const ef_colors *c, int64_t begin, int64_t end) { \
        const T *x = (const T *)c->x + 3 * begin;                              \
        T *y = (T *)c->y + 3 * begin;                                          \
        for (int64_t i = begin; i < end; i++, x += 3, y += 3) {                \
            W p[3] = {GET(x[0]), GET(x[1]), GET(x[2])}, q[3];                  \
            pixel_##VIA(c->map, (W)c->amount, p, q);                           \
            for (int k = 0; k < 3; k++) y[k] = PUT(q[k]);                      \
        }                                                                      \
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
    ef_parallel(c->n, 256, 8, run_range, (void *)(uintptr_t)c);
}
