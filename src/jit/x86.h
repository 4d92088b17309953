/* The few x86-64 instructions that compiled loops are made of, written as bytes. Vector
 * instructions work on 256-bit registers, with the three-byte VEX prefix of AVX2, or on 512-bit
 * registers, with the EVEX prefix of AVX-512. */
#ifndef EF_JIT_X86_H
#define EF_JIT_X86_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EF_X86_ROOM = 32768 };

typedef struct ef_x86 {
    size_t n;
    bool full; /* something did not fit, so the code cannot be used */
    bool wide; /* elements have 8 bytes */
    bool zmm;  /* vectors have 512 bits */
    int ahead; /* ef_x86_read and ef_x86_write: whole vectors after base + index * element */
    uint8_t at[EF_X86_ROOM];
} ef_x86;

/* General registers by number. */
enum {
    EF_RAX,
    EF_RCX,
    EF_RDX,
    EF_RBX,
    EF_RSP,
    EF_RBP,
    EF_RSI,
    EF_RDI,
    EF_R8,
    EF_R9,
    EF_R10,
    EF_R11,
    EF_R12,
    EF_R13,
    EF_R14,
    EF_R15
};

void ef_x86_byte(ef_x86 *c, unsigned byte);
void ef_x86_word(ef_x86 *c, uint32_t word);

/* ---- general registers ----------------------------------------------------------------------- */

void ef_x86_push(ef_x86 *c, int r);
void ef_x86_pop(ef_x86 *c, int r);
void ef_x86_load(ef_x86 *c, int r, int base, int32_t offset); /* r = [base + offset], 64 bits */
void ef_x86_address(ef_x86 *c, int r, size_t place);          /* r = address of place in the code */
/* Two registers: EF_X86_MOV and its like. */
typedef enum ef_x86_move {
    EF_X86_ADD = 0x01,
    EF_X86_SUB = 0x29,
    EF_X86_CMP = 0x39,
    EF_X86_MOV = 0x89
} ef_x86_move;
void ef_x86_move2(ef_x86 *c, ef_x86_move op, int to, int from);
/* A register and a number of eight bits, signed. */
typedef enum ef_x86_small { EF_X86_ADD8 = 0, EF_X86_AND8 = 4 } ef_x86_small;
void ef_x86_small2(ef_x86 *c, ef_x86_small op, int to, int number);
void ef_x86_shift_left(ef_x86 *c, int r, int bits);
typedef enum ef_x86_when {
    EF_X86_BELOW = 0x82,
    EF_X86_AT_LEAST = 0x83,
    EF_X86_EQUAL = 0x84
} ef_x86_when;
size_t ef_x86_jump(ef_x86 *c, ef_x86_when when);        /* target to be set */
void ef_x86_land(ef_x86 *c, size_t jump, size_t place); /* sets it */
void ef_x86_return(ef_x86 *c);

/* ---- vectors --------------------------------------------------------------------------------- */

/* Opcodes of two operands: to = a op b. */
typedef enum ef_x86_op {
    EF_X86_VAND = 0x54,
    EF_X86_VOR = 0x56,
    EF_X86_VXOR = 0x57,
    EF_X86_VADD = 0x58,
    EF_X86_VMUL = 0x59,
    EF_X86_VSUB = 0x5C,
    EF_X86_VMIN = 0x5D,
    EF_X86_VDIV = 0x5E,
    EF_X86_VMAX = 0x5F
} ef_x86_op;
void ef_x86_two(ef_x86 *c, ef_x86_op op, int to, int a, int b);
/* to += a, of floats; masked: only the elements that ef_x86_mask noted. `spare` is a register that
 * may be overwritten. */
void ef_x86_accumulate(ef_x86 *c, int to, int a, bool masked, int spare);
void ef_x86_compare(ef_x86 *c, int to, int a, int b, int predicate); /* all bits 1, or all 0 */
void ef_x86_scale(ef_x86 *c, int to, int a, int b); /* a * 2^b, with 512 bits only */
void ef_x86_sqrt(ef_x86 *c, int to, int a);
void ef_x86_round(ef_x86 *c, int to, int a, int mode);
void ef_x86_choose(ef_x86 *c, int to, int mask, int a, int b); /* mask ? a : b */
void ef_x86_copy(ef_x86 *c, int to, int a);
/* Integers of c->wide. ef_x86_multiply of 8 bytes exists with 512 bits only. */
void ef_x86_add(ef_x86 *c, int to, int a, int b);
void ef_x86_subtract(ef_x86 *c, int to, int a, int b);
void ef_x86_multiply(ef_x86 *c, int to, int a, int b);
typedef enum ef_x86_order { /* the processor's numbers */
                            EF_X86_EQ = 0,
                            EF_X86_LT = 1,
                            EF_X86_LE = 2,
                            EF_X86_NE = 4,
                            EF_X86_GE = 5,
                            EF_X86_GT = 6
} ef_x86_order;
/* As ef_x86_compare; `ones` is a register that may be overwritten. */
void ef_x86_compare_ints(ef_x86 *c, ef_x86_order order, int to, int a, int b, int ones);
void ef_x86_shift(ef_x86 *c, bool left, int to, int a, int bits); /* of 4 bytes; signed */
void ef_x86_to_float(ef_x86 *c, int to, int a);                   /* from int32_t */
/* to = a * to + b, or to = a * b + to, rounded once. */
void ef_x86_fma213(ef_x86 *c, int to, int a, int b);
void ef_x86_fma231(ef_x86 *c, int to, int a, int b);
/* ef_x86_two and ef_x86_fma213 with b at a place in the code: one element with 512 bits, else a
 * whole vector of equal ones. */
void ef_x86_two_const(ef_x86 *c, ef_x86_op op, int to, int a, size_t place);
void ef_x86_fma213_const(ef_x86 *c, int to, int a, size_t place);
/* Memory at base + index * element; masked: the elements that ef_x86_mask selected. */
void ef_x86_read(ef_x86 *c, int to, int base, int index, bool masked);
void ef_x86_write(ef_x86 *c, int from, int base, int index, bool masked);
/* Selects the first `count` elements for masked reads and writes. `count` is a general register,
 * which is overwritten, as is rax. With 256 bits the mask is in vector register 15, made from a
 * vector of ones and one of zeros that begin at place. */
void ef_x86_mask(ef_x86 *c, int count, size_t place);
void ef_x86_spread(ef_x86 *c, int to, int base);           /* one element at [base] for all */
void ef_x86_spread_const(ef_x86 *c, int to, size_t place); /* ... at a place in the code */

/* ---- any vector instruction, by its numbers in the manual ------------------------------------ */

typedef struct ef_x86_vex {
    uint8_t map, prefix; /* 1: 0F, 2: 0F38, 3: 0F3A; 0: none, 1: 66, 2: F3, 3: F2 */
    uint8_t op;
    bool w, half; /* half: 128 bits */
} ef_x86_vex;
void ef_x86_vex3(ef_x86 *c, ef_x86_vex x, int to, int a, int b);
void ef_x86_vex_at(ef_x86 *c, ef_x86_vex x, int to, int a, int base, int32_t offset);
/* cmp dword [base + offset], number; cmp register, dword [base]: general registers. */
void ef_x86_compare_at(ef_x86 *c, int base, int32_t offset, int number);
void ef_x86_compare_with(ef_x86 *c, int r, int base);
void ef_x86_set_rax(ef_x86 *c, int32_t number);
#endif
