/* Finding steps that can be joined, and running them. The typical case is a recurrent cell: a
 * product of a few rows with the weights, sums, a split into gates, and the gates' functions. Each
 * step takes some microseconds, which is as long as synchronising two threads takes.
 *
 * The number of shares depends on the sizes only, so that the result does not depend on the number
 * of threads. */
#include "plan/row_shares.h"
#include "base/option.h"
#include "base/pool.h"
#include "kernels/gemm.h"
#include "ops/searched_ops.h"

/* The rows of a share are a multiple of UNIT, the rows in a block of a product's kernel. */
enum { UNIT = 8, LEAST_ROWS = 16, SHARES = 8 };
enum { OPERANDS = 8 }; /* a kernel with more operands is not joined */
/* Multiply-adds of a product: fewer are not worth a second thread; with more, the product keeps all
 * threads busy by itself, and cut by rows every thread would have to read all of the weights. */
static const double least_work = 4e5, most_work = 8e6, worth_waking = 2e6;

typedef enum member_kind { NO_MEMBER, TILES, TILE, PRODUCT, SPLIT, JOIN, KERNEL } member_kind;

typedef struct member {
    member_kind kind;
    bool turned;      /* PRODUCT: of the transposed right-hand side */
    uint32_t by_rows; /* KERNEL: inputs of which it gets only the rows of a share */
    uint32_t whole;   /* inputs of which it may read other rows too */
    const ef_op *op;
    ef_kernel_fn *run;
    int32_t n_in, n_out;
    int32_t first_in, first_out; /* among those of the joined step */
    void *state;
    ef_release_fn *release;
    const void *fields;
} member;

typedef struct shares {
    int32_t n_members, n_shares;
    int64_t rows, each; /* all rows, and those of a share */
    double work;        /* of its products */
    member member[];
} shares;

/* ---- running --------------------------------------------------------------------------------- */

typedef struct span { /* rows of a share */
    int64_t rows, from, to;
} span;

static size_t row_bytes(const ef_tensor *t) {
    size_t bytes = ef_dtype_size((ef_dtype)t->dtype);
    for (int d = 1; d < t->rank; d++) bytes *= (size_t)t->dim[d];
    return bytes;
}

static char *row_at(const ef_tensor *t, const span *s) {
    return (char *)t->data + (size_t)s->from * row_bytes(t);
}

static void multiply(const ef_call *c, const member *m, const span *s) {
    const ef_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    ef_gemm_args g =
        ef_gemm_dense(EF_F32, EF_GEMM_N, m->turned ? EF_GEMM_T : EF_GEMM_N, s->to - s->from,
                      y->dim[1], a->dim[1], row_at(a, s), b->data, row_at(y, s));
    ef_gemm(&g);
}

/* Copies parts of every row from or to the whole row. */
static void copy_parts(const ef_tensor *whole, ef_tensor *const *part, int n, bool to_whole,
                       const span *s) {
    char *at = row_at(whole, s);
    const size_t step = row_bytes(whole);
    for (int k = 0; k < n; k++) {
        const size_t bytes = row_bytes(part[k]);
        char *one = row_at(part[k], s), *all = at;
        for (int64_t r = s->from; r < s->to; r++, one += bytes, all += step)
            memcpy(to_whole ? all : one, to_whole ? one : all, bytes);
        at += bytes;
    }
}

/* Runs a kernel that works for any number of rows. Its shapes were checked, so it does not fail. */
static void run_kernel(ef_call *c, const member *m, const span *s) {
    ef_tensor rows[OPERANDS], *ptr[OPERANDS];
    for (int k = 0; k < m->n_in + 1; k++) {
        ef_tensor *whole = k < m->n_in ? c->in[k] : c->out[0];
        ptr[k] = whole;
        if (k < m->n_in && !(m->by_rows >> k & 1)) continue;
        rows[k] = *whole;
        rows[k].data = row_at(whole, s);
        rows[k].dim[0] = s->to - s->from;
        ptr[k] = &rows[k];
    }
    c->in = ptr;
    c->out = ptr + m->n_in;
    ef_status_free(m->run(c));
}

