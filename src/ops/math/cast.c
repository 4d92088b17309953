/* Cast converts between any two plain dtypes; Bitcast reads the same bytes as another dtype.
 *
 * Where C leaves the result undefined, casts do what x86 does, as TensorFlow's results show: a
 * float too large for int32 or int64 (or NaN) becomes the smallest integer. Narrower integers are
 * converted from an int32, and uint32 from an int64 (in vector loops, from an int32). Complex to
 * real keeps the real part. 16-bit floats are converted to float first, in blocks.
 *
 * A float outside the range of a narrow integer is clamped to that range in vector loops, but loses
 * its high bits in the few elements left over at the end. TensorFlow's results show this too; the
 * number of lanes is that of its loops. */
#include "ops/math/cast.h"
#include "ops/records.h"
#include <math.h>

typedef struct {
    ef_dtype DstT;
    bool Truncate;
} cast_attrs;

/* ---- one element ----------------------------------------------------------------------------- */

/* A uint32 in a vector loop: converted from an int32, with the highest bit set for the upper
 * half. */
#define UPPER_HALF(T, SUF)                                                  \
    static inline uint32_t uint32_of_##SUF(T x) {                           \
        if (!(x >= (T)0x1p31)) return (uint32_t)int32_of_##SUF(x);          \
        return (uint32_t)int32_of_##SUF(x - (T)0x1p31) | UINT32_C(1) << 31; \
    }
UPPER_HALF(float, F32)
UPPER_HALF(double, F64)

/* ---- tiles: cast_<from>_<to> ----------------------------------------------------------------- */

#define REAL(from, TI, to, TO, EXPR) EF_TILE1(cast_##from, to, TI, TO, EXPR)

static inline int32_t held(int32_t x, int32_t low, int32_t high) {
    return x < low ? low : x > high ? high : x;
}

#define LANES(name, F, T, to, TO, lanes)                                                \
    static void name##_##F##_##to(EF_TILE_PARAMS) {                                     \
        ef_tile_split(held_##F##_##to, cut_##F##_##to, lanes, 1, sizeof(T), sizeof(TO), \
                      EF_TILE_PASS);                                                    \
    }
