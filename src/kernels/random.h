/* Random tensors, bit-identical to those of TensorFlow's CPU kernels, whatever the number of
 * threads. */
#ifndef EF_KERNELS_RANDOM_H
#define EF_KERNELS_RANDOM_H
#include "base/status.h"
#include "kernels/philox.h"
#include "tensor/dtype.h"
#include <string.h>

typedef enum ef_random_kind {
    EF_RANDOM_UNIFORM,   /* floats in [0, 1) */
    EF_RANDOM_NORMAL,    /* floats, mean 0 and standard deviation 1 */
    EF_RANDOM_TRUNCATED, /* as NORMAL, but drawn again beyond two standard deviations */
    EF_RANDOM_INT,       /* integers in [low, high) */
    EF_RANDOM_FULL_INT   /* integers with all bits random */
} ef_random_kind;

/* Fills out[0..n). low, high: the 64 bits of the integer type. */
void ef_random_fill(ef_philox g, ef_random_kind kind, ef_dtype t, int64_t low, int64_t high,
                    void *out, int64_t n);
/* Blocks that a stateful generator skips for n outputs, so that the next call uses new ones. */
static inline uint64_t ef_random_reserved(int64_t n) { return (uint64_t)n * 256; }

/* Samples of distributions with parameters. Output [samples, n]: column j has parameter j. */
void ef_random_gamma(ef_philox g, ef_dtype t, const void *alpha, int64_t n, int64_t samples,
                     void *out);
/* d sample / d alpha of a gamma sample. */
double ef_random_gamma_slope(double alpha, double sample);
void ef_random_poisson(ef_philox g, ef_dtype rate_type, const void *rate, int64_t n,
                       int64_t samples, ef_dtype t, void *out);
/* count[j], prob[j] for column j. */
void ef_random_binomial(ef_philox g, ef_dtype param_type, const double *count, const double *prob,
                        int64_t n, int64_t samples, ef_dtype t, void *out);
/* rows x classes logits; out: rows x samples classes. work: space for `classes` doubles. */
void ef_random_classes(ef_philox g, ef_dtype t, const void *logits, int64_t rows, int64_t classes,
                       int64_t samples, ef_dtype out_type, void *out, double *work);
/* Normal samples within [low, high], at least one bound finite: writes n elements first, first +
 * step, ... of out; g advances past the numbers used. Returns false if 1000 proposals in a row were
 * rejected. t: half, float or double. */
typedef struct ef_random_bell {
    double mean, deviation, low, high; /* deviation > 0, low < high */
} ef_random_bell;
bool ef_random_bounded(ef_philox *g, ef_dtype t, const ef_random_bell *bell, void *out,
                       int64_t first, int64_t step, int64_t n);
/* Permutes n elements of `size` bytes, which is 1, 2, 4, 8 or 16; n < 2^32. */
void ef_random_shuffle(ef_philox g, void *data, int64_t n, size_t size);
/* `bytes` random bytes from the operating system's generator. */
ef_status *ef_random_entropy(void *out, size_t bytes);

/* Building blocks, also used by tests. */
static inline float ef_random_float(uint32_t x) { /* 23 bits, in [0, 1) */
    uint32_t bits = 0x3F800000u | (x & 0x7FFFFFu);
    float f;
    memcpy(&f, &bits, sizeof f);
    return f - 1.0f;
}
double ef_random_double(uint32_t x, uint32_t y); /* 52 bits, in [0, 1) */
/* Two normal numbers from each two random words. */
void ef_random_normal_floats(const uint32_t *x, int64_t pairs, float *out);
/* Two normal numbers from four random words. */
void ef_random_normals(const uint32_t *x, double *a, double *b);
#endif
