/* Ops that make TensorLists or access single elements. Gradients of list ops are list ops too: the
 * gradient of a push is popped from the list of gradients. */
#include "ops/build.h"
#include "ops/list/list.h"
#include "ops/list/list_fact.h"
#include "ops/shapes.h"
#include "ops/state/variable.h"

#define TYPE(v) EF_SET_TYPE("element_dtype", (v)->fact.dtype)
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define SHAPE_TYPES "shape_type: {int32, int64}"

static int64_t int_at(const ef_call *c, int k) {
    return ef_element_int((ef_dtype)c->in[k]->dtype, c->in[k]->data, 0);
}

/* ---- EmptyTensorList, TensorListReserve ---- */

static ef_status *make_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_most(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 0));
    return ef_shape_scalar(i);
}

/* Output 0 is a list of n elements with nothing stored. */
static void new_list(ef_infer *i, int64_t n) {
    ef_list_fact l = {
        .dtype = ((const ef_list_attrs *)i->attrs)->element_dtype, .n = n, .bare = true};
    ef_list_fact_set(i, 0, &l);
}

static ef_status *empty_shape(ef_infer *i) {
    EF_TRY(make_shape(i));
    new_list(i, 0);
    return NULL;
}

static ef_status *reserve_shape(ef_infer *i) {
    EF_TRY(make_shape(i));
    const ef_tensor *n = i->in[1].value;
    new_list(i, n != NULL && n->data != NULL ? ef_element_int(i->in[1].dtype, n->data, 0)
                                             : EF_DIM_UNKNOWN);
    return NULL;
}

static ef_status *empty_run(const ef_call *c) {
    ef_shape element;
    ef_list *l = NULL;
    int64_t limit = int_at(c, 1);
    EF_TRY(ef_list_shape_from(c, 0, &element));
    EF_TRY(ef_list_make(((const ef_list_attrs *)c->attrs)->element_dtype, &element, 0, &l));
    l->limit = limit < 0 ? -1 : limit;
    ef_out_object(c, 0, &l->object);
    return NULL;
}

const ef_op ef_op_EmptyTensorList = {
    EF_NAMED(EmptyTensorList),
    .doc = "Makes an empty list. Each element must be compatible with `element_shape` (-1: any "
           "shape); `max_num_elements` limits the length (-1: no limit).",
    .in = {"element_shape: shape_type", "max_num_elements: int32"},
    .out = {"handle: variant"},
    .types = SHAPE_TYPES,
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_NO_GRAD | EF_LIST_NEW,
    .shape = empty_shape,
    .kernel = ROW(empty_run),
    .examples = {"int32[2]{2,3} int32[]{-1} element_dtype=float",
                 "int64[]{-1} int32[]{5} element_dtype=int32"},
};

static ef_status *reserve_run(const ef_call *c) {
    ef_shape element;
    ef_list *l = NULL;
    int64_t n = int_at(c, 1);
    EF_TRY(ef_list_shape_from(c, 0, &element));
    if (n < 0)
        return ef_error(
            EF_INVALID,
            "TensorListReserve: num_elements is %lld; The num_elements to reserve must be "
            "a non negative number",
            (long long)n);
    EF_TRY(ef_list_make(((const ef_list_attrs *)c->attrs)->element_dtype, &element, n, &l));
    ef_out_object(c, 0, &l->object);
    return NULL;
}

const ef_op ef_op_TensorListReserve = {
    EF_NAMED(TensorListReserve),
    .doc = "Makes a list of `num_elements` empty elements.",
    .in = {"element_shape: shape_type", "num_elements: int32"},
    .out = {"handle: variant"},
    .types = SHAPE_TYPES,
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_NO_GRAD,
    .shape = reserve_shape,
    .kernel = ROW(reserve_run),
    .examples = {"int32[1]{3} int32[]{4} element_dtype=float",
                 "int32[]{-1} int32[]{0} element_dtype=string"},
};

/* ---- push and pop ---- */

static ef_status *list_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    i->out[0].shape = ef_scalar_shape();
    return NULL;
}

/* The fact of input 0's list with `more` additional elements (or an unknown number); if element is
 * not NULL, one of them has that shape. */
