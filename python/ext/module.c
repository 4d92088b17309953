/* The module evenflow._core, and the hooks that the Python package registers with it. */
#include "core.h"

core_hooks hooks;

static PyObject *core_convert(PyObject *module, PyObject *const *args, Py_ssize_t n,
                              PyObject *names) {
    (void)module;
    static const char *const known[] = {"value", "dtype", "dtype_hint", "plain"};
    PyObject *value[4] = {NULL};
    if (n > 4) return PyErr_Format(PyExc_TypeError, "convert takes at most 4 arguments");
    for (Py_ssize_t k = 0; k < n; k++) value[k] = args[k];
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++)
        for (int j = 0; j < 4; j++)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), known[j]) == 0)
                value[j] = args[n + k];
    if (value[0] == NULL) return PyErr_Format(PyExc_TypeError, "convert needs a value");
    ef_dtype t = EF_NO_DTYPE;
    int hint = value[3] == Py_True ? PLAIN : MUST;
    if (value[1] != NULL && value[1] != Py_None) {
        if ((t = dtype_of(value[1])) == EF_NO_DTYPE) return NULL;
    } else if (value[2] != NULL && value[2] != Py_None) {
        if ((t = dtype_of(value[2])) == EF_NO_DTYPE) return NULL;
        hint = HINT;
    }
    return convert(value[0], t, hint);
}

static PyObject *core_is_symbolic(PyObject *module, PyObject *o) {
    (void)module;
    return PyBool_FromLong(IS_TENSOR(o) && (((tensor_object *)o)->t.flags & EF_TENSOR_SYMBOLIC));
}

static PyObject *core_is_tensor(PyObject *module, PyObject *const *args, Py_ssize_t n,
                                PyObject *names) {
    (void)module;
    bool named = n == 0 && names != NULL && PyTuple_GET_SIZE(names) == 1 &&
                 PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "x") == 0;
    if (!named && (n != 1 || names != NULL))
        return PyErr_Format(PyExc_TypeError, "is_tensor takes one argument, x");
    PyObject *x = args[0];
    if (IS_TENSOR(x) || PyObject_TypeCheck(x, core_type)) Py_RETURN_TRUE;
    if (x == Py_None || PyUnicode_CheckExact(x) || PyFloat_CheckExact(x) || PyLong_CheckExact(x))
        Py_RETURN_FALSE;
    int composite = PyObject_IsInstance(x, hooks.composite);
    if (composite < 0) return NULL;
    if (composite > 0) return attr_get(x, "_is_tensor");
    return PyBool_FromLong(PyObject_IsInstance(x, (PyObject *)core_type));
}

static PyObject *core_register(PyObject *module, PyObject *args, PyObject *kwargs) {
    (void)module;
    (void)args;
    static const struct {
        const char *name;
        PyObject **at;
    } slot[] = {{"error", &hooks.error},
                {"graph_error", &hooks.graph_error},
                {"as_dtype", &hooks.as_dtype},
                {"convert", &hooks.convert},
                {"repr", &hooks.repr},
                {"str", &hooks.str},
                {"getitem", &hooks.getitem},
                {"operation", &hooks.operation},
                {"graph_class", &hooks.graph_class},
                {"matmul", &hooks.matmul},
                {"equal", &hooks.equal},
                {"not_equal", &hooks.not_equal},
                {"not_allowed", &hooks.not_allowed},
                {"dispatch", &hooks.dispatch},
                {"iterate", &hooks.iterate},
                {"opens", &hooks.opens},
                {"take_apart", &hooks.take_apart},
                {"op_failed", &hooks.op_failed},
                {"composite", &hooks.composite},
                {"put_together", &hooks.put_together},
                {"variable_again", &hooks.variable_again},
                {"parameters", &hooks.parameters},
                {"read_signature", &hooks.read_signature},
                {"fit_signature", &hooks.fit_signature},
                {"converted", &hooks.converted},
                {"translated", &hooks.translated},
                {"weakly", &hooks.weakly},
                {"flat_result", &hooks.flat_result},
                {"retraces", &hooks.retraces},
                {"concrete_arguments", &hooks.concrete_arguments},
                {"operation_class", &hooks.operation_class}};
    PyObject *name, *value;
    Py_ssize_t at = 0;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        size_t k = 0, n = sizeof slot / sizeof *slot;
        while (k < n && PyUnicode_CompareWithASCIIString(name, slot[k].name) != 0) k++;
        if (k == n) return PyErr_Format(PyExc_TypeError, "there is no hook %R", name);
        Py_XSETREF(*slot[k].at, Py_NewRef(value));
    }
    Py_RETURN_NONE;
}

static PyObject *core_register_dtypes(PyObject *module, PyObject *dict) {
    (void)module;
    PyObject *k, *v;
    Py_ssize_t at = 0;
    if (!PyDict_Check(dict)) return PyErr_Format(PyExc_TypeError, "register_dtypes takes a dict");
    while (PyDict_Next(dict, &at, &k, &v)) {
        long n = PyLong_AsLong(k);
        if (n == -1 && PyErr_Occurred()) return NULL;
        if (n > 0 && n < EF_DTYPES) Py_XSETREF(hooks.dtype[n], Py_NewRef(v));
    }
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"convert", (PyCFunction)(void (*)(void))core_convert, METH_FASTCALL | METH_KEYWORDS,
     "Converts any value to a Tensor."},
    {"set_package", set_package, METH_O, "Sets the folder whose frames are not the user's code."},
    {"set_launcher", set_launcher, METH_O, "Sets the script whose frames are not the user's code."},
    {"is_tensor", (PyCFunction)(void (*)(void))core_is_tensor, METH_FASTCALL | METH_KEYWORDS,
     "is_tensor($module, x)\n--\n\n"
     "Whether `x` is a tensor, a variable, or a composite tensor such as a RaggedTensor.\n\n"
     "Args:\n    x: Any Python object.\n\n"
     "Example:\n\n>>> tf.is_tensor(tf.constant(1)), tf.is_tensor(1)\n(True, False)"},
    {"is_symbolic", core_is_symbolic, METH_O, "Whether it is a tensor of a graph."},
    {"register", (PyCFunction)(void (*)(void))core_register, METH_VARARGS | METH_KEYWORDS,
     "Registers the functions and classes of Python that the C part uses."},
    {"register_dtypes", core_register_dtypes, METH_O, "Registers DType objects by number."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT,
                                        .m_name = "evenflow._core",
                                        .m_doc = "The C part of evenflow.",
                                        .m_size = -1,
                                        .m_methods = functions};

PyMODINIT_FUNC PyInit__core(void) {
    PyObject *m = PyModule_Create(&definition);
    if (m == NULL) return NULL;
    blocking_init();
    if (array_init() < 0 || dtype_init(m) < 0 || shape_init(m) < 0 || name_scope_init(m) < 0 ||
        front_init(m) < 0 || tensor_init(m) < 0 || op_init(m) < 0 || number_init() < 0 ||
        index_init() < 0 || graph_init(m) < 0 || known_init(m) < 0 || variable_init(m) < 0 ||
        tape_init(m) < 0 || callback_init(m) < 0 || function_init(m) < 0 || session_init(m) < 0 ||
        record_init(m) < 0 || settings_init(m) < 0 || devices_init(m) < 0 || describe_init(m) < 0 ||
        profile_init(m) < 0 || interrupt_init() < 0 ||
        PyModule_AddStringConstant(m, "version", ef_version()) < 0) {
        Py_DECREF(m);
        if (!PyErr_Occurred()) PyErr_SetString(PyExc_ImportError, "evenflow._core could not start");
        return NULL;
    }
    return m;
}
