/* Finding row chains. Groups are visited in the order they run. A group that reduces each row to an
 * element may begin a chain; a later one joins if it works on the same rows and reads a value that
 * the chain computes or reads. As with groups, a chain is closed as soon as a node outside it reads
 * one of its values: it runs at the place of its last group, so no dependency can run backwards. */
#include "plan/row_chain.h"
#include "base/option.h"
#include "plan/place.h"
#include "plan/row_walk.h"
#include <stdio.h>

enum {
    VALUES = 64,             /* of one chain */
    BLOCK_BYTES = 512 << 10, /* of a block: about half a second-level cache */
    LEAN_BYTES = 64 << 10,   /* of one whose programs need little time to begin: most of it stays in
                              * the first-level cache */
    BLOCK_ROWS = 64,
    PIECES = 256,       /* the rows are cut into at most so many; */
    SUM_PIECES = 16,    /* with accumulators of columns into so many, */
    SUM_PART = 1 << 14, /* or into more while the accumulators are at most this many */
    LEAST_ROWS = 8
};

typedef struct ef_row_plan {
    int32_t group[EF_ROW_CHAIN_PROGRAMS];
    int n, n_values;
    int64_t rows;
    bool closed;
} ef_row_plan;

typedef struct finder {
    ef_planner *p;
    int32_t *made_by; /* by value: the group that makes it, or -1 */
    int32_t *seen;    /* by value: the last chain it was counted for, plus 1 */
    bool *escapes;    /* by value: it is read outside its chain */
} finder;

bool ef_row_chain_takes(const ef_tile_tail *tail) {
    return !tail->outer && tail->parts == 1 && tail->rows >= LEAST_ROWS;
}

/* ---- finding --------------------------------------------------------------------------------- */

static int32_t chain_of_value(const finder *f, int32_t v) {
    return f->made_by[v] >= 0 ? f->p->chain_of[f->made_by[v]] : -1;
}

static bool makes_by_columns(const ef_tiles *t, int k) {
    return t->tail.n > 0 && t->tail.outer && k == t->n_inputs + t->n_outputs - 1;
}

/* Whether the group works row by row on the chain's rows, and all values of the chain that it reads
 * are in a block of rows. */
static bool fits_chain(const finder *f, int32_t c, int32_t g) {
    const ef_planner *p = f->p;
    const ef_row_plan *chain = &p->chain[c];
    const ef_tiles *t = p->tiles[g];
    const int32_t *arg = p->tile_values[g];
    if (chain->closed || chain->n == EF_ROW_CHAIN_PROGRAMS || t->count % chain->rows != 0)
        return false;
    if (t->tail.n > 0 && (t->tail.rows != chain->rows || (!t->tail.outer && t->tail.parts != 1)))
        return false;
    int values = chain->n_values;
    for (int k = 0; k < t->n_inputs + t->n_outputs; k++) {
        values += f->seen[arg[k]] != c + 1;
        if (k >= t->n_inputs || chain_of_value(f, arg[k]) != c) continue;
        const ef_tiles *from = p->tiles[f->made_by[arg[k]]];
        bool aligned = t->arg[k].spread == EF_SPREAD_FULL || t->arg[k].spread == EF_SPREAD_REPEAT;
        const int32_t *made = p->tile_values[f->made_by[arg[k]]];
        int last = from->n_inputs + from->n_outputs - 1;
        if (!aligned || (made[last] == arg[k] && makes_by_columns(from, last))) return false;
    }
    return values <= VALUES;
}

/* Whether the chain reads one of the group's full-sized inputs. A group that only reduces is always
 * let in: a later group may read its input, and nothing is lost otherwise. */
static bool shares(const ef_planner *p, int32_t c, int32_t g) {
    const ef_tiles *t = p->tiles[g];
    if (t->n_ins == 0) return true;
    for (int k = 0; k < t->n_inputs; k++) {
        if (t->arg[k].spread != EF_SPREAD_FULL) continue;
        for (int j = 0; j < p->chain[c].n; j++) {
            int32_t other = p->chain[c].group[j];
            for (int i = 0; i < p->tiles[other]->n_inputs; i++)
                if (p->tile_values[other][i] == p->tile_values[g][k]) return true;
        }
    }
    return false;
}

