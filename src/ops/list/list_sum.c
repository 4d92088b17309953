/* Zeros like a list, and sums of lists, which the gradients of loops need. */
#include "kernels/combine.h"
#include "ops/list/list.h"

static ef_status *zeros_like(const ef_tensor *x, ef_tensor *out) {
    if (ef_is_list(x)) return ef_list_zeros_like(x, out);
    ef_shape s = ef_shape_from(x);
    EF_TRY(ef_tensor_alloc(out, (ef_dtype)x->dtype, &s));
    return ef_list_copy(out, 0, NULL, 0, ef_count(x));
}

ef_status *ef_list_zeros_like(const ef_tensor *t, ef_tensor *out) {
    ef_list *l = (ef_list *)ef_tensor_object(t, EF_OBJECT_LIST), *zeros;
    if (l == NULL) return ef_error(EF_INVALID, "ZerosLike: the variant does not hold a list");
    EF_TRY(ef_list_make(l->dtype, &l->element, l->n, &zeros));
    zeros->limit = l->limit;
    for (int64_t k = 0; k < l->n; k++) {
        if (l->item[k].dtype == EF_NO_DTYPE) continue;
        ef_status *s = zeros_like(&l->item[k], &zeros->item[k]);
        if (s != NULL) {
            ef_storage_unref(&zeros->object.base);
            return s;
        }
    }
    ef_tensor_from_object(out, EF_VARIANT, &zeros->object);
    return NULL;
}

static ef_status *add_items(const ef_tensor *x, const ef_tensor *y, ef_tensor *out) {
    if (x->dtype == EF_NO_DTYPE || y->dtype == EF_NO_DTYPE) {
        ef_tensor_copy(out, x->dtype == EF_NO_DTYPE ? y : x);
        return NULL;
    }
    if (ef_is_list(x)) return ef_list_add(x, y, out);
    ef_shape a = ef_shape_from(x), b = ef_shape_from(y);
    ef_combine_fn *add = ef_combine_pick(EF_COMBINE_ADD, (ef_dtype)x->dtype);
    if (!ef_shape_equal(&a, &b) || x->dtype != y->dtype || add == NULL)
        return ef_error(EF_INVALID,
                        "AddN: cannot add list elements %s and %s; shapes must be equal",
                        EF_TENSOR(x), EF_TENSOR(y));
    EF_TRY(ef_tensor_clone(out, x));
    ef_combine_all(add, (ef_dtype)x->dtype, out->data, y->data, ef_count(x));
    return NULL;
}

ef_status *ef_list_add(const ef_tensor *x, const ef_tensor *y, ef_tensor *out) {
    ef_list *a = (ef_list *)ef_tensor_object(x, EF_OBJECT_LIST), *sum;
    ef_list *b = (ef_list *)ef_tensor_object(y, EF_OBJECT_LIST);
    if (a == NULL || b == NULL) return ef_error(EF_INVALID, "AddN: a variant does not hold a list");
    if (a->dtype != b->dtype)
        return ef_error(EF_INVALID, "AddN: the lists hold %s and %s; the dtypes must be equal",
                        ef_dtype_name(a->dtype), ef_dtype_name(b->dtype));
    if (a->n != b->n)
        return ef_error(EF_INVALID,
                        "AddN: trying to add two lists of %lld and %lld elements; the "
                        "lengths must be equal",
                        (long long)a->n, (long long)b->n);
    ef_shape element;
    EF_TRY(ef_shape_merge(&a->element, &b->element, &element));
    EF_TRY(ef_list_make(a->dtype, &element, a->n, &sum));
    for (int64_t k = 0; k < a->n; k++) {
        ef_status *s = add_items(&a->item[k], &b->item[k], &sum->item[k]);
        if (s != NULL) {
            ef_storage_unref(&sum->object.base);
            return s;
        }
    }
    ef_tensor_from_object(out, EF_VARIANT, &sum->object);
    return NULL;
}
