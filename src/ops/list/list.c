/* The list object, and what all list ops share. */
#include "ops/list/list.h"
#include "base/alloc.h"
#include "ops/shapes.h"
#include <limits.h>

static void list_end(ef_storage *self) {
    ef_list *l = (ef_list *)self;
    for (int64_t k = 0; k < l->n; k++) ef_tensor_release(&l->item[k]);
    ef_free(l->item);
    ef_free(l);
}

/* Small elements store their data inside the array, so growing it copies element by element. */
static ef_status *reserve(ef_list *l, int64_t room) {
    if (room <= l->cap) return NULL;
    int64_t cap = l->cap * 2 > room ? l->cap * 2 : room;
    if (cap > INT64_MAX / (int64_t)sizeof *l->item) return ef_no_memory(SIZE_MAX);
    ef_tensor *item = ef_malloc((size_t)cap * sizeof *item);
    if (item == NULL) return ef_no_memory((size_t)cap * sizeof *item);
    for (int64_t k = 0; k < l->n; k++) ef_tensor_move(&item[k], &l->item[k]);
    ef_free(l->item);
    l->item = item;
    l->cap = cap;
    return NULL;
}

ef_status *ef_list_resize(ef_list *l, int64_t n) {
    EF_TRY(reserve(l, n));
    for (; l->n > n; l->n--) ef_tensor_release(&l->item[l->n - 1]);
    if (n > l->n) memset(&l->item[l->n], 0, (size_t)(n - l->n) * sizeof *l->item);
    l->n = n;
    return NULL;
}

ef_status *ef_list_make(ef_dtype dtype, const ef_shape *element, int64_t n, ef_list **out) {
    ef_list *l = ef_calloc(1, sizeof *l);
    if (l == NULL) return ef_no_memory(sizeof *l);
    ef_object_init(&l->object, EF_OBJECT_LIST, "TensorList", list_end);
    l->dtype = dtype;
    l->element = *element;
    l->limit = -1;
    ef_status *s = ef_list_resize(l, n);
    if (s != NULL)
        ef_storage_unref(&l->object.base);
    else
        *out = l;
    return s;
}

ef_status *ef_list_clone(const ef_list *l, int64_t room, ef_list **out) {
    ef_list *copy;
    EF_TRY(ef_list_make(l->dtype, &l->element, 0, &copy));
    copy->limit = l->limit;
    ef_status *s = reserve(copy, l->n + room);
    if (s != NULL) {
        ef_storage_unref(&copy->object.base);
        return s;
    }
    for (; copy->n < l->n; copy->n++) ef_tensor_copy(&copy->item[copy->n], &l->item[copy->n]);
    *out = copy;
    return NULL;
}

ef_status *ef_list_set(ef_list *l, int64_t k, const ef_tensor *x) {
    ef_tensor value = {0};
    bool lent = x->storage == NULL && x->data != (const void *)x->small;
    if (lent)
        EF_TRY(ef_tensor_clone(&value, x));
    else
        ef_tensor_copy(&value, x);
    ef_tensor_unmark(&value);
    value.flags = 0;
    ef_tensor_release(&l->item[k]);
    ef_tensor_move(&l->item[k], &value);
    return NULL;
}

bool ef_is_list(const ef_tensor *t) { return ef_tensor_object(t, EF_OBJECT_LIST) != NULL; }

/* ---- for the list ops ---- */

ef_status *ef_call_list(const ef_call *c, int k, ef_dtype dtype, ef_list **out) {
    ef_list *l = (ef_list *)ef_tensor_object(c->in[k], EF_OBJECT_LIST);
    if (l == NULL)
        return ef_error(EF_INVALID, "%s: input %d (input handle) is not a list", c->op->name, k);
    if (dtype != EF_NO_DTYPE && l->dtype != dtype)
        return ef_error(EF_INVALID,
                        "%s: Invalid data types; op elements %s but list elements %s; they must be "
                        "equal",
                        c->op->name, ef_dtype_name(dtype), ef_dtype_name(l->dtype));
    *out = l;
    return NULL;
}

ef_status *ef_list_for_write(const ef_call *c, int k, int64_t more, ef_list **out) {
    ef_list *l = (ef_list *)c->in[k]->storage, *copy;
    if ((c->dying >> k & 1) && ef_storage_sole(&l->object.base)) {
        EF_TRY(reserve(l, l->n + more));
        ef_storage_ref(&l->object.base);
        ef_out_object(c, 0, &l->object);
        *out = l;
        return NULL;
    }
    EF_TRY(ef_list_clone(l, more, &copy));
    ef_out_object(c, 0, &copy->object);
    *out = copy;
    return NULL;
}

