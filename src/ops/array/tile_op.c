/* Tile and its gradient TileGrad: a tensor repeated along its axes, and the repetitions summed. */
#include "kernels/block_add.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include <string.h>

/* Checks multiples against the rank of input 0 and sets the result's dims: multiplied by multiples,
 * or divided by them. */
static ef_status *tile_dims(ef_infer *i, bool divide) {
    const ef_shape *x = &i->in[0].shape, *m = &i->in[1].shape;
    int64_t times[EF_MAX_RANK] = {0};
    int n = 0;
    bool known;
    EF_TRY(ef_need_rank(i, 1, 1));
    int rank = x->rank;
    if (m->rank == 1 && m->dim[0] >= 0) {
        if (rank >= 0 && m->dim[0] != rank)
            return ef_error(EF_INVALID,
                            "%s: Expected multiples argument to be a vector of length %d but got "
                            "length %lld",
                            i->op->name, rank, (long long)m->dim[0]);
        EF_TRY(ef_need_rank_held(i->op, m->dim[0]));
        rank = (int)m->dim[0];
    }
    if (rank < 0) return NULL;
    EF_TRY(ef_known_ints(i, 1, times, EF_MAX_RANK, &n, &known));
    ef_shape out = ef_shape_of_rank(rank);
    for (int d = 0; known && d < rank; d++) {
        if (times[d] < (divide ? 1 : 0))
            return ef_error(EF_INVALID, "%s: Expected multiples[%d] >= %d, but got %lld",
                            i->op->name, d, divide ? 1 : 0, (long long)times[d]);
        int64_t dim = x->rank < 0 ? EF_DIM_UNKNOWN : x->dim[d];
        if (divide && dim >= 0 && dim % times[d] != 0)
            return ef_error(EF_INVALID,
                            "%s: size %lld of axis %d is not a multiple of multiples[%d] = %lld",
                            i->op->name, (long long)dim, d, d, (long long)times[d]);
        out.dim[d] = divide                       ? ef_dim_div(dim, times[d])
                     : times[d] == 0              ? 0
                     : dim > INT64_MAX / times[d] ? INT64_MAX
                                                  : ef_dim_mul(dim, times[d]);
    }
    i->out[0].shape = out;
    return ef_need_size_held(i->op, &out);
}

static ef_status *tile_shape(ef_infer *i) { return tile_dims(i, false); }
static ef_status *tile_grad_shape(ef_infer *i) { return tile_dims(i, true); }

static ef_status *check_tiles(const ef_call *c, const ef_tensor *one, const ef_tensor *all) {
    for (int d = 0; d < one->rank; d++)
        if ((int64_t)((uint64_t)ef_in_int(c, 1, d) * (uint64_t)one->dim[d]) != all->dim[d])
            return ef_error(EF_INVALID, "%s: axis %d: %lld times %lld is not %lld", c->op->name, d,
                            (long long)ef_in_int(c, 1, d), (long long)one->dim[d],
                            (long long)all->dim[d]);
    return NULL;
}

/* A copy that visits `all` in order and, for each repetition, reads `one` again. */
static void tile_block(const ef_tensor *one, const ef_tensor *all, bool gather, ef_block *b) {
    int64_t in_one[EF_MAX_RANK] = {0}, in_all[EF_MAX_RANK] = {0};
    ef_steps(one, in_one);
    ef_steps(all, in_all);
    b->rank = 0;
    for (int d = 0; d < one->rank; d++) {
        int64_t dim = one->dim[d], times = dim > 0 ? all->dim[d] / dim : 0;
        ef_block_axis(b, times, gather ? 0 : in_all[d] * dim, gather ? in_all[d] * dim : 0);
        ef_block_axis(b, dim, gather ? in_one[d] : in_all[d], gather ? in_all[d] : in_one[d]);
    }
}

static ef_status *tile_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_block b;
    EF_TRY(check_tiles(c, x, c->out[0]));
    if (ef_dtype_in((ef_dtype)x->dtype, EF_STORED) && ef_count(x) != ef_count(c->out[0]))
        return ef_error(EF_UNIMPLEMENTED, "Tile: repeating elements of dtype %s is not supported",
                        ef_dtype_name((ef_dtype)x->dtype));
    EF_TRY(ef_out_memory(c, 0));
    tile_block(x, c->out[0], true, &b);
    return ef_block_copy((ef_dtype)x->dtype, c->out[0]->data, x->data, &b);
}

