/* The byte budget of all caches, tested through the public interface: a function of 100 layers is
 * called with 500 sizes, each of which is another signature. */
#include "base/sanitize.h"
#include "base/status.h"
#include "check.h"
#include "evenflow.h"
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
    EF_RUN(one_report_shows_it_all);
    return EF_VERDICT();
}
