/* While as a step. Each loop variable has two buffers, used alternately: the body reads one and
 * writes the other, and two frames of the body are bound once, one for each direction. So an
 * iteration costs its kernels and a test. A body that holds a loop has one frame, which is bound
 * anew in each iteration: with two, the number of frames would double with each level of nested
 * loops. A variable that the body returns unchanged stays in its
 * buffer; managed ones (lists) are moved in and out, so that they can grow in place. So are values
 * that the body stores in lists, which then share the storage instead of copying it.
 *
 * If some shape changes from one iteration to the next, the loop runs programs instead of frames,
 * which find the plan for each shape. */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "plan/loop_shares.h"
#include "plan/place.h"
#include "plan/program.h"
#include "plan/subplan.h"
#include "profile/event.h"

typedef enum var_kind {
    VAR_FIXED,
    VAR_PLAIN,
    VAR_MANAGED
} var_kind; /* FIXED: the body returns it unchanged; MANAGED: in storage of its own */

typedef struct loop_plan {
    int n;
    uint8_t *kind;
    size_t *bytes, *place; /* of plain variables within one set */
    size_t set_bytes, cond_at, body_at, vars_at;
    ef_plan *cond, *body;
    bool one_cond, one_body;                 /* they hold loops: there is one frame of each */
    ef_program *cond_program, *body_program; /* instead, when shapes change */
} loop_plan;

typedef struct loop_frame {
    const loop_plan *from;
    ef_frame *cond[2], *body[2]; /* by direction; where there is one frame, twice the same */
    ef_tensor *var[2];
    int32_t *moved, *copied; /* managed variables; plain ones the body does not write directly */
    int n_moved, n_copied;
    const ef_tensor *verdict[2]; /* the result of the condition */
    ef_noted *noted;             /* steps of the body that run later; NULL: there are none */
} loop_frame;

static void loop_release(void *state) {
    loop_plan *l = state;
    ef_plan_free(l->cond);
    ef_plan_free(l->body);
    ef_program_unref(l->cond_program);
    ef_program_unref(l->body_program);
    ef_free(l->kind);
    ef_free(l->bytes);
    ef_free(l->place);
    ef_free(l);
}

/* ---- frames -------------------------------------------------------------------------------------
 */

static void frame_end(ef_step *s) {
    loop_frame *f = s->call.state;
    if (f == NULL) return;
    for (int i = 0; i < 2; i++) {
        if (i == 0 || f->cond[1] != f->cond[0]) ef_frame_free(f->cond[i]);
        if (i == 0 || f->body[1] != f->body[0]) ef_frame_free(f->body[i]);
        ef_free(f->var[i]);
    }
    ef_noted_free(f->noted);
    ef_free(f->moved);
    ef_free(f->copied);
    ef_free(f);
    s->call.state = NULL;
}

static void sort_variables(loop_frame *f) {
    const loop_plan *l = f->from;
    for (int k = 0; k < l->n; k++) {
        if (l->kind[k] == VAR_MANAGED) f->moved[f->n_moved++] = k;
        if (l->kind[k] == VAR_PLAIN && !l->body->out[k].direct) f->copied[f->n_copied++] = k;
    }
}

static ef_status *frame_fill(loop_frame *f) {
    const loop_plan *l = f->from;
    f->moved = ef_malloc((size_t)(l->n + 1) * sizeof *f->moved);
    f->copied = ef_malloc((size_t)(l->n + 1) * sizeof *f->copied);
    if (f->moved == NULL || f->copied == NULL) return ef_no_memory((size_t)l->n * sizeof *f->moved);
    sort_variables(f);
    for (int i = 0; i < 2; i++) {
        f->var[i] = ef_calloc((size_t)l->n + 1, sizeof *f->var[i]);
        if (f->var[i] == NULL) return ef_no_memory((size_t)l->n * sizeof *f->var[i]);
        f->cond[i] = f->cond[0];
        f->body[i] = f->body[0];
        if (i == 0 || !l->one_cond) EF_TRY(ef_frame_make(l->cond, &f->cond[i]));
        if (i == 0 || !l->one_body) EF_TRY(ef_frame_make(l->body, &f->body[i]));
        f->verdict[i] = &f->cond[i]->slot[l->cond->out[0].slot];
    }
    if (l->body->later != NULL) return ef_noted_make(l->body, f->body, 2, &f->noted);
    return NULL;
}

