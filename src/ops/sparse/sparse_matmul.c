/* SparseTensorDenseMatMul: each stored element of `a` adds a multiple of a row of `b` to a row of
 * the product. */
#include "base/alloc.h"
#include "ops/build.h"
#include "ops/sparse/sparse.h"

typedef struct {
    bool adjoint_a, adjoint_b;
} product_attrs;

static ef_status *product_shape(ef_infer *i) {
    const product_attrs *t = i->attrs;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(ef_need_rank(i, 3, 2));
    int64_t size[EF_MAX_RANK] = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN}, inner = EF_DIM_UNKNOWN;
    int n = 0;
    bool known = false;
    EF_TRY(ef_known_ints(i, 2, size, EF_MAX_RANK, &n, &known));
    if (known && n != 2)
        return ef_error(EF_INVALID, "%s: a_shape has %d sizes; a must be a matrix", i->op->name, n);
    if (known && (size[0] < 0 || size[1] < 0))
        return ef_error(EF_INVALID, "%s: a_shape is [%lld, %lld]; sizes must not be negative",
                        i->op->name, (long long)size[0], (long long)size[1]);
    const ef_shape *b = &i->in[3].shape;
    int64_t rows = known ? size[t->adjoint_a] : EF_DIM_UNKNOWN, columns = EF_DIM_UNKNOWN;
    if (b->rank == 2) {
        if (known)
            EF_TRY(ef_need_same_dim(i, size[!t->adjoint_a], b->dim[t->adjoint_b],
                                    "inner sizes of a and b", &inner));
        columns = b->dim[!t->adjoint_b];
    }
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {rows, columns}};
    return NULL;
}

/* Adds element v of a times row k of b (or of its adjoint) to the row `out`. */
typedef void row_fn(void *out, const void *v, int64_t j, const void *b, int64_t k, int64_t n,
                    int64_t step_k, int64_t step_n, bool conj_a, bool conj_b);
#define ROW(SUF, T, TAKE_A, TAKE_B)                                                              \
    static void row_##SUF(void *out_, const void *v_, int64_t j, const void *b_, int64_t k,      \
                          int64_t n, int64_t step_k, int64_t step_n, bool conj_a, bool conj_b) { \
        T *out = out_, v = ((const T *)v_)[j];                                                   \
        const T *b = (const T *)b_ + k * step_k;                                                 \
        (void)conj_a, (void)conj_b;                                                              \
        v = TAKE_A;                                                                              \
        for (int64_t c = 0; c < n; c++) {                                                        \
            T w = b[c * step_n];                                                                 \
            out[c] += v * TAKE_B;                                                                \
        }                                                                                        \
    }
ROW(F32, float, v, w)
ROW(F64, double, v, w)
ROW(U32, uint32_t, v, w) /* int32, computed unsigned: overflow wraps */
ROW(C64, ef_c64, conj_a ? conjf(v) : v, (conj_b ? conjf(w) : w))
ROW(C128, ef_c128, conj_a ? conj(v) : v, (conj_b ? conj(w) : w))

/* TensorFlow rounds every product and every sum of bfloat16. */
static void row_BF16(void *out_, const void *v_, int64_t j, const void *b_, int64_t k, int64_t n,
                     int64_t step_k, int64_t step_n, bool conj_a, bool conj_b) {
    ef_bf16 *out = out_;
    const ef_bf16 *b = (const ef_bf16 *)b_ + k * step_k;
    float v = ef_bf16_float(((const ef_bf16 *)v_)[j]);
    (void)conj_a, (void)conj_b;
    for (int64_t c = 0; c < n; c++) {
        ef_bf16 product = ef_float_bf16(v * ef_bf16_float(b[c * step_n]));
        out[c] = ef_float_bf16(ef_bf16_float(out[c]) + ef_bf16_float(product));
    }
}

static row_fn *const row_of[EF_DTYPES] = {
    [EF_BF16] = row_BF16, [EF_F32] = row_F32, [EF_F64] = row_F64,
    [EF_I32] = row_U32,   [EF_C64] = row_C64, [EF_C128] = row_C128};

/* The product for values and a dense matrix of one type; clears `out` first. */
static ef_status *add_rows(const ef_call *c, const ef_shape *s, ef_dtype type, const void *values,
                           const void *dense, char *out) {
    const product_attrs *t = c->attrs;
    const ef_tensor *b = c->in[3];
    const int64_t *size = c->in[2]->data;
    int64_t columns = s->dim[1];
    size_t row = (size_t)columns * ef_dtype_size(type);
    if (row > 0 && s->dim[0] > 0) memset(out, 0, row * (size_t)s->dim[0]);
    int64_t step_k = t->adjoint_b ? 1 : columns, step_n = t->adjoint_b ? b->dim[1] : 1;
    for (int64_t j = 0; j < c->in[0]->dim[0]; j++) {
        int64_t at[2] = {ef_in_int(c, 0, 2 * j), ef_in_int(c, 0, 2 * j + 1)};
        if (at[0] < 0 || at[0] >= size[0] || at[1] < 0 || at[1] >= size[1])
            return ef_error(EF_INVALID,
                            "SparseTensorDenseMatMul: a_indices[%lld] = %s is out of bounds of "
                            "[%lld, %lld]",
                            (long long)j, EF_INDEX(at, 2), (long long)size[0], (long long)size[1]);
        row_of[type](out + row * (size_t)at[t->adjoint_a], values, j, dense, at[!t->adjoint_a],
                     columns, step_k, step_n, t->adjoint_a, t->adjoint_b);
    }
    return NULL;
}

