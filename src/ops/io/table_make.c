/* Handles of tables: HashTableV2, MutableHashTableV2, MutableHashTableOfTensorsV2,
 * MutableDenseHashTableV2. A table with a shared_name is found by that name, in the session or in
 * the process; without one, each call makes a new table. */
#include "ops/io/table.h"
#include "ops/state/variable_scope.h"

typedef struct attrs {
    ef_attr_text container, shared_name;
    bool use_node_name_sharing;
    ef_dtype key_dtype;
    ef_fact value; /* dtype and shape of a value, which inference uses for the handle */
    int64_t initial_num_buckets;
    float max_load_factor;
} attrs;

static ef_status *handle_shape(ef_infer *i) {
    const attrs *t = i->attrs;
    i->out[0].shape = ef_scalar_shape();
    i->out[0].handle = &t->value;
    return NULL;
}

static ef_status *make_object(const void *how, const char *name, ef_object **out) {
    (void)name;
    return ef_table_make(how, (ef_table **)out);
}

/* The dtypes of values that TensorFlow's tables support, by the dtype of the keys. No other dtype
 * can be a key: floating-point numbers, for example, have two zeros, and NaN is not equal to
 * itself. */
#define VALUES (EF_BIT(I32) | EF_BIT(F32) | EF_BIT(F64))
static const struct {
    ef_dtype key;
    uint64_t values[3]; /* indexed by ef_table_kind */
} pairs[] = {
    {EF_I32,
     {[EF_TABLE_STATIC] = VALUES | EF_BIT(STRING),
      [EF_TABLE_MUTABLE] = VALUES,
      [EF_TABLE_DENSE] = VALUES}},
    {EF_I64,
     {[EF_TABLE_STATIC] = VALUES | EF_BIT(I64) | EF_BIT(STRING),
      [EF_TABLE_MUTABLE] = VALUES | EF_BIT(I64) | EF_BIT(STRING) | EF_BIT(VARIANT),
      [EF_TABLE_DENSE] = VALUES | EF_BIT(I64) | EF_BIT(BOOL) | EF_BIT(VARIANT)}},
    {EF_STRING,
     {[EF_TABLE_STATIC] = VALUES | EF_BIT(I64) | EF_BIT(BOOL) | EF_BIT(STRING),
      [EF_TABLE_MUTABLE] = VALUES | EF_BIT(I64) | EF_BIT(BOOL),
      [EF_TABLE_DENSE] = VALUES | EF_BIT(I64) | EF_BIT(BOOL) | EF_BIT(RESOURCE)}},
};

static ef_status *check_pair(const ef_call *c, const ef_table_type *type) {
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (pairs[k].key == type->key_dtype &&
            ef_dtype_in(type->value_dtype, pairs[k].values[type->kind]))
            return NULL;
    return ef_error(EF_NOT_FOUND,
                    "%s: there is no kernel for keys of dtype %s with values of dtype %s; keys are "
                    "int32, int64 or string, and of the values int32, float32 and float64 are "
                    "possible with each of them (cast to one of these)",
                    c->op->name, ef_dtype_name(type->key_dtype), ef_dtype_name(type->value_dtype));
}

static ef_status *make(const ef_call *c, const ef_table_type *type, ef_table **out) {
    const attrs *t = c->attrs;
    ef_object *found = NULL;
    EF_TRY(check_pair(c, type));
    if (t->shared_name.n == 0) return ef_table_make(type, out);
    EF_TRY(ef_scope_object(&t->container, &t->shared_name, make_object, type, &found));
    ef_table *x = (ef_table *)found;
    if (found->kind == EF_OBJECT_TABLE && x->kind == type->kind &&
        x->key_dtype == type->key_dtype && x->value_dtype == type->value_dtype &&
        ef_shape_equal(&x->value_shape, &type->value_shape)) {
        *out = x;
        return NULL;
    }
    ef_status *s = ef_error(
        EF_INVALID,
        "%s: Conflicting key/value dtypes %s->%s: a %s named %s exists with other ones; use "
        "another shared_name",
        c->op->name, ef_dtype_name(type->key_dtype), ef_dtype_name(type->value_dtype),
        found->type_name, t->shared_name.at);
    ef_storage_unref(&found->base);
    return s;
}

static ef_status *make_plain(const ef_call *c, ef_table_kind kind) {
    const attrs *t = c->attrs;
    ef_shape value = t->value.shape.rank > 0 ? t->value.shape : ef_scalar_shape();
    if (!ef_shape_known(&value))
        return ef_error(EF_INVALID, "%s: value_shape is %s; every size must be known", c->op->name,
                        EF_SHAPE(&value));
    ef_table *made = NULL;
    EF_TRY(make(c,
                &(ef_table_type){.kind = kind,
                                 .key_dtype = t->key_dtype,
                                 .value_dtype = t->value.dtype,
                                 .value_shape = value},
                &made));
    ef_out_object(c, 0, &made->object);
    return NULL;
}
static ef_status *static_run(const ef_call *c) { return make_plain(c, EF_TABLE_STATIC); }
static ef_status *mutable_run(const ef_call *c) { return make_plain(c, EF_TABLE_MUTABLE); }

#define COMMON                                                                              \
    EF_ATTR(attrs, container, "string", "''"), EF_ATTR(attrs, shared_name, "string", "''"), \
        EF_ATTR(attrs, use_node_name_sharing, "bool", "false")
