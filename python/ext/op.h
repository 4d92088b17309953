/* Ops as callables, shared by their files: op_inputs.c reads the inputs of a call, op.c finds the
 * attributes and runs it, op_type.c makes the objects. */
#ifndef EF_PY_OP_H
#define EF_PY_OP_H
#include "core.h"

enum { MAX_PARAMS = 40, MAX_VARS = 8, MAX_FEW = 16, KEPT_ATTRS = 64 };

typedef struct op_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    const ef_op *op;
    const ef_op_desc *desc;
    const char *kind; /* the default name of its nodes */
    int n_params;     /* inputs, then attributes that are not inferred, then name */
    int n_places;     /* how many of them may be given by position */
    bool demands;     /* some attribute is required: it has no default */
    PyObject *param[MAX_PARAMS];
    const ef_attr_desc *attr[MAX_PARAMS]; /* by parameter, NULL for inputs and name */
    struct {
        int8_t var; /* type variable, or -1 */
        ef_dtype fixed;
    } in[MAX_PARAMS];
    int n_vars;
    const ef_attr_desc *var[MAX_VARS];
    ef_dtype var_default[MAX_VARS];
    bool lenient;   /* tf.add: a second argument that cannot get the first's dtype keeps its own */
    PyObject *kept; /* cache: attribute values -> capsule of ef_attrs, at most KEPT_ATTRS */
    PyObject *result; /* the namedtuple class of the results, if there are several outputs */
} op_object;

/* The inputs of one call. */
typedef struct inputs {
    operand few[MAX_FEW], *at;
    const ef_tensor *few_t[MAX_FEW], **t;
    PyObject *few_item[MAX_FEW], **item; /* the Python value of each input tensor */
    uint8_t few_arg[MAX_FEW], *arg;      /* the argument to which each belongs */
    int n;
    ef_dtype var[MAX_VARS];
    PyObject *held[MAX_PARAMS]; /* list arguments, copied to tuples */
} inputs;

/* Reads the inputs of a call from the values of its parameters. -1: raised. The caller calls
 * inputs_end in either case. */
int inputs_take(op_object *self, PyObject **value, inputs *in);
void inputs_end(op_object *self, inputs *in);

/* The vectorcall function of op objects. */
PyObject *op_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names);
/* The method _first: the first of several outputs alone. Eagerly the others are not computed
 * where the kernel can do without them. */
PyObject *op_first(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names);
#endif
