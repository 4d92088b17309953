/* A test program in one header. A test is a function; main lists the tests and ends with the
 * verdict:
 *
 *     EF_TEST(adds) { CHECK_INT(1 + 1, 2); }
 *     int main(void) {
 *         EF_RUN(adds);
 *         return EF_VERDICT();
 *     }
 *
 * A failed check prints file, line and values, marks the test failed and returns from it. Checks
 * may be used in helpers too: a helper returning void simply ends early. The last line of every
 * test program reads `N passed, M failed, K skipped`, which tools/run_tests.py adds up. */
#ifndef EF_TESTS_CHECK_H
#define EF_TESTS_CHECK_H
#include "evenflow.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static struct {
    const char *name; /* the test that runs now */
    bool failed, skipped;
    int passes, failures, skips;
} ef_check;

/* Marks the test failed and says where; the caller prints the values. */
static inline void ef_check_fail(const char *file, int line, const char *what) {
    ef_check.failed = true;
    printf("%s:%d: %s: %s", file, line, ef_check.name ? ef_check.name : "main", what);
}

static inline bool ef_check_int(const char *file, int line, const char *what, int64_t a,
                                int64_t b) {
    if (a == b) return true;
    ef_check_fail(file, line, what);
    printf(": %" PRId64 " is not %" PRId64 "\n", a, b);
    return false;
}

/* Two NaNs are near, and so are equal infinities. */
static inline bool ef_check_near(const char *file, int line, const char *what, double a, double b,
                                 double tolerance) {
    if (a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= tolerance) return true;
    ef_check_fail(file, line, what);
    printf(": %.17g and %.17g differ by %g, more than %g\n", a, b, fabs(a - b), tolerance);
    return false;
}

static inline bool ef_check_text(const char *file, int line, const char *what, const char *a,
                                 const char *b) {
    if (a == b || (a && b && strcmp(a, b) == 0)) return true;
    ef_check_fail(file, line, what);
    printf(": \"%s\" is not \"%s\"\n", a ? a : "(null)", b ? b : "(null)");
    return false;
}

/* Frees s. */
static inline bool ef_check_ok(const char *file, int line, const char *what, ef_status *s) {
    if (!s) return true;
    ef_check_fail(file, line, what);
    printf(": failed with code %d: %s\n", (int)ef_status_code(s), ef_status_message(s));
    ef_status_free(s);
    return false;
}

/* Frees s. An empty phrase accepts any message. */
static inline bool ef_check_fails(const char *file, int line, const char *what, ef_status *s,
                                  int code, const char *phrase) {
    bool good = s && (int)ef_status_code(s) == code && strstr(ef_status_message(s), phrase);
    if (!good) {
        ef_check_fail(file, line, what);
        if (s)
            printf(": code %d, \"%s\"; expected", (int)ef_status_code(s), ef_status_message(s));
        else
            printf(": succeeded; expected");
        printf(" code %d and \"%s\"\n", code, phrase);
    }
    ef_status_free(s);
    return good;
}

/* Runs one test and counts its outcome. */
static inline void ef_check_run(const char *name, void (*test)(void)) {
    ef_check.name = name;
    ef_check.failed = ef_check.skipped = false;
    test();
    if (ef_check.failed)
        ef_check.failures++;
    else if (ef_check.skipped)
        ef_check.skips++;
    else
        ef_check.passes++;
    fflush(stdout);
    ef_check.name = NULL;
}

static inline int ef_check_verdict(void) {
    printf("%d passed, %d failed, %d skipped\n", ef_check.passes, ef_check.failures,
           ef_check.skips);
    return ef_check.failures > 0;
}

#define EF_TEST(name) static void name(void)
#define EF_RUN(name) ef_check_run(#name, name)
#define EF_VERDICT() ef_check_verdict()

#define EF_CHECK_(passed)      \
    do {                       \
        if (!(passed)) return; \
    } while (0)
#define CHECK(cond)                                   \
    do {                                              \
        if (!(cond)) {                                \
            ef_check_fail(__FILE__, __LINE__, #cond); \
            printf(": is false\n");                   \
            return;                                   \
        }                                             \
    } while (0)
#define CHECK_INT(a, b) \
    EF_CHECK_(ef_check_int(__FILE__, __LINE__, #a " == " #b, (int64_t)(a), (int64_t)(b)))
#define CHECK_NEAR(a, b, tolerance) \
    EF_CHECK_(ef_check_near(__FILE__, __LINE__, #a " ~ " #b, (double)(a), (double)(b), (tolerance)))
#define CHECK_TEXT(a, b) EF_CHECK_(ef_check_text(__FILE__, __LINE__, #a " == " #b, (a), (b)))
#define CHECK_OK(status) EF_CHECK_(ef_check_ok(__FILE__, __LINE__, #status, (status)))
#define CHECK_FAILS(status, code, phrase) \
    EF_CHECK_(ef_check_fails(__FILE__, __LINE__, #status, (status), (int)(code), (phrase)))
/* Ends the test without a verdict; the reason is printf-like and shows in the log. */
#define SKIP(...)                              \
    do {                                       \
        ef_check.skipped = true;               \
        printf("skipped %s: ", ef_check.name); \
        printf(__VA_ARGS__);                   \
        printf("\n");                          \
        return;                                \
    } while (0)
#endif
