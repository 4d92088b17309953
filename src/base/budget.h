/* One budget of bytes for all caches: traces, programs, plans, requests of sessions, derivatives,
 * primitives, generated code. An entry is charged when it is made and credited when it is freed;
 * beyond the limit the least recently used entry is evicted, whichever cache it is in. What is in
 * use cannot be evicted. Where that alone takes more than the limit, half of the limit is left to
 * everything else: evicting all of it again and again would not help.
 *
 * The time of a use is counted in ticks. The tick counter goes up when an entry is made, so a hit
 * costs one load and one store and no locked instruction. Eviction happens only at safe points,
 * where the thread holds no lock, because an entry may own objects of a user whose destructors run
 * user code: code that may have made an entry calls ef_budget_keep at the next safe point. */
#ifndef EF_BASE_BUDGET_H
#define EF_BASE_BUDGET_H
#include "base/status.h"
#include <stdatomic.h>

/* X(enum suffix, name in reports). */
#define EF_EACH_KEPT(X)           \
    X(TRACES, "traces")           \
    X(PROGRAMS, "programs")       \
    X(PLANS, "plans")             \
    X(REQUESTS, "requests")       \
    X(DERIVATIVES, "derivatives") \
    X(PRIMITIVES, "primitives")   \
    X(CODE, "generated code")
typedef enum ef_kept {
#define EF_KEPT(NAME, text) EF_KEPT_##NAME,
    EF_EACH_KEPT(EF_KEPT)
#undef EF_KEPT
        EF_KEPT_COUNT
} ef_kept;

/* A cache, or the part of one that an object owns (the plans of a program). */
typedef struct ef_keeper {
    struct ef_keeper *next, *prev;
    ef_kept kind;
    /* The tick of the last use of its least recently used entry; UINT64_MAX: it is empty. The owner
     * stores it under its own lock whenever it changes. */
    _Atomic uint64_t oldest;
    /* Removes the least recently used entry and returns it. NULL: there is none to remove, or those
     * that would go first are in use; `oldest` is then that of the first one that is not. Locks
     * what it needs, and frees nothing. */
    void *(*take)(struct ef_keeper *k);
    void (*end)(void *entry); /* frees what `take` returned; no lock is held */
} ef_keeper;
void ef_keeper_join(ef_keeper *k);  /* kind, take and end are set; it is empty */
void ef_keeper_leave(ef_keeper *k); /* before the owner ends; it frees its entries itself */

extern _Atomic uint64_t ef_budget_ticks;
static inline uint64_t ef_budget_now(void) {
    return atomic_load_explicit(&ef_budget_ticks, memory_order_relaxed);
}
static inline void ef_keeper_oldest(ef_keeper *k, uint64_t used) {
    atomic_store_explicit(&k->oldest, used, memory_order_relaxed);
}
static inline uint64_t ef_keeper_oldest_get(const ef_keeper *k) {
    return atomic_load_explicit(&k->oldest, memory_order_relaxed);
}
/* An entry was made. Returns the tick, which its owner stores as its last use. */
uint64_t ef_budget_charge(ef_kept kind, size_t bytes);
void ef_budget_credit(ef_kept kind, size_t bytes);           /* an entry was freed */
void ef_budget_resize(ef_kept kind, size_t from, size_t to); /* an entry grew or shrank */

extern _Atomic int64_t ef_budget_left; /* bytes; negative: beyond the limit */
void ef_budget_evict(void);
/* A safe point: evicts what is beyond the limit. */
static inline void ef_budget_keep(void) {
    if (EF_UNLIKELY(atomic_load_explicit(&ef_budget_left, memory_order_relaxed) < 0))
        ef_budget_evict();
}
void ef_budget_limit(int64_t bytes); /* 0: the default, or EF_CACHE_BYTES */

typedef struct ef_kept_info {
    int64_t bytes, entries;
    uint64_t made, evicted;
} ef_kept_info;
const char *ef_kept_name(ef_kept kind);
void ef_kept_info_get(ef_kept kind, ef_kept_info *out);
int64_t ef_budget_limit_get(void);
#endif
