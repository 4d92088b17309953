/* The inputs of an op's call: flattens lists, resolves type variables (the op's type attributes
 * such as T), and converts values that are not tensors. There are three ways, as in TensorFlow,
 * which differ in what decides a dtype and in which error is raised first. Eagerly, if all
 * arguments are plain (tensors, variables, arrays, numbers), inputs are converted in order. Eagerly
 * otherwise, all inputs of one type variable are converted together, and inputs of a fixed dtype
 * last. While a graph is being built, inputs are converted in order, and the first input of a type
 * variable decides the dtype of the others. */
#include "op.h"

void inputs_end(op_object *self, inputs *in) {
    for (int k = 0; k < in->n; k++) operand_end(&in->at[k]);
    for (int k = 0; k < self->desc->n_in; k++) Py_XDECREF(in->held[k]);
    if (in->at != in->few) {
        PyMem_Free(in->at);
        PyMem_Free(in->t);
        PyMem_Free(in->item);
        PyMem_Free(in->arg);
    }
}

/* ---- flattening lists ------------------------------------------------------------------------ */

static int not_a_list(op_object *self, PyObject **value, int k) {
    PyErr_Format(PyExc_TypeError, "Expected list for '%s' argument to '%s' Op, not %R.",
                 self->desc->in[k].name, self->desc->name, value[k]);
    return -1;
}

/* Copies list arguments to tuples, since a list may change while its items are converted or while
 * other threads run. *count: the number of input tensors. *odd: a list argument that is neither a
 * list nor a tuple, or -1. */
static int open_lists(op_object *self, PyObject **value, inputs *in, int *count, int *odd) {
    *count = 0;
    *odd = -1;
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
        if (!PyList_Check(value[k]) && !PyTuple_Check(value[k])) {
            *odd = k;
            bool opens = PySequence_Check(value[k]) || IS_VARIABLE(value[k]);
            if (recording() || !opens) return not_a_list(self, value, k);
        }
        in->held[k] = PySequence_Tuple(value[k]);
        if (in->held[k] == NULL) {
            if (!PyErr_ExceptionMatches(PyExc_TypeError)) return -1;
            PyErr_Clear(); /* a scalar tensor or array: its type has __len__, but it has no items */
            return not_a_list(self, value, k);
        }
        *count += (int)PyTuple_GET_SIZE(in->held[k]);
    }
    return 0;
}

