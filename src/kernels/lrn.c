/* The window slides along the channels of one pixel, so its sum of squares is a running sum (in
 * double, where subtracting the element that leaves the window loses nothing a float could hold).
 * The powers are computed in a separate loop, which the compiler vectorises. */
#include "kernels/lrn.h"
#include "base/pool.h"
#include "tensor/scratch.h"
#include <math.h>

typedef struct job {
    ef_lrn l;
    const float *x, *y, *dy;
    float *out, *room; /* room: as large as out */
} job;

/* base[c] = bias + alpha * sum of squares in the window of c */
static void bases(const ef_lrn *l, const float *x, float *base) {
    double squares = 0;
    for (int64_t c = 0; c < l->radius && c < l->channels; c++)
        squares += (double)x[c] * (double)x[c];
    for (int64_t c = 0; c < l->channels; c++) {
        int64_t in = c + l->radius, out = c - l->radius - 1;
        if (in < l->channels) squares += (double)x[in] * (double)x[in];
        if (out >= 0) squares -= (double)x[out] * (double)x[out];
        base[c] = l->bias + l->alpha * (float)(squares < 0 ? 0 : squares);
    }
}

/* out[c] = v[c] * base[c] ^ -beta; out may be base. */
static void scale(const ef_lrn *l, const float *v, const float *base, float *out) {
    int64_t n = l->channels;
    float beta = -l->beta;
    if (l->beta == 0.5F) {
#pragma omp simd
        for (int64_t c = 0; c < n; c++) out[c] = v[c] / sqrtf(base[c]);
    } else if (l->beta == 0.75F) {
#pragma omp simd
        for (int64_t c = 0; c < n; c++) out[c] = v[c] / (sqrtf(base[c]) * sqrtf(sqrtf(base[c])));
    } else if (l->beta == 1.0F) {
#pragma omp simd
        for (int64_t c = 0; c < n; c++) out[c] = v[c] / base[c];
    } else {
        for (int64_t c = 0; c < n; c++) out[c] = v[c] * powf(base[c], beta);
    }
}

static void forward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    for (int64_t p = begin; p < end; p++) {
        const float *x = j->x + p * j->l.channels;
        float *y = j->out + p * j->l.channels;
        bases(&j->l, x, y);
        scale(&j->l, x, y, y);
    }
}

/* dx[k] = dy[k] base[k]^-beta - 2 alpha beta x[k] * sum over windows c that contain k of dy[c] y[c]
 * / base[c]; the output row holds base until the end. */
static void backward(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_lrn *l = &j->l;
    int64_t n = l->channels;
    for (int64_t p = begin; p < end; p++) {
        const float *x = j->x + p * n, *y = j->y + p * n, *dy = j->dy + p * n;
        float *dx = j->out + p * n, *share = j->room + p * n;
        bases(l, x, dx);
        for (int64_t c = 0; c < n; c++) share[c] = dy[c] * y[c] / dx[c];
        scale(l, dy, dx, dx);
        double sum = 0;
        for (int64_t c = 0; c < l->radius && c < n; c++) sum += (double)share[c];
        for (int64_t c = 0; c < n; c++) {
            int64_t in = c + l->radius, out = c - l->radius - 1;
            if (in < n) sum += (double)share[in];
            if (out >= 0) sum -= (double)share[out];
            dx[c] -= 2 * l->alpha * l->beta * x[c] * (float)sum;
        }
    }
}

void ef_lrn_run(const ef_lrn *l, const float *x, float *y) {
    job j = {.l = *l, .x = x, .out = y};
    ef_parallel(l->pixels, 1, 4.0 * (double)l->channels, forward, &j);
}

ef_status *ef_lrn_grad(const ef_lrn *l, const float *dy, const float *x, const float *y,
                       float *dx) {
    size_t bytes = (size_t)(l->pixels * l->channels) * sizeof(float);
    job j = {.l = *l, .x = x, .y = y, .dy = dy, .out = dx, .room = ef_scratch_take(bytes)};
    if (j.room == NULL) return ef_no_memory(bytes);
    ef_parallel(l->pixels, 1, 10.0 * (double)l->channels, backward, &j);
    ef_scratch_end(j.room);
    return NULL;
}
