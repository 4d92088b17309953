/* Finds out why a function is traced again, by comparing the arguments of the call with those of
 * the call that was traced before. For this, a function keeps a few words per argument, never an
 * object. Changes of the dtypes and shapes of tensors are reported by the engine. */
#include "function.h"
#include "profile.h"

enum { A_NONE, A_TENSOR, A_INT, A_FLOAT, A_BOOL, A_TEXT, A_SEQUENCE, A_OBJECT };
/* After FIRST_NOTES texts, a function writes at most one in NOTE_TICKS, about a millisecond. */
enum { NOTE_TICKS = 2000000, FIRST_NOTES = 4 };

static uint64_t mixed(uint64_t h, uint64_t v) {
    h = (h ^ v) * 0x9E3779B97F4A7C15u;
    return h ^ h >> 29;
}

static bool as_int(PyObject *o, int64_t *v) {
    int over;
    *v = PyLong_AsLongLongAndOverflow(o, &over);
    return over == 0;
}

/* Describes an argument without running any of the user's code. */
static seen_argument look(PyObject *o, int depth) {
    seen_argument a = {A_OBJECT, (uint64_t)(uintptr_t)o};
    int64_t v;
    if (o == NULL || o == Py_None) return (seen_argument){A_NONE, 0};
    if (IS_TENSOR(o) || is_array(o)) return (seen_argument){A_TENSOR, 0};
    if (PyBool_Check(o)) return (seen_argument){A_BOOL, o == Py_True};
    if (PyLong_CheckExact(o))
        return (seen_argument){A_INT, as_int(o, &v) ? (uint64_t)v : (uint64_t)PyObject_Hash(o)};
    if (PyFloat_CheckExact(o)) {
        double d = PyFloat_AS_DOUBLE(o);
        a.tag = A_FLOAT;
        memcpy(&a.word, &d, sizeof d);
    } else if (PyUnicode_CheckExact(o)) {
        a = (seen_argument){A_TEXT, (uint64_t)PyObject_Hash(o)};
    } else if ((PyList_CheckExact(o) || PyTuple_CheckExact(o)) && depth > 0) {
        a = (seen_argument){A_SEQUENCE, (uint64_t)PySequence_Fast_GET_SIZE(o)};
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++) {
            seen_argument e = look(PySequence_Fast_GET_ITEM(o, k), depth - 1);
            a.word = mixed(mixed(a.word, e.tag), e.word);
        }
    } else if (PyMethod_Check(o)) { /* each access makes a new object */
        a.word = mixed((uint64_t)(uintptr_t)PyMethod_GET_FUNCTION(o),
                       (uint64_t)(uintptr_t)PyMethod_GET_SELF(o));
    }
    return a;
}

static const char *argument_name(const function_object *f, int k, PyObject *kwargs) {
    PyObject *name = NULL, *each;
    Py_ssize_t n = PyTuple_GET_SIZE(f->params), at = 0;
    if (k < n) {
        name = PyTuple_GET_ITEM(f->params, k);
    } else if (kwargs != NULL) {
        for (int j = 0; PyDict_Next(kwargs, &at, &each, NULL); j++)
            if (j == k - (int)n) name = each;
    }
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (text == NULL) PyErr_Clear();
    return text != NULL ? text : "args";
}

static double number(const seen_argument *a) {
    double d;
    if (a->tag != A_FLOAT) return (double)(int64_t)a->word;
    memcpy(&d, &a->word, sizeof d);
    return d;
}

/* As an integer of 64 bits: beyond its range the end of it, for NaN 0. */
static int64_t integer(const seen_argument *a) {
    if (a->tag != A_FLOAT) return (int64_t)a->word;
    double d = number(a);
    if (d >= 0x1p63) return INT64_MAX;
    return d >= -0x1p63 ? (int64_t)d : d < 0 ? INT64_MIN : 0;
}

/* Prints a number as Python does: a float that is a whole number ends in ".0". */
static void print_number(const seen_argument *a, char out[32]) {
    double d = number(a);
    bool whole = a->tag == A_FLOAT && d > -1e15 && d < 1e15 && (double)(int64_t)d == d;
    snprintf(out, 32, whole ? "%.1f" : "%.15g", d);
}

