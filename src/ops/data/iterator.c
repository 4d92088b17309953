/* The ops of iterators. */
#include "ops/data/iterator.h"
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/data/optional.h"
#include "ops/shapes.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static void iterator_end(ef_storage *self) {
    ef_iterator *it = (ef_iterator *)self;
    if (it->pipeline != NULL) ef_data.unref(it->pipeline);
    ef_attrs_unref(it->attrs);
    ef_free(it->name);
    ef_mutex_destroy(&it->lock);
    ef_free(it);
}

ef_status *ef_iterator_make(const void *attrs, const char *name, ef_iterator **out) {
    static atomic_uint_fast64_t last;
    const ef_dataset_attrs *a = attrs;
    if (a->output_types.n != a->output_shapes.n)
        return ef_error(EF_INVALID,
                        "iterator: `output_shapes` has %d shapes for %d components; give one for "
                        "each",
                        a->output_shapes.n, a->output_types.n);
    ef_iterator *it = ef_calloc(1, sizeof *it);
    if (it == NULL) return ef_no_memory(sizeof *it);
    if (name != NULL && (it->name = ef_strdup(name)) == NULL) {
        ef_free(it);
        return ef_no_memory(strlen(name) + 1);
    }
    ef_object_init(&it->object, EF_OBJECT_ITERATOR, "iterator", iterator_end);
    ef_mutex_init(&it->lock, EF_RANK_ITERATOR, EF_MUTEX_PLAIN);
    it->attrs = ef_attrs_ref(ef_attrs_around(attrs));
    it->set = attrs;
    it->width = it->set->output_types.n;
    it->number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    *out = it;
    return NULL;
}

ef_status *ef_iterator_of(const ef_tensor *handle, ef_iterator **out) {
    *out = (ef_iterator *)ef_tensor_object(handle, EF_OBJECT_ITERATOR);
    if (*out != NULL) return NULL;
    return ef_error(EF_INVALID, "the resource is not an iterator");
}

ef_status *ef_iterator_pipeline(const ef_tensor *handle, struct ef_pipeline **out) {
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_of(handle, &it));
    ef_mutex_lock(&it->lock);
    struct ef_pipeline *p = it->pipeline;
    if (p != NULL) ef_data.ref(p);
    ef_mutex_unlock(&it->lock);
    if (p == NULL)
        return ef_error(EF_FAILED_PRECONDITION,
                        "GetNext() failed because the iterator has not been initialized. Ensure "
                        "that you have run the initializer operation for this iterator before "
                        "getting the next element.");
    *out = p;
    return NULL;
}

/* ---- making them -------------------------------------------------------------------------------
 */

ef_status *ef_iterator_anonymous_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_make(c->attrs, NULL, &it));
    if (c->n_out > 1) ef_storage_ref(&it->object.base); /* the deleter is a second handle */
    ef_out_object(c, 0, &it->object);
    if (c->n_out > 1) ef_out_object(c, 1, &it->object);
    return NULL;
}

enum { OUTSIDE = EF_STATEFUL | EF_EFFECT | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD };

