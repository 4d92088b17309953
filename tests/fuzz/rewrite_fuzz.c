/* Random programs, run as they are, optimised, and with their numbers as inputs: the same values or
 * the same error.
 *
 *   rewrite_fuzz SECONDS SEED [CASE]     CASE: only that one */
#include "base/clock.h"
#include "case.h"
#include <stdio.h>
#include <stdlib.h>

static ef_status *one(uint64_t seed) {
    ef_case c;
    double tolerance;
    EF_TRY(ef_case_random(seed, &c, &tolerance));
    ef_status *s = ef_graph_verify(c.graph);
    if (s == NULL) s = ef_case_compare(&c, NULL, tolerance);
    if (s == NULL) s = ef_case_compare_lifted(&c, tolerance);
    ef_case_free(&c);
    return s;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, cases = 0;
    int findings = 0;
    uint64_t end = ef_now_ns() + (uint64_t)(seconds * 1e9);
    for (uint64_t k = first; findings < 10 && (k == first || ef_now_ns() < end); k++, cases++) {
        ef_status *s = one(seed * 1000003 + k);
        if (s != NULL) {
            findings++;
            printf("case %llu: %s\n", (unsigned long long)k, ef_status_message(s));
            fflush(stdout);
        }
        ef_status_free(s);
        if (argc > 3) break;
    }
    printf("rewrite: %llu programs, %d findings\n", (unsigned long long)cases, findings);
    return findings > 0;
}
