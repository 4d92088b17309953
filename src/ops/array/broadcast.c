/* BroadcastTo, and the two ops that compute how shapes broadcast. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/tile.h"
#include <string.h>

static ef_status *broadcast_to_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    ef_shape want;
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_shape_input(i, 1, false, &want));
    i->out[0].shape = want;
    if (want.rank < 0 || x->rank < 0) return NULL;
    if (x->rank > want.rank)
        return ef_error(EF_INVALID,
                        "BroadcastTo: Rank of input (%d) must be no greater than rank of output "
                        "shape (%d)",
                        x->rank, want.rank);
    for (int d = 0; d < x->rank; d++) {
        int64_t from = x->dim[d], to = want.dim[want.rank - x->rank + d];
        if (from >= 0 && from != 1 && to >= 0 && from != to)
            return ef_error(EF_INVALID,
                            "BroadcastTo: Incompatible shapes: %s cannot be broadcast to %s; each "
                            "size must be equal or 1",
                            EF_SHAPE(x), EF_SHAPE(&want));
    }
    return NULL;
}

static ef_status *broadcast_to_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    int64_t from[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0};
    int lead = o->rank - x->rank;
    ef_block b;
    b.rank = 0;
    ef_steps(x, from);
    ef_steps(o, to);
    for (int d = 0; d < o->rank; d++) {
        bool stretched = d < lead || x->dim[d - lead] == 1;
        if (!stretched && x->dim[d - lead] != o->dim[d])
            return ef_error(EF_INVALID,
                            "BroadcastTo: Incompatible shapes: size %lld cannot be broadcast to "
                            "%lld",
                            (long long)x->dim[d - lead], (long long)o->dim[d]);
        ef_block_axis(&b, o->dim[d], stretched ? 0 : from[d - lead], to[d]);
    }
    EF_TRY(ef_out_memory(c, 0));
    return ef_block_copy((ef_dtype)x->dtype, o->data, x->data, &b);
}

static ef_status *broadcast_to_grad(ef_grad *g) {
    g->din[0] = ef_sum_like(g->b, g->dout[0], g->in[0]);
    return NULL;
}

/* For fused groups, in which the elementwise driver does the broadcasting. */
EF_WRAPS1(copy, x)
EF_TILE_TABLE(copy) = {EF_ROWS_WRAP(copy)[EF_F32] = copy_U32, [EF_F64] = copy_U64,
                       [EF_F16] = copy_U16, [EF_BF16] = copy_U16, [EF_BOOL] = copy_U8};

const ef_op ef_op_BroadcastTo = {
    EF_NAMED(BroadcastTo),
    .doc = "Broadcasts `input` to `shape`: repeats it along new axes and axes of size 1.",
    .in = {"input: T", "shape: Tidx"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tidx: {int32, int64} = int32",
    .traits = EF_NEVER_FAILS | EF_SPREADS,
    .keeps = EF_KEEP_NONE,
    .sized = {EF_SIZED_GIVEN, 1},
    .host_in = 2,
    .shape = broadcast_to_shape,
    .kernel = EF_MOVE_KERNEL_AWAY(broadcast_to_run, EF_FLOAT8),
    .tile = copy_tiles,
    .expr = "x",
    .grad = broadcast_to_grad,
    .examples = {"float[3] int32[2]{2,3}", "float[2,1,3] int64[4]{2,2,4,3}", "double[] int32[1]{3}",
                 "float[1,2] int32[2]{0,2}", "string[]{ab} int32[1]{2}"},
};

/* Size d of a shape vector after the shapes are aligned at their ends and padded with ones in
 * front. */
static int64_t aligned(const ef_call *c, int k, int64_t d, int64_t rank) {
    int64_t lead = rank - ef_count(c->in[k]);
    return d < lead ? 1 : ef_in_int(c, k, d - lead);
}

static ef_status *cannot(const ef_call *c, int64_t x, int64_t y) {
    return ef_error(EF_INVALID,
                    "%s: Incompatible shapes: sizes %lld and %lld do not broadcast; they must be "
                    "equal or one of them 1",
                    c->op->name, (long long)x, (long long)y);
}

static ef_status *args_shape(ef_infer *i) {
    int64_t n[2] = {-1, -1};
    for (int k = 0; k < 2; k++) {
        EF_TRY(ef_need_rank(i, k, 1));
        if (i->in[k].shape.rank == 1) n[k] = i->in[k].shape.dim[0];
    }
    int64_t most = n[0] < 0 || n[1] < 0 ? EF_DIM_UNKNOWN : n[0] > n[1] ? n[0] : n[1];
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {most}};
    return NULL;
}

