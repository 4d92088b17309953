/* Shape functions many ops share. Dims may be known, symbolic or unknown: a check fails only when
 * what is known contradicts the rule, and a result says as much as can be known. */
#include "ops/shapes.h"
#include "base/alloc.h"
#include <stdio.h>
#include <string.h>

static const char *input_name(const ef_infer *i, int k, char *room, size_t cap) {
    const ef_signature *s = ef_op_signature(i->op);
    if (!s->variadic && k < s->n_in) return s->in[k].name;
    snprintf(room, cap, "input %d", k);
    return room;
}

static bool equal_now(const ef_shape *a, const ef_shape *b) {
    if (a->rank != b->rank || a->rank < 0) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] != b->dim[d] || a->dim[d] == EF_DIM_UNKNOWN) return false;
    return true;
}

static ef_status *cannot_broadcast(const ef_infer *i) {
    char text[300];
    size_t n = 0;
    for (int k = 0; k < i->n_in && n < sizeof text; k++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                              k ? (k + 1 < i->n_in ? ", " : " and ") : "",
                              EF_SHAPE(&i->in[k].shape));
    return ef_error(
        EF_INVALID,
        "%s: Incompatible shapes: %s do not broadcast; sizes must be equal or 1, counted "
        "from the last dimension",
        i->op->name, text);
}

ef_status *ef_shape_broadcast(ef_infer *i) {
    ef_shape *out = &i->out[0].shape;
    if (i->n_in == 0) {
        *out = ef_scalar_shape();
        return NULL;
    }
    *out = i->in[0].shape;
    for (int k = 1; k < i->n_in; k++) {
        const ef_shape *s = &i->in[k].shape;
        if (EF_LIKELY(equal_now(out, s))) continue;
        ef_shape both;
        if (!ef_shape_broadcast2(out, s, &both)) return cannot_broadcast(i);
        *out = both;
    }
    return NULL;
}

ef_status *ef_shape_same(ef_infer *i) {
    for (int k = 0; k < i->n_out; k++) {
        i->out[k].shape = i->in[0].shape;
        if (i->out[k].dtype == i->in[0].dtype) i->out[k].handle = i->in[0].handle;
    }
    return NULL;
}

ef_status *ef_shape_scalar(ef_infer *i) {
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = ef_scalar_shape();
    return NULL;
}

ef_status *ef_shape_none(ef_infer *i) {
    (void)i; /* outputs are preset to unknown shapes */
    return NULL;
}

ef_status *ef_shape_merge_all(ef_infer *i) {
    if (i->n_in == 0) return NULL;
    ef_shape all = i->in[0].shape;
    for (int k = 1; k < i->n_in; k++) {
        ef_shape both;
        ef_status *s = ef_shape_merge(&all, &i->in[k].shape, &both);
        if (s) {
            char a[24], b[24];
            ef_status_free(s);
            return ef_error(EF_INVALID, "%s: %s is %s but %s is %s; all inputs must have one shape",
                            i->op->name, input_name(i, 0, a, sizeof a), EF_SHAPE(&i->in[0].shape),
                            input_name(i, k, b, sizeof b), EF_SHAPE(&i->in[k].shape));
        }
        all = both;
    }
    if (i->n_out > 0) i->out[0].shape = all;
    return NULL;
}

