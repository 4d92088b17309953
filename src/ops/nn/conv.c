/* Shapes and calls of convolutions in all three directions. The three tensors of an op - input,
 * filter, output - are different arguments in each direction; the code here accesses them by
 * role. */
#include "ops/nn/conv.h"
#include "ops/build.h"
#include "ops/shapes.h"

/* ---- shapes -------------------------------------------------------------------------------- */

typedef struct roles {
    ef_shape input, filter, output;
} roles;

/* A shape given as a tensor of sizes. For inputs, TensorFlow also accepts only the image axes. */
static ef_status *sizes_input(const ef_infer *i, int k, const ef_window_box *b, ef_shape *out) {
    int64_t v[EF_MAX_RANK];
    int n = 0, rank = b->rank + 2;
    bool known = false;
    EF_TRY(ef_need_rank(i, k, 1));
    ef_shape none = ef_unknown_shape();
    *out = ef_with_rank(&none, rank);
    EF_TRY(ef_known_ints(i, k, v, EF_MAX_RANK, &n, &known));
    if (!known) return NULL;
    if (n != rank && (n != b->rank || k != 0)) /* k = 0: the sizes of an input */
        return ef_error(EF_INVALID, "%s: the sizes given have %d entries; there must be %d",
                        i->op->name, n, rank);
    for (int d = 0; d < n; d++)
        if (v[d] < 0)
            return ef_error(EF_INVALID, "%s: size %d is %lld; sizes must not be negative",
                            i->op->name, d, (long long)v[d]);
    if (n == rank) {
        *out = ef_shape_of(n, v);
    } else {
        for (int d = 0; d < n; d++) out->dim[ef_axis_image(b, d)] = v[d];
    }
    return NULL;
}

static ef_status *read_roles(ef_infer *i, ef_conv_op what, const ef_window_box *b, roles *r) {
    int rank = what.rank + 2, filter = 1, output = 2;
    ef_shape none = ef_unknown_shape();
    r->output = ef_with_rank(&none, rank);
    if (what.kind == EF_CONV_INPUT) {
        EF_TRY(sizes_input(i, 0, b, &r->input));
    } else {
        EF_TRY(ef_need_rank(i, 0, rank));
        r->input = ef_with_rank(&i->in[0].shape, rank);
    }
    if (what.kind == EF_CONV_FILTER) {
        EF_TRY(sizes_input(i, 1, b, &r->filter));
    } else {
        EF_TRY(ef_need_rank(i, filter, rank));
        r->filter = ef_with_rank(&i->in[filter].shape, rank);
    }
    if (what.kind != EF_CONV_FORWARD) {
        EF_TRY(ef_need_rank(i, output, rank));
        r->output = ef_with_rank(&i->in[output].shape, rank);
    }
    return NULL;
}

/* Checks channels and sets b's groups and channels; values that are not known stay negative. */
static ef_status *fit_channels(const ef_op *op, ef_conv_op what, const roles *r, ef_window_box *b) {
    const int64_t *f = r->filter.dim + what.rank;
    int64_t in = r->input.dim[ef_axis_channel(b)], per_in = f[0], out = f[1];
    b->in_channels = in;
    b->out_channels = what.depthwise ? ef_dim_mul(per_in, out) : out;
    b->groups = EF_DIM_UNKNOWN;
    if (what.depthwise) {
        if (in >= 0 && per_in >= 0 && in != per_in)
            return ef_error(
                EF_INVALID,
                "%s: input %s has %lld channels but filter %s is for %lld; they must be "
                "equal",
                op->name, EF_SHAPE(&r->input), (long long)in, EF_SHAPE(&r->filter),
                (long long)per_in);
        b->groups = in == 0 ? 1 : in;
        return NULL;
    }
    if (per_in == 0 && (what.kind == EF_CONV_FORWARD || in != 0))
        return ef_error(EF_INVALID,
                        "%s: filter %s has no input channels; filter depth must be "
                        "strictly greater than zero",
                        op->name, EF_SHAPE(&r->filter));
    if (in < 0 || per_in < 0) return NULL;
    if (per_in > 0 && in % per_in != 0)
        return ef_error(EF_INVALID,
                        "%s: input %s has %lld channels and filter %s takes %lld; input depth must "
                        "be evenly divisible by filter depth",
                        op->name, EF_SHAPE(&r->input), (long long)in, EF_SHAPE(&r->filter),
                        (long long)per_in);
    b->groups = in > 0 ? in / per_in : 1;
    return NULL;
}

