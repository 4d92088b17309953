/* Operators. Two eager tensors go straight to the op. Otherwise the other operand is converted to
 * the tensor's dtype; an object of a foreign class that defines the reflected operator, such as
 * __radd__, is left to it. */
#include "profile.h"

static const ef_op *op_add, *op_join, *op_sub, *op_mul, *op_floordiv, *op_mod, *op_real, *op_pow,
    *op_neg, *op_and, *op_or, *op_not, *op_bit_and, *op_bit_or, *op_bit_xor, *op_invert, *op_less,
    *op_less_equal, *op_greater, *op_greater_equal, *op_abs, *op_complex_abs, *op_cast, *op_equal,
    *op_not_equal;
static const ef_attrs *as_f32, *as_f64, *as_i32, *as_bool, *abs_f64, *lenient_equal,
    *lenient_not_equal;

/* Whether an operand of a foreign class defines the reflected operator: then that is called, and
 * the operand is not converted. Types do not count: their __ror__ makes a union (int | str). */
static int knows_better(PyObject *o, const char *reverse) {
    if (reverse == NULL || PyLong_Check(o) || PyFloat_Check(o) || is_array(o) || PyList_Check(o) ||
        PyTuple_Check(o) || PyComplex_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o) ||
        PyAnySet_Check(o) || PyDict_Check(o) || PyType_Check(o) || IS_VARIABLE(o) || IS_TENSOR(o))
        return 0;
    return attr_has(o, reverse) && !attr_has((PyObject *)Py_TYPE(o), "__tf_tensor__") ? 1 : 0;
}

typedef PyObject *pair_fn(const ef_tensor *x, const ef_tensor *y);
static pair_fn divide;

/* The name that TensorFlow gives the node of an operator. */
static const char *kind_of(const ef_op *op) {
    const struct {
        const ef_op *op;
        const char *kind;
    } operators[] = {{op_add, "add"}, {op_join, "add"},     {op_sub, "sub"},
                     {op_mul, "mul"}, {op_real, "truediv"}, {op_floordiv, "floordiv"},
                     {op_mod, "mod"}, {op_pow, "pow"},      {op_and, "and"},
                     {op_or, "or"},   {op_not_equal, "xor"}};
    for (size_t k = 0; k < sizeof operators / sizeof *operators; k++)
        if (operators[k].op == op) return operators[k].kind;
    return ef_op_describe(op)->name;
}

/* While a graph is being built: TypeError unless the op accepts x's dtype. */
static int check_types(const ef_op *op, const ef_tensor *x) {
    const ef_op_desc *d = ef_op_describe(op);
    for (int k = 0; k < d->n_attrs; k++)
        if (d->attr[k].inferred && d->attr[k].kind == EF_ATTR_TYPE &&
            check_type("x", &d->attr[k], x) < 0)
            return -1;
    return 0;
}

static PyObject *no_match(const ef_op *op, const ef_tensor *y, const ef_tensor *x) {
    return PyErr_Format(PyExc_TypeError,
                        "Input 'y' of '%s' Op has type %s that does not match type %s of "
                        "argument 'x'.",
                        ef_op_describe(op)->name, ef_dtype_name((ef_dtype)y->dtype),
                        ef_dtype_name((ef_dtype)x->dtype));
}

static PyObject *run_pair(const ef_op *op, const ef_tensor *x, const ef_tensor *y) {
    const ef_tensor *in[2] = {x, y};
    if (op == op_add && x->dtype == EF_STRING) op = op_join;
    if (recording()) {
        if (x->dtype != y->dtype) return no_match(op, y, x);
        if (check_types(op, x) < 0 || name_node(NULL, kind_of(op)) < 0) return NULL;
    }
    return op_run1(op, NULL, in, 2);
}

static PyObject *reversed(PyObject *a, PyObject *b, const char *reverse) {
    PyObject *x = convert(a, EF_NO_DTYPE, MUST); /* a variable becomes its value */
    PyObject *r = x != NULL ? attr_call(b, reverse, x) : NULL;
    Py_XDECREF(x);
    return r;
}