static void run_member(const ef_call *joined, const member *m, const span *s) {
    ef_call c = {.context = joined->context,
                 .op = m->op,
                 .attrs = m->fields,
                 .n_in = m->n_in,
                 .n_out = m->n_out,
                 .in = joined->in + m->first_in,
                 .out = joined->out + m->first_out,
                 .state = m->state};
    int64_t width = ef_count(c.out[0]) / s->rows;
    switch (m->kind) {
    case TILES: ef_tiles_range(&c, s->from * width, s->to * width); break;
    case TILE: ef_plan_tile_range(&c, s->from * width, s->to * width); break;
    case PRODUCT: multiply(&c, m, s); break;
    case SPLIT: copy_parts(c.in[1], c.out, c.n_out, false, s); break;
    case JOIN: copy_parts(c.out[0], c.in, c.n_in - 1, true, s); break;
    case KERNEL: run_kernel(&c, m, s); break;
    case NO_MEMBER: break;
    }
}

void ef_shares_run_one(const ef_call *c, int64_t k) {
    const shares *all = c->state;
    span s = {all->rows, k * all->each, (k + 1) * all->each};
    if (s.to > s.rows) s.to = s.rows;
    for (int32_t j = 0; j < all->n_members; j++) run_member(c, &all->member[j], &s);
}

static void run_range(void *arg, int64_t from, int64_t to) {
    for (int64_t k = from; k < to; k++) ef_shares_run_one(arg, k);
}

ef_shares_cut ef_shares_cut_of(const ef_plan_step *t) {
    const shares *s = t->state;
    return (ef_shares_cut){s->n_shares, s->rows, s->each, s->work};
}

bool ef_shares_by_rows(const ef_plan_step *t, int k) {
    const shares *s = t->state;
    for (int32_t j = 0; j < s->n_members; j++) {
        int at = k - s->member[j].first_in;
        if (at >= 0 && at < s->member[j].n_in) return at < 32 && !(s->member[j].whole >> at & 1);
    }
    return false;
}

ef_status *ef_run_shares(const ef_call *c) {
    const shares *s = c->state;
    if (s->work < worth_waking)
        ef_parallel_brief(s->n_shares, run_range, (void *)(uintptr_t)c);
    else
        ef_parallel_each(s->n_shares, 0, run_range, (void *)(uintptr_t)c);
    return NULL;
}

/* ---- finding --------------------------------------------------------------------------------- */

typedef struct finder {
    ef_planner *p;
    int32_t *value_of; /* by slot */
    uint8_t *made;     /* by slot: a member that was found writes it */
    int64_t rows;
    double work; /* of the products found; negative: one of them is too large */
} finder;

static const ef_slot *slot_of(const finder *f, int32_t k) { return &f->p->plan->slot[k]; }

/* The slot has rows one after the other. */
static bool has_rows(const finder *f, int32_t k) {
    const ef_slot *s = slot_of(f, k);
    return s->fixed && s->shape.rank >= 1 && s->shape.dim[0] == f->rows && s->bytes > 0 &&
           ef_dtype_in(s->dtype, EF_PLAIN) && s->kind != EF_SLOT_CONST;
}

/* Whether a member writes these bytes, perhaps under another shape. */
static bool is_made(const finder *f, int32_t k) {
    int32_t v = f->value_of[k];
    while (f->p->value[v].root != v) v = f->p->value[v].root;
    int32_t root = f->p->value[v].slot;
    return f->made[k] || (root >= 0 && f->made[root]);
}

static int64_t count_of(const finder *f, int32_t k) {
    return ef_shape_count(&slot_of(f, k)->shape);
}

/* Inputs from members must be read row by row; `whole` says which are read in another way. */
static bool reads_by_rows(const finder *f, const ef_plan_step *t, uint32_t whole) {
    for (int k = 0; k < t->n_in; k++)
        if (is_made(f, t->in[k]) && (k >= 32 || (whole >> k & 1) || !has_rows(f, t->in[k])))
            return false;
    return true;
}