static int32_t find_chain(finder *f, int32_t g) {
    ef_planner *p = f->p;
    const ef_tiles *t = p->tiles[g];
    for (int k = 0; k < t->n_inputs; k++) {
        int32_t c = chain_of_value(f, p->tile_values[g][k]);
        if (c >= 0 && fits_chain(f, c, g)) return c;
    }
    for (int32_t c = p->n_chains - 1; c >= 0 && c >= p->n_chains - 4; c--)
        if (fits_chain(f, c, g) && shares(p, c, g)) return c;
    if (t->tail.n == 0 || !ef_row_chain_takes(&t->tail) || t->count < EF_ROW_CHAIN_LEAST) return -1;
    p->chain[p->n_chains] = (ef_row_plan){.rows = t->tail.rows};
    return p->n_chains++;
}

/* Notes that a group or node outside of the value's chain reads it; c: the reader's chain. */
static void note_read(finder *f, int32_t c, int32_t v) {
    int32_t from = chain_of_value(f, v);
    if (from < 0 || from == c) return;
    f->escapes[v] = true;
    f->p->chain[from].closed = true;
}

static void visit_group(finder *f, int32_t g) {
    ef_planner *p = f->p;
    const ef_tiles *t = p->tiles[g];
    int32_t c = find_chain(f, g);
    for (int k = 0; k < t->n_inputs; k++) note_read(f, c, p->tile_values[g][k]);
    if (c < 0) return;
    ef_row_plan *chain = &p->chain[c];
    chain->group[chain->n++] = g;
    p->chain_of[g] = c;
    for (int k = 0; k < t->n_inputs + t->n_outputs; k++) {
        int32_t *seen = &f->seen[p->tile_values[g][k]];
        chain->n_values += *seen != c + 1;
        *seen = c + 1;
    }
}

/* Whether the chain saves time: at least two of its programs iterate over all elements. */
static bool pays(const ef_planner *p, const ef_row_plan *chain) {
    int64_t most = 0;
    int n = 0;
    for (int k = 0; k < chain->n; k++) {
        int64_t count = p->tiles[chain->group[k]]->count;
        n = count > most ? 1 : n + (count == most);
        most = count > most ? count : most;
    }
    return n >= 2;
}

/* ---- what a chain reads and computes --------------------------------------------------------- */

typedef struct chain_values {
    int32_t in[VALUES], out[VALUES], inside[VALUES];
    int n_in, n_out, n_inside;
} chain_values;

static int place_in(const int32_t *list, int n, int32_t v) {
    for (int k = 0; k < n; k++)
        if (list[k] == v) return k;
    return -1;
}

static void add_once(int32_t *list, int *n, int32_t v) {
    if (place_in(list, *n, v) < 0) list[(*n)++] = v;
}

static void sort_values(const ef_planner *p, const ef_row_plan *chain, chain_values *to) {
    to->n_in = to->n_out = to->n_inside = 0;
    for (int j = 0; j < chain->n; j++) {
        const ef_tiles *t = p->tiles[chain->group[j]];
        const int32_t *arg = p->tile_values[chain->group[j]];
        for (int k = 0; k < t->n_inputs; k++)
            if (place_in(to->out, to->n_out, arg[k]) < 0 &&
                place_in(to->inside, to->n_inside, arg[k]) < 0)
                add_once(to->in, &to->n_in, arg[k]);
        for (int k = t->n_inputs; k < t->n_inputs + t->n_outputs; k++) {
            const ef_pvalue *v = &p->value[arg[k]];
            bool outside = v->output || v->stored || p->escapes[arg[k]];
            if (outside || makes_by_columns(t, k))
                add_once(to->out, &to->n_out, arg[k]);
            else
                add_once(to->inside, &to->n_inside, arg[k]);
        }
    }
}

