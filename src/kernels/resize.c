/* The source of each output row and column is computed once, into two small tables; then rows are
 * interpolated. Positions are computed in float, as in TensorFlow, so that the same pixels are
 * selected. */
#include "kernels/resize.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "tensor/scratch.h"
#include <math.h>

typedef struct spot {
    int64_t low, high; /* source rows (or columns) */
    float mix;         /* weight of the higher one */
} spot;

typedef struct job {
    ef_resize r;
    ef_dtype t;
    const void *x;
    void *y;
    const spot *rows, *cols;
    float *line; /* a buffer for the widened source, if it is not float */
} job;

float ef_resize_scale(const ef_resize *r, int64_t in, int64_t out) {
    return r->align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1)
                                       : (float)in / (float)out;
}

static void fill_bilinear(const ef_resize *r, int64_t in, int64_t out, spot *s) {
    float scale = ef_resize_scale(r, in, out);
    for (int64_t i = 0; i < out; i++) {
        float at = r->half_pixel_centers ? ((float)i + 0.5F) * scale - 0.5F : (float)i * scale;
        float floor = floorf(at);
        int64_t low = (int64_t)floor, high = (int64_t)ceilf(at);
        s[i].low = low > 0 ? (low < in ? low : in - 1) : 0;
        s[i].high = high < in ? (high > 0 ? high : 0) : in - 1;
        s[i].mix = at - floor;
    }
}

static void fill_nearest(const ef_resize *r, int64_t in, int64_t out, spot *s) {
    float scale = ef_resize_scale(r, in, out);
    for (int64_t i = 0; i < out; i++) {
        float at = r->half_pixel_centers ? ((float)i + 0.5F) * scale : (float)i * scale;
        int64_t low = (int64_t)(r->align_corners ? roundf(at) : floorf(at));
        if (low > in - 1) low = in - 1;
        s[i] = (spot){low > 0 ? low : 0, 0, 0};
    }
}

typedef void fill_fn(const ef_resize *r, int64_t in, int64_t out, spot *s);

/* The tables for both axes in one piece of scratch memory: rows first. */
static ef_status *make_tables(job *j, fill_fn *fill, spot **mem) {
    const ef_resize *r = &j->r;
    size_t bytes = (size_t)(r->out_height + r->out_width) * sizeof(spot);
    *mem = ef_scratch_take(bytes);
    if (*mem == NULL) return ef_no_memory(bytes);
    fill(r, r->in_height, r->out_height, *mem);
    fill(r, r->in_width, r->out_width, *mem + r->out_height);
    j->rows = *mem;
    j->cols = *mem + r->out_height;
    return NULL;
}

bool ef_resize_empty(const ef_resize *r) {
    return r->batch * r->channels * r->out_height * r->out_width == 0 ||
           r->in_height * r->in_width == 0;
}

/* ---- bilinear ------------------------------------------------------------------------------ */

/* Output rows of all images. `c` is a constant in each caller, so the inner loop is unrolled. */
static inline __attribute__((always_inline)) void bilinear_of(const job *j, int64_t begin,
                                                              int64_t end, int64_t c) {
    const ef_resize *r = &j->r;
    int64_t line = r->in_width * c;
    for (int64_t i = begin; i < end; i++) {
        int64_t n = i / r->out_height;
        const spot *row = &j->rows[i % r->out_height];
        const float *image = (const float *)j->x + n * r->in_height * line;
        const float *top = image + row->low * line, *bottom = image + row->high * line;
        float *restrict y = (float *)j->y + i * r->out_width * c;
        for (int64_t k = 0; k < r->out_width; k++) {
            const spot *col = &j->cols[k];
            const float *tl = top + col->low * c, *tr = top + col->high * c;
            const float *bl = bottom + col->low * c, *br = bottom + col->high * c;
            float mx = col->mix, my = row->mix;
            for (int64_t q = 0; q < c; q++) {
                float t = tl[q] + (tr[q] - tl[q]) * mx, b = bl[q] + (br[q] - bl[q]) * mx;
                y[k * c + q] = t + (b - t) * my;
            }
        }
    }
}