static ef_status *wrong_rank(const ef_infer *i, int k, const char *rule, int rank) {
    char name[24];
    return ef_error(EF_INVALID, "%s: %s is %s, of rank %d; Shape must be %srank %d", i->op->name,
                    input_name(i, k, name, sizeof name), EF_SHAPE(&i->in[k].shape),
                    i->in[k].shape.rank, rule, rank);
}
ef_status *ef_need_rank(const ef_infer *i, int k, int rank) {
    int r = i->in[k].shape.rank;
    return r < 0 || r == rank ? NULL : wrong_rank(i, k, "", rank);
}
ef_status *ef_need_single(const ef_infer *i, int k) {
    const ef_shape *s = &i->in[k].shape;
    if (s->rank == 1 && ef_dim_may_equal(s->dim[0], 1)) return NULL;
    return ef_need_rank(i, k, 0);
}
/* Gives graph_check the inferred facts of the outputs, however many there are. */
static ef_status *run_graph_check(ef_infer *i) {
    enum { FEW = 4 };
    ef_fact few[FEW];
    ef_arity a;
    EF_TRY(ef_op_arity(i->op, i->attrs, i->n_in, &a));
    i->out = a.n_out <= FEW ? few : ef_malloc((size_t)a.n_out * sizeof *i->out);
    if (i->out == NULL) return ef_no_memory((size_t)a.n_out * sizeof *i->out);
    ef_status *s = ef_op_infer(i->op, i->attrs, i->in, i->n_in, i->out, a.n_out, &i->n_out);
    if (s == NULL) s = i->op->graph_check(i);
    if (i->out != few) ef_free(i->out);
    return s;
}

ef_status *ef_need_graph_fit(const ef_op *op, const void *attrs, const ef_fact *in, int n_in) {
    const ef_signature *s = ef_op_signature(op);
    ef_infer i = {.op = op, .attrs = attrs, .n_in = n_in, .in = in};
    bool listed = false; /* after a list, arguments are counted from the end */
    for (int k = 0; k < s->n_in; k++) {
        listed = listed || s->in[k].is_list || s->in[k].count_attr >= 0;
        int at = listed ? n_in - s->n_in + k : k;
        if (at < 0 || at >= n_in) continue; /* too few: the arity is checked later */
        if (op->scalar_in >> k & 1u) EF_TRY(ef_need_rank(&i, at, 0));
        if (op->vector_in >> k & 1u) EF_TRY(ef_need_rank(&i, at, 1));
    }
    return op->graph_check != NULL ? run_graph_check(&i) : NULL;
}
ef_status *ef_need_rank_at_least(const ef_infer *i, int k, int rank) {
    int r = i->in[k].shape.rank;
    return r < 0 || r >= rank ? NULL : wrong_rank(i, k, "at least ", rank);
}
ef_status *ef_need_rank_at_most(const ef_infer *i, int k, int rank) {
    int r = i->in[k].shape.rank;
    return r < 0 || r <= rank ? NULL : wrong_rank(i, k, "at most ", rank);
}

static const char *dim_text(int64_t d, char *out, size_t cap) {
    ef_shape s = {.rank = 1, .dim = {d}};
    ef_brief b = ef_shape_brief(&s);
    size_t n = strlen(b.text);
    snprintf(out, cap, "%.*s", (int)(n > 2 ? n - 2 : 0), b.text + 1); /* without the brackets */
    return out;
}

ef_status *ef_need_same_dim(const ef_infer *i, int64_t x, int64_t y, const char *what,
                            int64_t *out) {
    if (!ef_dim_may_equal(x, y)) {
        char a[48], b[48];
        return ef_error(EF_INVALID, "%s: %s must be equal, but are %s and %s", i->op->name, what,
                        dim_text(x, a, sizeof a), dim_text(y, b, sizeof b));
    }
    if (out) *out = ef_dim_known(x) || y == EF_DIM_UNKNOWN ? x : y;
    return NULL;
}

ef_status *ef_known_ints(const ef_infer *i, int k, int64_t *v, int max, int *n, bool *known) {
    const ef_tensor *t = i->in[k].value;
    *n = 0;
    *known = false;
    if (!t || !t->data) return NULL;
    char name[24];
    if (!ef_dtype_in((ef_dtype)t->dtype, EF_INTS))
        return ef_error(EF_INVALID, "%s: %s is %s; it must be of an integer type", i->op->name,
                        input_name(i, k, name, sizeof name), EF_TENSOR(t));
    if (t->rank > 1)
        return ef_error(EF_INVALID, "%s: %s is %s; it must be a scalar or a vector", i->op->name,
                        input_name(i, k, name, sizeof name), EF_TENSOR(t));
    int64_t count = ef_count(t);
    if (count > max)
        return ef_error(EF_INVALID, "%s: %s has %lld elements; at most %d are possible",
                        i->op->name, input_name(i, k, name, sizeof name), (long long)count, max);
    for (int64_t j = 0; j < count; j++) v[j] = ef_element_int((ef_dtype)t->dtype, t->data, j);
    *n = (int)count;
    *known = true;
    return NULL;
}

