/* Softmax and cross-entropy over rows, divided among the threads. softmax_rows.inc has the loops.
 * 16-bit floats are computed in float over short chunks, and their exponentials are computed twice
 * to avoid allocating memory. */
#include "kernels/softmax.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "kernels/softmax_rows.h"
#include <math.h>
#include <string.h>

enum { STRETCH = EF_SOFTMAX_STRETCH };

/* The loops for this processor. */
static const ef_softmax_rows *loops(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd"))
        return &ef_softmax_v4;
#endif
    return &ef_softmax_base;
}

/* ---- 16-bit floats ----------------------------------------------------------------------------
 */

static void widen(ef_dtype t, float *out, const void *in, int64_t at, int64_t n) {
    ef_widen(t, out, (const ef_f16 *)in + at, n); /* both types have the size of ef_f16 */
}
static void narrow(ef_dtype t, void *out, int64_t at, const float *in, int64_t n) {
    ef_narrow(t, (ef_f16 *)out + at, in, n);
}

static void half_stats(ef_dtype t, const void *x, int64_t n, float *m, double *sum) {
    float f[STRETCH];
    *m = -INFINITY;
    *sum = 0;
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t k = n - at < STRETCH ? n - at : STRETCH;
        widen(t, f, x, at, k);
        float h = loops()->highest(f, k);
        if (h > *m) *m = h;
    }
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t k = n - at < STRETCH ? n - at : STRETCH;
        widen(t, f, x, at, k);
        *sum += loops()->exp_sum(f, k, *m);
    }
}

static void half_row(ef_dtype t, bool log_too, const void *x, void *y, int64_t n) {
    float f[STRETCH], m;
    double sum;
    half_stats(t, x, n, &m, &sum);
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t k = n - at < STRETCH ? n - at : STRETCH;
        widen(t, f, x, at, k);
        if (log_too) {
            float l = (float)log(sum);
            for (int64_t j = 0; j < k; j++) f[j] = (f[j] - m) - l;
        } else {
            float scale = (float)(1 / sum);
            loops()->exps(f, f, k, m);
            for (int64_t j = 0; j < k; j++) f[j] *= scale;
        }
        narrow(t, y, at, f, k);
    }
}

/* Writes the gradient and returns the loss; labels NULL: the single class `label`. */
static float half_entropy(ef_dtype t, const void *x, const void *labels, int64_t cl, int64_t label,
                          void *back, int64_t n) {
    float f[STRETCH], p[STRETCH], m, loss = 0;
    double sum;
    half_stats(t, x, n, &m, &sum);
    float l = (float)log(sum), scale = (float)(1 / sum);
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t k = n - at < STRETCH ? n - at : STRETCH;
        widen(t, f, x, at, k);
        if (labels == NULL) {
            for (int64_t j = 0; j < k; j++) p[j] = 0;
            if (label >= at && label < at + k) p[label - at] = 1, loss = l - (f[label - at] - m);
        } else if (cl) {
            widen(t, p, labels, at, k);
        } else {
            widen(t, p, labels, 0, 1);
            for (int64_t j = 1; j < k; j++) p[j] = p[0];
        }
        for (int64_t j = 0; j < k && labels != NULL; j++) loss += p[j] * (l - (f[j] - m));
        if (back == NULL) continue;
        loops()->exps(f, f, k, m);
        for (int64_t j = 0; j < k; j++) f[j] = f[j] * scale - p[j];
        narrow(t, back, at, f, k);
    }
    return loss;
}

/* ---- rows -------------------------------------------------------------------------------------
 */

typedef struct softmax_job {
    ef_dtype t;
    bool log;
    const char *in;
    char *out;
    int64_t n;
} softmax_job;

static void softmax_rows(void *arg, int64_t from, int64_t to) {
    const softmax_job *j = arg;
    size_t row = (size_t)j->n * ef_dtype_size(j->t);
    for (int64_t r = from; r < to; r++) {
        const void *in = j->in + (size_t)r * row;
        void *out = j->out + (size_t)r * row;
        if (j->t == EF_F32)
            loops()->row(j->log, in, out, j->n);
        else if (j->t == EF_F64)
            loops()->row64(j->log, in, out, j->n);
        else
            half_row(j->t, j->log, in, out, j->n);
    }
}

void ef_softmax(ef_dtype t, bool log, const void *in, void *out, int64_t rows, int64_t n) {
    if (n == 0) return;
    softmax_job j = {t, log, in, out, n};
    ef_parallel(rows, 1, 1.2 * (double)n, softmax_rows, &j);
}

static void entropy_rows(void *arg, int64_t from, int64_t to) {
    const ef_cross_entropy *x = arg;
    size_t size = ef_dtype_size(x->dtype);
    for (int64_t r = from; r < to; r++) {
        const void *in = (const char *)x->logits + (size_t)(r * x->logits_row) * size;
        const void *labels = (const char *)x->labels + (size_t)(r * x->labels_row) * size;
        void *back = (char *)x->backprop + (size_t)(r * x->n) * size;
        if (x->dtype == EF_F32) {
            ((float *)x->loss)[r] =
                loops()->entropy(in, x->logits_col, labels, x->labels_col, back, x->n);
        } else if (x->dtype == EF_F64) {
            ((double *)x->loss)[r] =
                loops()->entropy64(in, x->logits_col, labels, x->labels_col, back, x->n);
        } else {
            if (!x->logits_col) /* one logit for all classes: expand it into the output and read
                                 * it there */
                for (int64_t j = 0; j < x->n; j++) memcpy((char *)back + 2 * j, in, 2);
            float loss = half_entropy(x->dtype, x->logits_col ? in : back, labels, x->labels_col, 0,
                                      back, x->n);
            narrow(x->dtype, x->loss, r, &loss, 1);
        }
    }
}

void ef_softmax_cross_entropy(const ef_cross_entropy *x) {
    if (x->n == 0) {
        memset(x->loss, 0, (size_t)x->rows * ef_dtype_size(x->dtype));
        return;
    }
    ef_parallel(x->rows, 1, 2 * (double)x->n, entropy_rows, (void *)(uintptr_t)x);
}

typedef struct sparse_job {
    ef_dtype t, label_type;
    const char *logits;
    const void *labels;
    void *loss;
    char *back;
    int64_t n;
} sparse_job;

static void sparse_rows(void *arg, int64_t from, int64_t to) {
    const sparse_job *j = arg;
    size_t row = (size_t)j->n * ef_dtype_size(j->t);
    for (int64_t r = from; r < to; r++) {
        int64_t label = j->label_type == EF_I32 ? ((const int32_t *)j->labels)[r]
                                                : ((const int64_t *)j->labels)[r];
        const void *x = j->logits + (size_t)r * row;
        void *back = j->back != NULL ? j->back + (size_t)r * row : NULL;
        if (j->t == EF_F32) {
            ((float *)j->loss)[r] = loops()->sparse(x, label, back, j->n);
        } else if (j->t == EF_F64) {
            ((double *)j->loss)[r] = loops()->sparse64(x, label, back, j->n);
        } else {
            float loss = half_entropy(j->t, x, NULL, 1, label, back, j->n);
            narrow(j->t, j->loss, r, &loss, 1);
        }
    }
}

void ef_sparse_cross_entropy(ef_dtype t, const void *logits, const void *labels,
                             ef_dtype label_type, void *loss, void *backprop, int64_t rows,
                             int64_t n) {
    sparse_job j = {t, label_type, logits, labels, loss, backprop, n};
    ef_parallel(rows, 1, 1.5 * (double)n, sparse_rows, &j);
}
