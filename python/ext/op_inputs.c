/* The inputs of an op's call: lists are opened, type variables settled, and what is no tensor is
 * converted. */
#include "op.h"

void inputs_end(op_object *self, inputs *in) {
    for (int k = 0; k < in->n; k++) operand_end(&in->at[k]);
    for (int k = 0; k < self->desc->n_in; k++) Py_XDECREF(in->held[k]);
    if (in->at != in->few) {
        PyMem_Free(in->at);
        PyMem_Free(in->t);
    }
}

/* Any sequence argument as a fast one; counts the tensors. */
static int open_lists(op_object *self, PyObject **value, inputs *in, int *count) {
    *count = 0;
    for (int k = 0; k < self->desc->n_in; k++) {
        if (value[k] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%U'", self->desc->name,
                         self->param[k]);
            return -1;
        }
        if (!self->desc->in[k].is_list) {
            ++*count;
            continue;
        }
        bool rows = IS_TENSOR(value[k]) || IS_VARIABLE(value[k]);
        if (!PyList_Check(value[k]) && !PyTuple_Check(value[k]) && (recording() || !rows)) {
            PyErr_Format(PyExc_TypeError, "Expected list for '%s' argument to '%s' Op, not %R.",
                         self->desc->in[k].name, self->desc->name, value[k]);
            return -1;
        }
        in->held[k] = PySequence_Fast(value[k], "a list");
        if (in->held[k] == NULL) return -1;
        *count += (int)PySequence_Fast_GET_SIZE(in->held[k]);
    }
    return 0;
}

/* TensorFlow hands tensors, arrays and plain numbers to the op as they are. Any other argument
 * makes it convert all of them first, and then a tensor of another dtype is an error of conversion.
 */
static bool is_direct(PyObject *o) {
    return IS_TENSOR(o) || IS_VARIABLE(o) || PyFloat_Check(o) || PyLong_Check(o) ||
           (is_array(o) && PyObject_HasAttrString(o, "__setitem__"));
}

/* Whether some input is not direct, and some input of type variable v (if >= 0) is no tensor yet:
 * tensors among themselves are left to the op. */
static bool converts(op_object *self, PyObject **value, const inputs *in, int v) {
    bool direct = true, tensors = v >= 0;
    for (int k = 0; k < self->desc->n_in; k++) {
        Py_ssize_t n = in->held[k] != NULL ? PySequence_Fast_GET_SIZE(in->held[k]) : 1;
        for (Py_ssize_t i = 0; i < n; i++) {
            PyObject *o = in->held[k] != NULL ? PySequence_Fast_GET_ITEM(in->held[k], i) : value[k];
            direct = direct && is_direct(o);
            tensors = tensors && (self->in[k].var != v || IS_TENSOR(o) || IS_VARIABLE(o));
        }
    }
    return !direct && !tensors;
}

/* A variable decides as a tensor does, unless all are converted: then it only follows. */
static void note_dtype(op_object *self, PyObject **value, inputs *in, int k, PyObject *o) {
    int v = self->in[k].var;
    if (v < 0 || in->var[v] != EF_NO_DTYPE) return;
    if (IS_EAGER(o) || IS_SYMBOLIC(o))
        in->var[v] = (ef_dtype)((tensor_object *)o)->t.dtype;
    else if (IS_VARIABLE(o) && (recording() || !converts(self, value, in, -1)))
        in->var[v] = own_dtype(o);
}

/* A tensor decides for all that share its type variable, wherever it stands. Without one the first
 * value decides, be it a list or an array: see take(). */
static void settle_types(op_object *self, PyObject **value, inputs *in) {
    if (self->lenient) return; /* there the first operand always decides */
    for (int k = 0; k < self->desc->n_in; k++) {
        if (in->held[k] == NULL) {
            note_dtype(self, value, in, k, value[k]);
            continue;
        }
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(in->held[k]); i++)
            note_dtype(self, value, in, k, PySequence_Fast_GET_ITEM(in->held[k], i));
    }
}

static bool fits_int32(PyObject *o) {
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    return over == 0 && v >= INT32_MIN && v <= INT32_MAX;
}

/* An input whose dtype is not the one its type variable or the op has; the op itself refuses most.
 */
