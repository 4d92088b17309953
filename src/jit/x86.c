/* The encodings of the instructions: bytes are appended to a buffer, and `full` is set when it has
 * no space left. */
#include "jit/x86.h"

enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3, NO_REG = 0 };

void ef_x86_byte(ef_x86 *c, unsigned byte) {
    if (c->n == EF_X86_ROOM)
        c->full = true;
    else
        c->at[c->n++] = (uint8_t)byte;
}

void ef_x86_word(ef_x86 *c, uint32_t word) {
    for (int k = 0; k < 4; k++) ef_x86_byte(c, word >> 8 * k & 255);
}

/* ---- general registers ----------------------------------------------------------------------- */

static void rex(ef_x86 *c, int reg, int rm) {
    ef_x86_byte(c, 0x48u | (unsigned)(reg >> 3) << 2 | (unsigned)(rm >> 3));
}
static void modrm(ef_x86 *c, unsigned mod, int reg, int rm) {
    ef_x86_byte(c, mod << 6 | (unsigned)(reg & 7) << 3 | (unsigned)(rm & 7));
}
/* The last word of an instruction: where `place` is, from the instruction's end. */
static void relative(ef_x86 *c, size_t place) { ef_x86_word(c, (uint32_t)(place - (c->n + 4))); }

void ef_x86_push(ef_x86 *c, int r) {
    if (r >= 8) ef_x86_byte(c, 0x41);
    ef_x86_byte(c, 0x50u + (unsigned)(r & 7));
}
void ef_x86_pop(ef_x86 *c, int r) {
    if (r >= 8) ef_x86_byte(c, 0x41);
    ef_x86_byte(c, 0x58u + (unsigned)(r & 7));
}
void ef_x86_load(ef_x86 *c, int r, int base, int32_t offset) {
    rex(c, r, base);
    ef_x86_byte(c, 0x8B);
    modrm(c, 2, r, base);
    ef_x86_word(c, (uint32_t)offset);
}
void ef_x86_address(ef_x86 *c, int r, size_t place) {
    rex(c, r, 0);
    ef_x86_byte(c, 0x8D);
    modrm(c, 0, r, 5);
    relative(c, place);
}
void ef_x86_move2(ef_x86 *c, ef_x86_move op, int to, int from) {
    rex(c, from, to);
    ef_x86_byte(c, op);
    modrm(c, 3, from, to);
}
void ef_x86_small2(ef_x86 *c, ef_x86_small op, int to, int number) {
    rex(c, 0, to);
    ef_x86_byte(c, 0x83);
    modrm(c, 3, (int)op, to);
    ef_x86_byte(c, (unsigned)number & 255);
}
void ef_x86_shift_left(ef_x86 *c, int r, int bits) {
    rex(c, 0, r);
    ef_x86_byte(c, 0xC1);
    modrm(c, 3, 4, r);
    ef_x86_byte(c, (unsigned)bits);
}
size_t ef_x86_jump(ef_x86 *c, ef_x86_when when) {
    ef_x86_byte(c, 0x0F);
    ef_x86_byte(c, when);
    ef_x86_word(c, 0);
    return c->n;
}
void ef_x86_land(ef_x86 *c, size_t jump, size_t place) {
    if (c->full) return;
    size_t end = c->n;
    c->n = jump - 4;
    relative(c, place);
    c->n = end;
}
void ef_x86_return(ef_x86 *c) {
    static const uint8_t zeroupper_ret[] = {0xC5, 0xF8, 0x77, 0xC3};
    for (size_t k = 0; k < sizeof zeroupper_ret; k++) ef_x86_byte(c, zeroupper_ret[k]);
}

/* ---- vectors --------------------------------------------------------------------------------- */

enum { NO_PREFIX = 0, P66 = 1, PF3 = 2, TEST = 1 /* mask registers */, TAIL = 2, MASK = 15 };

/* The parts of an instruction's encoding: reg is the register written (or stored), first the other
 * source. rm is a register of five bits, or with index an address in registers of four bits. */
typedef struct coded {
    unsigned map, prefix, op;
    int reg, first, index, rm;
    bool w, in_memory, spread; /* spread: one element in memory is broadcast */
    unsigned mask;             /* with 512 bits: a mask register, or 0; other elements become 0 */
} coded;

