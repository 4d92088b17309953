/* A cache that evicts the least recently used entry: one with a bound of its own, or one that
 * shares the budget of all caches (base/budget.h). Entries are intrusive: embed an ef_cache_entry
 * as the first member. Not locked: the owner guards it. */
#ifndef EF_BASE_CACHE_H
#define EF_BASE_CACHE_H
#include "base/budget.h"
#include "base/map.h"
#include "base/mutex.h"

typedef struct ef_cache_entry {
    struct ef_cache_entry *newer, *older;
    uint64_t hash;
    size_t bytes;
    uint64_t used; /* the tick of its last use */
} ef_cache_entry;

typedef struct ef_cache {
    ef_keeper keeper; /* must be first; used only if the cache shares the budget */
    ef_mutex *lock;   /* the owner's; likewise */
    void (*leave)(ef_cache_entry *e);
    ef_map map;
    ef_cache_entry *newest, *oldest;
    size_t bytes, limit;
    uint64_t hits, misses, evictions;
    void (*drop)(ef_cache_entry *e); /* called on eviction; the owner may still hold a reference */
} ef_cache;

void ef_cache_init(ef_cache *c, size_t limit, void (*drop)(ef_cache_entry *));
/* A cache without a bound of its own. The budget evicts its entries: it locks `lock`, removes the
 * entry, calls `leave` (NULL: nothing more to do under the lock), unlocks, and calls `end`.
 * Charging is the owner's business, since an entry may outlive its place in the cache. The caller
 * holds no lock. */
void ef_cache_share(ef_cache *c, ef_kept kind, ef_mutex *lock, void (*leave)(ef_cache_entry *),
                    void (*end)(void *entry));
ef_cache_entry *ef_cache_find(ef_cache *c, uint64_t hash, ef_map_same *same, const void *key);
/* e->hash and e->bytes are set by the caller; older entries are dropped until the bound holds (the
 * new one always stays). On failure e is not in the cache. */
ef_status *ef_cache_put(ef_cache *c, ef_cache_entry *e);
void ef_cache_remove(ef_cache *c, ef_cache_entry *e); /* without calling drop */
void ef_cache_clear(ef_cache *c);                     /* drops everything */
#endif
