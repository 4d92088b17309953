/* Shape values: the elements of a vector of integers that is used as a shape, as far as the graph
 * knows them. Programs compute shapes from shapes (`[tf.shape(x)[0], 10]`), so most elements may be
 * known although the vector is not a constant: walking back through the few ops that compute such
 * vectors finds the sizes. */
#include "graph/shape_values.h"
#include "graph/sizes.h"
#include "tensor/dtype.h"

enum { DEPTH = 16 }; /* of the walk back; elements computed by longer chains are unknown */

typedef struct facts { /* which facts the walk uses */
    const ef_graph *g;
    bool real;
} facts;

static const ef_fact *fact_of(facts f, ef_edge e) {
    return f.real ? ef_edge_real(f.g, e) : ef_edge_fact(f.g, e);
}

static bool is(const ef_node *n, ef_shape_value_kind kind) { return n->op->shape_value == kind; }

static bool constant_ints(facts f, ef_edge e, int64_t *v, int max, int *n) {
    const ef_tensor *t = fact_of(f, e)->value;
    if (t == NULL || t->data == NULL || t->rank > 1 || !ef_dtype_in((ef_dtype)t->dtype, EF_INTS))
        return false;
    int64_t count = ef_count(t);
    if (count > max) return false;
    for (int64_t k = 0; k < count; k++) v[k] = ef_element_int((ef_dtype)t->dtype, t->data, k);
    *n = (int)count;
    return true;
}

static bool vector(facts f, ef_edge e, int depth, ef_shape *out);

static bool one_of(facts f, ef_edge from, int64_t index, int depth, int64_t *out) {
    ef_shape s;
    if (!vector(f, from, depth - 1, &s)) return false;
    if (index < 0) index += s.rank;
    if (index < 0 || index >= s.rank) return false;
    *out = s.dim[index];
    return true;
}

static int64_t int_attr(const ef_node *n, const char *name) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(n->op, n->fields, name, &v);
    if (s != NULL) {
        ef_status_free(s);
        return 0;
    }
    return v.as.i;
}

/* begin:end:stride of a vector, or one of its elements; only stride 1 and no other masks. */
typedef struct piece {
    int64_t begin, end, stride;
    bool one, open_begin, open_end;
} piece;

static bool piece_of(facts f, const ef_node *n, const ef_edge *in, piece *p) {
    int count[3];
    if (!constant_ints(f, in[1], &p->begin, 1, &count[0]) || count[0] != 1 ||
        !constant_ints(f, in[2], &p->end, 1, &count[1]) || count[1] != 1 ||
        !constant_ints(f, in[3], &p->stride, 1, &count[2]) || count[2] != 1)
        return false;
    if (int_attr(n, "ellipsis_mask") != 0 || int_attr(n, "new_axis_mask") != 0) return false;
    p->one = int_attr(n, "shrink_axis_mask") & 1;
    p->open_begin = int_attr(n, "begin_mask") & 1;
    p->open_end = int_attr(n, "end_mask") & 1;
    return p->stride == 1 || p->one;
}

static bool scalar(facts f, ef_edge e, int depth, int64_t *out);

/* A negative constant is not a size and counts as unknown; so does a negative result. */
static int64_t combine(ef_dims_fn *how, int64_t x, int64_t y) {
    if (x == EF_DIM_UNKNOWN || y == EF_DIM_UNKNOWN) return EF_DIM_UNKNOWN;
    if (how == ef_dim_div && y <= 0) return EF_DIM_UNKNOWN;
    if (how == ef_dim_sub && (x < 0 || y < 0 || x < y)) return EF_DIM_UNKNOWN;
    return how(x, y);
}

static bool computed(facts f, const ef_node *n, const ef_edge *in, int depth, int64_t *out) {
    ef_dims_fn *how = n->op->dims;
    int64_t x, y;
    if (how == NULL || !scalar(f, in[0], depth - 1, &x) || !scalar(f, in[1], depth - 1, &y))
        return false;
    *out = combine(how, x, y);
    return *out != EF_DIM_UNKNOWN;
}

