/* The cache of derivatives, keyed by the structure of the graph. Eager control flow builds a graph
 * for each call, and a function may be traced again and again; each structure is differentiated
 * once. The cache is bounded by bytes and evicts the least recently used. */
#include "base/alloc.h"
#include "base/cache.h"
#include "base/mutex.h"
#include "eager/function_call.h"

enum { MEBI = 1 << 20, LIMIT = 16 * MEBI };

typedef struct entry {
    ef_cache_entry base; /* first, so that an entry is an ef_cache_entry */
    ef_graph *source;
    ef_derivative *derivative;
} entry;

/* Guards the cache; never held while a graph is differentiated. */
static ef_mutex lock = EF_MUTEX(DERIVATIVES);
static ef_cache cache;
static bool ready;

static ef_cache_entry *evicted; /* a list by `older`; guarded by the lock */

static void evict(ef_cache_entry *e) { /* under the lock; freed by unlock */
    e->older = evicted;
    evicted = e;
}

static void entry_free(entry *e) {
    ef_graph_unref(e->source);
    ef_derivative_unref(e->derivative);
    ef_free(e);
}

/* Entries may hold a binding's objects, whose ends may do anything: not under the lock. */
static void unlock(void) {
    ef_cache_entry *list = evicted;
    evicted = NULL;
    ef_mutex_unlock(&lock);
    while (list != NULL) {
        entry *e = (entry *)list;
        list = list->older;
        entry_free(e);
    }
}

static bool same(const void *value, const void *key) {
    return ef_graph_equal(((const entry *)value)->source, key);
}

/* Counted; NULL if there is none. Under the lock. */
static ef_derivative *find(ef_graph *g) {
    if (!ready) ef_cache_init(&cache, LIMIT, evict);
    ready = true;
    entry *e = (entry *)ef_cache_find(&cache, ef_graph_hash(g), same, g);
    if (e != NULL) atomic_fetch_add_explicit(&e->derivative->refs, 1, memory_order_relaxed);
    return e != NULL ? e->derivative : NULL;
}

static void keep(ef_graph *g, ef_derivative **d) {
    entry *e = ef_calloc(1, sizeof *e);
    if (e == NULL) return; /* it is of use all the same */
    e->source = ef_graph_ref(g);
    e->derivative = *d;
    atomic_fetch_add_explicit(&e->derivative->refs, 1, memory_order_relaxed);
    e->base.hash = ef_graph_hash(g);
    e->base.bytes = sizeof *e + ef_graph_bytes(g) + ef_graph_bytes((*d)->d.forward) +
                    ef_graph_bytes((*d)->d.backward);
    ef_mutex_lock(&lock);
    ef_derivative *other = find(g); /* another thread may have been quicker */
    ef_status *s = other == NULL ? ef_cache_put(&cache, &e->base) : NULL;
    unlock();
    if (other != NULL || s != NULL) entry_free(e);
    ef_status_free(s);
    if (other == NULL) return;
    ef_derivative_unref(*d);
    *d = other;
}

ef_status *ef_derivative_find(ef_graph *closed, ef_derivative **out) {
    ef_mutex_lock(&lock);
    *out = find(closed);
    unlock();
    if (*out != NULL) return NULL;
    EF_TRY(ef_derivative_make(closed, out));
    keep(closed, out);
    return NULL;
}

void ef_derivative_clear(void) {
    ef_mutex_lock(&lock);
    if (ready) ef_cache_clear(&cache);
    unlock();
}

uint64_t ef_derivatives_made(void) {
    ef_mutex_lock(&lock);
    uint64_t n = ready ? cache.misses : 0;
    unlock();
    return n;
}
