/* Variables. Reading takes a reference to the value's storage, assigning shares the new value's;
 * only an in-place update needs storage of its own and copies it if somebody else still refers to
 * it. */
#include "base/alloc.h"
#include "tensor/device_tensor.h"
#include "tensor/object.h"

static void variable_end(ef_storage *self) {
    ef_variable *v = (ef_variable *)self;
    ef_tensor_release(&v->value);
    ef_mutex_destroy(&v->lock);
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
    if (v == NULL || copy == NULL) {
        ef_free(v);
        ef_free(copy);
        return ef_no_memory(sizeof *v);
    }
    ef_mutex_init(&v->lock, EF_RANK_VARIABLE, EF_MUTEX_BY_ADDRESS);
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
    ef_mutex_lock(&v->lock);
    if (v->value.dtype == EF_NO_DTYPE)
        s = uninitialized(v);
    else
        ef_tensor_copy(out, &v->value);
    ef_mutex_unlock(&v->lock);
    return s;
}

/* Stored types for which TensorFlow has no kernel to assign to a variable. */
#define UNASSIGNED \
    (EF_BIT(QI16) | EF_BIT(QU16) | EF_BIT(F8E4M3FNUZ) | EF_BIT(F8E4M3B11FNUZ) | EF_BIT(F8E5M2FNUZ))

static ef_status *check_assignable(const ef_variable *v, const ef_tensor *value) {
    ef_shape shape = ef_shape_from(value);
    if (value->dtype != (uint8_t)v->dtype)
        return ef_error(EF_INVALID,
                        "variable '%s' holds %s and cannot take %s; cast the value first", v->name,
                        ef_dtype_name(v->dtype), ef_dtype_name((ef_dtype)value->dtype));
    if (ef_dtype_in(v->dtype, UNASSIGNED))
        return ef_error(EF_INVALID,
                        "variable '%s': no kernel of AssignVariableOp is registered for "
                        "dtype %s",
                        v->name, ef_dtype_name(v->dtype));
    if (!ef_shape_may_equal(&v->shape, &shape))
        return ef_error(EF_INVALID,
                        "variable '%s' has shape %s and cannot take a value of shape %s", v->name,
                        EF_SHAPE(&v->shape), EF_SHAPE(&shape));
    if ((value->flags & EF_TENSOR_SYMBOLIC) || (value->data == NULL && value->storage == NULL))
        return ef_error(EF_INVALID, "variable '%s': the value %s is symbolic; run its graph first",
                        v->name, EF_TENSOR(value));
    return NULL;
}

static ef_status *put(ef_variable *v, const ef_tensor *value, const uint64_t *version, bool *done) {
    EF_TRY(check_assignable(v, value));
    ef_tensor fresh, old;
    bool borrowed = value->storage == NULL && value->data != (const void *)value->small;
    if (borrowed)
        EF_TRY(ef_tensor_clone(&fresh, value));
    else
        ef_tensor_copy(&fresh, value);
    ef_tensor_unmark(&fresh);
    fresh.flags = 0;
    ef_mutex_lock(&v->lock);
    *done = version == NULL || *version == v->version;
    ef_tensor_move(&old, *done ? &v->value : &fresh);
    if (*done) {
        ef_tensor_move(&v->value, &fresh);
        v->version++;
    }
    ef_mutex_unlock(&v->lock);
    ef_tensor_release(&old); /* may free much; not under the lock */
    return NULL;
}

ef_status *ef_variable_write(ef_variable *v, const ef_tensor *value) {
    bool done;
    return put(v, value, NULL, &done);
}

ef_status *ef_variable_replace(ef_variable *v, uint64_t version, const ef_tensor *value,
                               bool *done) {
    return put(v, value, &version, done);
}

/* A value that was moved is the same value: its version stays. */
ef_status *ef_variable_read_home(ef_variable *v, ef_tensor *out, uint64_t *version) {
    ef_status *s = NULL;
    ef_tensor now = {0}, old = {0};
    ef_mutex_lock(&v->lock);
    *version = v->version;
    if (v->value.dtype == EF_NO_DTYPE)
        s = uninitialized(v);
    else
        ef_tensor_copy(&now, &v->value);
    ef_mutex_unlock(&v->lock);
    if (s == NULL) s = ef_tensor_to(v->device, &now, out);
    if (s == NULL && now.device != v->device) {
        ef_mutex_lock(&v->lock);
        if (*version == v->version) {
            ef_tensor_move(&old, &v->value);
            ef_tensor_copy(&v->value, out);
        }
        ef_mutex_unlock(&v->lock);
    }
    ef_tensor_release(&now);
    ef_tensor_release(&old);
    return s;
}

ef_status *ef_variable_materialize(ef_variable *v) {
    ef_tensor t = {0};
    ef_mutex_lock(&v->lock);
    bool deferred = v->value.data == NULL && v->value.storage != NULL;
    if (deferred) ef_tensor_copy(&t, &v->value);
    ef_mutex_unlock(&v->lock);
    if (!deferred) return NULL;
    ef_status *s = ef_tensor_materialize(&t);
    ef_mutex_lock(&v->lock);
    if (s == NULL && v->value.storage == t.storage) v->value.data = t.data;
    ef_mutex_unlock(&v->lock);
    ef_tensor_release(&t);
    return s;
}

/* Under the lock; gives it up if it fails. */
static ef_status *own_value(ef_variable *v) {
    ef_status *s = v->value.dtype == EF_NO_DTYPE ? uninitialized(v) : NULL;
    if (s == NULL && !ef_tensor_owned(&v->value)) {
        ef_tensor own, old;
        s = ef_tensor_clone(&own, &v->value);
        if (s == NULL) {
            ef_tensor_move(&old, &v->value);
            ef_tensor_move(&v->value, &own);
            ef_tensor_release(&old); /* others hold it */
        }
    }
    if (s != NULL) ef_mutex_unlock(&v->lock);
    return s;
}

ef_status *ef_variable_try_update(ef_variable *v, ef_tensor **value) {
    *value = NULL;
    ef_mutex_lock(&v->lock);
    if (v->value.data == NULL && v->value.storage != NULL) {
        ef_mutex_unlock(&v->lock);
        return NULL;
    }
    EF_TRY(own_value(v));
    *value = &v->value;
    return NULL;
}

ef_status *ef_variable_begin_update(ef_variable *v, ef_tensor **value) {
    do {
        EF_TRY(ef_variable_materialize(v));
        EF_TRY(ef_variable_try_update(v, value));
    } while (*value == NULL); /* another thread assigned a deferred value in between */
    return NULL;
}

void ef_variable_release(ef_variable *v) { ef_mutex_unlock(&v->lock); }

void ef_variable_end_update(ef_variable *v) {
    v->version++;
    ef_mutex_unlock(&v->lock);
}