ef_status *ef_plan_row_chains(ef_planner *p) {
    ef_status *s = NULL;
    size_t n = (size_t)p->n_groups + 1, values = (size_t)p->n_values + 1;
    finder f = {.p = p};
    chain_values *all = ef_notes_memory(p, sizeof *all, &s);
    p->chain = ef_notes_memory(p, n * sizeof *p->chain, &s);
    p->chain_of = ef_notes_memory(p, n * sizeof *p->chain_of, &s);
    f.made_by = ef_notes_memory(p, values * sizeof *f.made_by, &s);
    f.seen = ef_notes_memory(p, values * sizeof *f.seen, &s);
    f.escapes = p->escapes = ef_notes_memory(p, values * sizeof *f.escapes, &s);
    if (s != NULL) return s;
    memset(f.made_by, 0xFF, values * sizeof *f.made_by);
    memset(p->chain_of, 0xFF, n * sizeof *p->chain_of);
    for (int32_t g = 0; g < p->n_groups; g++)
        for (int k = 0; k < p->tiles[g]->n_outputs; k++)
            f.made_by[p->tile_values[g][p->tiles[g]->n_inputs + k]] = g;
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        int32_t g = p->group[k];
        const ef_node *node = p->g->node[k];
        if (!p->runs[k] || (g >= 0 && p->last_in_group[g] != (int32_t)k)) continue;
        for (int i = 0; g < 0 && i < node->n_in; i++)
            note_read(&f, -1, ef_value_at(p, node->in[i]));
        if (g >= 0) visit_group(&f, g);
    }
    for (int32_t c = 0; c < p->n_chains; c++) {
        ef_row_plan *chain = &p->chain[c];
        sort_values(p, chain, all);
        if (pays(p, chain) && all->n_in <= EF_ROW_CHAIN_ARGS && all->n_out <= EF_ROW_CHAIN_ARGS)
            continue;
        for (int j = 0; j < chain->n; j++) p->chain_of[chain->group[j]] = -1;
    }
    for (int32_t g = 0; g < p->n_groups; g++)
        if (p->alone[g] && p->chain_of[g] < 0) p->group[p->last_in_group[g]] = -1;
    return NULL;
}

bool ef_plan_runs_later(const ef_planner *p, int32_t group) {
    if (p->chain_of == NULL || p->chain_of[group] < 0) return false;
    const ef_row_plan *chain = &p->chain[p->chain_of[group]];
    return chain->group[chain->n - 1] != group;
}

/* ---- the step -------------------------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
static size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

static size_t row_bytes(const ef_planner *p, int32_t v, int64_t rows) {
    const ef_fact *fact = &p->value[v].fact;
    return (size_t)(ef_shape_count(&fact->shape) / rows) * ef_dtype_size(fact->dtype);
}

/* Blocks and pieces, from the shapes alone. */
static void cut_rows(const ef_planner *p, const chain_values *all, ef_row_chain *c) {
    size_t bytes = 0;
    int64_t pieces = PIECES, widest = 1;
    bool lean = true; /* no program is slow to begin, and none adds up by blocks */
    for (int k = 0; k < c->n; k++)
        if (c->program[k].cols > widest) widest = c->program[k].cols;
    for (int k = 0; k < all->n_in + all->n_out + all->n_inside; k++) {
        int32_t v = k < all->n_in                ? all->in[k]
                    : k < all->n_in + all->n_out ? all->out[k - all->n_in]
                                                 : all->inside[k - all->n_in - all->n_out];
        bytes += row_bytes(p, v, c->rows);
    }
    for (int k = 0; k < c->n; k++) {
        const ef_tile_tail *tail = &c->program[k].tiles->tail;
        lean = lean && c->program[k].way != EF_ROWS_TILED;
        if (tail->n == 0 || !tail->outer) continue;
        lean = lean && c->program[k].way == EF_ROWS_SUMMED;
        pieces = most(SUM_PIECES, least(BLOCK_ROWS, SUM_PART / widest));
        c->program[k].acc_row = c->acc_bytes;
        c->acc_bytes += aligned((size_t)tail->cols * tail->of[0].reducer->acc_size);
    }
    bytes = (size_t)most(1, (int64_t)bytes);
    c->block = most(1, least(BLOCK_BYTES / (int64_t)bytes, BLOCK_ROWS));
    c->block = least(c->block, parts_of(c->rows, SUM_PIECES));
    c->piece = parts_of(parts_of(c->rows, pieces), c->block) * c->block;
    c->pieces = parts_of(c->rows, c->piece);
    if (lean) c->block = least(c->block, most(1, LEAN_BYTES / (int64_t)bytes));
    for (int k = 0; k < c->n_inside; k++) {
        /* element i of all values must not fall into one set of the cache */
        c->offset[k] = c->block_bytes + (size_t)(7 * k % 61 + 1) * 64;
        size_t own = (size_t)c->block * c->row_bytes[k] + c->own_bytes[k];
        c->block_bytes = c->offset[k] + aligned(own);
    }
}

