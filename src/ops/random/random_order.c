/* Random permutations, and the small ops that read or advance generators. */
#include "base/alloc.h"
#include "kernels/block.h"
#include "ops/array/array.h"
#include "ops/list/list.h"
#include "ops/random/random.h"

#define ROW(fn)                                                          \
    {                                                                    \
        { EF_CPU, EF_COMPUTED | EF_MANAGED, fn, NULL, NULL, NULL, NULL } \
    }

/* ---- shuffling ---- */

enum { FEW = 128 };

/* Rows of a size that one load and one store move are swapped in the output. */
static bool swapped_whole(const ef_tensor *x, size_t row) {
    return ef_dtype_in((ef_dtype)x->dtype, EF_PLAIN) &&
           (row == 1 || row == 2 || row == 4 || row == 8 || row == 16);
}

static ef_status *shuffle(const ef_call *c, ef_philox g) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t n = x->dim[0], row = ef_count(x) / n;
    uint32_t few[FEW], *order = few;
    size_t bytes = (size_t)row * ef_dtype_size(t);
    if (n > UINT32_MAX)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: cannot shuffle %lld rows; at most 2^32 - 1 are supported", c->op->name,
                        (long long)n);
    EF_TRY(ef_out_memory(c, 0));
    if (swapped_whole(x, bytes)) {
        EF_TRY(ef_copy_elements(t, c->out[0]->data, x->data, ef_count(x)));
        ef_random_shuffle(g, c->out[0]->data, n, bytes);
        return NULL;
    }
    if (n > FEW && (order = ef_malloc((size_t)n * sizeof *order)) == NULL)
        return ef_no_memory((size_t)n * sizeof *order);
    for (int64_t k = 0; k < n; k++) order[k] = (uint32_t)k;
    ef_random_shuffle(g, order, n, sizeof *order);
    ef_status *s = NULL;
    for (int64_t k = 0; k < n && s == NULL; k++)
        s = ef_list_copy(c->out[0], k * row, x, (int64_t)order[k] * row, row);
    if (order != few) ef_free(order);
    return s;
}

static bool nothing_to_shuffle(const ef_tensor *x) {
    return x->rank == 0 || x->dim[0] <= 1 || ef_count(x) <= 1;
}

static ef_status *shuffle_run(const ef_call *c) {
    ef_philox g;
    if (nothing_to_shuffle(c->in[0])) return ef_out_same(c, 0, c->in[0]);
    EF_TRY(ef_random_stateful(c, (uint64_t)(c->in[0]->dim[0] - 1 + 3) / 4, &g));
    return shuffle(c, g);
}

const ef_op ef_op_RandomShuffle = {
    EF_NAMED(RandomShuffle),
    .doc =
        "The rows of `value` in a random order. If both seeds are zero, the order differs in every "
        "run.",
    .in = {"value: T"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = {EF_RANDOM_SEEDS},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = {{EF_CPU, EF_COMPUTED | EF_MANAGED, shuffle_run, NULL, NULL, ef_random_prepare,
                ef_random_release}},
    .examples = {"float[5,2] seed=1 seed2=2", "int32[7] seed=3", "float[0,2]", "float[]"},
};

static ef_status *stateless_shuffle_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_key(c, 1, &g));
    if (nothing_to_shuffle(c->in[0])) return ef_out_same(c, 0, c->in[0]);
    return shuffle(c, g);
}
static ef_status *stateless_shuffle_shape(ef_infer *i) {
    EF_TRY(ef_random_need_key(i, 1));
    return ef_shape_same(i);
}

const ef_op ef_op_StatelessShuffle = {
    EF_NAMED(StatelessShuffle),
    .doc = "The rows of `value` in a random order determined by key and counter.",
    .in = {"value: T", "key: uint64", "counter: uint64", "alg: int32"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES,
    .traits = EF_GRAD_UNDEFINED,
    .shape = stateless_shuffle_shape,
    .kernel = ROW(stateless_shuffle_run),
    .examples = {"float[5,2] uint64[1]{1} uint64[2]{2,3} int32[]{1}",
                 "string[3]{a,b,c} uint64[1]{1} uint64[2]{2,3} int32[]{1}"},
};

/* ---- keys and counters ---- */

static ef_status *key_shape(ef_infer *i) {
    EF_TRY(ef_random_need_seed(i, 0));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {1}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {2}};
    if (i->n_out == 3) i->out[2].shape = ef_scalar_shape();
    return NULL;
}

static ef_status *key_run(const ef_call *c) {
    ef_philox g;
    EF_TRY(ef_random_from_seed(c, 0, &g));
    uint64_t *key = c->out[0]->data, *counter = c->out[1]->data;
    key[0] = g.key;
    counter[0] = g.low;
    counter[1] = g.high;
    if (c->n_out == 3) *(int32_t *)c->out[2]->data = 1;
    return NULL;
}

