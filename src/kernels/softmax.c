/* Every row: its maximum, then the exponentials and their sum, then the result. The maximum keeps
 * exponents in range; NaN and infinities run through the arithmetic and end as NaN, as they should.
 * 16-bit floats work in float over short stretches and compute the exponentials twice rather than
 * ask for memory. */
#include "kernels/softmax.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "kernels/vmath.h"

enum { STRETCH = 512 };

#ifdef __FMA__
#define MADD(a, b, c) __builtin_fmaf(a, b, c)
#else
#define MADD(a, b, c) ((a) * (b) + (c))
#endif

/* exp in straight-line code, so that it vectorises with what is around it: 2^n times a polynomial
 * on
 * [-ln 2 / 2, ln 2 / 2]. Good to about one unit in the last place; arguments here are never large.
 */
static inline float exp_f32(float x) {
    const float round =
        12582912.0f;         /* 1.5 * 2^23: adding it leaves the nearest integer in the bits */
    x = x < -105 ? -105 : x; /* NaN stays */
    float t = MADD(x, 1.44269504f, round), n = t - round;
    float r = MADD(n, -1.42860677e-6f, MADD(n, -0.693145752f, x));
    float p = MADD(1.38888889e-3f, r, 8.33333377e-3f);
    p = MADD(p, r, 4.16666679e-2f);
    p = MADD(p, r, 1.66666672e-1f);
    p = MADD(p, r, 0.5f);
    p = MADD(p * r, r, r);
    union {
        float f;
        uint32_t u;
    } bits = {.f = t}, low, high; /* of NaN: anything, and it stays NaN */
    int32_t k = (int32_t)(bits.u - 0x4B400000u), half = k >> 1;
    low.u = (uint32_t)(half + 127) << 23; /* two factors: right below the normal range too */
    high.u = ((uint32_t)k - (uint32_t)half + 127) << 23;
    return (p + 1) * low.f * high.f;
}