static ef_status *fill_program(ef_planner *p, const chain_values *all, int32_t group,
                               ef_row_chain *c) {
    ef_status *s = NULL;
    ef_row_program *to = &c->program[c->n++];
    ef_tiles *t = p->tiles[group];
    int n = t->n_inputs + t->n_outputs;
    *to = (ef_row_program){.tiles = t, .cols = t->count / c->rows};
    to->at = ef_plan_memory(p, (size_t)n, &s);
    if (s != NULL) return s;
    for (int k = 0; k < n; k++) {
        int32_t v = p->tile_values[group][k];
        int in = place_in(all->in, all->n_in, v), out = place_in(all->out, all->n_out, v);
        int inside = place_in(all->inside, all->n_inside, v);
        to->at[k] = (uint8_t)(in >= 0    ? in
                              : out >= 0 ? all->n_in + out
                                         : all->n_in + all->n_out + inside);
    }
    return NULL;
}

static void compile_program(ef_row_program *r, ef_row_chain *c) {
    ef_tiles_compile(r->tiles);
    if (r->way == EF_ROWS_SUMMED) return;
    r->way = ef_row_way_of(r->tiles, r->cols);
    c->cost_ns += r->tiles->cost_ns * (double)r->cols;
}

static ef_status *make_chain(ef_planner *p, const ef_row_plan *from, const chain_values *all,
                             ef_row_chain **out) {
    ef_status *s = NULL;
    ef_row_chain *c = ef_plan_memory(p, sizeof *c, &s);
    if (s != NULL) return s;
    c->program = ef_plan_memory(p, (size_t)from->n * sizeof *c->program, &s);
    size_t inside = (size_t)(all->n_inside + from->n); /* partial sums among them */
    c->row_bytes = ef_plan_memory(p, inside * sizeof *c->row_bytes, &s);
    c->own_bytes = ef_plan_memory(p, inside * sizeof *c->own_bytes, &s);
    c->offset = ef_plan_memory(p, inside * sizeof *c->offset, &s);
    if (s != NULL) return s;
    c->rows = from->rows;
    c->n_inside = all->n_inside;
    *out = c; /* to be released from here on */
    for (int k = 0; k < all->n_inside; k++) c->row_bytes[k] = row_bytes(p, all->inside[k], c->rows);
    for (int k = 0; k < from->n; k++) EF_TRY(fill_program(p, all, from->group[k], c));
    EF_TRY(ef_row_sums_fold(p, from->group, all->n_in + all->n_out, c));
    for (int k = 0; k < c->n; k++) compile_program(&c->program[k], c);
    cut_rows(p, all, c);
    if (ef_option_has("EF_LOG", "fuse"))
        fprintf(stderr,
                "fuse: %d programs over %lld rows together, in blocks of %lld; %d values "
                "stay in a block\n",
                c->n, (long long)c->rows, (long long)c->block, c->n_inside);
    return NULL;
}

ef_status *ef_plan_row_chain_step(ef_planner *p, int32_t group, int32_t node) {
    const ef_row_plan *from = &p->chain[p->chain_of[group]];
    ef_status *s = NULL;
    chain_values *all = ef_notes_memory(p, sizeof *all, &s);
    if (s != NULL) return s;
    sort_values(p, from, all);
    ef_row_chain *c = NULL;
    ef_plan_step *t;
    EF_TRY(ef_plan_start_step(p, p->g->node[node]->op, NULL, all->n_in, all->n_out, node, &t));
    s = make_chain(p, from, all, &c);
    if (s != NULL) {
        if (c != NULL) ef_row_chain_release(c);
        return s;
    }
    for (int k = 0; k < all->n_in; k++) t->in[k] = ef_plan_read_slot(p, all->in[k]);
    for (int k = 0; k < all->n_out; k++) t->out[k] = ef_plan_define(p, t, all->out[k]);
    for (int k = 0; k < all->n_in; k++) ef_plan_use(p, all->in[k]);
    t->run = ef_run_row_chain;
    t->state = c;
    t->release = ef_row_chain_release;
    t->scratch_bytes = ef_row_chain_scratch(c);
    p->plan->n_steps++;
    return NULL;
}
