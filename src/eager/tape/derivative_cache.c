/* The cache of derivatives, keyed by the structure of the graph. Eager control flow builds a graph
 * for each call, and a function may be traced again and again; each structure is differentiated
 * once. The cache shares the budget of all caches (base/budget.h). */
#include "base/alloc.h"
#include "base/cache.h"
#include "base/mutex.h"
#include "eager/function_call.h"

typedef struct entry {
    ef_cache_entry base; /* first, so that an entry is an ef_cache_entry */
    ef_graph *source;
    ef_derivative *derivative;
} entry;

/* Guards the cache; never held while a graph is differentiated. */
static ef_mutex lock = EF_MUTEX(DERIVATIVES);
static ef_cache cache;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void entry_free(entry *e) {
    ef_budget_credit(EF_KEPT_DERIVATIVES, e->base.bytes);
    ef_graph_unref(e->source);
    ef_derivative_unref(e->derivative);
    ef_free(e);
}

static void end(void *e) { entry_free(e); }
static void start(void) { ef_cache_share(&cache, EF_KEPT_DERIVATIVES, &lock, NULL, end); }

static bool same(const void *value, const void *key) {
    return ef_graph_equal(((const entry *)value)->source, key);
}

/* Counted; NULL if there is none. Under the lock. */
static ef_derivative *find(ef_graph *g) {
    entry *e = (entry *)ef_cache_find(&cache, ef_graph_hash(g), same, g);
    if (e != NULL) atomic_fetch_add_explicit(&e->derivative->refs, 1, memory_order_relaxed);
    return e != NULL ? e->derivative : NULL;
}

static void keep(ef_graph *g, ef_derivative **d) {
    entry *e = ef_calloc(1, sizeof *e);
    if (e == NULL) return; /* the derivative works without being cached */
    e->source = ef_graph_ref(g);
    e->derivative = *d;
    atomic_fetch_add_explicit(&e->derivative->refs, 1, memory_order_relaxed);
    e->base.hash = ef_graph_hash(g);
    e->base.bytes = sizeof *e + ef_graph_bytes(g) + ef_graph_bytes((*d)->d.forward) +
                    ef_graph_bytes((*d)->d.backward);
    ef_budget_charge(EF_KEPT_DERIVATIVES, e->base.bytes);
    ef_mutex_lock(&lock);
    ef_derivative *other = find(g); /* another thread may have been faster */
    ef_status *s = other == NULL ? ef_cache_put(&cache, &e->base) : NULL;
    ef_mutex_unlock(&lock);
    if (other != NULL || s != NULL) entry_free(e);
    ef_status_free(s);
    if (other == NULL) return;
    ef_derivative_unref(*d);
    *d = other;
}

ef_status *ef_derivative_find(ef_graph *closed, ef_derivative **out) {
    pthread_once(&once, start);
    ef_mutex_lock(&lock);
    *out = find(closed);
    ef_mutex_unlock(&lock);
    if (*out != NULL) return NULL;
    EF_TRY(ef_derivative_make(closed, out));
    keep(closed, out);
    return NULL;
}

void ef_derivative_clear(void) {
    pthread_once(&once, start);
    for (void *e; (e = cache.keeper.take(&cache.keeper)) != NULL;) cache.keeper.end(e);
}

uint64_t ef_derivatives_made(void) {
    ef_mutex_lock(&lock);
    uint64_t n = cache.misses;
    ef_mutex_unlock(&lock);
    return n;
}
