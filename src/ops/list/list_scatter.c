/* Ops that gather list elements into tensors and scatter rows of tensors into lists. */
#include "ops/build.h"
#include "ops/list/list.h"
#include "ops/list/list_build.h"
#include "ops/list/list_fact.h"
#include "ops/shapes.h"

#define TYPE(v) EF_SET_TYPE("element_dtype", (v)->fact.dtype)
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define TENSOR_TYPES "element_dtype: type; shape_type: {int32, int64}"

static ef_status *gather_shape(ef_infer *i) {
    ef_shape element = ef_list_shape_fact(i, 2);
    const ef_shape *index = &i->in[1].shape;
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank(i, 1, 1));
    element = ef_list_fact_read(i, 0, &element);
    return ef_list_prepend(i->op, index->rank == 1 ? index->dim[0] : EF_DIM_UNKNOWN, &element,
                           &i->out[0].shape);
}

static ef_status *gather_run(const ef_call *c) {
    ef_list *l = NULL;
    ef_shape element;
    int64_t n = ef_count(c->in[1]);
    const int32_t *index = c->in[1]->data;
    EF_TRY(ef_call_list(c, 0, ((const ef_list_attrs *)c->attrs)->element_dtype, &l));
    for (int64_t k = 0; k < n; k++)
        if (index[k] < 0 || index[k] >= l->n)
            return ef_error(
                EF_INVALID,
                "TensorListGather: Trying to gather element %d in a list with %lld elements",
                (int)index[k], (long long)l->n);
    EF_TRY(ef_list_element_shape(
        c, 2, l, "Tried to gather from a list with non-fully-defined element_shape", &element));
    return ef_list_join(c, l, index, n, &element);
}

