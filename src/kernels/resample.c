/* Each row of the result is a weighted sum of neighbouring rows, and so is each column: the
 * resizing methods differ only in the weights. Weights are computed once for each axis (a span for
 * each index of the result), in float as TensorFlow computes them, so that the same pixels are
 * selected. */
#include "kernels/resample.h"
#include "base/pool.h"
#include "tensor/scratch.h"
#include <float.h>
#include <math.h>

/* The sources and weights of each position along one axis of the result. */
typedef struct spans {
    int64_t in, out, width; /* width: space for weights per position */
    int64_t *start, *count; /* by position: the index of its first source, and the number of
                             * sources */
    float *weight;          /* width for each position */
    float total;            /* the divisor of the final sums */
} spans;

typedef struct job {
    ef_resize r;
    spans rows, cols;
    const float *x;
    float *y;
    int64_t parts; /* number of parts of the work */
    float *line;   /* for each part, one row of the source's width */
} job;

/* Memory for all spans, which are empty at first; false: there is none. mem: what to free. */
static bool spans_begin(spans *s, int64_t in, int64_t out, int64_t width, void **mem) {
    size_t each = 2 * sizeof(int64_t) + (size_t)width * sizeof(float), bytes = (size_t)out * each;
    if (bytes / each != (size_t)out || (*mem = ef_scratch_take(bytes)) == NULL) return false;
    int64_t *start = *mem;
    *s = (spans){in, out, width, start, start + out, (float *)(start + 2 * out), 1};
    memset(start, 0, (size_t)out * 2 * sizeof(int64_t));
    return true;
}

static ef_status *no_spans(int64_t out, int64_t width) {
    return ef_no_memory((size_t)out * (size_t)width * sizeof(float));
}

static int64_t clamp(int64_t v, int64_t limit) { return v < 0 ? 0 : v < limit ? v : limit - 1; }

/* Adds source `at` with `weight` to `place`; a source outside is replaced by the nearest inside.
 * Sources come in ascending order. */
static void spans_add(spans *s, int64_t place, int64_t at, float weight) {
    float *w = s->weight + place * s->width;
    at = clamp(at, s->in);
    if (s->count[place] == 0) s->start[place] = at;
    int64_t k = at - s->start[place];
    if (k < s->count[place]) {
        w[k] += weight;
    } else {
        w[k] = weight;
        s->count[place] = k + 1;
    }
}

/* Scales the weights of a position to add up to one, unless they cancel. */
static void spans_normalize(spans *s, int64_t place) {
    float *w = s->weight + place * s->width, sum = 0;
    for (int64_t k = 0; k < s->count[place]; k++) sum += w[k];
    if (!(fabsf(sum) >= 1000 * FLT_MIN)) {
        s->count[place] = 0;
        return;
    }
    float share = 1 / sum;
    for (int64_t k = 0; k < s->count[place]; k++) w[k] *= share;
}

/* ---- cubic --------------------------------------------------------------------------------- */

/* The cubic of Keys at distance x, below and above 1; `a` is its slope at 1. */
static float cubic_near(double a, float x) {
    return (float)(((a + 2) * (double)x - (a + 3)) * (double)x * (double)x + 1);
}
static float cubic_far(double a, float x) {
    return (float)(((a * (double)x - 5 * a) * (double)x + 8 * a) * (double)x - 4 * a);
}

/* Positions are rounded to 1/1024 of a pixel. With half_pixel_centers pixels outside do not count;
 * without, the edge pixels are repeated. */
static ef_status *spans_bicubic(const ef_resize *r, int64_t in, int64_t out, spans *s, void **mem) {
    enum { STEPS = 1024 };
    bool centred = r->half_pixel_centers;
    double a = centred ? -0.5 : -0.75;
    float scale = ef_resize_scale(r, in, out);
    if (!spans_begin(s, in, out, 4, mem)) return no_spans(out, 4);
    for (int64_t i = 0; i < out; i++) {
        float at = centred ? ((float)i + 0.5F) * scale - 0.5F : (float)i * scale;
        int64_t low = (int64_t)floorf(at);
        long step = lrintf((at - (float)low) * STEPS);
        float before = (float)step / STEPS, behind = (float)(STEPS - step) / STEPS;
        float w[4] = {cubic_far(a, before + 1), cubic_near(a, before), cubic_near(a, behind),
                      cubic_far(a, behind + 1)};
        for (int64_t k = 0; k < 4; k++) {
            int64_t from = low - 1 + k;
            if (!centred || (from >= 0 && from < in)) spans_add(s, i, from, w[k]);
        }
        if (centred) spans_normalize(s, i);
    }
    return NULL;
}