static ef_status *changed_list(ef_infer *i, int64_t more, const ef_shape *element) {
    ef_list_fact l;
    EF_TRY(list_shape(i));
    if (!ef_list_fact_get(&i->in[0], &l)) return NULL;
    l.n = l.n < 0 || more == EF_DIM_UNKNOWN ? EF_DIM_UNKNOWN : l.n + more;
    if (element != NULL) ef_list_fact_store(&l, element);
    ef_list_fact_set(i, 0, &l);
    return NULL;
}

static ef_status *push_shape(ef_infer *i) { return changed_list(i, 1, &i->in[1].shape); }

static ef_status *fits(const ef_call *c, const ef_list *l, const ef_tensor *x) {
    ef_shape s = ef_shape_from(x);
    if (ef_shape_may_equal(&l->element, &s)) return NULL;
    return ef_error(
        EF_INVALID,
        "%s: tried to store a tensor of shape %s in a list whose elements are %s; use a "
        "compatible shape (incompatible shape)",
        c->op->name, EF_SHAPE(&s), EF_SHAPE(&l->element));
}

static ef_status *push_run(const ef_call *c) {
    ef_list *l = NULL;
    const ef_tensor *x = c->in[1];
    EF_TRY(ef_call_list(c, 0, (ef_dtype)x->dtype, &l));
    EF_TRY(fits(c, l, x));
    if (l->limit >= 0 && l->n >= l->limit)
        return ef_error(EF_INVALID,
                        "TensorListPushBack: Tried to push item into a full list: list size %lld, "
                        "max_num_elements %lld",
                        (long long)l->n, (long long)l->limit);
    EF_TRY(ef_list_for_write(c, 0, 1, &l));
    EF_TRY(ef_list_resize(l, l->n + 1));
    ef_status *s = ef_list_set(l, l->n - 1, x);
    if (s != NULL) l->n--;
    return s;
}

static ef_status *push_grad(ef_grad *g) {
    ef_value *in[] = {g->dout[0], ef_shape_value(g->b, g->in[1], EF_I32)}, *out[2];
    const ef_attr_value set[] = {TYPE(g->in[1])};
    if (ef_emit_many(g->b, "TensorListPopBack", set, 1, in, 2, out, 2) != 2) return NULL;
    g->din[0] = out[0];
    g->din[1] = out[1];
    return NULL;
}

const ef_op ef_op_TensorListPushBack = {
    EF_NAMED(TensorListPushBack),
    .doc = "The list with `tensor` appended.",
    .in = {"input_handle: variant", "tensor: element_dtype"},
    .out = {"output_handle: variant"},
    .types = "element_dtype: type",
    .traits = EF_MAY_ALIAS_0 | EF_STORES_INPUTS | EF_STORES_UNREAD | EF_LIST_PUSH,
    .keeps = EF_KEEP_IN(1),
    .shape = push_shape,
    .kernel = ROW(push_run),
    .grad = push_grad,
    .examples = {"list(float[2] float[2]) float[2]", "list(int32[]) int32[]"},
};

static ef_status *pop_shape(ef_infer *i) {
    ef_shape given = ef_list_shape_fact(i, 1);
    EF_TRY(changed_list(i, EF_DIM_UNKNOWN, NULL));
    i->out[1].shape = ef_list_fact_read(i, 0, &given);
    return NULL;
}

/* Returns element k, or zeros if nothing was stored, as output `o`. */
static ef_status *give(const ef_call *c, const ef_list *l, int64_t k, int shape_in, int o) {
    ef_tensor *t = &l->item[k];
    if (t->dtype != EF_NO_DTYPE) {
        ef_shape want, have = ef_shape_from(t);
        EF_TRY(ef_list_shape_from(c, shape_in, &want));
        if (!ef_shape_may_equal(&want, &have))
            return ef_error(EF_INVALID, "%s: element %lld has shape %s but element_shape is %s",
                            c->op->name, (long long)k, EF_SHAPE(&have), EF_SHAPE(&want));
        return ef_out_share(c, o, t);
    }
    ef_shape s;
    if (l->dtype == EF_VARIANT)
        return ef_error(EF_INVALID, "%s: element %lld is empty", c->op->name, (long long)k);
    EF_TRY(ef_list_element_shape(
        c, shape_in, l, "Trying to read an uninitialized tensor needs a fully defined shape", &s));
    EF_TRY(ef_out_ready(c, o, &s));
    return ef_list_copy(c->out[o], 0, NULL, 0, ef_count(c->out[o]));
}

