/* One driver for all optimizer updates: an op supplies its rule, and the notation of its arguments
 * determines the rest. Everything is validated before the first element changes, so a failed update
 * leaves parameter and slots unchanged. */
#include "base/alloc.h"
#include "ops/shapes.h"
#include "ops/state/optimizer.h"
#include "ops/state/variable.h"
#include <string.h>

typedef struct roles {
    int n_vars, var[EF_MAX_LOCKED];
    int n_numbers, number[EF_RULE_NUMBERS];
    int grad, indices; /* -1: none */
} roles;

static bool called(const char *arg, const char *name) {
    size_t n = strlen(name);
    return strncmp(arg, name, n) == 0 && arg[n] == ':';
}

static roles roles_of(const ef_op *op) {
    roles r = {.grad = -1, .indices = -1};
    for (int k = 0; k < EF_MAX_ARGS && op->in[k] != NULL; k++) {
        const char *arg = op->in[k], *type = strchr(arg, ':') + 2;
        if (type[0] == 'r')
            r.var[r.n_vars++] = k;
        else if (called(arg, "grad") || called(arg, "delta"))
            r.grad = k;
        else if (called(arg, "indices"))
            r.indices = k;
        else
            r.number[r.n_numbers++] = k;
    }
    return r;
}

/* "lr" of "lr: T", for messages. */
typedef struct arg_name {
    char text[32];
} arg_name;
static arg_name name_of(const ef_op *op, int k) {
    arg_name n = {{0}};
    size_t len = strcspn(op->in[k], ":");
    memcpy(n.text, op->in[k], len < sizeof n.text ? len : sizeof n.text - 1);
    return n;
}

/* Whether dims [from, rank) of two shapes may be equal. */
static bool tails_agree(const ef_shape *a, const ef_shape *b, int from) {
    if (a->rank < 0 || b->rank < 0) return true;
    if (a->rank != b->rank || a->rank < from) return false;
    for (int d = from; d < a->rank; d++)
        if (!ef_dim_may_equal(a->dim[d], b->dim[d])) return false;
    return true;
}

static ef_status *shapes_differ(const ef_op *op, int k, const ef_shape *var, const ef_shape *other,
                                bool sparse) {
    return ef_error(EF_INVALID,
                    "%s: var is %s and %s is %s; var and %s do not have the same shape%s", op->name,
                    EF_SHAPE(var), name_of(op, k).text, EF_SHAPE(other), name_of(op, k).text,
                    sparse ? " (apart from the first dimension)" : "");
}

/* shape[k]: of input k, or of the value if input k is a variable. */
static ef_status *check_shapes(const ef_op *op, const roles *r, const ef_shape *shape) {
    const ef_shape *var = &shape[r->var[0]], *grad = &shape[r->grad];
    for (int j = 0; j < r->n_numbers; j++)
        if (shape[r->number[j]].rank > 0)
            return ef_error(EF_INVALID, "%s: %s is not a scalar: %s", op->name,
                            name_of(op, r->number[j]).text, EF_SHAPE(&shape[r->number[j]]));
    for (int j = 1; j < r->n_vars; j++)
        if (!tails_agree(var, &shape[r->var[j]], 0))
            return shapes_differ(op, r->var[j], var, &shape[r->var[j]], false);
    if (r->indices < 0)
        return tails_agree(var, grad, 0) ? NULL : shapes_differ(op, r->grad, var, grad, false);
    const ef_shape *indices = &shape[r->indices];
    if (indices->rank >= 0 && indices->rank != 1)
        return ef_error(EF_INVALID, "%s: indices is %s but must be one-dimensional", op->name,
                        EF_SHAPE(indices));
    if (var->rank == 0)
        return ef_error(EF_INVALID, "%s: var is a scalar; it must be at least 1 dimensional",
                        op->name);
    if (!tails_agree(var, grad, 1)) return shapes_differ(op, r->grad, var, grad, true);
    if (grad->rank > 0 && indices->rank == 1 && !ef_dim_may_equal(grad->dim[0], indices->dim[0]))
        return ef_error(
            EF_INVALID,
            "%s: grad is %s and indices %s; grad must be the same size as indices in the "
            "first dimension",
            op->name, EF_SHAPE(grad), EF_SHAPE(indices));
    return NULL;
}

