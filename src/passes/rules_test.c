/* Every rule's own examples, run with and without it. The test iterates over the tables of rules.
 */
#include "case.h"
#include "check.h"
#include "passes/passes.h"

static const char *wanted;
static int fired, firings;

static void count(const char *rule, const char *before, const char *after) {
    (void)before, (void)after;
    firings++;
    fired += strcmp(rule, wanted) == 0;
}

/* Sums inside a product may be in another order; all else must be equal to the bit. */
static double tolerance(const ef_rule *r, ef_dtype t) {
    bool exact = true;
    for (int k = 0; k < EF_RULE_TOKENS; k++)
        if (r->pattern[k] > 0 && (ef_op_table[r->pattern[k] - 1]->traits & EF_HEAVY)) exact = false;
    if (strncmp(r->name, "pow", 3) == 0)
        exact = false; /* powers are rounded, products exactly so */
    if (exact) return 0;
    return t == EF_F16 ? 4e-3 : t == EF_BF16 ? 3e-2 : t == EF_F64 ? 1e-12 : 1e-5;
}

static bool takes_types(const char *example) { return strstr(example, "T[") != NULL; }

static void try_example(const ef_rule *r, int k) {
    static const ef_dtype types[] = {EF_F32, EF_F64, EF_F16, EF_BF16, EF_I32,
                                     EF_I64, EF_I8,  EF_U8,  EF_C64,  EF_BOOL};
    size_t n = takes_types(r->examples[k]) ? sizeof types / sizeof *types : 1;
    int ways = 0;
    wanted = r->name;
    fired = 0;
    for (size_t t = 0; t < n; t++)
        for (int swap = 0; swap < 2; swap++) {
            if (swap && !(ef_op_table[r->pattern[0] - 1]->traits & EF_COMMUTES)) continue;
            ef_case c;
            ef_status *s = ef_case_rule(r, k, types[t], swap, &c);
            if (s != NULL && ef_status_code(s) == EF_INTERNAL) CHECK_OK(s);
            if (s != NULL && n == 1) CHECK_OK(s);
            ef_status_free(s);
            if (s != NULL) continue; /* not a dtype for these ops */
            ways++;
            s = ef_case_compare(&c, NULL, tolerance(r, types[t]));
            ef_case_free(&c);
            if (s != NULL) printf("%s #%d %s\n", r->name, k, ef_dtype_name(types[t]));
            CHECK_OK(s);
        }
    if (ways == 0 || fired == 0) printf("%s: example \"%s\"\n", r->name, r->examples[k]);
    CHECK(ways > 0);
    CHECK(fired > 0);
}

EF_TEST(rules_fire_and_keep_values) {
    ef_rewrite_hook = count;
    for (int t = 0; ef_rule_tables[t] != NULL; t++)
        for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++) {
            if (r->loose) continue;
            if (r->examples[0] == NULL) printf("%s: has no example\n", r->name);
            CHECK(r->examples[0] != NULL);
            for (int k = 0; k < EF_RULE_EXAMPLES && r->examples[k] != NULL; k++) try_example(r, k);
        }
    ef_rewrite_hook = NULL;
}

EF_TEST(loose_rules_stay_off) {
    ef_rewrite_hook = count;
    for (int t = 0; ef_rule_tables[t] != NULL; t++)
        for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++) {
            if (!r->loose) continue;
            ef_case c;
            wanted = r->name;
            fired = 0;
            CHECK_OK(ef_case_rule(r, 0, EF_F32, false, &c));
            ef_status *s = ef_case_compare(&c, NULL, 0);
            ef_case_free(&c);
            CHECK_OK(s);
            CHECK_INT(fired, 0);
        }
    ef_rewrite_hook = NULL;
}

EF_TEST(names_are_unique) {
    for (int t = 0; ef_rule_tables[t] != NULL; t++)
        for (const ef_rule *r = ef_rule_tables[t]; r->name != NULL; r++)
            for (const ef_rule *q = ef_rule_tables[t]; q < r; q++) {
                bool unique = strcmp(q->name, r->name) != 0;
                if (!unique) printf("two rules are called \"%s\"\n", r->name);
                CHECK(unique);
            }
}

int main(void) {
    EF_RUN(rules_fire_and_keep_values);
    EF_RUN(loose_rules_stay_off);
    EF_RUN(names_are_unique);
    return EF_VERDICT();
}
