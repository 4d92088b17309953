/* Rules about shapes and dtypes: transposes, reshapes and casts that cancel each other, and
 * transposes that a matrix product can do itself. */
#include "passes/rule_words.h"

/* ---- permutations ---------------------------------------------------------------------------- */

/* A permutation that is known and valid; its length, or -1. */
static int permutation(const ef_match *m, int name, int64_t *perm) {
    const ef_tensor *v = ef_match_fact(m, name)->value;
    if (v == NULL || v->data == NULL || v->rank != 1 || v->dim[0] > EF_MAX_RANK) return -1;
    int n = (int)v->dim[0];
    unsigned seen = 0;
    for (int k = 0; k < n; k++) {
        perm[k] = ef_element_int((ef_dtype)v->dtype, v->data, k);
        if (perm[k] < 0) perm[k] += n;
        if (perm[k] < 0 || perm[k] >= n) return -1;
        seen |= 1u << perm[k];
    }
    return seen == (1u << n) - 1 ? n : -1;
}

static bool is_identity(const int64_t *perm, int n) {
    for (int k = 0; k < n; k++)
        if (perm[k] != k) return false;
    return n >= 0;
}

static bool keeps_order(ef_match *m) {
    int64_t perm[EF_MAX_RANK];
    int n = permutation(m, Y, perm);
    return n == ef_match_fact(m, X)->shape.rank && is_identity(perm, n);
}

/* Two permutations as one, bound to R. */
static bool composes(ef_match *m) {
    int64_t first[EF_MAX_RANK], second[EF_MAX_RANK], both[EF_MAX_RANK];
    int n = permutation(m, Y, first);
    if (n < 0 || permutation(m, Z, second) != n) return false;
    for (int k = 0; k < n; k++) both[k] = first[second[k]];
    return ef_match_bind_ints(m, R, n, both);
}

/* Only axes of size one change places, so the elements stay in order; R is the new shape. */
static bool moves_only_ones(ef_match *m) {
    int64_t perm[EF_MAX_RANK], dims[EF_MAX_RANK];
    const ef_shape *x = &ef_match_fact(m, X)->shape;
    int n = permutation(m, Y, perm), last = -1;
    if (n < 0 || n != x->rank || !ef_shape_known(x)) return false;
    for (int k = 0; k < n; k++) {
        dims[k] = x->dim[perm[k]];
        if (dims[k] == 1) continue;
        if (perm[k] < last || dims[k] > INT32_MAX) return false;
        last = (int)perm[k];
    }
    return ef_match_bind_ints(m, R, n, dims);
}

/* ---- shapes and types ------------------------------------------------------------------------ */

/* Whether the shapes are certainly equal: each size is known or a symbol. */
static bool same_for_certain(const ef_shape *a, const ef_shape *b) {
    if (a->rank < 0 || !ef_shape_equal(a, b)) return false;
    for (int d = 0; d < a->rank; d++)
        if (a->dim[d] == EF_DIM_UNKNOWN) return false;
    return true;
}

/* Whether x already has the requested shape. */
static bool already_so(ef_match *m) {
    const ef_shape *x = &ef_match_fact(m, X)->shape;
    const ef_tensor *want = ef_match_fact(m, Y)->value;
    if (want == NULL || want->data == NULL || want->rank != 1 || want->dim[0] != x->rank)
        return false;
    bool wild = false, zero = false; /* one -1 matches any size, but not beside a size of 0 */
    for (int d = 0; d < x->rank; d++) {
        int64_t n = ef_element_int((ef_dtype)want->dtype, want->data, d);
        if (n != -1 && n != x->dim[d]) return false;
        if (n == -1 && wild) return false;
        wild = wild || n == -1;
        zero = zero || n == 0;
    }
    return !wild || !zero;
}

static bool already_ensured(ef_match *m) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(m->op, m->fields, "shape", &v);
    ef_status_free(s);
    return s == NULL && ef_shape_known(v.as.shape) &&
           same_for_certain(v.as.shape, &ef_match_fact(m, X)->shape);
}

