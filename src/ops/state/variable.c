/* Variables: creating, reading and assigning them. A read shares the variable's storage and costs a
 * reference; a write is in place if the old value has no other owner, so values that were read
 * never change. */
#include "ops/state/variable.h"
#include "kernels/combine.h"
#include "ops/build.h"
#include "ops/run.h"
#include "ops/shapes.h"
#include "ops/state/variable_scope.h"
#include <string.h>

/* ---- shared helpers ---- */

static const char *label(const ef_variable *v) {
    return v->name != NULL && v->name[0] != 0 ? v->name : "variable";
}

ef_status *ef_call_variable(const ef_call *c, int k, ef_dtype dtype, ef_variable **out) {
    ef_variable *v = (ef_variable *)ef_tensor_object(c->in[k], EF_OBJECT_VARIABLE);
    if (EF_UNLIKELY(v == NULL))
        return ef_error(EF_INVALID, "%s: input %d is not the handle of a variable", c->op->name, k);
    if (EF_UNLIKELY(dtype != EF_NO_DTYPE && v->dtype != dtype))
        return ef_error(EF_INVALID,
                        "%s: %s holds %s but the op works on %s; trying to access a variable "
                        "with the wrong dtype",
                        c->op->name, label(v), ef_dtype_name(v->dtype), ef_dtype_name(dtype));
    *out = v;
    return NULL;
}