static ef_status *frame_make(ef_frame *outer, ef_step *s, const void *plan_state) {
    (void)outer;
    loop_frame *f = ef_calloc(1, sizeof *f);
    if (f == NULL) return ef_no_memory(sizeof *f);
    f->from = plan_state;
    s->call.state = f;
    ef_status *bad = frame_fill(f);
    if (bad != NULL) frame_end(s);
    return bad;
}

/* Binds the condition's and the body's frames to the variables for one direction. */
static void point_cond(loop_frame *f, int i) {
    const loop_plan *l = f->from;
    for (int k = 0; k < l->n; k++)
        if (l->kind[k] == VAR_PLAIN) ef_frame_input(f->cond[i], k, &f->var[i][k]);
}

static void point_body(loop_frame *f, int i) {
    const loop_plan *l = f->from;
    for (int k = 0; k < l->n; k++) {
        if (l->kind[k] != VAR_PLAIN) continue;
        ef_frame_input(f->body[i], k, &f->var[i][k]);
        ef_frame_give(f->body[i], k, f->var[1 - i][k].data);
    }
}

/* The scratch memory has moved: computes every address in it again. */
static void frame_rebind(ef_step *s) {
    loop_frame *f = s->call.state;
    const loop_plan *l = f->from;
    char *at = s->call.scratch;
    for (int i = 0; i < 2; i++) {
        ef_frame_bind(f->cond[i], s->call.context, at + l->cond_at);
        ef_frame_bind(f->body[i], s->call.context, at + l->body_at);
        for (int k = 0; k < l->n; k++)
            if (l->kind[k] == VAR_PLAIN)
                f->var[i][k].data = at + l->vars_at + (size_t)i * l->set_bytes + l->place[k];
    }
    for (int i = 0; i < 2; i++) {
        point_cond(f, i);
        point_body(f, i);
    }
    if (l->cond->out[0].direct)
        for (int i = 0; i < 2; i++)
            ef_frame_give(f->cond[i], 0, at + l->vars_at + 2 * l->set_bytes);
}

static const ef_plan *inner(const void *plan_state, int k, const char **name) {
    const loop_plan *l = plan_state;
    *name = k == 0 ? "condition" : "body";
    return k == 0 ? l->cond : k == 1 ? l->body : NULL;
}

static const ef_step_kind loop_kind = {frame_make, frame_rebind, frame_end, inner};

/* ---- running ------------------------------------------------------------------------------------
 */

/* Releases an input that nothing reads afterwards, so that the loop's own reference is the only
 * one. */
static void let_go(const ef_call *c, size_t k) {
    if (k >= 32 || !(c->dying >> k & 1) || c->in[k]->storage == NULL) return;
    ef_storage_unref(c->in[k]->storage);
    c->in[k]->storage = NULL;
    c->in[k]->data = NULL;
}

/* Whether the loop need not read the first value of moved variable k again: a variable that stays
 * may have the same one. Only what grows in place, a list, must have a sole owner. */
static bool may_let_go(const ef_call *c, const loop_plan *l, int k) {
    for (int j = 0; j < l->n; j++)
        if (l->kind[j] == VAR_FIXED && c->in[j] == c->in[k]) return false;
    return !ef_dtype_in((ef_dtype)c->in[k]->dtype, EF_PLAIN);
}

static ef_status *enter(const ef_call *c, loop_frame *f) {
    const loop_plan *l = f->from;
    for (int k = 0; k < l->n; k++) {
        if (l->kind[k] == VAR_PLAIN) {
            if (l->bytes[k] > 0) memcpy(f->var[0][k].data, c->in[k]->data, l->bytes[k]);
        } else if (l->kind[k] == VAR_MANAGED) {
            EF_TRY(ef_tensor_keep(&f->var[0][k], c->in[k]));
        } else {
            for (int i = 0; i < 2; i++) {
                ef_frame_input(f->cond[i], k, c->in[k]);
                ef_frame_input(f->body[i], k, c->in[k]);
            }
        }
    }
    for (int m = 0; m < f->n_moved; m++) /* after all are copied: two may start as one value */
        if (may_let_go(c, l, f->moved[m])) let_go(c, (size_t)f->moved[m]);
    return NULL;
}

