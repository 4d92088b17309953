/* If, Case and calls as steps: every branch is a sub-plan whose frame lies inside this frame and
 * writes directly into the memory of the step's outputs. */
#include "base/alloc.h"
#include "plan/subplan.h"

typedef struct branch { /* exactly one of the two is set */
    ef_plan *plan;
    ef_status *bad; /* why it cannot be planned for these sizes; an error only if it is chosen */
} branch;

typedef struct branch_plan {
    int n;
    branch branch[];
} branch_plan;

typedef struct branch_frame {
    const branch_plan *from;
    ef_frame *frame[];
} branch_frame;

static void branch_release(void *state) {
    branch_plan *b = state;
    for (int k = 0; k < b->n; k++) {
        ef_plan_free(b->branch[k].plan);
        ef_status_free(b->branch[k].bad);
    }
    ef_free(b);
}

static void frame_end(ef_step *s) {
    branch_frame *b = s->call.state;
    if (b == NULL) return;
    for (int k = 0; k < b->from->n; k++) ef_frame_free(b->frame[k]);
    ef_free(b);
    s->call.state = NULL;
}

static ef_status *frame_make(ef_frame *f, ef_step *s, const void *plan_state) {
    (void)f;
    const branch_plan *p = plan_state;
    branch_frame *b = ef_calloc(1, sizeof *b + (size_t)p->n * sizeof *b->frame);
    if (b == NULL) return ef_no_memory(sizeof *b);
    b->from = p;
    s->call.state = b;
    for (int k = 0; k < p->n; k++) {
        if (p->branch[k].plan == NULL) continue;
        ef_status *bad = ef_frame_make(p->branch[k].plan, &b->frame[k]);
        if (bad != NULL) {
            frame_end(s);
            return bad;
        }
    }
    return NULL;
}

static void frame_rebind(ef_step *s) {
    branch_frame *b = s->call.state;
    for (int k = 0; k < b->from->n; k++)
        if (b->frame[k] != NULL) ef_frame_bind(b->frame[k], s->call.context, s->call.scratch);
}

static const ef_plan *inner(const void *plan_state, int k, const char **name) {
    const branch_plan *b = plan_state;
    *name = b->n == 1 ? "body" : "branch";
    for (int i = 0; i < b->n; i++)
        if (b->branch[i].plan != NULL && k-- == 0) return b->branch[i].plan;
    return NULL;
}

static const ef_step_kind branch_kind = {frame_make, frame_rebind, frame_end, inner};

/* Which branch: for If 0 (`then`) or 1; for Case the index, or the last if it is out of range. */
static int choose(const ef_tensor *t, bool is_case, int n) {
    if (n == 1) return 0;
    if (is_case) {
        int64_t k = ef_element_int((ef_dtype)t->dtype, t->data, 0);
        return k < 0 || k >= n ? n - 1 : (int)k;
    }
    return ef_tensor_true(t) ? 0 : 1;
}

static ef_status *run(const ef_call *c, bool is_case, int first) {
    const branch_frame *b = c->state;
    int chosen = first > 0 ? choose(c->in[0], is_case, b->from->n) : 0;
    ef_frame *f = b->frame[chosen];
    if (EF_UNLIKELY(f == NULL)) return ef_status_copy(b->from->branch[chosen].bad);
    const ef_plan *p = f->plan;
    for (int k = 0; k < p->n_inputs; k++) ef_frame_input(f, k, c->in[first + k]);
    for (int k = 0; k < p->n_outputs; k++) {
        if (!p->out[k].direct) continue;
        if (c->out[k]->data == NULL) EF_TRY(ef_out_alloc(c, k, &p->slot[p->out[k].slot].shape));
        ef_frame_give(f, k, c->out[k]->data);
    }
    EF_TRY(ef_status_in_function(ef_frame_run(f), chosen));
    ef_status *s = NULL;
    for (int k = 0; k < p->n_outputs && s == NULL; k++)
        if (!p->out[k].direct) s = ef_subplan_result(f, k, c->out[k]);
    ef_frame_finish(f);
    return s;
}

static ef_status *run_if(const ef_call *c) { return run(c, false, 1); }
static ef_status *run_case(const ef_call *c) { return run(c, true, 1); }
static ef_status *run_call(const ef_call *c) { return run(c, false, 0); }

ef_status *ef_plan_branches(int wanted, const ef_control *control, const ef_fact *in,
                            ef_plan_step *step) {
    ef_plan_options options = {.wanted = wanted, .outputs_given = true};
    branch_plan *b = ef_calloc(1, sizeof *b + (size_t)control->n_funcs * sizeof *b->branch);
    if (b == NULL) return ef_no_memory(sizeof *b);
    step->state = b;
    step->release = branch_release;
    step->kind = &branch_kind;
    step->run = control->kind == EF_CONTROL_IF     ? run_if
                : control->kind == EF_CONTROL_CASE ? run_case
                                                   : run_call;
    for (int k = 0; k < control->n_funcs; k++) {
        branch *one = &b->branch[k];
        b->n = k + 1;
        one->bad = ef_status_in_function(
            ef_plan_make(control->func[k], in + control->first, &options, &one->plan), k);
        if (one->bad != NULL && !ef_plan_is_left_out(control, one->bad)) {
            ef_status *bad = one->bad;
            one->bad = NULL;
            return bad;
        }
        if (one->plan == NULL) continue;
        step->state_bytes += ef_plan_bytes(one->plan);
        if (one->plan->arena_bytes > step->scratch_bytes)
            step->scratch_bytes = one->plan->arena_bytes;
    }
    if (step->scratch_bytes == 0) step->scratch_bytes = 1; /* so that rebinding always happens */
    return NULL;
}
