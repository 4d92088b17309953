/* Random samples of distributions with parameters: gamma, Poisson, binomial, multinomial. */
#include "base/alloc.h"
#include "kernels/block.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/random/random.h"
#include "ops/state/variable.h"

#define STATEFUL_ROW(fn)                                                         \
    {                                                                            \
        { EF_CPU, EF_ANY, fn, NULL, NULL, ef_random_prepare, ef_random_release } \
    }
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define DTYPE(set, value) EF_ATTR(ef_random_attrs, dtype, set, value)
#define REALS "{half, float, double, int32, int64}"

/* ---- shapes ---- */

/* Output shape: the shape given as input k followed by that of input p. */
static ef_status *appended_shape(ef_infer *i, int k, int p) {
    ef_shape s;
    const ef_shape *more = &i->in[p].shape;
    EF_TRY(ef_need_rank(i, k, 1));
    EF_TRY(ef_shape_input(i, k, false, &s));
    if (s.rank < 0 || more->rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, s.rank + more->rank));
    for (int d = 0; d < more->rank; d++) s.dim[s.rank + d] = more->dim[d];
    s.rank += more->rank;
    EF_TRY(ef_need_size_held(i->op, &s));
    i->out[0].shape = s;
    return NULL;
}

ef_status *ef_random_ending_shape(ef_infer *i, int k, const ef_shape *tail) {
    ef_shape s;
    EF_TRY(ef_need_rank(i, k, 1));
    EF_TRY(ef_shape_input(i, k, false, &s));
    bool ends = s.rank < 0 || tail->rank < 0 || s.rank >= tail->rank;
    for (int d = 1; ends && s.rank >= 0 && d <= tail->rank; d++)
        ends = ef_dim_may_equal(s.dim[s.rank - d], tail->dim[tail->rank - d]);
    if (!ends)
        return ef_error(EF_INVALID,
                        "%s: shape is %s and the parameters %s; Shape passed in must end "
                        "with broadcasted shape",
                        i->op->name, EF_SHAPE(&s), EF_SHAPE(tail));
    i->out[0].shape = s;
    return NULL;
}

/* The number of samples per parameter; an error if there are no parameters. */
static ef_status *samples_of(const ef_call *c, int64_t params, int64_t *samples) {
    int64_t n = ef_count(c->out[0]);
    *samples = 0;
    if (n == 0) return NULL;
    if (params == 0)
        return ef_error(EF_INVALID, "%s: the parameters should have non-zero element count",
                        c->op->name);
    *samples = n / params;
    return NULL;
}

/* ---- gamma ---- */

static ef_status *gamma_fill(const ef_call *c, int alpha, ef_philox g) {
    const ef_tensor *a = c->in[alpha];
    int64_t samples, n = ef_count(a);
    EF_TRY(samples_of(c, n, &samples));
    ef_random_gamma(g, (ef_dtype)a->dtype, a->data, n, samples, c->out[0]->data);
    return NULL;
}

/* Samples have shape [..., shape of alpha]: the gradient is summed over the samples of each
 * alpha. */
static ef_status *gamma_grad(ef_grad *g, int alpha) {
    ef_build *b = g->b;
    ef_value *a = g->in[alpha], *x = g->out[0];
    ef_dtype t = a->fact.dtype, wide = t == EF_F64 ? EF_F64 : EF_F32;
    ef_value *slope = ef_emit(b, "RandomGammaGrad", 2, ef_cast(b, a, wide), ef_cast(b, x, wide));
    g->din[alpha] = ef_sum_like(b, ef_mul(b, g->dout[0], ef_cast(b, slope, t)), a);
    return NULL;
}
static ef_status *gamma_grad_1(ef_grad *g) { return gamma_grad(g, 1); }
static ef_status *gamma_grad_2(ef_grad *g) { return gamma_grad(g, 2); }
static ef_status *gamma_grad_4(ef_grad *g) { return gamma_grad(g, 4); }

static ef_status *gamma_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_stateful(c, ef_random_reserved(ef_count(c->out[0])), &g));
    return gamma_fill(c, 1, g);
}
static ef_status *gamma_shape(ef_infer *i) { return appended_shape(i, 0, 1); }

