/* Random tensors of a given shape: the stateful ops with their seeds as attributes, the stateless
 * ones with seeds or keys as inputs, and those that advance a generator stored in a variable. They
 * differ only in the source of the generator; equal generators give equal numbers. */
#include "ops/array/array.h"
#include "ops/random/random.h"
#include "ops/state/variable.h"

#define FLOATS "{half, bfloat16, float, double}"
#define SHAPE_TYPES "T: {int32, int64}"
#define SEED_TYPE "Tseed: {int32, int64} = int64"
#define SEEDED_TYPES "T: {int32, int64} = int32; " SEED_TYPE
#define KEYED_TYPES "Tshape: {int32, int64} = int32"
#define DTYPE(set, value) EF_ATTR(ef_random_attrs, dtype, set, value)
#define STATEFUL_ROW(fn)                                                         \
    {                                                                            \
        { EF_CPU, EF_ANY, fn, NULL, NULL, ef_random_prepare, ef_random_release } \
    }
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }

/* Which inputs are the shape and, for integers, the bounds. */
typedef struct layout {
    ef_random_kind kind;
    int shape, low; /* input numbers; high follows low */
} layout;

static ef_status *out_shape(ef_infer *i, int shape, int low) {
    if (low > 0) {
        EF_TRY(ef_need_rank(i, low, 0));
        EF_TRY(ef_need_rank(i, low + 1, 0));
    }
    EF_TRY(ef_need_rank(i, shape, 1));
    return ef_shape_input(i, shape, false, &i->out[0].shape);
}

static bool less(ef_dtype t, const void *a, const void *b) {
    if (t == EF_U64) return *(const uint64_t *)a < *(const uint64_t *)b;
    return ef_element_int(t, a, 0) < ef_element_int(t, b, 0);
}

static ef_status *bounds(const ef_call *c, int low, int64_t *lo, int64_t *hi) {
    ef_dtype t = (ef_dtype)c->in[low]->dtype;
    const void *a = c->in[low]->data, *b = c->in[low + 1]->data;
    *lo = t == EF_U64 ? (int64_t) * (const uint64_t *)a : ef_element_int(t, a, 0);
    *hi = t == EF_U64 ? (int64_t) * (const uint64_t *)b : ef_element_int(t, b, 0);
    if (less(t, a, b) || ef_count(c->out[0]) == 0) return NULL;
    return ef_error(EF_INVALID, "%s: Need minval < maxval, got %lld >= %lld", c->op->name,
                    (long long)*lo, (long long)*hi);
}

static ef_status *fill(const ef_call *c, const layout *l, ef_philox g) {
    int64_t lo = 0, hi = 0;
    ef_tensor *o = c->out[0];
    if (l->low > 0) EF_TRY(bounds(c, l->low, &lo, &hi));
    ef_random_fill(g, l->kind, (ef_dtype)o->dtype, lo, hi, o->data, ef_count(o));
    return NULL;
}

/* ---- seeds as attributes ---- */

static ef_status *stateful(const ef_call *c, const layout *l) {
    int64_t lo, hi;
    ef_philox g;
    /* On an error the position does not advance. */
    if (l->low > 0) EF_TRY(bounds(c, l->low, &lo, &hi));
    EF_TRY(ef_random_stateful(c, ef_random_reserved(ef_count(c->out[0])), &g));
    return fill(c, l, g);
}
static ef_status *shape_0(ef_infer *i) { return out_shape(i, 0, -1); }
static ef_status *shape_0_bounds(ef_infer *i) { return out_shape(i, 0, 1); }

#define STATEFUL(N, TEXT, KIND)                                                                  \
    static ef_status *N##_run(const ef_call *c) { return stateful(c, &(layout){KIND, 0, -1}); }  \
    const ef_op ef_op_##N = {                                                                    \
        EF_NAMED(N),                                                                             \
        .doc = TEXT " If both seeds are zero, every run gives different numbers.",               \
        .in = {"shape: T"},                                                                      \
        .out = {"output: dtype"},                                                                \
        .types = SHAPE_TYPES,                                                                    \
        .attr = {EF_RANDOM_SEEDS, DTYPE(FLOATS, NULL)},                                          \
        .attr_size = sizeof(ef_random_attrs),                                                    \
        .traits = EF_STATEFUL | EF_NO_GRAD,                                                      \
        .sized = {EF_SIZED_GIVEN, 0},                                                            \
        .shape = shape_0,                                                                        \
        .kernel = STATEFUL_ROW(N##_run),                                                         \
        .examples = {"int32[2]{2,3} seed=1 seed2=2 dtype=float", "int64[0] seed=5 dtype=double", \
                     "int32[1]{0} dtype=half", "int32[1]{7} seed2=3 dtype=bfloat16"},            \
    };
STATEFUL(RandomUniform, "Uniformly distributed numbers in [0, 1).", EF_RANDOM_UNIFORM)
STATEFUL(RandomStandardNormal, "Normally distributed numbers with mean 0 and standard deviation 1.",
         EF_RANDOM_NORMAL)
