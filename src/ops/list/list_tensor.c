/* Conversions between TensorLists and tensors: all elements stacked or concatenated, or a tensor
 * divided into elements. */
#include "ops/build.h"
#include "ops/list/list.h"
#include "ops/list/list_build.h"
#include "ops/list/list_fact.h"
#include "ops/shapes.h"
#include "ops/state/variable.h"

#define TYPE(v) EF_SET_TYPE("element_dtype", (v)->fact.dtype)
#define ROW(fn)                                        \
    {                                                  \
        { EF_CPU, EF_ANY, fn, NULL, NULL, NULL, NULL } \
    }
#define TENSOR_TYPES "element_dtype: type; shape_type: {int32, int64}"

/* ---- stack, unstack ---- */

typedef struct stack_attrs {
    ef_dtype element_dtype;
    int64_t num_elements;
} stack_attrs;

static ef_status *stack_shape(ef_infer *i) {
    const stack_attrs *t = i->attrs;
    ef_shape element = ef_list_shape_fact(i, 1);
    EF_TRY(ef_need_rank(i, 0, 0));
    int64_t n = t->num_elements >= 0 ? t->num_elements : EF_DIM_UNKNOWN;
    ef_list_fact l;
    if (n < 0 && ef_list_fact_get(&i->in[0], &l)) n = l.n;
    element = ef_list_fact_read(i, 0, &element);
    return ef_list_prepend(i->op, n, &element, &i->out[0].shape);
}

static ef_status *stack_run(const ef_call *c) {
    const stack_attrs *t = c->attrs;
    ef_list *l = NULL;
    ef_shape element;
    EF_TRY(ef_call_list(c, 0, t->element_dtype, &l));
    if (t->num_elements >= 0 && l->n != t->num_elements)
        return ef_error(
            EF_INVALID,
            "TensorListStack: Operation expected a list with %lld elements but got a list "
            "with %lld elements",
            (long long)t->num_elements, (long long)l->n);
    EF_TRY(ef_list_element_shape(
        c, 1, l, "Tried to stack elements of a list with non-fully-defined element_shape",
        &element));
    return ef_list_join(c, l, NULL, l->n, &element);
}

static ef_status *stack_grad(ef_grad *g) {
    g->din[0] =
        ef_emit(g->b, "TensorListFromTensor", 2, g->dout[0], ef_list_tail_value(g->b, g->dout[0]));
    return NULL;
}

const ef_op ef_op_TensorListStack = {
    EF_NAMED(TensorListStack),
    .doc = "All elements stacked along a new first axis; empty elements give zeros.",
    .in = {"input_handle: variant", "element_shape: int32"},
    .out = {"tensor: element_dtype"},
    .attr = {EF_ATTR(stack_attrs, element_dtype, "type", NULL),
             EF_ATTR(stack_attrs, num_elements, "int", "-1")},
    .attr_size = sizeof(stack_attrs),
    .traits = EF_SHARES_OUT,
    .keeps = EF_KEEP_NONE,
    .shape = stack_shape,
    .kernel = ROW(stack_run),
    .grad = stack_grad,
    .examples = {"list(float[2] float[2] float[2]) int32[1]{2} element_dtype=float",
                 "list(float[] float[]) int32[0] element_dtype=float num_elements=2"},
};

static ef_status *from_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    i->out[0].shape = ef_scalar_shape();
    const ef_shape *x = &i->in[0].shape;
    if (x->rank < 1) return NULL;
    ef_list_fact l = {.dtype = i->in[0].dtype, .n = x->dim[0], .element = ef_list_tail(x)};
    ef_list_fact_set(i, 0, &l);
    return NULL;
}

/* A list of n elements, which have the rows of tensor 0 in order: element k has count[k] of them
 * (NULL: one). The first dim is dropped if `drop`. Large elements stay where they are, in the
 * tensor's own memory: a loop over the rows of its input, or over a product that was taken out of
 * the loop, need not copy all of it first. */