static uint32_t spread_inputs(const finder *f, const ef_plan_step *t) {
    uint32_t whole = 0;
    for (int k = 0; k < t->n_in && k < 32; k++)
        if (count_of(f, t->in[k]) != count_of(f, t->out[0])) whole |= 1u << k;
    return whole;
}

static bool is_last_axis(const finder *f, int32_t axis, int rank) {
    const ef_slot *s = slot_of(f, axis);
    if (s->kind != EF_SLOT_CONST || ef_count(s->value) != 1) return false;
    int64_t at = ef_element_int((ef_dtype)s->value->dtype, s->value->data, 0);
    return rank >= 2 && (at == rank - 1 || at == -1);
}

static bool flag(const ef_plan_step *t, const char *attr) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(t->op, t->fields, attr, &v);
    ef_status_free(s);
    return s != NULL || v.as.b;
}

static member_kind product_kind(finder *f, const ef_plan_step *t) {
    const ef_slot *a = slot_of(f, t->in[0]), *y = slot_of(f, t->out[0]);
    if (y->dtype != EF_F32 || flag(t, "transpose_a") || !has_rows(f, t->in[0]) ||
        !reads_by_rows(f, t, 2))
        return NO_MEMBER;
    double work = (double)f->rows * (double)a->shape.dim[1] * (double)y->shape.dim[1];
    if (work > most_work) return NO_MEMBER;
    f->work += work;
    return PRODUCT;
}

/* Inputs that have the rows of the result; a vector of the same length is not one. */
static uint32_t inputs_by_rows(const finder *f, const ef_plan_step *t) {
    uint32_t by_rows = 0;
    for (int k = 0; k < t->n_in && k < 32; k++)
        if (k != 1 && has_rows(f, t->in[k]) && slot_of(f, t->in[k])->shape.rank == 2)
            by_rows |= 1u << k;
    return by_rows;
}

/* A product with an epilogue. */
static member_kind fused_product_kind(finder *f, const ef_plan_step *t) {
    if (t->n_in >= OPERANDS || t->scratch_bytes > 0 ||
        !reads_by_rows(f, t, ~inputs_by_rows(f, t)) || product_kind(f, t) == NO_MEMBER)
        return NO_MEMBER;
    return KERNEL;
}

static int64_t number(const ef_plan_step *t, const char *attr) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(t->op, t->fields, attr, &v);
    ef_status_free(s);
    return s != NULL ? -1 : v.as.i;
}

/* x[:, ...] of a matrix: all rows, one after the other. */
static bool takes_all_rows(const finder *f, const ef_plan_step *t) {
    for (int k = 1; k < t->n_in; k++)
        if (slot_of(f, t->in[k])->kind != EF_SLOT_CONST) return false;
    const ef_slot *stride = slot_of(f, t->in[t->n_in - 1]);
    return t->n_in == 4 && has_rows(f, t->in[0]) && slot_of(f, t->in[0])->shape.rank == 2 &&
           (number(t, "begin_mask") & 1) && (number(t, "end_mask") & 1) &&
           number(t, "ellipsis_mask") == 0 && number(t, "new_axis_mask") == 0 &&
           number(t, "shrink_axis_mask") == 0 && ef_count(stride->value) >= 1 &&
           ef_element_int((ef_dtype)stride->value->dtype, stride->value->data, 0) == 1;
}

