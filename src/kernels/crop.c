#include "kernels/crop.h"
#include "base/pool.h"
#include <math.h>

/* The source of a row (or column) of a crop: between two rows of the image. */
typedef struct {
    int64_t low, high; /* low < 0: outside the image */
    float part;        /* fraction of the distance from low to high */
} place;

static place find(bool nearest, float from, float to, int64_t size, int64_t count, int64_t k) {
    float last = (float)(size - 1);
    float at = count > 1 ? from * last + (float)k * ((to - from) * last / (float)(count - 1))
                         : 0.5f * (from + to) * last;
    if (!(at >= 0 && at <= last)) return (place){-1, -1, 0};
    if (nearest) {
        int64_t one = (int64_t)roundf(at);
        return (place){one, one, 0};
    }
    return (place){(int64_t)floorf(at), (int64_t)ceilf(at), at - floorf(at)};
}
static place line_of(const ef_crop *c, int64_t b, int64_t y) {
    const float *box = c->box + 4 * b;
    return find(c->nearest, box[0], box[2], c->height, c->crop_height, y);
}
static place column_of(const ef_crop *c, int64_t b, int64_t x) {
    const float *box = c->box + 4 * b;
    return find(c->nearest, box[1], box[3], c->width, c->crop_width, x);
}
/* The index of an image's pixel. */
static int64_t pixel(const ef_crop *c, int64_t b, int64_t y, int64_t x) {
    return ((c->box_image[b] * c->height + y) * c->width + x) * c->depth;
}

#define SAME(x) ((float)(x))
#define MIX(SUF, T, GET)                                                                     \
    static void mix_##SUF(const ef_crop *c, int64_t b, place y, place x, float *out) {       \
        const T *p = c->image;                                                               \
        const T *tl = p + pixel(c, b, y.low, x.low), *tr = p + pixel(c, b, y.low, x.high);   \
        const T *bl = p + pixel(c, b, y.high, x.low), *br = p + pixel(c, b, y.high, x.high); \
        for (int64_t d = 0; d < c->depth; d++) {                                             \
            float top = GET(tl[d]) + (GET(tr[d]) - GET(tl[d])) * x.part;                     \
            float low = GET(bl[d]) + (GET(br[d]) - GET(bl[d])) * x.part;                     \
            out[d] = top + (low - top) * y.part;                                             \
        }                                                                                    \
    }
#define PLAIN(SUF, T) MIX(SUF, T, SAME)
EF_EACH_INT(PLAIN)
EF_EACH_FULL_FLOAT(PLAIN)
MIX(F16, ef_f16, ef_f16_float)
MIX(BF16, ef_bf16, ef_bf16_float)

static void crop_lines(void *arg, int64_t begin, int64_t end) {
#define ROW(SUF, T) [EF_##SUF] = mix_##SUF,
    static void (*const table[EF_DTYPES])(const ef_crop *, int64_t, place, place, float *) = {
        EF_EACH_INT(ROW) EF_EACH_FULL_FLOAT(ROW) EF_EACH_HALF(ROW)};
    const ef_crop *c = arg;
    for (int64_t line = begin; line < end; line++) {
        int64_t b = line / c->crop_height;
        place y = line_of(c, b, line % c->crop_height);
        float *out = c->crops + line * c->crop_width * c->depth;
        for (int64_t k = 0; k < c->crop_width; k++, out += c->depth) {
            place x = column_of(c, b, k);
            if (y.low >= 0 && x.low >= 0)
                table[c->dtype](c, b, y, x, out);
            else
                for (int64_t d = 0; d < c->depth; d++) out[d] = c->outside;
        }
    }
}

void ef_crop_run(const ef_crop *c) {
    double cost = 2.0 * (double)(c->crop_width * c->depth) + 10;
    ef_parallel(c->boxes * c->crop_height, 1, cost, crop_lines, (void *)(uintptr_t)c);
}