typedef struct pieces {
    int64_t n;
    const int64_t *count;
    bool drop;
} pieces;
static ef_status *take_apart(const ef_call *c, const pieces *p, const ef_shape *element,
                             ef_list **out) {
    const ef_tensor *x = c->in[0];
    ef_shape all = ef_shape_from(x), tail = ef_list_tail(&all);
    int64_t row = ef_shape_count(&tail), at = 0;
    bool copies = false;
    ef_list *l = NULL;
    ef_status *s = NULL;
    EF_TRY(ef_list_make((ef_dtype)x->dtype, element, p->n, &l));
    for (int64_t k = 0; k < p->n; k++) {
        int64_t rows = p->count != NULL ? p->count[k] : 1;
        ef_shape one = tail;
        if (!p->drop) {
            one = all;
            one.dim[0] = rows;
        }
        if (!ef_shape_may_equal(&one, element)) {
            s = ef_error(EF_INVALID,
                         "%s: element %lld would be %s but element_shape is %s; they must "
                         "be compatible",
                         c->op->name, (long long)k, EF_SHAPE(&one), EF_SHAPE(element));
            goto done;
        }
        if (!ef_tensor_part(&l->item[k], x, at * row, &one)) {
            EF_TRY_GOTO(ef_tensor_alloc(&l->item[k], (ef_dtype)x->dtype, &one));
            if (p->count != NULL)
                EF_TRY_GOTO(ef_list_copy(&l->item[k], 0, x, at * row, rows * row));
            copies = true;
        }
        at += rows;
    }
    if (p->count == NULL && copies) EF_TRY_GOTO(ef_list_part(x, l));
done:
    if (s != NULL)
        ef_storage_unref(&l->object.base);
    else
        *out = l;
    return s;
}

static ef_status *from_run(const ef_call *c) {
    ef_shape element;
    ef_list *l = NULL;
    EF_TRY(ef_list_need_vector(c, c->in[0]));
    EF_TRY(ef_list_shape_from(c, 1, &element));
    pieces p = {.n = c->in[0]->dim[0], .drop = true};
    EF_TRY(take_apart(c, &p, &element, &l));
    ef_out_object(c, 0, &l->object);
    return NULL;
}

static ef_status *from_grad(ef_grad *g) {
    ef_value *x = g->in[0];
    const ef_shape *s = &x->fact.shape;
    int64_t n = s->rank >= 1 && s->dim[0] >= 0 ? s->dim[0] : -1;
    const ef_attr_value set[] = {TYPE(x), EF_SET_INT("num_elements", n)};
    g->din[0] =
        ef_emit_set(g->b, "TensorListStack", set, 2, 2, g->dout[0], ef_list_tail_value(g->b, x));
    return NULL;
}

const ef_op ef_op_TensorListFromTensor = {
    EF_NAMED(TensorListFromTensor),
    .doc = "A list of the slices of `tensor` along its first axis.",
    .in = {"tensor: element_dtype", "element_shape: shape_type"},
    .out = {"output_handle: variant"},
    .types = TENSOR_TYPES,
    .traits = EF_STORES_INPUTS,
    .keeps = EF_KEEP_IN(0),
    .role = EF_ROLE_SLICES,
    .shape = from_shape,
    .kernel = ROW(from_run),
    .grad = from_grad,
    .examples = {"float[3,2] int32[1]{2}", "int32[4] int32[]{-1}", "float[0,2] int64[1]{2}"},
};

/* ---- concat, split ---- */

/* Writes the lengths of the elements to output 1 and their sum to *total; *tail: the dims after the
 * first. given: leading dims of empty elements, or NULL. */
