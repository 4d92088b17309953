/* UniqueElements, which drops elements that were seen before, and DirectedInterleave, which chooses
 * between sources. */
#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "data/rows.h"
#include "data/stage.h"

/* ---- unique ------------------------------------------------------------------------------------
 */

typedef struct unique {
    ef_stage base;
    ef_map seen; /* by hash: copies of the elements */
} unique;

static void unique_close(ef_stage *s) {
    unique *u = (unique *)s;
    for (size_t k = 0; k < u->seen.cap; k++) {
        ef_tensor *t = u->seen.slot[k].value;
        if (t == NULL) continue;
        ef_tensor_release(t);
        ef_free(t);
    }
    ef_map_free(&u->seen);
}

static bool same(const void *value, const void *key) { return ef_tensor_same_bytes(value, key); }

static ef_status *remember(unique *u, uint64_t hash, const ef_tensor *t) {
    ef_tensor *copy = ef_calloc(1, sizeof *copy);
    if (copy == NULL) return ef_no_memory(sizeof *copy);
    ef_tensor_copy(copy, t);
    ef_status *s = ef_map_put(&u->seen, hash, copy);
    if (s == NULL) return NULL;
    ef_tensor_release(copy);
    ef_free(copy);
    return s;
}

static ef_status *unique_next(ef_stage *s, ef_tensor *out, bool *end) {
    unique *u = (unique *)s;
    for (;;) {
        EF_TRY(ef_stage_next(s->source, out, end));
        if (*end) return NULL;
        uint64_t hash = ef_tensor_hash(1, out);
        if (ef_map_find(&u->seen, hash, same, out) == NULL) return remember(u, hash, out);
        ef_element_release(out, s->width);
    }
}

static ef_status *unique_save(ef_stage *s, ef_saver *w) {
    const unique *u = (const unique *)s;
    ef_save_int(w, (int64_t)u->seen.n);
    for (size_t k = 0; k < u->seen.cap; k++)
        if (u->seen.slot[k].value != NULL) EF_TRY(ef_save_tensors(w, u->seen.slot[k].value, 1));
    return NULL;
}

static ef_status *unique_restore(ef_stage *s, ef_loader *r) {
    int64_t n;
    EF_TRY(ef_load_count(r, &n));
    for (int64_t k = 0; k < n; k++) {
        ef_tensor t = {0};
        EF_TRY(ef_load_element(r, s->dataset, &t));
        ef_status *bad = remember((unique *)s, ef_tensor_hash(1, &t), &t);
        ef_tensor_release(&t);
        if (bad != NULL) return bad;
    }
    return NULL;
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_unique = {.name = "UniqueElements",
                                       .size = sizeof(unique),
                                       .next = unique_next,
                                       .close = unique_close,
                                       .count = unknown,
                                       .save = unique_save,
                                       .restore = unique_restore};

/* ---- directed ----------------------------------------------------------------------------------
 */

typedef struct directed {
    ef_stage base;
    ef_stage **part; /* NULL: it has ended */
    int n, left;
} directed;

static ef_status *directed_open(ef_stage *s) {
    directed *d = (directed *)s;
    int n;
    const ef_tensor *in = ef_dataset_arg(s->dataset, "data_input_datasets", &n);
    const ef_tensor *by = ef_dataset_arg(s->dataset, "selector_input_dataset", NULL);
    d->part = ef_calloc((size_t)n, sizeof *d->part);
    if (d->part == NULL) return ef_no_memory((size_t)n * sizeof *d->part);
    d->n = n;
    EF_TRY(ef_stage_need_width(s->dataset, ef_dataset_of(by), 1));
    for (; d->left < n; d->left++) {
        EF_TRY(ef_stage_need_same(s->dataset, ef_dataset_of(&in[d->left])));
        EF_TRY(ef_stage_open(s->run, ef_dataset_of(&in[d->left]), &d->part[d->left]));
    }
    return ef_stage_open(s->run, ef_dataset_of(by), &s->source);
}

static void directed_close(ef_stage *s) {
    directed *d = (directed *)s;
    for (int k = 0; k < d->n; k++) ef_stage_close(d->part[k]);
    ef_free(d->part);
}

static ef_status *choose(directed *d, int64_t *which, bool *end) {
    ef_tensor t = {0};
    EF_TRY(ef_stage_next(d->base.source, &t, end));
    if (*end) return NULL;
    *which = ef_count(&t) == 1 ? ef_element_int((ef_dtype)t.dtype, t.data, 0) : -1;
    ef_tensor_release(&t);
    if (*which >= 0 && *which < d->n) return NULL;
    return ef_error(EF_INVALID, "Selector index out of range: %lld >= %d", (long long)*which, d->n);
}

static ef_status *directed_next(ef_stage *s, ef_tensor *out, bool *end) {
    directed *d = (directed *)s;
    while (d->left > 0) {
        int64_t k = 0;
        EF_TRY(choose(d, &k, end));
        if (*end) return NULL;
        if (d->part[k] == NULL) continue;
        EF_TRY(ef_stage_next(d->part[k], out, end));
        if (!*end) return NULL;
        if (s->dataset->set->stop_on_empty_dataset) return NULL;
        ef_stage_close(d->part[k]);
        d->part[k] = NULL;
        d->left--;
        *end = false;
    }
    *end = true;
    return NULL;
}

static ef_status *directed_save(ef_stage *s, ef_saver *w) {
    const directed *d = (const directed *)s;
    for (int k = 0; k < d->n; k++) {
        ef_save_int(w, d->part[k] != NULL);
        if (d->part[k] != NULL) EF_TRY(ef_position_save(d->part[k], w));
    }
    return NULL;
}

static ef_status *directed_restore(ef_stage *s, ef_loader *r) {
    directed *d = (directed *)s;
    for (int k = 0; k < d->n; k++) {
        bool has;
        EF_TRY(ef_load_bool(r, &has));
        if (has) {
            EF_TRY(ef_position_restore(d->part[k], r));
            continue;
        }
        ef_stage_close(d->part[k]);
        d->part[k] = NULL;
        d->left--;
    }
    return NULL;
}

/* As in TensorFlow, although the selector may end earlier. */
static int64_t directed_count(const ef_dataset *d) {
    int n;
    const ef_tensor *in = ef_dataset_arg(d, "data_input_datasets", &n);
    for (int k = 0; k < n; k++)
        if (ef_stage_count(ef_dataset_of(&in[k])) == EF_COUNT_INFINITE) return EF_COUNT_INFINITE;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_directed = {.name = "DirectedInterleave",
                                         .remakes = true,
                                         .size = sizeof(directed),
                                         .open = directed_open,
                                         .next = directed_next,
                                         .close = directed_close,
                                         .count = directed_count,
                                         .save = directed_save,
                                         .restore = directed_restore};
