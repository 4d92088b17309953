#include "base/alloc.h"
#include "base/sanitize.h"
#include "base/small_blocks.h"
#include "check.h"
#include <pthread.h>
#include <string.h>

EF_TEST(what_was_given_back_is_taken_again) {
    if (EF_ASAN) SKIP("a sanitizer wants to see every piece end");
    void *a = ef_small_block_take(40), *b = ef_small_block_take(64);
    ef_small_block_give(a, 40);
    ef_small_block_give(b, 64);
    uint64_t before = ef_alloc_count();
    void *c = ef_small_block_take(50), *d = ef_small_block_take(33);
    CHECK(c == b && d == a && ef_alloc_count() == before);
    ef_small_block_give(c, 50);
    ef_small_block_give(d, 33);
}

EF_TEST(what_is_kept_is_bounded) {
    enum { N = 4096 };
    static void *p[N];
    for (int k = 0; k < N; k++) {
        p[k] = ef_small_block_take(2048);
        CHECK(p[k] != NULL);
        memset(p[k], k, 2048);
    }
    for (int k = 0; k < N; k++) ef_small_block_give(p[k], 2048);
    uint64_t before = ef_alloc_count();
    for (int k = 0; k < N; k++) p[k] = ef_small_block_take(2048);
    CHECK(ef_alloc_count() - before >= N - 512); /* one mebibyte of them was kept */
    for (int k = 0; k < N; k++) ef_small_block_give(p[k], 2048);
}

EF_TEST(large_ones_are_not_kept) {
    uint64_t before = ef_alloc_count();
    for (int k = 0; k < 3; k++) ef_small_block_give(ef_small_block_take(5000), 5000);
    CHECK_INT(ef_alloc_count() - before, 3);
}

static void *give_elsewhere(void *p) {
    ef_small_block_give(p, 100); /* the thread's end frees it: the leak checker looks */
    return NULL;
}

EF_TEST(a_piece_may_end_on_another_thread) {
    pthread_t t;
    CHECK(pthread_create(&t, NULL, give_elsewhere, ef_small_block_take(100)) == 0);
    pthread_join(t, NULL);
}

int main(void) {
    EF_RUN(what_was_given_back_is_taken_again);
    EF_RUN(what_is_kept_is_bounded);
    EF_RUN(large_ones_are_not_kept);
    EF_RUN(a_piece_may_end_on_another_thread);
    return EF_VERDICT();
}