static ef_status *lengths_of(const ef_call *c, const ef_list *l, const ef_shape *element,
                             const ef_tensor *given, ef_shape *tail, int64_t *total) {
    int64_t first = element->rank >= 1 && element->dim[0] >= 0 ? element->dim[0] : -1;
    *total = 0;
    *tail = element->rank >= 1 ? ef_list_tail(element) : ef_unknown_shape();
    for (int64_t k = 0; k < l->n; k++) {
        ef_shape both, t, s;
        if (l->item[k].dtype == EF_NO_DTYPE) continue;
        s = ef_shape_from(&l->item[k]);
        if (s.rank == 0)
            return ef_error(EF_INVALID,
                            "%s: element %lld is a scalar; Concat requires elements to be "
                            "at least vectors",
                            c->op->name, (long long)k);
        t = ef_list_tail(&s);
        if (!ef_shape_may_equal(tail, &t) || (first >= 0 && first != s.dim[0]))
            return ef_error(
                EF_INVALID,
                "%s: element %lld has shape %s; all must have equal shapes but for the first "
                "size, compatible with element_shape",
                c->op->name, (long long)k, EF_SHAPE(&s));
        EF_TRY(ef_shape_merge(tail, &t, &both));
        *tail = both;
    }
    if (!ef_shape_known(tail))
        return ef_error(
            EF_INVALID,
            "%s: All except the first dimension must be fully defined when concating an "
            "empty tensor list; element_shape is %s",
            c->op->name, EF_SHAPE(element));
    EF_TRY(ef_out_ready(c, 1, &(ef_shape){.rank = 1, .dim = {l->n}}));
    int64_t *length = c->out[1]->data;
    for (int64_t k = 0; k < l->n; k++) {
        if (l->item[k].dtype != EF_NO_DTYPE)
            length[k] = l->item[k].dim[0];
        else
            length[k] =
                given != NULL && k < ef_count(given) ? ((const int64_t *)given->data)[k] : first;
        if (length[k] < 0 || __builtin_add_overflow(*total, length[k], total))
            return ef_error(EF_INVALID,
                            "%s: element %lld is empty and its length is not known; give "
                            "leading_dims",
                            c->op->name, (long long)k);
    }
    return NULL;
}

static ef_status *concat(const ef_call *c, ef_dtype dtype, const ef_shape *wanted,
                         const ef_tensor *given) {
    ef_list *l = NULL;
    ef_shape element, tail, out;
    int64_t total, at = 0;
    EF_TRY(ef_call_list(c, 0, dtype, &l));
    if (!ef_shape_may_equal(wanted, &l->element))
        return ef_error(EF_INVALID, "%s: element_shape is %s but the list's elements are %s",
                        c->op->name, EF_SHAPE(wanted), EF_SHAPE(&l->element));
    EF_TRY(ef_shape_merge(wanted, &l->element, &element));
    if (element.rank == 0)
        return ef_error(EF_INVALID,
                        "%s: Concat requires elements to be at least vectors, found "
                        "scalars instead",
                        c->op->name);
    EF_TRY(lengths_of(c, l, &element, given, &tail, &total));
    EF_TRY(ef_list_prepend(c->op, total, &tail, &out));
    EF_TRY(ef_out_ready(c, 0, &out));
    int64_t row = ef_shape_count(&tail);
    for (int64_t k = 0; k < l->n; k++) {
        const ef_tensor *x = &l->item[k];
        int64_t n = ((const int64_t *)c->out[1]->data)[k] * row;
        EF_TRY(ef_list_copy(c->out[0], at, x->dtype == EF_NO_DTYPE ? NULL : x, 0, n));
        at += n;
    }
    return NULL;
}

typedef struct concat_attrs {
    ef_dtype element_dtype;
    ef_shape element_shape;
} concat_attrs;

static ef_status *concat_out(ef_infer *i, const ef_shape *element) {
    EF_TRY(ef_need_rank(i, 0, 0));
    if (element->rank == 0)
        return ef_error(EF_INVALID,
                        "%s: element_shape is that of a scalar; elements must be at least "
                        "vectors",
                        i->op->name);
    if (element->rank > 0) {
        i->out[0].shape = *element;
        i->out[0].shape.dim[0] = EF_DIM_UNKNOWN;
    }
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    return NULL;
}
static ef_status *concat_shape(ef_infer *i) {
    return concat_out(i, &((const concat_attrs *)i->attrs)->element_shape);
}
static ef_status *concat_v2_shape(ef_infer *i) {
    ef_shape element = ef_list_shape_fact(i, 1);
    EF_TRY(ef_need_rank(i, 2, 1));
    return concat_out(i, &element);
}

static ef_status *concat_run(const ef_call *c) {
    const concat_attrs *t = c->attrs;
    return concat(c, t->element_dtype, &t->element_shape, NULL);
}
static ef_status *concat_v2_run(const ef_call *c) {
    ef_shape element;
    EF_TRY(ef_list_shape_from(c, 1, &element));
    return concat(c, ((const ef_list_attrs *)c->attrs)->element_dtype, &element, c->in[2]);
}

static ef_status *concat_grad(ef_grad *g) {
    if (g->dout[0] == NULL) return NULL;
    g->din[0] = ef_emit(g->b, "TensorListSplit", 3, g->dout[0],
                        ef_list_element_shape_value(g->b, g->in[0]), g->out[1]);
    return NULL;
}

