/* For tests of ops with state: calls an op by name in one line. */
#ifndef EF_OPS_STATE_CALL_H
#define EF_OPS_STATE_CALL_H
#include "base/alloc.h"
#include "ops/run.h"
#include "ops/state/variable.h"

/* Runs op `name` on tensors with the given attributes; one or two outputs. */
static inline ef_status *call_op(const char *name, const ef_attr_value *set, int n_set,
                                 ef_tensor *const *in, int n_in, ef_tensor *out, int max_out) {
    const ef_op *op = ef_op_find(name);
    const ef_attrs *attrs = NULL;
    int n = 0;
    if (op == NULL) return ef_error(EF_NOT_FOUND, "no op %s", name);
    EF_TRY(ef_attrs_make(op, set, n_set, &attrs));
    ef_status *s =
        ef_op_run(ef_context_here(), op, ef_attrs_fields(attrs), in, n_in, out, max_out, &n);
    ef_attrs_unref(attrs);
    return s;
}
#define IN(...) ((ef_tensor *const[]){__VA_ARGS__})
#define N_IN(...) ((int)(sizeof(IN(__VA_ARGS__)) / sizeof(ef_tensor *)))
/* CALL("AddV2", NULL, 0, out, &x, &y) */
#define CALL(name, set, n_set, out, ...) \
    call_op((name), (set), (n_set), IN(__VA_ARGS__), N_IN(__VA_ARGS__), (out), 2)

static inline ef_status *vector(ef_dtype t, int64_t n, const void *v, ef_tensor *out) {
    return ef_tensor_from(t, &(ef_shape){.rank = 1, .dim = {n}}, v, out);
}
static inline ef_status *scalar(ef_dtype t, double v, ef_tensor *out) {
    double room[2] = {0};
    ef_element_set(t, room, 0, v);
    return ef_tensor_from(t, NULL, room, out);
}
/* A new variable of n equal floats; `out` is its handle. */
static inline ef_status *variable_of(int64_t n, float v, ef_tensor *out) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_variable *var = NULL;
    ef_tensor value = {0};
    EF_TRY(ef_tensor_alloc(&value, EF_F32, &s));
    for (int64_t i = 0; i < n; i++) ((float *)value.data)[i] = v;
    ef_status *status = ef_variable_make(EF_F32, &s, "v", &var);
    if (status == NULL) status = ef_variable_write(var, &value);
    if (status == NULL) ef_tensor_from_object(out, EF_RESOURCE, &var->object);
    ef_tensor_release(&value);
    return status;
}
#endif
