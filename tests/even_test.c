/* Nothing grows with the number of calls: a warm planned call allocates nothing, caches stay within
 * their bounds, and objects that are created in a loop are freed after it. */
#include "base/sanitize.h"
#include "check.h"
#include "plan/program.h"
#include <ef_ops.h>
#include <malloc.h>

static ef_status *four_ops(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                           int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    ef_tensor a, b, c;
    ef_status *s = ef_do_AddV2(&in[0], &in[0], &a);
    if (s != NULL) return s;
    s = ef_do_Mul(&a, &in[0], &b);
    ef_tensor_release(&a);
    if (s != NULL) return s;
    s = ef_do_Sub(&b, &in[0], &c);
    ef_tensor_release(&b);
    if (s != NULL) return s;
    s = ef_do_Relu(&c, out);
    ef_tensor_release(&c);
    *n_out = 1;
    return s;
}

static void fill(ef_tensor *t, int64_t n) {
    ef_shape s = {.rank = 1, .dim = {n}};
    const void *data;
    if (ef_tensor_new(EF_F32, &s, t) != NULL || ef_tensor_data(t, &data) != NULL) return;
    for (int64_t k = 0; k < n; k++) ((float *)data)[k] = 1;
}

EF_TEST(a_hot_call_takes_nothing) {
    ef_function *f;
    int64_t sizes[] = {4, 1000, 100000};
    CHECK_OK(ef_function_new(four_ops, NULL, "f", &f));
    for (int j = 0; j < 3; j++) {
        ef_tensor x, y;
        int n;
        fill(&x, sizes[j]);
        const ef_tensor *in[] = {&x};
        for (int k = 0; k < 20; k++) {
            CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
            ef_tensor_release(&y);
        }
        uint64_t before = ef_allocations();
        for (int k = 0; k < 1000; k++) {
            CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
            ef_tensor_release(&y);
        }
        uint64_t taken = ef_allocations() - before;
        CHECK_INT(taken, 0);
        ef_tensor_release(&x);
    }
    ef_function_free(f);
}

EF_TEST(a_small_eager_op_takes_nothing) {
    ef_tensor x, y;
    fill(&x, 100);
    for (int k = 0; k < 20; k++) {
        CHECK_OK(ef_do_AddV2(&x, &x, &y));
        ef_tensor_release(&y);
    }
    uint64_t before = ef_allocations();
    for (int k = 0; k < 1000; k++) {
        CHECK_OK(ef_do_AddV2(&x, &x, &y));
        ef_tensor_release(&y);
    }
    CHECK_INT(ef_allocations() - before, 0);
    ef_tensor_release(&x);
}

EF_TEST(sizes_are_traced_twice_and_plans_bounded) {
    ef_function *f;
    CHECK_OK(ef_function_new(four_ops, NULL, "f", &f));
    for (int k = 0; k < 500; k++) {
        ef_tensor x, y;
        int n;
        fill(&x, 1 + k % 100);
        const ef_tensor *in[] = {&x};
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_INT(y.dim[0], 1 + k % 100);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
    }
    ef_function_info info;
    ef_function_info_get(f, &info);
    CHECK_INT(info.traces, 2);
    CHECK_INT(info.calls, 500);
    ef_function_free(f);
}

/* Plans made so far, after calls with all these sizes. */
static void sizes_make(ef_function *f, int64_t from, int64_t to, uint64_t *plans) {
    for (int64_t size = from; size < to; size++) {
        ef_tensor x, y;
        int n;
        fill(&x, size);
        const ef_tensor *in[] = {&x};
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        ef_tensor_release(&y);
        ef_tensor_release(&x);
    }
    ef_function_info info;
    ef_function_info_get(f, &info);
    *plans = info.plans;
}

EF_TEST(a_size_seen_before_is_found) {
    ef_function *f;
    uint64_t first = 0, now = 0;
    ef_programs_clear(); /* other functions of this kind left plans */
    CHECK_OK(ef_function_new(four_ops, NULL, "f", &f));
    sizes_make(f, 1000, 1002, &first); /* from here on one trace takes any size */
    sizes_make(f, 1002, 1100, &now);
    CHECK_INT(now, first + 98);
    sizes_make(f, 1001, 1100, &now);
    CHECK_INT(now, first + 98);
    sizes_make(f, 1100, 1300, &now); /* more than are kept: some are evicted */
    CHECK_INT(now, first + 298);
    sizes_make(f, 1290, 1300, &now); /* the latest are cached, */
    CHECK_INT(now, first + 298);
    for (int round = 0; round < 3; round++) sizes_make(f, 1001, 1201, &now);
    CHECK(now < first + 298 + 3 * 120); /* and many of those that come back in turn */
    ef_function_free(f);
}

