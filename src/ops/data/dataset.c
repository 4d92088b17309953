/* The dataset object, and the kernel that all dataset ops share. */
#include "ops/data/dataset.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "ops/shapes.h"
#include <string.h>

static void dataset_end(ef_storage *self) {
    ef_dataset *d = (ef_dataset *)self;
    for (int k = 0; k < d->n_in; k++) ef_tensor_release(&d->in[k]);
    ef_attrs_unref(d->attrs);
    ef_free(d);
}

const ef_dataset *ef_dataset_of(const ef_tensor *t) {
    return (const ef_dataset *)ef_tensor_object(t, EF_OBJECT_DATASET);
}

ef_status *ef_dataset_check(const ef_call *c, int k) {
    if (ef_dataset_of(c->in[k]) != NULL) return NULL;
    return ef_error(EF_INVALID,
                    "%s: input %d is not a dataset; a dataset variant is the result of an op "
                    "that makes a dataset",
                    c->op->name, k);
}

/* Inputs whose dtype the record fixes as variant are datasets; other variants are parts of
 * elements. */
static ef_status *check_sources(const ef_call *c) {
    const ef_signature *s = ef_op_signature(c->op);
    ef_arity r;
    int at = 0;
    EF_TRY(ef_op_arity(c->op, c->attrs, c->n_in, &r));
    for (int k = 0; k < s->n_in; at += r.in[k++])
        for (int j = 0; j < r.in[k] && s->in[k].fixed == EF_VARIANT; j++)
            EF_TRY(ef_dataset_check(c, at + j));
    return NULL;
}

ef_status *ef_dataset_run(const ef_call *c) {
    static atomic_uint_fast64_t last;
    EF_TRY(check_sources(c));
    size_t bytes = sizeof(ef_dataset) + (size_t)c->n_in * sizeof(ef_tensor);
    ef_dataset *d = ef_calloc(1, bytes);
    if (d == NULL) return ef_no_memory(bytes);
    ef_object_init(&d->object, EF_OBJECT_DATASET, "dataset", dataset_end);
    d->op = c->op;
    d->attrs = ef_attrs_ref(ef_attrs_around(c->attrs));
    d->set = c->attrs;
    d->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    ef_status *s = NULL;
    for (; d->n_in < c->n_in && s == NULL; d->n_in++)
        s = ef_tensor_keep(&d->in[d->n_in], c->in[d->n_in]);
    if (s == NULL)
        ef_out_object(c, 0, &d->object);
    else
        ef_storage_unref(&d->object.base);
    return s;
}

ef_status *ef_dataset_infer(ef_infer *i) {
    const ef_signature *s = ef_op_signature(i->op);
    ef_arity r;
    int at = 0;
    EF_TRY(ef_op_arity(i->op, i->attrs, i->n_in, &r));
    for (int k = 0; k < s->n_in; at += r.in[k++])
        if (s->in[k].fixed != EF_NO_DTYPE && s->in[k].count_attr < 0 && !s->in[k].is_list)
            EF_TRY(ef_need_rank(i, at, 0));
    return ef_shape_scalar(i);
}

/* ---- reading a dataset --------------------------------------------------------------------------
 */

const ef_tensor *ef_dataset_arg(const ef_dataset *d, const char *name, int *n) {
    const ef_signature *s = ef_op_signature(d->op);
    ef_arity r;
    int at = 0;
    if (n != NULL) *n = 0;
    ef_status *bad = ef_op_arity(d->op, d->set, d->n_in, &r);
    if (bad != NULL) { /* cannot happen: the op has run */
        ef_status_free(bad);
        return NULL;
    }
    for (int k = 0; k < s->n_in; at += r.in[k++]) {
        if (strcmp(s->in[k].name, name) != 0) continue;
        if (n != NULL) *n = r.in[k];
        return r.in[k] > 0 ? &d->in[at] : NULL;
    }
    return NULL;
}

int64_t ef_dataset_int(const ef_dataset *d, const char *name, int64_t otherwise) {
    const ef_tensor *t = ef_dataset_arg(d, name, NULL);
    if (t == NULL) return otherwise;
    return t->dtype == EF_BOOL ? *(const uint8_t *)t->data != 0
                               : ef_element_int((ef_dtype)t->dtype, t->data, 0);
}

const ef_dataset *ef_dataset_source(const ef_dataset *d) {
    return ef_dataset_of(ef_dataset_arg(d, "input_dataset", NULL));
}

/* The records of some datasets lack these attributes: their elements are scalar strings. */
static bool gives_strings(const ef_dataset *d) { return d->set->output_shapes.n == 0; }

int ef_dataset_width(const ef_dataset *d) { return gives_strings(d) ? 1 : d->set->output_shapes.n; }

ef_dtype ef_dataset_type(const ef_dataset *d, int k) {
    if (gives_strings(d)) return EF_STRING;
    if (k < d->set->output_types.n) return d->set->output_types.at[k];
    int n;
    const ef_tensor *t = ef_dataset_arg(d, "components", &n);
    if (t == NULL) t = ef_dataset_arg(d, "padding_values", &n);
    return k < n ? (ef_dtype)t[k].dtype : EF_NO_DTYPE;
}

const ef_shape *ef_dataset_shape(const ef_dataset *d, int k) {
    static const ef_shape scalar = {.rank = 0};
    return gives_strings(d) ? &scalar : &d->set->output_shapes.at[k];
}

uint64_t ef_dataset_fingerprint(const ef_dataset *d) {
    uint64_t h = ef_hash_mix(ef_attrs_hash(d->attrs), (uint64_t)d->n_in);
    for (const char *c = d->op->name; *c != 0; c++) h = ef_hash_mix(h, (unsigned char)*c);
    for (int k = 0; k < d->n_in; k++) {
        const ef_tensor *t = &d->in[k];
        const ef_dataset *source = ef_dataset_of(t);
        if (source != NULL)
            h = ef_hash_mix(h, ef_dataset_fingerprint(source));
        else if (t->dtype != EF_RESOURCE && t->dtype != EF_VARIANT)
            h = ef_tensor_hash(h, t);
    }
    return h;
}
