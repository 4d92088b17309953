/* ScatterNd, TensorScatterUpdate and related ops: slices written or combined at given
 * coordinates. */
#include "base/alloc.h"
#include "kernels/combine.h"
#include "ops/array/array.h"
#include "ops/array/nd_index.h"
#include "ops/build.h"
#include <string.h>

/* updates must have the shape of the slices that the indices select. */
static ef_status *check_updates(ef_infer *i, int indices, int updates, const ef_shape *into) {
    ef_shape want;
    EF_TRY(ef_nd_shape(i->op, &i->in[indices].shape, into, &want));
    if (!ef_shape_may_equal(&want, &i->in[updates].shape))
        return ef_error(EF_INVALID,
                        "%s: updates has shape %s, but must have updates.shape = "
                        "indices.shape[:-1] + tensor.shape[%lld:] = %s",
                        i->op->name, EF_SHAPE(&i->in[updates].shape),
                        (long long)i->in[indices].shape.dim[i->in[indices].shape.rank - 1],
                        EF_SHAPE(&want));
    return NULL;
}

/* Strings are added by concatenation. */
static ef_status *append(ef_str *to, const ef_str *from) {
    if (to->n == 0) return ef_str_set(to, from->at, from->n);
    if (from->n == 0) return NULL;
    char *both = ef_malloc(to->n + from->n);
    if (both == NULL) return ef_no_memory(to->n + from->n);
    memcpy(both, to->at, to->n);
    memcpy(both + to->n, from->at, from->n);
    ef_status *s = ef_str_set(to, both, to->n + from->n);
    ef_free(both);
    return s;
}

static ef_status *scatter_strings(const ef_call *c, const ef_nd *nd, const ef_str *from, bool add) {
    ef_str *to = c->out[0]->data;
    for (int64_t k = 0; k < nd->rows; k++) {
        int64_t at = ef_nd_at(nd, k);
        if (at < 0 && !nd->ignore) return ef_nd_outside(c->op, nd, k);
        for (int64_t j = 0; at >= 0 && j < nd->slice; j++) {
            const ef_str *x = &from[k * nd->slice + j];
            EF_TRY(add ? append(&to[at + j], x) : ef_str_set(&to[at + j], x->at, x->n));
        }
    }
    return NULL;
}

/* out[indices] (op)= updates; out already holds its initial value. */
static ef_status *scatter(const ef_call *c, ef_combine how, const ef_tensor *indices,
                          const ef_tensor *updates) {
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    ef_shape s = ef_shape_from(o);
    ef_nd nd;
    EF_TRY(ef_nd_make(c->op, c->attrs, indices, &s, &nd));
    if (ef_count(updates) != nd.rows * nd.slice)
        return ef_error(EF_INVALID, "%s: updates has %lld elements, but the indices select %lld",
                        c->op->name, (long long)ef_count(updates), (long long)(nd.rows * nd.slice));
    if (t == EF_STRING) return scatter_strings(c, &nd, updates->data, how == EF_COMBINE_ADD);
    ef_combine_fn *fn = ef_combine_pick(how, t);
    if (fn == NULL)
        return ef_error(EF_UNIMPLEMENTED, "%s: is not defined for %s", c->op->name,
                        ef_dtype_name(t));
    size_t size = ef_dtype_size(t);
    for (int64_t k = 0; k < nd.rows; k++)
        if (ef_nd_at(&nd, k) < 0 && !nd.ignore) return ef_nd_outside(c->op, &nd, k);
    for (int64_t k = 0; k < nd.rows; k++) {
        int64_t at = ef_nd_at(&nd, k);
        if (at < 0) continue;
        char *to = (char *)o->data + (size_t)at * size;
        const char *from = (const char *)updates->data + (size_t)(k * nd.slice) * size;
        if (nd.slice > 65536)
            ef_combine_all(fn, t, to, from, nd.slice);
        else
            fn(to, from, nd.slice, 1);
    }
    return NULL;
}

/* ---- ScatterNd --------------------------------------------------------------------------------
 */

