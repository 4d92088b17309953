/* Names of variables and tables: a small hash map per scope, guarded by one lock. While it is held,
 * no other lock is taken except those of queues when their session ends. */
#include "ops/state/variable_scope.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mutex.h"
#include <stdatomic.h>

typedef struct named {
    uint64_t hash;
    ef_object *object; /* counted */
    size_t n;          /* bytes of the key: container, NUL, name */
    char key[];
} named;

struct ef_scope {
    ef_map map;
    uint64_t id; /* unique; 0: the process's */
};

static ef_mutex lock = EF_MUTEX(SCOPE);
static ef_scope process;
static _Thread_local ef_scope *current;

ef_scope *ef_scope_make(void) {
    static atomic_uint_least64_t last;
    ef_scope *s = ef_calloc(1, sizeof *s);
    if (s != NULL) s->id = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return s;
}

uint64_t ef_scope_id(void) { return current != NULL ? current->id : 0; }

static void drop(named *e) {
    ef_storage_unref(&e->object->base);
    ef_free(e);
}

void ef_scope_clear(ef_scope *s) {
    if (s == NULL) s = &process;
    ef_mutex_lock(&lock);
    ef_map old = s->map;
    s->map = (ef_map){0};
    ef_mutex_unlock(&lock);
    for (size_t k = 0; k < old.cap; k++)
        if (old.slot[k].value != NULL) drop(old.slot[k].value);
    ef_map_free(&old);
}

void ef_scope_halt(ef_scope *s) {
    ef_mutex_lock(&lock);
    for (size_t k = 0; k < s->map.cap; k++) {
        const named *e = s->map.slot[k].value;
        if (e != NULL && e->object->halt != NULL) e->object->halt(e->object);
    }
    ef_mutex_unlock(&lock);
}

void ef_scope_free(ef_scope *s) {
    if (s == NULL) return;
    ef_scope_clear(s);
    ef_free(s);
}

ef_scope *ef_scope_enter(ef_scope *s) {
    ef_scope *old = current;
    current = s;
    return old;
}

static bool same(const void *value, const void *key) {
    const named *a = value, *b = key;
    return a->n == b->n && memcmp(a->key, b->key, a->n) == 0;
}

static named *entry(const ef_attr_text *container, const ef_attr_text *name) {
    named *e = ef_malloc(sizeof *e + container->n + 1 + name->n);
    if (e == NULL) return NULL;
    e->n = container->n + 1 + name->n;
    memcpy(e->key, container->at, container->n);
    e->key[container->n] = 0;
    memcpy(e->key + container->n + 1, name->at, name->n);
    e->hash = ef_hash_bytes(1, e->key, e->n);
    return e;
}

ef_status *ef_scope_object(const ef_attr_text *container, const ef_attr_text *name,
                           ef_scope_make_fn *make, const void *how, ef_object **out) {
    ef_scope *scope = current != NULL ? current : &process;
    named *mine = entry(container, name);
    if (mine == NULL) return ef_no_memory(sizeof *mine + name->n);
    ef_object *fresh = NULL;
    ef_status *s = NULL;
    for (;;) {
        ef_mutex_lock(&lock);
        named *e = ef_map_find(&scope->map, mine->hash, same, mine);
        if (e == NULL && fresh != NULL) {
            mine->object = fresh;
            s = ef_map_put(&scope->map, mine->hash, mine);
            if (s == NULL) e = mine;
        }
        if (e != NULL) {
            ef_storage_ref(&e->object->base);
            *out = e->object;
        }
        ef_mutex_unlock(&lock);
        if (e == mine) return NULL;
        if (e != NULL || s != NULL) break;
        EF_TRY_GOTO(make(how, name->at, &fresh));
    }
done:
    if (fresh != NULL) ef_storage_unref(&fresh->base);
    ef_free(mine);
    return s;
}

typedef struct wanted {
    ef_dtype dtype;
    const ef_shape *shape;
} wanted;

static ef_status *make_variable(const void *how, const char *name, ef_object **out) {
    const wanted *w = how;
    return ef_variable_make(w->dtype, w->shape, name, (ef_variable **)out);
}

ef_status *ef_scope_variable(const ef_attr_text *container, const ef_attr_text *name,
                             ef_dtype dtype, const ef_shape *shape, ef_variable **out) {
    ef_object *found = NULL;
    EF_TRY(ef_scope_object(container, name, make_variable, &(wanted){dtype, shape}, &found));
    ef_variable *v = (ef_variable *)found;
    if (found->kind == EF_OBJECT_VARIABLE && v->dtype == dtype) {
        *out = v;
        return NULL;
    }
    const char *what =
        found->kind == EF_OBJECT_VARIABLE ? ef_dtype_name(v->dtype) : found->type_name;
    ef_status *s = ef_error(EF_INVALID,
                            "VarHandleOp: a %s named %s exists and holds %s, not %s; use another "
                            "shared_name",
                            found->type_name, name->at, what, ef_dtype_name(dtype));
    ef_storage_unref(&found->base);
    return s;
}

void ef_scope_forget(const ef_variable *v) {
    named *found = NULL;
    for (int k = 0; k < 2 && found == NULL; k++) {
        ef_scope *scope = k == 0 ? current : &process;
        if (scope == NULL) continue;
        ef_mutex_lock(&lock);
        for (size_t j = 0; j < scope->map.cap && found == NULL; j++) {
            named *e = scope->map.slot[j].value;
            if (e != NULL && e->object == &v->object) found = e;
        }
        if (found != NULL) ef_map_remove(&scope->map, found->hash, found);
        ef_mutex_unlock(&lock);
    }
    if (found != NULL) drop(found);
}
