/* Select, SelectV2 and ClipByValue. Selecting copies bytes, so the tile depends only on the size of
 * an element. */
#include "kernels/vmath.h"
#include "ops/records.h"

/* ---- tiles ----------------------------------------------------------------------------------- */

/* Both values are arguments so that they are read before the selection; otherwise the compiler does
 * not vectorise the loop. */
#define CHOOSE(SUF, T)                                                                   \
    static inline T pick_##SUF(uint8_t c, T t, T e) { return c ? t : e; }                \
    static void choose_##SUF(EF_TILE_PARAMS) {                                           \
        const uint8_t *c = in_[0];                                                       \
        const T *t = in_[1], *e = in_[2];                                                \
        T *o = out_;                                                                     \
        (void)attrs;                                                                     \
        if (scalars & 1u) {                                                              \
            const T *from = c[0] ? t : e;                                                \
            if (scalars & (c[0] ? 2u : 4u)) {                                            \
                T v = *from;                                                             \
                for (int64_t i = 0; i < n; i++) o[i] = v;                                \
            } else if (n > 0 && o != from) {                                             \
                memcpy(o, from, (size_t)n * sizeof(T));                                  \
            }                                                                            \
        } else if (scalars == 0) {                                                       \
            EF_SIMD for (int64_t i = 0; i < n; i++) o[i] = pick_##SUF(c[i], t[i], e[i]); \
        } else if (scalars == 2) {                                                       \
            T v = t[0];                                                                  \
            EF_SIMD for (int64_t i = 0; i < n; i++) o[i] = pick_##SUF(c[i], v, e[i]);    \
        } else if (scalars == 4) {                                                       \
            T v = e[0];                                                                  \
            EF_SIMD for (int64_t i = 0; i < n; i++) o[i] = pick_##SUF(c[i], t[i], v);    \
        } else {                                                                         \
            T v = t[0], w = e[0];                                                        \
            EF_SIMD for (int64_t i = 0; i < n; i++) o[i] = pick_##SUF(c[i], v, w);       \
        }                                                                                \
    }
EF_EACH_UNSIGNED(CHOOSE)
CHOOSE(C128, ef_c128)

static ef_tile_fn *const choose_tiles[EF_DTYPES] = {
    EF_ROWS_WRAP(choose)[EF_BOOL] = choose_U8,
    [EF_F16] = choose_U16,
    [EF_BF16] = choose_U16,
    [EF_F32] = choose_U32,
    [EF_F64] = choose_U64,
    [EF_C64] = choose_U64,
    [EF_C128] = choose_C128,
};

/* ---- strings, variants and resources --------------------------------------------------------- */

static ef_status *choose_strings(const ef_call *c, const ef_tensor *cond) {
    ef_shape shape = ef_shape_from(c->out[0]);
    EF_TRY(ef_out_alloc(c, 0, &shape));
    const ef_tensor *z = c->out[0];
    ef_str *out = z->data;
    for (int64_t i = 0, n = ef_count(z); i < n; i++) {
        bool yes = ((const bool *)cond->data)[ef_broadcast_at(cond, z, i)];
        const ef_tensor *from = c->in[yes ? 1 : 2];
        const ef_str *s = (const ef_str *)from->data + ef_broadcast_at(from, z, i);
        EF_TRY(ef_str_set(&out[i], s->at, s->n));
    }
    return NULL;
}
static ef_status *choose_object(const ef_call *c, const ef_tensor *cond) {
    if (ef_count(cond) != 1)
        return ef_error(EF_INVALID,
                        "%s: condition is a %s, but a choice between two %s values needs a scalar",
                        c->op->name, EF_TENSOR(cond), ef_dtype_name(c->in[1]->dtype));
    return ef_out_share(c, 0, c->in[*(const bool *)cond->data ? 1 : 2]);
}
static ef_status *choose(const ef_call *c, const ef_tensor *cond) {
    ef_dtype t = c->in[1]->dtype;
    if (t == EF_STRING) return choose_strings(c, cond);
    if (ef_dtype_in(t, EF_MANAGED)) return choose_object(c, cond);
    ef_tensor seen = *cond, *in[3] = {&seen, c->in[1], c->in[2]};
    ef_elementwise(choose_tiles[t], c->attrs, 3, in, c->out[0]);
    return NULL;
}

