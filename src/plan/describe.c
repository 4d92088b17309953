/* Describing a function graph. It is optimised and planned once more, apart from the caches, with
 * an observer that notes what the passes do: the passes are deterministic, so the result is what a
 * first call would have run. The text is JSON; include/evenflow_binding.h lists its fields. */
#include "plan/describe.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "base/text.h"
#include "graph/control.h"
#include "graph/origin.h"
#include "passes/passes.h"
#include "plan/arena.h"
#include "plan/row_chain.h"
#include "profile/event.h"
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_REWRITES = 2000, MOST_DEPTH = 8 }; /* limits for very large functions */

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_field(ef_text *t, const char *name, const char *value) {
    ef_text_add(t, ", \"%s\": ", name);
    ef_text_quoted(t, value);
}

static void put_ints(ef_text *t, const char *name, const int32_t *v, int n) {
    ef_text_add(t, ", \"%s\": [", name);
    for (int k = 0; k < n; k++) ef_text_add(t, "%s%d", k > 0 ? ", " : "", v[k]);
    ef_text_add(t, "]");
}

static void put_value_type(ef_text *t, ef_dtype dtype, const ef_shape *shape) {
    ef_text_add(t, "{\"dtype\": \"%s\", \"shape\": \"%s\"}", ef_dtype_name(dtype), EF_SHAPE(shape));
}

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Name and line of the node of the user's graph from which n was made, if that graph still exists.
 */
static void put_origin(ef_text *t, const ef_node *n) {
    ef_graph *home = n->origin.graph != 0 ? ef_graph_numbered(n->origin.graph) : NULL;
    if (home == NULL) return;
    ef_graph_lock(home);
    size_t at = (size_t)n->origin.node;
    const ef_node *own = at < home->n_nodes ? home->node[at] : NULL;
    if (own != NULL && own->serial == n->origin.serial) {
        const char *name = NULL;
        ef_status *s = ef_graph_called(home, own->id, &name);
        if (s == NULL) put_field(t, "name", name);
        ef_status_free(s);
        if (own->place > 0) {
            const ef_place *p = &home->place[own->place - 1];
            put_field(t, "file", p->file);
            put_field(t, "function", p->function);
            ef_text_add(t, ", \"line\": %d", (int)p->line);
        }
    }
    ef_graph_unlock(home);
    ef_graph_unref(home);
}

static void put_graph(ef_text *t, const ef_graph *g, int depth);

static void put_functions(ef_text *t, const ef_node *n, int depth) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    if (c.n_funcs == 0 || depth >= MOST_DEPTH) return;
    ef_text_add(t, ", \"functions\": [");
    for (int k = 0; k < c.n_funcs; k++) {
        if (k > 0) ef_text_add(t, ", ");
        put_graph(t, c.func[k], depth + 1);
    }
    ef_text_add(t, "]");
}

static void put_node(ef_text *t, const ef_node *n, int depth) {
    ef_text attrs = {0};
    ef_text_add(t, "{\"id\": %d, \"op\": \"%s\", \"in\": [", n->id, n->op->name);
    for (int k = 0; k < n->n_in; k++)
        ef_text_add(t, "%s[%d, %d]", k > 0 ? ", " : "", n->in[k].node, n->in[k].index);
    ef_text_add(t, "], \"out\": [");
    for (int k = 0; k < n->n_out; k++) {
        if (k > 0) ef_text_add(t, ", ");
        put_value_type(t, n->out[k].dtype, &n->out[k].shape);
    }
    ef_text_add(t, "]");
    put_ints(t, "after", n->after, n->n_after);
    ef_node_attrs_text(n, &attrs);
    if (attrs.at != NULL) put_field(t, "attrs", attrs.at + 1);
    t->failed = t->failed || attrs.failed;
    ef_text_free(&attrs);
    if (n->op->traits & EF_EFFECT) ef_text_add(t, ", \"effect\": true");
    put_origin(t, n);
    put_functions(t, n, depth);
    ef_text_add(t, "}");
}

