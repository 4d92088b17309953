/* Emits one loop over whole vectors, and one more iteration under a mask for the remaining
 * elements. A long computation is first emitted as a loop over two vectors at a time, each
 * instruction for one and then for the other: each vector's chain of dependent instructions is
 * longer than the processor can look ahead, so it would find too few that are ready. Scalars and
 * constants are broadcast into registers before the loop as long as registers are free; the others
 * are read where they are used. Each other value gets a register when it is computed and frees it
 * at its last use. There is no spilling: a sequence that needs more registers than there are is
 * rejected, and the caller tries a shorter one. */
#include "jit/emit.h"
#include <string.h>

/* Registers for addresses; the last ones are callee-saved. The addresses of more operands than
 * these are loaded into SCRATCH where they are used. */
static const uint8_t addresses[] = {EF_R8,  EF_R9,  EF_R10, EF_R11, EF_RBX,
                                    EF_RBP, EF_R12, EF_R13, EF_R14, EF_R15};
enum { ADDRESSES = sizeof addresses, SAVED = 6 };
enum { OPERANDS = EF_RDI, COUNT = EF_RSI, AT = EF_RDX, WHOLE = EF_RCX, SCRATCH = EF_RAX };
enum { MASK_BYTES = 64 /* of the vectors from which masks of 256 bits are made */, NONE = 255 };
enum {
    TOGETHER = 2, /* vectors at a time in a long computation: one of LONG values or more */
    LONG = 32
};

typedef struct emitter {
    ef_x86 *c;
    ef_jit_values *v;
    ef_dtype dtype;
    int vector, registers;             /* bytes of one, and how many there are */
    uint8_t base[EF_JIT_MAX_OPERANDS]; /* which of `addresses`, plus 1; 0: not addressed */
    uint16_t place[EF_JIT_MAX_VALUES]; /* of numbers, in the code */
    int n_bases;
    uint32_t busy;                            /* vector registers in use */
    uint8_t reg[TOGETHER][EF_JIT_MAX_VALUES]; /* of values that are not fixed, for each vector */
} emitter;

int ef_jit_vector(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("bmi2"))
        return 64;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 32 : 0;
#else
    return 0;
#endif
}
bool ef_jit_emits(void) { return ef_jit_vector() > 0; }

