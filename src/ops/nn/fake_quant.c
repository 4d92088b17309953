/* Fake quantization: values are rounded to a grid of 2^num_bits steps between two bounds, as in
 * quantized arithmetic, but stay floats. The bounds are adjusted so that zero lies on the grid. The
 * gradient of a value inside the bounds passes; that of a value outside goes to the bound. */
#include "base/pool.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <math.h>

typedef struct quant_attrs {
    float min, max;
    int64_t num_bits;
    bool narrow_range;
} quant_attrs;

typedef struct grid {
    float low, high, step;
    bool nothing; /* both bounds are zero: every result is zero, and all gradients pass */
} grid;

static grid grid_of(float min, float max, const quant_attrs *t) {
    float first = t->narrow_range ? 1.0f : 0.0f, last = (float)((1 << t->num_bits) - 1);
    if (min == 0.0f && max == 0.0f) return (grid){.nothing = true};
    float step = (max - min) / (last - first);
    float zero = first - min / step;
    zero = zero < first ? first : zero > last ? last : roundf(zero);
    return (grid){(first - zero) * step, (last - zero) * step, step, false};
}

/* Multiplying by the reciprocal of `step` and dividing by `step` round differently halfway between
 * two grid points, so each is used where TensorFlow uses it: the product if the bounds are
 * attributes, else the quotient. */
static float quantized(const grid *g, float x, bool product) {
    if (g->nothing) return 0.0f;
    float inverse = 1.0f / g->step, zero = floorf(-g->low * inverse + 0.5f);
    float inside = (x > g->high ? g->high : x < g->low ? g->low : x) - g->low; /* NaN stays NaN */
    return floorf((product ? inside * inverse : inside / g->step) - zero + 0.5f) * g->step;
}

static ef_status *check_bits(const ef_op *op, const quant_attrs *t) {
    if (t->num_bits >= 2 && t->num_bits <= 16) return NULL;
    return ef_error(EF_INVALID, "%s: num_bits must be between 2 and 16, inclusive: %lld", op->name,
                    (long long)t->num_bits);
}

static ef_status *check_bounds(const ef_op *op, float min, float max) {
    if (min < max) return NULL;
    return ef_error(EF_INVALID, "%s: min has to be smaller than max, was: %g >= %g", op->name,
                    (double)min, (double)max);
}

/* ---- bounds as attributes ---- */

static ef_status *args_shape(ef_infer *i) {
    const quant_attrs *t = i->attrs;
    EF_TRY(check_bounds(i->op, t->min, t->max));
    EF_TRY(check_bits(i->op, t));
    return i->n_in == 1 ? ef_shape_same(i) : ef_shape_merge_all(i);
}

/* What the threads share: x (or dy and x) and the result. */
typedef struct args_job {
    grid g;
    const float *x, *dy;
    float *out;
} args_job;

static void args_range(void *arg, int64_t from, int64_t to) {
    const args_job *j = arg;
    const grid g = j->g;
    const float *x = j->x;
    float *y = j->out;
    for (int64_t i = from; i < to; i++) y[i] = quantized(&g, x[i], true);
}

static void args_gradient_range(void *arg, int64_t from, int64_t to) {
    const args_job *j = arg;
    const float low = j->g.low, high = j->g.high, *x = j->x, *dy = j->dy;
    float *dx = j->out;
    for (int64_t i = from; i < to; i++) dx[i] = (x[i] >= low) & (x[i] <= high) ? dy[i] : 0.0f;
}

static ef_status *args_run(const ef_call *c) {
    const quant_attrs *t = c->attrs;
    args_job j = {grid_of(t->min, t->max, t), c->in[0]->data, NULL, c->out[0]->data};
    ef_parallel(ef_count(c->in[0]), 1024, 0.4, args_range, &j);
    return NULL;
}

static ef_status *args_gradient_run(const ef_call *c) {
    const quant_attrs *t = c->attrs;
    args_job j = {grid_of(t->min, t->max, t), c->in[1]->data, c->in[0]->data, c->out[0]->data};
    ef_parallel(ef_count(c->in[0]), 1024, 0.4, args_gradient_range, &j);
    return NULL;
}