static void put_graph(ef_text *t, const ef_graph *g, int depth) {
    ef_text_add(t, "{\"nodes\": [");
    for (size_t k = 0; k < g->n_nodes; k++) {
        ef_text_add(t, k > 0 ? ",\n " : "\n ");
        put_node(t, g->node[k], depth);
    }
    ef_text_add(t, "]");
    put_ints(t, "inputs", g->input, (int)g->n_inputs);
    ef_text_add(t, ", \"outputs\": [");
    for (size_t k = 0; k < g->n_outputs; k++)
        ef_text_add(t, "%s[%d, %d]", k > 0 ? ", " : "", g->output[k].node, g->output[k].index);
    ef_text_add(t, "]}");
}

/* ---- passes ---------------------------------------------------------------------------------- */

typedef struct notes {
    ef_text passes, rewrites;
    int n_passes, n_rewrites, n_written; /* rewrites: of the pass that is running */
} notes;

static void note_rewrite(void *user, const char *rule, const char *before, const char *after) {
    notes *x = user;
    x->n_rewrites++;
    if (x->n_written >= MOST_REWRITES) return;
    ef_text_add(&x->rewrites, "%s{\"rule\": ", x->rewrites.n > 0 ? ",\n  " : "\n  ");
    ef_text_quoted(&x->rewrites, rule);
    put_field(&x->rewrites, "before", before);
    put_field(&x->rewrites, "after", after);
    ef_text_add(&x->rewrites, "}");
    x->n_written++;
}

/* How many more nodes of each op there are after the pass than before. */
static void put_difference(ef_text *t, const ef_graph *before, const ef_graph *after) {
    int32_t *count = ef_calloc(EF_OP_COUNT, sizeof *count);
    if (count == NULL) {
        t->failed = true;
        return;
    }
    for (size_t k = 0; k < before->n_nodes; k++) count[before->node[k]->op->id]--;
    for (size_t k = 0; k < after->n_nodes; k++) count[after->node[k]->op->id]++;
    bool any = false;
    for (int id = 0; id < EF_OP_COUNT; id++) {
        if (count[id] == 0) continue;
        ef_text_add(t, "%s\"%s\": %d", any ? ", " : "", ef_op_table[id]->name, (int)count[id]);
        any = true;
    }
    ef_free(count);
}

