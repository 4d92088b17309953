/* Stages that call a predicate for every element, and scan. */
#include "base/alloc.h"
#include "data/function.h"
#include "data/rows.h"
#include "data/stage.h"

typedef struct asked {
    ef_stage base;
    ef_element_fn f;
    bool over;
    ef_tensor *state; /* scan: the state, then room for the function's results */
    int n_state;
    ef_tensor *in;
} asked;

static ef_status *asked_open(ef_stage *s) {
    asked *a = (asked *)s;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(ef_element_fn_open(&a->f, s->run, s->dataset->set->predicate, s->dataset,
                              "other_arguments"));
    return ef_element_fn_check(&a->f, s->dataset, s->source->width);
}

static void asked_close(ef_stage *s) { ef_element_fn_close(&((asked *)s)->f); }

static ef_status *ask(asked *a, const ef_tensor *element, bool *yes) {
    ef_tensor verdict = {0};
    if (a->f.n_out != 1)
        return ef_error(EF_INVALID, "%s: `predicate` must return a scalar bool",
                        a->base.dataset->op->name);
    EF_TRY(ef_element_fn_run(&a->f, element, &verdict));
    ef_status *s = NULL;
    if (verdict.dtype != EF_BOOL || ef_count(&verdict) != 1)
        s = ef_error(EF_INVALID, "%s: `predicate` must return a scalar bool, not %s",
                     a->base.dataset->op->name, EF_TENSOR(&verdict));
    else
        *yes = *(const uint8_t *)verdict.data != 0;
    ef_tensor_release(&verdict);
    return s;
}

static ef_status *filter_next(ef_stage *s, ef_tensor *out, bool *end) {
    asked *a = (asked *)s;
    for (bool yes = false;;) {
        EF_TRY(ef_stage_next(s->source, out, end));
        if (*end) return NULL;
        ef_status *bad = ask(a, out, &yes);
        if (bad == NULL && yes) return NULL;
        ef_element_release(out, s->width);
        if (bad != NULL) return bad;
    }
}

static int64_t fewer(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d));
    return n == 0 ? 0 : EF_COUNT_UNKNOWN;
}

static int64_t some(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_filter = {.name = "Filter",
                                       .size = sizeof(asked),
                                       .open = asked_open,
                                       .next = filter_next,
                                       .close = asked_close,
                                       .count = some};

static ef_status *take_while_next(ef_stage *s, ef_tensor *out, bool *end) {
    asked *a = (asked *)s;
    bool yes = false;
    *end = a->over;
    if (*end) return NULL;
    EF_TRY(ef_stage_next(s->source, out, end));
    a->over = *end;
    if (*end) return NULL;
    ef_status *bad = ask(a, out, &yes);
    if (bad != NULL || !yes) ef_element_release(out, s->width);
    a->over = *end = bad == NULL && !yes;
    return bad;
}

static ef_status *take_while_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((asked *)s)->over);
    return NULL;
}

static ef_status *take_while_restore(ef_stage *s, ef_loader *r) {
    return ef_load_bool(r, &((asked *)s)->over);
}

const ef_stage_kind ef_stage_take_while = {.name = "TakeWhile",
                                           .size = sizeof(asked),
                                           .open = asked_open,
                                           .next = take_while_next,
                                           .close = asked_close,
                                           .count = fewer,
                                           .save = take_while_save,
                                           .restore = take_while_restore};

/* ---- scan --------------------------------------------------------------------------------------
 */

static ef_status *scan_open(ef_stage *s) {
    asked *a = (asked *)s;
    EF_TRY(ef_stage_open_source(s));
    EF_TRY(ef_element_fn_open(&a->f, s->run, s->dataset->set->f, s->dataset, "other_arguments"));
    a->f.no_end = EF_INVALID;
    const ef_tensor *first = ef_dataset_arg(s->dataset, "initial_state", &a->n_state);
    EF_TRY(ef_element_fn_check(&a->f, s->dataset, s->source->width + a->n_state));
    if (a->f.n_out != a->n_state + s->width)
        return ef_error(EF_INVALID,
                        "%s: the function gives %d tensors for a state of %d and "
                        "elements of %d",
                        s->dataset->op->name, a->f.n_out, a->n_state, s->width);
    size_t n = (size_t)(a->n_state + a->f.n_out + s->source->width);
    a->state = ef_calloc(n, sizeof *a->state);
    if (a->state == NULL) return ef_no_memory(n * sizeof *a->state);
    a->in = a->state + a->n_state + a->f.n_out;
    for (int k = 0; k < a->n_state; k++) ef_tensor_copy(&a->state[k], &first[k]);
    return NULL;
}

static void scan_close(ef_stage *s) {
    asked *a = (asked *)s;
    if (a->state != NULL) ef_element_release(a->state, a->n_state + a->f.n_out + s->source->width);
    ef_free(a->state);
    ef_element_fn_close(&a->f);
}

static ef_status *scan_next(ef_stage *s, ef_tensor *out, bool *end) {
    asked *a = (asked *)s;
    ef_tensor *made = a->state + a->n_state;
    EF_TRY(ef_stage_next(s->source, a->in, end));
    if (*end) return NULL;
    ef_status *bad = ef_element_fn_run2(&a->f, a->state, a->n_state, a->in, made);
    ef_element_release(a->in, s->source->width);
    if (bad != NULL) return bad;
    for (int k = 0; k < a->n_state; k++) {
        ef_tensor_release(&a->state[k]);
        ef_tensor_move(&a->state[k], &made[k]);
    }
    for (int k = 0; k < s->width; k++) ef_tensor_move(&out[k], &made[a->n_state + k]);
    return NULL;
}

static ef_status *scan_save(ef_stage *s, ef_saver *w) {
    const asked *a = (const asked *)s;
    return ef_save_tensors(w, a->state, a->n_state);
}

static ef_status *scan_restore(ef_stage *s, ef_loader *r) {
    const asked *a = (const asked *)s;
    ef_tensor *made = a->state + a->n_state;
    EF_TRY(ef_load_tensors(r, made, a->n_state));
    for (int k = 0; k < a->n_state; k++) {
        if (made[k].dtype != a->state[k].dtype)
            return ef_load_broken("the state of a scan has another dtype");
        ef_tensor_release(&a->state[k]);
        ef_tensor_move(&a->state[k], &made[k]);
    }
    return NULL;
}

static int64_t scan_count(const ef_dataset *d) {
    return d->set->preserve_cardinality ? ef_stage_count(ef_dataset_source(d)) : EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_scan = {.name = "Scan",
                                     .remakes = true,
                                     .size = sizeof(asked),
                                     .open = scan_open,
                                     .next = scan_next,
                                     .close = scan_close,
                                     .count = scan_count,
                                     .save = scan_save,
                                     .restore = scan_restore};
