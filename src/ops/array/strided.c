/* Interprets a strided slice: first the given entries are assigned to the axes of x (an ellipsis
 * stands for all axes that have no entry), then each axis is sliced as Python slices a list. */
#include "ops/array/strided.h"
#include <limits.h>
#include <string.h>

/* One axis of x as the given entries describe it. */
typedef struct {
    int64_t begin, end, stride;
    bool begin_known, end_known, begin_open, end_open, shrink;
} cut;
typedef struct {
    cut axis[EF_MAX_RANK];
    int n_out, out[2 * EF_MAX_RANK]; /* for each axis of the result: an axis of x, or NEW_AXIS */
} spread;
enum { NEW_AXIS = -1, MAX_ENTRIES = 62 };

static bool bit(int64_t mask, int64_t k) { return k < 63 && ((mask >> k) & 1); }
static int64_t entry(const ef_tensor *t, int64_t k) {
    return ef_element_int((ef_dtype)t->dtype, t->data, k);
}

static ef_status *put_out(const ef_op *op, spread *s, int axis) {
    if (s->n_out >= EF_MAX_RANK + 8)
        return ef_error(EF_UNIMPLEMENTED, "%s: the slice would have more than %d axes", op->name,
                        EF_MAX_RANK);
    s->out[s->n_out++] = axis;
    return NULL;
}

static ef_status *whole_axes(const ef_op *op, spread *s, int *at, int until) {
    for (; *at < until; ++*at) {
        s->axis[*at] = (cut){.stride = 1,
                             .begin_known = true,
                             .end_known = true,
                             .begin_open = true,
                             .end_open = true};
        EF_TRY(put_out(op, s, *at));
    }
    return NULL;
}

static ef_status *spread_entries(const ef_op *op, const ef_strided_attrs *a, int rank, int64_t n,
                                 const ef_tensor *begin, const ef_tensor *end,
                                 const ef_tensor *strides, spread *s) {
    int at = 0;
    uint64_t ellipses = (uint64_t)a->ellipsis_mask; /* bits beyond the entries are counted too */
    if ((ellipses & (ellipses - 1)) != 0)
        return ef_error(EF_INVALID, "%s: Multiple ellipses in slice spec not allowed", op->name);
    for (int64_t k = 0; k < n; k++) {
        if (bit(a->ellipsis_mask, k)) {
            int64_t later = 0; /* axes that have an entry after the ellipsis */
            for (int64_t j = k + 1; j < n; j++)
                later += !bit(a->new_axis_mask, j) || bit(a->ellipsis_mask, j);
            int64_t until = rank - later;
            EF_TRY(whole_axes(op, s, &at, (int)(until > at ? until : at)));
        } else if (bit(a->new_axis_mask, k)) {
            EF_TRY(put_out(op, s, NEW_AXIS));
        } else {
            if (at >= rank)
                return ef_error(EF_INVALID,
                                "%s: Index out of range using input dim %d; input has only %d "
                                "dims",
                                op->name, at, rank);
            s->axis[at] = (cut){.begin = begin ? entry(begin, k) : 0,
                                .end = end ? entry(end, k) : 0,
                                .stride = entry(strides, k),
                                .begin_known = begin != NULL,
                                .end_known = end != NULL,
                                .begin_open = bit(a->begin_mask, k),
                                .end_open = bit(a->end_mask, k),
                                .shrink = bit(a->shrink_axis_mask, k)};
            if (!s->axis[at].shrink) EF_TRY(put_out(op, s, at));
            at++;
        }
    }
    return whole_axes(op, s, &at, rank);
}

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

/* Slices an axis of known size: sets c->begin to the first index and *count. */
static ef_status *cut_known(const ef_op *op, int d, int64_t dim, cut *c, int64_t *count) {
    int64_t low = c->stride > 0 ? 0 : -1, high = c->stride > 0 ? dim : dim - 1;
    if (c->shrink) {
        int64_t at = c->begin < 0 ? c->begin + dim : c->begin;
        *count = 1;
        if (!c->begin_known) return NULL;
        if (at < 0 || at >= dim)
            return ef_error(EF_INVALID,
                            "%s: slice index %lld of dimension %d out of bounds; it must be in "
                            "[%lld, %lld)",
                            op->name, (long long)c->begin, d, (long long)-dim, (long long)dim);
        c->begin = at;
        return NULL;
    }
    if (!((c->begin_known || c->begin_open) && (c->end_known || c->end_open))) {
        *count = EF_DIM_UNKNOWN;
        return NULL;
    }
    int64_t first = c->begin_open ? (c->stride > 0 ? low : high)
                                  : clamp(c->begin < 0 ? c->begin + dim : c->begin, low, high);
    int64_t last = c->end_open ? (c->stride > 0 ? high : low)
                               : clamp(c->end < 0 ? c->end + dim : c->end, low, high);
    int64_t span = last - first;
    c->begin = first;
    if (span == 0 || (span < 0) != (c->stride < 0))
        *count = 0;
    else
        *count = (span > 0 ? span - 1 : span + 1) / c->stride + 1;
    return NULL;
}

/* The same for an axis whose size is symbolic or unknown: the result is known only if it is the
 * same for every size. */
