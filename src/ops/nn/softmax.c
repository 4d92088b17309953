/* Softmax and LogSoftmax over the last axis, and the two cross-entropies. Their second output is
 * the gradient with respect to the logits, which costs almost nothing beyond the loss. */
#include "kernels/softmax.h"
#include "ops/build.h"
#include "ops/shapes.h"

#define FLOATS "T: {half, bfloat16, float, double}"

static ef_status *softmax_shape(ef_infer *i) {
    if (i->in[0].shape.rank == 0)
        return ef_error(EF_INVALID, "%s: logits must have >= 1 dimension, but are a scalar",
                        i->op->name);
    return ef_shape_same(i);
}

static ef_status *softmax(const ef_call *c, bool log) {
    const ef_tensor *x = c->in[0];
    int64_t n = x->dim[x->rank - 1];
    ef_softmax(x->dtype, log, x->data, c->out[0]->data, n == 0 ? 0 : ef_count(x) / n, n);
    return NULL;
}
static ef_status *run_softmax(const ef_call *c) { return softmax(c, false); }
static ef_status *run_log_softmax(const ef_call *c) { return softmax(c, true); }

static const int64_t last_axis[] = {-1};

static ef_status *softmax_grad(ef_grad *g) { /* (dy - sum(dy * y)) * y */
    ef_value *y = g->out[0], *dy = g->dout[0];
    ef_value *dot = ef_sum(g->b, ef_mul(g->b, dy, y), 1, last_axis, true);
    g->din[0] = ef_mul(g->b, ef_sub(g->b, dy, dot), y);
    return NULL;
}

static ef_status *log_softmax_grad(ef_grad *g) { /* dy - sum(dy) * exp(y) */
    ef_value *dy = g->dout[0], *p = ef_emit(g->b, "Exp", 1, g->out[0]);
    g->din[0] = ef_sub(g->b, dy, ef_mul(g->b, ef_sum(g->b, dy, 1, last_axis, true), p));
    return NULL;
}

const ef_op ef_op_Softmax = {
    EF_NAMED(Softmax),
    .doc = "The softmax along the last axis: exponentials scaled to add up to 1.",
    .in = {"logits: T"},
    .out = {"softmax: T"},
    .types = FLOATS,
    .traits = EF_MAY_ALIAS_0 | EF_NEVER_FAILS,
    .keeps = EF_KEEP_OUT(0),
    .shape = softmax_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_FLOATS, run_softmax, NULL, NULL, NULL, NULL}},
    .grad = softmax_grad,
    .examples = {"T[2,3]", "T[4]", "T[2,0]", "T[2,2,1]", "float[3,70]"},
};

const ef_op ef_op_LogSoftmax = {
    EF_NAMED(LogSoftmax),
    .doc = "The logarithm of the softmax along the last axis, computed without overflow.",
    .in = {"logits: T"},
    .out = {"logsoftmax: T"},
    .types = FLOATS,
    .traits = EF_MAY_ALIAS_0 | EF_NEVER_FAILS,
    .keeps = EF_KEEP_OUT(0),
    .shape = softmax_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_FLOATS, run_log_softmax, NULL, NULL, NULL, NULL}},
    .grad = log_softmax_grad,
    .examples = {"T[2,3]", "T[4]", "T[2,0]", "T[2,2,1]", "float[3,70]"},
};

/* ---- cross-entropies --------------------------------------------------------------------------
 */

static ef_status *entropy_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *p = &i->in[1].shape;
    ef_shape both;
    if (x->rank < 0 || p->rank < 0) {
        both = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN}};
    } else if (!ef_shape_broadcast2(x, p, &both)) {
        return ef_error(
            EF_INVALID,
            "%s: logits and labels must be broadcastable, but logits are %s and labels %s",
            i->op->name, EF_SHAPE(x), EF_SHAPE(p));
    } else if (both.rank != 2) {
        return ef_error(
            EF_INVALID,
            "%s: logits %s and labels %s must be either 2-dimensional, or broadcasted to "
            "be 2-dimensional: [batch, classes]",
            i->op->name, EF_SHAPE(x), EF_SHAPE(p));
    }
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {both.dim[0]}};
    i->out[1].shape = both;
    return NULL;
}

/* Strides of an operand from row to row and from class to class, 0 where it is broadcast. */
static void steps(const ef_tensor *t, int64_t *row, int64_t *col) {
    int64_t n = t->rank > 0 ? t->dim[t->rank - 1] : 1;
    *col = n != 1;
    *row = t->rank == 2 && t->dim[0] != 1 ? n : 0;
}

static ef_status *run_entropy(const ef_call *c) {
    const ef_tensor *back = c->out[1];
    ef_cross_entropy x = {.dtype = back->dtype,
                          .rows = back->dim[0],
                          .n = back->dim[1],
                          .logits = c->in[0]->data,
                          .labels = c->in[1]->data,
                          .loss = c->out[0]->data,
                          .backprop = back->data};
    steps(c->in[0], &x.logits_row, &x.logits_col);
    steps(c->in[1], &x.labels_row, &x.labels_col);
    ef_softmax_cross_entropy(&x);
    return NULL;
}

