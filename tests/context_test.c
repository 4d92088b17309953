/* The execution context of a thread, set through the public interface. */
#include "base/context.h"
#include "check.h"
#include <pthread.h>

EF_TEST(options_are_checked_and_nothing_changes_on_failure) {
    CHECK_OK(ef_context_set(&(ef_context_options){.weight = 0.25, .threads = 3}));
    CHECK_FAILS(ef_context_set(&(ef_context_options){.weight = 2}), EF_INVALID,
                "the weight is 2; it must be from 0.01 to 1");
    CHECK_FAILS(ef_context_set(&(ef_context_options){.weight = -1}), EF_INVALID, "weight");
    CHECK_FAILS(ef_context_set(&(ef_context_options){.threads = -1}), EF_INVALID, "-1 threads");
    CHECK_FAILS(ef_context_set(&(ef_context_options){.device = "GPU:7"}), EF_INVALID, "GPU:7");
    CHECK(ef_context_here()->weight == 0.25F);
    CHECK_INT(ef_context_here()->threads, 3);
    CHECK_OK(ef_context_set(NULL));
    CHECK(ef_context_here()->weight == 1);
    CHECK_INT(ef_context_here()->threads, 0);
}

static void *see(void *whole) {
    *(int *)whole = ef_threads_get();
    return NULL;
}

EF_TEST(each_thread_has_its_own) {
    int whole = ef_threads_get(), elsewhere = 0;
    pthread_t t;
    CHECK_OK(ef_context_set(&(ef_context_options){.device = "CPU:0", .threads = 1}));
    CHECK_INT(ef_threads_get(), 1);
    CHECK(pthread_create(&t, NULL, see, &elsewhere) == 0);
    pthread_join(t, NULL);
    CHECK_INT(elsewhere, whole);
    CHECK_OK(ef_context_set(NULL));
    CHECK_INT(ef_threads_get(), whole);
}

int main(void) {
    EF_RUN(options_are_checked_and_nothing_changes_on_failure);
    EF_RUN(each_thread_has_its_own);
    return EF_VERDICT();
}
