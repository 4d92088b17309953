/* Reshape, ExpandDims, Squeeze, EnsureShape: the same elements with another shape. They are views,
 * so all the work is to infer and check the shape. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"

static ef_status *view_run(const ef_call *c) {
    ef_tensor view = {0};
    ef_shape s = ef_shape_from(c->out[0]);
    if (c->out[0]->data != NULL && !ef_dtype_in((ef_dtype)c->out[0]->dtype, EF_MANAGED))
        return ef_out_same(c, 0, c->in[0]);
    ef_tensor_reshaped(&view, c->in[0], &s);
    ef_status *status = ef_out_share(c, 0, &view);
    ef_tensor_release(&view);
    return status;
}

static ef_status *view_grad(ef_grad *g) {
    g->din[0] = ef_reshape_like(g->b, g->dout[0], g->in[0]);
    return NULL;
}

static int64_t dims_product(const ef_shape *s) { /* known, symbolic or unknown */
    if (s->rank < 0) return EF_DIM_UNKNOWN;
    int64_t n = 1;
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] == 0) return 0;
    for (int d = 0; d < s->rank; d++) n = ef_dim_mul(n, s->dim[d]);
    return n;
}

/* Computes the one size that was given as -1. If a requested size is 0, sizes of 0 are ignored on
 * both sides, so that [0, 4] can become [0, -1]. */
static ef_status *fill_wild(const ef_shape *in, ef_shape *want, int wild) {
    int64_t n = 1, rest = 1;
    bool zero = false;
    for (int d = 0; d < want->rank; d++) {
        zero = zero || want->dim[d] == 0;
        if (want->dim[d] > 0) rest *= want->dim[d];
    }
    if (in->rank < 0) return NULL;
    if (zero)
        for (int d = 0; d < in->rank; d++) n = in->dim[d] == 0 ? n : ef_dim_mul(n, in->dim[d]);
    else
        n = dims_product(in);
    if (n >= 0 && n % rest != 0)
        return ef_error(EF_INVALID,
                        "Reshape: Input to reshape is a tensor with %lld values, but the "
                        "requested shape %s requires a multiple of %lld",
                        (long long)n, EF_SHAPE(want), (long long)rest);
    want->dim[wild] = ef_dim_div(n, rest);
    return NULL;
}

static ef_status *reshape_shape(ef_infer *i) {
    const ef_shape *in = &i->in[0].shape;
    ef_shape want;
    EF_TRY(ef_shape_input(i, 1, true, &want));
    int64_t n = dims_product(in);
    if (want.rank >= 0 && i->in[1].value != NULL) {
        int wild = -1;
        for (int d = 0; d < want.rank; d++) {
            if (want.dim[d] >= 0) continue;
            if (wild >= 0)
                return ef_error(EF_INVALID,
                                "Reshape: Only one input size may be -1, not both %d and %d "
                                "(the requested shape is %s)",
                                wild, d, EF_SHAPE(&want));
            wild = d;
        }
        if (wild >= 0) EF_TRY(fill_wild(in, &want, wild));
        int64_t count = dims_product(&want);
        if (n >= 0 && count >= 0 && n != count)
            return ef_error(EF_INVALID,
                            "Reshape: Input to reshape is a tensor with %lld values, but the "
                            "requested shape %s has %lld",
                            (long long)n, EF_SHAPE(&want), (long long)count);
    } else if (want.rank == 1) {
        want.dim[0] = n;
    }
    i->out[0].shape = want;
    return NULL;
}

const ef_op ef_op_Reshape = {
    EF_NAMED(Reshape),
    .doc = "The elements of `tensor` in the same order with shape `shape`, in which one size may "
           "be -1, which is inferred.",
    .in = {"tensor: T", "shape: Tshape"},
    .out = {"output: T"},
    .types = "T: type; Tshape: {int32, int64} = int32",
    .traits = EF_VIEW_0,
    .keeps = EF_KEEP_NONE,
    .vector_in = 2,
    .sized = {EF_SIZED_RESHAPED, 1},
    .shape = reshape_shape,
    .kernel = EF_ANY_KERNEL(view_run),
    .grad = view_grad,
    .examples = {"float[2,3] int32[2]{3,2}", "float[2,3] int64[1]{-1}", "double[1] int32[0]",
                 "float[0,3] int32[2]{3,0}", "string[2]{a,b} int32[2]{2,1}"},
};

const ef_op *const ef_reshape_op = &ef_op_Reshape;

static ef_status *expand_shape(ef_infer *i) {
    const ef_shape *in = &i->in[0].shape;
    int64_t axis = 0;
    bool known;
    EF_TRY(ef_known_int(i, 1, &axis, &known));
    if (in->rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, in->rank + 1));
    if (!known) {
        i->out[0].shape = ef_shape_of_rank(in->rank + 1);
        return NULL;
    }
    if (axis < -1 - in->rank || axis > in->rank)
        return ef_error(EF_INVALID,
                        "ExpandDims: Tried to expand dim index %lld for tensor with %d "
                        "dimensions; it must be in [%d, %d]",
                        (long long)axis, in->rank, -1 - in->rank, in->rank);
    int at = (int)(axis < 0 ? axis + in->rank + 1 : axis);
    ef_shape *out = &i->out[0].shape;
    out->rank = in->rank + 1;
    for (int d = 0; d < out->rank; d++) out->dim[d] = d == at ? 1 : in->dim[d - (d > at)];
    return NULL;
}

