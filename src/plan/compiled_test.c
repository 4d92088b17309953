/* The expressions of op records, compiled, compared with the ops' own loops: over zeros of both
 * signs, denormals, infinities and NaN, for every registered elementwise op whose expression can be
 * compiled. */
#include "check.h"
#include "jit/jit.h"
#include "ops/op.h"
#include <math.h>
#include <string.h>

enum { N = 1000 };

static const double odd[] = {0.0,      -0.0,      1,    -1,         0.5,    -2.5,  3.5,
                             6,        7,         1e30, -1e30,      1e-310, 1e-40, -1e-40,
                             INFINITY, -INFINITY, NAN,  0.49999997, -6.5};
enum { ODD = sizeof odd / sizeof *odd };

/* All pairs of special values in x and y; z has them in another order. */
static void fill(char *x, char *y, char *z, ef_dtype d) {
    for (int k = 0; k < N; k++) {
        double v[] = {odd[k % ODD], odd[k / ODD % ODD], odd[k * 7 % ODD]};
        float f[] = {(float)v[0], (float)v[1], (float)v[2]};
        char *to[] = {x, y, z};
        for (int i = 0; i < 3; i++)
            if (d == EF_F32)
                memcpy(to[i] + 4 * k, &f[i], 4);
            else
                memcpy(to[i] + 8 * k, &v[i], 8);
    }
}

/* The same to the bit, or both NaN. */
static bool alike(const char *a, const char *b, ef_dtype d) {
    size_t size = d == EF_F32 ? 4 : 8;
    for (int k = 0; k < N; k++, a += size, b += size) {
        float f[2];
        double x[2] = {0, 0};
        memcpy(&f[0], a, 4);
        memcpy(&f[1], b, 4);
        memcpy(&x[0], a, size);
        memcpy(&x[1], b, size);
        bool nans = d == EF_F32 ? isnan(f[0]) && isnan(f[1]) : isnan(x[0]) && isnan(x[1]);
        if (!nans && memcmp(a, b, size) != 0) return false;
    }
    return true;
}

static const ef_op *subject;
static int n_in, known, known_tests, vector;

static ef_jit_ins expression(void) {
    return (ef_jit_ins){subject->expr, (uint8_t)n_in, 0, 0, {0, 1, 2}, 3, true};
}
/* The same for an expression that gives truth values, which stay inside the run. */
static ef_jit_ins test_expression(void) {
    return (ef_jit_ins){subject->expr, (uint8_t)n_in, 0, EF_JIT_TRUTH_OUT, {0, 1, 2}, 4, false};
}
static bool known_expression(ef_jit_ins x) { return ef_jit_knows(&x, EF_F32); }

static _Alignas(64) char x[8 * N], y[8 * N], z[8 * N], want[8 * N], got[8 * N];

/* Fills `want` by the op's own loop and `got` by the run; false: the op has no loop for the type.
 */
static bool run_both(const ef_jit_run *run, ef_dtype out, const void *fields) {
    ef_dtype d = run->dtype, types[] = {d, d, d};
    ef_tile_fn *tile = ef_op_tile(subject, types, n_in, out, fields);
    if (tile == NULL) return false;
    ef_jit_code *code = ef_jit_get(run);
    fill(x, y, z, d);
    const void *in[] = {x, y, z, got};
    tile(want, in, N, 0, fields);
    memset(got, 255, sizeof got); /* NaN, and stays if there is no code */
    if (code != NULL) ef_jit_entry(code)(in, N);
    ef_jit_release(code);
    return true;
}

static void must_be_alike(bool same) {
    if (!same) printf("    %s: \"%s\" is something else\n", subject->name, subject->expr);
    CHECK(same);
}

EF_TEST(expression_says_what_the_op_does) {
    for (ef_dtype d = EF_F32; d <= EF_F64; d++) {
        ef_jit_run run = {.dtype = d, .vector = vector, .n = 1};
        run.ins[0] = expression();
        if (!ef_jit_knows(&run.ins[0], d)) continue;
        if (!run_both(&run, d, NULL)) continue;
        must_be_alike(alike(want, got, d));
        known++;
    }
}

EF_TEST(expression_tests_what_the_op_does) {
    const ef_attrs *attrs = ef_attrs_default(subject);
    for (ef_dtype d = EF_F32; d <= EF_F64; d++) {
        ef_jit_run run = {.dtype = d, .vector = vector, .n = 2};
        run.ins[0] = test_expression();
        run.ins[1] = (ef_jit_ins){"x ? 1 : 0", 1, 0, 1, {4}, 3, true};
        if (!run_both(&run, EF_BOOL, attrs != NULL ? ef_attrs_fields(attrs) : NULL)) continue;
        bool same = true;
        for (int k = 0; k < N; k++)
            same = same && (want[k] != 0) == (ef_element_double(d, got, k) != 0);
        must_be_alike(same);
        known_tests++;
    }
}

EF_TEST(many_are_known) {
    CHECK(known > 50);
    CHECK(known_tests >= 12); /* six comparisons of two types */
}

static void test_all_ops(void) {
    for (int k = 0; k < EF_OP_COUNT; k++) {
        subject = ef_op_table[k];
        for (n_in = 0; n_in < 3 && subject->in[n_in] != NULL;) n_in++;
        if (!(subject->traits & EF_ELEMENTWISE) || subject->expr == NULL) continue;
        bool plain = subject->attr_size == 0 && subject->tile != NULL;
        if (plain && known_expression(expression())) EF_RUN(expression_says_what_the_op_does);
        if (known_expression(test_expression())) EF_RUN(expression_tests_what_the_op_does);
    }
}

int main(void) {
    for (vector = 32; vector <= ef_jit_vector(); vector += 32) test_all_ops();
    if (vector > 32) EF_RUN(many_are_known);
    return EF_VERDICT();
}
