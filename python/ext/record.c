/* Files: reads and writes TFRecord files record by record, finds files by a pattern, and lists the
 * entries of checkpoints. */
#include "core.h"

/* A file name as bytes, from a str, bytes or os.PathLike object; new reference. NULL: raised. */
static PyObject *file_name(PyObject *o) {
    PyObject *path = PyOS_FSPath(o);
    if (path == NULL || PyBytes_Check(path)) return path;
    PyObject *bytes = PyUnicode_EncodeFSDefault(path);
    Py_DECREF(path);
    return bytes;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader_object {
    PyObject_HEAD ef_reader *r; /* NULL: the end was reached */
} reader_object;

static PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *path;
    const char *compression;
    if (!PyArg_ParseTuple(args, "Os", &path, &compression)) return NULL;
    PyObject *name = file_name(path);
    reader_object *o = name != NULL ? (reader_object *)type->tp_alloc(type, 0) : NULL;
    if (o != NULL &&
        check(ef_record_reader_open(PyBytes_AS_STRING(name), (size_t)PyBytes_GET_SIZE(name),
                                    compression, &o->r),
              NULL) < 0)
        Py_CLEAR(o);
    Py_XDECREF(name);
    return (PyObject *)o;
}

static void reader_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ef_reader_close(((reader_object *)self)->r);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *reader_next(PyObject *self) {
    reader_object *o = (reader_object *)self;
    const char *at = NULL;
    size_t n = 0;
    bool end = true;
    if (o->r != NULL && check(ef_reader_next(o->r, &at, &n, &end), NULL) < 0) end = true;
    if (!end) return PyBytes_FromStringAndSize(at, (Py_ssize_t)n);
    ef_reader_close(o->r);
    o->r = NULL;
    return NULL;
}

static PyType_Slot reader_slots[] = {{Py_tp_new, reader_new},
                                     {Py_tp_dealloc, reader_dealloc},
                                     {Py_tp_iter, PyObject_SelfIter},
                                     {Py_tp_iternext, reader_next},
                                     {Py_tp_doc, "RecordReader(path, compression): an iterator."},
                                     {0, NULL}};
static PyType_Spec reader_spec = {"evenflow._core.RecordReader", sizeof(reader_object), 0,
                                  Py_TPFLAGS_DEFAULT, reader_slots};

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer_object {
    PyObject_HEAD ef_record_writer *w; /* NULL: closed */
} writer_object;

static PyObject *writer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *path;
    ef_record_options t;
    if (!PyArg_ParseTuple(args, "Osiiiiii", &path, &t.compression, &t.flush_mode, &t.window_bits,
                          &t.level, &t.method, &t.mem_level, &t.strategy))
        return NULL;
    PyObject *name = file_name(path);
    writer_object *o = name != NULL ? (writer_object *)type->tp_alloc(type, 0) : NULL;
    if (o != NULL && check(ef_record_writer_open(PyBytes_AS_STRING(name),
                                                 (size_t)PyBytes_GET_SIZE(name), &t, &o->w),
                           NULL) < 0)
        Py_CLEAR(o);
    Py_XDECREF(name);
    return (PyObject *)o;
}

static void writer_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ef_status_free(ef_record_writer_close(((writer_object *)self)->w));
    type->tp_free(self);
    Py_DECREF(type);
}

static ef_record_writer *open_writer(PyObject *self) {
    ef_record_writer *w = ((writer_object *)self)->w;
    if (w == NULL)
        raise_status(ef_status_make(EF_FAILED_PRECONDITION,
                                    "Writer is closed: open the file again to write more"),
                     NULL);
    return w;
}