/* Narrow integers from a float type R, which is F itself or its real part. */
#define NARROW_TO(F, T, to, TO, LOW, HIGH, INT, lanes)  \
    EF_TILE1(cut_##F, to, T, TO, INT)                   \
    EF_TILE1(held_##F, to, T, TO, held(INT, LOW, HIGH)) \
    LANES(cast, F, T, to, TO, lanes)
#define NARROW(F, T, INT, lanes)                             \
    NARROW_TO(F, T, I8, int8_t, -128, 127, INT, lanes)       \
    NARROW_TO(F, T, U8, uint8_t, 0, 255, INT, lanes)         \
    NARROW_TO(F, T, I16, int16_t, -32768, 32767, INT, lanes) \
    NARROW_TO(F, T, U16, uint16_t, 0, 65535, INT, lanes)
NARROW(F32, float, int32_of_F32(x), 32)
NARROW(F64, double, int32_of_F64(x), 16)
NARROW(C128, ef_c128, int32_of_F64(creal(x)), 16)

#define TO_UINT32(F, T)                                    \
    EF_TILE1(cut_##F, U32, T, uint32_t, int64_of_##F(x))   \
    EF_TILE1(held_##F, U32, T, uint32_t, uint32_of_##F(x)) \
    LANES(cast, F, T, U32, uint32_t, 8)
TO_UINT32(F32, float)
TO_UINT32(F64, double)

/* From a float type. */
#define OF_FLOAT(F, T)                          \
    REAL(F, T, I32, int32_t, int32_of_##F(x))   \
    REAL(F, T, I64, int64_t, int64_of_##F(x))   \
    REAL(F, T, U64, uint64_t, uint64_of_##F(x)) \
    TO_REST(F, T)
/* From an integer type: C leaves narrowing to the compiler, and all compilers we support wrap. */
#define OF_INT(F, T)             \
    REAL(F, T, I8, int8_t, x)    \
    REAL(F, T, I16, int16_t, x)  \
    REAL(F, T, I32, int32_t, x)  \
    REAL(F, T, I64, int64_t, x)  \
    REAL(F, T, U8, uint8_t, x)   \
    REAL(F, T, U16, uint16_t, x) \
    REAL(F, T, U32, uint32_t, x) REAL(F, T, U64, uint64_t, x) TO_REST(F, T)
#define TO_REST(F, T)                    \
    REAL(F, T, BOOL, uint8_t, x != 0)    \
    REAL(F, T, F32, float, x)            \
    REAL(F, T, F64, double, x)           \
    REAL(F, T, C64, ef_c64, (float)x)    \
    REAL(F, T, C128, ef_c128, (double)x) \
    TO_HALF(F, T)
#define TO_HALF(F, T)                                                      \
    static void cast_##F##_F16(EF_TILE_PARAMS) {                           \
        ef_tile_to_half(cast_##F##_F32, EF_F16, sizeof(T), EF_TILE_PASS);  \
    }                                                                      \
    static void cast_##F##_BF16(EF_TILE_PARAMS) {                          \
        ef_tile_to_half(cast_##F##_F32, EF_BF16, sizeof(T), EF_TILE_PASS); \
    }
OF_FLOAT(F32, float)
OF_FLOAT(F64, double)
EF_EACH_INT(OF_INT)
OF_INT(BOOL, uint8_t)

/* From a complex type: the cast of the real part. */
#define OF_COMPLEX(F, T, R, real)                     \
    REAL(F, T, I32, int32_t, int32_of_##R(real(x)))   \
    REAL(F, T, I64, int64_t, int64_of_##R(real(x)))   \
    REAL(F, T, U32, uint32_t, int64_of_##R(real(x)))  \
    REAL(F, T, U64, uint64_t, uint64_of_##R(real(x))) \
    REAL(F, T, BOOL, uint8_t, real(x) != 0)           \
    REAL(F, T, F32, float, real(x))                   \
    REAL(F, T, F64, double, real(x))                  \
    REAL(F, T, C64, ef_c64, x) REAL(F, T, C128, ef_c128, x) TO_HALF(F, T)
OF_COMPLEX(C64, ef_c64, F32, crealf)
REAL(C64, ef_c64, I8, int8_t, int32_of_F32(crealf(x)))
REAL(C64, ef_c64, U8, uint8_t, int32_of_F32(crealf(x)))
REAL(C64, ef_c64, I16, int16_t, int32_of_F32(crealf(x)))
REAL(C64, ef_c64, U16, uint16_t, int32_of_F32(crealf(x)))
OF_COMPLEX(C128, ef_c128, F64, creal)

/* From a 16-bit float: the cast from float, on widened blocks. */
#define OF_HALF_BY(F, to, size, f32)                      \
    static void cast_##F##_##to(EF_TILE_PARAMS) {         \
        ef_tile_half(f32, EF_##F, 1, size, EF_TILE_PASS); \
    }
#define OF_HALF_TO(F, to, size) OF_HALF_BY(F, to, size, cast_F32_##to)
#define NARROW_HALF(F, to, TO, lanes)           \
    LANES(in##lanes, F32, float, to, TO, lanes) \
    OF_HALF_BY(F, to, sizeof(TO), in##lanes##_F32_##to)
/* clang-format is not stable here: each run changes the layout of this list. */
/* clang-format off */
#define OF_HALF(F, lanes)                                                 \
    NARROW_HALF(F, I8, int8_t, lanes) NARROW_HALF(F, U8, uint8_t, lanes)  \
    NARROW_HALF(F, I16, int16_t, lanes)                                   \
    NARROW_HALF(F, U16, uint16_t, lanes) OF_HALF_TO(F, I32, 4)            \
    OF_HALF_TO(F, I64, 8)                                                 \
    OF_HALF_TO(F, U32, 4) OF_HALF_TO(F, U64, 8) OF_HALF_TO(F, BOOL, 1)    \
    OF_HALF_TO(F, F32, 4) OF_HALF_TO(F, F64, 8) OF_HALF_TO(F, C64, 8)     \
    OF_HALF_TO(F, C128, 16) OF_HALF_TO(F, F16, 2) OF_HALF_TO(F, BF16, 2)
/* clang-format on */
OF_HALF(F16, 16)
OF_HALF(BF16, 8)

#define ROW(F)                                                                                     \
    [EF_##F] = {EF_ROWS_INT(cast_##F) EF_ROWS_FLOAT(cast_##F) EF_ROWS_COMPLEX(cast_##F)[EF_BOOL] = \
                    cast_##F##_BOOL},
static ef_tile_fn *const cast_tiles[EF_DTYPES][EF_DTYPES] = {
    ROW(F16) ROW(BF16) ROW(F32) ROW(F64) ROW(C64) ROW(C128) ROW(BOOL) ROW(I8) ROW(I16) ROW(I32)
        ROW(I64) ROW(U8) ROW(U16) ROW(U32) ROW(U64)};

/* Truncate: between floats, the mantissa bits that do not fit are dropped instead of rounded
 * (except from double to bfloat16, where TensorFlow rounds). */
static inline float cut_F32(float x, int bits) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    u &= isnan(x) ? ~0u : ~0u << bits;
    memcpy(&x, &u, sizeof x);
    return x;
}
static inline double cut_F64(double x, int bits) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    u &= isnan(x) ? ~(uint64_t)0 : ~(uint64_t)0 << bits;
    memcpy(&x, &u, sizeof x);
    return x;
}
EF_TILE1(cut_double, F32, double, float, cut_F64(x, 29))
EF_TILE1(cut_double_half, F32, double, float, cut_F64(x, 42))
EF_TILE1(cut_float_half, F32, float, float, cut_F32(x, 13))
EF_TILE1(cut_float_bfloat, F32, float, float, cut_F32(x, 16))
#define CUT(name, half, size) \
    static void name##_16(EF_TILE_PARAMS) { ef_tile_to_half(name##_F32, half, size, EF_TILE_PASS); }
CUT(cut_double_half, EF_F16, 8)
CUT(cut_float_half, EF_F16, 4)
CUT(cut_float_bfloat, EF_BF16, 4)
static ef_tile_fn *cut_tile(ef_dtype from, ef_dtype to) {
    if (from == EF_F64 && to == EF_F32) return cut_double_F32;
    if (from == EF_F64 && to == EF_F16) return cut_double_half_16;
    if (from == EF_F32 && to == EF_F16) return cut_float_half_16;
    if (from == EF_F32 && to == EF_BF16) return cut_float_bfloat_16;
    return NULL;
}

static ef_tile_fn *pick_cast(const ef_dtype *in, int n_in, ef_dtype out, const void *attrs) {
    (void)n_in;
    ef_tile_fn *cut = ((const cast_attrs *)attrs)->Truncate ? cut_tile(in[0], out) : NULL;
    if (cut != NULL) return cut;
    ef_tile_fn *tile = cast_tiles[in[0]][out];
    if (tile != NULL) return tile;
    ef_dtype from = ef_unquantized(in[0]), to = ef_unquantized(out);
    tile = cast_tiles[from][to];
    return tile != NULL ? tile : ef_cast_narrow(from, to);
}

/* ---- the record ------------------------------------------------------------------------------ */

static bool is_known(const ef_call *c) {
    ef_dtype from = (ef_dtype)c->in[0]->dtype;
    return pick_cast(&from, 1, (ef_dtype)c->out[0]->dtype, c->attrs) != NULL;
}
static bool is_same(const ef_call *c) { return c->in[0]->dtype == c->out[0]->dtype; }
static bool is_unknown(const ef_call *c) {
    return !is_known(c) && !(is_same(c) && ef_dtype_in((ef_dtype)c->in[0]->dtype, EF_MANAGED));
}
static ef_status *share(const ef_call *c) { return ef_out_share(c, 0, c->in[0]); }
static bool is_text(const ef_call *c) {
    return c->in[0]->dtype == EF_STRING || c->out[0]->dtype == EF_STRING;
}
/* A graph may contain such a cast, as in TensorFlow; it fails when it runs. */
static ef_status *refuse(const ef_call *c) {
    return ef_error(EF_UNIMPLEMENTED, "Cast: Cast %s to %s is not supported; %s",
                    ef_dtype_name(c->in[0]->dtype), ef_dtype_name(c->out[0]->dtype),
                    is_text(c) ? "use StringToNumber to parse strings, AsString to make them"
                               : "cast to float32 or int32 first, if these casts exist");
}

static ef_status *cast_grad(ef_grad *g) {
    enum { SMOOTH = EF_FLOATS | EF_COMPLEX };
    ef_dtype from = g->in[0]->fact.dtype, to = g->out[0]->fact.dtype;
    if (ef_dtype_in(from, SMOOTH) && ef_dtype_in(to, SMOOTH))
        g->din[0] = ef_cast(g->b, g->dout[0], from);
    return NULL;
}

const ef_op ef_op_Cast = {
    EF_NAMED(Cast),
    .doc = "Converts `x` to dtype `DstT`. A float cast to an integer loses its fraction; a "
           "complex number cast to a real keeps its real part; as a bool, all but 0 is true.",
    .in = {"x: SrcT"},
    .out = {"y: DstT"},
    .types = "SrcT: type",
    .attr = {EF_ATTR(cast_attrs, DstT, "type", NULL),
             EF_ATTR(cast_attrs, Truncate, "bool", "false")},
    .attr_size = sizeof(cast_attrs),
    .traits = EF_ELEMENTWISE | EF_NEVER_FAILS | EF_CONVERTS,
    .keeps = EF_KEEP_NONE,
    .shape_value = EF_SHAPE_VALUE_SAME,
    .shape = ef_shape_same,
    .kernel = {{EF_CPU | EF_TEST, EF_PLAIN, ef_run_elementwise, NULL, is_known, NULL, NULL},
               {EF_CPU, EF_MANAGED, share, NULL, is_same, NULL, NULL},
               {EF_CPU, EF_ANY, refuse, NULL, is_unknown, NULL, NULL}},
    .pick_tile = pick_cast,
    .grad = cast_grad,
    .examples = {"float[2,3] DstT=double", "float[5]{-1.5,2.5,1e20,0,nan} DstT=int32",
                 "int32[4]{300,-1,0,7} DstT=uint8", "int16[] DstT=bfloat16",
                 "complex64[2] DstT=float", "half[0,3] DstT=int64", "bool[3] DstT=complex128",
                 "float[3] DstT=half Truncate=true grad=no"},
};

/* ---- Bitcast --------------------------------------------------------------------------------- */

typedef struct {
    ef_dtype type;
} bitcast_attrs;

/* A smaller dtype splits each element along a new last dim; a larger one combines the elements of
 * the last dim. */
static ef_status *bitcast_shape(ef_infer *i) {
    const ef_shape *in = &i->in[0].shape;
    int64_t from = (int64_t)ef_dtype_size(i->in[0].dtype),
            to = (int64_t)ef_dtype_size(i->out[0].dtype);
    ef_shape *out = &i->out[0].shape;
    *out = *in;
    if (in->rank < 0 || from == to) return NULL;
    if (from > to) {
        if (in->rank == EF_MAX_RANK)
            return ef_error(EF_INVALID, "Bitcast: %s from %s to %s would need a dim beyond rank %d",
                            EF_SHAPE(in), ef_dtype_name(i->in[0].dtype),
                            ef_dtype_name(i->out[0].dtype), EF_MAX_RANK);
        out->dim[out->rank++] = from / to;
        return NULL;
    }
    int64_t last = in->rank == 0 ? 1 : in->dim[in->rank - 1];
    if (in->rank == 0 || (ef_dim_known(last) && last != to / from))
        return ef_error(EF_INVALID,
                        "Bitcast: Cannot bitcast %s of %s to %s: elements of %lld bytes are made "
                        "from %lld of %lld bytes, so the last dim must be %lld",
                        EF_SHAPE(in), ef_dtype_name(i->in[0].dtype), ef_dtype_name(i->out[0].dtype),
                        (long long)to, (long long)(to / from), (long long)from,
                        (long long)(to / from));
    out->rank--;
    return NULL;
}
static ef_status *bitcast_run(const ef_call *c) {
    const ef_tensor *in = c->in[0];
    size_t bytes = (size_t)ef_count(in) * ef_dtype_size(in->dtype);
    if (bytes > 0) memmove(c->out[0]->data, in->data, bytes);
    return NULL;
}

#define BITS                                                                                     \
    "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, " \
    "complex64, complex128, qint8, quint8, qint16, quint16, qint32}"
const ef_op ef_op_Bitcast = {
    EF_NAMED(Bitcast),
    .doc = "The bytes of `input` read as dtype `type`; if the element sizes differ, "
           "a last dim is added or removed.",
    .in = {"input: T"},
    .out = {"output: type"},
    .types = "T: " BITS,
    .attr = {EF_ATTR(bitcast_attrs, type, BITS, NULL)},
    .attr_size = sizeof(bitcast_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = bitcast_shape,
    .kernel = {{EF_CPU, EF_PLAIN, bitcast_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[2,3] type=int32", "float[2] type=uint8", "uint8[3,4] type=float",
                 "int64[] type=double", "half[0,2] type=float"},
};
