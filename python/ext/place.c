/* The source lines of ops. While a graph is recorded, each op is stored with the chain of calls
 * that made it: the frames on Python's stack that are not of this package. A line number is
 * computed once for each instruction, and a chain ends where it meets the chain of the previous op,
 * so an op costs a few frames however deep the program is. */
#include "core.h"

enum { LINES = 512, DEEPEST = 32, LONGEST_FOLDER = 1024 };

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct known_line { /* by instruction; the code is held, so its address means it */
    PyCodeObject *code;
    const char *file, *name; /* of the code; NULL: it is none of the user's */
    int at, line;
} known_line;

static known_line lines[LINES];
static char package[LONGEST_FOLDER];  /* the folder of this package; empty: not set yet */
static char launcher[LONGEST_FOLDER]; /* the script `evenflow`, if it runs the program */

/* Changes with every instruction of a frame. */
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

/* Valid until the next call. */
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
    const PyFrameObject *frame; /* compared only: it may be gone */
    int at, place;              /* place: that of the frames from here outwards */
} caller;

/* The chain of the last op, the innermost frame first. Python's lock guards it. */
static struct {
    uint64_t graph; /* its number */
    caller link[DEEPEST];
    int n;
} last;

/* Where in the last chain a frame and its caller stand as they stood then; -1: nowhere. Two frames
 * are compared because a new frame may get the address of an old one. */
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
    Py_XDECREF(f); /* deeper than is noted */
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
    strcpy(package, text);
    ef_set_place_hook(here);
    Py_RETURN_NONE;
}

PyObject *set_launcher(PyObject *self, PyObject *file) {
    (void)self;
    const char *text = PyUnicode_AsUTF8(file);
    if (text == NULL) return NULL;
    if (strlen(text) < sizeof launcher)
        strcpy(launcher, text); /* else its frame is shown, no more */
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