const ef_op ef_op_RandomGamma = {
    EF_NAMED(RandomGamma),
    .doc = "Samples of gamma distributions of scale 1: `shape` of them for each `alpha`.",
    .in = {"shape: S", "alpha: T"},
    .out = {"output: T"},
    .types = "S: {int32, int64}; T: {half, bfloat16, float, double}",
    .attr = {EF_RANDOM_SEEDS},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_OUT(0),
    .shape = gamma_shape,
    .kernel = STATEFUL_ROW(gamma_run),
    .grad = gamma_grad_1,
    .examples = {"int32[1]{3} float[2]:0.5..3 seed=1 seed2=2 grad=no",
                 "int32[0] double[]:2..3 seed=1 grad=no"},
};

static ef_status *gamma_v2_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 1, &g));
    return gamma_fill(c, 2, g);
}
static ef_status *gamma_v2_shape(ef_infer *i) {
    EF_TRY(ef_random_need_seed(i, 1));
    return ef_random_ending_shape(i, 0, &i->in[2].shape);
}

const ef_op ef_op_StatelessRandomGammaV2 = {
    EF_NAMED(StatelessRandomGammaV2),
    .doc =
        "Samples of gamma distributions of scale 1, determined by `seed` alone; `shape` ends with "
        "that of `alpha`.",
    .in = {"shape: T", "seed: Tseed", "alpha: dtype"},
    .out = {"output: dtype"},
    .types =
        "T: {int32, int64}; Tseed: {int32, int64} = int64; dtype: {half, bfloat16, float, double}",
    .keeps = EF_KEEP_IN(2) | EF_KEEP_OUT(0),
    .shape = gamma_v2_shape,
    .kernel = ROW(gamma_v2_run),
    .grad = gamma_grad_2,
    .examples = {"int32[2]{3,2} int64[2]{1,2} float[2]:0.5..3 grad=no"},
};

static ef_status *gamma_v3_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_key(c, 1, &g));
    return gamma_fill(c, 4, g);
}
static ef_status *gamma_v3_shape(ef_infer *i) {
    EF_TRY(ef_random_need_key(i, 1));
    return ef_random_ending_shape(i, 0, &i->in[4].shape);
}

const ef_op ef_op_StatelessRandomGammaV3 = {
    EF_NAMED(StatelessRandomGammaV3),
    .doc = "Samples of gamma distributions of scale 1, determined by key and counter; `shape` ends "
           "with that of `alpha`.",
    .in = {"shape: shape_dtype", "key: uint64", "counter: uint64", "alg: int32", "alpha: dtype"},
    .out = {"output: dtype"},
    .types = "shape_dtype: {int32, int64} = int32; dtype: {half, bfloat16, float, double}",
    .keeps = EF_KEEP_IN(4) | EF_KEEP_OUT(0),
    .shape = gamma_v3_shape,
    .kernel = ROW(gamma_v3_run),
    .grad = gamma_grad_4,
    .examples = {"int32[2]{3,2} uint64[1]{1} uint64[2]{2,3} int32[]{1} float[2]:0.5..3 grad=no"},
};

/* ---- Poisson ---- */

static ef_status *poisson_fill(const ef_call *c, int rate, ef_philox g) {
    const ef_tensor *r = c->in[rate];
    int64_t samples, n = ef_count(r);
    EF_TRY(samples_of(c, n, &samples));
    ef_random_poisson(g, (ef_dtype)r->dtype, r->data, n, samples, (ef_dtype)c->out[0]->dtype,
                      c->out[0]->data);
    return NULL;
}
static ef_status *poisson_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_stateful(c, ef_random_reserved(ef_count(c->out[0])), &g));
    return poisson_fill(c, 1, g);
}

const ef_op ef_op_RandomPoissonV2 = {
    EF_NAMED(RandomPoissonV2),
    .doc = "Samples of Poisson distributions: `shape` of them for each `rate`.",
    .in = {"shape: S", "rate: R"},
    .out = {"output: dtype"},
    .types = "S: {int32, int64}; R: " REALS " = double",
    .attr = {EF_RANDOM_SEEDS, DTYPE(REALS, "int64")},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL | EF_GRAD_UNDEFINED,
    .shape = gamma_shape,
    .kernel = STATEFUL_ROW(poisson_run),
    .examples = {"int32[1]{3} double[2]:1..30 seed=1",
                 "int32[1]{3} float[2]:1..30 seed=1 dtype=float"},
};

static ef_status *stateless_poisson_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 1, &g));
    return poisson_fill(c, 2, g);
}

