/* Makes a step of each node: its kernel row, its slots and, where all shapes are known, what its
 * kernel prepares once (a primitive). A view needs no step if its bytes are in the arena. */
#include "base/alloc.h"
#include "ops/elementwise.h"
#include "ops/run.h"
#include "plan/loop_shares.h"
#include "plan/place.h"
#include "plan/row_chain.h"
#include "plan/row_shares.h"

/* ---- steps that are not a kernel of their own ---------------------------------------------------
 */

/* Output shapes are not known before the run: the op runs as in an eager call. */
static ef_status *run_dynamic(const ef_call *c) {
    ef_tensor few[8], *out = few;
    if (c->n_out > 8 && (out = ef_malloc((size_t)c->n_out * sizeof *out)) == NULL)
        return ef_no_memory((size_t)c->n_out * sizeof *out);
    int n_out = 0;
    ef_status *s = ef_op_run(c->context, c->op, c->attrs, c->in, c->n_in, out, c->n_out, &n_out);
    for (int k = 0; s == NULL && k < n_out; k++) ef_tensor_move(c->out[k], &out[k]);
    if (out != few) ef_free(out);
    return s;
}

/* Another shape for bytes whose address is known at run time only; borrowed from its root, which
 * outlives it. */
static ef_status *run_view(const ef_call *c) {
    const ef_tensor *in = c->in[0];
    ef_tensor *out = c->out[0];
    out->data = in->data;
    out->storage = in->storage;
    return NULL;
}

typedef struct one_tile {
    ef_tile_fn *fn;
    int64_t n;
    unsigned scalars;
} one_tile;

/* Runs a small elementwise op whose operands are full-sized or scalars. */
static ef_status *run_tile(const ef_call *c) {
    const one_tile *t = c->state;
    const void *in[4];
    for (int k = 0; k < c->n_in; k++) in[k] = c->in[k]->data;
    t->fn(c->out[0]->data, in, t->n, t->scalars, c->attrs);
    return NULL;
}

bool ef_plan_is_tile(const ef_plan_step *t) { return t->run == run_tile; }

void ef_plan_tile_range(const ef_call *c, int64_t from, int64_t to) {
    const one_tile *t = c->state;
    const void *in[4];
    for (int k = 0; k < c->n_in; k++) {
        size_t size = t->scalars >> k & 1 ? 0 : ef_dtype_size((ef_dtype)c->in[k]->dtype);
        in[k] = (const char *)c->in[k]->data + (size_t)from * size;
    }
    char *out = (char *)c->out[0]->data + (size_t)from * ef_dtype_size((ef_dtype)c->out[0]->dtype);
    t->fn(out, in, to - from, t->scalars, c->attrs);
}

const char *ef_plan_step_way(const ef_plan *p, const ef_plan_step *t) {
    if (t->run == ef_run_tiles || t->run == ef_run_row_chain) return "fused";
    if (t->run == ef_run_shares)
        return p->later != NULL ? "shares of rows of several iterations" : "shares of rows";
    if (t->run == run_view) return "view";
    if (t->run == run_dynamic) return "shape at run time";
    if (t->op->traits & EF_CONTROL) return t->kind != NULL ? "control flow" : "compiled loop";
    return "kernel";
}

/* ---- slots -------------------------------------------------------------------------------------
 */

static size_t bytes_of(const ef_fact *f) {
    int64_t n = ef_shape_known(&f->shape) ? ef_shape_count(&f->shape) : 0;
    return n > 0 ? (size_t)n * ef_dtype_size(f->dtype) : 0;
}

int32_t ef_plan_new_slot(ef_planner *p, int32_t value, ef_slot_kind kind) {
    ef_pvalue *v = &p->value[value];
    ef_slot *s = &p->plan->slot[p->plan->n_slots];
    *s = (ef_slot){.dtype = v->fact.dtype,
                   .shape = v->fact.shape,
                   .kind = kind,
                   .fixed = ef_shape_known(&v->fact.shape),
                   .owned = kind == EF_SLOT_HEAP,
                   .device = kind == EF_SLOT_CONST ? EF_HOST : v->device,
                   .bytes = bytes_of(&v->fact),
                   .value = kind == EF_SLOT_CONST ? v->fact.value : NULL};
    return v->slot = p->plan->n_slots++;
}

static bool plain_and_fixed(const ef_fact *f) {
    return ef_dtype_in(f->dtype, EF_PLAIN) && ef_shape_known(&f->shape);
}

