/* The cache of programs, keyed by structure. A graph that contains constants is looked up twice:
 * with them, and with inputs in their place. The first time the constants are compiled in, which
 * gives the best code. When the same graph comes with other constants, a program is compiled that
 * takes them as inputs, and all further ones share it. So a loop that puts a new number into a
 * graph in each iteration compiles twice, not each time, and does not fill the cache. Some
 * constants cannot become inputs, since plans depend on them: sizes, axes, strings. Graphs that
 * differ only in such constants are kin, and only the latest of them are kept. */
#include "plan/compile.h"
#include "base/alloc.h"
#include "base/cache.h"
#include "base/mutex.h"
#include "passes/passes.h"
#include "plan/lift.h"
#include "profile/event.h"

enum { MOST_KIN = 64 };

typedef struct entry {
    ef_cache_entry base; /* first, so that an entry is an ef_cache_entry */
    ef_graph *source;
    ef_program *program;         /* NULL: only notes that a graph without its constants was seen */
    struct family *family;       /* NULL: not in the cache */
    struct entry *newer, *older; /* kin */
} entry;

typedef struct family { /* entries of one wiring, the one used last first */
    uint64_t wiring;
    int n;
    entry *newest, *oldest;
} family;

/* Guards the cache; never held while a graph is optimised or run. */
static ef_mutex lock = EF_MUTEX(PROGRAMS);
static ef_cache cache;
static ef_map families;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void unlink_kin(family *f, entry *e) {
    *(e->newer != NULL ? &e->newer->older : &f->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &f->oldest) = e->newer;
    e->newer = e->older = NULL;
    f->n--;
}

static void leave_family(entry *e) {
    family *f = e->family;
    unlink_kin(f, e);
    e->family = NULL;
    if (f->n > 0) return;
    ef_map_remove(&families, f->wiring, f);
    ef_free(f);
}

static void lead_family(family *f, entry *e) {
    e->family = f;
    e->older = f->newest;
    *(f->newest != NULL ? &f->newest->newer : &f->oldest) = e;
    f->newest = e;
    f->n++;
}

static bool any_family(const void *value, const void *key) { /* the hash is the whole key */
    return ((const family *)value)->wiring == *(const uint64_t *)key;
}

/* Adds a new entry to its family; without memory it gets none. */
static void join_family(entry *e) {
    uint64_t wiring = ef_graph_wiring(e->source);
    family *f = ef_map_find(&families, wiring, any_family, &wiring);
    if (f == NULL) {
        if ((f = ef_calloc(1, sizeof *f)) == NULL) return;
        f->wiring = wiring;
        ef_status *s = ef_map_put(&families, wiring, f);
        if (s != NULL) {
            ef_status_free(s);
            ef_free(f);
            return;
        }
    }
    lead_family(f, e);
}

static ef_cache_entry *evicted; /* a list by `older`; guarded by the lock */

static void leave(ef_cache_entry *e) { /* under the lock */
    if (((entry *)e)->family != NULL) leave_family((entry *)e);
}

/* Under the lock. A program may hold objects of a binding, whose destructors may run any code, so
 * `unlock` frees evicted entries after it has released the lock. */
static void evict(ef_cache_entry *e) {
    leave(e);
    e->older = evicted;
    evicted = e;
}

static void entry_free(entry *e) {
    ef_budget_resize(EF_KEPT_PROGRAMS, e->base.bytes, 0);
    ef_graph_unref(e->source);
    ef_program_unref(e->program);
    ef_free(e);
}

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

static void end(void *e) {
    ef_event_ended(EF_EVENT_EVICTION, 0, (int64_t)((entry *)e)->base.bytes);
    entry_free(e);
}
static void start(void) { ef_cache_share(&cache, EF_KEPT_PROGRAMS, &lock, leave, end); }

static entry *used(ef_cache_entry *found) {
    entry *e = (entry *)found;
    family *f = e != NULL ? e->family : NULL;
    if (f != NULL && f->newest != e) {
        unlink_kin(f, e);
        lead_family(f, e);
    }
    return e;
}

static entry *find(ef_graph *g) { return used(ef_cache_find(&cache, ef_graph_hash(g), same, g)); }

typedef struct without { /* a graph without its constants */
    const ef_graph *graph;
    const bool *taken;
} without;

static bool same_without(const void *value, const void *key) {
    const without *w = key;
    return ef_graph_equal_without(w->graph, w->taken, ((const entry *)value)->source);
}

static ef_status *put(entry *e) {
    EF_TRY(ef_cache_put(&cache, &e->base));
    join_family(e);
    if (e->family == NULL || e->family->n <= MOST_KIN) return NULL;
    entry *last = e->family->oldest;
    ef_cache_remove(&cache, &last->base);
    cache.evictions++;
    ef_event_ended(EF_EVENT_EVICTION, 0, (int64_t)last->base.bytes);
    evict(&last->base);
    return NULL;
}