/* Each group must make the same number of channels; an empty output is not checked. */
static ef_status *fit_groups(const ef_op *op, const roles *r, const ef_window_box *b) {
    int64_t out = b->out_channels;
    for (int d = 0; d < 3; d++)
        if (b->out[d] == 0) return NULL;
    if (out < 0 || b->groups <= 0 || out % b->groups == 0) return NULL;
    return ef_error(EF_INVALID,
                    "%s: filter %s makes %lld channels in %lld groups; output depth must be "
                    "evenly divisible by the number of groups",
                    op->name, EF_SHAPE(&r->filter), (long long)out, (long long)b->groups);
}

/* Checks that the three shapes agree. Afterwards b->out holds the output's image axes. */
static ef_status *fit(const ef_op *op, const ef_window_attrs *t, ef_conv_op what, const roles *r,
                      ef_window_box *b) {
    EF_TRY(fit_channels(op, what, r, b));
    ef_window_read(b, r->input.dim, b->in);
    for (int d = 0; d < what.rank; d++) b->kernel[ef_box_axis(b, d)] = r->filter.dim[d];
    if (what.kind == EF_CONV_FORWARD && ef_shape_count(&r->filter) == 0)
        return ef_error(EF_INVALID,
                        "%s: filter %s must not have zero elements; all its sizes must be positive",
                        op->name, EF_SHAPE(&r->filter));
    EF_TRY(ef_window_fit(op, t, b));
    if (!what.depthwise) EF_TRY(fit_groups(op, r, b));
    ef_shape made = ef_window_image(b, r->input.dim[0], b->out_channels, b->out);
    if (!ef_shape_may_equal(&made, &r->output))
        return ef_error(EF_INVALID,
                        "%s: input %s and filter %s give an output of %s, but out_backprop is %s; "
                        "they must be equal",
                        op->name, EF_SHAPE(&r->input), EF_SHAPE(&r->filter), EF_SHAPE(&made),
                        EF_SHAPE(&r->output));
    return NULL;
}

ef_status *ef_conv_infer(ef_infer *i, ef_conv_op what) {
    const ef_window_attrs *t = i->attrs;
    ef_window_box b;
    roles r;
    EF_TRY(ef_window_setup(i->op, t, what.rank, &b));
    EF_TRY(read_roles(i, what, &b, &r));
    if (what.kind == EF_CONV_INPUT) { /* fill in what the sizes leave unknown */
        int c = ef_axis_channel(&b);
        if (r.input.dim[0] == EF_DIM_UNKNOWN) r.input.dim[0] = r.output.dim[0];
        if (what.depthwise && r.input.dim[c] == EF_DIM_UNKNOWN)
            r.input.dim[c] = r.filter.dim[what.rank];
        if (i->in[0].value != NULL && r.input.dim[c] == EF_DIM_UNKNOWN)
            r.input.dim[c] = r.filter.dim[what.rank];
    }
    EF_TRY(fit(i->op, t, what, &r, &b));
    switch (what.kind) {
    case EF_CONV_FORWARD:
        i->out[0].shape = ef_window_image(&b, r.input.dim[0], b.out_channels, b.out);
        break;
    case EF_CONV_INPUT: i->out[0].shape = r.input; break;
    case EF_CONV_FILTER: i->out[0].shape = r.filter; break;
    }
    return NULL;
}

/* ---- calls --------------------------------------------------------------------------------- */