/* Where a value made by a step lives. */
static ef_slot_kind kind_of(const ef_planner *p, const ef_pvalue *v) {
    if (!plain_and_fixed(&v->fact) || v->stored || v->made) return EF_SLOT_HEAP;
    if (!v->output) return EF_SLOT_ARENA;
    return p->options->outputs_given ? EF_SLOT_GIVEN : EF_SLOT_HEAP;
}

/* The slot of a value that a step reads: inputs and constants get theirs on first use. */
int32_t ef_plan_read_slot(ef_planner *p, int32_t value) {
    const ef_pvalue *v = &p->value[value];
    if (v->slot >= 0) return v->slot;
    return ef_plan_new_slot(p, value, v->fact.value != NULL ? EF_SLOT_CONST : EF_SLOT_INPUT);
}

/* The value that a step on the host reads. */
static int32_t value_to_read(const ef_planner *p, ef_edge e) {
    return ef_plan_here(p, ef_value_at(p, e));
}

static int32_t slot_to_read(ef_planner *p, ef_edge e) {
    return ef_plan_read_slot(p, value_to_read(p, e));
}

static void input_slots(ef_planner *p) {
    for (int32_t k = 0; k < p->plan->n_inputs; k++) {
        int32_t v = p->base[p->g->input[k]];
        p->plan->input[k] = -1;
        if (!p->value[v].needed) continue;
        p->plan->input[k] = ef_plan_new_slot(p, v, EF_SLOT_INPUT);
        p->value[v].first = -1;
        if (p->options->own_inputs != NULL && p->options->own_inputs[k])
            p->plan->slot[p->plan->input[k]].owned = true;
    }
}

/* ---- one step ----------------------------------------------------------------------------------
 */

ef_status *ef_plan_start_step(ef_planner *p, const ef_op *op, const void *fields, int n_in,
                              int n_out, int32_t node, ef_plan_step **out) {
    ef_status *s = NULL;
    ef_plan_step *t = &p->plan->step[p->plan->n_steps];
    *t = (ef_plan_step){.op = op, .fields = fields, .n_in = n_in, .n_out = n_out, .node = node};
    t->in = ef_plan_memory(p, (size_t)(n_in + 2 * n_out) * sizeof *t->in, &s);
    if (s != NULL) return s;
    t->out = t->in + n_in;
    t->alloc = t->out + n_out;
    *out = t;
    return NULL;
}

void ef_plan_use(ef_planner *p, int32_t value) {
    ef_pvalue *root = &p->value[p->value[value].root];
    if (root->last < p->plan->n_steps) root->last = p->plan->n_steps;
}

int32_t ef_plan_define(ef_planner *p, ef_plan_step *t, int32_t value) {
    ef_pvalue *v = &p->value[value];
    ef_slot_kind kind = kind_of(p, v);
    int32_t slot = ef_plan_new_slot(p, value, kind);
    v->first = p->plan->n_steps;
    v->last = v->output ? INT32_MAX : p->plan->n_steps;
    if (kind == EF_SLOT_HEAP && plain_and_fixed(&v->fact) && !v->made)
        t->alloc[t->n_alloc++] = slot;
    return slot;
}

/* Tensors with shapes but no data, for choosing a kernel row and asking for its scratch size. */
typedef struct shadow {
    ef_tensor *tensor, **ptr;
    ef_call call;
} shadow;

static ef_status *make_shadow(ef_planner *p, const ef_plan_step *t, shadow *sh) {
    size_t n = (size_t)(t->n_in + t->n_out);
    if (n > p->shadow_room) { /* one set of tensors serves all steps */
        ef_status *s = NULL;
        p->shadow_room = 2 * n;
        p->shadow = ef_notes_memory(p, p->shadow_room * sizeof *p->shadow, &s);
        p->shadow_ptr = ef_notes_memory(p, p->shadow_room * sizeof *p->shadow_ptr, &s);
        if (s != NULL) return s;
    }
    sh->tensor = p->shadow;
    sh->ptr = p->shadow_ptr;
    for (size_t k = 0; k < n; k++) {
        const ef_slot *slot =
            &p->plan->slot[k < (size_t)t->n_in ? t->in[k] : t->out[k - (size_t)t->n_in]];
        ef_tensor_shape_set(&sh->tensor[k], slot->dtype, &slot->shape);
        sh->tensor[k].data = slot->kind == EF_SLOT_CONST ? slot->value->data : NULL;
        sh->ptr[k] = &sh->tensor[k];
    }
    sh->call = (ef_call){.context = ef_context_here(),
                         .op = t->op,
                         .attrs = t->fields,
                         .n_in = t->n_in,
                         .n_out = t->n_out,
                         .in = sh->ptr,
                         .out = sh->ptr + t->n_in};
    return NULL;
}