const ef_op ef_op_AnonymousIteratorV3 = {
    EF_NAMED(AnonymousIteratorV3),
    .doc = "Makes an iterator, which is freed with its last handle.",
    .out = {"handle: resource"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(ef_iterator_anonymous_run),
    .examples = {"output_types=[int64] output_shapes=[[]]"},
};

static ef_status *check_elements(const ef_op *op, const ef_iterator *it, const ef_dataset *d) {
    int n = ef_dataset_width(d);
    if (n != it->width)
        return ef_error(EF_INVALID,
                        "%s: elements of the dataset have %d components, but those of the "
                        "iterator %d; the number of components does not match",
                        op->name, n, it->width);
    for (int k = 0; k < n; k++) {
        ef_dtype have = ef_dataset_type(d, k), want = it->set->output_types.at[k];
        if (have != want)
            return ef_error(EF_INVALID,
                            "%s: Data type mismatch at component %d: expected %s but got %s.",
                            op->name, k, ef_dtype_name(want), ef_dtype_name(have));
        if (!ef_shape_may_equal(ef_dataset_shape(d, k), &it->set->output_shapes.at[k]))
            return ef_error(EF_INVALID,
                            "%s: Incompatible shapes at component %d: expected %s but got %s.",
                            op->name, k, EF_SHAPE(&it->set->output_shapes.at[k]),
                            EF_SHAPE(ef_dataset_shape(d, k)));
    }
    return NULL;
}

void ef_iterator_set(ef_iterator *it, struct ef_pipeline *p) {
    ef_mutex_lock(&it->lock);
    struct ef_pipeline *old = it->pipeline;
    it->pipeline = p;
    ef_mutex_unlock(&it->lock);
    if (old != NULL) ef_data.unref(old);
}

ef_status *ef_iterator_start(const ef_op *op, ef_iterator *it, const ef_dataset *d) {
    struct ef_pipeline *fresh = NULL;
    EF_TRY(check_elements(op, it, d));
    EF_TRY(ef_data.open(d, &fresh));
    ef_iterator_set(it, fresh);
    return NULL;
}

static ef_status *make_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(ef_dataset_check(c, 0));
    EF_TRY(ef_iterator_of(c->in[1], &it));
    return ef_iterator_start(c->op, it, ef_dataset_of(c->in[0]));
}

const ef_op ef_op_MakeIterator = {
    EF_NAMED(MakeIterator),
    .doc = "Starts `iterator` at the first element of `dataset`.",
    .in = {"dataset: variant", "iterator: resource"},
    .traits = OUTSIDE,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(make_run),
    .examples = {"dataset(5) iterator(5)"},
};

/* ---- elements ----------------------------------------------------------------------------------
 */

/* Gets the next element into `made`, which has space for the components that the op declares. */
static ef_status *take(const ef_call *c, const ef_types *types, ef_tensor *made, bool *end) {
    struct ef_pipeline *p = NULL;
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_of(c->in[0], &it));
    if (it->width != types->n)
        return ef_error(EF_INVALID,
                        "%s: output_types has %d components, but the iterator's elements have %d",
                        c->op->name, types->n, it->width);
    EF_TRY(ef_iterator_pipeline(c->in[0], &p));
    ef_status *s = ef_data.next(p, made, end);
    ef_data.unref(p);
    return s;
}

ef_status *ef_element_check(const char *op, const ef_dataset_attrs *a, const ef_tensor *made) {
    for (int k = 0; k < a->output_types.n; k++) {
        ef_shape shape = ef_shape_from(&made[k]);
        if ((ef_dtype)made[k].dtype != a->output_types.at[k])
            return ef_error(EF_INVALID,
                            "%s: Data type mismatch at component %d: expected %s, as output_types "
                            "says, but got %s.",
                            op, k, ef_dtype_name(a->output_types.at[k]),
                            ef_dtype_name((ef_dtype)made[k].dtype));
        if (!ef_shape_may_equal(&shape, &a->output_shapes.at[k]))
            return ef_error(EF_INVALID,
                            "%s: Incompatible shapes at component %d: expected %s, as "
                            "output_shapes says, but got %s.",
                            op, k, EF_SHAPE(&a->output_shapes.at[k]), EF_SHAPE(&shape));
    }
    return NULL;
}

ef_status *ef_components_out(const ef_call *c, const ef_tensor *made) {
    EF_TRY(ef_element_check(c->op->name, c->attrs, made));
    for (int k = 0; k < c->n_out; k++) EF_TRY(ef_out_share(c, k, &made[k]));
    return NULL;
}

enum { FEW = 8 };