const ef_op ef_op_ExpandDims = {
    EF_NAMED(ExpandDims),
    .doc = "Inserts an axis of size 1; negative positions count from the end.",
    .in = {"input: T", "dim: Tdim"},
    .out = {"output: T"},
    .types = "T: type; Tdim: {int32, int64} = int32",
    .traits = EF_VIEW_0,
    .keeps = EF_KEEP_NONE,
    .shape = expand_shape,
    .kernel = EF_ANY_KERNEL(view_run),
    .grad = view_grad,
    .examples = {"float[2,3] int32[]{1}", "float[] int64[]{0}", "double[2] int32[]{-1}",
                 "string[2]{a,b} int32[1]{-2}"},
};

typedef struct {
    ef_ints squeeze_dims;
} squeeze_attrs;

static ef_status *squeeze_shape(ef_infer *i) {
    const ef_ints *axes = &((const squeeze_attrs *)i->attrs)->squeeze_dims;
    const ef_shape *in = &i->in[0].shape;
    bool drop[EF_MAX_RANK] = {false};
    if (in->rank < 0) return NULL;
    for (int k = 0; k < axes->n; k++) {
        int d;
        EF_TRY(ef_need_axis(i->op, axes->at[k], in->rank, &d));
        if (in->dim[d] >= 0 && in->dim[d] != 1)
            return ef_error(EF_INVALID,
                            "Squeeze: Can not squeeze dim[%d], expected a dimension of 1, "
                            "got %lld (input shape %s)",
                            d, (long long)in->dim[d], EF_SHAPE(in));
        drop[d] = true;
    }
    ef_shape out = {.rank = 0};
    for (int d = 0; d < in->rank; d++) {
        if (axes->n == 0 && in->dim[d] < 0) return NULL; /* it may be 1, so the rank is unknown */
        if (axes->n == 0 ? in->dim[d] != 1 : !drop[d]) out.dim[out.rank++] = in->dim[d];
    }
    i->out[0].shape = out;
    return NULL;
}

const ef_op ef_op_Squeeze = {
    EF_NAMED(Squeeze),
    .doc = "Removes axes of size 1: those listed in `squeeze_dims`, or all of them if it is empty.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: type",
    .attr = {EF_ATTR(squeeze_attrs, squeeze_dims, "list(int) >= 0", "[]")},
    .attr_size = sizeof(squeeze_attrs),
    .traits = EF_VIEW_0,
    .keeps = EF_KEEP_NONE,
    .shape = squeeze_shape,
    .kernel = EF_ANY_KERNEL(view_run),
    .grad = view_grad,
    .examples = {"float[1,2,1]", "float[1,2,1] squeeze_dims=[-1]", "double[1,1] squeeze_dims=[0,1]",
                 "string[1,2]{a,b}", "int32[0,1]"},
};

typedef struct {
    ef_shape shape;
} ensure_attrs;

static ef_status *ensure_shape(ef_infer *i) {
    const ensure_attrs *a = i->attrs;
    ef_status *s = ef_shape_merge(&i->in[0].shape, &a->shape, &i->out[0].shape);
    if (s == NULL) return NULL;
    ef_status_free(s);
    return ef_error(EF_INVALID,
                    "EnsureShape: Shape of tensor input %s is not compatible with expected "
                    "shape %s",
                    EF_SHAPE(&i->in[0].shape), EF_SHAPE(&a->shape));
}

static ef_status *ensure_run(const ef_call *c) {
    const ensure_attrs *a = c->attrs;
    ef_shape s = ef_shape_from(c->in[0]);
    if (!ef_shape_may_equal(&s, &a->shape))
        return ef_error(EF_INVALID,
                        "EnsureShape: Shape of tensor input %s is not compatible with "
                        "expected shape %s",
                        EF_SHAPE(&s), EF_SHAPE(&a->shape));
    return ef_out_same(c, 0, c->in[0]);
}

static ef_status *ensure_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    return NULL;
}

const ef_op ef_op_EnsureShape = {
    EF_NAMED(EnsureShape),
    .doc = "Returns its input after checking that its shape is compatible with `shape`.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: type",
    .attr = {EF_ATTR(ensure_attrs, shape, "shape", NULL)},
    .attr_size = sizeof(ensure_attrs),
    .traits = EF_VIEW_0,
    .keeps = EF_KEEP_NONE,
    .shape = ensure_shape,
    .kernel = EF_ANY_KERNEL(ensure_run),
    .grad = ensure_grad,
    .examples = {"float[2,3] shape=[2,3]", "double[2] shape=[2]"},
};

ef_status *ef_made_shape_check(const ef_shape *shape, ef_made *out) {
    ef_attr_value set[] = {EF_SET_SHAPE("shape", shape)};
    out->op = &ef_op_EnsureShape;
    return ef_attrs_make(out->op, set, 1, &out->attrs);
}
