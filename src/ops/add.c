/* AddV2 - z = x + y, with NumPy broadcasting. */
#include "ops/build.h"
#include "ops/elementwise.h"
#include "ops/shapes.h"
#include "ops/tile.h"

#define TILE(SUF, T) EF_TILE2(add, SUF, T, T, x + y)
EF_EACH_INT(TILE)
EF_EACH_FULL_FLOAT(TILE)
EF_EACH_COMPLEX(TILE)
EF_TILE2_16(add, F16, ef_f16, ef_f16_float, ef_float_f16, ef_f16, x + y)
EF_TILE2_16(add, BF16, ef_bf16, ef_bf16_float, ef_float_bf16, ef_bf16, x + y)
#define ROW(SUF, T) [EF_##SUF] = add_##SUF,
static ef_tile_fn *const add_tiles[EF_DTYPES] = {EF_EACH_INT(ROW) EF_EACH_FULL_FLOAT(ROW)
                                                     EF_EACH_HALF(ROW) EF_EACH_COMPLEX(ROW)};

static ef_status *add_grad(ef_grad *g) {
    for (int k = 0; k < 2; k++) g->din[k] = ef_sum_like(g->b, g->dout[0], g->in[k]);
    return NULL;
}

const ef_op ef_op_AddV2 = {
    EF_NAMED(AddV2),
    .doc = "Adds `x` and `y` element by element; shapes broadcast.",
    .in = {"x: T", "y: T"},
    .out = {"z: T"},
    .types = "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, "
             "int64, complex64, complex128}",
    .traits = EF_ELEMENTWISE | EF_COMMUTES | EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_NONE,
    .shape = ef_shape_broadcast,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = add_tiles,
    .cl = "x + y",
    .grad = add_grad,
    .examples = {"T[2,3] T[3]", "T[2,1,3] T[2,1]", "T[] T[4]", "T[0,3] T[3]"},
};
