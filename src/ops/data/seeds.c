/* Seed generators and caches: resources that a dataset's iterations share. */
#include "ops/data/seeds.h"
#include "base/alloc.h"
#include "kernels/random.h"
#include "ops/array/array.h"
#include "ops/shapes.h"

struct ef_seeds {
    ef_object object;
    ef_mutex lock; /* guards the position of `each` */
    bool reshuffle;
    uint64_t seed, seed2;
    ef_philox_each each;
};

static void seeds_end(ef_storage *self) {
    ef_seeds *g = (ef_seeds *)self;
    ef_mutex_destroy(&g->lock);
    ef_free(g);
}

ef_seeds *ef_seeds_of(const ef_tensor *t) {
    return (ef_seeds *)ef_tensor_object(t, EF_OBJECT_SEEDS);
}

void ef_seeds_next(ef_seeds *g, uint64_t *seed, uint64_t *seed2) {
    ef_mutex_lock(&g->lock);
    *seed = g->reshuffle ? ef_philox_next(&g->each) : g->seed;
    *seed2 = g->reshuffle ? ef_philox_next(&g->each) : g->seed2;
    ef_mutex_unlock(&g->lock);
}

ef_seeds_position ef_seeds_where(ef_seeds *g) {
    ef_mutex_lock(&g->lock);
    ef_seeds_position at = {.seed = g->seed, .seed2 = g->seed2, .each = g->each};
    ef_mutex_unlock(&g->lock);
    return at;
}

void ef_seeds_go(ef_seeds *g, const ef_seeds_position *to) {
    ef_mutex_lock(&g->lock);
    g->seed = to->seed;
    g->seed2 = to->seed2;
    g->each = to->each;
    ef_mutex_unlock(&g->lock);
}

/* Seeds 0 and 0 mean: from the system's entropy. */
static ef_status *seeds_make(uint64_t seed, uint64_t seed2, bool reshuffle, ef_seeds **out) {
    if (seed == 0 && seed2 == 0) {
        uint64_t key[2];
        EF_TRY(ef_random_entropy(key, sizeof key));
        seed = key[0];
        seed2 = key[1];
    }
    ef_seeds *g = ef_calloc(1, sizeof *g);
    if (g == NULL) return ef_no_memory(sizeof *g);
    ef_object_init(&g->object, EF_OBJECT_SEEDS, "seed generator", seeds_end);
    ef_mutex_init(&g->lock, EF_RANK_SEEDS, EF_MUTEX_PLAIN);
    g->seed = seed;
    g->seed2 = seed2;
    g->reshuffle = reshuffle;
    g->each = ef_philox_one_by_one(ef_philox_seeded(seed, seed2));
    *out = g;
    return NULL;
}

/* The deleter is a second handle: the object lives as long as either. */
static void hand_over(const ef_call *c, ef_object *o) {
    ef_storage_ref(&o->base);
    ef_out_object(c, 0, o);
    ef_out_object(c, 1, o);
}

static ef_status *seeds_run(const ef_call *c) {
    ef_seeds *g = NULL;
    const int64_t *seed = c->in[0]->data, *seed2 = c->in[1]->data;
    bool reshuffle = *(const uint8_t *)c->in[2]->data;
    EF_TRY(seeds_make((uint64_t)*seed, (uint64_t)*seed2, reshuffle, &g));
    hand_over(c, &g->object);
    return NULL;
}

enum { OUTSIDE = EF_STATEFUL | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD };

const ef_op ef_op_AnonymousSeedGenerator = {
    EF_NAMED(AnonymousSeedGenerator),
    .doc = "Makes a generator of two seeds for each iteration of a dataset; without `reshuffle` "
           "they are always those given.",
    .in = {"seed: int64", "seed2: int64", "reshuffle: bool"},
    .out = {"handle: resource", "deleter: variant"},
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(seeds_run),
    .examples = {"int64[]{1} int64[]{2} bool[]{1}"},
};

/* ---- elements cached in memory --------------------------------------------------------------- */

static void free_items(ef_tensor *item, int64_t n) {
    for (int64_t k = 0; k < n; k++) ef_tensor_release(&item[k]);
    ef_free(item);
}

static void cache_end(ef_storage *self) {
    ef_memory_cache *m = (ef_memory_cache *)self;
    free_items(m->item, m->n * m->width);
    ef_mutex_destroy(&m->lock);
    ef_free(m);
}

ef_memory_cache *ef_memory_cache_of(const ef_tensor *t) {
    return (ef_memory_cache *)ef_tensor_object(t, EF_OBJECT_CACHE);
}

bool ef_memory_cache_whole(ef_memory_cache *m) {
    ef_mutex_lock(&m->lock);
    bool whole = m->whole;
    ef_mutex_unlock(&m->lock);
    return whole;
}

bool ef_memory_cache_fill(ef_memory_cache *m, ef_tensor *item, int64_t n, int width) {
    ef_mutex_lock(&m->lock);
    bool taken = !m->whole;
    if (taken) {
        m->whole = true;
        m->item = item;
        m->n = n;
        m->width = width;
    }
    ef_mutex_unlock(&m->lock);
    return taken;
}

static ef_status *cache_run(const ef_call *c) {
    ef_memory_cache *m = ef_calloc(1, sizeof *m);
    if (m == NULL) return ef_no_memory(sizeof *m);
    ef_object_init(&m->object, EF_OBJECT_CACHE, "memory cache", cache_end);
    ef_mutex_init(&m->lock, EF_RANK_SEEDS, EF_MUTEX_PLAIN);
    hand_over(c, &m->object);
    return NULL;
}

const ef_op ef_op_AnonymousMemoryCache = {
    EF_NAMED(AnonymousMemoryCache),
    .doc = "Makes an empty cache for the elements of a dataset.",
    .out = {"handle: resource", "deleter: variant"},
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(cache_run),
    .examples = {""},
};
