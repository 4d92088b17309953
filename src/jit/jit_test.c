/* Compiled runs compared with an interpreter in plain C, over lengths with and without a remainder,
 * over every kind of float, and over random runs that need more registers than there are. */
#include "base/budget.h"
#include "check.h"
#include "jit/emit.h"
#include "kernels/vmath.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 54 /* two vectors of floats at a time, one more, and a rest */,
    GUARD = 8,
    OPERANDS = EF_JIT_MAX_OPERANDS
};

static const double odd[] = {0.0,    -0.0,     1,         -1,   0.5,        -2.5,
                             3.5,    6,        7,         1e30, -1e30,      1e-40,
                             -1e-40, INFINITY, -INFINITY, NAN,  0.49999997, -6.5};

static uint64_t seed = 1;
static uint32_t draw(uint32_t below) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % below;
}

typedef struct memory {
    char raw[OPERANDS][(N + GUARD) * 8];
} memory;

static size_t size_of(ef_dtype d) { return d == EF_F32 ? 4 : 8; }
static double get(const char *raw, ef_dtype d, int k) {
    float f;
    double x;
    memcpy(&f, raw + (size_t)k * 4, 4);
    if (d == EF_F32) return f;
    memcpy(&x, raw + (size_t)k * 8, 8);
    return x;
}
static void put(char *raw, ef_dtype d, int k, double x) {
    float f = (float)x;
    if (d == EF_F32)
        memcpy(raw + (size_t)k * 4, &f, 4);
    else
        memcpy(raw + (size_t)k * 8, &x, 8);
}

static void fill(memory *m, ef_dtype d) {
    for (int o = 0; o < OPERANDS; o++)
        for (int k = 0; k < N + GUARD; k++)
            put(m->raw[o], d, k, odd[draw(sizeof odd / sizeof *odd)]);
}

/* ---- an interpreter in plain C --------------------------------------------------------------- */

static uint64_t bits_of(ef_dtype d, double x) {
    uint64_t b = 0;
    char raw[8];
    put(raw, d, 0, x);
    memcpy(&b, raw, size_of(d));
    return b;
}
static double number_of(ef_dtype d, uint64_t b) {
    char raw[8];
    memcpy(raw, &b, 8);
    return get(raw, d, 0);
}
static bool holds(ef_jit_how how, double a, double b) {
    bool yes[] = {a == b,   a != b, a<b, !(a < b), a <= b, !(a <= b), a> b,
                  !(a > b), a >= b, !(a >= b)};
    return yes[how];
}
static double rounded(ef_jit_how how, double a) {
    if (how == EF_JIT_FLOOR) return floor(a);
    if (how == EF_JIT_CEIL) return ceil(a);
    return how == EF_JIT_TRUNC ? trunc(a) : rint(a);
}

static double fma_of(ef_dtype d, double a, double b, double c) {
    return d == EF_F32 ? fmaf((float)a, (float)b, (float)c) : fma(a, b, c);
}