static void give(ef_dtype t, void *out, int64_t at, float x) {
    switch (t) {
    case EF_F64: ((double *)out)[at] += x; break;
    case EF_F16: ((ef_f16 *)out)[at] = ef_float_f16(ef_f16_float(((ef_f16 *)out)[at]) + x); break;
    case EF_BF16:
        ((ef_bf16 *)out)[at] = ef_float_bf16(ef_bf16_float(((ef_bf16 *)out)[at]) + x);
        break;
    default: ((float *)out)[at] += x; break;
    }
}

/* Boxes may overlap, so one thread adds them all, in order. */
void ef_crop_grad_image(const ef_crop *c, const float *grads, void *out) {
    for (int64_t line = 0; line < c->boxes * c->crop_height; line++) {
        int64_t b = line / c->crop_height;
        place y = line_of(c, b, line % c->crop_height);
        const float *g = grads + line * c->crop_width * c->depth;
        for (int64_t k = 0; k < c->crop_width; k++, g += c->depth) {
            place x = column_of(c, b, k);
            if (y.low < 0 || x.low < 0) continue;
            for (int64_t d = 0; d < c->depth; d++) {
                float top = (1 - y.part) * g[d], low = y.part * g[d];
                give(c->dtype, out, pixel(c, b, y.low, x.low) + d, (1 - x.part) * top);
                if (c->nearest) continue;
                give(c->dtype, out, pixel(c, b, y.low, x.high) + d, x.part * top);
                give(c->dtype, out, pixel(c, b, y.high, x.low) + d, (1 - x.part) * low);
                give(c->dtype, out, pixel(c, b, y.high, x.high) + d, x.part * low);
            }
        }
    }
}

/* Divides the gradient of element k's position between the begin and the end of the box, which are
 * fractions of the image's last row or column. */
static void split(int64_t size, int64_t count, int64_t k, float grad, float *from, float *to) {
    float last = (float)(size - 1), share = count > 1 ? (float)k / (float)(count - 1) : 0.5f;
    *from += grad * last * (1 - share);
    *to += grad * last * share;
}

static void box_grads(void *arg, int64_t begin, int64_t end) {
    void **given = arg;
    const ef_crop *c = given[0];
    const float *grads = given[1];
    for (int64_t b = begin; b < end; b++) {
        float *out = (float *)given[2] + 4 * b;
        for (int k = 0; k < 4; k++) out[k] = 0;
        for (int64_t j = 0; j < c->crop_height; j++) {
            place y = line_of(c, b, j);
            for (int64_t k = 0; k < c->crop_width; k++) {
                place x = column_of(c, b, k);
                const float *g = grads + ((b * c->crop_height + j) * c->crop_width + k) * c->depth;
                if (y.low < 0 || x.low < 0) continue;
                for (int64_t d = 0; d < c->depth; d++) {
                    float tl =
                        (float)ef_element_double(c->dtype, c->image, pixel(c, b, y.low, x.low) + d);
                    float tr = (float)ef_element_double(c->dtype, c->image,
                                                        pixel(c, b, y.low, x.high) + d);
                    float bl = (float)ef_element_double(c->dtype, c->image,
                                                        pixel(c, b, y.high, x.low) + d);
                    float br = (float)ef_element_double(c->dtype, c->image,
                                                        pixel(c, b, y.high, x.high) + d);
                    float dy = (1 - x.part) * (bl - tl) + x.part * (br - tr);
                    float dx = (1 - y.part) * (tr - tl) + y.part * (br - bl);
                    split(c->height, c->crop_height, j, dy * g[d], &out[0], &out[2]);
                    split(c->width, c->crop_width, k, dx * g[d], &out[1], &out[3]);
                }
            }
        }
    }
}

void ef_crop_grad_boxes(const ef_crop *c, const float *grads, float *out) {
    void *given[] = {(void *)(uintptr_t)c, (void *)(uintptr_t)grads, out};
    double cost = 20.0 * (double)(c->crop_height * c->crop_width * c->depth);
    ef_parallel(c->boxes, 1, cost, box_grads, given);
}
