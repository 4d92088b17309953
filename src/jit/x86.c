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

/* reg is the register written (or stored), first the other source, rm and index what is addressed.
 */
static void vex(ef_x86 *c, unsigned map, bool prefix66, unsigned op, int reg, int first, int index,
                int rm) {
    ef_x86_byte(c, 0xC4);
    ef_x86_byte(c, (unsigned)!(reg >> 3) << 7 | (unsigned)!(index >> 3) << 6 |
                       (unsigned)!(rm >> 3) << 5 | map);
    ef_x86_byte(c, (unsigned)(~first & 15) << 3 | 4 | prefix66);
    ef_x86_byte(c, op);
}
static void registers(ef_x86 *c, unsigned map, bool prefix66, unsigned op, int to, int a, int b) {
    vex(c, map, prefix66, op, to, a, 0, b);
    modrm(c, 3, to, b);
}

void ef_x86_two(ef_x86 *c, ef_x86_op op, int to, int a, int b) {
    registers(c, MAP_0F, c->wide, op, to, a, b);
}
void ef_x86_compare(ef_x86 *c, int to, int a, int b, int predicate) {
    registers(c, MAP_0F, c->wide, 0xC2, to, a, b);
    ef_x86_byte(c, (unsigned)predicate);
}
void ef_x86_sqrt(ef_x86 *c, int to, int a) { registers(c, MAP_0F, c->wide, 0x51, to, NO_REG, a); }
void ef_x86_round(ef_x86 *c, int to, int a, int mode) {
    registers(c, MAP_0F3A, true, c->wide ? 0x09 : 0x08, to, NO_REG, a);
    ef_x86_byte(c, (unsigned)mode);
}
void ef_x86_choose(ef_x86 *c, int to, int mask, int a, int b) {
    registers(c, MAP_0F3A, true, c->wide ? 0x4B : 0x4A, to, b, a);
    ef_x86_byte(c, (unsigned)mask << 4);
}

/* [base + index + 0]: with a byte of displacement every base can be written alike. */
static void indexed(ef_x86 *c, int reg, int base, int index) {
    modrm(c, 1, reg, 4);
    ef_x86_byte(c, (unsigned)(index & 7) << 3 | (unsigned)(base & 7));
    ef_x86_byte(c, 0);
}
/* Between a register and [base + index]: all lanes by `whole`, those of `mask` by `masked`. */
static void move(ef_x86 *c, unsigned whole, unsigned masked, int reg, int base, int index,
                 int mask) {
    if (mask < 0)
        vex(c, MAP_0F, c->wide, whole, reg, NO_REG, index, base);
    else
        vex(c, MAP_0F38, true, c->wide ? masked + 1 : masked, reg, mask, index, base);
    indexed(c, reg, base, index);
}
void ef_x86_read(ef_x86 *c, int to, int base, int index, int mask) {
    move(c, 0x10, 0x2C, to, base, index, mask);
}
void ef_x86_write(ef_x86 *c, int from, int base, int index, int mask) {
    move(c, 0x11, 0x2E, from, base, index, mask);
}
void ef_x86_read_at(ef_x86 *c, int to, int base) {
    vex(c, MAP_0F, c->wide, 0x10, to, NO_REG, 0, base);
    modrm(c, 2, to, base);
    ef_x86_word(c, 0);
}
void ef_x86_spread(ef_x86 *c, int to, int base) {
    vex(c, MAP_0F38, true, c->wide ? 0x19 : 0x18, to, NO_REG, 0, base);
    modrm(c, 2, to, base);
    ef_x86_word(c, 0);
}
void ef_x86_spread_const(ef_x86 *c, int to, size_t place) {
    vex(c, MAP_0F38, true, c->wide ? 0x19 : 0x18, to, NO_REG, 0, 0);
    modrm(c, 0, to, 5);
    relative(c, place);
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
