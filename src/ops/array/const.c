/* Values without inputs (Const, Placeholder) and ops that return their input unchanged. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"
#include "tensor/device_tensor.h"

typedef struct {
    const ef_tensor *value;
    ef_dtype dtype;
} const_attrs;

static ef_status *const_shape(ef_infer *i) {
    const const_attrs *a = i->attrs;
    if (a->value->dtype != a->dtype)
        return ef_error(EF_INVALID, "Const: value is %s, but dtype says %s; they must agree",
                        EF_TENSOR(a->value), ef_dtype_name(a->dtype));
    i->out[0].shape = ef_shape_from(a->value);
    return NULL;
}

static ef_status *const_run(const ef_call *c) {
    const ef_tensor *value = ((const const_attrs *)c->attrs)->value;
    if (EF_LIKELY(c->device == EF_HOST)) return ef_out_share(c, 0, value);
    ef_tensor there = {0};
    EF_TRY(ef_tensor_to(c->device, value, &there));
    ef_status *s = ef_out_share(c, 0, &there);
    ef_tensor_release(&there);
    return s;
}

const ef_op ef_op_Const = {
    EF_NAMED(Const),
    .doc = "A constant, known when the graph is built.",
    .out = {"output: dtype"},
    .attr = {EF_ATTR(const_attrs, value, "tensor", NULL),
             EF_ATTR(const_attrs, dtype, "type", NULL)},
    .attr_size = sizeof(const_attrs),
    .traits = EF_NO_GRAD | EF_SHARES_OUT | EF_CONSTANT,
    .shape = const_shape,
    .kernel = {{EF_CPU | EF_TEST | EF_ASIDE, EF_ANY, const_run, NULL, NULL, NULL, NULL}},
    .examples = {"value=float[2,3] dtype=float", "value=string[2]{ab,c} dtype=string",
                 "value=int32[] dtype=int32", "value=bool[0] dtype=bool"},
};

ef_status *ef_made_constant(const ef_tensor *value, ef_made *out) {
    ef_attr_value set[] = {EF_SET_TENSOR("value", value),
                           EF_SET_TYPE("dtype", (ef_dtype)value->dtype)};
    out->op = &ef_op_Const;
    return ef_attrs_make(out->op, set, 2, &out->attrs);
}

typedef struct {
    ef_dtype dtype;
    ef_shape shape;
} placeholder_attrs;

static ef_status *placeholder_shape(ef_infer *i) {
    i->out[0].shape = ((const placeholder_attrs *)i->attrs)->shape;
    return NULL;
}

#define PLACEHOLDER_ATTRS(shape_default)                              \
    {                                                                 \
        EF_ATTR(placeholder_attrs, dtype, "type", NULL),              \
            EF_ATTR(placeholder_attrs, shape, "shape", shape_default) \
    }

const ef_op ef_op_Placeholder = {
    EF_NAMED(Placeholder),
    .doc = "A value that the caller must feed.",
    .out = {"output: dtype"},
    .attr = PLACEHOLDER_ATTRS("{ unknown_rank: true }"),
    .attr_size = sizeof(placeholder_attrs),
    .traits = EF_NO_GRAD | EF_NO_KERNEL | EF_STATEFUL,
    .shape = placeholder_shape,
};

const ef_op *const ef_input_op = &ef_op_Placeholder;

ef_status *ef_made_input(ef_dtype dtype, const ef_shape *shape, ef_made *out) {
    ef_attr_value set[] = {EF_SET_TYPE("dtype", dtype), EF_SET_SHAPE("shape", shape)};
    out->op = ef_input_op;
    return ef_attrs_make(out->op, set, 2, &out->attrs);
}

const ef_op ef_op_PlaceholderV2 = {
    EF_NAMED(PlaceholderV2),
    .doc = "A value of a given shape that the caller must feed.",
    .out = {"output: dtype"},
    .attr = PLACEHOLDER_ATTRS(NULL),
    .attr_size = sizeof(placeholder_attrs),
    .traits = EF_NO_GRAD | EF_NO_KERNEL | EF_STATEFUL,
    .shape = placeholder_shape,
};

static ef_status *with_default_shape(ef_infer *i) {
    const placeholder_attrs *a = i->attrs;
    ef_shape merged;
    ef_status *s = ef_shape_merge(&i->in[0].shape, &a->shape, &merged);
    if (s != NULL) {
        ef_status_free(s);
        return ef_error(EF_INVALID,
                        "PlaceholderWithDefault: the default has shape %s, which does not "
                        "fit the declared shape %s",
                        EF_SHAPE(&i->in[0].shape), EF_SHAPE(&a->shape));
    }
    i->out[0].shape = a->shape; /* another value of that shape may be fed */
    return NULL;
}

