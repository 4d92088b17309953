/* Shapes of pooling: a window over the image axes, with every channel pooled separately. */
#include "ops/nn/pool.h"
#include "ops/shapes.h"

/* ksize and strides that are inputs become lists, like those given as attributes. */
typedef struct lists {
    ef_window_attrs attrs;
    int64_t ksize[EF_MAX_RANK], strides[EF_MAX_RANK];
    bool known;
} lists;

static ef_status *infer_lists(ef_infer *i, int sizes, lists *l) {
    l->attrs = *(const ef_window_attrs *)i->attrs;
    l->known = true;
    if (sizes < 0) return NULL;
    for (int k = 0; k < 2; k++) {
        bool known = false;
        int n = 0;
        EF_TRY(ef_need_rank(i, sizes + k, 1));
        int64_t *v = k == 0 ? l->ksize : l->strides;
        EF_TRY(ef_known_ints(i, sizes + k, v, EF_MAX_RANK, &n, &known));
        *(k == 0 ? &l->attrs.ksize : &l->attrs.strides) = (ef_ints){n, v};
        l->known &= known;
    }
    return NULL;
}

static ef_status *need_lists(const ef_op *op, const lists *l, int rank) {
    if (l->attrs.ksize.n == rank + 2 && l->attrs.strides.n == rank + 2) return NULL;
    return ef_error(EF_INVALID, "%s: ksize has %d entries and strides has %d; both must have %d",
                    op->name, l->attrs.ksize.n, l->attrs.strides.n, rank + 2);
}

/* Only MaxPool may pool across channels instead of the image. */
static bool across_depth(const ef_op *op, const lists *l, int rank) {
    bool able = op == &ef_op_MaxPool || op == &ef_op_MaxPoolV2;
    return able && l->attrs.data_format == 0 && l->attrs.ksize.at[rank + 1] > 1;
}

/* Afterwards b->out_channels < b->in_channels tells that this call pools across channels. */
static ef_status *fit_depth(const ef_op *op, const lists *l, int rank, const int64_t *x,
                            ef_window_box *b) {
    static const int64_t ones[EF_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t *k = l->attrs.ksize.at, window = k[rank + 1], depth = x[rank + 1];
    ef_window_attrs plain = l->attrs;
    plain.ksize.at = plain.strides.at = ones;
    EF_TRY(ef_window_setup(op, &plain, rank, b));
    for (int d = 0; d <= rank; d++)
        if (k[d] != 1)
            return ef_error(EF_UNIMPLEMENTED,
                            "%s: ksize is %lld in axis %d and %lld in the depth; MaxPooling "
                            "supports exactly one of pooling across depth or pooling across "
                            "width/height",
                            op->name, (long long)k[d], d, (long long)window);
    if (l->attrs.strides.at[rank + 1] != window)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: the depth window is %lld and its stride %lld; "
                        "pooling across depth needs them equal",
                        op->name, (long long)window, (long long)l->attrs.strides.at[rank + 1]);
    if (depth >= 0 && depth % window != 0)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: the depth window is %lld and the input depth %lld; "
                        "the window must evenly divide the depth",
                        op->name, (long long)window, (long long)depth);
    b->batch = x[0];
    b->in_channels = depth;
    b->out_channels = depth >= 0 ? depth / window : EF_DIM_UNKNOWN;
    ef_window_read(b, x, b->in);
    ef_window_read(b, x, b->out);
    return NULL;
}

/* Fits the window to an image of shape x, which has `rank` image axes. */
static ef_status *fit(const ef_op *op, const lists *l, int rank, const int64_t *x,
                      ef_window_box *b) {
    EF_TRY(need_lists(op, l, rank));
    if (across_depth(op, l, rank)) return fit_depth(op, l, rank, x, b);
    EF_TRY(ef_window_setup(op, &l->attrs, rank, b));
    b->batch = x[0];
    b->in_channels = b->out_channels = x[ef_axis_channel(b)];
    ef_window_read(b, x, b->in);
    for (int d = 3 - rank; d < 3 && l->attrs.padding == 2; d++)
        if (b->before[d] >= b->kernel[d] || b->after[d] >= b->kernel[d])
            return ef_error(
                EF_INVALID,
                "%s: explicit padding %lld and %lld with a window of %lld; padding must "
                "be smaller than the window",
                op->name, (long long)b->before[d], (long long)b->after[d], (long long)b->kernel[d]);
    return ef_window_fit(op, &l->attrs, b);
}

ef_status *ef_pool_check(const ef_infer *i, const ef_shape *made, int k) {
    const ef_shape *have = &i->in[k].shape;
    if (ef_shape_may_equal(made, have)) return NULL;
    return ef_error(EF_INVALID, "%s: the window gives %s but %s is %s; they must be equal",
                    i->op->name, EF_SHAPE(made), ef_op_signature(i->op)->in[k].name,
                    EF_SHAPE(have));
}