static uint64_t read_value(const ef_jit_value *x, ef_dtype d, const uint64_t *v, const memory *m,
                           int k) {
    uint64_t ones = d == EF_F32 ? UINT32_MAX : UINT64_MAX;
    uint64_t a = v[x->arg[0]], b = v[x->arg[1]], c = v[x->arg[2]];
    double p = number_of(d, a), q = number_of(d, b);
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_LOAD: return bits_of(d, get(m->raw[x->operand], d, k));
    case EF_JIT_SCALAR: return bits_of(d, get(m->raw[x->operand], d, 0));
    case EF_JIT_NUMBER: return x->bits;
    case EF_JIT_ADD: return bits_of(d, d == EF_F32 ? (float)p + (float)q : p + q);
    case EF_JIT_SUB: return bits_of(d, d == EF_F32 ? (float)p - (float)q : p - q);
    case EF_JIT_MUL: return bits_of(d, d == EF_F32 ? (float)p * (float)q : p * q);
    case EF_JIT_DIV: return bits_of(d, d == EF_F32 ? (float)p / (float)q : p / q);
    case EF_JIT_MAX: return p > q ? a : b;
    case EF_JIT_MIN: return p < q ? a : b;
    case EF_JIT_AND: return a & b;
    case EF_JIT_OR: return a | b;
    case EF_JIT_XOR: return a ^ b;
    case EF_JIT_PLUS: return (uint32_t)(a + b);
    case EF_JIT_MINUS: return (uint32_t)(a - b);
    case EF_JIT_SCALE: return bits_of(d, isnan(q) ? q : (double)ldexpf((float)p, (int)q));
    case EF_JIT_LEFT: return (uint32_t)(a << x->how);
    case EF_JIT_RIGHT: return (uint32_t)((int32_t)a >> x->how);
    case EF_JIT_CONVERT: return bits_of(d, (float)(int32_t)a);
    case EF_JIT_FMA: return bits_of(d, fma_of(d, p, q, number_of(d, c)));
    case EF_JIT_COMPARE: return holds((ef_jit_how)x->how, p, q) ? ones : 0;
    case EF_JIT_SQRT: return bits_of(d, d == EF_F32 ? sqrtf((float)p) : sqrt(p));
    case EF_JIT_ROUND: return bits_of(d, rounded((ef_jit_how)x->how, p));
    case EF_JIT_CHOOSE: return a != 0 ? b : c;
    case EF_JIT_STORE:
    case EF_JIT_SUM: return a;
    }
    return 0;
}

static void read_run(const ef_jit_run *run, memory *m, int n) {
    ef_jit_values v;
    uint64_t bits[EF_JIT_MAX_VALUES];
    CHECK(ef_jit_parse(run, &v));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < v.n; i++) {
            bits[i] = read_value(&v.at[i], run->dtype, bits, m, k);
            if (v.at[i].kind == EF_JIT_STORE)
                put(m->raw[v.at[i].operand], run->dtype, k, number_of(run->dtype, bits[i]));
        }
}

/* The same to the bit, or both NaN. */
static bool alike(const memory *a, const memory *b, ef_dtype d) {
    for (int o = 0; o < OPERANDS; o++)
        for (int k = 0; k < N + GUARD; k++) {
            double x = get(a->raw[o], d, k), y = get(b->raw[o], d, k);
            if (bits_of(d, x) != bits_of(d, y) && !(isnan(x) && isnan(y))) return false;
        }
    return true;
}

static void run_code(const ef_jit_code *code, memory *m, int n) {
    const void *at[OPERANDS];
    for (int o = 0; o < OPERANDS; o++) at[o] = m->raw[o];
    ef_jit_entry(code)(at, n);
}

static int compiled; /* runs that compare() could compile */
static int vector;   /* bytes of the vectors under test */

/* Runs both on the same memory and compares the results. */
static void compare(ef_jit_run *run, int n) {
    static memory a, b;
    run->vector = vector;
    ef_jit_code *code = ef_jit_get(run);
    if (code == NULL) return;
    compiled++;
    fill(&a, run->dtype);
    b = a;
    run_code(code, &a, n);
    read_run(run, &b, n);
    CHECK(alike(&a, &b, run->dtype));
    ef_jit_release(code);
}