ef_status *ef_plan_shadow(ef_planner *p, const ef_plan_step *t, ef_call *out) {
    shadow sh;
    EF_TRY(make_shadow(p, t, &sh));
    *out = sh.call;
    return NULL;
}

/* A small elementwise op whose operands are full-sized or scalars calls its tile directly. */
static ef_status *direct_tile(ef_planner *p, ef_plan_step *t, const shadow *sh, bool *done) {
    *done = false;
    int64_t n = ef_count(sh->call.out[0]);
    if (!(t->op->traits & EF_ELEMENTWISE) || t->n_in > 4 || n > 4096 || n == 0) return NULL;
    ef_dtype types[4];
    unsigned scalars = 0;
    for (int k = 0; k < t->n_in; k++) {
        types[k] = (ef_dtype)sh->call.in[k]->dtype;
        int64_t m = ef_count(sh->call.in[k]);
        if (m == 1 && n != 1)
            scalars |= 1u << k;
        else if (m != n)
            return NULL;
    }
    ef_tile_fn *fn = ef_op_tile(t->op, types, t->n_in, (ef_dtype)sh->call.out[0]->dtype, t->fields);
    if (fn == NULL) return NULL;
    ef_status *s = NULL;
    one_tile *state = ef_plan_memory(p, sizeof *state, &s);
    if (s != NULL) return s;
    *state = (one_tile){fn, n, scalars};
    t->state = state;
    t->run = run_tile;
    *done = true;
    return NULL;
}

static ef_status *choose_kernel(ef_planner *p, ef_plan_step *t) {
    shadow sh;
    EF_TRY(make_shadow(p, t, &sh));
    const ef_kernel *row;
    /* In a graph a missing kernel has another error code than in an eager call. */
    EF_TRY(ef_status_as(ef_op_kernel(&sh.call, EF_CPU, &row), EF_INVALID));
    if (row->run == ef_run_elementwise) {
        bool done;
        EF_TRY(direct_tile(p, t, &sh, &done));
        if (done) return NULL;
    }
    t->run = row->run;
    if (row->scratch != NULL) t->scratch_bytes = row->scratch(&sh.call);
    if (row->prepare != NULL) {
        EF_TRY(row->prepare(&sh.call, &t->state));
        t->release = row->release;
    }
    return NULL;
}

/* Whether all shapes are known before the run. Kernels allocate managed types in any case. */
static bool is_static(const ef_planner *p, const ef_node *n) {
    if (n->op->traits & EF_DYNAMIC) return false;
    for (int k = 0; k < n->n_in; k++)
        if (!ef_shape_known(&p->value[ef_value_at(p, n->in[k])].fact.shape)) return false;
    for (int k = 0; k < n->n_out; k++) {
        const ef_fact *f = &p->value[p->base[n->id] + k].fact;
        if (f->dtype != EF_VARIANT && f->dtype != EF_RESOURCE && !ef_shape_known(&f->shape))
            return false;
    }
    return true;
}

/* Whether the other inputs of a view, which give its shape, are known. If not, its kernel must
 * compare them with the inferred shape: reshaping two elements to [n] gives [2] or fails. */
static bool is_told(const ef_planner *p, const ef_node *n) {
    for (int k = 1; k < n->n_in; k++)
        if (p->value[ef_value_at(p, n->in[k])].fact.value == NULL) return false;
    return true;
}

/* A view whose root is in the arena is only another slot at the same offset. */
static ef_status *view_step(ef_planner *p, const ef_node *n) {
    int32_t from = value_to_read(p, n->in[0]), to = p->base[n->id];
    int32_t in = slot_to_read(p, n->in[0]);
    ef_pvalue *v = &p->value[to];
    v->root = p->value[from].root;
    ef_pvalue *root = &p->value[v->root];
    ef_plan_use(p, from);
    if (v->output) root->last = INT32_MAX;
    if (p->plan->slot[in].kind == EF_SLOT_ARENA) {
        ef_plan_new_slot(p, to, EF_SLOT_ARENA);
        return NULL;
    }
    ef_plan_step *t;
    EF_TRY(ef_plan_start_step(p, n->op, n->fields, 1, 1, n->id, &t));
    t->in[0] = in;
    t->out[0] = ef_plan_new_slot(p, to, EF_SLOT_VIEW);
    t->run = run_view;
    p->plan->n_steps++;
    return NULL;
}

