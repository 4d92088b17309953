/* Updating parts of variables in place: rows, positions, strided slices. Indices are validated
 * before the first element changes. An index may occur several times; its updates are applied in
 * order. */
#include "kernels/combine.h"
#include "kernels/gather.h"
#include "ops/array/array.h"
#include "ops/array/strided.h"
#include "ops/state/variable.h"

enum { TRAITS = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD };
#define ROW(mask, fn)                                \
    {                                                \
        { EF_CPU, mask, fn, NULL, NULL, NULL, NULL } \
    }

/* dst[i] = dst[i] op src[i * step] for any dtype; strings can only be set. */
static ef_status *combine(ef_combine op, ef_dtype t, char *dst, const char *src, int64_t n,
                          int step) {
    ef_combine_fn *fn = ef_combine_pick(op, t);
    if (fn != NULL)
        fn(dst, src, n, step);
    else if (step != 0)
        return ef_copy_elements(t, dst, src, n);
    else
        return ef_fill_elements(t, dst, src, n);
    return NULL;
}

static bool is_zero(const ef_tensor *x, int64_t k) {
    ef_dtype t = (ef_dtype)x->dtype;
    if (ef_dtype_in(t, EF_INTS)) return ef_element_int(t, x->data, k) == 0;
    if (!ef_dtype_in(t, EF_COMPLEX)) return ef_element_double(t, x->data, k) == 0;
    ef_dtype part = t == EF_C64 ? EF_F32 : EF_F64;
    return ef_element_double(part, x->data, 2 * k) == 0 &&
           ef_element_double(part, x->data, 2 * k + 1) == 0;
}

/* Checks that the op is defined for the dtype and that no divisor is zero. */
static ef_status *check_values(const ef_call *c, ef_combine op, const ef_tensor *x) {
    ef_dtype t = (ef_dtype)x->dtype;
    if (ef_combine_pick(op, t) == NULL && !(op == EF_COMBINE_SET && t == EF_STRING))
        return ef_error(EF_UNIMPLEMENTED, "%s: this update is not defined for %s", c->op->name,
                        ef_dtype_name(t));
    if (op != EF_COMBINE_DIV) return NULL;
    int64_t n = ef_count(x);
    for (int64_t k = 0; k < n; k++)
        if (is_zero(x, k))
            return ef_error(EF_INVALID, "%s: updates must not contain 0; it is at %lld",
                            c->op->name, (long long)k);
    return NULL;
}

/* ---- rows ---- */

static ef_status *need_dtype(const ef_infer *i, ef_dtype t) {
    const ef_fact *f = ef_infer_variable(i, 0);
    EF_TRY(ef_need_rank(i, 0, 0));
    if (f == NULL || f->dtype == t) return NULL;
    return ef_error(EF_INVALID, "%s: the variable holds %s but updates are %s; they must be equal",
                    i->op->name, ef_dtype_name(f->dtype), ef_dtype_name(t));
}

/* updates is a scalar, or indices' shape followed by the variable's without its first dim. */
static ef_status *check_rows(const ef_op *op, const ef_shape *var, const ef_shape *x,
                             const ef_shape *updates) {
    if (var->rank == 0)
        return ef_error(EF_INVALID,
                        "%s: the variable is a scalar; it must be at least 1 dimensional",
                        op->name);
    if (var->rank < 0 || x->rank < 0 || updates->rank <= 0) return NULL;
    bool fits = updates->rank == x->rank + var->rank - 1;
    for (int d = 0; fits && d < updates->rank; d++)
        fits =
            ef_dim_may_equal(updates->dim[d], d < x->rank ? x->dim[d] : var->dim[d - x->rank + 1]);
    if (fits) return NULL;
    return ef_error(EF_INVALID,
                    "%s: updates is %s, indices %s and the variable %s; Must have updates.shape = "
                    "indices.shape + params.shape[1:] or updates.shape = []",
                    op->name, EF_SHAPE(updates), EF_SHAPE(x), EF_SHAPE(var));
}

static ef_status *rows_shape(ef_infer *i) {
    ef_shape var = ef_infer_variable_shape(i, 0);
    EF_TRY(need_dtype(i, i->in[2].dtype));
    return check_rows(i->op, &var, &i->in[1].shape, &i->in[2].shape);
}

