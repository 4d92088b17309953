/* The base class of tf.Graph. There is at most one Python object per engine graph, and it is found
 * again by the graph's address while it lives. Python creates Operation objects on request. */
#include "profile.h"
#include <structmember.h>

PyTypeObject *graph_type;
static PyObject *known; /* address of the engine's graph -> address of its object */

/* ---- names ----------------------------------------------------------------------------------- */

static _Thread_local char *scope; /* "outer/inner/", or NULL */

static int growing; /* how many graphs free their unreferenced nodes */
static void graph_trim(ef_graph *g);

static int n_final; /* how many graphs are finalized */
static int refuse_final(ef_graph *g);

void graph_gained(const ef_tensor *t) {
    if (growing > 0 && ef_graph_current() == NULL) graph_trim(ef_tensor_graph(t, NULL, NULL));
}

void graph_grows(void) {
    ef_graph *g = growing > 0 ? ef_graph_current() : NULL;
    if (g != NULL) graph_trim(g);
}

int name_node(PyObject *name, const char *kind) {
    ef_graph *g = ef_graph_current();
    if (growing > 0 && g != NULL) graph_trim(g);
    if (n_final > 0 && g != NULL && refuse_final(g) < 0) return -1;
    if (g == NULL) return 0;
    if (name != NULL && PyBytes_Check(name)) {
        PyObject *text = PyUnicode_FromEncodedObject(name, "utf-8", NULL);
        int bad = text != NULL ? name_node(text, kind) : -1;
        Py_XDECREF(text);
        return bad;
    }
    if (scope == NULL && (name == NULL || name == Py_None)) {
        ef_graph_kind_next(kind);
        return 0;
    }
    const char *own = kind;
    if (name != NULL && name != Py_None) {
        if ((own = PyUnicode_AsUTF8(name)) == NULL) return -1;
    }
    size_t n = strlen(own);
    if (n > 0 && own[n - 1] == '/') { /* "a/b/" is a full name: the current scope is ignored */
        char *full = PyMem_Malloc(n);
        if (full == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memcpy(full, own, n - 1);
        full[n - 1] = '\0';
        int bad = check(ef_graph_name_next(g, full), kind);
        PyMem_Free(full);
        return bad;
    }
    if (n == 0) return 0;
    if (scope == NULL) return check(ef_graph_name_next(g, own), kind);
    size_t room = strlen(scope) + n + 1;
    char *full = PyMem_Malloc(room);
    if (full == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    snprintf(full, room, "%s%s", scope, own);
    int bad = check(ef_graph_name_next(g, full), kind);
    PyMem_Free(full);
    return bad;
}

static PyObject *core_current_scope(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyUnicode_FromString(scope != NULL ? scope : "");
}

/* set_scope(text) -> the previous scope */
static PyObject *core_set_scope(PyObject *module, PyObject *text) {
    (void)module;
    PyObject *before = PyUnicode_FromString(scope != NULL ? scope : "");
    const char *s = before != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (s == NULL) {
        Py_XDECREF(before);
        return NULL;
    }
    char *next = NULL;
    if (s[0] != '\0') {
        size_t n = strlen(s) + 1;
        if ((next = PyMem_RawMalloc(n)) == NULL) {
            Py_DECREF(before);
            return PyErr_NoMemory();
        }
        memcpy(next, s, n);
    }
    PyMem_RawFree(scope);
    scope = next;
    return before;
}

/* ---- objects --------------------------------------------------------------------------------- */

static int remember(graph_object *o) {
    PyObject *key = PyLong_FromVoidPtr(o->g), *value = PyLong_FromVoidPtr(o);
    int bad = key != NULL && value != NULL ? PyDict_SetItem(known, key, value) : -1;
    if (bad == 0) o->key = Py_NewRef(key);
    Py_XDECREF(key);
    Py_XDECREF(value);
    return bad;
}

/* Removes an object that is about to be freed from the table. This works without allocating, as
 * memory may be exhausted, and it keeps an exception that is set. */
static void forget(graph_object *o) {
    PyObject *type, *value, *trace;
    if (o->key == NULL) return;
    PyErr_Fetch(&type, &value, &trace);
    if (PyDict_DelItem(known, o->key) < 0) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_CLEAR(o->key);
}

static ef_graph *adopted; /* the graph that the next object wraps; NULL: it creates a new one */

static PyObject *graph_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    graph_object *o = (graph_object *)type->tp_alloc(type, 0);
    if (o == NULL) return NULL;
    o->ops = PyDict_New();
    o->g = adopted != NULL ? ef_graph_hold(adopted) : ef_graph_new();
    adopted = NULL;
    if (o->g == NULL || o->ops == NULL || remember(o) < 0) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        Py_DECREF(o);
        return NULL;
    }
    return (PyObject *)o;
}

