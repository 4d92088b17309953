/* Deferring: which ops are deferred, and which memory the pending graph keeps alive. Sizes are
 * derived from the threshold itself, so that they stay around it if it changes. */
#include "check.h"
#include "device/memory.h"
#include "eager/context.h"
#include "evenflow_binding.h"
#include "tensor/tensor.h"
#include <ef_ops.h>

enum { CALLS = 160, MOST_HELD = 64 }; /* the pending graph may hold 48 ops' arguments */

static int64_t bytes_now(void) {
    ef_memory_info info;
    ef_memory_info_get(0, &info);
    return info.current;
}

static ef_status *ones(ef_dtype dtype, int64_t n, ef_tensor *out) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_status *bad = ef_tensor_new(dtype, &s, out);
    if (bad == NULL) memset(out->data, 1, (size_t)n * ef_dtype_size(dtype));
    return bad;
}

/* Adds a fresh vector to x, and drops the result of the call before or keeps them all. */
static void add_fresh(ef_dtype dtype, int64_t n, bool keep) {
    static ef_tensor kept[CALLS];
    ef_tensor x, c;
    int64_t before = bytes_now(), one = n * (int64_t)ef_dtype_size(dtype);
    CHECK_OK(ones(dtype, n, &x));
    for (int k = 0; k < CALLS; k++) {
        CHECK_OK(ones(dtype, n, &c));
        CHECK_OK(ef_do_AddV2(&x, &c, &kept[k]));
        ef_tensor_release(&c);
        if (!keep && k > 0) ef_tensor_release(&kept[k - 1]);
    }
    int64_t held = (bytes_now() - before) / one;
    if (held > MOST_HELD + (keep ? CALLS : 0))
        printf("    %s [%lld] holds %lld vectors\n", ef_dtype_name(dtype), (long long)n,
               (long long)held);
    CHECK(held <= MOST_HELD + (keep ? CALLS : 0));
    for (int k = 0; k < CALLS; k++) ef_tensor_release(&kept[k]);
    ef_tensor_release(&x);
    CHECK_OK(ef_wait());
    CHECK(bytes_now() - before < one); /* pieces of the caches may have come */
}

EF_TEST(memory_stays_flat_around_the_threshold) {
    for (int t = 1; t < EF_DTYPES; t++) {
        if (!ef_dtype_in((ef_dtype)t, EF_NUMBERS)) continue;
        int64_t size = (int64_t)ef_dtype_size((ef_dtype)t);
        int64_t edge[] = {ef_defer_bytes / size, ef_defer_bytes / 4};
        for (int k = 0; k < 6; k++) {
            int64_t n = edge[k / 3] + k % 3 - 1;
            add_fresh((ef_dtype)t, n, false);
            if (k < 3) add_fresh((ef_dtype)t, n, true);
        }
    }
}

typedef ef_status *call(const ef_tensor *x, ef_tensor *out);

static ef_status *numbers(ef_tensor *t, int n, const int32_t *v) {
    ef_shape s = {.rank = n == 0 ? 0 : 1, .dim = {n}};
    return ef_tensor_from(EF_I32, &s, v, t);
}

static ef_status *reshape(const ef_tensor *x, ef_tensor *out) {
    ef_tensor s;
    ef_status *bad = numbers(&s, 2, (int32_t[]){-1, 1});
    return bad != NULL ? bad : ef_do_Reshape(x, &s, out);
}
static ef_status *expand(const ef_tensor *x, ef_tensor *out) {
    ef_tensor axis;
    ef_status *bad = numbers(&axis, 0, (int32_t[]){0});
    return bad != NULL ? bad : ef_do_ExpandDims(x, &axis, out);
}
static ef_status *sum(const ef_tensor *x, ef_tensor *out) {
    ef_tensor axis;
    ef_status *bad = numbers(&axis, 0, (int32_t[]){0});
    return bad != NULL ? bad
                       : ef_call_op(ef_op_find("Sum"), NULL, (const ef_tensor *[]){x, &axis}, 2,
                                    out, 1, &(int){0});
}
static ef_status *same(const ef_tensor *x, ef_tensor *out) { return ef_do_Identity(x, out); }
static ef_status *greater(const ef_tensor *x, ef_tensor *out) { return ef_do_Greater(x, x, out); }
static ef_status *quotient(const ef_tensor *x, ef_tensor *out) { return ef_do_RealDiv(x, x, out); }
/* Small work on what a deferred op gives. */
static ef_status *after(const ef_tensor *x, ef_tensor *out) {
    ef_tensor s;
    ef_status *bad = sum(x, &s);
    if (bad == NULL) bad = ef_do_AddV2(&s, &s, out);
    ef_tensor_release(&s);
    return bad;
}
/* The axis of a sum is wrong: nothing of the call stays. */
static ef_status *wrong(const ef_tensor *x, ef_tensor *out) {
    ef_tensor axis;
    EF_TRY(numbers(&axis, 0, (int32_t[]){7}));
    ef_status *bad =
        ef_call_op(ef_op_find("Sum"), NULL, (const ef_tensor *[]){x, &axis}, 2, out, 1, &(int){0});
    if (bad == NULL) return ef_error(EF_INTERNAL, "a wrong axis was accepted");
    ef_status_free(bad);
    return ef_do_Neg(x, out);
}

/* Each kind of op on fresh arguments: neither the pending graph nor its nodes grow. */
static void on_fresh(call *fn, ef_dtype dtype, int64_t n) {
    ef_tensor x, y = {0};
    int64_t before = bytes_now(), one = n * (int64_t)ef_dtype_size(dtype);
    for (int k = 0; k < CALLS; k++) {
        CHECK_OK(ones(dtype, n, &x));
        ef_tensor_release(&y);
        CHECK_OK(fn(&x, &y));
        ef_tensor_release(&x);
    }
    CHECK((bytes_now() - before) / one <= MOST_HELD);
    ef_tensor_release(&y);
    CHECK_OK(ef_wait());
    CHECK(bytes_now() - before < one);
}

