/* The source lines of ops. While a graph is being built, each node is stored with its call stack:
 * the frames on Python's stack that are not of this package. A line number is computed once for
 * each instruction, and the walk up the stack ends at the frames that the previous op had, too, so
 * an op costs a few frames however deep the stack is. */
#include "core.h"

enum { LINES = 512, DEEPEST = 32, LONGEST_FOLDER = 1024 };

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct known_line {  /* the line of one instruction */
    PyCodeObject *code;      /* a strong reference, so that its address is not reused */
    const char *file, *name; /* of the code; NULL: it is not the user's code */
    int at, line;
} known_line;

static known_line lines[LINES];
static char package[LONGEST_FOLDER];  /* the folder of this package; empty: not set yet */
static char launcher[LONGEST_FOLDER]; /* the script of the command `evenflow`, if that is running */

/* A number for the instruction at which a frame is. */
static int instruction(PyFrameObject *f) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(f);
#else
    return PyFrame_GetLineNumber(f);
#endif
}

static bool is_users(const char *file) {
    return strncmp(file, package, strlen(package)) != 0 && strcmp(file, launcher) != 0 &&
           strstr(file, "/malt/") == NULL && strncmp(file, "<frozen", 7) != 0;
}

/* The line of an instruction; the pointer is valid until the next call. */
static const known_line *line_of(PyFrameObject *f, int at) {
    PyCodeObject *code = PyFrame_GetCode(f);
    known_line *known = &lines[((uintptr_t)code / 32 * 31 + (unsigned)at) % LINES];
    if (known->code == code && known->at == at) {
        Py_DECREF(code);
        return known;
    }
    PyCodeObject *old = known->code;
    *known = (known_line){.code = code, .at = at};
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    const char *name = PyUnicode_AsUTF8(code->co_name);
    if (file == NULL || name == NULL) {
        PyErr_Clear();
    } else if (is_users(file)) {
        known->file = file;
        known->name = name;
        known->line = PyFrame_GetLineNumber(f);
    }
    Py_XDECREF(old);
    return known;
}

/* ---- chains ---------------------------------------------------------------------------------- */

typedef struct caller {
    const PyFrameObject *frame; /* only compared: the frame may have been freed */
    int at, place;              /* place: the graph's number for this frame and its callers */
} caller;

/* The call stack of the last op, innermost frame first. The GIL protects it. */
static struct {
    uint64_t graph; /* its number */
    caller link[DEEPEST];
    int n;
} last;

/* The index in the last op's stack of a frame and its caller at the same instructions as now; -1:
 * they are not there. Two frames are compared because a new frame may have the address of an old
 * one. */
static int met(const caller *inner, const caller *outer) {
    for (int k = 0; k + 1 < last.n; k++)
        if (last.link[k].frame == inner->frame && last.link[k].at == inner->at &&
            last.link[k + 1].frame == outer->frame && last.link[k + 1].at == outer->at)
            return k;
    return -1;
}

static int place_of(ef_graph *g, PyFrameObject *f, int at, int up) {
    const known_line *known = line_of(f, at);
    return known->file != NULL ? ef_graph_place(g, known->file, known->name, known->line, up) : up;
}

/* The place of the running code for a new node of g. */
static int here(ef_graph *g) {
    if (package[0] == '\0' || !PyGILState_Check()) return 0;
    caller chain[DEEPEST];
    PyFrameObject *frame[DEEPEST];
    int n = 0, old = -1, up = 0;
    bool same = last.graph == ef_graph_number(g);
    PyFrameObject *f = PyThreadState_GetFrame(PyThreadState_Get());
    for (; f != NULL && n < DEEPEST; f = PyFrame_GetBack(f)) {
        frame[n] = f;
        chain[n] = (caller){f, instruction(f), 0};
        n++;
        if (same && n > 1 && (old = met(&chain[n - 2], &chain[n - 1])) >= 0) {
            f = NULL;
            break;
        }
    }
    Py_XDECREF(f); /* the stack is deeper than DEEPEST */
    caller kept[DEEPEST];
    int n_kept = old >= 0 ? last.n - (old + 2) : 0;
    if (n_kept > DEEPEST - n) n_kept = DEEPEST - n;
    if (n_kept > 0) memcpy(kept, &last.link[old + 2], (size_t)n_kept * sizeof *kept);
    if (old >= 0) up = old + 2 < last.n ? last.link[old + 2].place : 0;
    for (int k = n - 1; k >= 0; k--) {
        chain[k].place = up = place_of(g, frame[k], chain[k].at, up);
        Py_DECREF(frame[k]);
    }
    memcpy(last.link, chain, (size_t)n * sizeof *chain);
    if (n_kept > 0) memcpy(last.link + n, kept, (size_t)n_kept * sizeof *kept);
    last.n = n + n_kept;
    last.graph = ef_graph_number(g);
    return up;
}

/* ---- for Python ------------------------------------------------------------------------------ */

PyObject *set_package(PyObject *self, PyObject *folder) {
    (void)self;
    const char *text = PyUnicode_AsUTF8(folder);
    if (text == NULL) return NULL;
    if (strlen(text) >= sizeof package)
        return PyErr_Format(PyExc_ValueError, "the folder of the package is longer than %d bytes",
                            LONGEST_FOLDER - 1);
    snprintf(package, sizeof package, "%s", text);
    ef_set_place_hook(here);
    Py_RETURN_NONE;
}

PyObject *set_launcher(PyObject *self, PyObject *file) {
    (void)self;
    const char *text = PyUnicode_AsUTF8(file);
    if (text == NULL) return NULL;
    if (strlen(text) < sizeof launcher)
        snprintf(launcher, sizeof launcher, "%s", text); /* else its frame is shown */
    Py_RETURN_NONE;
}

PyObject *places_of(ef_graph *g, int place) {
    PyObject *list = PyList_New(0);
    const char *file, *function;
    int line;
    while (list != NULL && ef_graph_place_get(g, place, &file, &function, &line, &place)) {
        PyObject *item = Py_BuildValue("(sis)", file, line, function);
        if (item == NULL || PyList_Append(list, item) < 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    if (list != NULL && PyList_Reverse(list) < 0) Py_CLEAR(list);
    return list;
}
