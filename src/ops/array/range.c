/* Range, LinSpace, OneHot: tensors computed from a few numbers. */
#include "ops/array/array.h"
#include <math.h>

/* ---- Range ------------------------------------------------------------------------------------
 */

/* Rounds v to the tensor's own type: TensorFlow rounds after each operation. */
static double rounded(ef_dtype t, double v) {
    switch (t) {
    case EF_F32: return (float)v;
    case EF_F16: return ef_f16_float(ef_float_f16((float)v));
    case EF_BF16: return ef_bf16_float(ef_float_bf16((float)v));
    default: return v;
    }
}

static ef_status *wrong_way(double start, double limit, bool up) {
    return ef_error(EF_INVALID, "Range: Requires start %s limit when delta %s 0: %g/%g",
                    up ? "<=" : ">=", up ? ">" : "<", start, limit);
}

static ef_status *count_floats(ef_dtype t, const ef_tensor *const *in, int64_t *n) {
    double start = ef_element_double(t, in[0]->data, 0),
           limit = ef_element_double(t, in[1]->data, 0);
    double delta = ef_element_double(t, in[2]->data, 0);
    if (delta == 0) return ef_error(EF_INVALID, "Range: Requires delta != 0: 0");
    if (delta > 0 ? !(start <= limit) : !(start >= limit))
        return wrong_way(start, limit, delta > 0);
    double size = ceil(fabs(rounded(t, rounded(t, limit - start) / delta)));
    if (!(size < 9.2e18))
        return ef_error(EF_INVALID,
                        "Range: Requires ((limit - start) / delta) <= 9223372036854775807, but it "
                        "is %g",
                        size);
    *n = (int64_t)size;
    return NULL;
}

static uint64_t distance(int64_t a, int64_t b) {
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static ef_status *count_ints(ef_dtype t, const ef_tensor *const *in, int64_t *n) {
    int64_t start = ef_element_int(t, in[0]->data, 0), limit = ef_element_int(t, in[1]->data, 0);
    int64_t delta = ef_element_int(t, in[2]->data, 0);
    bool wide = t == EF_U64; /* same bits, compared as unsigned */
    bool below = wide ? (uint64_t)start < (uint64_t)limit : start < limit;
    if (delta == 0) return ef_error(EF_INVALID, "Range: Requires delta != 0: 0");
    if (start == limit) {
        *n = 0;
        return NULL;
    }
    if ((wide || delta > 0) != below)
        return wrong_way((double)start, (double)limit, wide || delta > 0);
    uint64_t span = wide ? (uint64_t)limit - (uint64_t)start : distance(start, limit);
    uint64_t step = wide ? (uint64_t)delta : distance(delta, 0);
    uint64_t size = (span - 1) / step + 1;
    if (size > INT64_MAX)
        return ef_error(EF_INVALID,
                        "Range: the range from %lld to %lld by %lld has too many elements",
                        (long long)start, (long long)limit, (long long)delta);
    *n = (int64_t)size;
    return NULL;
}

static ef_status *range_count(ef_dtype t, const ef_tensor *const *in, int64_t *n) {
    return ef_dtype_in(t, EF_FLOATS) ? count_floats(t, in, n) : count_ints(t, in, n);
}

static ef_status *range_shape(ef_infer *i) {
    const ef_tensor *v[3];
    bool known = true;
    for (int k = 0; k < 3; k++) {
        EF_TRY(ef_need_single(i, k));
        v[k] = i->in[k].value;
        known = known && v[k] != NULL && v[k]->data != NULL;
    }
    i->out[0].shape = ef_shape_of_rank(1);
    if (!known) return NULL;
    EF_TRY(range_count(i->in[0].dtype, v, &i->out[0].shape.dim[0]));
    return ef_need_size_held(i->op, &i->out[0].shape);
}

#define COUNT(SUF, T)                                                        \
    case EF_##SUF: {                                                         \
        uint64_t v = (uint64_t)start, step = (uint64_t)delta;                \
        for (int64_t k = 0; k < n; k++, v += step) ((T *)o->data)[k] = (T)v; \
        return;                                                              \
    }
