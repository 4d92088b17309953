#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "check.h"

static bool same_int(const void *value, const void *key) {
    return *(const int *)value == *(const int *)key;
}

static uint64_t hash_of(int v) { return ef_hash_mix(0, (uint64_t)v % 50); } /* many collisions */

EF_TEST(behaves_like_a_set) {
    enum { N = 400 };
    static int values[N];
    bool in[N] = {false};
    ef_map m = {0};
    uint32_t r = 1;
    for (int i = 0; i < N; i++) values[i] = i;
    for (int step = 0; step < 20000; step++) {
        r = r * 1664525u + 1013904223u;
        int v = (int)(r >> 10) % N;
        if (in[v])
            CHECK(ef_map_remove(&m, hash_of(v), &values[v]));
        else
            CHECK_OK(ef_map_put(&m, hash_of(v), &values[v]));
        in[v] = !in[v];
        int w = (int)(r >> 3) % N;
        CHECK((ef_map_find(&m, hash_of(w), same_int, &w) == &values[w]) == in[w]);
    }
    size_t n = 0;
    for (int i = 0; i < N; i++) n += in[i];
    CHECK_INT(m.n, n);
    CHECK(!ef_map_remove(&m, 12345, &r));
    ef_map_free(&m);
    CHECK(ef_map_find(&m, 0, same_int, values) == NULL && !ef_map_remove(&m, 0, values));
}

EF_TEST(stays_whole_without_memory) {
    static int values[100];
    ef_map m = {0};
    for (int i = 0; i < 100; i++) {
        values[i] = i;
        ef_alloc_fail_at(1);
        ef_status *s = ef_map_put(&m, hash_of(i), &values[i]);
        ef_alloc_fail_at(0);
        if (s != NULL) {
            CHECK_FAILS(s, EF_NO_MEMORY, "");
            CHECK_OK(ef_map_put(&m, hash_of(i), &values[i]));
        }
    }
    for (int i = 0; i < 100; i++) CHECK(ef_map_find(&m, hash_of(i), same_int, &i) == &values[i]);
    ef_map_free(&m);
}

EF_TEST(hashes_spread) {
    CHECK(ef_hash_text(0, "ab") != ef_hash_text(0, "ba"));
    CHECK(ef_hash_bytes(0, "a\0", 2) != ef_hash_bytes(0, "a", 1));
    CHECK(ef_hash_bytes(1, "", 0) != ef_hash_bytes(2, "", 0));
    int bucket[64] = {0}; /* of the low bits, as a table uses them */
    for (int i = 0; i < 6400; i++) bucket[ef_hash_mix(7, (uint64_t)i * 4096) & 63]++;
    for (int i = 0; i < 64; i++) CHECK(bucket[i] > 40 && bucket[i] < 200);
}

int main(void) {
    EF_RUN(behaves_like_a_set);
    EF_RUN(stays_whole_without_memory);
    EF_RUN(hashes_spread);
    return EF_VERDICT();
}