static ef_status *update_rows(const ef_call *c, ef_combine op, ef_tensor *var) {
    const ef_tensor *x = c->in[1], *u = c->in[2];
    ef_shape vs = ef_shape_from(var), xs = ef_shape_from(x), us = ef_shape_from(u);
    EF_TRY(check_rows(c->op, &vs, &xs, &us));
    int64_t n = ef_count(x), bad = ef_index_outside((ef_dtype)x->dtype, x->data, n, vs.dim[0]);
    if (bad >= 0)
        return ef_error(EF_INVALID, "%s: indices[%lld] = %lld is not in [0, %lld)", c->op->name,
                        (long long)bad, (long long)ef_in_int(c, 1, bad), (long long)vs.dim[0]);
    int64_t row = ef_shape_span(&vs, 1, vs.rank);
    size_t bytes = (size_t)row * ef_dtype_size((ef_dtype)u->dtype);
    int step = us.rank > 0;
    for (int64_t k = 0; k < n; k++)
        EF_TRY(combine(op, (ef_dtype)u->dtype,
                       (char *)var->data + (size_t)ef_in_int(c, 1, k) * bytes,
                       (const char *)u->data + (size_t)(step ? k : 0) * bytes, row, step));
    return NULL;
}

/* Runs `update` with the variable locked. */
static ef_status *locked(const ef_call *c, ef_combine op, int values,
                         ef_status *(*update)(const ef_call *c, ef_combine op, ef_tensor *var)) {
    ef_locked l;
    EF_TRY(check_values(c, op, c->in[values]));
    EF_TRY(ef_lock_variables(c, (const int[]){0}, 1, (ef_dtype)c->in[values]->dtype, &l));
    ef_status *s = update(c, op, l.value[0]);
    ef_unlock_variables(&l);
    return s;
}

#define SCATTER(N, TEXT, SET, MASK, OP, ...)                                                       \
    static ef_status *N##_run(const ef_call *c) { return locked(c, OP, 2, update_rows); }          \
    const ef_op ef_op_##N = {                                                                      \
        EF_NAMED(N),                                                                               \
        .doc =                                                                                     \
            TEXT " the rows of the variable that `indices` select. A scalar applies to all rows.", \
        .in = {"resource: resource", "indices: Tindices", "updates: dtype"},                       \
        .types = "Tindices: {int32, int64}; dtype: " SET,                                          \
        .traits = TRAITS,                                                                          \
        .shape = rows_shape,                                                                       \
        .kernel = ROW(MASK, N##_run),                                                              \
        .examples = {__VA_ARGS__},                                                                 \
    };
#define ROWS_EXAMPLES                                                                             \
    "var(float[4,3]) int32[2]{3,0} float[2,3]",                                                   \
        "var(int32[4]) int64[2,2]{0,1,0,3} int32[2,2]:1..9", "var(half[4,2]) int32[1]{1} half[]", \
        "var(float[4,3]) int32[0] float[0,3]"
SCATTER(ResourceScatterUpdate, "Puts `updates` into", "type", EF_COMPUTED | EF_MANAGED,
        EF_COMBINE_SET, ROWS_EXAMPLES, "var(string[2]{a,b}) int32[1]{1} string[1]{c}")
SCATTER(ResourceScatterAdd, "Adds `updates` to", "numbertype", EF_ANY, EF_COMBINE_ADD,
        ROWS_EXAMPLES)
SCATTER(ResourceScatterSub, "Subtracts `updates` from", "numbertype", EF_ANY, EF_COMBINE_SUB,
        ROWS_EXAMPLES)
SCATTER(ResourceScatterMul, "Multiplies by `updates`", "numbertype", EF_ANY, EF_COMBINE_MUL,
        ROWS_EXAMPLES)
SCATTER(ResourceScatterDiv, "Divides by `updates`", "numbertype", EF_ANY, EF_COMBINE_DIV,
        ROWS_EXAMPLES)
SCATTER(ResourceScatterMin, "Takes the smaller of `updates` and", "numbertype", EF_ANY,
        EF_COMBINE_MIN, ROWS_EXAMPLES)