ef_status *ef_pool_infer(ef_infer *i, int rank, int sizes) {
    lists l;
    ef_window_box b;
    EF_TRY(ef_need_rank(i, 0, rank + 2));
    EF_TRY(infer_lists(i, sizes, &l));
    ef_shape x = ef_with_rank(&i->in[0].shape, rank + 2);
    if (l.known) {
        EF_TRY(fit(i->op, &l, rank, x.dim, &b));
        x = ef_window_image(&b, b.batch, b.out_channels, b.out);
    } else {
        bool first = l.attrs.data_format == 1;
        for (int d = 0; d < rank; d++) x.dim[d + (first ? 2 : 1)] = EF_DIM_UNKNOWN;
    }
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = x;
    return NULL;
}

ef_status *ef_pool_infer_grad(ef_infer *i, int rank, int image, int pooled, int sizes) {
    lists l;
    ef_window_box b;
    EF_TRY(ef_need_rank(i, image, rank + 2));
    EF_TRY(ef_need_rank(i, pooled, rank + 2));
    EF_TRY(infer_lists(i, sizes, &l));
    ef_shape x = ef_with_rank(&i->in[image].shape, rank + 2);
    if (l.known) {
        EF_TRY(fit(i->op, &l, rank, x.dim, &b));
        ef_shape made = ef_window_image(&b, b.batch, b.out_channels, b.out);
        EF_TRY(ef_pool_check(i, &made, pooled));
    }
    i->out[0].shape = x;
    return NULL;
}

ef_status *ef_pool_infer_sizes(ef_infer *i, int rank) {
    int64_t v[EF_MAX_RANK];
    int n = 0;
    bool known = false;
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, rank + 2));
    EF_TRY(ef_known_ints(i, 0, v, EF_MAX_RANK, &n, &known));
    ef_shape none = ef_unknown_shape();
    i->out[0].shape = ef_with_rank(&none, rank + 2);
    if (!known) return NULL;
    if (n != rank + 2)
        return ef_error(EF_INVALID, "%s: orig_input_shape has %d entries; there must be %d",
                        i->op->name, n, rank + 2);
    for (int d = 0; d < n; d++)
        if (v[d] < 0)
            return ef_error(EF_INVALID,
                            "%s: orig_input_shape has a size of %lld; sizes must not be "
                            "negative",
                            i->op->name, (long long)v[d]);
    lists l = {.attrs = *(const ef_window_attrs *)i->attrs};
    ef_window_box b;
    EF_TRY(fit(i->op, &l, rank, v, &b));
    ef_shape made = ef_window_image(&b, b.batch, b.out_channels, b.out);
    EF_TRY(ef_pool_check(i, &made, 1));
    i->out[0].shape = ef_shape_of(n, v);
    return NULL;
}

static ef_status *call_lists(const ef_call *c, int sizes, lists *l) {
    l->attrs = *(const ef_window_attrs *)c->attrs;
    for (int k = 0; k < 2 && sizes >= 0; k++) {
        const ef_tensor *t = c->in[sizes + k];
        int64_t n = ef_count(t);
        int64_t *v = k == 0 ? l->ksize : l->strides;
        if (n > EF_MAX_RANK)
            return ef_error(EF_INVALID,
                            "%s: ksize and strides must have %d entries but there are "
                            "%lld",
                            c->op->name, EF_MAX_RANK, (long long)n);
        for (int64_t d = 0; d < n; d++) v[d] = ef_element_int((ef_dtype)t->dtype, t->data, d);
        *(k == 0 ? &l->attrs.ksize : &l->attrs.strides) = (ef_ints){(int)n, v};
    }
    return NULL;
}

ef_status *ef_pool_box(const ef_call *c, int rank, const ef_tensor *image, const ef_tensor *pooled,
                       int sizes, ef_window_box *b) {
    lists l;
    EF_TRY(call_lists(c, sizes, &l));
    EF_TRY(fit(c->op, &l, rank, image->dim, b));
    if (pooled != NULL) {
        ef_shape made = ef_window_image(b, b->batch, b->out_channels, b->out);
        ef_shape have = ef_shape_from(pooled);
        if (!ef_shape_equal(&made, &have))
            return ef_error(EF_INVALID,
                            "%s: the window gives %s but the gradient is %s; they must be equal",
                            c->op->name, EF_SHAPE(&made), EF_SHAPE(&have));
    }
    if (b->out_channels < b->in_channels) { /* each pixel's channels become an image of one row */
        int64_t in = b->in_channels, out = b->out_channels;
        *b = (ef_window_box){.rank = 2,
                             .batch = b->batch * ef_volume(b->in),
                             .groups = 1,
                             .in_channels = 1,
                             .out_channels = 1,
                             .in = {1, 1, in},
                             .out = {1, 1, out},
                             .kernel = {1, 1, in / out},
                             .stride = {1, 1, in / out},
                             .dilation = {1, 1, 1}};
        return NULL;
    }
    *b = ef_pool_flatten(b);
    return NULL;
}