static ef_status *iterate(loop_frame *f, int i) {
    ef_frame *body = f->body[i];
    if (f->from->one_body) point_body(f, i);
    for (int m = 0; m < f->n_moved; m++)
        ef_frame_input_take(body, f->moved[m], &f->var[i][f->moved[m]]);
    EF_TRY(ef_status_in_function(ef_frame_run(body), 1));
    for (int m = 0; m < f->n_copied; m++) {
        int k = f->copied[m];
        const ef_tensor *from = &body->slot[body->plan->out[k].slot];
        if (f->from->bytes[k] > 0) memcpy(f->var[1 - i][k].data, from->data, f->from->bytes[k]);
    }
    for (int m = 0; m < f->n_moved; m++)
        EF_TRY(ef_frame_take(body, f->moved[m], &f->var[1 - i][f->moved[m]]));
    ef_frame_finish(body);
    if (f->noted != NULL) ef_noted_next(f->noted);
    return NULL;
}

static ef_status *leave(const ef_call *c, loop_frame *f, int i) {
    const loop_plan *l = f->from;
    for (int k = 0; k < l->n; k++) {
        if (l->kind[k] == VAR_MANAGED && c->out[k]->data == NULL) {
            ef_tensor_move(c->out[k], &f->var[i][k]);
        } else {
            const ef_tensor *from = l->kind[k] == VAR_FIXED ? c->in[k] : &f->var[i][k];
            if (c->out[k]->data == NULL)
                EF_TRY(ef_out_share(c, k, from));
            else if (l->bytes[k] > 0)
                memcpy(c->out[k]->data, from->data, l->bytes[k]);
        }
    }
    return NULL;
}

static ef_status *run_loop(const ef_call *c) {
    loop_frame *f = c->state;
    int i = 0;
    int64_t iterations = 0;
    uint64_t began = ef_loop_begins();
    ef_status *s = enter(c, f);
    unsigned pulse = ef_interrupt_counter();
    for (; s == NULL; i = 1 - i, iterations++) {
        if ((s = ef_interrupt_check(c->context, &pulse)) != NULL) break;
        if (f->from->one_cond) point_cond(f, i);
        for (int m = 0; m < f->n_moved; m++)
            ef_frame_input(f->cond[i], f->moved[m], &f->var[i][f->moved[m]]);
        if ((s = ef_status_in_function(ef_frame_run(f->cond[i]), 0)) != NULL) break;
        bool more = ef_tensor_true(f->verdict[i]);
        if (EF_UNLIKELY(f->cond[i]->plan->n_leftover > 0)) ef_frame_finish(f->cond[i]);
        if (!more) break;
        if ((s = iterate(f, i)) != NULL) break;
    }
    if (f->noted != NULL) ef_noted_end(f->noted, s == NULL);
    ef_loop_ended(began, iterations);
    if (s == NULL) s = leave(c, f, i);
    for (int m = 0; m < f->n_moved; m++)
        for (int j = 0; j < 2; j++) ef_tensor_release(&f->var[j][f->moved[m]]);
    return s;
}

/* ---- loops whose shapes change
 * -------------------------------------------------------------------- */

static ef_status *ask(const ef_call *c, ef_tensor *const *var, bool *yes) {
    const loop_plan *l = c->state;
    ef_tensor verdict;
    EF_TRY(ef_status_in_function(ef_program_run(c->context, l->cond_program, var, &verdict), 0));
    *yes = ef_tensor_true(&verdict);
    ef_tensor_release(&verdict);
    return NULL;
}

