/* Making a plan. First the facts for these inputs are inferred: shapes, and the small values
 * computed from shapes. Then a backward walk finds what must run. Grouping, steps and memory follow
 * in their own files. */
#include "base/alloc.h"
#include "plan/place.h"

void *ef_plan_memory(ef_planner *p, size_t n, ef_status **s) {
    void *m = ef_arena_zalloc(&p->plan->memory, n > 0 ? n : 1);
    if (m == NULL && *s == NULL) *s = ef_no_memory(n);
    return m;
}

void *ef_notes_memory(ef_planner *p, size_t n, ef_status **s) {
    void *m = ef_arena_zalloc(&p->scratch, n > 0 ? n : 1);
    if (m == NULL && *s == NULL) *s = ef_no_memory(n);
    return m;
}

/* ---- facts ----------------------------------------------------------------------------------- */

static ef_status *node_facts(ef_planner *p, const ef_node *n, ef_fact *in, ef_fact *out) {
    int n_out = 0;
    ef_status *s = NULL;
    for (int k = 0; k < n->n_in; k++) in[k] = p->value[ef_value_at(p, n->in[k])].fact;
    s = ef_op_infer(n->op, n->fields, in, n->n_in, out, n->n_out, &n_out);
    if (s == NULL && (n->op->traits & EF_CONTROL)) {
        ef_fact *behind = ef_notes_memory(p, (size_t)n_out * sizeof *behind, &s);
        if (s == NULL) s = ef_plan_control_facts(n, in, out, n_out, behind);
    }
    if (s == NULL) s = ef_fact_fold(n->op, n->fields, in, n->n_in, out, n_out, &p->plan->values);
    if (s != NULL) ef_status_at_node(s, n->id);
    return s;
}

static ef_status *infer_all(ef_planner *p, const ef_fact *inputs) {
    size_t most = 1;
    ef_status *s = NULL;
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        size_t wide = (size_t)(p->g->node[k]->n_in + p->g->node[k]->n_out);
        if (wide > most) most = wide;
    }
    ef_fact *in = ef_notes_memory(p, most * sizeof *in, &s);
    if (s != NULL) return s;
    for (size_t k = 0; k < p->g->n_inputs; k++) p->value[p->base[p->g->input[k]]].fact = inputs[k];
    for (size_t k = 0; k < p->g->n_nodes; k++) {
        const ef_node *n = p->g->node[k];
        ef_pvalue *v = &p->value[p->base[k]];
        if (n->op->traits & EF_NO_KERNEL) continue;
        EF_TRY(node_facts(p, n, in, in + n->n_in));
        for (int o = 0; o < n->n_out; o++) {
            v[o].fact = in[n->n_in + o];
            if (v[o].fact.handle == NULL) continue;
            ef_fact *own = ef_notes_memory(p, sizeof *own, &s);
            if (own == NULL) return s;
            *own = *v[o].fact.handle;
            v[o].fact.handle = own;
        }
    }
    return NULL;
}

/* ---- need ------------------------------------------------------------------------------------ */

/* Whether n is a view that is an output: its bytes then need storage that the caller can keep. */
static bool gives_back(const ef_planner *p, const ef_node *n) {
    const ef_pvalue *v = &p->value[p->base[n->id]];
    return (n->op->traits & EF_VIEW_0) && (v->output || v->stored) && !p->options->outputs_given;
}

static void mark_need(ef_planner *p) {
    for (int32_t k = 0; k < p->plan->n_outputs; k++) {
        ef_pvalue *v = &p->value[ef_value_at(p, p->g->output[k])];
        v->needed = v->output = true;
        if (p->options->repeated && p->options->own_inputs[k]) v->stored = true;
    }
    for (size_t k = p->g->n_nodes; k-- > 0;) {
        const ef_node *n = p->g->node[k];
        if (n->op->traits & EF_NO_KERNEL) continue;
        bool run = n->op->traits & EF_EFFECT;
        for (int o = 0; o < n->n_out; o++) {
            const ef_pvalue *v = &p->value[p->base[k] + o];
            run = run || (v->needed && v->fact.value == NULL);
        }
        if (!run) continue;
        p->runs[k] = 1;
        for (int i = 0; i < n->n_in; i++) {
            ef_pvalue *v = &p->value[ef_value_at(p, n->in[i])];
            v->needed = true;
            v->stored = v->stored || (n->op->traits & EF_STORES_INPUTS) || gives_back(p, n);
        }
    }
}

