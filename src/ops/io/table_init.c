/* Filling static tables: InitializeTableV2 from tensors, InitializeTableFromTextFileV2 from the
 * lines of a file. A table is filled once; repeating it with equal contents is allowed. */
#include "base/alloc.h"
#include "file/reader.h"
#include "ops/io/table.h"
#include <errno.h>
#include <stdlib.h>

/* Everything is put into a new table first, so that a failure leaves the old one unchanged. */
static ef_status *begin(const ef_table *t, ef_table **out) {
    return ef_table_make(&(ef_table_type){.kind = t->kind,
                                          .key_dtype = t->key_dtype,
                                          .value_dtype = t->value_dtype,
                                          .key_shape = t->key_shape,
                                          .value_shape = t->value_shape},
                         out);
}

static bool same_value(ef_dtype t, const void *a, const void *b) {
    return t == EF_STRING ? ef_str_same(a, b) : memcmp(a, b, ef_dtype_size(t)) == 0;
}

static ef_status *add(const ef_call *c, ef_table *t, const void *key, const void *value) {
    const ef_dtype of_value = t->value_dtype;
    const void *held = NULL;
    bool fresh;
    EF_TRY(ef_table_put(t, key, value, true, &fresh));
    if (fresh || (ef_table_find(t, key, &held) && same_value(of_value, held, value))) return NULL;
    return ef_error(EF_FAILED_PRECONDITION,
                    "%s: HashTable has different value for same key: key number %zu has another "
                    "value; keys must be unique",
                    c->op->name, t->n);
}

/* Moves the entries of the filled table to t. Takes ownership of `fresh`. */
static ef_status *finish(const ef_call *c, ef_table *t, ef_table *fresh) {
    ef_status *s = NULL;
    ef_mutex_lock(&t->lock);
    if (atomic_load_explicit(&t->filled, memory_order_relaxed)) {
        bool same = t->n == fresh->n;
        const void *held;
        for (size_t k = 0; k < fresh->n && same; k++)
            same = ef_table_find(t, ef_table_key_at(t, fresh->key, (int64_t)k), &held) &&
                   same_value(t->value_dtype, held, ef_table_value_at(t, fresh->value, (int64_t)k));
        if (!same)
            s = ef_error(EF_FAILED_PRECONDITION, "%s: Table already initialized.", c->op->name);
    } else {
        ef_table old = *t; /* swap the fields that hold entries */
        t->key = fresh->key, t->value = fresh->value, t->hash = fresh->hash, t->slot = fresh->slot;
        t->n = fresh->n, t->slots = fresh->slots;
        t->key_cap = fresh->key_cap, t->value_cap = fresh->value_cap, t->hash_cap = fresh->hash_cap;
        fresh->key = old.key, fresh->value = old.value, fresh->hash = old.hash,
        fresh->slot = old.slot;
        fresh->n = old.n, fresh->slots = old.slots;
        fresh->key_cap = old.key_cap, fresh->value_cap = old.value_cap;
        fresh->hash_cap = old.hash_cap;
        atomic_store_explicit(&t->filled, true, memory_order_release);
    }
    ef_mutex_unlock(&t->lock);
    ef_storage_unref(&fresh->object.base);
    return s;
}

static ef_status *need_static(const ef_call *c, const ef_table *t) {
    if (t->kind == EF_TABLE_STATIC) return NULL;
    return ef_error(EF_INVALID, "%s: the table is mutable and needs no initializer; insert into it",
                    c->op->name);
}

/* ---- from tensors ---------------------------------------------------------------------------- */

static ef_status *init_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 1));
    const ef_shape *k = &i->in[1].shape, *v = &i->in[2].shape;
    if (!ef_shape_may_equal(k, v))
        return ef_error(EF_INVALID,
                        "%s: keys and values should have the same dimension; they are %s and %s",
                        i->op->name, EF_SHAPE(k), EF_SHAPE(v));
    return NULL;
}