/* ---- SelectV2 -------------------------------------------------------------------------------- */

static ef_status *run_managed(const ef_call *c) { return choose(c, c->in[0]); }

static ef_status *select_v2_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dz = g->dout[0], *zero = ef_const_number(b, g->out[0]->fact.dtype, 0);
    g->din[1] = ef_sum_like(b, ef_select(b, g->in[0], dz, zero), g->in[1]);
    g->din[2] = ef_sum_like(b, ef_select(b, g->in[0], zero, dz), g->in[2]);
    return NULL;
}

const ef_op ef_op_SelectV2 = {
    EF_NAMED(SelectV2),
    .doc = "`t` where `condition` is true, else `e`; all three shapes broadcast.",
    .in = {"condition: bool", "t: T", "e: T"},
    .out = {"output: T"},
    .types = "T: type",
    .traits = EF_ELEMENTWISE,
    .keeps = EF_KEEP_IN(0),
    .shape = ef_shape_broadcast,
    .kernel = {{EF_CPU | EF_TEST, EF_COMPUTED, ef_run_elementwise, NULL, NULL, NULL, NULL},
               {EF_CPU, EF_MANAGED, run_managed, NULL, NULL, NULL, NULL}},
    .tile = choose_tiles,
    .tile_key = 1,
    .expr = "x ? y : z",
    .grad = select_v2_grad,
    .examples = {"bool[2,3] float[2,3] float[2,3]", "bool[3] double[2,3] double[]",
                 "bool[] float[2] float[2]", "bool[2,1] complex128[] complex128[3]",
                 "bool[2] string[2]{a,b} string[]{c}", "bool[0] int32[] int32[]",
                 "bool[4] half[4] half[4]", "bool[4] uint8[] uint8[]"},
};

/* ---- Select: the older rule ------------------------------------------------------------------ */

/* condition: the shape of t and e, or a scalar, or a vector that picks whole rows. */
static ef_status *select_shape(ef_infer *i) {
    const ef_shape *cond = &i->in[0].shape, *t = &i->in[1].shape, *e = &i->in[2].shape;
    ef_shape *out = &i->out[0].shape;
    ef_status *s = ef_shape_merge(t, e, out);
    if (s != NULL) {
        ef_status_free(s);
        return ef_error(EF_INVALID, "Select: t is %s and e is %s; both must have the same shape",
                        EF_SHAPE(t), EF_SHAPE(e));
    }
    if (cond->rank <= 0 || out->rank < 0) return NULL;
    if (cond->rank == 1 && out->rank > 1) {
        if (ef_dim_may_equal(cond->dim[0], out->dim[0])) return NULL;
        return ef_error(EF_INVALID,
                        "Select: condition is %s and t is %s: a vector picks rows, so its size "
                        "must be the first dim of t",
                        EF_SHAPE(cond), EF_SHAPE(t));
    }
    if (!ef_shape_may_equal(cond, out))
        return ef_error(EF_INVALID,
                        "Select: condition is %s and t is %s: it must be of that shape, a scalar, "
                        "or a vector of the first dim; SelectV2 broadcasts",
                        EF_SHAPE(cond), EF_SHAPE(t));
    return NULL;
}
static ef_status *run_select(const ef_call *c) {
    ef_tensor cond = *c->in[0]; /* a vector becomes a column, so that it broadcasts along rows */
    if (cond.data == (void *)c->in[0]->small) cond.data = cond.small;
    if (cond.rank == 1)
        for (; cond.rank < c->out[0]->rank; cond.rank++) cond.dim[cond.rank] = 1;
    return choose(c, &cond);
}
static ef_status *select_grad(ef_grad *g) {
    ef_value *dz = g->dout[0], *zero = ef_zeros_like(g->b, dz);
    g->din[1] = ef_emit(g->b, "Select", 3, g->in[0], dz, zero);
    g->din[2] = ef_emit(g->b, "Select", 3, g->in[0], zero, dz);
    return NULL;
}