static ef_status *pass_run(const ef_call *c) {
    for (int k = 0; k < c->n_out; k++) EF_TRY(ef_out_same(c, k, c->in[k]));
    return NULL;
}

static ef_status *pass_grad(ef_grad *g) {
    for (int k = 0; k < g->n_in; k++) g->din[k] = g->dout[k];
    return NULL;
}

const ef_op ef_op_PlaceholderWithDefault = {
    EF_NAMED(PlaceholderWithDefault),
    .doc = "Returns its input, unless the caller feeds another value.",
    .in = {"input: dtype"},
    .out = {"output: dtype"},
    .types = "dtype: type",
    .attr = {EF_ATTR(placeholder_attrs, shape, "shape", NULL)},
    .attr_size = sizeof(placeholder_attrs),
    .traits = EF_STATEFUL,
    .keeps = EF_KEEP_NONE,
    .shape = with_default_shape,
    .kernel = EF_ANY_KERNEL(pass_run),
    .grad = pass_grad,
    .examples = {"float[2,3] shape=[2,3]"},
};

/* A pass-through that keeps what is known about the input, including the value behind a
 * resource. */
static ef_status *pass_shape(ef_infer *i) {
    for (int k = 0; k < i->n_out; k++) {
        i->out[k].shape = i->in[k].shape;
        i->out[k].handle = i->in[k].handle;
    }
    return NULL;
}

#define PASS_EXAMPLES \
    { "float[2,3]", "int32[]", "string[2]{ab,c}", "bool[0,3]" }
#define PASS(N, words, in_name, gradient, more, value)            \
    const ef_op ef_op_##N = {                                     \
        EF_NAMED(N),           .doc = words,                      \
        .in = {in_name ": T"}, .out = {"output: T"},              \
        .types = "T: type",    .traits = EF_VIEW_0 | (more),      \
        .keeps = EF_KEEP_NONE, .shape_value = value,              \
        .shape = pass_shape,   .kernel = EF_ANY_KERNEL(pass_run), \
        .grad = gradient,      .examples = PASS_EXAMPLES,         \
    };
PASS(Identity, "Returns its input.", "input", pass_grad, EF_SLICES_OK, EF_SHAPE_VALUE_SAME)
PASS(Snapshot, "Returns its input as it is at this moment.", "input", pass_grad, EF_SLICES_OK,
     EF_SHAPE_VALUE_LOST)
PASS(StopGradient, "Returns its input; differentiation treats the result as a constant.", "input",
     NULL, EF_NO_GRAD, EF_SHAPE_VALUE_LOST)
PASS(GuaranteeConst, "Returns its input, which the caller promises never to change.", "input", NULL,
     EF_GRAD_UNDEFINED, EF_SHAPE_VALUE_LOST)

typedef struct {
    ef_attr_text message;
} prevent_attrs;

static ef_status *prevent_grad(ef_grad *g) {
    const prevent_attrs *a = g->attrs;
    return ef_error(EF_NOT_FOUND,
                    "PreventGradient: a gradient was requested through an op that does "
                    "not allow it: %s",
                    a->message.n > 0 ? a->message.at : "no reason was given");
}

const ef_op ef_op_PreventGradient = {
    EF_NAMED(PreventGradient),
    .doc = "Returns its input; a gradient through it is an error with the given message.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: type",
    .attr = {EF_ATTR(prevent_attrs, message, "string", "''")},
    .attr_size = sizeof(prevent_attrs),
    .traits = EF_VIEW_0,
    .keeps = EF_KEEP_NONE,
    .shape = pass_shape,
    .kernel = EF_ANY_KERNEL(pass_run),
    .grad = prevent_grad,
    .examples = {"int32[2,3]", "string[2]{ab,c}"},
};

const ef_op ef_op_IdentityN = {
    EF_NAMED(IdentityN),
    .doc = "Returns its inputs unchanged.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: list(type) >= 1",
    .traits = EF_SLICES_OK | EF_PASSES_INPUTS,
    .keeps = EF_KEEP_NONE,
    .shape = pass_shape,
    .kernel = EF_ANY_KERNEL(pass_run),
    .grad = pass_grad,
    .examples = {"float[2,3] int32[4]", "string[2]{ab,c} float[] double[0]"},
};

static ef_status *nothing_run(const ef_call *c) {
    (void)c;
    return NULL;
}

const ef_op ef_op_NoOp = {
    EF_NAMED(NoOp),
    .doc = "Does nothing; it only carries control dependencies.",
    .traits = EF_NO_GRAD,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(nothing_run),
};

const ef_op *const ef_nothing_op = &ef_op_NoOp;
