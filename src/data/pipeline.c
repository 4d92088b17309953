/* A running pipeline: the stages of a dataset, used by one thread at a time. Any thread may ask for
 * the next element, and each element goes to one of them. */
#include "base/alloc.h"
#include "base/blocking.h"
#include "base/interrupt.h"
#include "data/function.h"
#include "data/read_ahead.h"
#include "data/rows.h"
#include "data/stage.h"
#include "ops/data/iterator.h"
#include <string.h>

typedef struct ef_pipeline {
    atomic_int refs;
    ef_run *run;
    ef_stage *top;
    ef_read_ahead ahead; /* of `top` */
    ef_mutex lock;       /* guards `busy` */
    pthread_cond_t idle;
    bool busy;         /* a thread uses what follows */
    ef_tensor *peeked; /* the next element, if `has_peeked` */
    bool has_peeked, over;
} ef_pipeline;

_Thread_local int ef_pipeline_depth;
_Thread_local unsigned ef_pipeline_pulse;

static void pipeline_ref(ef_pipeline *p) {
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
}

static void pipeline_unref(ef_pipeline *p) {
    if (p == NULL || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    if (p->run != NULL) ef_run_stop(p->run);
    if (p->peeked != NULL && p->top != NULL) ef_element_release(p->peeked, p->top->width);
    ef_free(p->peeked);
    ef_read_ahead_close(&p->ahead);
    ef_stage_close(p->top);
    ef_run_free(p->run);
    pthread_cond_destroy(&p->idle);
    ef_mutex_destroy(&p->lock);
    ef_free(p);
}

static ef_status *pipeline_open(const ef_dataset *d, ef_pipeline **out) {
    ef_pipeline *p = ef_calloc(1, sizeof *p);
    if (p == NULL) return ef_no_memory(sizeof *p);
    atomic_init(&p->refs, 1);
    ef_mutex_init(&p->lock, EF_RANK_PIPELINE, EF_MUTEX_PLAIN);
    ef_cond_init(&p->idle);
    p->peeked = ef_calloc((size_t)ef_dataset_width(d) + 1, sizeof *p->peeked);
    ef_status *s = p->peeked == NULL ? ef_no_memory(sizeof *p->peeked) : ef_run_make(d, &p->run);
    ef_pipeline_depth++;
    if (s == NULL) s = ef_stage_open(p->run, d, &p->top);
    ef_pipeline_depth--;
    if (s == NULL) {
        ef_read_ahead_inject(&p->ahead, p->top);
        *out = p;
    } else {
        pipeline_unref(p);
    }
    return s;
}

/* ---- turns -------------------------------------------------------------------------------------
 */

enum { WAIT_MS = 20 };

static bool try_enter(ef_pipeline *p) {
    ef_mutex_lock(&p->lock);
    bool mine = !p->busy;
    p->busy = true;
    ef_mutex_unlock(&p->lock);
    return mine;
}

static void wait_a_while(ef_pipeline *p) {
    void *blocking = ef_blocking_begin();
    struct timespec until = ef_deadline(WAIT_MS);
    ef_mutex_lock(&p->lock);
    if (p->busy) ef_mutex_wait_until(&p->lock, &p->idle, &until);
    ef_mutex_unlock(&p->lock);
    ef_blocking_end(blocking);
}

static ef_status *enter(ef_pipeline *p) {
    unsigned pulse = ef_interrupt_counter();
    while (!try_enter(p)) {
        wait_a_while(p);
        EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
    }
    if (ef_pipeline_depth++ == 0) ef_pipeline_pulse = ef_interrupt_counter();
    return NULL;
}

static void leave(ef_pipeline *p) {
    ef_pipeline_depth--;
    ef_mutex_lock(&p->lock);
    p->busy = false;
    pthread_cond_signal(&p->idle);
    ef_mutex_unlock(&p->lock);
}

/* ---- elements ----------------------------------------------------------------------------------
 */

/* After the end, the stages are not called again. */
static ef_status *draw(ef_pipeline *p, ef_tensor *out, bool *end) {
    *end = p->over;
    if (p->over) return NULL;
    ef_status *s = ef_read_ahead_next(&p->ahead, out, end);
    p->over = s == NULL && *end;
    return s;
}

static ef_status *pipeline_next(ef_pipeline *p, ef_tensor *out, bool *end) {
    EF_TRY(enter(p));
    ef_status *s = NULL;
    if (p->has_peeked) {
        for (int k = 0; k < p->top->width; k++) ef_tensor_move(&out[k], &p->peeked[k]);
        p->has_peeked = false;
        *end = false;
    } else {
        s = draw(p, out, end);
    }
    leave(p);
    return s;
}

static ef_status *pipeline_peek(ef_pipeline *p, bool *more) {
    EF_TRY(enter(p));
    ef_status *s = NULL;
    bool end = false;
    if (!p->has_peeked) {
        s = draw(p, p->peeked, &end);
        p->has_peeked = s == NULL && !end;
    }
    *more = p->has_peeked;
    leave(p);
    return s;
}

/* ---- positions ---------------------------------------------------------------------------------
 */

static const char title[] = "evenflow position 1"; /* what a position begins with */

/* The seeds that iterations which have not begun will get, as those of a shuffle below repeat. */
static void save_seeds(const ef_dataset *d, ef_saver *w) {
    for (int k = 0; k < d->n_in; k++) {
        const ef_dataset *source = ef_dataset_of(&d->in[k]);
        ef_seeds *g = ef_seeds_of(&d->in[k]);
        if (g != NULL) ef_save_seeds(w, g);
        if (source != NULL) save_seeds(source, w);
    }
}

static ef_status *restore_seeds(const ef_dataset *d, ef_loader *r) {
    for (int k = 0; k < d->n_in; k++) {
        const ef_dataset *source = ef_dataset_of(&d->in[k]);
        ef_seeds *g = ef_seeds_of(&d->in[k]);
        if (g != NULL) EF_TRY(ef_load_seeds(r, g));
        if (source != NULL) EF_TRY(restore_seeds(source, r));
    }
    return NULL;
}

static ef_status *save_all(ef_pipeline *p, ef_saver *w) {
    ef_save_text(w, title, sizeof title - 1);
    ef_save_int(w, p->over);
    ef_save_int(w, p->has_peeked);
    if (p->has_peeked) EF_TRY(ef_save_tensors(w, p->peeked, p->top->width));
    EF_TRY(ef_read_ahead_save(&p->ahead, w));
    EF_TRY(ef_position_save(p->top, w));
    save_seeds(p->top->dataset, w);
    return w->text.failed ? ef_no_memory(w->text.n) : NULL;
}

static ef_status *pipeline_save(ef_pipeline *p, bool strict, ef_text *out) {
    ef_saver w = {.text = *out};
    if (strict) EF_TRY(ef_dataset_self_contained(p->top->dataset));
    EF_TRY(enter(p));
    ef_status *s = save_all(p, &w);
    ef_rings_resume(&w);
    leave(p);
    *out = w.text;
    return s;
}

static ef_status *restore_all(ef_pipeline *p, ef_loader *r) {
    const char *at;
    size_t n;
    EF_TRY(ef_load_text(r, &at, &n));
    if (n != sizeof title - 1 || memcmp(at, title, n) != 0)
        return ef_load_broken("it was not written by Evenflow, or by another version of it");
    EF_TRY(ef_load_bool(r, &p->over));
    bool peeked;
    EF_TRY(ef_load_bool(r, &peeked));
    if (peeked) EF_TRY(ef_load_element(r, p->top->dataset, p->peeked));
    p->has_peeked = peeked;
    EF_TRY(ef_read_ahead_restore(&p->ahead, r));
    EF_TRY(ef_position_restore(p->top, r));
    EF_TRY(restore_seeds(p->top->dataset, r));
    return r->left.n == 0 ? NULL : ef_load_broken("it is too long");
}

static ef_status *pipeline_restore(ef_pipeline *p, const char *bytes, size_t n, ef_pipeline **out) {
    ef_loader r = {.left = {(const unsigned char *)bytes, n}};
    ef_pipeline *fresh = NULL;
    EF_TRY(pipeline_open(p->top->dataset, &fresh));
    ef_pipeline_depth++;
    ef_status *s = restore_all(fresh, &r);
    ef_pipeline_depth--;
    if (s == NULL)
        *out = fresh;
    else
        pipeline_unref(fresh);
    return s;
}

/* ---- reductions --------------------------------------------------------------------------------
 */

static ef_status *reduce_all(ef_pipeline *p, const ef_element_fn *f, ef_tensor *state, int n,
                             ef_tensor *element) {
    unsigned pulse = ef_interrupt_counter();
    ef_tensor *made = element + p->top->width;
    for (bool end = false;;) {
        EF_TRY(pipeline_next(p, element, &end));
        if (end) return NULL;
        EF_TRY(ef_element_fn_run2(f, state, n, element, made));
        ef_element_release(element, p->top->width);
        for (int k = 0; k < n; k++) {
            ef_tensor_release(&state[k]);
            ef_tensor_move(&state[k], &made[k]);
        }
        EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
    }
}

static ef_status *reduce(const ef_dataset *d, ef_graph *graph, ef_tensor *state, int n,
                         ef_tensor *const *more, int n_more) {
    ef_pipeline *p = NULL;
    ef_element_fn f = {0};
    size_t room = (size_t)(ef_dataset_width(d) + n + n_more) + 1;
    ef_tensor *all = ef_calloc(room, sizeof *all);
    if (all == NULL) return ef_no_memory(room * sizeof *all);
    ef_tensor *given = all + ef_dataset_width(d) + n;
    ef_status *s = ef_element_fn_make(&f, graph, given, n_more);
    for (int k = 0; k < n_more; k++) ef_tensor_copy(&given[k], more[k]);
    if (s == NULL) s = ef_element_fn_check(&f, d, ef_dataset_width(d) + n);
    if (s == NULL && f.n_out != n)
        s = ef_error(EF_INVALID, "the function of a reduction gives %d tensors for a state of %d",
                     f.n_out, n);
    if (s == NULL) s = pipeline_open(d, &p);
    if (s == NULL) s = reduce_all(p, &f, state, n, all);
    pipeline_unref(p);
    ef_element_fn_close(&f);
    ef_element_release(all, (int)room);
    ef_free(all);
    return s;
}

const ef_data_hooks ef_data = {.open = pipeline_open,
                               .ref = pipeline_ref,
                               .unref = pipeline_unref,
                               .next = pipeline_next,
                               .peek = pipeline_peek,
                               .count = ef_stage_count,
                               .reduce = reduce,
                               .save = pipeline_save,
                               .restore = pipeline_restore};
