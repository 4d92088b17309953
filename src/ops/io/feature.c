/* Collects the features of examples. Keys are found by a hash table made once per call; values are
 * appended to their column directly from the message. */
#include "ops/io/feature.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"

ef_status *ef_columns_make(int n, ef_columns *out) {
    *out = (ef_columns){.n = n, .slots = 4};
    while (out->slots < 2 * (unsigned)n) out->slots *= 2;
    out->item = ef_calloc((size_t)n + 1, sizeof *out->item);
    out->slot = ef_malloc(out->slots * sizeof *out->slot);
    if (out->item != NULL && out->slot != NULL) return NULL;
    ef_columns_free(out);
    return ef_no_memory((size_t)n * sizeof *out->item);
}

void ef_columns_free(ef_columns *c) {
    for (int k = 0; k < c->n && c->item != NULL; k++) {
        ef_free(c->item[k].value);
        ef_free(c->item[k].inner.at);
        ef_free(c->item[k].outer.at);
    }
    ef_free(c->item);
    ef_free(c->slot);
    *c = (ef_columns){0};
}

static int *find_slot(const ef_columns *c, const char *key, size_t n) {
    unsigned at = (unsigned)ef_hash_bytes(7, key, n);
    for (;; at++) {
        int *slot = &c->slot[at & (c->slots - 1)];
        if (*slot < 0) return slot;
        const ef_column *k = &c->item[*slot];
        if (k->n_key == n && (n == 0 || memcmp(k->key, key, n) == 0)) return slot;
    }
}

ef_status *ef_columns_index(const ef_op *op, ef_columns *c) {
    for (unsigned k = 0; k < c->slots; k++) c->slot[k] = -1;
    for (int k = 0; k < c->n; k++) {
        int *slot = find_slot(c, c->item[k].key, c->item[k].n_key);
        if (*slot >= 0)
            return ef_error(EF_INVALID,
                            "%s: the key '%.*s' is given twice; a feature can be parsed once",
                            op->name, (int)c->item[k].n_key, c->item[k].key);
        *slot = k;
    }
    return NULL;
}

static ef_column *find(const ef_columns *c, const ef_wire *key) {
    int k = *find_slot(c, (const char *)key->at, ef_wire_left(key));
    return k >= 0 ? &c->item[k] : NULL;
}

static ef_status *add_count(ef_counts *c, int64_t n) {
    EF_TRY(EF_GROW(&c->at, &c->cap, c->n + 1));
    c->at[c->n++] = n;
    c->sum += n;
    if (n > c->most) c->most = n;
    return NULL;
}

void ef_columns_begin(ef_columns *c) {
    for (int k = 0; k < c->n; k++) {
        ef_column *x = &c->item[k];
        x->mark_bytes = x->bytes;
        x->mark_inner = x->inner;
        x->mark_outer = x->outer;
        x->seen = false;
    }
}

static void go_back(ef_counts *c, const ef_counts *mark) {
    c->n = mark->n;
    c->sum = mark->sum;
    c->most = mark->most;
}

/* If a key occurs twice in an example, the last one counts. */
static void forget_first(ef_column *k) {
    k->bytes = k->mark_bytes;
    go_back(&k->inner, &k->mark_inner);
    go_back(&k->outer, &k->mark_outer);
}

/* ---- columns --------------------------------------------------------------------------------- */

void ef_column_set(ef_column *k, const char *key, size_t n, ef_dtype dtype) {
    *k = (ef_column){.key = key, .n_key = n, .dtype = dtype, .size = -1, .step = 1};
}