static int64_t cut_open(int64_t dim, const cut *c) {
    int s;
    int64_t a, b, less = 0;
    if (c->shrink) return 1;
    if ((c->stride == 1 || c->stride == -1) && c->begin_open && c->end_open) return dim;
    if (c->stride != 1 || !ef_dim_parts(dim, &s, &a, &b) || a <= 0) return EF_DIM_UNKNOWN;
    if (!c->begin_open) {
        if (!c->begin_known || c->begin < 0 || c->begin > b) return EF_DIM_UNKNOWN;
        less += c->begin;
    }
    if (!c->end_open) {
        if (!c->end_known) return EF_DIM_UNKNOWN;
        if (c->end >= 0) /* a prefix that fits into every size */
            return c->end > b ? EF_DIM_UNKNOWN : c->end > less ? c->end - less : 0;
        if (c->end < -b) return EF_DIM_UNKNOWN;
        less -= c->end;
    }
    return less > b ? EF_DIM_UNKNOWN : ef_dim_sub(dim, less);
}

ef_status *ef_strided_read(const ef_op *op, const ef_strided_attrs *a, const ef_shape *x, int64_t n,
                           const ef_tensor *begin, const ef_tensor *end, const ef_tensor *strides,
                           ef_strided *out) {
    spread s = {.n_out = 0};
    if (n > MAX_ENTRIES)
        return ef_error(EF_INVALID, "%s: %lld entries in begin; at most %d are possible", op->name,
                        (long long)n, MAX_ENTRIES);
    EF_TRY(spread_entries(op, a, x->rank, n, begin, end, strides, &s));
    out->rank = x->rank;
    for (int d = 0; d < x->rank; d++) {
        cut *c = &s.axis[d];
        if (c->stride == 0)
            return ef_error(EF_INVALID, "%s: strides[%d] must be non-zero", op->name, d);
        if (c->shrink && c->stride < 0)
            return ef_error(EF_INVALID,
                            "%s: only stride 1 allowed on non-range indexing, but strides[%d] "
                            "is %lld",
                            op->name, d, (long long)c->stride);
        if (c->stride == INT64_MIN) c->stride = -INT64_MAX;
        if (x->dim[d] >= 0)
            EF_TRY(cut_known(op, d, x->dim[d], c, &out->count[d]));
        else
            out->count[d] = cut_open(x->dim[d], c);
        out->begin[d] = c->begin;
        out->stride[d] = c->stride;
    }
    if (s.n_out > EF_MAX_RANK)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: the slice would have rank %d; tensors have rank %d at most", op->name,
                        s.n_out, EF_MAX_RANK);
    out->out = (ef_shape){.rank = s.n_out};
    for (int k = 0; k < s.n_out; k++) {
        out->axis[k] = s.out[k];
        out->out.dim[k] = s.out[k] == NEW_AXIS ? 1 : out->count[s.out[k]];
    }
    return NULL;
}

void ef_strided_block(const ef_strided *s, const int64_t *x_dim, bool put, ef_block *b,
                      int64_t *first) {
    int64_t step[EF_MAX_RANK], dense[EF_MAX_RANK];
    ef_dense_steps(s->rank, x_dim, step);
    ef_dense_steps(s->rank, s->count, dense);
    b->rank = 0;
    *first = 0;
    bool some = true;
    for (int d = 0; d < s->rank; d++) some = some && s->count[d] > 0;
    for (int d = 0; d < s->rank; d++) {
        /* A stride beyond the axis selects one element, so its value does not matter. */
        int64_t inside = s->count[d] > 1 ? s->stride[d] * step[d] : 0;
        ef_block_axis(b, s->count[d], put ? dense[d] : inside, put ? inside : dense[d]);
        if (some) *first += s->begin[d] * step[d];
    }
}

ef_status *ef_strided_fits(const ef_op *op, const ef_strided *s, const ef_shape *value) {
    ef_shape last = *value, both;
    if (value->rank < 0) return NULL;
    for (int k = 0; k < s->out.rank; k++)
        if (s->out.dim[k] == 0) return NULL;
    while (last.rank > s->out.rank && (last.dim[0] == 1 || last.dim[0] < 0))
        memmove(last.dim, last.dim + 1, (size_t)--last.rank * sizeof *last.dim);
    if (ef_shape_broadcast2(&s->out, &last, &both) && ef_shape_may_equal(&both, &s->out))
        return NULL;
    return ef_error(EF_INVALID,
                    "%s: Cannot broadcast input shape %s into final shape %s; value must have the "
                    "slice's shape or broadcast to it",
                    op->name, EF_SHAPE(value), EF_SHAPE(&s->out));
}

ef_status *ef_strided_put(const ef_strided *s, ef_tensor *x, const ef_tensor *value) {
    ef_block b;
    int64_t first, dense[EF_MAX_RANK], from[EF_MAX_RANK] = {0};
    if (ef_shape_count(&s->out) == 0) return NULL;
    ef_strided_block(s, x->dim, true, &b, &first);
    ef_dense_steps(value->rank, value->dim, dense);
    for (int k = 0; k < s->out.rank; k++) {
        int v = k - s->out.rank + value->rank; /* the axis of the value at this position */
        if (s->axis[k] != NEW_AXIS && v >= 0 && value->dim[v] != 1) from[s->axis[k]] = dense[v];
    }
    for (int d = 0; d < s->rank; d++) b.from[d] = from[d];
    ef_dtype t = (ef_dtype)x->dtype;
    char *at = (char *)x->data + first * (int64_t)ef_dtype_size(t);
    return ef_block_copy(t, at, value->data, &b);
}