static ef_status *scatter_nd_shape(ef_infer *i) {
    ef_shape into;
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(ef_shape_input(i, 2, false, &into));
    i->out[0].shape = into;
    EF_TRY(check_updates(i, 0, 1, &into));
    const ef_shape *x = &i->in[0].shape;
    if (ef_shape_known(&into) && ef_shape_count(&into) == 0 && ef_shape_known(x) &&
        ef_shape_count(x) > 0)
        return ef_error(EF_INVALID,
                        "ScatterNd: Indices and updates specified for empty output tensor of shape "
                        "%s",
                        EF_SHAPE(&into));
    return NULL;
}

static ef_status *scatter_nd_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    EF_TRY(ef_out_memory(c, 0));
    EF_TRY(ef_zero_elements((ef_dtype)o->dtype, o->data, ef_count(o)));
    return scatter(c, EF_COMBINE_ADD, c->in[0], c->in[1]);
}

static ef_status *scatter_nd_grad(ef_grad *g) {
    g->din[1] = ef_emit(g->b, "GatherNd", 2, g->dout[0], g->in[0]);
    return NULL;
}

const ef_op ef_op_ScatterNd = {
    EF_NAMED(ScatterNd),
    .doc =
        "Adds `updates` at the coordinates in `indices` to a tensor of zeros with shape `shape`.",
    .in = {"indices: Tindices", "updates: T", "shape: Tindices"},
    .out = {"output: T"},
    .types = "T: " EF_COMPUTED_AND_STRING "; Tindices: {int16, int32, int64}",
    .declared = EF_STORED,
    .attr = EF_ND_ATTRS,
    .attr_size = sizeof(ef_nd_attrs),
    .keeps = EF_KEEP_IN(0),
    .sized = {EF_SIZED_GIVEN, 2},
    .shape = scatter_nd_shape,
    .kernel = EF_ANY_KERNEL(scatter_nd_run),
    .grad = scatter_nd_grad,
    .examples = {"int32[3,1]{0,2,0} float[3,2] int32[2]{3,2}",
                 "int64[2,2]{0,1,2,0} double[2] int64[2]{3,2}", "int32[0,1] float[0] int32[1]{4}",
                 "int32[1,1]{1} string[1]{a} int32[1]{2}"},
};

/* ---- into a given tensor ----------------------------------------------------------------------
 */

static ef_status *update_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *indices = &i->in[1].shape;
    i->out[0].shape = *x;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(check_updates(i, 1, 2, x));
    if (ef_shape_known(x) && ef_shape_count(x) == 0 && ef_shape_known(indices) &&
        ef_shape_count(indices) > 0)
        return ef_error(EF_INVALID,
                        "%s: Indices and updates specified for empty output tensor of shape %s",
                        i->op->name, EF_SHAPE(x));
    return NULL;
}

static ef_status *update(const ef_call *c, ef_combine how) {
    const ef_tensor *x = c->in[0];
    EF_TRY(ef_out_memory(c, 0));
    if (c->out[0]->data != x->data)
        EF_TRY(ef_copy_elements((ef_dtype)x->dtype, c->out[0]->data, x->data, ef_count(x)));
    return scatter(c, how, c->in[1], c->in[2]);
}

static ef_value *picked(ef_grad *g, ef_value *v) {
    return ef_emit(g->b, "GatherNd", 2, v, g->in[1]);
}

static ef_status *update_grad(ef_grad *g) {
    g->din[0] =
        ef_emit(g->b, "TensorScatterUpdate", 3, g->dout[0], g->in[1], ef_zeros_of(g->b, g->in[2]));
    g->din[2] = picked(g, g->dout[0]);
    return NULL;
}

static ef_status *add_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    g->din[2] = picked(g, g->dout[0]);
    return NULL;
}

static ef_status *sub_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    g->din[2] = ef_neg(g->b, picked(g, g->dout[0]));
    return NULL;
}

