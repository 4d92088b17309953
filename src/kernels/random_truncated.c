/* Normal samples between two bounds, by one of three rejection methods: if much of the bell curve
 * lies between the bounds, normal proposals; if the bounds are close, uniform ones; in a tail,
 * exponential ones. Samples follow each other in one stream and use as many numbers of it as they
 * need, so one thread draws them in order.
 *
 * Every step is rounded to the type of the samples, because that decides which proposals are
 * accepted. */
#include "kernels/random.h"
#include <math.h>

enum { TILE = 64, MOST_TRIES = 1000 };

/* Numbers read ahead from the stream, some blocks at a time. */
typedef struct stream {
    ef_philox *g; /* positioned after the last block used */
    ef_dtype t;
    int group, at, blocks; /* numbers of a block; blocks used and held */
    uint64_t held[4 * TILE];
} stream;

/* The numbers of the next block. wanted: how many are likely to be needed. */
static void draw(stream *s, ef_random_kind kind, int64_t wanted, double v[4]) {
    if (s->at == s->blocks) {
        int64_t blocks = (wanted + s->group - 1) / s->group;
        s->blocks = blocks < 1 ? 1 : blocks > TILE ? TILE : (int)blocks;
        s->at = 0;
        ef_random_fill(*s->g, kind, s->t, 0, 0, s->held, (int64_t)s->blocks * s->group);
    }
    for (int k = 0; k < s->group; k++)
        v[k] = ef_element_double(s->t, s->held, (int64_t)s->at * s->group + k);
    s->at++;
    ef_philox_skip(s->g, 1);
}

static double rounded(ef_dtype t, double v) {
    if (t == EF_F64) return v;
    return t == EF_F32 ? (float)v : ef_f16_float(ef_float_f16((float)v));
}
static double exponential(ef_dtype t, double v) {
    return t == EF_F64 ? exp(v) : rounded(t, expf((float)v));
}
static double logarithm(ef_dtype t, double v) {
    return t == EF_F64 ? log(v) : rounded(t, logf((float)v));
}
#define R(x) rounded(t, x)

typedef struct bounded {
    ef_dtype t;
    double mean, deviation, low, high; /* low and high in standard deviations from the mean */
    void *out;
    int64_t at, step, left; /* index of the next sample's element; samples left to make */
    int tries;
} bounded;

/* Stores an accepted proposal or counts a rejected one. True: continue with the block. */
static bool store_or_reject(bounded *b, bool accepted, double z) {
    ef_dtype t = b->t;
    if (!accepted) return ++b->tries < MOST_TRIES;
    ef_element_set(t, b->out, b->at, R(R(z * b->deviation) + b->mean));
    b->at += b->step;
    b->tries = 0;
    return --b->left > 0;
}

static void from_normals(bounded *b, stream *s) {
    double z[4] = {0};
    draw(s, EF_RANDOM_NORMAL, b->left, z);
    for (int k = 0; k < s->group; k++)
        if (!store_or_reject(b, z[k] >= b->low && z[k] <= b->high, z[k])) return;
}

static void from_uniforms(bounded *b, stream *s) {
    ef_dtype t = b->t;
    double z[4] = {0}, u[4] = {0}, width = R(b->high - b->low),
           top = b->low < 0 ? 0 : R(b->low * b->low);
    draw(s, EF_RANDOM_UNIFORM, 2 * b->left, z);
    draw(s, EF_RANDOM_UNIFORM, 2 * b->left, u);
    for (int k = 0; k < s->group; k++) {
        double x = R(R(z[k] * width) + b->low);
        double density = exponential(t, R(R(top - R(x * x)) / 2));
        if (!store_or_reject(b, u[k] <= density, x)) return;
    }
}

static void from_exponentials(bounded *b, stream *s) {
    ef_dtype t = b->t;
    double u[4] = {0}, rate = R(R(b->low + R(sqrt(R(R(b->low * b->low) + 4)))) / 2);
    draw(s, EF_RANDOM_UNIFORM, 2 * b->left, u);
    for (int k = 0; k < s->group; k += 2) {
        double z = R(R(-logarithm(t, u[k]) / rate) + b->low);
        double x = b->low < rate ? R(rate - z) : R(b->low - rate);
        double density = exponential(t, R(R(-x * x) / 2));
        if (!store_or_reject(b, u[k + 1] <= density && z < b->high, z)) return;
    }
}

typedef void sampler(bounded *b, stream *s);

static sampler *choose(const bounded *b) {
    ef_dtype t = b->t;
    double low = b->low, enough = R(1.3);
    if ((low < -enough && b->high >= 0) || (b->high > enough && low <= 0)) return from_normals;
    double root = R(sqrt(R(R(low * low) + 4)));
    double peak = exponential(t, R(0.5 + R(R(low * R(low - root)) / 4)));
    double narrow = R(R(2 * peak) / R(low + root));
    return R(b->high - low) < narrow ? from_uniforms : from_exponentials;
}

bool ef_random_bounded(ef_philox *g, ef_dtype t, const ef_random_bell *bell, void *out,
                       int64_t first, int64_t step, int64_t n) {
    double low = bell->low, high = bell->high, deviation = bell->deviation;
    /* A lower tail is mirrored, so that it becomes an upper one. */
    if ((isinf(low) && low < 0) || high < bell->mean) {
        low = bell->high;
        high = bell->low;
        deviation = -deviation;
    }
    bounded b = {.t = t, .mean = bell->mean, .deviation = deviation, .out = out, .at = first};
    b.low = R(R(low - bell->mean) / deviation);
    b.high = R(R(high - bell->mean) / deviation);
    b.step = step;
    b.left = n;
    stream s = {.g = g, .t = t, .group = t == EF_F64 ? 2 : 4};
    sampler *next = choose(&b);
    while (b.left > 0 && b.tries < MOST_TRIES) next(&b, &s);
    return b.left == 0;
}