ef_status *ef_column_set_dense(const ef_op *op, ef_column *k, const ef_shape *shape,
                               const ef_tensor *fallback) {
    k->fallback = fallback;
    k->step = 1;
    bool varies = shape->rank > 0 && shape->dim[0] < 0;
    ef_shape rest = *shape;
    for (int d = 0; varies && d + 1 < shape->rank; d++) rest.dim[d] = shape->dim[d + 1];
    if (varies) rest.rank--;
    int64_t n = ef_shape_count(&rest);
    if (shape->rank < 0 || n < 0)
        return ef_error(
            EF_INVALID,
            "%s: the dense feature '%.*s' has shape %s; only its first size may be unknown",
            op->name, (int)k->n_key, k->key, EF_SHAPE(shape));
    k->size = varies ? -1 : n;
    if (varies) k->step = n;
    int64_t given = ef_count(fallback);
    if (varies && k->step == 0)
        return ef_error(EF_INVALID,
                        "%s: the dense feature '%.*s' has rows without elements (shape %s)",
                        op->name, (int)k->n_key, k->key, EF_SHAPE(shape));
    if (given > 0 && (varies ? given != 1 : given != n))
        return ef_error(
            EF_INVALID,
            "%s: dense_defaults of '%.*s' has %lld elements but its shape is %s; it must "
            "have as many, one to pad with if the first size varies, or none",
            op->name, (int)k->n_key, k->key, (long long)given, EF_SHAPE(shape));
    return NULL;
}

ef_shape ef_dense_feature_shape(const ef_shape *element, bool single, int64_t batch) {
    if (element->rank < 0 || element->rank >= EF_MAX_RANK) return ef_unknown_shape();
    ef_shape s = {.rank = 0};
    if (!single) s.dim[s.rank++] = batch;
    for (int d = 0; d < element->rank; d++) s.dim[s.rank++] = element->dim[d];
    return s;
}

ef_status *ef_need_keys(const ef_infer *i, int k, int n, const char *what) {
    EF_TRY(ef_need_rank(i, k, 1));
    const ef_shape *s = &i->in[k].shape;
    if (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] != n)
        return ef_error(EF_INVALID,
                        "%s: %lld keys of %s features but %d of their types; they must match",
                        i->op->name, (long long)s->dim[0], what, n);
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *example_name(const ef_example_at *at, ef_brief *room) {
    if (at->name == NULL || at->name->n == 0) return "<unknown>";
    *room = ef_str_brief(at->name);
    return room->text;
}

#define AT "%s: Name: %s, Key: %.*s, Index: %lld.  "
#define AT_ARGS(at, k)                                                                      \
    (at)->op->name, example_name((at), &(ef_brief){.text = ""}), (int)(k)->n_key, (k)->key, \
        (long long)(at)->index

ef_status *ef_bad_example(const ef_example_at *at, const ef_str *serialized, const char *what) {
    return ef_error(EF_INVALID,
                    "%s: Could not parse %s input, value: %s; it must be a serialized %s",
                    at->op->name, what, EF_STR(serialized), what);
}

/* Makes space for n more values. */
static ef_status *reserve(ef_column *k, uint64_t n) {
    size_t size = ef_dtype_size(k->dtype);
    return ef_grow((void **)&k->value, &k->cap, k->bytes + (size_t)n * size, 1);
}

static ef_status *add_strings(ef_column *k, ef_wire list) {
    ef_wire_field f;
    while (ef_wire_next(&list, &f)) {
        if (f.number != 1 || f.type != EF_WIRE_BYTES) continue;
        EF_TRY(reserve(k, 1));
        ef_str s = {.at = (char *)(uintptr_t)f.bytes.at, .n = ef_wire_left(&f.bytes)};
        memcpy(k->value + k->bytes, &s, sizeof s);
        k->bytes += sizeof s;
    }
    return list.bad ? ef_error(EF_INVALID, "bad") : NULL;
}

static ef_status *add_floats(ef_column *k, ef_wire list) {
    ef_wire_field f;
    while (ef_wire_next(&list, &f)) {
        if (f.number != 1) continue;
        if (f.type == EF_WIRE_BYTES) {
            size_t n = ef_wire_left(&f.bytes);
            if (n % 4 != 0) return ef_error(EF_INVALID, "bad");
            EF_TRY(reserve(k, n / 4));
            /* Values are little-endian, as on this machine. */
            if (n > 0) memcpy(k->value + k->bytes, f.bytes.at, n);
            k->bytes += n;
        } else if (f.type == EF_WIRE_32) {
            EF_TRY(reserve(k, 1));
            uint32_t bits = (uint32_t)f.value;
            memcpy(k->value + k->bytes, &bits, 4);
            k->bytes += 4;
        }
    }
    return list.bad ? ef_error(EF_INVALID, "bad") : NULL;
}