static int other_dtype(op_object *self, PyObject **value, inputs *in, int k, ef_dtype want) {
    const char *have = ef_dtype_name((ef_dtype)in->t[in->n - 1]->dtype);
    if (recording()) {
        PyErr_Format(PyExc_TypeError,
                     "Input '%s' of '%s' Op has type %s that does not match the expected type %s.",
                     self->desc->in[k].name, self->desc->name, have, ef_dtype_name(want));
        return -1;
    }
    if (self->lenient || !converts(self, value, in, self->in[k].var)) return 0;
    PyErr_Format(PyExc_ValueError,
                 "Tensor conversion requested dtype %s for Tensor with dtype %s (input '%s' of %s)",
                 ef_dtype_name(want), have, self->desc->in[k].name, self->desc->name);
    return -1;
}

int check_type(const char *input, const ef_attr_desc *type, const ef_tensor *t) {
    if (type->types == 0 || type->types & 1u << t->dtype) return 0;
    char text[512] = "";
    for (int k = 1; k < EF_DTYPES; k++) {
        if (!(type->types & 1u << k)) continue;
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", ef_dtype_name((ef_dtype)k));
    }
    PyErr_Format(PyExc_TypeError,
                 "Value passed to parameter '%s' has DataType %s not in list of allowed values: %s",
                 input, ef_dtype_name((ef_dtype)t->dtype), text);
    return -1;
}

/* A value for a type variable that has a default, which nothing has decided yet. What is direct
 * must take the default, unless it is too large for it. Anything else is what it is by itself, or
 * the default if the op does not take that: an empty list is no list of floats then. */
static int take_default(op_object *self, PyObject **value, inputs *in, int v, PyObject *o) {
    operand *a = &in->at[in->n];
    ef_dtype want = self->var_default[v];
    unsigned types = self->var[v]->types;
    if (is_array(o) || recording()) return operand_from(o, want, HINT, a);
    if (is_direct(o) && !converts(self, value, in, -1)) {
        if (PyLong_Check(o) && want == EF_I32 && types & 1u << EF_I64 && !fits_int32(o))
            want = EF_I64;
        return operand_from(o, want, MUST, a);
    }
    if (operand_from(o, EF_NO_DTYPE, MUST, a) < 0) return -1;
    if (types == 0 || types & 1u << a->t->dtype || IS_TENSOR(o)) return 0;
    operand_end(a);
    return operand_from(o, want, HINT, a);
}

static int take(op_object *self, PyObject **value, inputs *in, int k, PyObject *o) {
    int v = self->in[k].var;
    ef_dtype want = v >= 0 ? in->var[v] : self->in[k].fixed;
    bool settled = v < 0 || want != EF_NO_DTYPE;
    operand *a = &in->at[in->n];
    int bad = settled || self->var_default[v] == EF_NO_DTYPE
                  ? operand_from(o, want, v >= 0 && self->lenient ? HINT : MUST, a)
                  : take_default(self, value, in, v, o);
    if (bad < 0) return -1;
    in->t[in->n++] = a->t;
    if (!settled) in->var[v] = (ef_dtype)a->t->dtype;
    if (v >= 0 && recording() && check_type(self->desc->in[k].name, self->var[v], a->t) < 0)
        return -1;
    if (settled && want != EF_NO_DTYPE && a->t->dtype != want)
        return other_dtype(self, value, in, k, want);
    return 0;
}

int inputs_take(op_object *self, PyObject **value, inputs *in) {
    int count;
    in->n = 0;
    in->at = in->few;
    in->t = in->few_t;
    memset(in->var, 0, sizeof in->var);
    memset(in->held, 0, sizeof in->held);
    if (open_lists(self, value, in, &count) < 0) return -1;
    if (count > MAX_FEW) {
        in->at = PyMem_Malloc((size_t)count * sizeof *in->at);
        in->t = PyMem_Malloc((size_t)count * sizeof *in->t);
        if (in->at == NULL || in->t == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    settle_types(self, value, in);
    for (int k = 0; k < self->desc->n_in; k++) {
        if (in->held[k] == NULL) {
            if (take(self, value, in, k, value[k]) < 0) return -1;
            continue;
        }
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(in->held[k]); i++)
            if (take(self, value, in, k, PySequence_Fast_GET_ITEM(in->held[k], i)) < 0)
                return recording() ? say_type_error() : -1; /* as TensorFlow says it of lists */
    }
    return 0;
}