const ef_op ef_op_StatelessRandomPoisson = {
    EF_NAMED(StatelessRandomPoisson),
    .doc =
        "Samples of Poisson distributions, determined by `seed` alone; `shape` ends with that of "
        "`lam`.",
    .in = {"shape: T", "seed: Tseed", "lam: Rtype"},
    .out = {"output: dtype"},
    .types = "T: {int32, int64}; Tseed: {int32, int64} = int64; Rtype: " REALS,
    .attr = {DTYPE(REALS, NULL)},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_NO_GRAD,
    .shape = gamma_v2_shape,
    .kernel = ROW(stateless_poisson_run),
    .examples = {"int32[2]{3,2} int64[2]{1,2} float[2]:1..30 dtype=int32"},
};

/* ---- binomial ---- */

static ef_status *binomial_shape(ef_infer *i, int shape, int counts) {
    ef_shape both;
    const ef_shape *a = &i->in[counts].shape, *b = &i->in[counts + 1].shape;
    if (!ef_shape_broadcast2(a, b, &both))
        return ef_error(
            EF_INVALID,
            "%s: counts is %s and probs %s; counts and probs must have compatible batch "
            "dimensions",
            i->op->name, EF_SHAPE(a), EF_SHAPE(b));
    return ef_random_ending_shape(i, shape, &both);
}

int64_t ef_random_spread(const ef_tensor *x, const ef_shape *all, int64_t k) {
    int64_t at = 0, step = 1;
    for (int d = 1; d <= x->rank; d++) {
        int64_t size = all->dim[all->rank - d], here = k % size;
        k /= size;
        if (x->dim[x->rank - d] != 1) at += here * step;
        step *= x->dim[x->rank - d];
    }
    return at;
}

/* x broadcast to the `n` elements of shape `all`, as numbers. */
static void spread(const ef_tensor *x, const ef_shape *all, int64_t n, double *out) {
    for (int64_t k = 0; k < n; k++)
        out[k] = ef_element_double((ef_dtype)x->dtype, x->data, ef_random_spread(x, all, k));
}

static ef_status *binomial_fill(const ef_call *c, int counts, ef_philox g) {
    const ef_tensor *count = c->in[counts], *prob = c->in[counts + 1];
    ef_shape a = ef_shape_from(count), b = ef_shape_from(prob), all;
    if (!ef_shape_broadcast2(&a, &b, &all))
        return ef_error(EF_INVALID, "%s: counts and probs do not broadcast", c->op->name);
    int64_t samples, n = ef_shape_count(&all);
    EF_TRY(samples_of(c, n, &samples));
    double few[32], *v = few;
    if (n > 16 && (v = ef_malloc(2 * (size_t)n * sizeof *v)) == NULL)
        return ef_no_memory(2 * (size_t)n * sizeof *v);
    spread(count, &all, n, v);
    spread(prob, &all, n, v + n);
    ef_random_binomial(g, (ef_dtype)count->dtype, v, v + n, n, samples, (ef_dtype)c->out[0]->dtype,
                       c->out[0]->data);
    if (v != few) ef_free(v);
    return NULL;
}

static ef_status *stateless_binomial_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 1, &g));
    return binomial_fill(c, 2, g);
}
static ef_status *stateless_binomial_shape(ef_infer *i) {
    EF_TRY(ef_random_need_seed(i, 1));
    return binomial_shape(i, 0, 2);
}

const ef_op ef_op_StatelessRandomBinomial = {
    EF_NAMED(StatelessRandomBinomial),
    .doc = "Numbers of successes in `counts` trials of probability `probs`, determined by `seed` "
           "alone.",
    .in = {"shape: S", "seed: Tseed", "counts: T", "probs: T"},
    .out = {"output: dtype"},
    .types = "S: {int32, int64}; Tseed: {int32, int64} = int64; T: " REALS " = double",
    .attr = {DTYPE(REALS, "int64")},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_NO_GRAD,
    .shape = stateless_binomial_shape,
    .kernel = ROW(stateless_binomial_run),
    .examples = {"int32[2]{3,2} int64[2]{1,2} float[2]{5,90} float[2]:0.2..0.8"},
};

static ef_status *stateful_binomial_run(const ef_call *c) {
    ef_philox g;
    int64_t alg = *(const int64_t *)c->in[1]->data;
    int64_t n = ef_count(c->out[0]);
    ef_shape a = ef_shape_from(c->in[3]), b = ef_shape_from(c->in[4]), all;
    int64_t batches = ef_shape_broadcast2(&a, &b, &all) ? ef_shape_count(&all) : 0;
    uint64_t moved =
        batches > 0 ? (uint64_t)batches * 2 * 100 * (uint64_t)(n / batches + 3) / 4 : 0;
    EF_TRY(ef_random_from_variable(c, alg, moved * 256, &g));
    return binomial_fill(c, 3, g);
}
static ef_status *stateful_binomial_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 0));
    return binomial_shape(i, 2, 3);
}

