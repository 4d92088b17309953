/* Grouping elementwise ops. Nodes are visited in the order they run; a node joins the group of its
 * inputs if its result has the group's shape, and two groups that it reads are merged. A group is
 * closed as soon as a node outside it reads one of its values: the group runs at the place of its
 * last member, and that must come before the reader. So no dependency can run backwards and no
 * search is needed. A reduction over outer axes may be a group's last member, and several over
 * inner axes may be its last members: nodes that read their results are outside. If a group would
 * need more arguments, registers or buffers than a tile program has, the node does not join it, but
 * another group or a new one. A single op or reduction becomes a program too where a row chain may
 * take it (row_chain.c). */
#include "base/alloc.h"
#include "base/option.h"
#include "ops/math/reduce.h"
#include "plan/planner.h"
#include "plan/row_chain.h"
#include "plan/tiles_run.h"
#include <stdatomic.h>
#include <stdio.h>

enum { LEAST = 256 }; /* elements below which one step per op is as fast */

typedef struct group {
    ef_shape shape;
    int64_t count;
    int32_t member[EF_TILES_MAX_INS]; /* in the order they run */
    int32_t n;
    int32_t into; /* the group it was merged into, or itself */
    bool closed;
    int32_t tail[EF_TILES_MAX_TAILS]; /* the reductions that end it, in the order they run */
    int n_tails;
    int64_t cols;            /* elements that each result of them is reduced from */
    int args, buffers, regs; /* upper bounds of what it needs */
} group;

static bool is_alone(const group *g) { return g->n + g->n_tails == 1; }

typedef struct fuser {
    ef_planner *p;
    group *at;
    int32_t n;
    int32_t *reads;      /* by value: how often it is read */
    int32_t *operand_of; /* by value: operand, or -1 (this and the next are reused by all groups) */
    int32_t *last_read;  /* by value of the group at hand: last instruction that reads it, */
    int32_t *reads_inside; /* and how often members read it */
    int32_t *mark;         /* by value: equal to `marks` in the group at hand */
    int32_t marks;
    ef_fuse_counts counts;
    int64_t least; /* elements of the smallest ops to be fused */
    bool chains;   /* there may be row chains */
} fuser;

static int32_t final(const fuser *f, int32_t g) {
    while (g >= 0 && f->at[g].into != g) g = f->at[g].into;
    return g;
}

/* How many inputs a tile of the node reads. */
static int operands(const ef_node *n) { return n->op->traits & EF_SPREADS ? 1 : n->n_in; }

static ef_tile_fn *tile_of(const ef_planner *p, const ef_node *n) {
    ef_dtype types[EF_TILES_MAX_OPERANDS];
    for (int k = 0; k < operands(n); k++) types[k] = p->value[ef_value_at(p, n->in[k])].fact.dtype;
    return ef_op_tile(n->op, types, operands(n), p->value[p->base[n->id]].fact.dtype, n->fields);
}

static bool fits_tiles(const ef_fact *f) {
    return ef_dtype_in(f->dtype, EF_PLAIN) && ef_dtype_size(f->dtype) <= 8 &&
           ef_shape_known(&f->shape);
}

static bool eligible(const fuser *f, const ef_node *n) {
    const ef_planner *p = f->p;
    if (!(n->op->traits & (EF_ELEMENTWISE | EF_SPREADS)) || (n->op->traits & EF_STATEFUL) ||
        n->n_out != 1 || n->n_in < 1 || operands(n) > EF_TILES_MAX_OPERANDS)
        return false;
    if (p->at != NULL && p->at[n->id] != EF_HOST) return false; /* a device runs its own kernels */
    const ef_fact *out = &p->value[p->base[n->id]].fact;
    if (!fits_tiles(out) || ef_shape_count(&out->shape) < f->least) return false;
    for (int k = 0; k < operands(n); k++)
        if (!fits_tiles(&p->value[ef_value_at(p, n->in[k])].fact)) return false;
    return tile_of(p, n) != NULL;
}

/* ---- what a group needs ---------------------------------------------------------------------- */