/* The scalar that a node computes; the node may not be in the graph yet. */
static bool number(facts f, const ef_node *n, const ef_edge *in, int depth, int64_t *out) {
    int count;
    if (is(n, EF_SHAPE_VALUE_SAME)) return scalar(f, in[0], depth - 1, out);
    piece p;
    if (is(n, EF_SHAPE_VALUE_SLICED))
        return piece_of(f, n, in, &p) && p.one && one_of(f, in[0], p.begin, depth, out);
    int64_t index;
    if (is(n, EF_SHAPE_VALUE_GATHERED))
        return constant_ints(f, in[1], &index, 1, &count) && count == 1 &&
               one_of(f, in[0], index, depth, out);
    return computed(f, n, in, depth, out);
}

static bool scalar(facts f, ef_edge e, int depth, int64_t *out) {
    const ef_node *n = f.g->node[e.node];
    int count;
    if (constant_ints(f, e, out, 1, &count) && count == 1) {
        if (*out < 0) *out = EF_DIM_UNKNOWN; /* -1 means that a Reshape computes this size */
        return true;
    }
    return depth > 0 && fact_of(f, e)->shape.rank <= 0 && number(f, n, n->in, depth, out);
}

static bool sliced(facts f, const ef_node *n, int depth, ef_shape *out) {
    piece p;
    ef_shape s;
    if (!piece_of(f, n, n->in, &p) || p.one || !vector(f, n->in[0], depth - 1, &s)) return false;
    int64_t from = p.open_begin ? 0 : p.begin, to = p.open_end ? s.rank : p.end;
    if (from < 0) from += s.rank;
    if (to < 0) to += s.rank;
    from = from < 0 ? 0 : from > s.rank ? s.rank : from;
    to = to < from ? from : to > s.rank ? s.rank : to;
    *out = ef_shape_of((int)(to - from), s.dim + from);
    return true;
}

static bool packed(facts f, const ef_node *n, int depth, ef_shape *out) {
    if (n->n_in > EF_MAX_RANK) return false;
    *out = (ef_shape){.rank = n->n_in};
    for (int k = 0; k < n->n_in; k++) {
        if (fact_of(f, n->in[k])->shape.rank > 0)
            return false; /* unknown: a scalar like the rest */
        if (!scalar(f, n->in[k], depth - 1, &out->dim[k])) out->dim[k] = EF_DIM_UNKNOWN;
    }
    return true;
}

static bool joined(facts f, const ef_node *n, int depth, ef_shape *out) {
    *out = (ef_shape){.rank = 0};
    for (int k = 0; k + 1 < n->n_in; k++) { /* the last input is the axis, which can only be 0 */
        ef_shape part;
        if (!vector(f, n->in[k], depth - 1, &part) || out->rank + part.rank > EF_MAX_RANK)
            return false;
        memcpy(out->dim + out->rank, part.dim, (size_t)part.rank * sizeof part.dim[0]);
        out->rank += part.rank;
    }
    return true;
}

/* Some of a vector's elements, by their indices. */
static bool gathered(facts f, const ef_node *n, int depth, ef_shape *out) {
    int64_t index[EF_MAX_RANK];
    ef_shape s;
    int count;
    if (fact_of(f, n->in[1])->shape.rank != 1 ||
        !constant_ints(f, n->in[1], index, EF_MAX_RANK, &count) ||
        !vector(f, n->in[0], depth - 1, &s))
        return false;
    *out = (ef_shape){.rank = count};
    for (int k = 0; k < count; k++) {
        if (index[k] < 0 || index[k] >= s.rank) return false;
        out->dim[k] = s.dim[index[k]];
    }
    return true;
}