static const char *const exprs[] = {"x + y",
                                    "x - y",
                                    "x * y",
                                    "x / y",
                                    "-x",
                                    "fabs(x)",
                                    "x * x",
                                    "sqrt(x)",
                                    "1 / sqrt(x)",
                                    "floor(x)",
                                    "ceil(x)",
                                    "trunc(x)",
                                    "rint(x)",
                                    "x <= 0 ? 0 : x",
                                    "x <= 0 ? 0 : x > 6 ? 6 : x",
                                    "x > y ? x : y",
                                    "x < y ? x : y",
                                    "x > y ? y : x",
                                    "x < y ? y : x",
                                    "x >= y ? x : y - 1",
                                    "y == y ? (x < y ? y : x) : y",
                                    "x != y ? x : 0",
                                    "x * (y > 0 && y < 6 ? 1 : 0)",
                                    "y == 0 ? 0 : y / -2 * x * (x * x)",
                                    "x - y * floor(x / y)",
                                    "(x - y) * (x - y)",
                                    "z > 0 ? x : y",
                                    "x * y + z",
                                    "2.5e-1",
                                    "x",
                                    "- 3 + x",
                                    "exp(x)",
                                    "expm1(x - y)",
                                    "log(fabs(x))",
                                    "log1p(x)",
                                    "x * sigmoid(y)",
                                    "softplus(x)",
                                    "tanh(x) + z",
                                    "erf(x / y)",
                                    "erfc(y)",
                                    "rsqrt(x)"};
enum { EXPRS = sizeof exprs / sizeof *exprs };

/* Functions of math_f32.inc are there for floats only. */
static bool has_function(const char *expr) {
    ef_jit_ins x = {expr, 3, 0, 0, {0, 1, 2}, 3, true};
    return !ef_jit_knows(&x, EF_F64);
}

EF_TEST(every_expression_at_every_length) {
    for (int e = 0; e < EXPRS; e++)
        for (int n = 0; n <= N; n += n < 18 ? 1 : 9)
            for (int scalars = 0; scalars < 8; scalars++) {
                ef_jit_run run = {.dtype = n % 2 || has_function(exprs[e]) ? EF_F32 : EF_F64,
                                  .n = 1};
                run.ins[0] = (ef_jit_ins){exprs[e], 3, (uint8_t)scalars, 0, {0, 1, 2}, 3, true};
                int before = compiled;
                compare(&run, n);
                CHECK(compiled == before + 1);
            }
}

#define EACH(X) X(exp) X(expm1) X(log) X(log1p) X(sigmoid) X(softplus) X(tanh) X(erf) X(erfc)
#define ROW(name) {#name "(x)", ef_##name##_F32},

/* Floats from all over the range, NaN with payloads among them: generated code and vmath.h agree to
 * the bit. */
EF_TEST(functions_are_those_of_vmath) {
    enum { MANY = 1 << 16 };
    static float in[MANY], out[MANY];
    static const struct {
        const char *expr;
        float (*of)(float);
    } all[] = {EACH(ROW)};
    for (int i = 0; i < MANY; i++) {
        uint32_t bits = (uint32_t)i * 65537u;
        memcpy(&in[i], &bits, sizeof bits);
    }
    for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
        ef_jit_run run = {.dtype = EF_F32, .vector = vector, .n = 1};
        run.ins[0] = (ef_jit_ins){all[f].expr, 1, 0, 0, {0}, 1, true};
        ef_jit_code *code = ef_jit_get(&run);
        CHECK(code != NULL);
        if (code == NULL) continue;
        ef_jit_entry(code)((const void *const[]){in, out}, MANY);
        ef_jit_release(code);
        int wrong = 0;
        for (int i = 0; i < MANY; i++) {
            float want = all[f].of(in[i]);
            uint32_t want_bits, bits;
            memcpy(&want_bits, &want, 4);
            memcpy(&bits, &out[i], 4);
            wrong += want_bits != bits && !(isnan(want) && isnan(out[i]));
        }
        CHECK(wrong == 0);
    }
}

EF_TEST(in_place) {
    ef_jit_run run = {.dtype = EF_F32, .n = 2};
    run.ins[0] = (ef_jit_ins){"x + y", 2, 0, 0, {0, 1}, 2, false};
    run.ins[1] = (ef_jit_ins){"x * y", 2, 0, 0, {2, 0}, 0, true};
    int before = compiled;
    compare(&run, N);
    CHECK(compiled == before + 1);
}

