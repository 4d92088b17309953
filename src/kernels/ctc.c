/* The states are the labels with a blank before, between and after them. Forward sums hold the
 * paths that lead to state s at frame t, backward sums those that continue from it; together they
 * give the weight of each state at each frame. */
#include "kernels/ctc.h"
#include <math.h>

static double log_add(double a, double b) {
    if (a == -INFINITY) return b;
    if (b == -INFINITY) return a;
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

static int32_t place(const ef_ctc *c, int64_t s) { return s % 2 == 0 ? c->blank : c->label[s / 2]; }
/* The log probability of emitting state s, given those of a frame. */
static double emitted(const ef_ctc *c, const double *p, int64_t s) {
    int32_t k = place(c, s);
    return k >= 0 && k < c->classes ? p[k] : 0.0;
}
/* Whether a path may stay in s from one frame to the next; whether it may skip the blank before
 * s. */
static bool may_stay(const ef_ctc *c, int64_t s) { return c->merge || s % 2 == 0; }
static bool may_skip(const ef_ctc *c, int64_t s) {
    if (s % 2 == 0 || s < 2) return false;
    return !(c->merge && place(c, s) == place(c, s - 2));
}

/* The log weights of beginning and ending in s. A path that begins at the floor does so before the
 * first frame, and reaches s from as many states as it may in any other frame. */
static double begins(const ef_ctc *c, int64_t s) {
    return s < 2 ? 0.0 : c->floor + log(2.0 + may_skip(c, s));
}
static double ends(const ef_ctc *c, int64_t s) { return s >= 2 * c->labels - 1 ? 0.0 : c->floor; }

size_t ef_ctc_room(const ef_ctc *c) {
    return (size_t)(2 * c->labels + 1) * ((size_t)c->frames + 2);
}

static void forward(const ef_ctc *c, const double *logp, double *alpha) {
    int64_t places = 2 * c->labels + 1;
    for (int64_t s = 0; s < places; s++) alpha[s] = emitted(c, logp, s) + begins(c, s);
    for (int64_t t = 1; t < c->frames; t++) {
        const double *before = alpha + (t - 1) * places, *p = logp + t * c->classes;
        double *now = alpha + t * places;
        for (int64_t s = 0; s < places; s++) {
            double sum = may_stay(c, s) ? before[s] : -INFINITY;
            if (s > 0) sum = log_add(sum, before[s - 1]);
            if (may_skip(c, s)) sum = log_add(sum, before[s - 2]);
            now[s] = sum + emitted(c, p, s);
        }
    }
}

/* One step backwards: beta holds the paths after frame t, `next` those after t + 1. */
static void backward(const ef_ctc *c, const double *logp, int64_t t, const double *next,
                     double *beta) {
    int64_t places = 2 * c->labels + 1;
    const double *p = logp + (t + 1) * c->classes;
    for (int64_t s = 0; s < places; s++) {
        double sum = may_stay(c, s) ? next[s] + emitted(c, p, s) : -INFINITY;
        if (s + 1 < places) sum = log_add(sum, next[s + 1] + emitted(c, p, s + 1));
        if (s + 2 < places && may_skip(c, s + 2))
            sum = log_add(sum, next[s + 2] + emitted(c, p, s + 2));
        beta[s] = sum;
    }
}

double ef_ctc_loss(const ef_ctc *c, const double *logp, double *gradient, double *work) {
    int64_t places = 2 * c->labels + 1, last = c->frames - 1;
    double *alpha = work, *beta = work + places * c->frames, *next = beta + places;
    forward(c, logp, alpha);
    double total = -INFINITY;
    for (int64_t s = 0; s < places; s++)
        total = log_add(total, alpha[last * places + s] + ends(c, s));
    for (int64_t k = 0; k < c->frames * c->classes; k++) gradient[k] = exp(logp[k]);
    if (total == -INFINITY) return INFINITY;
    for (int64_t s = 0; s < places; s++) beta[s] = ends(c, s);
    for (int64_t t = last; t >= 0; t--) {
        if (t < last) {
            double *swap = beta;
            beta = next;
            next = swap;
            backward(c, logp, t, next, beta);
        }
        for (int64_t s = 0; s < places; s++) {
            int32_t k = place(c, s);
            if (s % 2 == 0 || (k >= 0 && k < c->classes && k != c->blank))
                gradient[t * c->classes + k] -= exp(alpha[t * places + s] + beta[s] - total);
        }
    }
    double loss = emitted(c, logp, 0) + beta[0]; /* without the paths that begin at the floor */
    if (places > 1) loss = log_add(loss, emitted(c, logp, 1) + beta[1]);
    return -loss;
}

void ef_ctc_normalize(double *row, int64_t classes) {
    if (classes <= 0) return;
    double top = -INFINITY, sum = 0;
    for (int64_t k = 0; k < classes; k++) top = row[k] > top ? row[k] : top;
    for (int64_t k = 0; k < classes; k++) sum += exp(row[k] - top);
    double shift = sum > 0 ? top + log(sum) : top;
    for (int64_t k = 0; k < classes; k++) row[k] -= shift;
}