/* Whether some axis is repeated zero times: then the gradient is zero. */
static bool repeats_zero_times(const ef_tensor *times) {
    for (int64_t d = 0; times != NULL && d < ef_count(times); d++)
        if (ef_element_int((ef_dtype)times->dtype, times->data, d) == 0) return true;
    return false;
}

static ef_status *tile_grad(ef_grad *g) {
    if (repeats_zero_times(g->in[1]->fact.value)) {
        ef_value *zero = ef_const_number(g->b, g->dout[0]->fact.dtype, 0);
        g->din[0] = ef_emit(g->b, "Fill", 2, ef_shape_value(g->b, g->in[0], EF_I32), zero);
        return NULL;
    }
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *times = ef_cast(b, g->in[1], EF_I32);
    if (g->in[1]->fact.value == NULL) { /* a multiple may be 0: treat it as 1 and pad dy with
                                         * zeros to the input's size */
        ef_value *zero = ef_zeros_like(b, times), *one = ef_ones_like(b, times);
        ef_value *empty = ef_emit(b, "Equal", 2, times, zero);
        ef_value *after = ef_select(b, empty, ef_shape_value(b, g->in[0], EF_I32), zero);
        ef_attr_value axis[] = {EF_SET_INT("axis", 1)};
        dy = ef_emit(b, "Pad", 2, dy, ef_emit_set(b, "Pack", axis, 1, 2, zero, after));
        times = ef_emit(b, "Maximum", 2, times, one);
    }
    g->din[0] = ef_emit(b, "TileGrad", 2, dy, times);
    return NULL;
}

const ef_op ef_op_Tile = {
    EF_NAMED(Tile),
    .doc = "Repeats `input` `multiples[d]` times along each axis d.",
    .in = {"input: T", "multiples: Tmultiples"},
    .out = {"output: T"},
    .types = "T: " EF_MOVE_TYPES "; Tmultiples: {int32, int64} = int32",
    .traits = EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(1),
    .sized = {EF_SIZED_TILED, 1},
    .host_in = 2,
    .shape = tile_shape,
    .kernel = EF_MOVE_KERNEL_AWAY(tile_run, EF_STORED),
    .grad = tile_grad,
    .examples = {"float[2,3] int32[2]{2,1}", "float[2,1,3] int64[3]{1,3,2}", "double[] int32[0]",
                 "string[2]{a,b} int32[1]{2}", "int32[2] int32[1]{0}"},
};

static size_t tile_grad_scratch(const ef_call *c) {
    ef_dtype t = (ef_dtype)c->out[0]->dtype;
    return ef_sum_dtype(t) == t ? 0 : (size_t)ef_count(c->out[0]) * sizeof(float);
}

static ef_status *tile_grad_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype, sum = ef_sum_dtype(t);
    void *sums = sum == t ? o->data : c->scratch;
    ef_block b;
    EF_TRY(check_tiles(c, o, x));
    EF_TRY(ef_zero_elements(sum, sums, ef_count(o)));
    tile_block(o, x, false, &b);
    ef_block_add(t, sums, x->data, &b);
    ef_round_sums(t, o->data, sums, ef_count(o));
    return NULL;
}

static ef_status *tile_grad_grad(ef_grad *g) {
    g->din[0] = ef_emit(g->b, "Tile", 2, g->dout[0], g->in[1]);
    return NULL;
}

const ef_op ef_op_TileGrad = {
    EF_NAMED(TileGrad),
    .doc = "The gradient of Tile: sums the repetitions.",
    .in = {"input: T", "multiples: int32"},
    .out = {"output: T"},
    .types = "T: " EF_NUMBER_TYPES,
    .keeps = EF_KEEP_IN(1),
    .shape = tile_grad_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, tile_grad_run, tile_grad_scratch, NULL, NULL, NULL}},
    .grad = tile_grad_grad,
    .examples = {"float[4,3] int32[2]{2,1}", "float[2,3,6] int32[3]{1,3,2}", "double[] int32[0]",
                 "half[6] int32[1]{3}"},
};