static ef_status *args_grad(ef_grad *g) {
    g->din[0] =
        ef_emit_like(g, "FakeQuantWithMinMaxArgsGradient", NULL, 0, 2, g->dout[0], g->in[0]);
    return NULL;
}

#define BITS \
    EF_ATTR(quant_attrs, num_bits, "int", "8"), EF_ATTR(quant_attrs, narrow_range, "bool", "false")
#define BOUNDS \
    EF_ATTR(quant_attrs, min, "float", "-6.0"), EF_ATTR(quant_attrs, max, "float", "6.0"), BITS
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }

const ef_op ef_op_FakeQuantWithMinMaxArgs = {
    EF_NAMED(FakeQuantWithMinMaxArgs),
    .doc = "Rounds to a grid of 2^num_bits values between `min` and `max`.",
    .in = {"inputs: float"},
    .out = {"outputs: float"},
    .attr = {BOUNDS},
    .attr_size = sizeof(quant_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0),
    .shape = args_shape,
    .kernel = ROW(args_run),
    .grad = args_grad,
    .examples = {"float[2,3] grad=no", "float[5] min=-1.0 max=2.5 num_bits=4 grad=no",
                 "float[4] narrow_range=true grad=no", "float[0]"},
};
const ef_op ef_op_FakeQuantWithMinMaxArgsGradient = {
    EF_NAMED(FakeQuantWithMinMaxArgsGradient),
    .doc = "Gradient of FakeQuantWithMinMaxArgs.",
    .in = {"gradients: float", "inputs: float"},
    .out = {"backprops: float"},
    .attr = {BOUNDS},
    .attr_size = sizeof(quant_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = args_shape,
    .kernel = ROW(args_gradient_run),
    .examples = {"float[2,3] float[2,3]", "float[5] float[5] min=-1.0 max=2.5"},
};

/* ---- bounds as inputs: one pair, or one for each channel ---- */

static bool per_channel(const ef_op *op) {
    return op->id == EF_OP_FakeQuantWithMinMaxVarsPerChannel ||
           op->id == EF_OP_FakeQuantWithMinMaxVarsPerChannelGradient;
}

/* x: index of the input with the values; the bounds are the inputs after it. */
static ef_status *vars_check(ef_infer *i, int x) {
    int rank = per_channel(i->op) ? 1 : 0;
    EF_TRY(check_bits(i->op, i->attrs));
    EF_TRY(ef_need_rank(i, x + 1, rank));
    EF_TRY(ef_need_rank(i, x + 2, rank));
    if (rank == 0) return NULL;
    EF_TRY(ef_need_rank_at_least(i, x, 1));
    const ef_shape *s = &i->in[x].shape;
    for (int k = 1; k <= 2 && s->rank > 0; k++) {
        const ef_shape *b = &i->in[x + k].shape;
        int64_t same;
        if (b->rank == 1)
            EF_TRY(ef_need_same_dim(i, s->dim[s->rank - 1], b->dim[0],
                                    "the last dimension of inputs and the bounds", &same));
    }
    return NULL;
}

static ef_status *vars_shape(ef_infer *i) {
    EF_TRY(vars_check(i, 0));
    i->out[0].shape = i->in[0].shape;
    return NULL;
}

static ef_status *vars_gradient_shape(ef_infer *i) {
    EF_TRY(vars_check(i, 1));
    if (!ef_shape_may_equal(&i->in[0].shape, &i->in[1].shape))
        return ef_error(EF_INVALID, "%s: gradients are %s and inputs %s; they must be equal",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    i->out[0].shape = i->in[1].shape;
    i->out[1].shape = i->in[2].shape;
    i->out[2].shape = i->in[3].shape;
    return NULL;
}

static ef_status *vars_run(const ef_call *c) {
    const float *x = c->in[0]->data, *low = c->in[1]->data, *high = c->in[2]->data;
    int64_t channels = ef_count(c->in[1]), n = ef_count(c->in[0]);
    float *y = c->out[0]->data;
    for (int64_t k = 0; k < channels; k++) {
        grid g = grid_of(low[k], high[k], c->attrs);
        if (!g.nothing) EF_TRY(check_bounds(c->op, low[k], high[k]));
        for (int64_t i = k; i < n; i += channels) y[i] = quantized(&g, x[i], false);
    }
    return NULL;
}

static ef_status *vars_gradient_run(const ef_call *c) {
    const float *dy = c->in[0]->data, *x = c->in[1]->data;
    const float *low = c->in[2]->data, *high = c->in[3]->data;
    float *dx = c->out[0]->data, *dlow = c->out[1]->data, *dhigh = c->out[2]->data;
    int64_t channels = ef_count(c->in[2]), n = ef_count(c->in[1]);
    for (int64_t k = 0; k < channels; k++) {
        grid g = grid_of(low[k], high[k], c->attrs);
        if (!g.nothing) EF_TRY(check_bounds(c->op, low[k], high[k]));
        double below = 0, above = 0;
        for (int64_t i = k; i < n; i += channels) {
            bool under = !g.nothing && x[i] < g.low, over = !g.nothing && x[i] > g.high;
            dx[i] = under || over ? 0.0f : dy[i];
            below += under ? (double)dy[i] : 0.0;
            above += over ? (double)dy[i] : 0.0;
        }
        dlow[k] = (float)below;
        dhigh[k] = (float)above;
    }
    return NULL;
}

static ef_status *vars_grad(ef_grad *g) {
    const quant_attrs *t = g->attrs;
    const ef_attr_value set[] = {EF_SET_INT("num_bits", t->num_bits),
                                 EF_SET_BOOL("narrow_range", t->narrow_range)};
    ef_value *in[] = {g->dout[0], g->in[0], g->in[1], g->in[2]}, *out[3] = {NULL};
    const char *op = per_channel(g->op) ? "FakeQuantWithMinMaxVarsPerChannelGradient"
                                        : "FakeQuantWithMinMaxVarsGradient";
    ef_emit_many(g->b, op, set, 2, in, 4, out, 3);
    for (int k = 0; k < 3; k++) g->din[k] = out[k];
    return NULL;
}

#define VARS(NAME, WORDS, ...)                                  \
    const ef_op ef_op_##NAME = {                                \
        EF_NAMED(NAME),                                         \
        .doc = WORDS,                                           \
        .in = {"inputs: float", "min: float", "max: float"},    \
        .out = {"outputs: float"},                              \
        .attr = {BITS},                                         \
        .attr_size = sizeof(quant_attrs),                       \
        .traits = EF_HEAVY,                                     \
        .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2), \
        .shape = vars_shape,                                    \
        .kernel = ROW(vars_run),                                \
        .grad = vars_grad,                                      \
        .examples = {__VA_ARGS__},                              \
    };