static void put_int(ef_tensor *o, int64_t j, int64_t v) {
    if (o->dtype == EF_I64)
        ((int64_t *)o->data)[j] = v;
    else
        ((int32_t *)o->data)[j] = (int32_t)v;
}

static ef_status *args_run(const ef_call *c) {
    int64_t rank = ef_count(c->out[0]);
    for (int64_t d = 0; d < rank; d++) {
        int64_t x = aligned(c, 0, d, rank), y = aligned(c, 1, d, rank);
        if (x != y && x != 1 && y != 1) return cannot(c, x, y);
        put_int(c->out[0], d, x == 1 ? y : x);
    }
    return NULL;
}

const ef_op ef_op_BroadcastArgs = {
    EF_NAMED(BroadcastArgs),
    .doc = "The shape that tensors of the shapes `s0` and `s1` broadcast to.",
    .in = {"s0: T", "s1: T"},
    .out = {"r0: T"},
    .types = "T: {int32, int64} = int32",
    .traits = EF_NO_GRAD,
    .shape = args_shape,
    .kernel = EF_ANY_KERNEL(args_run),
    .examples = {"int32[3]{2,1,3} int32[2]{4,1}", "int64[0] int64[1]{5}"},
};

static ef_status *gradient_args_shape(ef_infer *i) {
    for (int k = 0; k < 2; k++) {
        EF_TRY(ef_need_rank(i, k, 1));
        i->out[k].shape = ef_shape_of_rank(1);
    }
    return NULL;
}

static bool same_values(const ef_call *c) {
    int64_t n = ef_count(c->in[0]);
    if (ef_count(c->in[1]) != n) return false;
    for (int64_t d = 0; d < n; d++)
        if (ef_in_int(c, 0, d) != ef_in_int(c, 1, d)) return false;
    return true;
}

static ef_status *gradient_args_run(const ef_call *c) {
    int64_t n0 = ef_count(c->in[0]), n1 = ef_count(c->in[1]), rank = n0 > n1 ? n0 : n1;
    int64_t count[2] = {0, 0};
    bool same = same_values(c);
    for (int64_t d = 0; d < rank && !same; d++) {
        int64_t x = aligned(c, 0, d, rank), y = aligned(c, 1, d, rank);
        if (x != y && x != 1 && y != 1) return cannot(c, x, y);
        count[0] += x == 1;
        count[1] += y == 1;
    }
    for (int k = 0; k < 2; k++) {
        EF_TRY(ef_out_alloc(c, k, &(ef_shape){.rank = 1, .dim = {count[k]}}));
        for (int64_t d = 0, j = 0; d < rank && !same; d++)
            if (aligned(c, k, d, rank) == 1) put_int(c->out[k], j++, d);
    }
    return NULL;
}

const ef_op ef_op_BroadcastGradientArgs = {
    EF_NAMED(BroadcastGradientArgs),
    .doc = "The axes along which tensors of the shapes `s0` and `s1` are repeated when they "
           "broadcast: the axes over which a gradient is summed.",
    .in = {"s0: T", "s1: T"},
    .out = {"r0: T", "r1: T"},
    .types = "T: {int32, int64} = int32",
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = gradient_args_shape,
    .kernel = EF_ANY_KERNEL(gradient_args_run),
    .examples = {"int32[3]{2,1,3} int32[2]{4,1}", "int64[0] int64[1]{5}",
                 "int32[2]{1,2} int32[2]{1,2}"},
};
