/* MatMul and its batched variants. The last two axes are matrices; leading axes are a batch, which
 * broadcasts from BatchMatMulV2 on. */
#include "kernels/gemm.h"
#include "ops/build.h"
#include "ops/shapes.h"

/* ---- MatMul -----------------------------------------------------------------------------------
 */

typedef struct {
    bool transpose_a, transpose_b, grad_a, grad_b;
} matmul_attrs;

static ef_status *inner_sizes(const ef_infer *i, bool flip_a, bool flip_b, int64_t x, int64_t y) {
    if (ef_dim_may_equal(x, y)) return NULL;
    return ef_error(
        EF_INVALID,
        "%s: a is %s%s and b is %s%s, so the inner sizes %lld and %lld differ; they must "
        "be equal (Matrix size-incompatible)",
        i->op->name, EF_SHAPE(&i->in[0].shape), flip_a ? " (transposed)" : "",
        EF_SHAPE(&i->in[1].shape), flip_b ? " (transposed)" : "", (long long)x, (long long)y);
}

static ef_status *matmul_shape(ef_infer *i) {
    const matmul_attrs *t = i->attrs;
    const ef_shape *a = &i->in[0].shape, *b = &i->in[1].shape;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 2));
    if (a->rank == 2 && b->rank == 2)
        EF_TRY(inner_sizes(i, t->transpose_a, t->transpose_b, a->dim[!t->transpose_a],
                           b->dim[t->transpose_b]));
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN}};
    if (a->rank == 2) i->out[0].shape.dim[0] = a->dim[t->transpose_a];
    if (b->rank == 2) i->out[0].shape.dim[1] = b->dim[!t->transpose_b];
    return NULL;
}

static ef_gemm_args matmul_args(const ef_call *c) {
    const matmul_attrs *t = c->attrs;
    const ef_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    return ef_gemm_dense(y->dtype, t->transpose_a ? EF_GEMM_T : EF_GEMM_N,
                         t->transpose_b ? EF_GEMM_T : EF_GEMM_N, y->dim[0], y->dim[1],
                         a->dim[!t->transpose_a], a->data, b->data, y->data);
}

static size_t matmul_scratch(const ef_call *c) {
    ef_gemm_args g = matmul_args(c);
    return ef_gemm_scratch(&g);
}

static ef_status *matmul_run(const ef_call *c) {
    ef_gemm_args g = matmul_args(c);
    g.scratch = c->scratch;
    ef_gemm(&g);
    return NULL;
}

static ef_status *matmul_grad(ef_grad *g) {
    const matmul_attrs *t = g->attrs;
    bool ta = t->transpose_a, tb = t->transpose_b;
    ef_value *a = ef_conj(g->b, g->in[0]), *b = ef_conj(g->b, g->in[1]), *dy = g->dout[0];
    g->din[0] = ta ? ef_matmul(g->b, b, dy, tb, true) : ef_matmul(g->b, dy, b, false, !tb);
    g->din[1] = tb ? ef_matmul(g->b, dy, a, true, ta) : ef_matmul(g->b, a, dy, !ta, false);
    return NULL;
}

const ef_op ef_op_MatMul = {
    EF_NAMED(MatMul),
    .doc = "Multiplies matrix `a` by matrix `b`, each optionally transposed first.",
    .in = {"a: T", "b: T"},
    .out = {"product: T"},
    .types = "T: {bfloat16, half, float, double, int32, int64, uint8, uint16, uint32, uint64, "
             "complex64, complex128}",
    .attr = {EF_ATTR(matmul_attrs, transpose_a, "bool", "false"),
             EF_ATTR(matmul_attrs, transpose_b, "bool", "false"),
             EF_ATTR(matmul_attrs, grad_a, "bool", "false"),
             EF_ATTR(matmul_attrs, grad_b, "bool", "false")},
    .attr_size = sizeof(matmul_attrs),
    .traits = EF_HEAVY | EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .role = EF_ROLE_PRODUCT,
    .shape = matmul_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_NUMBERS & ~EF_FLOATS, matmul_run, NULL, NULL, NULL, NULL},
               {EF_CPU | EF_TEST, EF_FLOATS, matmul_run, matmul_scratch, NULL, NULL, NULL}},
    .grad = matmul_grad,
    .examples = {"T[2,3] T[3,4]", "T[3,2] T[4,3] transpose_a=true transpose_b=true",
                 "T[1,5] T[5,1]", "T[2,0] T[0,3]", "float[20,33] float[17,33] transpose_b=true",
                 "float[33,20] float[33,17] transpose_a=true"},
};

