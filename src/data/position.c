/* Numbers, random generators and tensors of a saved position. */
#include "data/position.h"
#include "base/alloc.h"
#include "data/rows.h"
#include "ops/data/optional.h"
#include "ops/data/shards.h"
#include "ops/list/list.h"
#include <string.h>

enum tag { NOTHING, PLAIN, LIST, OPTIONAL, ELEMENTS, STORED };
enum { DEPTH_MOST = 16 }; /* of variants within variants */

ef_status *ef_load_broken(const char *what) {
    return ef_error(EF_DATA_LOSS, "the saved position of an iterator is damaged: %s", what);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

void ef_save_text(ef_saver *w, const char *at, size_t n) {
    ef_save_int(w, (int64_t)n);
    if (n > 0) ef_text_bytes(&w->text, at, n);
}

ef_status *ef_load_int(ef_loader *r, int64_t *v) {
    uint64_t bits = 0;
    if (!ef_stored_get_number(&r->left, &bits)) return ef_load_broken("it ends too early");
    *v = (int64_t)bits;
    return NULL;
}

ef_status *ef_load_upto(ef_loader *r, int64_t most, int64_t *v) {
    int64_t got = 0;
    EF_TRY(ef_load_int(r, &got));
    if (got < 0 || got > most) return ef_load_broken("a number in it is out of range");
    *v = got;
    return NULL;
}

ef_status *ef_load_bool(ef_loader *r, bool *v) {
    int64_t got = 0;
    EF_TRY(ef_load_upto(r, 1, &got));
    *v = got != 0;
    return NULL;
}

ef_status *ef_load_count(ef_loader *r, int64_t *n) {
    return ef_load_upto(r, (int64_t)(r->left.n / 8), n);
}

ef_status *ef_load_text(ef_loader *r, const char **at, size_t *n) {
    int64_t got = 0;
    EF_TRY(ef_load_upto(r, INT64_MAX, &got));
    if ((uint64_t)got > r->left.n) return ef_load_broken("a text in it is cut off");
    *at = (const char *)r->left.at;
    *n = (size_t)got;
    r->left.at += got;
    r->left.n -= (size_t)got;
    return NULL;
}

void ef_save_random(ef_saver *w, const ef_philox_each *e) {
    ef_save_int(w, (int64_t)e->g.key);
    ef_save_int(w, (int64_t)e->g.low);
    ef_save_int(w, (int64_t)e->g.high);
    for (int k = 0; k < 4; k++) ef_save_int(w, e->block[k]);
    ef_save_int(w, e->used);
}

ef_status *ef_load_random(ef_loader *r, ef_philox_each *e) {
    int64_t v[8] = {0};
    for (int k = 0; k < 8; k++) EF_TRY(ef_load_int(r, &v[k]));
    if (v[7] < 0 || v[7] > 4) return ef_load_broken("a number in it is out of range");
    *e = (ef_philox_each){.g = {(uint64_t)v[0], (uint64_t)v[1], (uint64_t)v[2]}, .used = (int)v[7]};
    for (int k = 0; k < 4; k++) e->block[k] = (uint32_t)v[3 + k];
    return NULL;
}

void ef_save_seeds(ef_saver *w, ef_seeds *g) {
    ef_save_int(w, g != NULL);
    if (g == NULL) return;
    ef_seeds_position at = ef_seeds_where(g);
    ef_save_int(w, (int64_t)at.seed);
    ef_save_int(w, (int64_t)at.seed2);
    ef_save_random(w, &at.each);
}

ef_status *ef_load_seeds(ef_loader *r, ef_seeds *g) {
    bool has = false;
    int64_t seed = 0, seed2 = 0;
    ef_seeds_position to;
    EF_TRY(ef_load_bool(r, &has));
    if (!has) return NULL;
    EF_TRY(ef_load_int(r, &seed));
    EF_TRY(ef_load_int(r, &seed2));
    EF_TRY(ef_load_random(r, &to.each));
    to.seed = (uint64_t)seed;
    to.seed2 = (uint64_t)seed2;
    if (g != NULL) ef_seeds_go(g, &to);
    return NULL;
}

/* ---- writing tensors ---------------------------------------------------------------------------
 */

static void save_shape(ef_saver *w, const ef_shape *s) {
    ef_save_int(w, s->rank);
    for (int d = 0; d < s->rank; d++) ef_save_int(w, s->dim[d]);
}

static ef_status *save_list(ef_saver *w, const ef_list *l) {
    ef_save_int(w, LIST);
    ef_save_int(w, l->dtype);
    save_shape(w, &l->element);
    ef_save_int(w, l->limit);
    ef_save_int(w, l->n);
    return ef_save_tensors(w, l->item, l->n);
}

static ef_status *save_optional(ef_saver *w, const ef_optional *o) {
    ef_save_int(w, OPTIONAL);
    ef_save_int(w, o->has_value);
    ef_save_int(w, o->n);
    return ef_save_tensors(w, o->value, o->has_value ? o->n : 0);
}

static ef_status *save_elements(ef_saver *w, const ef_dataset *d) {
    ef_save_int(w, d->n_in / ef_dataset_width(d));
    return ef_save_tensors(w, d->in, d->n_in);
}

static ef_status *save_stored(ef_saver *w, const ef_dataset *d) {
    const ef_str *folder = ef_dataset_arg(d, "shard_dir", NULL)->data;
    ef_save_text(w, folder->at, folder->n);
    ef_save_text(w, d->set->compression.at, d->set->compression.n);
    ef_save_int(w, ef_dataset_int(d, "start_index", 0));
    return NULL;
}

/* A window is a dataset of elements, and a snapshot one of stored elements. */
static ef_status *save_dataset(ef_saver *w, const ef_dataset *d) {
    const int width = ef_dataset_width(d);
    const bool stored = d->op->dataset == EF_DATASET_stored;
    if (!stored && d->op->dataset != EF_DATASET_elements)
        return ef_error(EF_UNIMPLEMENTED,
                        "the position of an iterator cannot be saved while an element that was "
                        "made ahead holds a dataset (%s); make such datasets by flat_map or "
                        "interleave",
                        d->op->name);
    ef_save_int(w, stored ? STORED : ELEMENTS);
    ef_save_int(w, width);
    for (int k = 0; k < width; k++) {
        ef_save_int(w, ef_dataset_type(d, k));
        save_shape(w, ef_dataset_shape(d, k));
    }
    return stored ? save_stored(w, d) : save_elements(w, d);
}

static ef_status *save_one(ef_saver *w, const ef_tensor *t) {
    const ef_object *o;
    if (t->dtype == EF_NO_DTYPE) {
        ef_save_int(w, NOTHING);
        return NULL;
    }
    if (t->dtype != EF_VARIANT && t->dtype != EF_RESOURCE) {
        ef_save_int(w, PLAIN);
        ef_save_int(w, t->dtype);
        return ef_stored_put_tensor(&w->text, t);
    }
    if ((o = ef_tensor_object(t, EF_OBJECT_LIST)) != NULL)
        return save_list(w, (const ef_list *)(const void *)o);
    if ((o = ef_tensor_object(t, EF_OBJECT_OPTIONAL)) != NULL)
        return save_optional(w, (const ef_optional *)(const void *)o);
    const ef_dataset *d = ef_dataset_of(t);
    if (d != NULL) return save_dataset(w, d);
    return ef_error(EF_UNIMPLEMENTED,
                    "the position of an iterator cannot be saved while an element that was made "
                    "ahead holds a %s",
                    ef_dtype_name((ef_dtype)t->dtype));
}

ef_status *ef_save_tensors(ef_saver *w, const ef_tensor *t, int64_t n) {
    for (int64_t k = 0; k < n; k++) EF_TRY(save_one(w, &t[k]));
    return w->text.failed ? ef_no_memory(w->text.n) : NULL;
}

/* ---- reading tensors ---------------------------------------------------------------------------
 */

static ef_status *load_some(ef_loader *r, ef_tensor *out, int64_t n, int depth);

static ef_status *load_shape(ef_loader *r, ef_shape *s) {
    int64_t rank = 0;
    EF_TRY(ef_load_int(r, &rank));
    if (rank < -1 || rank > EF_MAX_RANK) return ef_load_broken("a shape in it has too many axes");
    s->rank = (int)rank;
    for (int d = 0; d < rank; d++) {
        EF_TRY(ef_load_int(r, &s->dim[d]));
        if (s->dim[d] < -1) return ef_load_broken("a size in it is negative");
    }
    return NULL;
}

static ef_status *load_dtype(ef_loader *r, ef_dtype *t) {
    int64_t v = 0;
    EF_TRY(ef_load_upto(r, UINT8_MAX, &v));
    *t = (ef_dtype)v;
    return *t != EF_NO_DTYPE && ef_dtype_name(*t) != NULL && ef_dtype_size(*t) > 0
               ? NULL
               : ef_load_broken("it names a dtype that does not exist");
}

static ef_status *load_plain(ef_loader *r, ef_tensor *out) {
    ef_dtype t;
    bool good;
    EF_TRY(load_dtype(r, &t));
    if (t == EF_VARIANT || t == EF_RESOURCE) return ef_load_broken("a tensor has no elements");
    ef_status *s = ef_stored_get_tensor(&r->left, t, out, &good);
    if (s == NULL && !good) s = ef_load_broken("a tensor in it is cut off");
    if (s != NULL) ef_tensor_release(out);
    return s;
}

static ef_status *load_list(ef_loader *r, ef_tensor *out, int depth) {
    ef_dtype t;
    ef_shape shape = {.rank = -1};
    int64_t limit = 0, n = 0;
    ef_list *l = NULL;
    EF_TRY(load_dtype(r, &t));
    EF_TRY(load_shape(r, &shape));
    EF_TRY(ef_load_int(r, &limit));
    EF_TRY(ef_load_count(r, &n));
    EF_TRY(ef_list_make(t, &shape, n, &l));
    l->limit = limit;
    ef_status *s = load_some(r, l->item, n, depth);
    for (int64_t k = 0; k < n && s == NULL; k++)
        if (l->item[k].dtype != EF_NO_DTYPE && (ef_dtype)l->item[k].dtype != t)
            s = ef_load_broken("a list in it holds several dtypes");
    if (s == NULL)
        ef_tensor_from_object(out, EF_VARIANT, &l->object);
    else
        ef_storage_unref(&l->object.base);
    return s;
}

static ef_status *load_optional(ef_loader *r, ef_tensor *out, int depth) {
    bool has = false;
    int64_t n = 0;
    ef_optional *o = NULL;
    EF_TRY(ef_load_bool(r, &has));
    EF_TRY(ef_load_upto(r, INT16_MAX, &n));
    EF_TRY(ef_optional_make((int)n, &o));
    ef_status *s = load_some(r, o->value, has ? n : 0, depth);
    o->has_value = s == NULL && has;
    if (s == NULL)
        ef_tensor_from_object(out, EF_VARIANT, &o->object);
    else
        ef_storage_unref(&o->object.base);
    return s;
}

typedef struct kinds { /* of the components of a dataset */
    int width;
    ef_dtype *type;
    ef_shape *shape;
} kinds;

static ef_status *load_elements(ef_loader *r, const kinds *of, ef_tensor *out, int depth) {
    int64_t n = 0;
    EF_TRY(ef_load_count(r, &n));
    if (n > (int64_t)(r->left.n / 8) / of->width)
        return ef_load_broken("a dataset in it is cut off");
    n *= of->width;
    ef_tensor *all = ef_calloc((size_t)n + 1, sizeof *all);
    if (all == NULL) return ef_no_memory((size_t)n * sizeof *all);
    ef_status *s = load_some(r, all, n, depth);
    if (s == NULL)
        s = ef_dataset_of_tensors(of->width, of->type, of->shape, all, n / of->width, out);
    for (int64_t k = 0; k < n; k++) ef_tensor_release(&all[k]);
    ef_free(all);
    return s;
}

static ef_status *load_stored(ef_loader *r, const kinds *of, ef_tensor *out) {
    const char *folder = "", *how = "";
    size_t n = 0, n_how = 0;
    int64_t start = 0;
    char compression[16] = "";
    EF_TRY(ef_load_text(r, &folder, &n));
    EF_TRY(ef_load_text(r, &how, &n_how));
    EF_TRY(ef_load_upto(r, INT64_MAX, &start));
    if (n_how >= sizeof compression) return ef_load_broken("a compression has no such name");
    memcpy(compression, how, n_how);
    const ef_str name = {.at = (char *)(uintptr_t)folder, .n = n};
    return ef_dataset_of_stored(of->width, of->type, of->shape, &name, compression, start, out);
}

static ef_status *load_dataset(ef_loader *r, bool stored, ef_tensor *out, int depth) {
    int64_t width = 0;
    EF_TRY(ef_load_upto(r, INT16_MAX, &width));
    if (width == 0) return ef_load_broken("a dataset in it has no components");
    kinds of = {.width = (int)width,
                .type = ef_calloc((size_t)width, sizeof *of.type),
                .shape = ef_calloc((size_t)width, sizeof *of.shape)};
    ef_status *s = of.type == NULL || of.shape == NULL ? ef_no_memory((size_t)width) : NULL;
    for (int64_t k = 0; k < width && s == NULL; k++) {
        s = load_dtype(r, &of.type[k]);
        if (s == NULL) s = load_shape(r, &of.shape[k]);
    }
    if (s == NULL) s = stored ? load_stored(r, &of, out) : load_elements(r, &of, out, depth);
    ef_free(of.type);
    ef_free(of.shape);
    return s;
}

static ef_status *load_one(ef_loader *r, ef_tensor *out, int depth) {
    int64_t tag = 0;
    if (depth > DEPTH_MOST) return ef_load_broken("variants are nested too deeply");
    EF_TRY(ef_load_int(r, &tag));
    switch (tag) {
    case NOTHING: return NULL;
    case PLAIN: return load_plain(r, out);
    case LIST: return load_list(r, out, depth + 1);
    case OPTIONAL: return load_optional(r, out, depth + 1);
    case ELEMENTS: return load_dataset(r, false, out, depth + 1);
    case STORED: return load_dataset(r, true, out, depth + 1);
    default: return ef_load_broken("a tensor of an unknown kind");
    }
}

static ef_status *load_some(ef_loader *r, ef_tensor *out, int64_t n, int depth) {
    ef_status *s = NULL;
    for (int64_t k = 0; k < n && s == NULL; k++) s = load_one(r, &out[k], depth);
    for (int64_t k = 0; k < n && s != NULL; k++) ef_tensor_release(&out[k]);
    return s;
}

ef_status *ef_load_tensors(ef_loader *r, ef_tensor *out, int64_t n) {
    return load_some(r, out, n, 0);
}

ef_status *ef_load_element(ef_loader *r, const ef_dataset *like, ef_tensor *out) {
    int width = ef_dataset_width(like);
    EF_TRY(load_some(r, out, width, 0));
    for (int k = 0; k < width; k++) {
        ef_shape shape = ef_shape_from(&out[k]);
        if ((ef_dtype)out[k].dtype == ef_dataset_type(like, k) &&
            ef_shape_may_equal(&shape, ef_dataset_shape(like, k)))
            continue;
        ef_element_release(out, width);
        return ef_error(EF_DATA_LOSS,
                        "an element that was saved with the position of an iterator does not have "
                        "the dtypes and shapes of %s; the dataset is another one now",
                        like->op->name);
    }
    return NULL;
}