static unsigned off(int r, int bit) { return (unsigned)!(r >> bit & 1); }

static void head(ef_x86 *c, coded x) {
    int high = x.in_memory ? x.index >> 3 : x.rm >> 4;
    ef_x86_byte(c, c->zmm ? 0x62 : 0xC4);
    ef_x86_byte(c, off(x.reg, 3) << 7 | off(high, 0) << 6 | off(x.rm, 3) << 5 |
                       (c->zmm ? off(x.reg, 4) << 4 : 0) | x.map);
    ef_x86_byte(c, (unsigned)x.w << 7 | (unsigned)(~x.first & 15) << 3 | 4 | x.prefix);
    if (c->zmm) {
        bool zero = x.mask != 0 && !(x.in_memory && x.op == 0x11); /* a store leaves the others */
        ef_x86_byte(c, (unsigned)zero << 7 | 2 << 5 | (unsigned)x.spread << 4 |
                           off(x.first, 4) << 3 | x.mask);
    }
    ef_x86_byte(c, x.op);
}
static void registers(ef_x86 *c, unsigned map, unsigned pp, unsigned op, int to, int a, int b) {
    head(c,
         (coded){.map = map, .prefix = pp, .op = op, .reg = to, .first = a, .rm = b, .w = c->wide});
    modrm(c, 3, to, b);
}
/* The prefix tells float from double instructions; w matters with 512 bits only. */
static unsigned by_type(const ef_x86 *c) { return c->wide ? P66 : NO_PREFIX; }
static void at_place(ef_x86 *c, coded x, size_t place) {
    head(c, x);
    modrm(c, 0, x.reg, 5);
    relative(c, place);
}

void ef_x86_two(ef_x86 *c, ef_x86_op op, int to, int a, int b) {
    registers(c, MAP_0F, by_type(c), op, to, a, b);
}
void ef_x86_two_const(ef_x86 *c, ef_x86_op op, int to, int a, size_t place) {
    at_place(c,
             (coded){.map = MAP_0F,
                     .prefix = by_type(c),
                     .op = op,
                     .reg = to,
                     .first = a,
                     .w = c->wide,
                     .in_memory = true,
                     .spread = true},
             place);
}
/* The mask register that a comparison fills, as a vector of ones and zeros. */
static void as_vector(ef_x86 *c, int to) { registers(c, MAP_0F38, PF3, 0x38, to, NO_REG, TEST); }
void ef_x86_compare(ef_x86 *c, int to, int a, int b, int predicate) {
    registers(c, MAP_0F, by_type(c), 0xC2, c->zmm ? TEST : to, a, b);
    ef_x86_byte(c, (unsigned)predicate);
    if (c->zmm) as_vector(c, to);
}
void ef_x86_scale(ef_x86 *c, int to, int a, int b) { registers(c, MAP_0F38, P66, 0x2C, to, a, b); }
void ef_x86_sqrt(ef_x86 *c, int to, int a) {
    registers(c, MAP_0F, by_type(c), 0x51, to, NO_REG, a);
}
void ef_x86_copy(ef_x86 *c, int to, int a) {
    registers(c, MAP_0F, by_type(c), 0x28, to, NO_REG, a);
}
void ef_x86_round(ef_x86 *c, int to, int a, int mode) {
    registers(c, MAP_0F3A, P66, c->wide ? 0x09 : 0x08, to, NO_REG, a);
    ef_x86_byte(c, (unsigned)mode);
}
void ef_x86_choose(ef_x86 *c, int to, int mask, int a, int b) {
    if (c->zmm) {
        registers(c, MAP_0F38, PF3, 0x39, TEST, NO_REG, mask);
        coded x = {.map = MAP_0F38,
                   .prefix = P66,
                   .op = 0x64,
                   .reg = to,
                   .first = b,
                   .rm = a,
                   .w = c->wide,
                   .mask = TEST};
        size_t at = c->n;
        head(c, x);
        if (!c->full) c->at[at + 3] &= 0x7F; /* where the mask is 0 the result is b, not zero */
        modrm(c, 3, to, a);
        return;
    }
    bool wide = c->wide;
    c->wide = false;
    registers(c, MAP_0F3A, P66, wide ? 0x4B : 0x4A, to, b, a);
    c->wide = wide;
    ef_x86_byte(c, (unsigned)mask << 4);
}