/* ---- area ---------------------------------------------------------------------------------- */

/* Each position covers a range of the source; pixels are weighted by how much of them it
 * covers. Most are covered fully, so sums are divided at the end: those of integers are exact
 * until then. */
static ef_status *spans_area(const ef_resize *r, int64_t in, int64_t out, spans *s, void **mem) {
    float scale = ef_resize_scale(r, in, out);
    int64_t width = (int64_t)ceilf(scale) + 2;
    if (!spans_begin(s, in, out, width, mem)) return no_spans(out, width);
    if (scale > 0) s->total = scale;
    for (int64_t i = 0; i < out; i++) {
        float from = (float)i * scale, to = (float)(i + 1) * scale;
        int64_t begin = (int64_t)floorf(from), end = (int64_t)ceilf(to);
        if (end == begin) spans_add(s, i, begin, 1); /* scale is 0: the only row is repeated */
        for (int64_t k = begin; k < end && k - begin < s->width; k++) {
            float left = (float)k, right = (float)(k + 1);
            float covered =
                left < from ? (right > to ? scale : right - from) : (right > to ? to - left : 1.0F);
            spans_add(s, i, k, covered);
        }
    }
    return NULL;
}

/* ---- filters ------------------------------------------------------------------------------- */

static float lanczos(float x, float radius) {
    const float pi = 3.14159265F;
    if (x > radius) return 0;
    if (x <= 1e-3F) return 1; /* the limit of sin(x) / x */
    return radius * sinf(pi * x) * sinf(pi * x / radius) / (pi * pi * x * x);
}
static float lanczos1(float x) { return lanczos(x, 1); }
static float lanczos3(float x) { return lanczos(x, 3); }
static float lanczos5(float x) { return lanczos(x, 5); }
static float gaussian(float x) { return x < 1.5F ? expf(-x * x / 0.5F) : 0; }
static float box(float x) { return x < 0.5F ? 1 : x == 0.5F ? 0.5F : 0; }
static float triangle(float x) { return x < 1 ? 1 - x : 0; }
static float keys_cubic(float x) {
    if (x >= 2) return 0;
    return x >= 1 ? ((-0.5F * x + 2.5F) * x - 4) * x + 2 : (1.5F * x - 2.5F) * x * x + 1;
}
static float mitchell_cubic(float x) {
    if (x >= 2) return 0;
    return x >= 1 ? ((-7.0F / 18 * x + 2) * x - 10.0F / 3) * x + 16.0F / 9
                  : (7.0F / 6 * x - 2) * x * x + 8.0F / 9;
}

static const struct filter {
    float (*at)(float x); /* x >= 0 */
    float radius;
} filters[EF_FILTERS] = {
    [EF_LANCZOS1] = {lanczos1, 1},
    [EF_LANCZOS3] = {lanczos3, 3},
    [EF_LANCZOS5] = {lanczos5, 5},
    [EF_GAUSSIAN] = {gaussian, 1.5F},
    [EF_BOX] = {box, 1},
    [EF_TRIANGLE] = {triangle, 1},
    [EF_KEYS_CUBIC] = {keys_cubic, 2},
    [EF_MITCHELL_CUBIC] = {mitchell_cubic, 2},
};

/* A float as an index in [0, limit), whatever its value. */
static int64_t place_of(float v, int64_t limit) {
    return v > 0 ? (v < (float)(limit - 1) ? (int64_t)v : limit - 1) : 0;
}

