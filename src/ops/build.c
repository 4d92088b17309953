/* Emitters for gradient code: each appends one op through the builder it is given. After the first
 * failure the builder keeps that status, and every later emitter returns NULL and does nothing. */
#include "ops/build.h"
#include <stdarg.h>
#include <string.h>

enum { FEW = 32 };

void ef_build_fail(ef_build *b, ef_status *s) {
    if (!s) return;
    if (b->failed)
        ef_status_free(s);
    else
        b->failed = s;
}

/* ---- emitting ----------------------------------------------------------------------------------
 */

/* Consumes attrs. Returns the number of outputs; `out` has space for max_out. */
static int emit(ef_build *b, const ef_op *op, const ef_attrs *attrs, ef_value *const *in, int n_in,
                ef_value **out, int max_out) {
    ef_value *few[FEW], **inputs = few;
    int n_out = 0;
    if (n_in > FEW && !(inputs = b->memory(b, (size_t)n_in * sizeof *inputs)))
        ef_build_fail(b, ef_no_memory((size_t)n_in * sizeof *inputs));
    for (int k = 0; k < n_in && !b->failed; k++) {
        inputs[k] = ef_dense(b, in[k]);
        if (!in[k] && !b->failed)
            ef_build_fail(
                b, ef_error(EF_INTERNAL, "%s: input %d of a gradient is missing", op->name, k));
    }
    if (!b->failed) ef_build_fail(b, b->emit(b, op, attrs, inputs, n_in, out, max_out, &n_out));
    ef_attrs_unref(attrs);
    return b->failed ? 0 : n_out;
}

/* Finds the op and makes its attributes, starting from those of `like`. NULL after a failure. */
static const ef_op *prepare(ef_build *b, const char *name, const ef_grad *like,
                            const ef_attr_value *set, int n_set, const ef_attrs **attrs) {
    if (b->failed) return NULL;
    const ef_op *op = ef_op_find(name);
    if (!op) {
        ef_build_fail(b,
                      ef_error(EF_NOT_FOUND, "%s: there is no such op (used by a gradient)", name));
        return NULL;
    }
    if (like)
        ef_build_fail(b, ef_attrs_like(op, like->op, like->attrs, set, n_set, attrs));
    else
        ef_build_fail(b, ef_attrs_make(op, set, n_set, attrs));
    return b->failed ? NULL : op;
}

static int emit_named(ef_build *b, const char *name, const ef_grad *like, const ef_attr_value *set,
                      int n_set, ef_value *const *in, int n_in, ef_value **out, int max_out) {
    const ef_attrs *attrs = NULL;
    const ef_op *op = prepare(b, name, like, set, n_set, &attrs);
    return op ? emit(b, op, attrs, in, n_in, out, max_out) : 0;
}

int ef_emit_many(ef_build *b, const char *op, const ef_attr_value *set, int n_set,
                 ef_value *const *in, int n_in, ef_value **out, int max_out) {
    return emit_named(b, op, NULL, set, n_set, in, n_in, out, max_out);
}

static ef_value *emit_first(ef_build *b, const char *name, const ef_grad *like,
                            const ef_attr_value *set, int n_set, int n, va_list args) {
    ef_value *in[FEW], *out[FEW];
    if (n > FEW)
        ef_build_fail(b, ef_error(EF_INTERNAL, "%s: use ef_emit_many for %d inputs", name, n));
    for (int k = 0; k < n && k < FEW; k++) in[k] = va_arg(args, ef_value *);
    int made = b->failed ? 0 : emit_named(b, name, like, set, n_set, in, n, out, FEW);
    return made > 0 ? out[0] : NULL;
}

ef_value *ef_emit(ef_build *b, const char *op, int n, ...) {
    va_list args;
    va_start(args, n);
    ef_value *v = emit_first(b, op, NULL, NULL, 0, n, args);
    va_end(args);
    return v;
}

ef_value *ef_emit_set(ef_build *b, const char *op, const ef_attr_value *set, int n_set, int n,
                      ...) {
    va_list args;
    va_start(args, n);
    ef_value *v = emit_first(b, op, NULL, set, n_set, n, args);
    va_end(args);
    return v;
}

