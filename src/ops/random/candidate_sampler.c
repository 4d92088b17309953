/* Samplers of candidate classes for losses over many classes: numbers below range_max, with the
 * expected count of each sampled and each true class. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/random/random.h"
#include "ops/shapes.h"
#include <float.h>
#include <math.h>
#include <string.h>

typedef struct sampler_attrs {
    ef_random_attrs random; /* must be first: the generator reads the seeds there */
    int64_t num_true, num_sampled, range_max;
    bool unique;
} sampler_attrs;

/* A distribution over [0, range). */
typedef struct distribution {
    int64_t (*draw)(ef_philox_each *g, int64_t range);
    double (*probability)(int64_t value, int64_t range);
} distribution;

/* A number below `range`, without bias: numbers from the incomplete last interval are drawn
 * again. */
static int64_t draw_uniform(ef_philox_each *g, int64_t range) {
    uint64_t n = (uint64_t)range, unfair = UINT64_MAX % n + 1, x;
    do {
        x = ef_philox_next(g);
        x |= (uint64_t)ef_philox_next(g) << 32;
    } while ((n & (n - 1)) != 0 && x < unfair);
    return (int64_t)(x % n);
}
static double uniform_probability(int64_t value, int64_t range) {
    (void)value;
    return 1.0 / (double)range;
}

/* A double in [0, 1) from the 52 low bits of two numbers, the first one as the high part. */
static double draw_double(ef_philox_each *g) {
    uint64_t high = ef_philox_next(g) & 0xfffffu, low = ef_philox_next(g);
    uint64_t bits = (uint64_t)1023 << 52 | high << 32 | low;
    double x;
    memcpy(&x, &bits, sizeof x);
    return x - 1.0;
}

/* P(k) = log((k + 2) / (k + 1)) / log(range + 1): classes are numbered by descending frequency. */
static int64_t draw_log_uniform(ef_philox_each *g, int64_t range) {
    return ((int64_t)exp(draw_double(g) * log1p((double)range)) - 1) % range;
}
static double log_uniform_probability(int64_t k, int64_t range) {
    return log(((double)k + 2) / ((double)k + 1)) / log1p((double)range);
}

/* ---- sampling -------------------------------------------------------------------------------- */

static ef_status *sampler_shape(ef_infer *i) {
    const sampler_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 2));
    if (t->num_true < 1 || t->num_sampled < 1 || t->range_max < 1)
        return ef_error(EF_INVALID,
                        "%s: num_true is %lld, num_sampled %lld and range_max %lld; all "
                        "must be positive",
                        i->op->name, (long long)t->num_true, (long long)t->num_sampled,
                        (long long)t->range_max);
    if (t->unique && t->num_sampled > t->range_max)
        return ef_error(EF_INVALID,
                        "%s: %lld different classes cannot be sampled from %lld; "
                        "num_sampled must be at most range_max",
                        i->op->name, (long long)t->num_sampled, (long long)t->range_max);
    const ef_shape *x = &i->in[0].shape;
    if (x->rank == 2 && x->dim[1] >= 0 && x->dim[1] != t->num_true)
        return ef_error(EF_INVALID,
                        "%s: true_classes is %s and num_true is %lld; its rows must "
                        "have num_true columns",
                        i->op->name, EF_SHAPE(x), (long long)t->num_true);
    i->out[0].shape = i->out[2].shape = (ef_shape){.rank = 1, .dim = {t->num_sampled}};
    i->out[1].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, t->num_true}};
    if (x->rank == 2) i->out[1].shape.dim[0] = x->dim[0];
    return NULL;
}

/* The number of slots of the hash table of sampled classes: at least twice the number of
 * samples. */
static uint64_t slots_for(const sampler_attrs *t) {
    uint64_t slots = 16;
    while (slots < 2 * (uint64_t)t->num_sampled) slots *= 2;
    return slots;
}
static size_t sampler_scratch(const ef_call *c) {
    const sampler_attrs *t = c->attrs;
    return t->unique ? slots_for(t) * sizeof(int64_t) : 0;
}

/* Adds a value to the table; false if it is already there. Free slots hold -1. */
static bool insert(int64_t *table, uint64_t slots, int64_t value) {
    uint64_t at = (uint64_t)value * 0x9e3779b97f4a7c15u & (slots - 1);
    for (; table[at] != -1; at = (at + 1) & (slots - 1))
        if (table[at] == value) return false;
    table[at] = value;
    return true;
}

/* The expected count of a class of probability p among n samples that took `tries` draws. */
static float expected(double p, int64_t n, int64_t tries) {
    if (tries == n) return (float)(p * (double)n);
    return (float)-expm1((double)tries * log1p(-p));
}

