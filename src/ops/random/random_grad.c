/* RandomGammaGrad - the derivative of gamma samples by their shape parameter. */
#include "kernels/random.h"
#include "ops/records.h"

EF_TILE2(slope, F32, float, float, ef_random_gamma_slope(x, y))
EF_TILE2(slope, F64, double, double, ef_random_gamma_slope(x, y))
static ef_tile_fn *const slope_tiles[EF_DTYPES] = {[EF_F32] = slope_F32, [EF_F64] = slope_F64};

const ef_op ef_op_RandomGammaGrad = {
    EF_NAMED(RandomGammaGrad),
    .doc = "The derivative of a sample of the gamma distribution by its shape parameter `alpha`.",
    .in = {"alpha: T", "sample: T"},
    .out = {"output: T"},
    .types = "T: {float, double}",
    .traits = EF_ELEMENTWISE | EF_MAY_ALIAS_0 | EF_GRAD_UNDEFINED,
    .shape = ef_shape_broadcast,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = slope_tiles,
    .examples = {"T[2,3]:0.5..3 T[3]:0.1..4", "T[]:1..2 T[4]:0.5..3", "T[0,3]:1..2 T[3]:1..2"},
};