static ef_status *begin(ef_planner *p) {
    ef_status *s = NULL;
    size_t n = p->g->n_nodes;
    p->base = ef_notes_memory(p, (n + 1) * sizeof *p->base, &s);
    p->runs = ef_notes_memory(p, n, &s);
    p->group = ef_notes_memory(p, n * sizeof *p->group, &s);
    if (s != NULL) return s;
    for (size_t k = 0; k < n; k++) {
        p->base[k + 1] = p->base[k] + p->g->node[k]->n_out;
        p->group[k] = -1;
    }
    p->n_values = p->base[n];
    p->value = ef_notes_memory(p, (size_t)p->n_values * sizeof *p->value, &s);
    if (s != NULL) return s;
    for (int32_t v = 0; v < p->n_values; v++) {
        p->value[v].slot = p->value[v].group = -1;
        p->value[v].root = v;
        p->value[v].first = INT32_MAX;
        p->value[v].last = -1;
    }
    p->plan->n_inputs = (int32_t)p->g->n_inputs;
    p->plan->n_outputs = (int32_t)p->g->n_outputs;
    return NULL;
}

/* The facts of a function's outputs for inputs of these facts, without planning it. */
ef_status *ef_plan_infer(const ef_graph *g, const ef_fact *in, ef_fact *out, ef_fact *behind) {
    ef_plan plan = {.graph = g};
    ef_planner p = {.plan = &plan, .g = g};
    ef_status *s = begin(&p);
    if (s == NULL) s = infer_all(&p, in);
    for (size_t k = 0; s == NULL && k < g->n_outputs; k++) {
        out[k] = p.value[ef_value_at(&p, g->output[k])].fact;
        if (out[k].handle != NULL) {
            behind[k] = *out[k].handle;
            out[k].handle = &behind[k];
        }
        out[k].value = NULL;
    }
    ef_value_owner_free(&plan.values);
    ef_arena_free(&p.scratch);
    return s;
}

ef_status *ef_plan_make(const ef_graph *g, const ef_fact *in, const ef_plan_options *options,
                        ef_plan **out) {
    ef_plan *plan = ef_calloc(1, sizeof *plan);
    if (plan == NULL) return ef_no_memory(sizeof *plan);
    plan->graph = g;
    plan->outputs_given = options->outputs_given;
    ef_planner p = {.plan = plan, .g = g, .options = options};
    ef_status *s;
    ef_plan_facts_begin();
    EF_TRY_GOTO(begin(&p));
    EF_TRY_GOTO(infer_all(&p, in));
    EF_TRY_GOTO(ef_plan_place(&p));
    mark_need(&p);
    ef_plan_keep_outputs_home(&p);
    EF_TRY_GOTO(ef_plan_groups(&p));
    EF_TRY_GOTO(ef_plan_steps(&p));
    EF_TRY_GOTO(ef_plan_layout(&p));
done:
    ef_plan_facts_end();
    ef_arena_free(&p.scratch);
    if (s != NULL)
        ef_plan_free(plan);
    else
        *out = plan;
    return s;
}

void ef_plan_free(ef_plan *p) {
    if (p == NULL) return;
    for (ef_frame *f = p->frames, *next; f != NULL; f = next) {
        next = f->next;
        ef_frame_free(f);
    }
    for (int32_t k = 0; k < p->n_steps; k++)
        if (p->step[k].release != NULL && p->step[k].state != NULL)
            p->step[k].release(p->step[k].state);
    for (ef_device_constant *a = p->device_constants; a != NULL; a = a->next)
        ef_tensor_release(&a->tensor);
    ef_value_owner_free(&p->values);
    ef_arena_free(&p->memory);
    ef_free(p);
}

size_t ef_plan_bytes(const ef_plan *p) {
    size_t n = sizeof *p + p->memory.bytes;
    for (int32_t k = 0; k < p->n_steps; k++) n += p->step[k].state_bytes;
    for (const ef_frame *f = p->frames; f != NULL; f = f->next) n += sizeof *f + f->memory.bytes;
    return n;
}
