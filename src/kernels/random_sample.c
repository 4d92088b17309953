/* Distributions with parameters, by rejection sampling: each sample has its own range of the
 * stream, so one that draws many numbers never changes the next ones. */
#include "base/pool.h"
#include "kernels/random.h"
#include <float.h>
#include <math.h>

/* The numbers of a block, used from its end. */
typedef struct draws {
    ef_philox *g;
    double value[2];
    int left;
} draws;

static double uniform(draws *d) {
    if (d->left == 0) {
        uint32_t x[4];
        ef_philox_blocks(d->g, x, 1);
        d->value[0] = ef_random_double(x[0], x[1]);
        d->value[1] = ef_random_double(x[2], x[3]);
        d->left = 2;
    }
    return d->value[--d->left];
}

static double normal(draws *d) {
    if (d->left == 0) {
        uint32_t x[4];
        ef_philox_blocks(d->g, x, 1);
        ef_random_normals(x, &d->value[0], &d->value[1]);
        d->left = 2;
    }
    return d->value[--d->left];
}

/* The largest integer of t, or infinity for floats. */
static double largest(ef_dtype t) {
    return t == EF_I32 ? INT32_MAX : t == EF_I64 ? 9223372036854774784.0 : INFINITY;
}

/* Converts like a cast, but a value out of range becomes the nearest in range, and NaN becomes
 * zero. */
static void store(ef_dtype t, void *out, int64_t k, double v) {
    if (t == EF_I32 || t == EF_I64) v = isnan(v) ? 0 : fmax(-largest(t), fmin(v, largest(t)));
    ef_element_set(t, out, k, v);
}

typedef struct sample_job {
    ef_philox g;
    ef_dtype param, t;
    const void *first, *second;
    int64_t n, samples; /* output [samples, n] */
    void *out;
} sample_job;

/* ---- gamma: Marsaglia and Tsang ---- */

static double gamma_sample(double alpha, ef_philox g) {
    draws u = {.g = &g}, z = {.g = &g};
    if (alpha == 1.0) return -log1p(-uniform(&u));
    bool small = alpha < 1;
    double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / sqrt(d);
    for (;;) {
        double x = normal(&z), v = 1 + c * x;
        if (v <= 0) continue;
        v = v * v * v;
        double p = uniform(&u);
        if (p < 1 - 0.0331 * (x * x) * (x * x) || log(p) < 0.5 * x * x + d * (1 - v + log(v)))
            return small ? d * v * pow(uniform(&u), 1 / alpha) : d * v;
    }
}

static void gamma_range(void *arg, int64_t begin, int64_t end) {
    const sample_job *j = arg;
    for (int64_t k = begin; k < end; k++) {
        int64_t column = k / j->samples, row = k % j->samples;
        double alpha = ef_element_double(j->param, j->first, column);
        ef_philox g = j->g;
        ef_philox_skip(&g, ef_random_reserved(k));
        ef_element_set(j->t, j->out, row * j->n + column, gamma_sample(alpha, g));
    }
}

void ef_random_gamma(ef_philox g, ef_dtype t, const void *alpha, int64_t n, int64_t samples,
                     void *out) {
    sample_job j = {g, t, t, alpha, NULL, n, samples, out};
    ef_parallel(n * samples, 16, 100, gamma_range, &j);
}

/* ---- Poisson: Knuth below a rate of 10, Hormann's transformed rejection above ---- */

static double log_factorial(double k) { /* lgamma itself writes a global variable */
    int sign;
    return lgamma_r(k + 1, &sign);
}

/* top: the largest number that can be stored. */
static double poisson_sample(double rate, double top, ef_philox g) {
    draws d = {.g = &g};
    if (isnan(rate)) return NAN;
    if (rate < 10) {
        double least = exp(-rate), product = 1, x = 0;
        while ((product *= uniform(&d)) > least) x += 1;
        return x;
    }
    if (isinf(rate) || rate > top) return fmin(rate, top);
    const double log_rate = log(rate), b = 0.931 + 2.53 * sqrt(rate), a = -0.059 + 0.02483 * b;
    const double inverse = 1.1239 + 1.1328 / (b - 3.4), tight = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = uniform(&d) - 0.5, v = uniform(&d), us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (k > top) continue;
        if (us >= 0.07 && v <= tight) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        double s = log(v * inverse / (a / (us * us) + b));
        if (s <= -rate + k * log_rate - log_factorial(k)) return k;
    }
}

static void poisson_range(void *arg, int64_t begin, int64_t end) {
    const sample_job *j = arg;
    for (int64_t k = begin; k < end; k++) {
        int64_t column = k / j->samples, row = k % j->samples;
        double rate = ef_element_double(j->param, j->first, column);
        ef_philox g = j->g;
        ef_philox_skip(&g, ef_random_reserved(k));
        double v = poisson_sample(rate, largest(j->t), g);
        store(j->t, j->out, row * j->n + column, v);
    }
}

