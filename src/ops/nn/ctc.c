/* CTCLoss and CTCGreedyDecoder: label sequences whose alignment is not given. Inputs are logits
 * [frames, batch, classes]; the last class is the blank. */
#include "ops/nn/ctc.h"
#include "base/alloc.h"
#include <math.h>
#include <string.h>

typedef struct ctc_attrs {
    bool preprocess_collapse_repeated, ctc_merge_repeated, ignore_longer_outputs_than_inputs;
} ctc_attrs;

static ef_status *check_batch(ef_infer *i, int lengths) {
    int64_t same;
    EF_TRY(ef_need_rank(i, 0, 3));
    EF_TRY(ef_need_rank(i, lengths, 1));
    if (i->in[0].shape.rank == 3 && i->in[lengths].shape.rank == 1)
        EF_TRY(ef_need_same_dim(i, i->in[0].shape.dim[1], i->in[lengths].shape.dim[0],
                                "the batch of inputs and sequence_length", &same));
    return NULL;
}

static ef_status *loss_shape(ef_infer *i) {
    EF_TRY(check_batch(i, 3));
    EF_TRY(ef_need_rank(i, 1, 2));
    EF_TRY(ef_need_rank(i, 2, 1));
    int64_t same, two = i->in[1].shape.rank == 2 ? i->in[1].shape.dim[1] : EF_DIM_UNKNOWN;
    if (two >= 0 && two != 2)
        return ef_error(
            EF_INVALID,
            "%s: labels_indices has rows of %lld numbers; each must be (batch, position)",
            i->op->name, (long long)two);
    if (i->in[1].shape.rank == 2 && i->in[2].shape.rank == 1)
        EF_TRY(ef_need_same_dim(i, i->in[1].shape.dim[0], i->in[2].shape.dim[0],
                                "the lengths of labels_indices and labels_values", &same));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    if (i->in[0].shape.rank == 3) i->out[0].shape.dim[0] = i->in[0].shape.dim[1];
    i->out[1].shape = i->in[0].shape;
    return NULL;
}

/* The labels of batch entry b, ordered by position; returns their number. */
static int64_t gather_labels(const ef_call *c, int64_t b, bool collapse, int32_t *out) {
    const int64_t *at = c->in[1]->data;
    const int32_t *label = c->in[2]->data;
    int64_t n = 0;
    for (int64_t k = 0; k < c->in[2]->dim[0]; k++) {
        if (at[2 * k] != b) continue;
        if (collapse && n > 0 && out[n - 1] == label[k]) continue;
        out[n++] = label[k];
    }
    return n;
}

/* What TensorFlow adds to a dense sequence's probability of 0 before it takes the logarithm. */
static const double least = 1e-307;

static bool is_dense(const ef_call *c) { return c->op == &ef_op__CTCDenseLoss; }

/* Equal labels in a row need a frame for the blank between them too; TensorFlow does not count it,
 * and the loss is infinite where it is missing. */
static ef_status *check_labels(const ef_call *c, const ef_ctc *s, int64_t b) {
    if (is_dense(c)) return NULL;
    for (int64_t k = 0; k < s->labels; k++) {
        if (s->label[k] < 0 || s->label[k] >= s->blank)
            return ef_error(EF_INVALID,
                            "%s: label %d of batch %lld must be in [0, %d): the last class is the "
                            "blank",
                            c->op->name, s->label[k], (long long)b, s->blank);
    }
    const ctc_attrs *t = c->attrs;
    if (s->labels > s->frames && !t->ignore_longer_outputs_than_inputs)
        return ef_error(EF_INVALID,
                        "%s: Not enough time for target transition sequence (required: %lld, "
                        "available: %lld) in batch %lld",
                        c->op->name, (long long)s->labels, (long long)s->frames, (long long)b);
    return NULL;
}

static ef_status *one_sequence(const ef_call *c, int64_t b, ef_ctc *s, double *logp, double *work) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t batch = x->dim[1], classes = x->dim[2];
    double *gradient = logp + s->frames * classes, loss = 0;
    EF_TRY(check_labels(c, s, b));
    for (int64_t f = 0; f < s->frames; f++) {
        for (int64_t k = 0; k < classes; k++)
            logp[f * classes + k] = ef_element_double(t, x->data, (f * batch + b) * classes + k);
        ef_ctc_normalize(logp + f * classes, classes);
    }
    bool skip = s->frames == 0 || (s->labels > s->frames && !is_dense(c));
    if (!skip)
        loss = ef_ctc_loss(s, logp, gradient, work);
    else if (is_dense(c) && s->labels > 0)
        loss = -s->floor;
    ef_element_set(t, c->out[0]->data, b, loss);
    for (int64_t f = 0; f < x->dim[0]; f++)
        for (int64_t k = 0; k < classes; k++)
            ef_element_set(t, c->out[1]->data, (f * batch + b) * classes + k,
                           skip || f >= s->frames ? 0.0 : gradient[f * classes + k]);
    return NULL;
}