const ef_op ef_op_StatelessRandomGetKeyCounter = {
    EF_NAMED(StatelessRandomGetKeyCounter),
    .doc = "Hashes a seed to a key and a counter for the Philox generator.",
    .in = {"seed: Tseed"},
    .out = {"key: uint64", "counter: uint64"},
    .types = "Tseed: {int32, int64} = int64",
    .traits = EF_NO_GRAD,
    .shape = key_shape,
    .kernel = ROW(key_run),
    .examples = {"int64[2]{1,2}", "int32[2]{-1,0}"},
};
const ef_op ef_op_StatelessRandomGetKeyCounterAlg = {
    EF_NAMED(StatelessRandomGetKeyCounterAlg),
    .doc = "Hashes a seed to a key and a counter, and returns the number of the algorithm they are "
           "for.",
    .in = {"seed: Tseed"},
    .out = {"key: uint64", "counter: uint64", "alg: int32"},
    .types = "Tseed: {int32, int64} = int64",
    .traits = EF_NO_GRAD,
    .shape = key_shape,
    .kernel = ROW(key_run),
    .examples = {"int64[2]{1,2}", "int32[2]{-1,0}"},
};

static ef_status *alg_run(const ef_call *c) {
    *(int32_t *)c->out[0]->data = 1;
    return NULL;
}

const ef_op ef_op_StatelessRandomGetAlg = {
    EF_NAMED(StatelessRandomGetAlg),
    .doc = "The number of the random algorithm for this device: 1, Philox.",
    .out = {"alg: int32"},
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = ROW(alg_run),
    .examples = {""},
};

/* ---- generators in variables ---- */

static ef_status *read_skip_shape(ef_infer *i) {
    for (int k = 0; k < 3; k++) EF_TRY(ef_need_rank(i, k, 0));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {3}};
    return NULL;
}
static ef_status *read_skip_run(const ef_call *c) {
    ef_philox g;
    uint64_t delta = *(const uint64_t *)c->in[2]->data, *out = c->out[0]->data;
    EF_TRY(ef_random_from_variable(c, *(const int32_t *)c->in[1]->data, delta * 256, &g));
    out[0] = g.low;
    out[1] = g.high;
    out[2] = g.key;
    return NULL;
}

const ef_op ef_op_RngReadAndSkip = {
    EF_NAMED(RngReadAndSkip),
    .doc = "Reads a generator's state (counter and key) and advances it by `delta` outputs.",
    .in = {"resource: resource", "alg: int32", "delta: uint64"},
    .out = {"value: int64"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = read_skip_shape,
    .kernel = ROW(read_skip_run),
    .examples = {"var(int64[3]{1,2,3}) int32[]{1} uint64[]{10}"},
};

static ef_status *skip_shape(ef_infer *i) {
    for (int k = 0; k < 3; k++) EF_TRY(ef_need_rank(i, k, 0));
    return NULL;
}
static ef_status *skip_run(const ef_call *c) {
    ef_philox g;
    uint64_t delta = *(const uint64_t *)c->in[2]->data;
    return ef_random_from_variable(c, *(const int64_t *)c->in[1]->data, delta * 256, &g);
}

const ef_op ef_op_RngSkip = {
    EF_NAMED(RngSkip),
    .doc = "Advances a generator's state by `delta` outputs.",
    .in = {"resource: resource", "algorithm: int64", "delta: int64"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = skip_shape,
    .kernel = ROW(skip_run),
    .examples = {"var(int64[3]{1,2,3}) int64[]{1} int64[]{10}"},
};

static ef_status *entropy_shape(ef_infer *i) {
    return ef_shape_input(i, 0, false, &i->out[0].shape);
}
static ef_status *entropy_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    return ef_random_entropy(o->data, (size_t)ef_count(o) * ef_dtype_size((ef_dtype)o->dtype));
}

const ef_op ef_op_NonDeterministicInts = {
    EF_NAMED(NonDeterministicInts),
    .doc = "Integers with every bit random, from the system's entropy, different in every call.",
    .in = {"shape: shape_dtype"},
    .out = {"output: dtype"},
    .types = "shape_dtype: {int32, int64} = int64",
    .attr = {EF_ATTR(ef_random_attrs, dtype, "{int32, int64, uint32, uint64}", "int64")},
    .attr_size = sizeof(ef_random_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = entropy_shape,
    .kernel = ROW(entropy_run),
    .examples = {"int64[1]{4}", "int32[2]{2,2} dtype=uint32"},
};
