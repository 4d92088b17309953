/* Access to the elements of tensors, for language bindings. */
#include "eager/context.h"
#include "evenflow_binding.h"
#include "graph/graph.h"
#include "tensor/object.h"

static ef_status *string_element(const ef_tensor *t, int64_t i, ef_str **out) {
    if (t == NULL || t->dtype != EF_STRING || ef_tensor_peek(t) == NULL)
        return ef_error(EF_INVALID, "ef_string: the tensor has no string elements");
    if (i < 0 || i >= ef_count(t))
        return ef_error(EF_INVALID, "ef_string: element %lld of %s", (long long)i, EF_TENSOR(t));
    *out = (ef_str *)t->data + i;
    return NULL;
}

ef_status *ef_string_at(const ef_tensor *t, int64_t i, const char **at, size_t *n) {
    ef_str *s;
    EF_TRY(string_element(t, i, &s));
    *at = s->n > 0 ? s->at : "";
    *n = s->n;
    return NULL;
}

ef_status *ef_string_put(ef_tensor *t, int64_t i, const char *at, size_t n) {
    ef_str *s;
    EF_TRY(string_element(t, i, &s));
    return ef_str_set(s, at, n);
}

bool ef_tensor_ready(const ef_tensor *t) { return ef_tensor_peek(t) != NULL; }

bool ef_tensor_sole(const ef_tensor *t) {
    if (t == NULL) return false;
    if (t->storage != NULL && t->storage->kind == EF_STORE_PENDING)
        return ef_storage_sole(t->storage) && ef_pending_owned(t->storage);
    return ef_tensor_owned(t);
}

void ef_tensor_take(ef_tensor *dst, ef_tensor *src) { ef_tensor_move(dst, src); }

ef_status *ef_status_make(ef_code code, const char *message) {
    return code == EF_OK ? NULL : ef_error(code, "%s", message != NULL ? message : "");
}

ef_graph *ef_graph_hold(ef_graph *g) { return ef_graph_ref(g); }

ef_status *ef_variable_new_shaped(const ef_tensor *value, const ef_shape *shape, const char *name,
                                  ef_tensor *handle) {
    if (value == NULL || shape == NULL || handle == NULL || value->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_variable_new_shaped: a variable needs a value and a shape");
    bool later = value->flags & EF_TENSOR_SYMBOLIC;
    ef_variable *v;
    EF_TRY(ef_variable_make((ef_dtype)value->dtype, shape, name, &v));
    v->trainable = true;
    ef_status *s = ef_variable_begin(v, later ? NULL : value);
    if (s != NULL)
        ef_storage_unref(&v->object.base);
    else
        ef_variable_handle(v, handle);
    return s;
}