static ef_status *loss_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    static const ctc_attrs dense = {.ctc_merge_repeated = true};
    const ctc_attrs *t = is_dense(c) ? &dense : c->attrs;
    const int32_t *length = c->in[3]->data;
    EF_TRY(ef_ctc_need_blank(c));
    int64_t classes = x->dim[2], most = c->in[2]->dim[0];
    ef_ctc whole = {x->dim[0],
                    classes,
                    most,
                    NULL,
                    (int32_t)classes - 1,
                    t->ctc_merge_repeated,
                    is_dense(c) ? log(least) : -INFINITY};
    size_t room = ef_ctc_room(&whole) + 2 * (size_t)(x->dim[0] * classes);
    size_t bytes = room * sizeof(double) + (size_t)(most + 1) * sizeof(int32_t);
    double *mem = ef_malloc(bytes);
    if (mem == NULL) return ef_no_memory(bytes);
    int32_t *label = (int32_t *)(mem + room);
    ef_status *s = NULL;
    for (int64_t b = 0; b < x->dim[1] && s == NULL; b++) {
        if (length[b] < 0 || length[b] > x->dim[0]) {
            s = ef_error(EF_INVALID, "%s: sequence_length(%lld) is %d; it must be in [0, %lld]",
                         c->op->name, (long long)b, length[b], (long long)x->dim[0]);
            break;
        }
        ef_ctc one = whole;
        one.frames = length[b];
        one.label = label;
        one.labels = gather_labels(c, b, t->preprocess_collapse_repeated, label);
        s = one_sequence(c, b, &one, mem, mem + 2 * x->dim[0] * classes);
    }
    ef_free(mem);
    return s;
}

/* The upstream gradient of a sequence scales its gradient. */
static ef_status *loss_grad(ef_grad *g) {
    if (g->dout[0] == NULL) return NULL;
    const int64_t last = -1;
    ef_value *scale = ef_emit(g->b, "ExpandDims", 2, g->dout[0],
                              ef_reshape(g->b, ef_const_ints(g->b, EF_I32, 1, &last),
                                         ef_const_ints(g->b, EF_I32, 0, NULL)));
    g->din[0] = ef_mul(g->b, scale, g->out[1]);
    return NULL;
}

const ef_op ef_op_CTCLoss = {
    EF_NAMED(CTCLoss),
    .doc = "The negative log probability of each batch entry's labels (a sparse matrix) under "
           "logits [frames, batch, classes], and its gradient.",
    .in = {"inputs: T", "labels_indices: int64", "labels_values: int32", "sequence_length: int32"},
    .out = {"loss: T", "gradient: T"},
    .types = "T: {float, double} = float",
    .attr = {EF_ATTR(ctc_attrs, preprocess_collapse_repeated, "bool", "false"),
             EF_ATTR(ctc_attrs, ctc_merge_repeated, "bool", "true"),
             EF_ATTR(ctc_attrs, ignore_longer_outputs_than_inputs, "bool", "false")},
    .attr_size = sizeof(ctc_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_OUT(1),
    .shape = loss_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), loss_run, NULL, NULL, NULL, NULL}},
    .grad = loss_grad,
    .examples = {"T[5,2,4] int64[3,2]{0,0,0,1,1,0} int32[3]{0,1,2} int32[2]{5,3} grad=first",
                 "double[3,1,3] int64[1,2]{0,0} int32[1]{1} int32[1]{2} grad=first"},
};

const ef_op ef_op__CTCDenseLoss = {
    EF_NAMED(_CTCDenseLoss),
    .doc =
        "Like CTCLoss, for labels of any value: a label that is the blank counts as a blank, one "
        "that is not a class has probability 1, and a sequence too long for its frames has the "
        "loss "
        "of its best partial alignments, plus 707. "
        "`tf.nn.ctc_loss` treats the labels of a dense matrix in this way.",
    .in = {"inputs: T", "labels_indices: int64", "labels_values: int32", "sequence_length: int32"},
    .out = {"loss: T", "gradient: T"},
    .types = "T: {float, double} = float",
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_OUT(1),
    .shape = loss_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), loss_run, NULL, NULL, NULL, NULL}},
    .grad = loss_grad,
    .examples = {"T[5,2,4] int64[3,2]{0,0,0,1,1,0} int32[3]{0,1,2} int32[2]{5,3} grad=first",
                 "float[5,2,4] int64[3,2]{0,0,0,1,1,0} int32[3]{0,3,-1} int32[2]{5,3} grad=no"},
};

/* ---- the best class of each frame ---- */

typedef struct greedy_attrs {
    bool merge_repeated;
    int64_t blank_index;
} greedy_attrs;

