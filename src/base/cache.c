/* A map finds entries; a list in the order of use, newest first, tells which one to evict. */
#include "base/cache.h"

void ef_cache_init(ef_cache *c, size_t limit, void (*drop)(ef_cache_entry *)) {
    *c = (ef_cache){.limit = limit, .drop = drop};
}

/* The budget reads when the oldest entry was used. */
static void note_oldest(ef_cache *c) {
    ef_keeper_oldest(&c->keeper, c->oldest != NULL ? c->oldest->used : UINT64_MAX);
}

static void *take_oldest(ef_keeper *k) {
    ef_cache *c = (ef_cache *)k;
    ef_mutex_lock(c->lock);
    ef_cache_entry *e = c->oldest;
    if (e != NULL) {
        ef_cache_remove(c, e);
        c->evictions++;
        if (c->leave != NULL) c->leave(e);
    }
    ef_mutex_unlock(c->lock);
    return e;
}

void ef_cache_share(ef_cache *c, ef_kept kind, ef_mutex *lock, void (*leave)(ef_cache_entry *),
                    void (*end)(void *entry)) {
    ef_cache_init(c, SIZE_MAX, NULL);
    c->lock = lock;
    c->leave = leave;
    c->keeper.kind = kind;
    c->keeper.take = take_oldest;
    c->keeper.end = end;
    ef_keeper_join(&c->keeper);
}

static void unlink_entry(ef_cache *c, ef_cache_entry *e) {
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
    e->newer = e->older = NULL;
}

static void link_newest(ef_cache *c, ef_cache_entry *e) {
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

ef_cache_entry *ef_cache_find(ef_cache *c, uint64_t hash, ef_map_same *same, const void *key) {
    ef_cache_entry *e = ef_map_find(&c->map, hash, same, key);
    if (e == NULL) {
        c->misses++;
        return NULL;
    }
    c->hits++;
    e->used = ef_budget_now();
    if (e != c->newest) {
        unlink_entry(c, e);
        link_newest(c, e);
    }
    note_oldest(c);
    return e;
}

void ef_cache_remove(ef_cache *c, ef_cache_entry *e) {
    ef_map_remove(&c->map, e->hash, e);
    unlink_entry(c, e);
    c->bytes -= e->bytes;
    note_oldest(c);
}

static void shrink(ef_cache *c, const ef_cache_entry *keep) {
    while (c->bytes > c->limit && c->oldest != NULL && c->oldest != keep) {
        ef_cache_entry *e = c->oldest;
        ef_cache_remove(c, e);
        c->evictions++;
        c->drop(e);
    }
}

ef_status *ef_cache_put(ef_cache *c, ef_cache_entry *e) {
    EF_TRY(ef_map_put(&c->map, e->hash, e));
    link_newest(c, e);
    e->used = ef_budget_now();
    c->bytes += e->bytes;
    shrink(c, e);
    note_oldest(c);
    return NULL;
}

void ef_cache_clear(ef_cache *c) {
    while (c->oldest != NULL) {
        ef_cache_entry *e = c->oldest;
        ef_cache_remove(c, e);
        c->drop(e);
    }
    ef_map_free(&c->map);
}
