/* Positions of stateful random ops. TensorFlow keeps one generator in each kernel object; kernels
 * are cached by op, attributes and dtypes in eager calls, and belong to a node of one function or
 * session in a graph. A table of positions does the same here: its key has the contents of
 * TensorFlow's cache key and, for a planned step, also the identity of the node's attributes and
 * the scope, since functions of equal structure share one program. The table is bounded: the least
 * recently used position is evicted, and its stream would start over. */
#include "base/alloc.h"
#include "base/cache.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "ops/random/random.h"
#include "ops/shapes.h"
#include "ops/state/variable.h"
#include <stdatomic.h>

enum { POSITIONS = 8192, PHILOX = 1, AUTO = 3, STATE_SIZE = 3 };

typedef struct position_key {
    const ef_op *op;
    const void *node; /* NULL: an eager call */
    uint64_t scope;   /* each session and trace has its own positions */
    int64_t seed, seed2;
    uint64_t types; /* of the output and the first inputs, a byte each */
} position_key;
typedef struct position {
    ef_cache_entry entry;
    position_key key;
    ef_philox g;
} position;

_Thread_local uint64_t ef_random_scope;

uint64_t ef_random_scope_new(void) {
    static atomic_uint_fast64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

uint64_t ef_random_scope_enter(uint64_t scope) {
    uint64_t before = ef_random_scope;
    ef_random_scope = scope;
    return before;
}

/* Guards everything below. */
static ef_mutex lock = EF_MUTEX(RANDOM);
static ef_cache positions;
static bool ready, seeded;
static ef_philox entropy; /* for ops without seeds */

static void drop(ef_cache_entry *e) { ef_free(e); }

static bool same(const void *value, const void *key) {
    const position_key *a = &((const position *)value)->key, *b = key;
    return a->op == b->op && a->node == b->node && a->scope == b->scope && a->seed == b->seed &&
           a->seed2 == b->seed2 && a->types == b->types;
}

void ef_random_reset(void) {
    ef_mutex_lock(&lock);
    if (ready) ef_cache_clear(&positions);
    ef_mutex_unlock(&lock);
}

/* The lock is held. */
static ef_status *unseeded(uint64_t blocks, ef_philox *out) {
    if (!seeded) {
        uint64_t key[2];
        EF_TRY(ef_random_entropy(key, sizeof key));
        entropy = ef_philox_seeded(key[0], key[1]);
        seeded = true;
    }
    *out = entropy;
    ef_philox_skip(&entropy, blocks);
    return NULL;
}

/* The lock is held. */
static ef_status *find(const position_key *key, position **out) {
    if (!ready) ef_cache_init(&positions, POSITIONS, drop);
    ready = true;
    uint64_t hash = ef_hash_mix((uint64_t)(uintptr_t)key->op, (uint64_t)(uintptr_t)key->node);
    hash = ef_hash_mix(ef_hash_mix(hash, (uint64_t)key->seed), (uint64_t)key->seed2);
    hash = ef_hash_mix(ef_hash_mix(hash, key->types), key->scope);
    position *p = (position *)ef_cache_find(&positions, hash, same, key);
    if (p == NULL) {
        p = ef_malloc(sizeof *p);
        if (p == NULL) return ef_no_memory(sizeof *p);
        *p = (position){.entry = {.hash = hash, .bytes = 1},
                        .key = *key,
                        .g = ef_philox_seeded((uint64_t)key->seed, (uint64_t)key->seed2)};
        ef_status *s = ef_cache_put(&positions, &p->entry);
        if (s != NULL) {
            ef_free(p);
            return s;
        }
    }
    *out = p;
    return NULL;
}

ef_status *ef_random_stateful(const ef_call *c, uint64_t blocks, ef_philox *out) {
    const ef_random_attrs *t = c->attrs;
    position_key key = {
        .op = c->op, .node = c->state, .scope = ef_scope_id(), .seed = t->seed, .seed2 = t->seed2};
    position *p = NULL;
    if (c->state != NULL && ef_random_scope != 0)
        key.scope = ef_hash_mix(key.scope, ef_random_scope);
    key.types = c->out[0]->dtype;
    for (int k = 0; k < c->n_in && k < 7; k++) key.types = key.types << 8 | c->in[k]->dtype;
    ef_mutex_lock(&lock);
    ef_status *s = t->seed == 0 && t->seed2 == 0 ? unseeded(blocks, out) : find(&key, &p);
    if (s == NULL && p != NULL) {
        *out = p->g;
        ef_philox_skip(&p->g, blocks);
    }
    ef_mutex_unlock(&lock);
    return s;
}

ef_status *ef_random_prepare(const ef_call *c, void **state) {
    *state = (void *)c->attrs;
    return NULL;
}

void ef_random_release(void *state) { (void)state; }

/* ---- generators that come as inputs ---- */

ef_status *ef_random_need_seed(const ef_infer *i, int k) {
    const ef_shape *s = &i->in[k].shape;
    if (s->rank < 0 || (s->rank == 1 && (s->dim[0] < 0 || s->dim[0] == 2))) return NULL;
    return ef_error(EF_INVALID, "%s: seed must have shape [2], not %s", i->op->name, EF_SHAPE(s));
}

ef_status *ef_random_from_seed(const ef_call *c, int k, ef_philox *out) {
    const ef_tensor *t = c->in[k];
    if (t->rank != 1 || t->dim[0] != 2)
        return ef_error(EF_INVALID, "%s: seed must have shape [2], not %s", c->op->name,
                        EF_TENSOR(t));
    int64_t a = ef_element_int((ef_dtype)t->dtype, t->data, 0);
    int64_t b = ef_element_int((ef_dtype)t->dtype, t->data, 1);
    *out = ef_philox_scrambled((uint64_t)a, (uint64_t)b);
    return NULL;
}

ef_status *ef_random_check_alg(const ef_op *op, int64_t alg) {
    if (alg == PHILOX || alg == AUTO) return NULL;
    return ef_error(EF_INVALID, "%s: Unsupported algorithm id: %lld; use 1 (Philox)", op->name,
                    (long long)alg);
}

ef_status *ef_random_need_key(const ef_infer *i, int k) {
    const ef_shape *key = &i->in[k].shape, *counter = &i->in[k + 1].shape;
    if (key->rank >= 0 && (key->rank != 1 || (key->dim[0] >= 0 && key->dim[0] != 1)))
        return ef_error(EF_INVALID, "%s: key must have shape [1], not %s", i->op->name,
                        EF_SHAPE(key));
    if (counter->rank >= 0 && (counter->rank != 1 || (counter->dim[0] >= 0 && counter->dim[0] < 2)))
        return ef_error(EF_INVALID, "%s: counter must be a vector with length at least 2, not %s",
                        i->op->name, EF_SHAPE(counter));
    return ef_need_rank(i, k + 2, 0);
}

ef_status *ef_random_from_key(const ef_call *c, int k, ef_philox *out) {
    const ef_tensor *key = c->in[k], *counter = c->in[k + 1];
    EF_TRY(ef_random_check_alg(c->op, *(const int32_t *)c->in[k + 2]->data));
    if (ef_count(key) < 1 || ef_count(counter) < 2)
        return ef_error(EF_INVALID, "%s: key is %s and counter %s; they must be [1] and [2]",
                        c->op->name, EF_TENSOR(key), EF_TENSOR(counter));
    const uint64_t *at = counter->data;
    *out = (ef_philox){.key = *(const uint64_t *)key->data, .low = at[0], .high = at[1]};
    return NULL;
}

ef_status *ef_random_from_variable(const ef_call *c, int64_t alg, uint64_t blocks, ef_philox *out) {
    ef_locked l;
    ef_status *s = NULL;
    EF_TRY(ef_random_check_alg(c->op, alg));
    EF_TRY(ef_lock_variables(c, (const int[]){0}, 1, EF_I64, &l));
    const ef_tensor *t = l.value[0];
    if (t->rank != 1 || t->dim[0] < STATE_SIZE) {
        s = ef_error(EF_INVALID,
                     "%s: the state is %s; For the Philox algorithm, the size of state must be at "
                     "least %d",
                     c->op->name, EF_TENSOR(t), STATE_SIZE);
    } else {
        uint64_t *at = t->data;
        *out = (ef_philox){.key = at[2], .low = at[0], .high = at[1]};
        ef_philox next = *out;
        ef_philox_skip(&next, blocks);
        at[0] = next.low;
        at[1] = next.high;
    }
    ef_unlock_variables(&l);
    return s;
}
