/* Tile programs compiled. Runs of instructions that the compiler of src/jit knows become one piece
 * of code each, and the interpreter steps over them; what it does not know - a logarithm, a cast -
 * stays an instruction between two pieces. */
#include "base/option.h"
#include "plan/tiles.h"

enum { LEAST = 512 /* elements below which the interpreter is as quick */ };

static bool compiles(const ef_tile_ins *x) {
    return x->expr != NULL && (x->dtype == EF_F32 || x->dtype == EF_F64) &&
           ef_jit_knows(x->expr, x->n_in);
}

/* Whether somebody from instruction k on reads what operand o holds before k. */
static bool read_after(const ef_tiles *t, int k, uint8_t o) {
    for (; k < t->n_ins; k++) {
        for (int i = 0; i < t->ins[k].n_in; i++)
            if (t->ins[k].in[i] == o) return true;
        if (t->ins[k].out == o) return false;
    }
    return t->tail.reducer != NULL && t->tail.operand == o;
}
static bool written_again(const ef_tiles *t, int k, int end, uint8_t o) {
    while (++k < end)
        if (t->ins[k].out == o) return true;
    return false;
}

/* Instructions [first, end) as a run for the compiler. */
static void describe(const ef_tiles *t, int first, int end, ef_jit_run *run) {
    run->dtype = (ef_dtype)t->ins[first].dtype;
    run->n = end - first;
    for (int k = first; k < end; k++) {
        const ef_tile_ins *x = &t->ins[k];
        bool is_output = x->out < t->n_inputs + t->n_outputs;
        ef_jit_ins *to = &run->ins[k - first];
        *to = (ef_jit_ins){.expr = x->expr, .n_in = x->n_in, .scalars = x->scalars, .out = x->out};
        for (int i = 0; i < x->n_in; i++) to->in[i] = x->in[i];
        to->keep = is_output || (!written_again(t, k, end, x->out) && read_after(t, end, x->out));
    }
}

/* Compiles a run that begins at `first`, as long as registers suffice, and returns where it ends;
 * `end` bounds it. */
static int compile_from(ef_tiles *t, int first, int end) {
    ef_jit_run run;
    for (; end - first >= 2; end = first + (end - first) / 2) {
        describe(t, first, end, &run);
        ef_tile_ins *x = &t->ins[first];
        x->code = ef_jit_get(&run);
        if (x->code == NULL) continue;
        x->entry = ef_jit_entry(x->code);
        x->covers = (uint8_t)(end - first);
        return end;
    }
    return first + 1;
}

void ef_tiles_compile(ef_tiles *t) {
    if (t->count < LEAST || ef_option_has("EF_PASSES", "-jit")) return;
    for (int first = 0; first < t->n_ins;) {
        int end = first;
        while (end < t->n_ins && compiles(&t->ins[end]) && t->ins[end].dtype == t->ins[first].dtype)
            end++;
        first = compile_from(t, first, end);
    }
    if (t->ins[0].covers < t->n_ins) return;
    t->cost_ns = 0.03 * t->n_ins + 0.3;
    for (int k = 0; k < t->n_inputs; k++)
        if (ef_tiles_buffered(t, k)) return;
    t->stretch = t->count; /* nothing is kept in memory between instructions */
}

void ef_tiles_release(void *state) {
    ef_tiles *t = state;
    for (int k = 0; k < t->n_ins; k++) ef_jit_release(t->ins[k].code);
}