/* ---- batches ----------------------------------------------------------------------------------
 */

typedef struct {
    bool adj_x, adj_y, grad_x, grad_y;
} batch_attrs;
typedef struct {
    batch_attrs base;
    ef_dtype Tout;
} batch3_attrs;

/* Only the leading axes. */
static ef_shape batch_of(const ef_shape *s) {
    ef_shape b = *s;
    if (b.rank >= 2) b.rank -= 2;
    return b;
}

static ef_status *batch_shape(ef_infer *i) {
    const batch_attrs *t = i->attrs;
    const ef_shape *x = &i->in[0].shape, *y = &i->in[1].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    EF_TRY(ef_need_rank_at_least(i, 1, 2));
    if (x->rank < 0 || y->rank < 0) return NULL;
    const int64_t *xm = x->dim + x->rank - 2, *ym = y->dim + y->rank - 2;
    EF_TRY(inner_sizes(i, t->adj_x, t->adj_y, xm[!t->adj_x], ym[t->adj_y]));
    ef_shape bx = batch_of(x), by = batch_of(y), out;
    bool same = i->op->id == EF_OP_BatchMatMul; /* the first version does not broadcast */
    if (same && !ef_shape_may_equal(&bx, &by))
        return ef_error(EF_INVALID,
                        "%s: x is %s and y is %s, but their leading axes must be the same; "
                        "BatchMatMulV2 broadcasts them",
                        i->op->name, EF_SHAPE(x), EF_SHAPE(y));
    if (!ef_shape_broadcast2(&bx, &by, &out))
        return ef_error(
            EF_INVALID,
            "%s: x is %s and y is %s; they must have compatible batch dimensions: equal, "
            "or one of them 1",
            i->op->name, EF_SHAPE(x), EF_SHAPE(y));
    out.dim[out.rank] = xm[t->adj_x];
    out.dim[out.rank + 1] = ym[!t->adj_y];
    out.rank += 2;
    i->out[0].shape = out;
    return NULL;
}

/* Strides of one operand through the result's batch: 0 where it is broadcast. */
static void batch_steps(const ef_tensor *t, int rank, int64_t *step) {
    int64_t size = t->dim[t->rank - 2] * t->dim[t->rank - 1];
    for (int d = rank - 1; d >= 0; d--) {
        int own = d - (rank - (t->rank - 2));
        step[d] = own >= 0 && t->dim[own] != 1 ? size : 0;
        if (own >= 0) size *= t->dim[own];
    }
}

static ef_gemm_args batch_args(const ef_call *c, ef_gemm_batch *s) {
    const batch_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0], *y = c->in[1], *z = c->out[0];
    s->rank = z->rank - 2;
    memcpy(s->dim, z->dim, sizeof s->dim);
    batch_steps(x, s->rank, s->step_a);
    batch_steps(y, s->rank, s->step_b);
    return ef_gemm_dense(z->dtype, t->adj_x ? EF_GEMM_C : EF_GEMM_N,
                         t->adj_y ? EF_GEMM_C : EF_GEMM_N, z->dim[z->rank - 2], z->dim[z->rank - 1],
                         x->dim[x->rank - 1 - t->adj_x], x->data, y->data, z->data);
}

static size_t batch_scratch(const ef_call *c) {
    ef_gemm_batch s;
    ef_gemm_args g = batch_args(c, &s);
    return ef_gemm_batched_scratch(&g, &s);
}