static ef_status *gather_grad(ef_grad *g) {
    const ef_attr_value set[] = {TYPE(g->out[0])};
    ef_value *list = ef_emit_set(g->b, "TensorListReserve", set, 1, 2,
                                 ef_list_element_shape_value(g->b, g->in[0]),
                                 ef_emit(g->b, "TensorListLength", 1, g->in[0]));
    g->din[0] = ef_emit(g->b, "TensorListScatterIntoExistingList", 3, list, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_TensorListGather = {
    EF_NAMED(TensorListGather),
    .doc = "The elements that `indices` select, stacked along a new first axis.",
    .in = {"input_handle: variant", "indices: int32", "element_shape: int32"},
    .out = {"values: element_dtype"},
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_SHARES_OUT,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = gather_shape,
    .kernel = ROW(gather_run),
    .grad = gather_grad,
    .examples = {"list(float[2] float[2] float[2]) int32[2]{2,0} int32[1]{2} element_dtype=float",
                 "list(float[2]) int32[0] int32[1]{2} element_dtype=float"},
};

/* Copies the rows of x to the elements index[...] of l; everything has been validated. */
static ef_status *scatter_rows(ef_list *l, const ef_tensor *x, const int32_t *index, int64_t n) {
    ef_shape all = ef_shape_from(x), tail = ef_list_tail(&all);
    int64_t row = ef_shape_count(&tail);
    for (int64_t k = 0; k < n; k++) {
        ef_tensor fresh = {0};
        EF_TRY(ef_tensor_alloc(&fresh, (ef_dtype)x->dtype, &tail));
        ef_status *s = ef_list_copy(&fresh, 0, x, k * row, row);
        if (s != NULL) {
            ef_tensor_release(&fresh);
            return s;
        }
        ef_tensor_release(&l->item[index[k]]);
        ef_tensor_move(&l->item[index[k]], &fresh);
    }
    return NULL;
}

/* Checks that the rows of x fit `element` and that there is an index for each; *need: the shortest
 * list that has all these elements. */
static ef_status *check_scatter(const ef_call *c, const ef_tensor *x, const ef_tensor *indices,
                                const ef_shape *element, int64_t *need) {
    const int32_t *index = indices->data;
    int64_t n = ef_count(indices);
    EF_TRY(ef_list_need_vector(c, x));
    ef_shape all = ef_shape_from(x), tail = ef_list_tail(&all);
    if (indices->rank != 1 || n != x->dim[0])
        return ef_error(
            EF_INVALID,
            "%s: indices is %s and tensor %s; Invalid number of rows in input tensor, one "
            "index per row is needed",
            c->op->name, EF_TENSOR(indices), EF_TENSOR(x));
    if (!ef_shape_may_equal(&tail, element))
        return ef_error(EF_INVALID,
                        "%s: rows are %s but the element shape is %s; they must be "
                        "compatible",
                        c->op->name, EF_SHAPE(&tail), EF_SHAPE(element));
    *need = 0;
    for (int64_t k = 0; k < n; k++) {
        if (index[k] < 0)
            return ef_error(EF_INVALID,
                            "%s: Indices in %s must all be non-negative, but index %lld "
                            "is %d",
                            c->op->name, c->op->name, (long long)k, (int)index[k]);
        if (index[k] >= *need) *need = index[k] + (int64_t)1;
    }
    return NULL;
}

static ef_status *scatter(const ef_call *c, int64_t size) {
    ef_shape element;
    ef_list *l = NULL;
    int64_t need = 0;
    EF_TRY(ef_list_shape_from(c, 2, &element));
    EF_TRY(check_scatter(c, c->in[0], c->in[1], &element, &need));
    if (size >= 0 && need > size)
        return ef_error(EF_INVALID, "%s: Trying to scatter at index %lld in list with size %lld",
                        c->op->name, (long long)need - 1, (long long)size);
    EF_TRY(ef_list_make((ef_dtype)c->in[0]->dtype, &element, size >= 0 ? size : need, &l));
    ef_status *s = scatter_rows(l, c->in[0], c->in[1]->data, ef_count(c->in[1]));
    if (s != NULL)
        ef_storage_unref(&l->object.base);
    else
        ef_out_object(c, 0, &l->object);
    return s;
}
static ef_status *scatter_run(const ef_call *c) { return scatter(c, -1); }
static ef_status *scatter_v2_run(const ef_call *c) {
    int64_t n = *(const int32_t *)c->in[3]->data;
    if (n < -1)
        return ef_error(EF_INVALID,
                        "TensorListScatterV2: num_elements is %lld; TensorListScatter expects "
                        "num_elements >= -1",
                        (long long)n);
    return scatter(c, n);
}

static ef_status *scatter_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    return ef_shape_scalar(i);
}

static ef_status *scatter_grad(ef_grad *g) {
    const ef_attr_value set[] = {TYPE(g->in[0])};
    g->din[0] = ef_emit_set(g->b, "TensorListGather", set, 1, 3, g->dout[0], g->in[1],
                            ef_list_tail_value(g->b, g->in[0]));
    return NULL;
}

const ef_op ef_op_TensorListScatter = {
    EF_NAMED(TensorListScatter),
    .doc = "A list with the rows of `tensor` at `indices`, as long as these require.",
    .in = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type"},
    .out = {"output_handle: variant"},
    .types = TENSOR_TYPES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = scatter_shape,
    .kernel = ROW(scatter_run),
    .grad = scatter_grad,
    .examples = {"float[2,3] int32[2]{1,4} int32[1]{3}"},
};

const ef_op ef_op_TensorListScatterV2 = {
    EF_NAMED(TensorListScatterV2),
    .doc = "A list of `num_elements` elements (-1: as many as needed) with the rows of `tensor` at "
           "`indices`.",
    .in = {"tensor: element_dtype", "indices: int32", "element_shape: shape_type",
           "num_elements: int32"},
    .out = {"output_handle: variant"},
    .types = TENSOR_TYPES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = scatter_shape,
    .kernel = ROW(scatter_v2_run),
    .grad = scatter_grad,
    .examples = {"float[2,3] int32[2]{1,4} int32[1]{3} int32[]{6}",
                 "float[2] int32[2]{1,0} int32[]{-1} int32[]{-1}"},
};

static ef_status *into_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    EF_TRY(ef_need_rank_at_least(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    return ef_shape_scalar(i);
}

static ef_status *into_run(const ef_call *c) {
    ef_list *l = NULL;
    int64_t need = 0;
    EF_TRY(ef_call_list(c, 0, (ef_dtype)c->in[1]->dtype, &l));
    EF_TRY(check_scatter(c, c->in[1], c->in[2], &l->element, &need));
    EF_TRY(ef_list_for_write(c, 0, need > l->n ? need - l->n : 0, &l));
    if (need > l->n) EF_TRY(ef_list_resize(l, need));
    return scatter_rows(l, c->in[1], c->in[2]->data, ef_count(c->in[2]));
}

static ef_status *into_grad(ef_grad *g) {
    const ef_attr_value set[] = {TYPE(g->in[1])};
    g->din[1] = ef_emit_set(g->b, "TensorListGather", set, 1, 3, g->dout[0], g->in[2],
                            ef_list_tail_value(g->b, g->in[1]));
    g->din[0] = ef_emit(g->b, "TensorListScatterIntoExistingList", 3, g->dout[0],
                        ef_zeros_like(g->b, g->in[1]), g->in[2]);
    return NULL;
}

const ef_op ef_op_TensorListScatterIntoExistingList = {
    EF_NAMED(TensorListScatterIntoExistingList),
    .doc = "The list with the rows of `tensor` at `indices`; it grows if needed.",
    .in = {"input_handle: variant", "tensor: element_dtype", "indices: int32"},
    .out = {"output_handle: variant"},
    .types = "element_dtype: type",
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = into_shape,
    .kernel = ROW(into_run),
    .grad = into_grad,
    .examples = {"list(float[2] float[2] float[2]) float[2,2] int32[2]{2,0}"},
};