#define VALUE \
    { "value_dtype", "type", NULL, offsetof(attrs, value.dtype) }

const ef_op ef_op_HashTableV2 = {
    EF_NAMED(HashTableV2),
    .doc = "The handle of a table that is filled once and then only read.",
    .out = {"table_handle: resource"},
    .attr = {COMMON, EF_ATTR(attrs, key_dtype, "type", NULL), VALUE},
    .attr_size = sizeof(attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = handle_shape,
    .kernel = EF_ANY_KERNEL(static_run),
    .examples = {"key_dtype=string value_dtype=int64"},
};

const ef_op ef_op_MutableHashTableV2 = {
    EF_NAMED(MutableHashTableV2),
    .doc = "The handle of a mutable table with scalar values.",
    .out = {"table_handle: resource"},
    .attr = {COMMON, EF_ATTR(attrs, key_dtype, "type", NULL), VALUE},
    .attr_size = sizeof(attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = handle_shape,
    .kernel = EF_ANY_KERNEL(mutable_run),
    .examples = {"key_dtype=int64 value_dtype=string"},
};

const ef_op ef_op_MutableHashTableOfTensorsV2 = {
    EF_NAMED(MutableHashTableOfTensorsV2),
    .doc = "The handle of a mutable table with values of a given shape.",
    .out = {"table_handle: resource"},
    .attr = {COMMON,
             EF_ATTR(attrs, key_dtype, "type", NULL),
             VALUE,
             {"value_shape", "shape", "[]", offsetof(attrs, value.shape)}},
    .attr_size = sizeof(attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = handle_shape,
    .kernel = EF_ANY_KERNEL(mutable_run),
    .examples = {"key_dtype=string value_dtype=float value_shape=[2]"},
};

/* ---- MutableDenseHashTableV2 ----------------------------------------------------------------- */

static ef_status *dense_shape(ef_infer *i) {
    const attrs *t = i->attrs;
    if (i->in[0].dtype != i->in[1].dtype || !ef_shape_may_equal(&i->in[0].shape, &i->in[1].shape))
        return ef_error(
            EF_INVALID,
            "%s: empty_key has shape %s and deleted_key %s; Empty and deleted keys must have "
            "equal shapes",
            i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    if (t->initial_num_buckets < 4 || (t->initial_num_buckets & (t->initial_num_buckets - 1)) != 0)
        return ef_error(EF_INVALID,
                        "%s: initial_num_buckets must be a power of 2 and at least 4; got %lld",
                        i->op->name, (long long)t->initial_num_buckets);
    if (!(t->max_load_factor > 0 && t->max_load_factor < 1))
        return ef_error(EF_INVALID, "%s: max_load_factor must be between 0 and 1; got %g",
                        i->op->name, (double)t->max_load_factor);
    return handle_shape(i);
}

static ef_status *dense_run(const ef_call *c) {
    const attrs *t = c->attrs;
    if (ef_tensor_same_bytes(c->in[0], c->in[1]))
        return ef_error(EF_INVALID, "%s: Empty and deleted keys cannot be equal", c->op->name);
    ef_table_type type = {.kind = EF_TABLE_DENSE,
                          .key_dtype = (ef_dtype)c->in[0]->dtype,
                          .value_dtype = t->value.dtype,
                          .key_shape = ef_shape_from(c->in[0]),
                          .value_shape =
                              t->value.shape.rank > 0 ? t->value.shape : ef_scalar_shape()};
    if (!ef_shape_known(&type.value_shape) || ef_shape_count(&type.key_shape) == 0)
        return ef_error(EF_INVALID,
                        "%s: keys of shape %s and values of shape %s; all sizes must be known",
                        c->op->name, EF_SHAPE(&type.key_shape), EF_SHAPE(&type.value_shape));
    ef_tensor empty = {0}, deleted = {0};
    ef_table *made = NULL;
    ef_status *s = ef_tensor_clone(&empty, c->in[0]);
    if (s == NULL) s = ef_tensor_clone(&deleted, c->in[1]);
    if (s == NULL) s = make(c, &type, &made);
    if (s == NULL) {
        ef_mutex_lock(&made->lock);
        if (made->reserved[0].dtype == EF_NO_DTYPE) { /* a new table */
            ef_tensor_move(&made->reserved[0], &empty);
            ef_tensor_move(&made->reserved[1], &deleted);
        }
        ef_mutex_unlock(&made->lock);
        ef_out_object(c, 0, &made->object);
    }
    ef_tensor_release(&empty);
    ef_tensor_release(&deleted);
    return s;
}

const ef_op ef_op_MutableDenseHashTableV2 = {
    EF_NAMED(MutableDenseHashTableV2),
    .doc = "The handle of a mutable table whose keys may be tensors. Two keys, `empty_key` and "
           "`deleted_key`, cannot be used.",
    .in = {"empty_key: key_dtype", "deleted_key: key_dtype"},
    .out = {"table_handle: resource"},
    .types = "key_dtype: type",
    .attr = {COMMON,
             VALUE,
             {"value_shape", "shape", "[]", offsetof(attrs, value.shape)},
             EF_ATTR(attrs, initial_num_buckets, "int", "131072"),
             EF_ATTR(attrs, max_load_factor, "float", "0.8")},
    .attr_size = sizeof(attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .data_in = 3,
    .shape = dense_shape,
    .kernel = EF_ANY_KERNEL(dense_run),
    .examples = {"int64[]{-1} int64[]{-2} value_dtype=int64"},
};
