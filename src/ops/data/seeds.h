/* State that outlives one iteration of a dataset: seeds of shuffles, and cached elements. */
#ifndef EF_OPS_DATA_SEEDS_H
#define EF_OPS_DATA_SEEDS_H
#include "base/mutex.h"
#include "kernels/philox.h"
#include "ops/data/dataset.h"

/* Two seeds for each iteration: drawn from a generator, or always those given. ef_seeds_of returns
 * NULL if t is not one. */
typedef struct ef_seeds ef_seeds;
ef_seeds *ef_seeds_of(const ef_tensor *t);
void ef_seeds_next(ef_seeds *g, uint64_t *seed, uint64_t *seed2);
/* Where the generator stands, so that later iterations get the seeds they would have got. */
typedef struct ef_seeds_position {
    uint64_t seed, seed2;
    ef_philox_each each;
} ef_seeds_position;
ef_seeds_position ef_seeds_where(ef_seeds *g);
void ef_seeds_go(ef_seeds *g, const ef_seeds_position *to);

/* The elements of a dataset, once an iteration has seen all of them. */
typedef struct ef_memory_cache {
    ef_object object; /* kind EF_OBJECT_CACHE */
    ef_mutex lock;    /* guards the fields below, which do not change once `whole` is true */
    bool whole;
    int64_t n;       /* number of elements */
    ef_tensor *item; /* n * width */
    int width;
} ef_memory_cache;
ef_memory_cache *ef_memory_cache_of(const ef_tensor *t);
/* Takes ownership of n elements of `width` tensors. Returns false, having taken nothing, if another
 * iteration has filled it already. */
bool ef_memory_cache_fill(ef_memory_cache *m, ef_tensor *item, int64_t n, int width);
bool ef_memory_cache_whole(ef_memory_cache *m);
#endif
