/* Gradients of single values. A dense gradient has the value's own dtype and shape; the gradient of
 * a variable's handle is that of the variable; the gradient of a list is a list. */
#include "autodiff/edge_grad.h"

bool ef_has_gradient(ef_dtype t) {
    return ef_dtype_in(t, EF_FLOATS | EF_COMPLEX | EF_BIT(RESOURCE) | EF_BIT(VARIANT));
}

bool ef_node_flows(const ef_node *n) {
    if (n->op->traits & EF_NO_GRAD) return false;
    for (int k = 0; k < n->n_out; k++)
        if (ef_has_gradient(n->out[k].dtype)) return true;
    return false;
}

ef_status *ef_gradient_fact(const ef_fact *f, bool foreign, ef_fact *out) {
    const ef_fact *from = f->dtype == EF_RESOURCE ? f->handle : f;
    if (from == NULL || from->dtype == EF_NO_DTYPE)
        return ef_error(EF_UNIMPLEMENTED,
                        "gradients: a handle whose variable's dtype is not known goes through "
                        "control flow; read the variable before it");
    *out = (ef_fact){.dtype = from->dtype, .shape = from->shape};
    if (foreign) out->shape = ef_shape_foreign(&out->shape);
    return NULL;
}

ef_value *ef_gradient_zeros(ef_build *b, ef_value *x) {
    if (x == NULL || b->failed != NULL) return NULL;
    if (x->fact.dtype == EF_VARIANT) return ef_emit(b, "ZerosLike", 1, x);
    if (x->fact.dtype != EF_RESOURCE) return ef_zeros_like(b, x);
    ef_fact fact = {.dtype = EF_NO_DTYPE};
    ef_status *s = ef_gradient_fact(&x->fact, false, &fact);
    if (s != NULL) {
        ef_build_fail(b, s);
        return NULL;
    }
    ef_value *shape = ef_shape_known(&fact.shape)
                          ? ef_const_ints(b, EF_I64, fact.shape.rank, fact.shape.dim)
                          : ef_emit(b, "VariableShape", 1, x);
    return ef_emit(b, "Fill", 2, shape, ef_const_number(b, fact.dtype, 0));
}

/* Concatenates the rows of all parts, and their indices, which get one dtype. */
static ef_value *join_slices(ef_build *b, ef_value *const *part, int n) {
    size_t bytes = (size_t)(n + 1) * sizeof(ef_value *);
    ef_value **values = b->memory(b, bytes), **indices = b->memory(b, bytes), *out;
    if (values == NULL || indices == NULL) {
        ef_build_fail(b, ef_no_memory(bytes));
        return NULL;
    }
    ef_dtype type = part[0]->indices->fact.dtype;
    for (int k = 1; k < n; k++)
        if (part[k]->indices->fact.dtype != type) type = EF_I64;
    for (int k = 0; k < n; k++) {
        values[k] = part[k]->values;
        indices[k] = ef_cast(b, part[k]->indices, type);
    }
    values[n] = indices[n] = ef_const_number(b, EF_I32, 0);
    if (ef_emit_many(b, "ConcatV2", NULL, 0, values, n + 1, &out, 1) != 1) return NULL;
    ef_value *all = out;
    if (ef_emit_many(b, "ConcatV2", NULL, 0, indices, n + 1, &out, 1) != 1) return NULL;
    return ef_slices(b, all, out, part[0]->dense_shape);
}

ef_value *ef_gradient_sum(ef_build *b, ef_value *const *part, int n) {
    if (n == 1 || b->failed != NULL) return b->failed != NULL ? NULL : part[0];
    int slices = 0;
    for (int k = 0; k < n; k++) slices += part[k]->values != NULL;
    if (slices == n) return join_slices(b, part, n);
    if (n == 2 && part[0]->fact.dtype != EF_VARIANT) return ef_add(b, part[0], part[1]);
    ef_value *out;
    return ef_emit_many(b, "AddN", NULL, 0, part, n, &out, 1) == 1 ? out : NULL;
}
