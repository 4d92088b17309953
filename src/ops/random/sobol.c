/* SobolSample: points that fill the unit cube more evenly than random ones. */
#include "kernels/sobol.h"
#include "ops/array/array.h"

typedef struct sobol_attrs {
    ef_dtype dtype;
} sobol_attrs;

static ef_status *sobol_shape(ef_infer *i) {
    int64_t size[3];
    for (int k = 0; k < 3; k++) {
        bool known;
        EF_TRY(ef_need_rank(i, k, 0));
        EF_TRY(ef_known_int(i, k, &size[k], &known));
        if (!known) size[k] = EF_DIM_UNKNOWN;
        if (known && k < 2 && size[k] < 0)
            return ef_error(EF_INVALID, "SobolSample: %s is %lld; must be at least one",
                            k == 0 ? "dim" : "num_results", (long long)size[k]);
    }
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {size[1], size[0]}};
    return ef_need_size_held(i->op, &i->out[0].shape);
}

enum { TENSORFLOWS_DIMS = 21200 };

static ef_status *check(int64_t dim, int64_t n, int64_t skip) {
    if (dim < 1 || dim > TENSORFLOWS_DIMS)
        return ef_error(EF_INVALID, "SobolSample: dim is %lld; dim must be at %s", (long long)dim,
                        dim < 1 ? "least one" : "most 21200");
    if (n < 1)
        return ef_error(EF_INVALID,
                        "SobolSample: num_results is %lld; num_results must be at least one",
                        (long long)n);
    if (skip < 0)
        return ef_error(EF_INVALID, "SobolSample: skip is %lld; skip must be non-negative",
                        (long long)skip);
    if (n + skip >= INT32_MAX)
        return ef_error(EF_INVALID,
                        "SobolSample: num_results is %lld and skip %lld; num_results+skip must be "
                        "less than 2147483647",
                        (long long)n, (long long)skip);
    if (dim > EF_SOBOL_DIMS)
        return ef_error(EF_UNIMPLEMENTED,
                        "SobolSample: dim is %lld, but direction numbers are built in for the "
                        "first %d dimensions only; take fewer dimensions",
                        (long long)dim, (int)EF_SOBOL_DIMS);
    return NULL;
}

static int64_t sobol_dims(const ef_call *c) {
    int64_t dim = c->out[0]->dim[1];
    return dim < EF_SOBOL_DIMS ? dim : EF_SOBOL_DIMS;
}
static size_t sobol_scratch(const ef_call *c) {
    return (size_t)sobol_dims(c) * EF_SOBOL_DIGITS * sizeof(uint32_t);
}

static ef_status *sobol_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    int64_t skip = *(const int32_t *)c->in[2]->data;
    EF_TRY(check(*(const int32_t *)c->in[0]->data, *(const int32_t *)c->in[1]->data, skip));
    int dims = (int)sobol_dims(c);
    ef_sobol_directions(c->scratch, dims);
    /* Point 0, the origin, is skipped. */
    ef_sobol_points(c->scratch, dims, skip + 1, o->dim[0], (ef_dtype)o->dtype, o->data);
    return NULL;
}

const ef_op ef_op_SobolSample = {
    EF_NAMED(SobolSample),
    .doc = "Points `skip` and following of the Sobol sequence in `dim` dimensions (at most 1111), "
           "one per row: quasi-random numbers of [0, 1).",
    .in = {"dim: int32", "num_results: int32", "skip: int32"},
    .out = {"samples: dtype"},
    .attr = {EF_ATTR(sobol_attrs, dtype, "{float, double}", "float")},
    .attr_size = sizeof(sobol_attrs),
    .traits = EF_NO_GRAD,
    .shape = sobol_shape,
    .kernel = {{EF_CPU, EF_ANY, sobol_run, sobol_scratch, NULL, NULL, NULL}},
    .examples = {"int32[]{3} int32[]{5} int32[]{0}",
                 "int32[]{1} int32[]{1} int32[]{1000} dtype=double",
                 "int32[]{40} int32[]{100} int32[]{7} dtype=double"},
};
