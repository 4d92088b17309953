/* StatelessParameterizedTruncatedNormal: normal samples between bounds, each batch with its own. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/random/random.h"
#include <float.h>
#include <math.h>

enum { SEED = 1, MEANS, STDDEVS, MINVALS, MAXVALS };

/* The shape to which all parameters broadcast. */
static bool together(const ef_shape *const s[4], ef_shape *all) {
    *all = *s[0];
    for (int k = 1; k < 4; k++) {
        ef_shape both;
        if (!ef_shape_broadcast2(all, s[k], &both)) return false;
        *all = both;
    }
    return true;
}

static ef_status *truncated_shape(ef_infer *i) {
    const ef_shape *s[4];
    ef_shape all;
    EF_TRY(ef_random_need_seed(i, SEED));
    for (int k = 0; k < 4; k++) s[k] = &i->in[MEANS + k].shape;
    if (!together(s, &all))
        return ef_error(EF_INVALID,
                        "%s: means, stddevs, minvals, maxvals must have compatible batch "
                        "dimensions: %s vs. %s vs. %s vs. %s",
                        i->op->name, EF_SHAPE(s[0]), EF_SHAPE(s[1]), EF_SHAPE(s[2]),
                        EF_SHAPE(s[3]));
    return ef_random_ending_shape(i, 0, &all);
}

static ef_status *bell_of(const ef_call *c, const ef_shape *all, int64_t k, ef_random_bell *out) {
    double v[4];
    for (int p = 0; p < 4; p++) {
        const ef_tensor *x = c->in[MEANS + p];
        v[p] = ef_element_double((ef_dtype)x->dtype, x->data, ef_random_spread(x, all, k));
    }
    *out = (ef_random_bell){.mean = v[0], .deviation = v[1], .low = v[2], .high = v[3]};
    if (v[1] > 0 && v[2] < v[3] && (isfinite(v[2]) || isfinite(v[3]))) return NULL;
    return ef_error(EF_INVALID,
                    "%s: Invalid parameters: stddev is %g, minval %g and maxval %g; stddev must be "
                    "positive and minval below maxval, one of them finite",
                    c->op->name, v[1], v[2], v[3]);
}

static ef_status *truncated_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    ef_shape s[4], all;
    for (int k = 0; k < 4; k++) s[k] = ef_shape_from(c->in[MEANS + k]);
    const ef_shape *const each[4] = {&s[0], &s[1], &s[2], &s[3]};
    if (!together(each, &all))
        return ef_error(EF_INVALID, "%s: the parameters do not broadcast", c->op->name);
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, SEED, &g));
    int64_t n = ef_count(o), batches = ef_shape_count(&all);
    for (int64_t k = 0; n > 0 && k < batches; k++) {
        ef_random_bell bell;
        EF_TRY(bell_of(c, &all, k, &bell));
        if (!ef_random_bounded(&g, (ef_dtype)o->dtype, &bell, o->data, k, batches, n / batches))
            return ef_error(EF_INVALID,
                            "%s: no sample between %g and %g was accepted in 1000 attempts; "
                            "move the bounds nearer to the mean %g, or further apart",
                            c->op->name, bell.low, bell.high, bell.mean);
    }
    return NULL;
}

/* The standard normal distribution function; uses erfc where erf would lose digits. */
static ef_value *distribution(ef_build *b, ef_value *x) {
    ef_value *w = ef_scale(b, x, M_SQRT1_2), *z = ef_emit(b, "Abs", 1, w);
    ef_dtype t = x->fact.dtype;
    ef_value *tail = ef_emit(b, "Erfc", 1, z), *zero = ef_const_number(b, t, 0);
    ef_value *far = ef_select(b, ef_emit(b, "Greater", 2, w, zero),
                              ef_sub(b, ef_const_number(b, t, 2), tail), tail);
    ef_value *near = ef_emit(b, "Less", 2, z, ef_const_number(b, t, M_SQRT1_2));
    return ef_scale(b, ef_select(b, near, ef_shift(b, ef_emit(b, "Erf", 1, w), 1), far), 0.5);
}