/* The inner reshape cannot fail, so the outer one can be applied to x directly. */
static bool inner_is_known(ef_match *m) {
    return ef_shape_known(&ef_match_fact(m, X)->shape) && ef_match_fact(m, Y)->value != NULL &&
           ef_shape_known(&m->inner[0]->out->shape);
}

static ef_dtype cast_to(const ef_op *op, const void *fields) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(op, fields, "DstT", &v);
    ef_status_free(s);
    return s == NULL ? v.as.type : EF_NO_DTYPE;
}

static bool same_type(ef_match *m) {
    return ef_match_fact(m, X)->dtype == cast_to(m->op, m->fields);
}

static int bits(ef_dtype t) { return (int)ef_dtype_size(t) * 8; }

/* Digits of the mantissa, the hidden one included. */
static int digits(ef_dtype t) {
    return t == EF_F64 ? 53 : t == EF_F32 ? 24 : t == EF_F16 ? 11 : t == EF_BF16 ? 8 : 0;
}

/* Every value of a is a value of b. */
static bool holds_all(ef_dtype a, ef_dtype b) {
    if (a == b || a == EF_BOOL) return ef_dtype_in(b, EF_REALS);
    if (ef_dtype_in(a, EF_FLOATS))
        return ef_dtype_in(b, EF_FLOATS) && digits(b) > digits(a) && !(a == EF_BF16 && b == EF_F16);
    if (!ef_dtype_in(a, EF_INTS)) return false;
    if (ef_dtype_in(b, EF_FLOATS)) return bits(a) <= digits(b) && b != EF_F16;
    bool a_signed = ef_dtype_in(a, EF_SIGNED_INTS), b_signed = ef_dtype_in(b, EF_SIGNED_INTS);
    if (a_signed == b_signed) return ef_dtype_in(b, EF_INTS) && bits(b) > bits(a);
    return !a_signed && b_signed && bits(b) > bits(a);
}

/* The first cast loses nothing, so the second can be applied to x directly. Floats that do not fit
 * an integer are converted in ways that depend on the float type, so those casts stay. */
static bool first_cast_is_exact(ef_match *m) {
    ef_dtype a = ef_match_fact(m, X)->dtype, b = m->inner[0]->out->dtype;
    ef_dtype c = cast_to(m->op, m->fields);
    if (!holds_all(a, b) || !ef_dtype_in(c, EF_REALS | EF_BIT(BOOL))) return false;
    return ef_dtype_in(c, EF_FLOATS | EF_BIT(BOOL)) || ef_dtype_in(a, EF_INTS | EF_BIT(BOOL));
}

/* ---- transposes into products ---------------------------------------------------------------- */

/* The transpose bound to Z exchanges the last two axes and nothing else. */
static bool swaps_last_two(ef_match *m) {
    int64_t perm[EF_MAX_RANK];
    int n = permutation(m, Z, perm);
    if (n < 2 || n != m->inner[0]->out->shape.rank) return false;
    int64_t last = perm[n - 1];
    perm[n - 1] = perm[n - 2];
    perm[n - 2] = last;
    return is_identity(perm, n);
}
/* `adj` means conjugate too. */
static bool swaps_last_two_real(ef_match *m) {
    return ef_dtype_in(ef_match_dtype(m), EF_REALS) && swaps_last_two(m);
}

static ef_status *toggled(const ef_match *m, const ef_op *op, const char *attr,
                          const ef_attrs **out) {
    ef_attr_value set[] = {EF_SET_BOOL(attr, !ef_match_bool(m->op, m->fields, attr))};
    return ef_attrs_like(op, m->op, m->fields, set, 1, out);
}
static ef_status *toggle_a(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return toggled(m, op, "transpose_a", out);
}
static ef_status *toggle_b(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return toggled(m, op, "transpose_b", out);
}
static ef_status *toggle_x(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return toggled(m, op, "adj_x", out);
}
static ef_status *toggle_y(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return toggled(m, op, "adj_y", out);
}