EF_TEST(what_is_made_in_a_loop_is_gone_after_it) {
    ef_memory_usage before, after;
    for (int round = 0; round < 2; round++) {
        if (round == 1) CHECK_OK(ef_memory_usage_get("CPU:0", &before));
        for (int k = 0; k < 200; k++) {
            ef_function *f;
            ef_tensor x, y, g;
            ef_tape *tape;
            int n;
            fill(&x, 3000);
            const ef_tensor *in[] = {&x};
            CHECK_OK(ef_function_new(four_ops, NULL, "f", &f));
            CHECK_OK(ef_tape_start(false, &tape));
            CHECK_OK(ef_tape_watch(tape, &x));
            CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
            CHECK_OK(ef_tape_gradient(tape, &y, NULL, in, 1, &g));
            ef_tape_free(tape);
            ef_tensor_release(&g);
            ef_tensor_release(&y);
            ef_tensor_release(&x);
            ef_function_free(f);
        }
    }
    CHECK_OK(ef_memory_usage_get("CPU:0", &after));
    CHECK_INT(after.current, before.current);
}

/* ---- functions of a number each: the newest are kept, as a binding keeps them -----------------
 */

enum { KEPT = 64 };

static ef_status *scaled(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                         int *n_out) {
    (void)n_in;
    (void)max_out;
    ef_tensor by, y = {0};
    ef_status *s = ef_tensor_from(EF_F32, NULL, user, &by);
    for (int k = 0; k < 8 && s == NULL; k++) {
        ef_tensor next;
        s = ef_do_Mul(k == 0 ? &in[0] : &y, &by, &next);
        if (s != NULL) break;
        ef_tensor_release(&y);
        y = next;
    }
    if (s == NULL) s = ef_do_Relu(&y, out);
    ef_tensor_release(&y);
    ef_tensor_release(&by);
    *n_out = 1;
    return s;
}

/* The end of the used heap; negative if malloc does not report it. */
static int64_t heap_reached(void) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    struct mallinfo2 m = mallinfo2();
    return (int64_t)(m.arena - m.keepcost);
#else
    return -1;
#endif
}

EF_TEST(traces_that_come_and_go_use_the_same_memory) {
    if (EF_ASAN || EF_TSAN || heap_reached() < 0) SKIP("malloc does not tell");
    static float number[KEPT];
    ef_function *kept[KEPT] = {NULL};
    ef_tensor x, y;
    int n;
    int64_t before = 0;
    fill(&x, 16);
    const ef_tensor *in[] = {&x};
    for (int k = 0; k < 8 * KEPT; k++) {
        ef_function_free(kept[k % KEPT]);
        number[k % KEPT] = (float)k + 5.5f;
        CHECK_OK(ef_function_new(scaled, &number[k % KEPT], "f", &kept[k % KEPT]));
        CHECK_OK(ef_function_call(kept[k % KEPT], in, 1, &y, 1, &n));
        ef_tensor_release(&y);
        if (k == 2 * KEPT) before = heap_reached();
    }
    int64_t grown = heap_reached() - before;
    printf("heap growth of %d new traces: %" PRId64 " bytes\n", 6 * KEPT, grown);
    CHECK(grown <= 8 * 1024);
    for (int k = 0; k < KEPT; k++) ef_function_free(kept[k]);
    ef_tensor_release(&x);
}

int main(void) {
    EF_RUN(traces_that_come_and_go_use_the_same_memory); /* first: the heap is fresh */
    EF_RUN(a_hot_call_takes_nothing);
    EF_RUN(a_small_eager_op_takes_nothing);
    EF_RUN(sizes_are_traced_twice_and_plans_bounded);
    EF_RUN(a_size_seen_before_is_found);
    EF_RUN(what_is_made_in_a_loop_is_gone_after_it);
    return EF_VERDICT();
}