/* exp((x^2 - bound^2) / 2 + log_share): the derivative of a sample with respect to a bound. */
static ef_value *follows(ef_build *b, ef_value *x, ef_value *bound, ef_value *log_share) {
    ef_value *d = ef_sub(b, ef_emit(b, "Square", 1, x), ef_emit(b, "Square", 1, bound));
    return ef_emit(b, "Exp", 1, ef_add(b, ef_scale(b, d, 0.5), log_share));
}

/* Implicit differentiation: a sample moves so that the fraction of the probability below it is
 * constant. */
static ef_status *truncated_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *mean = g->in[MEANS], *deviation = g->in[STDDEVS], *dy = g->dout[0];
    ef_value *v[3] = {g->in[MINVALS], g->in[MAXVALS], g->out[0]}, *p[3];
    if (mean == NULL) return NULL;
    ef_dtype t = mean->fact.dtype;
    for (int k = 0; k < 3; k++) {
        v[k] = ef_div(b, ef_sub(b, v[k], mean), deviation);
        p[k] = distribution(b, v[k]);
        if (p[k] == NULL) return NULL;
    }
    double tiny = t == EF_F64 ? DBL_MIN : t == EF_F32 ? FLT_MIN : 0x1p-14;
    double eps = t == EF_F64 ? DBL_EPSILON : t == EF_F32 ? FLT_EPSILON : 0x1p-10;
    ef_value *share = ef_div(b, ef_sub(b, p[2], p[0]), ef_sub(b, p[1], p[0]));
    share = ef_emit(b, "Minimum", 2, share, ef_const_number(b, t, 1 - eps));
    share = ef_emit(b, "Maximum", 2, share, ef_const_number(b, t, tiny));
    ef_value *below = ef_emit(b, "Log", 1, share);
    ef_value *above = ef_emit(b, "Log1p", 1, ef_neg(b, share));
    g->din[MEANS] = ef_sum_like(b, dy, mean);
    g->din[STDDEVS] = ef_sum_like(b, ef_mul(b, dy, v[2]), deviation);
    g->din[MINVALS] = ef_sum_like(b, ef_mul(b, dy, follows(b, v[2], v[0], above)), g->in[MINVALS]);
    g->din[MAXVALS] = ef_sum_like(b, ef_mul(b, dy, follows(b, v[2], v[1], below)), g->in[MAXVALS]);
    return NULL;
}

const ef_op ef_op_StatelessParameterizedTruncatedNormal = {
    EF_NAMED(StatelessParameterizedTruncatedNormal),
    .doc = "Samples of normal distributions truncated to [`minvals`, `maxvals`], determined by "
           "`seed` alone; `shape` ends with that of the parameters, which broadcast.",
    .in = {"shape: S", "seed: Tseed", "means: dtype", "stddevs: dtype", "minvals: dtype",
           "maxvals: dtype"},
    .out = {"output: dtype"},
    .types = "S: {int32, int64}; Tseed: {int32, int64} = int64; dtype: {half, float, double}",
    .keeps = EF_KEEP_IN(MEANS) | EF_KEEP_IN(STDDEVS) | EF_KEEP_IN(MINVALS) | EF_KEEP_IN(MAXVALS) |
             EF_KEEP_OUT(0),
    .shape = truncated_shape,
    .kernel = {{EF_CPU, EF_ANY, truncated_run, NULL, NULL, NULL, NULL}},
    .grad = truncated_grad,
    .examples =
        {"int32[1]{6} int64[2]{5,6} dtype[]:0..1 dtype[]:1..2 dtype[]{-1} dtype[]{2} grad=no",
         "int32[3]{4,2,3} int32[2]{1,2} float[3]:0..1 float[2,1]:1..2 float[]{2} "
         "float[3]{3,4,50} grad=no",
         "int64[2]{0,2} int64[2]{1,2} double[2] double[]{1} double[]{-9} double[]{9} "
         "grad=no"},
};
