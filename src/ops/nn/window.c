/* Strides, padding and layout: reads the attributes of convolutions and poolings and checks
 * them. */
#include "ops/nn/window.h"
#include "ops/shapes.h"

/* Some ops take a list as an input instead of an attribute. For the others an empty list is an
 * error. */
static bool lacks(const ef_op *op, const ef_ints *list, const char *name) {
    if (list->n > 0) return false;
    for (int k = 0; k < EF_MAX_ATTRS && op->attr[k].name != NULL; k++)
        if (strcmp(op->attr[k].name, name) == 0) return false;
    return true;
}

/* TensorFlow's error code for windows over batch or channels. */
static ef_code unsupported(const ef_op *op, const ef_window_box *b) {
    bool conv3d = b->rank == 3 && strncmp(op->name, "Conv", 4) == 0;
    return conv3d || strncmp(op->name, "Depthwise", 9) == 0 ? EF_INVALID : EF_UNIMPLEMENTED;
}

/* Reads one list with an entry for each axis of the tensor; those of batch and channels must be
 * 1. */
static ef_status *read_list(const ef_op *op, const ef_ints *list, const char *name,
                            const ef_window_box *b, int64_t out[3]) {
    int n = b->rank + 2;
    if (lacks(op, list, name)) return NULL;
    if (list->n != n)
        return ef_error(EF_INVALID, "%s: %s must specify %d dimensions but has %d entries",
                        op->name, name, n, list->n);
    if (list->at[0] != 1 || list->at[ef_axis_channel(b)] != 1)
        return ef_error(unsupported(op, b),
                        "%s: %s has %lld for the batch and %lld for the depth dimension; only 1 is "
                        "supported in the batch and depth dimensions",
                        op->name, name, (long long)list->at[0],
                        (long long)list->at[ef_axis_channel(b)]);
    for (int d = 0; d < b->rank; d++) {
        int64_t v = list->at[ef_axis_image(b, d)];
        if (v < 1 || v > INT32_MAX)
            return ef_error(EF_INVALID, "%s: %s must be positive and below 2^31 but one is %lld",
                            op->name, name, (long long)v);
        out[ef_box_axis(b, d)] = v;
    }
    return NULL;
}

static ef_status *read_paddings(const ef_op *op, const ef_window_attrs *t, ef_window_box *b) {
    const ef_ints *p = &t->explicit_paddings;
    int n = 2 * (b->rank + 2), c = ef_axis_channel(b);
    if (t->padding != 2) {
        if (p->n == 0) return NULL;
        return ef_error(EF_INVALID,
                        "%s: explicit_paddings has %d entries but padding is %s; it must be empty "
                        "if the padding attribute is not EXPLICIT",
                        op->name, p->n, t->padding == 0 ? "SAME" : "VALID");
    }
    if (p->n != n)
        return ef_error(EF_INVALID,
                        "%s: explicit_paddings attribute must contain %d values, but got: %d",
                        op->name, n, p->n);
    if (p->at[0] != 0 || p->at[1] != 0 || p->at[2 * c] != 0 || p->at[2 * c + 1] != 0)
        return ef_error(EF_INVALID,
                        "%s: nonzero explicit padding in the batch or depth dimensions is not "
                        "supported",
                        op->name);
    for (int d = 0; d < b->rank; d++) {
        const int64_t *v = &p->at[2 * (size_t)ef_axis_image(b, d)];
        if (v[0] < 0 || v[1] < 0 || v[0] > INT32_MAX || v[1] > INT32_MAX)
            return ef_error(EF_INVALID,
                            "%s: all elements of explicit_paddings must be nonnegative and below "
                            "2^31 but axis %d has %lld and %lld",
                            op->name, ef_axis_image(b, d), (long long)v[0], (long long)v[1]);
        b->before[ef_box_axis(b, d)] = v[0];
        b->after[ef_box_axis(b, d)] = v[1];
    }
    return NULL;
}

ef_status *ef_window_setup(const ef_op *op, const ef_window_attrs *t, int rank, ef_window_box *b) {
    memset(b, 0, sizeof *b);
    b->rank = rank;
    b->channels_first = t->data_format == 1;
    b->groups = 1;
    for (int d = 0; d < 3; d++)
        b->in[d] = b->out[d] = b->kernel[d] = b->stride[d] = b->dilation[d] = 1;
    EF_TRY(read_list(op, &t->strides, "strides", b, b->stride));
    EF_TRY(read_list(op, &t->dilations, "dilations", b, b->dilation));
    EF_TRY(read_list(op, &t->ksize, "ksize", b, b->kernel));
    return read_paddings(op, t, b);
}

ef_status *ef_window_fit(const ef_op *op, const ef_window_attrs *t, ef_window_box *b) {
    for (int d = 3 - b->rank; d < 3; d++) {
        int64_t before = b->before[d], after = b->after[d];
        if (!ef_dim_known(b->kernel[d])) {
            b->out[d] = EF_DIM_UNKNOWN;
            continue;
        }
        EF_TRY(ef_window(op, b->in[d], b->kernel[d], b->dilation[d], b->stride[d], t->padding,
                         before, after, &b->out[d], &b->before[d], &b->after[d]));
    }
    return NULL;
}

ef_status *ef_window_graph_check(ef_infer *i) {
    const ef_window_attrs *t = i->attrs;
    const ef_shape *x = &i->in[0].shape, *y = &i->out[0].shape;
    int first = t->data_format == 0 ? 1 : 2;
    for (int d = first; t->padding != 0 && d < first + y->rank - 2; d++)
        if (y->dim[d] == 0)
            return ef_error(EF_INVALID,
                            "%s: Negative dimension size: the window does not fit into axis %d of "
                            "the input %s; use 'SAME' padding or a smaller window",
                            i->op->name, d, EF_SHAPE(x));
    return NULL;
}

ef_shape ef_with_rank(const ef_shape *s, int rank) {
    if (s->rank >= 0) return *s;
    ef_shape r = {.rank = rank};
    for (int d = 0; d < rank; d++) r.dim[d] = EF_DIM_UNKNOWN;
    return r;
}

void ef_window_read(const ef_window_box *b, const int64_t *dim, int64_t size[3]) {
    for (int d = 0; d < 3; d++) size[d] = 1;
    for (int d = 0; d < b->rank; d++) size[ef_box_axis(b, d)] = dim[ef_axis_image(b, d)];
}

ef_shape ef_window_image(const ef_window_box *b, int64_t batch, int64_t channels,
                         const int64_t size[3]) {
    ef_shape s = {.rank = b->rank + 2};
    s.dim[0] = batch;
    s.dim[ef_axis_channel(b)] = channels;
    for (int d = 0; d < b->rank; d++) s.dim[ef_axis_image(b, d)] = size[ef_box_axis(b, d)];
    return s;
}
