/* MirrorPad and its gradient: a border that mirrors the tensor, with its outermost elements
 * (SYMMETRIC) or without them (REFLECT). */
#include "kernels/block_add.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include <string.h>

typedef struct {
    int mode;
} mirror_attrs;
enum { REFLECT, SYMMETRIC };
#define MODE \
    { EF_ATTR(mirror_attrs, mode, "{'REFLECT', 'SYMMETRIC'}", NULL) }

static ef_status *check_pads(const ef_op *op, int mode, int d, int64_t size, int64_t before,
                             int64_t after) {
    int64_t most = mode == REFLECT ? size - 1 : size;
    if (before < 0 || after < 0)
        return ef_error(EF_INVALID,
                        "%s: paddings must be non-negative, but axis %d has %lld and %lld",
                        op->name, d, (long long)before, (long long)after);
    if (size >= 0 && (before > most || after > most))
        return ef_error(EF_INVALID,
                        "%s: paddings must be %s the dimension size: %lld, %lld, size %lld (axis "
                        "%d)",
                        op->name, mode == REFLECT ? "less than" : "no greater than",
                        (long long)before, (long long)after, (long long)size, d);
    return NULL;
}

static ef_status *mirror_dims(ef_infer *i, bool grow) {
    const ef_shape *x = &i->in[0].shape, *p = &i->in[1].shape;
    const ef_tensor *t = i->in[1].value;
    int mode = ((const mirror_attrs *)i->attrs)->mode;
    EF_TRY(ef_need_rank(i, 1, 2));
    int64_t rank = x->rank >= 0 ? x->rank : p->rank == 2 ? p->dim[0] : -1;
    if (p->rank == 2 && (!ef_dim_may_equal(p->dim[1], 2) || !ef_dim_may_equal(p->dim[0], rank)))
        return ef_error(EF_INVALID,
                        "%s: paddings must be a matrix with 2 columns and a row per axis of the "
                        "input, whose shape is %s, but is %s",
                        i->op->name, EF_SHAPE(x), EF_SHAPE(p));
    if (rank < 0) return NULL;
    EF_TRY(ef_need_rank_held(i->op, rank));
    ef_shape out = ef_shape_of_rank((int)rank);
    for (int d = 0; t != NULL && d < rank; d++) {
        int64_t before = ef_element_int((ef_dtype)t->dtype, t->data, 2 * d);
        int64_t after = ef_element_int((ef_dtype)t->dtype, t->data, 2 * d + 1);
        int64_t size = x->rank < 0 ? EF_DIM_UNKNOWN : x->dim[d];
        if (before < 0 || after < 0) EF_TRY(check_pads(i->op, mode, d, -1, before, after));
        if (before > INT32_MAX || after > INT32_MAX)
            return ef_error(EF_INVALID, "%s: paddings of axis %d are too large", i->op->name, d);
        if (!grow && size >= 0) size -= before + after;
        if (!grow && x->rank >= 0 && x->dim[d] >= 0 && size < 0)
            return ef_error(
                EF_INVALID, "%s: axis %d has size %lld, less than its paddings %lld and %lld",
                i->op->name, d, (long long)x->dim[d], (long long)before, (long long)after);
        EF_TRY(check_pads(i->op, mode, d, size, before, after));
        if (grow)
            out.dim[d] = ef_dim_add(size, before + after);
        else
            out.dim[d] = size >= 0 || before + after == 0 ? size : EF_DIM_UNKNOWN;
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *mirror_shape(ef_infer *i) { return mirror_dims(i, true); }
static ef_status *mirror_grad_shape(ef_infer *i) { return mirror_dims(i, false); }

/* The padded (big) tensor is divided, along each axis, into the part before, the middle and the
 * part after; `each` is called for every combination of parts. */
typedef struct {
    const ef_tensor *small, *big;
    int mode;
    int64_t before[EF_MAX_RANK], in_small[EF_MAX_RANK], in_big[EF_MAX_RANK];
    ef_dtype t;
    const char *from;
    char *to;
    int64_t to_size;
    bool add; /* adds big onto small; otherwise copies small into big */
} pieces;

static ef_status *walk_pieces(pieces *p, int d, ef_block *b, int64_t small, int64_t big) {
    if (d == p->small->rank) {
        int64_t size = (int64_t)ef_dtype_size(p->t);
        if (p->add) {
            ef_block_add(p->t, p->to + small * p->to_size, p->from + big * size, b);
            return NULL;
        }
        return ef_block_copy(p->t, p->to + big * size, p->from + small * size, b);
    }
    int64_t n = p->small->dim[d], before = p->before[d], after = p->big->dim[d] - n - before;
    int64_t skip = p->mode == REFLECT ? 1 : 0, ss = p->in_small[d], bs = p->in_big[d];
    struct {
        int64_t n, small, big, step;
    } part[3] = {{before, before - 1 + skip, 0, -ss},
                 {n, 0, before, ss},
                 {after, n - 1 - skip, before + n, -ss}};
    for (int k = 0; k < 3; k++) {
        if (part[k].n == 0) continue;
        ef_block_axis(b, part[k].n, p->add ? bs : part[k].step, p->add ? part[k].step : bs);
        EF_TRY(walk_pieces(p, d + 1, b, small + part[k].small * ss, big + part[k].big * bs));
        b->rank = d;
    }
    return NULL;
}

static ef_status *start(const ef_call *c, const ef_tensor *small, const ef_tensor *big, pieces *p) {
    int mode = ((const mirror_attrs *)c->attrs)->mode;
    *p = (pieces){.small = small,
                  .big = big,
                  .mode = mode,
                  .t = (ef_dtype)small->dtype,
                  .from = c->in[0]->data};
    for (int d = 0; d < small->rank; d++) {
        int64_t after = ef_in_int(c, 1, 2 * d + 1);
        p->before[d] = ef_in_int(c, 1, 2 * d);
        EF_TRY(check_pads(c->op, mode, d, small->dim[d], p->before[d], after));
        if (p->before[d] + after + small->dim[d] != big->dim[d])
            return ef_error(EF_INVALID, "%s: paddings of axis %d do not fit the shapes",
                            c->op->name, d);
    }
    ef_steps(small, p->in_small);
    ef_steps(big, p->in_big);
    return NULL;
}

static ef_status *mirror_run(const ef_call *c) {
    pieces p;
    ef_block b = {0};
    EF_TRY(start(c, c->in[0], c->out[0], &p));
    EF_TRY(ef_out_memory(c, 0));
    p.to = c->out[0]->data;
    return ef_count(c->out[0]) == 0 ? NULL : walk_pieces(&p, 0, &b, 0, 0);
}

static ef_status *mirror_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "MirrorPadGrad", NULL, 0, 2, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_MirrorPad = {
    EF_NAMED(MirrorPad),
    .doc = "Pads `input` with its own mirror image; REFLECT leaves out the outermost elements, "
           "SYMMETRIC repeats them.",
    .in = {"input: T", "paddings: Tpaddings"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tpaddings: {int32, int64} = int32",
    .attr = MODE,
    .attr_size = sizeof(mirror_attrs),
    .keeps = EF_KEEP_IN(1),
    .sized = {EF_SIZED_PADDED, 1},
    .shape = mirror_shape,
    .kernel = EF_MOVE_KERNEL_OF(mirror_run, EF_QUANTIZED_USUAL),
    .grad = mirror_grad,
    .examples = {"float[3,4] int32[2,2]{1,2,0,3} mode='REFLECT'",
                 "double[2,3] int64[2,2]{2,1,0,3} mode='SYMMETRIC'",
                 "float[] int32[0,2] mode='REFLECT'",
                 "string[2]{a,b} int32[1,2]{1,1} mode='REFLECT'"},
};

static size_t mirror_grad_scratch(const ef_call *c) {
    ef_dtype t = (ef_dtype)c->out[0]->dtype;
    return ef_sum_dtype(t) == t ? 0 : (size_t)ef_count(c->out[0]) * sizeof(float);
}

static ef_status *mirror_grad_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype, sum = ef_sum_dtype(t);
    void *sums = sum == t ? o->data : c->scratch;
    pieces p;
    ef_block b = {0};
    EF_TRY(start(c, o, c->in[0], &p));
    if (ef_count(o) == 0) return NULL;
    EF_TRY(ef_zero_elements(sum, sums, ef_count(o)));
    p.add = true;
    p.to = sums;
    p.to_size = (int64_t)ef_dtype_size(sum);
    EF_TRY(walk_pieces(&p, 0, &b, 0, 0));
    ef_round_sums(t, o->data, sums, ef_count(o));
    return NULL;
}

static ef_status *mirror_grad_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "MirrorPad", NULL, 0, 2, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_MirrorPadGrad = {
    EF_NAMED(MirrorPadGrad),
    .doc =
        "The gradient of MirrorPad: adds the elements of the border to the elements they mirror.",
    .in = {"input: T", "paddings: Tpaddings"},
    .out = {"output: T"},
    .types = "T: " EF_NUMBER_TYPES "; Tpaddings: {int32, int64} = int32",
    .attr = MODE,
    .attr_size = sizeof(mirror_attrs),
    .keeps = EF_KEEP_IN(1),
    .shape = mirror_grad_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, mirror_grad_run, mirror_grad_scratch, NULL, NULL, NULL}},
    .grad = mirror_grad_grad,
    .examples = {"float[6,7] int32[2,2]{1,2,0,3} mode='REFLECT'",
                 "double[5,6] int64[2,2]{2,1,0,3} mode='SYMMETRIC'",
                 "half[4] int32[1,2]{1,1} mode='REFLECT'"},
};