ef_value *ef_emit_like(ef_grad *g, const char *op, const ef_attr_value *set, int n_set, int n,
                       ...) {
    va_list args;
    va_start(args, n);
    ef_value *v = emit_first(g->b, op, g, set, n_set, n, args);
    va_end(args);
    return v;
}

/* ---- constants ---------------------------------------------------------------------------------
 */

ef_value *ef_const(ef_build *b, const ef_tensor *t) {
    ef_value *v = NULL;
    if (b->failed) return NULL;
    ef_build_fail(b, b->constant(b, t, &v));
    return b->failed ? NULL : v;
}

/* n < 0: a scalar. */
static ef_value *const_of(ef_build *b, ef_dtype t, int n, const int64_t *ints, double number) {
    ef_tensor tensor = {0};
    ef_shape shape = n < 0 ? ef_scalar_shape() : (ef_shape){.rank = 1, .dim = {n}};
    if (b->failed) return NULL;
    ef_build_fail(b, ef_tensor_alloc(&tensor, t, &shape));
    if (b->failed) return NULL;
    if (n < 0) ef_element_set(t, tensor.data, 0, number);
    for (int k = 0; k < n; k++) {
        if (t == EF_I64)
            ((int64_t *)tensor.data)[k] = ints[k];
        else
            ef_element_set(t, tensor.data, k, (double)ints[k]);
    }
    ef_value *v = ef_const(b, &tensor);
    ef_tensor_release(&tensor);
    return v;
}

ef_value *ef_const_number(ef_build *b, ef_dtype t, double v) { return const_of(b, t, -1, NULL, v); }
ef_value *ef_const_ints(ef_build *b, ef_dtype t, int n, const int64_t *v) {
    return const_of(b, t, n, v, 0);
}

/* ---- arithmetic --------------------------------------------------------------------------------
 */

ef_value *ef_add(ef_build *b, ef_value *x, ef_value *y) { return ef_emit(b, "AddV2", 2, x, y); }
ef_value *ef_sub(ef_build *b, ef_value *x, ef_value *y) { return ef_emit(b, "Sub", 2, x, y); }
ef_value *ef_mul(ef_build *b, ef_value *x, ef_value *y) { return ef_emit(b, "Mul", 2, x, y); }
ef_value *ef_div(ef_build *b, ef_value *x, ef_value *y) { return ef_emit(b, "RealDiv", 2, x, y); }
ef_value *ef_neg(ef_build *b, ef_value *x) { return ef_emit(b, "Neg", 1, x); }

ef_value *ef_scale(ef_build *b, ef_value *x, double k) {
    if (!x || k == 1) return x;
    if (k == -1) return ef_neg(b, x);
    return ef_mul(b, x, ef_const_number(b, x->fact.dtype, k));
}
ef_value *ef_shift(ef_build *b, ef_value *x, double k) {
    if (!x || k == 0) return x;
    return ef_add(b, x, ef_const_number(b, x->fact.dtype, k));
}
ef_value *ef_conj(ef_build *b, ef_value *x) {
    if (!x || !ef_dtype_in(x->fact.dtype, EF_COMPLEX)) return x;
    return ef_emit(b, "Conj", 1, x);
}
ef_value *ef_cast(ef_build *b, ef_value *x, ef_dtype t) {
    if (!x || x->fact.dtype == t) return x;
    return ef_emit_set(b, "Cast", (ef_attr_value[]){EF_SET_TYPE("DstT", t)}, 1, 1, x);
}
ef_value *ef_select(ef_build *b, ef_value *cond, ef_value *x, ef_value *y) {
    return ef_emit(b, "SelectV2", 3, cond, x, y);
}
/* tx and ty are transposes without conjugation. BatchMatMulV2's adj_x and adj_y also conjugate,
 * which conjugating the operand first cancels. */