static ef_status *pop_run(const ef_call *c) {
    ef_list *l = NULL;
    EF_TRY(ef_call_list(c, 0, ((const ef_list_attrs *)c->attrs)->element_dtype, &l));
    if (l->n == 0)
        return ef_error(EF_INVALID, "TensorListPopBack: Trying to pop from an empty list.");
    EF_TRY(give(c, l, l->n - 1, 1, 1));
    EF_TRY(ef_list_for_write(c, 0, 0, &l));
    return ef_list_resize(l, l->n - 1);
}

static ef_status *pop_grad(ef_grad *g) {
    ef_value *item = ef_dout(g, 1), *list = g->dout[0];
    const ef_attr_value dtype[] = {TYPE(g->out[1])};
    const ef_attr_value i32[] = {EF_SET_TYPE("shape_type", EF_I32)};
    if (list == NULL) {
        ef_value *shape = ef_emit_set(g->b, "TensorListElementShape", i32, 1, 1, g->out[0]);
        list = ef_emit_set(g->b, "EmptyTensorList", dtype, 1, 2, shape,
                           ef_const_number(g->b, EF_I32, -1));
    }
    g->din[0] = ef_emit(g->b, "TensorListPushBack", 2, list, item);
    return NULL;
}

const ef_op ef_op_TensorListPopBack = {
    EF_NAMED(TensorListPopBack),
    .doc = "The list without its last element, and that element.",
    .in = {"input_handle: variant", "element_shape: int32"},
    .out = {"output_handle: variant", "tensor: element_dtype"},
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_MAY_ALIAS_0 | EF_SHARES_OUT,
    .keeps = EF_KEEP_OUT(0) | EF_KEEP_OUT(1),
    .role = EF_ROLE_POP,
    .shape = pop_shape,
    .kernel = ROW(pop_run),
    .grad = pop_grad,
    .examples = {"list(float[2] float[2]) int32[1]{2} element_dtype=float",
                 "list(int32[]) int32[]{-1} element_dtype=int32"},
};

/* ---- length, shape ---- */

static ef_status *length_run(const ef_call *c) {
    ef_list *l = NULL;
    EF_TRY(ef_call_list(c, 0, EF_NO_DTYPE, &l));
    *(int32_t *)c->out[0]->data = l->n < INT32_MAX ? (int32_t)l->n : INT32_MAX;
    return NULL;
}

const ef_op ef_op_TensorListLength = {
    EF_NAMED(TensorListLength),
    .doc = "The number of elements.",
    .in = {"input_handle: variant"},
    .out = {"length: int32"},
    .traits = EF_NO_GRAD,
    .role = EF_ROLE_LENGTH,
    .shape = list_shape,
    .kernel = ROW(length_run),
    .examples = {"list(float[2] float[2] float[2])", "list(string[]{a})"},
};

typedef struct shape_type_attrs {
    ef_dtype shape_type;
} shape_type_attrs;

static ef_status *element_shape_run(const ef_call *c) {
    ef_list *l = NULL;
    EF_TRY(ef_call_list(c, 0, EF_NO_DTYPE, &l));
    const ef_shape *s = &l->element;
    ef_shape out = {.rank = s->rank < 0 ? 0 : 1, .dim = {s->rank}};
    EF_TRY(ef_out_ready(c, 0, &out));
    for (int d = 0; d < (s->rank < 0 ? 1 : s->rank); d++) {
        int64_t v = s->rank < 0 || s->dim[d] < 0 ? -1 : s->dim[d];
        if (c->out[0]->dtype == EF_I64)
            ((int64_t *)c->out[0]->data)[d] = v;
        else
            ((int32_t *)c->out[0]->data)[d] = (int32_t)v;
    }
    return NULL;
}

