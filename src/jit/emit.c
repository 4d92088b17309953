/* Emits one loop over whole vectors, and one more iteration under a mask for the remaining
 * elements. Scalars and constants are broadcast into registers before the loop and stay there; each
 * other value gets a register when it is computed and frees it at its last use. There is no
 * spilling: a sequence that needs more registers than there are is rejected, and the caller tries a
 * shorter one. */
#include "jit/emit.h"
#include <string.h>

enum {
    VECTOR = 32,
    MASK = 15 /* the register of the mask */,
    REGISTERS = 15,
    NUMBERS = 2 * VECTOR
};

/* Registers for addresses; what a call must find again when it returns comes last. */
static const uint8_t addresses[] = {EF_RAX, EF_RCX, EF_R8,  EF_R9,  EF_R10, EF_R11,
                                    EF_RBX, EF_RBP, EF_R12, EF_R13, EF_R14, EF_R15};
enum { ADDRESSES = sizeof addresses, SAVED = 6 };
enum { OPERANDS = EF_RDI, COUNT = EF_RSI, AT = EF_RDX, WHOLE = EF_RDI };

typedef struct emitter {
    ef_x86 *c;
    ef_jit_values *v;
    uint8_t base[EF_JIT_MAX_OPERANDS]; /* which of `addresses`, plus 1; 0: not addressed */
    int n_bases;
    uint32_t busy; /* vector registers in use */
} emitter;

bool ef_jit_emits(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

static uint8_t take(emitter *e) {
    for (int r = 0; r < REGISTERS; r++) {
        if (e->busy >> r & 1) continue;
        e->busy |= 1u << r;
        return (uint8_t)r;
    }
    e->c->full = true;
    return 0;
}

static bool is_fixed(const ef_jit_value *x) {
    return x->kind == EF_JIT_SCALAR || x->kind == EF_JIT_NUMBER;
}

/* ---- before the loop ------------------------------------------------------------------------- */

/* Data that the code reads stands before it: the mask (ones, then zeros), then the numbers. */
static void write_data(emitter *e) {
    for (int k = 0; k < 2 * VECTOR; k++) ef_x86_byte(e->c, k < VECTOR ? 255 : 0);
    for (int k = 0; k < e->v->n; k++) {
        uint64_t bits = e->v->at[k].bits;
        if (e->v->at[k].kind != EF_JIT_NUMBER) continue;
        ef_x86_word(e->c, (uint32_t)bits);
        ef_x86_word(e->c, (uint32_t)(bits >> 32));
    }
    while (e->c->n % 64 != 0 && !e->c->full) ef_x86_byte(e->c, 0xCC);
}

static void spread_fixed(emitter *e) {
    size_t number = NUMBERS;
    for (int k = 0; k < e->v->n; k++) {
        ef_jit_value *x = &e->v->at[k];
        if (!is_fixed(x)) continue;
        x->reg = take(e);
        if (x->kind == EF_JIT_NUMBER) {
            ef_x86_spread_const(e->c, x->reg, number);
            number += 8;
        } else {
            ef_x86_load(e->c, EF_RAX, OPERANDS, x->operand * 8);
            ef_x86_spread(e->c, x->reg, EF_RAX);
        }
    }
}

static void find_bases(emitter *e) {
    for (int k = 0; k < e->v->n; k++) {
        const ef_jit_value *x = &e->v->at[k];
        bool addressed = x->kind == EF_JIT_LOAD || x->kind == EF_JIT_STORE;
        if (addressed && e->base[x->operand] == 0) e->base[x->operand] = (uint8_t)++e->n_bases;
    }
    if (e->n_bases > ADDRESSES) e->c->full = true;
}

static void load_bases(emitter *e) {
    for (int o = 0; o < EF_JIT_MAX_OPERANDS; o++)
        if (e->base[o] != 0) ef_x86_load(e->c, addresses[e->base[o] - 1], OPERANDS, o * 8);
}

static int saved(const emitter *e) { return e->n_bases - (ADDRESSES - SAVED); }
static void save(emitter *e) {
    for (int k = 0; k < saved(e); k++) ef_x86_push(e->c, addresses[ADDRESSES - SAVED + k]);
}
static void restore(emitter *e) {
    for (int k = saved(e) - 1; k >= 0; k--) ef_x86_pop(e->c, addresses[ADDRESSES - SAVED + k]);
}

/* ---- one turn of the loop -------------------------------------------------------------------- */

const uint8_t ef_jit_opcode[] = {
    [EF_JIT_ADD] = EF_X86_VADD, [EF_JIT_SUB] = EF_X86_VSUB, [EF_JIT_MUL] = EF_X86_VMUL,
    [EF_JIT_DIV] = EF_X86_VDIV, [EF_JIT_MAX] = EF_X86_VMAX, [EF_JIT_MIN] = EF_X86_VMIN,
    [EF_JIT_AND] = EF_X86_VAND, [EF_JIT_OR] = EF_X86_VOR,   [EF_JIT_XOR] = EF_X86_VXOR};
/* The processor's numbers for comparisons that raise nothing, and for roundings. */
const uint8_t ef_jit_predicate[] = {
    [EF_JIT_EQ] = 0x00,    [EF_JIT_NE] = 0x04,     [EF_JIT_LT] = 0x11,    [EF_JIT_NOT_LT] = 0x15,
    [EF_JIT_LE] = 0x12,    [EF_JIT_NOT_LE] = 0x16, [EF_JIT_GT] = 0x1E,    [EF_JIT_NOT_GT] = 0x1A,
    [EF_JIT_GE] = 0x1D,    [EF_JIT_NOT_GE] = 0x19, [EF_JIT_FLOOR] = 0x09, [EF_JIT_CEIL] = 0x0A,
    [EF_JIT_TRUNC] = 0x0B, [EF_JIT_NEAREST] = 0x08};

static void compute(emitter *e, const ef_jit_value *x, int mask) {
    const ef_jit_value *v = e->v->at;
    int a = v[x->arg[0]].reg, b = v[x->arg[1]].reg;
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_LOAD:
        ef_x86_read(e->c, x->reg, addresses[e->base[x->operand] - 1], AT, mask);
        break;
    case EF_JIT_STORE: ef_x86_write(e->c, a, addresses[e->base[x->operand] - 1], AT, mask); break;
    case EF_JIT_COMPARE: ef_x86_compare(e->c, x->reg, a, b, ef_jit_predicate[x->how]); break;
    case EF_JIT_SQRT: ef_x86_sqrt(e->c, x->reg, a); break;
    case EF_JIT_ROUND: ef_x86_round(e->c, x->reg, a, ef_jit_predicate[x->how]); break;
    case EF_JIT_CHOOSE: ef_x86_choose(e->c, x->reg, a, b, v[x->arg[2]].reg); break;
    case EF_JIT_SCALAR:
    case EF_JIT_NUMBER: break;
    default: ef_x86_two(e->c, ef_jit_opcode[x->kind], x->reg, a, b); break;
    }
}