static ef_status *run_changing(const ef_call *c) {
    const loop_plan *l = c->state;
    size_t n = (size_t)l->n;
    ef_tensor *var = ef_calloc(2 * n + 1, sizeof *var);
    ef_tensor **ptr = ef_malloc((n + 1) * sizeof *ptr);
    ef_status *s = NULL;
    if (var == NULL || ptr == NULL) {
        s = ef_no_memory(2 * n * sizeof *var);
        goto done;
    }
    for (size_t k = 0; k < n; k++) {
        ptr[k] = &var[k];
        EF_TRY_GOTO(ef_tensor_keep(&var[k], c->in[k]));
    }
    for (size_t k = 0; k < n; k++) let_go(c, k);
    bool yes = false;
    int64_t iterations = 0;
    uint64_t began = ef_loop_begins();
    unsigned pulse = ef_interrupt_counter();
    for (;; iterations++) {
        EF_TRY_GOTO(ef_interrupt_check(c->context, &pulse));
        EF_TRY_GOTO(ask(c, ptr, &yes));
        if (!yes) break;
        EF_TRY_GOTO(
            ef_status_in_function(ef_program_run(c->context, l->body_program, ptr, var + n), 1));
        for (size_t k = 0; k < n; k++) {
            ef_tensor_release(&var[k]);
            ef_tensor_move(&var[k], &var[n + k]);
        }
    }
    ef_loop_ended(began, iterations);
    for (size_t k = 0; k < n; k++) {
        if (c->out[k]->data != NULL)
            memcpy(c->out[k]->data, var[k].data, ef_tensor_bytes(&var[k]));
        else
            ef_tensor_move(c->out[k], &var[k]);
    }
done:
    for (size_t k = 0; var != NULL && k < 2 * n; k++) ef_tensor_release(&var[k]);
    ef_free(var);
    ef_free(ptr);
    return s;
}

/* ---- planning -----------------------------------------------------------------------------------
 */

/* Whether every variable keeps its initial shape; `steady` holds for all iterations. */
static bool shapes_stay(const ef_fact *in, const ef_fact *steady, int n) {
    for (int k = 0; k < n; k++) {
        if (in[k].dtype == EF_RESOURCE || in[k].dtype == EF_VARIANT) continue;
        if (in[k].dtype == EF_STRING || !ef_shape_known(&steady[k].shape) ||
            !ef_shape_equal(&steady[k].shape, &in[k].shape))
            return false;
    }
    return true;
}

static size_t aligned(size_t n) { return (n + 63) / 64 * 64; }

/* Whether the body stores variable k, or its next value, in a list. Small values are copied. */
static bool is_stored(const loop_plan *l, const ef_graph *body, int k) {
    if (l->bytes[k] <= sizeof((ef_tensor *)NULL)->small) return false;
    const ef_edge own = {body->input[k], 0}, next = body->output[k];
    for (size_t j = 0; j < body->n_nodes; j++) {
        const ef_node *n = body->node[j];
        for (int i = 0; i < n->n_in && (n->op->traits & EF_STORES_UNREAD); i++)
            if (ef_edge_same(n->in[i], own) || ef_edge_same(n->in[i], next)) return true;
    }
    return false;
}

static bool on_host(int wanted, const ef_control *c) {
    return wanted <= EF_HOST + 1 && !ef_graph_asks_device(c->func[0]) &&
           !ef_graph_asks_device(c->func[1]);
}

/* Whether a step of the plan, or of a plan inside one, is a loop that has frames. */
static bool holds_loop(const ef_plan *p) {
    const char *name;
    const ef_plan *in;
    for (int32_t s = 0; s < p->n_steps; s++) {
        const ef_plan_step *step = &p->step[s];
        if (step->kind == &loop_kind) return true;
        if (step->kind == NULL || step->kind->inner == NULL) continue;
        for (int k = 0; (in = step->kind->inner(step->state, k, &name)) != NULL; k++)
            if (holds_loop(in)) return true;
    }
    return false;
}