ef_status *ef_list_shape_from(const ef_call *c, int k, ef_shape *out) {
    const ef_tensor *t = c->in[k];
    int64_t n = ef_count(t);
    *out = ef_unknown_shape();
    if (t->rank == 0) {
        if (ef_element_int((ef_dtype)t->dtype, t->data, 0) == -1) return NULL;
        return ef_error(
            EF_INVALID,
            "%s: element_shape is the scalar %lld; the only valid scalar shape tensor is "
            "the fully unknown shape, -1",
            c->op->name, (long long)ef_element_int((ef_dtype)t->dtype, t->data, 0));
    }
    if (t->rank != 1 || n > EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "%s: element_shape is %s; it must be a vector of at most %d sizes",
                        c->op->name, EF_TENSOR(t), EF_MAX_RANK);
    out->rank = (int)n;
    for (int d = 0; d < n; d++) {
        out->dim[d] = ef_element_int((ef_dtype)t->dtype, t->data, d);
        if (out->dim[d] < -1)
            return ef_error(EF_INVALID, "%s: element_shape has the size %lld; sizes are >= -1",
                            c->op->name, (long long)out->dim[d]);
    }
    return NULL;
}

ef_shape ef_list_shape_fact(const ef_infer *i, int k) {
    const ef_shape *s = &i->in[k].shape;
    ef_shape out = ef_unknown_shape();
    int64_t v[EF_MAX_RANK];
    int n = 0;
    bool known = false;
    if (s->rank != 1 || s->dim[0] < 0 || s->dim[0] > EF_MAX_RANK) return out;
    ef_status *bad = ef_known_ints(i, k, v, EF_MAX_RANK, &n, &known);
    ef_status_free(bad);
    out.rank = (int)s->dim[0];
    for (int d = 0; d < out.rank; d++)
        out.dim[d] = bad == NULL && known && v[d] >= 0 ? v[d] : EF_DIM_UNKNOWN;
    return out;
}

static ef_status *disagree(const ef_op *op, const ef_shape *a, const ef_shape *b) {
    return ef_error(EF_INVALID,
                    "%s: the element shapes %s and %s do not agree; they must be "
                    "compatible",
                    op->name, EF_SHAPE(a), EF_SHAPE(b));
}

static ef_status *narrow(const ef_op *op, ef_shape *s, const ef_shape *more) {
    ef_shape both;
    if (!ef_shape_may_equal(s, more)) return disagree(op, s, more);
    EF_TRY(ef_shape_merge(s, more, &both));
    *s = both;
    return NULL;
}

ef_status *ef_list_element_shape(const ef_call *c, int k, const ef_list *l, const char *why,
                                 ef_shape *out) {
    EF_TRY(ef_list_shape_from(c, k, out));
    EF_TRY(narrow(c->op, out, &l->element));
    if (!ef_shape_known(&l->element))
        for (int64_t j = 0; j < l->n; j++) {
            if (l->item[j].dtype == EF_NO_DTYPE) continue;
            ef_shape s = ef_shape_from(&l->item[j]);
            EF_TRY(narrow(c->op, out, &s));
        }
    if (ef_shape_known(out)) return NULL;
    return ef_error(EF_INVALID, "%s: element_shape is %s and no stored element completes it; %s",
                    c->op->name, EF_SHAPE(out), why);
}

ef_status *ef_list_copy(ef_tensor *dst, int64_t to, const ef_tensor *src, int64_t from, int64_t n) {
    ef_dtype t = (ef_dtype)dst->dtype;
    size_t size = ef_dtype_size(t);
    if (n == 0) return NULL;
    if (ef_dtype_in(t, EF_PLAIN)) {
        char *d = (char *)dst->data + (size_t)to * size;
        if (src == NULL)
            memset(d, 0, (size_t)n * size);
        else
            memcpy(d, (const char *)src->data + (size_t)from * size, (size_t)n * size);
        return NULL;
    }
    if (t != EF_STRING)
        return ef_error(EF_UNIMPLEMENTED,
                        "elements of dtype %s cannot be concatenated into one tensor",
                        ef_dtype_name(t));
    for (int64_t k = 0; k < n; k++) {
        const ef_str *s = src == NULL ? NULL : (const ef_str *)src->data + from + k;
        EF_TRY(
            ef_str_set((ef_str *)dst->data + to + k, s == NULL ? "" : s->at, s == NULL ? 0 : s->n));
    }
    return NULL;
}

ef_shape ef_list_tail(const ef_shape *s) {
    ef_shape t = {.rank = s->rank - 1};
    for (int d = 0; d < t.rank; d++) t.dim[d] = s->dim[d + 1];
    return t;
}

ef_status *ef_list_prepend(const ef_op *op, int64_t first, const ef_shape *s, ef_shape *out) {
    if (s->rank >= EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "%s: elements are %s, so the result would have rank %d; the largest rank "
                        "is %d",
                        op->name, EF_SHAPE(s), s->rank + 1, EF_MAX_RANK);
    if (s->rank < 0) {
        *out = ef_unknown_shape();
        return NULL;
    }
    *out = (ef_shape){.rank = s->rank + 1, .dim = {first}};
    for (int d = 0; d < s->rank; d++) out->dim[d + 1] = s->dim[d];
    return NULL;
}
