/* Control flow in plans: facts of its outputs for given inputs, and the choice of step. */
#include "base/alloc.h"
#include "plan/subplan.h"

bool ef_tensor_true(const ef_tensor *t) {
    if (EF_LIKELY(t->dtype == EF_BOOL && t->rank == 0)) return *(const uint8_t *)t->data != 0;
    if (t->rank != 0) return ef_count(t) > 0;
    if (t->dtype == EF_STRING) return ((const ef_str *)t->data)->n > 0;
    return ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN) &&
           ef_element_double((ef_dtype)t->dtype, t->data, 0) != 0;
}

ef_status *ef_subplan_result(ef_frame *f, int k, ef_tensor *out) {
    if (out->data == NULL) return ef_frame_take(f, k, out);
    const ef_tensor *from = &f->slot[f->plan->out[k].slot];
    size_t n = ef_tensor_bytes(from);
    if (n > 0) memcpy(out->data, from->data, n);
    return NULL;
}

bool ef_plan_is_left_out(const ef_control *c, const ef_status *bad) {
    ef_code code = ef_status_code(bad);
    return c->n_funcs > 1 && code != EF_OK && code != EF_NO_MEMORY;
}

ef_status *ef_plan_control_facts(const ef_node *n, const ef_fact *in, ef_fact *out, int n_out,
                                 ef_fact *behind) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    if (c.kind == EF_CONTROL_LOOP) return ef_plan_loop_facts(&c, in, out, n_out, behind);
    ef_fact *next = ef_malloc(2 * ((size_t)n_out + 1) * sizeof *next);
    if (next == NULL) return ef_no_memory((size_t)n_out * sizeof *next);
    ef_status *s = NULL;
    bool changed = false, first = true;
    for (int f = 0; f < c.n_funcs; f++) {
        ef_status_free(s);
        s = ef_status_in_function(ef_plan_infer(c.func[f], in + c.first, next, next + n_out), f);
        if (ef_plan_is_left_out(&c, s)) continue;
        if (s != NULL) break;
        for (int k = 0; k < n_out; k++) {
            if (first) {
                out[k] = next[k];
                ef_plan_keep_behind(&out[k], &behind[k]);
            } else {
                ef_plan_widen(&out[k].shape, &next[k].shape);
                ef_plan_widen_behind(&out[k], &behind[k], &next[k], &changed);
            }
        }
        first = false;
    }
    ef_free(next);
    if (first || !ef_plan_is_left_out(&c, s)) return s;
    ef_status_free(s);
    return NULL;
}

ef_status *ef_plan_control(ef_planner *p, const ef_node *n, ef_plan_step *step) {
    ef_status *s = NULL;
    ef_fact *in = ef_notes_memory(p, (size_t)(n->n_in + 1) * sizeof *in, &s);
    if (s != NULL) return s;
    for (int k = 0; k < n->n_in; k++) {
        in[k] = p->value[ef_value_at(p, n->in[k])].fact;
        in[k].value =
            NULL; /* it belongs to this plan, and may differ from one iteration to the next */
    }
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    if (c.kind == EF_CONTROL_LOOP) return ef_plan_loop(p->options->wanted, &c, in, n->n_in, step);
    return ef_plan_branches(p->options->wanted, &c, in, step);
}
