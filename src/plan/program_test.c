/* Programs: their plans stay within the budget, and threads share them; calls within calls go deep,
 * but not for ever. */
#include "base/budget.h"
#include "check.h"
#include "plan/arena.h"
#include "plan/program.h"
#include <pthread.h>

static ef_program *negations(int n) { /* of a vector of any size, n times in a row */
    ef_graph *g = ef_graph_make();
    ef_shape any = {.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    ef_edge x;
    ef_program *p = NULL;
    ef_status *s = ef_graph_input(g, EF_F32, &any, NULL, &x);
    for (int k = 0; k < n && s == NULL; k++) {
        int32_t node = 0;
        s = ef_graph_add(g, &ef_op_Neg, NULL, &x, 1, NULL, &node);
        x = (ef_edge){node, 0};
    }
    if (s == NULL) s = ef_graph_set_outputs(g, &x, 1);
    if (s == NULL) s = ef_program_make(g, NULL, &p);
    ef_status_free(s);
    ef_graph_unref(g);
    return p;
}

static uint64_t plans_after(ef_program *p, int64_t from, int64_t to) {
    uint64_t made, evicted, kept;
    for (int64_t n = from; n < to; n++) {
        ef_tensor x, y, *in[] = {&x};
        ef_shape s = {.rank = 1, .dim = {n}};
        ef_status *bad = ef_tensor_new(EF_F32, &s, &x);
        if (bad == NULL) bad = ef_program_run(ef_context_here(), p, in, &y);
        if (bad == NULL) ef_tensor_release(&y);
        ef_tensor_release(&x);
        ef_status_free(bad);
    }
    ef_program_counts(p, &made, &evicted, &kept);
    return kept;
}

EF_TEST(plans_stay_within_the_budget) {
    ef_program *p = negations(1);
    CHECK(p != NULL);
    CHECK_INT(plans_after(p, 1, 21), 20);
    ef_budget_limit(1);
    CHECK_INT(plans_after(p, 21, 22), 1);
    CHECK_INT(plans_after(p, 1, 9), 1);
    ef_budget_limit(0);
    CHECK_INT(plans_after(p, 1, 9), 8);
    ef_program_unref(p);
}

enum { THREADS = 4, SIZES = 8, LONG = 4000 };

static pthread_barrier_t barrier;

static void *run_all_sizes(void *p) {
    for (int64_t n = 1; n <= SIZES; n++) {
        pthread_barrier_wait(&barrier);
        plans_after(p, n, n + 1);
    }
    return NULL;
}

/* Of threads that need the same plan at the same time, one makes it. */
EF_TEST(threads_share_plans) {
    ef_program *p = negations(LONG);
    CHECK(p != NULL);
    pthread_t thread[THREADS];
    CHECK_INT(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (int k = 0; k < THREADS; k++)
        CHECK_INT(pthread_create(&thread[k], NULL, run_all_sizes, p), 0);
    for (int k = 0; k < THREADS; k++) pthread_join(thread[k], NULL);
    uint64_t made, evicted, kept;
    ef_program_counts(p, &made, &evicted, &kept);
    CHECK_INT(kept, SIZES);
    CHECK_INT(evicted, 0);
    CHECK_INT(made, SIZES);
    ef_program_unref(p);
    pthread_barrier_destroy(&barrier);
}

EF_TEST(calls_within_calls) {
    enum { DEEP = 900 };
    char *at;
    for (int k = 0; k < DEEP; k++) {
        CHECK_OK(ef_call_arena_take(0, 64, &at));
        at[63] = 1;
    }
    int more = 0;
    ef_status *s = NULL;
    while (more < 1000 && (s = ef_call_arena_take(0, 64, &at)) == NULL) more++;
    CHECK_FAILS(s, EF_NO_MEMORY, "recursion that does not end");
    for (int k = 0; k < DEEP + more; k++) ef_call_arena_release();
    CHECK_OK(ef_call_arena_take(0, 64, &at));
    ef_call_arena_release();
}

int main(void) {
    EF_RUN(plans_stay_within_the_budget);
    EF_RUN(threads_share_plans);
    EF_RUN(calls_within_calls);
    return EF_VERDICT();
}