static ef_status *init_run(const ef_call *c) {
    ef_table *t = NULL, *fresh = NULL;
    EF_TRY(ef_call_table(c, 0, &t));
    EF_TRY(need_static(c, t));
    if (c->in[1]->dtype != (uint8_t)t->key_dtype || c->in[2]->dtype != (uint8_t)t->value_dtype)
        return ef_error(EF_INVALID, "%s: keys are %s and values %s but the table maps %s to %s",
                        c->op->name, ef_dtype_name((ef_dtype)c->in[1]->dtype),
                        ef_dtype_name((ef_dtype)c->in[2]->dtype), ef_dtype_name(t->key_dtype),
                        ef_dtype_name(t->value_dtype));
    if (ef_count(c->in[1]) == 0)
        return ef_error(EF_INVALID, "%s: keys and values cannot be empty tensors", c->op->name);
    EF_TRY(begin(t, &fresh));
    for (int64_t k = 0, n = ef_count(c->in[1]); k < n; k++) {
        ef_status *s = add(c, fresh, ef_table_key_at(t, c->in[1]->data, k),
                           ef_table_value_at(t, c->in[2]->data, k));
        if (s == NULL) continue;
        ef_storage_unref(&fresh->object.base);
        return s;
    }
    return finish(c, t, fresh);
}

const ef_op ef_op_InitializeTableV2 = {
    EF_NAMED(InitializeTableV2),
    .doc = "Fills a static table with keys and values.",
    .in = {"table_handle: resource", "keys: Tkey", "values: Tval"},
    .types = "Tkey: type; Tval: type",
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .data_in = 6,
    .shape = init_shape,
    .kernel = EF_ANY_KERNEL(init_run),
    .examples = {"table(static) int64[3]{1,2,3} float[3]"},
};

/* ---- from a file ----------------------------------------------------------------------------- */

typedef struct file_attrs {
    int64_t key_index, value_index, vocab_size, offset;
    ef_attr_text delimiter;
} file_attrs;

enum { WHOLE_LINE = -2, LINE_NUMBER = -1 };

typedef struct cell { /* one key or value */
    ef_str text;
    int64_t i64;
    int32_t i32;
    float f32;
    double f64;
} cell;

static const void *cell_data(const cell *x, ef_dtype t) {
    return t == EF_STRING ? (const void *)&x->text
           : t == EF_I64  ? (const void *)&x->i64
           : t == EF_I32  ? (const void *)&x->i32
           : t == EF_F32  ? (const void *)&x->f32
                          : (const void *)&x->f64;
}

/* Column `index` of a line; false: the line has fewer columns. */
static bool find_part(const char *at, size_t n, int64_t index, char delimiter, ef_str *out) {
    const char *end = at + n;
    for (;; index--) {
        const char *stop = at < end ? memchr(at, delimiter, (size_t)(end - at)) : NULL;
        if (stop == NULL) stop = end;
        if (index == 0) {
            *out = (ef_str){.at = (char *)(uintptr_t)at, .n = (size_t)(stop - at)};
            return true;
        }
        if (stop == end) return false;
        at = stop + 1;
    }
}

static ef_status *read_cell(const ef_call *c, const char *at, size_t n, int64_t line, int64_t index,
                            ef_dtype dtype, cell *out) {
    const file_attrs *t = c->attrs;
    if (index == LINE_NUMBER) {
        out->i64 = line + t->offset;
        return NULL;
    }
    out->text = (ef_str){.at = (char *)(uintptr_t)at, .n = n};
    if (index >= 0 && !find_part(at, n, index, t->delimiter.at[0], &out->text))
        return ef_error(
            EF_INVALID,
            "%s: Invalid number of columns in line %lld of the file: there is no column %lld",
            c->op->name, (long long)line, (long long)index);
    if (dtype == EF_STRING) return NULL;
    char number[64];
    size_t used = out->text.n < sizeof number - 1 ? out->text.n : sizeof number - 1;
    if (used > 0) memcpy(number, out->text.at, used);
    number[used] = 0;
    char *end = number;
    errno = 0;
    if (dtype == EF_F32 || dtype == EF_F64) {
        out->f64 = strtod(number, &end);
        out->f32 = strtof(number, &end);
    } else {
        out->i64 = strtoll(number, &end, 10);
        out->i32 = (int32_t)out->i64;
        if (dtype == EF_I32 && out->i32 != out->i64) errno = ERANGE;
    }
    if (end == number || *end != 0 || used != out->text.n ||
        (errno != 0 && dtype != EF_F32 && dtype != EF_F64))
        return ef_error(EF_INVALID, "%s: Field %s in line %lld is not a valid %s.", c->op->name,
                        EF_STR(&out->text), (long long)line, ef_dtype_name(dtype));
    return NULL;
}

