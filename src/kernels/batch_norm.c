/* Two kinds of pass over memory do all the work. One sums each channel: blocks of rows in float and
 * the block sums in double, in a fixed order whatever the number of threads. The other maps each
 * element with its channel's numbers. */
#include "kernels/batch_norm.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "tensor/scratch.h"
#include <math.h>

enum { ROWS = 128 };

typedef enum what { SUM, SQUARES, PRODUCTS } what;

typedef struct job {
    ef_norm n;
    what kind;
    int64_t block;
    const float *x, *g;     /* g: gradient, with the shape of x */
    const float *mean;      /* per channel */
    const float *a, *b, *c; /* per channel coefficients of the map */
    float *sums, *y;
} job;

/* Channels last: s1 and s2 are rows of channels. */
static inline void add_row(const job *j, const float *restrict x, const float *restrict g,
                           float *restrict s1, float *restrict s2) {
    const float *restrict m = j->mean;
    int64_t n = j->n.channels;
    if (j->kind == SUM) {
        for (int64_t c = 0; c < n; c++) s1[c] += x[c];
    } else if (j->kind == SQUARES) {
        for (int64_t c = 0; c < n; c++) s1[c] += (x[c] - m[c]) * (x[c] - m[c]);
    } else {
        for (int64_t c = 0; c < n; c++) {
            s1[c] += g[c];
            s2[c] += g[c] * (x[c] - m[c]);
        }
    }
}

/* Channels first: one plane of channel c. */
static inline void add_plane(const job *j, const float *x, const float *g, int64_t c, float *s1,
                             float *s2) {
    int64_t n = j->n.inner;
    float sum = 0, product = 0;
    if (j->kind == SUM) {
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) sum += x[i];
    } else if (j->kind == SQUARES) {
        float m = j->mean[c];
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < n; i++) sum += (x[i] - m) * (x[i] - m);
    } else {
        float m = j->mean[c];
#pragma omp simd reduction(+ : sum, product)
        for (int64_t i = 0; i < n; i++) {
            sum += g[i];
            product += g[i] * (x[i] - m);
        }
    }
    s1[c] += sum;
    if (j->kind == PRODUCTS) s2[c] += product;
}

static void add_blocks(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    int64_t n = j->n.channels, inner = j->n.inner, row = n * inner;
    for (int64_t k = begin; k < end; k++) {
        float *s1 = j->sums + 2 * k * n, *s2 = s1 + n;
        memset(s1, 0, (size_t)(2 * n) * sizeof *s1);
        int64_t stop = (k + 1) * j->block < j->n.outer ? (k + 1) * j->block : j->n.outer;
        for (int64_t r = k * j->block; r < stop; r++) {
            const float *x = j->x + r * row, *g = j->kind == PRODUCTS ? j->g + r * row : x;
            if (inner == 1)
                add_row(j, x, g, s1, s2);
            else
                for (int64_t c = 0; c < n; c++)
                    add_plane(j, x + c * inner, g + c * inner, c, s1, s2);
        }
    }
}

/* Writes the sums of each channel to out1 and, for PRODUCTS, out2. */
static ef_status *add_up(job *j, float *out1, float *out2) {
    int64_t n = j->n.channels;
    j->block = ROWS / j->n.inner + 1;
    int64_t blocks = (j->n.outer + j->block - 1) / j->block;
    size_t bytes = (size_t)blocks * (size_t)n * 2 * sizeof(float);
    float *sums = ef_scratch_take(bytes);
    if (sums == NULL) return ef_no_memory(bytes);
    j->sums = sums;
    ef_parallel(blocks, 1, (double)(j->block * n * j->n.inner) * 0.3, add_blocks, j);
    for (int64_t c = 0; c < n; c++) {
        double s1 = 0, s2 = 0;
        for (int64_t k = 0; k < blocks; k++) {
            s1 += (double)sums[2 * k * n + c];
            s2 += (double)sums[2 * k * n + n + c];
        }
        out1[c] = (float)s1;
        if (j->kind == PRODUCTS) out2[c] = (float)s2;
    }
    ef_scratch_end(sums);
    return NULL;
}

/* y = (x - mean) * a + b, or with g: y = g * a + (x - mean) * c + b. */
static void map_rows(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    int64_t n = j->n.channels, inner = j->n.inner;
    const float *restrict m = j->mean, *restrict a = j->a, *restrict b = j->b, *restrict c = j->c;
    for (int64_t r = begin; r < end; r++) {
        const float *restrict x = j->x + r * (inner == 1 ? n : inner);
        const float *restrict g = j->g != NULL ? j->g + r * (inner == 1 ? n : inner) : x;
        float *restrict y = j->y + r * (inner == 1 ? n : inner);
        if (inner == 1 && j->g == NULL) {
            for (int64_t i = 0; i < n; i++) y[i] = (x[i] - m[i]) * a[i] + b[i];
        } else if (inner == 1) {
            for (int64_t i = 0; i < n; i++) y[i] = g[i] * a[i] + (x[i] - m[i]) * c[i] + b[i];
        } else {
            int64_t k = r % n;
            float mk = m[k], ak = a[k], bk = b[k], ck = j->g != NULL ? c[k] : 0;
            if (j->g == NULL)
                for (int64_t i = 0; i < inner; i++) y[i] = (x[i] - mk) * ak + bk;
            else
                for (int64_t i = 0; i < inner; i++) y[i] = g[i] * ak + (x[i] - mk) * ck + bk;
        }
    }
}

