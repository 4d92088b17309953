/* Prefetch: a thread makes elements ahead, if that is worth it (read_ahead.h). */
#include "data/read_ahead.h"

typedef struct prefetch {
    ef_stage base;
    ef_read_ahead ahead;
} prefetch;

static void prefetch_close(ef_stage *s) { ef_read_ahead_close(&((prefetch *)s)->ahead); }

static ef_status *prefetch_open(ef_stage *s) {
    EF_TRY(ef_stage_open_source(s));
    return ef_read_ahead_open(&((prefetch *)s)->ahead, s->source,
                              ef_dataset_int(s->dataset, "buffer_size", -1), s->note, NULL);
}

static ef_status *prefetch_next(ef_stage *s, ef_tensor *out, bool *end) {
    return ef_read_ahead_next(&((prefetch *)s)->ahead, out, end);
}

static bool prefetch_stacks(ef_stage *s) {
    return ef_read_ahead_holds_none(&((prefetch *)s)->ahead) && ef_stage_stacks(s->source);
}

static ef_status *prefetch_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    return ef_stage_rows(s->source, n, out, got);
}

static ef_status *prefetch_save(ef_stage *s, ef_saver *w) {
    return ef_read_ahead_save(&((prefetch *)s)->ahead, w);
}

static ef_status *prefetch_restore(ef_stage *s, ef_loader *r) {
    return ef_read_ahead_restore(&((prefetch *)s)->ahead, r);
}

const ef_stage_kind ef_stage_prefetch = {.name = "Prefetch",
                                         .size = sizeof(prefetch),
                                         .open = prefetch_open,
                                         .next = prefetch_next,
                                         .rows = prefetch_rows,
                                         .stacks = prefetch_stacks,
                                         .close = prefetch_close,
                                         .save = prefetch_save,
                                         .restore = prefetch_restore};