/* half: sums in float and rounds once, as TensorFlow does. */
static ef_status *run_half(const ef_call *c, const ef_shape *s) {
    int64_t n = ef_count(c->in[1]), dense = ef_count(c->in[3]), made = ef_count(c->out[0]);
    size_t bytes = (size_t)(n + dense + made + 1) * sizeof(float);
    float *values = ef_malloc(bytes);
    if (values == NULL) return ef_no_memory(bytes);
    float *b = values + n, *out = b + dense;
    ef_f16_to_f32(values, c->in[1]->data, (size_t)n);
    ef_f16_to_f32(b, c->in[3]->data, (size_t)dense);
    ef_status *bad = add_rows(c, s, EF_F32, values, b, (char *)out);
    if (bad == NULL) ef_f32_to_f16(c->out[0]->data, out, (size_t)made);
    ef_free(values);
    return bad;
}

static ef_status *product_run(const ef_call *c) {
    const product_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0], *b = c->in[3];
    int64_t n = x->dim[0];
    if (x->dim[1] != 2 || c->in[1]->dim[0] != n || ef_count(c->in[2]) != 2)
        return ef_error(EF_INVALID,
                        "SparseTensorDenseMatMul: a_indices is %s, a_values %s and a_shape %s; "
                        "they must be [n, 2], [n] and [2]",
                        EF_TENSOR(x), EF_TENSOR(c->in[1]), EF_TENSOR(c->in[2]));
    const int64_t *size = c->in[2]->data;
    if (size[0] < 0 || size[1] < 0 || size[!t->adjoint_a] != b->dim[t->adjoint_b])
        return ef_error(EF_INVALID,
                        "SparseTensorDenseMatMul: a is [%lld, %lld] and b is %s; the inner sizes "
                        "must be equal",
                        (long long)size[0], (long long)size[1], EF_TENSOR(b));
    ef_shape s = {.rank = 2, .dim = {size[t->adjoint_a], b->dim[!t->adjoint_b]}};
    EF_TRY(ef_out_alloc(c, 0, &s));
    if (b->dtype == EF_F16) return run_half(c, &s);
    return add_rows(c, &s, (ef_dtype)b->dtype, c->in[1]->data, b->data, c->out[0]->data);
}

static ef_value *column(ef_build *b, ef_value *indices, int64_t k) {
    return ef_emit(b, "GatherV2", 3, indices, ef_const_number(b, EF_I32, (double)k),
                   ef_const_number(b, EF_I32, 1));
}
static ef_value *turned(ef_build *b, ef_value *x) {
    return ef_conj(b, ef_transpose(b, x, 2, (int64_t[]){1, 0}));
}

static ef_status *product_grad(ef_grad *g) {
    const product_attrs *t = g->attrs;
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *axis = ef_const_number(b, EF_I32, 0);
    const ef_attr_value set[] = {EF_SET_BOOL("adjoint_a", !t->adjoint_a)};
    ef_value *db =
        ef_emit_set(b, "SparseTensorDenseMatMul", set, 1, 4, g->in[0], g->in[1], g->in[2], dy);
    g->din[3] = t->adjoint_b ? turned(b, db) : db;
    ef_value *rows = column(b, g->in[0], t->adjoint_a), *inner = column(b, g->in[0], !t->adjoint_a);
    ef_value *other = t->adjoint_b ? turned(b, g->in[3]) : g->in[3];
    ef_value *from = ef_emit(b, "GatherV2", 3, dy, rows, axis);
    ef_value *with = ef_emit(b, "GatherV2", 3, other, inner, axis);
    ef_value *product =
        t->adjoint_a ? ef_mul(b, with, ef_conj(b, from)) : ef_mul(b, from, ef_conj(b, with));
    g->din[1] = ef_sum(b, product, 1, (int64_t[]){1}, false);
    return NULL;
}

const ef_op ef_op_SparseTensorDenseMatMul = {
    EF_NAMED(SparseTensorDenseMatMul),
    .doc = "The product of a sparse matrix and a dense one, each optionally as its adjoint.",
    .in = {"a_indices: Tindices", "a_values: T", "a_shape: int64", "b: T"},
    .out = {"product: T"},
    .types = "T: {bfloat16, half, float, double, int32, complex64, complex128}; "
             "Tindices: {int32, int64} = int64",
    .attr = {EF_ATTR(product_attrs, adjoint_a, "bool", "false"),
             EF_ATTR(product_attrs, adjoint_b, "bool", "false")},
    .attr_size = sizeof(product_attrs),
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .shape = product_shape,
    .kernel = EF_ANY_KERNEL(product_run), /* the key type would be Tindices; the set of T limits
                                           * the dtypes */
    .grad = product_grad,
    .examples = {"int64[3,2]{0,1,1,2,2,0} T[3] int64[2]{3,4} T[4,2]",
                 "int64[3,2]{0,1,1,2,2,0} T[3] int64[2]{3,4} T[3,2] adjoint_a=true",
                 "int64[2,2]{0,1,1,2} float[2] int64[2]{3,4} float[2,4] adjoint_b=true",
                 "int64[2,2]{0,1,1,2} float[2] int64[2]{3,4} float[2,3] adjoint_a=true "
                 "adjoint_b=true",
                 "int32[0,2] float[0] int64[2]{2,3} float[3,2]"},
};
