/* Emits loops. No value stays in a register from one instruction to the next: the processor
 * forwards a store to the next load in a few cycles, and the code stays simple. */
#include "jit/loop.h"
#include "base/alloc.h"
#include "jit/emit.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HOME = EF_RDI, PULSE = EF_RSI, SEEN = EF_RDX, REGISTERS = 15, SPARE = 15, ONES = 14 };

struct ef_jit_loop {
    ef_x86 *code;     /* until the end; then NULL */
    size_t top, exit; /* exit: the jump taken when the condition is false */
    bool failed;
    void *pages;
    size_t bytes;
};

static bool is_wide(const ef_jit_home *h) {
    return h->dtype == EF_F64 || h->dtype == EF_I64 || (h->dtype == EF_BOOL && h->wide);
}
static bool is_float(ef_dtype t) { return t == EF_F32 || t == EF_F64; }

int32_t ef_jit_home_bytes(const ef_jit_home *h) {
    int32_t n = h->count * (is_wide(h) || h->dtype == EF_BOOL ? 8 : 4);
    return (n + EF_JIT_VECTOR - 1) / EF_JIT_VECTOR * EF_JIT_VECTOR;
}
static int chunks(const ef_jit_home *h) {
    return (h->count * (is_wide(h) ? 8 : 4) + EF_JIT_VECTOR - 1) / EF_JIT_VECTOR;
}

ef_jit_loop *ef_jit_loop_begin(void) {
    ef_jit_loop *l = ef_jit_emits() ? ef_calloc(1, sizeof *l) : NULL;
    if (l == NULL || (l->code = ef_malloc(sizeof *l->code)) == NULL) {
        ef_free(l);
        return NULL;
    }
    l->code->n = 0;
    l->code->full = l->code->wide = l->code->zmm = false;
    return l;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void load(ef_jit_loop *l, int to, const ef_jit_home *h, int chunk) {
    ef_x86_vex_at(l->code, (ef_x86_vex){1, 0, 0x10, false, false}, to, 0, HOME,
                  h->at + chunk * EF_JIT_VECTOR);
}
static void store(ef_jit_loop *l, int from, const ef_jit_home *h, int chunk) {
    ef_x86_vex_at(l->code, (ef_x86_vex){1, 0, 0x11, false, false}, from, 0, HOME,
                  h->at + chunk * EF_JIT_VECTOR);
}
static void spread(ef_jit_loop *l, int to, const ef_jit_home *h) {
    bool wide = is_wide(h) && h->dtype != EF_BOOL; /* any four bytes of a mask will do */
    ef_x86_vex_at(l->code, (ef_x86_vex){2, 1, wide ? 0x19 : 0x18, false, false}, to, 0, HOME,
                  h->at);
}
/* A number in every element, by way of a general register. */
static void constant(ef_jit_loop *l, int to, uint64_t bits, bool wide) {
    ef_x86 *c = l->code;
    ef_x86_byte(c, 0x48); /* mov rax, bits */
    ef_x86_byte(c, 0xB8);
    ef_x86_word(c, (uint32_t)bits);
    ef_x86_word(c, (uint32_t)(bits >> 32));
    ef_x86_vex3(c, (ef_x86_vex){1, 1, 0x6E, true, true}, to, 0, EF_RAX); /* vmovq */
    ef_x86_vex3(c, (ef_x86_vex){2, 1, wide ? 0x59 : 0x58, false, false}, to, 0, to);
}

/* ---- one value ------------------------------------------------------------------------------- */

static void two(ef_jit_loop *l, unsigned map, unsigned op, int to, int a, int b) {
    ef_x86_vex3(l->code, (ef_x86_vex){(uint8_t)map, 1, (uint8_t)op, false, false}, to, a, b);
}
/* False: no such instruction for integers. */
static bool compute_int(ef_jit_loop *l, const ef_jit_value *x, bool wide, int to, const int *arg) {
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_ADD: two(l, 1, wide ? 0xD4 : 0xFE, to, arg[0], arg[1]); return true;
    case EF_JIT_SUB: two(l, 1, wide ? 0xFB : 0xFA, to, arg[0], arg[1]); return true;
    case EF_JIT_MUL:
        if (wide) return false;
        two(l, 2, 0x40, to, arg[0], arg[1]);
        return true;
    case EF_JIT_AND: two(l, 1, 0xDB, to, arg[0], arg[1]); return true;
    case EF_JIT_OR: two(l, 1, 0xEB, to, arg[0], arg[1]); return true;
    case EF_JIT_XOR: two(l, 1, 0xEF, to, arg[0], arg[1]); return true;
    case EF_JIT_COMPARE:
        ef_x86_compare_ints(l->code, (ef_x86_order)ef_jit_order[x->how], to, arg[0], arg[1], ONES);
        return true;
    case EF_JIT_CHOOSE: ef_x86_choose(l->code, to, arg[0], arg[1], arg[2]); return true;
    default: return false;
    }
}