static int make_room(inputs *in, int count) {
    in->n = 0;
    if (count > MAX_FEW) {
        in->at = PyMem_Malloc((size_t)count * sizeof *in->at);
        in->t = PyMem_Malloc((size_t)count * sizeof *in->t);
        in->item = PyMem_Malloc((size_t)count * sizeof *in->item);
        in->arg = PyMem_Malloc((size_t)count * sizeof *in->arg);
        if (in->at == NULL || in->t == NULL || in->item == NULL || in->arg == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    for (int k = 0; k < count; k++) {
        in->at[k].keep = NULL;
        in->at[k].own.dtype = 0;
    }
    in->n = count;
    return 0;
}

/* Fills item[] and arg[]: the value of each input tensor, and the argument to which it belongs. */
static void spread(op_object *self, PyObject **value, inputs *in) {
    int at = 0;
    for (int k = 0; k < self->desc->n_in; k++) {
        PyObject *held = in->held[k];
        Py_ssize_t n = held != NULL ? PyTuple_GET_SIZE(held) : 1;
        for (Py_ssize_t i = 0; i < n; i++, at++) {
            in->item[at] = held != NULL ? PyTuple_GET_ITEM(held, i) : value[k];
            in->arg[at] = (uint8_t)k;
        }
    }
}

static bool is_value(PyObject *o) { return IS_TENSOR(o); } /* but not a variable */

static int take_as(inputs *in, int i, ef_dtype dtype, int hint) {
    if (operand_from(in->item[i], dtype, hint, &in->at[i]) == 0) {
        in->t[i] = in->at[i].t;
        return 0;
    }
    in->at[i].keep = NULL; /* so that operand_end does nothing */
    in->at[i].own.dtype = 0;
    return -1;
}

static ef_dtype dtype_at(const inputs *in, int i) { return (ef_dtype)in->t[i]->dtype; }

static void give_back(operand *a) {
    operand_end(a);
    a->keep = NULL;
    a->own.dtype = 0;
}

static int no_match(op_object *self, int k, ef_dtype have, ef_dtype want) {
    PyErr_Format(PyExc_TypeError,
                 "Input '%s' of '%s' Op has type %s that does not match the expected type %s.",
                 self->desc->in[k].name, self->desc->name, ef_dtype_name(have),
                 ef_dtype_name(want));
    return -1;
}

/* ---- eager, plain arguments ------------------------------------------------------------------ */

/* Whether TensorFlow's C++ fast path accepts this value. */
static bool is_direct(PyObject *o) {
    return IS_TENSOR(o) || IS_VARIABLE(o) || PyFloat_Check(o) || PyLong_Check(o) ||
           (is_array(o) && attr_has(o, "__setitem__"));
}

/* Whether all attributes have exactly their type: TensorFlow's fast path does not convert them. */
static bool plain_attrs(op_object *self, PyObject **value) {
    for (int k = self->desc->n_in; k < self->n_params - 1; k++) {
        PyObject *o = value[k];
        if (o == NULL || o == Py_None) continue;
        switch (self->attr[k]->kind) {
        case EF_ATTR_INT:
            if (!PyLong_Check(o)) return false;
            break;
        case EF_ATTR_FLOAT:
            if (!PyFloat_Check(o)) return false;
            break;
        case EF_ATTR_TYPE:
            if (!PyLong_Check(o) && !attr_has(o, "_type_enum")) return false;
            break;
        default: break;
        }
    }
    return true;
}

static bool all_direct(op_object *self, PyObject **value, const inputs *in) {
    for (int i = 0; i < in->n; i++)
        if (!is_direct(in->item[i])) return false;
    return plain_attrs(self, value);
}

static bool fits_int32(PyObject *o) {
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    return over == 0 && v >= INT32_MIN && v <= INT32_MAX;
}

/* The dtype for a plain value of type variable v: that of an earlier value, else that of the first
 * tensor or variable in any position, else the default, widened to int64 if the value needs it. */
static ef_dtype direct_dtype(op_object *self, const inputs *in, int v, PyObject *o) {
    if (in->var[v] != EF_NO_DTYPE) return in->var[v];
    for (int i = 0; i < in->n; i++)
        if (self->in[in->arg[i]].var == v && (is_value(in->item[i]) || IS_VARIABLE(in->item[i])))
            return own_dtype(in->item[i]);
    ef_dtype want = self->var_default[v];
    if (want == EF_I32 && PyLong_Check(o) && self->var[v]->types & UINT64_C(1) << EF_I64 &&
        !fits_int32(o))
        want = EF_I64;
    return want;
}

static int take_direct(op_object *self, inputs *in) {
    for (int i = 0; i < in->n; i++) {
        PyObject *o = in->item[i];
        int k = in->arg[i], v = self->in[k].var;
        ef_dtype want = self->in[k].fixed;
        bool made = !is_value(o) && !IS_VARIABLE(o);
        if (made && v >= 0) want = direct_dtype(self, in, v, o);
        if (take_as(in, i, want, MUST) < 0) return -1;
        if (made && v >= 0) in->var[v] = dtype_at(in, i);
    }
    return 0;
}

/* ---- eager, with conversion ------------------------------------------------------------------ */

static int convert_to(op_object *self, inputs *in, int i, ef_dtype want) {
    if (take_as(in, i, want, MUST) < 0) return -1;
    if (want == EF_NO_DTYPE || dtype_at(in, i) == want) return 0;
    PyErr_Format(PyExc_ValueError,
                 "Tensor conversion requested dtype %s for Tensor with dtype %s (input '%s' of %s)",
                 ef_dtype_name(want), ef_dtype_name(dtype_at(in, i)),
                 self->desc->in[in->arg[i]].name, self->desc->name);
    return -1;
}

/* Converts the first value of a type variable that has no tensors: it gets its natural dtype, or
 * the default if the op does not allow that. So an empty list, by itself float32, can become int32.
 */
static int convert_first(op_object *self, inputs *in, int i, int v) {
    uint64_t types = self->var[v]->types;
    if (types != 0) {
        if (take_as(in, i, EF_NO_DTYPE, MUST) < 0) return -1;
        if (types & UINT64_C(1) << dtype_at(in, i)) return 0;
        give_back(&in->at[i]);
    }
    return take_as(in, i, self->var_default[v], HINT);
}

static int convert_group(op_object *self, inputs *in, int v) {
    bool values = true, any = false;
    ef_dtype want = EF_NO_DTYPE;
    for (int i = 0; i < in->n; i++) {
        if (self->in[in->arg[i]].var != v) continue;
        bool value = is_value(in->item[i]);
        any = true;
        values = values && value;
        if (value && want == EF_NO_DTYPE) want = own_dtype(in->item[i]);
    }
    if (!any && self->var_default[v] == EF_NO_DTYPE) {
        PyErr_Format(PyExc_IndexError, "%s: an empty list has no dtype", self->desc->name);
        return -1; /* TensorFlow raises an IndexError, too */
    }
    if (values) want = EF_NO_DTYPE; /* if all are tensors, the op checks their dtypes */
    for (int i = 0; i < in->n; i++) {
        if (self->in[in->arg[i]].var != v) continue;
        bool first = !values && want == EF_NO_DTYPE;
        if ((first ? convert_first(self, in, i, v) : convert_to(self, in, i, want)) < 0) return -1;
        if (first) want = dtype_at(in, i);
    }
    return 0;
}

static int take_converted(op_object *self, inputs *in) {
    for (int v = 0; v < self->n_vars; v++)
        if (convert_group(self, in, v) < 0) return -1;
    for (int i = 0; i < in->n; i++)
        if (self->in[in->arg[i]].var < 0 && convert_to(self, in, i, self->in[in->arg[i]].fixed) < 0)
            return -1;
    return 0;
}

/* tf.add: the first input decides the dtype; if the second cannot get it, the op raises. */
static int take_leniently(op_object *self, inputs *in) {
    for (int i = 0; i < in->n; i++) {
        ef_dtype want = i > 0 ? dtype_at(in, 0) : EF_NO_DTYPE;
        if (take_as(in, i, want, HINT) < 0) return -1;
        if (!recording()) continue;
        if (check_type(self->desc->in[i].name, self->var[0], in->t[i]) < 0) return -1;
        if (i > 0 && dtype_at(in, i) != want) return no_match(self, i, dtype_at(in, i), want);
    }
    return 0;
}

/* ---- while a graph is being built ------------------------------------------------------------ */

int check_type(const char *input, const ef_attr_desc *type, const ef_tensor *t) {
    if (type->types == 0 || (type->types | type->declared) & UINT64_C(1) << t->dtype) return 0;
    char text[512] = "";
    for (int k = 1; k < EF_DTYPES; k++) {
        if (!(type->types & UINT64_C(1) << k)) continue;
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", ef_dtype_name((ef_dtype)k));
    }
    PyErr_Format(PyExc_TypeError,
                 "Value passed to parameter '%s' has DataType %s not in list of allowed values: %s",
                 input, ef_dtype_name((ef_dtype)t->dtype), text);
    return -1;
}

/* Converts a value to the dtype `want`. If that fails, but the value converts to another dtype, the
 * error is TensorFlow's TypeError about the two dtypes. */
static int record_as(op_object *self, inputs *in, int i, ef_dtype want) {
    if (take_as(in, i, want, MUST) == 0) return 0;
    if (want == EF_NO_DTYPE || !PyErr_ExceptionMatches(PyExc_ValueError) ||
        PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    if (take_as(in, i, EF_NO_DTYPE, MUST) < 0) return -1;
    return no_match(self, in->arg[i], dtype_at(in, i), want);
}

/* Converts the first value of a type variable that has a default: it gets its natural dtype if the
 * op allows that, else the default. */
static int record_default(op_object *self, inputs *in, int i, int v) {
    uint64_t types = self->var[v]->types;
    if (types != 0) {
        if (take_as(in, i, EF_NO_DTYPE, MUST) == 0) {
            if (types & UINT64_C(1) << dtype_at(in, i)) return 0;
            give_back(&in->at[i]);
        } else if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return -1;
        }
        PyErr_Clear();
    }
    return take_as(in, i, self->var_default[v], HINT);
}

static int record_one(op_object *self, inputs *in, int i) {
    int k = in->arg[i], v = self->in[k].var;
    ef_dtype want = v >= 0 ? in->var[v] : self->in[k].fixed;
    bool preset = v >= 0 && want == EF_NO_DTYPE && self->var_default[v] != EF_NO_DTYPE;
    if ((preset ? record_default(self, in, i, v) : record_as(self, in, i, want)) < 0) return -1;
    if (want != EF_NO_DTYPE)
        return dtype_at(in, i) == want ? 0 : no_match(self, k, dtype_at(in, i), want);
    if (v < 0) return 0;
    in->var[v] = dtype_at(in, i);
    return check_type(self->desc->in[k].name, self->var[v], in->t[i]);
}

/* Converts the items first to last-1 of a list argument. A tensor among them decides the dtype; if
 * there is none, each gets its natural dtype, and these must be equal. */
static int record_list(op_object *self, inputs *in, int k, int first, int last) {
    int v = self->in[k].var;
    ef_dtype want = v >= 0 ? in->var[v] : self->in[k].fixed;
    for (int i = first; i < last && v >= 0 && want == EF_NO_DTYPE; i++)
        if (is_value(in->item[i])) want = own_dtype(in->item[i]);
    for (int i = first; i < last; i++) {
        bool preset = v >= 0 && want == EF_NO_DTYPE;
        if (take_as(in, i, preset ? self->var_default[v] : want, preset ? HINT : MUST) < 0)
            return PyErr_ExceptionMatches(PyExc_ValueError) ? say_type_error() : -1;
        ef_dtype like = want != EF_NO_DTYPE ? want : v >= 0 ? dtype_at(in, first) : EF_NO_DTYPE;
        if (like != EF_NO_DTYPE && dtype_at(in, i) != like)
            return no_match(self, k, dtype_at(in, i), like);
    }
    if (v < 0 || first == last || in->var[v] != EF_NO_DTYPE) return 0;
    in->var[v] = dtype_at(in, first);
    return check_type(self->desc->in[k].name, self->var[v], in->t[first]);
}

static int take_recorded(op_object *self, inputs *in) {
    for (int i = 0; i < in->n;) {
        int k = in->arg[i], last = i;
        while (last < in->n && in->arg[last] == k) last++;
        if ((self->desc->in[k].is_list ? record_list(self, in, k, i, last)
                                       : record_one(self, in, i)) < 0)
            return -1;
        i = last;
    }
    return 0;
}

/* ---- choosing the way ------------------------------------------------------------------------ */

/* The most frequent call: only eager tensors, no lists, no graph. false: the call is another. */
static bool take_tensors(op_object *self, PyObject **value, inputs *in) {
    int n = self->desc->n_in;
    for (int k = 0; k < n; k++)
        if (value[k] == NULL || !IS_EAGER(value[k]) || self->desc->in[k].is_list) return false;
    if (n > MAX_FEW || recording()) return false;
    for (int k = 0; k < n; k++) {
        in->at[k].keep = NULL;
        in->at[k].own.dtype = 0;
        in->t[k] = &((tensor_object *)value[k])->t;
        ef_dtype fixed = self->in[k].fixed; /* the error for another depends on the attributes */
        if (fixed != EF_NO_DTYPE && fixed != dtype_at(in, k)) return false;
    }
    in->n = n;
    return true;
}

int inputs_take(op_object *self, PyObject **value, inputs *in) {
    int count, odd;
    in->n = 0;
    in->at = in->few;
    in->t = in->few_t;
    in->item = in->few_item;
    in->arg = in->few_arg;
    memset(in->held, 0, (size_t)self->desc->n_in * sizeof *in->held);
    if (take_tensors(self, value, in)) return 0;
    memset(in->var, 0, sizeof in->var);
    if (open_lists(self, value, in, &count, &odd) < 0 || make_room(in, count) < 0) return -1;
    spread(self, value, in);
    if (self->lenient) return take_leniently(self, in);
    if (recording()) return take_recorded(self, in);
    bool direct = all_direct(self, value, in);
    if (odd >= 0 && !direct) return not_a_list(self, value, odd);
    if (odd >= 0 && is_array(value[odd])) {
        int64_t dims[EF_MAX_RANK];
        int rank = array_dims(value[odd], dims);
        if (rank != 1) {
            PyErr_Format(PyExc_ValueError,
                         "expected a sequence for '%s' of %s, got an ndarray with rank %d instead",
                         self->desc->in[odd].name, self->desc->name, rank);
            return -1;
        }
    }
    return direct ? take_direct(self, in) : take_converted(self, in);
}
