/* The window slides along the channels of one pixel, so its sum of squares is kept as a difference
 * of running sums (in double, where the difference loses nothing that a float could hold). */
#include "kernels/lrn.h"
#include "base/pool.h"
#include <math.h>

typedef struct job {
    ef_lrn l;
    const float *x, *y, *dy;
    float *out;
} job;

static inline float base_of(const ef_lrn *l, double squares) {
    return l->bias + l->alpha * (float)squares;
}
static inline float power(const ef_lrn *l, float base) {
    if (l->beta == 0.5F) return 1 / sqrtf(base);
    if (l->beta == 0.75F) return 1 / (sqrtf(base) * sqrtf(sqrtf(base)));
    if (l->beta == 1.0F) return 1 / base;
    return powf(base, -l->beta);
}

/* Adds the channel that comes into the window of channel c, takes away the one that leaves it. */
static inline double slide(const ef_lrn *l, const float *x, int64_t c, double squares) {
    int64_t in = c + l->radius, out = c - l->radius - 1;
    if (in < l->channels) squares += (double)x[in] * (double)x[in];
    if (out >= 0) squares -= (double)x[out] * (double)x[out];
    return squares < 0 ? 0 : squares;
}
static inline double first(const ef_lrn *l, const float *x) { /* the window before channel 0 */
    double squares = 0;
    for (int64_t c = 0; c < l->radius && c < l->channels; c++)
        squares += (double)x[c] * (double)x[c];
    return squares;
}

static void forward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_lrn *l = &j->l;
    for (int64_t p = begin; p < end; p++) {
        const float *x = j->x + p * l->channels;
        float *y = j->out + p * l->channels;
        double squares = first(l, x);
        for (int64_t c = 0; c < l->channels; c++) {
            squares = slide(l, x, c, squares);
            y[c] = x[c] * power(l, base_of(l, squares));
        }
    }
}

/* dx[k] = dy[k] base[k]^-beta - 2 alpha beta x[k] * sum over windows c that hold k of
 * dy[c] y[c] / base[c] */
static void backward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_lrn *l = &j->l;
    float factor = 2 * l->alpha * l->beta;
    for (int64_t p = begin; p < end; p++) {
        int64_t at = p * l->channels;
        const float *x = j->x + at, *y = j->y + at, *dy = j->dy + at;
        float *dx = j->out + at;
        for (int64_t c = 0; c < l->channels; c++) dx[c] = 0;
        double squares = first(l, x);
        for (int64_t c = 0; c < l->channels; c++) {
            squares = slide(l, x, c, squares);
            float base = base_of(l, squares), share = factor * dy[c] * y[c] / base;
            int64_t from = c > l->radius ? c - l->radius : 0;
            int64_t to = c + l->radius < l->channels ? c + l->radius + 1 : l->channels;
            for (int64_t k = from; k < to; k++) dx[k] -= share * x[k];
            dx[c] += dy[c] * power(l, base);
        }
    }
}

void ef_lrn_run(const ef_lrn *l, const float *x, float *y) {
    job j = {.l = *l, .x = x, .out = y};
    ef_parallel(l->pixels, 1, 5.0 * (double)l->channels, forward, &j);
}

void ef_lrn_grad(const ef_lrn *l, const float *dy, const float *x, const float *y, float *dx) {
    job j = {.l = *l, .x = x, .y = y, .dy = dy, .out = dx};
    ef_parallel(l->pixels, 1, (10.0 + 2.0 * (double)l->radius) * (double)l->channels, backward, &j);
}
