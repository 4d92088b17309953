/* SpaceToBatch, BatchToSpace and their ND forms; SpaceToDepth, DepthToSpace. Each moves the
 * positions inside small blocks of the spatial axes into the batch or the channels, or back.
 *
 * In the batch forms, element (b, i_1 ... i_m) of the unpadded tensor has the position p_k = (i_k +
 * before_k) mod block_k inside its block, and this position becomes the leading part of the batch
 * index. */
#include "ops/array/array.h"
#include "ops/build.h"

typedef struct {
    int m; /* number of spatial axes */
    int64_t block[EF_MAX_RANK], before[EF_MAX_RANK], after[EF_MAX_RANK];
} blocks;

static int64_t number(const ef_tensor *t, int64_t k) {
    return ef_element_int((ef_dtype)t->dtype, t->data, k);
}

/* block: NULL if all axes have the same block size. pads: [m, 2]. */
static ef_status *read_blocks(const ef_op *op, const ef_tensor *block, int64_t size,
                              const ef_tensor *pads, blocks *out) {
    int64_t m = block ? ef_count(block) : 2;
    if (m > EF_MAX_RANK - 1)
        return ef_error(EF_INVALID,
                        "%s: block_shape has %lld entries; a tensor has at most %d axes", op->name,
                        (long long)m, EF_MAX_RANK);
    if (pads->rank != 2 || pads->dim[0] != m || pads->dim[1] != 2)
        return ef_error(EF_INVALID, "%s: paddings or crops must have shape [%lld, 2], but are %s",
                        op->name, (long long)m, EF_TENSOR(pads));
    out->m = (int)m;
    for (int k = 0; k < m; k++) {
        out->block[k] = block ? number(block, k) : size;
        out->before[k] = number(pads, 2 * k);
        out->after[k] = number(pads, 2 * k + 1);
        if (out->block[k] < 1 || out->block[k] > INT32_MAX)
            return ef_error(EF_INVALID,
                            "%s: All values in block_shape must be positive, got value, %lld at "
                            "index %d",
                            op->name, (long long)out->block[k], k);
        if (out->before[k] < 0 || out->after[k] < 0 || out->before[k] > INT32_MAX ||
            out->after[k] > INT32_MAX)
            return ef_error(EF_INVALID,
                            "%s: All paddings and crops must be non-negative, got %lld and %lld at "
                            "index %d",
                            op->name, (long long)out->before[k], (long long)out->after[k], k);
    }
    return NULL;
}

typedef struct {
    int64_t block_size;
} size_attrs;

static bool has_block_input(const ef_op *op) {
    return op->id == EF_OP_SpaceToBatchND || op->id == EF_OP_BatchToSpaceND;
}
static bool to_batch(const ef_op *op) {
    return op->id == EF_OP_SpaceToBatchND || op->id == EF_OP_SpaceToBatch;
}

/* Divides n, or fails with the name of what is not divisible. */
static ef_status *divided(const ef_op *op, int64_t n, int64_t by, const char *what, int64_t *out) {
    if (n >= 0 && n % by != 0)
        return ef_error(EF_INVALID, "%s: %s %lld is not divisible by %lld", op->name, what,
                        (long long)n, (long long)by);
    *out = ef_dim_div(n, by);
    return NULL;
}

static ef_status *batch_dims(const ef_op *op, const ef_shape *x, const blocks *b, ef_shape *out) {
    int64_t all = 1;
    *out = *x;
    for (int k = 0; k < b->m; k++) {
        if (b->block[k] > INT64_MAX / all)
            return ef_error(EF_INVALID, "%s: the product of the block sizes is too large",
                            op->name);
        all *= b->block[k];
    }
    if (to_batch(op)) {
        out->dim[0] = x->dim[0] > INT64_MAX / 16 / all ? INT64_MAX : ef_dim_mul(x->dim[0], all);
        for (int k = 0; k < b->m; k++)
            EF_TRY(divided(op, ef_dim_add(x->dim[k + 1], b->before[k] + b->after[k]), b->block[k],
                           "padded size", &out->dim[k + 1]));
    } else {
        EF_TRY(divided(op, x->dim[0], all, "Input batch dimension", &out->dim[0]));
        for (int k = 0; k < b->m; k++) {
            int64_t full = x->dim[k + 1] > INT64_MAX / 16 / b->block[k]
                               ? INT64_MAX / 2
                               : ef_dim_mul(x->dim[k + 1], b->block[k]);
            int64_t crop = b->before[k] + b->after[k];
            if (full >= 0 && full < crop)
                return ef_error(EF_INVALID,
                                "%s: cropped_shape[%d] = %lld - %lld must be non-negative",
                                op->name, k, (long long)full, (long long)crop);
            out->dim[k + 1] = full >= 0 || crop == 0 ? ef_dim_sub(full, crop) : EF_DIM_UNKNOWN;
        }
    }
    return ef_need_size_held(op, out);
}