const ef_op ef_op_StatefulRandomBinomial = {
    EF_NAMED(StatefulRandomBinomial),
    .doc =
        "Numbers of successes in `counts` trials of probability `probs`. Advances the generator's "
        "state in the variable `resource`.",
    .in = {"resource: resource", "algorithm: int64", "shape: S", "counts: T", "probs: T"},
    .out = {"output: dtype"},
    .types = "S: {int32, int64}; T: " REALS " = double",
    .attr = {DTYPE(REALS, "int64")},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_GRAD_UNDEFINED,
    .shape = stateful_binomial_shape,
    .kernel = ROW(stateful_binomial_run),
    .examples = {"var(int64[3]{1,2,3}) int64[]{1} int32[2]{3,2} float[2]{5,90} float[2]:0.2..0.8"},
};

/* ---- classes ---- */

typedef struct class_attrs {
    int64_t seed, seed2; /* as in ef_random_attrs */
    ef_dtype output_dtype;
} class_attrs;

static ef_status *classes_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 0));
    if (i->n_in == 3) EF_TRY(ef_random_need_seed(i, 2));
    int64_t n = EF_DIM_UNKNOWN;
    bool known;
    EF_TRY(ef_known_int(i, 1, &n, &known));
    if (known && n < 0)
        return ef_error(EF_INVALID, "%s: num_samples should be non-negative, got %lld", i->op->name,
                        (long long)n);
    const ef_shape *s = &i->in[0].shape;
    i->out[0].shape = (ef_shape){
        .rank = 2, .dim = {s->rank == 2 ? s->dim[0] : EF_DIM_UNKNOWN, known ? n : EF_DIM_UNKNOWN}};
    return NULL;
}

static size_t classes_scratch(const ef_call *c) {
    return (size_t)c->in[0]->dim[1] * sizeof(double);
}

static ef_status *classes(const ef_call *c, const ef_philox *given) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_philox g;
    if (x->dim[1] == 0)
        return ef_error(EF_INVALID, "%s: num_classes should be positive, got 0", c->op->name);
    if (ef_count(o) == 0) return NULL;
    if (given != NULL)
        g = *given;
    else
        EF_TRY(
            ef_random_stateful(c, ef_random_reserved(o->dim[0] * ((o->dim[1] + 3) / 4 * 8)), &g));
    ef_random_classes(g, (ef_dtype)x->dtype, x->data, x->dim[0], x->dim[1], o->dim[1],
                      (ef_dtype)o->dtype, o->data, c->scratch);
    return NULL;
}
static ef_status *multinomial_run(const ef_call *c) { return classes(c, NULL); }
static ef_status *stateless_multinomial_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 2, &g));
    return classes(c, &g);
}

const ef_op ef_op_Multinomial = {
    EF_NAMED(Multinomial),
    .doc = "Draws `num_samples` classes per row of unnormalised log probabilities.",
    .in = {"logits: T", "num_samples: int32"},
    .out = {"output: output_dtype"},
    .types = "T: realnumbertype",
    .attr = {EF_ATTR(class_attrs, seed, "int", "0"), EF_ATTR(class_attrs, seed2, "int", "0"),
             EF_ATTR(class_attrs, output_dtype, "{int32, int64}", "int64")},
    .attr_size = sizeof(class_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = classes_shape,
    .kernel = {{EF_CPU, EF_FLOATS, multinomial_run, classes_scratch, NULL, ef_random_prepare,
                ef_random_release}},
    .examples = {"float[2,5] int32[]{4} seed=1 seed2=2",
                 "double[1,3] int32[]{0} output_dtype=int32"},
};
const ef_op ef_op_StatelessMultinomial = {
    EF_NAMED(StatelessMultinomial),
    .doc = "Draws `num_samples` classes per row of unnormalised log probabilities, determined by "
           "`seed` alone.",
    .in = {"logits: T", "num_samples: int32", "seed: Tseed"},
    .out = {"output: output_dtype"},
    .types = "T: realnumbertype; Tseed: {int32, int64} = int64",
    .attr = {EF_ATTR(class_attrs, output_dtype, "{int32, int64}", "int64")},
    .attr_size = sizeof(class_attrs),
    .traits = EF_NO_GRAD,
    .shape = classes_shape,
    .kernel = {{EF_CPU, EF_FLOATS, stateless_multinomial_run, classes_scratch, NULL, NULL, NULL}},
    .examples = {"float[2,5] int32[]{4} int64[2]{1,2}"},
};
