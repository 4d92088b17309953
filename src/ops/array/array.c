/* Helpers shared by the ops that move elements. */
#include "ops/array/array.h"
#include "ops/build.h"
#include <stdarg.h>
#include <string.h>

ef_status *ef_out_memory(const ef_call *c, int k) {
    ef_tensor *o = c->out[k];
    if (o->data != NULL && !ef_dtype_in((ef_dtype)o->dtype, EF_MANAGED)) return NULL;
    ef_shape s = ef_shape_from(o);
    return ef_out_alloc(c, k, &s);
}

ef_status *ef_out_same(const ef_call *c, int k, const ef_tensor *t) {
    ef_tensor *o = c->out[k];
    if (o->data == NULL || ef_dtype_in((ef_dtype)o->dtype, EF_MANAGED))
        return ef_out_share(c, k, t);
    if (o->data == t->data) return NULL;
    return ef_copy_elements((ef_dtype)t->dtype, o->data, t->data, ef_count(t));
}

ef_shape ef_shape_of_rank(int rank) {
    ef_shape s = {.rank = rank};
    for (int d = 0; d < rank; d++) s.dim[d] = EF_DIM_UNKNOWN;
    return s;
}

ef_status *ef_need_rank_held(const ef_op *op, int64_t rank) {
    if (rank <= EF_MAX_RANK) return NULL;
    return ef_error(EF_UNIMPLEMENTED,
                    "%s: the result would have rank %lld; tensors have rank %d at most", op->name,
                    (long long)rank, EF_MAX_RANK);
}

ef_status *ef_need_size_held(const ef_op *op, const ef_shape *s) {
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] == 0) return NULL;
    for (int d = 0; d < s->rank; d++) {
        if (s->dim[d] < 0) continue;
        if (s->dim[d] > (INT64_MAX / 16) / n)
            return ef_error(EF_INVALID,
                            "%s: the result's shape %s has too many elements to count in "
                            "64 bits (shape too large)",
                            op->name, EF_SHAPE(s));
        n *= s->dim[d];
    }
    return NULL;
}

ef_status *ef_need_vector(const ef_infer *i, int k, bool scalar) {
    const ef_shape *s = &i->in[k].shape;
    if (s->rank < 0 || s->rank == 1 || (scalar && s->rank == 0)) return NULL;
    return ef_error(EF_INVALID, "%s: input %d must be a vector%s, but its shape is %s", i->op->name,
                    k, scalar ? " or a scalar" : "", EF_SHAPE(s));
}

ef_status *ef_known_int(const ef_infer *i, int k, int64_t *v, bool *known) {
    const ef_tensor *t = i->in[k].value;
    const ef_shape *s = &i->in[k].shape;
    *known = false;
    if (s->rank > 0 && ef_shape_known(s) && ef_shape_count(s) != 1)
        return ef_error(EF_INVALID, "%s: input %d must be a scalar, but its shape is %s",
                        i->op->name, k, EF_SHAPE(s));
    if (t == NULL || ef_count(t) != 1 || t->data == NULL) return NULL;
    *v = ef_element_int((ef_dtype)t->dtype, t->data, 0);
    *known = true;
    return NULL;
}

ef_status *ef_shape_input(const ef_infer *i, int k, bool wild, ef_shape *out) {
    const ef_shape *s = &i->in[k].shape;
    const ef_tensor *t = i->in[k].value;
    *out = ef_unknown_shape();
    EF_TRY(ef_need_vector(i, k, true));
    int64_t rank = s->rank == 0 ? 1 : s->rank == 1 ? s->dim[0] : -1;
    if (rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, rank));
    *out = ef_shape_of_rank((int)rank);
    if (t == NULL || t->data == NULL) return NULL;
    for (int d = 0; d < out->rank; d++) {
        int64_t v = ef_element_int((ef_dtype)t->dtype, t->data, d);
        if (v < 0 && !(wild && v == -1))
            return ef_error(EF_INVALID,
                            "%s: dimension %d of the requested shape is %lld; sizes must be >= 0",
                            i->op->name, d, (long long)v);
        out->dim[d] = v;
    }
    return ef_need_size_held(i->op, out);
}

/* The sizes in a known shape vector; returns -1 if it is not known. */
static int known_sizes(const ef_value *v, int64_t *out) {
    const ef_tensor *t = v == NULL ? NULL : v->fact.value;
    if (t == NULL || t->data == NULL || t->rank != 1 || t->dim[0] > EF_MAX_RANK) return -1;
    for (int d = 0; d < t->dim[0]; d++) out[d] = ef_element_int((ef_dtype)t->dtype, t->data, d);
    return (int)t->dim[0];
}

ef_value *ef_shape_part(ef_build *b, ef_value *shape, int from, int to) {
    int64_t v[EF_MAX_RANK];
    int n = known_sizes(shape, v);
    if (shape == NULL) return NULL;
    if (n >= 0) {
        if (to < 0 || to > n) to = n;
        return ef_const_ints(b, shape->fact.dtype, to > from ? to - from : 0, v + from);
    }
    return ef_emit(b, "Slice", 3, shape, ef_const_ints(b, EF_I32, 1, (int64_t[]){from}),
                   ef_const_ints(b, EF_I32, 1, (int64_t[]){to < 0 ? -1 : to - from}));
}

ef_value *ef_shape_join(ef_build *b, int n, ...) {
    int64_t v[4 * EF_MAX_RANK];
    ef_value *in[5] = {NULL}, *out = NULL;
    int sum = 0;
    va_list args;
    va_start(args, n);
    for (int k = 0; k < n; k++) {
        in[k] = va_arg(args, ef_value *);
        int m = sum < 0 ? -1 : known_sizes(in[k], v + sum);
        sum = m < 0 ? -1 : sum + m;
    }
    va_end(args);
    if (b->failed != NULL || in[0] == NULL) return NULL;
    if (sum >= 0) return ef_const_ints(b, in[0]->fact.dtype, sum, v);
    in[n] = ef_const_number(b, EF_I32, 0);
    ef_emit_many(b, "ConcatV2", NULL, 0, in, n + 1, &out, 1);
    return out;
}

ef_value *ef_shape_product(ef_build *b, ef_value *shape) {
    int64_t v[EF_MAX_RANK], all = 1;
    int n = known_sizes(shape, v);
    if (shape == NULL) return NULL;
    for (int d = 0; d < n; d++) all *= v[d];
    if (n >= 0) return ef_const_ints(b, shape->fact.dtype, 1, &all);
    ef_attr_value keep[] = {EF_SET_BOOL("keep_dims", true)};
    return ef_emit_set(b, "Prod", keep, 1, 2, shape, ef_const_number(b, EF_I32, 0));
}

ef_value *ef_zeros_of(ef_build *b, ef_value *v) {
    if (v == NULL) return NULL;
    return ef_emit(b, "Fill", 2, ef_shape_value(b, v, EF_I64),
                   ef_const_number(b, v->fact.dtype, 0));
}