static ef_status *fill_step(ef_planner *p, const ef_node *n, ef_plan_step *t, bool fixed) {
    for (int k = 0; k < n->n_in; k++) t->in[k] = slot_to_read(p, n->in[k]);
    if (n->op->traits & EF_CONTROL) {
        for (int k = 0; k < n->n_out; k++) t->out[k] = ef_plan_define(p, t, p->base[n->id] + k);
        ef_status *s = ef_plan_control(p, n, t);
        if (s != NULL) {
            ef_status_at_node(s, n->id);
            return s;
        }
    } else if (!fixed || (n->op->traits & EF_VIEW_0)) {
        for (int k = 0; k < n->n_out; k++) {
            p->value[p->base[n->id] + k].made = true;
            t->out[k] = ef_plan_define(p, t, p->base[n->id] + k);
        }
        t->run = run_dynamic;
    } else {
        for (int k = 0; k < n->n_out; k++) {
            ef_pvalue *v = &p->value[p->base[n->id] + k];
            v->made = n->op->traits & EF_SHARES_OUT;
            if (!v->needed) t->unread |= 1u << k;
            t->out[k] = ef_plan_define(p, t, p->base[n->id] + k);
        }
        EF_TRY(choose_kernel(p, t));
    }
    return NULL;
}

static ef_status *node_step(ef_planner *p, const ef_node *n) {
    if (EF_UNLIKELY(p->at != NULL)) {
        if (p->at[n->id] != EF_HOST) return ef_plan_device_step(p, n);
        EF_TRY(ef_plan_host_inputs(p, n));
    }
    bool fixed = is_static(p, n);
    if ((n->op->traits & EF_VIEW_0) && fixed && is_told(p, n) &&
        plain_and_fixed(&p->value[p->base[n->id]].fact) && !p->value[p->base[n->id]].stored)
        return view_step(p, n);
    ef_plan_step *t;
    EF_TRY(ef_plan_start_step(p, n->op, n->fields, n->n_in, n->n_out, n->id, &t));
    ef_status *s = fill_step(p, n, t, fixed);
    if (s != NULL) { /* not yet among the plan's steps */
        if (t->release != NULL && t->state != NULL) t->release(t->state);
        return s;
    }
    for (int k = 0; k < n->n_in; k++) ef_plan_use(p, value_to_read(p, n->in[k]));
    p->plan->n_steps++;
    return NULL;
}

/* A fused group: its tile program's arguments were noted as values. */
static ef_status *group_step(ef_planner *p, int32_t group, int32_t node) {
    ef_tiles *tiles = p->tiles[group];
    const int32_t *arg = ef_tiles_values(p, group);
    if (p->chain_of != NULL && p->chain_of[group] >= 0)
        return ef_plan_row_chain_step(p, group, node);
    ef_plan_step *t;
    int32_t here;
    for (int k = 0; k < tiles->n_inputs && p->at != NULL; k++)
        EF_TRY(ef_plan_value_on(p, arg[k], EF_HOST, &here));
    EF_TRY(ef_plan_start_step(p, p->g->node[node]->op, NULL, tiles->n_inputs, tiles->n_outputs,
                              node, &t));
    for (int k = 0; k < tiles->n_inputs; k++) {
        t->in[k] = ef_plan_read_slot(p, ef_plan_here(p, arg[k]));
    }
    for (int k = 0; k < tiles->n_outputs; k++)
        t->out[k] = ef_plan_define(p, t, arg[tiles->n_inputs + k]);
    for (int k = 0; k < tiles->n_inputs; k++) ef_plan_use(p, ef_plan_here(p, arg[k]));
    t->run = ef_run_tiles;
    t->state = tiles;
    t->release = ef_tiles_release;
    ef_tiles_compile(tiles);
    t->scratch_bytes = ef_tiles_scratch(tiles);
    p->plan->n_steps++;
    return NULL;
}

/* Whether the frame owns the value's slot and must release it; *when: after which step, or n_steps
 * if it must live until the outputs are taken, since these are views or copies of it. */
static bool to_drop(const ef_planner *p, int32_t v, int32_t *when) {
    const ef_pvalue *val = &p->value[v];
    if (val->slot < 0 || !p->plan->slot[val->slot].owned || val->root != v) return false;
    if (val->output && !p->options->outputs_given) return false; /* the caller takes it */
    bool stays = val->output || val->last >= p->plan->n_steps;
    *when = stays ? p->plan->n_steps : val->last;
    return *when >= 0;
}