STATEFUL(TruncatedNormal,
         "Standard normal numbers; those beyond two standard deviations are drawn again.",
         EF_RANDOM_TRUNCATED)

static ef_status *RandomUniformInt_run(const ef_call *c) {
    return stateful(c, &(layout){EF_RANDOM_INT, 0, 1});
}
const ef_op ef_op_RandomUniformInt = {
    EF_NAMED(RandomUniformInt),
    .doc = "Uniformly distributed integers in [minval, maxval). If both seeds are zero, every run "
           "gives different numbers.",
    .in = {"shape: T", "minval: Tout", "maxval: Tout"},
    .out = {"output: Tout"},
    .types = "T: {int32, int64}; Tout: {int32, int64}",
    .attr = {EF_RANDOM_SEEDS},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .sized = {EF_SIZED_GIVEN, 0},
    .shape = shape_0_bounds,
    .kernel = STATEFUL_ROW(RandomUniformInt_run),
    .examples = {"int32[2]{2,3} int32[]{-5} int32[]{9} seed=1 seed2=2",
                 "int64[1]{5} int64[]{0} int64[]{1000000000000} seed=3"},
};

/* ---- seeds and keys as inputs ---- */

static ef_status *seeded(const ef_call *c, const layout *l) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 1, &g));
    return fill(c, l, g);
}
static ef_status *keyed(const ef_call *c, const layout *l) {
    ef_philox g;
    EF_TRY(ef_random_from_key(c, 1, &g));
    return fill(c, l, g);
}
static ef_status *seeded_shape(ef_infer *i) {
    EF_TRY(ef_random_need_seed(i, 1));
    return out_shape(i, 0, i->n_in == 4 ? 2 : -1);
}
static ef_status *keyed_shape(ef_infer *i) {
    EF_TRY(ef_random_need_key(i, 1));
    return out_shape(i, 0, i->n_in == 6 ? 4 : -1);
}

#define STATELESS(N, TEXT, IN, TYPES, ATTR, LOW, KIND, SHAPE, FROM, ...)                     \
    static ef_status *N##_run(const ef_call *c) { return FROM(c, &(layout){KIND, 0, LOW}); } \
    const ef_op ef_op_##N = {                                                                \
        EF_NAMED(N),                                                                         \
        .doc = TEXT,                                                                         \
        .in = {IN},                                                                          \
        .out = {"output: dtype"},                                                            \
        .types = TYPES,                                                                      \
        .attr = {ATTR},                                                                      \
        .attr_size = sizeof(ef_random_attrs),                                                \
        .traits = EF_NO_GRAD,                                                                \
        .sized = {EF_SIZED_GIVEN, 0},                                                        \
        .shape = SHAPE,                                                                      \
        .kernel = ROW(N##_run),                                                              \
        .examples = {__VA_ARGS__},                                                           \
    };
#define LIST(...) __VA_ARGS__
#define NO_ATTR \
    { NULL, NULL, NULL, 0 }
#define SEED_IN LIST("shape: T", "seed: Tseed")
#define KEY_IN LIST("shape: Tshape", "key: uint64", "counter: uint64", "alg: int32")
#define FLOAT_ATTR DTYPE(FLOATS, "float")
#define FULL_ATTR DTYPE("{int32, int64, uint32, uint64}", "uint64")
#define SEED_EXAMPLES                                                       \
    "int32[2]{2,3} int64[2]{1,2}", "int32[1]{5} int32[2]{-1,7} dtype=half", \
        "int64[0] int64[2]{3,4} dtype=double"
#define KEY_EXAMPLES                                        \
    "int32[2]{2,3} uint64[1]{1} uint64[2]{2,3} int32[]{1}", \
        "int32[1]{5} uint64[1]{9} uint64[2]{0,3} int32[]{1} dtype=bfloat16"
STATELESS(StatelessRandomUniform,
          "Uniformly distributed numbers in [0, 1), determined by `seed` alone.", SEED_IN,
          SEEDED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_UNIFORM, seeded_shape, seeded, SEED_EXAMPLES)
STATELESS(StatelessRandomNormal, "Standard normal numbers, determined by `seed` alone.", SEED_IN,
          SEEDED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_NORMAL, seeded_shape, seeded, SEED_EXAMPLES)
STATELESS(StatelessTruncatedNormal,
          "Standard normal numbers within two standard deviations, determined by `seed` alone.",
          SEED_IN, SEEDED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_TRUNCATED, seeded_shape, seeded,
          SEED_EXAMPLES)
STATELESS(StatelessRandomUniformFullInt,
          "Integers with every bit random, determined by `seed` alone.", SEED_IN,
          "T: {int32, int64} = int32; Tseed: {int32, int64, uint32, uint64} = int64", FULL_ATTR, -1,
          EF_RANDOM_FULL_INT, seeded_shape, seeded, "int32[2]{2,3} int64[2]{1,2}",
          "int32[1]{5} int32[2]{-1,7} dtype=int32")