/* Comparisons of the same operands are values of their own, whichever came first. */
/* Lane l of a sum has the elements l, l + lanes, l + 2 lanes ... and nothing of what is beyond the
 * end, where x - 3 would not be 0. */
EF_TEST(lanes_add_up_their_elements) {
    static const ef_dtype types[] = {EF_F32, EF_F64};
    for (int k = 0; k < 2; k++)
        for (int n = 0; n <= N; n++) {
            static memory m;
            int lanes = vector / (int)size_of(types[k]);
            double want[2][16] = {{0}, {0}};
            ef_jit_run run = {.dtype = types[k], .vector = vector, .n = 2};
            run.ins[0] = (ef_jit_ins){"x - 3", 1, 0, 0, {0}, 2, false};
            run.ins[1] = (ef_jit_ins){"x * x", 1, 0, 0, {2}, 1, true};
            run.sum[0] = 1 + 3;
            run.sum[1] = 1 + 4;
            for (int i = 0; i < N + GUARD; i++) put(m.raw[0], types[k], i, i);
            for (int i = 0; i < n; i++) {
                want[0][i % lanes] += i - 3;
                want[1][i % lanes] += (i - 3) * (i - 3);
            }
            ef_jit_code *code = ef_jit_get(&run);
            CHECK(code != NULL);
            if (code == NULL) return;
            run_code(code, &m, n);
            ef_jit_release(code);
            for (int l = 0; l < lanes; l++) {
                CHECK(get(m.raw[3], types[k], l) == want[0][l]);
                CHECK(get(m.raw[4], types[k], l) == want[1][l]);
            }
            for (int i = 0; i < n; i++) CHECK(get(m.raw[1], types[k], i) == (i - 3) * (i - 3));
        }
}

/* Several vectors may be computed at a time, in place too; the elements are added in their order.
 */
EF_TEST(long_computations_add_in_order) {
    for (int n = 0; n <= N; n++) {
        static memory m;
        int lanes = vector / (int)sizeof(float);
        float want[16] = {0};
        ef_jit_run run = {.dtype = EF_F32, .vector = vector, .n = 2};
        run.ins[0] = (ef_jit_ins){"erfc(x) + softplus(x)", 1, 0, 0, {0}, 2, false};
        run.ins[1] = (ef_jit_ins){"x * tanh(y)", 2, 0, 0, {2, 0}, 0, true};
        run.sum[1] = 1 + 3;
        for (int i = 0; i < N + GUARD; i++) put(m.raw[0], EF_F32, i, i * 0.37 - 7);
        for (int i = 0; i < n; i++) {
            float x = (float)(i * 0.37 - 7);
            want[i % lanes] += (ef_erfc_F32(x) + ef_softplus_F32(x)) * ef_tanh_F32(x);
        }
        ef_jit_code *code = ef_jit_get(&run);
        CHECK(code != NULL);
        if (code == NULL) return;
        run_code(code, &m, n);
        ef_jit_release(code);
        for (int l = 0; l < lanes; l++) CHECK(get(m.raw[3], EF_F32, l) == (double)want[l]);
        for (int i = n; i < N + GUARD; i++)
            CHECK(get(m.raw[0], EF_F32, i) == (double)(float)(i * 0.37 - 7));
    }
}