typedef struct builder {
    fuser *f;
    ef_tiles *t;
    int32_t *arg;                        /* values of inputs, then outputs */
    int32_t reg_free[EF_TILES_MAX_REGS]; /* instruction after which it is free */
    uint8_t reg_size[EF_TILES_MAX_REGS]; /* bytes of an element in it */
    int most_live;                       /* values in registers at once, as if none were reused */
} builder;

/* Marks the values of the group. */
static void mark_members(fuser *f, const group *g) {
    f->marks++;
    for (int32_t m = 0; m < g->n; m++) {
        int32_t v = f->p->base[g->member[m]];
        f->mark[v] = f->marks;
        f->last_read[v] = m;
        f->reads_inside[v] = 0;
    }
}

static bool new_input(builder *b, int32_t v) {
    const ef_fact *fact = &b->f->p->value[v].fact;
    if (b->t->n_inputs >= EF_TILES_MAX_ARGS) return false;
    ef_tiles_spread(b->t, b->t->n_inputs, &fact->shape, fact->dtype);
    b->arg[b->t->n_inputs] = v;
    b->f->operand_of[v] = b->t->n_inputs++;
    return true;
}

/* Inputs: every value read from outside, once. False: too many. */
static bool find_inputs(builder *b, const group *g) {
    fuser *f = b->f;
    const ef_planner *p = f->p;
    for (int32_t m = 0; m < g->n; m++) {
        const ef_node *n = p->g->node[g->member[m]];
        for (int k = 0; k < operands(n); k++) {
            int32_t v = ef_value_at(p, n->in[k]);
            if (f->mark[v] == f->marks) {
                f->last_read[v] = m;
                f->reads_inside[v]++;
                continue;
            }
            if (f->operand_of[v] < 0 && !new_input(b, v)) return false;
        }
    }
    for (int k = 0; k < g->n_tails; k++) {
        int32_t v = ef_value_at(p, p->g->node[g->tail[k]]->in[0]);
        if (g->n == 0) return new_input(b, v);
        f->last_read[v] = g->n;
        f->reads_inside[v]++;
    }
    return ef_tiles_fit(b->t);
}

/* Outputs: members that are outputs of the plan or read by nodes outside the group. */
static bool find_outputs(builder *b, const group *g) {
    const ef_planner *p = b->f->p;
    for (int32_t m = 0; m < g->n; m++) {
        int32_t v = p->base[g->member[m]];
        if (!p->value[v].output && b->f->reads[v] == b->f->reads_inside[v]) continue;
        int at = b->t->n_inputs + b->t->n_outputs;
        if (at >= EF_TILES_MAX_ARGS) return false;
        b->t->arg[at] = (ef_tile_arg){.spread = EF_SPREAD_FULL,
                                      .size = (uint8_t)ef_dtype_size(p->value[v].fact.dtype)};
        b->arg[at] = v;
        b->f->operand_of[v] = at;
        b->t->n_outputs++;
    }
    for (int k = 0; k < g->n_tails; k++) {
        int at = b->t->n_inputs + b->t->n_outputs;
        if (at >= EF_TILES_MAX_ARGS) return false;
        b->arg[at] = p->base[g->tail[k]];
        b->t->n_outputs++;
    }
    return true;
}

/* Takes a register that is free, or that this instruction reads for the last time if its elements
 * have the same size: element i is then read before it is overwritten. */
static int take_register(builder *b, int32_t from, int32_t until, size_t size) {
    int live = 1;
    for (int r = 0; r < b->t->n_regs; r++) live += b->reg_free[r] >= from;
    if (live > b->most_live) b->most_live = live;
    for (int r = 0; r < EF_TILES_MAX_REGS; r++) {
        bool unused = b->reg_size[r] == 0 || b->reg_free[r] < from;
        if (!unused && (b->reg_free[r] > from || b->reg_size[r] != size)) continue;
        b->reg_free[r] = until;
        b->reg_size[r] = (uint8_t)size;
        if (r >= b->t->n_regs) b->t->n_regs = r + 1;
        return r;
    }
    return -1;
}

