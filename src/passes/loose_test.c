/* Rules that change floating-point results, with the option that allows them. */
#include "case.h"
#include "check.h"
#include <stdlib.h>

static const char *wanted;
static int fired;

static void count(const char *rule, const char *before, const char *after) {
    (void)before, (void)after;
    fired += strcmp(rule, wanted) == 0;
}

EF_TEST(loose_rules_fire_when_asked) {
    ef_rewrite_hook = count;
    for (int t = 0; ef_rule_tables[t] != NULL; t++)
        for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++)
            for (int k = 0; r->loose && k < EF_RULE_EXAMPLES && r->examples[k] != NULL; k++) {
                ef_case c;
                wanted = r->name;
                fired = 0;
                CHECK_OK(ef_case_rule(r, k, EF_F32, false, &c));
                ef_status *s = ef_case_compare(&c, NULL, 1e-5);
                ef_case_free(&c);
                CHECK_OK(s);
                CHECK(fired > 0);
            }
    ef_rewrite_hook = NULL;
}

int main(void) {
    setenv("EF_MATH", "loose", 1); /* before it is first read */
    EF_RUN(loose_rules_fire_when_asked);
    return EF_VERDICT();
}
