/* RandomIndexShuffle - the position of an index in a permutation of [0, max_index] determined by a
 * seed, without computing the whole permutation. A small Feistel cipher (the Simon family of
 * Beaulieu et al., 2013) permutes the words of just enough bits; results beyond the range are
 * encrypted again until they are inside it. */
#include "ops/shapes.h"
#include <math.h>

enum { MIN_BITS = 16, MAX_ROUNDS = 64 };
typedef struct shuffle_attrs {
    int64_t rounds;
} shuffle_attrs;

typedef struct cipher {
    int width; /* bits in half a word */
    int rounds;
    uint64_t mask, key[MAX_ROUNDS];
} cipher;

static uint64_t left(const cipher *c, uint64_t x, int by) {
    return ((x << by) | (x >> (c->width - by))) & c->mask;
}
static uint64_t right(const cipher *c, uint64_t x, int by) {
    return ((x >> by) | (x << (c->width - by))) & c->mask;
}
static uint64_t mix(const cipher *c, uint64_t x) {
    return (left(c, x, 1) & left(c, x, 8)) ^ left(c, x, 2);
}

static cipher cipher_for(uint64_t max_index, const uint32_t *seed, int rounds) {
    int bits = (int)ceil(log2((double)max_index));
    bits += bits % 2;
    cipher c = {.width = (bits < MIN_BITS ? MIN_BITS
                          : bits > 64     ? 64
                                          : bits) /
                         2,
                .rounds = rounds};
    c.mask = c.width >= 64 ? UINT64_MAX : (UINT64_C(1) << c.width) - 1;
    uint64_t sequence = UINT64_C(0x7369f885192c0ef5) & c.mask;
    for (int k = 0; k < 3; k++) c.key[k] = seed[k] & c.mask;
    for (int k = 3; k < rounds; k++, sequence >>= 1)
        c.key[k] = (UINT64_C(0xfffffffc) & c.mask) ^ (sequence & 1) ^ c.key[k - 3] ^
                   right(&c, c.key[k - 1], 3) ^ right(&c, c.key[k - 1], 4);
    return c;
}

static uint64_t encipher(const cipher *c, uint64_t v) {
    uint64_t high = v >> c->width & c->mask, low = v & c->mask;
    for (int k = 0; k + 1 < c->rounds; k += 2) {
        high ^= mix(c, low) ^ c->key[k];
        low ^= mix(c, high) ^ c->key[k + 1];
    }
    return high << c->width | low;
}

static ef_status *shuffle_shape(ef_infer *i) {
    const shuffle_attrs *t = i->attrs;
    if (t->rounds < 4 || t->rounds % 2 != 0 || t->rounds > MAX_ROUNDS)
        return ef_error(EF_INVALID, "%s: rounds must be even and in [4, %d], not %lld", i->op->name,
                        MAX_ROUNDS, (long long)t->rounds);
    EF_TRY(ef_need_rank_at_most(i, 0, 1));
    EF_TRY(ef_need_rank_at_most(i, 1, 2));
    EF_TRY(ef_need_rank_at_most(i, 2, 1));
    const ef_shape *s = &i->in[1].shape;
    if (s->rank == 0 || (s->rank > 0 && s->dim[s->rank - 1] >= 0 && s->dim[s->rank - 1] != 3))
        return ef_error(EF_INVALID, "%s: seed must be [3] or [n, 3], not %s", i->op->name,
                        EF_SHAPE(s));
    bool scalar = true;
    int64_t n = EF_DIM_UNKNOWN;
    for (int k = 0; k < 3; k++) {
        const ef_shape *x = &i->in[k].shape;
        if (x->rank < 0) return NULL;
        if (x->rank == (k == 1 ? 1 : 0)) continue;
        scalar = false;
        EF_TRY(ef_need_same_dim(i, n, x->dim[0], "the lengths of index, seed and max_index", &n));
    }
    i->out[0].shape = (ef_shape){.rank = scalar ? 0 : 1, .dim = {scalar ? 0 : n}};
    return NULL;
}

static ef_status *shuffle_run(const ef_call *c) {
    const ef_tensor *x = c->in[0], *seed = c->in[1], *most = c->in[2];
    ef_dtype t = (ef_dtype)x->dtype;
    for (int64_t k = 0, n = ef_count(c->out[0]); k < n; k++) {
        int64_t index = ef_element_int(t, x->data, x->rank == 0 ? 0 : k);
        int64_t max = ef_element_int(t, most->data, most->rank == 0 ? 0 : k);
        if (max < 0 || index < 0 || index > max)
            return ef_error(EF_INVALID, "%s: index %lld must be in [0, %lld]", c->op->name,
                            (long long)index, (long long)max);
        uint32_t words[3];
        for (int j = 0; j < 3; j++)
            words[j] = (uint32_t)ef_element_int((ef_dtype)seed->dtype, seed->data,
                                                (seed->rank == 1 ? 0 : 3 * k) + j);
        uint64_t v = (uint64_t)index;
        if (max > 0) {
            cipher by =
                cipher_for((uint64_t)max, words, (int)((const shuffle_attrs *)c->attrs)->rounds);
            do v = encipher(&by, v);
            while (v > (uint64_t)max);
        }
        switch (t) {
        case EF_I32:
        case EF_U32: ((uint32_t *)c->out[0]->data)[k] = (uint32_t)v; break;
        default: ((uint64_t *)c->out[0]->data)[k] = v; break;
        }
    }
    return NULL;
}

const ef_op ef_op_RandomIndexShuffle = {
    EF_NAMED(RandomIndexShuffle),
    .doc = "The position of `index` in a permutation of [0, max_index] that `seed` determines.",
    .in = {"index: dtype", "seed: Tseed", "max_index: dtype"},
    .out = {"output: dtype"},
    .types = "dtype: {int32, uint32, int64, uint64}; Tseed: {int32, uint32, int64, uint64}",
    .attr = {EF_ATTR(shuffle_attrs, rounds, "int", "4")},
    .attr_size = sizeof(shuffle_attrs),
    .traits = EF_NO_GRAD,
    .shape = shuffle_shape,
    .kernel = {{EF_CPU, EF_ANY, shuffle_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[]{3} int32[3]{1,2,3} int32[]{9}",
                 "int64[3]{0,1,2} int64[3]{4,5,6} int64[]{40}"},
};