static uint32_t note_of(function_object *f, const char *name, const seen_argument *was,
                        const seen_argument *now, PyObject *value) {
    uint64_t ticks = ef_event_clock();
    if (f->n_notes >= FIRST_NOTES && ticks - f->noted < NOTE_TICKS) return 0;
    f->noted = ticks;
    f->n_notes++;
    char text[160], old[32], new[32];
    if (was->tag <= A_BOOL && now->tag <= A_BOOL && was->tag >= A_INT && now->tag >= A_INT) {
        print_number(was, old);
        print_number(now, new);
        snprintf(text, sizeof text, "%.40s|Python number|%s|%s", name, old, new);
    } else if (now->tag == A_TEXT)
        snprintf(text, sizeof text, "%.40s|Python string||", name);
    else if (now->tag == A_SEQUENCE)
        snprintf(text, sizeof text, "%.40s|Python %s||", name,
                 PyList_Check(value) ? "list" : "tuple");
    else
        snprintf(text, sizeof text, "%.40s|%.60s||", name,
                 value != NULL ? Py_TYPE(value)->tp_name : "nothing");
    return ef_event_note(text);
}

static ef_event_reason reason_of(const seen_argument *was, const seen_argument *now) {
    bool plain = now->tag >= A_INT && now->tag <= A_SEQUENCE;
    if (was->tag == A_OBJECT && now->tag == A_OBJECT) return EF_REASON_IDENTITY;
    if (plain && (was->tag == now->tag || (was->tag <= A_BOOL && now->tag <= A_BOOL)))
        return EF_REASON_VALUE;
    return EF_REASON_STRUCTURE;
}

static int look_at_all(const calling *c, seen_argument *now, PyObject **value) {
    int n = 0;
    PyObject *o;
    Py_ssize_t at = 0;
    for (; n < c->n_items && n < SEEN_ARGUMENTS; n++) value[n] = c->items[n];
    while (c->kwargs != NULL && n < SEEN_ARGUMENTS && PyDict_Next(c->kwargs, &at, NULL, &o))
        value[n++] = o;
    for (int k = 0; k < n; k++) now[k] = look(value[k], 3);
    return n;
}

void trace_explain(function_object *f, const calling *c) {
    seen_argument now[SEEN_ARGUMENTS];
    PyObject *value[SEEN_ARGUMENTS];
    int n = look_at_all(c, now, value), differs = -1, before = f->n_seen;
    bool fresh_entry = c->e->calls <= 1;
    for (int k = 0; k < n && k < before && differs < 0; k++)
        if (f->seen_arguments[k].tag != now[k].tag || f->seen_arguments[k].word != now[k].word)
            differs = k;
    if (!f->was_traced) {
        if (f->instance != NULL) ef_trace_explain(EF_REASON_INSTANCE, 0, 0, 0);
    } else if (differs >= 0) {
        const seen_argument *was = &f->seen_arguments[differs], *is = &now[differs];
        const char *name = argument_name(f, differs, c->kwargs);
        ef_trace_explain(reason_of(was, is), note_of(f, name, was, is, value[differs]),
                         integer(was), integer(is));
    } else if (n != before) {
        ef_trace_explain(EF_REASON_STRUCTURE, 0, before, n);
    } else if (fresh_entry) { /* the same arguments, but their entry was dropped */
        int k = 0;
        while (k < n && now[k].tag != A_OBJECT) k++; /* perhaps because an object died */
        ef_trace_explain(
            k < n ? EF_REASON_IDENTITY : EF_REASON_FORGOTTEN,
            k < n ? note_of(f, argument_name(f, k, c->kwargs), &now[k], &now[k], value[k]) : 0, 0,
            0);
    }
    memcpy(f->seen_arguments, now, (size_t)n * sizeof *now);
    f->n_seen = n;
    f->was_traced = true;
}

/* Posts an event if one line made very many nodes: a Python loop was probably unrolled. */
void trace_lines(ef_graph *g) {
    enum { MANY = 500, LINES = 64 };
    struct line {
        int place, n;
    } lines[LINES] = {{0, 0}};
    int nodes = ef_graph_nodes(g), most = 0;
    if (nodes <= MANY) return;
    for (int k = 0; k < nodes; k++) {
        ef_node_desc d;
        ef_status *s = ef_graph_node(g, k, &d);
        if (s != NULL) {
            ef_status_free(s);
            return;
        }
        struct line *at = &lines[(unsigned)d.place % LINES];
        if (at->place != d.place && at->n-- > 0) continue; /* the more frequent line stays */
        if (at->n < 0) *at = (struct line){d.place, 0};
        at->n++;
        if (at->n > lines[most].n) most = (int)(at - lines);
    }
    if (lines[most].n <= MANY / 2) return;
    const char *file, *function;
    int line, place = lines[most].place;
    while (ef_graph_place_get(g, place, &file, &function, &line, &place))
        if (profile_is_users(file)) {
            ef_event_post(&(ef_event_new){.kind = EF_EVENT_UNROLLED,
                                          .place = profile_line(file, function, line),
                                          .nowhere = true,
                                          .value = {lines[most].n, nodes}});
            return;
        }
}