EF_TEST(every_comparison_of_the_same_operands) {
    static const char *const tests[] = {"x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y"};
    enum { TESTS = sizeof tests / sizeof *tests };
    for (int first = 0; first < TESTS; first++)
        for (int second = 0; second < TESTS; second++) {
            static memory m;
            ef_jit_run run = {.dtype = EF_F32, .vector = vector, .n = 4};
            run.ins[0] = (ef_jit_ins){tests[first], 2, 0, EF_JIT_TRUTH_OUT, {0, 1}, 2, false};
            run.ins[1] = (ef_jit_ins){tests[second], 2, 0, EF_JIT_TRUTH_OUT, {0, 1}, 3, false};
            run.ins[2] = (ef_jit_ins){"x ? 1 : 2", 1, 0, 1, {2}, 4, true};
            run.ins[3] = (ef_jit_ins){"x ? 1 : 2", 1, 0, 1, {3}, 5, true};
            ef_jit_code *code = ef_jit_get(&run);
            CHECK(code != NULL);
            fill(&m, EF_F32);
            run_code(code, &m, N);
            ef_jit_release(code);
            for (int k = 0; k < N; k++) {
                double x = get(m.raw[0], EF_F32, k), y = get(m.raw[1], EF_F32, k);
                bool yes[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
                CHECK(get(m.raw[4], EF_F32, k) == (yes[first] ? 1 : 2));
                CHECK(get(m.raw[5], EF_F32, k) == (yes[second] ? 1 : 2));
            }
        }
}

enum { NUMBERS = 20, TRUTHS = 24 };
/* An instruction that makes a truth value or reads some; they are operands 20-23. */
static bool with_truths(ef_jit_ins *x, bool *made) {
    static const struct {
        const char *expr;
        unsigned truths;
    } some[] = {{"x > y", EF_JIT_TRUTH_OUT},
                {"x <= y", EF_JIT_TRUTH_OUT},
                {"x == y", EF_JIT_TRUTH_OUT},
                {"x ? y : z", 1},
                {"x ? 0 : y", 1},
                {"!x || y", 1 | 2 | EF_JIT_TRUTH_OUT},
                {"x && y > z", 1 | EF_JIT_TRUTH_OUT}};
    size_t k = draw(sizeof some / sizeof *some);
    x->expr = some[k].expr;
    x->truths = (uint8_t)some[k].truths;
    for (int i = 0; i < 3; i++)
        if (x->truths >> i & 1) {
            x->in[i] = (uint8_t)(NUMBERS + draw(TRUTHS - NUMBERS));
            x->scalars &= (uint8_t) ~(1u << i);
            if (!made[x->in[i]]) return false;
        }
    if (x->truths & EF_JIT_TRUTH_OUT) {
        x->out = (uint8_t)(NUMBERS + draw(TRUTHS - NUMBERS));
        x->keep = false;
    }
    return true;
}

/* Operands 0-7 are inputs (6 and 7 scalars), 8-11 outputs, 12 and up pass between instructions. */
static void random_run(ef_jit_run *run) {
    *run = (ef_jit_run){.dtype = draw(2) ? EF_F32 : EF_F64, .n = 1 + (int)draw(EF_JIT_MAX_INS)};
    bool made[OPERANDS] = {false};
    for (int k = 0; k < run->n; k++) {
        ef_jit_ins *x = &run->ins[k];
        *x = (ef_jit_ins){.expr = exprs[draw(EXPRS)], .n_in = 3};
        for (int i = 0; i < 3; i++) {
            uint8_t o;
            do o = (uint8_t)draw(NUMBERS);
            while (o >= 8 && !made[o]);
            x->in[i] = o;
            if (o == 6 || o == 7) x->scalars |= (uint8_t)(1u << i);
        }
        bool output = draw(4) == 0;
        x->out = (uint8_t)(output ? 8 + draw(4) : 12 + draw(8));
        x->keep = output || draw(3) == 0;
        ef_jit_ins other = *x;
        if (draw(3) == 0 && with_truths(&other, made)) *x = other;
        made[x->out] = true;
    }
}

EF_TEST(random_runs) {
    int before = compiled;
    for (int k = 0; k < 3000; k++) {
        ef_jit_run run;
        random_run(&run);
        compare(&run, 1 + (int)draw(N));
    }
    CHECK(compiled > before + 1000);
    if (vector == 32) CHECK(compiled < before + 3000); /* some need more registers than there are */
}

static bool knows(const char *expr, int n_in, unsigned truths) {
    ef_jit_ins x = {expr, (uint8_t)n_in, 0, (uint8_t)truths, {0, 1, 2}, 3, true};
    return ef_jit_knows(&x, EF_F32);
}

EF_TEST(what_it_does_not_know) {
    static const char *const bad[] = {
        "gamma(x)", "x +",       "(x",       "x)",     "x ? y : z",  "x y",       "",
        "w",        "!x",        "x > y",    "x & y",  "~x",         "max(x, y)", "xy",
        "1.5f * x", "x > 0 ? y", "-(x > 0)", "sqrt(x", "x == y == z"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) CHECK(!knows(bad[k], 3, 0));
    CHECK(knows("x + y", 2, 0));
    CHECK(!knows("x + y", 1, 0));
    CHECK(!knows("x + y", 4, 0));
    CHECK(knows("x > y", 2, EF_JIT_TRUTH_OUT));
    CHECK(knows("x ? y : z", 3, 1));
    CHECK(knows("x || !y && z > 0", 3, 1 | 2 | EF_JIT_TRUTH_OUT));
    CHECK(!knows("x + y", 2, 1));
    CHECK(!knows("x + y", 2, EF_JIT_TRUTH_OUT));
    CHECK(!knows("x ? y : z", 3, 2));
}

EF_TEST(the_same_run_is_compiled_once) {
    ef_jit_run run = {.dtype = EF_F32, .vector = vector, .n = 1};
    run.ins[0] = (ef_jit_ins){exprs[0], 2, 0, 0, {0, 1}, 2, true};
    ef_jit_code *a = ef_jit_get(&run), *b = ef_jit_get(&run);
    CHECK(a != NULL && a == b);
    ef_jit_release(a);
    ef_jit_release(b);
    run.dtype = EF_F64;
    b = ef_jit_get(&run);
    CHECK(b != NULL && a != b);
    ef_jit_release(b);
    ef_jit_release(NULL);
}

/* Bytes of code made by this process: executable and from no file. */
static size_t code_bytes(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[512];
    size_t sum = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        char *dash;
        unsigned long from = strtoul(line, &dash, 16);
        if (*dash == '-' && strstr(line, " r-xp 00000000 00:00 0 \n") != NULL)
            sum += strtoul(dash + 1, NULL, 16) - from;
    }
    if (f != NULL) fclose(f);
    return sum;
}

