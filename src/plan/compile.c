/* The cache of programs, keyed by structure. */
#include "plan/compile.h"
#include "base/alloc.h"
#include "base/cache.h"
#include "passes/passes.h"

enum { MEBI = 1 << 20, LIMIT = 64 * MEBI };

typedef struct entry {
    ef_cache_entry base; /* first, so that an entry is an ef_cache_entry */
    ef_graph *source;
    ef_program *program;
} entry;

/* Rank 15: guards the cache; never held while a graph is optimised or run. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ef_cache cache;
static bool ready;

static void drop(ef_cache_entry *e) {
    entry *it = (entry *)e;
    ef_graph_unref(it->source);
    ef_program_unref(it->program);
    ef_free(it);
}

static bool same(const void *value, const void *key) {
    return ef_graph_equal(((const entry *)value)->source, key);
}

static void start(void) { /* under the lock */
    if (ready) return;
    ef_cache_init(&cache, LIMIT, drop);
    ready = true;
}

static entry *find(ef_graph *g) {
    return (entry *)ef_cache_find(&cache, ef_graph_hash(g), same, g);
}

static ef_status *make(ef_graph *g, entry **out) {
    entry *e = ef_calloc(1, sizeof *e);
    if (e == NULL) return ef_no_memory(sizeof *e);
    ef_graph *best = NULL;
    ef_status *s = ef_optimise(g, &best);
    if (s == NULL) s = ef_program_make(best, NULL, &e->program);
    ef_graph_unref(best);
    if (s != NULL) {
        ef_free(e);
        return s;
    }
    e->source = ef_graph_ref(g);
    e->base.hash = ef_graph_hash(g);
    /* Plans come and go within the program's own bound; a few are counted from the start. */
    e->base.bytes = sizeof *e + 4 * (ef_graph_bytes(g) + ef_program_bytes(e->program));
    *out = e;
    return NULL;
}

ef_status *ef_compile(ef_graph *g, ef_program **out) {
    pthread_mutex_lock(&lock);
    start();
    entry *e = find(g);
    if (e != NULL) *out = ef_program_ref(e->program);
    pthread_mutex_unlock(&lock);
    if (e != NULL) return NULL;
    EF_TRY(make(g, &e));
    *out = ef_program_ref(e->program);
    pthread_mutex_lock(&lock);
    entry *other = find(g); /* another thread may have been quicker */
    ef_status *s = NULL;
    if (other != NULL) {
        ef_program_unref(*out);
        *out = ef_program_ref(other->program);
    } else {
        s = ef_cache_put(&cache, &e->base);
    }
    pthread_mutex_unlock(&lock);
    if (other != NULL || s != NULL) drop(&e->base);
    if (s != NULL) ef_status_free(s); /* not kept, but it runs all the same */
    return NULL;
}

void ef_compile_info_get(ef_compile_info *out) {
    pthread_mutex_lock(&lock);
    start();
    *out = (ef_compile_info){cache.hits,  cache.misses, cache.evictions,
                             cache.map.n, cache.bytes,  cache.limit};
    pthread_mutex_unlock(&lock);
}

void ef_compile_limit(size_t bytes) {
    pthread_mutex_lock(&lock);
    start();
    cache.limit = bytes > 0 ? bytes : LIMIT;
    pthread_mutex_unlock(&lock);
}

void ef_compile_clear(void) {
    pthread_mutex_lock(&lock);
    start();
    ef_cache_clear(&cache);
    pthread_mutex_unlock(&lock);
}
