/* What ops between lists and tensors share. */
#include "ops/list/list_build.h"
#include "ops/state/variable.h"

ef_value *ef_list_tail_value(ef_build *b, ef_value *x) {
    if (x == NULL) return NULL;
    const ef_shape *s = &x->fact.shape;
    if (s->rank >= 1) {
        ef_shape tail = ef_list_tail(s);
        if (ef_shape_known(&tail)) return ef_const_ints(b, EF_I32, tail.rank, tail.dim);
    }
    return ef_emit(b, "Slice", 3, ef_shape_value(b, x, EF_I32),
                   ef_const_ints(b, EF_I32, 1, (const int64_t[]){1}),
                   ef_const_ints(b, EF_I32, 1, (const int64_t[]){-1}));
}

ef_value *ef_list_element_shape_value(ef_build *b, ef_value *list) {
    const ef_attr_value i32[] = {EF_SET_TYPE("shape_type", EF_I32)};
    return ef_emit_set(b, "TensorListElementShape", i32, 1, 1, list);
}

ef_status *ef_list_join(const ef_call *c, const ef_list *l, const int32_t *index, int64_t n,
                        const ef_shape *element) {
    ef_shape out;
    int64_t each = ef_shape_count(element);
    EF_TRY(ef_list_prepend(c->op, n, element, &out));
    EF_TRY(ef_out_ready(c, 0, &out));
    for (int64_t k = 0; k < n; k++) {
        const ef_tensor *x = &l->item[index == NULL ? k : index[k]];
        if (x->dtype != EF_NO_DTYPE) {
            ef_shape s = ef_shape_from(x);
            if (!ef_shape_equal(&s, element))
                return ef_error(EF_INVALID,
                                "%s: element %lld is %s but others are %s; all must have "
                                "one shape",
                                c->op->name, (long long)k, EF_SHAPE(&s), EF_SHAPE(element));
        }
        EF_TRY(ef_list_copy(c->out[0], k * each, x->dtype == EF_NO_DTYPE ? NULL : x, 0, each));
    }
    return NULL;
}

ef_status *ef_list_need_vector(const ef_call *c, const ef_tensor *x) {
    if (x->rank >= 1) return NULL;
    return ef_error(EF_INVALID, "%s: tensor is a scalar; it must be at least a vector",
                    c->op->name);
}