/* axis: 0 rows, 1 columns. A position that comes from outside the source has no weights. */
static ef_status *spans_filter(const ef_scaling *f, int axis, int64_t in, int64_t out, spans *s,
                               void **mem) {
    const struct filter *filter = &filters[f->filter];
    float back = 1 / f->scale[axis], shift = -back * f->translation[axis];
    float stretch = f->antialias && back > 1 ? back : 1, reach = filter->radius * stretch;
    float most = 2 * ceilf(reach) + 1;
    int64_t width = most < (float)in ? (int64_t)most : in;
    if (!spans_begin(s, in, out, width, mem)) return no_spans(out, width);
    for (int64_t i = 0; i < out; i++) {
        float at = ((float)i + 0.5F) * back + shift;
        if (!(at >= 0 && at <= (float)in)) continue;
        int64_t begin = place_of(ceilf(at - reach - 0.5F), in);
        int64_t end = place_of(floorf(at + reach - 0.5F), in) + 1;
        for (int64_t k = begin; k < end && k - begin < s->width; k++)
            spans_add(s, i, k, filter->at(fabsf(((float)k + 0.5F - at) * (1 / stretch))));
        spans_normalize(s, i);
    }
    return NULL;
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* One row of the source's width: the weighted sum of the rows in the span of row i. */
static void mix_lines(const job *j, const float *image, int64_t i, float *restrict line) {
    int64_t n = j->r.in_width * j->r.channels;
    const float *w = j->rows.weight + i * j->rows.width;
    memset(line, 0, (size_t)n * sizeof *line);
    for (int64_t k = 0; k < j->rows.count[i]; k++) {
        const float *x = image + (j->rows.start[i] + k) * n;
        for (int64_t q = 0; q < n; q++) line[q] += w[k] * x[q];
    }
}

/* The columns of a row of c channels; y: the beginning of the row. Inlined for a constant c, so
 * that the sums stay in registers. */
static inline void mix_columns(const spans *cols, int64_t c, const float *line, float share,
                               float *restrict y) {
    for (int64_t o = 0; o < cols->out; o++, y += c) {
        const float *x = line + cols->start[o] * c, *w = cols->weight + o * cols->width;
        for (int64_t q = 0; q < c; q++) y[q] = 0;
        for (int64_t k = 0; k < cols->count[o]; k++, x += c)
            for (int64_t q = 0; q < c; q++) y[q] += w[k] * x[q];
        for (int64_t q = 0; q < c; q++) y[q] *= share;
    }
}

static void forward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const spans *cols = &j->cols;
    int64_t c = j->r.channels, in = j->r.in_height * j->r.in_width * c;
    int64_t lines = j->r.batch * j->r.out_height;
    float share = (float)(1.0 / (double)(j->rows.total * cols->total));
    for (int64_t p = begin; p < end; p++) {
        float *line = j->line + p * j->r.in_width * c;
        for (int64_t i = lines * p / j->parts; i < lines * (p + 1) / j->parts; i++) {
            float *y = j->y + i * cols->out * c;
            mix_lines(j, j->x + i / j->r.out_height * in, i % j->r.out_height, line);
            switch (c) {
            case 1: mix_columns(cols, 1, line, share, y); break;
            case 3: mix_columns(cols, 3, line, share, y); break;
            case 4: mix_columns(cols, 4, line, share, y); break;
            default: mix_columns(cols, c, line, share, y);
            }
        }
    }
}

/* The transposed sums: x is the gradient, y becomes that of the source. A part is a range of
 * images, because rows of the source receive gradients from many rows of the result. */
static void backward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const spans *rows = &j->rows, *cols = &j->cols;
    int64_t c = j->r.channels, n = j->r.in_width * c, image = j->r.in_height * n;
    for (int64_t p = begin; p < end; p++) {
        float *restrict line = j->line + p * n;
        int64_t first = j->r.batch * p / j->parts, last = j->r.batch * (p + 1) / j->parts;
        memset(j->y + first * image, 0, (size_t)((last - first) * image) * sizeof(float));
        for (int64_t i = first * rows->out; i < last * rows->out; i++) {
            const float *g = j->x + i * cols->out * c;
            int64_t row = i % rows->out;
            memset(line, 0, (size_t)n * sizeof *line);
            for (int64_t o = 0; o < cols->out; o++, g += c) {
                const float *w = cols->weight + o * cols->width;
                float *to = line + cols->start[o] * c;
                for (int64_t k = 0; k < cols->count[o]; k++, to += c)
                    for (int64_t q = 0; q < c; q++) to[q] += w[k] * g[q];
            }
            float *dx = j->y + i / rows->out * image + rows->start[row] * n;
            for (int64_t k = 0; k < rows->count[row]; k++, dx += n) {
                float w = rows->weight[row * rows->width + k];
                for (int64_t q = 0; q < n; q++) dx[q] += w * line[q];
            }
        }
    }
}

enum { PARTS = 16 };