static void fill_ints(ef_tensor *o, int64_t start, int64_t delta, int64_t n) {
    switch (o->dtype) { EF_EACH_INT(COUNT) }
}

static void fill_floats(ef_tensor *o, double start, double delta, int64_t n) {
    ef_dtype t = (ef_dtype)o->dtype;
    float start_f = (float)start, delta_f = (float)delta;
    if (t == EF_F32) {
        for (int64_t k = 0; k < n; k++) ((float *)o->data)[k] = start_f + (float)k * delta_f;
    } else if (t == EF_F64) {
        for (int64_t k = 0; k < n; k++) ((double *)o->data)[k] = start + (double)k * delta;
    } else {
        for (int64_t k = 0; k < n; k++)
            ef_element_set(t, o->data, k, start + rounded(t, rounded(t, (double)k) * delta));
    }
}

static ef_status *range_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    int64_t n = ef_count(o);
    if (ef_dtype_in(t, EF_FLOATS))
        fill_floats(o, ef_element_double(t, c->in[0]->data, 0),
                    ef_element_double(t, c->in[2]->data, 0), n);
    else
        fill_ints(o, ef_in_int(c, 0, 0), ef_in_int(c, 2, 0), n);
    return NULL;
}

const ef_op ef_op_Range = {
    EF_NAMED(Range),
    .doc = "The numbers from `start` up to but not including `limit` in steps of `delta`.",
    .in = {"start: Tidx", "limit: Tidx", "delta: Tidx"},
    .out = {"output: Tidx"},
    .types = "Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, "
             "uint64} = int32",
    .traits = EF_NO_GRAD | EF_READS_FLOATS,
    .scalar_in = 7,
    .shape = range_shape,
    .kernel = EF_ANY_KERNEL(range_run),
    .examples = {"int32[]{3} int32[]{10} int32[]{2}", "int64[]{5} int64[]{-5} int64[]{-3}",
                 "float[]{0} float[]{1} float[]{0.1}", "half[]{1} half[]{1} half[]{0.5}"},
};

/* ---- LinSpace ---------------------------------------------------------------------------------
 */

static ef_status *linspace_shape(ef_infer *i) {
    int64_t n = 0;
    bool known;
    for (int k = 0; k < 3; k++) EF_TRY(ef_need_rank(i, k, 0));
    EF_TRY(ef_known_int(i, 2, &n, &known));
    if (known && n <= 0)
        return ef_error(EF_INVALID, "LinSpace: Requires num > 0: %lld", (long long)n);
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {known ? n : EF_DIM_UNKNOWN}};
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *linspace_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    int64_t n = ef_count(o);
    double start = ef_element_double(t, c->in[0]->data, 0),
           stop = ef_element_double(t, c->in[1]->data, 0);
    double step = n > 1 ? rounded(t, rounded(t, stop - start) / rounded(t, (double)(n - 1))) : 0;
    fill_floats(o, start, step, n);
    if (n > 0) ef_element_set(t, o->data, 0, start); /* exact, even if it is infinite */
    if (n > 1) ef_element_set(t, o->data, n - 1, stop);
    return NULL;
}

const ef_op ef_op_LinSpace = {
    EF_NAMED(LinSpace),
    .doc = "`num` evenly spaced numbers from `start` to `stop`, both included.",
    .in = {"start: T", "stop: T", "num: Tidx"},
    .out = {"output: T"},
    .types = "T: {bfloat16, half, float, double}; Tidx: {int32, int64} = int32",
    .traits = EF_NO_GRAD,
    .shape = linspace_shape,
    .kernel = EF_ANY_KERNEL(linspace_run),
    .examples = {"float[]{0} float[]{1} int32[]{5}", "double[]{2} double[]{-2} int64[]{4}",
                 "half[]{2} half[]{3} int32[]{1}"},
};

