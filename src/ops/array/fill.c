/* Fill, ZerosLike, OnesLike, Empty: tensors filled with one value. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/list/list.h"

static ef_status *fill_shape(ef_infer *i) {
    EF_TRY(ef_need_single(i, 1));
    return ef_shape_input(i, 0, false, &i->out[0].shape);
}

static ef_status *fill_run(const ef_call *c) {
    EF_TRY(ef_out_memory(c, 0));
    ef_tensor *o = c->out[0];
    return ef_fill_elements((ef_dtype)o->dtype, o->data, c->in[1]->data, ef_count(o));
}

static ef_status *fill_grad(ef_grad *g) {
    ef_value *dy = g->dout[0];
    ef_value *flat = ef_reshape(g->b, dy, ef_const_ints(g->b, EF_I32, 1, (int64_t[]){-1}));
    g->din[1] = ef_sum(g->b, flat, 1, (int64_t[]){0}, false);
    return NULL;
}

const ef_op ef_op_Fill = {
    EF_NAMED(Fill),
    .doc = "A tensor of shape `dims` in which every element is the scalar `value`.",
    .in = {"dims: index_type", "value: T"},
    .out = {"output: T"},
    .types =
        "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, "
        "int64, complex64, complex128, bool, string, qint8, quint8, qint16, quint16, qint32, "
        "int4, uint4}; index_type: {int32, int64} = int32",
    .declared = EF_STORED & ~(EF_QUANTIZED | EF_INT4),
    .keeps = EF_KEEP_NONE,
    .scalar_in = 2,
    .vector_in = 1,
    .sized = {EF_SIZED_GIVEN, 0},
    .data_in = 2,
    .host_in = 1,
    .shape = fill_shape,
    .kernel = EF_ANY_KERNEL_AWAY(fill_run),
    .grad = fill_grad,
    .examples = {"int32[2]{2,3} float[]", "int64[0] double[]", "int32[1]{0} float[]",
                 "int32[1]{3} string[]{ab}", "int32[1]{5} bool[]"},
};

static ef_status *zero_list_run(const ef_call *c) {
    ef_tensor zeros = {0};
    EF_TRY(ef_list_zeros_like(c->in[0], &zeros));
    ef_status *s = ef_out_share(c, 0, &zeros);
    ef_tensor_release(&zeros);
    return s;
}

static ef_status *zeros_like_run(const ef_call *c) {
    EF_TRY(ef_out_memory(c, 0));
    ef_tensor *o = c->out[0];
    return ef_zero_elements((ef_dtype)o->dtype, o->data, ef_count(o));
}

const ef_op ef_op_ZerosLike = {
    EF_NAMED(ZerosLike),
    .doc = "Zeros (false, empty strings, lists of zeros) with the shape and dtype of `x`.",
    .in = {"x: T"},
    .out = {"y: T"},
    .types = "T: type",
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = {{EF_CPU | EF_TEST, EF_COMPUTED | EF_BIT(STRING), zeros_like_run, NULL, NULL, NULL,
                NULL},
               {EF_CPU, EF_BIT(VARIANT), zero_list_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[2,3]", "list(float[2] float[3])", "int64[]", "string[2]{a,b}", "bool[0,3]",
                 "complex128[2]"},
};

static ef_status *ones_like_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    uint64_t one[2] = {0, 0};
    ef_element_set((ef_dtype)o->dtype, one, 0, 1.0);
    return ef_fill_elements((ef_dtype)o->dtype, o->data, one, ef_count(o));
}

const ef_op ef_op_OnesLike = {
    EF_NAMED(OnesLike),
    .doc = "Ones (true) with the shape and dtype of `x`.",
    .in = {"x: T"},
    .out = {"y: T"},
    .types = "T: " EF_COMPUTED_TYPES,
    .traits = EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ANY_KERNEL_AWAY(ones_like_run),
    .examples = {"T[2,3]", "float[]", "bool[0,3]"},
};

typedef struct {
    ef_dtype dtype;
    bool init;
} empty_attrs;

static ef_status *empty_shape(ef_infer *i) { return ef_shape_input(i, 0, false, &i->out[0].shape); }

const ef_op ef_op_Empty = {
    EF_NAMED(Empty),
    .doc = "A tensor of shape `shape` that is not initialised; this engine fills it with zeros.",
    .in = {"shape: int32"},
    .out = {"output: dtype"},
    .attr = {EF_ATTR(empty_attrs, dtype, "type", NULL),
             EF_ATTR(empty_attrs, init, "bool", "false")},
    .attr_size = sizeof(empty_attrs),
    .traits = EF_NO_GRAD,
    .sized = {EF_SIZED_GIVEN, 0},
    .shape = empty_shape,
    .kernel = EF_MOVE_KERNEL(zeros_like_run),
    .examples = {"int32[2]{2,3} dtype=float init=true", "int32[0] dtype=string"},
};
