/* Every allocation may fail. The training example - drawing, tracing, gradients, planning, kernels,
 * updates - is run with its first allocation failing, then its second, and so on: each run must end
 * in a clean status or in success, never in a crash or a leak (the address sanitizer watches). */
#define EXAMPLE_WITHOUT_MAIN
#include "../examples/c/train.c" /* NOLINT(bugprone-suspicious-include): the example is the subject */

#include "base/alloc.h"
#include "check.h"

/* Weights and two steps; the status of the whole. */
static ef_status *whole_run(void) {
    network net = {0};
    progress p = {0};
    float right = 0;
    ef_programs_clear(); /* compile anew each time, or later allocations would never be reached */
    random_state = 88172645463325252u;
    ef_status *s = make(&net);
    if (s == NULL) s = train(&net, 2, 2, &p);
    if (s == NULL) s = try_out(&net, 2, &right);
    end(&net);
    return s;
}

EF_TEST(training_survives_each_failing_allocation) {
    CHECK_OK(whole_run()); /* once without, so that what lasts is in place */
    uint64_t tried = 0, failed = 0;
    for (uint64_t k = 1;; k++) {
        ef_alloc_fail_at(k);
        ef_status *s = whole_run();
        int happened = ef_alloc_failed();
        ef_alloc_fail_at(0);
        if (!happened) {
            CHECK_OK(s);
            break;
        }
        tried++;
        if (s != NULL) {
            failed++;
            CHECK_INT(ef_status_code(s), EF_NO_MEMORY);
            ef_status_free(s);
        }
    }
    printf("    %llu allocations failed in turn; %llu runs ended in a status\n",
           (unsigned long long)tried, (unsigned long long)failed);
    CHECK(tried > 100);
    CHECK(failed > tried / 2); /* the other runs succeeded without, e.g. an entry was not cached */
}

EF_TEST(nothing_is_held_afterwards) {
    ef_memory_usage before, after;
    CHECK_OK(ef_memory_usage_get("CPU:0", &before));
    CHECK_OK(whole_run());
    ef_programs_clear();
    CHECK_OK(ef_memory_usage_get("CPU:0", &after));
    CHECK(after.current <= before.current);
}

int main(void) {
    EF_RUN(training_survives_each_failing_allocation);
    EF_RUN(nothing_is_held_afterwards);
    return EF_VERDICT();
}
