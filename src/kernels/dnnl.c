/* Chains of oneDNN primitives: building, caching, running. */
#include "kernels/dnnl.h"
#include "base/alloc.h"
#include "base/cache.h"
#include "base/clock.h"
#include "base/event_hook.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "base/signal_stack.h"
#include "tensor/scratch.h"
#include <stdatomic.h>

enum { SPARES = 16, PRIMITIVE_BYTES = 48 << 10 };

/* Temporaries begin on a page, as they do when the library allocates memory itself: some of its
 * kernels take 1.5 times as long if buffers collide in the cache. */
enum { PAGE = 4096 };

typedef struct slot {
    dnnl_memory_desc_t md;
    int given; /* index into the caller's data, or -1 */
    size_t at; /* otherwise its offset in scratch memory */
} slot;

typedef struct stage {
    dnnl_primitive_t primitive;
    int n, arg[EF_CHAIN_ARGS], slot[EF_CHAIN_ARGS];
} stage;

/* What each concurrent run needs for itself: memory objects and argument lists. */
typedef struct context {
    dnnl_stream_t stream;
    dnnl_memory_t memory[EF_CHAIN_SLOTS];
    dnnl_exec_arg_t arg[EF_CHAIN_STAGES][EF_CHAIN_ARGS];
} context;

struct ef_chain {
    ef_cache_entry entry; /* must be first: the cache links through it */
    atomic_int refs;
    int n_slots, n_given, n_stages;
    bool slow;
    size_t scratch;
    slot slot[EF_CHAIN_SLOTS];
    stage stage[EF_CHAIN_STAGES];
    ef_chain *part[EF_CHAIN_PARTS];
    _Atomic(context *) spare[SPARES];
    size_t key_bytes;
    unsigned char key[];
};

static pthread_once_t engine_once = PTHREAD_ONCE_INIT;
static dnnl_engine_t engine;
static dnnl_status_t engine_status;

static void make_engine(void) {
    engine_status = dnnl_engine_create(&engine, dnnl_cpu, 0);
    /* Chains are cached here; a second large cache in oneDNN would only hold memory. */
    (void)dnnl_set_primitive_cache_capacity(256);
}

ef_status *ef_dnnl_status(dnnl_status_t s, const char *what) {
    if (EF_LIKELY(s == dnnl_success)) return NULL;
    if (s == dnnl_out_of_memory)
        return ef_error(EF_NO_MEMORY, "oneDNN ran out of memory and could not %s", what);
    return ef_error(EF_INTERNAL, "oneDNN could not %s (its status is %d)", what, (int)s);
}

ef_status *ef_dnnl_engine(dnnl_engine_t *out) {
    pthread_once(&engine_once, make_engine);
    *out = engine;
    return ef_dnnl_status(engine_status, "make its CPU engine");
}

static ef_status *add_slot(ef_chain *c, const dnnl_memory_desc_t *md, int *out) {
    if (c->n_slots == EF_CHAIN_SLOTS)
        return ef_error(EF_INTERNAL, "a chain of primitives has more than %d memory slots",
                        EF_CHAIN_SLOTS);
    *out = c->n_slots++;
    c->slot[*out] = (slot){.md = *md, .given = -1};
    return NULL;
}

ef_status *ef_chain_given(ef_chain *c, const dnnl_memory_desc_t *md, int *out) {
    EF_TRY(add_slot(c, md, out));
    c->slot[*out].given = c->n_given++;
    return NULL;
}

ef_status *ef_chain_temp(ef_chain *c, const dnnl_memory_desc_t *md, int *out) {
    EF_TRY(add_slot(c, md, out));
    c->slot[*out].at = c->scratch;
    c->scratch += (dnnl_memory_desc_get_size(md) + 63) / 64 * 64;
    return NULL;
}

ef_status *ef_chain_add(ef_chain *c, dnnl_primitive_desc_t pd, int n, const int *arg,
                        const int *slots) {
    ef_status *s = NULL;
    stage *st = &c->stage[c->n_stages];
    if (c->n_stages == EF_CHAIN_STAGES || n >= EF_CHAIN_ARGS) {
        s = ef_error(EF_INTERNAL, "a chain of primitives is too long");
        goto done;
    }
    const char *name = NULL;
    (void)dnnl_primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name);
    if (name != NULL && strncmp(name, "ref", 3) == 0) c->slow = true;
    for (int k = 0; k < n; k++) st->arg[k] = arg[k], st->slot[k] = slots[k];
    st->n = n;
    const dnnl_memory_desc_t *pad = dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    if (pad != NULL && dnnl_memory_desc_get_size(pad) > 0) {
        st->arg[n] = DNNL_ARG_SCRATCHPAD;
        EF_TRY_GOTO(ef_chain_temp(c, pad, &st->slot[n]));
        st->n++;
    }
    EF_TRY_GOTO(ef_dnnl_status(dnnl_primitive_create(&st->primitive, pd), "make a primitive"));
    c->n_stages++;
