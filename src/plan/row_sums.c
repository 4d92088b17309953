/* Sums over rows inside a row chain. A chain's program that only adds up rows reads all elements
 * once more, and the program that computes them has to write them first. Instead, that program adds
 * each element to a row of partial sums as one more instruction. The partial sums, floats, go into
 * the accumulators of the piece after every few rows, so they lose no accuracy. */
#include "ops/engine_nodes.h"
#include "plan/planner.h"
#include "plan/row_walk.h"
#include <string.h>

static bool is_sum(const ef_planner *p, const ef_row_program *s, int32_t group) {
    const ef_tile_tail *tail = &s->tiles->tail;
    if (s->tiles->n_ins > 0 || tail->n != 1 || !tail->outer) return false;
    int kind = p->g->node[tail->of[0].node]->op->reduction;
    ef_dtype d = p->value[p->tile_values[group][0]].fact.dtype;
    /* Shorter rows would have to be treated one by one. */
    return (kind == EF_REDUCE_SUM || kind == EF_REDUCE_MEAN) && (d == EF_F32 || d == EF_F64) &&
           s->cols >= EF_TILE / 2;
}

static bool computes_in(const ef_tiles *t, ef_dtype d) {
    for (int k = 0; k < t->n_ins; k++)
        if (t->ins[k].dtype != d || t->ins[k].expr == NULL) return false;
    return t->n_ins > 0 && t->n_ins < EF_TILES_MAX_INS &&
           t->n_inputs + t->n_outputs < EF_TILES_MAX_ARGS && !(t->tail.n > 0 && t->tail.outer);
}

/* The operand of program h whose elements s adds up, or -1. */
static int operand_of(const ef_row_program *h, const ef_row_program *s) {
    const ef_tiles *t = h->tiles;
    for (int k = 0; k < t->n_inputs + t->n_outputs - t->tail.n; k++)
        if (h->at[k] == s->at[0] && (k >= t->n_inputs || t->arg[k].spread == EF_SPREAD_FULL))
            return k;
    return -1;
}

/* The program that shall add: the one that computes the elements, or one that reads them; -1: none
 * of them can. */
static int find_host(const ef_row_chain *c, const ef_row_program *s, ef_dtype d) {
    int reader = -1;
    for (int k = 0; k < c->n; k++) {
        const ef_row_program *h = &c->program[k];
        int o = h->cols == s->cols && h->tiles->count == s->tiles->count ? operand_of(h, s) : -1;
        if (o < 0 || !computes_in(h->tiles, d) || !ef_row_moves_evenly(h->tiles, h->cols)) continue;
        if (o >= h->tiles->n_inputs) return k;
        if (reader < 0) reader = k;
    }
    return reader;
}

static uint8_t shifted(uint8_t operand, int from) {
    return operand >= from ? (uint8_t)(operand + 1) : operand;
}

/* Makes room for one more input after the others. */
static ef_status *add_input(ef_planner *p, ef_row_program *h) {
    ef_status *s = NULL;
    ef_tiles *t = h->tiles;
    int n = t->n_inputs, args = n + t->n_outputs;
    ef_tile_arg *arg = ef_plan_memory(p, (size_t)(args + 1) * sizeof *arg, &s);
    uint8_t *at = ef_plan_memory(p, (size_t)args + 1, &s);
    if (s != NULL) return s;
    for (int k = 0; k < args; k++) {
        arg[k < n ? k : k + 1] = t->arg[k];
        at[k < n ? k : k + 1] = h->at[k];
    }
    for (int k = 0; k < t->n_ins; k++) {
        for (int i = 0; i < t->ins[k].n_in; i++) t->ins[k].in[i] = shifted(t->ins[k].in[i], n);
        t->ins[k].out = shifted(t->ins[k].out, n);
    }
    for (int k = 0; k < t->tail.n; k++) t->tail.of[k].operand = shifted(t->tail.of[k].operand, n);
    t->arg = arg;
    h->at = at;
    t->n_inputs++;
    return NULL;
}

/* The instruction after which operand o can be added: the first that writes or reads it. */
static int first_use(const ef_tiles *t, uint8_t o) {
    for (int k = 0; k < t->n_ins; k++) {
        if (t->ins[k].out == o) return k;
        for (int i = 0; i < t->ins[k].n_in; i++)
            if (t->ins[k].in[i] == o) return k;
    }
    return t->n_ins - 1;
}

/* Program h adds its operand o to the partial sums of s, which are at `at`. */
static ef_status *add_instruction(ef_planner *p, ef_row_program *h, int o, ef_row_program *s,
                                  int at, ef_dtype d) {
    ef_status *status = NULL;
    ef_tiles *t = h->tiles;
    const ef_tile_reduced *of = &s->tiles->tail.of[0];
    EF_TRY(add_input(p, h));
    int sums = t->n_inputs - 1;
    uint8_t from = shifted((uint8_t)o, sums);
    t->arg[sums] = (ef_tile_arg){
        .spread = EF_SPREAD_PERIOD, .size = (uint8_t)of->size, .in_place = true, .period = s->cols};
    h->at[sums] = (uint8_t)at;
    ef_tile_ins *ins = ef_plan_memory(p, (size_t)(t->n_ins + 1) * sizeof *ins, &status);
    if (status != NULL) return status;
    int before = first_use(t, from) + 1;
    for (int k = 0; k < t->n_ins; k++) ins[k < before ? k : k + 1] = t->ins[k];
    ins[before] = (ef_tile_ins){.fn = ef_op_tile(ef_add_op, (ef_dtype[]){d, d}, 2, d, NULL),
                                .n_in = 2,
                                .in = {(uint8_t)sums, from},
                                .out = (uint8_t)sums,
                                .covers = 1,
                                .dtype = (uint8_t)d,
                                .node = of->node,
                                .expr = ef_add_op->expr};
    t->ins = ins;
    t->n_ins++;
    s->way = EF_ROWS_SUMMED;
    s->sums = at;
    return NULL;
}

static bool is_read(const ef_row_chain *c, uint8_t at) {
    for (int k = 0; k < c->n; k++) {
        const ef_row_program *r = &c->program[k];
        for (int i = 0; i < r->tiles->n_inputs && r->way != EF_ROWS_SUMMED; i++)
            if (r->at[i] == at) return true;
    }
    return false;
}

/* Generated code need not store what no program reads. */
static void note_unread(ef_row_chain *c, int n_outside) {
    for (int k = 0; k < c->n; k++) {
        const ef_row_program *h = &c->program[k];
        const ef_tiles *t = h->tiles;
        for (int i = t->n_inputs; i < t->n_inputs + t->n_outputs - t->tail.n; i++)
            t->arg[i].unread = h->at[i] >= n_outside && !is_read(c, h->at[i]);
    }
}

ef_status *ef_row_sums_fold(ef_planner *p, const int32_t *group, int n_outside, ef_row_chain *c) {
    for (int k = 0; k < c->n; k++) {
        ef_row_program *s = &c->program[k];
        if (!is_sum(p, s, group[k])) continue;
        ef_dtype d = p->value[p->tile_values[group[k]][0]].fact.dtype;
        int host = find_host(c, s, d);
        if (host < 0) continue;
        ef_row_program *h = &c->program[host];
        EF_TRY(add_instruction(p, h, operand_of(h, s), s, n_outside + c->n_inside, d));
        c->n_sums++;
        c->row_bytes[c->n_inside] = 0;
        c->own_bytes[c->n_inside++] = (size_t)s->cols * s->tiles->tail.of[0].size;
    }
    note_unread(c, n_outside);
    return NULL;
}
