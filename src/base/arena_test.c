#include "base/alloc.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/sanitize.h"
#include "check.h"

EF_TEST(gives_distinct_aligned_memory) {
    ef_arena a = {0};
    unsigned char *p[300];
    for (int i = 0; i < 300; i++) {
        p[i] = ef_arena_alloc(&a, (size_t)(i * 7 % 200));
        CHECK(p[i] && (uintptr_t)p[i] % 16 == 0);
        memset(p[i], i & 255, (size_t)(i * 7 % 200));
    }
    char *big = ef_arena_zalloc(&a, 1000000);
    CHECK(big && big[0] == 0 && big[999999] == 0);
    CHECK_TEXT(ef_arena_strdup(&a, "hello"), "hello");
    for (int i = 0; i < 300; i++)
        for (int k = 0; k < i * 7 % 200; k++) CHECK_INT(p[i][k], i & 255);
    CHECK(a.bytes >= 1000000);
    ef_arena_free(&a);
    CHECK(a.chunk == NULL && a.bytes == 0);
}

/* A quarter at most, at every size: a trace keeps its arena for as long as it lives. */
EF_TEST(little_is_unused) {
    ef_arena a = {0};
    for (size_t used = 112; used < 2000000; used += 112) {
        CHECK(ef_arena_alloc(&a, 112));
        CHECK(used < 16384 || a.bytes - used <= a.bytes / 4);
    }
    ef_arena_free(&a);
}

EF_TEST(reset_keeps_the_largest_chunk) {
    ef_arena a = {0};
    for (int i = 0; i < 5000; i++) CHECK(ef_arena_alloc(&a, 100));
    ef_arena_reset(&a);
    size_t kept = a.bytes;
    CHECK(kept >= 100000);
    uint64_t before = ef_alloc_count();
    for (int i = 0; i < 800; i++) CHECK(ef_arena_alloc(&a, 100));
    CHECK_INT(ef_alloc_count(), before);
    CHECK_INT(a.bytes, kept);
    ef_arena_free(&a);
    ef_arena_reset(&a);
    CHECK(ef_arena_alloc(&a, 1));
    ef_arena_free(&a);
}

EF_TEST(chunks_serve_the_next_arena) {
    ef_arena a = {0};
    for (int round = 0; round < 3; round++) {
        uint64_t before = ef_alloc_count();
        CHECK(ef_arena_alloc(&a, 3000)); /* larger than the first chunk: not kept */
        for (int i = 0; i < 120; i++) CHECK(ef_arena_alloc(&a, 100));
        if (round > 0 && !EF_ASAN) CHECK_INT(ef_alloc_count() - before, 1);
        ef_arena_free(&a);
    }
}

EF_TEST(failure_leaves_it_usable) {
    ef_arena a = {0};
    CHECK(ef_arena_alloc(&a, SIZE_MAX) == NULL);
    CHECK(ef_arena_alloc(&a, SIZE_MAX - 40) == NULL);
    ef_alloc_fail_at(1);
    CHECK(ef_arena_alloc(&a, 10) == NULL);
    CHECK(ef_arena_alloc(&a, 10));
    ef_alloc_fail_at(1);
    CHECK(ef_arena_alloc(&a, 100000) == NULL);
    ef_alloc_fail_at(0);
    CHECK(ef_arena_alloc(&a, 10));
    ef_arena_free(&a);
}

EF_TEST(arrays_grow_by_doubling) {
    int *items = NULL;
    size_t n = 0, cap = 0;
    uint64_t before = ef_alloc_count();
    for (; n < 10000; n++) {
        CHECK_OK(EF_GROW(&items, &cap, n + 1));
        items[n] = (int)n;
    }
    CHECK(ef_alloc_count() - before < 16);
    for (size_t i = 0; i < n; i++) CHECK_INT(items[i], i);
    int *old = items;
    size_t old_cap = cap;
    CHECK_FAILS(EF_GROW(&items, &cap, SIZE_MAX / 2), EF_NO_MEMORY, "");
    ef_alloc_fail_at(1);
    CHECK_FAILS(EF_GROW(&items, &cap, cap + 1), EF_NO_MEMORY, "bytes");
    ef_alloc_fail_at(0);
    CHECK(items == old && cap == old_cap);
    ef_free(items);
}

EF_TEST(rewinding_gives_back_what_came_later) {
    ef_arena a = {0};
    ef_arena_mark empty = ef_arena_here(&a);
    char *first = ef_arena_strdup(&a, "first");
    ef_arena_mark mark = ef_arena_here(&a);
    size_t bytes = a.bytes;
    for (int k = 0; k < 100; k++) {
        void *p = ef_arena_alloc(&a, 40);
        for (int j = 0; j < 200; j++) CHECK(ef_arena_alloc(&a, j % 7 == 0 ? 50000 : 100) != NULL);
        ef_arena_rewind(&a, mark);
        CHECK_INT(a.bytes, bytes);
        CHECK(ef_arena_alloc(&a, 40) == p);
        ef_arena_rewind(&a, mark);
    }
    CHECK_INT(strcmp(first, "first"), 0);
    ef_arena_rewind(&a, empty);
    CHECK_INT(a.bytes, 0);
    CHECK(ef_arena_alloc(&a, 8) != NULL);
    ef_arena_free(&a);
}

EF_TEST(what_is_reserved_is_one_piece) {
    ef_arena a = {0};
    CHECK(ef_arena_reserve(&a, 10000));
    CHECK_INT(a.bytes, 10000);
    char *first = ef_arena_alloc(&a, 9000);
    CHECK(ef_arena_alloc(&a, 900) == first + 9008);
    CHECK(ef_arena_reserve(&a, 80)); /* still there */
    CHECK_INT(a.bytes, 10000);
    CHECK(ef_arena_reserve(&a, 5000));
    CHECK_INT(a.bytes, 15000);
    CHECK(ef_arena_alloc(&a, 5000) != NULL);
    CHECK(ef_arena_alloc(&a, 100) != NULL); /* beyond it, as ever */
    ef_arena_free(&a);
}

int main(void) {
    EF_RUN(gives_distinct_aligned_memory);
    EF_RUN(little_is_unused);
    EF_RUN(reset_keeps_the_largest_chunk);
    EF_RUN(chunks_serve_the_next_arena);
    EF_RUN(failure_leaves_it_usable);
    EF_RUN(what_is_reserved_is_one_piece);
    EF_RUN(rewinding_gives_back_what_came_later);
    EF_RUN(arrays_grow_by_doubling);
    return EF_VERDICT();
}