ef_status *ef_optimizer_shape(ef_infer *i) {
    roles r = roles_of(i->op);
    ef_shape shape[EF_MAX_ARGS] = {{0}};
    ef_dtype t = i->in[r.grad].dtype;
    for (int k = 0; k < i->n_in; k++) shape[k] = i->in[k].shape;
    for (int j = 0; j < r.n_vars; j++) {
        int k = r.var[j];
        EF_TRY(ef_need_rank(i, k, 0));
        const ef_fact *f = ef_infer_variable(i, k);
        if (f != NULL && f->dtype != t)
            return ef_error(
                EF_INVALID, "%s: %s holds %s but the gradient is %s; they must be equal",
                i->op->name, name_of(i->op, k).text, ef_dtype_name(f->dtype), ef_dtype_name(t));
        shape[k] = ef_infer_variable_shape(i, k);
    }
    return check_shapes(i->op, &r, shape);
}

/* ---- running ---- */

ef_status *ef_optimizer_numbers(const ef_call *c, double *k) {
    roles r = roles_of(c->op);
    for (int j = 0; j < r.n_numbers; j++) {
        const ef_tensor *t = c->in[r.number[j]];
        k[j] = ef_element_double((ef_dtype)t->dtype, t->data, 0);
        double im = t->dtype == EF_C64    ? cimagf(*(const ef_c64 *)t->data)
                    : t->dtype == EF_C128 ? cimag(*(const ef_c128 *)t->data)
                                          : 0;
        if (im != 0)
            return ef_error(EF_INVALID, "%s: %s has the imaginary part %g; it must be real",
                            c->op->name, name_of(c->op, r.number[j]).text, im);
    }
    return NULL;
}

enum { FEW = 64 };
/* Indices as int64, validated against the number of rows; stored in `room` if they fit, else in new
 * memory. */
static ef_status *rows_of(const ef_call *c, const ef_tensor *t, int64_t limit, int64_t *room,
                          int64_t **out) {
    int64_t n = ef_count(t), *v = room;
    if (n > FEW && (v = ef_malloc((size_t)n * sizeof *v)) == NULL)
        return ef_no_memory((size_t)n * sizeof *v);
    for (int64_t j = 0; j < n; j++) {
        v[j] = t->dtype == EF_I64 ? ((const int64_t *)t->data)[j] : ((const int32_t *)t->data)[j];
        if (v[j] >= 0 && v[j] < limit) continue;
        ef_status *s = ef_error(EF_INVALID,
                                "%s: index %lld at offset %lld in indices is out of range: the "
                                "variable has %lld rows",
                                c->op->name, (long long)v[j], (long long)j, (long long)limit);
        if (v != room) ef_free(v);
        return s;
    }
    *out = v;
    return NULL;
}

/* The variables are locked. */
static ef_status *sweep(const ef_call *c, const roles *r, const ef_locked *l, ef_sweep *s) {
    ef_shape shape[EF_MAX_ARGS] = {{0}};
    for (int k = 0; k < c->n_in; k++) shape[k] = ef_shape_from(c->in[k]);
    for (int j = 0; j < r->n_vars; j++) {
        shape[r->var[j]] = ef_shape_from(l->value[j]);
        s->at[j] = l->value[j]->data;
    }
    EF_TRY(check_shapes(c->op, r, shape));
    const ef_tensor *grad = c->in[r->grad];
    s->grad = grad->data;
    if (r->indices < 0) {
        ef_sweep_dense(s, ef_count(grad));
        return NULL;
    }
    const ef_shape *var = &shape[r->var[0]];
    int64_t room[FEW], *rows = room;
    EF_TRY(rows_of(c, c->in[r->indices], var->dim[0], room, &rows));
    ef_sweep_sparse(s, rows, ef_count(c->in[r->indices]), ef_shape_span(var, 1, var->rank));
    if (rows != room) ef_free(rows);
    return NULL;
}

ef_status *ef_optimizer_run_with(const ef_call *c, ef_rule rule, const double *k) {
    roles r = roles_of(c->op);
    ef_locked l;
    ef_sweep s = {.rule = rule, .dtype = (ef_dtype)c->in[r.grad]->dtype};
    memcpy(s.k, k, sizeof s.k);
    EF_TRY(ef_lock_variables(c, r.var, r.n_vars, s.dtype, &l));
    ef_status *status = sweep(c, &r, &l, &s);
    ef_unlock_variables(&l);
    return status;
}

ef_status *ef_optimizer_run(const ef_call *c, ef_rule rule) {
    double k[EF_RULE_NUMBERS] = {0};
    EF_TRY(ef_optimizer_numbers(c, k));
    return ef_optimizer_run_with(c, rule, k);
}
