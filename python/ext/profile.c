/* Finds the user's source line for events. A place is a code object and an instruction in it; its
 * line is computed when the place is first seen. Calls of ops, functions and sessions are sampled:
 * about one in a thousand is timed and its place looked up. */
#include "profile.h"

enum { CODES = 1024, PERIOD = 1024, KEPT = 1024, LONGEST_FOLDER = 1024 };

/* ---- whose code ------------------------------------------------------------------------------ */

typedef enum owner { ENGINE, KERAS, LIBRARY, USER } owner;

static struct known_code {
    PyCodeObject *code; /* a strong reference, so that its address is not reused */
    owner whose;
} codes[CODES];
static char package[LONGEST_FOLDER], library[LONGEST_FOLDER]; /* evenflow's folder; Python's own */

static bool is_in(const char *file, const char *folder) {
    return folder[0] != '\0' && strncmp(file, folder, strlen(folder)) == 0;
}

static owner whose_file(const char *file) {
    if (is_in(file, package) || strstr(file, "/malt/") != NULL || strncmp(file, "<frozen", 7) == 0)
        return ENGINE;
    if (strstr(file, "-packages/keras/") != NULL) return KERAS;
    if (is_in(file, library) || strstr(file, "-packages/") != NULL) return LIBRARY;
    return USER;
}

bool profile_is_users(const char *file) { return whose_file(file) == USER; }