static bool find_registers(builder *b, const group *g) {
    const fuser *f = b->f;
    int first = b->t->n_inputs + b->t->n_outputs;
    for (int32_t m = 0; m < g->n; m++) {
        int32_t v = f->p->base[g->member[m]];
        if (f->operand_of[v] >= 0) continue;
        int r = take_register(b, m, f->last_read[v], ef_dtype_size(f->p->value[v].fact.dtype));
        if (r < 0) return false;
        f->operand_of[v] = first + r;
    }
    return true;
}

/* Gives every value of the group its operand; false: a tile program does not have that many.
 * forget_operands must be called in either case. */
static bool find_operands(builder *b, const group *g) {
    b->t->shape = g->shape;
    b->t->count = g->count;
    mark_members(b->f, g);
    return find_inputs(b, g) && find_outputs(b, g) && find_registers(b, g);
}

static void forget_operands(const builder *b, const group *g) {
    int n_args = b->t->n_inputs + b->t->n_outputs;
    for (int k = 0; k < n_args; k++) b->f->operand_of[b->arg[k]] = -1;
    for (int32_t m = 0; m < g->n; m++) b->f->operand_of[b->f->p->base[g->member[m]]] = -1;
}

/* Whether a tile program can hold the group; stores what it needs. */
static bool fits(fuser *f, group *g) {
    ef_tile_arg arg[EF_TILES_MAX_ARGS];
    int32_t value[EF_TILES_MAX_ARGS];
    ef_tiles t = {.arg = arg};
    builder b = {.f = f, .t = &t, .arg = value};
    bool ok = find_operands(&b, g);
    forget_operands(&b, g);
    g->args = t.n_inputs + t.n_outputs;
    g->buffers = 0;
    for (int k = 0; k < t.n_inputs; k++) g->buffers += ef_tiles_buffered(&t, k);
    g->regs = b.most_live;
    return ok;
}

/* ---- grouping -------------------------------------------------------------------------------- */

/* Makes `to` the members of groups a and b (-1: none) with node n at the end; false: too many. */
static bool unite(const fuser *f, int32_t a, int32_t b, int32_t n, group *to) {
    static const group nobody;
    const group *x = a >= 0 ? &f->at[a] : &nobody, *y = &f->at[b];
    if (x->n + y->n >= EF_TILES_MAX_INS || x->n_tails + y->n_tails > EF_TILES_MAX_TAILS ||
        (x->n_tails > 0 && y->n_tails > 0 && x->cols != y->cols))
        return false;
    *to = *y;
    to->n = to->n_tails = 0;
    if (x->n_tails > 0) to->cols = x->cols;
    for (int i = 0, j = 0; i < x->n_tails || j < y->n_tails;) {
        bool first = j == y->n_tails || (i < x->n_tails && x->tail[i] < y->tail[j]);
        to->tail[to->n_tails++] = first ? x->tail[i++] : y->tail[j++];
    }
    for (int32_t i = 0, j = 0; i < x->n || j < y->n;) {
        bool first = j == y->n || (i < x->n && x->member[i] < y->member[j]);
        to->member[to->n++] = first ? x->member[i++] : y->member[j++];
    }
    to->member[to->n++] = n;
    return true;
}

/* Whether group g certainly has room for node n, by upper bounds of what it needs: most nodes join
 * this way, without another visit of all members. */
static bool has_room(const fuser *f, group *g, const ef_node *n) {
    int args = g->args + 1, buffers = g->buffers, regs = g->regs;
    for (int k = 0; k < operands(n); k++) {
        const ef_pvalue *v = &f->p->value[ef_value_at(f->p, n->in[k])];
        int64_t count = ef_shape_count(&v->fact.shape);
        int32_t from = final(f, v->group);
        bool inside = from >= 0 && &f->at[from] == g;
        regs += inside;
        args += !inside;
        buffers += !inside && count != 1 && count != g->count;
    }
    if (g->n >= EF_TILES_MAX_INS || args > EF_TILES_MAX_ARGS || buffers > EF_TILES_BUFFERS ||
        regs > EF_TILES_MAX_REGS)
        return false;
    g->args = args;
    g->buffers = buffers;
    g->regs = regs;
    return true;
}