#define SIMD(...) _Pragma(#__VA_ARGS__)
#define STAMP(SUF, T, EXP, LOG)                                                          \
    static T highest_##SUF(const T *x, int64_t n) {                                      \
        T m = -(T)INFINITY, m1 = m, m2 = m, m3 = m;                                      \
        int64_t q = n / 32 * 8; /* four quarters at once, to hide the latency */         \
        SIMD(omp simd reduction(max : m, m1, m2, m3))                                    \
        for (int64_t j = 0; j < q; j++) {                                                \
            T x1 = x[q + j], x2 = x[2 * q + j], x3 = x[3 * q + j];                       \
            m = x[j] > m ? x[j] : m;                                                     \
            m1 = x1 > m1 ? x1 : m1;                                                      \
            m2 = x2 > m2 ? x2 : m2;                                                      \
            m3 = x3 > m3 ? x3 : m3;                                                      \
        }                                                                                \
        m = m1 > m ? m1 : m;                                                             \
        m = m2 > m ? m2 : m;                                                             \
        m = m3 > m ? m3 : m;                                                             \
        for (int64_t j = 4 * q; j < n; j++) m = x[j] > m ? x[j] : m;                     \
        return m;                                                                        \
    }                                                                                    \
    /* y = exp(x - m); returns their sum. */                                             \
    static double exps_##SUF(const T *x, T *y, int64_t n, T m) {                         \
        double total = 0;                                                                \
        for (int64_t at = 0; at < n; at += STRETCH) {                                    \
            int64_t end = n - at < STRETCH ? n : at + STRETCH;                           \
            T s = 0;                                                                     \
            SIMD(omp simd reduction(+ : s))                                              \
            for (int64_t j = at; j < end; j++) {                                         \
                T e = EXP(x[j] - m);                                                     \
                y[j] = e;                                                                \
                s += e;                                                                  \
            }                                                                            \
            total += (double)s;                                                          \
        }                                                                                \
        return total;                                                                    \
    }                                                                                    \
    static double exp_sum_##SUF(const T *x, int64_t n, T m) {                            \
        double total = 0;                                                                \
        for (int64_t at = 0; at < n; at += STRETCH) {                                    \
            int64_t end = n - at < STRETCH ? n : at + STRETCH;                           \
            T s = 0;                                                                     \
            SIMD(omp simd reduction(+ : s))                                              \
            for (int64_t j = at; j < end; j++) s += EXP(x[j] - m);                       \
            total += (double)s;                                                          \
        }                                                                                \
        return total;                                                                    \
    }                                                                                    \
    static void row_##SUF(bool log_too, const T *x, T *y, int64_t n) {                   \
        T m = highest_##SUF(x, n);                                                       \
        if (log_too) {                                                                   \
            T l = (T)LOG(exp_sum_##SUF(x, n, m));                                        \
            SIMD(omp simd)                                                               \
            for (int64_t j = 0; j < n; j++) y[j] = (x[j] - m) - l;                       \
        } else {                                                                         \
            T scale = (T)(1 / exps_##SUF(x, y, n, m));                                   \
            SIMD(omp simd)                                                               \
            for (int64_t j = 0; j < n; j++) y[j] *= scale;                               \
        }                                                                                \
    }                                                                                    \
    /* One row of cross-entropy; back holds the shifted logits first. */                 \
    static T entropy_##SUF(const T *x, int64_t cx, const T *labels, int64_t cl, T *back, \
                           int64_t n) {                                                  \
        T m = cx ? highest_##SUF(x, n) : x[0], loss = 0;                                 \
        for (int64_t j = 0; j < n; j++) back[j] = x[j * cx] - m;                         \
        double sum = exp_sum_##SUF(back, n, 0);                                          \
        T l = (T)LOG(sum), scale = (T)(1 / sum);                                         \
        if (cl) {                                                                        \
            SIMD(omp simd reduction(+ : loss))                                           \
            for (int64_t j = 0; j < n; j++) {                                            \
                T b = back[j];                                                           \
                loss += labels[j] * (l - b);                                             \
                back[j] = EXP(b) * scale - labels[j];                                    \
            }                                                                            \
        } else {                                                                         \
            for (int64_t j = 0; j < n; j++) {                                            \
                loss += labels[0] * (l - back[j]);                                       \
                back[j] = EXP(back[j]) * scale - labels[0];                              \
            }                                                                            \
        }                                                                                \
        return loss;                                                                     \
    }                                                                                    \
    static T sparse_##SUF(const T *x, int64_t label, T *back, int64_t n) {               \
        T m = highest_##SUF(x, n), at_label = x[label] - m;                              \
        double sum = exps_##SUF(x, back, n, m);                                          \
        T scale = (T)(1 / sum);                                                          \
        SIMD(omp simd)                                                                   \
        for (int64_t j = 0; j < n; j++) back[j] *= scale;                                \
        back[label] -= 1;                                                                \
        return (T)LOG(sum) - at_label;                                                   \
    }
STAMP(F32, float, exp_f32, log)
STAMP(F64, double, ef_exp_F64, log)

/* ---- 16-bit floats ----------------------------------------------------------------------------
 */

static void widen(ef_dtype t, float *out, const void *in, int64_t at, int64_t n) {
    ef_widen(t, out, (const ef_f16 *)in + at, n); /* both kinds have the size of ef_f16 */
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
        float h = highest_F32(f, k);
        if (h > *m) *m = h;
    }
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t k = n - at < STRETCH ? n - at : STRETCH;
        widen(t, f, x, at, k);
        *sum += exp_sum_F32(f, k, *m);
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
            exps_F32(f, f, k, m);
            for (int64_t j = 0; j < k; j++) f[j] *= scale;
        }
        narrow(t, y, at, f, k);
    }
}

/* Writes back and returns the loss; labels NULL: the one class `label`. */
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
        exps_F32(f, f, k, m);
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
            row_F32(j->log, in, out, j->n);
        else if (j->t == EF_F64)
            row_F64(j->log, in, out, j->n);
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
                entropy_F32(in, x->logits_col, labels, x->labels_col, back, x->n);
        } else if (x->dtype == EF_F64) {
            ((double *)x->loss)[r] =
                entropy_F64(in, x->logits_col, labels, x->labels_col, back, x->n);
        } else {
            if (!x->logits_col) /* one logit for all classes: spread it out where it may be read */
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
        void *back = j->back + (size_t)r * row;
        if (j->t == EF_F32) {
            ((float *)j->loss)[r] = sparse_F32(x, label, back, j->n);
        } else if (j->t == EF_F64) {
            ((double *)j->loss)[r] = sparse_F64(x, label, back, j->n);
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