/* The operator failed with a TypeError or ValueError; tries the reflected operator of b's class,
 * which may be able to do it: numpy divides bool by bool, and a list is repeated by an integer
 * scalar. If that fails in the same way, the first exception is raised. */
static PyObject *ask_other(PyObject *a, PyObject *b, const char *reverse) {
    if (reverse == NULL || IS_TENSOR(b) || IS_VARIABLE(b) ||
        !(PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError)))
        return NULL;
    PyObject *type, *error, *trace, *r = NULL;
    PyErr_Fetch(&type, &error, &trace);
    if (attr_has((PyObject *)Py_TYPE(b), reverse)) r = reversed(a, b, reverse);
    if (r == Py_NotImplemented) Py_CLEAR(r);
    bool other = PyErr_Occurred() != NULL && !PyErr_ExceptionMatches(PyExc_TypeError) &&
                 !PyErr_ExceptionMatches(PyExc_ValueError);
    if (r == NULL && !other) {
        PyErr_Restore(type, error, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return r;
}

/* Converts the second operand to x's dtype. While a graph is being built, a value that can only
 * become a tensor of another dtype raises TensorFlow's TypeError about the two dtypes. */
static int second(const ef_op *op, const ef_tensor *x, PyObject *b, bool lenient, operand *y) {
    if (operand_from(b, (ef_dtype)x->dtype, lenient ? HINT : MUST, y) == 0) return 0;
    if (op == NULL || !recording() || !PyErr_ExceptionMatches(PyExc_ValueError) ||
        PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyErr_Clear();
    if (operand_from(b, EF_NO_DTYPE, MUST, y) < 0) return -1;
    no_match(op, y->t, x);
    operand_end(y);
    return -1;
}

typedef const ef_op *pick_fn(ef_dtype t);

/* An operator whose operands are not both eager tensors. It calls fn, or the op, which pick chooses
 * by the first operand's dtype unless pick is NULL. */
static PyObject *slow(PyObject *a, PyObject *b, const char *reverse, const ef_op *op, pick_fn *pick,
                      pair_fn *fn) {
    operand x, y;
    PyObject *r = NULL;
    if (knows_better(b, reverse)) Py_RETURN_NOTIMPLEMENTED;
    bool led = IS_TENSOR(a) || IS_VARIABLE(a), lenient = op == NULL ? fn == divide : op == op_add;
    if (operand_from(a, led ? EF_NO_DTYPE : own_dtype(b), MUST, &x) < 0)
        return ask_other(a, b, reverse);
    if (pick != NULL) op = pick((ef_dtype)x.t->dtype);
    /* While a graph is being built, TensorFlow converts the second operand only if the op accepts
     * the first. */
    bool taken = lenient || op == NULL || !recording() || check_types(op, x.t) == 0;
    if (taken && second(op, x.t, b, lenient, &y) == 0) {
        sample s = {0};
        if (!led || !IS_TENSOR(b)) s = sample_take();
        if (s.weight > 0 && !recording() && (PyFloat_Check(b) || PyLong_Check(b)))
            sample_end(&s, EF_EVENT_SCALAR, 0, NULL, 0, 0);
        r = fn != NULL ? fn(x.t, y.t) : run_pair(op, x.t, y.t);
        operand_end(&y);
    }
    operand_end(&x);
    return r != NULL ? r : ask_other(a, b, reverse);
}

#define EAGER_PAIR(a, b) (IS_EAGER(a) && IS_EAGER(b) && !recording())
#define T(o) (&((tensor_object *)(o))->t)

#define PLAIN(NAME, OP, REVERSE)                      \
    static PyObject *NAME(PyObject *a, PyObject *b) { \
        if (EAGER_PAIR(a, b)) {                       \
            const ef_tensor *in[2] = {T(a), T(b)};    \
            return op_run1(OP, NULL, in, 2);          \
        }                                             \
        return slow(a, b, REVERSE, OP, NULL, NULL);   \
    }
static PyObject *tensor_add(PyObject *a, PyObject *b) {
    if (EAGER_PAIR(a, b)) {
        const ef_tensor *in[2] = {T(a), T(b)};
        return op_run1(T(a)->dtype == EF_STRING ? op_join : op_add, NULL, in, 2);
    }
    return slow(a, b, "__radd__", op_add, NULL, NULL);
}
PLAIN(tensor_sub, op_sub, "__rsub__")
PLAIN(tensor_mod, op_mod, "__rmod__")
PLAIN(tensor_floordiv, op_floordiv, "__rfloordiv__")

/* ---- division: integers become floats first -------------------------------------------------- */

static const ef_attrs *division_cast(ef_dtype t) {
    switch (t) {
    case EF_I8:
    case EF_U8:
    case EF_I16:
    case EF_U16: return as_f32;
    case EF_I32:
    case EF_I64:
    case EF_U32:
    case EF_U64: return as_f64;
    default: return NULL;
    }
}

static PyObject *cast(const ef_tensor *x, const ef_attrs *to) {
    return op_run1(op_cast, to, &x, 1);
}

static PyObject *divide(const ef_tensor *x, const ef_tensor *y) {
    const ef_attrs *to = division_cast((ef_dtype)x->dtype);
    if (x->dtype != y->dtype)
        return PyErr_Format(PyExc_TypeError,
                            "`x` and `y` must have the same dtype, got tf.%s != tf.%s.",
                            ef_dtype_name((ef_dtype)x->dtype), ef_dtype_name((ef_dtype)y->dtype));
    if (x->dtype == EF_BOOL || x->dtype == EF_STRING)
        return PyErr_Format(PyExc_TypeError,
                            "Invalid dtype tf.%s in __truediv__: only numbers can be divided.",
                            ef_dtype_name((ef_dtype)x->dtype));
    if (to == NULL) return run_pair(op_real, x, y);
    PyObject *a = cast(x, to), *b = a != NULL ? cast(y, to) : NULL;
    PyObject *r = b != NULL ? run_pair(op_real, T(a), T(b)) : NULL;
    Py_XDECREF(a);
    Py_XDECREF(b);
    return r;
}

static PyObject *tensor_div(PyObject *a, PyObject *b) {
    if (EAGER_PAIR(a, b)) return divide(T(a), T(b));
    return slow(a, b, "__rtruediv__", NULL, NULL, divide);
}

/* ---- multiplication: the product of booleans is a boolean ------------------------------------ */

static PyObject *multiply_bools(PyObject *x, PyObject *y) {
    operand a, b; /* the other operand is not converted to bool: True * 2 is True */
    bool led = IS_TENSOR(x) || IS_VARIABLE(x);
    if (operand_from(x, led ? EF_NO_DTYPE : EF_BOOL, MUST, &a) < 0) return NULL;
    if (operand_from(y, EF_NO_DTYPE, MUST, &b) < 0) {
        operand_end(&a);
        return NULL;
    }
    PyObject *i = cast(a.t, as_i32), *j = i != NULL ? cast(b.t, as_i32) : NULL;
    PyObject *product = j != NULL ? run_pair(op_mul, T(i), T(j)) : NULL;
    PyObject *r = product != NULL ? cast(T(product), as_bool) : NULL;
    operand_end(&a);
    operand_end(&b);
    Py_XDECREF(i);
    Py_XDECREF(j);
    Py_XDECREF(product);
    return r;
}

static PyObject *tensor_mul(PyObject *a, PyObject *b) {
    if (EAGER_PAIR(a, b) && T(a)->dtype != EF_BOOL && T(b)->dtype != EF_BOOL) {
        const ef_tensor *in[2] = {T(a), T(b)};
        return op_run1(op_mul, NULL, in, 2);
    }
    bool led = IS_TENSOR(a) || IS_VARIABLE(a); /* else this is b's reflected operator */
    if ((led && own_dtype(a) == EF_BOOL) ||
        ((IS_TENSOR(b) || (!led && IS_VARIABLE(b))) && own_dtype(b) == EF_BOOL)) {
        if (knows_better(b, "__rmul__")) Py_RETURN_NOTIMPLEMENTED;
        PyObject *r = multiply_bools(a, b);
        return r != NULL ? r : ask_other(a, b, "__rmul__");
    }
    return slow(a, b, "__rmul__", op_mul, NULL, NULL);
}

/* ---- logic: booleans and integers take different ops ----------------------------------------- */

#define LOGIC(NAME, OP, BITS, REVERSE)                                             \
    static const ef_op *NAME##_op(ef_dtype t) { return t == EF_BOOL ? OP : BITS; } \
    static PyObject *NAME(PyObject *a, PyObject *b) {                              \
        return slow(a, b, REVERSE, NULL, NAME##_op, NULL);                         \
    }
LOGIC(tensor_and, op_and, op_bit_and, "__rand__")
LOGIC(tensor_or, op_or, op_bit_or, "__ror__")
LOGIC(tensor_xor, op_not_equal, op_bit_xor, "__rxor__")

static PyObject *run_one(const ef_op *op, const ef_attrs *attrs, PyObject *a) {
    const ef_tensor *x = T(a);
    if (recording() && (check_types(op, x) < 0 || name_node(NULL, kind_of(op)) < 0)) return NULL;
    return op_run1(op, attrs, &x, 1);
}

static PyObject *tensor_invert(PyObject *a) {
    return run_one(T(a)->dtype == EF_BOOL ? op_not : op_invert, NULL, a);
}
static PyObject *tensor_neg(PyObject *a) { return run_one(op_neg, NULL, a); }
static PyObject *tensor_abs(PyObject *a) {
    if (T(a)->dtype == EF_C64) return run_one(op_complex_abs, NULL, a);
    if (T(a)->dtype == EF_C128) return run_one(op_complex_abs, abs_f64, a);
    return run_one(op_abs, NULL, a);
}
static PyObject *tensor_pow(PyObject *a, PyObject *b, PyObject *mod) {
    if (mod != Py_None) return PyErr_Format(PyExc_TypeError, "pow() of a tensor takes no modulus");
    return slow(a, b, "__rpow__", op_pow, NULL, NULL);
}

/* ---- operators whose arguments Python prepares ----------------------------------------------- */

static PyObject *hooked(PyObject *hook, PyObject *a, PyObject *b, const char *reverse) {
    if (knows_better(b, reverse)) Py_RETURN_NOTIMPLEMENTED;
    PyObject *r = PyObject_CallFunctionObjArgs(hook, a, b, NULL);
    return r != NULL ? r : ask_other(a, b, reverse);
}
static PyObject *tensor_matmul(PyObject *a, PyObject *b) {
    return hooked(hooks.matmul, a, b, "__rmatmul__");
}
/* ---- comparison ------------------------------------------------------------------------------ */

/* Whether a tensor belongs to a graph that is not the body of a function. Such tensors are equal
 * only if they are identical, as in TensorFlow 1, so that they can be keys of a feed_dict. */
static bool in_plain_graph(PyObject *o) {
    return IS_SYMBOLIC(o) && !ef_graph_is_function(ef_tensor_graph(T(o), NULL, NULL));
}

static PyObject *compare_equal(PyObject *a, PyObject *b, int equal) {
    if (b == Py_None) return PyBool_FromLong(!equal);
    if (in_plain_graph(a) || in_plain_graph(b)) {
        int node[2] = {0}, index[2] = {0};
        bool same = IS_SYMBOLIC(a) && IS_SYMBOLIC(b) &&
                    ef_tensor_graph(T(a), &node[0], &index[0]) ==
                        ef_tensor_graph(T(b), &node[1], &index[1]) &&
                    node[0] == node[1] && index[0] == index[1];
        return PyBool_FromLong(same == (equal != 0));
    }
    if (EAGER_PAIR(a, b) && T(a)->dtype == T(b)->dtype) {
        const ef_tensor *in[2] = {T(a), T(b)};
        return op_run1(equal ? op_equal : op_not_equal, equal ? lenient_equal : lenient_not_equal,
                       in, 2);
    }
    return hooked(equal ? hooks.equal : hooks.not_equal, a, b, NULL);
}

PyObject *tensor_compare(PyObject *a, PyObject *b, int how) {
    const ef_op *op = NULL;
    switch (how) {
    case Py_EQ: return compare_equal(a, b, 1);
    case Py_NE: return compare_equal(a, b, 0);
    case Py_LT: op = op_less; break;
    case Py_LE: op = op_less_equal; break;
    case Py_GT: op = op_greater; break;
    default: op = op_greater_equal; break;
    }
    if (EAGER_PAIR(a, b)) {
        const ef_tensor *in[2] = {T(a), T(b)};
        return op_run1(op, NULL, in, 2);
    }
    return slow(a, b, NULL, op, NULL, NULL);
}

PyType_Slot number_slots[] = {{Py_nb_add, tensor_add},
                              {Py_nb_subtract, tensor_sub},
                              {Py_nb_multiply, tensor_mul},
                              {Py_nb_remainder, tensor_mod},
                              {Py_nb_floor_divide, tensor_floordiv},
                              {Py_nb_true_divide, tensor_div},
                              {Py_nb_power, tensor_pow},
                              {Py_nb_matrix_multiply, tensor_matmul},
                              {Py_nb_and, tensor_and},
                              {Py_nb_or, tensor_or},
                              {Py_nb_xor, tensor_xor},
                              {Py_nb_invert, tensor_invert},
                              {Py_nb_negative, tensor_neg},
                              {Py_nb_absolute, tensor_abs},
                              {0, NULL}};

static int find(const ef_op **op, const char *name) {
    *op = ef_op_find(name);
    if (*op == NULL) PyErr_Format(PyExc_ImportError, "the engine has no op %s", name);
    return *op == NULL ? -1 : 0;
}

int number_init(void) {
    static const struct {
        const ef_op **at;
        const char *name;
    } wanted[] = {{&op_add, "AddV2"},
                  {&op_join, "Add"}, /* strings */
                  {&op_sub, "Sub"},
                  {&op_mul, "Mul"},
                  {&op_floordiv, "FloorDiv"},
                  {&op_mod, "FloorMod"},
                  {&op_real, "RealDiv"},
                  {&op_pow, "Pow"},
                  {&op_neg, "Neg"},
                  {&op_and, "LogicalAnd"},
                  {&op_or, "LogicalOr"},
                  {&op_not, "LogicalNot"},
                  {&op_bit_and, "BitwiseAnd"},
                  {&op_bit_or, "BitwiseOr"},
                  {&op_bit_xor, "BitwiseXor"},
                  {&op_invert, "Invert"},
                  {&op_less, "Less"},
                  {&op_less_equal, "LessEqual"},
                  {&op_greater, "Greater"},
                  {&op_greater_equal, "GreaterEqual"},
                  {&op_abs, "Abs"},
                  {&op_complex_abs, "ComplexAbs"},
                  {&op_cast, "Cast"},
                  {&op_equal, "Equal"},
                  {&op_not_equal, "NotEqual"}};
    for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
        if (find(wanted[k].at, wanted[k].name) < 0) return -1;
    ef_attr_value f32[] = {EF_SET_TYPE("DstT", EF_F32)}, f64[] = {EF_SET_TYPE("DstT", EF_F64)},
                  i32[] = {EF_SET_TYPE("DstT", EF_I32)}, truth[] = {EF_SET_TYPE("DstT", EF_BOOL)},
                  wide[] = {EF_SET_TYPE("Tout", EF_F64)},
                  lenient[] = {EF_SET_BOOL("incompatible_shape_error", false)};
    return check(ef_attrs_make(op_cast, f32, 1, &as_f32), NULL) |
           check(ef_attrs_make(op_cast, f64, 1, &as_f64), NULL) |
           check(ef_attrs_make(op_cast, i32, 1, &as_i32), NULL) |
           check(ef_attrs_make(op_cast, truth, 1, &as_bool), NULL) |
           check(ef_attrs_make(op_complex_abs, wide, 1, &abs_f64), NULL) |
           check(ef_attrs_make(op_equal, lenient, 1, &lenient_equal), NULL) |
           check(ef_attrs_make(op_not_equal, lenient, 1, &lenient_not_equal), NULL);
}