static bool may_join(fuser *f, group *g, const ef_node *n) {
    if (has_room(f, g, n)) return true;
    group with;
    if (!unite(f, -1, g->into, n->id, &with) || !fits(f, &with)) {
        f->counts.refused++;
        return false;
    }
    g->args = with.args;
    g->buffers = with.buffers;
    g->regs = with.regs;
    return true;
}

/* Whether node n reads the result of a reduction of group g: it must run after all of g. */
static bool reads_tail(const fuser *f, int32_t g, const ef_node *n) {
    for (int k = 0; k < n->n_in; k++)
        for (int t = 0; t < f->at[g].n_tails; t++)
            if (n->in[k].node == f->at[g].tail[t]) return true;
    return false;
}

/* Joins node n to the groups of its inputs; returns its group, or -1 if it fits none. If two groups
 * cannot be merged, it joins the smaller, which might have a single op otherwise. */
static int32_t join(fuser *f, const ef_node *n) {
    const ef_shape *shape = &f->p->value[f->p->base[n->id]].fact.shape;
    int32_t mine = -1;
    bool merged = false;
    for (int k = 0; k < operands(n); k++) {
        group both;
        int32_t g = final(f, f->p->value[ef_value_at(f->p, n->in[k])].group);
        if (g < 0 || g == mine || f->at[g].closed || !ef_shape_equal(&f->at[g].shape, shape) ||
            reads_tail(f, g, n))
            continue;
        if (mine >= 0 && unite(f, mine, g, n->id, &both) && fits(f, &both)) {
            both.into = mine;
            both.n--; /* n itself is still to come */
            f->at[mine] = both;
            f->at[g].n = f->at[g].n_tails = 0;
            f->at[g].into = mine;
            merged = true;
        } else if ((mine < 0 || (!merged && f->at[g].n < f->at[mine].n)) &&
                   may_join(f, &f->at[g], n)) {
            mine = g;
        }
    }
    return mine;
}