void ef_x86_add(ef_x86 *c, int to, int a, int b) {
    registers(c, MAP_0F, P66, c->wide ? 0xD4 : 0xFE, to, a, b);
}
void ef_x86_subtract(ef_x86 *c, int to, int a, int b) {
    registers(c, MAP_0F, P66, c->wide ? 0xFB : 0xFA, to, a, b);
}
void ef_x86_multiply(ef_x86 *c, int to, int a, int b) {
    if (c->wide && !c->zmm) c->full = true;
    registers(c, MAP_0F38, P66, 0x40, to, a, b);
}
void ef_x86_compare_ints(ef_x86 *c, ef_x86_order order, int to, int a, int b, int ones) {
    if (c->zmm) {
        registers(c, MAP_0F3A, P66, 0x1F, TEST, a, b);
        ef_x86_byte(c, order);
        as_vector(c, to);
        return;
    }
    bool same = order == EF_X86_EQ || order == EF_X86_NE;
    bool straight = same || order == EF_X86_GT || order == EF_X86_LE;
    unsigned op = same ? (c->wide ? 0x29 : 0x76) : (c->wide ? 0x37 : 0x66);
    registers(c, c->wide ? MAP_0F38 : MAP_0F, P66, op, to, straight ? a : b, straight ? b : a);
    if (order != EF_X86_NE && order != EF_X86_LE && order != EF_X86_GE) return;
    registers(c, MAP_0F, P66, 0x76, ones, ones, ones);
    registers(c, MAP_0F, P66, 0xEF, to, to, ones);
}
void ef_x86_shift(ef_x86 *c, bool left, int to, int a, int bits) {
    registers(c, MAP_0F, P66, 0x72, left ? 6 : 4, to, a);
    ef_x86_byte(c, (unsigned)bits);
}
void ef_x86_to_float(ef_x86 *c, int to, int a) {
    registers(c, MAP_0F, NO_PREFIX, 0x5B, to, NO_REG, a);
}
void ef_x86_fma213(ef_x86 *c, int to, int a, int b) { registers(c, MAP_0F38, P66, 0xA8, to, a, b); }
void ef_x86_fma231(ef_x86 *c, int to, int a, int b) { registers(c, MAP_0F38, P66, 0xB8, to, a, b); }
void ef_x86_fma213_const(ef_x86 *c, int to, int a, size_t place) {
    at_place(c,
             (coded){.map = MAP_0F38,
                     .prefix = P66,
                     .op = 0xA8,
                     .reg = to,
                     .first = a,
                     .w = c->wide,
                     .in_memory = true,
                     .spread = true},
             place);
}

/* [base + index * element + vectors ahead]: with a displacement byte all base registers are encoded
 * alike. With 512 bits it counts vectors. */
