/* Derivatives by structure. Control flow called eagerly is a graph made for the call, and a
 * function may be traced again and again: what was differentiated once is found, not done anew.
 * Bounded by bytes, least recently used out first. */
#include "base/alloc.h"
#include "base/cache.h"
#include "eager/function_call.h"

enum { MEBI = 1 << 20, LIMIT = 16 * MEBI };

typedef struct entry {
    ef_cache_entry base; /* first, so that an entry is an ef_cache_entry */
    ef_graph *source;
    ef_derivative *derivative;
} entry;

/* Rank 16: guards the cache; never held while a graph is differentiated. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ef_cache cache;
static bool ready;

static void drop(ef_cache_entry *e) {
    entry *it = (entry *)e;
    ef_graph_unref(it->source);
    ef_derivative_unref(it->derivative);
    ef_free(it);
}

static bool same(const void *value, const void *key) {
    return ef_graph_equal(((const entry *)value)->source, key);
}

/* Counted; NULL if there is none. Under the lock. */
static ef_derivative *find(ef_graph *g) {
    if (!ready) ef_cache_init(&cache, LIMIT, drop);
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
    pthread_mutex_lock(&lock);
    ef_derivative *other = find(g); /* another thread may have been quicker */
    ef_status *s = other == NULL ? ef_cache_put(&cache, &e->base) : NULL;
    pthread_mutex_unlock(&lock);
    if (other != NULL || s != NULL) drop(&e->base);
    ef_status_free(s);
    if (other == NULL) return;
    ef_derivative_unref(*d);
    *d = other;
}

ef_status *ef_derivative_find(ef_graph *closed, ef_derivative **out) {
    pthread_mutex_lock(&lock);
    *out = find(closed);
    pthread_mutex_unlock(&lock);
    if (*out != NULL) return NULL;
    EF_TRY(ef_derivative_make(closed, out));
    keep(closed, out);
    return NULL;
}

void ef_derivative_clear(void) {
    pthread_mutex_lock(&lock);
    if (ready) ef_cache_clear(&cache);
    pthread_mutex_unlock(&lock);
}

uint64_t ef_derivatives_made(void) {
    pthread_mutex_lock(&lock);
    uint64_t n = ready ? cache.misses : 0;
    pthread_mutex_unlock(&lock);
    return n;
}
