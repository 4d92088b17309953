/* Compiling tile programs. Each run of instructions that src/jit can compile becomes one piece of
 * code, which the interpreter calls; an instruction that it cannot compile, such as a cast, is
 * interpreted between two pieces. */
#include "base/hash.h"
#include "base/option.h"
#include "plan/tiles.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

enum { LEAST = 512 /* elements below which the interpreter is as fast */ };
_Static_assert((int)EF_TILES_MAX_INS <= (int)EF_JIT_MAX_INS, "a run holds a whole program");
_Static_assert((int)EF_TILES_MAX_ARGS + (int)EF_TILES_MAX_REGS + (int)EF_TILES_MAX_TAILS <=
                   (int)EF_JIT_MAX_OPERANDS,
               "a run can name every operand of a program");

static ef_jit_ins as_jit(const ef_tile_ins *x) {
    ef_jit_ins j = {.expr = x->expr,
                    .n_in = x->n_in,
                    .scalars = x->scalars,
                    .truths = x->truths,
                    .out = x->out};
    for (int i = 0; i < x->n_in && i < EF_JIT_MAX_IN; i++) j.in[i] = x->in[i];
    return j;
}

/* Whether src/jit knows the expression. To find out it is parsed, which a plan for each new shape
 * would do again, so the last answers are kept, each in one word: the address of the text, which
 * belongs to the record of an op and stays, how it is used, and the answer. */
static bool is_known(const ef_tile_ins *x, ef_dtype dtype) {
    enum { KEPT = 64, ADDRESS = 48 };
    static _Atomic uint64_t kept[KEPT];
    ef_jit_ins j = as_jit(x);
    uint64_t text = (uint64_t)(uintptr_t)x->expr;
    if (text >> ADDRESS != 0 || x->n_in > EF_JIT_MAX_IN) return ef_jit_knows(&j, dtype);
    uint64_t type = dtype == EF_F32 ? 0 : dtype == EF_F64 ? 1 : dtype == EF_I32 ? 2 : 3;
    uint64_t truths = (x->truths & 7u) | (x->truths & EF_JIT_TRUTH_OUT ? 8u : 0);
    uint64_t how = type | (uint64_t)x->n_in << 2 | (x->scalars & 7u) << 4 | truths << 7;
    uint64_t key = text << 16 | how << 1;
    _Atomic uint64_t *at = &kept[ef_hash_mix(key, 0) % KEPT];
    uint64_t found = atomic_load_explicit(at, memory_order_relaxed);
    if ((found & ~UINT64_C(1)) == key) return found & 1;
    bool known = ef_jit_knows(&j, dtype);
    atomic_store_explicit(at, key | known, memory_order_relaxed);
    return known;
}

static bool compiles(const ef_tile_ins *x, ef_dtype dtype) {
    bool computes = dtype == EF_F32 || dtype == EF_F64 || dtype == EF_I32 || dtype == EF_I64;
    return x->expr != NULL && computes && is_known(x, dtype);
}

/* The end of the longest run from `first` whose instructions all compile, for one dtype. */
static int longest(const ef_tiles *t, int first, ef_dtype *dtype) {
    int k = first;
    *dtype = EF_BOOL;
    for (; k < t->n_ins; k++) {
        ef_dtype d = (ef_dtype)t->ins[k].dtype;
        if (d != EF_BOOL && *dtype != EF_BOOL && d != *dtype) break;
        if (*dtype == EF_BOOL) *dtype = d;
        if (!compiles(&t->ins[k], *dtype == EF_BOOL ? EF_I32 : *dtype)) break;
    }
    return k;
}

/* The one reduction that reads operand o at the end, or -1; -2: there are more. */
static int tail_of(const ef_tiles *t, uint8_t o) {
    int found = -1;
    for (int r = 0; r < t->tail.n; r++)
        if (t->tail.of[r].operand == o) found = found == -1 ? r : -2;
    return found;
}

/* Whether instruction k or a later one reads the value that operand o has before instruction k.
 * *end: none reads it, and operand o still has it at the end of the program. */
static bool instruction_reads(const ef_tiles *t, int k, uint8_t o, bool *end) {
    *end = false;
    for (; k < t->n_ins; k++) {
        for (int i = 0; i < t->ins[k].n_in; i++)
            if (t->ins[k].in[i] == o) return true;
        if (t->ins[k].out == o) return false;
    }
    *end = true;
    return false;
}
static bool read_after(const ef_tiles *t, int k, uint8_t o) {
    bool end;
    return instruction_reads(t, k, o, &end) || (end && tail_of(t, o) != -1);
}

/* The reduction that the code of instruction k can take by itself: a sum over long rows of what
 * the instruction leaves at the end of the program; or -1. */
static int sum_of(const ef_tiles *t, int k) {
    int r = tail_of(t, t->ins[k].out);
    if (r < 0 || !t->tail.of[r].by_lanes) return -1;
    for (int j = k + 1; j < t->n_ins; j++)
        if (t->ins[j].out == t->ins[k].out) return -1;
    return r;
}
static bool written_again(const ef_tiles *t, int k, int end, uint8_t o) {
    while (++k < end)
        if (t->ins[k].out == o) return true;
    return false;
}