static void indexed(ef_x86 *c, int reg, int base, int index) {
    modrm(c, 1, reg, 4);
    ef_x86_byte(c, (c->wide ? 3u : 2u) << 6 | (unsigned)(index & 7) << 3 | (unsigned)(base & 7));
    ef_x86_byte(c, (unsigned)c->ahead * (c->zmm ? 1 : 32));
}
/* Between a register and memory: all elements by `whole`, masked ones by `masked`. */
static void move(ef_x86 *c, unsigned whole, unsigned masked, int reg, int base, int index,
                 bool some) {
    coded x = {.map = MAP_0F,
               .prefix = by_type(c),
               .op = whole,
               .reg = reg,
               .index = index,
               .rm = base,
               .w = c->wide,
               .in_memory = true};
    if (some && c->zmm) {
        x.mask = TAIL;
    } else if (some) {
        x.map = MAP_0F38;
        x.prefix = P66;
        x.op = c->wide ? masked + 1 : masked;
        x.first = MASK;
        x.w = false;
    }
    head(c, x);
    indexed(c, reg, base, index);
}
void ef_x86_read(ef_x86 *c, int to, int base, int index, bool masked) {
    move(c, 0x10, 0x2C, to, base, index, masked);
}
void ef_x86_write(ef_x86 *c, int from, int base, int index, bool masked) {
    move(c, 0x11, 0x2E, from, base, index, masked);
}
void ef_x86_accumulate(ef_x86 *c, int to, int a, bool masked, int spare) {
    if (!masked) {
        ef_x86_two(c, EF_X86_VADD, to, to, a);
        return;
    }
    if (!c->zmm) {
        ef_x86_two(c, EF_X86_VAND, spare, a, MASK);
        ef_x86_two(c, EF_X86_VADD, to, to, spare);
        return;
    }
    coded x = {.map = MAP_0F,
               .prefix = by_type(c),
               .op = EF_X86_VADD,
               .reg = to,
               .first = to,
               .rm = a,
               .w = c->wide,
               .mask = TAIL};
    size_t at = c->n;
    head(c, x);
    if (!c->full) c->at[at + 3] &= 0x7F; /* the others stay */
    modrm(c, 3, to, a);
}
void ef_x86_mask(ef_x86 *c, int count, size_t place) {
    if (c->zmm) {
        static const uint8_t all_ones[] = {0x83, 0xC8, 0xFF}; /* or eax, -1 */
        for (size_t k = 0; k < sizeof all_ones; k++) ef_x86_byte(c, all_ones[k]);
        ef_x86_byte(c, 0xC4); /* bzhi eax, eax, count */
        ef_x86_byte(c, 0xE2);
        ef_x86_byte(c, (unsigned)(~count & 15) << 3);
        ef_x86_byte(c, 0xF5);
        modrm(c, 3, EF_RAX, EF_RAX);
        static const uint8_t into_k[] = {0xC5, 0xF8, 0x92, 0xC0 | TAIL << 3}; /* kmovw */
        for (size_t k = 0; k < sizeof into_k; k++) ef_x86_byte(c, into_k[k]);
        return;
    }
    ef_x86_shift_left(c, count, c->wide ? 3 : 2); /* that many bytes of ones, then zeros */
    ef_x86_address(c, EF_RAX, place + 32);
    ef_x86_move2(c, EF_X86_SUB, EF_RAX, count);
    head(c, (coded){.map = MAP_0F, .op = 0x10, .reg = MASK, .rm = EF_RAX, .in_memory = true});
    modrm(c, 2, MASK, EF_RAX);
    ef_x86_word(c, 0);
}
static coded spreading(const ef_x86 *c, int to, int base) {
    return (coded){.map = MAP_0F38,
                   .prefix = P66,
                   .op = c->wide ? 0x19 : 0x18,
                   .reg = to,
                   .rm = base,
                   .w = c->zmm && c->wide,
                   .in_memory = true};
}
void ef_x86_spread(ef_x86 *c, int to, int base) {
    head(c, spreading(c, to, base));
    modrm(c, 2, to, base);
    ef_x86_word(c, 0);
}
void ef_x86_spread_const(ef_x86 *c, int to, size_t place) {
    at_place(c, spreading(c, to, 0), place);
}

/* ---- any vector instruction ------------------------------------------------------------------ */

static void prefix(ef_x86 *c, ef_x86_vex x, int reg, int first, int rm) {
    ef_x86_byte(c, 0xC4);
    ef_x86_byte(c, (unsigned)!(reg >> 3) << 7 | 0x40 | (unsigned)!(rm >> 3) << 5 | x.map);
    ef_x86_byte(c, (unsigned)x.w << 7 | (unsigned)(~first & 15) << 3 | (x.half ? 0 : 4) | x.prefix);
    ef_x86_byte(c, x.op);
}
void ef_x86_vex3(ef_x86 *c, ef_x86_vex x, int to, int a, int b) {
    prefix(c, x, to, a, b);
    modrm(c, 3, to, b);
}
void ef_x86_vex_at(ef_x86 *c, ef_x86_vex x, int to, int a, int base, int32_t offset) {
    prefix(c, x, to, a, base);
    modrm(c, 2, to, base);
    ef_x86_word(c, (uint32_t)offset);
}
void ef_x86_compare_at(ef_x86 *c, int base, int32_t offset, int number) {
    ef_x86_byte(c, 0x83);
    modrm(c, 2, 7, base);
    ef_x86_word(c, (uint32_t)offset);
    ef_x86_byte(c, (unsigned)number & 255);
}
void ef_x86_compare_with(ef_x86 *c, int r, int base) {
    ef_x86_byte(c, 0x3B);
    modrm(c, 0, r, base);
}
void ef_x86_set_rax(ef_x86 *c, int32_t number) {
    ef_x86_byte(c, 0xB8);
    ef_x86_word(c, (uint32_t)number);
}
