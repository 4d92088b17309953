/* Reverse, ReverseV2, ReverseSequence, Roll: elements reversed or shifted along their axes. */
#include "ops/array/array.h"
#include "ops/build.h"

static const char *element(ef_dtype t, const void *p, int64_t k) {
    return (const char *)p + k * (int64_t)ef_dtype_size(t);
}

/* Copies in[0] with the marked axes reversed. */
static ef_status *reverse_axes(const ef_call *c, const bool *back) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t from[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0}, first = 0;
    ef_block b;
    b.rank = 0;
    EF_TRY(ef_out_memory(c, 0));
    if (ef_count(x) == 0) return NULL;
    ef_steps(x, from);
    ef_steps(c->out[0], to);
    for (int d = 0; d < x->rank; d++) {
        if (back[d]) first += (x->dim[d] - 1) * from[d];
        ef_block_axis(&b, x->dim[d], back[d] ? -from[d] : from[d], to[d]);
    }
    return ef_block_copy(t, c->out[0]->data, element(t, x->data, first), &b);
}

static ef_status *reverse_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 1, 1));
    const ef_shape *x = &i->in[0].shape, *dims = &i->in[1].shape;
    if (x->rank >= 0 && dims->rank == 1 && !ef_dim_may_equal(dims->dim[0], x->rank))
        return ef_error(
            EF_INVALID,
            "Reverse: 'dims' must have one entry per axis, but has %lld for a tensor of "
            "rank %d",
            (long long)dims->dim[0], x->rank);
    return ef_shape_same(i);
}

static ef_status *reverse_run(const ef_call *c) {
    bool back[EF_MAX_RANK];
    if (ef_count(c->in[1]) != c->in[0]->rank)
        return ef_error(EF_INVALID, "Reverse: 'dims' must have one entry per axis");
    for (int d = 0; d < c->in[0]->rank; d++) back[d] = ((const bool *)c->in[1]->data)[d];
    return reverse_axes(c, back);
}

static ef_status *reverse_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, g->op->name, 2, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_Reverse = {
    EF_NAMED(Reverse),
    .doc = "Reverses `tensor` along each axis d for which `dims[d]` is true.",
    .in = {"tensor: T", "dims: bool"},
    .out = {"output: T"},
    .types = "T: " EF_COMPUTED_AND_STRING,
    .keeps = EF_KEEP_IN(1),
    .shape = reverse_shape,
    .kernel = EF_MOVE_KERNEL(reverse_run),
    .grad = reverse_grad,
    .examples = {"float[2,3] bool[2]{0,1}", "double[3] bool[1]{1}", "string[2]{a,b} bool[1]{1}"},
};

static ef_status *read_axes(const ef_op *op, const ef_tensor *axes, int rank, bool *back) {
    for (int d = 0; d < rank; d++) back[d] = false;
    for (int64_t k = 0; k < ef_count(axes); k++) {
        int d = 0;
        EF_TRY(ef_need_axis(op, ef_element_int((ef_dtype)axes->dtype, axes->data, k), rank, &d));
        if (back[d])
            return ef_error(EF_INVALID, "%s: axis %d specified more than once", op->name, d);
        back[d] = true;
    }
    return NULL;
}

static ef_status *reverse2_shape(ef_infer *i) {
    bool back[EF_MAX_RANK];
    EF_TRY(ef_need_rank(i, 1, 1));
    if (i->in[1].value != NULL && i->in[0].shape.rank > 0) /* a scalar has no axes to check */
        EF_TRY(read_axes(i->op, i->in[1].value, i->in[0].shape.rank, back));
    return ef_shape_same(i);
}

static ef_status *reverse2_check(ef_infer *i) {
    bool back[EF_MAX_RANK];
    if (i->in[1].value == NULL || i->in[0].shape.rank < 0) return NULL;
    return read_axes(i->op, i->in[1].value, i->in[0].shape.rank, back);
}

static ef_status *reverse2_run(const ef_call *c) {
    bool back[EF_MAX_RANK] = {false};
    if (c->in[0]->rank > 0) EF_TRY(read_axes(c->op, c->in[1], c->in[0]->rank, back));
    return reverse_axes(c, back);
}

