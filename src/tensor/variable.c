/* Variables. Reading counts the value's storage, writing shares it; only an in-place update needs
 * the bytes for itself and copies them if somebody else still looks at them. */
#include "base/alloc.h"
#include "tensor/object.h"

static void variable_end(ef_storage *self) {
    ef_variable *v = (ef_variable *)self;
    ef_tensor_release(&v->value);
    pthread_mutex_destroy(&v->lock);
    ef_free(v->name);
    ef_free(v);
}

ef_status *ef_variable_make(ef_dtype dtype, const ef_shape *shape, const char *name,
                            ef_variable **out) {
    if (ef_dtype_size(dtype) == 0)
        return ef_error(EF_INVALID, "variable '%s': %d is not a dtype", name ? name : "",
                        (int)dtype);
    if (shape->rank > EF_MAX_RANK)
        return ef_error(EF_INVALID, "variable '%s': the rank is %d; it must be at most %d",
                        name ? name : "", (int)shape->rank, EF_MAX_RANK);
    ef_variable *v = ef_calloc(1, sizeof *v);
    char *copy = ef_strdup(name ? name : "");
    if (v == NULL || copy == NULL || pthread_mutex_init(&v->lock, NULL) != 0) {
        ef_free(v);
        ef_free(copy);
        return ef_no_memory(sizeof *v);
    }
    ef_object_init(&v->object, EF_OBJECT_VARIABLE, "variable", variable_end);
    v->dtype = dtype;
    v->shape = *shape;
    v->name = copy;
    v->trainable = true;
    v->number = ef_mark_number();
    *out = v;
    return NULL;
}

/* The caller holds v->lock. */
static ef_status *uninitialized(const ef_variable *v) {
    return ef_error(EF_FAILED_PRECONDITION,
                    "variable '%s' is uninitialized: it was read before a value was assigned; run "
                    "its initializer first",
                    v->name);
}

ef_status *ef_variable_read(ef_variable *v, ef_tensor *out) {
    ef_status *s = NULL;
    pthread_mutex_lock(&v->lock);
    if (v->value.dtype == EF_NO_DTYPE)
        s = uninitialized(v);
    else
        ef_tensor_copy(out, &v->value);
    pthread_mutex_unlock(&v->lock);
    return s;
}

static ef_status *check_assignable(const ef_variable *v, const ef_tensor *value) {
    ef_shape shape = ef_shape_from(value);
    if (value->dtype != (uint8_t)v->dtype)
        return ef_error(EF_INVALID,
                        "variable '%s' holds %s and cannot take %s; cast the value first", v->name,
                        ef_dtype_name(v->dtype), ef_dtype_name((ef_dtype)value->dtype));
    if (!ef_shape_may_equal(&v->shape, &shape))
        return ef_error(EF_INVALID,
                        "variable '%s' has shape %s and cannot take a value of shape %s", v->name,
                        EF_SHAPE(&v->shape), EF_SHAPE(&shape));
    if ((value->flags & EF_TENSOR_SYMBOLIC) || (value->data == NULL && value->storage == NULL))
        return ef_error(EF_INVALID, "variable '%s': the value %s is symbolic; run its graph first",
                        v->name, EF_TENSOR(value));
    return NULL;
}

ef_status *ef_variable_write(ef_variable *v, const ef_tensor *value) {
    EF_TRY(check_assignable(v, value));
    ef_tensor fresh, old;
    bool borrowed = value->storage == NULL && value->data != (const void *)value->small;
    if (borrowed)
        EF_TRY(ef_tensor_clone(&fresh, value));
    else
        ef_tensor_copy(&fresh, value);
    ef_tensor_unmark(&fresh);
    fresh.flags = 0;
    pthread_mutex_lock(&v->lock);
    ef_tensor_move(&old, &v->value);
    ef_tensor_move(&v->value, &fresh);
    v->version++;
    pthread_mutex_unlock(&v->lock);
    ef_tensor_release(&old); /* may free much; not under the lock */
    return NULL;
}

/* Whether the value's bytes may be written where they are. */
static bool owns_bytes(const ef_tensor *t) {
    if (t->storage == NULL) return t->data == (const void *)t->small;
    uint8_t kind = t->storage->kind;
    return (kind == EF_STORE_BYTES || kind == EF_STORE_STRINGS) && ef_storage_sole(t->storage);
}

/* Runs the pending work of the value without holding the lock; returns with the lock held. */
static ef_status *settle_locked(ef_variable *v) {
    pthread_mutex_lock(&v->lock);
    while (v->value.data == NULL && v->value.storage != NULL) {
        ef_tensor t;
        ef_tensor_copy(&t, &v->value);
        pthread_mutex_unlock(&v->lock);
        const void *data;
        ef_status *s = ef_tensor_data(&t, &data);
        pthread_mutex_lock(&v->lock);
        if (s == NULL && v->value.storage == t.storage) v->value.data = t.storage->data;
        ef_tensor_release(&t);
        if (s != NULL) return s;
    }
    return NULL;
}

ef_status *ef_variable_begin_update(ef_variable *v, ef_tensor **value) {
    ef_status *s = settle_locked(v);
    if (s == NULL && v->value.dtype == EF_NO_DTYPE) s = uninitialized(v);
    if (s == NULL && !owns_bytes(&v->value)) {
        ef_tensor own;
        s = ef_tensor_clone(&own, &v->value);
        if (s == NULL) {
            ef_tensor_release(&v->value);
            ef_tensor_move(&v->value, &own);
        }
    }
    if (s != NULL) {
        pthread_mutex_unlock(&v->lock);
        return s;
    }
    *value = &v->value;
    return NULL;
}

void ef_variable_end_update(ef_variable *v) {
    v->version++;
    pthread_mutex_unlock(&v->lock);
}