ef_value *ef_matmul(ef_build *b, ef_value *x, ef_value *y, bool tx, bool ty) {
    if (!x || !y) return NULL;
    if (x->fact.shape.rank > 2 || y->fact.shape.rank > 2) {
        ef_attr_value set[] = {EF_SET_BOOL("adj_x", tx), EF_SET_BOOL("adj_y", ty)};
        return ef_emit_set(b, "BatchMatMulV2", set, 2, 2, tx ? ef_conj(b, x) : x,
                           ty ? ef_conj(b, y) : y);
    }
    ef_attr_value set[] = {EF_SET_BOOL("transpose_a", tx), EF_SET_BOOL("transpose_b", ty)};
    return ef_emit_set(b, "MatMul", set, 2, 2, x, y);
}

/* ---- shapes ------------------------------------------------------------------------------------
 */

ef_value *ef_shape_value(ef_build *b, ef_value *x, ef_dtype t) {
    if (!x) return NULL;
    if (ef_shape_known(&x->fact.shape))
        return ef_const_ints(b, t, x->fact.shape.rank, x->fact.shape.dim);
    return ef_emit_set(b, "Shape", (ef_attr_value[]){EF_SET_TYPE("out_type", t)}, 1, 1, x);
}

/* Whether every dim is known to be equal. */
static bool same_shape(const ef_shape *a, const ef_shape *b) {
    if (a->rank < 0 || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (!ef_dim_same(a->dim[d], b->dim[d])) return false;
    return true;
}

/* Shapes with sizes beyond int32 are int64 vectors. */
static ef_dtype shape_type(const ef_value *x) {
    for (int d = 0; d < x->fact.shape.rank; d++)
        if (x->fact.shape.dim[d] > INT32_MAX) return EF_I64;
    return EF_I32;
}

/* Where the shape is known, the result does not depend on x itself. */
static ef_value *filled_like(ef_build *b, ef_value *x, const char *op, double v) {
    if (!x) return NULL;
    if (!ef_shape_known(&x->fact.shape) || !ef_dtype_in(x->fact.dtype, EF_PLAIN))
        return ef_emit(b, op, 1, x);
    return ef_emit(b, "Fill", 2, ef_shape_value(b, x, shape_type(x)),
                   ef_const_number(b, x->fact.dtype, v));
}
ef_value *ef_zeros_like(ef_build *b, ef_value *x) { return filled_like(b, x, "ZerosLike", 0); }
ef_value *ef_ones_like(ef_build *b, ef_value *x) { return filled_like(b, x, "OnesLike", 1); }

ef_value *ef_reshape(ef_build *b, ef_value *x, ef_value *shape) {
    return ef_emit(b, "Reshape", 2, x, shape);
}
ef_value *ef_reshape_like(ef_build *b, ef_value *x, ef_value *like) {
    if (!x || !like || same_shape(&x->fact.shape, &like->fact.shape)) return like ? x : NULL;
    return ef_reshape(b, x, ef_shape_value(b, like, shape_type(like)));
}
ef_value *ef_transpose(ef_build *b, ef_value *x, int n, const int64_t *perm) {
    return ef_emit(b, "Transpose", 2, x, ef_const_ints(b, EF_I32, n, perm));
}
ef_value *ef_sum_axes(ef_build *b, ef_value *x, ef_value *axes, bool keep) {
    return ef_emit_set(b, "Sum", (ef_attr_value[]){EF_SET_BOOL("keep_dims", keep)}, 1, 2, x, axes);
}
ef_value *ef_sum(ef_build *b, ef_value *x, int n, const int64_t *axes, bool keep) {
    if (n == 0) return x;
    return ef_sum_axes(b, x, ef_const_ints(b, EF_I32, n, axes), keep);
}
ef_value *ef_broadcast_to_like(ef_build *b, ef_value *x, ef_value *like) {
    if (!x || !like || same_shape(&x->fact.shape, &like->fact.shape)) return like ? x : NULL;
    return ef_emit(b, "BroadcastTo", 2, x, ef_shape_value(b, like, shape_type(like)));
}

/* The axes along which `like` was broadcast to make x; -1 if not enough sizes are known. */
static int stretched_axes(const ef_shape *x, const ef_shape *like, int64_t *axes, bool *leading) {
    int n = 0, lead = x->rank - like->rank;
    *leading = lead > 0;
    if (x->rank < 0 || like->rank < 0 || lead < 0) return -1;
    for (int d = 0; d < lead; d++) axes[n++] = d;
    for (int d = 0; d < like->rank; d++) {
        int64_t own = like->dim[d], now = x->dim[lead + d];
        if (own == 1 && now != 1)
            axes[n++] = lead + d;
        else if (own < 0 && now != 1 && !ef_dim_same(own, now))
            return -1; /* unknown whether it is 1 */
    }
    return n;
}

static ef_value *sum_like_at_run(ef_build *b, ef_value *x, ef_value *like) {
    ef_value *in[2], *out[2], *shape = ef_shape_value(b, like, EF_I32);
    in[0] = shape;
    in[1] = ef_shape_value(b, x, EF_I32);
    if (ef_emit_many(b, "BroadcastGradientArgs", NULL, 0, in, 2, out, 2) == 0) return NULL;
    return ef_reshape(b, ef_sum_axes(b, x, out[0], false), shape);
}

ef_value *ef_sum_like(ef_build *b, ef_value *x, ef_value *like) {
    int64_t axes[EF_MAX_RANK];
    bool leading;
    if (!x || !like || b->failed) return NULL;
    x = ef_dense(b, x);
    if (!x) return NULL;
    int n = stretched_axes(&x->fact.shape, &like->fact.shape, axes, &leading);
    if (n < 0) return sum_like_at_run(b, x, like);
    if (n == 0) return x;
    if (!leading) return ef_sum(b, x, n, axes, true);
    ef_value *sum = ef_sum(b, x, n, axes, false);
    return ef_reshape_like(b, sum, like);
}

/* ---- IndexedSlices -----------------------------------------------------------------------------
 */

static ef_shape slices_shape(const ef_value *values, const ef_value *dense_shape) {
    const ef_tensor *t = dense_shape->fact.value;
    ef_shape s = values->fact.shape;
    if (t && t->data && t->rank == 1 && t->dim[0] <= EF_MAX_RANK) {
        s.rank = (int32_t)t->dim[0];
        for (int d = 0; d < s.rank; d++) s.dim[d] = ef_element_int((ef_dtype)t->dtype, t->data, d);
    } else if (s.rank > 0) {
        s.dim[0] = EF_DIM_UNKNOWN;
    }
    return s;
}

ef_value *ef_slices(ef_build *b, ef_value *values, ef_value *indices, ef_value *dense_shape) {
    if (b->failed || !values || !indices || !dense_shape) return NULL;
    ef_value *v = b->memory(b, sizeof *v);
    if (!v) {
        ef_build_fail(b, ef_no_memory(sizeof *v));
        return NULL;
    }
    *v = (ef_value){.values = values, .indices = indices, .dense_shape = dense_shape};
    v->fact.dtype = values->fact.dtype;
    v->fact.shape = slices_shape(values, dense_shape);
    return v;
}

ef_value *ef_dense(ef_build *b, ef_value *x) {
    if (!x || !x->values || b->failed) return b->failed ? NULL : x;
    ef_value *rows;
    int64_t n = x->fact.shape.rank > 0 ? x->fact.shape.dim[0] : EF_DIM_UNKNOWN;
    if (n >= 0) {
        rows = ef_const_number(b, n > INT32_MAX ? EF_I64 : EF_I32, (double)n);
    } else {
        ef_attr_value set[] = {EF_SET_INT("shrink_axis_mask", 1)};
        rows = ef_emit_set(b, "StridedSlice", set, 1, 4, x->dense_shape,
                           ef_const_ints(b, EF_I32, 1, (int64_t[]){0}),
                           ef_const_ints(b, EF_I32, 1, (int64_t[]){1}),
                           ef_const_ints(b, EF_I32, 1, (int64_t[]){1}));
    }
    return ef_emit(b, "UnsortedSegmentSum", 3, x->values, x->indices, rows);
}

ef_value *ef_dout(ef_grad *g, int k) {
    if (g->b->failed) return NULL;
    if (g->dout[k]) return g->dout[k];
    return ef_zeros_like(g->b, g->out[k]);
}
