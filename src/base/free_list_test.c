#include "base/alloc.h"
#include "base/free_list.h"
#include "base/sanitize.h"
#include "check.h"
#include <pthread.h>

enum { BYTES = 256 };

EF_TEST(what_was_given_is_taken_next) {
    static ef_free_list s;
    unsigned char *p = ef_free_list_take(&s, BYTES);
    CHECK(p != NULL);
    for (int k = 0; k < BYTES; k++) CHECK_INT(p[k], 0);
    memset(p, 7, BYTES);
    ef_free_list_give(&s, p);
    uint64_t before = ef_alloc_count();
    unsigned char *q = ef_free_list_take(&s, BYTES);
    if (!EF_ASAN) CHECK(q == p && q[BYTES - 1] == 7 && ef_alloc_count() == before);
    ef_free_list_give(&s, NULL);
    ef_free(q);
}

EF_TEST(more_than_a_few_are_freed) {
    static ef_free_list s;
    void *p[2 * EF_FREE_LIST_BLOCKS];
    for (int k = 0; k < 2 * EF_FREE_LIST_BLOCKS; k++)
        CHECK((p[k] = ef_free_list_take(&s, BYTES)) != NULL);
    for (int k = 0; k < 2 * EF_FREE_LIST_BLOCKS; k++) ef_free_list_give(&s, p[k]);
    uint64_t before = ef_alloc_count();
    for (int k = 0; k < 2 * EF_FREE_LIST_BLOCKS; k++)
        CHECK((p[k] = ef_free_list_take(&s, BYTES)) != NULL);
    CHECK_INT(ef_alloc_count() - before, EF_ASAN ? 2 * EF_FREE_LIST_BLOCKS : EF_FREE_LIST_BLOCKS);
    for (int k = 0; k < 2 * EF_FREE_LIST_BLOCKS; k++) ef_free(p[k]);
}

EF_TEST(taking_can_fail) {
    static ef_free_list s;
    for (int round = 0; round < 2; round++) { /* a new one, then a kept one */
        ef_alloc_fail_at(1);
        CHECK(ef_free_list_take(&s, BYTES) == NULL);
        ef_alloc_fail_at(0);
        void *p = ef_free_list_take(&s, BYTES);
        CHECK(p != NULL);
        ef_free_list_give(&s, p);
    }
    ef_free(ef_free_list_take(&s, BYTES));
}

static ef_free_list shared;

static void *take_and_give(void *unused) {
    (void)unused;
    for (int k = 0; k < 2000; k++) {
        atomic_int *p = ef_free_list_take(&shared, BYTES); /* zero while no thread has it */
        if (p == NULL || atomic_exchange(p, 1) != 0) return &shared;
        atomic_store(p, 0);
        ef_free_list_give(&shared, p);
    }
    return NULL;
}

EF_TEST(no_two_threads_get_the_same) {
    pthread_t thread[4];
    for (int k = 0; k < 4; k++) CHECK_INT(pthread_create(&thread[k], NULL, take_and_give, NULL), 0);
    for (int k = 0; k < 4; k++) {
        void *bad = NULL;
        pthread_join(thread[k], &bad);
        CHECK(bad == NULL);
    }
    for (int k = 0; k < EF_FREE_LIST_BLOCKS; k++) ef_free(atomic_load(&shared.piece[k]));
}

int main(void) {
    EF_RUN(what_was_given_is_taken_next);
    EF_RUN(more_than_a_few_are_freed);
    EF_RUN(taking_can_fail);
    EF_RUN(no_two_threads_get_the_same);
    return EF_VERDICT();
}
