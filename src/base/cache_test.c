#include "base/alloc.h"
#include "base/cache.h"
#include "check.h"

typedef struct item {
    ef_cache_entry entry;
    int key;
    bool dropped;
} item;

static void drop(ef_cache_entry *e) { ((item *)e)->dropped = true; }

static bool same(const void *value, const void *key) {
    return ((const item *)value)->key == *(const int *)key;
}

static item *find(ef_cache *c, int key) {
    return (item *)ef_cache_find(c, (uint64_t)key, same, &key);
}

static item make(int key, size_t bytes) {
    return (item){.entry = {.hash = (uint64_t)key, .bytes = bytes}, .key = key};
}

EF_TEST(drops_what_was_used_least_recently) {
    ef_cache c;
    ef_cache_init(&c, 30, drop);
    item it[5];
    for (int i = 0; i < 5; i++) it[i] = make(i, 10);
    for (int i = 0; i < 3; i++) CHECK_OK(ef_cache_put(&c, &it[i].entry));
    CHECK(find(&c, 0) == &it[0]);
    CHECK_OK(ef_cache_put(&c, &it[3].entry));
    CHECK(it[1].dropped && !it[0].dropped && !it[2].dropped);
    CHECK(find(&c, 1) == NULL);
    CHECK_INT(c.hits, 1);
    CHECK_INT(c.misses, 1);
    CHECK_INT(c.evictions, 1);
    CHECK_INT(c.bytes, 30);
    ef_cache_remove(&c, &it[3].entry);
    CHECK(!it[3].dropped && find(&c, 3) == NULL);
    it[4].entry.bytes = 1000;
    CHECK_OK(ef_cache_put(&c, &it[4].entry));
    CHECK(it[0].dropped && find(&c, 4) == &it[4]);
    ef_cache_clear(&c);
    CHECK(it[4].dropped && c.bytes == 0 && c.newest == NULL && c.oldest == NULL);
}

EF_TEST(refuses_cleanly_without_memory) {
    ef_cache c;
    ef_cache_init(&c, 30, drop);
    item it = make(1, 10);
    ef_alloc_fail_at(1);
    CHECK_FAILS(ef_cache_put(&c, &it.entry), EF_NO_MEMORY, "");
    ef_alloc_fail_at(0);
    CHECK(find(&c, 1) == NULL && c.bytes == 0);
    CHECK_OK(ef_cache_put(&c, &it.entry));
    CHECK(find(&c, 1) == &it);
    ef_cache_clear(&c);
}

int main(void) {
    EF_RUN(drops_what_was_used_least_recently);
    EF_RUN(refuses_cleanly_without_memory);
    return EF_VERDICT();
}