static PyObject *writer_write(PyObject *self, PyObject *record) {
    ef_record_writer *w = open_writer(self);
    if (w != NULL && PyUnicode_Check(record)) { /* text is written as UTF-8 */
        Py_ssize_t n = 0;
        const char *text = PyUnicode_AsUTF8AndSize(record, &n);
        if (text == NULL || check(ef_record_writer_write(w, text, (size_t)n), NULL) < 0)
            return NULL;
        return Py_NewRef(Py_None);
    }
    Py_buffer bytes;
    if (w == NULL || PyObject_GetBuffer(record, &bytes, PyBUF_SIMPLE) < 0) return NULL;
    int bad = check(ef_record_writer_write(w, bytes.buf, (size_t)bytes.len), NULL);
    PyBuffer_Release(&bytes);
    return bad < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *writer_flush(PyObject *self, PyObject *none) {
    (void)none;
    ef_record_writer *w = open_writer(self);
    return w == NULL || check(ef_record_writer_flush(w), NULL) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyObject *writer_close(PyObject *self, PyObject *none) {
    (void)none;
    ef_record_writer *w = ((writer_object *)self)->w;
    ((writer_object *)self)->w = NULL;
    return check(ef_record_writer_close(w), NULL) < 0 ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef writer_methods[] = {
    {"write", writer_write, METH_O, "Writes one record."},
    {"flush", writer_flush, METH_NOARGS, "Writes buffered records to the file."},
    {"close", writer_close, METH_NOARGS, "Closes the file; a second close does nothing."},
    {NULL, NULL, 0, NULL}};
static PyType_Slot writer_slots[] = {{Py_tp_new, writer_new},
                                     {Py_tp_dealloc, writer_dealloc},
                                     {Py_tp_methods, writer_methods},
                                     {Py_tp_doc, "RecordWriter(path, compression, six numbers)"},
                                     {0, NULL}};
static PyType_Spec writer_spec = {"evenflow._core.RecordWriter", sizeof(writer_object), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, writer_slots};

/* ---- matching -------------------------------------------------------------------------------- */

static void add_name(void *list, const char *path) {
    PyObject *name = PyErr_Occurred() ? NULL : PyUnicode_DecodeFSDefault(path);
    if (name != NULL) PyList_Append(list, name);
    Py_XDECREF(name);
}

static PyObject *core_match_files(PyObject *module, PyObject *pattern) {
    (void)module;
    PyObject *name = file_name(pattern), *list = name != NULL ? PyList_New(0) : NULL;
    if (list != NULL && (check(ef_files_match(PyBytes_AS_STRING(name),
                                              (size_t)PyBytes_GET_SIZE(name), add_name, list),
                               NULL) < 0 ||
                         PyErr_Occurred()))
        Py_CLEAR(list);
    Py_XDECREF(name);
    return list;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static void add_entry(void *list, const char *name, size_t n, int dtype, const ef_shape *shape) {
    PyObject *dims = PyErr_Occurred() ? NULL : PyList_New(shape->rank);
    for (int d = 0; dims != NULL && d < shape->rank; d++) {
        PyObject *size = PyLong_FromLongLong(shape->dim[d]);
        if (size == NULL)
            Py_CLEAR(dims);
        else
            PyList_SET_ITEM(dims, d, size);
    }
    PyObject *text = dims != NULL ? PyUnicode_DecodeUTF8(name, (Py_ssize_t)n, "replace") : NULL;
    PyObject *entry = text != NULL ? Py_BuildValue("(OiO)", text, dtype, dims) : NULL;
    if (entry != NULL) PyList_Append(list, entry);
    Py_XDECREF(entry);
    Py_XDECREF(text);
    Py_XDECREF(dims);
}

static PyObject *core_checkpoint_entries(PyObject *module, PyObject *prefix) {
    (void)module;
    PyObject *name = file_name(prefix), *list = name != NULL ? PyList_New(0) : NULL;
    if (list != NULL &&
        (check(ef_checkpoint_entries(PyBytes_AS_STRING(name), (size_t)PyBytes_GET_SIZE(name),
                                     add_entry, list),
               NULL) < 0 ||
         PyErr_Occurred()))
        Py_CLEAR(list);
    Py_XDECREF(name);
    return list;
}

static PyMethodDef functions[] = {
    {"checkpoint_entries", core_checkpoint_entries, METH_O,
     "The name, TensorFlow's dtype number and the sizes of each tensor of a checkpoint."},
    {"match_files", core_match_files, METH_O, "The names that match a pattern, sorted."},
    {NULL, NULL, 0, NULL}};

int record_init(PyObject *module) {
    if (add_type(module, &reader_spec, NULL, "RecordReader") == NULL ||
        add_type(module, &writer_spec, NULL, "RecordWriter") == NULL)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
