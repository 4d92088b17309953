/* The table object. The hash table uses linear probing. When an entry is removed, the last entry
 * takes its position, so there are no gaps and exporting is a copy. */
#include "ops/io/table.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"

static void free_strings(unsigned char *at, size_t n) {
    ef_str *s = (ef_str *)(void *)at;
    for (size_t k = 0; k < n; k++) ef_free(s[k].at);
}

void ef_table_clear(ef_table *t) {
    if (t->key_dtype == EF_STRING) free_strings(t->key, t->n * (size_t)t->key_n);
    if (t->value_dtype == EF_STRING) free_strings(t->value, t->n * (size_t)t->value_n);
    t->n = 0;
    if (t->slot != NULL) memset(t->slot, 0, t->slots * sizeof *t->slot);
}

static void table_end(ef_storage *self) {
    ef_table *t = (ef_table *)self;
    ef_table_clear(t);
    ef_free(t->key);
    ef_free(t->value);
    ef_free(t->hash);
    ef_free(t->slot);
    ef_tensor_release(&t->reserved[0]);
    ef_tensor_release(&t->reserved[1]);
    ef_mutex_destroy(&t->lock);
    ef_free(t);
}

ef_status *ef_table_make(const ef_table_type *type, ef_table **out) {
    ef_table *t = ef_calloc(1, sizeof *t);
    if (t == NULL) return ef_no_memory(sizeof *t);
    ef_object_init(&t->object, EF_OBJECT_TABLE, "table", table_end);
    ef_mutex_init(&t->lock, EF_RANK_TABLE, EF_MUTEX_PLAIN);
    t->kind = type->kind;
    t->key_dtype = type->key_dtype;
    t->value_dtype = type->value_dtype;
    t->key_shape = type->key_shape;
    t->value_shape = type->value_shape;
    t->key_n = ef_shape_count(&t->key_shape);
    t->value_n = ef_shape_count(&t->value_shape);
    *out = t;
    return NULL;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static uint64_t hash_key(const ef_table *t, const void *key) {
    if (t->key_dtype != EF_STRING)
        return ef_hash_bytes(3, key, (size_t)t->key_n * ef_dtype_size(t->key_dtype));
    uint64_t h = 3;
    for (int64_t k = 0; k < t->key_n; k++) {
        const ef_str *s = (const ef_str *)key + k;
        h = ef_hash_bytes(h, s->at, s->n);
    }
    return h;
}

static bool same_key(const ef_table *t, const void *a, const void *b) {
    if (t->key_dtype != EF_STRING)
        return memcmp(a, b, (size_t)t->key_n * ef_dtype_size(t->key_dtype)) == 0;
    for (int64_t k = 0; k < t->key_n; k++)
        if (!ef_str_same((const ef_str *)a + k, (const ef_str *)b + k)) return false;
    return true;
}

/* The slot of a key, or the free slot where it would be inserted. */
static size_t find_slot(const ef_table *t, const void *key, uint64_t hash) {
    size_t at = (size_t)hash & (t->slots - 1);
    for (;; at = (at + 1) & (t->slots - 1)) {
        if (t->slot[at] == 0) return at;
        size_t e = t->slot[at] - 1;
        if (t->hash[e] == hash && same_key(t, ef_table_key_at(t, t->key, (int64_t)e), key))
            return at;
    }
}

bool ef_table_find(const ef_table *t, const void *key, const void **value) {
    if (t->n == 0) return false;
    size_t e = t->slot[find_slot(t, key, hash_key(t, key))];
    if (e == 0) return false;
    *value = ef_table_value_at(t, t->value, (int64_t)e - 1);
    return true;
}

/* ---- changing -------------------------------------------------------------------------------- */

static ef_status *grow_slots(ef_table *t) {
    size_t slots = t->slots > 0 ? 2 * t->slots : 16;
    size_t *fresh = ef_calloc(slots, sizeof *fresh);
    if (fresh == NULL) return ef_no_memory(slots * sizeof *fresh);
    for (size_t e = 0; e < t->n; e++) {
        size_t at = (size_t)t->hash[e] & (slots - 1);
        while (fresh[at] != 0) at = (at + 1) & (slots - 1);
        fresh[at] = e + 1;
    }
    ef_free(t->slot);
    t->slot = fresh;
    t->slots = slots;
    return NULL;
}

/* Strings are copied one by one; if one fails, the rest are left unchanged. */
static ef_status *store(ef_dtype dtype, void *to, const void *from, int64_t n) {
    if (dtype != EF_STRING) {
        memcpy(to, from, (size_t)n * ef_dtype_size(dtype));
        return NULL;
    }
    for (int64_t k = 0; k < n; k++) {
        const ef_str *s = (const ef_str *)from + k;
        EF_TRY(ef_str_set((ef_str *)to + k, s->at, s->n));
    }
    return NULL;
}

static void *entry(unsigned char *at, ef_dtype dtype, int64_t n, size_t e) {
    return at + e * (size_t)n * ef_dtype_size(dtype);
}

static ef_status *add_entry(ef_table *t, const void *key, const void *value, uint64_t hash) {
    const size_t key_bytes = (size_t)t->key_n * ef_dtype_size(t->key_dtype);
    const size_t value_bytes = (size_t)t->value_n * ef_dtype_size(t->value_dtype);
    if (2 * (t->n + 1) > t->slots) EF_TRY(grow_slots(t));
    EF_TRY(ef_grow((void **)&t->key, &t->key_cap, (t->n + 1) * key_bytes, 1));
    EF_TRY(ef_grow((void **)&t->value, &t->value_cap, (t->n + 1) * value_bytes, 1));
    EF_TRY(EF_GROW(&t->hash, &t->hash_cap, t->n + 1));
    void *k = entry(t->key, t->key_dtype, t->key_n, t->n);
    void *v = entry(t->value, t->value_dtype, t->value_n, t->n);
    memset(k, 0, key_bytes);
    memset(v, 0, value_bytes);
    ef_status *s = store(t->key_dtype, k, key, t->key_n);
    if (s == NULL) s = store(t->value_dtype, v, value, t->value_n);
    if (s != NULL) {
        if (t->key_dtype == EF_STRING) free_strings(k, (size_t)t->key_n);
        if (t->value_dtype == EF_STRING) free_strings(v, (size_t)t->value_n);
        return s;
    }
    t->slot[find_slot(t, key, hash)] = t->n + 1;
    t->hash[t->n++] = hash;
    return NULL;
}

ef_status *ef_table_put(ef_table *t, const void *key, const void *value, bool keep, bool *fresh) {
    const uint64_t hash = hash_key(t, key);
    const size_t e = t->slots > 0 ? t->slot[find_slot(t, key, hash)] : 0;
    *fresh = e == 0;
    if (e == 0) return add_entry(t, key, value, hash);
    if (keep) return NULL;
    return store(t->value_dtype, entry(t->value, t->value_dtype, t->value_n, e - 1), value,
                 t->value_n);
}

/* Entries after a freed slot may have been displaced past it by probing: they move back. */
static void free_slot(ef_table *t, size_t hole) {
    const size_t mask = t->slots - 1;
    for (size_t at = (hole + 1) & mask; t->slot[at] != 0; at = (at + 1) & mask) {
        size_t home = (size_t)t->hash[t->slot[at] - 1] & mask;
        if (((at - home) & mask) < ((at - hole) & mask)) continue;
        t->slot[hole] = t->slot[at];
        hole = at;
    }
    t->slot[hole] = 0;
}

void ef_table_remove(ef_table *t, const void *key) {
    if (t->n == 0) return;
    size_t at = find_slot(t, key, hash_key(t, key)), e = t->slot[at];
    if (e-- == 0) return;
    free_slot(t, at);
    const size_t last = t->n - 1, key_bytes = (size_t)t->key_n * ef_dtype_size(t->key_dtype),
                 value_bytes = (size_t)t->value_n * ef_dtype_size(t->value_dtype);
    unsigned char *k = t->key + e * key_bytes, *v = t->value + e * value_bytes;
    if (t->key_dtype == EF_STRING) free_strings(k, (size_t)t->key_n);
    if (t->value_dtype == EF_STRING) free_strings(v, (size_t)t->value_n);
    if (e != last) {
        unsigned char *from = t->key + last * key_bytes;
        t->slot[find_slot(t, from, t->hash[last])] = e + 1;
        memcpy(k, from, key_bytes);
        memcpy(v, t->value + last * value_bytes, value_bytes);
        t->hash[e] = t->hash[last];
    }
    t->n--;
}

/* ---- for the ops ----------------------------------------------------------------------------- */

ef_status *ef_call_table(const ef_call *c, int k, ef_table **out) {
    ef_table *t = (ef_table *)ef_tensor_object(c->in[k], EF_OBJECT_TABLE);
    if (t == NULL)
        return ef_error(EF_INVALID, "%s: input %d is not the handle of a table", c->op->name, k);
    *out = t;
    return NULL;
}

ef_status *ef_table_keys(const ef_call *c, const ef_table *t, int k, int64_t *n, ef_shape *outer) {
    const ef_tensor *x = c->in[k];
    *outer = ef_shape_from(x);
    bool fits = x->rank >= t->key_shape.rank;
    for (int d = 0; fits && d < t->key_shape.rank; d++)
        fits = x->dim[x->rank - t->key_shape.rank + d] == t->key_shape.dim[d];
    if (!fits)
        return ef_error(EF_INVALID,
                        "%s: Input key shape is %s; it must end with the shape of a key, %s",
                        c->op->name, EF_SHAPE(outer), EF_SHAPE(&t->key_shape));
    if (x->dtype != (uint8_t)t->key_dtype)
        return ef_error(EF_INVALID, "%s: keys are %s but the table's are %s; they must be equal",
                        c->op->name, ef_dtype_name((ef_dtype)x->dtype),
                        ef_dtype_name(t->key_dtype));
    outer->rank -= t->key_shape.rank;
    *n = ef_shape_count(outer);
    return NULL;
}

ef_status *ef_table_check_reserved(const ef_call *c, const ef_table *t, const void *key) {
    static const char *const names[] = {"empty_key", "deleted_key"};
    for (int k = 0; t->kind == EF_TABLE_DENSE && k < 2; k++)
        if (t->reserved[k].dtype != EF_NO_DTYPE && same_key(t, t->reserved[k].data, key))
            return ef_error(EF_INVALID,
                            "%s: Using the %s as a table key is not allowed; choose another %s",
                            c->op->name, names[k], names[k]);
    return NULL;
}