static member_kind kind_of(finder *f, const ef_plan_step *t) {
    if (t->kind != NULL || t->n_out == 0 || t->n_in == 0) return NO_MEMBER;
    for (int k = 0; k < t->n_out; k++)
        if (!has_rows(f, t->out[k])) return NO_MEMBER;
    for (int k = 0; k < t->n_in; k++)
        if (!slot_of(f, t->in[k])->fixed) return NO_MEMBER;
    if (t->run == ef_run_tiles) {
        const ef_tiles *tiles = t->state;
        for (int k = 0; k < t->n_out; k++)
            if (count_of(f, t->out[k]) != tiles->count) return NO_MEMBER;
        return tiles->tail.n == 0 && reads_by_rows(f, t, spread_inputs(f, t)) ? TILES : NO_MEMBER;
    }
    if (ef_plan_is_tile(t)) return reads_by_rows(f, t, spread_inputs(f, t)) ? TILE : NO_MEMBER;
    if (t->op->role == EF_ROLE_PRODUCT && t->state == NULL) return product_kind(f, t);
    if (t->op == ef_fused_product_op && t->state == NULL) return fused_product_kind(f, t);
    if (t->op->shape_value == EF_SHAPE_VALUE_SLICED && t->state == NULL)
        return t->scratch_bytes == 0 && takes_all_rows(f, t) && reads_by_rows(f, t, ~1u)
                   ? KERNEL
                   : NO_MEMBER;
    if (t->op == ef_split_op && has_rows(f, t->in[1]) && reads_by_rows(f, t, 1) &&
        is_last_axis(f, t->in[0], slot_of(f, t->in[1])->shape.rank))
        return slot_of(f, t->in[1])->shape.rank == 2 ? SPLIT : NO_MEMBER;
    if (t->op != ef_join_op || slot_of(f, t->out[0])->shape.rank != 2) return NO_MEMBER;
    for (int k = 0; k < t->n_in - 1; k++)
        if (!has_rows(f, t->in[k])) return NO_MEMBER;
    return is_last_axis(f, t->in[t->n_in - 1], 2) && reads_by_rows(f, t, 0) ? JOIN : NO_MEMBER;
}

/* The steps from `from` on that can be joined: where they end. */
static int32_t find_end(finder *f, int32_t from) {
    const ef_plan *plan = f->p->plan;
    const ef_plan_step *t = &plan->step[from];
    int32_t end = from;
    if (t->n_out == 0 || slot_of(f, t->out[0])->shape.rank < 1) return from + 1;
    f->rows = slot_of(f, t->out[0])->shape.dim[0];
    f->work = 0;
    if (f->rows < LEAST_ROWS) return from + 1;
    for (; end < plan->n_steps && kind_of(f, &plan->step[end]) != NO_MEMBER; end++)
        for (int k = 0; k < plan->step[end].n_out; k++) f->made[plan->step[end].out[k]] = 1;
    for (int32_t j = from; j < end; j++)
        for (int k = 0; k < plan->step[j].n_out; k++) f->made[plan->step[j].out[k]] = 0;
    return f->work >= least_work && end - from > 1 ? end : from + 1;
}

/* ---- joining --------------------------------------------------------------------------------- */

static void release(void *state) {
    const shares *s = state;
    for (int32_t k = 0; k < s->n_members; k++)
        if (s->member[k].release != NULL) s->member[k].release(s->member[k].state);
}

/* Inputs of which a member may read more than the rows of its share. */
static uint32_t whole_inputs(const finder *f, const ef_plan_step *t, member_kind kind) {
    uint32_t whole = 0;
    switch (kind) {
    case TILES:
    case TILE: whole = spread_inputs(f, t); break;
    case PRODUCT: whole = 2; break;
    case SPLIT: whole = 1; break;
    case JOIN: whole = 1u << (t->n_in - 1 < 32 ? t->n_in - 1 : 31); break;
    case KERNEL: whole = ~inputs_by_rows(f, t); break;
    case NO_MEMBER: break;
    }
    for (int k = 0; k < t->n_in && k < 32; k++)
        if (!has_rows(f, t->in[k])) whole |= 1u << k;
    return whole;
}

static void choose_shares(const finder *f, shares *s) {
    int64_t most = f->rows / LEAST_ROWS;
    if (most > SHARES) most = SHARES;
    if (most < 2) most = 2;
    s->rows = f->rows;
    s->work = f->work;
    s->each = ((f->rows + most - 1) / most + UNIT - 1) / UNIT * UNIT;
    s->n_shares = (int32_t)((f->rows + s->each - 1) / s->each);
}