/* The elements that equal the result share the gradient evenly: the old element and the updates. */
static ef_status *extremum_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *x = g->in[0], *indices = g->in[1], *out = g->out[0];
    ef_dtype t = x->fact.dtype, ti = indices->fact.dtype;
    ef_value *is_x = ef_cast(b, ef_emit(b, "Equal", 2, x, out), t);
    ef_value *is_y = ef_cast(b, ef_emit(b, "Equal", 2, g->in[2], picked(g, out)), t);
    ef_value *all_y = ef_emit(b, "ScatterNd", 3, indices, is_y, ef_shape_value(b, x, ti));
    ef_value *share = ef_div(b, dy, ef_add(b, is_x, all_y));
    g->din[0] = ef_mul(b, share, is_x);
    g->din[2] = ef_mul(b, picked(g, share), is_y);
    return NULL;
}

#define REAL_TYPES \
    "{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64}"
/* `others`: see ef_op.declared. */
#define SCATTER(N, how, words, input, set, others, index_set, kept, gradient, ...)          \
    static ef_status *run_##N(const ef_call *c) { return update(c, EF_COMBINE_##how); }     \
    const ef_op ef_op_##N = {                                                               \
        EF_NAMED(N),                                                                        \
        .doc = words,                                                                       \
        .in = {input ": T", "indices: Tindices", "updates: T"},                             \
        .out = {"output: T"},                                                               \
        .types = "T: " set "; Tindices: " index_set,                                        \
        .declared = others,                                                                 \
        .attr = EF_ND_ATTRS,                                                                \
        .attr_size = sizeof(ef_nd_attrs),                                                   \
        .traits = EF_MAY_ALIAS_0,                                                           \
        .keeps = kept,                                                                      \
        .shape = update_shape,                                                              \
        .kernel = {{EF_CPU, EF_ANY, run_##N, NULL, NULL, NULL, NULL}},                      \
        .grad = gradient,                                                                   \
        .examples = {"float[4] int32[2,1]{0,2} float[2]",                                   \
                     "double[3,2] int64[2,2]{0,1,2,0} double[2]",                           \
                     "float[3,2] int32[1,1]{1} float[1,2]", "float[3] int32[0,1] float[0]", \
                     __VA_ARGS__},                                                          \
    };
#define INDEX "{int32, int64}"
SCATTER(TensorScatterUpdate, SET,
        "`tensor` with the slices that `indices` select replaced by `updates`.", "tensor",
        EF_COMPUTED_AND_STRING, EF_STORED, "{int16, int32, int64, uint16}", EF_KEEP_IN(1),
        update_grad, "string[3]{a,b,c} int32[1,1]{1} string[1]{x}")
SCATTER(TensorScatterAdd, ADD, "`tensor` with `updates` added to the slices that `indices` select.",
        "tensor", EF_COMPUTED_TYPES, EF_ANY & ~EF_COMPUTED, INDEX, EF_KEEP_IN(1), add_grad,
        "float[3] int32[3,1]{1,1,0} float[3]")
SCATTER(TensorScatterSub, SUB,
        "`tensor` with `updates` subtracted from the slices that `indices` select.", "tensor",
        EF_COMPUTED_TYPES, EF_ANY & ~EF_COMPUTED, INDEX, EF_KEEP_IN(1), sub_grad,
        "float[3] int32[3,1]{1,1,0} float[3]")
SCATTER(TensorScatterMax, MAX,
        "`tensor` with the slices that `indices` select replaced by `updates` where those "
        "are larger.",
        "tensor", REAL_TYPES, EF_ANY & ~EF_REALS, INDEX,
        EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0), extremum_grad,
        "float[3] int32[3,1]{1,1,0} float[3]")
SCATTER(TensorScatterMin, MIN,
        "`tensor` with the slices that `indices` select replaced by `updates` where those "
        "are smaller.",
        "tensor", REAL_TYPES, EF_ANY & ~EF_REALS, INDEX,
        EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0), extremum_grad,
        "float[3] int32[3,1]{1,1,0} float[3]")
SCATTER(ScatterNdNonAliasingAdd, ADD,
        "`input` with `updates` added to the slices that `indices` select.", "input",
        EF_COMPUTED_TYPES, 0, INDEX, EF_KEEP_IN(1), add_grad, "float[3] int32[3,1]{1,1,0} float[3]")
