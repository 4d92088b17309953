/* Padded batches: elements of different sizes, each padded to the size of the batch. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"
#include "ops/list/list.h"
#include <string.h>

typedef struct padded {
    ef_stage base;
    int64_t size, n;
    bool whole, over;
    ef_tensor *element;
} padded;

static ef_status *padded_open(ef_stage *s) {
    padded *p = (padded *)s;
    p->size = ef_dataset_int(s->dataset, "batch_size", 1);
    p->whole = ef_dataset_int(s->dataset, "drop_remainder", 0) != 0;
    return ef_stage_open_source(s);
}

static void forget(padded *p) {
    for (int64_t k = 0; k < p->n * p->base.width; k++) ef_tensor_release(&p->element[k]);
    p->n = 0;
    ef_free(p->element);
    p->element = NULL;
}

static void padded_close(ef_stage *s) { forget((padded *)s); }

/* The shape of component k in the batch: the program's padded shape, else the largest size. */
static ef_status *padded_shape(const padded *p, int k, ef_shape *out) {
    const ef_tensor *say = ef_dataset_arg(p->base.dataset, "padded_shapes", NULL);
    const ef_tensor *t = &p->element[k];
    int64_t rank = ef_count(&say[k]);
    if (rank != t->rank || rank >= EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "All elements in a batch must have the same rank as the padded shape for "
                        "component%d: expected rank %lld but got element with rank %d",
                        k, (long long)rank, t->rank);
    *out = (ef_shape){.rank = (int)rank + 1, .dim = {p->n}};
    for (int d = 0; d < rank; d++) {
        int64_t want = ((const int64_t *)say[k].data)[d], most = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const ef_tensor *e = &p->element[i * p->base.width + k];
            if (e->rank != t->rank)
                return ef_error(EF_INVALID,
                                "All elements in a batch must have the same rank as the padded "
                                "shape for component%d: expected rank %lld but got element with "
                                "rank %d",
                                k, (long long)rank, e->rank);
            if (e->dim[d] > most) most = e->dim[d];
        }
        if (want >= 0 && most > want)
            return ef_error(EF_DATA_LOSS,
                            "Attempted to pad to a smaller size than the input element.");
        out->dim[d + 1] = want >= 0 ? want : most;
    }
    return NULL;
}

/* Copies one element into its row of the batch, by runs along the last axis. */
static ef_status *put_lines(ef_tensor *to, int64_t row, const ef_tensor *e) {
    int r = e->rank;
    int64_t at[EF_MAX_RANK] = {0}, line = r > 0 ? e->dim[r - 1] : 1, n = ef_count(e);
    if (n == 0) return NULL;
    for (int64_t done = 0; done < n; done += line) {
        int64_t place = row;
        for (int d = 0; d < r; d++) place = place * to->dim[d + 1] + at[d];
        EF_TRY(ef_list_copy(to, place, e, done, line));
        for (int d = r - 2; d >= 0; d--) {
            if (++at[d] < e->dim[d]) break;
            at[d] = 0;
        }
    }
    return NULL;
}

static ef_status *fill_with(ef_tensor *to, const ef_tensor *value) {
    int64_t n = ef_count(to);
    size_t size = ef_dtype_size((ef_dtype)to->dtype);
    if (n == 0) return NULL;
    if (to->dtype != EF_STRING) {
        const char *v = value->data;
        bool zero = true;
        for (size_t i = 0; i < size; i++) zero &= v[i] == 0;
        if (zero) {
            memset(to->data, 0, (size_t)n * size);
            return NULL;
        }
    }
    for (int64_t k = 0; k < n; k++) EF_TRY(ef_list_copy(to, k, value, 0, 1));
    return NULL;
}

static ef_status *pad(const padded *p, int k, ef_tensor *out) {
    const ef_tensor *value = ef_dataset_arg(p->base.dataset, "padding_values", NULL);
    ef_shape shape;
    EF_TRY(padded_shape(p, k, &shape));
    EF_TRY(ef_tensor_alloc(out, (ef_dtype)p->element[k].dtype, &shape));
    ef_status *s = fill_with(out, &value[k]);
    for (int64_t i = 0; i < p->n && s == NULL; i++)
        s = put_lines(out, i, &p->element[i * p->base.width + k]);
    if (s != NULL) ef_tensor_release(out);
    return s;
}

static ef_status *gather(padded *p) {
    while (p->n < p->size && !p->over) {
        EF_TRY(ef_elements_reserve(&p->element, p->n, p->n + 1, p->base.width));
        EF_TRY(ef_stage_next(p->base.source, p->element + p->n * p->base.width, &p->over));
        if (!p->over) p->n++;
    }
    return NULL;
}

static ef_status *padded_next(ef_stage *s, ef_tensor *out, bool *end) {
    padded *p = (padded *)s;
    ef_status *bad = gather(p);
    *end = bad == NULL && (p->n == 0 || (p->whole && p->n < p->size));
    for (int k = 0; k < s->width && bad == NULL && !*end; k++) {
        bad = pad(p, k, &out[k]);
        if (bad != NULL) ef_element_release(out, k);
    }
    forget(p);
    return bad;
}

static int64_t padded_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d)), size = ef_dataset_int(d, "batch_size", 1);
    if (n < 0) return n;
    return n / size + (n % size != 0 && !ef_dataset_int(d, "drop_remainder", 0));
}

static ef_status *padded_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((padded *)s)->over);
    return NULL;
}

static ef_status *padded_restore(ef_stage *s, ef_loader *r) {
    return ef_load_bool(r, &((padded *)s)->over);
}

const ef_stage_kind ef_stage_padded_batch = {.name = "PaddedBatch",
                                             .size = sizeof(padded),
                                             .open = padded_open,
                                             .next = padded_next,
                                             .close = padded_close,
                                             .count = padded_count,
                                             .save = padded_save,
                                             .restore = padded_restore};