SCATTER(ResourceScatterMax, "Takes the larger of `updates` and", "numbertype", EF_ANY,
        EF_COMBINE_MAX, ROWS_EXAMPLES)

/* ---- positions ---- */

typedef struct nd_attrs {
    bool use_locking;
    ef_attr_text bad_indices_policy;
} nd_attrs;

/* updates: the shape of indices without its last dim, then the dims of the variable that indices do
 * not cover. */
static ef_status *check_positions(const ef_op *op, const ef_shape *var, const ef_shape *x,
                                  const ef_shape *updates) {
    if (x->rank == 0)
        return ef_error(EF_INVALID, "%s: indices is a scalar; it must be at least 1 dimensional",
                        op->name);
    bool some = (ef_shape_known(x) && ef_shape_count(x) > 0) ||
                (ef_shape_known(updates) && ef_shape_count(updates) > 0);
    if (some && ef_shape_known(var) && ef_shape_count(var) == 0)
        return ef_error(EF_INVALID, "%s: Indices and updates specified for an empty variable, %s",
                        op->name, EF_SHAPE(var));
    if (var->rank < 0 || x->rank < 1 || updates->rank < 0 || x->dim[x->rank - 1] < 0) return NULL;
    int64_t depth = x->dim[x->rank - 1];
    bool fits = depth <= var->rank && updates->rank == x->rank - 1 + var->rank - depth;
    for (int d = 0; fits && d < updates->rank; d++)
        fits = ef_dim_may_equal(updates->dim[d],
                                d < x->rank - 1 ? x->dim[d] : var->dim[d - x->rank + 1 + depth]);
    if (fits) return NULL;
    return ef_error(EF_INVALID,
                    "%s: updates is %s, indices %s and the variable %s; Must have updates.shape = "
                    "indices.shape[:-1] + ref.shape[indices.shape[-1]:]",
                    op->name, EF_SHAPE(updates), EF_SHAPE(x), EF_SHAPE(var));
}

static ef_status *positions_shape(ef_infer *i) {
    ef_shape var = ef_infer_variable_shape(i, 0);
    EF_TRY(need_dtype(i, i->in[2].dtype));
    return check_positions(i->op, &var, &i->in[1].shape, &i->in[2].shape);
}

/* The position of index tuple k, in slices; -1: out of range. */
static int64_t position(const ef_call *c, const ef_shape *var, int depth, int64_t k) {
    int64_t at = 0;
    for (int d = 0; d < depth; d++) {
        int64_t j = ef_in_int(c, 1, k * depth + d);
        if (j < 0 || j >= var->dim[d]) return -1;
        at = at * var->dim[d] + j;
    }
    return at;
}

static ef_status *update_positions(const ef_call *c, ef_combine op, ef_tensor *var) {
    const nd_attrs *a = c->attrs;
    const ef_tensor *x = c->in[1], *u = c->in[2];
    ef_shape vs = ef_shape_from(var), xs = ef_shape_from(x), us = ef_shape_from(u);
    EF_TRY(check_positions(c->op, &vs, &xs, &us));
    bool ignore = strcmp(a->bad_indices_policy.at, "IGNORE") == 0;
    int depth = (int)xs.dim[xs.rank - 1];
    int64_t n = ef_shape_span(&xs, 0, xs.rank - 1), row = ef_shape_span(&vs, depth, vs.rank);
    size_t bytes = (size_t)row * ef_dtype_size((ef_dtype)u->dtype);
    for (int64_t k = 0; k < n && !ignore; k++)
        if (position(c, &vs, depth, k) < 0)
            return ef_error(EF_INVALID, "%s: indices[%lld] does not index into param shape %s",
                            c->op->name, (long long)k, EF_SHAPE(&vs));
    for (int64_t k = 0; k < n; k++) {
        int64_t at = position(c, &vs, depth, k);
        if (at < 0) continue;
        EF_TRY(combine(op, (ef_dtype)u->dtype, (char *)var->data + (size_t)at * bytes,
                       (const char *)u->data + (size_t)k * bytes, row, 1));
    }
    return NULL;
}

