/* Tests the harness itself: passing checks pass, failing checks fail, and the counts agree. Failing
 * checks are provoked on purpose and then uncounted, so the program still ends without a failure.
 */
#include "check.h"

static int reached;

static void false_condition(void) {
    CHECK(1 == 2);
    reached++;
}
static void unequal_ints(void) {
    CHECK_INT(INT64_MAX, INT64_MIN);
    reached++;
}
static void far_numbers(void) {
    CHECK_NEAR(1.0, 1.5, 0.25);
    reached++;
}
static void nan_and_number(void) {
    CHECK_NEAR(NAN, 0, 1e9);
    reached++;
}
static void unequal_texts(void) {
    CHECK_TEXT("a", NULL);
    reached++;
}
static void success_where_failure_was_due(void) {
    CHECK_FAILS(NULL, EF_INVALID, "");
    reached++;
}
static void skipping(void) {
    SKIP("on %s", "purpose");
    reached++;
}

/* Runs a function whose first check must fail; returns whether it did. */
static bool fails(void (*test)(void)) {
    bool failed = ef_check.failed;
    ef_check.failed = false;
    reached = 0;
    test();
    bool did = ef_check.failed && reached == 0;
    ef_check.failed = failed;
    return did;
}

EF_TEST(passing_checks_go_on) {
    CHECK(true);
    CHECK_INT(-1, -1);
    CHECK_NEAR(1.0, 1.2, 0.25);
    CHECK_NEAR(NAN, NAN, 0);
    CHECK_NEAR(INFINITY, INFINITY, 0);
    CHECK_TEXT("a", "a");
    CHECK_OK(NULL);
}

EF_TEST(failing_checks_end_the_test) {
    printf("(the following failures are provoked)\n");
    CHECK(fails(false_condition));
    CHECK(fails(unequal_ints));
    CHECK(fails(far_numbers));
    CHECK(fails(nan_and_number));
    CHECK(fails(unequal_texts));
    CHECK(fails(success_where_failure_was_due));
}

EF_TEST(skipping_ends_the_test) {
    reached = 0;
    skipping();
    CHECK(ef_check.skipped);
    ef_check.skipped = false;
    CHECK_INT(reached, 0);
}

int main(void) {
    EF_RUN(passing_checks_go_on);
    EF_RUN(failing_checks_end_the_test);
    EF_RUN(skipping_ends_the_test);
    return EF_VERDICT();
}
