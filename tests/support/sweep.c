/* The changes: a size replaced consistently in all inputs (which keeps the call valid apart from
 * that size), single sizes, ranks 0 and 8, extreme values, extreme attributes, and sizes near
 * overflow that only shape inference sees, without memory for them. */
#include "sweep.h"
#include "evenflow.h"
#include "ops/run.h"
#include "ops/signature.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MAX_OUT = 64, LARGE = 1 << 20, LIST = 16 };

/* Iterates over the changes: `next` is true for the requested one. */
typedef struct walk {
    ef_sweep_call *c;
    int left;
    bool done;
} walk;

static bool next(walk *w) { return !w->done && w->left-- == 0; }

#define SAY(w, ...)                                                          \
    do {                                                                     \
        size_t n_ = strlen((w)->c->about);                                   \
        snprintf((w)->c->about + n_, sizeof(w)->c->about - n_, __VA_ARGS__); \
        (w)->done = true;                                                    \
    } while (0)

/* ---- inputs --------------------------------------------------------------------------------- */

static bool plain(const ef_tensor *t) {
    return ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN | EF_BIT(STRING));
}

static void set_element(ef_tensor *t, int64_t i, double v) {
    ef_dtype d = (ef_dtype)t->dtype;
    size_t size = ef_dtype_size(d);
    if (ef_dtype_in(d, EF_INTS)) {
        int64_t n = v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : (int64_t)v;
        memcpy((char *)t->data + (size_t)i * size, &n, size);
    } else if (d == EF_BOOL) {
        ((bool *)t->data)[i] = v != 0;
    } else if (ef_dtype_in(d, EF_FLOATS | EF_COMPLEX)) {
        ef_element_set(d, t->data, i, d == EF_F64 || d == EF_C128 ? v : (float)v);
    }
}

/* The tensor with another shape; elements are taken over cyclically. */
static void reshape(ef_tensor *t, const ef_shape *s) {
    ef_tensor fresh = {0};
    int64_t old = ef_count(t), n = ef_shape_count(s);
    ef_status *failed = n < 0 || n > LARGE ? ef_error(EF_INVALID, "too large")
                                           : ef_tensor_alloc(&fresh, (ef_dtype)t->dtype, s);
    if (failed || (n > 0 && fresh.data == NULL)) {
        ef_status_free(failed);
        return;
    }
    size_t size = ef_dtype_size((ef_dtype)t->dtype);
    bool bytes = ef_dtype_in((ef_dtype)t->dtype, EF_PLAIN);
    for (int64_t i = 0; bytes && i < n; i++) {
        if (old > 0)
            memcpy((char *)fresh.data + (size_t)i * size,
                   (char *)t->data + (size_t)(i % old) * size, size);
        else
            set_element(&fresh, i, 1);
    }
    ef_tensor_release(t);
    ef_tensor_move(t, &fresh);
}

/* Distinct sizes of all inputs; how many. */
static int sizes_of(const ef_sweep_call *c, int64_t *out, int room) {
    int n = 0;
    for (int k = 0; k < c->e.n_in; k++)
        for (int d = 0; d < c->e.in[k].rank; d++) {
            int j = 0;
            while (j < n && out[j] != c->e.in[k].dim[d]) j++;
            if (j == n && n < room) out[n++] = c->e.in[k].dim[d];
        }
    return n;
}

static void replace_size(walk *w, int64_t old, int64_t by, bool values) {
    for (int k = 0; k < w->c->e.n_in; k++) {
        ef_tensor *t = &w->c->e.in[k];
        if (!plain(t)) continue;
        int64_t n = ef_count(t);
        for (int64_t i = 0; values && i < n; i++)
            if (t->dtype == EF_I32   ? ((int32_t *)t->data)[i] == old
                : t->dtype == EF_I64 ? ((int64_t *)t->data)[i] == old
                                     : false)
                set_element(t, i, (double)by);
        ef_shape s = ef_shape_from(t);
        bool has = false;
        for (int d = 0; d < s.rank; d++)
            if (s.dim[d] == old) s.dim[d] = by, has = true;
        if (has) reshape(t, &s);
    }
    SAY(w, "size %lld is %lld%s; ", (long long)old, (long long)by, values ? " in values too" : "");
}

static void each_size(walk *w) {
    static const int64_t by[] = {0, 1, 7, 33};
    int64_t size[16];
    int n = sizes_of(w->c, size, 16);
    for (int j = 0; j < n; j++)
        for (int b = 0; b < 4; b++)
            for (int values = 0; values < 2; values++)
                if (size[j] != by[b] && next(w)) {
                    replace_size(w, size[j], by[b], values);
                    return;
                }
}