const ef_op ef_op_ReverseV2 = {
    EF_NAMED(ReverseV2),
    .doc = "Reverses `tensor` along the given axes.",
    .in = {"tensor: T", "axis: Tidx"},
    .out = {"output: T"},
    .types = "Tidx: {int32, int64} = int32; T: " EF_COMPUTED_AND_STRING,
    .keeps = EF_KEEP_IN(1),
    .shape = reverse2_shape,
    .graph_check = reverse2_check,
    .kernel = EF_ANY_KERNEL(reverse2_run),
    .grad = reverse_grad,
    .examples = {"float[2,3] int32[1]{1}", "double[2,3,2] int64[2]{0,-1}", "float[] int32[0]",
                 "string[2]{a,b} int32[1]{0}", "int32[0,3] int32[1]{1}"},
};

/* ---- ReverseSequence --------------------------------------------------------------------------
 */

typedef struct {
    int64_t seq_dim, batch_dim;
} sequence_attrs;

/* Reads seq_dim and batch_dim for a tensor of known rank. */
static ef_status *sequence_axes(const ef_op *op, const sequence_attrs *a, int rank, int *seq,
                                int *batch) {
    if (a->seq_dim < 0 || a->batch_dim < 0) /* negative axes are not allowed here */
        return ef_error(EF_INVALID, "ReverseSequence: seq_dim %lld and batch_dim %lld must be >= 0",
                        (long long)a->seq_dim, (long long)a->batch_dim);
    EF_TRY(ef_need_axis(op, a->seq_dim, rank, seq));
    EF_TRY(ef_need_axis(op, a->batch_dim, rank, batch));
    if (*seq == *batch)
        return ef_error(EF_INVALID, "ReverseSequence: batch_dim == seq_dim == %d; they must differ",
                        *seq);
    return NULL;
}

static ef_status *sequence_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *n = &i->in[1].shape;
    int seq = 0, batch = 0;
    EF_TRY(ef_need_rank(i, 1, 1));
    if (x->rank >= 0) {
        EF_TRY(sequence_axes(i->op, i->attrs, x->rank, &seq, &batch));
        if (n->rank == 1 && !ef_dim_may_equal(n->dim[0], x->dim[batch]))
            return ef_error(EF_INVALID,
                            "ReverseSequence: Length of seq_lengths != input.dims(%d), (%lld vs. "
                            "%lld)",
                            batch, (long long)n->dim[0], (long long)x->dim[batch]);
    }
    return ef_shape_same(i);
}

/* Copies positions [begin, begin + n) along axis seq, for one entry of the batch, reversed or
 * not. */
static ef_status *copy_sequence(const ef_call *c, int seq, int batch, int64_t entry, int64_t begin,
                                int64_t n, bool back) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t step[EF_MAX_RANK] = {0};
    ef_block b;
    b.rank = 0;
    if (n <= 0) return NULL;
    ef_steps(x, step);
    int64_t to = entry * step[batch] + begin * step[seq];
    int64_t from = back ? to + (n - 1) * step[seq] : to;
    for (int d = 0; d < x->rank; d++) {
        if (d == batch) continue;
        ef_block_axis(&b, d == seq ? n : x->dim[d], d == seq && back ? -step[d] : step[d], step[d]);
    }
    return ef_block_copy(t, (char *)c->out[0]->data + to * (int64_t)ef_dtype_size(t),
                         element(t, x->data, from), &b);
}

static ef_status *sequence_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int seq = 0, batch = 0;
    EF_TRY(sequence_axes(c->op, c->attrs, x->rank, &seq, &batch));
    EF_TRY(ef_out_memory(c, 0));
    if (ef_count(c->in[1]) != x->dim[batch])
        return ef_error(EF_INVALID, "ReverseSequence: Length of seq_lengths != input.dims(%d)",
                        batch);
    for (int64_t e = 0; e < x->dim[batch]; e++) {
        int64_t n = ef_in_int(c, 1, e);
        if (n < 0 || n > x->dim[seq])
            return ef_error(EF_INVALID,
                            "ReverseSequence: seq_lens(%lld) = %lld must be in [0, "
                            "input.dims(%d)] = [0, %lld]",
                            (long long)e, (long long)n, seq, (long long)x->dim[seq]);
    }
    if (ef_count(x) == 0) return NULL;
    for (int64_t e = 0; e < x->dim[batch]; e++) {
        int64_t n = ef_in_int(c, 1, e);
        EF_TRY(copy_sequence(c, seq, batch, e, 0, n, true));
        EF_TRY(copy_sequence(c, seq, batch, e, n, x->dim[seq] - n, false));
    }
    return NULL;
}