const ef_op ef_op_TensorListElementShape = {
    EF_NAMED(TensorListElementShape),
    .doc =
        "The shape that the list's elements must have: a vector with -1 for unknown sizes, or the "
        "scalar -1.",
    .in = {"input_handle: variant"},
    .out = {"element_shape: shape_type"},
    .attr = {EF_ATTR(shape_type_attrs, shape_type, "{int32, int64}", NULL)},
    .attr_size = sizeof(shape_type_attrs),
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = ef_shape_none,
    .kernel = ROW(element_shape_run),
    .examples = {"list(float[2,3]) shape_type=int32",
                 "list(float[2,3] float[1,3]) shape_type=int64"},
};

/* ---- get and set ---- */

static ef_status *get_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 0));
    ef_shape given = ef_list_shape_fact(i, 2);
    i->out[0].shape = ef_list_fact_read(i, 0, &given);
    return NULL;
}

static ef_status *get_run(const ef_call *c) {
    ef_list *l = NULL;
    int64_t k = int_at(c, 1);
    EF_TRY(ef_call_list(c, 0, ((const ef_list_attrs *)c->attrs)->element_dtype, &l));
    if (k < 0 || k >= l->n)
        return ef_error(
            EF_INVALID,
            "TensorListGetItem: Trying to access element %lld in a list with %lld elements",
            (long long)k, (long long)l->n);
    return give(c, l, k, 2, 0);
}

static ef_status *get_grad(ef_grad *g) {
    const ef_attr_value dtype[] = {TYPE(g->out[0])};
    const ef_attr_value i32[] = {EF_SET_TYPE("shape_type", EF_I32)};
    ef_value *n = ef_emit(g->b, "TensorListLength", 1, g->in[0]);
    ef_value *shape = ef_emit_set(g->b, "TensorListElementShape", i32, 1, 1, g->in[0]);
    ef_value *list = ef_emit_set(g->b, "TensorListReserve", dtype, 1, 2, shape, n);
    g->din[0] = ef_emit(g->b, "TensorListSetItem", 3, list, g->in[1], g->dout[0]);
    return NULL;
}

const ef_op ef_op_TensorListGetItem = {
    EF_NAMED(TensorListGetItem),
    .doc = "Element `index`; zeros of the element shape if it is empty.",
    .in = {"input_handle: variant", "index: int32", "element_shape: Tshape"},
    .out = {"item: element_dtype"},
    .types = "Tshape: {int32, int64} = int32",
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_SHARES_OUT,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .role = EF_ROLE_ITEM,
    .shape = get_shape,
    .kernel = ROW(get_run),
    .grad = get_grad,
    .examples = {"list(float[2] float[2]) int32[]{1} int32[1]{2} element_dtype=float",
                 "list(string[]{a} string[]{b}) int32[]{0} int32[]{-1} element_dtype=string"},
};

typedef struct set_attrs {
    bool resize_if_index_out_of_bounds;
} set_attrs;

static ef_status *set_shape(ef_infer *i) {
    bool grows = ((const set_attrs *)i->attrs)->resize_if_index_out_of_bounds;
    return changed_list(i, grows ? EF_DIM_UNKNOWN : 0, &i->in[2].shape);
}

static ef_status *set_run(const ef_call *c) {
    const set_attrs *t = c->attrs;
    const ef_tensor *x = c->in[2];
    ef_list *l = NULL;
    int64_t k = int_at(c, 1);
    EF_TRY(ef_call_list(c, 0, (ef_dtype)x->dtype, &l));
    if (k < 0 || (k >= l->n && !t->resize_if_index_out_of_bounds))
        return ef_error(
            EF_INVALID,
            "TensorListSetItem: Trying to modify element %lld in a list with %lld elements",
            (long long)k, (long long)l->n);
    EF_TRY(fits(c, l, x));
    int64_t n = k >= l->n ? k + 1 : l->n;
    EF_TRY(ef_list_for_write(c, 0, n - l->n, &l));
    EF_TRY(ef_list_resize(l, n));
    return ef_list_set(l, k, x);
}

static ef_status *set_grad(ef_grad *g) {
    const set_attrs *t = g->attrs;
    ef_value *item = g->in[2], *dlist = g->dout[0];
    const ef_attr_value dtype[] = {TYPE(item)};
    ef_value *rest =
        ef_emit(g->b, "TensorListSetItem", 3, dlist, g->in[1], ef_zeros_like(g->b, item));
    if (t->resize_if_index_out_of_bounds)
        rest = ef_emit(g->b, "TensorListResize", 2, rest,
                       ef_emit(g->b, "TensorListLength", 1, g->in[0]));
    g->din[0] = rest;
    g->din[2] = ef_emit_set(g->b, "TensorListGetItem", dtype, 1, 3, dlist, g->in[1],
                            ef_shape_value(g->b, item, EF_I32));
    return NULL;
}