static void mark_drop(ef_plan_step *t, int32_t slot) {
    t->drop[t->n_drop++] = slot;
    for (int k = 0; k < t->n_in && k < 32; k++)
        if (t->in[k] == slot) t->dying |= 1u << k;
}

static ef_status *find_drops(ef_planner *p) {
    ef_status *s = NULL;
    ef_plan *plan = p->plan;
    int32_t n = plan->n_steps, when, total = 0;
    int32_t *count = ef_notes_memory(p, ((size_t)n + 1) * sizeof *count, &s);
    if (s != NULL) return s;
    for (int32_t v = 0; v < p->n_values; v++)
        if (to_drop(p, v, &when)) {
            count[when]++;
            total++;
        }
    int32_t *drop = ef_plan_memory(p, (size_t)total * sizeof *drop, &s);
    if (s != NULL) return s;
    for (int32_t k = 0; k < n; drop += count[k++]) plan->step[k].drop = drop;
    plan->leftover = drop;
    for (int32_t v = 0; v < p->n_values; v++) {
        if (!to_drop(p, v, &when)) continue;
        if (when < n)
            mark_drop(&plan->step[when], p->value[v].slot);
        else
            plan->leftover[plan->n_leftover++] = p->value[v].slot;
    }
    return NULL;
}

static ef_status *find_outputs(ef_planner *p) {
    for (int32_t k = 0; k < p->plan->n_outputs; k++) {
        int32_t value;
        EF_TRY(ef_plan_output_value(p, k, &value));
        int32_t slot = ef_plan_read_slot(p, value);
        bool first = true;
        for (int32_t j = 0; j < k; j++) first = first && p->plan->out[j].slot != slot;
        p->plan->out[k] = (ef_plan_out){slot, first && p->plan->slot[slot].kind == EF_SLOT_GIVEN};
    }
    return ef_plan_waits(p);
}

static bool makes_step(const ef_planner *p, size_t node) {
    int32_t group = p->group[node];
    return p->runs[node] && (group < 0 || (p->last_in_group[group] == (int32_t)node &&
                                           !ef_plan_runs_later(p, group)));
}

/* Allocates exactly what slots, steps and their lists need, since plans are kept for many shapes.
 * Slots and steps are filled in as they are made, so they are not cleared first. */
static ef_status *make_room(ef_planner *p) {
    ef_plan *plan = p->plan;
    size_t slots = ((size_t)p->n_values + 1) * sizeof *plan->slot, n = 1, lists = 0;
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        if (!makes_step(p, k)) continue;
        const ef_node *node = p->g->node[k];
        lists += (size_t)(node->n_in + 3 * node->n_out) * sizeof(int32_t) + sizeof(one_tile);
        n++;
    }
    if (p->at != NULL) { /* copies and waits */
        slots = ((size_t)p->n_values * (EF_DEVICE_MOST + 1) + 1) * sizeof *plan->slot;
        n += (size_t)p->n_values * EF_DEVICE_MOST + 2 * p->g->n_nodes + EF_DEVICE_MOST;
    }
    if (!ef_arena_reserve(&plan->memory, slots + n * sizeof *plan->step + lists))
        return ef_no_memory(slots);
    plan->slot = ef_arena_alloc(&plan->memory, slots);
    plan->step = ef_arena_alloc(&plan->memory, n * sizeof *plan->step);
    return plan->slot != NULL && plan->step != NULL ? NULL : ef_no_memory(slots);
}

ef_status *ef_plan_steps(ef_planner *p) {
    ef_status *s = NULL;
    ef_plan *plan = p->plan;
    EF_TRY(make_room(p));
    plan->input = ef_plan_memory(p, ((size_t)plan->n_inputs + 1) * sizeof *plan->input, &s);
    plan->out = ef_plan_memory(p, ((size_t)plan->n_outputs + 1) * sizeof *plan->out, &s);
    if (s != NULL) return s;
    input_slots(p);
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        if (!makes_step(p, k)) continue;
        int32_t group = p->group[k];
        EF_TRY(group < 0 ? node_step(p, p->g->node[k]) : group_step(p, group, (int32_t)k));
    }
    EF_TRY(ef_plan_shares(p));
    EF_TRY(find_outputs(p));
    EF_TRY(ef_plan_loop_shares(p));
    return find_drops(p);
}