STATELESS(StatelessRandomUniformInt,
          "Uniform integers in [minval, maxval), determined by `seed` alone.",
          LIST("shape: T", "seed: Tseed", "minval: dtype", "maxval: dtype"),
          "T: {int32, int64}; " SEED_TYPE "; dtype: {int32, int64}", NO_ATTR, 2, EF_RANDOM_INT,
          seeded_shape, seeded, "int32[2]{2,3} int64[2]{1,2} int32[]{-3} int32[]{12}",
          "int32[1]{5} int32[2]{1,2} int64[]{0} int64[]{9}")
STATELESS(StatelessRandomUniformV2,
          "Uniformly distributed numbers in [0, 1), determined by key and counter.", KEY_IN,
          KEYED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_UNIFORM, keyed_shape, keyed, KEY_EXAMPLES)
STATELESS(StatelessRandomNormalV2, "Standard normal numbers, determined by key and counter.",
          KEY_IN, KEYED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_NORMAL, keyed_shape, keyed, KEY_EXAMPLES)
STATELESS(StatelessTruncatedNormalV2,
          "Standard normal numbers within two standard deviations, determined by key and counter.",
          KEY_IN, KEYED_TYPES, FLOAT_ATTR, -1, EF_RANDOM_TRUNCATED, keyed_shape, keyed,
          KEY_EXAMPLES)
STATELESS(StatelessRandomUniformFullIntV2,
          "Integers with every bit random, determined by key and counter.", KEY_IN, KEYED_TYPES,
          FULL_ATTR, -1, EF_RANDOM_FULL_INT, keyed_shape, keyed,
          "int32[2]{2,3} uint64[1]{1} uint64[2]{2,3} int32[]{1} dtype=int64")
STATELESS(StatelessRandomUniformIntV2,
          "Uniform integers in [minval, maxval), determined by key and counter.",
          LIST("shape: Tshape", "key: uint64", "counter: uint64", "alg: int32", "minval: dtype",
               "maxval: dtype"),
          KEYED_TYPES "; dtype: {int32, int64, uint32, uint64}", NO_ATTR, 4, EF_RANDOM_INT,
          keyed_shape, keyed,
          "int32[2]{2,3} uint64[1]{1} uint64[2]{2,3} int32[]{1} int32[]{0} int32[]{6}")

/* ---- a generator in a variable ---- */

static ef_status *advancing(const ef_call *c, const layout *l) {
    int64_t lo, hi;
    ef_philox g;
    if (l->low > 0) EF_TRY(bounds(c, l->low, &lo, &hi));
    int64_t alg = *(const int64_t *)c->in[1]->data;
    EF_TRY(ef_random_from_variable(c, alg, ef_random_reserved(ef_count(c->out[0])), &g));
    return fill(c, l, g);
}
static ef_status *advancing_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 0));
    return out_shape(i, 2, i->n_in == 5 ? 3 : -1);
}

#define ADVANCING(N, TEXT, IN, TYPES, ATTR, LOW, KIND, ...)                                       \
    static ef_status *N##_run(const ef_call *c) { return advancing(c, &(layout){KIND, 2, LOW}); } \
    const ef_op ef_op_##N = {                                                                     \
        EF_NAMED(N),                                                                              \
        .doc = TEXT " Advances the generator's state in the variable `resource`.",                \
        .in = {"resource: resource", "algorithm: int64", "shape: shape_dtype" IN},                \
        .out = {"output: dtype"},                                                                 \
        .types = "shape_dtype: {int32, int64} = int64" TYPES,                                     \
        .attr = {ATTR},                                                                           \
        .attr_size = sizeof(ef_random_attrs),                                                     \
        .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,                                           \
        .shape = advancing_shape,                                                                 \
        .kernel = ROW(N##_run),                                                                   \
        .examples = {__VA_ARGS__},                                                                \
    };
#define ADVANCING_EXAMPLE "var(int64[3]{1,2,3}) int64[]{1} int64[2]{2,3}"
ADVANCING(StatefulUniform, "Uniformly distributed numbers in [0, 1).", , , FLOAT_ATTR, -1,
          EF_RANDOM_UNIFORM, ADVANCING_EXAMPLE)
ADVANCING(StatefulStandardNormalV2, "Standard normal numbers.", , , FLOAT_ATTR, -1,
          EF_RANDOM_NORMAL, ADVANCING_EXAMPLE)
ADVANCING(StatefulTruncatedNormal, "Standard normal numbers within two standard deviations.", , ,
          FLOAT_ATTR, -1, EF_RANDOM_TRUNCATED, ADVANCING_EXAMPLE)
ADVANCING(StatefulUniformFullInt, "Integers with every bit random.", , , FULL_ATTR, -1,
          EF_RANDOM_FULL_INT, ADVANCING_EXAMPLE)
#define BOUNDS , "minval: dtype", "maxval: dtype"
ADVANCING(StatefulUniformInt, "Uniform integers in [minval, maxval).", BOUNDS,
          "; dtype: {int32, int64} = int64", NO_ATTR, 3, EF_RANDOM_INT,
          ADVANCING_EXAMPLE " int64[]{0} int64[]{9}")