done:
    dnnl_primitive_desc_destroy(pd);
    return s;
}

ef_status *ef_chain_reorder(ef_chain *c, int from, int to) {
    dnnl_engine_t e;
    EF_TRY(ef_dnnl_engine(&e));
    dnnl_primitive_attr_t attr;
    EF_TRY(ef_dnnl_status(dnnl_primitive_attr_create(&attr), "make attributes"));
    dnnl_primitive_desc_t pd = NULL;
    dnnl_status_t r = dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
    if (r == dnnl_success)
        r = dnnl_reorder_primitive_desc_create(&pd, &c->slot[from].md, e, &c->slot[to].md, e, attr);
    dnnl_primitive_attr_destroy(attr);
    EF_TRY(ef_dnnl_status(r, "describe a reorder"));
    const int arg[2] = {DNNL_ARG_FROM, DNNL_ARG_TO}, slots[2] = {from, to};
    return ef_chain_add(c, pd, 2, arg, slots);
}

static void context_free(context *x) {
    if (x == NULL) return;
    for (int k = 0; k < EF_CHAIN_SLOTS; k++)
        if (x->memory[k] != NULL) dnnl_memory_destroy(x->memory[k]);
    if (x->stream != NULL) dnnl_stream_destroy(x->stream);
    ef_free(x);
}

static ef_status *context_make(const ef_chain *c, context **out) {
    ef_status *s = NULL;
    context *x = ef_calloc(1, sizeof *x);
    if (x == NULL) return ef_no_memory(sizeof *x);
    EF_TRY_GOTO(ef_dnnl_status(dnnl_stream_create(&x->stream, engine, dnnl_stream_default_flags),
                               "make a stream"));
    for (int k = 0; k < c->n_slots; k++)
        EF_TRY_GOTO(ef_dnnl_status(
            dnnl_memory_create(&x->memory[k], &c->slot[k].md, engine, DNNL_MEMORY_NONE),
            "make a memory object"));
    for (int k = 0; k < c->n_stages; k++)
        for (int a = 0; a < c->stage[k].n; a++)
            x->arg[k][a] = (dnnl_exec_arg_t){c->stage[k].arg[a], x->memory[c->stage[k].slot[a]]};
    *out = x;
    return NULL;
done:
    context_free(x);
    return s;
}

static void chain_free(ef_chain *c) {
    if (c->entry.bytes > 0) ef_budget_credit(EF_KEPT_PRIMITIVES, c->entry.bytes);
    for (int k = 0; k < SPARES; k++) context_free(atomic_load(&c->spare[k]));
    for (int k = 0; k < c->n_stages; k++) dnnl_primitive_destroy(c->stage[k].primitive);
    for (int k = 0; k < EF_CHAIN_PARTS; k++) ef_chain_unref(c->part[k]);
    ef_free(c);
}

