/* Opening and closing stages, and stacking elements of those that cannot do it themselves. */
#include "data/stage.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "data/rows.h"
#include "data/stage_events.h"
#include <string.h>

static const ef_stage_kind *const kinds[EF_DATASET_KINDS] = {
#define EF_DATASET(N) [EF_DATASET_##N] = &ef_stage_##N,
#include "ops/data/kinds.def"
#undef EF_DATASET
};

/* The stage whose sources this thread is opening. */
static _Thread_local ef_stage *opening;

ef_status *ef_stage_open_under(ef_stage *s, const ef_dataset *d, ef_stage **out) {
    ef_stage *before = opening;
    opening = s;
    ef_status *bad = ef_stage_open(s->run, d, out);
    opening = before;
    return bad;
}

ef_status *ef_stage_open_source(ef_stage *s) {
    const ef_dataset *d = ef_dataset_source(s->dataset);
    return d != NULL ? ef_stage_open_under(s, d, &s->source) : NULL;
}

ef_status *ef_stage_need_width(const ef_dataset *d, const ef_dataset *of, int width) {
    int n = ef_dataset_width(of);
    if (n == width) return NULL;
    return ef_error(EF_INVALID,
                    "%s: Number of components does not match: expected %d, but elements of its "
                    "input have %d",
                    d->op->name, width, n);
}

ef_status *ef_stage_need_same(const ef_dataset *d, const ef_dataset *of) {
    EF_TRY(ef_stage_need_width(d, of, ef_dataset_width(d)));
    for (int k = 0; k < ef_dataset_width(d); k++) {
        ef_dtype want = ef_dataset_type(d, k), have = ef_dataset_type(of, k);
        if (want != have && want != EF_NO_DTYPE && have != EF_NO_DTYPE)
            return ef_error(EF_INVALID,
                            "%s: Data type mismatch at component %d: expected %s but got %s.",
                            d->op->name, k, ef_dtype_name(want), ef_dtype_name(have));
    }
    return NULL;
}

/* A stage that hands on the components of its sources gives its caller as many tensors as they
 * have, so what the program declares must be what they have. */
static ef_status *check_sources(const ef_stage_kind *kind, const ef_dataset *d) {
    const ef_dataset *source = ef_dataset_source(d);
    const ef_dataset *second = ef_dataset_of(ef_dataset_arg(d, "another_dataset", NULL));
    if (kind->remakes) return NULL;
    if (source != NULL) EF_TRY(ef_stage_need_same(d, source));
    return second != NULL ? ef_stage_need_same(d, second) : NULL;
}

ef_status *ef_stage_open(ef_run *run, const ef_dataset *d, ef_stage **out) {
    const ef_stage_kind *kind = kinds[d->op->dataset];
    EF_TRY(check_sources(kind, d));
    ef_stage *s = ef_calloc(1, kind->size), *before = opening;
    if (s == NULL) return ef_no_memory(kind->size);
    s->kind = kind;
    s->run = run;
    s->dataset = d;
    ef_storage_ref(&((ef_dataset *)(uintptr_t)d)->object.base);
    s->width = ef_dataset_width(d);
    s->note = ef_stage_note_of(run, before != NULL && before->run == run ? before->note : NULL,
                               kind->name, d);
    opening = s;
    ef_status *bad = kind->open != NULL ? kind->open(s) : ef_stage_open_source(s);
    opening = before;
    if (s->source != NULL && s->source->blocks) s->blocks = true;
    if (bad != NULL) {
        ef_stage_close(s);
    } else {
        ef_stage_opened(s);
        *out = s;
    }
    return bad;
}

void ef_stage_close(ef_stage *s) {
    if (s == NULL) return;
    if (s->counted) ef_stage_closes(s);
    ef_stage_note_add(s->note, s->made - s->noted, 0);
    if (s->kind->close != NULL) s->kind->close(s);
    ef_stage_close(s->source);
    ef_storage_unref(&((ef_dataset *)(uintptr_t)s->dataset)->object.base);
    ef_free(s);
}

int64_t ef_stage_count(const ef_dataset *d) {
    const ef_stage_kind *kind = kinds[d->op->dataset];
    return kind->count != NULL ? kind->count(d) : ef_stage_count(ef_dataset_source(d));
}

/* ---- positions ---------------------------------------------------------------------------------
 */

ef_status *ef_position_save(ef_stage *s, ef_saver *w) {
    ef_save_text(w, s->kind->name, strlen(s->kind->name));
    ef_save_int(w, (int64_t)s->made);
    if (s->kind->save != NULL) EF_TRY(s->kind->save(s, w));
    ef_save_int(w, s->source != NULL);
    return s->source != NULL ? ef_position_save(s->source, w) : NULL;
}

static ef_status *check_name(const ef_stage *s, ef_loader *r) {
    const char *at, *name = s->kind->name;
    size_t n;
    EF_TRY(ef_load_text(r, &at, &n));
    if (n == strlen(name) && memcmp(at, name, n) == 0) return NULL;
    return ef_error(EF_NOT_FOUND,
                    "Failed to restore dataset iterator from checkpoint: where the dataset has %s, "
                    "the one whose position was saved had %.*s. Make sure the dataset definition "
                    "has not changed between the process that saved the checkpoint and the process "
                    "that is restoring it.",
                    name, n < 64 ? (int)n : 64, at);
}