static uint8_t take(emitter *e) {
    for (int r = 0; r < e->registers; r++) {
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

/* The data of the code comes before it: the mask (ones, then zeros), then the constants. */
static void write_data(emitter *e) {
    int copies = e->c->zmm ? 1 : e->vector / 8;
    for (int k = 0; k < MASK_BYTES; k++) ef_x86_byte(e->c, k < MASK_BYTES / 2 ? 255 : 0);
    for (int k = 0; k < e->v->n; k++) {
        uint64_t bits = e->v->at[k].bits;
        if (e->v->at[k].kind != EF_JIT_NUMBER) continue;
        if (!e->c->wide) bits = (bits & UINT32_MAX) * UINT64_C(0x100000001);
        e->place[k] = (uint16_t)e->c->n;
        for (int copy = 0; copy < copies; copy++) {
            ef_x86_word(e->c, (uint32_t)bits);
            ef_x86_word(e->c, (uint32_t)(bits >> 32));
        }
    }
    while (e->c->n % 64 != 0 && !e->c->full) ef_x86_byte(e->c, 0xCC);
}

static void spread(emitter *e, int value, int reg) {
    const ef_jit_value *x = &e->v->at[value];
    if (x->kind == EF_JIT_NUMBER) {
        ef_x86_spread_const(e->c, reg, e->place[value]);
    } else {
        ef_x86_load(e->c, SCRATCH, OPERANDS, x->operand * 8);
        ef_x86_spread(e->c, reg, SCRATCH);
    }
}

/* Broadcasts the first `most` scalars and constants into registers that they keep. */
static void spread_fixed(emitter *e, int most) {
    for (int k = 0; k < e->v->n; k++) {
        ef_jit_value *x = &e->v->at[k];
        if (!is_fixed(x)) continue;
        x->reg = NONE;
        if (most-- <= 0) continue;
        x->reg = take(e);
        spread(e, k, x->reg);
    }
}

/* The lanes of the sums stay in registers for the whole loop. */
static void begin_sums(emitter *e) {
    for (int k = 0; k < e->v->n; k++) {
        ef_jit_value *x = &e->v->at[k];
        if (x->kind != EF_JIT_SUM) continue;
        x->reg = take(e);
        ef_x86_two(e->c, EF_X86_VXOR, x->reg, x->reg, x->reg);
    }
}

static void write_sums(emitter *e) {
    for (int k = 0; k < e->v->n; k++) {
        const ef_jit_value *x = &e->v->at[k];
        if (x->kind != EF_JIT_SUM) continue;
        ef_x86_load(e->c, SCRATCH, OPERANDS, x->operand * 8);
        ef_x86_move2(e->c, EF_X86_SUB, AT, AT);
        ef_x86_write(e->c, x->reg, SCRATCH, AT, false);
    }
}

static void accumulate(emitter *e, const ef_jit_value *x, int from, bool masked) {
    uint8_t spare = masked && !e->c->zmm ? take(e) : 0;
    ef_x86_accumulate(e->c, x->reg, from, masked, spare);
}

static void find_bases(emitter *e) {
    for (int k = 0; k < e->v->n; k++) {
        const ef_jit_value *x = &e->v->at[k];
        bool addressed = x->kind == EF_JIT_LOAD || x->kind == EF_JIT_STORE;
        if (addressed && e->base[x->operand] == 0 && e->n_bases < ADDRESSES)
            e->base[x->operand] = (uint8_t)++e->n_bases;
    }
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

/* ---- one iteration --------------------------------------------------------------------------- */

const uint8_t ef_jit_opcode[] = {
    [EF_JIT_ADD] = EF_X86_VADD, [EF_JIT_SUB] = EF_X86_VSUB, [EF_JIT_MUL] = EF_X86_VMUL,
    [EF_JIT_DIV] = EF_X86_VDIV, [EF_JIT_MAX] = EF_X86_VMAX, [EF_JIT_MIN] = EF_X86_VMIN,
    [EF_JIT_AND] = EF_X86_VAND, [EF_JIT_OR] = EF_X86_VOR,   [EF_JIT_XOR] = EF_X86_VXOR};
/* The processor's numbers for comparisons that raise no exception, and for roundings. */
const uint8_t ef_jit_predicate[] = {
    [EF_JIT_EQ] = 0x00,    [EF_JIT_NE] = 0x04,     [EF_JIT_LT] = 0x11,    [EF_JIT_NOT_LT] = 0x15,
    [EF_JIT_LE] = 0x12,    [EF_JIT_NOT_LE] = 0x16, [EF_JIT_GT] = 0x1E,    [EF_JIT_NOT_GT] = 0x1A,
    [EF_JIT_GE] = 0x1D,    [EF_JIT_NOT_GE] = 0x19, [EF_JIT_FLOOR] = 0x09, [EF_JIT_CEIL] = 0x0A,
    [EF_JIT_TRUNC] = 0x0B, [EF_JIT_NEAREST] = 0x08};
const uint8_t ef_jit_order[] = {
    [EF_JIT_EQ] = EF_X86_EQ,     [EF_JIT_NE] = EF_X86_NE,     [EF_JIT_LT] = EF_X86_LT,
    [EF_JIT_NOT_LT] = EF_X86_GE, [EF_JIT_LE] = EF_X86_LE,     [EF_JIT_NOT_LE] = EF_X86_GT,
    [EF_JIT_GT] = EF_X86_GT,     [EF_JIT_NOT_GT] = EF_X86_LE, [EF_JIT_GE] = EF_X86_GE,
    [EF_JIT_NOT_GE] = EF_X86_LT};

static int base_of(emitter *e, int operand) {
    if (e->base[operand] != 0) return addresses[e->base[operand] - 1];
    ef_x86_load(e->c, SCRATCH, OPERANDS, operand * 8);
    return SCRATCH;
}

/* a * b + c into x->reg, which may be the register of one of them. */
static void multiply_add(emitter *e, const ef_jit_value *x, int a, int b, int c) {
    int to = x->reg;
    if (to == c) {
        ef_x86_fma231(e->c, to, a, b);
        return;
    }
    if (to == b)
        b = a; /* a product commutes */
    else if (to != a)
        ef_x86_copy(e->c, to, a);
    if (c == NONE)
        ef_x86_fma213_const(e->c, to, b, e->place[x->arg[2]]);
    else
        ef_x86_fma213(e->c, to, b, c);
}

/* False: there is no such instruction for integers. */
static bool compute_int(emitter *e, const ef_jit_value *x, const int *arg) {
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_ADD: ef_x86_add(e->c, x->reg, arg[0], arg[1]); return true;
    case EF_JIT_SUB: ef_x86_subtract(e->c, x->reg, arg[0], arg[1]); return true;
    case EF_JIT_MUL: ef_x86_multiply(e->c, x->reg, arg[0], arg[1]); return true;
    case EF_JIT_COMPARE: {
        uint8_t ones = e->c->zmm ? 0 : take(e);
        ef_x86_compare_ints(e->c, (ef_x86_order)ef_jit_order[x->how], x->reg, arg[0], arg[1], ones);
        if (!e->c->zmm) e->busy &= ~(1u << ones);
        return true;
    }
    case EF_JIT_AND:
    case EF_JIT_OR:
    case EF_JIT_XOR: ef_x86_two(e->c, ef_jit_opcode[x->kind], x->reg, arg[0], arg[1]); return true;
    default: return false;
    }
}

static void compute_float(emitter *e, const ef_jit_value *x, const int *arg) {
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_COMPARE:
        ef_x86_compare(e->c, x->reg, arg[0], arg[1], ef_jit_predicate[x->how]);
        break;
    case EF_JIT_SQRT: ef_x86_sqrt(e->c, x->reg, arg[0]); break;
    case EF_JIT_ROUND: ef_x86_round(e->c, x->reg, arg[0], ef_jit_predicate[x->how]); break;
    case EF_JIT_PLUS: ef_x86_add(e->c, x->reg, arg[0], arg[1]); break;
    case EF_JIT_MINUS: ef_x86_subtract(e->c, x->reg, arg[0], arg[1]); break;
    case EF_JIT_SCALE: ef_x86_scale(e->c, x->reg, arg[0], arg[1]); break;
    case EF_JIT_LEFT: ef_x86_shift(e->c, true, x->reg, arg[0], x->how); break;
    case EF_JIT_RIGHT: ef_x86_shift(e->c, false, x->reg, arg[0], x->how); break;
    case EF_JIT_CONVERT: ef_x86_to_float(e->c, x->reg, arg[0]); break;
    case EF_JIT_FMA: multiply_add(e, x, arg[0], arg[1], arg[2]); break;
    default:
        if (arg[1] == NONE)
            ef_x86_two_const(e->c, ef_jit_opcode[x->kind], x->reg, arg[0], e->place[x->arg[1]]);
        else
            ef_x86_two(e->c, ef_jit_opcode[x->kind], x->reg, arg[0], arg[1]);
        break;
    }
}

static void compute(emitter *e, const ef_jit_value *x, const int *arg, bool masked) {
    bool floats = e->dtype == EF_F32 || e->dtype == EF_F64;
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_LOAD: ef_x86_read(e->c, x->reg, base_of(e, x->operand), AT, masked); break;
    case EF_JIT_STORE: ef_x86_write(e->c, arg[0], base_of(e, x->operand), AT, masked); break;
    case EF_JIT_SUM: accumulate(e, x, arg[0], masked); break;
    case EF_JIT_CHOOSE: ef_x86_choose(e->c, x->reg, arg[0], arg[1], arg[2]); break;
    default:
        if (floats)
            compute_float(e, x, arg);
        else if (!compute_int(e, x, arg))
            e->c->full = true;
    }
}

