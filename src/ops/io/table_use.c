/* Reading and changing tables: find, insert, remove, import, export, size. */
#include "base/alloc.h"
#include "ops/io/table.h"

static bool unlocked(const ef_table *t) {
    return t->kind == EF_TABLE_STATIC && atomic_load_explicit(&t->filled, memory_order_acquire);
}

static ef_status *need_filled(const ef_call *c, const ef_table *t) {
    if (t->kind != EF_TABLE_STATIC || atomic_load_explicit(&t->filled, memory_order_acquire))
        return NULL;
    return ef_error(
        EF_FAILED_PRECONDITION,
        "%s: Table not initialized: run its initializer (tf.compat.v1.tables_initializer)",
        c->op->name);
}

/* The leading dims of the keys followed by the shape of a value. */
static ef_status *join(const ef_call *c, const ef_shape *outer, const ef_shape *value,
                       ef_shape *out) {
    *out = *outer;
    if (outer->rank + value->rank > EF_MAX_RANK)
        return ef_need_rank_held(c->op, outer->rank + value->rank);
    for (int d = 0; d < value->rank; d++) out->dim[out->rank++] = value->dim[d];
    return NULL;
}

static ef_status *put(ef_dtype dtype, void *to, const void *from, int64_t n) {
    if (dtype != EF_STRING) {
        memcpy(to, from, (size_t)n * ef_dtype_size(dtype));
        return NULL;
    }
    const ef_str *s = from;
    for (int64_t k = 0; k < n; k++) EF_TRY(ef_str_set((ef_str *)to + k, s[k].at, s[k].n));
    return NULL;
}

/* ---- find ------------------------------------------------------------------------------------ */

static ef_status *find_shape(ef_infer *i) {
    const ef_fact *value = i->in[0].handle;
    EF_TRY(ef_need_rank(i, 0, 0));
    if (value != NULL && value->shape.rank <= 0) i->out[0].shape = i->in[1].shape;
    return NULL;
}

static ef_status *find_all(const ef_call *c, const ef_table *t, int64_t n, int64_t defaults) {
    const size_t bytes = (size_t)t->value_n * ef_dtype_size(t->value_dtype);
    for (int64_t k = 0; k < n; k++) {
        const void *key = ef_table_key_at(t, c->in[1]->data, k);
        const void *value = ef_table_value_at(t, c->in[2]->data, defaults > 1 ? k : 0);
        EF_TRY(ef_table_check_reserved(c, t, key));
        ef_table_find(t, key, &value);
        EF_TRY(put(t->value_dtype, (char *)c->out[0]->data + (size_t)k * bytes, value, t->value_n));
    }
    return NULL;
}

static ef_status *find_run(const ef_call *c) {
    ef_table *t = NULL;
    int64_t n = 0;
    ef_shape outer, shape;
    EF_TRY(ef_call_table(c, 0, &t));
    EF_TRY(ef_table_keys(c, t, 1, &n, &outer));
    EF_TRY(need_filled(c, t));
    EF_TRY(join(c, &outer, &t->value_shape, &shape));
    if (c->in[2]->dtype != (uint8_t)t->value_dtype)
        return ef_error(EF_INVALID,
                        "%s: default_value is %s but the table's values are %s; they must be "
                        "equal",
                        c->op->name, ef_dtype_name((ef_dtype)c->in[2]->dtype),
                        ef_dtype_name(t->value_dtype));
    const int64_t given = ef_count(c->in[2]);
    if (given != t->value_n && given != n * t->value_n)
        return ef_error(
            EF_INVALID,
            "%s: default_value has %lld elements; Expected shape %s of a value, or one for "
            "each key",
            c->op->name, (long long)given, EF_SHAPE(&t->value_shape));
    EF_TRY(ef_out_alloc(c, 0, &shape));
    const bool free_of_lock = unlocked(t);
    if (!free_of_lock) ef_mutex_lock(&t->lock);
    ef_status *s = find_all(c, t, n, t->value_n > 0 ? given / t->value_n : 1);
    if (!free_of_lock) ef_mutex_unlock(&t->lock);
    return s;
}