static ef_status *sample(const ef_call *c, const distribution *d) {
    const sampler_attrs *t = c->attrs;
    const int64_t *truth = c->in[0]->data;
    int64_t n = t->num_sampled, range = t->range_max, *out = c->out[0]->data, tries = 0;
    for (int64_t k = 0; k < ef_count(c->in[0]); k++)
        if (truth[k] < 0 || truth[k] >= range)
            return ef_error(EF_INVALID, "%s: true class %lld is not in [0, %lld)", c->op->name,
                            (long long)truth[k], (long long)range);
    ef_philox start;
    EF_TRY(ef_random_stateful(c, 512 * (uint64_t)n, &start));
    ef_philox_each g = ef_philox_one_by_one(start);
    uint64_t slots = slots_for(t);
    int64_t *table = c->scratch;
    if (t->unique) memset(table, 0xff, slots * sizeof *table);
    for (int64_t picked = 0; picked < n; tries++) {
        int64_t value = d->draw(&g, range);
        if (!t->unique || insert(table, slots, value)) out[picked++] = value;
    }
    float *of_true = c->out[1]->data, *of_sampled = c->out[2]->data;
    for (int64_t k = 0; k < ef_count(c->in[0]); k++)
        of_true[k] = expected(d->probability(truth[k], range), n, tries);
    for (int64_t k = 0; k < n; k++)
        of_sampled[k] = expected(d->probability(out[k], range), n, tries);
    return NULL;
}

static ef_status *uniform_run(const ef_call *c) {
    return sample(c, &(distribution){draw_uniform, uniform_probability});
}
static ef_status *log_uniform_run(const ef_call *c) {
    return sample(c, &(distribution){draw_log_uniform, log_uniform_probability});
}

#define SAMPLER(N, text, fn)                                                                    \
    const ef_op ef_op_##N = {                                                                   \
        EF_NAMED(N),                                                                            \
        .doc = text,                                                                            \
        .in = {"true_classes: int64"},                                                          \
        .out = {"sampled_candidates: int64", "true_expected_count: float",                      \
                "sampled_expected_count: float"},                                               \
        .attr = {EF_ATTR(sampler_attrs, num_true, "int", NULL),                                 \
                 EF_ATTR(sampler_attrs, num_sampled, "int", NULL),                              \
                 EF_ATTR(sampler_attrs, unique, "bool", NULL),                                  \
                 EF_ATTR(sampler_attrs, range_max, "int", NULL), EF_RANDOM_SEEDS},              \
        .attr_size = sizeof(sampler_attrs),                                                     \
        .traits = EF_STATEFUL | EF_NO_GRAD,                                                     \
        .data_in = 1,                                                                           \
        .shape = sampler_shape,                                                                 \
        .kernel = {{EF_CPU, EF_COMPUTED, fn, sampler_scratch, NULL, ef_random_prepare,          \
                    ef_random_release}},                                                        \
        .examples = {"int64[2,1]:0..5 num_true=1 num_sampled=3 unique=true range_max=5 seed=1", \
                     "int64[1,2]:0..9 num_true=2 num_sampled=12 unique=false range_max=9 "      \
                     "seed=1 seed2=2"},                                                         \
    };
SAMPLER(UniformCandidateSampler, "Samples classes below range_max, all with the same probability.",
        uniform_run)
SAMPLER(LogUniformCandidateSampler,
        "Samples classes below range_max, small ones more often: class k with probability "
        "log((k + 2) / (k + 1)) / log(range_max + 1).",
        log_uniform_run)

/* ---- ComputeAccidentalHits ------------------------------------------------------------------- */

static ef_status *hits_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    for (int k = 0; k < 3; k++) i->out[k].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    return NULL;
}

/* The index of a class among the sampled ones, the last if there are several; or -1. */
static int64_t place_of(const ef_tensor *sampled, int64_t wanted) {
    const int64_t *v = sampled->data;
    for (int64_t k = ef_count(sampled) - 1; k >= 0; k--)
        if (v[k] == wanted) return k;
    return -1;
}

static ef_status *hits_run(const ef_call *c) {
    const ef_tensor *truth = c->in[0], *sampled = c->in[1];
    const int64_t *v = truth->data;
    int64_t n = ef_count(truth), columns = truth->dim[1], found = 0;
    for (int64_t k = 0; k < n; k++) found += place_of(sampled, v[k]) >= 0;
    ef_shape shape = {.rank = 1, .dim = {found}};
    for (int k = 0; k < 3; k++) EF_TRY(ef_out_alloc(c, k, &shape));
    int32_t *row = c->out[0]->data;
    int64_t *place = c->out[1]->data;
    float *weight = c->out[2]->data;
    for (int64_t k = 0; k < n; k++) {
        int64_t at = place_of(sampled, v[k]);
        if (at < 0) continue;
        *row++ = (int32_t)(k / columns);
        *place++ = at;
        *weight++ = -FLT_MAX;
    }
    return NULL;
}

const ef_op ef_op_ComputeAccidentalHits = {
    EF_NAMED(ComputeAccidentalHits),
    .doc =
        "Finds sampled classes that are true classes: row, index among the samples, and the lowest "
        "float, which removes them when it is added to their logits.",
    .in = {"true_classes: int64", "sampled_candidates: int64"},
    .out = {"indices: int32", "ids: int64", "weights: float"},
    .attr = {EF_ATTR(sampler_attrs, num_true, "int", NULL), EF_RANDOM_SEEDS},
    .attr_size = sizeof(sampler_attrs),
    .traits = EF_DYNAMIC | EF_NO_GRAD,
    .data_in = 3,
    .shape = hits_shape,
    .kernel = {{EF_CPU, EF_COMPUTED, hits_run, NULL, NULL, NULL, NULL}},
    .examples = {"int64[2,2]{1,2,3,4} int64[3]{4,7,1} num_true=2",
                 "int64[1,1]{1} int64[2]{2,3} num_true=1"},
};