static ef_shape rank_of(const ef_tensor *t, int how) {
    ef_shape s = ef_shape_from(t);
    int rank = s.rank;
    switch (how) {
    case 0: s.rank = 0; break;
    case 1: /* ones in front */
        for (int d = 0; d < EF_MAX_RANK; d++)
            s.dim[d] = d < EF_MAX_RANK - rank ? 1 : t->dim[d - EF_MAX_RANK + rank];
        s.rank = EF_MAX_RANK;
        break;
    case 2:
        for (int d = 0; d < EF_MAX_RANK; d++) s.dim[d] = 2;
        s.rank = EF_MAX_RANK;
        break;
    case 3:
        for (int d = 0; d < rank; d++) s.dim[d] = 0;
        break;
    case 4: s.rank = 1, s.dim[0] = 0; break;
    default: /* one rank less */ s.rank = rank > 0 ? rank - 1 : 0;
    }
    return s;
}

static void each_shape(walk *w) {
    static const char *const what[] = {"rank 0", "rank 8", "rank 8 of twos",
                                       "all 0",  "[0]",    "one rank less"};
    ef_example *e = &w->c->e;
    for (int how = 0; how < 6; how++)
        for (int k = -1; k < e->n_in; k++) { /* -1: all of them */
            if (!next(w)) continue;
            for (int j = 0; j < e->n_in; j++) {
                ef_shape s = rank_of(&e->in[j], how);
                if ((k < 0 || k == j) && plain(&e->in[j])) reshape(&e->in[j], &s);
            }
            SAY(w, "input %d is %s; ", k, what[how]);
            return;
        }
    for (int k = 0; k < e->n_in; k++)
        for (int d = 0; d < e->in[k].rank; d++)
            for (int by = 0; by < 2; by++)
                if (next(w)) {
                    ef_shape s = ef_shape_from(&e->in[k]);
                    s.dim[d] = by == 0 ? 0 : s.dim[d] + 1;
                    if (plain(&e->in[k])) reshape(&e->in[k], &s);
                    SAY(w, "axis %d of input %d is %lld; ", d, k, (long long)s.dim[d]);
                    return;
                }
}

static void each_value(walk *w) {
    static const double set[] = {0,       -1,   1,   2147483647, -2147483648.0, 9.3e18,
                                 -9.3e18, 1e30, NAN, INFINITY,   -INFINITY,     65536};
    ef_example *e = &w->c->e;
    for (int k = 0; k < e->n_in; k++) {
        ef_dtype d = (ef_dtype)e->in[k].dtype;
        for (int v = 0; v < 12; v++) {
            if (!ef_dtype_in(d, EF_PLAIN) || (ef_dtype_in(d, EF_INTS) && !(fabs(set[v]) < 1e19)) ||
                (d == EF_BOOL && v > 1))
                continue;
            for (int only = 0; only < 2; only++) /* all elements, or the first */
                if (next(w)) {
                    int64_t n = ef_count(&e->in[k]);
                    for (int64_t i = 0; i < (only ? n > 0 : n); i++)
                        set_element(&e->in[k], i, set[v]);
                    SAY(w, "%s of input %d is %g; ", only ? "the first value" : "every value", k,
                        set[v]);
                    return;
                }
        }
    }
}

/* ---- attributes ------------------------------------------------------------------------------ */

typedef struct lists {
    int64_t ints[LIST];
    float floats[LIST];
    ef_dtype types[LIST];
    ef_shape shape;
} lists;