static ef_status *plan_fixed(loop_plan *l, int wanted, const ef_control *c, const ef_fact *in) {
    ef_plan_options options = {.wanted = wanted, .outputs_given = true};
    uint8_t *own = ef_calloc((size_t)l->n + 1, 1);
    if (own == NULL) return ef_no_memory((size_t)l->n);
    const ef_graph *body = c->func[1];
    for (int k = 0; k < l->n; k++) {
        bool back = body->output[k].node == body->input[k];
        l->kind[k] = back                                 ? VAR_FIXED
                     : ef_dtype_in(in[k].dtype, EF_PLAIN) ? VAR_PLAIN
                                                          : VAR_MANAGED;
        if (ef_dtype_in(in[k].dtype, EF_PLAIN))
            l->bytes[k] = (size_t)ef_shape_count(&in[k].shape) * ef_dtype_size(in[k].dtype);
        if (l->kind[k] == VAR_PLAIN && on_host(wanted, c) && is_stored(l, body, k))
            l->kind[k] = VAR_MANAGED;
        own[k] = l->kind[k] == VAR_MANAGED;
        if (l->kind[k] != VAR_PLAIN) continue;
        l->place[k] = l->set_bytes;
        l->set_bytes += aligned(l->bytes[k]);
    }
    ef_status *s = ef_status_in_function(ef_plan_make(c->func[0], in, &options, &l->cond), 0);
    options.own_inputs = own;
    options.repeated = true;
    if (s == NULL) s = ef_status_in_function(ef_plan_make(body, in, &options, &l->body), 1);
    ef_free(own);
    if (s != NULL) return s;
    l->one_cond = holds_loop(l->cond);
    l->one_body = holds_loop(l->body);
    if (!l->one_body) ef_loop_shares_check(l->body, l->cond);
    l->body_at = aligned(l->cond->arena_bytes);
    l->vars_at = l->body_at + aligned(l->body->arena_bytes);
    return NULL;
}

static ef_status *plan_changing(loop_plan *l, const ef_control *c) {
    uint8_t *own = ef_malloc((size_t)l->n + 1);
    if (own == NULL) return ef_no_memory((size_t)l->n);
    memset(own, 1, (size_t)l->n); /* the body's outputs replace every variable */
    ef_status *s = ef_program_make(c->func[0], NULL, &l->cond_program);
    if (s == NULL) s = ef_program_make(c->func[1], own, &l->body_program);
    if (s == NULL) {
        ef_program_keep_home(l->cond_program);
        ef_program_keep_home(l->body_program);
    }
    ef_free(own);
    return s;
}

/* Chooses how the loop runs. steady: room for n facts and for the facts that these refer to. */
static ef_status *choose(loop_plan *l, int wanted, const ef_control *control, const ef_fact *in,
                         ef_fact *steady, ef_plan_step *step) {
    EF_TRY(ef_plan_loop_facts(control, in, steady, l->n, steady + l->n));
    if (!shapes_stay(in, steady, l->n)) {
        step->run = run_changing;
        return plan_changing(l, control);
    }
    EF_TRY(plan_fixed(l, wanted, control, steady));
    step->run = run_loop;
    step->kind = &loop_kind;
    step->state_bytes = ef_plan_bytes(l->cond) + ef_plan_bytes(l->body);
    step->scratch_bytes = l->vars_at + 2 * l->set_bytes + 64; /* and the condition's answer */
    return NULL;
}

ef_status *ef_plan_loop(int wanted, const ef_control *control, const ef_fact *in, int n_in,
                        ef_plan_step *step) {
    if (on_host(wanted, control)) EF_TRY(ef_plan_compiled_loop(control, in, n_in, step));
    if (step->run != NULL) return NULL;
    loop_plan *l = ef_calloc(1, sizeof *l);
    if (l == NULL) return ef_no_memory(sizeof *l);
    step->state = l;
    step->release = loop_release;
    l->n = n_in;
    l->kind = ef_calloc((size_t)n_in + 1, 1);
    l->bytes = ef_calloc((size_t)n_in + 1, sizeof *l->bytes);
    l->place = ef_calloc((size_t)n_in + 1, sizeof *l->place);
    ef_fact *steady = ef_malloc(2 * ((size_t)n_in + 1) * sizeof *steady);
    ef_status *s = NULL;
    if (l->kind == NULL || l->bytes == NULL || l->place == NULL || steady == NULL)
        s = ef_no_memory((size_t)n_in * sizeof *steady);
    else
        s = choose(l, wanted, control, in, steady, step);
    ef_free(steady);
    return s;
}