static ef_status *batch_run(const ef_call *c) {
    ef_gemm_batch s;
    ef_gemm_args g = batch_args(c, &s);
    g.scratch = c->scratch;
    ef_gemm_batched(&g, &s);
    return NULL;
}

/* BatchMatMulV3 may have a wider result: operands are converted to the result's type first. */
static size_t whole_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }
static size_t widened(const ef_tensor *t, ef_dtype to) {
    return t->dtype == to ? 0 : whole_lines((size_t)ef_count(t) * ef_dtype_size(to));
}

static size_t batch3_scratch(const ef_call *c) {
    ef_dtype to = c->out[0]->dtype;
    return widened(c->in[0], to) + widened(c->in[1], to) + batch_scratch(c);
}

static const void *widen(const ef_tensor *t, ef_dtype to, void *room) {
    if (t->dtype == to) return t->data;
    int64_t n = ef_count(t);
    for (int64_t i = 0; i < n; i++) {
        if (ef_dtype_in(to, EF_INTS)) {
            int64_t v = ef_element_int(t->dtype, t->data, i);
            if (to == EF_I32)
                ((int32_t *)room)[i] = (int32_t)v;
            else if (to == EF_I64)
                ((int64_t *)room)[i] = v;
            else
                ((int16_t *)room)[i] = (int16_t)v;
        } else {
            ef_element_set(to, room, i, ef_element_double(t->dtype, t->data, i));
        }
    }
    return room;
}

static ef_status *batch3_run(const ef_call *c) {
    ef_gemm_batch s;
    ef_gemm_args g = batch_args(c, &s);
    char *room = c->scratch;
    g.a = widen(c->in[0], g.dtype, room);
    room += widened(c->in[0], g.dtype);
    g.b = widen(c->in[1], g.dtype, room);
    g.scratch = room + widened(c->in[1], g.dtype);
    ef_gemm_batched(&g, &s);
    return NULL;
}

static ef_status *batch3_shape(ef_infer *i) {
    uint32_t bytes = EF_BIT(I8) | EF_BIT(U8), narrow = bytes | EF_BIT(I16);
    ef_dtype x = i->in[0].dtype, y = i->in[1].dtype, z = i->out[0].dtype;
    bool fits =
        (x == y && y == z) ||
        (ef_dtype_in(x, narrow) && ef_dtype_in(y, narrow) && (z == EF_I32 || z == EF_I64)) ||
        (x == y && ef_dtype_in(x, EF_FLOATS) && ef_dtype_in(z, EF_FLOATS)) ||
        (z == EF_BF16 && ((x == z && ef_dtype_in(y, bytes)) || (y == z && ef_dtype_in(x, bytes))));
    if (!fits)
        return ef_error(
            EF_NOT_FOUND,
            "BatchMatMulV3: x is %s, y is %s and the result is %s; supported are: equal types, "
            "8- and 16-bit integers to int32 or int64, floats to another float type, and "
            "8-bit integers with bfloat16",
            ef_dtype_name(x), ef_dtype_name(y), ef_dtype_name(z));
    return batch_shape(i);
}

static ef_value *times(ef_grad *g, ef_value *x, ef_value *y, bool adj_x, bool adj_y) {
    const ef_attr_value set[] = {EF_SET_BOOL("adj_x", adj_x), EF_SET_BOOL("adj_y", adj_y)};
    return ef_emit_set(g->b, "BatchMatMulV2", set, 2, 2, x, y);
}

static ef_status *batch_grad(ef_grad *g) {
    const batch_attrs *t = g->attrs;
    ef_value *dy = g->dout[0], *x = ef_cast(g->b, g->in[0], dy->fact.dtype);
    ef_value *y = ef_cast(g->b, g->in[1], dy->fact.dtype);
    ef_value *dx = t->adj_x ? times(g, y, dy, t->adj_y, true) : times(g, dy, y, false, !t->adj_y);
    ef_value *dz = t->adj_y ? times(g, dy, x, true, t->adj_x) : times(g, x, dy, !t->adj_x, false);
    g->din[0] = ef_cast(g->b, ef_sum_like(g->b, dx, g->in[0]), g->in[0]->fact.dtype);
    g->din[1] = ef_cast(g->b, ef_sum_like(g->b, dz, g->in[1]), g->in[1]->fact.dtype);
    return NULL;
}

