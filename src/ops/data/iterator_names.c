/* Iterators that are found by name: those of graphs, which a session runs many times. They are
 * stored in the scope of variables, so each session has its own. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/data/iterator.h"
#include "ops/data/optional.h"
#include "ops/shapes.h"
#include "ops/state/variable_scope.h"
#include "ops/string/strings.h"

enum { OUTSIDE = EF_STATEFUL | EF_EFFECT | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD };

static ef_status *make_object(const void *how, const char *name, ef_object **out) {
    return ef_iterator_make(how, name, (ef_iterator **)out);
}

/* *out carries a reference for the caller. */
static ef_status *named(const ef_call *c, ef_iterator **out) {
    const ef_dataset_attrs *a = c->attrs;
    ef_object *found = NULL;
    if (a->shared_name.n == 0) return ef_iterator_make(a, NULL, out);
    EF_TRY(ef_scope_object(&a->container, &a->shared_name, make_object, a, &found));
    if (found->kind == EF_OBJECT_ITERATOR && ((ef_iterator *)found)->width == a->output_types.n) {
        *out = (ef_iterator *)found;
        return NULL;
    }
    ef_status *s = ef_error(EF_INVALID,
                            "%s: a %s named %s exists, with other elements; use another "
                            "shared_name",
                            c->op->name, found->type_name, a->shared_name.at);
    ef_storage_unref(&found->base);
    return s;
}

static ef_status *named_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(named(c, &it));
    ef_out_object(c, 0, &it->object);
    return NULL;
}

#define NAMES(VALUE)                                         \
    EF_ATTR(ef_dataset_attrs, shared_name, "string", VALUE), \
        EF_ATTR(ef_dataset_attrs, container, "string", VALUE)
#define ITERATOR(NAME)                                                                       \
    const ef_op ef_op_##NAME = {                                                             \
        EF_NAMED(NAME),                                                                      \
        .doc = "The iterator of that name, made when the name is first used.",               \
        .out = {"handle: resource"},                                                         \
        .attr = {NAMES(NULL), EF_DATASET_OUTPUTS},                                           \
        .attr_size = sizeof(ef_dataset_attrs),                                               \
        .traits = OUTSIDE,                                                                   \
        .shape = ef_shape_scalar,                                                            \
        .kernel = EF_ANY_KERNEL(named_run),                                                  \
        .examples = {"shared_name='' container='' output_types=[int64] output_shapes=[[]]"}, \
    };
ITERATOR(Iterator)
ITERATOR(IteratorV2)

static ef_status *one_shot_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(ef_dataset_check(c, 0));
    EF_TRY(named(c, &it));
    ef_mutex_lock(&it->lock);
    bool started = it->pipeline != NULL;
    ef_mutex_unlock(&it->lock);
    ef_status *s = started ? NULL : ef_iterator_start(c->op, it, ef_dataset_of(c->in[0]));
    if (s == NULL)
        ef_out_object(c, 0, &it->object);
    else
        ef_storage_unref(&it->object.base);
    return s;
}

const ef_op ef_op__OneShotIterator = {
    EF_NAMED(_OneShotIterator),
    .doc = "The iterator of that name; on first use it starts at the first element of "
           "`dataset`.",
    .in = {"dataset: variant"},
    .out = {"handle: resource"},
    .attr = {NAMES("''"), EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE | EF_STORES_INPUTS,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(one_shot_run),
    .examples = {"dataset(5) output_types=[int64] output_shapes=[[]]"},
};

/* ---- handles as strings ------------------------------------------------------------------------
 */

static ef_status *to_string_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_of(c->in[0], &it));
    if (it->name == NULL)
        return ef_error(EF_FAILED_PRECONDITION,
                        "%s: the iterator has no name, so it has no string handle; make it "
                        "with a shared_name",
                        c->op->name);
    EF_TRY(ef_out_memory(c, 0));
    return ef_str_set(c->out[0]->data, it->name, strlen(it->name));
}

const ef_op ef_op_IteratorToStringHandle = {
    EF_NAMED(IteratorToStringHandle),
    .doc = "A string handle for an iterator, valid in the session that made it.",
    .in = {"resource_handle: resource"},
    .out = {"string_handle: string"},
    .traits = EF_STATEFUL | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(to_string_run),
    .examples = {"named_iterator(5)"},
};

static ef_status *no_object(const void *how, const char *name, ef_object **out) {
    (void)how;
    (void)out;
    return ef_error(EF_NOT_FOUND,
                    "IteratorFromStringHandle: no iterator has the handle '%.200s' in this session",
                    name);
}

static ef_status *check_announced(const ef_call *c, const ef_object *found) {
    const ef_dataset_attrs *a = c->attrs;
    const ef_iterator *it = (const ef_iterator *)found;
    if (found->kind != EF_OBJECT_ITERATOR)
        return ef_error(EF_INVALID, "%s: the handle refers to a %s", c->op->name, found->type_name);
    if (a->output_types.n != 0 && a->output_types.n != it->width)
        return ef_error(EF_INVALID,
                        "%s: output_types has %d components, but the iterator's elements have %d",
                        c->op->name, a->output_types.n, it->width);
    for (int k = 0; k < a->output_types.n; k++)
        if (a->output_types.at[k] != it->set->output_types.at[k])
            return ef_error(EF_INVALID,
                            "%s: Data type mismatch at component %d: expected %s but got %s.",
                            c->op->name, k, ef_dtype_name(a->output_types.at[k]),
                            ef_dtype_name(it->set->output_types.at[k]));
    return NULL;
}