static ef_value *as_column(ef_grad *g, ef_value *x) {
    return ef_emit(g->b, "ExpandDims", 2, x, ef_const_number(g->b, EF_I32, -1));
}

/* The gradient for the logits. The output `backprop` has an upstream gradient itself when a
 * gradient of a gradient is computed. */
static ef_value *logits_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dx = g->dout[0] != NULL ? ef_mul(b, as_column(g, g->dout[0]), g->out[1]) : NULL;
    ef_value *dd = g->dout[1];
    if (dd == NULL) return dx;
    ef_value *p = ef_emit(b, "Softmax", 1, g->in[0]);
    ef_value *dot = ef_sum(b, ef_mul(b, dd, p), 1, last_axis, true);
    ef_value *more = ef_mul(b, ef_sub(b, dd, dot), p);
    return dx != NULL ? ef_add(b, dx, more) : more;
}

static ef_status *entropy_grad(ef_grad *g) {
    ef_build *b = g->b;
    g->din[0] = ef_sum_like(b, logits_grad(g), g->in[0]);
    ef_value *dl = NULL;
    if (g->dout[0] != NULL) {
        ef_value *cost = ef_neg(b, ef_emit(b, "LogSoftmax", 1, g->in[0]));
        dl = ef_mul(b, as_column(g, g->dout[0]), cost);
    }
    if (g->dout[1] != NULL) dl = dl != NULL ? ef_sub(b, dl, g->dout[1]) : ef_neg(b, g->dout[1]);
    g->din[1] = ef_sum_like(b, dl, g->in[1]);
    return NULL;
}

const ef_op ef_op_SoftmaxCrossEntropyWithLogits = {
    EF_NAMED(SoftmaxCrossEntropyWithLogits),
    .doc = "For each row the cross-entropy between the distribution in `labels` and the softmax of "
           "`features`; and its gradient with respect to `features`.",
    .in = {"features: T", "labels: T"},
    .out = {"loss: T", "backprop: T"},
    .types = FLOATS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(1),
    .shape = entropy_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_FLOATS, run_entropy, NULL, NULL, NULL, NULL}},
    .grad = entropy_grad,
    .examples = {"T[2,3] T[2,3]{0.2,0.3,0.5,0.6,0.1,0.3}", "T[0,3] T[0,3]",
                 "T[1,4] T[1,4]{0,1,0,0}"},
};

static ef_status *sparse_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *labels = &i->in[1].shape;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    int64_t rows = x->rank == 2 ? x->dim[0] : EF_DIM_UNKNOWN;
    int64_t n = x->rank == 2 ? x->dim[1] : EF_DIM_UNKNOWN;
    if (labels->rank == 1 && !ef_dim_may_equal(rows, labels->dim[0]))
        return ef_error(
            EF_INVALID,
            "%s: logits and labels must have the same first dimension, but logits are %s "
            "and labels %s",
            i->op->name, EF_SHAPE(x), EF_SHAPE(labels));
    if (n == 0)
        return ef_error(EF_INVALID, "%s: Must have at least one class, but logits are %s",
                        i->op->name, EF_SHAPE(x));
    if (rows == EF_DIM_UNKNOWN && labels->rank == 1) rows = labels->dim[0];
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {rows}};
    i->out[1].shape = (ef_shape){.rank = 2, .dim = {rows, n}};
    return NULL;
}

static ef_status *run_sparse(const ef_call *c) {
    const ef_tensor *x = c->in[0], *labels = c->in[1];
    int64_t rows = x->dim[0], n = x->dim[1];
    for (int64_t r = 0; r < rows; r++) {
        int64_t k = ef_element_int(labels->dtype, labels->data, r);
        if (k < 0 || k >= n)
            return ef_error(
                EF_INVALID,
                "%s: Received a label value of %lld which is outside the valid range of "
                "[0, %lld); it is in row %lld",
                c->op->name, (long long)k, (long long)n, (long long)r);
    }
    void *back = c->unread & 2 ? NULL : c->out[1]->data;
    ef_sparse_cross_entropy(x->dtype, x->data, labels->data, labels->dtype, c->out[0]->data, back,
                            rows, n);
    return NULL;
}

static ef_status *sparse_grad(ef_grad *g) {
    g->din[0] = logits_grad(g);
    return NULL;
}

const ef_op ef_op_SparseSoftmaxCrossEntropyWithLogits = {
    EF_NAMED(SparseSoftmaxCrossEntropyWithLogits),
    .doc = "For each row the cross-entropy between the class in `labels` and the softmax of "
           "`features`; and its gradient with respect to `features`.",
    .in = {"features: T", "labels: Tlabels"},
    .out = {"loss: T", "backprop: T"},
    .types = FLOATS "; Tlabels: {int32, int64} = int64",
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(1),
    .shape = sparse_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_FLOATS, run_sparse, NULL, NULL, NULL, NULL}},
    .grad = sparse_grad,
    .examples = {"T[2,3] int64[2]{2,0}", "T[3,5] int32[3]:0..5", "T[0,3] int64[0]"},
};