const ef_op ef_op_TensorListSetItem = {
    EF_NAMED(TensorListSetItem),
    .doc = "The list with `item` as element `index`; with resize_if_index_out_of_bounds the list "
           "grows if needed.",
    .in = {"input_handle: variant", "index: int32", "item: element_dtype"},
    .out = {"output_handle: variant"},
    .types = "element_dtype: type",
    .attr = {EF_ATTR(set_attrs, resize_if_index_out_of_bounds, "bool", "false")},
    .attr_size = sizeof(set_attrs),
    .traits = EF_MAY_ALIAS_0 | EF_STORES_INPUTS | EF_STORES_UNREAD,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = set_shape,
    .kernel = ROW(set_run),
    .grad = set_grad,
    .examples = {"list(float[2] float[2]) int32[]{1} float[2]",
                 "list(float[2]) int32[]{2} float[2] resize_if_index_out_of_bounds=true"},
};

/* ---- resize, join ---- */

static ef_status *resize_shape(ef_infer *i) { return changed_list(i, EF_DIM_UNKNOWN, NULL); }

static ef_status *resize_run(const ef_call *c) {
    ef_list *l = NULL;
    int64_t n = int_at(c, 1);
    EF_TRY(ef_call_list(c, 0, EF_NO_DTYPE, &l));
    if (n < 0)
        return ef_error(EF_INVALID,
                        "TensorListResize: size is %lld; TensorListSlice expects size to be "
                        "non-negative",
                        (long long)n);
    EF_TRY(ef_list_for_write(c, 0, n > l->n ? n - l->n : 0, &l));
    return ef_list_resize(l, n);
}

static ef_status *resize_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "TensorListResize", 2, g->dout[0],
                        ef_emit(g->b, "TensorListLength", 1, g->in[0]));
    return NULL;
}

const ef_op ef_op_TensorListResize = {
    EF_NAMED(TensorListResize),
    .doc = "The list truncated or extended with empty elements to `size` elements.",
    .in = {"input_handle: variant", "size: int32"},
    .out = {"output_handle: variant"},
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_IN(0),
    .shape = resize_shape,
    .kernel = ROW(resize_run),
    .grad = resize_grad,
    .examples = {"list(float[2] float[2] float[2]) int32[]{2}", "list(float[2]) int32[]{3}"},
};

static ef_status *join_run(const ef_call *c) {
    ef_list *a = NULL, *b = NULL, *l;
    ef_dtype t = ((const ef_list_attrs *)c->attrs)->element_dtype;
    EF_TRY(ef_call_list(c, 0, t, &a));
    EF_TRY(ef_call_list(c, 1, t, &b));
    ef_shape element;
    if (!ef_shape_may_equal(&a->element, &b->element))
        return ef_error(EF_INVALID,
                        "TensorListConcatLists: the lists' elements are %s and %s; they must be "
                        "compatible",
                        EF_SHAPE(&a->element), EF_SHAPE(&b->element));
    EF_TRY(ef_shape_merge(&a->element, &b->element, &element));
    EF_TRY(ef_list_make(t, &element, a->n + b->n, &l));
    for (int64_t k = 0; k < a->n; k++) ef_tensor_copy(&l->item[k], &a->item[k]);
    for (int64_t k = 0; k < b->n; k++) ef_tensor_copy(&l->item[a->n + k], &b->item[k]);
    ef_out_object(c, 0, &l->object);
    return NULL;
}

const ef_op ef_op_TensorListConcatLists = {
    EF_NAMED(TensorListConcatLists),
    .doc = "The elements of `input_a` followed by those of `input_b`.",
    .in = {"input_a: variant", "input_b: variant"},
    .out = {"output: variant"},
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_NO_GRAD,
    .shape = list_shape,
    .kernel = ROW(join_run),
    .examples = {"list(float[2] float[2]) list(float[2]) element_dtype=float"},
};
