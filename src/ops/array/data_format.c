/* DataFormatDimMap and DataFormatVecPermute: convert axis numbers, and vectors with a number per
 * axis, from one layout to another. A layout is a string of 4 or 5 letters such as NHWC. */
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <string.h>

typedef struct {
    ef_attr_text src_format, dst_format;
} format_attrs;

enum { LETTERS = 5 };

/* where[k]: the index in dst of letter k of src. */
static ef_status *permutation(const ef_op *op, const char *src, size_t n, const char *dst, size_t m,
                              int *where) {
    for (size_t k = 0; k < n; k++) {
        const char *at = memchr(dst, src[k], m);
        bool again = memchr(src, src[k], k) != NULL;
        if (at == NULL || again || n != m)
            return ef_error(EF_INVALID,
                            "%s: Destination and source format must determine a permutation, got "
                            "%.*s and %.*s",
                            op->name, (int)n, src, (int)m, dst);
        where[k] = (int)(at - dst);
    }
    return NULL;
}

static ef_status *check_length(const ef_op *op, const ef_attr_text *t, const char *which) {
    if (t->n == 4 || t->n == 5) return NULL;
    return ef_error(EF_INVALID, "%s: %s format must be of length 4 or 5, received %.*s", op->name,
                    which, (int)t->n, t->at);
}

static ef_status *check_formats(const ef_op *op, const format_attrs *a) {
    EF_TRY(check_length(op, &a->src_format, "Source"));
    return check_length(op, &a->dst_format, "Destination");
}

static ef_status *map_run(const ef_call *c) {
    const format_attrs *a = c->attrs;
    const ef_tensor *x = c->in[0];
    int where[LETTERS];
    EF_TRY(check_formats(c->op, a));
    int64_t axes = (int64_t)a->src_format.n, n = ef_count(x);
    EF_TRY(permutation(c->op, a->src_format.at, a->src_format.n, a->dst_format.at, a->dst_format.n,
                       where));
    for (int64_t k = 0; k < n; k++) {
        int64_t axis = ef_in_int(c, 0, k);
        if (axis < -axes || axis >= axes)
            return ef_error(EF_INVALID, "%s: axis %lld is out of range [%lld, %lld)", c->op->name,
                            (long long)axis, (long long)-axes, (long long)axes);
        ef_element_set((ef_dtype)c->out[0]->dtype, c->out[0]->data, k,
                       (double)where[axis < 0 ? axis + axes : axis]);
    }
    return NULL;
}

/* The letters of a format that are spatial axes: NHWC without N and C gives HW. */
static size_t spatial(const ef_attr_text *t, char *out) {
    size_t n = 0;
    for (size_t k = 0; k < (size_t)t->n; k++)
        if (strchr("HWD", t->at[k]) != NULL && t->at[k] != 0) out[n++] = t->at[k];
    return n;
}

static ef_status *permute_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    if (x->rank >= 0 && x->rank != 1 && x->rank != 2)
        return ef_error(EF_INVALID, "%s: input must be a vector or 2D tensor, but got shape %s",
                        i->op->name, EF_SHAPE(x));
    if (x->rank == 2 && !ef_dim_may_equal(x->dim[1], 2))
        return ef_error(EF_INVALID,
                        "%s: second dimension of 2D input must be of size 2, but got shape %s",
                        i->op->name, EF_SHAPE(x));
    return ef_shape_same(i);
}

static ef_status *permute_run(const ef_call *c) {
    const format_attrs *a = c->attrs;
    const ef_tensor *x = c->in[0];
    EF_TRY(check_formats(c->op, a));
    const char *src = a->src_format.at, *dst = a->dst_format.at;
    size_t n = (size_t)a->src_format.n, m = (size_t)a->dst_format.n;
    char inner_src[LETTERS], inner_dst[LETTERS];
    int where[LETTERS];
    int64_t rows = x->dim[0], wide = x->rank == 2 ? 2 : 1;
    if (rows == (int64_t)n - 2) { /* only the spatial axes */
        n = spatial(&a->src_format, inner_src);
        m = spatial(&a->dst_format, inner_dst);
        if ((int64_t)n != rows || n != m)
            return ef_error(EF_INVALID,
                            "%s: Format specifier must contain H and W for 2D case and D, H and W "
                            "for 3D case; the formats are %.*s and %.*s",
                            c->op->name, (int)a->src_format.n, src, (int)a->dst_format.n, dst);
        src = inner_src;
        dst = inner_dst;
    } else if (rows != (int64_t)n) {
        return ef_error(EF_INVALID, "%s: input has %lld rows; the format %.*s means %zu or %zu",
                        c->op->name, (long long)rows, (int)n, src, n, n - 2);
    }
    EF_TRY(permutation(c->op, src, n, dst, m, where));
    size_t size = ef_dtype_size((ef_dtype)x->dtype) * (size_t)wide;
    for (size_t k = 0; k < n; k++)
        memcpy((char *)c->out[0]->data + (size_t)where[k] * size, (char *)x->data + k * size, size);
    return NULL;
}

#define FORMATS                                                   \
    {                                                             \
        EF_ATTR(format_attrs, src_format, "string", "'NHWC'"),    \
            EF_ATTR(format_attrs, dst_format, "string", "'NCHW'") \
    }

const ef_op ef_op_DataFormatDimMap = {
    EF_NAMED(DataFormatDimMap),
    .doc = "Converts axis numbers `x` of the layout `src_format` to those of `dst_format`.",
    .in = {"x: T"},
    .out = {"y: T"},
    .types = "T: {int32, int64} = int32",
    .attr = FORMATS,
    .attr_size = sizeof(format_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = ef_shape_same,
    .kernel = {{EF_CPU, EF_ANY, map_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[4]{0,1,2,-1}", "int64[]{2}"},
};

const ef_op ef_op_DataFormatVecPermute = {
    EF_NAMED(DataFormatVecPermute),
    .doc = "Reorders a vector with one number (or pair) per axis of `src_format` to the order of "
           "`dst_format`; the vector may have the spatial axes only.",
    .in = {"x: T"},
    .out = {"y: T"},
    .types = "T: {int32, int64} = int32",
    .attr = FORMATS,
    .attr_size = sizeof(format_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = permute_shape,
    .kernel = {{EF_CPU, EF_ANY, permute_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[4]{7,4,9,3}", "int64[2,2]{1,2,3,4}", "int32[2]{4,9}"},
};