#define VARS_GRADIENT(NAME, WORDS, ...)                                          \
    const ef_op ef_op_##NAME = {                                                 \
        EF_NAMED(NAME),                                                          \
        .doc = WORDS,                                                            \
        .in = {"gradients: float", "inputs: float", "min: float", "max: float"}, \
        .out = {"backprops_wrt_input: float", "backprop_wrt_min: float",         \
                "backprop_wrt_max: float"},                                      \
        .attr = {BITS},                                                          \
        .attr_size = sizeof(quant_attrs),                                        \
        .traits = EF_HEAVY | EF_NO_GRAD,                                         \
        .shape = vars_gradient_shape,                                            \
        .kernel = ROW(vars_gradient_run),                                        \
        .examples = {__VA_ARGS__},                                               \
    };
VARS(FakeQuantWithMinMaxVars, "Rounds to a grid of 2^num_bits values between `min` and `max`.",
     "float[2,3] float[]{-1.5} float[]{2} grad=no", "float[4] float[]{0} float[]{0} grad=no")
VARS(FakeQuantWithMinMaxVarsPerChannel,
     "Like FakeQuantWithMinMaxVars, with bounds for each channel.",
     "float[2,3] float[3]{-1,-2,0} float[3]{1,2,3} num_bits=4 grad=no")
VARS_GRADIENT(FakeQuantWithMinMaxVarsGradient, "Gradient of FakeQuantWithMinMaxVars.",
              "float[2,3] float[2,3] float[]{-1.5} float[]{2}")
VARS_GRADIENT(FakeQuantWithMinMaxVarsPerChannelGradient,
              "Gradient of FakeQuantWithMinMaxVarsPerChannel.",
              "float[2,3] float[2,3] float[3]{-1,-2,0} float[3]{1,2,3}")