static ef_status *make(ef_graph *g, ef_program **out) {
    ef_graph *best = NULL;
    uint64_t began = ef_event_clock();
    EF_TRY(ef_optimise(g, &best));
    ef_status *s = ef_program_make(best, NULL, out);
    ef_graph_unref(best);
    if (s == NULL) ef_event_ended(EF_EVENT_COMPILE, began, (int64_t)g->n_nodes);
    return s;
}

/* Puts the program of g into the cache, or only a note that g was seen (program NULL). If another
 * thread was faster, *program becomes that thread's. A program that cannot be cached still runs. */
static void keep(ef_graph *g, ef_program **program) {
    entry *fresh = ef_calloc(1, sizeof *fresh);
    if (fresh == NULL) return;
    fresh->source = ef_graph_ref(g);
    fresh->program = program != NULL ? ef_program_ref(*program) : NULL;
    fresh->base.hash = ef_graph_hash(g);
    fresh->base.bytes = sizeof *fresh + ef_graph_bytes(g); /* programs charge their own */
    ef_budget_resize(EF_KEPT_PROGRAMS, 0, fresh->base.bytes);
    ef_program *double_work = NULL;
    ef_status *s = NULL;
    ef_mutex_lock(&lock);
    entry *there = find(g);
    if (there == NULL) {
        s = put(fresh);
        if (s == NULL) fresh = NULL;
    } else if (program != NULL && there->program == NULL) {
        there->program = fresh->program;
        fresh->program = NULL;
    } else if (program != NULL) {
        double_work = *program;
        *program = ef_program_ref(there->program);
    }
    unlock();
    ef_program_unref(double_work);
    if (fresh != NULL) entry_free(fresh);
    ef_status_free(s);
}

/* Returns whether g was seen before; *program: its program, counted, or NULL. */
static bool look_up(ef_graph *g, ef_program **program) {
    pthread_once(&once, start);
    ef_mutex_lock(&lock);
    const entry *e = find(g);
    *program = e != NULL && e->program != NULL ? ef_program_ref(e->program) : NULL;
    unlock();
    return e != NULL;
}

/* A program that takes the constants of g as inputs, if there is one: found without making the
 * graph that is its key. */
static ef_status *bind_known(const ef_graph *g, ef_program **out) {
    ef_numbers x;
    EF_TRY(ef_numbers_find(g, &x));
    if (x.n == 0) return NULL; /* and nothing to free */
    without key = {g, x.taken};
    uint64_t hash = ef_graph_hash_without(g, x.taken);
    ef_mutex_lock(&lock);
    const entry *e = used(ef_cache_find(&cache, hash, same_without, &key));
    ef_program *base = e != NULL && e->program != NULL ? ef_program_ref(e->program) : NULL;
    unlock();
    ef_status *s = base != NULL ? ef_program_bind(base, x.value, x.n, out) : NULL;
    ef_program_unref(base);
    ef_numbers_free(&x);
    return s;
}

/* A graph that was seen before with other constants: one program serves them all. */
static ef_status *compile_lifted(const ef_lifted *l, ef_program *base, ef_program **out) {
    if (base == NULL) {
        EF_TRY(make(l->graph, &base));
        keep(l->graph, &base);
    }
    ef_status *s = ef_program_bind(base, l->value, l->n, out);
    ef_program_unref(base);
    return s;
}

static ef_status *compile(ef_graph *g, ef_program **out) {
    ef_lifted l;
    ef_status *s = ef_lift(g, &l);
    if (s != NULL && ef_status_code(s) == EF_NO_MEMORY) return s;
    ef_status_free(s); /* its constants are compiled in */
    s = NULL;
    ef_program *base = NULL;
    bool again = l.graph != NULL && look_up(l.graph, &base);
    if (again) s = compile_lifted(&l, base, out);
    if (!again || (s != NULL && ef_status_code(s) != EF_NO_MEMORY)) {
        ef_status_free(s);
        s = make(g, out);
        if (s == NULL) keep(g, out);
        if (s == NULL && l.graph != NULL) keep(l.graph, NULL);
    }
    ef_lifted_free(&l);
    return s;
}

ef_status *ef_compile_known(ef_graph *g, ef_program **out) {
    look_up(g, out);
    if (*out == NULL) EF_TRY(bind_known(g, out));
    if (*out != NULL) ef_event_count_add(EF_EVENT_CACHE_HIT, 1);
    return NULL;
}

ef_status *ef_compile(ef_graph *g, ef_program **out) {
    EF_TRY(ef_compile_known(g, out));
    if (*out != NULL) return NULL;
    ef_event_count_add(EF_EVENT_CACHE_MISS, 1);
    return compile(g, out);
}

void ef_compile_info_get(ef_compile_info *out) {
    pthread_once(&once, start);
    ef_mutex_lock(&lock);
    *out = (ef_compile_info){cache.hits, cache.misses, cache.evictions, cache.map.n, cache.bytes};
    unlock();
}

void ef_compile_clear(void) {
    pthread_once(&once, start);
    ef_mutex_lock(&lock);
    while (cache.oldest != NULL) {
        ef_cache_entry *e = cache.oldest;
        ef_cache_remove(&cache, e);
        evict(e);
    }
    unlock();
}