/* Runs fn over `items` (output rows or images) in parts, with a row buffer for each. */
static ef_status *run_parts(job *j, int64_t items, ef_range_fn *fn) {
    double work = (double)(j->rows.width * j->r.in_width + j->cols.width * j->r.out_width);
    double all = work * (double)(j->r.batch * j->r.out_height * j->r.channels) * 0.3;
    j->parts = items < PARTS ? items : PARTS;
    size_t bytes = (size_t)(j->parts * j->r.in_width * j->r.channels) * sizeof(float);
    if ((j->line = ef_scratch_take(bytes)) == NULL) return ef_no_memory(bytes);
    ef_parallel(j->parts, 1, all / (double)j->parts, fn, j);
    ef_scratch_end(j->line);
    return NULL;
}

/* s NULL: bicubic or by area. */
static ef_status *make_spans(job *j, const ef_scaling *s, bool by_area, void **mem) {
    const ef_resize *r = &j->r;
    if (s != NULL) {
        EF_TRY(spans_filter(s, 0, r->in_height, r->out_height, &j->rows, &mem[0]));
        return spans_filter(s, 1, r->in_width, r->out_width, &j->cols, &mem[1]);
    }
    ef_status *(*make)(const ef_resize *, int64_t, int64_t, spans *, void **) =
        by_area ? spans_area : spans_bicubic;
    EF_TRY(make(r, r->in_height, r->out_height, &j->rows, &mem[0]));
    return make(r, r->in_width, r->out_width, &j->cols, &mem[1]);
}

static ef_status *resample(const ef_resize *r, const ef_scaling *s, bool by_area, ef_dtype t,
                           const void *x, float *y) {
    job j = {.r = *r, .x = x, .y = y};
    void *mem[3] = {NULL, NULL, NULL};
    if (ef_resize_empty(r)) return NULL;
    ef_status *status = make_spans(&j, s, by_area, mem);
    if (status == NULL && t != EF_F32) {
        int64_t n = r->batch * r->in_height * r->in_width * r->channels;
        size_t bytes = (size_t)n * sizeof(float);
        if ((mem[2] = ef_scratch_take(bytes)) == NULL)
            status = ef_no_memory(bytes);
        else
            ef_reals_to_float(t, x, mem[2], n);
        j.x = mem[2];
    }
    if (status == NULL) status = run_parts(&j, r->batch * r->out_height, forward);
    for (int k = 0; k < 3; k++) ef_scratch_end(mem[k]);
    return status;
}

static ef_status *resample_grad(const ef_resize *r, const ef_scaling *s, const float *dy,
                                float *dx) {
    job j = {.r = *r, .x = dy, .y = dx};
    void *mem[2] = {NULL, NULL};
    if (ef_resize_empty(r)) {
        int64_t n = r->batch * r->in_height * r->in_width * r->channels;
        memset(dx, 0, (size_t)n * sizeof *dx);
        return NULL;
    }
    ef_status *status = make_spans(&j, s, false, mem);
    if (status == NULL) status = run_parts(&j, r->batch, backward);
    for (int k = 0; k < 2; k++) ef_scratch_end(mem[k]);
    return status;
}

ef_status *ef_resize_bicubic(const ef_resize *r, ef_dtype t, const void *x, float *y) {
    return resample(r, NULL, false, t, x, y);
}

ef_status *ef_resize_area(const ef_resize *r, ef_dtype t, const void *x, float *y) {
    return resample(r, NULL, true, t, x, y);
}

ef_status *ef_scale_translate(const ef_resize *r, const ef_scaling *s, ef_dtype t, const void *x,
                              float *y) {
    return resample(r, s, false, t, x, y);
}

ef_status *ef_scale_translate_grad(const ef_resize *r, const ef_scaling *s, const float *dy,
                                   float *dx) {
    return resample_grad(r, s, dy, dx);
}

ef_status *ef_resize_bicubic_grad(const ef_resize *r, ef_dtype t, const float *dy, void *dx) {
    if (t == EF_F32) return resample_grad(r, NULL, dy, dx);
    int64_t n = r->batch * r->in_height * r->in_width * r->channels;
    size_t bytes = (size_t)(n > 0 ? n : 1) * sizeof(float);
    float *sums = ef_scratch_take(bytes);
    if (sums == NULL) return ef_no_memory(bytes);
    ef_status *status = resample_grad(r, NULL, dy, sums);
    for (int64_t i = 0; i < n && status == NULL; i++) ((double *)dx)[i] = (double)sums[i];
    ef_scratch_end(sums);
    return status;
}