/* Instructions [first, end) as a run for the compiler. */
static void describe(const ef_tiles *t, int first, int end, ef_jit_run *run) {
    run->n = end - first;
    for (int k = first; k < end; k++) {
        uint8_t out = t->ins[k].out;
        bool is_output = out < t->n_inputs + t->n_outputs && !t->arg[out].unread;
        ef_jit_ins *to = &run->ins[k - first];
        *to = as_jit(&t->ins[k]);
        int sum = sum_of(t, k);
        bool at_end,
            read = sum < 0 ? read_after(t, end, out) : instruction_reads(t, end, out, &at_end);
        run->sum[k - first] =
            (uint8_t)(sum < 0 ? 0 : 1 + t->n_inputs + t->n_outputs + t->n_regs + sum);
        to->keep = is_output || (!written_again(t, k, end, out) && read);
    }
}

/* Whether no truth value comes from outside the run or is read after it. */
static bool truths_stay(const ef_jit_run *run) {
    uint32_t made = 0; /* operands that hold truth values made by the run */
    for (int k = 0; k < run->n; k++) {
        const ef_jit_ins *x = &run->ins[k];
        bool truth = x->truths & EF_JIT_TRUTH_OUT;
        for (int i = 0; i < x->n_in; i++)
            if ((x->truths >> i & 1) && !(made >> x->in[i] & 1)) return false;
        if (truth && x->keep) return false;
        made = truth ? made | 1u << x->out : made & ~(1u << x->out);
    }
    return true;
}

/* How many values made by instructions [first, end) are read after them. */
static int crossing(const ef_tiles *t, int first, int end) {
    int n = 0;
    for (int k = first; k < end; k++)
        n += !written_again(t, k, end, t->ins[k].out) && read_after(t, end, t->ins[k].out);
    return n;
}

/* Where to end a run that needs too many registers: the point in its last two thirds where the
 * fewest values are read later. */
static int shorter(const ef_tiles *t, int first, int end) {
    int best = end - 1, fewest = INT_MAX;
    for (int k = end - 1; k >= first + (end - first) / 3 && k > first; k--) {
        int n = crossing(t, first, k);
        if (n < fewest) fewest = n, best = k;
    }
    return best;
}

static void note_sums(ef_tiles *t, int first, int end) {
    for (int k = first; k < end; k++)
        if (sum_of(t, k) >= 0) t->tail.of[sum_of(t, k)].in_code = true;
}

/* Compiles a run that begins at `first`, as long as registers suffice, and returns where it ends.
 */
static int compile_from(ef_tiles *t, int first) {
    ef_jit_run run = {.vector = ef_jit_vector()};
    int end = longest(t, first, &run.dtype);
    while ((end - first >= 2 || (end > first && sum_of(t, first) >= 0)) && run.dtype != EF_BOOL) {
        ef_tile_ins *x = &t->ins[first];
        describe(t, first, end, &run);
        if (!truths_stay(&run)) {
            end--;
        } else if ((x->code = ef_jit_get(&run)) == NULL) {
            end = shorter(t, first, end);
        } else {
            x->entry = ef_jit_entry(x->code);
            x->covers = (uint8_t)(end - first);
            note_sums(t, first, end);
            return end;
        }
    }
    return first + 1;
}

static void report(const ef_tiles *t) {
    int loops = 0, interpreted = 0;
    for (int k = 0; k < t->n_ins; k += t->ins[k].covers) {
        loops += t->ins[k].entry != NULL;
        interpreted += t->ins[k].entry == NULL;
    }
    fprintf(stderr, "fuse: %d ops over %lld elements: %d compiled loops, %d ops interpreted%s\n",
            t->n_ins, (long long)t->count, loops, interpreted,
            t->tail.n > 0 ? ", then reduced" : "");
    for (int k = 0; k < t->n_ins; k += t->ins[k].covers)
        if (t->ins[k].entry == NULL)
            fprintf(stderr, "fuse:   interpreted: %s of %s\n",
                    t->ins[k].expr != NULL ? t->ins[k].expr : "an op without an expression",
                    ef_dtype_name((ef_dtype)t->ins[k].dtype));
}

void ef_tiles_compile(ef_tiles *t) {
    if (t->count < LEAST || ef_option_has("EF_PASSES", "-jit")) return;
    for (int first = 0; first < t->n_ins;) first = compile_from(t, first);
    if (ef_option_has("EF_LOG", "fuse")) report(t);
    if (t->n_ins == 0 || t->ins[0].covers < t->n_ins) return;
    t->cost_ns = 0.03 * t->n_ins + 0.3;
    for (int k = 0; k < t->n_inputs; k++)
        if (ef_tiles_buffered(t, k)) return;
    t->stretch = t->count; /* nothing is kept in memory between instructions */
}

void ef_tiles_release(void *state) {
    ef_tiles *t = state;
    for (int k = 0; k < t->n_ins; k++) ef_jit_release(t->ins[k].code);
}