static PyObject *find_known(ef_graph *g) {
    PyObject *key = PyLong_FromVoidPtr(g);
    PyObject *at = key != NULL ? PyDict_GetItemWithError(known, key) : NULL;
    Py_XDECREF(key);
    return at != NULL ? Py_NewRef((PyObject *)PyLong_AsVoidPtr(at)) : NULL;
}

PyObject *graph_wrap(ef_graph *g) {
    PyObject *o = find_known(g);
    if (o != NULL || PyErr_Occurred()) return o;
    PyObject *name = function_graph_name(g);
    adopted = g;
    PyObject *around = attr_get(hooks.graph_class, "_around");
    if (around != NULL)
        o = PyObject_CallFunctionObjArgs(around, name != NULL ? name : Py_None,
                                         ef_graph_is_function(g) ? Py_True : Py_False, NULL);
    Py_XDECREF(around);
    adopted = NULL;
    if (o != NULL) function_graph_wrapped(g, o);
    return o;
}

static void graph_dealloc(PyObject *self) {
    graph_object *o = (graph_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (o->weak != NULL) PyObject_ClearWeakRefs(self);
    if (o->trims) growing--;
    if (o->final) n_final--;
    forget(o);
    if (o->g != NULL) ef_graph_free(o->g);
    Py_CLEAR(o->dict);
    Py_CLEAR(o->ops);
    type->tp_free(self);
    Py_DECREF(type);
}

static int graph_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((graph_object *)self)->dict);
    Py_VISIT(((graph_object *)self)->ops);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int graph_clear(PyObject *self) {
    Py_CLEAR(((graph_object *)self)->dict);
    Py_CLEAR(((graph_object *)self)->ops);
    return 0;
}

/* ---- graphs that grow while they are run
 * A loop that adds ops to a graph and runs them makes it grow without bound. Once 16 runs each
 * found the graph larger than before, nodes added later are freed when no tensor or Operation
 * object leads to them. A graph that is built first and run afterwards keeps all its nodes. */
enum { GROWTHS = 16 };

void graph_run_begins(graph_object *o) {
    uint64_t version = ef_graph_version(o->g);
    if (version == o->version) return;
    if (o->version != 0)
        ef_event_post(&(ef_event_new){.kind = EF_EVENT_NODE,
                                      .place = profile_node(o->g, ef_graph_last(o->g)),
                                      .nowhere = true,
                                      .weight = (uint32_t)(version - o->version),
                                      .value = {ef_graph_nodes(o->g)}});
    o->version = version;
    if (o->trims || ++o->growths < GROWTHS) return;
    ef_graph_set_trims(o->g);
    o->trims = 1;
    growing++;
}

static bool keep_operation(void *user, int node) {
    PyObject *ops = user, *key = PyLong_FromLong(node);
    PyObject *found = key != NULL ? PyDict_GetItemWithError(ops, key) : NULL;
    bool keep = key == NULL || (found != NULL && Py_REFCNT(found) > 1);
    if (found != NULL && !keep) keep = PyDict_DelItem(ops, key) < 0;
    Py_XDECREF(key);
    PyErr_Clear();
    return keep;
}

static void graph_trim(ef_graph *g) {
    graph_object *o = (graph_object *)find_known(g);
    if (o == NULL) {
        PyErr_Clear();
        return;
    }
    if (o->trims && o->running == 0) ef_graph_forget(g, 1 + o->sessions, keep_operation, o->ops);
    Py_DECREF(o);
}

/* ---- building -------------------------------------------------------------------------------- */
#define G(self) (((graph_object *)(self))->g)

static PyObject *none_or(ef_status *s) {
    if (s != NULL) return raise_status(s, NULL);
    Py_RETURN_NONE;
}

static PyObject *graph_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    return none_or(ef_graph_enter(G(self)));
}
static PyObject *graph_leave(PyObject *self, PyObject *unused) {
    (void)unused;
    return none_or(ef_graph_leave(G(self)));
}

static int refuse_final(ef_graph *g) {
    PyObject *o = find_known(g);
    int final = o != NULL && ((graph_object *)o)->final;
    Py_XDECREF(o);
    if (final) PyErr_SetString(PyExc_RuntimeError, "Graph is finalized and cannot be modified.");
    return PyErr_Occurred() ? -1 : 0;
}

