/* Where: the coordinates of all elements that are not zero. */
#include "ops/array/array.h"

static ef_status *where_shape(ef_infer *i) {
    int rank = i->in[0].shape.rank;
    i->out[0].shape =
        (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank < 0 ? EF_DIM_UNKNOWN : rank}};
    return NULL;
}

/* The bits of an element that are compared with zero: all but the sign of a float, so that -0
 * counts as zero. */
static uint64_t telling_bits(ef_dtype t) {
    switch (t) {
    case EF_F16:
    case EF_BF16: return 0x7FFF;
    case EF_F32:
    case EF_C64: return 0x7FFFFFFF;
    case EF_F64:
    case EF_C128: return INT64_MAX;
    default: return UINT64_MAX;
    }
}

/* Reads an element as integers: two for a complex number. */
static bool set_at(const void *p, size_t size, int words, uint64_t bits, int64_t k) {
    uint64_t v = 0;
    for (int w = 0; w < words; w++) {
        int64_t at = k * words + w;
        v |= bits & (size == 1   ? ((const uint8_t *)p)[at]
                     : size == 2 ? ((const uint16_t *)p)[at]
                     : size == 4 ? ((const uint32_t *)p)[at]
                                 : ((const uint64_t *)p)[at]);
    }
    return v != 0;
}

static int64_t count_set(const ef_tensor *x, size_t size, int words, uint64_t bits) {
    int64_t n = ef_count(x), count = 0;
    if (x->dtype == EF_BOOL) {
        const uint8_t *p = x->data;
        for (int64_t k = 0; k < n; k++) count += p[k] != 0;
        return count;
    }
    for (int64_t k = 0; k < n; k++) count += set_at(x->data, size, words, bits, k);
    return count;
}

static ef_status *where_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int words = ef_dtype_in(t, EF_COMPLEX) ? 2 : 1, rank = x->rank;
    if (rank == 0)
        return ef_error(EF_INVALID,
                        "Where: a scalar has no coordinates; the rank must be at least 1");
    size_t size = ef_dtype_size(t) / (size_t)words;
    uint64_t bits = telling_bits(t);
    int64_t n = ef_count(x), at[EF_MAX_RANK] = {0};
    ef_shape s = {.rank = 2, .dim = {count_set(x, size, words, bits), rank}};
    EF_TRY(ef_out_alloc(c, 0, &s));
    int64_t *out = c->out[0]->data;
    for (int64_t k = 0; k < n; k++) {
        if (set_at(x->data, size, words, bits, k))
            for (int d = 0; d < rank; d++) *out++ = at[d];
        for (int d = rank - 1; d >= 0 && ++at[d] == x->dim[d]; d--) at[d] = 0;
    }
    return NULL;
}

const ef_op ef_op_Where = {
    EF_NAMED(Where),
    .doc = "The coordinates of the elements of `input` that are true or not zero, one row each, in "
           "order.",
    .in = {"input: T"},
    .out = {"index: int64"},
    .types = "T: " EF_COMPUTED_TYPES " = bool",
    .declared = EF_QUANTIZED,
    .traits = EF_NO_GRAD | EF_DYNAMIC,
    .shape = where_shape,
    .kernel = EF_ANY_KERNEL(where_run),
    .examples = {"bool[3,2]{1,0,0,1,1,0}", "float[4]{0,1,-0.0,2}", "int32[1]{3}", "bool[0,2]",
                 "complex64[2]"},
};