static const int64_t odd_ints[] = {0, -1,      1,         2,         -2,        7,        8,
                                   9, 1 << 20, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
enum { ODD = sizeof odd_ints / sizeof *odd_ints };

/* Sets v to the wanted one of its odd values; true if it did. */
static bool odd_attr(walk *w, const char *name, const char *type, bool choice, ef_attr_value *v,
                     lists *room) {
    static const double floats[] = {0, -1, 1, 1e30, NAN, INFINITY, -INFINITY};
    switch (v->kind) {
    case EF_ATTR_BOOL:
        if (!next(w)) return false;
        v->as.b = !v->as.b;
        SAY(w, "%s is %d; ", name, v->as.b);
        return true;
    case EF_ATTR_INT:
        for (int k = 0; k < ODD; k++)
            if (next(w)) {
                v->as.i = odd_ints[k];
                SAY(w, "%s is %lld; ", name, (long long)v->as.i);
                return true;
            }
        return false;
    case EF_ATTR_FLOAT:
        for (int k = 0; k < 7; k++)
            if (next(w)) {
                v->as.f = floats[k];
                SAY(w, "%s is %g; ", name, v->as.f);
                return true;
            }
        return false;
    case EF_ATTR_STRING:
        for (int k = 0; choice && ef_choice_name(type, k)[0]; k++)
            if (next(w)) {
                v->as.s = ef_choice_name(type, k);
                SAY(w, "%s is '%s'; ", name, v->as.s);
                return true;
            }
        return false;
    case EF_ATTR_TYPE:
        for (int t = 0; t < EF_DTYPES; t++)
            if (ef_dtype_in((ef_dtype)t, EF_PLAIN) && next(w)) {
                v->as.type = (ef_dtype)t;
                SAY(w, "%s is %s; ", name, ef_dtype_name((ef_dtype)t));
                return true;
            }
        return false;
    case EF_ATTR_INTS:
        for (int k = 0; k < ODD; k++)
            for (int at = -1; at < v->n; at++)
                if (next(w)) {
                    for (int j = 0; j < v->n; j++)
                        room->ints[j] = at < 0 || at == j ? odd_ints[k] : v->as.ints[j];
                    v->as.ints = room->ints;
                    SAY(w, "%s[%d] is %lld; ", name, at, (long long)odd_ints[k]);
                    return true;
                }
        for (int n = 0; n <= 9; n++)
            if (next(w)) {
                for (int j = 0; j < n; j++) room->ints[j] = v->n > 0 ? v->as.ints[j % v->n] : 1;
                v->as.ints = room->ints, v->n = n;
                SAY(w, "%s has %d entries; ", name, n);
                return true;
            }
        return false;
    case EF_ATTR_SHAPE:
        for (int k = 0; k < 5; k++)
            if (next(w)) {
                static const ef_shape set[] = {
                    {.rank = -1},
                    {.rank = 0},
                    {.rank = 1, .dim = {0}},
                    {.rank = 8, .dim = {1, 1, 1, 1, 1, 1, 1, 1}},
                    {.rank = 3, .dim = {INT64_C(1) << 40, INT64_C(1) << 40, 2}}};
                room->shape = set[k];
                v->as.shape = &room->shape;
                SAY(w, "%s is %s; ", name, EF_SHAPE(&room->shape));
                return true;
            }
        return false;
    default: return false;
    }
}

static void each_attr(walk *w) {
    const ef_op *op = w->c->op;
    const ef_signature *s = ef_op_signature(op);
    ef_attr_value set[EF_MAX_ATTRS];
    lists room;
    for (int k = 0; k < s->n_attrs; k++) {
        ef_status *failed =
            ef_attrs_get(op, ef_attrs_fields(w->c->e.attrs), op->attr[k].name, &set[k]);
        ef_status_free(failed);
        if (failed || set[k].n > LIST) return;
    }
    for (int k = 0; k < s->n_attrs; k++) {
        if (!odd_attr(w, op->attr[k].name, op->attr[k].type, s->attr[k].choice, &set[k], &room))
            continue;
        const ef_attrs *made = NULL;
        ef_status *failed = ef_attrs_make(op, set, s->n_attrs, &made);
        if (!failed) {
            ef_attrs_unref(w->c->e.attrs);
            w->c->e.attrs = made;
        }
        ef_status_free(failed);
        return;
    }
}

/* ---- sizes that are only declared
 * ---------------------------------------------------------------- */

static void each_declared(walk *w) {
    static const int64_t by[] = {INT64_C(1) << 31, INT64_C(1) << 40, INT64_MAX / 2, INT64_MAX,
                                 EF_DIM_UNKNOWN};
    int64_t size[16];
    int n = sizes_of(w->c, size, 16);
    for (int j = 0; j < n; j++)
        for (int b = 0; b < 5; b++)
            if (next(w)) {
                w->c->declared = true;
                for (int k = 0; k < w->c->e.n_in; k++) {
                    w->c->shape[k] = ef_shape_from(&w->c->e.in[k]);
                    for (int d = 0; d < w->c->shape[k].rank; d++)
                        if (w->c->shape[k].dim[d] == size[j]) w->c->shape[k].dim[d] = by[b];
                }
                SAY(w, "size %lld is declared as %lld; ", (long long)size[j], (long long)by[b]);
                return;
            }
}

/* ---- a call -------------------------------------------------------------------------------------
 */

bool ef_sweep_change(ef_sweep_call *c, int number) {
    walk w = {c, number, false};
    if (c->declared) return false; /* no further change is possible */
    each_size(&w);
    if (!w.done) each_shape(&w);
    if (!w.done) each_attr(&w);
    if (!w.done) each_value(&w);
    if (!w.done) each_declared(&w);
    return w.done;
}

bool ef_sweep_make(const ef_op *op, int k, int number, ef_sweep_call *out) {
    memset(out, 0, sizeof *out);
    out->op = op;
    ef_status *failed = ef_example_make(op, k, 7, &out->e);
    ef_status_free(failed);
    if (failed) return false;
    ef_example_name(op, k, out->about, 300);
    size_t used = strlen(out->about);
    snprintf(out->about + used, sizeof out->about - used, ": ");
    if (ef_sweep_change(out, number)) return true;
    ef_sweep_free(out);
    return false;
}

void ef_sweep_free(ef_sweep_call *c) { ef_example_free(&c->e); }

/* Whether the results are small enough to run; *why is set if a shape is impossible. */
static bool moderate(const ef_fact *out, int n, const char **why) {
    for (int k = 0; k < n; k++) {
        const ef_shape *s = &out[k].shape;
        if (s->rank < -1 || s->rank > EF_MAX_RANK)
            *why = "inference made a shape of an impossible rank";
        if (ef_shape_count(s) == -2 || ef_shape_count(s) > LARGE) return false;
    }
    return *why == NULL;
}

static ef_status *infer(const ef_sweep_call *c, ef_fact *said, int *n) {
    ef_fact facts[EF_EXAMPLE_MAX_IN], handles[EF_EXAMPLE_MAX_IN];
    for (int k = 0; k < c->e.n_in; k++) {
        ef_fact_of(&c->e.in[k], &facts[k], &handles[k]);
        if (!c->declared) continue;
        if (memcmp(&facts[k].shape, &c->shape[k], sizeof facts[k].shape) != 0)
            facts[k].value = NULL;
        facts[k].shape = c->shape[k];
    }
    return ef_op_infer(c->op, ef_attrs_fields(c->e.attrs), facts, c->e.n_in, said, MAX_OUT, n);
}

bool ef_sweep_moderate(const ef_sweep_call *c) {
    ef_fact said[MAX_OUT];
    const char *why = NULL;
    int n = 0;
    ef_status *s = infer(c, said, &n);
    ef_status_free(s);
    return s || moderate(said, n, &why);
}

#ifdef NDEBUG
static const double patience = 1.5; /* seconds of processor time; the arguments are all small */
#else
static const double patience = 30;
#endif

static ef_canceller *limit; /* made once */

/* An op with an effect may wait for another thread, as one that takes more elements from a queue
 * than there are: it is cancelled after some seconds. Returns whether it will be. */
static bool begin_limit(const ef_op *op) {
    if (!(op->traits & EF_EFFECT)) return false;
    ef_status *s = limit == NULL ? ef_canceller_new(&limit) : NULL;
    if (s != NULL) {
        ef_status_free(s);
        return false;
    }
    ef_canceller_deadline(limit, 5);
    ef_canceller_use(limit);
    return true;
}

static void end_limit(void) {
    ef_canceller_use(NULL);
    ef_canceller_reset(limit);
}

const char *ef_sweep_run(ef_sweep_call *c) {
    static _Thread_local char text[600];
    ef_fact said[MAX_OUT];
    ef_tensor *in[EF_EXAMPLE_MAX_IN], out[MAX_OUT] = {{0}};
    const char *why = NULL;
    int n = 0, n_out = 0;
    for (int k = 0; k < c->e.n_in; k++) in[k] = &c->e.in[k];
    ef_status *s = infer(c, said, &n);
    if (!s && moderate(said, n, &why) && !c->declared) {
        double begin = (double)clock();
        bool limited = begin_limit(c->op);
        s = ef_op_run(ef_context_here(), c->op, ef_attrs_fields(c->e.attrs), in, c->e.n_in, out,
                      MAX_OUT, &n_out);
        if (limited) end_limit();
        if ((double)clock() - begin > patience * CLOCKS_PER_SEC) why = "it took seconds";
        for (int k = 0; !s && k < n_out; k++) {
            ef_shape got = ef_shape_from(&out[k]);
            if (!why && !ef_shape_may_equal(&said[k].shape, &got)) {
                snprintf(text, sizeof text, "output %d is %s but inference said %s", k,
                         EF_TENSOR(&out[k]), EF_SHAPE(&said[k].shape));
                why = text;
            }
            ef_tensor_release(&out[k]);
        }
    }
    if (s && !why && (ef_status_code(s) == EF_INTERNAL || ef_status_message(s)[0] == 0)) {
        snprintf(text, sizeof text, "internal: %s", ef_status_message(s));
        why = text;
    }
    ef_status_free(s);
    return why;
}
