/* EagerPyFunc and PyFuncStateless: ops whose kernel is a function of the user's program. */
#include "ops/control/callback.h"
#include "base/alloc.h"
#include "base/pool.h"
#include "ops/array/array.h"
#include "ops/engine_nodes.h"

typedef struct callback {
    ef_object object;
    ef_callback_fn *run;
    void *user;
    void (*end)(void *);
} callback;

static void callback_end(ef_storage *self) {
    callback *c = (callback *)self;
    if (c->end != NULL) c->end(c->user);
    ef_free(c);
}

ef_status *ef_callback_make(ef_callback_fn *run, void *user, void (*end)(void *),
                            ef_tensor *handle) {
    callback *c = ef_calloc(1, sizeof *c);
    if (c == NULL) {
        if (end != NULL) end(user);
        return ef_no_memory(sizeof *c);
    }
    ef_object_init(&c->object, EF_OBJECT_CALLBACK, "callback", callback_end);
    c->run = run;
    c->user = user;
    c->end = end;
    ef_tensor_from_object(handle, EF_RESOURCE, &c->object);
    return NULL;
}

typedef struct py_func_attrs {
    ef_attr_text token;
    bool is_async;
    ef_types Tout;
    ef_shapes output_shapes;
} py_func_attrs;

static ef_status *py_func_shape(ef_infer *i) {
    const ef_shapes *given = &((const py_func_attrs *)i->attrs)->output_shapes;
    if (given->n == 0) return NULL;
    if (given->n != i->n_out)
        return ef_error(EF_INVALID,
                        "%s: `output_shapes` has %d shapes for %d outputs; it must be empty or "
                        "have one for each",
                        i->op->name, given->n, i->n_out);
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = given->at[k];
    return NULL;
}

/* Checks that the results have the declared dtypes and shapes, and makes them the outputs. */
static ef_status *hand_over(const ef_call *c, ef_tensor *made) {
    const py_func_attrs *a = c->attrs;
    for (int k = 0; k < c->n_out; k++) {
        if ((ef_dtype)made[k].dtype != a->Tout.at[k])
            return ef_error(EF_INVALID,
                            "%s: the function returned %s as output %d, but Tout says %s; return "
                            "that or change Tout",
                            c->op->name, ef_dtype_name((ef_dtype)made[k].dtype), k,
                            ef_dtype_name(a->Tout.at[k]));
        EF_TRY(ef_tensor_materialize(&made[k]));
        ef_shape shape = ef_shape_from(&made[k]);
        if (a->output_shapes.n > 0 && !ef_shape_may_equal(&shape, &a->output_shapes.at[k]))
            return ef_error(
                EF_INVALID,
                "%s: the function returned a tensor of shape %s as output %d, but %s was "
                "declared",
                c->op->name, EF_SHAPE(&shape), k, EF_SHAPE(&a->output_shapes.at[k]));
        EF_TRY(ef_out_share(c, k, &made[k]));
    }
    return NULL;
}

/* The function may block. While it runs, a pipeline worker counts as using no processor: otherwise
 * other workers, which yield while all processors are busy, would wait for nothing. */
static ef_status *call_program(ef_context *c, const callback *fn, const ef_tensor *in, int n_in,
                               ef_tensor *out, int n_out) {
    bool light = c->weight < 1;
    if (light) ef_pool_block(c);
    ef_status *s = fn->run(fn->user, in, n_in, out, n_out);
    if (light) ef_pool_unblock(c);
    return s;
}

static ef_status *py_func_run(const ef_call *c) {
    callback *fn = (callback *)ef_tensor_object(c->in[0], EF_OBJECT_CALLBACK);
    if (fn == NULL)
        return ef_error(EF_INVALID, "%s: the first input is not a callback", c->op->name);
    int n_in = c->n_in - 1;
    size_t n = (size_t)(n_in + c->n_out);
    ef_tensor *all = ef_calloc(n + 1, sizeof *all);
    if (all == NULL) return ef_no_memory(n * sizeof *all);
    ef_tensor *made = all + n_in;
    ef_status *s = NULL;
    for (int k = 0; k < n_in && s == NULL; k++) s = ef_tensor_keep(&all[k], c->in[k + 1]);
    if (s == NULL) s = call_program(c->context, fn, all, n_in, made, c->n_out);
    if (s == NULL) s = hand_over(c, made);
    for (size_t k = 0; k < n; k++) ef_tensor_release(&all[k]);
    ef_free(all);
    return s;
}

#define PY_FUNC(N, TEXT, TRAITS)                                                              \
    const ef_op ef_op_##N = {                                                                 \
        EF_NAMED(N),                                                                          \
        .doc = TEXT,                                                                          \
        .in = {"callback: resource", "input: Tin"},                                           \
        .out = {"output: Tout"},                                                              \
        .types = "Tin: list(type)",                                                           \
        .attr = {EF_ATTR(py_func_attrs, token, "string", "''"),                               \
                 EF_ATTR(py_func_attrs, is_async, "bool", "false"),                           \
                 EF_ATTR(py_func_attrs, Tout, "list(type)", NULL),                            \
                 EF_ATTR(py_func_attrs, output_shapes, "list(shape)", "[]")},                 \
        .attr_size = sizeof(py_func_attrs),                                                   \
        .traits =                                                                             \
            (TRAITS) | EF_DYNAMIC | EF_SHARES_OUT | EF_HEAVY | EF_STORES_INPUTS | EF_NO_GRAD, \
        .shape = py_func_shape,                                                               \
        .kernel = EF_ANY_KERNEL(py_func_run),                                                 \
        .examples = {"echo() float[2,3] string[1]{x} Tout=[float,string]"},                   \
    };

PY_FUNC(EagerPyFunc, "Calls a function of the user's program with `input` each time the node runs.",
        EF_STATEFUL | EF_EFFECT)
PY_FUNC(PyFuncStateless,
        "Calls a function of the user's program that depends only on `input`: calls may be merged "
        "or left out.",
        0)

bool ef_op_calls_back(const ef_op *op) {
    return op == &ef_op_EagerPyFunc || op == &ef_op_PyFuncStateless;
}

ef_status *ef_made_callback(int n, const ef_dtype *dtype, const ef_shape *shape, bool stateful,
                            ef_made *out) {
    ef_attr_value set[] = {
        EF_SET_TYPES("Tout", n, dtype),
        {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = n, .as = {.shapes = shape}}};
    out->op = stateful ? &ef_op_EagerPyFunc : &ef_op_PyFuncStateless;
    return ef_attrs_make(out->op, set, shape != NULL ? 2 : 1, &out->attrs);
}