static void bilinear_lines(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    switch (j->r.channels) {
    case 1: bilinear_of(j, begin, end, 1); break;
    case 3: bilinear_of(j, begin, end, 3); break;
    case 4: bilinear_of(j, begin, end, 4); break;
    default: bilinear_of(j, begin, end, j->r.channels);
    }
}

void ef_reals_to_float(ef_dtype t, const void *x, float *out, int64_t n) {
#define CASE(SUF, T)                                                       \
    case EF_##SUF:                                                         \
        for (int64_t i = 0; i < n; i++) out[i] = (float)((const T *)x)[i]; \
        break;
    switch (t) {
        EF_EACH_INT(CASE)
        EF_EACH_FULL_FLOAT(CASE)
    default: ef_widen(t, out, x, n);
    }
#undef CASE
}

ef_status *ef_resize_bilinear(const ef_resize *r, ef_dtype t, const void *x, float *y) {
    job j = {.r = *r, .t = t, .x = x, .y = y};
    spot *tables;
    float *wide = NULL;
    if (ef_resize_empty(r)) return NULL;
    EF_TRY(make_tables(&j, fill_bilinear, &tables));
    int64_t n = r->batch * r->in_height * r->in_width * r->channels;
    if (t != EF_F32) {
        if ((wide = ef_scratch_take((size_t)n * sizeof *wide)) == NULL) {
            ef_scratch_end(tables);
            return ef_no_memory((size_t)n * sizeof *wide);
        }
        ef_reals_to_float(t, x, wide, n);
        j.x = wide;
    }
    ef_parallel(r->batch * r->out_height, 1, 2.0 * (double)(r->out_width * r->channels),
                bilinear_lines, &j);
    ef_scratch_end(wide);
    ef_scratch_end(tables);
    return NULL;
}