/* Whether the instruction can read its argument i, a constant, from the data of the code. */
static bool from_code(const emitter *e, const ef_jit_value *x, int i) {
    bool floats = e->dtype == EF_F32 || e->dtype == EF_F64;
    if (e->v->at[x->arg[i]].kind != EF_JIT_NUMBER || !floats) return false;
    return x->kind == EF_JIT_FMA ? i == 2
                                 : i == 1 && x->kind >= EF_JIT_ADD && x->kind <= EF_JIT_XOR;
}

/* Value k of the vector `ahead` vectors after the index. */
static void compute_value(emitter *e, int k, int ahead, bool masked) {
    ef_jit_value *x = &e->v->at[k];
    uint8_t *reg = e->reg[ahead];
    const int args = ef_jit_args(x->kind);
    int arg[3] = {0, 0, 0};
    uint32_t brought = 0; /* registers of arguments for this instruction only */
    for (int i = 0; i < args; i++) {
        const ef_jit_value *from = &e->v->at[x->arg[i]];
        arg[i] = is_fixed(from) ? from->reg : reg[x->arg[i]];
        if (arg[i] != NONE || from_code(e, x, i)) continue;
        arg[i] = take(e);
        brought |= 1u << arg[i];
        spread(e, x->arg[i], arg[i]);
    }
    for (int i = 0; i < args; i++) {
        const ef_jit_value *from = &e->v->at[x->arg[i]];
        if (from->last == k && !is_fixed(from)) e->busy &= ~(1u << reg[x->arg[i]]);
    }
    e->busy &= ~brought;
    if (x->kind < EF_JIT_STORE) reg[k] = x->reg = take(e);
    /* Integer comparisons need one more register: not one of those just freed. */
    uint32_t now = e->busy;
    for (int i = 0; i < args; i++)
        if (arg[i] != NONE) e->busy |= 1u << arg[i];
    e->c->ahead = ahead;
    compute(e, x, arg, masked);
    e->c->ahead = 0;
    e->busy = now;
}