/* A vector combined with another, or with one number. */
static bool computed_all(facts f, const ef_node *n, int depth, ef_shape *out) {
    ef_dims_fn *how = n->op->dims;
    ef_shape side[2];
    for (int k = 0; how != NULL && k < 2; k++) {
        int64_t one = EF_DIM_UNKNOWN;
        if (fact_of(f, n->in[k])->shape.rank == 0) {
            if (!scalar(f, n->in[k], depth - 1, &one)) one = EF_DIM_UNKNOWN;
            side[k] = ef_shape_of(1, &one);
        } else if (!vector(f, n->in[k], depth - 1, &side[k])) {
            return false;
        }
    }
    if (how == NULL || (side[0].rank != side[1].rank && side[0].rank != 1 && side[1].rank != 1))
        return false;
    *out = (ef_shape){.rank = side[side[0].rank == 1].rank};
    for (int d = 0; d < out->rank; d++)
        out->dim[d] = combine(how, side[0].dim[side[0].rank == 1 ? 0 : d],
                              side[1].dim[side[1].rank == 1 ? 0 : d]);
    return true;
}

static bool shape_of(facts f, ef_edge e, ef_shape *out) {
    *out = fact_of(f, e)->shape;
    return out->rank >= 0;
}

/* Output k of n, by what the op does with shape values. */
static bool propagated(facts f, const ef_node *n, int k, int depth, ef_shape *out) {
    switch (n->op->shape_value) {
    case EF_SHAPE_VALUE_READ: return shape_of(f, n->in[k], out);
    case EF_SHAPE_VALUE_SAME: return vector(f, n->in[0], depth - 1, out);
    case EF_SHAPE_VALUE_PACKED: return packed(f, n, depth, out);
    case EF_SHAPE_VALUE_JOINED: return joined(f, n, depth, out);
    case EF_SHAPE_VALUE_SLICED: return sliced(f, n, depth, out);
    case EF_SHAPE_VALUE_GATHERED: return gathered(f, n, depth, out);
    case EF_SHAPE_VALUE_LOST: break;
    }
    return computed_all(f, n, depth, out);
}

/* True: at least the length is known. */
static bool vector(facts f, ef_edge e, int depth, ef_shape *out) {
    const ef_node *n = f.g->node[e.node];
    int64_t v[EF_MAX_RANK];
    int count;
    const ef_shape *own = &fact_of(f, e)->shape;
    if (own->rank != 1 || depth == 0) return false;
    if (constant_ints(f, e, v, EF_MAX_RANK, &count)) {
        *out = ef_shape_of(count, v);
        for (int d = 0; d < count; d++)
            if (v[d] < 0) out->dim[d] = EF_DIM_UNKNOWN;
        return true;
    }
    if (propagated(f, n, e.index, depth, out)) return true;
    if (own->dim[0] < 0 || own->dim[0] > EF_MAX_RANK) return false;
    *out = (ef_shape){.rank = (int32_t)own->dim[0]};
    for (int d = 0; d < out->rank; d++) out->dim[d] = EF_DIM_UNKNOWN;
    return true;
}

/* The one unknown size of a reshape follows from the number of elements and the other sizes. */
static void complete(const ef_shape *from, ef_shape *to) {
    int missing = -1;
    int64_t total = 1, rest = 1;
    if (from->rank < 0) return;
    for (int d = 0; d < from->rank; d++) total = ef_dim_mul(total, from->dim[d]);
    for (int d = 0; d < to->rank; d++) {
        if (to->dim[d] == EF_DIM_UNKNOWN && missing >= 0) return;
        if (to->dim[d] == EF_DIM_UNKNOWN)
            missing = d;
        else
            rest = ef_dim_mul(rest, to->dim[d]);
    }
    if (missing < 0 || total == EF_DIM_UNKNOWN || rest == EF_DIM_UNKNOWN || rest == 0) return;
    if (total >= 0 && rest > 0 && total % rest != 0) return; /* an error when it runs */
    to->dim[missing] = ef_dim_div(total, rest);
}

/* Each of these computes the shape of the result, as far as it is known, from the elements of
 * `by`. */