static ef_status *add_ints(ef_column *k, ef_wire list) {
    ef_wire_field f;
    while (ef_wire_next(&list, &f)) {
        if (f.number != 1) continue;
        uint64_t v = f.value;
        if (f.type == EF_WIRE_BYTES) {
            EF_TRY(reserve(k, ef_wire_left(&f.bytes))); /* at least one byte each */
            while (ef_wire_varint(&f.bytes, &v)) {
                memcpy(k->value + k->bytes, &v, 8);
                k->bytes += 8;
            }
            if (f.bytes.bad) return ef_error(EF_INVALID, "bad");
        } else if (f.type == EF_WIRE_VARINT) {
            EF_TRY(reserve(k, 1));
            memcpy(k->value + k->bytes, &v, 8);
            k->bytes += 8;
        }
    }
    return list.bad ? ef_error(EF_INVALID, "bad") : NULL;
}

/* Checks that the number of values of a dense feature fits its shape. */
static ef_status *check_size(const ef_column *k, int64_t n, const ef_example_at *at) {
    if (k->size >= 0 && n != k->size)
        return ef_error(EF_INVALID,
                        AT
                        "Number of %s values != expected.  Values size: %lld but %lld are needed",
                        AT_ARGS(at, k), ef_dtype_name(k->dtype), (long long)n, (long long)k->size);
    if (k->step > 1 && n % k->step != 0)
        return ef_error(EF_INVALID,
                        AT
                        "Number of %s values is not a multiple of stride length. Saw %lld values; "
                        "the stride is %lld",
                        AT_ARGS(at, k), ef_dtype_name(k->dtype), (long long)n, (long long)k->step);
    return NULL;
}

/* Appends the values of a Feature message. *none: it has no list of values. */
static ef_status *add_feature(ef_column *k, ef_wire feature, const ef_example_at *at, bool *none) {
    static const ef_dtype kinds[] = {EF_NO_DTYPE, EF_STRING, EF_F32, EF_I64};
    ef_wire_field f;
    ef_wire list = {0};
    ef_dtype kind = EF_NO_DTYPE;
    ef_wire rest = feature;
    while (ef_wire_next(&rest, &f)) {
        if (f.number > 3 || f.type != EF_WIRE_BYTES) continue;
        kind = kinds[f.number];
        list = f.bytes;
    }
    if (rest.bad) return ef_error(EF_INVALID, AT "The feature cannot be read", AT_ARGS(at, k));
    *none = kind == EF_NO_DTYPE;
    if (*none) return NULL;
    if (kind != k->dtype)
        return ef_error(EF_INVALID, AT "Data types don't match. Expected type: %s, Actual type: %s",
                        AT_ARGS(at, k), ef_dtype_name(k->dtype), ef_dtype_name(kind));
    size_t before = k->bytes;
    ef_status *s = kind == EF_STRING ? add_strings(k, list)
                   : kind == EF_F32  ? add_floats(k, list)
                                     : add_ints(k, list);
    if (s != NULL && ef_status_code(s) == EF_INVALID) {
        ef_status_free(s);
        return ef_error(EF_INVALID, AT "The feature's list of values cannot be read",
                        AT_ARGS(at, k));
    }
    if (s != NULL) return s;
    int64_t n = (int64_t)((k->bytes - before) / ef_dtype_size(kind));
    EF_TRY(check_size(k, n, at));
    return add_count(&k->inner, n);
}

/* ---- maps from keys -------------------------------------------------------------------------- */

