/* Saving and restoring the position of an iterator: as a variant, which TensorFlow's ops have, and
 * as a string, which checkpoints hold. */
#include "ops/data/iterator.h"
#include "ops/list/list.h"
#include "ops/shapes.h"
#include "ops/string/strings.h"

enum { OUTSIDE = EF_STATEFUL | EF_EFFECT | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD };
enum { WARN, IGNORE, FAIL }; /* external_state_policy */

static ef_status *save(const ef_call *c, ef_text *out) {
    struct ef_pipeline *p = NULL;
    const ef_dataset_attrs *a = c->attrs;
    EF_TRY(ef_iterator_pipeline(c->in[0], &p));
    ef_status *s = ef_data.save(p, a->external_state_policy == FAIL, out);
    ef_data.unref(p);
    return s;
}

static ef_status *restore(const ef_call *c, const ef_str *saved) {
    struct ef_pipeline *p = NULL, *fresh = NULL;
    ef_iterator *it = NULL;
    EF_TRY(ef_iterator_of(c->in[0], &it));
    EF_TRY(ef_iterator_pipeline(c->in[0], &p));
    ef_status *s = ef_data.restore(p, saved->at, saved->n, &fresh);
    ef_data.unref(p);
    if (s == NULL) ef_iterator_set(it, fresh);
    return s;
}

#define POLICY EF_ATTR(ef_dataset_attrs, external_state_policy, "int", "0")

/* ---- as a string -------------------------------------------------------------------------------
 */

static ef_status *position_run(const ef_call *c) {
    ef_text text = {0};
    ef_status *s = save(c, &text);
    if (s == NULL) s = ef_out_memory(c, 0);
    if (s == NULL) s = ef_str_set(c->out[0]->data, text.at, text.n);
    ef_text_free(&text);
    return s;
}

const ef_op ef_op__IteratorPosition = {
    EF_NAMED(_IteratorPosition),
    .doc = "The position of an iterator as a string, which checkpoints hold.",
    .in = {"resource_handle: resource"},
    .out = {"position: string"},
    .attr = {POLICY},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(position_run),
    .examples = {"iterator(5)"},
};

static ef_status *set_position_run(const ef_call *c) { return restore(c, ef_strs(c->in[1])); }

static ef_status *set_position_infer(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 1, 0));
    return ef_shape_none(i);
}

const ef_op ef_op__IteratorSetPosition = {
    EF_NAMED(_IteratorSetPosition),
    .doc = "Lets an iterator go on behind a position that _IteratorPosition gave.",
    .in = {"resource_handle: resource", "position: string"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_HEAVY | EF_NO_GRAD,
    .shape = set_position_infer,
    .kernel = EF_ANY_KERNEL(set_position_run),
    .examples = {"iterator(5) position(5)"},
};

/* ---- as a variant ------------------------------------------------------------------------------
 * The variant holds a list of one string. */

static ef_status *serialize_run(const ef_call *c) {
    ef_shape scalar = {.rank = 0};
    ef_text text = {0};
    ef_tensor t = {0};
    ef_list *l = NULL;
    ef_status *s = save(c, &text);
    if (s == NULL) s = ef_tensor_alloc(&t, EF_STRING, &scalar);
    if (s == NULL) s = ef_str_set(t.data, text.at, text.n);
    if (s == NULL) s = ef_list_make(EF_STRING, &scalar, 1, &l);
    if (s == NULL) s = ef_list_set(l, 0, &t);
    if (s == NULL)
        ef_out_object(c, 0, &l->object);
    else if (l != NULL)
        ef_storage_unref(&l->object.base);
    ef_tensor_release(&t);
    ef_text_free(&text);
    return s;
}

const ef_op ef_op_SerializeIterator = {
    EF_NAMED(SerializeIterator),
    .doc =
        "The position of an iterator, for DeserializeIterator. external_state_policy 2: an error "
        "if elements depend on a state that is not saved; 0, 1: that is fine.",
    .in = {"resource_handle: resource"},
    .out = {"serialized: variant"},
    .attr = {POLICY},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(serialize_run),
    .examples = {"iterator(5)"},
};

static ef_status *deserialize_run(const ef_call *c) {
    const ef_list *l = (const ef_list *)(const void *)ef_tensor_object(c->in[1], EF_OBJECT_LIST);
    if (l == NULL || l->n != 1 || l->item[0].dtype != EF_STRING || l->item[0].rank != 0)
        return ef_error(EF_INVALID, "%s: `serialized` is not what SerializeIterator gives",
                        c->op->name);
    return restore(c, l->item[0].data);
}

const ef_op ef_op_DeserializeIterator = {
    EF_NAMED(DeserializeIterator),
    .doc = "Lets an iterator go on behind a position that SerializeIterator gave.",
    .in = {"resource_handle: resource", "serialized: variant"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(deserialize_run),
    .examples = {"iterator(5) serialized_iterator(5)"},
};