static ef_status *batch_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    bool nd = has_block_input(i->op);
    const ef_tensor *block = nd ? i->in[1].value : NULL, *pads = i->in[nd ? 2 : 1].value;
    blocks b;
    if (nd) EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, nd ? 2 : 1, 2));
    if (!nd) EF_TRY(ef_need_rank(i, 0, 4));
    if (x->rank < 0) return NULL;
    if ((nd && block == NULL) || pads == NULL) {
        const ef_shape *rows = &i->in[nd ? 2 : 1].shape, *sides = &i->in[1].shape;
        int64_t m = rows->rank == 2 && rows->dim[0] >= 0 ? rows->dim[0]
                    : nd && sides->rank == 1             ? sides->dim[0]
                                                         : EF_DIM_UNKNOWN;
        i->out[0].shape = ef_shape_of_rank(x->rank);
        for (int64_t d = 1; m >= 0 && d < x->rank; d++) /* axes after the blocks are unchanged */
            if (d > m) i->out[0].shape.dim[d] = x->dim[d];
        return NULL;
    }
    EF_TRY(
        read_blocks(i->op, block, nd ? 0 : ((const size_attrs *)i->attrs)->block_size, pads, &b));
    if (x->rank < 1 + b.m)
        return ef_error(EF_INVALID, "%s: input rank should be >= %d instead of %d", i->op->name,
                        1 + b.m, x->rank);
    return batch_dims(i->op, x, &b, &i->out[0].shape);
}

/* Copies the elements at one position of all blocks between the big tensor (unblocked) and the
 * small one. */
static ef_status *move_place(const ef_call *c, const blocks *b, const int64_t *place,
                             int64_t number_of) {
    bool into = to_batch(c->op);
    const ef_tensor *big = into ? c->in[0] : c->out[0], *small = into ? c->out[0] : c->in[0];
    ef_dtype t = (ef_dtype)big->dtype;
    int64_t in_big[EF_MAX_RANK] = {0}, in_small[EF_MAX_RANK] = {0};
    ef_block x = {0};
    ef_steps(big, in_big);
    ef_steps(small, in_small);
    int64_t at_big = 0, at_small = number_of * big->dim[0] * in_small[0];
    ef_block_axis(&x, big->dim[0], into ? in_big[0] : in_small[0], into ? in_small[0] : in_big[0]);
    for (int d = 1; d < big->rank; d++) {
        int64_t n = big->dim[d], step = in_big[d];
        if (d <= b->m) {
            int64_t size = b->block[d - 1], shift = place[d - 1] - b->before[d - 1];
            /* First block that contains it. */
            int64_t low = shift >= 0 ? 0 : (-shift + size - 1) / size;
            int64_t first = low * size + shift;
            n = first >= n ? 0 : (n - 1 - first) / size + 1;
            if (n == 0) return NULL;
            at_big += first * step;
            at_small += low * in_small[d];
            step *= size;
        }
        ef_block_axis(&x, n, into ? step : in_small[d], into ? in_small[d] : step);
    }
    int64_t size = (int64_t)ef_dtype_size(t);
    return ef_block_copy(t, (char *)c->out[0]->data + (into ? at_small : at_big) * size,
                         (const char *)c->in[0]->data + (into ? at_big : at_small) * size, &x);
}

static ef_status *batch_run(const ef_call *c) {
    bool nd = has_block_input(c->op), padded = false;
    ef_tensor *o = c->out[0];
    int64_t place[EF_MAX_RANK] = {0}, all = 1;
    blocks b;
    EF_TRY(read_blocks(c->op, nd ? c->in[1] : NULL,
                       nd ? 0 : ((const size_attrs *)c->attrs)->block_size, c->in[nd ? 2 : 1], &b));
    EF_TRY(ef_out_memory(c, 0));
    if (ef_count(o) == 0) return NULL;
    for (int k = 0; k < b.m; k++) {
        all *= b.block[k];
        padded = padded || b.before[k] + b.after[k] > 0;
    }
    if (padded && to_batch(c->op))
        EF_TRY(ef_zero_elements((ef_dtype)o->dtype, o->data, ef_count(o)));
    for (int64_t j = 0; j < all; j++) {
        EF_TRY(move_place(c, &b, place, j));
        for (int k = b.m - 1; k >= 0 && ++place[k] == b.block[k]; k--) place[k] = 0;
    }
    return NULL;
}