void ef_random_poisson(ef_philox g, ef_dtype rate_type, const void *rate, int64_t n,
                       int64_t samples, ef_dtype t, void *out) {
    sample_job j = {g, rate_type, t, rate, NULL, n, samples, out};
    ef_parallel(n * samples, 16, 150, poisson_range, &j);
}

/* ---- binomial: sums of geometric waits, or Hormann's BTRS ---- */

static double binomial_waits(double count, double prob, ef_philox g) {
    draws d = {.g = &g};
    double sum = 0;
    int64_t n = -1;
    do {
        sum += ceil(log(uniform(&d)) / log1p(-prob));
        n++;
    } while (sum <= count);
    return (double)n;
}

/* The remainder of Stirling's formula for log k!. */
static double stirling_rest(double k) {
    static const double few[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                 0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                 0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                 0.00833056343336287};
    if (k <= 9) return few[(int)k];
    double q = (k + 1) * (k + 1);
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / q) / q) / (k + 1);
}

static double binomial_btrs(double n, double p, ef_philox g) {
    draws d = {.g = &g};
    const double deviation = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5, tight = 0.92 - 4.2 / b;
    const double r = p / (1 - p), alpha = (2.83 + 5.1 / b) * deviation, m = floor((n + 1) * p);
    for (;;) {
        double u = uniform(&d), v = uniform(&d);
        u -= 0.5;
        double us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        if (us >= 0.07 && v <= tight) return k;
        if (k < 0 || k > n) continue;
        v = log(v * alpha / (a / (us * us) + b));
        double bound = (m + 0.5) * log((m + 1) / (r * (n - m + 1))) +
                       (n + 1) * log((n - m + 1) / (n - k + 1)) +
                       (k + 0.5) * log(r * (n - k + 1) / (k + 1)) + stirling_rest(m) +
                       stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
        if (v <= bound) return k;
    }
}

/* Rounds to the parameters' type, in which the method is chosen. */
static double rounded(ef_dtype t, double v) {
    double room;
    ef_element_set(t, &room, 0, v);
    return ef_element_double(t, &room, 0);
}

static double binomial_sample(const sample_job *j, double n, double p, int64_t k) {
    if (n <= 0 || p <= 0) return 0; /* even if the other is not a number */
    if (p >= 1) return n;
    if (isnan(n) || isnan(p) || isinf(n)) return NAN;
    bool flip = p > 0.5;
    double q = flip ? rounded(j->param, 1 - p) : p;
    bool large = rounded(j->param, n * q) >= 10;
    ef_philox g = j->g;
    ef_philox_skip(&g, (large ? 256 : 42) * (uint64_t)k);
    double v = large ? binomial_btrs(n, q, g) : binomial_waits(n, q, g);
    return flip ? n - v : v;
}

static void binomial_range(void *arg, int64_t begin, int64_t end) {
    const sample_job *j = arg;
    const double *count = j->first, *prob = j->second;
    for (int64_t k = begin; k < end; k++) {
        int64_t column = k / j->samples, row = k % j->samples;
        store(j->t, j->out, row * j->n + column,
              binomial_sample(j, count[column], prob[column], k));
    }
}

void ef_random_binomial(ef_philox g, ef_dtype param_type, const double *count, const double *prob,
                        int64_t n, int64_t samples, ef_dtype t, void *out) {
    sample_job j = {g, param_type, t, count, prob, n, samples, out};
    ef_parallel(n * samples, 16, 200, binomial_range, &j);
}

/* ---- classes by their logits ---- */

/* The cumulative sum of exp(logit - largest); classes that are not finite have weight zero. */
static double running_sum(ef_dtype t, const void *logits, int64_t at, int64_t n, double *sum) {
    double top = t == EF_F16    ? -65504.0
                 : t == EF_BF16 ? -0x1.FEp127
                 : t == EF_F32  ? -FLT_MAX
                                : -DBL_MAX;
    double total = 0;
    for (int64_t k = 0; k < n; k++) {
        double v = ef_element_double(t, logits, at + k);
        if (isfinite(v) && v > top) top = v;
    }
    for (int64_t k = 0; k < n; k++) {
        double v = ef_element_double(t, logits, at + k);
        if (isfinite(v)) total += exp(v - top);
        sum[k] = total;
    }
    return total;
}

static int64_t first_above(const double *sum, int64_t n, double v) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (sum[mid] > v)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

void ef_random_classes(ef_philox g, ef_dtype t, const void *logits, int64_t rows, int64_t classes,
                       int64_t samples, ef_dtype out_type, void *out, double *work) {
    ef_philox_each e = ef_philox_one_by_one(g);
    for (int64_t r = 0; r < rows; r++) {
        double total = running_sum(t, logits, r * classes, classes, work);
        for (int64_t k = 0; k < samples; k++) {
            uint32_t x = ef_philox_next(&e), y = ef_philox_next(&e);
            int64_t found = first_above(work, classes, ef_random_double(x, y) * total);
            if (out_type == EF_I64)
                ((int64_t *)out)[r * samples + k] = found;
            else
                ((int32_t *)out)[r * samples + k] = (int32_t)found;
        }
    }
}