ef_status *ef_need_axis(const ef_op *op, int64_t axis, int rank, int *out) {
    if (axis < -rank || axis >= rank)
        return ef_error(EF_INVALID,
                        "%s: axis %lld is out of range for rank %d; it must be in [%d, %d)",
                        op->name, (long long)axis, rank, -rank, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return NULL;
}

/* ---- windows -----------------------------------------------------------------------------------
 */

enum { SAME, VALID, EXPLICIT };

static ef_status *bad_window(const ef_op *op, const char *what, int64_t v) {
    return ef_error(EF_INVALID, "%s: %s is %lld; it must be positive", op->name, what,
                    (long long)v);
}

ef_status *ef_window(const ef_op *op, int64_t size, int64_t window, int64_t dilation,
                     int64_t stride, int padding, int64_t before, int64_t after, int64_t *out,
                     int64_t *pad_before, int64_t *pad_after) {
    int64_t span = EF_DIM_UNKNOWN; /* number of elements from the first to the last that a window
                                    * reads */
    if (stride <= 0) return bad_window(op, "a stride", stride);
    if (dilation <= 0) return bad_window(op, "a dilation", dilation);
    if (padding == EXPLICIT && (before < 0 || after < 0))
        return ef_error(EF_INVALID, "%s: explicit padding is (%lld, %lld); it must not be negative",
                        op->name, (long long)before, (long long)after);
    if (window >= 0 && (window > INT32_MAX || dilation > INT32_MAX || stride > INT32_MAX ||
                        (padding == EXPLICIT && (before > INT32_MAX || after > INT32_MAX))))
        return ef_error(EF_INVALID,
                        "%s: window %lld with dilation %lld and stride %lld is too large", op->name,
                        (long long)window, (long long)dilation, (long long)stride);
    if (size > INT64_MAX / 4) /* adding windows and strides to it would overflow */
        return ef_error(EF_INVALID, "%s: an image of %lld elements along an axis is too large",
                        op->name, (long long)size);
    if (window >= 0) span = window == 0 ? 0 : (window - 1) * dilation + 1;
    if (padding != EXPLICIT) before = after = 0;
    if (pad_before) *pad_before = before;
    if (pad_after) *pad_after = after;
    if (padding == SAME) {
        *out = stride == 1 ? size : ef_dim_div(ef_dim_add(size, stride - 1), stride);
        if (size >= 0 && span >= 0) {
            int64_t need = (*out - 1) * stride + span - size;
            if (need < 0) need = 0;
            if (pad_before) *pad_before = need / 2;
            if (pad_after) *pad_after = need - need / 2;
        }
        return NULL;
    }
    if (span < 0) {
        *out = EF_DIM_UNKNOWN;
        return NULL;
    }
    int64_t room = ef_dim_sub(ef_dim_add(size, before + after), span); /* last start of a window */
    /* By how much the window is too large. */
    int64_t lack = size < 0 ? 0 : span - (size + before + after);
    if (lack > 0 && lack < 2 * stride) { /* TensorFlow divides towards 0, so the output is empty */
        *out = 0;
        return NULL;
    }
    if (room >= 0 || size < 0) {
        *out = stride == 1 ? ef_dim_add(room, 1) : ef_dim_div(ef_dim_add(room, stride), stride);
        return NULL;
    }
    return ef_error(
        EF_INVALID,
        "%s: Negative dimension size caused by subtracting %lld from %lld: a window of %lld "
        "(dilation %lld) does not fit into %lld elements with padding (%lld, %lld); use "
        "'SAME' padding or a smaller window",
        op->name, (long long)span, (long long)(size + before + after), (long long)window,
        (long long)dilation, (long long)size, (long long)before, (long long)after);
}
