/* The functions of kernels/math_f32.inc as values: the same steps that the C of vmath.h takes, so
 * generated code and tile functions agree to the bit. */
#include "jit/expr.h"
#include <math.h>
#include <string.h>

typedef ef_jit_builder build;
typedef ef_jit_term term;

static term one(build *b, ef_jit_kind kind, int how, term x) {
    return ef_jit_make(b,
                       (ef_jit_value){.kind = (uint8_t)kind, .how = (uint8_t)how, .arg = {x.id}});
}
/* A constant with exactly these bits: -0 and NaN keep theirs. */
static term constant(build *b, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return ef_jit_bits(b, bits);
}
/* Fused exactly where vmath.h is. */
static term fused(build *b, term x, term y, term z) {
#ifdef __FMA__
    return ef_jit_make(b, (ef_jit_value){.kind = EF_JIT_FMA, .arg = {x.id, y.id, z.id}});
#else
    return ef_jit_two(b, EF_JIT_ADD, ef_jit_two(b, EF_JIT_MUL, x, y), z);
#endif
}

/* a * 2^n. AVX-512 has an instruction for it, which rounds as the two factors of vmath.h do: the
 * first product is exact. */
static term scaled(build *b, term a, term n, term t) {
    if (b->vector == 64) return ef_jit_two(b, EF_JIT_SCALE, a, n);
    term k = ef_jit_two(b, EF_JIT_MINUS, t, ef_jit_bits(b, 0x4B400000u));
    term half = one(b, EF_JIT_RIGHT, 1, k), bias = ef_jit_bits(b, 127u);
    term low = one(b, EF_JIT_LEFT, 23, ef_jit_two(b, EF_JIT_PLUS, half, bias));
    term rest = ef_jit_two(b, EF_JIT_MINUS, k, half);
    term high = one(b, EF_JIT_LEFT, 23, ef_jit_two(b, EF_JIT_PLUS, rest, bias));
    return ef_jit_two(b, EF_JIT_MUL, ef_jit_two(b, EF_JIT_MUL, a, low), high);
}

#define FUNCTION(name) static term name##_of(build *b, term x)
#define REAL term
#define BITS term
#define NUMBER(c) constant(b, c)
#define ADD(p, q) ef_jit_two(b, EF_JIT_ADD, p, q)
#define SUB(p, q) ef_jit_two(b, EF_JIT_SUB, p, q)
#define MUL(p, q) ef_jit_two(b, EF_JIT_MUL, p, q)
#define DIV(p, q) ef_jit_two(b, EF_JIT_DIV, p, q)
#define FMA(p, q, r) fused(b, p, q, r)
#define MAX(p, q) ef_jit_two(b, EF_JIT_MAX, p, q)
#define MIN(p, q) ef_jit_two(b, EF_JIT_MIN, p, q)
#define LESS(p, q) ef_jit_compare(b, EF_JIT_LT, p, q)
#define EQUAL(p, q) ef_jit_compare(b, EF_JIT_EQ, p, q)
#define BOTH(p, q) ef_jit_two(b, EF_JIT_AND, p, q)
#define CHOOSE(test, p, q) ef_jit_choose(b, test, p, q)
#define ABS(p) ef_jit_two(b, EF_JIT_AND, p, ef_jit_bits(b, 0x7FFFFFFF))
#define SQRT(p) one(b, EF_JIT_SQRT, 0, p)
#define CALL(name, p) name##_of(b, p)
#define WORD(c) ef_jit_bits(b, c)
#define AS_BITS(p) (p)
#define AS_REAL(p) (p)
#define PLUS(p, q) ef_jit_two(b, EF_JIT_PLUS, p, q)
#define MINUS(p, q) ef_jit_two(b, EF_JIT_MINUS, p, q)
#define AND_BITS(p, q) ef_jit_two(b, EF_JIT_AND, p, q)
#define XOR_BITS(p, q) ef_jit_two(b, EF_JIT_XOR, p, q)
#define SHIFT_LEFT(p, k) one(b, EF_JIT_LEFT, k, p)
#define SHIFT_RIGHT(p, k) one(b, EF_JIT_RIGHT, k, p)
#define CONVERT(p) one(b, EF_JIT_CONVERT, 0, p)
#define SCALE(p, n, t) scaled(b, p, n, t)
#include "kernels/math_f32.inc"

ef_jit_function *ef_jit_function_find(const char *name, size_t n) {
    static const struct {
        const char *name;
        ef_jit_function *make;
    } all[] = {{"exp", exp_of},     {"expm1", expm1_of},     {"log", log_of},
               {"log1p", log1p_of}, {"sigmoid", sigmoid_of}, {"softplus", softplus_of},
               {"tanh", tanh_of},   {"erf", erf_of},         {"erfc", erfc_of},
               {"rsqrt", rsqrt_of}};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (strlen(all[k].name) == n && strncmp(all[k].name, name, n) == 0) return all[k].make;
    return NULL;
}