static int32_t new_group(fuser *f, const ef_node *n, const ef_shape *shape) {
    group *g = &f->at[f->n];
    g->shape = *shape;
    g->count = ef_shape_count(&g->shape);
    g->into = f->n;
    g->args = operands(n) + 1;
    g->buffers = operands(n);
    return f->n++;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* The axes of a reduction, if they are known. */
static bool known_axes(const ef_planner *p, const ef_node *n, int rank, uint32_t *mask) {
    *mask = (1u << rank) - 1;
    if (n->n_in == 1) return true;
    const ef_tensor *axes = p->value[ef_value_at(p, n->in[1])].fact.value;
    if (axes == NULL || axes->data == NULL) return false;
    ef_status *s = ef_reduce_mask(n->op, axes, rank, mask);
    ef_status_free(s); /* the op reports it when it runs */
    return s == NULL;
}

/* Whether a group of this shape, with the reductions that t has, can end with reduction n too. */
static bool reduces(const ef_planner *p, const ef_node *n, ef_tiles *t, bool alone,
                    uint32_t *axes) {
    ef_dtype d = p->value[ef_value_at(p, n->in[0])].fact.dtype;
    return known_axes(p, n, t->shape.rank, axes) &&
           ef_tiles_reduce(t, (ef_reduce_kind)n->op->reduction, d, *axes, alone);
}

/* Makes reduction n the end of its input's group, if that is open; returns the group, or -1. The
 * group stays open for more reductions if each row is reduced by one thread. */
static int32_t end_with(fuser *f, const ef_node *n) {
    const ef_planner *p = f->p;
    int32_t at = final(f, p->value[ef_value_at(p, n->in[0])].group);
    if (at < 0 || f->at[at].closed || f->at[at].n == 0) return -1;
    group *g = &f->at[at];
    ef_tiles trial = {.shape = g->shape};
    uint32_t axes;
    bool ok = true;
    for (int k = 0; k < g->n_tails; k++)
        ok = ok && reduces(p, p->g->node[g->tail[k]], &trial, false, &axes);
    if (!ok || !reduces(p, n, &trial, false, &axes)) return -1;
    g->tail[g->n_tails++] = n->id;
    if (!fits(f, g)) {
        f->counts.refused++;
        g->n_tails--;
        return -1;
    }
    g->cols = trial.tail.cols;
    g->closed = trial.tail.outer || trial.tail.parts > 1;
    return at;
}

/* A group of nothing but reduction n, for row chains; returns it, or -1. */
static int32_t alone_with(fuser *f, const ef_node *n) {
    const ef_planner *p = f->p;
    const ef_fact *in = &p->value[ef_value_at(p, n->in[0])].fact;
    ef_tiles trial = {.shape = in->shape};
    uint32_t axes;
    if (!f->chains || !fits_tiles(in) || ef_shape_count(&in->shape) < EF_ROW_CHAIN_LEAST ||
        !reduces(p, n, &trial, true, &axes))
        return -1;
    int32_t g = new_group(f, n, &in->shape);
    f->at[g].tail[f->at[g].n_tails++] = n->id;
    f->at[g].closed = true;
    return g;
}

static void visit(fuser *f, const ef_node *n) {
    bool is_reduction = (n->op->traits & EF_REDUCES) && n->n_out == 1;
    int32_t mine = is_reduction ? end_with(f, n) : -1;
    if (mine >= 0) { /* its axes are a constant, so no other group is read */
        f->p->value[f->p->base[n->id]].group = mine;
        return;
    }
    if (is_reduction && (mine = alone_with(f, n)) >= 0) {
        int32_t g = final(f, f->p->value[ef_value_at(f->p, n->in[0])].group);
        if (g >= 0) f->at[g].closed = true;
        f->p->value[f->p->base[n->id]].group = mine;
        return;
    }
    if (eligible(f, n)) {
        mine = join(f, n);
        if (mine < 0) mine = new_group(f, n, &f->p->value[f->p->base[n->id]].fact.shape);
    }
    for (int k = 0; k < n->n_in; k++) {
        int32_t g = final(f, f->p->value[ef_value_at(f->p, n->in[k])].group);
        if (g >= 0 && g != mine) f->at[g].closed = true;
    }
    if (mine < 0) return;
    f->at[mine].member[f->at[mine].n++] = n->id;
    f->p->value[f->p->base[n->id]].group = mine;
}

/* ---- from a group to a tile program
 * ---------------------------------------------------------------- */

/* The reductions at the end read the results of the last instructions. */
static bool emit_tails(builder *b, const group *g) {
    const ef_planner *p = b->f->p;
    for (int k = 0; k < g->n_tails; k++) {
        const ef_node *n = p->g->node[g->tail[k]];
        uint32_t axes;
        if (!reduces(p, n, b->t, g->n == 0, &axes)) return false;
        b->t->tail.of[k].operand = (uint8_t)b->f->operand_of[ef_value_at(p, n->in[0])];
        b->t->tail.of[k].node = n->id;
    }
    return true;
}

/* Notes the expression of the instruction, if operands and result have one dtype, apart from truth
 * values. */
static void note_expression(const ef_planner *p, const ef_node *n, ef_tile_ins *x) {
    ef_dtype d = p->value[p->base[n->id]].fact.dtype;
    if (d == EF_BOOL) x->truths = EF_JIT_TRUTH_OUT;
    for (int k = 0; k < operands(n); k++) {
        ef_dtype in = p->value[ef_value_at(p, n->in[k])].fact.dtype;
        if (in == EF_BOOL)
            x->truths |= (uint8_t)(1u << k);
        else if (d == EF_BOOL)
            d = in;
        else if (in != d)
            return;
    }
    x->dtype = (uint8_t)d;
    x->expr = n->op->expr;
}

static void emit(builder *b, const group *g) {
    const ef_planner *p = b->f->p;
    const int32_t *operand_of = b->f->operand_of;
    for (int32_t m = 0; m < g->n; m++) {
        const ef_node *n = p->g->node[g->member[m]];
        ef_tile_ins *x = &b->t->ins[b->t->n_ins++];
        *x = (ef_tile_ins){.fn = tile_of(p, n),
                           .attrs = n->fields,
                           .n_in = (uint8_t)operands(n),
                           .covers = 1,
                           .node = n->id};
        note_expression(p, n, x);
        for (int k = 0; k < operands(n); k++) {
            int32_t operand = operand_of[ef_value_at(p, n->in[k])];
            x->in[k] = (uint8_t)operand;
            if (operand < b->t->n_inputs && b->t->arg[operand].as_scalar)
                x->scalars |= (uint8_t)(1u << k);
        }
        x->out = (uint8_t)operand_of[p->base[n->id]];
    }
}

/* The node at whose place the group runs. */
static int32_t last_of(const group *g) {
    int32_t member = g->n > 0 ? g->member[g->n - 1] : -1;
    int32_t tail = g->n_tails > 0 ? g->tail[g->n_tails - 1] : -1;
    return member > tail ? member : tail;
}

static ef_status *make_tiles(fuser *f, const group *from) {
    ef_planner *p = f->p;
    ef_status *s = NULL;
    builder b = {.f = f};
    b.t = ef_plan_memory(p, sizeof *b.t, &s);
    b.arg = ef_notes_memory(p, EF_TILES_MAX_ARGS * sizeof *b.arg, &s);
    if (s != NULL) return s;
    b.t->ins = ef_plan_memory(p, (size_t)(from->n + 1) * sizeof *b.t->ins, &s);
    b.t->arg = ef_notes_memory(p, EF_TILES_MAX_ARGS * sizeof *b.t->arg, &s);
    if (s != NULL) return s;
    b.t->stretch = EF_TILE;
    b.t->cost_ns = 0.15 * from->n + 0.3;
    bool ok = find_operands(&b, from); /* as it did when the last member joined */
    if (ok) emit(&b, from);
    ok = ok && emit_tails(&b, from);
    forget_operands(&b, from);
    f->counts.dropped += !ok && !is_alone(from);
    if (!ok) return NULL;
    const ef_tile_arg *arg = b.t->arg;
    size_t n_args = (size_t)(b.t->n_inputs + b.t->n_outputs);
    b.t->arg = ef_plan_memory(p, n_args * sizeof *arg, &s);
    if (s != NULL) return s;
    memcpy(b.t->arg, arg, n_args * sizeof *arg);
    p->tiles[p->n_groups] = b.t;
    p->tile_values[p->n_groups] = b.arg;
    p->alone[p->n_groups] = is_alone(from);
    p->last_in_group[p->n_groups] = last_of(from);
    for (int32_t m = 0; m < from->n; m++) p->group[from->member[m]] = p->n_groups;
    for (int k = 0; k < from->n_tails; k++) p->group[from->tail[k]] = p->n_groups;
    p->n_groups++;
    return NULL;
}

const int32_t *ef_tiles_values(const ef_planner *p, int32_t g) { return p->tile_values[g]; }

static void count_reads(const fuser *f) {
    const ef_planner *p = f->p;
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        const ef_node *n = p->g->node[k];
        for (int i = 0; i < n->n_in && p->runs[k]; i++) f->reads[ef_value_at(p, n->in[i])]++;
    }
}

