#include "base/alloc.h"
#include "check.h"

EF_TEST(counts_what_succeeds) {
    uint64_t before = ef_alloc_count();
    void *p = ef_malloc(10), *q = ef_calloc(3, 4), *r = ef_malloc_aligned(100);
    CHECK(p && q && r);
    CHECK_INT((uintptr_t)r % 64, 0);
    p = ef_realloc(p, 1000);
    CHECK(p);
    CHECK_INT(ef_alloc_count() - before, 4);
    CHECK(ef_malloc_aligned(SIZE_MAX) == NULL);
    CHECK_INT(ef_alloc_count() - before, 4);
    ef_free(p);
    ef_free(q);
    ef_free_aligned(r);
}

EF_TEST(nothing_is_something) {
    void *p = ef_malloc(0), *q = ef_calloc(0, 8), *r = ef_malloc_aligned(0);
    CHECK(p && q && r && p != q);
    ef_free(p);
    ef_free(q);
    ef_free_aligned(r);
}

EF_TEST(fails_once_where_told) {
    ef_alloc_fail_at(2);
    void *p = ef_malloc(1);
    CHECK(p && !ef_alloc_failed());
    void *q = ef_realloc(p, 50);
    CHECK(q == NULL && ef_alloc_failed());
    q = ef_strdup("again");
    CHECK_TEXT(q, "again");
    ef_alloc_fail_at(1);
    CHECK(ef_alloc_refuse());
    CHECK(!ef_alloc_refuse());
    ef_alloc_fail_at(0);
    CHECK(!ef_alloc_failed());
    ef_free(p);
    ef_free(q);
}

int main(void) {
    EF_RUN(counts_what_succeeds);
    EF_RUN(nothing_is_something);
    EF_RUN(fails_once_where_told);
    return EF_VERDICT();
}
