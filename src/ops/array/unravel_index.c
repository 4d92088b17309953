/* UnravelIndex - the coordinates of flat, row-major indices in a tensor of a given shape. */
#include "ops/array/array.h"
#include "ops/shapes.h"

/* A vector of coordinates for a scalar, a column of them for each element of a vector. */
static ef_status *unravel_shape(ef_infer *i) {
    const ef_shape *indices = &i->in[0].shape, *dims = &i->in[1].shape;
    if (indices->rank > 1)
        return ef_error(EF_INVALID,
                        "UnravelIndex: The indices can only be scalar or vector, got \"%s\"",
                        EF_SHAPE(indices));
    if (dims->rank >= 0 && dims->rank != 1)
        return ef_error(EF_INVALID, "UnravelIndex: dims can only be 1-D, got \"%s\"",
                        EF_SHAPE(dims));
    int64_t axes = dims->rank == 1 ? dims->dim[0] : EF_DIM_UNKNOWN;
    if (indices->rank == 0) i->out[0].shape = (ef_shape){.rank = 1, .dim = {axes}};
    if (indices->rank == 1) i->out[0].shape = (ef_shape){.rank = 2, .dim = {axes, indices->dim[0]}};
    return NULL;
}

/* *size: the number of elements of a tensor with these dims. */
static ef_status *count_elements(const ef_call *c, int64_t *size) {
    const int64_t most = c->in[1]->dtype == EF_I32 ? INT32_MAX : INT64_MAX;
    *size = 1;
    for (int64_t d = 0; d < ef_count(c->in[1]); d++) {
        int64_t dim = ef_in_int(c, 1, d);
        if (dim < 0)
            return ef_error(EF_INVALID,
                            "UnravelIndex: Input dims cannot be negative. Got dim = %lld at index "
                            "%lld",
                            (long long)dim, (long long)d);
        if (dim == 0)
            return ef_error(EF_INVALID,
                            "UnravelIndex: Input dims cannot contain a dim of zero, but dims "
                            "contains zero at index %lld",
                            (long long)d);
        if (*size > most / dim)
            return ef_error(EF_INVALID,
                            "UnravelIndex: Input dims product is causing integer overflow: %lld "
                            "times %lld exceeds %lld",
                            (long long)*size, (long long)dim, (long long)most);
        *size *= dim;
    }
    return NULL;
}

static void put(const ef_tensor *t, int64_t at, int64_t v) {
    if (t->dtype == EF_I32)
        ((int32_t *)t->data)[at] = (int32_t)v;
    else
        ((int64_t *)t->data)[at] = v;
}

static ef_status *unravel_run(const ef_call *c) {
    int64_t n = ef_count(c->in[0]), axes = ef_count(c->in[1]), size;
    if (n == 0) return ef_error(EF_INVALID, "UnravelIndex: received empty tensor indices");
    EF_TRY(count_elements(c, &size));
    for (int64_t k = 0; k < n; k++) {
        int64_t index = ef_in_int(c, 0, k); /* a negative one is not an error, as in TensorFlow */
        if (index >= size)
            return ef_error(EF_INVALID,
                            "UnravelIndex: index is out of bound as with dims: indices[%lld] is "
                            "%lld, and a tensor of these dims has %lld elements",
                            (long long)k, (long long)index, (long long)size);
        for (int64_t d = axes - 1; d >= 0; d--) {
            int64_t dim = ef_in_int(c, 1, d);
            put(c->out[0], d * n + k, index % dim);
            index /= dim;
        }
    }
    return NULL;
}

const ef_op ef_op_UnravelIndex = {
    EF_NAMED(UnravelIndex),
    .doc = "The coordinates of flat indices in a tensor of shape `dims`: one row for each axis.",
    .in = {"indices: Tidx", "dims: Tidx"},
    .out = {"output: Tidx"},
    .types = "Tidx: {int32, int64} = int32",
    .traits = EF_NO_GRAD,
    .data_in = 3, /* no output size depends on the values */
    .shape = unravel_shape,
    .kernel = EF_ANY_KERNEL(unravel_run),
    .examples = {"Tidx[4]{0,5,7,11} Tidx[2]{3,4}", "Tidx[]{23} Tidx[3]{2,3,4}"},
};
