/* Programs: finding or making the plan for the input shapes, binding it to a frame, running it. The
 * look-up compares dims with those of the most recently used plans before it searches the table, so
 * that its time does not grow with the number of plans. A new set of shapes costs one more plan;
 * the passes do not run again. */
#include "plan/program.h"
#include "base/alloc.h"
#include "base/budget.h"
#include "base/interrupt.h"
#include "base/making.h"
#include "base/mutex.h"
#include "base/pool.h"
#include "plan/arena.h"
#include "profile/event.h"

typedef struct shaped_plan { /* newest first */
    struct shaped_plan *next, *prev;
    ef_plan *plan;
    int users; /* frames in use; the last one frees an evicted plan */
    bool evicted;
    int64_t *key;             /* rank and dims of every input; of a handle: its variable's */
    uint64_t hash;            /* of the key */
    int wanted;               /* device that was asked for, as in ef_context */
    struct shaped_plan *same; /* the next in its bucket */
    bool heavy;
    size_t bytes;  /* charged to the budget of all caches */
    uint64_t used; /* the tick of its last use */
} shaped_plan;

enum {
    RECENT = 8,          /* plans that are compared one by one */
    BUCKETS = 128,       /* a power of two */
    WINDOW = 16,         /* the most recently used plans, which are not evicted */
    AGING = 8,           /* one of so many evictions takes the oldest */
    GONE_BITS = 1 << 14, /* of the filter of evicted plans: a power of two */
    GONE_MARKS = 4       /* bits of one plan in it */
};

struct ef_program {
    ef_keeper keeper; /* first; of its plans */
    size_t bytes;     /* charged for itself */
    atomic_int refs;
    ef_graph *graph;
    ef_mutex lock; /* guards the list of plans, their users and idle frames */
    ef_makers makers;
    shaped_plan *newest, *oldest;
    shaped_plan **bucket; /* all plans by hash; NULL until there are more than RECENT */
    int n_plans;
    size_t key_words;
    uint8_t *own; /* inputs that are moved in; NULL: none */
    bool home;    /* outputs must be on the host */
    uint64_t made, evicted;
    uint8_t *gone;    /* a Bloom filter of the hashes of evicted plans; NULL: none was evicted */
    ef_program *base; /* of a bound program: counted; the rest is not used */
    ef_tensor *bound;
    size_t n_bound;
};

static void *take_plan(ef_keeper *k);
static void end_plan(void *s);

ef_status *ef_program_make(ef_graph *g, const uint8_t *own_inputs, ef_program **out) {
    ef_program *p = ef_calloc(1, sizeof *p);
    if (p == NULL) return ef_no_memory(sizeof *p);
    if (own_inputs != NULL) {
        if ((p->own = ef_malloc(g->n_inputs + 1)) == NULL) {
            ef_free(p);
            return ef_no_memory(g->n_inputs);
        }
        memcpy(p->own, own_inputs, g->n_inputs);
    }
    atomic_init(&p->refs, 1);
    p->bytes = sizeof *p + ef_graph_bytes(g);
    ef_budget_charge(EF_KEPT_PROGRAMS, p->bytes);
    p->keeper.kind = EF_KEPT_PLANS;
    p->keeper.take = take_plan;
    p->keeper.end = end_plan;
    ef_keeper_join(&p->keeper);
    p->graph = ef_graph_ref(g);
    p->key_words = g->n_inputs * (EF_MAX_RANK + 2);
    ef_mutex_init(&p->lock, EF_RANK_PROGRAM, EF_MUTEX_BIASED);
    ef_makers_init(&p->makers);
    *out = p;
    return NULL;
}