static PyObject *graph_finalize(PyObject *self, PyObject *unused) {
    (void)unused;
    graph_object *o = (graph_object *)self;
    if (!o->final) n_final++;
    o->final = 1;
    Py_RETURN_NONE;
}

static PyObject *graph_unfinalize(PyObject *self, PyObject *unused) {
    (void)unused;
    graph_object *o = (graph_object *)self;
    if (o->final) n_final--;
    o->final = 0;
    Py_RETURN_NONE;
}

static PyObject *graph_placeholder(PyObject *self, PyObject *args) {
    PyObject *dtype, *shape = Py_None;
    const char *name = NULL;
    if (n_final > 0 && refuse_final(G(self)) < 0) return NULL;
    if (!PyArg_ParseTuple(args, "O|Oz", &dtype, &shape, &name)) return NULL;
    ef_dtype t = dtype_of(dtype);
    ef_shape s;
    if (t == EF_NO_DTYPE || shape_from(shape, &s) < 0) return NULL;
    ef_tensor out = {0};
    if (check(ef_graph_placeholder(G(self), t, &s, name, &out), "Placeholder") < 0) return NULL;
    return tensor_wrap(&out);
}

/* A placeholder that has the shape of another tensor in every call. */
static PyObject *graph_placeholder_like(PyObject *self, PyObject *like) {
    if (n_final > 0 && refuse_final(G(self)) < 0) return NULL;
    if (!IS_TENSOR(like)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", like);
    ef_tensor out = {0};
    if (check(ef_graph_placeholder_like(G(self), &((tensor_object *)like)->t, &out),
              "Placeholder") < 0)
        return NULL;
    return tensor_wrap(&out);
}

/* Copies of the tensors of a Python list, to be freed with tensors_end. NULL: raised. */
static ef_tensor *tensors_of(PyObject *list, int *n) {
    PyObject *fast = PySequence_Fast(list, "a list of tensors");
    if (fast == NULL) return NULL;
    *n = (int)PySequence_Fast_GET_SIZE(fast);
    ef_tensor *t = PyMem_Calloc((size_t)*n + 1, sizeof *t);
    for (int k = 0; t != NULL && k < *n; k++) {
        PyObject *o = PySequence_Fast_GET_ITEM(fast, k);
        if (!IS_TENSOR(o)) {
            PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
            while (k > 0) ef_tensor_release(&t[--k]);
            PyMem_Free(t);
            t = NULL;
            break;
        }
        ef_tensor_copy(&t[k], &((tensor_object *)o)->t);
    }
    Py_DECREF(fast);
    if (t == NULL && !PyErr_Occurred()) PyErr_NoMemory();
    return t;
}

static void tensors_end(ef_tensor *t, int n) {
    for (int k = 0; t != NULL && k < n; k++) ef_tensor_release(&t[k]);
    PyMem_Free(t);
}

static PyObject *graph_finish(PyObject *self, PyObject *args) {
    PyObject *ins, *outs;
    int n_in = 0, n_out = 0;
    if (!PyArg_ParseTuple(args, "OO", &ins, &outs)) return NULL;
    ef_tensor *in = tensors_of(ins, &n_in), *out = in != NULL ? tensors_of(outs, &n_out) : NULL;
    PyObject *r = out != NULL ? none_or(ef_graph_finish(G(self), in, n_in, out, n_out)) : NULL;
    tensors_end(in, n_in);
    tensors_end(out, n_out);
    return r;
}

static PyObject *graph_captures(PyObject *self, PyObject *unused) {
    (void)unused;
    int n = ef_graph_captures(G(self));
    PyObject *list = PyList_New(n);
    for (int k = 0; list != NULL && k < n; k++) {
        ef_tensor t = {0};
        PyObject *o = NULL;
        if (check(ef_graph_capture(G(self), k, &t), NULL) == 0) o = tensor_wrap(&t);
        if (o == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}

static PyObject *graph_set_function(PyObject *self, PyObject *on) {
    ef_graph_set_function(G(self), PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
}

/* _fetched() -> the finished function without what no output depends on */
static PyObject *graph_fetched(PyObject *self, PyObject *unused) {
    (void)unused;
    ef_graph *made = NULL;
    if (check(ef_graph_fetched(G(self), &made), NULL) != 0) return NULL;
    PyObject *o = graph_wrap(made);
    ef_graph_free(made);
    return o;
}

/* _after(nodes): new nodes get these control inputs -> the previous list */
static PyObject *graph_after(PyObject *self, PyObject *nodes) {
    const int *before;
    int n = ef_graph_after_get(G(self), &before);
    PyObject *old = PyList_New(n), *fast = PySequence_Fast(nodes, "a list of nodes");
    for (int k = 0; old != NULL && k < n; k++) PyList_SET_ITEM(old, k, PyLong_FromLong(before[k]));
    Py_ssize_t m = fast != NULL ? PySequence_Fast_GET_SIZE(fast) : 0;
    int *now = PyMem_Malloc(((size_t)m + 1) * sizeof *now);
    for (Py_ssize_t k = 0; now != NULL && k < m; k++)
        now[k] = (int)PyLong_AsLong(PySequence_Fast_GET_ITEM(fast, k));
    if (now == NULL && !PyErr_Occurred()) PyErr_NoMemory();
    if (old == NULL || fast == NULL || now == NULL || PyErr_Occurred() ||
        check(ef_graph_after_set(G(self), now, (int)m), NULL) < 0)
        Py_CLEAR(old);
    PyMem_Free(now);
    Py_XDECREF(fast);
    return old;
}

static PyObject *graph_import(PyObject *self, PyObject *o) {
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_tensor t = {0};
    if (check(ef_graph_import_tensor(G(self), &((tensor_object *)o)->t, &t), NULL) < 0) return NULL;
    return tensor_wrap(&t);
}

static PyObject *graph_call(PyObject *self, PyObject *args) {
    int n = 0, max = ef_graph_outputs(G(self)), made = 0;
    const ef_tensor **in = tensor_pointers(args, false, &n);
    ef_tensor *out = in != NULL ? PyMem_Calloc((size_t)max + 1, sizeof *out) : NULL;
    PyObject *r = NULL;
    if (in != NULL && out == NULL) PyErr_NoMemory();
    if (out != NULL && check(ef_graph_call(G(self), in, n, out, max, &made), "call") == 0)
        r = tensor_list(out, made);
    PyMem_Free(in);
    PyMem_Free(out);
    return r;
}

/* _part(inputs, outputs) -> (subgraph as a function, the other tensors it depends on) */
static PyObject *graph_part(PyObject *self, PyObject *args) {
    PyObject *ins, *outs, *r = NULL;
    if (!PyArg_ParseTuple(args, "OO", &ins, &outs)) return NULL;
    int n_in = 0, n_out = 0, n_more = 0;
    const ef_tensor **in = tensor_pointers(ins, false, &n_in);
    const ef_tensor **out = in != NULL ? tensor_pointers(outs, false, &n_out) : NULL;
    ef_graph *part = NULL;
    ef_tensor *more = NULL;
    if (out != NULL &&
        check(ef_graph_part(G(self), in, n_in, out, n_out, &part, &more, &n_more), "part") == 0) {
        PyObject *graph = graph_wrap(part), *list = tensor_list_copy(more, n_more);
        if (graph != NULL && list != NULL) r = PyTuple_Pack(2, graph, list);
        Py_XDECREF(graph);
        Py_XDECREF(list);
        ef_graph_part_end(more, n_more);
        ef_graph_free(part);
    }
    PyMem_Free(in);
    PyMem_Free(out);
    return r;
}

/* ---- reading nodes --------------------------------------------------------------------------- */

static PyObject *graph_nodes(PyObject *self, PyObject *unused) {
    (void)unused;
    return PyLong_FromLong(ef_graph_nodes(G(self)));
}

/* (op, inputs, outputs, control inputs) of a node */
static PyObject *graph_node(PyObject *self, PyObject *number) {
    ef_node_desc d;
    int k = (int)PyLong_AsLong(number);
    if (PyErr_Occurred() || check(ef_graph_node(G(self), k, &d), NULL) < 0) return NULL;
    return Py_BuildValue("(siii)", ef_op_describe(d.op)->name, d.n_in, d.n_out, d.n_after);
}

/* [(file, line, function), ...]: the user's call stack where a node was made, outermost first */
static PyObject *graph_places(PyObject *self, PyObject *number) {
    ef_node_desc d;
    int k = (int)PyLong_AsLong(number);
    if (PyErr_Occurred() || check(ef_graph_node(G(self), k, &d), NULL) < 0) return NULL;
    return places_of(G(self), d.place);
}

static PyObject *graph_gone(PyObject *self, PyObject *number) { /* whether the node was freed */
    ef_node_desc d;
    int k = (int)PyLong_AsLong(number);
    if (PyErr_Occurred() || check(ef_graph_node(G(self), k, &d), NULL) < 0) return NULL;
    return PyBool_FromLong(d.gone);
}

static PyObject *graph_node_name(PyObject *self, PyObject *number) {
    const char *name;
    int k = (int)PyLong_AsLong(number);
    if (PyErr_Occurred() || check(ef_graph_node_name(G(self), k, &name), NULL) < 0) return NULL;
    return PyUnicode_FromString(name);
}

static PyObject *graph_rename(PyObject *self, PyObject *args) {
    int node;
    const char *name;
    if (!PyArg_ParseTuple(args, "is", &node, &name)) return NULL;
    return none_or(ef_graph_rename(G(self), node, name));
}

static PyObject *end_of(PyObject *self, PyObject *args,
                        ef_status *(*get)(ef_graph *, int, int, ef_tensor *)) {
    int node, k;
    ef_tensor t = {0};
    if (!PyArg_ParseTuple(args, "ii", &node, &k)) return NULL;
    if (check(get(G(self), node, k, &t), NULL) < 0) return NULL;
    return tensor_wrap(&t);
}
static PyObject *graph_node_input(PyObject *self, PyObject *args) {
    return end_of(self, args, ef_graph_node_in);
}
static PyObject *graph_node_output(PyObject *self, PyObject *args) {
    return end_of(self, args, ef_graph_node_out);
}

static PyObject *graph_node_control(PyObject *self, PyObject *args) {
    int node, k, at;
    if (!PyArg_ParseTuple(args, "ii", &node, &k)) return NULL;
    if (check(ef_graph_node_after(G(self), node, k, &at), NULL) < 0) return NULL;
    return PyLong_FromLong(at);
}

/* The numbers of the nodes that use an output of a node. */
static PyObject *graph_consumers(PyObject *self, PyObject *args) {
    int node, index;
    if (!PyArg_ParseTuple(args, "ii", &node, &index)) return NULL;
    PyObject *list = PyList_New(0);
    for (int k = -1; list != NULL && (k = ef_graph_consumer(G(self), node, index, k + 1)) >= 0;) {
        PyObject *number = PyLong_FromLong(k);
        if (number == NULL || PyList_Append(list, number) < 0) Py_CLEAR(list);
        Py_XDECREF(number);
    }
    return list;
}

static PyObject *graph_attr(PyObject *self, PyObject *args) {
    int node;
    const char *name;
    ef_node_desc d;
    ef_attr_value v;
    if (!PyArg_ParseTuple(args, "is", &node, &name)) return NULL;
    if (check(ef_graph_node(G(self), node, &d), NULL) < 0) return NULL;
    ef_status *s = ef_attrs_read(d.op, d.attrs, name, &v);
    if (s != NULL) {
        PyErr_SetString(PyExc_ValueError, ef_status_message(s));
        ef_status_free(s);
        return NULL;
    }
    return attr_object(&v);
}

static PyObject *graph_find(PyObject *self, PyObject *name) {
    const char *text = PyUnicode_AsUTF8(name);
    return text == NULL ? NULL : PyLong_FromLong(ef_graph_find_node(G(self), text));
}

static PyObject *graph_text(PyObject *self, PyObject *unused) {
    (void)unused;
    char *text;
    if (check(ef_graph_print(G(self), &text), NULL) < 0) return NULL;
    PyObject *o = PyUnicode_FromString(text);
    ef_text_release(text);
    return o;
}

static PyObject *graph_ends(PyObject *self, int outputs) {
    int n = outputs ? ef_graph_outputs(G(self)) : ef_graph_inputs(G(self));
    PyObject *list = PyList_New(n);
    for (int k = 0; list != NULL && k < n; k++) {
        ef_tensor t = {0};
        PyObject *o = NULL;
        if (check(outputs ? ef_graph_output_at(G(self), k, &t) : ef_graph_input_at(G(self), k, &t),
                  NULL) == 0)
            o = tensor_wrap(&t);
        if (o == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}
static PyObject *graph_inputs(PyObject *self, PyObject *unused) {
    (void)unused;
    return graph_ends(self, 0);
}
static PyObject *graph_outputs(PyObject *self, PyObject *unused) {
    (void)unused;
    return graph_ends(self, 1);
}

static PyMethodDef graph_methods[] = {{"_enter", graph_enter, METH_NOARGS, NULL},
                                      {"_leave", graph_leave, METH_NOARGS, NULL},
                                      {"_placeholder", graph_placeholder, METH_VARARGS, NULL},
                                      {"_placeholder_like", graph_placeholder_like, METH_O, NULL},
                                      {"_finalize", graph_finalize, METH_NOARGS, NULL},
                                      {"_unfinalize", graph_unfinalize, METH_NOARGS, NULL},
                                      {"_finish", graph_finish, METH_VARARGS, NULL},
                                      {"_captures", graph_captures, METH_NOARGS, NULL},
                                      {"_set_function", graph_set_function, METH_O, NULL},
                                      {"_fetched", graph_fetched, METH_NOARGS, NULL},
                                      {"_after", graph_after, METH_O, NULL},
                                      {"_import", graph_import, METH_O, NULL},
                                      {"_call", graph_call, METH_O, NULL},
                                      {"_part", graph_part, METH_VARARGS, NULL},
                                      {"_nodes", graph_nodes, METH_NOARGS, NULL},
                                      {"_node", graph_node, METH_O, NULL},
                                      {"_places", graph_places, METH_O, NULL},
                                      {"_gone", graph_gone, METH_O, NULL},
                                      {"_node_name", graph_node_name, METH_O, NULL},
                                      {"_rename", graph_rename, METH_VARARGS, NULL},
                                      {"_node_input", graph_node_input, METH_VARARGS, NULL},
                                      {"_node_output", graph_node_output, METH_VARARGS, NULL},
                                      {"_node_control", graph_node_control, METH_VARARGS, NULL},
                                      {"_consumers", graph_consumers, METH_VARARGS, NULL},
                                      {"_attr", graph_attr, METH_VARARGS, NULL},
                                      {"_find", graph_find, METH_O, NULL},
                                      {"_text", graph_text, METH_NOARGS, NULL},
                                      {"_function_inputs", graph_inputs, METH_NOARGS, NULL},
                                      {"_function_outputs", graph_outputs, METH_NOARGS, NULL},
                                      {NULL, NULL, 0, NULL}};
static PyMemberDef graph_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(graph_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(graph_object, weak), READONLY, NULL},
    {"_ops", T_OBJECT_EX, offsetof(graph_object, ops), READONLY, NULL},
    {"_forgets", T_INT, offsetof(graph_object, trims), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef graph_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot graph_slots[] = {
    {Py_tp_new, graph_new},           {Py_tp_dealloc, graph_dealloc},
    {Py_tp_traverse, graph_traverse}, {Py_tp_clear, graph_clear},
    {Py_tp_methods, graph_methods},   {Py_tp_members, graph_members},
    {Py_tp_getset, graph_getset},     {0, NULL}};
static PyType_Spec graph_spec = {"evenflow._core.GraphBase", sizeof(graph_object), 0,
                                 Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                 graph_slots};

/* ---- the graph of this thread ---------------------------------------------------------------- */

static PyObject *core_current_graph(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_graph *g = ef_graph_current();
    if (g == NULL) Py_RETURN_NONE;
    return graph_wrap(g);
}

static PyObject *core_executing_eagerly(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(!recording());
}

static void suspension_end(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, "suspension"));
}

static PyObject *core_suspend(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_suspension *s = PyMem_Calloc(1, sizeof *s);
    if (s == NULL) return PyErr_NoMemory();
    PyObject *c = PyCapsule_New(s, "suspension", suspension_end);
    if (c == NULL)
        PyMem_Free(s);
    else
        ef_suspend(s);
    return c;
}

static PyObject *core_resume(PyObject *module, PyObject *capsule) {
    (void)module;
    ef_suspension *s = PyCapsule_GetPointer(capsule, "suspension");
    if (s == NULL) return NULL;
    ef_resume(s);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"set_scope", core_set_scope, METH_O, "Sets the prefix of the names of new ops."},
    {"current_scope", core_current_scope, METH_NOARGS, "The prefix of the names of new ops."},
    {"current_graph", core_current_graph, METH_NOARGS, "The graph being built, or None."},
    {"executing_eagerly", core_executing_eagerly, METH_NOARGS, "Whether ops run eagerly."},
    {"suspend", core_suspend, METH_NOARGS, "Leaves all graphs and pauses the tapes."},
    {"resume", core_resume, METH_O, "Undoes suspend."},
    {NULL, NULL, 0, NULL}};

int graph_init(PyObject *module) {
    if ((known = PyDict_New()) == NULL) return -1;
    if ((graph_type = add_type(module, &graph_spec, NULL, "GraphBase")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