static ef_status *greedy_shape(ef_infer *i) {
    EF_TRY(check_batch(i, 1));
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, 2}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[2].shape = (ef_shape){.rank = 1, .dim = {2}};
    i->out[3].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, 1}};
    if (i->in[0].shape.rank == 3) i->out[3].shape.dim[0] = i->in[0].shape.dim[1];
    return NULL;
}

/* Decodes batch entry b into at; returns the number of labels and the sum of the best logits. */
static int64_t decode(const ef_call *c, int64_t b, int64_t frames, int64_t blank, int64_t *at,
                      double *sum) {
    const ef_tensor *x = c->in[0];
    const greedy_attrs *t = c->attrs;
    int64_t batch = x->dim[1], classes = x->dim[2], n = 0, before = -1;
    *sum = 0;
    for (int64_t f = 0; f < frames; f++) {
        int64_t best = 0, row = (f * batch + b) * classes;
        double top = -INFINITY;
        for (int64_t k = 0; k < classes; k++) {
            double v = ef_element_double((ef_dtype)x->dtype, x->data, row + k);
            if (v > top) {
                top = v;
                best = k;
            }
        }
        *sum -= top;
        if (best != blank && !(t->merge_repeated && best == before)) at[n++] = best;
        before = best;
    }
    return n;
}

static ef_status *greedy_write(const ef_call *c, const int64_t *label, const int64_t *count) {
    const ef_tensor *x = c->in[0];
    int64_t total = 0, longest = 0, at = 0;
    for (int64_t b = 0; b < x->dim[1]; b++) {
        total += count[b];
        longest = count[b] > longest ? count[b] : longest;
    }
    ef_shape pairs = {.rank = 2, .dim = {total, 2}}, values = {.rank = 1, .dim = {total}};
    ef_shape two = {.rank = 1, .dim = {2}};
    EF_TRY(ef_out_alloc(c, 0, &pairs));
    EF_TRY(ef_out_alloc(c, 1, &values));
    EF_TRY(ef_out_alloc(c, 2, &two));
    int64_t *index = c->out[0]->data, *value = c->out[1]->data, *size = c->out[2]->data;
    for (int64_t b = 0; b < x->dim[1]; b++)
        for (int64_t k = 0; k < count[b]; k++, at++) {
            index[2 * at] = b;
            index[2 * at + 1] = k;
            value[at] = label[b * x->dim[0] + k];
        }
    size[0] = x->dim[1];
    size[1] = longest;
    return NULL;
}

static ef_status *greedy_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const greedy_attrs *t = c->attrs;
    const int32_t *length = c->in[1]->data;
    EF_TRY(ef_ctc_need_blank(c));
    int64_t blank = t->blank_index < 0 ? t->blank_index + x->dim[2] : t->blank_index;
    ef_shape column = {.rank = 2, .dim = {x->dim[1], 1}};
    EF_TRY(ef_out_alloc(c, 3, &column));
    size_t bytes = (size_t)(x->dim[1] * (x->dim[0] + 1) + 1) * sizeof(int64_t);
    int64_t *label = ef_malloc(bytes);
    if (label == NULL) return ef_no_memory(bytes);
    int64_t *count = label + x->dim[0] * x->dim[1];
    ef_status *s = NULL;
    for (int64_t b = 0; b < x->dim[1] && s == NULL; b++) {
        double sum;
        if (length[b] < 0 || length[b] > x->dim[0]) {
            s = ef_error(EF_FAILED_PRECONDITION,
                         "%s: sequence_length(%lld) must be <= %lld, but is %d", c->op->name,
                         (long long)b, (long long)x->dim[0], length[b]);
            break;
        }
        count[b] = decode(c, b, length[b], blank, label + b * x->dim[0], &sum);
        ef_element_set((ef_dtype)x->dtype, c->out[3]->data, b, sum);
    }
    if (s == NULL) s = greedy_write(c, label, count);
    ef_free(label);
    return s;
}

const ef_op ef_op_CTCGreedyDecoder = {
    EF_NAMED(CTCGreedyDecoder),
    .doc =
        "Takes the best class of each frame, drops blanks and optionally repetitions; the result "
        "is a sparse matrix. `log_probability` is the negated sum of the best logits.",
    .in = {"inputs: T", "sequence_length: int32"},
    .out = {"decoded_indices: int64", "decoded_values: int64", "decoded_shape: int64",
            "log_probability: T"},
    .types = "T: {float, double} = float",
    .attr = {EF_ATTR(greedy_attrs, merge_repeated, "bool", "false"),
             EF_ATTR(greedy_attrs, blank_index, "int", "-1")},
    .attr_size = sizeof(greedy_attrs),
    .traits = EF_HEAVY | EF_DYNAMIC | EF_NO_GRAD,
    .shape = greedy_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), greedy_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[5,2,4] int32[2]{5,3}", "float[5,2,4] int32[2]{5,3} merge_repeated=true"},
};
