/* A cache with a bound in bytes, least recently used out first. Entries are intrusive: embed an
 * ef_cache_entry as the first member. Not locked: the owner guards it. */
#ifndef EF_BASE_CACHE_H
#define EF_BASE_CACHE_H
#include "base/map.h"

typedef struct ef_cache_entry {
    struct ef_cache_entry *newer, *older;
    uint64_t hash;
    size_t bytes;
} ef_cache_entry;

typedef struct ef_cache {
    ef_map map;
    ef_cache_entry *newest, *oldest;
    size_t bytes, limit;
    uint64_t hits, misses, evictions;
    void (*drop)(
        ef_cache_entry *e); /* called on eviction; the owner may keep it alive by counting */
} ef_cache;

void ef_cache_init(ef_cache *c, size_t limit, void (*drop)(ef_cache_entry *));
ef_cache_entry *ef_cache_find(ef_cache *c, uint64_t hash, ef_map_same *same, const void *key);
/* e->hash and e->bytes are set by the caller; older entries are dropped until the bound holds (the
 * new one always stays). On failure e is not in the cache. */
ef_status *ef_cache_put(ef_cache *c, ef_cache_entry *e);
void ef_cache_resize(ef_cache *c, ef_cache_entry *e, size_t bytes); /* e grew or shrank */
void ef_cache_remove(ef_cache *c, ef_cache_entry *e);               /* without calling drop */
void ef_cache_clear(ef_cache *c);                                   /* drops everything */
#endif