ef_status *ef_lock_variables(const ef_call *c, const int *k, int n, ef_dtype dtype,
                             ef_locked *out) {
    int order[EF_MAX_LOCKED];
    out->n = 0;
    for (int j = 0; j < n; j++) {
        EF_TRY(ef_call_variable(c, k[j], dtype, &out->var[j]));
        int at = j;
        for (; at > 0 && (uintptr_t)out->var[order[at - 1]] > (uintptr_t)out->var[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
    for (int j = 1; j < n; j++)
        if (out->var[order[j]] == out->var[order[j - 1]])
            return ef_error(EF_INVALID,
                            "%s: inputs %d and %d are the same variable (%s); the parameter and "
                            "each slot need a variable of their own",
                            c->op->name, k[order[j - 1]], k[order[j]], label(out->var[order[j]]));
    int j = 0;
    while (j < n) {
        int at = order[j];
        ef_status *s = ef_variable_try_update(out->var[at], &out->value[at]);
        if (s == NULL && out->value[at] != NULL) {
            j++;
            continue;
        }
        /* A value is deferred: release all and retry. */
        while (j > 0) ef_variable_release(out->var[order[--j]]);
        if (s == NULL) s = ef_variable_materialize(out->var[at]);
        if (s != NULL) return ef_status_add(s, "in %s, input %d", c->op->name, k[at]);
    }
    out->n = n;
    return NULL;
}

void ef_unlock_variables(ef_locked *l) {
    for (int j = 0; j < l->n; j++) ef_variable_end_update(l->var[j]);
    l->n = 0;
}

const ef_fact *ef_infer_variable(const ef_infer *i, int k) {
    return i->in[k].dtype == EF_RESOURCE ? i->in[k].handle : NULL;
}

ef_shape ef_infer_variable_shape(const ef_infer *i, int k) {
    const ef_fact *f = ef_infer_variable(i, k);
    return f != NULL ? f->shape : ef_unknown_shape();
}

ef_status *ef_out_ready(const ef_call *c, int k, const ef_shape *shape) {
    const ef_tensor *t = c->out[k];
    bool fits = t->data != NULL && t->rank == shape->rank;
    for (int d = 0; fits && d < shape->rank; d++) fits = t->dim[d] == shape->dim[d];
    return fits ? NULL : ef_out_alloc(c, k, shape);
}

/* The handle must be a scalar, and hold `dtype` if that is known. */
static ef_status *need_handle(const ef_infer *i, int k, ef_dtype dtype) {
    EF_TRY(ef_need_rank(i, k, 0));
    const ef_fact *f = ef_infer_variable(i, k);
    if (f != NULL && dtype != EF_NO_DTYPE && f->dtype != EF_NO_DTYPE && f->dtype != dtype)
        return ef_error(EF_INVALID,
                        "%s: the variable holds %s but the op works on %s; trying to access a "
                        "variable with the wrong dtype",
                        i->op->name, ef_dtype_name(f->dtype), ef_dtype_name(dtype));
    return NULL;
}

/* ---- VarHandleOp, DestroyResourceOp ---- */

/* `what` is a fact, so that inference can point to it as long as the attributes live. */
typedef struct handle_attrs {
    ef_attr_text container, shared_name, debug_name;
    ef_fact what;
    ef_texts allowed_devices;
} handle_attrs;

static ef_status *handle_shape(ef_infer *i) {
    const handle_attrs *t = i->attrs;
    i->out[0].shape = ef_scalar_shape();
    i->out[0].handle = &t->what;
    return NULL;
}

/* The name with which TensorFlow asks for a new variable in each call. */
static const char anonymous[] = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";

static ef_status *handle_run(const ef_call *c) {
    const handle_attrs *t = c->attrs;
    ef_variable *v = NULL;
    const char *name = t->shared_name.at;
    if (t->shared_name.n > 0 && strcmp(name, anonymous) != 0) {
        EF_TRY(
            ef_scope_variable(&t->container, &t->shared_name, t->what.dtype, &t->what.shape, &v));
    } else {
        const char *shown = t->debug_name.n > 0 ? t->debug_name.at : "variable";
        EF_TRY(ef_variable_make(t->what.dtype, &t->what.shape, shown, &v));
    }
    if (EF_UNLIKELY(c->device != 0)) v->device = (uint8_t)c->device;
    ef_out_object(c, 0, &v->object);
    c->out[0]->device = v->device;
    return NULL;
}

const ef_op ef_op_VarHandleOp = {
    EF_NAMED(VarHandleOp),
    .doc =
        "Returns the handle of a variable: the one named `shared_name`, or a new one if it has no "
        "name. The variable has no value until one is assigned.",
    .out = {"resource: resource"},
    .attr = {EF_ATTR(handle_attrs, container, "string", "''"),
             EF_ATTR(handle_attrs, shared_name, "string", "''"),
             EF_ATTR(handle_attrs, debug_name, "string", "''"),
             {"dtype", "type", NULL, offsetof(handle_attrs, what.dtype)},
             {"shape", "shape", NULL, offsetof(handle_attrs, what.shape)},
             EF_ATTR(handle_attrs, allowed_devices, "list(string)", "[]")},
    .attr_size = sizeof(handle_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = handle_shape,
    .kernel = {{EF_CPU | EF_TEST | EF_ASIDE, EF_ANY, handle_run, NULL, NULL, NULL, NULL}},
    .examples = {"dtype=float shape=[2,3]", "dtype=int32 shape=[]"},
};

typedef struct destroy_attrs {
    bool ignore_lookup_error;
} destroy_attrs;

static ef_status *destroy_run(const ef_call *c) {
    const destroy_attrs *t = c->attrs;
    ef_variable *v = (ef_variable *)ef_tensor_object(c->in[0], EF_OBJECT_VARIABLE);
    if (v == NULL) return NULL; /* other objects are freed with their last handle */
    ef_tensor old = {0};
    ef_mutex_lock(&v->lock);
    bool empty = v->value.dtype == EF_NO_DTYPE;
    if (!empty) {
        ef_tensor_move(&old, &v->value);
        v->version++;
    }
    ef_mutex_unlock(&v->lock);
    ef_tensor_release(&old);
    ef_scope_forget(v);
    if (empty && !t->ignore_lookup_error)
        return ef_error(EF_NOT_FOUND,
                        "DestroyResourceOp: %s has no value to destroy; set "
                        "ignore_lookup_error to accept that",
                        label(v));
    return NULL;
}

const ef_op ef_op_DestroyResourceOp = {
    EF_NAMED(DestroyResourceOp),
    .doc = "Destroys a variable: its memory is released and its name can be used again.",
    .in = {"resource: resource"},
    .attr = {EF_ATTR(destroy_attrs, ignore_lookup_error, "bool", "true")},
    .attr_size = sizeof(destroy_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = ef_shape_none,
    .kernel = {{EF_CPU, EF_ANY, destroy_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[2,3])"},
};

static ef_status *nothing_run(const ef_call *c) {
    (void)c;
    return NULL;
}

const ef_op ef_op_DisableCopyOnRead = {
    EF_NAMED(DisableCopyOnRead),
    .doc = "Declares that reads of the variable need no copies; reads never copy here, so nothing "
           "changes.",
    .in = {"resource: resource"},
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = ef_shape_none,
    .kernel = {{EF_CPU, EF_ANY, nothing_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[2])"},
};

/* ---- reading ---- */

typedef struct dtype_attrs {
    ef_dtype dtype;
} dtype_attrs;

static ef_status *read_shape(ef_infer *i) {
    EF_TRY(need_handle(i, 0, i->out[0].dtype));
    i->out[0].shape = ef_infer_variable_shape(i, 0);
    return NULL;
}

static ef_status *read_to(ef_variable *v, int device, ef_tensor *out) {
    uint64_t version;
    ef_tensor home;
    EF_TRY(ef_variable_read_home(v, &home, &version));
    ef_status *s = ef_tensor_to(device, &home, out);
    ef_tensor_release(&home);
    return s;
}

static ef_status *read_run(const ef_call *c) {
    ef_variable *v = NULL;
    ef_tensor now;
    EF_TRY(ef_call_variable(c, 0, ((const dtype_attrs *)c->attrs)->dtype, &v));
    EF_TRY(ef_variable_read(v, &now));
    if (EF_UNLIKELY(now.device != c->device)) { /* the value is on another device, or was changed
                                                 * on the host */
        ef_tensor_release(&now);
        EF_TRY(read_to(v, c->device, &now));
    }
    ef_status *s = ef_out_share(c, 0, &now);
    ef_tensor_release(&now);
    return s;
}

static ef_status *read_grad(ef_grad *g) {
    g->din[0] = g->dout[0]; /* the gradient of a handle is the gradient of its value */
    return NULL;
}

const ef_op ef_op_ReadVariableOp = {
    EF_NAMED(ReadVariableOp),
    .doc =
        "The current value of a variable. Later assignments do not change the value that was read.",
    .in = {"resource: resource"},
    .out = {"value: dtype"},
    .attr = {EF_ATTR(dtype_attrs, dtype, "type", NULL)},
    .attr_size = sizeof(dtype_attrs),
    .traits = EF_STATEFUL | EF_SLICES_OK | EF_SHARES_OUT | EF_READS_VARIABLE,
    .keeps = EF_KEEP_NONE,
    .shape = read_shape,
    .kernel = {{EF_CPU | EF_TEST | EF_ASIDE, EF_ANY, read_run, NULL, NULL, NULL, NULL}},
    .grad = read_grad,
    .examples = {"var(float[2,3]) dtype=float", "var(int32[]) dtype=int32"},
};

typedef struct shape_attrs {
    ef_dtype out_type;
} shape_attrs;

static ef_status *shape_shape(ef_infer *i) {
    EF_TRY(need_handle(i, 0, EF_NO_DTYPE));
    ef_shape s = ef_infer_variable_shape(i, 0);
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {s.rank >= 0 ? s.rank : EF_DIM_UNKNOWN}};
    return NULL;
}

static ef_status *shape_run(const ef_call *c) {
    ef_variable *v = NULL;
    EF_TRY(ef_call_variable(c, 0, EF_NO_DTYPE, &v));
    ef_mutex_lock(&v->lock);
    ef_shape s = v->value.dtype != EF_NO_DTYPE ? ef_shape_from(&v->value) : v->shape;
    ef_mutex_unlock(&v->lock);
    if (!ef_shape_known(&s))
        return ef_error(EF_FAILED_PRECONDITION,
                        "VariableShape: %s has no value yet and its shape is %s; assign it first",
                        label(v), EF_SHAPE(&s));
    EF_TRY(ef_out_ready(c, 0, &(ef_shape){.rank = 1, .dim = {s.rank}}));
    for (int d = 0; d < s.rank; d++)
        if (c->out[0]->dtype == EF_I64)
            ((int64_t *)c->out[0]->data)[d] = s.dim[d];
        else if (s.dim[d] <= INT32_MAX)
            ((int32_t *)c->out[0]->data)[d] = (int32_t)s.dim[d];
        else
            return ef_error(EF_INVALID, "VariableShape: size %lld does not fit int32; use int64",
                            (long long)s.dim[d]);
    return NULL;
}

const ef_op ef_op_VariableShape = {
    EF_NAMED(VariableShape),
    .doc = "The shape of a variable's value, as a vector.",
    .in = {"input: resource"},
    .out = {"output: out_type"},
    .attr = {EF_ATTR(shape_attrs, out_type, "{int32, int64}", "int32")},
    .attr_size = sizeof(shape_attrs),
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = shape_shape,
    .kernel = {{EF_CPU, EF_ANY, shape_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[2,3])", "var(float[]) out_type=int64"},
};

static ef_status *initialized_run(const ef_call *c) {
    ef_variable *v = NULL;
    EF_TRY(ef_call_variable(c, 0, EF_NO_DTYPE, &v));
    ef_mutex_lock(&v->lock);
    *(bool *)c->out[0]->data = v->value.dtype != EF_NO_DTYPE;
    ef_mutex_unlock(&v->lock);
    return NULL;
}

const ef_op ef_op_VarIsInitializedOp = {
    EF_NAMED(VarIsInitializedOp),
    .doc = "Whether the variable has a value.",
    .in = {"resource: resource"},
    .out = {"is_initialized: bool"},
    .traits = EF_STATEFUL | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = {{EF_CPU, EF_ANY, initialized_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[2,3])"},
};

/* ---- assigning ---- */

static ef_status *assign_shape(ef_infer *i) {
    ef_shape both, var = ef_infer_variable_shape(i, 0);
    EF_TRY(need_handle(i, 0, i->in[1].dtype));
    if (!ef_shape_may_equal(&var, &i->in[1].shape))
        return ef_error(EF_INVALID,
                        "%s: the variable's shape is %s and the value's is %s; they must be equal "
                        "(Shapes must be equal)",
                        i->op->name, EF_SHAPE(&var), EF_SHAPE(&i->in[1].shape));
    return ef_shape_merge(&var, &i->in[1].shape, &both);
}

typedef struct assign_attrs {
    bool validate_shape;
} assign_attrs;

/* Writes into the existing buffer, if x fits and the buffer has no other owner. */
static bool assign_in_place(ef_variable *v, const ef_tensor *x) {
    bool done = false;
    ef_mutex_lock(&v->lock);
    ef_tensor *now = &v->value;
    if (now->dtype == x->dtype && now->rank == x->rank && now->data != x->data &&
        memcmp(now->dim, x->dim, (size_t)x->rank * sizeof *x->dim) == 0 && ef_tensor_owned(now)) {
        memcpy(now->data, x->data, (size_t)ef_count(x) * ef_dtype_size((ef_dtype)x->dtype));
        v->version++;
        done = true;
    }
    ef_mutex_unlock(&v->lock);
    return done;
}

static ef_status *assign_run(const ef_call *c) {
    ef_variable *v = NULL;
    const ef_tensor *x = c->in[1];
    EF_TRY(ef_call_variable(c, 0, (ef_dtype)x->dtype, &v));
    bool counted = x->storage != NULL;
    if (counted) return ef_variable_write(v, x);
    /* The bytes are borrowed (from a plan's arena) or few: copy them, if possible into the old
     * buffer. */
    if (ef_dtype_in((ef_dtype)x->dtype, EF_PLAIN) && assign_in_place(v, x)) return NULL;
    ef_tensor copy = {0};
    EF_TRY(ef_tensor_clone(&copy, x));
    ef_status *s = ef_variable_write(v, &copy);
    ef_tensor_release(&copy);
    return s;
}

const ef_op ef_op_AssignVariableOp = {
    EF_NAMED(AssignVariableOp),
    .doc = "Assigns a new value to the variable.",
    .in = {"resource: resource", "value: dtype"},
    .types = "dtype: type",
    .attr = {EF_ATTR(assign_attrs, validate_shape, "bool", "false")},
    .attr_size = sizeof(assign_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD | EF_STORES_INPUTS,
    .data_in = 2,
    .shape = assign_shape,
    .kernel = {{EF_CPU | EF_TEST | EF_ASIDE, EF_ANY, assign_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[2,3]) float[2,3]", "var(int32[]) int32[]"},
};

static ef_status *combine_into(const ef_call *c, ef_combine op) {
    const ef_tensor *x = c->in[1];
    ef_locked l;
    EF_TRY(ef_lock_variables(c, (const int[]){0}, 1, (ef_dtype)x->dtype, &l));
    ef_shape var = ef_shape_from(l.value[0]), value = ef_shape_from(x);
    ef_status *s = NULL;
    if (!ef_shape_equal(&var, &value))
        s = ef_error(EF_INVALID, "%s: the variable is %s and the value %s; shapes must be equal",
                     c->op->name, EF_SHAPE(&var), EF_SHAPE(&value));
    else
        ef_combine_all(ef_combine_pick(op, (ef_dtype)x->dtype), (ef_dtype)x->dtype,
                       l.value[0]->data, x->data, ef_count(x));
    ef_unlock_variables(&l);
    return s;
}
static ef_status *add_run(const ef_call *c) { return combine_into(c, EF_COMBINE_ADD); }
static ef_status *sub_run(const ef_call *c) { return combine_into(c, EF_COMBINE_SUB); }

/* On another device: the new value is computed there and replaces the old one, unless another
 * thread has assigned a value meanwhile. */
static ef_status *combine_on_device(const ef_call *c, const ef_op *op) {
    ef_variable *v = NULL;
    EF_TRY(ef_call_variable(c, 0, (ef_dtype)c->in[1]->dtype, &v));
    bool done = false;
    while (!done) {
        uint64_t version;
        int n;
        ef_tensor old = {0}, new = {0};
        EF_TRY(ef_variable_read_home(v, &old, &version));
        ef_shape var = ef_shape_from(&old), value = ef_shape_from(c->in[1]);
        ef_tensor *in[] = {&old, c->in[1]};
        ef_status *s =
            ef_shape_equal(&var, &value)
                ? ef_op_run_on(c->context, c->device, op, NULL, in, 2, &new, 1, &n)
                : ef_error(EF_INVALID,
                           "%s: the variable is %s and the value %s; shapes must be equal",
                           c->op->name, EF_SHAPE(&var), EF_SHAPE(&value));
        if (s == NULL) s = ef_variable_replace(v, version, &new, &done);
        ef_tensor_release(&old);
        ef_tensor_release(&new);
        EF_TRY(s);
    }
    return NULL;
}
static ef_status *add_on_device(const ef_call *c) { return combine_on_device(c, &ef_op_AddV2); }
static ef_status *sub_on_device(const ef_call *c) { return combine_on_device(c, &ef_op_Sub); }

/* TensorFlow looks up kernels of ops on variables when it places them and so reports another error
 * code. */
static ef_status *no_sum_run(const ef_call *c) {
    return ef_error(EF_INVALID, "%s: no kernel is registered for dtype %s", c->op->name,
                    ef_dtype_name((ef_dtype)c->in[1]->dtype));
}

#define COMBINED(N, text, fn, on_device)                                                \
    const ef_op ef_op_##N = {                                                           \
        EF_NAMED(N),                                                                    \
        .doc = text,                                                                    \
        .in = {"resource: resource", "value: dtype"},                                   \
        .types = "dtype: type",                                                         \
        .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,                                 \
        .data_in = 2,                                                                   \
        .shape = assign_shape,                                                          \
        .kernel = {{EF_CPU, EF_NUMBERS, fn, NULL, NULL, NULL, NULL},                    \
                   {EF_TEST | EF_ASIDE, EF_NUMBERS, on_device, NULL, NULL, NULL, NULL}, \
                   {EF_CPU, EF_ANY & ~EF_NUMBERS, no_sum_run, NULL, NULL, NULL, NULL}}, \
        .examples = {"var(float[2,3]) float[2,3]", "var(int32[]) int32[]",              \
                     "var(half[3]) half[3]"},                                           \
    };
COMBINED(AssignAddVariableOp, "Adds `value` to the variable, in place.", add_run, add_on_device)
COMBINED(AssignSubVariableOp, "Subtracts `value` from the variable, in place.", sub_run,
         sub_on_device)

/* ---- ResourceCountUpTo ---- */

typedef struct count_attrs {
    int64_t limit;
    ef_dtype T;
} count_attrs;

static ef_status *count_shape(ef_infer *i) {
    EF_TRY(need_handle(i, 0, i->out[0].dtype));
    ef_shape s = ef_infer_variable_shape(i, 0);
    i->out[0].shape = ef_scalar_shape();
    if (s.rank <= 0) return NULL;
    return ef_error(EF_INVALID, "ResourceCountUpTo: the variable is %s; it must be a scalar",
                    EF_SHAPE(&s));
}

static void put_count(ef_dtype t, void *at, int64_t v) {
    if (t == EF_I32)
        *(int32_t *)at = (int32_t)v;
    else
        *(int64_t *)at = v;
}

static ef_status *count_on(const count_attrs *a, ef_tensor *value, void *before) {
    if (value->rank != 0)
        return ef_error(EF_INVALID,
                        "ResourceCountUpTo: the variable has rank %d; it must be a scalar",
                        value->rank);
    if (a->T == EF_I32 && a->limit != (int32_t)a->limit)
        return ef_error(EF_INVALID, "ResourceCountUpTo: the limit %lld does not fit int32",
                        (long long)a->limit);
    int64_t now = ef_element_int(a->T, value->data, 0);
    if (now >= a->limit)
        return ef_error(EF_OUT_OF_RANGE, "ResourceCountUpTo: Reached limit of %lld",
                        (long long)a->limit);
    put_count(a->T, before, now);
    put_count(a->T, value->data, now + 1);
    return NULL;
}

static ef_status *count_run(const ef_call *c) {
    const count_attrs *a = c->attrs;
    ef_locked l;
    EF_TRY(ef_lock_variables(c, (const int[]){0}, 1, a->T, &l));
    ef_status *s = count_on(a, l.value[0], c->out[0]->data);
    ef_unlock_variables(&l);
    return s;
}

const ef_op ef_op_ResourceCountUpTo = {
    EF_NAMED(ResourceCountUpTo),
    .doc =
        "Adds 1 to a scalar variable and returns its old value; fails when it has reached `limit`.",
    .in = {"resource: resource"},
    .out = {"output: T"},
    .attr = {EF_ATTR(count_attrs, limit, "int", NULL),
             EF_ATTR(count_attrs, T, "{int32, int64}", NULL)},
    .attr_size = sizeof(count_attrs),
    .traits = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD,
    .shape = count_shape,
    .kernel = {{EF_CPU, EF_BIT(I32) | EF_BIT(I64), count_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(int32[]) limit=100 T=int32", "var(int64[]) limit=100 T=int64"},
};
