/* Shape, ShapeN, Size and Rank: a tensor's shape as a tensor. They read no elements, so they are
 * constants once the shapes are known. */
#include "ops/array/array.h"
#include "ops/build.h"

typedef struct {
    ef_dtype out_type;
} out_type_attrs;
#define OUT_TYPE \
    { EF_ATTR(out_type_attrs, out_type, "{int32, int64}", "int32") }

static ef_status *put_size(const ef_call *c, int k, int64_t j, int64_t v) {
    ef_tensor *o = c->out[k];
    if (o->dtype == EF_I64) {
        ((int64_t *)o->data)[j] = v;
        return NULL;
    }
    if (v > INT32_MAX)
        return ef_error(EF_INVALID,
                        "%s: %lld does not fit into the output type int32; ask for "
                        "out_type=int64",
                        c->op->name, (long long)v);
    ((int32_t *)o->data)[j] = (int32_t)v;
    return NULL;
}

static ef_status *shape_shape(ef_infer *i) {
    for (int k = 0; k < i->n_out; k++) {
        int rank = i->in[k].shape.rank;
        i->out[k].shape = (ef_shape){.rank = 1, .dim = {rank < 0 ? EF_DIM_UNKNOWN : rank}};
    }
    return NULL;
}

static ef_status *shape_run(const ef_call *c) {
    for (int k = 0; k < c->n_out; k++)
        for (int d = 0; d < c->in[k]->rank; d++) EF_TRY(put_size(c, k, d, c->in[k]->dim[d]));
    return NULL;
}

const ef_op ef_op_Shape = {
    EF_NAMED(Shape),
    .doc = "The sizes of `input`'s axes, as a vector.",
    .in = {"input: T"},
    .out = {"output: out_type"},
    .types = "T: type",
    .attr = OUT_TYPE,
    .attr_size = sizeof(out_type_attrs),
    .traits = EF_NO_GRAD | EF_READS_SHAPES,
    .shape_value = EF_SHAPE_VALUE_READ,
    .shape = shape_shape,
    .kernel = EF_ANY_KERNEL(shape_run),
    .examples = {"float[2,3]", "int32[] out_type=int64", "string[2]{a,b}", "bool[0,3]"},
};

const ef_op ef_op_ShapeN = {
    EF_NAMED(ShapeN),
    .doc = "The shapes of several tensors, each as a vector.",
    .in = {"input: N * T"},
    .out = {"output: N * out_type"},
    .types = "T: type; N: int >= 1",
    .attr = OUT_TYPE,
    .attr_size = sizeof(out_type_attrs),
    .traits = EF_NO_GRAD | EF_READS_SHAPES,
    .shape_value = EF_SHAPE_VALUE_READ,
    .shape = shape_shape,
    .kernel = EF_ANY_KERNEL(shape_run),
    .examples = {"float[2,3] float[4]", "int32[] int32[0,3] int32[1,2,3] out_type=int64"},
};

static ef_status *size_run(const ef_call *c) { return put_size(c, 0, 0, ef_count(c->in[0])); }

const ef_op ef_op_Size = {
    EF_NAMED(Size),
    .doc = "The number of elements of `input`.",
    .in = {"input: T"},
    .out = {"output: out_type"},
    .types = "T: type",
    .attr = OUT_TYPE,
    .attr_size = sizeof(out_type_attrs),
    .traits = EF_NO_GRAD | EF_READS_SHAPES,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(size_run),
    .examples = {"float[2,3]", "int32[] out_type=int64", "bool[0,3]"},
};

static ef_status *rank_run(const ef_call *c) {
    *(int32_t *)c->out[0]->data = c->in[0]->rank;
    return NULL;
}

const ef_op ef_op_Rank = {
    EF_NAMED(Rank),
    .doc = "The number of axes of `input`.",
    .in = {"input: T"},
    .out = {"output: int32"},
    .types = "T: type",
    .traits = EF_NO_GRAD | EF_READS_SHAPES,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(rank_run),
    .examples = {"float[2,3]", "int32[]", "bool[0,3]"},
};