const ef_op ef_op_LookupTableFindV2 = {
    EF_NAMED(LookupTableFindV2),
    .doc = "The value of each key, or `default_value` where the table has none.",
    .in = {"table_handle: resource", "keys: Tin", "default_value: Tout"},
    .out = {"values: Tout"},
    .types = "Tin: type; Tout: type",
    .traits = EF_STATEFUL | EF_NO_GRAD | EF_DYNAMIC,
    .data_in = 6,
    .shape = find_shape,
    .kernel = EF_ANY_KERNEL(find_run),
    .examples = {"table(mutable) int64[3]{1,2,3} float[]{0.5}",
                 "table(mutable) int64[2,1]{1,2} float[]{-1}"},
};

/* ---- insert, import, remove ------------------------------------------------------------------ */

static ef_status *check_values(const ef_call *c, const ef_table *t, int64_t n) {
    const ef_tensor *v = c->in[2];
    if (v->dtype != (uint8_t)t->value_dtype)
        return ef_error(EF_INVALID, "%s: values are %s but the table's are %s; they must be equal",
                        c->op->name, ef_dtype_name((ef_dtype)v->dtype),
                        ef_dtype_name(t->value_dtype));
    if (ef_count(v) != n * t->value_n)
        return ef_error(
            EF_INVALID,
            "%s: %lld keys and values of %lld elements; Expected shape of values: that of the "
            "keys followed by %s",
            c->op->name, (long long)n, (long long)ef_count(v), EF_SHAPE(&t->value_shape));
    return NULL;
}

static ef_status *put_all(const ef_call *c, bool replace) {
    ef_table *t = NULL;
    int64_t n = 0;
    ef_shape outer;
    EF_TRY(ef_call_table(c, 0, &t));
    if (t->kind == EF_TABLE_STATIC)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: the table is static; Insert not supported by this table", c->op->name);
    EF_TRY(ef_table_keys(c, t, 1, &n, &outer));
    EF_TRY(check_values(c, t, n));
    ef_status *s = NULL;
    bool fresh;
    ef_mutex_lock(&t->lock);
    for (int64_t k = 0; k < n && s == NULL; k++)
        s = ef_table_check_reserved(c, t, ef_table_key_at(t, c->in[1]->data, k));
    if (s == NULL && replace) ef_table_clear(t);
    for (int64_t k = 0; k < n && s == NULL; k++)
        s = ef_table_put(t, ef_table_key_at(t, c->in[1]->data, k),
                         ef_table_value_at(t, c->in[2]->data, k), false, &fresh);
    ef_mutex_unlock(&t->lock);
    return s;
}
static ef_status *insert_run(const ef_call *c) { return put_all(c, false); }
static ef_status *import_run(const ef_call *c) { return put_all(c, true); }

static ef_status *change_shape(ef_infer *i) { return ef_need_rank(i, 0, 0); }

#define CHANGE(N, run, text)                                           \
    const ef_op ef_op_##N = {                                          \
        EF_NAMED(N),                                                   \
        .doc = text,                                                   \
        .in = {"table_handle: resource", "keys: Tin", "values: Tout"}, \
        .types = "Tin: type; Tout: type",                              \
        .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,                \
        .data_in = 6,                                                  \
        .shape = change_shape,                                         \
        .kernel = EF_ANY_KERNEL(run),                                  \
        .examples = {"table(mutable) int64[3]{1,2,3} float[3]",        \
                     "table(mutable) int64[]{1} float[]"},             \
    };
CHANGE(LookupTableInsertV2, insert_run,
       "Inserts keys with their values; an existing value is replaced.")
CHANGE(LookupTableImportV2, import_run, "Replaces the whole content of the table.")

