/* The byte budget of all caches, tested through the public interface: a function of 100 layers is
 * called with 500 sizes, each of which is another signature. */
#include "base/sanitize.h"
#include "base/status.h"
#include "check.h"
#include "evenflow.h"
#include "evenflow_binding.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAYERS = 100, SIZES = 500, RECENT = 5, KINDS = 16 };
static const int64_t limit = (int64_t)24 << 20;

static ef_status *op(const char *name, int n, const ef_tensor *a, const ef_tensor *b,
                     ef_tensor *out) {
    const ef_tensor *in[] = {a, b};
    int n_out;
    return ef_call_op(ef_op_find(name), NULL, in, n, out, 1, &n_out);
}

/* Traces x -> tanh(x w + x) w + ..., for one size at a time. */
static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    ef_trace_needs_sizes();
    ef_tensor at, next, sum;
    ef_tensor_copy(&at, &in[0]);
    ef_status *s = NULL;
    for (int k = 0; k < LAYERS && s == NULL; k++) {
        s = op("MatMul", 2, &at, &in[1], &next);
        if (s != NULL) break;
        s = op("AddV2", 2, &next, &at, &sum);
        ef_tensor_release(&next);
        ef_tensor_release(&at);
        if (s == NULL) s = op("Tanh", 1, &sum, NULL, &at);
        if (s == NULL) ef_tensor_release(&sum);
    }
    if (s != NULL) return s;
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
    *n_out = 1;
    return NULL;
}

static ef_status *call(ef_function *f, int64_t rows) {
    ef_shape sx = {.rank = 2, .dim = {rows, 8}}, sw = {.rank = 2, .dim = {8, 8}};
    float zeros[(SIZES + 8) * 8] = {0};
    ef_tensor x, w, y;
    int n;
    EF_TRY(ef_tensor_from(EF_F32, &sx, zeros, &x));
    EF_TRY(ef_tensor_from(EF_F32, &sw, zeros, &w));
    const ef_tensor *in[] = {&x, &w};
    ef_status *s = ef_function_call(f, in, 2, &y, 1, &n);
    ef_tensor_release(&x);
    ef_tensor_release(&w);
    if (s == NULL) ef_tensor_release(&y);
    return s;
}

static int64_t bytes_of_all(uint64_t *made) {
    ef_cache_info info[KINDS];
    int n = ef_cache_info_get(info, KINDS);
    int64_t sum = 0;
    *made = 0;
    for (int k = 0; k < n && k < KINDS; k++) {
        sum += info[k].bytes;
        *made += info[k].made;
    }
    return sum;
}

static int64_t resident(void) {
    char text[128] = "", *rest;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL) return 0;
    if (fgets(text, sizeof text, f) == NULL) text[0] = 0;
    fclose(f);
    strtol(text, &rest, 10); /* the first number is the size of the address space */
    return strtol(rest, NULL, 10) * sysconf(_SC_PAGESIZE);
}

EF_TEST(five_hundred_signatures_stay_within_the_budget) {
    ef_function *f;
    uint64_t made, before;
    int64_t most = 0, reached = 0, at_half = 0;
    ef_cache_limit_set(limit);
    CHECK_INT(ef_cache_limit_get(), limit);
    CHECK_OK(ef_function_new(trace, NULL, "layers", &f));
    for (int k = 0; k < SIZES; k++) {
        CHECK_OK(call(f, k + 2));
        int64_t now = bytes_of_all(&made);
        if (now > most) most = now;
        if (reached == 0 && now > limit * 3 / 4) reached = k;
        if (k == SIZES / 2) at_half = resident();
    }
    CHECK(most <= limit);
    CHECK(reached > 0 && reached < SIZES / 2); /* else the test tests nothing */
    int64_t grown = resident() - at_half;
    if (EF_ASAN + EF_TSAN == 0) CHECK(grown < (int64_t)4 << 20); /* they keep what was freed */
    bytes_of_all(&before);
    for (int k = SIZES - RECENT; k < SIZES; k++) CHECK_OK(call(f, k + 2));
    bytes_of_all(&made);
    CHECK_INT(made, before); /* sizes seen recently are neither traced nor planned again */
    CHECK_OK(call(f, 2));
    bytes_of_all(&made);
    CHECK(made > before); /* the first one was evicted */
    printf("    %.1f MiB at most, reached after %d sizes; then %+.2f MiB resident\n",
           (double)most / (1 << 20), (int)reached, (double)grown / (1 << 20));
    ef_function_free(f);
    ef_cache_limit_set(0);
}

/* ---- entries in use ---- */

typedef struct work { /* of a callback inside a large function */
    ef_function *small;
    int64_t limit; /* 0: does nothing */
    uint64_t made; /* by calls with sizes that were used just before */
    ef_status *bad;
} work;