/* Two ops on a tensor that is larger by itself than what a batch otherwise collects. */
EF_TEST(ops_on_huge_tensors_are_deferred) {
    ef_tensor x, y, z;
    ef_shape shape = {.rank = 1, .dim = {(int64_t)300 << 20}};
    CHECK_OK(ef_tensor_new(EF_I8, &shape, &x));
    int64_t before = bytes_now();
    CHECK_OK(ef_do_Neg(&x, &y));
    CHECK_OK(ef_do_Neg(&y, &z));
    CHECK(bytes_now() - before < 1 << 20);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
}

EF_TEST(no_kind_of_op_holds_on) {
    call *const fn[] = {reshape, expand, sum, same, greater, quotient, after, wrong};
    const ef_dtype dtype[] = {EF_F32, EF_F64};
    for (size_t k = 0; k < sizeof fn / sizeof *fn; k++)
        for (int t = 0; t < 2; t++) {
            int64_t n = ef_defer_bytes / (int64_t)ef_dtype_size(dtype[t]);
            on_fresh(fn[k], dtype[t], n - 1);
            on_fresh(fn[k], dtype[t], n + 1);
        }
}

EF_TEST(the_rule_counts_bytes) {
    ef_tensor x, y, small;
    for (int t = 1; t < EF_DTYPES; t++) {
        if (!ef_dtype_in((ef_dtype)t, EF_NUMBERS)) continue;
        int64_t n = ef_defer_bytes / (int64_t)ef_dtype_size((ef_dtype)t);
        for (int64_t d = -1; d <= 1; d++) {
            CHECK_OK(ones((ef_dtype)t, n + d, &x));
            CHECK_OK(ef_do_AddV2(&x, &x, &y));
            CHECK((y.data == NULL) == (d >= 0));
            ef_tensor_release(&y);
            ef_tensor_release(&x);
        }
    }
    CHECK_OK(ones(EF_F32, ef_defer_bytes, &x));
    CHECK_OK(sum(&x, &y));
    CHECK(y.data == NULL);
    CHECK_OK(ef_do_AddV2(&y, &y, &small)); /* a scalar is not worth it */
    CHECK(small.data != NULL);
    ef_tensor_release(&small);
    ef_tensor_release(&y);
    ef_tensor_release(&x);
}

/* An op that can fail when it runs is run in the call, and the deferred ops are not lost. */
EF_TEST(a_failing_op_fails_by_itself) {
    ef_tensor x, zero, y, z;
    const void *v;
    CHECK_OK(ones(EF_I32, ef_defer_bytes, &x));
    CHECK_OK(ones(EF_I32, ef_defer_bytes, &zero));
    memset(zero.data, 0, (size_t)ef_defer_bytes * 4);
    CHECK_OK(ef_do_AddV2(&x, &x, &y));
    CHECK_FAILS(ef_do_FloorDiv(&x, &zero, &z), EF_INVALID, "division by zero");
    CHECK_FAILS(ef_do_FloorMod(&y, &zero, &z), EF_INVALID, "division by zero");
    CHECK_OK(ef_do_AddV2(&y, &x, &z));
    CHECK_OK(ef_tensor_data(&z, &v));
    CHECK_INT(((const int32_t *)v)[5], 3 * 0x01010101);
    CHECK_OK(ef_tensor_data(&y, &v));
    CHECK_INT(((const int32_t *)v)[5], 2 * 0x01010101);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
    ef_tensor_release(&zero);
}

static int asked;

static ef_status *end_once(void) {
    return asked++ == 0 ? ef_error(EF_CANCELLED, "ended once") : NULL;
}
static unsigned no_calls(bool *running) {
    *running = false;
    return 0;
}
static void unheeded(bool stopped) { (void)stopped; }

/* A cancellation is reported once: results that were tried one by one after it would be computed in
 * spite of it. They are computed when they are read again. */
EF_TEST(a_run_that_was_ended_is_not_tried_again) {
    static const ef_interrupt_watch watch = {end_once, no_calls, unheeded, NULL};
    ef_tensor x, y, z;
    ef_canceller *c;
    const void *v;
    CHECK_OK(ones(EF_I32, ef_defer_bytes, &x));
    CHECK_OK(ef_do_AddV2(&x, &x, &y));
    CHECK_OK(ef_do_AddV2(&y, &x, &z));
    ef_interrupt_watch_set(&watch);
    CHECK_OK(ef_canceller_new(&c));
    ef_cancel(c); /* no thread uses c, but from now on every run calls `ask` when it begins */
    CHECK_FAILS(ef_tensor_data(&z, &v), EF_CANCELLED, "ended once");
    CHECK_INT(asked, 1);
    CHECK_OK(ef_tensor_data(&z, &v));
    CHECK_INT(((const int32_t *)v)[5], 3 * 0x01010101);
    CHECK_OK(ef_tensor_data(&y, &v));
    CHECK_INT(((const int32_t *)v)[5], 2 * 0x01010101);
    ef_canceller_free(c);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
}

int main(void) {
    EF_RUN(memory_stays_flat_around_the_threshold);
    EF_RUN(ops_on_huge_tensors_are_deferred);
    EF_RUN(no_kind_of_op_holds_on);
    EF_RUN(the_rule_counts_bytes);
    EF_RUN(a_failing_op_fails_by_itself);
    EF_RUN(a_run_that_was_ended_is_not_tried_again);
    return EF_VERDICT();
}