/* ---- OneHot -----------------------------------------------------------------------------------
 */

typedef struct {
    int64_t axis;
} one_hot_attrs;

static ef_status *one_hot_axis(int64_t given, int rank, int *axis) {
    if (given != -1 && (given < 0 || given > rank))
        return ef_error(EF_INVALID,
                        "OneHot: Expected axis to be -1 or between [0, %d). But received: %lld",
                        rank + 1, (long long)given);
    *axis = given == -1 ? rank : (int)given;
    return NULL;
}

static ef_status *one_hot_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t depth = 0;
    bool known;
    int axis = 0;
    for (int k = 1; k < 4; k++) EF_TRY(ef_need_rank(i, k, 0));
    EF_TRY(ef_known_int(i, 1, &depth, &known));
    if (known && depth < 0)
        return ef_error(EF_INVALID, "OneHot: depth must be non-negative, got: %lld",
                        (long long)depth);
    if (x->rank < 0) return NULL;
    EF_TRY(one_hot_axis(((const one_hot_attrs *)i->attrs)->axis, x->rank, &axis));
    EF_TRY(ef_need_rank_held(i->op, x->rank + 1));
    ef_shape *out = &i->out[0].shape;
    out->rank = x->rank + 1;
    for (int d = 0; d < out->rank; d++)
        out->dim[d] = d != axis ? x->dim[d - (d > axis)] : known ? depth : EF_DIM_UNKNOWN;
    return ef_need_size_held(i->op, out);
}

static ef_status *one_hot_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_tensor *o = c->out[0];
    ef_dtype t = (ef_dtype)o->dtype;
    size_t size = ef_dtype_size(t);
    int axis = 0;
    EF_TRY(one_hot_axis(((const one_hot_attrs *)c->attrs)->axis, x->rank, &axis));
    EF_TRY(ef_out_memory(c, 0));
    EF_TRY(ef_fill_elements(t, o->data, c->in[3]->data, ef_count(o)));
    ef_shape s = ef_shape_from(x);
    int64_t outer = ef_shape_span(&s, 0, axis), inner = ef_shape_span(&s, axis, s.rank);
    int64_t depth = o->dim[axis];
    for (int64_t a = 0; a < outer; a++)
        for (int64_t b = 0; b < inner; b++) {
            int64_t hot = ef_in_int(c, 0, a * inner + b);
            if (hot < 0 || hot >= depth) continue;
            char *at = (char *)o->data + (size_t)((a * depth + hot) * inner + b) * size;
            EF_TRY(ef_copy_elements(t, at, c->in[2]->data, 1));
        }
    return NULL;
}

const ef_op ef_op_OneHot = {
    EF_NAMED(OneHot),
    .doc = "For each index a row of `depth` elements along `axis`: `on_value` at the index, "
           "`off_value` elsewhere. An index outside the row gives `off_value` throughout.",
    .in = {"indices: TI", "depth: int32", "on_value: T", "off_value: T"},
    .out = {"output: T"},
    .types = "T: " EF_COMPUTED_AND_STRING "; TI: {uint8, int8, int32, int64} = int64",
    .declared = EF_STORED,
    .attr = {EF_ATTR(one_hot_attrs, axis, "int", "-1")},
    .attr_size = sizeof(one_hot_attrs),
    .traits = EF_NO_GRAD,
    .data_in = 1,
    .shape = one_hot_shape,
    .kernel = EF_ANY_KERNEL(one_hot_run),
    .examples = {"int64[3]{0,2,-1} int32[]{3} float[] float[]",
                 "int32[2,2]{1,0,5,2} int32[]{3} int32[] int32[] axis=0",
                 "uint8[]{1} int32[]{2} string[]{on} string[]{off}",
                 "int8[2]{0,0} int32[]{0} bool[] bool[] axis=1"},
};