static void map(job *j) {
    int64_t rows = j->n.inner == 1 ? j->n.outer : j->n.outer * j->n.channels;
    int64_t n = j->n.inner == 1 ? j->n.channels : j->n.inner;
    ef_parallel(rows, 1, 2 + (double)n * 0.4, map_rows, j);
}

static int64_t count(const ef_norm *n) { return n->outer * n->channels * n->inner; }

/* x as floats: x itself, or a copy in scratch memory (*mem). */
static ef_status *as_float(const ef_norm *n, ef_dtype t, const void *x, float **mem,
                           const float **out) {
    *mem = NULL;
    *out = x;
    if (!ef_is_half(t)) return NULL;
    size_t bytes = (size_t)count(n) * sizeof(float);
    if ((*mem = ef_scratch_take(bytes)) == NULL) return ef_no_memory(bytes);
    ef_widen(t, *mem, x, count(n));
    *out = *mem;
    return NULL;
}

ef_status *ef_norm_moments(const ef_norm *n, ef_dtype t, const void *x, float *mean,
                           float *variance) {
    float *mem;
    job j = {.n = *n, .kind = SUM, .mean = mean};
    float per = (float)(n->outer * n->inner);
    if (per == 0) {
        for (int64_t c = 0; c < n->channels; c++) mean[c] = variance[c] = NAN;
        return NULL;
    }
    EF_TRY(as_float(n, t, x, &mem, &j.x));
    ef_status *s = add_up(&j, mean, NULL);
    for (int64_t c = 0; c < n->channels && s == NULL; c++) mean[c] /= per;
    j.kind = SQUARES;
    if (s == NULL) s = add_up(&j, variance, NULL);
    for (int64_t c = 0; c < n->channels && s == NULL; c++) variance[c] /= per;
    ef_scratch_end(mem);
    return s;
}

ef_status *ef_norm_apply(const ef_norm *n, ef_dtype t, const void *x, const float *scale,
                         const float *offset, const float *mean, const float *variance, void *y) {
    ef_status *s = NULL;
    float *mem = NULL, *out = NULL, *a = NULL;
    job j = {.n = *n, .mean = mean, .b = offset, .y = y};
    if (count(n) == 0) return NULL;
    EF_TRY_GOTO(as_float(n, t, x, &mem, &j.x));
    a = ef_scratch_take((size_t)n->channels * sizeof *a);
    if (a == NULL) {
        s = ef_no_memory((size_t)n->channels * sizeof *a);
        goto done;
    }
    for (int64_t c = 0; c < n->channels; c++) a[c] = scale[c] / sqrtf(variance[c] + n->epsilon);
    j.a = a;
    if (mem != NULL && (out = ef_scratch_take((size_t)count(n) * sizeof *out)) == NULL) {
        s = ef_no_memory((size_t)count(n) * sizeof *out);
        goto done;
    }
    if (out != NULL) j.y = out;
    map(&j);
    if (out != NULL) ef_narrow(t, y, out, count(n));
done:
    ef_scratch_end(out);
    ef_scratch_end(a);
    ef_scratch_end(mem);
    return s;
}

/* The coefficients of dx = g * a + (x - mean) * c + b, and the gradients of scale and offset. */
static void coefficients(const ef_norm *n, bool training, const float *scale, const float *variance,
                         float *dscale, const float *doffset, float *a, float *b, float *c) {
    float per = (float)(n->outer * n->inner);
    for (int64_t k = 0; k < n->channels; k++) {
        float inverse = 1 / sqrtf(variance[k] + n->epsilon), product = dscale[k];
        dscale[k] = product * inverse;
        a[k] = scale[k] * inverse;
        b[k] = training ? -a[k] * doffset[k] / per : 0;
        c[k] = training ? -a[k] * inverse * inverse * product / per : 0;
    }
}

ef_status *ef_norm_grad(const ef_norm *n, ef_dtype t, bool training, const void *dy, const void *x,
                        const float *scale, const float *mean, const float *variance, void *dx,
                        float *dscale, float *doffset) {
    ef_status *s = NULL;
    float *mem = NULL, *gmem = NULL, *out = NULL;
    size_t channels = (size_t)n->channels * sizeof(float);
    if (count(n) == 0) {
        memset(dscale, 0, channels);
        memset(doffset, 0, channels);
        return NULL;
    }
    job j = {.n = *n, .kind = PRODUCTS, .mean = mean, .y = dx};
    float *a = ef_scratch_take(3 * channels);
    if (a == NULL) return ef_no_memory(3 * channels);
    EF_TRY_GOTO(as_float(n, t, x, &mem, &j.x));
    EF_TRY_GOTO(as_float(n, t, dy, &gmem, &j.g));
    if (mem != NULL) {
        if ((out = ef_scratch_take((size_t)count(n) * sizeof *out)) == NULL) {
            s = ef_no_memory((size_t)count(n) * sizeof *out);
            goto done;
        }
        j.y = out;
    }
    EF_TRY_GOTO(add_up(&j, doffset, dscale));
    j.a = a, j.b = a + n->channels, j.c = a + 2 * n->channels;
    coefficients(n, training, scale, variance, dscale, doffset, a, a + n->channels,
                 a + 2 * n->channels);
    map(&j);
    if (out != NULL) ef_narrow(t, dx, out, count(n));
done:
    ef_scratch_end(out);
    ef_scratch_end(gmem);
    ef_scratch_end(mem);
    ef_scratch_end(a);
    return s;
}