ef_status *ef_conv_describe(const ef_call *c, ef_conv_op what, ef_conv *out) {
    const ef_window_attrs *t = c->attrs;
    const ef_tensor *input = what.kind == EF_CONV_INPUT ? c->out[0] : c->in[0];
    const ef_tensor *filter = what.kind == EF_CONV_FILTER ? c->out[0] : c->in[1];
    const ef_tensor *output = what.kind == EF_CONV_FORWARD ? c->out[0] : c->in[2];
    roles r = {ef_shape_from(input), ef_shape_from(filter), ef_shape_from(output)};
    memset(out, 0, sizeof *out);
    out->kind = (int32_t)what.kind;
    EF_TRY(ef_window_setup(c->op, t, what.rank, &out->box));
    out->box.batch = r.input.dim[0];
    return fit(c->op, t, what, &r, &out->box);
}

static ef_conv_data data_of(const ef_call *c, ef_conv_op what) {
    const void *a = what.kind == EF_CONV_INPUT ? c->in[2]->data : c->in[0]->data;
    const void *b = what.kind == EF_CONV_FILTER ? c->in[2]->data : c->in[1]->data;
    return (ef_conv_data){.a = a, .b = b, .out = c->out[0]->data};
}

/* The gradients of a convolution without pixels, filter elements or channels are zeros, as in
 * TensorFlow. */
static bool is_empty(const ef_conv *d) {
    const ef_window_box *b = &d->box;
    return ef_volume(b->in) == 0 || ef_volume(b->kernel) == 0 || ef_volume(b->out) == 0 ||
           b->batch == 0 || b->in_channels == 0 || b->out_channels == 0;
}

bool ef_conv_call_pays(const ef_call *c, ef_conv_op what) {
    ef_conv d;
    if (!ef_dtype_in((ef_dtype)c->out[0]->dtype, EF_BIT(F32) | EF_BIT(F16) | EF_BIT(BF16)))
        return false;
    ef_status *s = ef_conv_describe(c, what, &d);
    ef_status_free(s); /* the kernel's run function reports the same error */
    return s == NULL && !is_empty(&d) && ef_conv_pays(&d);
}

ef_status *ef_conv_call_prepare(const ef_call *c, ef_conv_op what, void **state) {
    ef_conv d;
    EF_TRY(ef_conv_describe(c, what, &d));
    return ef_conv_prepare(&d, state);
}

ef_status *ef_conv_call_dnnl(const ef_call *c, ef_conv_op what) {
    ef_conv d;
    EF_TRY(ef_conv_describe(c, what, &d));
    ef_conv_data data = data_of(c, what);
    return ef_conv_dnnl(&d, (ef_dtype)c->out[0]->dtype, &data, c->state);
}

ef_status *ef_conv_call_direct(const ef_call *c, ef_conv_op what) {
    ef_conv d;
    EF_TRY(ef_conv_describe(c, what, &d));
    ef_conv_data data = data_of(c, what);
    ef_dtype t = (ef_dtype)c->out[0]->dtype;
    if (is_empty(&d)) {
        memset(c->out[0]->data, 0, ef_tensor_bytes(c->out[0]));
        return NULL;
    }
    return what.depthwise ? ef_conv_depthwise(&d, t, &data) : ef_conv_direct(&d, t, &data);
}

/* ---- gradients ------------------------------------------------------------------------------- */

ef_status *ef_conv_grad(ef_grad *g, ef_conv_kind kind, const ef_conv_names *names) {
    /* Image, filter and result of the forward convolution: each is an input of this op or, for the
     * one that this op computes, the upstream gradient. */
    ef_value *x = kind == EF_CONV_INPUT ? g->dout[0] : g->in[0];
    ef_value *w = kind == EF_CONV_FILTER ? g->dout[0] : g->in[1];
    ef_value *dy = kind == EF_CONV_FORWARD ? g->dout[0] : g->in[2];
    if (kind != EF_CONV_INPUT)
        g->din[0] =
            ef_emit_like(g, names->input, NULL, 0, 3, ef_shape_value(g->b, x, EF_I32), w, dy);
    if (kind != EF_CONV_FILTER)
        g->din[1] =
            ef_emit_like(g, names->filter, NULL, 0, 3, x, ef_shape_value(g->b, w, EF_I32), dy);
    if (kind != EF_CONV_FORWARD) g->din[2] = ef_emit_like(g, names->forward, NULL, 0, 2, x, w);
    return NULL;
}