/* ---- counts ---------------------------------------------------------------------------------- */

static _Atomic int64_t all_groups, all_ops, all_refused, all_dropped;

ef_fuse_counts ef_fuse_counted(void) {
    return (ef_fuse_counts){atomic_load(&all_groups), atomic_load(&all_ops),
                            atomic_load(&all_refused), atomic_load(&all_dropped)};
}

static void count(const ef_fuse_counts *c) {
    atomic_fetch_add_explicit(&all_groups, c->groups, memory_order_relaxed);
    atomic_fetch_add_explicit(&all_ops, c->ops, memory_order_relaxed);
    atomic_fetch_add_explicit(&all_refused, c->refused, memory_order_relaxed);
    atomic_fetch_add_explicit(&all_dropped, c->dropped, memory_order_relaxed);
    if (ef_option_has("EF_LOG", "fuse"))
        fprintf(stderr,
                "fuse: %lld ops in %lld groups; %lld ops began a new group because the one before "
                "was full; %lld groups dropped\n",
                (long long)c->ops, (long long)c->groups, (long long)c->refused,
                (long long)c->dropped);
}

static void count_groups(fuser *f) {
    const ef_planner *p = f->p;
    for (int32_t g = 0; g < p->n_groups; g++) {
        if (p->group[p->last_in_group[g]] != g) continue; /* no chain has taken it */
        f->counts.groups++;
        f->counts.ops += p->tiles[g]->n_ins + p->tiles[g]->tail.n;
    }
}