ef_status *ef_program_bind(ef_program *base, const ef_tensor *const *value, size_t n,
                           ef_program **out) {
    ef_program *p = ef_calloc(1, sizeof *p);
    ef_tensor *bound = ef_calloc(n + 1, sizeof *bound);
    if (p == NULL || bound == NULL) {
        ef_free(p);
        ef_free(bound);
        return ef_no_memory(n * sizeof *bound);
    }
    atomic_init(&p->refs, 1);
    p->base = ef_program_ref(base);
    p->graph = ef_graph_ref(base->graph);
    p->bound = bound;
    p->n_bound = n;
    for (size_t k = 0; k < n; k++) ef_tensor_copy(&bound[k], value[k]);
    ef_mutex_init(&p->lock, EF_RANK_PROGRAM, EF_MUTEX_BIASED);
    *out = p;
    return NULL;
}

ef_program *ef_program_ref(ef_program *p) {
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

static void shaped_free(shaped_plan *s) {
    ef_budget_credit(EF_KEPT_PLANS, s->bytes);
    ef_plan_free(s->plan);
    ef_free(s->key);
    ef_free(s);
}

void ef_program_unref(ef_program *p) {
    if (p == NULL || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    if (p->base == NULL) {
        ef_makers_destroy(&p->makers);
        ef_keeper_leave(&p->keeper);
        ef_budget_credit(EF_KEPT_PROGRAMS, p->bytes);
    }
    for (shaped_plan *s = p->newest, *next; s != NULL; s = next) {
        next = s->next;
        shaped_free(s);
    }
    ef_free(p->bucket);
    ef_free(p->gone);
    for (size_t k = 0; k < p->n_bound; k++) ef_tensor_release(&p->bound[k]);
    ef_free(p->bound);
    ef_program_unref(p->base);
    ef_graph_unref(p->graph);
    ef_mutex_destroy(&p->lock);
    ef_free(p->own);
    ef_free(p);
}

void ef_program_keep_home(ef_program *p) { p->home = true; }

ef_status *ef_program_text(ef_program *p, char **out, int32_t copies[3]) {
    if (p->base != NULL) p = p->base;
    *out = NULL;
    ef_mutex_lock(&p->lock);
    ef_status *s = p->newest != NULL ? ef_plan_text(p->newest->plan, out) : NULL;
    for (int k = 0; k < 3; k++) copies[k] = p->newest != NULL ? p->newest->plan->n_copies[k] : 0;
    ef_mutex_unlock(&p->lock);
    return s;
}

const ef_graph *ef_program_graph(const ef_program *p) { return p->graph; }

size_t ef_program_bytes(ef_program *p) {
    if (p->base != NULL) return ef_program_bytes(p->base) + sizeof *p;
    size_t n = sizeof *p + ef_graph_bytes(p->graph);
    ef_mutex_lock(&p->lock);
    if (p->bucket != NULL) n += BUCKETS * sizeof(shaped_plan *);
    for (shaped_plan *s = p->newest; s != NULL; s = s->next) n += ef_plan_bytes(s->plan);
    ef_mutex_unlock(&p->lock);
    return n;
}

void ef_program_counts(ef_program *p, uint64_t *made, uint64_t *evicted, uint64_t *kept) {
    if (p->base != NULL) p = p->base;
    ef_mutex_lock(&p->lock);
    *made = p->made;
    *evicted = p->evicted;
    *kept = (uint64_t)p->n_plans;
    ef_mutex_unlock(&p->lock);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A plan depends on the shape of each input or, for a variable's handle, on the variable's dtype
 * and shape. Returns the variable, or NULL. */
static const ef_variable *behind(const ef_tensor *t) {
    return t->dtype == EF_RESOURCE ? (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE)
                                   : NULL;
}

/* The device of an input is part of the key; it shares a word with the rank. */
static int64_t place_and_rank(const ef_tensor *t) {
    return (int64_t)t->rank + ((int64_t)t->device << 8);
}

static bool key_matches(const int64_t *key, ef_tensor *const *in, size_t n) {
    for (size_t k = 0; k < n; k++, key += EF_MAX_RANK + 2) {
        const ef_tensor *t = in[k];
        if (EF_LIKELY(t->dtype != EF_RESOURCE)) {
            if (key[0] != place_and_rank(t)) return false;
            for (int d = 0; d < t->rank; d++)
                if (key[1 + d] != t->dim[d]) return false;
            continue;
        }
        const ef_variable *v = behind(t);
        if (v == NULL) {
            if (key[EF_MAX_RANK + 1] != -1) return false;
            continue;
        }
        if (key[EF_MAX_RANK + 1] != ((int64_t)v->dtype | (int64_t)t->device << 8) ||
            key[0] != v->shape.rank)
            return false;
        for (int d = 0; d < v->shape.rank; d++)
            if (key[1 + d] != v->shape.dim[d]) return false;
    }
    return true;
}

static void key_fill(int64_t *key, ef_tensor *const *in, size_t n, ef_fact *facts,
                     ef_fact *handles) {
    for (size_t k = 0; k < n; k++, key += EF_MAX_RANK + 2) {
        const ef_tensor *t = in[k];
        const ef_variable *v = behind(t);
        facts[k] = (ef_fact){.dtype = (ef_dtype)t->dtype, .shape = ef_shape_from(t)};
        if (v != NULL) {
            handles[k] = (ef_fact){.dtype = v->dtype, .shape = v->shape};
            facts[k].handle = &handles[k];
        }
        const ef_shape *s = v != NULL ? &v->shape : &facts[k].shape;
        key[0] = v != NULL ? s->rank : place_and_rank(t);
        for (int d = 0; d < s->rank; d++) key[1 + d] = s->dim[d];
        key[EF_MAX_RANK + 1] = v != NULL ? ((int64_t)v->dtype | (int64_t)t->device << 8) : -1;
    }
}

static uint64_t mix(uint64_t h, int64_t word) {
    h = (h ^ (uint64_t)word) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* Equal for inputs that key_matches finds equal. */
static uint64_t key_hash(ef_tensor *const *in, size_t n) {
    uint64_t h = n;
    for (size_t k = 0; k < n; k++) {
        const ef_tensor *t = in[k];
        const ef_variable *v = behind(t);
        if (t->dtype == EF_RESOURCE && v == NULL) continue;
        int rank = v != NULL ? v->shape.rank : t->rank;
        const int64_t *dim = v != NULL ? v->shape.dim : t->dim;
        h = mix(h, rank);
        for (int d = 0; d < rank; d++) h = mix(h, dim[d]);
    }
    return h;
}

/* ---- the list of plans, newest first (under the lock) ------------------------------------------
 */

static shaped_plan **bucket_of(const ef_program *p, uint64_t hash) {
    return &p->bucket[hash & (BUCKETS - 1)];
}

static void list_remove(ef_program *p, shaped_plan *s) {
    *(s->prev != NULL ? &s->prev->next : &p->newest) = s->next;
    *(s->next != NULL ? &s->next->prev : &p->oldest) = s->prev;
    s->next = s->prev = NULL;
}

static void list_push(ef_program *p, shaped_plan *s) {
    s->prev = NULL;
    s->next = p->newest;
    *(p->newest != NULL ? &p->newest->prev : &p->oldest) = s;
    p->newest = s;
}

static void table_push(ef_program *p, shaped_plan *s) {
    shaped_plan **at = bucket_of(p, s->hash);
    s->same = *at;
    *at = s;
}

static void forget(ef_program *p, shaped_plan *s) {
    list_remove(p, s);
    p->n_plans--;
    if (p->bucket == NULL) return;
    shaped_plan **at = bucket_of(p, s->hash);
    while (*at != s) at = &(*at)->same;
    *at = s->same;
}

static void remember(ef_program *p, shaped_plan *s) {
    list_push(p, s);
    p->n_plans++;
    if (p->bucket != NULL) {
        table_push(p, s);
    } else if (p->n_plans > RECENT) { /* without memory for a table, the list is searched */
        p->bucket = ef_calloc(BUCKETS, sizeof(shaped_plan *));
        for (shaped_plan *q = p->newest; p->bucket != NULL && q != NULL; q = q->next)
            table_push(p, q);
    }
}

/* The budget reads when the oldest plan was used. */
static void note_oldest(ef_program *p) {
    ef_keeper_oldest(&p->keeper, p->oldest != NULL ? p->oldest->used : UINT64_MAX);
}

static bool fits(const shaped_plan *s, ef_tensor *const *in, size_t n, int wanted) {
    return key_matches(s->key, in, n) && s->wanted == wanted;
}

static shaped_plan *find(ef_program *p, ef_tensor *const *in, int wanted) {
    size_t n = p->graph->n_inputs;
    shaped_plan *s = p->newest;
    for (int k = 0; s != NULL && !fits(s, in, n, wanted); k++) {
        if (k == RECENT && p->bucket != NULL) {
            s = *bucket_of(p, key_hash(in, n));
            while (s != NULL && !fits(s, in, n, wanted)) s = s->same;
            break;
        }
        s = s->next;
    }
    if (s == NULL) return NULL;
    if (s != p->newest) {
        list_remove(p, s);
        list_push(p, s);
    }
    s->used = ef_budget_now();
    note_oldest(p);
    return s;
}

/* If more sizes recur in a cycle than there is room for, evicting the least recently used would
 * evict each size just before it is needed again; and if every size is new, its plan would reuse
 * the coldest memory. So a recently made plan is evicted, and the oldest only now and then. */
static shaped_plan *to_evict(ef_program *p) {
    if (p->evicted % AGING == AGING - 1) return p->oldest;
    shaped_plan *s = p->newest;
    for (int k = 0; k < WINDOW && s->next != NULL; k++) s = s->next;
    return s;
}

/* Bit k of a plan in the filter of evicted ones. */
static uint8_t *gone_byte(const ef_program *p, uint64_t hash, int k, uint8_t *bit) {
    uint64_t at = (hash * 0x9E3779B97F4A7C15u >> 14 * k) & (GONE_BITS - 1);
    *bit = (uint8_t)(1u << at % 8);
    return &p->gone[at / 8];
}

/* Whether a plan of this hash was evicted before: events tell a size that comes back from a new
 * one. The filter answers yes for a few per cent of the new sizes once there were thousands. */
static bool was_evicted(const ef_program *p, uint64_t hash) {
    uint8_t bit;
    for (int k = 0; k < GONE_MARKS && p->gone != NULL; k++)
        if (!(*gone_byte(p, hash, k, &bit) & bit)) return false;
    return p->gone != NULL;
}

/* Without memory for the filter nothing is noted. */
static void note_evicted(ef_program *p, uint64_t hash) {
    uint8_t bit;
    if (p->gone == NULL) p->gone = ef_calloc(1, GONE_BITS / 8);
    for (int k = 0; k < GONE_MARKS && p->gone != NULL; k++) *gone_byte(p, hash, k, &bit) |= bit;
}

/* Evicts s. Returns it if nobody uses it, for the caller to free; else NULL. A plan in use is
 * credited now: its last user frees it, and evicting more meanwhile would not free its bytes. */
static shaped_plan *evict(ef_program *p, shaped_plan *s) {
    forget(p, s);
    note_evicted(p, s->hash);
    p->evicted++;
    s->evicted = true;
    note_oldest(p);
    if (s->users == 0) return s;
    ef_budget_resize(EF_KEPT_PLANS, s->bytes, 0);
    s->bytes = 0;
    return NULL;
}

/* Called after a plan was added. The caller frees the plan that is returned after it has released
 * the lock: plans of loops own programs, which lock the budget's list when they end. NULL: nothing
 * to free. */
static shaped_plan *evict_beyond_bound(ef_program *p) {
    return p->n_plans > EF_PROGRAM_PLANS ? evict(p, to_evict(p)) : NULL;
}

static shaped_plan *oldest_idle(const ef_program *p) {
    shaped_plan *s = p->oldest;
    while (s != NULL && s->users > 0) s = s->prev;
    return s;
}

/* For the budget: evicts the oldest plan that nobody uses. The budget believes the oldest plan to
 * be one; if it is in use, it is only told of the first that is not. */
static void *take_plan(ef_keeper *k) {
    ef_program *p = (ef_program *)k;
    ef_mutex_lock(&p->lock);
    shaped_plan *s = oldest_idle(p), *idle = s;
    if (s != NULL && s == p->oldest) {
        s = evict(p, s);
        idle = oldest_idle(p);
    } else {
        s = NULL;
    }
    ef_keeper_oldest(&p->keeper, idle != NULL ? idle->used : UINT64_MAX);
    ef_mutex_unlock(&p->lock);
    return s;
}

static void end_plan(void *s) { shaped_free(s); }

static ef_status *check_inputs(const ef_program *p, ef_tensor *const *in) {
    for (size_t k = 0; k < p->graph->n_inputs; k++) {
        const ef_fact *want = p->graph->node[p->graph->input[k]]->out;
        if (in[k]->dtype != want->dtype)
            return ef_error(EF_INVALID, "input %zu is %s but the function takes %s; cast it", k,
                            ef_dtype_name((ef_dtype)in[k]->dtype), ef_dtype_name(want->dtype));
        ef_shape have = ef_shape_from(in[k]);
        if (!ef_shape_may_equal(&have, &want->shape))
            return ef_error(EF_INVALID, "input %zu is %s but the function takes %s", k,
                            EF_SHAPE(&have), EF_SHAPE(&want->shape));
    }
    return NULL;
}

static bool any_large(const ef_plan *p) {
    if (p->arena_bytes > (1u << 16)) return true;
    for (int32_t k = 0; k < p->n_slots; k++)
        if (p->slot[k].bytes > (1u << 16)) return true;
    return false;
}

/* Prefetches small inputs, which reach the cache while the plan is being made. */
static void fetch_ahead(ef_tensor *const *in, size_t n) {
    enum { LINE = 64, MOST = 1 << 15 };
    for (size_t k = 0; k < n; k++) {
        size_t bytes = (size_t)ef_count(in[k]) * ef_dtype_size((ef_dtype)in[k]->dtype);
        const char *data = in[k]->data;
        for (size_t at = 0; data != NULL && at < bytes && at < MOST; at += LINE)
            __builtin_prefetch(data + at);
    }
}

/* Posts an event that says which size differs from the plan used last, whose key is `last` (NULL:
 * there is none). `again`: these sizes had a plan before, which was evicted. */
static void post_plan(uint64_t began, const int64_t *last, const int64_t *now, size_t n_inputs,
                      bool again) {
    ef_event_new e = {.kind = EF_EVENT_PLAN, .began = began};
    enum { WORDS = EF_MAX_RANK + 2 };
    for (size_t k = 0; last != NULL && k < n_inputs * WORDS && e.reason == EF_REASON_NONE; k++) {
        if (last[k] == now[k]) continue;
        size_t axis = k % WORDS - 1;
        e.reason = k % WORDS == 0 || axis >= EF_MAX_RANK ? EF_REASON_DTYPE : EF_REASON_SHAPE;
        if (e.reason == EF_REASON_DTYPE) continue;
        e.value[0] = (int64_t)(k / WORDS * 16 + axis);
        e.value[1] = last[k];
        e.value[2] = now[k];
    }
    if (e.reason == EF_REASON_SHAPE && again) e.reason = EF_REASON_FORGOTTEN;
    ef_event_post(&e);
}

/* Whether planning fails because of the shapes of the inputs alone, whatever their values. */
static bool shapes_do_not_fit(const ef_program *p, ef_fact *facts, size_t n,
                              const ef_plan_options *options) {
    ef_plan *plan = NULL;
    for (size_t k = 0; k < n; k++) facts[k].value = NULL;
    ef_status *bad = ef_plan_make(p->graph, facts, options, &plan);
    if (bad == NULL) ef_plan_free(plan);
    bool found = bad != NULL && ef_status_code(bad) == EF_INVALID;
    ef_status_free(bad);
    return found;
}

static ef_status *plan_for(ef_context *context, ef_program *p, ef_tensor *const *in,
                           shaped_plan **out) {
    EF_TRY(check_inputs(p, in));
    size_t n = p->graph->n_inputs;
    fetch_ahead(in, n);
    shaped_plan *s = ef_calloc(1, sizeof *s);
    ef_fact *facts = ef_malloc((2 * n + 1) * sizeof *facts + n);
    ef_status *bad = NULL;
    if (s != NULL) s->key = ef_calloc(p->key_words + 1, sizeof *s->key);
    if (s == NULL || facts == NULL || s->key == NULL) {
        bad = ef_no_memory(n * sizeof *facts);
    } else {
        key_fill(s->key, in, n, facts, facts + n);
        s->hash = key_hash(in, n);
        s->wanted = context->wanted;
        uint8_t *in_device = (uint8_t *)(facts + 2 * n);
        for (size_t k = 0; k < n; k++) in_device[k] = in[k]->device;
        ef_plan_options options = {.wanted = s->wanted,
                                   .in_device = in_device,
                                   .own_inputs = p->own,
                                   .host_outputs = p->home};
        bad = ef_plan_make(p->graph, facts, &options, &s->plan);
        if (bad != NULL && shapes_do_not_fit(p, facts, n, &options))
            bad = ef_status_found_before_run(bad);
    }
    ef_free(facts);
    if (bad != NULL || s == NULL) {
        if (s != NULL) ef_free(s->key);
        ef_free(s);
        return bad;
    }
    s->heavy = any_large(s->plan);
    s->bytes = sizeof *s + p->key_words * sizeof *s->key + ef_plan_bytes(s->plan) +
               (size_t)s->plan->n_slots * sizeof(ef_tensor) +
               (size_t)s->plan->n_steps * sizeof(ef_step); /* and a frame */
    s->used = ef_budget_charge(EF_KEPT_PLANS, s->bytes);
    *out = s;
    return NULL;
}

/* A plan for these inputs, marked as used, and an idle frame of it if there is one. NULL: *bad says
 * why. */
static shaped_plan *acquire(ef_context *context, ef_program *p, ef_tensor *const *in,
                            ef_frame **frame, ef_status **bad) {
    ef_mutex_lock(&p->lock);
    shaped_plan *s = find(p, in, context->wanted), *gone = NULL;
    ef_making mine;
    bool fresh = s == NULL;
    if (EF_UNLIKELY(fresh)) {
        uint64_t hash = mix(key_hash(in, p->graph->n_inputs), context->wanted);
        while (s == NULL && !ef_making_begin(&p->makers, &p->lock, &mine, hash))
            s = find(p, in, context->wanted);
        fresh = s == NULL;
    }
    if (EF_UNLIKELY(fresh)) {
        ef_mutex_unlock(&p->lock); /* planning may take a while; others go on */
        uint64_t began = ef_event_clock();
        *bad = plan_for(context, p, in, &s);
        ef_mutex_lock(&p->lock);
        ef_making_end(&p->makers, &mine);
        if (s == NULL) {
            ef_mutex_unlock(&p->lock);
            return NULL;
        }
        post_plan(began, p->newest != NULL ? p->newest->key : NULL, s->key, p->graph->n_inputs,
                  was_evicted(p, s->hash));
        p->made++;
        shaped_plan *there = find(p, in, context->wanted);
        if (there != NULL) { /* another thread did not wait, but planned the same */
            gone = s;
            s = there;
        } else {
            remember(p, s);
        }
    }
    s->users++;
    ef_frame *f = s->plan->frames;
    if (EF_LIKELY(f != NULL)) {
        s->plan->frames = f->next;
        s->plan->n_frames--;
    }
    if (EF_UNLIKELY(fresh && gone == NULL)) {
        gone = evict_beyond_bound(p);
        note_oldest(p);
    }
    ef_mutex_unlock(&p->lock);
    if (EF_UNLIKELY(gone != NULL)) shaped_free(gone);
    if (EF_UNLIKELY(fresh)) ef_budget_keep();
    *frame = f;
    return s;
}

enum { IDLE_FRAMES = 8 }; /* if more threads run a plan, some make a frame in each call */

static void release(ef_program *p, shaped_plan *s, ef_frame *f) {
    ef_frame *surplus = NULL;
    ef_mutex_lock(&p->lock);
    if (f != NULL && s->plan->n_frames < IDLE_FRAMES) {
        f->next = s->plan->frames;
        s->plan->frames = f;
        s->plan->n_frames++;
    } else {
        surplus = f;
    }
    bool gone = --s->users == 0 && s->evicted;
    if (EF_UNLIKELY(s->users == 0 && !gone && s->used < ef_keeper_oldest_get(&p->keeper)))
        ef_keeper_oldest(&p->keeper, s->used); /* it may be evicted again */
    ef_mutex_unlock(&p->lock);
    ef_frame_free(surplus);
    if (gone) shaped_free(s);
}

static ef_status *run_frame(ef_context *context, const ef_program *p, ef_frame *f,
                            ef_tensor *const *in, ef_tensor *out) {
    char *arena;
    EF_TRY(ef_call_arena_take(context->device, f->plan->arena_bytes, &arena));
    ef_frame_bind(f, context, arena);
    for (size_t k = 0; k < p->graph->n_inputs; k++) {
        if (EF_UNLIKELY(p->own != NULL && p->own[k]))
            ef_frame_input_take(f, (int)k, in[k]);
        else
            ef_frame_input(f, (int)k, in[k]);
    }
    ef_status *s = ef_frame_run(f);
    int n = 0;
    while (s == NULL && n < f->plan->n_outputs) {
        s = ef_frame_take(f, n, &out[n]);
        if (s == NULL) s = ef_tensor_leave_slab(&out[n++]);
    }
    if (s != NULL) {
        while (n > 0) ef_tensor_release(&out[--n]);
        ef_frame_clear(f);
    } else {
        ef_frame_finish(f);
    }
    ef_call_arena_release();
    return s;
}

static ef_status *run_own(ef_context *context, ef_program *p, ef_tensor *const *in,
                          ef_tensor *out) {
    ef_frame *frame = NULL;
    ef_status *s = NULL;
    shaped_plan *plan = acquire(context, p, in, &frame, &s);
    if (plan == NULL) return s;
    if (frame == NULL) s = ef_frame_make(plan->plan, &frame);
    if (s == NULL) {
        if (plan->heavy) ef_pool_enter(context);
        s = run_frame(context, p, frame, in, out);
        if (plan->heavy) ef_pool_leave(context);
    }
    release(p, plan, frame);
    return s;
}

/* Runs the base with the constants as its last inputs; a base has no base itself. */
static ef_status *run_bound(ef_context *context, ef_program *p, ef_tensor *const *in,
                            ef_tensor *out) {
    size_t n = p->base->graph->n_inputs, own = n - p->n_bound;
    ef_tensor *few[32] = {NULL}, **all = few;
    if (n > 32 && (all = ef_malloc(n * sizeof(ef_tensor *))) == NULL)
        return ef_no_memory(n * sizeof *all);
    for (size_t k = 0; k < n; k++) all[k] = k < own ? in[k] : &p->bound[k - own];
    ef_status *s = run_own(context, p->base, all, out);
    if (all != few) ef_free(all);
    return s;
}

ef_status *ef_program_run(ef_context *context, ef_program *p, ef_tensor *const *in,
                          ef_tensor *out) {
    EF_TRY(ef_interrupt_enter(context));
    return EF_UNLIKELY(p->base != NULL) ? run_bound(context, p, in, out)
                                        : run_own(context, p, in, out);
}
