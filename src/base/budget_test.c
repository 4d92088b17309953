#include "base/alloc.h"
#include "base/cache.h"
#include "check.h"

enum { EACH = 1000, MANY = 40 };

typedef struct item {
    ef_cache_entry entry;
    int key;
} item;

typedef struct shelf { /* a cache and its lock */
    ef_cache cache;
    ef_mutex lock;
} shelf;

static int freed[2 * MANY], n_freed;

static void end(void *e) {
    item *i = e;
    ef_budget_credit(EF_KEPT_PLANS, i->entry.bytes);
    freed[n_freed++] = i->key;
    ef_free(i);
}

static bool same(const void *value, const void *key) {
    return ((const item *)value)->key == *(const int *)key;
}

static void put(shelf *s, int key) {
    item *i = ef_calloc(1, sizeof *i);
    *i = (item){.entry = {.hash = (uint64_t)key, .bytes = EACH}, .key = key};
    ef_budget_charge(EF_KEPT_PLANS, EACH);
    ef_mutex_lock(&s->lock);
    ef_status_free(ef_cache_put(&s->cache, &i->entry));
    ef_mutex_unlock(&s->lock);
    ef_budget_keep();
}

static bool find(shelf *s, int key) {
    ef_mutex_lock(&s->lock);
    bool there = ef_cache_find(&s->cache, (uint64_t)key, same, &key) != NULL;
    ef_mutex_unlock(&s->lock);
    return there;
}

static void shelf_new(shelf *s) {
    ef_mutex_init(&s->lock, EF_RANK_PROGRAMS, EF_MUTEX_PLAIN);
    ef_cache_share(&s->cache, EF_KEPT_PLANS, &s->lock, NULL, end);
}

static void shelf_end(shelf *s) {
    ef_keeper_leave(&s->cache.keeper);
    for (void *e; (e = s->cache.keeper.take(&s->cache.keeper)) != NULL;) end(e);
    ef_map_free(&s->cache.map);
    ef_mutex_destroy(&s->lock);
}

/* Two caches share a budget of 20 entries: the least recently used entry is evicted, whichever
 * cache it is in, and what is used again and again stays. */
EF_TEST(the_least_recently_used_goes_first_across_caches) {
    shelf a, b;
    ef_kept_info info;
    shelf_new(&a);
    shelf_new(&b);
    ef_budget_limit(20 * EACH);
    n_freed = 0;
    for (int k = 0; k < MANY; k++) {
        put(k % 2 ? &a : &b, k);
        if (k > 0) CHECK(find(&a, 1));
        ef_kept_info_get(EF_KEPT_PLANS, &info);
        CHECK(info.bytes <= 20 * EACH);
        CHECK_INT(info.bytes, info.entries * EACH);
    }
    CHECK(find(&a, MANY - 1) && find(&b, MANY - 2));
    CHECK(!find(&b, 0) && !find(&a, 3));
    CHECK(n_freed >= MANY - 20 && n_freed <= MANY - 15);
    for (int k = 0; k < n_freed; k++) CHECK(freed[k] != 1 && freed[k] < MANY - 14);
    CHECK_INT(info.made, MANY);
    CHECK_INT(info.evicted, n_freed);
    shelf_end(&a);
    shelf_end(&b);
    ef_kept_info_get(EF_KEPT_PLANS, &info);
    CHECK_INT(info.bytes, 0);
    CHECK_INT(info.entries, 0);
    ef_budget_limit(0);
}

/* Even the smallest budget leaves what was made last. */
EF_TEST(what_was_made_last_stays) {
    shelf a;
    shelf_new(&a);
    ef_budget_limit(1);
    n_freed = 0;
    for (int k = 0; k < 5; k++) {
        put(&a, k);
        CHECK(find(&a, k));
        CHECK_INT(n_freed, k);
    }
    ef_budget_limit(0);
    shelf_end(&a);
}

/* Bytes that cannot be evicted may exceed the limit: the rest then has half of it. */
EF_TEST(what_is_in_use_does_not_evict_everything_else) {
    enum { LIMIT = 40 };
    shelf a;
    ef_kept_info info;
    shelf_new(&a);
    ef_budget_limit(LIMIT * EACH);
    ef_budget_charge(EF_KEPT_TRACES, 2 * LIMIT * EACH);
    n_freed = 0;
    for (int k = 0; k < MANY; k++) {
        put(&a, k);
        ef_kept_info_get(EF_KEPT_PLANS, &info);
        CHECK(info.entries <= LIMIT / 2 + 2);
        if (k > 0) CHECK(find(&a, k - 1));
    }
    CHECK(find(&a, MANY - 1) && find(&a, MANY - 4) && !find(&a, 0));
    ef_budget_credit(EF_KEPT_TRACES, 2 * LIMIT * EACH);
    for (int k = 0; k < MANY; k++) put(&a, MANY + k);
    CHECK(find(&a, MANY)); /* there is room again */
    ef_budget_limit(0);
    shelf_end(&a);
}

typedef struct used_entries { /* a keeper all of whose entries are in use */
    ef_keeper keeper;
    uint64_t oldest_idle;
    int asked;
} used_entries;

static void *take_none(ef_keeper *k) {
    used_entries *u = (used_entries *)k;
    u->asked++;
    ef_keeper_oldest(k, u->oldest_idle);
    return NULL;
}

/* A keeper whose oldest entry is in use does not hide the entries of others. */
EF_TEST(entries_in_use_are_passed_over) {
    shelf a;
    used_entries u = {.keeper = {.kind = EF_KEPT_REQUESTS, .take = take_none, .end = end},
                      .oldest_idle = UINT64_MAX};
    shelf_new(&a);
    ef_keeper_join(&u.keeper);
    ef_keeper_oldest(&u.keeper, 1);
    ef_budget_limit(20 * EACH);
    n_freed = 0;
    for (int k = 0; k < 21; k++) put(&a, k);
    CHECK(u.asked == 1 && n_freed > 0 && freed[0] == 0);
    ef_keeper_leave(&u.keeper);
    ef_budget_limit(0);
    shelf_end(&a);
}

int main(void) {
    EF_RUN(the_least_recently_used_goes_first_across_caches);
    EF_RUN(what_was_made_last_stays);
    EF_RUN(what_is_in_use_does_not_evict_everything_else);
    EF_RUN(entries_in_use_are_passed_over);
    return EF_VERDICT();
}
