/* Places are interned: nodes made by one line share one, so a loop that builds a graph adds none.
 */
#include "graph/origin.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/text.h"

/* ---- watched graphs -------------------------------------------------------------------------- */

static ef_mutex lock = EF_MUTEX(WATCHED);
static ef_map watched;
static atomic_uint_fast64_t numbers;
static ef_place_fn *place_hook;

static bool has_number(const void *graph, const void *number) {
    return ((const ef_graph *)graph)->number == *(const uint64_t *)number;
}

ef_status *ef_graph_watch(ef_graph *g) {
    if (g->number != 0) return NULL;
    uint64_t number = atomic_fetch_add_explicit(&numbers, 1, memory_order_relaxed) + 1;
    ef_mutex_lock(&lock);
    ef_status *s = ef_map_put(&watched, number, g);
    ef_mutex_unlock(&lock);
    if (s == NULL) g->number = number;
    return s;
}

uint64_t ef_graph_number(const ef_graph *g) { return g->number; }

/* The last owner ends a graph without setting its count to 0, so a look-up may have added a
 * reference meanwhile. Once g is out of the table no look-up finds it. */
bool ef_graph_unwatch(ef_graph *g) {
    if (g->number == 0) return true;
    ef_mutex_lock(&lock);
    ef_map_remove(&watched, g->number, g);
    ef_mutex_unlock(&lock);
    if (atomic_load_explicit(&g->base.refs, memory_order_acquire) < 2) return true;
    return atomic_fetch_sub_explicit(&g->base.refs, 1, memory_order_acq_rel) == 1;
}

ef_graph *ef_graph_numbered(uint64_t number) {
    ef_mutex_lock(&lock);
    ef_graph *g = ef_map_find(&watched, number, has_number, &number);
    int refs = g != NULL ? atomic_load_explicit(&g->base.refs, memory_order_relaxed) : 0;
    while (refs > 0 && /* one without references is ending */
           !atomic_compare_exchange_weak_explicit(&g->base.refs, &refs, refs + 1,
                                                  memory_order_acquire, memory_order_relaxed)) {}
    ef_mutex_unlock(&lock);
    return refs > 0 ? g : NULL;
}

/* ---- places ---------------------------------------------------------------------------------- */

void ef_set_place_hook(ef_place_fn *hook) { place_hook = hook; }

static _Thread_local struct {
    const ef_graph *graph;
    int32_t place;
} here;

void ef_graph_note_place(ef_graph *g) {
    if (place_hook == NULL) return;
    here.graph = g;
    here.place = place_hook(g);
}

void ef_node_made(const ef_graph *g, ef_node *n) {
    n->device = ef_graph_device(g);
    if (g->number != 0) {
        n->origin = (ef_origin){g->number, n->serial, n->id};
        n->place = here.graph == g ? here.place : 0;
    } else if (g->copies != NULL) {
        n->origin = g->copies->origin;
    }
}

typedef struct place_key {
    const ef_graph *g;
    const char *file, *function;
    int32_t line, up;
} place_key;

static bool same_place(const void *value, const void *key) {
    const place_key *k = key;
    const ef_place *p = &k->g->place[(uintptr_t)value - 1];
    return p->line == k->line && p->up == k->up && strcmp(p->function, k->function) == 0 &&
           strcmp(p->file, k->file) == 0;
}

/* Programs have few files and functions: the last place that has the text shares it. */
static const char *kept_text(ef_graph *g, const char *text) {
    for (size_t k = g->n_places; k > 0 && k + 8 > g->n_places; k--) {
        if (strcmp(g->place[k - 1].file, text) == 0) return g->place[k - 1].file;
        if (strcmp(g->place[k - 1].function, text) == 0) return g->place[k - 1].function;
    }
    return ef_graph_text_keep(g, text);
}

/* Most graphs have few places, which are compared one by one; the table is for more. */
enum { FEW_PLACES = 8 };

static uint64_t hash_of(const char *function, int32_t line, int32_t up) {
    return ef_hash_mix(ef_hash_text(17, function), (uint64_t)line << 32 | (uint32_t)up);
}

/* The number of a place, from 1; 0: it is new. */
static uintptr_t known_place(const ef_graph *g, const place_key *key) {
    if (g->n_places > FEW_PLACES)
        return (uintptr_t)ef_map_find(&g->places, hash_of(key->function, key->line, key->up),
                                      same_place, key);
    uintptr_t k = g->n_places;
    while (k > 0 && !same_place((void *)k, key)) k--;
    return k;
}

/* Enters place k into the table; the first that needs it brings those before it. */
static ef_status *enter_place(ef_graph *g, uintptr_t k) {
    if (k <= FEW_PLACES) return NULL;
    for (uintptr_t at = g->places.n + 1; at <= k; at++) {
        const ef_place *p = &g->place[at - 1];
        EF_TRY(ef_map_put(&g->places, hash_of(p->function, p->line, p->up), (void *)at));
    }
    return NULL;
}

static int32_t intern(ef_graph *g, const place_key *key) {
    uintptr_t known = known_place(g, key);
    if (known != 0) return (int32_t)known;
    ef_status *s = EF_GROW(&g->place, &g->cap_places, g->n_places + 1);
    const char *file = s == NULL ? kept_text(g, key->file) : NULL;
    const char *function = file != NULL ? kept_text(g, key->function) : NULL;
    uintptr_t place = g->n_places + 1;
    if (function != NULL) {
        g->place[place - 1] = (ef_place){file, function, key->line, key->up};
        s = enter_place(g, place);
    }
    if (function == NULL || s != NULL) { /* messages will not name the place */
        ef_status_free(s);
        return 0;
    }
    g->n_places++;
    return (int32_t)place;
}

int ef_graph_place(ef_graph *g, const char *file, const char *function, int line, int up) {
    if (g == NULL || file == NULL || function == NULL) return 0;
    ef_graph_lock(g);
    bool known = up > 0 && (size_t)up <= g->n_places;
    int32_t place = intern(g, &(place_key){g, file, function, line, known ? up : 0});
    ef_graph_unlock(g);
    return place;
}

bool ef_graph_place_get(const ef_graph *g, int place, const char **file, const char **function,
                        int *line, int *up) {
    if (g == NULL || place <= 0 || (size_t)place > g->n_places) return false;
    const ef_place *p = &g->place[place - 1];
    *file = p->file;
    *function = p->function;
    *line = p->line;
    *up = p->up;
    return true;
}

void ef_place_text(const ef_graph *g, int32_t place, const char *indent, ef_text *out) {
    enum { MOST = 64 };
    int32_t chain[MOST];
    int n = 0;
    for (; place > 0 && n < MOST; place = g->place[place - 1].up) chain[n++] = place;
    while (n > 0) {
        const ef_place *p = &g->place[chain[--n] - 1];
        ef_text_add(out, "%sFile \"%s\", line %d, in %s\n", indent, p->file, (int)p->line,
                    p->function);
    }
}