static bool compute_float(ef_jit_loop *l, const ef_jit_value *x, int to, const int *arg) {
    switch ((ef_jit_kind)x->kind) {
    case EF_JIT_COMPARE:
        ef_x86_compare(l->code, to, arg[0], arg[1], ef_jit_predicate[x->how]);
        return true;
    case EF_JIT_SQRT: ef_x86_sqrt(l->code, to, arg[0]); return true;
    case EF_JIT_ROUND: ef_x86_round(l->code, to, arg[0], ef_jit_predicate[x->how]); return true;
    case EF_JIT_CHOOSE: ef_x86_choose(l->code, to, arg[0], arg[1], arg[2]); return true;
    case EF_JIT_PLUS: ef_x86_add(l->code, to, arg[0], arg[1]); return true;
    case EF_JIT_MINUS: ef_x86_subtract(l->code, to, arg[0], arg[1]); return true;
    case EF_JIT_LEFT: ef_x86_shift(l->code, true, to, arg[0], x->how); return true;
    case EF_JIT_RIGHT: ef_x86_shift(l->code, false, to, arg[0], x->how); return true;
    case EF_JIT_CONVERT: ef_x86_to_float(l->code, to, arg[0]); return true;
    case EF_JIT_FMA:
    case EF_JIT_SCALAR:
    case EF_JIT_STORE: return false;
    default: ef_x86_two(l->code, ef_jit_opcode[x->kind], to, arg[0], arg[1]); return true;
    }
}

/* ---- one instruction ------------------------------------------------------------------------- */

static bool fits(const ef_jit_home *in, const ef_jit_home *out, bool wide) {
    if (in->count == 1) return true;
    return in->count == out->count && is_wide(in) == wide;
}

static bool expression(ef_jit_loop *l, const ef_jit_loop_ins *x, ef_dtype dtype,
                       const ef_jit_values *v, uint16_t result) {
    bool wide = dtype == EF_F64 || dtype == EF_I64;
    l->code->wide = wide;
    for (int chunk = 0; chunk < chunks(&x->out); chunk++) {
        for (int k = 0; k < v->n; k++) {
            const ef_jit_value *n = &v->at[k];
            int arg[3] = {n->arg[0], n->arg[1], n->arg[2]};
            if (n->kind == EF_JIT_NUMBER) {
                constant(l, k, n->bits, wide);
            } else if (n->kind == EF_JIT_LOAD) {
                const ef_jit_home *h = &x->in[n->operand];
                bool as_is = h->count == x->out.count && h->dtype != EF_BOOL;
                if (as_is || (h->count > 1 && h->dtype == EF_BOOL))
                    load(l, k, h, chunk);
                else
                    spread(l, k, h);
            } else if (is_float(dtype) ? !compute_float(l, n, k, arg)
                                       : !compute_int(l, n, wide, k, arg)) {
                return false;
            }
        }
        store(l, result, &x->out, chunk);
    }
    return true;
}

/* Casts a single element, or several elements between int32 and float32, whose size is the same. */
static bool cast(ef_jit_loop *l, const ef_jit_loop_ins *x) {
    const ef_jit_home *in = &x->in[0], *out = &x->out;
    ef_x86 *c = l->code;
    ef_dtype from = (ef_dtype)in->dtype, to = (ef_dtype)out->dtype;
    if (from == EF_I32 && to == EF_F32) {
        for (int k = 0; k < chunks(out); k++) {
            ef_x86_vex_at(c, (ef_x86_vex){1, 0, 0x5B, false, false}, 0, 0, HOME,
                          in->at + k * EF_JIT_VECTOR);
            store(l, 0, out, k);
        }
        return true;
    }
    if (in->count != 1) return false;
    ef_x86_vex op;
    if (from == EF_I32 && to == EF_F64)
        op = (ef_x86_vex){1, 2, 0xE6, false, false};
    else if (from == EF_F32 && to == EF_F64)
        op = (ef_x86_vex){1, 0, 0x5A, false, false};
    else if (from == EF_F64 && to == EF_F32)
        op = (ef_x86_vex){1, 1, 0x5A, false, false};
    else if (from == EF_I32 && to == EF_I64)
        op = (ef_x86_vex){2, 1, 0x25, false, false};
    else if (from == EF_I64 && to == EF_I32)
        op = (ef_x86_vex){2, 1, 0x18, false, false}; /* the lower half, spread */
    else if (from == EF_I64 && is_float(to))
        op = (ef_x86_vex){1, to == EF_F32 ? 2 : 3, 0x2A, true, true};
    else
        return false;
    two(l, 1, 0xEF, SPARE, SPARE, SPARE);
    ef_x86_vex_at(c, op, 0, op.op == 0x2A ? SPARE : 0, HOME, in->at);
    store(l, 0, out, 0);
    return true;
}

