/* All keepers are in one list. Eviction makes passes over it: each pass evicts the entries whose
 * last use falls into the oldest eighth of the time since the oldest use, until the bytes are below
 * seven eighths of the limit. So one pass over many keepers evicts many entries, and entries go in
 * the order of their last use except within one eighth. */
#include "base/budget.h"
#include "base/clock.h"
#include "base/event_hook.h"
#include "base/mutex.h"
#include "base/option.h"
#include <stdio.h>

static const int64_t default_limit = (int64_t)256 << 20;

typedef struct account {
    _Atomic int64_t bytes, entries;
    _Atomic uint64_t made, evicted;
} account;

_Atomic uint64_t ef_budget_ticks = 1;
_Atomic int64_t ef_budget_left = (int64_t)256 << 20;
static _Atomic int64_t limit = (int64_t)256 << 20;
/* Bytes that were left when nothing more could be evicted; 0: eviction reached its goal. */
static _Atomic int64_t held;
static account accounts[EF_KEPT_COUNT];

/* Guards the list; a keeper's own lock may be taken while it is held. */
static ef_mutex lock = EF_MUTEX(BUDGET);
static ef_keeper *keepers;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool logs; /* EF_LOG=cache; written once */

static const char *const names[] = {
#define NAME(N, text) text,
    EF_EACH_KEPT(NAME)
#undef NAME
};
const char *ef_kept_name(ef_kept kind) { return names[kind]; }

static void set_limit(int64_t bytes) {
    int64_t before = atomic_exchange(&limit, bytes);
    atomic_store(&held, 0);
    atomic_fetch_add(&ef_budget_left, bytes - before);
}

static void start(void) {
    logs = ef_option_has("EF_LOG", "cache");
    int64_t bytes = ef_option_int("EF_CACHE_BYTES", default_limit);
    if (bytes > 0) set_limit(bytes);
}

void ef_budget_limit(int64_t bytes) {
    pthread_once(&once, start);
    set_limit(bytes > 0 ? bytes : ef_option_int("EF_CACHE_BYTES", default_limit));
    ef_budget_keep();
}

int64_t ef_budget_limit_get(void) { return atomic_load(&limit); }

void ef_kept_info_get(ef_kept kind, ef_kept_info *out) {
    const account *a = &accounts[kind];
    *out = (ef_kept_info){atomic_load(&a->bytes), atomic_load(&a->entries), atomic_load(&a->made),
                          atomic_load(&a->evicted)};
}

/* ---- accounts ----------------------------------------------------------------------------------
 */

static void add(ef_kept kind, int64_t bytes, int entries) {
    atomic_fetch_add_explicit(&accounts[kind].bytes, bytes, memory_order_relaxed);
    atomic_fetch_add_explicit(&accounts[kind].entries, entries, memory_order_relaxed);
    atomic_fetch_sub_explicit(&ef_budget_left, bytes, memory_order_relaxed);
}

static void tell(const char *what, ef_kept kind, size_t bytes) {
    if (EF_UNLIKELY(logs))
        fprintf(stderr, "cache: %s %s, %zu bytes; %lld of %lld left\n", what, names[kind], bytes,
                (long long)atomic_load(&ef_budget_left), (long long)atomic_load(&limit));
}

uint64_t ef_budget_charge(ef_kept kind, size_t bytes) {
    pthread_once(&once, start);
    add(kind, (int64_t)bytes, 1);
    atomic_fetch_add_explicit(&accounts[kind].made, 1, memory_order_relaxed);
    tell("made", kind, bytes);
    return atomic_fetch_add_explicit(&ef_budget_ticks, 1, memory_order_relaxed) + 1;
}

void ef_budget_credit(ef_kept kind, size_t bytes) {
    add(kind, -(int64_t)bytes, -1);
    tell("freed", kind, bytes);
}

void ef_budget_resize(ef_kept kind, size_t from, size_t to) {
    add(kind, (int64_t)to - (int64_t)from, 0);
}

/* ---- keepers -----------------------------------------------------------------------------------
 */

void ef_keeper_join(ef_keeper *k) {
    ef_keeper_oldest(k, UINT64_MAX);
    k->prev = NULL;
    ef_mutex_lock(&lock);
    k->next = keepers;
    if (keepers != NULL) keepers->prev = k;
    keepers = k;
    ef_mutex_unlock(&lock);
}

void ef_keeper_leave(ef_keeper *k) {
    ef_mutex_lock(&lock);
    *(k->prev != NULL ? &k->prev->next : &keepers) = k->next;
    if (k->next != NULL) k->next->prev = k->prev;
    ef_mutex_unlock(&lock);
}

enum { AT_ONCE = 64 };
typedef struct victims { /* taken under the lock, ended without it */
    void *entry[AT_ONCE];
    void (*end[AT_ONCE])(void *);
    ef_kept kind[AT_ONCE];
    int n;
    bool passed; /* a keeper's oldest entry is in use */
} victims;

/* The next pass evicts entries last used before this tick; 0: nothing is left to evict. The entry
 * made last stays, since a call is about to use it. */
static uint64_t threshold(void) {
    uint64_t low = UINT64_MAX, now = ef_budget_now();
    for (const ef_keeper *k = keepers; k != NULL; k = k->next) {
        uint64_t used = ef_keeper_oldest_get(k);
        if (used < low) low = used;
    }
    if (low >= now) return 0;
    return low + (now - low + 7) / 8;
}

static void take_older(ef_keeper *k, uint64_t than, victims *v) {
    for (uint64_t oldest; v->n < AT_ONCE && (oldest = ef_keeper_oldest_get(k)) < than;) {
        void *entry = k->take(k);
        if (entry == NULL) {
            v->passed = v->passed || ef_keeper_oldest_get(k) > oldest;
            return;
        }
        atomic_fetch_add_explicit(&accounts[k->kind].evicted, 1, memory_order_relaxed);
        v->end[v->n] = k->end;
        v->kind[v->n] = k->kind;
        v->entry[v->n++] = entry;
    }
}

static int64_t bytes_now(void) {
    return atomic_load_explicit(&limit, memory_order_relaxed) -
           atomic_load_explicit(&ef_budget_left, memory_order_relaxed);
}

void ef_budget_evict(void) {
    const int64_t most = atomic_load_explicit(&limit, memory_order_relaxed);
    const int64_t in_use = atomic_load_explicit(&held, memory_order_relaxed);
    int64_t goal = most - most / 8; /* an eighth is freed, so that this is not needed each time */
    if (in_use > 0) {               /* half of the limit is for the rest: see budget.h */
        if (bytes_now() <= in_use + most / 2) return;
        if (in_use + most / 8 * 3 > goal) goal = in_use + most / 8 * 3;
    }
    victims v;
    do {
        v.n = 0;
        v.passed = false;
        ef_mutex_lock(&lock);
        uint64_t than = threshold();
        for (ef_keeper *k = keepers; k != NULL && v.n < AT_ONCE && than > 0; k = k->next)
            take_older(k, than, &v);
        ef_mutex_unlock(&lock);
        for (int k = 0; k < v.n; k++) {
            ef_event_hook(EF_HOOKED_EVICTION, ef_ticks(), v.kind[k]);
            v.end[k](v.entry[k]);
        }
    } while ((v.n > 0 || v.passed) && bytes_now() > goal);
    const int64_t left = bytes_now();
    const bool all = v.n == 0 && !v.passed; /* what is left is in use */
    atomic_store_explicit(&held, left <= most ? 0 : all ? left : in_use, memory_order_relaxed);
}