#define BATCHED(N, name, T, more)                                                               \
    {name "(x',y) -> " name "(x,y,adj_x)",                                                      \
     P(OP(N), OP(Transpose), X, Z, Y),                                                          \
     P(OP(N), X, Y),                                                                            \
     .when = swaps_last_two_real,                                                               \
     .attrs = toggle_x,                                                                         \
     .examples = {T "[2,3,4] int32[3]{0,2,1} " T "[2,3,5]" more,                                \
                  T "[2,3,4] int32[3]{0,2,1} " T "[2,4,5] adj_x=true" more}},                   \
    {                                                                                           \
        name "(x,y') -> " name "(x,y,adj_y)", P(OP(N), X, OP(Transpose), Y, Z), P(OP(N), X, Y), \
            .when = swaps_last_two_real, .attrs = toggle_y, .examples = {                       \
                T "[2,3,4] " T "[2,5,4] int32[3]{0,2,1}" more                                   \
            }                                                                                   \
    }

const ef_rule ef_rules_shape[] = {
    {"transpose in order -> x", P(OP(Transpose), X, Y), P(X), .when = keeps_order,
     .examples = {"T[2,3] int32[2]{0,1}", "T[4] int64[1]{0}"}},
    {"transpose(transpose(x)) -> transpose(x)", P(OP(Transpose), OP(Transpose), X, Y, Z),
     P(OP(Transpose), X, R), .when = composes,
     .examples = {"T[2,3,4] int32[3]{1,2,0} int32[3]{1,2,0}",
                  "T[2,3] int64[2]{1,0} int32[2]{1,0}"}},
    {"transpose of ones -> reshape", P(OP(Transpose), X, Y), P(OP(Reshape), X, R),
     .when = moves_only_ones, .examples = {"T[2,1,3] int32[3]{1,0,2}", "T[2,3,1] int32[3]{0,2,1}"}},
    {"reshape to itself -> x", P(OP(Reshape), X, Y), P(X), .when = already_so,
     .examples = {"T[2,3] int32[2]{2,3}", "T[2,3] int64[2]{-1,3}"}},
    {"reshape(reshape(x)) -> reshape(x)", P(OP(Reshape), OP(Reshape), X, Y, Z),
     P(OP(Reshape), X, Z), .when = inner_is_known,
     .examples = {"T[2,3] int32[1]{6} int32[2]{3,2}", "T[2,3] int32[2]{3,-1} int64[1]{-1}"}},
    {"ensure_shape as it is -> x", P(OP(EnsureShape), X), P(X), .when = already_ensured,
     .examples = {"T[2,3] shape=[2,3]"}},
    {"cast to its own type -> x", P(OP(Cast), X), P(X), .when = same_type,
     .examples = {"float[2,3] DstT=float", "int8[2] DstT=int8", "bool[] DstT=bool"}},
    {"cast(cast(x)) -> cast(x)", P(OP(Cast), OP(Cast), X), P(OP(Cast), X),
     .when = first_cast_is_exact,
     .examples = {"int8[5] DstT=float,int32", "float[2,3] DstT=float,double",
                  "half[3] DstT=bool,float", "uint8[4] DstT=int8,int16"}},
    {"matmul(x',y) -> matmul(x,y,transpose_a)", P(OP(MatMul), OP(Transpose), X, Z, Y),
     P(OP(MatMul), X, Y), .when = swaps_last_two, .attrs = toggle_a,
     .examples = {"T[3,2] int32[2]{1,0} T[3,4]", "T[2,3] int32[2]{1,0} T[3,4] transpose_a=true"}},
    {"matmul(x,y') -> matmul(x,y,transpose_b)", P(OP(MatMul), X, OP(Transpose), Y, Z),
     P(OP(MatMul), X, Y), .when = swaps_last_two, .attrs = toggle_b,
     .examples = {"T[2,3] T[4,3] int32[2]{1,0}", "T[2,3] T[3,4] int32[2]{1,0} transpose_b=true"}},
    BATCHED(BatchMatMul, "batch_matmul", "T", ""),
    BATCHED(BatchMatMulV2, "batch_matmul_v2", "T", ""),
    BATCHED(BatchMatMulV3, "batch_matmul_v3", "float", " Tout=float"),
    {0}};