/* The type an expression computes in: that of its first operand that is not a mask. */
static ef_dtype working_type(const ef_jit_loop_ins *x) {
    for (int k = 0; k < x->n_in; k++)
        if (x->in[k].dtype != EF_BOOL) return (ef_dtype)x->in[k].dtype;
    return EF_I32;
}

bool ef_jit_loop_add(ef_jit_loop *l, ef_jit_loop_ins *x) {
    if (x->expr == NULL) return !(l->failed |= !cast(l, x));
    ef_jit_ins ins = {.expr = x->expr, .n_in = (uint8_t)x->n_in, .in = {0, 1, 2}, .out = 3};
    ef_dtype type = working_type(x);
    bool wide = type == EF_F64 || type == EF_I64;
    for (int k = 0; k < x->n_in; k++)
        if (x->in[k].dtype == EF_BOOL) {
            ins.truths |= (uint8_t)(1u << k);
            if (x->in[k].count > 1 && type == EF_I32) wide = x->in[k].wide;
        }
    bool only_masks = ins.truths == (1u << x->n_in) - 1;
    if (!only_masks) wide = type == EF_F64 || type == EF_I64;
    if (only_masks && wide) type = EF_I64;
    if (x->out.dtype == EF_BOOL) ins.truths |= EF_JIT_TRUTH_OUT, x->out.wide = wide;
    ef_jit_values v;
    uint16_t result;
    l->failed = l->failed || !ef_jit_parse_one(&ins, type, &v, &result) || v.n >= ONES;
    for (int k = 0; k < x->n_in && !l->failed; k++) l->failed = !fits(&x->in[k], &x->out, wide);
    if (!l->failed) l->failed = !expression(l, x, type, &v, result) || l->code->full;
    return !l->failed;
}

bool ef_jit_loop_test(ef_jit_loop *l, const ef_jit_home *mask) {
    ef_x86_compare_at(l->code, HOME, mask->at, 0);
    l->exit = ef_x86_jump(l->code, EF_X86_EQUAL);
    return !l->code->full;
}

bool ef_jit_loop_copy(ef_jit_loop *l, const ef_jit_home *to, const ef_jit_home *from) {
    for (int k = 0; k < chunks(to); k++) {
        load(l, 0, from, k);
        store(l, 0, to, k);
    }
    return !l->code->full;
}

/* The code in pages of its own, executable and no longer writable. */
static ef_jit_loop_fn *publish(ef_jit_loop *l) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (l->code->n + page - 1) / page * page;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return NULL;
    l->pages = at;
    l->bytes = bytes;
    memcpy(at, l->code->at, l->code->n);
    ef_free(l->code);
    l->code = NULL;
    if (mprotect(at, bytes, PROT_READ | PROT_EXEC) != 0) return NULL;
    ef_jit_loop_fn *f;
    memcpy(&f, &at, sizeof f); /* C has no conversion from data to functions */
    return f;
}

ef_jit_loop_fn *ef_jit_loop_end(ef_jit_loop *l) {
    ef_x86 *c = l->code;
    ef_x86_compare_with(c, SEEN, PULSE);
    ef_x86_land(c, ef_x86_jump(c, EF_X86_EQUAL), l->top);
    ef_x86_set_rax(c, 1);
    ef_x86_return(c);
    ef_x86_land(c, l->exit, c->n);
    ef_x86_set_rax(c, 0);
    ef_x86_return(c);
    return l->failed || c->full || l->exit == 0 ? NULL : publish(l);
}

void ef_jit_loop_release(ef_jit_loop *l) {
    if (l == NULL) return;
    if (l->pages != NULL) munmap(l->pages, l->bytes);
    ef_free(l->code);
    ef_free(l);
}
