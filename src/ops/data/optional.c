/* The ops of optionals. */
#include "ops/data/optional.h"
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/shapes.h"

static void optional_end(ef_storage *self) {
    ef_optional *o = (ef_optional *)self;
    for (int k = 0; k < o->n; k++) ef_tensor_release(&o->value[k]);
    ef_free(o);
}

ef_status *ef_optional_make(int n, ef_optional **out) {
    size_t bytes = sizeof(ef_optional) + (size_t)n * sizeof(ef_tensor);
    ef_optional *o = ef_calloc(1, bytes);
    if (o == NULL) return ef_no_memory(bytes);
    ef_object_init(&o->object, EF_OBJECT_OPTIONAL, "optional", optional_end);
    o->n = n;
    *out = o;
    return NULL;
}

static ef_status *optional_of(const ef_call *c, const ef_optional **out) {
    *out = (const ef_optional *)ef_tensor_object(c->in[0], EF_OBJECT_OPTIONAL);
    if (*out != NULL) return NULL;
    return ef_error(EF_INVALID, "%s: the input is not an optional", c->op->name);
}

static ef_status *from_value_run(const ef_call *c) {
    ef_optional *o = NULL;
    ef_status *s = NULL;
    EF_TRY(ef_optional_make(c->n_in, &o));
    for (int k = 0; k < c->n_in && s == NULL; k++) s = ef_tensor_keep(&o->value[k], c->in[k]);
    if (s != NULL) {
        ef_storage_unref(&o->object.base);
        return s;
    }
    o->has_value = true;
    ef_out_object(c, 0, &o->object);
    return NULL;
}

const ef_op ef_op_OptionalFromValue = {
    EF_NAMED(OptionalFromValue),
    .doc = "An optional that holds `components`.",
    .in = {"components: Toutput_types"},
    .out = {"optional: variant"},
    .types = "Toutput_types: list(type) >= 1",
    .traits = EF_STORES_INPUTS | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(from_value_run),
    .examples = {"float[2] string[]{a}"},
};

static ef_status *none_run(const ef_call *c) {
    ef_optional *o = NULL;
    EF_TRY(ef_optional_make(0, &o));
    ef_out_object(c, 0, &o->object);
    return NULL;
}

const ef_op ef_op_OptionalNone = {
    EF_NAMED(OptionalNone),
    .doc = "An optional without a value.",
    .out = {"optional: variant"},
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(none_run),
    .examples = {""},
};

static ef_status *has_value_run(const ef_call *c) {
    const ef_optional *o = NULL;
    EF_TRY(optional_of(c, &o));
    *(uint8_t *)c->out[0]->data = o->has_value;
    return NULL;
}

const ef_op ef_op_OptionalHasValue = {
    EF_NAMED(OptionalHasValue),
    .doc = "Whether an optional holds a value.",
    .in = {"optional: variant"},
    .out = {"has_value: bool"},
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(has_value_run),
    .examples = {"optional(float[2])"},
};

static ef_status *get_value_run(const ef_call *c) {
    const ef_optional *o = NULL;
    EF_TRY(optional_of(c, &o));
    if (!o->has_value)
        return ef_error(EF_INVALID, "%s: The given optional does not have a value.", c->op->name);
    if (o->n != c->n_out)
        return ef_error(EF_INVALID, "%s: output_types has %d components, but the optional holds %d",
                        c->op->name, c->n_out, o->n);
    return ef_components_out(c, o->value);
}

const ef_op ef_op_OptionalGetValue = {
    EF_NAMED(OptionalGetValue),
    .doc = "The value of an optional; fails if it has none.",
    .in = {"optional: variant"},
    .out = {"components: output_types"},
    .attr = {EF_DATASET_OUTPUTS},
    .attr_size = sizeof(ef_dataset_attrs),
    .traits = EF_DYNAMIC | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_components_infer,
    .kernel = EF_ANY_KERNEL(get_value_run),
    .examples = {"optional(float[2]) output_types=[float] output_shapes=[[2]]"},
};