static ef_status *join(finder *f, int32_t from, int32_t end, ef_plan_step *out) {
    const ef_plan_step *step = f->p->plan->step;
    ef_status *bad = NULL;
    ef_plan_step t = {.run = ef_run_shares, .node = -1, .release = release};
    for (int32_t k = from; k < end; k++) {
        t.n_in += step[k].n_in;
        t.n_out += step[k].n_out;
    }
    shares *s = ef_plan_memory(f->p, sizeof *s + (size_t)(end - from) * sizeof *s->member, &bad);
    t.in = ef_plan_memory(f->p, (size_t)(t.n_in + 2 * t.n_out) * sizeof *t.in, &bad);
    if (bad != NULL) return bad;
    t.out = t.in + t.n_in;
    t.alloc = t.out + t.n_out;
    t.n_in = t.n_out = 0;
    choose_shares(f, s);
    for (int32_t k = from; k < end; k++) {
        const ef_plan_step *x = &step[k];
        member_kind kind = kind_of(f, x);
        s->member[s->n_members++] = (member){.kind = kind,
                                             .turned = kind == PRODUCT && flag(x, "transpose_b"),
                                             .by_rows = inputs_by_rows(f, x),
                                             .whole = whole_inputs(f, x, kind),
                                             .op = x->op,
                                             .run = x->run,
                                             .n_in = x->n_in,
                                             .n_out = x->n_out,
                                             .first_in = t.n_in,
                                             .first_out = t.n_out,
                                             .state = x->state,
                                             .release = x->release,
                                             .fields = x->fields};
        memcpy(t.in + t.n_in, x->in, (size_t)x->n_in * sizeof *t.in);
        memcpy(t.out + t.n_out, x->out, (size_t)x->n_out * sizeof *t.out);
        memcpy(t.alloc + t.n_alloc, x->alloc, (size_t)x->n_alloc * sizeof *t.alloc);
        t.n_in += x->n_in, t.n_out += x->n_out, t.n_alloc += x->n_alloc;
        if (x->op->traits & EF_HEAVY) t.op = x->op, t.node = x->node;
    }
    t.state = s;
    *out = t;
    return NULL;
}

/* Steps have moved: the lifetimes of values are given in the new numbers of steps. */
static void renumber(ef_planner *p, const int32_t *new_at, int32_t n) {
    for (int32_t v = 0; v < p->n_values; v++) {
        ef_pvalue *x = &p->value[v];
        if (x->first >= 0 && x->first < n) x->first = new_at[x->first];
        if (x->last >= 0 && x->last < n) x->last = new_at[x->last];
    }
}

ef_status *ef_plan_shares(ef_planner *p) {
    ef_status *s = NULL;
    ef_plan *plan = p->plan;
    int32_t n = plan->n_steps, to = 0;
    if (!p->options->outputs_given || p->at != NULL || ef_option_has("EF_PASSES", "-shares") ||
        ef_option_has("EF_PASSES", "-all"))
        return NULL;
    finder f = {.p = p};
    f.value_of = ef_notes_memory(p, ((size_t)plan->n_slots + 1) * sizeof *f.value_of, &s);
    f.made = ef_notes_memory(p, (size_t)plan->n_slots + 1, &s);
    int32_t *new_at = ef_notes_memory(p, ((size_t)n + 1) * sizeof *new_at, &s);
    if (s != NULL) return s;
    for (int32_t v = 0; v < p->n_values; v++)
        if (p->value[v].slot >= 0) f.value_of[p->value[v].slot] = v;
    for (int32_t k = 0, end; k < n; k = end, to++) {
        end = find_end(&f, k);
        ef_plan_step t = plan->step[k];
        if (end - k > 1 && s == NULL) s = join(&f, k, end, &t);
        if (s != NULL) end = k + 1; /* the steps stay as they were */
        for (int32_t j = k; j < end; j++) new_at[j] = to;
        plan->step[to] = t;
    }
    plan->n_steps = to;
    renumber(p, new_at, n);
    return s;
}