#define BILINEAR_GRAD(SUF, T)                                                                      \
    static void bilinear_grad_##SUF(void *arg, int64_t begin, int64_t end) {                       \
        const job *j = arg;                                                                        \
        const ef_resize *r = &j->r;                                                                \
        int64_t c = r->channels, line = r->in_width * c, image = r->in_height * line;              \
        for (int64_t n = begin; n < end; n++) {                                                    \
            T *dx = (T *)j->y + n * image;                                                         \
            for (int64_t i = 0; i < image; i++) dx[i] = 0;                                         \
            for (int64_t i = 0; i < r->out_height * r->out_width; i++) {                           \
                const spot *row = &j->rows[i / r->out_width], *col = &j->cols[i % r->out_width];   \
                const float *g = (const float *)j->x + (n * r->out_height * r->out_width + i) * c; \
                T *tl = dx + row->low * line + col->low * c,                                       \
                  *tr = tl + (col->high - col->low) * c;                                           \
                T *bl = tl + (row->high - row->low) * line, *br = bl + (col->high - col->low) * c; \
                float my = row->mix, mx = col->mix;                                                \
                for (int64_t q = 0; q < c; q++) {                                                  \
                    tl[q] += (T)(g[q] * (1 - my) * (1 - mx));                                      \
                    tr[q] += (T)(g[q] * (1 - my) * mx);                                            \
                    bl[q] += (T)(g[q] * my * (1 - mx));                                            \
                    br[q] += (T)(g[q] * my * mx);                                                  \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
BILINEAR_GRAD(f32, float)
BILINEAR_GRAD(f64, double)

ef_status *ef_resize_bilinear_grad(const ef_resize *r, ef_dtype t, const float *dy, void *dx) {
    int64_t n = r->batch * r->in_height * r->in_width * r->channels;
    if (ef_resize_empty(r)) {
        memset(dx, 0, (size_t)n * ef_dtype_size(t));
        return NULL;
    }
    job j = {.r = *r, .t = t, .x = dy, .y = dx};
    spot *tables;
    EF_TRY(make_tables(&j, fill_bilinear, &tables));
    float *wide = NULL;
    if (ef_is_half(t)) {
        if ((wide = ef_scratch_take((size_t)n * sizeof *wide)) == NULL) {
            ef_scratch_end(tables);
            return ef_no_memory((size_t)n * sizeof *wide);
        }
        j.y = wide;
    }
    ef_parallel(r->batch, 1, 4.0 * (double)(r->out_height * r->out_width * r->channels),
                t == EF_F64 ? bilinear_grad_f64 : bilinear_grad_f32, &j);
    if (wide != NULL) ef_narrow(t, dx, wide, n);
    ef_scratch_end(wide);
    ef_scratch_end(tables);
    return NULL;
}

/* ---- nearest ------------------------------------------------------------------------------- */

static void nearest_lines(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_resize *r = &j->r;
    size_t pixel = (size_t)r->channels * ef_dtype_size(j->t);
    for (int64_t i = begin; i < end; i++) {
        int64_t from = i / r->out_height * r->in_height + j->rows[i % r->out_height].low;
        const char *x = (const char *)j->x + (size_t)(from * r->in_width) * pixel;
        char *y = (char *)j->y + (size_t)(i * r->out_width) * pixel;
        for (int64_t k = 0; k < r->out_width; k++, y += pixel)
            memcpy(y, x + (size_t)j->cols[k].low * pixel, pixel);
    }
}

ef_status *ef_resize_nearest(const ef_resize *r, ef_dtype t, const void *x, void *y) {
    job j = {.r = *r, .t = t, .x = x, .y = y};
    spot *tables;
    if (ef_resize_empty(r)) return NULL;
    EF_TRY(make_tables(&j, fill_nearest, &tables));
    ef_parallel(r->batch * r->out_height, 1, (double)r->out_width * (3 + 0.1 * (double)r->channels),
                nearest_lines, &j);
    ef_scratch_end(tables);
    return NULL;
}

#define NEAREST_GRAD(SUF, T, SUM)                                                                 \
    static void nearest_grad_##SUF(void *arg, int64_t begin, int64_t end) {                       \
        const job *j = arg;                                                                       \
        const ef_resize *r = &j->r;                                                               \
        int64_t c = r->channels, image = r->in_height * r->in_width * c;                          \
        for (int64_t n = begin; n < end; n++) {                                                   \
            T *dx = (T *)j->y + n * image;                                                        \
            for (int64_t i = 0; i < image; i++) dx[i] = 0;                                        \
            for (int64_t i = 0; i < r->out_height * r->out_width; i++) {                          \
                int64_t row = j->rows[i / r->out_width].low, col = j->cols[i % r->out_width].low; \
                const T *g = (const T *)j->x + (n * r->out_height * r->out_width + i) * c;        \
                T *to = dx + (row * r->in_width + col) * c;                                       \
                for (int64_t q = 0; q < c; q++) to[q] = (T)((SUM)to[q] + (SUM)g[q]);              \
            }                                                                                     \
        }                                                                                         \
    }
NEAREST_GRAD(f32, float, float)
NEAREST_GRAD(f64, double, double)
NEAREST_GRAD(u8, uint8_t, uint32_t)
NEAREST_GRAD(u32, uint32_t, uint32_t)

ef_status *ef_resize_nearest_grad(const ef_resize *r, ef_dtype t, const void *dy, void *dx) {
    int64_t n = r->batch * r->in_height * r->in_width * r->channels;
    int64_t m = r->batch * r->out_height * r->out_width * r->channels;
    if (ef_resize_empty(r)) {
        memset(dx, 0, (size_t)n * ef_dtype_size(t));
        return NULL;
    }
    job j = {.r = *r, .t = t, .x = dy, .y = dx};
    spot *tables;
    EF_TRY(make_tables(&j, fill_nearest, &tables));
    float *wide = NULL;
    if (ef_is_half(t)) {
        if ((wide = ef_scratch_take((size_t)(n + m) * sizeof *wide)) == NULL) {
            ef_scratch_end(tables);
            return ef_no_memory((size_t)(n + m) * sizeof *wide);
        }
        ef_widen(t, wide + n, dy, m);
        j.x = wide + n, j.y = wide;
    }
    ef_range_fn *fn = t == EF_F64                ? nearest_grad_f64
                      : t == EF_I32              ? nearest_grad_u32
                      : t == EF_I8 || t == EF_U8 ? nearest_grad_u8
                                                 : nearest_grad_f32;
    ef_parallel(r->batch, 1, (double)(r->out_height * r->out_width * r->channels), fn, &j);
    if (wide != NULL) ef_narrow(t, dx, wide, n);
    ef_scratch_end(wide);
    ef_scratch_end(tables);
    return NULL;
}