static owner whose(PyCodeObject *code) {
    struct known_code *k = &codes[(uintptr_t)code / 32 % CODES];
    if (k->code == code) return k->whose;
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    if (file == NULL) PyErr_Clear();
    PyCodeObject *old = k->code;
    k->code = (PyCodeObject *)Py_NewRef((PyObject *)code);
    k->whose = file != NULL ? whose_file(file) : LIBRARY;
    owner found = k->whose;
    Py_XDECREF(old);
    return found;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The place of an instruction of the code; at -1: that of its definition. */
static uint32_t site_of(PyCodeObject *code, int at) {
    uint32_t site = ef_site_find(code, at);
    if (site != 0) return site;
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    const char *name = file != NULL ? PyUnicode_AsUTF8(code->co_name) : NULL;
    if (name == NULL) {
        PyErr_Clear();
        return 0;
    }
    int line = at < 0 ? code->co_firstlineno : PyCode_Addr2Line(code, at);
    const void *evicted;
    Py_INCREF(code);
    site = ef_site_add(code, at, file, name, line, &evicted);
    Py_XDECREF((PyObject *)evicted);
    if (site == 0) Py_DECREF(code);
    return site;
}

static int instruction(PyFrameObject *f) {
#if PY_VERSION_HEX >= 0x030B0000
    return PyFrame_GetLasti(f);
#else
    return f->f_lasti * 2;
#endif
}

static bool direct; /* the last profile_here met only frames of this package before the user's */
static bool on_top; /* it found the user's frame on top of the stack */
bool profile_direct(void) { return direct; }

/* The place of the user's innermost frame; if there is none, of the innermost frame of a library.
 */
uint32_t profile_here(void) {
    if (package[0] == '\0') return 0;
    PyFrameObject *f = PyThreadState_GetFrame(PyThreadState_Get());
    uint32_t second = 0;
    direct = on_top = true;
    while (f != NULL) {
        PyCodeObject *code = PyFrame_GetCode(f);
        owner of = whose(code);
        bool wanted = of == USER || (of == LIBRARY && second == 0);
        uint32_t site = wanted ? site_of(code, instruction(f)) : 0;
        Py_DECREF(code);
        if (of == USER) {
            Py_DECREF(f);
            return site;
        }
        if (second == 0) second = site;
        direct = direct && of == ENGINE;
        on_top = false;
        PyFrameObject *back = PyFrame_GetBack(f);
        Py_DECREF(f);
        f = back;
    }
    return second;
}

uint32_t profile_definition(PyObject *python) {
    if (python != NULL && PyMethod_Check(python)) python = PyMethod_GET_FUNCTION(python);
    if (python == NULL || !PyFunction_Check(python)) return 0;
    return site_of((PyCodeObject *)PyFunction_GET_CODE(python), -1);
}

uint32_t profile_line(const char *file, const char *function, int line) {
    const void *evicted;
    uint32_t place = ef_site_named(file, function, line, &evicted);
    Py_XDECREF((PyObject *)evicted);
    return place;
}

uint32_t profile_node(ef_graph *g, int node) {
    ef_node_desc d;
    const char *file, *function;
    int line, place;
    ef_status *s = g != NULL ? ef_graph_node(g, node, &d) : NULL;
    if (g == NULL || s != NULL) {
        ef_status_free(s);
        return 0;
    }
    place = d.place;
    while (ef_graph_place_get(g, place, &file, &function, &line, &place))
        if (profile_is_users(file)) return profile_line(file, function, line);
    return 0;
}

/* ---- posting --------------------------------------------------------------------------------- */

/* Posts an event that ended at `ended`: the time to look up its place is not part of it. */
static void post_ended(ef_event_new *e, uint64_t ended) {
    e->nowhere = true; /* its place is not looked up again later */
    e->ended = ended;
    ef_event_post(e);
}

void profile_post(ef_event_kind kind, ef_event_reason reason, uint64_t began, uint32_t subject,
                  int64_t value) {
    uint64_t ended = ef_event_clock();
    ef_event_new e = {.kind = kind,
                      .reason = reason,
                      .began = began,
                      .place = profile_here(),
                      .subject = subject,
                      .value = {value}};
    post_ended(&e, ended);
}

atomic_int profile_waiting;
static void told(int more) {
    atomic_fetch_add_explicit(&profile_waiting, more, memory_order_relaxed);
}

void profile_resolve(PyObject *python) {
    if (ef_events_unresolved()) ef_events_resolve(profile_here(), profile_definition(python));
}

/* ---- samples --------------------------------------------------------------------------------- */

int profile_left = PERIOD;
static int period = PERIOD, drawn = PERIOD;
static int all_of; /* so many of the next calls are all sampled */

/* The interval to the next sample varies at random by up to a half: with a fixed one, a loop of
 * several calls might be sampled always at the same call. */
sample sample_begin(void) {
    static uint32_t state = 0x9E3779B9u;
    sample s = {.weight = (uint32_t)drawn + 1};
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    profile_left = drawn = period / 2 + (int)(state % (unsigned)(period + 1));
    if (period == 1 || all_of > 0) profile_left = drawn = 0; /* every call */
    all_of -= all_of > 0;
    s.began = ef_event_clock();
    return s;
}

static struct kept { /* weak references to results of sampled calls: which are still alive? */
    PyObject *reference;
    uint32_t place, weight;
} kept[KEPT];
static unsigned n_kept;

static bool is_dead(const struct kept *k) {
    return k->reference == NULL || PyWeakref_GetObject(k->reference) == Py_None;
}

/* Where to keep a new result: in place of one that has died, so that those a program holds on to
 * stay. If the ones looked at are all alive, *more is one of the same place that then stands for
 * the new one, too, or else NULL, and the next one in turn is given up. */
static struct kept *place_to_keep(uint32_t place, struct kept **more) {
    enum { LOOKED_AT = 8 };
    *more = NULL;
    for (int k = 0; k < LOOKED_AT; k++) {
        struct kept *at = &kept[n_kept++ % KEPT];
        if (is_dead(at)) return at;
        if (at->place == place) *more = at;
    }
    return &kept[n_kept++ % KEPT];
}

static void keep_result(PyObject *result, uint32_t place, uint32_t weight) {
    if (result == NULL || !IS_EAGER(result) || place == 0) return;
    struct kept *more, *k = place_to_keep(place, &more);
    if (more != NULL && !is_dead(k)) {
        more->weight += weight;
        return;
    }
    PyObject *reference = PyWeakref_NewRef(result, NULL);
    if (reference == NULL) {
        PyErr_Clear();
        return;
    }
    PyObject *old = k->reference;
    *k = (struct kept){reference, place, weight};
    Py_XDECREF(old);
}

void sample_end(const sample *s, ef_event_kind kind, uint32_t subject, PyObject *result, int64_t a,
                int64_t b) {
    uint64_t ended = s->ended != 0 ? s->ended : ef_event_clock();
    ef_event_new e = {.kind = kind,
                      .began = s->began,
                      .place = profile_here(),
                      .subject = subject,
                      .weight = s->weight,
                      .value = {a, b}};
    keep_result(result, e.place, s->weight);
    post_ended(&e, ended);
}

int64_t profile_bytes(const ef_tensor *const *t, int n) {
    int64_t bytes = 0;
    for (int k = 0; k < n; k++)
        if (t[k]->dtype != EF_RESOURCE && !(t[k]->flags & EF_TENSOR_SYMBOLIC))
            bytes += (int64_t)ef_tensor_bytes(t[k]);
    return bytes;
}

void sample_op(sample *s, const ef_op *op, const ef_tensor *const *in, int n_in, PyObject *result) {
    static const ef_op *slice;
    s->ended = ef_event_clock();
    if (slice == NULL) slice = ef_op_find("StridedSlice");
    if (recording()) return;
    if (op == slice && result != NULL && n_in > 0 && (profile_here(), on_top))
        sample_end(s, EF_EVENT_SLICE, 0, NULL, ef_tensor_count(&((tensor_object *)result)->t),
                   ef_tensor_count(in[0]));
    sample_end(s, EF_EVENT_OP, 0, result, profile_bytes(in, n_in), (int64_t)(intptr_t)op);
}

/* ---- for Python ------------------------------------------------------------------------------ */

typedef size_t read_fn(ef_event *out, size_t max, uint64_t *dropped);

static PyObject *events_list(read_fn *read, size_t most) {
    ef_event *e = PyMem_Malloc(most * sizeof *e);
    if (e == NULL) return PyErr_NoMemory();
    uint64_t dropped;
    size_t n = read(e, most, &dropped);
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < n; k++) {
        PyObject *row = Py_BuildValue(
            "(KKiiIIIIILLL)", (unsigned long long)e[k].time, (unsigned long long)e[k].duration,
            e[k].kind, e[k].reason, e[k].thread, e[k].place, e[k].subject, e[k].note, e[k].weight,
            (long long)e[k].value[0], (long long)e[k].value[1], (long long)e[k].value[2]);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    PyMem_Free(e);
    return list != NULL ? Py_BuildValue("(NK)", list, (unsigned long long)dropped) : NULL;
}

static PyObject *core_events(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return events_list(ef_events_read, 1 << 16);
}

/* events_record(on): True begins a recording; False ends it and returns the recorded events */
static PyObject *core_record(PyObject *module, PyObject *begin) {
    (void)module;
    if (PyObject_IsTrue(begin)) {
        if (check(ef_events_record_begin(), NULL) < 0) return NULL;
        Py_RETURN_NONE;
    }
    ef_events_record_end();
    return events_list(ef_events_recorded, EF_EVENTS_MOST);
}

/* The name of the op whose address is in an event; None: there is none. */
static PyObject *core_op_at(PyObject *module, PyObject *address) {
    (void)module;
    const void *at = PyLong_AsVoidPtr(address);
    if (PyErr_Occurred()) return NULL;
    for (int k = 0; k < ef_op_count(); k++)
        if ((const void *)ef_op_at(k) == at)
            return PyUnicode_FromString(ef_op_describe(ef_op_at(k))->name);
    Py_RETURN_NONE;
}

/* function_watch(set or None): functions whose calls are sampled are added to the set */
PyObject *profile_watched;
static PyObject *core_watch(PyObject *module, PyObject *set) {
    (void)module;
    PyObject *before = profile_watched;
    profile_watched = set != Py_None ? Py_NewRef(set) : NULL;
    Py_XDECREF(before);
    Py_RETURN_NONE;
}

static PyObject *tally_rows(const ef_tally *t, size_t n) {
    PyObject *list = PyList_New(0);
    for (size_t k = 0; list != NULL && k < n; k++) {
        if (ef_event_kind_name(t[k].kind) == NULL || ef_event_reason_name(t[k].reason) == NULL)
            continue; /* read from another process while that was writing it */
        PyObject *row = Py_BuildValue(
            "(iiIIIIKKLLLLLKKIII)", t[k].kind, t[k].reason, t[k].place, t[k].subject, t[k].note,
            t[k].samples, (unsigned long long)t[k].count, (unsigned long long)t[k].duration,
            (long long)t[k].sum[0], (long long)t[k].sum[1], (long long)t[k].sum[2],
            (long long)t[k].least, (long long)t[k].most, (unsigned long long)t[k].first,
            (unsigned long long)t[k].last, t[k].early, t[k].late, t[k].opening);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *core_tallies(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    enum { MOST = 4096 + EF_EVENT_KINDS };
    ef_tally *t = PyMem_Malloc(MOST * sizeof *t);
    if (t == NULL) return PyErr_NoMemory();
    PyObject *list = tally_rows(t, ef_tallies_read(t, MOST));
    PyMem_Free(t);
    return list;
}

static int put_new(PyObject *dict, unsigned long key, PyObject *value) { /* steals the value */
    PyObject *number = PyLong_FromUnsignedLong(key);
    int bad = number == NULL || value == NULL || PyDict_SetItem(dict, number, value) < 0;
    Py_XDECREF(number);
    Py_XDECREF(value);
    return bad ? -1 : 0;
}

/* Adds the texts of the places and of the note that a tally refers to. */
static int put_texts(const ef_doctor *d, const ef_tally *t, PyObject *places, PyObject *notes) {
    ef_site_info s;
    char text[128];
    uint32_t both[] = {t->place, t->subject};
    for (int k = 0; k < 2; k++)
        if (ef_doctor_site(d, both[k], &s)) {
            PyObject *file = PyUnicode_DecodeFSDefault(s.file);
            PyObject *name =
                PyUnicode_DecodeUTF8(s.function, (Py_ssize_t)strlen(s.function), "replace");
            if (file == NULL || name == NULL) {
                Py_XDECREF(file);
                Py_XDECREF(name);
                return -1;
            }
            if (put_new(places, both[k], Py_BuildValue("(NiN)", file, s.line, name)) < 0) return -1;
        }
    if (!ef_doctor_note(d, t->note, text, sizeof text)) return 0;
    return put_new(notes, t->note, PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"));
}

/* doctor_open(pid) -> (seconds, tallies, {place: (file, line, function)}, {note: text}) */
static PyObject *core_doctor_open(PyObject *module, PyObject *number) {
    (void)module;
    long pid = PyLong_AsLong(number);
    if (pid == -1 && PyErr_Occurred()) return NULL;
    if (pid < 0 || pid > INT32_MAX)
        return PyErr_Format(PyExc_ValueError, "%ld is not a process id", pid);
    ef_doctor *d;
    ef_status *bad = ef_doctor_open((int)pid, &d);
    if (bad != NULL) return raise_status(bad, NULL);
    const ef_tally *t;
    size_t n = ef_doctor_tallies(d, &t);
    PyObject *list = tally_rows(t, n), *places = PyDict_New(), *notes = PyDict_New();
    bool failed = list == NULL || places == NULL || notes == NULL;
    for (size_t k = 0; k < n && !failed; k++) failed = put_texts(d, &t[k], places, notes) < 0;
    PyObject *made =
        failed ? NULL : Py_BuildValue("(dOOO)", ef_doctor_seconds(d), list, places, notes);
    Py_XDECREF(list);
    Py_XDECREF(places);
    Py_XDECREF(notes);
    ef_doctor_free(d);
    return made;
}

static PyObject *core_place(PyObject *module, PyObject *number) {
    (void)module;
    ef_site_info s;
    unsigned long place = PyLong_AsUnsignedLongMask(number);
    if (PyErr_Occurred()) return NULL;
    if (!ef_site_get((uint32_t)place, &s)) Py_RETURN_NONE;
    PyObject *file = PyUnicode_DecodeFSDefault(s.file);
    PyObject *name = PyUnicode_DecodeUTF8(s.function, (Py_ssize_t)strlen(s.function), "replace");
    if (file != NULL && name != NULL) return Py_BuildValue("(NiN)", file, s.line, name);
    Py_XDECREF(file);
    Py_XDECREF(name);
    return NULL;
}

static PyObject *core_note(PyObject *module, PyObject *number) {
    (void)module;
    char text[128];
    unsigned long note = PyLong_AsUnsignedLongMask(number);
    if (PyErr_Occurred()) return NULL;
    if (!ef_event_note_get((uint32_t)note, text, sizeof text)) Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *core_kinds(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *kinds = PyList_New(EF_EVENT_KINDS), *reasons = PyList_New(EF_REASONS);
    for (int k = 0; kinds != NULL && k < EF_EVENT_KINDS; k++)
        PyList_SET_ITEM(kinds, k, PyUnicode_FromString(ef_event_kind_name(k)));
    for (int k = 0; reasons != NULL && k < EF_REASONS; k++)
        PyList_SET_ITEM(reasons, k, PyUnicode_FromString(ef_event_reason_name(k)));
    return Py_BuildValue("(NN)", kinds, reasons);
}

/* event_post(kind, began=0, a=0, b=0, reason=0, subject=None, weight=1, place=0) */
static PyObject *core_post(PyObject *module, PyObject *args, PyObject *kwargs) {
    (void)module;
    static char *names[] = {"kind",    "began",  "a",     "b", "reason",
                            "subject", "weight", "place", NULL};
    int kind, reason = 0;
    unsigned weight = 1, place = 0;
    unsigned long long began = 0;
    long long a = 0, b = 0;
    PyObject *subject = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "i|KLLiOII", names, &kind, &began, &a, &b,
                                     &reason, &subject, &weight, &place))
        return NULL;
    if (ef_event_kind_name(kind) == NULL || ef_event_reason_name(reason) == NULL)
        return PyErr_Format(PyExc_ValueError, "there is no event of kind %d and reason %d", kind,
                            reason);
    ef_event_post(&(ef_event_new){.kind = (ef_event_kind)kind,
                                  .reason = (ef_event_reason)reason,
                                  .began = began,
                                  .place = place != 0 ? place : profile_here(),
                                  .subject = profile_definition(subject),
                                  .weight = weight,
                                  .nowhere = true,
                                  .value = {a, b}});
    Py_RETURN_NONE;
}

static PyObject *core_here(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLong(profile_here());
}

static PyObject *core_stages_watch(PyObject *module, PyObject *on) {
    (void)module;
    int yes = PyObject_IsTrue(on);
    if (yes < 0) return NULL;
    ef_stages_watch(yes);
    Py_RETURN_NONE;
}

static PyObject *core_stages_tell(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_stages_tell();
    Py_RETURN_NONE;
}

/* dataset_place(variant): notes the user's line as the one that created the dataset, unless a
 * library created it on the user's behalf */
static PyObject *core_dataset_place(PyObject *module, PyObject *variant) {
    (void)module;
    if (IS_EAGER(variant)) {
        uint32_t place = profile_here();
        if (direct) ef_dataset_place_set(&((tensor_object *)variant)->t, place);
    }
    Py_RETURN_NONE;
}

static PyObject *core_clock(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(ef_event_clock());
}

static PyObject *core_count(PyObject *module, PyObject *kind) {
    (void)module;
    long k = PyLong_AsLong(kind);
    if (k == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromUnsignedLongLong(ef_event_count((int)k));
}

/* event_period(n): samples one call in n from now on -> the previous period; 0: no change */
static PyObject *core_period(PyObject *module, PyObject *number) {
    (void)module;
    long n = PyLong_AsLong(number), before = period;
    if (n == -1 && PyErr_Occurred()) return NULL;
    if (n < 0 || n > 1 << 24)
        return PyErr_Format(PyExc_ValueError, "a period of %ld calls: it must be from 0 to %d", n,
                            1 << 24);
    if (n > 0) period = profile_left = drawn = (int)n;
    if (n == 1) profile_left = drawn = 0;
    return PyLong_FromLong(before);
}

/* event_burst(n): samples each of the next n calls, and then as often as before */
static PyObject *core_burst(PyObject *module, PyObject *number) {
    (void)module;
    long n = PyLong_AsLong(number);
    if (n == -1 && PyErr_Occurred()) return NULL;
    all_of = n < 0 ? 0 : n > 1 << 20 ? 1 << 20 : (int)n;
    if (all_of > 0) profile_left = drawn = 0;
    Py_RETURN_NONE;
}

/* [(place, weight, still alive)] for the kept results of sampled calls */
static PyObject *core_kept(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int k = 0; list != NULL && k < KEPT; k++) {
        if (kept[k].reference == NULL) continue;
        int held = PyWeakref_GetObject(kept[k].reference) != Py_None;
        PyObject *row = Py_BuildValue("(IIi)", kept[k].place, kept[k].weight, held);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

static PyObject *core_reset(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_tallies_reset();
    for (int k = 0; k < KEPT; k++) Py_CLEAR(kept[k].reference);
    Py_RETURN_NONE;
}

/* event_folders(package, library): the folders whose frames are not the user's code */
static PyObject *core_folders(PyObject *module, PyObject *args) {
    (void)module;
    const char *ours, *pythons;
    if (!PyArg_ParseTuple(args, "ss", &ours, &pythons)) return NULL;
    if (strlen(ours) >= sizeof package || strlen(pythons) >= sizeof library)
        return PyErr_Format(PyExc_ValueError, "a folder is longer than %d bytes",
                            LONGEST_FOLDER - 1);
    snprintf(package, sizeof package, "%s", ours);
    snprintf(library, sizeof library, "%s", pythons);
    Py_RETURN_NONE;
}

/* ---- who holds memory ------------------------------------------------------------------------ */

enum { MOST_HOLDERS = 1024 };
static bool holders_watched;
static _Thread_local uint32_t left_at; /* the user's line when this thread released the GIL */

void profile_leaves(void) {
    if (holders_watched) left_at = profile_here();
}

static uint32_t holder_here(void) { return PyGILState_Check() ? profile_here() : left_at; }

static PyObject *core_holders_watch(PyObject *self, PyObject *on) {
    (void)self;
    holders_watched = PyObject_IsTrue(on) == 1;
    ef_holders_watch(holders_watched ? holder_here : NULL);
    Py_RETURN_NONE;
}

/* [(number of the place, label or None, bytes, blocks)] */
static PyObject *core_holders(PyObject *self, PyObject *unused) {
    (void)self;
    (void)unused;
    static ef_holder_info all[MOST_HOLDERS]; /* the GIL protects it */
    int n = ef_holders_get(all, MOST_HOLDERS);
    if (n > MOST_HOLDERS) n = MOST_HOLDERS;
    PyObject *list = PyList_New(0);
    for (int k = 0; k < n && list != NULL; k++) {
        PyObject *one = Py_BuildValue("(IzLL)", all[k].place, all[k].label, (long long)all[k].bytes,
                                      (long long)all[k].blocks);
        if (one == NULL || PyList_Append(list, one) < 0) Py_CLEAR(list);
        Py_XDECREF(one);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"events", core_events, METH_NOARGS, "The events in the rings, and how many were overwritten."},
    {"events_record", core_record, METH_O, "Begins or ends a recording of events."},
    {"event_op", core_op_at, METH_O, "The name of the op whose address is in an event."},
    {"function_watch", core_watch, METH_O, "Collects the functions whose calls are sampled."},
    {"event_tallies", core_tallies, METH_NOARGS, "Sums of events by place."},
    {"doctor_open", core_doctor_open, METH_O,
     "The sums of events in another process, with their places."},
    {"event_place", core_place, METH_O, "File, line and function of a place; None: evicted."},
    {"event_note", core_note, METH_O, "The text of a note; None: evicted."},
    {"event_kinds", core_kinds, METH_NOARGS, "The names of all kinds, and of all reasons."},
    {"event_post", (PyCFunction)(void (*)(void))core_post, METH_VARARGS | METH_KEYWORDS,
     "Posts an event."},
    {"event_here", core_here, METH_NOARGS, "The place number of the user's current line."},
    {"stages_watch", core_stages_watch, METH_O, "Whether stages of pipelines are counted."},
    {"stages_tell", core_stages_tell, METH_NOARGS, "Posts the counts of open pipelines."},
    {"dataset_place", core_dataset_place, METH_O, "Notes the line that created a dataset."},
    {"holders_watch", core_holders_watch, METH_O,
     "Whether memory is counted by the line that allocated it."},
    {"holders", core_holders, METH_NOARGS, "Memory in use by line: place, label, bytes, blocks."},
    {"event_clock", core_clock, METH_NOARGS, "The current time of the events' clock."},
    {"event_count", core_count, METH_O, "How many events of a kind there were."},
    {"event_period", core_period, METH_O, "Sets how often calls are sampled."},
    {"event_burst", core_burst, METH_O, "Samples each of the next calls."},
    {"event_kept", core_kept, METH_NOARGS, "Which sampled results are still alive."},
    {"event_reset", core_reset, METH_NOARGS, "Sets all sums to zero."},
    {"event_folders", core_folders, METH_VARARGS, "Folders whose frames are not the user's."},
    {NULL, NULL, 0, NULL}};

int profile_init(PyObject *module) {
    ef_events_bind(told);
    return PyModule_AddFunctions(module, functions);
}