/* Thousands of different runs, some held throughout: memory stays within the budget of all caches.
 */
EF_TEST(code_is_bounded) {
    ef_jit_code *held[20];
    ef_jit_run run;
    for (int k = 0; k < 20; k++) {
        run = (ef_jit_run){.dtype = EF_F32, .vector = vector, .n = 1};
        run.ins[0] = (ef_jit_ins){exprs[k % 4], 2, 0, 0, {0, 1}, (uint8_t)(2 + k), true};
        CHECK((held[k] = ef_jit_get(&run)) != NULL);
    }
    ef_budget_limit(1 << 20);
    for (int k = 0; k < 4000; k++) {
        random_run(&run);
        run.vector = vector;
        ef_jit_release(ef_jit_get(&run));
        ef_budget_keep();
    }
    size_t bytes = code_bytes();
    ef_budget_limit(0);
    CHECK(bytes > 0 && bytes < 2 << 20);
    for (int k = 0; k < 20; k++) {
        static memory m;
        fill(&m, EF_F32);
        run_code(held[k], &m, 1);
        ef_jit_release(held[k]);
    }
}

int main(void) {
    EF_RUN(what_it_does_not_know);
    for (vector = 32; vector <= ef_jit_vector(); vector += 32) {
        EF_RUN(every_expression_at_every_length);
        EF_RUN(functions_are_those_of_vmath);
        EF_RUN(in_place);
        EF_RUN(lanes_add_up_their_elements);
        EF_RUN(long_computations_add_in_order);
        EF_RUN(every_comparison_of_the_same_operands);
        EF_RUN(random_runs);
        EF_RUN(the_same_run_is_compiled_once);
        EF_RUN(code_is_bounded);
    }
    return EF_VERDICT();
}