static ef_status *get_next_run(const ef_call *c) {
    const ef_dataset_attrs *a = c->attrs;
    ef_tensor few[FEW], *made = few;
    size_t bytes = (size_t)c->n_out * sizeof *made;
    bool end = false;
    if (c->n_out > FEW && (made = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
    memset(made, 0, bytes);
    ef_status *s = take(c, &a->output_types, made, &end);
    if (s == NULL && end) s = ef_error(EF_OUT_OF_RANGE, "End of sequence");
    if (s == NULL) s = ef_components_out(c, made);
    for (int k = 0; k < c->n_out; k++) ef_tensor_release(&made[k]);
    if (made != few) ef_free(made);
    return s;
}

ef_status *ef_components_infer(ef_infer *i) {
    const ef_shapes *given = &((const ef_dataset_attrs *)i->attrs)->output_shapes;
    if (given->n != i->n_out)
        return ef_error(EF_INVALID, "%s: `output_shapes` has %d shapes for %d components",
                        i->op->name, given->n, i->n_out);
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = given->at[k];
    return NULL;
}

#define GET_NEXT(NAME)                                                            \
    const ef_op ef_op_##NAME = {                                                  \
        EF_NAMED(NAME),                                                           \
        .doc = "The next element; fails with OUT_OF_RANGE after the last.",       \
        .in = {"iterator: resource"},                                             \
        .out = {"components: output_types"},                                      \
        .attr = {EF_DATASET_OUTPUTS},                                             \
        .attr_size = sizeof(ef_dataset_attrs),                                    \
        .traits = OUTSIDE | EF_DYNAMIC,                                           \
        .shape = ef_components_infer,                                             \
        .kernel = EF_ANY_KERNEL(get_next_run),                                    \
        .examples = {"iterator(100000) output_types=[int64] output_shapes=[[]]"}, \
    };
GET_NEXT(IteratorGetNext)
GET_NEXT(IteratorGetNextSync)

static ef_status *as_optional_run(const ef_call *c) {
    const ef_dataset_attrs *a = c->attrs;
    ef_optional *o = NULL;
    bool end = false;
    EF_TRY(ef_optional_make(a->output_types.n, &o));
    ef_status *s = take(c, &a->output_types, o->value, &end);
    if (s != NULL) {
        ef_storage_unref(&o->object.base);
        return s;
    }
    o->has_value = !end;
    ef_out_object(c, 0, &o->object);
    return NULL;
}

const ef_op ef_op_IteratorGetNextAsOptional = {
    EF_NAMED(IteratorGetNextAsOptional),
    .doc = "The next element as an optional, which is empty after the last.",
    .in = {"iterator: resource"},
    .out = {"optional: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(as_optional_run),
    .examples = {"iterator(5) output_types=[int64] output_shapes=[[]]"},
};

static ef_status *has_next_run(const ef_call *c) {
    struct ef_pipeline *p = NULL;
    bool more = false;
    EF_TRY(ef_iterator_pipeline(c->in[0], &p));
    ef_status *s = ef_data.peek(p, &more);
    ef_data.unref(p);
    if (s != NULL) return s;
    ef_shape scalar = {.rank = 0};
    EF_TRY(ef_out_alloc(c, 0, &scalar));
    *(uint8_t *)c->out[0]->data = more;
    return NULL;
}

const ef_op ef_op__IteratorHasNext = {
    EF_NAMED(_IteratorHasNext),
    .doc = "Whether there is another element, without consuming it: the condition of a for loop.",
    .in = {"iterator: resource"},
    .out = {"has_next: bool"},
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(has_next_run),
    .examples = {"iterator(5)"},
};

/* ---- whole datasets ----------------------------------------------------------------------------
 */

static ef_status *cardinality_run(const ef_call *c) {
    EF_TRY(ef_dataset_check(c, 0));
    *(int64_t *)c->out[0]->data = ef_data.count(ef_dataset_of(c->in[0]));
    return NULL;
}

const ef_op ef_op_DatasetCardinality = {
    EF_NAMED(DatasetCardinality),
    .doc = "The number of elements; -1: infinitely many, -2: not known.",
    .in = {"input_dataset: variant"},
    .out = {"cardinality: int64"},
    .attr = {EF_ATTR(ef_dataset_attrs, cardinality_options, "string", "''")},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(cardinality_run),
    .examples = {"dataset(5)"},
};

ef_status *ef_dataset_take(const ef_call *c, ef_take_fn *read) {
    struct ef_pipeline *p = NULL;
    EF_TRY(ef_dataset_check(c, 0));
    const ef_dataset *d = ef_dataset_of(c->in[0]);
    if (ef_dataset_width(d) != c->n_out)
        return ef_error(EF_INVALID,
                        "%s: output_types has %d components, but the dataset's elements have %d",
                        c->op->name, c->n_out, ef_dataset_width(d));
    ef_tensor *made = ef_calloc((size_t)c->n_out, sizeof *made);
    if (made == NULL) return ef_no_memory((size_t)c->n_out * sizeof *made);
    ef_status *s = ef_data.open(d, &p);
    if (s == NULL) {
        s = read(c, p, made);
        ef_data.unref(p);
    }
    for (int k = 0; k < c->n_out; k++) ef_tensor_release(&made[k]);
    ef_free(made);
    return s;
}

static ef_status *only_element(const ef_call *c, struct ef_pipeline *p, ef_tensor *made) {
    ef_tensor second[FEW] = {0}, *more = second;
    bool end = false;
    EF_TRY(ef_data.next(p, made, &end));
    if (end) return ef_error(EF_INVALID, "%s: Dataset was empty.", c->op->name);
    EF_TRY(ef_components_out(c, made));
    size_t bytes = (size_t)c->n_out * sizeof *more;
    if (c->n_out > FEW && (more = ef_calloc(1, bytes)) == NULL) return ef_no_memory(bytes);
    ef_status *s = ef_data.next(p, more, &end);
    for (int k = 0; k < c->n_out; k++) ef_tensor_release(&more[k]);
    if (more != second) ef_free(more);
    if (s == NULL && !end)
        s = ef_error(EF_INVALID, "%s: Dataset had more than one element.", c->op->name);
    return s;
}

static ef_status *single_run(const ef_call *c) { return ef_dataset_take(c, only_element); }

const ef_op ef_op_DatasetToSingleElement = {
    EF_NAMED(DatasetToSingleElement),
    .doc = "The only element of a dataset; fails if it has none or several.",
    .in = {"dataset: variant"},
    .out = {"components: output_types"},
    .attr = {EF_DATASET_OUTPUTS, EF_DATASET_NOTE},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE | EF_DYNAMIC,
    .shape = ef_components_infer,
    .kernel = EF_ANY_KERNEL(single_run),
    .examples = {"dataset(1) output_types=[int64] output_shapes=[[]]"},
};

static ef_status *reduce_run(const ef_call *c) {
    const ef_dataset_attrs *a = c->attrs;
    int n = a->Tstate.n;
    EF_TRY(ef_dataset_check(c, 0));
    if (c->n_out != n)
        return ef_error(EF_INVALID, "%s: has %d outputs for a state of %d tensors", c->op->name,
                        c->n_out, n);
    ef_tensor *state = ef_calloc((size_t)n, sizeof *state);
    if (state == NULL) return ef_no_memory((size_t)n * sizeof *state);
    ef_status *s = NULL;
    for (int k = 0; k < n && s == NULL; k++) s = ef_tensor_keep(&state[k], c->in[1 + k]);
    if (s == NULL)
        s = ef_data.reduce(ef_dataset_of(c->in[0]), a->f, state, n, c->in + 1 + n, c->n_in - 1 - n);
    if (s == NULL) s = ef_components_out(c, state);
    for (int k = 0; k < n; k++) ef_tensor_release(&state[k]);
    ef_free(state);
    return s;
}

const ef_op ef_op_ReduceDataset = {
    EF_NAMED(ReduceDataset),
    .doc = "Applies `f` to a state and each element; it returns the next state. The result is the "
           "last state.",
    .in = {"input_dataset: variant", "initial_state: Tstate", "other_arguments: Targuments"},
    .out = {"components: output_types"},
    .attr = {EF_ATTR(ef_dataset_attrs, f, "func", NULL),
             EF_ATTR(ef_dataset_attrs, Tstate, "list(type) >= 1", NULL),
             EF_ATTR(ef_dataset_attrs, Targuments, "list(type) >= 0", NULL), EF_DATASET_OUTPUTS,
             EF_ATTR(ef_dataset_attrs, use_inter_op_parallelism, "bool", "true"), EF_DATASET_NOTE},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE | EF_DYNAMIC | EF_STORES_INPUTS,
    .shape = ef_components_infer,
    .kernel = EF_ANY_KERNEL(reduce_run),
};