static ef_status *check_index(const ef_call *c, int64_t index, ef_dtype dtype, const char *what) {
    if (index == WHOLE_LINE && dtype != EF_STRING && dtype != EF_I64)
        return ef_error(EF_INVALID, "%s: %s index -2 (whole line) gives strings or int64, not %s",
                        c->op->name, what, ef_dtype_name(dtype));
    if (index == LINE_NUMBER && dtype != EF_I64)
        return ef_error(EF_INVALID, "%s: %s index -1 (line number) gives int64, not %s",
                        c->op->name, what, ef_dtype_name(dtype));
    return NULL;
}

static ef_status *read_lines(const ef_call *c, ef_reader *r, ef_table *t) {
    const file_attrs *a = c->attrs;
    const int64_t most = a->vocab_size;
    int64_t line = 0;
    for (bool end = false;; line++) {
        const char *at;
        size_t n;
        cell key = {0}, value = {0};
        if (most >= 0 && line == most) break;
        EF_TRY(ef_reader_next(r, &at, &n, &end));
        if (end) break;
        EF_TRY(read_cell(c, at, n, line, a->key_index, t->key_dtype, &key));
        EF_TRY(read_cell(c, at, n, line, a->value_index, t->value_dtype, &value));
        EF_TRY(add(c, t, cell_data(&key, t->key_dtype), cell_data(&value, t->value_dtype)));
    }
    if (most >= 0 && line != most)
        return ef_error(EF_INVALID,
                        "%s: Invalid vocab_size in the file: expected %lld but got %lld lines",
                        c->op->name, (long long)most, (long long)line);
    return NULL;
}

static ef_status *file_shape(ef_infer *i) {
    const file_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 0));
    if (t->delimiter.n != 1)
        return ef_error(EF_INVALID, "%s: delimiter should be only 1 char; it is '%s'", i->op->name,
                        t->delimiter.at);
    return NULL;
}

static ef_status *file_run(const ef_call *c) {
    const file_attrs *a = c->attrs;
    const ef_str *name = ef_strs(c->in[1]);
    ef_table *t = NULL, *fresh = NULL;
    ef_reader *r = NULL;
    EF_TRY(ef_call_table(c, 0, &t));
    EF_TRY(need_static(c, t));
    EF_TRY(check_index(c, a->key_index, t->key_dtype, "key"));
    EF_TRY(check_index(c, a->value_index, t->value_dtype, "value"));
    EF_TRY(ef_lines_open(name->at, name->n, EF_UNCOMPRESSED, 0, &r));
    ef_status *s = begin(t, &fresh);
    if (s == NULL) s = read_lines(c, r, fresh);
    ef_reader_close(r);
    if (s == NULL) return finish(c, t, fresh);
    if (fresh != NULL) ef_storage_unref(&fresh->object.base);
    return s;
}

const ef_op ef_op_InitializeTableFromTextFileV2 = {
    EF_NAMED(InitializeTableFromTextFileV2),
    .doc = "Fills a static table from the lines of a file: by column, by the whole line (-2) or by "
           "its number (-1).",
    .in = {"table_handle: resource", "filename: string"},
    .attr = {EF_ATTR(file_attrs, key_index, "int >= -2", NULL),
             EF_ATTR(file_attrs, value_index, "int >= -2", NULL),
             EF_ATTR(file_attrs, vocab_size, "int >= -1", "-1"),
             EF_ATTR(file_attrs, delimiter, "string", "'\t'"),
             EF_ATTR(file_attrs, offset, "int", "0")},
    .attr_size = sizeof(file_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = file_shape,
    .kernel = EF_ANY_KERNEL(file_run),
    .examples = {"table(static) string[]{/dev/null} key_index=0 value_index=1"},
};