const ef_op ef_op_Select = {
    EF_NAMED(Select),
    .doc = "`t` where `condition` is true, else `e`. A vector `condition` picks whole rows.",
    .in = {"condition: bool", "t: T", "e: T"},
    .out = {"output: T"},
    .types = "T: type",
    .keeps = EF_KEEP_IN(0),
    .shape = select_shape,
    .kernel = {{EF_CPU, EF_COMPUTED | EF_MANAGED, run_select, NULL, NULL, NULL, NULL}},
    .grad = select_grad,
    .examples = {"bool[2,3] float[2,3] float[2,3]", "bool[2] double[2,3] double[2,3]",
                 "bool[] float[2,2] float[2,2]", "bool[2] string[2,1]{a,b} string[2,1]{c,d}",
                 "bool[0] int32[0,2] int32[0,2]"},
};

/* ---- ClipByValue ----------------------------------------------------------------------------- */

#define CLIP(SUF, T)                                                                             \
    static inline T clip_##SUF(T x, T low, T high) { /* NaN stays NaN; low wins if low > high */ \
        T r = high < x ? high : x;                                                               \
        return r < low ? low : r;                                                                \
    }
EF_EACH_INT(CLIP)
EF_EACH_FULL_FLOAT(CLIP)
#define CLIP_TILE(SUF, T) EF_TILE3(clip_by_value, SUF, T, T, clip_##SUF(x, y, z))
EF_EACH_INT(CLIP_TILE)
EF_EACH_FULL_FLOAT(CLIP_TILE)
EF_HALVES(clip_by_value, 3, 0)
EF_TILE_TABLE(clip_by_value) = {EF_ROWS_INT(clip_by_value) EF_ROWS_FLOAT(clip_by_value)};

static ef_status *clip_shape(ef_infer *i) {
    const ef_shape *t = &i->in[0].shape;
    for (int k = 1; k < 3; k++)
        if (i->in[k].shape.rank != 0 && !ef_shape_may_equal(t, &i->in[k].shape))
            return ef_error(EF_INVALID,
                            "ClipByValue: clip_value_min and clip_value_max must be either of the "
                            "same shape as input, or a scalar: t is %s, they are %s and %s; use "
                            "Maximum and Minimum to broadcast",
                            EF_SHAPE(t), EF_SHAPE(&i->in[1].shape), EF_SHAPE(&i->in[2].shape));
    return ef_shape_same(i);
}
static ef_status *clip_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[0], *dz = g->dout[0], *zero = ef_zeros_like(b, dz);
    ef_value *low = ef_emit2(b, "Less", x, g->in[1]), *high = ef_emit2(b, "Greater", x, g->in[2]);
    g->din[0] = ef_select(b, ef_emit2(b, "LogicalOr", low, high), zero, dz);
    g->din[1] = ef_sum_like(b, ef_select(b, low, dz, zero), g->in[1]);
    g->din[2] = ef_sum_like(b, ef_select(b, high, dz, zero), g->in[2]);
    return NULL;
}

const ef_op ef_op_ClipByValue = {
    EF_NAMED(ClipByValue),
    .doc = "`t` where it lies between `clip_value_min` and `clip_value_max`, else the bound it "
           "passed.",
    .in = {"t: T", "clip_value_min: T", "clip_value_max: T"},
    .out = {"output: T"},
    .types = EF_T_REALS,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = clip_shape,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = clip_by_value_tiles,
    .expr = "(z < x ? z : x) < y ? y : (z < x ? z : x)",
    .grad = clip_grad,
    .examples = {"T[2,3]:0..9 T[]:2..3 T[]:6..7", "float[4]:0..9 float[4]:2..3 float[]:6..7",
                 "T[]:0..9 T[]:2..3 T[]:6..7", "T[0,3] T[] T[]"},
};