static bool reshaped(facts f, const ef_edge *in, ef_edge by, ef_shape *out) {
    if (!vector(f, by, DEPTH, out)) return false;
    complete(&fact_of(f, in[0])->shape, out);
    return true;
}

static bool tiled(facts f, const ef_edge *in, ef_edge by, ef_shape *out) {
    const ef_shape *x = &fact_of(f, in[0])->shape;
    ef_shape times;
    if (!vector(f, by, DEPTH, &times) || x->rank != times.rank) return false;
    *out = *x;
    for (int d = 0; d < out->rank; d++)
        out->dim[d] =
            times.dim[d] == EF_DIM_UNKNOWN ? EF_DIM_UNKNOWN : ef_dim_mul(x->dim[d], times.dim[d]);
    return true;
}

/* Paddings that are a stack of one row per axis. */
static bool padded(facts f, const ef_edge *in, ef_edge by, ef_shape *out) {
    const ef_shape *x = &fact_of(f, in[0])->shape;
    const ef_node *n = f.g->node[by.node];
    for (int k = 0; k < DEPTH && is(n, EF_SHAPE_VALUE_SAME); k++) n = f.g->node[n->in[0].node];
    if (!is(n, EF_SHAPE_VALUE_PACKED) || int_attr(n, "axis") != 0 || x->rank != n->n_in)
        return false;
    *out = *x;
    for (int d = 0; d < out->rank; d++) {
        ef_shape row;
        bool two = vector(f, n->in[d], DEPTH, &row) && row.rank == 2;
        bool known = two && row.dim[0] != EF_DIM_UNKNOWN && row.dim[1] != EF_DIM_UNKNOWN;
        out->dim[d] =
            known ? ef_dim_add(ef_dim_add(x->dim[d], row.dim[0]), row.dim[1]) : EF_DIM_UNKNOWN;
    }
    return true;
}

static bool topmost(facts f, const ef_edge *in, ef_edge by, ef_shape *out) {
    *out = fact_of(f, in[0])->shape;
    return out->rank > 0 && scalar(f, by, DEPTH, &out->dim[out->rank - 1]);
}

static bool sized(facts f, const ef_op *op, const ef_edge *in, ef_shape *out) {
    ef_edge by = in[op->sized.in];
    switch (op->sized.by) {
    case EF_SIZED_GIVEN: return vector(f, by, DEPTH, out);
    case EF_SIZED_RESHAPED: return reshaped(f, in, by, out);
    case EF_SIZED_TILED: return tiled(f, in, by, out);
    case EF_SIZED_PADDED: return padded(f, in, by, out);
    case EF_SIZED_LAST: return topmost(f, in, by, out);
    case EF_SIZED_NOT: break;
    }
    return false;
}

void ef_graph_refine_shapes(const ef_graph *g, const ef_op *op, const ef_edge *in, int n_in,
                            bool real, ef_fact *out, int n_out) {
    ef_shape said, both;
    if (op->sized.by == EF_SIZED_NOT || op->sized.in >= n_in ||
        !sized((facts){g, real}, op, in, &said))
        return;
    for (int k = 0; k < n_out; k++) { /* both outputs of TopKV2 have the same shape */
        ef_status *s = ef_shape_merge(&out[k].shape, &said, &both);
        if (s == NULL) out[k].shape = both; /* else the op says what is wrong when it runs */
        ef_status_free(s);
    }
}

bool ef_graph_shape_element(const ef_graph *g, const ef_node *n, const ef_edge *in, int64_t *out) {
    if (!is(n, EF_SHAPE_VALUE_SLICED) && !is(n, EF_SHAPE_VALUE_GATHERED)) return false;
    return number((facts){g, false}, n, in, DEPTH, out) && *out >= 0;
}

ef_shape ef_graph_shape_value(const ef_graph *g, ef_edge e) {
    ef_shape s;
    if (!vector((facts){g, false}, e, DEPTH, &s)) return ef_unknown_shape();
    return s;
}