static void turn(emitter *e, int mask) {
    uint32_t fixed = e->busy;
    for (int k = 0; k < e->v->n && !e->c->full; k++) {
        ef_jit_value *x = &e->v->at[k];
        if (is_fixed(x)) continue;
        for (int i = 0; i < ef_jit_args(x->kind); i++) {
            const ef_jit_value *arg = &e->v->at[x->arg[i]];
            if (arg->last == k && !is_fixed(arg)) e->busy &= ~(1u << arg->reg);
        }
        if (x->kind != EF_JIT_STORE) x->reg = take(e);
        compute(e, x, mask);
    }
    e->busy = fixed;
}

bool ef_jit_emit(ef_jit_values *v, ef_dtype dtype, ef_x86 *c, size_t *entry) {
    emitter e = {.c = c, .v = v};
    c->n = 0;
    c->full = false;
    c->wide = dtype == EF_F64;
    find_bases(&e);
    if (c->full) return false;
    write_data(&e);
    *entry = c->n;
    save(&e);
    spread_fixed(&e);
    load_bases(&e);
    ef_x86_shift_left(c, COUNT, c->wide ? 3 : 2); /* in bytes from here on */
    ef_x86_move2(c, EF_X86_MOV, WHOLE, COUNT);
    ef_x86_small2(c, EF_X86_AND8, WHOLE, -VECTOR);
    ef_x86_move2(c, EF_X86_SUB, AT, AT);
    ef_x86_move2(c, EF_X86_CMP, AT, WHOLE);
    size_t none = ef_x86_jump(c, EF_X86_AT_LEAST), top = c->n;
    turn(&e, -1);
    ef_x86_small2(c, EF_X86_ADD8, AT, VECTOR);
    ef_x86_move2(c, EF_X86_CMP, AT, WHOLE);
    ef_x86_land(c, ef_x86_jump(c, EF_X86_BELOW), top);
    ef_x86_land(c, none, c->n);
    ef_x86_move2(c, EF_X86_CMP, AT, COUNT);
    size_t done = ef_x86_jump(c, EF_X86_AT_LEAST);
    ef_x86_move2(c, EF_X86_SUB, COUNT, AT); /* bytes left: that many ones, then zeros */
    ef_x86_address(c, EF_RDI, VECTOR);
    ef_x86_move2(c, EF_X86_SUB, EF_RDI, COUNT);
    ef_x86_read_at(c, MASK, EF_RDI);
    turn(&e, MASK);
    ef_x86_land(c, done, c->n);
    restore(&e);
    ef_x86_return(c);
    return !c->full;
}