ef_chain *ef_chain_ref(ef_chain *c) {
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

void ef_chain_unref(ef_chain *c) {
    if (c != NULL && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        chain_free(c);
}

bool ef_chain_is_slow(const ef_chain *c) { return c->slow; }

void ef_chain_keep(ef_chain *c, ef_chain *part) {
    int k = 0;
    while (c->part[k] != NULL) k++;
    c->part[k] = part;
}

ef_chain *ef_chain_part(const ef_chain *c, int k) { return k < EF_CHAIN_PARTS ? c->part[k] : NULL; }
const void *ef_chain_key(const ef_chain *c) { return c->key; }
int ef_chain_stages(const ef_chain *c) { return c->n_stages; }
const dnnl_memory_desc_t *ef_chain_md(const ef_chain *c, int k) { return &c->slot[k].md; }
size_t ef_chain_scratch(const ef_chain *c) { return c->scratch > 0 ? c->scratch + PAGE : 0; }

/* The lock guards the cache. It is a leaf lock: while it is held, no other lock is taken and no
 * primitive is made. */
static ef_mutex lock = EF_MUTEX(PRIMITIVES);
static ef_cache cache;
static pthread_once_t cache_once = PTHREAD_ONCE_INIT;

typedef struct wanted {
    const void *key;
    size_t n;
    ef_chain_build *build;
} wanted;

static bool same(const void *value, const void *key) {
    const ef_chain *c = value;
    const wanted *w = key;
    return c->key_bytes == w->n && memcmp(c->key, w->key, w->n) == 0;
}
static void end(void *c) { ef_chain_unref(c); }
static void make_cache(void) { ef_cache_share(&cache, EF_KEPT_PRIMITIVES, &lock, NULL, end); }

static ef_chain *find(const wanted *w, uint64_t hash) {
    pthread_once(&cache_once, make_cache);
    ef_mutex_lock(&lock);
    ef_cache_entry *e = ef_cache_find(&cache, hash, same, w);
    ef_chain *c = e != NULL ? ef_chain_ref((ef_chain *)e) : NULL;
    ef_mutex_unlock(&lock);
    return c;
}

static ef_status *build_chain(const wanted *w, uint64_t hash, ef_chain **out) {
    ef_chain *c = ef_calloc(1, sizeof *c + w->n);
    if (c == NULL) return ef_no_memory(sizeof *c + w->n);
    atomic_init(&c->refs, 1);
    c->key_bytes = w->n;
    memcpy(c->key, w->key, w->n);
    c->entry.hash = hash;
    dnnl_engine_t e;
    ef_status *s = ef_dnnl_engine(&e);
    ef_pool_single(); /* oneDNN divides the work among threads when the primitive is made */
    if (s == NULL) s = w->build(c, w->key);
    int lanes = ef_pool_lanes() < SPARES ? ef_pool_lanes() : SPARES;
    for (int k = 0; k < lanes && s == NULL; k++) { /* made now, so that no later run has to */
        context *x = NULL;
        s = context_make(c, &x);
        atomic_store(&c->spare[k], x);
    }
    if (s != NULL) {
        chain_free(c);
        return s;
    }
    c->entry.bytes = sizeof *c + w->n + (size_t)c->n_stages * PRIMITIVE_BYTES;
    ef_budget_charge(EF_KEPT_PRIMITIVES, c->entry.bytes);
    *out = c;
    return NULL;
}

ef_status *ef_chain_get(const void *key, size_t key_bytes, ef_chain_build *build, ef_chain **out) {
    wanted w = {key, key_bytes, build};
    uint64_t hash = ef_hash_bytes(0, key, key_bytes);
    ef_chain *c = find(&w, hash);
    if (c != NULL) {
        *out = c;
        return NULL;
    }
    uint64_t began = ef_ticks();
    EF_TRY(build_chain(&w, hash, &c));
    ef_event_hook(EF_HOOKED_PRIMITIVE, began, c->n_stages);
    ef_mutex_lock(&lock);
    ef_cache_entry *other = ef_cache_find(&cache, hash, same, &w);
    ef_status *s = NULL;
    if (other == NULL) s = ef_cache_put(&cache, &ef_chain_ref(c)->entry);
    ef_mutex_unlock(&lock);
    if (s != NULL) { /* without caching it is slower, but correct */
        ef_chain_unref(c);
        ef_status_free(s);
    }
    *out = c;
    return NULL;
}

static context *take_free(ef_chain *c) {
    for (int k = 0; k < SPARES; k++) {
        if (atomic_load_explicit(&c->spare[k], memory_order_relaxed) == NULL) continue;
        context *x = atomic_exchange_explicit(&c->spare[k], NULL, memory_order_acq_rel);
        if (x != NULL) return x;
    }
    return NULL;
}

static void put_free(ef_chain *c, context *x) {
    for (int k = 0; k < SPARES; k++) {
        context *none = NULL;
        if (atomic_compare_exchange_strong_explicit(&c->spare[k], &none, x, memory_order_acq_rel,
                                                    memory_order_relaxed))
            return;
    }
    context_free(x);
}

static ef_status *run_stages(ef_chain *c, int from, int to, void *const *data, void *scratch) {
    ef_status *s = NULL;
    context *x = take_free(c);
    if (x == NULL) EF_TRY(context_make(c, &x));
    char *own = NULL;
    if (c->scratch > 0 && scratch == NULL) {
        if ((own = ef_scratch_take(ef_chain_scratch(c))) == NULL) {
            s = ef_no_memory(c->scratch);
            goto done;
        }
        scratch = own;
    }
    char *page = scratch;
    if (page != NULL) page += (PAGE - (uintptr_t)page % PAGE) % PAGE;
    for (int k = 0; k < c->n_slots; k++) {
        const slot *l = &c->slot[k];
        void *p = l->given >= 0 ? data[l->given] : page + l->at;
        EF_TRY_GOTO(ef_dnnl_status(dnnl_memory_set_data_handle(x->memory[k], p), "set a pointer"));
    }
    ef_signal_stack();
    ef_pool_single();
    for (int k = from; k < to; k++)
        EF_TRY_GOTO(ef_dnnl_status(
            dnnl_primitive_execute(c->stage[k].primitive, x->stream, c->stage[k].n, x->arg[k]),
            "run a primitive"));
    EF_TRY_GOTO(ef_dnnl_status(dnnl_stream_wait(x->stream), "wait for a primitive"));
done:
    ef_scratch_end(own);
    put_free(c, x);
    return s;
}

ef_status *ef_chain_run(ef_chain *c, void *const *data, void *scratch) {
    return run_stages(c, 0, c->n_stages, data, scratch);
}

ef_status *ef_chain_run_stage(ef_chain *c, int k, void *const *data) {
    return run_stages(c, k, k + 1, data, NULL);
}
