/* Transpose, ConjugateTranspose, InvertPermutation. */
#include "kernels/conj.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"

static ef_status *check_perm(const ef_op *op, int rank, int n, const int64_t *perm) {
    unsigned seen = 0;
    if (n != rank)
        return ef_error(EF_INVALID,
                        "%s: transpose expects a vector of size %d, but perm is a vector of "
                        "size %d; it must name every axis of x once",
                        op->name, rank, n);
    for (int d = 0; d < n; d++) {
        int64_t p = perm[d] < 0 ? perm[d] + rank : perm[d];
        if (p < 0 || p >= rank)
            return ef_error(EF_INVALID, "%s: perm[%d] = %lld is out of range [0 .. %d)", op->name,
                            d, (long long)perm[d], rank);
        if ((seen >> p) & 1)
            return ef_error(EF_INVALID,
                            "%s: perm contains axis %lld twice and lacks another; it must "
                            "be a permutation of 0 .. %d",
                            op->name, (long long)p, rank - 1);
        seen |= 1u << p;
    }
    return NULL;
}

static ef_status *transpose_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *p = &i->in[1].shape;
    int64_t perm[EF_MAX_RANK] = {0};
    int n = 0;
    bool known;
    EF_TRY(ef_need_vector(i, 1, false));
    EF_TRY(ef_known_ints(i, 1, perm, EF_MAX_RANK, &n, &known));
    int rank = x->rank >= 0 ? x->rank : known ? n : -1;
    if (rank < 0 && p->rank == 1 && p->dim[0] >= 0 && p->dim[0] <= EF_MAX_RANK)
        rank = (int)p->dim[0];
    if (rank < 0) return NULL;
    i->out[0].shape = ef_shape_of_rank(rank);
    if (p->rank == 1 && p->dim[0] >= 0 && p->dim[0] != rank)
        return check_perm(i->op, rank, (int)p->dim[0], perm);
    if (!known) return NULL;
    EF_TRY(check_perm(i->op, rank, n, perm));
    if (x->rank < 0) return NULL;
    for (int d = 0; d < rank; d++)
        i->out[0].shape.dim[d] = x->dim[perm[d] < 0 ? perm[d] + rank : perm[d]];
    return NULL;
}

static ef_status *transpose_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    int64_t perm[EF_MAX_RANK] = {0}, from[EF_MAX_RANK] = {0}, to[EF_MAX_RANK] = {0};
    int64_t n = ef_count(c->in[1]);
    for (int d = 0; d < EF_MAX_RANK && d < n; d++) perm[d] = ef_in_int(c, 1, d);
    EF_TRY(check_perm(c->op, x->rank, (int)n, perm));
    EF_TRY(ef_out_memory(c, 0));
    ef_block b;
    b.rank = 0;
    ef_steps(x, from);
    ef_steps(c->out[0], to);
    for (int d = 0; d < x->rank; d++) {
        int64_t p = perm[d] < 0 ? perm[d] + x->rank : perm[d];
        ef_block_axis(&b, x->dim[p], from[p], to[d]);
    }
    return ef_block_copy((ef_dtype)x->dtype, c->out[0]->data, x->data, &b);
}

static ef_status *conjugate_transpose_run(const ef_call *c) {
    EF_TRY(transpose_run(c));
    ef_conj_in_place((ef_dtype)c->out[0]->dtype, c->out[0]->data, ef_count(c->out[0]));
    return NULL;
}

static ef_status *transpose_grad(ef_grad *g) {
    ef_value *back = ef_emit(g->b, "InvertPermutation", 1, g->in[1]);
    g->din[0] = ef_emit(g->b, g->op->name, 2, g->dout[0], back);
    return NULL;
}

#define TRANSPOSE(N, words, traits_of_N, fn, types_of_T, kinds)                       \
    const ef_op ef_op_##N = {                                                         \
        EF_NAMED(N),                                                                  \
        .doc = words,                                                                 \
        .in = {"x: T", "perm: Tperm"},                                                \
        .out = {"y: T"},                                                              \
        .types = "T: " types_of_T "; Tperm: {int32, int64} = int32",                  \
        .traits = traits_of_N,                                                        \
        .keeps = EF_KEEP_IN(1),                                                       \
        .host_in = 2,                                                                 \
        .shape = transpose_shape,                                                     \
        .kernel = EF_MOVE_KERNEL_AWAY(fn, EF_FLOAT8),                                 \
        .grad = transpose_grad,                                                       \
        .examples = {"float[2,3] int32[2]{1,0}", "float[2,3,4] int64[3]{2,0,1}",      \
                     "double[2,1,3,2] int32[4]{0,2,1,3}", "float[] int32[0]", kinds}, \
    };
TRANSPOSE(Transpose, "Reorders axes: axis d of the result is axis `perm[d]` of `x`.",
          EF_PERMUTES | EF_NEVER_FAILS, transpose_run, EF_MOVE_TYPES,
          "string[2,2]{a,b,c,d} int32[2]{1,0}")
TRANSPOSE(ConjugateTranspose, "Reorders axes as Transpose does and conjugates each element.", 0,
          conjugate_transpose_run, EF_MOVE_TYPES, "complex64[2,3] int32[2]{1,0}")

const ef_op *const ef_transpose_op = &ef_op_Transpose;

static ef_status *invert_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    return ef_shape_same(i);
}

static ef_status *invert_run(const ef_call *c) {
    ef_tensor *o = c->out[0];
    int64_t n = ef_count(o);
    bool wide = o->dtype == EF_I64;
    for (int64_t j = 0; j < n; j++) {
        if (wide)
            ((int64_t *)o->data)[j] = -1;
        else
            ((int32_t *)o->data)[j] = -1;
    }
    for (int64_t j = 0; j < n; j++) {
        int64_t p = ef_in_int(c, 0, j);
        if (p < 0 || p >= n)
            return ef_error(EF_INVALID,
                            "InvertPermutation: x[%lld] = %lld is not between 0 and %lld",
                            (long long)j, (long long)p, (long long)n);
        if (ef_element_int((ef_dtype)o->dtype, o->data, p) != -1)
            return ef_error(EF_INVALID,
                            "InvertPermutation: %lld is duplicated in the input; each number "
                            "below %lld must occur once",
                            (long long)p, (long long)n);
        if (wide)
            ((int64_t *)o->data)[p] = j;
        else
            ((int32_t *)o->data)[p] = (int32_t)j;
    }
    return NULL;
}

const ef_op ef_op_InvertPermutation = {
    EF_NAMED(InvertPermutation),
    .doc = "The permutation that undoes `x`: `y[x[i]] = i`.",
    .in = {"x: T"},
    .out = {"y: T"},
    .types = "T: {int32, int64} = int32",
    .traits = EF_NO_GRAD,
    .shape = invert_shape,
    .kernel = EF_ANY_KERNEL(invert_run),
    .examples = {"int32[4]{2,0,3,1}", "int64[1]{0}", "int32[0]"},
};