#define BATCH_ATTRS(S)                                                      \
    EF_ATTR(S, adj_x, "bool", "false"), EF_ATTR(S, adj_y, "bool", "false"), \
        EF_ATTR(S, grad_x, "bool", "false"), EF_ATTR(S, grad_y, "bool", "false")
#define BATCH_OP(N, DOC, TYPES, ...)                                                            \
    const ef_op ef_op_##N = {                                                                   \
        EF_NAMED(N),                                                                            \
        .doc = DOC,                                                                             \
        .in = {"x: T", "y: T"},                                                                 \
        .out = {"output: T"},                                                                   \
        .types = TYPES,                                                                         \
        .attr = {BATCH_ATTRS(batch_attrs)},                                                     \
        .attr_size = sizeof(batch_attrs),                                                       \
        .traits = EF_HEAVY | EF_NEVER_FAILS,                                                    \
        .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),                                                 \
        .shape = batch_shape,                                                                   \
        .kernel = {{EF_CPU | EF_TEST, EF_NUMBERS, batch_run, batch_scratch, NULL, NULL, NULL}}, \
        .grad = batch_grad,                                                                     \
        .examples = {__VA_ARGS__},                                                              \
    }

BATCH_OP(
    BatchMatMul,
    "Multiplies the matrices in the last two axes of `x` and `y`, one pair for each index of the "
    "leading axes, which must be equal. Adjoint means transposed and conjugated.",
    "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}", "T[2,3,4] T[2,4,5]",
    "T[2,4,3] T[2,5,4] adj_x=true adj_y=true", "T[3,2] T[2,3]");

BATCH_OP(BatchMatMulV2,
         "Multiplies the matrices in the last two axes of `x` and `y`; the leading axes broadcast. "
         "Adjoint means transposed and conjugated.",
         "T: {bfloat16, half, float, double, int16, int32, int64, uint8, uint16, uint32, uint64, "
         "complex64, complex128}",
         "T[2,3,4] T[4,5]", "T[2,1,3,2] T[3,3,4] adj_x=true", "T[2,3] T[4,5,3] adj_y=true",
         "T[0,2,3] T[1,3,2]", "T[5,4,2] T[2,3]", "float[2,20,30] float[2,30,17]");

const ef_op ef_op_BatchMatMulV3 = {
    EF_NAMED(BatchMatMulV3),
    .doc = "Multiplies the matrices in the last two axes of `x` and `y`, which may have narrower "
           "types than the result `Tout`; the leading axes broadcast.",
    .in = {"x: Ta", "y: Tb"},
    .out = {"output: Tout"},
    .types = "Ta: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
             "complex128}; Tb: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, "
             "complex64, complex128}",
    .attr = {EF_ATTR(batch3_attrs, Tout,
                     "{bfloat16, half, float, double, int16, int32, int64, complex64, complex128}",
                     NULL),
             {"adj_x", "bool", "false", offsetof(batch3_attrs, base.adj_x)},
             {"adj_y", "bool", "false", offsetof(batch3_attrs, base.adj_y)},
             {"grad_x", "bool", "false", offsetof(batch3_attrs, base.grad_x)},
             {"grad_y", "bool", "false", offsetof(batch3_attrs, base.grad_y)}},
    .attr_size = sizeof(batch3_attrs),
    .traits = EF_HEAVY | EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = batch3_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, batch3_run, batch3_scratch, NULL, NULL, NULL}},
    .grad = batch_grad,
    .examples = {"float[2,3,4] float[4,5] Tout=float", "int8[2,3] int8[3,2] Tout=int32",
                 "bfloat16[2,3] uint8[3,2] Tout=bfloat16", "int8[2,3] bfloat16[3,2] Tout=bfloat16",
                 "double[2,3] double[2,3] adj_y=true Tout=double"},
};