static ef_status *sequence_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "ReverseSequence", NULL, 0, 2, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_ReverseSequence = {
    EF_NAMED(ReverseSequence),
    .doc = "For each entry of axis `batch_dim`, reverses the first `seq_lengths` elements along "
           "`seq_dim` and copies the rest.",
    .in = {"input: T", "seq_lengths: Tlen"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tlen: {int32, int64} = int64",
    .attr = {EF_ATTR(sequence_attrs, seq_dim, "int", NULL),
             EF_ATTR(sequence_attrs, batch_dim, "int", "0")},
    .attr_size = sizeof(sequence_attrs),
    .keeps = EF_KEEP_IN(1),
    .shape = sequence_shape,
    .kernel = EF_MOVE_KERNEL(sequence_run),
    .grad = sequence_grad,
    .examples = {"float[2,4] int64[2]{3,0} seq_dim=1",
                 "double[4,2,3] int32[3]{4,1,2} seq_dim=0 batch_dim=2",
                 "string[1,2]{a,b} int64[1]{2} seq_dim=1", "int32[0,3] int64[0] seq_dim=1"},
};

/* ---- Roll -------------------------------------------------------------------------------------
 */

static ef_status *roll_shape(ef_infer *i) {
    for (int k = 1; k < 3; k++) EF_TRY(ef_need_vector(i, k, true));
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    const ef_shape *s = &i->in[1].shape, *a = &i->in[2].shape;
    if (s->rank >= 0 && a->rank >= 0 && !ef_shape_may_equal(s, a))
        return ef_error(EF_INVALID,
                        "Roll: shift and axis must have the same size, but shift is %s and axis "
                        "is %s",
                        EF_SHAPE(s), EF_SHAPE(a));
    return ef_shape_same(i);
}

/* Copies the pieces into which rolling divides axes d and later: two per axis at most. */
static ef_status *roll_pieces(const ef_call *c, const int64_t *shift, int d, ef_block *b,
                              int64_t from, int64_t to) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t step[EF_MAX_RANK] = {0};
    if (d == x->rank)
        return ef_block_copy(t, (char *)c->out[0]->data + to * (int64_t)ef_dtype_size(t),
                             element(t, x->data, from), b);
    ef_steps(x, step);
    int64_t n = x->dim[d], s = shift[d];
    ef_block_axis(b, n - s, step[d], step[d]);
    EF_TRY(roll_pieces(c, shift, d + 1, b, from, to + s * step[d]));
    b->rank = d;
    if (s == 0) return NULL;
    ef_block_axis(b, s, step[d], step[d]);
    EF_TRY(roll_pieces(c, shift, d + 1, b, from + (n - s) * step[d], to));
    b->rank = d;
    return NULL;
}

static ef_status *roll_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int64_t shift[EF_MAX_RANK] = {0};
    ef_block b;
    b.rank = 0;
    if (ef_count(c->in[1]) != ef_count(c->in[2]))
        return ef_error(EF_INVALID, "Roll: shift and axis must have the same size");
    for (int64_t k = 0; k < ef_count(c->in[2]); k++) {
        int d = 0;
        EF_TRY(ef_need_axis(c->op, ef_in_int(c, 2, k), x->rank, &d));
        if (x->dim[d] == 0) continue;
        int64_t s = ef_in_int(c, 1, k) % x->dim[d];
        shift[d] = (shift[d] + s + x->dim[d]) % x->dim[d];
    }
    EF_TRY(ef_out_memory(c, 0));
    return ef_count(x) == 0 ? NULL : roll_pieces(c, shift, 0, &b, 0, 0);
}

static ef_status *roll_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "Roll", 3, g->dout[0], ef_neg(g->b, g->in[1]), g->in[2]);
    return NULL;
}

const ef_op ef_op_Roll = {
    EF_NAMED(Roll),
    .doc = "Shifts elements by `shift` along `axis`; those shifted past the end reappear at the "
           "beginning.",
    .in = {"input: T", "shift: Tshift", "axis: Taxis"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tshift: {int32, int64}; Taxis: {int32, int64}",
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = roll_shape,
    .kernel = EF_MOVE_KERNEL(roll_run),
    .grad = roll_grad,
    .examples = {"float[5] int32[]{2} int32[]{0}", "double[3,4] int64[2]{-1,6} int32[2]{0,1}",
                 "float[2,3] int32[3]{1,1,1} int64[3]{1,-1,0}", "int32[0,3] int32[]{1} int32[]{0}",
                 "string[3]{a,b,c} int32[]{-1} int32[]{0}"},
};