static ef_status *remove_run(const ef_call *c) {
    ef_table *t = NULL;
    int64_t n = 0;
    ef_shape outer;
    EF_TRY(ef_call_table(c, 0, &t));
    if (t->kind == EF_TABLE_STATIC)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: the table is static; Remove not supported by this table", c->op->name);
    EF_TRY(ef_table_keys(c, t, 1, &n, &outer));
    ef_status *s = NULL;
    ef_mutex_lock(&t->lock);
    for (int64_t k = 0; k < n && s == NULL; k++)
        s = ef_table_check_reserved(c, t, ef_table_key_at(t, c->in[1]->data, k));
    for (int64_t k = 0; k < n && s == NULL; k++)
        ef_table_remove(t, ef_table_key_at(t, c->in[1]->data, k));
    ef_mutex_unlock(&t->lock);
    return s;
}

const ef_op ef_op_LookupTableRemoveV2 = {
    EF_NAMED(LookupTableRemoveV2),
    .doc = "Removes keys; those that are not in the table are ignored.",
    .in = {"table_handle: resource", "keys: Tin"},
    .types = "Tin: type",
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .data_in = 2,
    .shape = change_shape,
    .kernel = EF_ANY_KERNEL(remove_run),
    .examples = {"table(mutable) int64[2]{1,2}"},
};

/* ---- size, export ---------------------------------------------------------------------------- */

static ef_status *size_run(const ef_call *c) {
    ef_table *t = NULL;
    EF_TRY(ef_call_table(c, 0, &t));
    ef_mutex_lock(&t->lock);
    *(int64_t *)c->out[0]->data = (int64_t)t->n;
    ef_mutex_unlock(&t->lock);
    return NULL;
}

const ef_op ef_op_LookupTableSizeV2 = {
    EF_NAMED(LookupTableSizeV2),        .doc = "The number of keys in the table.",
    .in = {"table_handle: resource"},   .out = {"size: int64"},
    .traits = EF_STATEFUL | EF_NO_GRAD, .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(size_run),  .examples = {"table(mutable)", "table(static)"},
};

typedef struct export_attrs {
    ef_dtype Tkeys, Tvalues;
} export_attrs;

static ef_status *export_run(const ef_call *c) {
    const export_attrs *a = c->attrs;
    ef_table *t = NULL;
    EF_TRY(ef_call_table(c, 0, &t));
    EF_TRY(need_filled(c, t));
    if (a->Tkeys != t->key_dtype || a->Tvalues != t->value_dtype)
        return ef_error(EF_INVALID,
                        "%s: Tkeys is %s and Tvalues %s but the table maps %s to %s; they must "
                        "be equal",
                        c->op->name, ef_dtype_name(a->Tkeys), ef_dtype_name(a->Tvalues),
                        ef_dtype_name(t->key_dtype), ef_dtype_name(t->value_dtype));
    ef_mutex_lock(&t->lock);
    const ef_shape outer = {.rank = 1, .dim = {(int64_t)t->n}};
    ef_shape keys, values;
    ef_status *s = join(c, &outer, &t->key_shape, &keys);
    if (s == NULL) s = join(c, &outer, &t->value_shape, &values);
    if (s == NULL) s = ef_out_alloc(c, 0, &keys);
    if (s == NULL) s = ef_out_alloc(c, 1, &values);
    if (s == NULL && t->n > 0) {
        s = put(t->key_dtype, c->out[0]->data, t->key, (int64_t)t->n * t->key_n);
        if (s == NULL)
            s = put(t->value_dtype, c->out[1]->data, t->value, (int64_t)t->n * t->value_n);
    }
    ef_mutex_unlock(&t->lock);
    return s;
}

const ef_op ef_op_LookupTableExportV2 = {
    EF_NAMED(LookupTableExportV2),
    .doc = "All keys and their values.",
    .in = {"table_handle: resource"},
    .out = {"keys: Tkeys", "values: Tvalues"},
    .attr = {EF_ATTR(export_attrs, Tkeys, "type", NULL),
             EF_ATTR(export_attrs, Tvalues, "type", NULL)},
    .attr_size = sizeof(export_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD | EF_DYNAMIC,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(export_run),
    .examples = {"table(mutable) Tkeys=int64 Tvalues=float"},
};
