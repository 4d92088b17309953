/* Lookup tables: a counted object that maps keys to values. A key is a scalar or, in a dense table,
 * a tensor; a value is a scalar or a tensor. Entries are stored in insertion order, and a hash
 * table finds them. */
#ifndef EF_OPS_TABLE_H
#define EF_OPS_TABLE_H
#include "ops/string/strings.h"
#include <stdatomic.h>

typedef enum ef_table_kind { EF_TABLE_STATIC, EF_TABLE_MUTABLE, EF_TABLE_DENSE } ef_table_kind;

typedef struct ef_table {
    ef_object object;
    ef_mutex lock; /* guards all fields below; a static table needs no lock once it is filled */
    ef_table_kind kind;
    ef_dtype key_dtype, value_dtype;
    ef_shape key_shape, value_shape;
    int64_t key_n, value_n; /* number of elements */
    atomic_bool filled;     /* static table: it has been initialized */
    unsigned char *key, *value;
    uint64_t *hash;
    size_t n, key_cap, value_cap, hash_cap;
    size_t *slot; /* entry index + 1; 0: free */
    size_t slots;
    ef_tensor reserved[2]; /* dense: the empty and the deleted key, which must not be used */
} ef_table;

typedef struct ef_table_type {
    ef_table_kind kind;
    ef_dtype key_dtype, value_dtype;
    ef_shape key_shape, value_shape;
} ef_table_type;
ef_status *ef_table_make(const ef_table_type *type, ef_table **out);

/* The caller holds the lock (or the table is static and filled). Keys and values are pointers to
 * key_n and value_n elements. */
bool ef_table_find(const ef_table *t, const void *key, const void **value);
/* *fresh: the key was not in the table. If it was, its value is replaced, unless `keep`. */
ef_status *ef_table_put(ef_table *t, const void *key, const void *value, bool keep, bool *fresh);
void ef_table_remove(ef_table *t, const void *key);
void ef_table_clear(ef_table *t);
/* Element k of an array of keys or values. */
static inline const void *ef_table_key_at(const ef_table *t, const void *keys, int64_t k) {
    return (const char *)keys + (size_t)(k * t->key_n) * ef_dtype_size(t->key_dtype);
}
static inline const void *ef_table_value_at(const ef_table *t, const void *values, int64_t k) {
    return (const char *)values + (size_t)(k * t->value_n) * ef_dtype_size(t->value_dtype);
}

/* ---- for the ops ---- */
ef_status *ef_call_table(const ef_call *c, int k, ef_table **out);
/* For keys of shape [..., key shape]: their number, and the leading dims. */
ef_status *ef_table_keys(const ef_call *c, const ef_table *t, int k, int64_t *n, ef_shape *outer);
ef_status *ef_table_check_reserved(const ef_call *c, const ef_table *t, const void *key);
#endif