static ef_status *work_within(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int n_out) {
    (void)n_in, (void)n_out;
    work *w = user;
    uint64_t before = 0, after;
    if (w->limit > 0) ef_cache_limit_set(w->limit);
    for (int k = 0; k < 2 * RECENT && w->limit > 0 && w->bad == NULL; k++) {
        if (k == RECENT) bytes_of_all(&before);
        w->bad = call(w->small, 2 + k % RECENT);
    }
    bytes_of_all(&after);
    if (w->limit > 0) w->made = after - before;
    ef_tensor_copy(out, &in[0]);
    return NULL;
}

static ef_status *trace_small(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int max_out, int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    ef_trace_needs_sizes();
    *n_out = 1;
    return op("MatMul", 2, &in[0], &in[1], out);
}

static ef_status *trace_large(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                              int max_out, int *n_out) {
    ef_tensor y;
    ef_dtype dtype = EF_F32;
    EF_TRY(trace(NULL, in, n_in, &y, max_out, n_out));
    const ef_tensor *give[] = {&y};
    ef_shape s = ef_tensor_shape(&y);
    ef_status *bad = ef_callback_call(work_within, user, NULL, give, 1, &dtype, &s, true, out, 1);
    ef_tensor_release(&y);
    return bad;
}

/* The trace and plan of a call in progress cannot be freed. If they fill the budget, they leave the
 * cache, and small entries that were used later stay. */
EF_TEST(entries_in_use_do_not_push_out_the_others) {
    uint64_t made;
    work w = {0};
    ef_function *f;
    ef_programs_clear();
    CHECK_OK(ef_function_new(trace_small, NULL, "small", &w.small));
    CHECK_OK(ef_function_new(trace_large, &w, "large", &f));
    CHECK_OK(call(f, 2));
    w.limit = bytes_of_all(&made) / 2;
    CHECK_OK(call(f, 2));
    CHECK_OK(w.bad);
    CHECK_INT(w.made, 0);
    ef_cache_limit_set(0);
    ef_function_free(f);
    ef_function_free(w.small);
}

/* ---- traces under tapes ---- */

static int64_t bytes_of_traces(void) {
    ef_cache_info info[KINDS];
    int n = ef_cache_info_get(info, KINDS);
    for (int k = 0; k < n && k < KINDS; k++)
        if (strcmp(info[k].name, "traces") == 0) return info[k].bytes;
    return -1;
}

static ef_status *trace_with_constant(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                                      int max_out, int *n_out) {
    (void)n_in, (void)max_out;
    *n_out = 1;
    return op("Mul", 2, &in[0], user, out);
}

/* A trace is copied if a tape watches one of the values that became its constants. */
EF_TEST(the_copy_of_a_trace_for_tapes_is_charged) {
    float one = 1;
    ef_tensor x, c, y;
    int n;
    ef_function *f;
    ef_tape *tape;
    int64_t before = bytes_of_traces(), plain;
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &one, &x));
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &one, &c));
    const ef_tensor *in[] = {&x};
    CHECK_OK(ef_function_new(trace_with_constant, &c, "constant", &f));
    CHECK_OK(ef_tape_start(false, &tape));
    CHECK_OK(ef_tape_watch(tape, &c));
    ef_tape_stop(tape);
    CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
    ef_tensor_release(&y);
    ef_tape_free(tape);
    plain = bytes_of_traces();
    CHECK(plain > before);
    CHECK_OK(ef_tape_start(false, &tape));
    CHECK_OK(ef_tape_watch(tape, &c));
    CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
    ef_tensor_release(&y);
    CHECK(bytes_of_traces() > plain);
    ef_tape_free(tape);
    ef_function_free(f);
    CHECK_INT(bytes_of_traces(), before);
    ef_tensor_release(&x);
    ef_tensor_release(&c);
}

EF_TEST(one_report_shows_it_all) {
    char *text;
    CHECK_OK(ef_memory_report(&text));
    CHECK(strstr(text, "CPU:0: ") == text);
    CHECK(strstr(text, "\nplans: ") != NULL && strstr(text, "\ngenerated code: ") != NULL);
    CHECK(strstr(text, "all caches: ") != NULL);
    ef_text_release(text);
    CHECK_FAILS(ef_memory_report(NULL), EF_INVALID, "text is NULL");
}

int main(void) {
    EF_RUN(five_hundred_signatures_stay_within_the_budget);
    EF_RUN(entries_in_use_do_not_push_out_the_others);
    EF_RUN(the_copy_of_a_trace_for_tapes_is_charged);
    EF_RUN(one_report_shows_it_all);
    return EF_VERDICT();
}