#define SCATTER_ND(N, TEXT, OP, ...)                                                           \
    static ef_status *N##_run(const ef_call *c) { return locked(c, OP, 2, update_positions); } \
    const ef_op ef_op_##N = {                                                                  \
        EF_NAMED(N),                                                                           \
        .doc = TEXT " the slices of the variable at the coordinates in the rows of "           \
                    "`indices`.",                                                              \
        .in = {"ref: resource", "indices: Tindices", "updates: T"},                            \
        .types = "T: type; Tindices: {int32, int64}",                                          \
        .attr = {EF_ATTR(nd_attrs, use_locking, "bool", "true"),                               \
                 EF_ATTR(nd_attrs, bad_indices_policy, "string", "''")},                       \
        .attr_size = sizeof(nd_attrs),                                                         \
        .traits = TRAITS,                                                                      \
        .shape = positions_shape,                                                              \
        .kernel = ROW(EF_COMPUTED | EF_MANAGED, N##_run),                                      \
        .examples = {__VA_ARGS__},                                                             \
    };
#define ND_EXAMPLES                                                                               \
    "var(float[4,3]) int32[2,1]{3,0} float[2,3]", "var(int32[4,3]) int64[2,2]{3,0,3,0} int32[2]", \
        "var(float[4,3]) int32[2,1]{9,0} float[2,3] bad_indices_policy='IGNORE'"
SCATTER_ND(ResourceScatterNdUpdate, "Puts `updates` into", EF_COMBINE_SET, ND_EXAMPLES)
SCATTER_ND(ResourceScatterNdAdd, "Adds `updates` to", EF_COMBINE_ADD, ND_EXAMPLES)
SCATTER_ND(ResourceScatterNdSub, "Subtracts `updates` from", EF_COMBINE_SUB, ND_EXAMPLES)
SCATTER_ND(ResourceScatterNdMin, "Takes the smaller of `updates` and", EF_COMBINE_MIN, ND_EXAMPLES)
SCATTER_ND(ResourceScatterNdMax, "Takes the larger of `updates` and", EF_COMBINE_MAX, ND_EXAMPLES)

/* ---- strided slices ---- */

static ef_status *strided_shape(ef_infer *i) {
    EF_TRY(need_dtype(i, i->in[4].dtype));
    for (int k = 1; k < 4; k++) EF_TRY(ef_need_rank(i, k, 1));
    return NULL;
}

static ef_status *update_strided(const ef_call *c, ef_combine op, ef_tensor *var) {
    (void)op;
    ef_shape vs = ef_shape_from(var), xs = ef_shape_from(c->in[4]);
    ef_strided s;
    int64_t n = ef_count(c->in[1]);
    if (ef_count(c->in[2]) != n || ef_count(c->in[3]) != n)
        return ef_error(EF_INVALID,
                        "%s: Expected begin, end, and strides to be 1D equal size tensors",
                        c->op->name);
    EF_TRY(ef_strided_read(c->op, c->attrs, &vs, n, c->in[1], c->in[2], c->in[3], &s));
    EF_TRY(ef_strided_fits(c->op, &s, &xs));
    return ef_strided_put(&s, var, c->in[4]);
}

static ef_status *strided_run(const ef_call *c) {
    return locked(c, EF_COMBINE_SET, 4, update_strided);
}

const ef_op ef_op_ResourceStridedSliceAssign = {
    EF_NAMED(ResourceStridedSliceAssign),
    .doc = "Assigns to a slice of a variable, as `ref[begin:end:strides] = value` in Python.",
    .in = {"ref: resource", "begin: Index", "end: Index", "strides: Index", "value: T"},
    .types = "T: type; Index: {int32, int64}",
    .attr = EF_STRIDED_ATTRS,
    .attr_size = sizeof(ef_strided_attrs),
    .traits = TRAITS,
    .shape = strided_shape,
    .kernel = ROW(EF_COMPUTED | EF_MANAGED | EF_FLOAT8, strided_run),
    .examples = {"var(float[4,3]) int32[1]{1} int32[1]{3} int32[1]{1} float[2,3]",
                 "var(float[4,3]) int32[2]{3,0} int32[2]{0,3} int32[2]{-2,2} float[2,2]",
                 "var(int32[4]) int64[1]{2} int64[1]{3} int64[1]{1} int32[] shrink_axis_mask=1"},
};