/* The source is open or not as it was when the position was saved. */
static ef_status *restore_source(ef_stage *s, ef_loader *r) {
    bool has;
    EF_TRY(ef_load_bool(r, &has));
    if (!has) {
        if (s->source != NULL && !s->kind->sourceless)
            return ef_load_broken("a stage lacks its source");
        ef_stage_close(s->source);
        s->source = NULL;
        return NULL;
    }
    if (s->source == NULL) EF_TRY(ef_stage_open_source(s));
    if (s->source == NULL) return ef_load_broken("a source has one source too many");
    return ef_position_restore(s->source, r);
}

ef_status *ef_position_restore(ef_stage *s, ef_loader *r) {
    int64_t made;
    EF_TRY(check_name(s, r));
    EF_TRY(ef_load_upto(r, INT64_MAX, &made));
    if (s->kind->restore != NULL) EF_TRY(s->kind->restore(s, r));
    EF_TRY(restore_source(s, r));
    s->made = s->noted = (uint64_t)made;
    return NULL;
}

/* The stage that made the element adds its number to the error; stages after it add nothing. */
static ef_status *failed(const ef_stage *s, ef_status *bad) {
    static const char place[] = "while making element ";
    if (ef_status_code(bad) == EF_CANCELLED || strstr(ef_status_message(bad), place) != NULL)
        return bad;
    return ef_status_add(bad, "%s%llu of %s", place, (unsigned long long)(s->made - 1),
                         s->kind->name);
}

/* The first elements are timed, then one in SAMPLED, whose time is multiplied. */
enum { SAMPLED = 16 };

static ef_status *next_timed(ef_stage *s, ef_tensor *out, bool *end) {
    uint64_t from = ef_now_ns(), before = s->made;
    ef_status *bad = s->kind->next(s, out, end);
    uint64_t ns = ef_now_ns() - from;
    s->made += bad != NULL || !*end;
    ef_stage_note_add(s->note, s->made - s->noted,
                      before < SAMPLED || s->counted ? ns : ns * SAMPLED);
    s->noted = s->made;
    if (s->counted) ef_stage_gave(s, ns, bad == NULL && !*end ? 1 : 0, out);
    return bad == NULL ? NULL : failed(s, bad);
}

ef_status *ef_stage_next(ef_stage *s, ef_tensor *out, bool *end) {
    EF_TRY(ef_interrupt_check(ef_context_here(), &ef_pipeline_pulse));
    if (EF_UNLIKELY(s->made < SAMPLED || s->made % SAMPLED == 0 || s->counted))
        return next_timed(s, out, end);
    ef_status *bad = s->kind->next(s, out, end);
    s->made += bad != NULL || !*end;
    return EF_LIKELY(bad == NULL) ? NULL : failed(s, bad);
}

bool ef_stage_stacks(ef_stage *s) {
    return s->kind->rows != NULL && (s->kind->stacks == NULL || s->kind->stacks(s));
}

/* Draws the remaining elements of a batch that failed. */
static void drain(ef_stage *s, int64_t n, ef_tensor *element) {
    bool end = false;
    for (; n > 0 && !end; n--) {
        ef_status_free(ef_stage_next(s, element, &end));
        ef_element_release(element, s->width);
    }
}

static ef_status *stack_each(ef_stage *s, int64_t n, ef_tensor *element, ef_rows *rows) {
    for (bool end = false; rows->n < n;) {
        ef_status *bad = ef_stage_next(s, element, &end);
        if (bad == NULL && end) return NULL;
        if (bad == NULL) bad = ef_rows_put(rows, element);
        ef_element_release(element, s->width);
        if (bad == NULL) continue;
        if (s->kind->drains && ef_status_code(bad) != EF_CANCELLED)
            drain(s, n - rows->n - 1, element);
        return bad;
    }
    return NULL;
}

ef_status *ef_stage_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    if (ef_stage_stacks(s)) {
        EF_TRY(ef_interrupt_check(ef_context_here(), &ef_pipeline_pulse));
        uint64_t from = ef_now_ns();
        *got = 0;
        ef_status *bad = s->kind->rows(s, n, out, got);
        const uint64_t ns = ef_now_ns() - from;
        s->made += (uint64_t)*got;
        ef_stage_note_add(s->note, s->made - s->noted, ns);
        s->noted = s->made;
        if (s->counted) ef_stage_gave(s, ns, bad == NULL ? *got : 0, out);
        return bad;
    }
    enum { FEW = 8 };
    ef_tensor few[FEW], *element = few;
    size_t bytes = (size_t)s->width * sizeof *element;
    if (s->width > FEW && (element = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
    memset(element, 0, bytes);
    ef_rows rows = ef_rows_begin(out, s->width, n);
    ef_status *bad = stack_each(s, n, element, &rows);
    if (bad == NULL)
        ef_rows_finish(&rows);
    else
        ef_rows_end(&rows);
    *got = rows.n;
    if (element != few) ef_free(element);
    return bad;
}
