/* What a run computes, as a list of values in the order they are needed. */
#ifndef EF_JIT_EXPR_H
#define EF_JIT_EXPR_H
#include "jit/jit.h"

enum { EF_JIT_MAX_VALUES = 512 };

typedef enum ef_jit_kind {
    EF_JIT_LOAD,   /* of `operand`, element by element */
    EF_JIT_SCALAR, /* of `operand`, one for all */
    EF_JIT_NUMBER,
    EF_JIT_ADD, /* of two values, as all down to COMPARE */
    EF_JIT_SUB,
    EF_JIT_MUL,
    EF_JIT_DIV,
    EF_JIT_MAX, /* a > b ? a : b */
    EF_JIT_MIN, /* a < b ? a : b */
    EF_JIT_AND, /* bit by bit: masks and signs */
    EF_JIT_OR,
    EF_JIT_XOR,
    EF_JIT_PLUS, /* of integers, or of the bits of floats */
    EF_JIT_MINUS,
    EF_JIT_SCALE,   /* a * 2^b of floats, b an integer: vectors of 64 bytes only */
    EF_JIT_COMPARE, /* as `how` says; all bits 1, or all 0 */
    EF_JIT_SQRT,    /* of one */
    EF_JIT_ROUND,   /* of one, as `how` says */
    EF_JIT_LEFT,    /* of 32 bits, shifted by `how` */
    EF_JIT_RIGHT,   /* ... shifted right, an arithmetic shift */
    EF_JIT_CONVERT, /* of a 32-bit integer: the float */
    EF_JIT_CHOOSE,  /* of three, as FMA: mask ? a : b */
    EF_JIT_FMA,     /* a * b + c, rounded once */
    EF_JIT_STORE,   /* stores a value in `operand`; it has no result */
    EF_JIT_SUM      /* adds it to the lanes that go to `operand` at the end */
} ef_jit_kind;

/* Comparisons, each followed by its negation: a NaN makes the first false and the second true (but
 * for EQ and NE, where it is the same thing). */
typedef enum ef_jit_how {
    EF_JIT_EQ,
    EF_JIT_NE,
    EF_JIT_LT,
    EF_JIT_NOT_LT,
    EF_JIT_LE,
    EF_JIT_NOT_LE,
    EF_JIT_GT,
    EF_JIT_NOT_GT,
    EF_JIT_GE,
    EF_JIT_NOT_GE,
    EF_JIT_FLOOR, /* roundings */
    EF_JIT_CEIL,
    EF_JIT_TRUNC,
    EF_JIT_NEAREST
} ef_jit_how;

typedef struct ef_jit_value {
    uint8_t kind, how, operand;
    uint8_t reg; /* the emitter's */
    uint16_t arg[3];
    uint16_t last; /* the last value that reads it; its own number if none does */
    uint64_t bits; /* EF_JIT_NUMBER: of the run's dtype */
} ef_jit_value;

typedef struct ef_jit_values {
    int n;
    ef_jit_value at[EF_JIT_MAX_VALUES];
} ef_jit_values;

int ef_jit_args(ef_jit_kind kind); /* how many values it reads */
/* False: the expression cannot be compiled, or there are too many values. Values that no result
 * depends on are removed. */
bool ef_jit_parse(const ef_jit_run *run, ef_jit_values *v);
/* One instruction by itself, for EF_F32, EF_F64, EF_I32 or EF_I64: its operands are loaded, truth
 * values too. *out is the value it makes; a mask where ins->truths says so. */
bool ef_jit_parse_one(const ef_jit_ins *ins, ef_dtype dtype, ef_jit_values *v, uint16_t *out);

/* ---- making values --------------------------------------------------------------------------- */

typedef struct ef_jit_builder {
    ef_jit_values *v;
    ef_dtype dtype;
    int vector; /* bytes of the vectors that the code will have */
    bool failed;
} ef_jit_builder;

typedef struct ef_jit_term {
    uint16_t id;
    bool mask;
} ef_jit_term;

/* The value, or an equal one that exists already. */
ef_jit_term ef_jit_make(ef_jit_builder *b, ef_jit_value value);
ef_jit_term ef_jit_two(ef_jit_builder *b, ef_jit_kind kind, ef_jit_term x, ef_jit_term y);
ef_jit_term ef_jit_bits(ef_jit_builder *b, uint64_t bits);
ef_jit_term ef_jit_number(ef_jit_builder *b, double x);
ef_jit_term ef_jit_compare(ef_jit_builder *b, ef_jit_how how, ef_jit_term x, ef_jit_term y);
ef_jit_term ef_jit_choose(ef_jit_builder *b, ef_jit_term test, ef_jit_term x, ef_jit_term y);
ef_jit_term ef_jit_fail(ef_jit_builder *b);

/* functions.c: a function of one float by its name of n characters; NULL: there is none. */
typedef ef_jit_term ef_jit_function(ef_jit_builder *b, ef_jit_term x);
ef_jit_function *ef_jit_function_find(const char *name, size_t n);
#endif