static ef_status *batch_grad(ef_grad *g) {
    bool nd = has_block_input(g->op);
    const char *back = nd ? (to_batch(g->op) ? "BatchToSpaceND" : "SpaceToBatchND")
                          : (to_batch(g->op) ? "BatchToSpace" : "SpaceToBatch");
    g->din[0] = nd ? ef_emit(g->b, back, 3, g->dout[0], g->in[1], g->in[2])
                   : ef_emit_like(g, back, NULL, 0, 2, g->dout[0], g->in[1]);
    return NULL;
}

#define BATCH_ND(N, words, pads, tpads, ...)                                           \
    const ef_op ef_op_##N = {                                                          \
        EF_NAMED(N),                                                                   \
        .doc = words,                                                                  \
        .in = {"input: T", "block_shape: Tblock_shape", pads ": " tpads},              \
        .out = {"output: T"},                                                          \
        .types = "T: " EF_PLAIN_TYPES "; Tblock_shape: {int32, int64} = int32; " tpads \
                 ": {int32, int64} = int32",                                           \
        .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),                                        \
        .shape = batch_shape,                                                          \
        .kernel = EF_MOVE_KERNEL(batch_run),                                           \
        .grad = batch_grad,                                                            \
        .examples = {__VA_ARGS__},                                                     \
    };
BATCH_ND(SpaceToBatchND,
         "Pads the spatial axes and moves the positions inside blocks of them into the batch.",
         "paddings", "Tpaddings", "float[1,4,6,2] int32[2]{2,3} int32[2,2]{0,0,0,0}",
         "double[2,3,2] int64[1]{2} int64[1,2]{1,0}", "float[1,2] int32[0] int32[0,2]",
         "int32[1,3,5] int32[2]{2,2} int32[2,2]{1,0,0,1}")
BATCH_ND(BatchToSpaceND,
         "Moves parts of the batch back into blocks of the spatial axes and crops these.", "crops",
         "Tcrops", "float[6,2,2,2] int32[2]{2,3} int32[2,2]{0,0,0,0}",
         "double[4,2,2] int64[1]{2} int64[1,2]{1,0}", "float[1,2] int32[0] int32[0,2]",
         "int32[4,2,3] int32[2]{2,2} int32[2,2]{1,0,0,1}")

#define BATCH_4D(N, words, pads, tpads, ...)                                 \
    const ef_op ef_op_##N = {                                                \
        EF_NAMED(N),                                                         \
        .doc = words,                                                        \
        .in = {"input: T", pads ": " tpads},                                 \
        .out = {"output: T"},                                                \
        .types = "T: " EF_PLAIN_TYPES "; " tpads ": {int32, int64} = int32", \
        .attr = {EF_ATTR(size_attrs, block_size, "int >= 2", NULL)},         \
        .attr_size = sizeof(size_attrs),                                     \
        .keeps = EF_KEEP_IN(1),                                              \
        .shape = batch_shape,                                                \
        .kernel = EF_MOVE_KERNEL(batch_run),                                 \
        .grad = batch_grad,                                                  \
        .examples = {__VA_ARGS__},                                           \
    };
BATCH_4D(SpaceToBatch,
         "Pads height and width and moves the positions inside square blocks into the batch.",
         "paddings", "Tpaddings", "float[1,4,2,3] int32[2,2]{0,0,0,0} block_size=2",
         "double[1,3,3,1] int64[2,2]{1,0,0,1} block_size=2")
BATCH_4D(BatchToSpace,
         "Moves parts of the batch back into square blocks of height and width and crops.", "crops",
         "Tidx", "float[4,2,1,3] int32[2,2]{0,0,0,0} block_size=2",
         "double[4,2,2,1] int64[2,2]{1,0,0,1} block_size=2")

/* ---- depth ------------------------------------------------------------------------------------
 */

typedef struct {
    int64_t block_size;
    int data_format;
} depth_attrs;
enum { NHWC, NCHW, NCHW_VECT_C };

/* The axes of height, width and channels. */
static ef_status *depth_axes(const ef_op *op, const depth_attrs *a, int *h, int *w, int *ch) {
    if (a->data_format == NCHW_VECT_C)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: data_format NCHW_VECT_C has no kernel on the CPU; use NHWC or "
                        "NCHW",
                        op->name);
    *ch = a->data_format == NHWC ? 3 : 1;
    *h = a->data_format == NHWC ? 1 : 2;
    *w = *h + 1;
    return NULL;
}