static ef_status *from_string_run(const ef_call *c) {
    const ef_str *text = ef_strs(c->in[0]);
    const ef_attr_text none = {.at = "", .n = 0}, name = {.at = text->at, .n = text->n};
    ef_object *found = NULL;
    if (text->n == 0)
        return ef_error(EF_INVALID, "%s: the handle of an iterator is an empty string",
                        c->op->name);
    EF_TRY(ef_scope_object(&none, &name, no_object, NULL, &found));
    ef_status *s = check_announced(c, found);
    if (s == NULL)
        ef_out_object(c, 0, found);
    else
        ef_storage_unref(&found->base);
    return s;
}

static ef_status *from_string_infer(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    return ef_shape_scalar(i);
}

#define FROM_STRING(NAME)                                                             \
    const ef_op ef_op_##NAME = {                                                      \
        EF_NAMED(NAME),                                                               \
        .doc = "The iterator that a string from IteratorToStringHandle refers to.",   \
        .in = {"string_handle: string"},                                              \
        .out = {"resource_handle: resource"},                                         \
        .attr = {EF_ATTR(ef_dataset_attrs, output_types, "list(type) >= 0", "[]"),    \
                 EF_ATTR(ef_dataset_attrs, output_shapes, "list(shape) >= 0", "[]")}, \
        .attr_size = sizeof(ef_dataset_attrs),                                        \
        .traits = OUTSIDE,                                                            \
        .shape = from_string_infer,                                                   \
        .kernel = EF_ANY_KERNEL(from_string_run),                                     \
        .examples = {"iterator_handle(5)"},                                           \
    };
FROM_STRING(IteratorFromStringHandle)
FROM_STRING(IteratorFromStringHandleV2)

/* ---- iterators without a name ------------------------------------------------------------------
 */

const ef_op ef_op_AnonymousIterator = {
    EF_NAMED(AnonymousIterator),
    .doc = "Makes an iterator.",
    .out = {"handle: resource"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(ef_iterator_anonymous_run),
    .examples = {"output_types=[int64] output_shapes=[[]]"},
};

const ef_op ef_op_AnonymousIteratorV2 = {
    EF_NAMED(AnonymousIteratorV2),
    .doc = "Makes an iterator and its deleter, which DeleteIterator takes.",
    .out = {"handle: resource", "deleter: variant"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(ef_iterator_anonymous_run),
    .examples = {"output_types=[int64] output_shapes=[[]]"},
};

static ef_status *delete_run(const ef_call *c) {
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_of(c->in[0], &it));
    ef_iterator_set(it, NULL);
    return NULL;
}

const ef_op ef_op_DeleteIterator = {
    EF_NAMED(DeleteIterator),
    .doc = "Ends an iteration; the iterator returns no more elements.",
    .in = {"handle: resource", "deleter: variant"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(delete_run),
    .examples = {"iterator(5) optional(float[2])"},
};

/* ---- ops on whole datasets ------------------------------------------------------------------- */

static ef_status *fingerprint_run(const ef_call *c) {
    EF_TRY(ef_dataset_check(c, 0));
    *(uint64_t *)c->out[0]->data = ef_dataset_fingerprint(ef_dataset_of(c->in[0]));
    return NULL;
}

const ef_op ef_op_DatasetFingerprint = {
    EF_NAMED(DatasetFingerprint),
    .doc = "A hash that is equal for datasets made in the same way.",
    .in = {"input_dataset: variant"},
    .out = {"fingerprint: uint64"},
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(fingerprint_run),
    .examples = {"dataset(5)"},
};

/* Elements before the requested one are computed and dropped. */
static ef_status *element_at(const ef_call *c, struct ef_pipeline *p, ef_tensor *made) {
    int64_t index = *(const int64_t *)c->in[1]->data;
    bool end = index < 0;
    for (int64_t k = 0; k <= index && !end; k++) {
        for (int j = 0; j < c->n_out; j++) ef_tensor_release(&made[j]);
        EF_TRY(ef_data.next(p, made, &end));
    }
    if (end)
        return ef_error(EF_OUT_OF_RANGE,
                        "%s: Index out of range: %lld; the dataset has fewer elements", c->op->name,
                        (long long)index);
    return ef_components_out(c, made);
}

static ef_status *at_run(const ef_call *c) {
    EF_TRY(ef_dataset_check(c, 0));
    if (ef_data.count(ef_dataset_of(c->in[0])) == EF_COUNT_INFINITE)
        return ef_error(EF_FAILED_PRECONDITION,
                        "%s: the dataset has infinite cardinality, which does not support random "
                        "access; call take(n) before",
                        c->op->name);
    return ef_dataset_take(c, element_at);
}

static ef_status *at_infer(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 1, 0));
    return ef_components_infer(i);
}

const ef_op ef_op_GetElementAtIndex = {
    EF_NAMED(GetElementAtIndex),
    .doc = "The element of a dataset at that index.",
    .in = {"dataset: variant", "index: int64"},
    .out = {"components: output_types"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE | EF_DYNAMIC,
    .shape = at_infer,
    .kernel = EF_ANY_KERNEL(at_run),
    .examples = {"dataset(5) int64[]{3} output_types=[int64] output_shapes=[[]]"},
};
