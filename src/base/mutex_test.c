/* Ranks of mutexes. A wrong order ends a program that has assertions; such a build tries it in a
 * child process. */
#include "base/mutex.h"
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static ef_mutex low = EF_MUTEX(BATCH), high = EF_MUTEX(MEMORY);

EF_TEST(rising_ranks_are_fine) {
    ef_mutex again, pair[2];
    ef_mutex_init(&again, EF_RANK_GRAPH, EF_MUTEX_RECURSIVE);
    for (int k = 0; k < 2; k++) ef_mutex_init(&pair[k], EF_RANK_VARIABLE, EF_MUTEX_BY_ADDRESS);
    ef_mutex_lock(&low);
    ef_mutex_lock(&pair[0]);
    ef_mutex_lock(&pair[1]);
    ef_mutex_lock(&again);
    ef_mutex_lock(&high);
    ef_mutex_lock(&again);
    ef_mutex_unlock(&low); /* in any order */
    ef_mutex_unlock(&high);
    ef_mutex_unlock(&again);
    ef_mutex_unlock(&again);
    ef_mutex_unlock(&pair[0]);
    ef_mutex_unlock(&pair[1]);
    ef_mutex_lock(&low);
    ef_mutex_unlock(&low);
    ef_mutex_destroy(&again);
    for (int k = 0; k < 2; k++) ef_mutex_destroy(&pair[k]);
}

#ifndef NDEBUG
static ef_mutex twin = EF_MUTEX(BATCH);

static bool dies(ef_mutex *first, ef_mutex *second) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(3);
        ef_mutex_lock(first);
        ef_mutex_lock(second);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

EF_TEST(a_wrong_order_is_found) {
    CHECK(!dies(&low, &high));
    CHECK(dies(&high, &low));
    CHECK(dies(&low, &twin)); /* of one rank */
    CHECK(dies(&low, &low));
}
#endif

int main(void) {
    EF_RUN(rising_ranks_are_fine);
#ifndef NDEBUG
    EF_RUN(a_wrong_order_is_found);
#endif
    return EF_VERDICT();
}