static ef_status *depth_shape(ef_infer *i) {
    const depth_attrs *a = i->attrs;
    const ef_shape *x = &i->in[0].shape;
    int64_t n = a->block_size, square;
    int h = 1, w = 2, ch = 3;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(depth_axes(i->op, a, &h, &w, &ch));
    if (n > 46340)
        return ef_error(EF_INVALID, "%s: block_size %lld is too large", i->op->name, (long long)n);
    if (x->rank < 0) {
        i->out[0].shape = ef_shape_of_rank(4);
        return NULL;
    }
    square = n * n;
    ef_shape out = *x;
    if (i->op->id == EF_OP_SpaceToDepth) {
        EF_TRY(divided(i->op, x->dim[h], n, "Image height", &out.dim[h]));
        EF_TRY(divided(i->op, x->dim[w], n, "Image width", &out.dim[w]));
        out.dim[ch] =
            x->dim[ch] > INT64_MAX / 16 / square ? INT64_MAX : ef_dim_mul(x->dim[ch], square);
    } else {
        EF_TRY(divided(i->op, x->dim[ch], square, "Input depth dimension", &out.dim[ch]));
        out.dim[h] = x->dim[h] > INT64_MAX / 16 / n ? INT64_MAX : ef_dim_mul(x->dim[h], n);
        out.dim[w] = x->dim[w] > INT64_MAX / 16 / n ? INT64_MAX : ef_dim_mul(x->dim[w], n);
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

/* One copy with six axes: batch, blocks down, rows in a block, blocks across, columns, channels. */
static ef_status *depth_run(const ef_call *c) {
    const depth_attrs *a = c->attrs;
    bool into = c->op->id == EF_OP_SpaceToDepth;
    const ef_tensor *space = into ? c->in[0] : c->out[0], *depth = into ? c->out[0] : c->in[0];
    int64_t s[EF_MAX_RANK] = {0}, d[EF_MAX_RANK] = {0}, n = a->block_size;
    int h = 1, w = 2, ch = 3;
    EF_TRY(depth_axes(c->op, a, &h, &w, &ch));
    EF_TRY(ef_out_memory(c, 0));
    ef_steps(space, s);
    ef_steps(depth, d);
    int64_t channels = space->dim[ch];
    struct {
        int64_t dim, space, depth;
    } axis[6] = {{space->dim[0], s[0], d[0]},     {depth->dim[h], s[h] * n, d[h]},
                 {depth->dim[w], s[w] * n, d[w]}, {n, s[h], n * channels * d[ch]},
                 {n, s[w], channels * d[ch]},     {channels, s[ch], d[ch]}};
    static const int nhwc_depth[6] = {0, 1, 2, 3, 4, 5}, nhwc_space[6] = {0, 1, 3, 2, 4, 5};
    static const int nchw_depth[6] = {0, 3, 4, 5, 1, 2}, nchw_space[6] = {0, 5, 1, 3, 2, 4};
    const int *order = a->data_format == NHWC ? (into ? nhwc_depth : nhwc_space)
                                              : (into ? nchw_depth : nchw_space);
    ef_block b = {0};
    for (int k = 0; k < 6; k++) {
        int j = order[k];
        ef_block_axis(&b, axis[j].dim, into ? axis[j].space : axis[j].depth,
                      into ? axis[j].depth : axis[j].space);
    }
    return ef_block_copy((ef_dtype)space->dtype, c->out[0]->data, c->in[0]->data, &b);
}

static ef_status *depth_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, g->op->id == EF_OP_SpaceToDepth ? "DepthToSpace" : "SpaceToDepth",
                             NULL, 0, 1, g->dout[0]);
    return NULL;
}

#define DEPTH(N, words, ...)                                                                      \
    const ef_op ef_op_##N = {                                                                     \
        EF_NAMED(N),                                                                              \
        .doc = words,                                                                             \
        .in = {"input: T"},                                                                       \
        .out = {"output: T"},                                                                     \
        .types = "T: " EF_PLAIN_TYPES,                                                            \
        .attr = {EF_ATTR(depth_attrs, block_size, "int >= 2", NULL),                              \
                 EF_ATTR(depth_attrs, data_format, "{'NHWC', 'NCHW', 'NCHW_VECT_C'}", "'NHWC'")}, \
        .attr_size = sizeof(depth_attrs),                                                         \
        .keeps = EF_KEEP_NONE,                                                                    \
        .shape = depth_shape,                                                                     \
        .kernel = EF_MOVE_KERNEL(depth_run),                                                      \
        .grad = depth_grad,                                                                       \
        .examples = {__VA_ARGS__},                                                                \
    };
DEPTH(SpaceToDepth,
      "Moves the positions inside square blocks of height and width into the channels.",
      "float[1,4,2,3] block_size=2", "double[2,1,2,4] block_size=2 data_format='NCHW'",
      "int32[0,2,2,1] block_size=2")
DEPTH(DepthToSpace, "Moves channels into square blocks of height and width.",
      "float[1,2,1,12] block_size=2", "double[2,4,1,2] block_size=2 data_format='NCHW'",
      "int32[0,1,1,4] block_size=2")
