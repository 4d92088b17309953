/* The description of a plan, for people and tests. */
#include "base/text.h"
#include "plan/plan.h"

static const char *const kinds[] = {
    [EF_SLOT_NONE] = "none",   [EF_SLOT_INPUT] = "input", [EF_SLOT_CONST] = "constant",
    [EF_SLOT_ARENA] = "arena", [EF_SLOT_HEAP] = "heap",   [EF_SLOT_VIEW] = "view",
    [EF_SLOT_GIVEN] = "given"};

static const char *place(const ef_slot *s) {
    const char *name = ef_device_name(s->device);
    return name != NULL ? name : "a removed device";
}

static void add_slot(ef_text *t, const ef_plan *p, int32_t k) {
    const ef_slot *s = &p->slot[k];
    ef_text_add(t, " %%%d (%s %s, %s on %s)", (int)k, ef_dtype_name(s->dtype), EF_SHAPE(&s->shape),
                kinds[s->kind], place(s));
}

ef_status *ef_plan_text(const ef_plan *p, char **out) {
    ef_text t = {0};
    for (int32_t k = 0; k < p->n_steps; k++) {
        const ef_plan_step *s = &p->step[k];
        ef_text_add(&t, "%d: %s", (int)k, s->op->name);
        for (int32_t i = 0; i < s->n_in; i++) add_slot(&t, p, s->in[i]);
        if (s->n_out > 0) ef_text_add(&t, " ->");
        for (int32_t o = 0; o < s->n_out; o++) add_slot(&t, p, s->out[o]);
        ef_text_add(&t, "\n");
    }
    ef_text_add(&t, "copies: %d to a device, %d to the host\n", (int)p->n_copies[EF_COPY_TO_DEVICE],
                (int)p->n_copies[EF_COPY_TO_HOST]);
    if (t.failed) {
        ef_text_free(&t);
        return ef_no_memory(t.n);
    }
    *out = t.at;
    return NULL;
}