/* Key and value of a map entry; false: it cannot be parsed. */
static bool read_entry(ef_wire entry, ef_wire *key, ef_wire *value) {
    ef_wire_field f;
    *key = *value = ef_wire_from(NULL, 0);
    while (ef_wire_next(&entry, &f)) {
        if (f.type != EF_WIRE_BYTES) continue;
        if (f.number == 1) *key = f.bytes;
        if (f.number == 2) *value = f.bytes;
    }
    return !entry.bad;
}

static ef_status *unreadable(const ef_example_at *at) {
    return ef_error(EF_INVALID,
                    "%s: Could not parse example input at index %lld: it is cut or damaged",
                    at->op->name, (long long)at->index);
}

ef_status *ef_columns_features(ef_columns *c, ef_wire features, const ef_example_at *at) {
    ef_wire_field f;
    while (ef_wire_next(&features, &f)) {
        ef_wire key, value;
        if (f.number != 1 || f.type != EF_WIRE_BYTES) continue;
        if (!read_entry(f.bytes, &key, &value)) return unreadable(at);
        ef_column *k = find(c, &key);
        if (k == NULL) continue;
        if (k->seen) forget_first(k);
        bool none;
        EF_TRY(add_feature(k, value, at, &none));
        k->seen = !none;
    }
    return features.bad ? unreadable(at) : NULL;
}

static ef_status *add_list(ef_column *k, ef_wire list, const ef_example_at *at) {
    ef_wire_field f;
    int64_t n = 0;
    while (ef_wire_next(&list, &f)) {
        if (f.number != 1 || f.type != EF_WIRE_BYTES) continue;
        bool none;
        EF_TRY(add_feature(k, f.bytes, at, &none));
        if (none) {
            EF_TRY(check_size(k, 0, at));
            EF_TRY(add_count(&k->inner, 0));
        }
        n++;
    }
    return list.bad ? unreadable(at) : add_count(&k->outer, n);
}

ef_status *ef_columns_lists(ef_columns *c, ef_wire lists, const ef_example_at *at) {
    ef_wire_field f;
    while (ef_wire_next(&lists, &f)) {
        ef_wire key, value;
        if (f.number != 1 || f.type != EF_WIRE_BYTES) continue;
        if (!read_entry(f.bytes, &key, &value)) return unreadable(at);
        ef_column *k = find(c, &key);
        if (k == NULL) continue;
        if (k->seen) forget_first(k);
        EF_TRY(add_list(k, value, at));
        k->seen = true;
    }
    return lists.bad ? unreadable(at) : NULL;
}

/* ---- missing features ------------------------------------------------------------------------ */

static ef_status *add_fallback(ef_column *k, const ef_example_at *at) {
    int64_t n = k->fallback != NULL ? ef_count(k->fallback) : 0;
    if (k->size < 0) return add_count(&k->inner, 0); /* padded with the default later */
    if (n == 0)
        return ef_error(EF_INVALID,
                        "%s: Name: %s, Feature: %.*s (data type: %s) is required but could not be "
                        "found.",
                        at->op->name, example_name(at, &(ef_brief){.text = ""}), (int)k->n_key,
                        k->key, ef_dtype_name(k->dtype));
    EF_TRY(reserve(k, (uint64_t)k->size));
    size_t bytes = (size_t)k->size * ef_dtype_size(k->dtype);
    if (bytes > 0) memcpy(k->value + k->bytes, k->fallback->data, bytes);
    k->bytes += bytes;
    return add_count(&k->inner, k->size);
}

ef_status *ef_columns_end(ef_columns *c, bool lists, const ef_example_at *at) {
    for (int j = 0; j < c->n; j++) {
        ef_column *k = &c->item[j];
        if (k->seen) continue;
        if (!lists)
            EF_TRY(add_fallback(k, at));
        else if (k->optional)
            EF_TRY(add_count(&k->outer, 0));
        else
            return ef_error(
                EF_INVALID,
                "%s: Name: %s, Feature list '%.*s' is required but could not be found.  "
                "Did you mean to include it in feature_list_dense_missing_assumed_empty "
                "or feature_list_dense_defaults?",
                at->op->name, example_name(at, &(ef_brief){.text = ""}), (int)k->n_key, k->key);
    }
    return NULL;
}