static void iterate(emitter *e, int together, bool masked) {
    uint32_t fixed = e->busy;
    for (int k = 0; k < e->v->n; k++)
        for (int ahead = 0; ahead < together && !e->c->full && !is_fixed(&e->v->at[k]); ahead++)
            compute_value(e, k, ahead, masked);
    e->busy = fixed;
}

/* Whole vectors, `together` at a time, from the index on. */
static void repeat(emitter *e, int together) {
    ef_x86 *c = e->c;
    int lanes = together * e->vector / (c->wide ? 8 : 4);
    ef_x86_move2(c, EF_X86_MOV, WHOLE, COUNT);
    ef_x86_small2(c, EF_X86_AND8, WHOLE, -lanes);
    ef_x86_move2(c, EF_X86_CMP, AT, WHOLE);
    size_t none = ef_x86_jump(c, EF_X86_AT_LEAST), top = c->n;
    iterate(e, together, false);
    ef_x86_small2(c, EF_X86_ADD8, AT, lanes);
    ef_x86_move2(c, EF_X86_CMP, AT, WHOLE);
    ef_x86_land(c, ef_x86_jump(c, EF_X86_BELOW), top);
    ef_x86_land(c, none, c->n);
}

static bool emit(emitter *e, size_t *entry, int together, int most_fixed) {
    ef_x86 *c = e->c;
    c->n = 0;
    c->full = false;
    e->busy = 0;
    write_data(e);
    *entry = c->n;
    save(e);
    begin_sums(e);
    spread_fixed(e, most_fixed);
    load_bases(e);
    ef_x86_move2(c, EF_X86_SUB, AT, AT);
    if (together > 1) repeat(e, together);
    repeat(e, 1);
    ef_x86_move2(c, EF_X86_CMP, AT, COUNT);
    size_t done = ef_x86_jump(c, EF_X86_AT_LEAST);
    ef_x86_move2(c, EF_X86_SUB, COUNT, AT);
    ef_x86_mask(c, COUNT, 0);
    iterate(e, 1, true);
    ef_x86_land(c, done, c->n);
    write_sums(e);
    restore(e);
    ef_x86_return(c);
    return !c->full;
}

bool ef_jit_emit(ef_jit_values *v, ef_dtype dtype, int vector, ef_x86 *c, size_t *entry) {
    c->zmm = vector == 64;
    c->wide = dtype == EF_F64 || dtype == EF_I64;
    c->ahead = 0;
    emitter e = {.c = c, .v = v, .dtype = dtype, .vector = vector};
    e.registers = c->zmm ? 32 : 15; /* of 256 bits the last holds the mask */
    find_bases(&e);
    if (c->zmm && v->n >= LONG && emit(&e, entry, TOGETHER, 16)) return true;
    return emit(&e, entry, 1, c->zmm ? 18 : 7) || emit(&e, entry, 1, 0);
}