static void note_pass(void *user, const char *name, int depth, const ef_graph *before,
                      const ef_graph *after) {
    notes *x = user;
    ef_text *t = &x->passes;
    ef_text_add(t, "%s{\"pass\": \"%s\", \"depth\": %d, \"before\": %zu, \"after\": %zu, ",
                x->n_passes++ > 0 ? ",\n " : "\n ", name, depth, before->n_nodes, after->n_nodes);
    ef_text_add(t, "\"ops\": {");
    put_difference(t, before, after);
    ef_text_add(t, "}, \"rewritten\": %d, \"rewrites\": [%s]}", x->n_rewrites,
                x->rewrites.at != NULL ? x->rewrites.at : "");
    t->failed = t->failed || x->rewrites.failed;
    ef_text_free(&x->rewrites);
    x->rewrites = (ef_text){0};
    x->n_rewrites = 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const char *const slot_kinds[] = {
    [EF_SLOT_NONE] = "none",   [EF_SLOT_INPUT] = "input", [EF_SLOT_CONST] = "constant",
    [EF_SLOT_ARENA] = "arena", [EF_SLOT_HEAP] = "heap",   [EF_SLOT_VIEW] = "view",
    [EF_SLOT_GIVEN] = "given"};

static void put_slots(ef_text *t, const ef_plan *p) {
    ef_text_add(t, "\"slots\": [");
    for (int32_t k = 0; k < p->n_slots; k++) {
        const ef_slot *s = &p->slot[k];
        ef_text_add(t, "%s{\"kind\": \"%s\", \"bytes\": %zu, \"offset\": %zu, \"type\": ",
                    k > 0 ? ",\n " : "\n ", slot_kinds[s->kind], s->bytes, s->offset);
        put_value_type(t, s->dtype, &s->shape);
        ef_text_add(t, "}");
    }
    ef_text_add(t, "]");
}

static void put_fused_op(ef_text *t, bool *any, int32_t node, const char *compiled) {
    ef_text_add(t, "%s{\"node\": %d, \"compiled\": %s}", *any ? ", " : "", (int)node, compiled);
    *any = true;
}

/* The ops of a tile program in order, and which of them became machine code; null: a reduction. */
static void put_program(ef_text *t, bool *any, const ef_tiles *tiles) {
    int compiled_to = 0;
    for (int k = 0; k < tiles->n_ins; k++) {
        if (tiles->ins[k].entry != NULL) compiled_to = k + tiles->ins[k].covers;
        put_fused_op(t, any, tiles->ins[k].node, k < compiled_to ? "true" : "false");
    }
    for (int k = 0; k < tiles->tail.n; k++) put_fused_op(t, any, tiles->tail.of[k].node, "null");
}

static void put_fused(ef_text *t, const ef_plan_step *s) {
    bool any = false;
    if (s->run != ef_run_tiles && s->run != ef_run_row_chain) return;
    ef_text_add(t, ", \"fused\": [");
    if (s->run == ef_run_tiles) {
        put_program(t, &any, s->state);
    } else {
        const ef_row_chain *c = s->state;
        for (int k = 0; k < c->n; k++)
            if (c->program[k].way != EF_ROWS_SUMMED) put_program(t, &any, c->program[k].tiles);
    }
    ef_text_add(t, "]");
}

static void put_plan(ef_text *t, const ef_plan *p, const uint64_t *ns, int depth);

static void put_inner(ef_text *t, const ef_plan_step *s, int depth) {
    const char *name;
    if (s->kind == NULL || s->kind->inner == NULL || depth >= MOST_DEPTH) return;
    ef_text_add(t, ", \"plans\": [");
    for (int k = 0;; k++) {
        const ef_plan *p = s->kind->inner(s->state, k, &name);
        if (p == NULL) break;
        ef_text_add(t, "%s{\"role\": \"%s\", \"plan\": ", k > 0 ? ", " : "", name);
        put_plan(t, p, NULL, depth + 1);
        ef_text_add(t, ", \"graph\": ");
        put_graph(t, p->graph, MOST_DEPTH);
        ef_text_add(t, "}");
    }
    ef_text_add(t, "]");
}

static void put_step(ef_text *t, const ef_plan *p, const ef_plan_step *s, int depth) {
    ef_text_add(t, "{\"node\": %d, \"op\": \"%s\"", (int)s->node, s->op->name);
    put_field(t, "way", ef_plan_step_way(p, s));
    put_ints(t, "in", s->in, s->n_in);
    put_ints(t, "out", s->out, s->n_out);
    ef_text_add(t, ", \"scratch\": %zu, \"scratch_offset\": %zu", s->scratch_bytes,
                s->scratch_offset);
    put_fused(t, s);
    put_inner(t, s, depth);
}

/* ns: the median and the least time of each step, or NULL. */
static void put_plan(ef_text *t, const ef_plan *p, const uint64_t *ns, int depth) {
    ef_text_add(t, "{\"arena\": %zu, \"least\": %zu, ", p->arena_bytes, p->least_bytes);
    put_slots(t, p);
    ef_text_add(t, ", \"steps\": [");
    for (int32_t k = 0; k < p->n_steps; k++) {
        ef_text_add(t, k > 0 ? ",\n " : "\n ");
        put_step(t, p, &p->step[k], depth);
        if (ns != NULL)
            ef_text_add(t, ", \"ns\": %" PRIu64 ", \"least_ns\": %" PRIu64, ns[2 * k],
                        ns[2 * k + 1]);
        ef_text_add(t, "}");
    }
    ef_text_add(t, "]");
    put_ints(t, "inputs", p->input, p->n_inputs);
    ef_text_add(t, ", \"outputs\": [");
    for (int32_t k = 0; k < p->n_outputs; k++)
        ef_text_add(t, "%s%d", k > 0 ? ", " : "", (int)p->out[k].slot);
    ef_text_add(t, "]}");
}

/* ---- measuring ------------------------------------------------------------------------------- */

static ef_status *run_once(ef_context *context, ef_frame *f, ef_tensor *const *in,
                           uint64_t *ticks) {
    const ef_plan *p = f->plan;
    char *arena;
    EF_TRY(ef_call_arena_take(context->device, p->arena_bytes, &arena));
    ef_frame_bind(f, context, arena);
    for (int32_t k = 0; k < p->n_inputs; k++) ef_frame_input(f, k, in[k]);
    ef_pool_enter(context);
    ef_status *s = ef_frame_run_timed(f, ticks);
    ef_pool_leave(context);
    for (int32_t k = 0; k < p->n_outputs && s == NULL; k++) {
        ef_tensor out = {0};
        s = ef_frame_take(f, k, &out);
        ef_tensor_release(&out);
    }
    if (s == NULL)
        ef_frame_finish(f);
    else
        ef_frame_clear(f);
    ef_call_arena_release();
    return s;
}

static int by_time(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* *ns: median and least time of each step, released with ef_free. The first run is not counted. */
static ef_status *measure(ef_context *context, const ef_plan *p, ef_tensor *const *in, int runs,
                          uint64_t **ns) {
    size_t n = (size_t)p->n_steps, count = (size_t)runs;
    ef_frame *f = NULL;
    uint64_t *ticks = ef_calloc(n * (count + 1) + 1, sizeof *ticks);
    uint64_t *one = ef_calloc(count, sizeof *one);
    ef_status *s = ticks != NULL && one != NULL ? NULL : ef_no_memory(n * count * sizeof *ticks);
    if (s == NULL) *ns = ef_calloc(2 * n + 1, sizeof **ns);
    if (s == NULL && *ns == NULL) s = ef_no_memory(2 * n * sizeof **ns);
    if (s == NULL) s = ef_frame_make(p, &f);
    for (size_t r = 0; r <= count && s == NULL; r++)
        s = run_once(context, f, in, ticks + n * (r > 0 ? r - 1 : 0));
    for (size_t k = 0; k < n && s == NULL; k++) {
        for (size_t r = 0; r < count; r++) one[r] = ef_event_ns(ticks[n * r + k]);
        qsort(one, count, sizeof *one, by_time);
        (*ns)[2 * k] = one[count / 2];
        (*ns)[2 * k + 1] = one[0];
    }
    ef_frame_free(f);
    ef_free(ticks);
    ef_free(one);
    return s;
}

/* ---- the whole ------------------------------------------------------------------------------- */

ef_status *ef_describe(ef_context *context, ef_graph *g, const ef_fact *fact, ef_tensor *const *in,
                       int runs, char **out) {
    notes x = {0};
    ef_pass_observer observer = {&x, note_pass, note_rewrite};
    ef_graph *best = NULL;
    ef_plan *plan = NULL;
    uint64_t *ns = NULL;
    ef_text t = {0};
    ef_plan_options options = {.wanted = context->wanted, .host_outputs = true};
    ef_status *s;
    EF_TRY_GOTO(ef_optimise_observed(g, &observer, &best));
    EF_TRY_GOTO(ef_plan_make(best, fact, &options, &plan));
    if (runs > 0) EF_TRY_GOTO(measure(context, plan, in, runs, &ns));
    ef_text_add(&t, "{\"runs\": %d, \"threads\": %d,\n\"traced\": ", runs, ef_pool_size());
    put_graph(&t, g, 0);
    ef_text_add(&t, ",\n\"passes\": [%s],\n\"graph\": ", x.passes.at != NULL ? x.passes.at : "");
    put_graph(&t, best, 0);
    ef_text_add(&t, ",\n\"plan\": ");
    put_plan(&t, plan, ns, 0);
    ef_text_add(&t, "}\n");
    if (t.failed || x.passes.failed) {
        s = ef_no_memory(t.cap);
        ef_text_free(&t);
    } else {
        *out = t.at;
    }
done:
    ef_text_free(&x.passes);
    ef_text_free(&x.rewrites);
    ef_free(ns);
    ef_plan_free(plan);
    ef_graph_unref(best);
    return s;
}