/* Looks for reductions of many rows, for which row chains may pay. Ops on their results have one
 * element for each row, and are fused even if these are few. */
static void find_rows(fuser *f) {
    const ef_planner *p = f->p;
    if (p->at != NULL || ef_option_has("EF_PASSES", "-rows")) return;
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        const ef_node *n = p->g->node[k];
        if (!p->runs[k] || !(n->op->traits & EF_REDUCES) || n->n_out != 1) continue;
        const ef_fact *in = &p->value[ef_value_at(p, n->in[0])].fact;
        if (!fits_tiles(in) || ef_shape_count(&in->shape) < EF_ROW_CHAIN_LEAST) continue;
        ef_tiles t = {.shape = in->shape};
        uint32_t axes;
        if (!reduces(p, n, &t, true, &axes) || !ef_row_chain_takes(&t.tail)) continue;
        f->chains = true;
        if (t.tail.rows < f->least) f->least = t.tail.rows;
    }
}

ef_status *ef_plan_groups(ef_planner *p) {
    ef_status *s = NULL;
    if (ef_option_has("EF_PASSES", "-fuse") || ef_option_has("EF_PASSES", "-all")) return NULL;
    size_t n = p->g->n_nodes, nv = (size_t)p->n_values;
    fuser f = {.p = p, .least = LEAST};
    size_t candidates = 0;
    for (size_t k = 0; k < n; k++)
        candidates +=
            p->runs[k] && (p->g->node[k]->op->traits & (EF_ELEMENTWISE | EF_SPREADS | EF_REDUCES));
    if (candidates < 2) return NULL;
    f.at = ef_notes_memory(p, candidates * sizeof *f.at, &s);
    p->tiles = ef_notes_memory(p, candidates * sizeof *p->tiles, &s);
    p->tile_values = ef_notes_memory(p, candidates * sizeof *p->tile_values, &s);
    p->last_in_group = ef_notes_memory(p, candidates * sizeof *p->last_in_group, &s);
    p->alone = ef_notes_memory(p, candidates * sizeof *p->alone, &s);
    int32_t **by_value[] = {&f.reads, &f.operand_of, &f.last_read, &f.reads_inside, &f.mark};
    for (size_t k = 0; k < sizeof by_value / sizeof *by_value; k++)
        *by_value[k] = ef_notes_memory(p, nv * sizeof **by_value[k], &s);
    if (s != NULL) return s;
    memset(f.operand_of, 0xFF, nv * sizeof *f.operand_of);
    count_reads(&f);
    find_rows(&f);
    for (size_t k = 0; k < n; k++)
        if (p->runs[k]) visit(&f, p->g->node[k]);
    for (int32_t g = 0; g < f.n; g++) {
        int32_t size = f.at[g].n + f.at[g].n_tails;
        if (size >= 2 || (size == 1 && f.chains)) EF_TRY(make_tiles(&f, &f.at[g]));
    }
    if (f.chains) EF_TRY(ef_plan_row_chains(p));
    count_groups(&f);
    count(&f.counts);
    return NULL;
}
