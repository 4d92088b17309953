/* Batches of dense elements as sparse tensors. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"
#include "ops/list/list.h"
#include <string.h>

typedef struct batch {
    ef_stage base;
    int64_t size, n;
    ef_tensor *row; /* n of them */
    bool over;
} batch;

static ef_status *batch_open(ef_stage *s) {
    EF_TRY(ef_stage_need_width(s->dataset, ef_dataset_source(s->dataset), 1));
    EF_TRY(ef_stage_open_source(s));
    ((batch *)s)->size = ef_dataset_int(s->dataset, "batch_size", 1);
    if (s->source->width == 1 && s->width == 3) return NULL;
    return ef_error(EF_INVALID,
                    "%s: elements of the input must be one tensor, and elements made three: "
                    "indices, values and dense shape",
                    s->dataset->op->name);
}

static void forget(batch *b) {
    for (int64_t k = 0; k < b->n; k++) ef_tensor_release(&b->row[k]);
    ef_free(b->row);
    b->row = NULL;
    b->n = 0;
}

static void batch_close(ef_stage *s) { forget((batch *)s); }

/* The sizes of the batch, and how many values it has. */
static ef_status *batch_shape(const batch *b, ef_shape *out, int64_t *values) {
    const ef_tensor *say = ef_dataset_arg(b->base.dataset, "row_shape", NULL);
    const int64_t *want = say->data, rank = ef_count(say);
    *out = (ef_shape){.rank = (int)rank + 1, .dim = {b->n}};
    *values = 0;
    for (int d = 0; d < rank; d++) out->dim[d + 1] = want[d] < 0 ? 0 : want[d];
    for (int64_t k = 0; k < b->n; k++) {
        const ef_tensor *t = &b->row[k];
        ef_shape shape = ef_shape_from(t);
        if (t->rank != rank)
            return ef_error(EF_INVALID,
                            "Input element had shape (%s) that is incompatible with the row shape, "
                            "which has rank %lld",
                            EF_SHAPE(&shape), (long long)rank);
        for (int d = 0; d < rank; d++) {
            if (want[d] >= 0 && t->dim[d] > want[d])
                return ef_error(EF_DATA_LOSS,
                                "Input element had shape (%s) that is larger than the row shape: "
                                "axis %d has at most %lld",
                                EF_SHAPE(&shape), d, (long long)want[d]);
            if (t->dim[d] > out->dim[d + 1]) out->dim[d + 1] = t->dim[d];
        }
        *values += ef_count(t);
    }
    return NULL;
}

static ef_status *fill(const batch *b, ef_tensor *out, int rank) {
    int64_t at = 0, *index = out[0].data;
    for (int64_t k = 0; k < b->n; k++) {
        const ef_tensor *t = &b->row[k];
        int64_t place[EF_MAX_RANK] = {0}, n = ef_count(t);
        if (t->dtype != out[1].dtype)
            return ef_error(EF_INVALID, "%s: an element is %s, not %s", b->base.dataset->op->name,
                            ef_dtype_name((ef_dtype)t->dtype),
                            ef_dtype_name((ef_dtype)out[1].dtype));
        if (n > 0) EF_TRY(ef_list_copy(&out[1], at, t, 0, n));
        for (int64_t i = 0; i < n; i++, at++) {
            index[at * rank] = k;
            for (int d = 0; d < t->rank; d++) index[at * rank + 1 + d] = place[d];
            for (int d = t->rank - 1; d >= 0; d--) {
                if (++place[d] < t->dim[d]) break;
                place[d] = 0;
            }
        }
    }
    return NULL;
}

static ef_status *make_batch(const batch *b, ef_tensor *out) {
    ef_shape shape;
    int64_t n = 0;
    EF_TRY(batch_shape(b, &shape, &n));
    ef_shape indices = {.rank = 2, .dim = {n, shape.rank}}, values = {.rank = 1, .dim = {n}};
    ef_shape sizes = {.rank = 1, .dim = {shape.rank}};
    EF_TRY(ef_tensor_alloc(&out[0], EF_I64, &indices));
    EF_TRY(ef_tensor_alloc(&out[1], ef_dataset_type(b->base.dataset, 1), &values));
    EF_TRY(ef_tensor_alloc(&out[2], EF_I64, &sizes));
    memcpy(out[2].data, shape.dim, (size_t)shape.rank * sizeof(int64_t));
    return fill(b, out, shape.rank);
}

static ef_status *batch_next(ef_stage *s, ef_tensor *out, bool *end) {
    batch *b = (batch *)s;
    while (b->n < b->size && !b->over) {
        EF_TRY(ef_elements_reserve(&b->row, b->n, b->n + 1, 1));
        ef_status *bad = ef_stage_next(s->source, &b->row[b->n], &b->over);
        if (bad != NULL) {
            forget(b);
            return bad;
        }
        b->n += !b->over;
    }
    *end = b->n == 0;
    if (*end) return NULL;
    ef_status *bad = make_batch(b, out);
    if (bad != NULL) ef_element_release(out, s->width);
    forget(b);
    return bad;
}

static int64_t batch_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d)), size = ef_dataset_int(d, "batch_size", 1);
    return n < 0 ? n : n / size + (n % size != 0);
}

static ef_status *batch_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((batch *)s)->over);
    return NULL;
}

static ef_status *batch_restore(ef_stage *s, ef_loader *r) {
    return ef_load_bool(r, &((batch *)s)->over);
}

const ef_stage_kind ef_stage_sparse_batch = {.name = "DenseToSparseBatch",
                                             .remakes = true,
                                             .size = sizeof(batch),
                                             .open = batch_open,
                                             .next = batch_next,
                                             .close = batch_close,
                                             .count = batch_count,
                                             .save = batch_save,
                                             .restore = batch_restore};