const ef_op ef_op_TensorListConcat = {
    EF_NAMED(TensorListConcat),
    .doc = "All elements concatenated along their first axis, and the length of each.",
    .in = {"input_handle: variant"},
    .out = {"tensor: element_dtype", "lengths: int64"},
    .attr = {EF_ATTR(concat_attrs, element_dtype, "type", NULL),
             EF_ATTR(concat_attrs, element_shape, "shape", "{ unknown_rank: true }")},
    .attr_size = sizeof(concat_attrs),
    .traits = EF_DYNAMIC,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(1),
    .shape = concat_shape,
    .kernel = ROW(concat_run),
    .grad = concat_grad,
    .examples = {"list(float[2,3] float[1,3]) element_dtype=float",
                 "list(int32[2] int32[2]) element_dtype=int32"},
};

const ef_op ef_op_TensorListConcatV2 = {
    EF_NAMED(TensorListConcatV2),
    .doc = "All elements concatenated along their first axis, and the length of each. "
           "`leading_dims` gives the lengths of empty elements, which are filled with zeros.",
    .in = {"input_handle: variant", "element_shape: shape_type", "leading_dims: int64"},
    .out = {"tensor: element_dtype", "lengths: int64"},
    .types = "shape_type: {int32, int64}",
    .attr = {EF_LIST_DTYPE},
    .attr_size = sizeof(ef_list_attrs),
    .traits = EF_DYNAMIC,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(1),
    .shape = concat_v2_shape,
    .kernel = ROW(concat_v2_run),
    .grad = concat_grad,
    .examples = {"list(float[2,3] float[1,3]) int32[2]{-1,3} int64[0] element_dtype=float"},
};

static ef_status *split_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    return ef_shape_scalar(i);
}

static ef_status *split_run(const ef_call *c) {
    const ef_tensor *x = c->in[0], *lengths = c->in[2];
    const int64_t *v = lengths->data;
    int64_t total = 0, n = ef_count(lengths);
    ef_shape element;
    ef_list *l = NULL;
    EF_TRY(ef_list_need_vector(c, x));
    EF_TRY(ef_list_shape_from(c, 1, &element));
    for (int64_t k = 0; k < n; k++)
        if (v[k] < 0 || __builtin_add_overflow(total, v[k], &total))
            return ef_error(EF_INVALID,
                            "TensorListSplit: the length %lld of element %lld is invalid; "
                            "lengths must be >= 0",
                            (long long)v[k], (long long)k);
    if (total != x->dim[0])
        return ef_error(
            EF_INVALID,
            "TensorListSplit: the lengths add up to %lld but tensor has %lld rows; they "
            "must be equal",
            (long long)total, (long long)x->dim[0]);
    EF_TRY(take_apart(c, &(pieces){.n = n, .count = v}, &element, &l));
    ef_out_object(c, 0, &l->object);
    return NULL;
}

static ef_status *split_grad(ef_grad *g) {
    ef_value *x = g->in[0];
    const ef_attr_value set[] = {TYPE(x)};
    ef_value *tail = ef_list_tail_value(g->b, x);
    ef_value *any = ef_const_ints(g->b, EF_I32, 1, (const int64_t[]){-1});
    ef_value *shape = ef_emit(g->b, "ConcatV2", 3, any, tail, ef_const_number(g->b, EF_I32, 0));
    g->din[0] = ef_emit_set(g->b, "TensorListConcatV2", set, 1, 3, g->dout[0], shape, g->in[2]);
    return NULL;
}

const ef_op ef_op_TensorListSplit = {
    EF_NAMED(TensorListSplit),
    .doc = "Splits `tensor` along its first axis into a list; element k has `lengths[k]` rows.",
    .in = {"tensor: element_dtype", "element_shape: shape_type", "lengths: int64"},
    .out = {"output_handle: variant"},
    .types = TENSOR_TYPES,
    .traits = EF_STORES_INPUTS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .shape = split_shape,
    .kernel = ROW(split_run),
    .grad = split_grad,
    .examples = {"float[5,2] int32[2]{-1,2} int64[3]{2,0,3}", "int32[3] int32[]{-1} int64[1]{3}"},
};
