/* Checking gradients against finite differences. A test builds a graph through an ef_graph_build;
 * `slopes_agree` appends gradients, runs both and compares. Everything is float64. */
#ifndef EF_TESTS_GRADCHECK_H
#define EF_TESTS_GRADCHECK_H
#include "autodiff/autodiff.h"
#include "base/alloc.h"
#include "check.h"
#include "graph/build_graph.h"
#include "plan/compile.h"

typedef ef_value *V;
enum { GC_MAX = 16 };

typedef struct bench {
    ef_graph_build b;
    ef_graph *g;
    ef_tensor in[GC_MAX]; /* a value for each input */
    int n_in;
} bench;

static inline ef_build *gc(bench *t) { return &t->b.base; }

static inline void bench_begin(bench *t) {
    memset(t, 0, sizeof *t);
    t->g = ef_graph_make();
    t->g->function = true;
    ef_graph_build_begin(&t->b, t->g);
}

static inline void bench_end(bench *t) {
    ef_status *s = ef_graph_build_end(&t->b);
    if (s != NULL) ef_check_ok(__FILE__, __LINE__, "building", s);
    for (int k = 0; k < t->n_in; k++) ef_tensor_release(&t->in[k]);
    ef_graph_unref(t->g);
    ef_compile_clear();
}

/* A parameter with values 0.3, 0.6, ... that do not repeat soon. */
static inline V input(bench *t, ef_dtype type, int rank, const int64_t *dim) {
    ef_shape s = ef_shape_of(rank, dim);
    ef_edge e;
    ef_tensor *v = &t->in[t->n_in];
    ef_build_fail(gc(t), ef_tensor_alloc(v, type, &s));
    int64_t n = ef_count(v);
    for (int64_t i = 0; i < n; i++)
        ef_element_set(type, v->data, i, 0.5 + 0.37 * sin(1.7 * (double)(i + 1) + 3 * t->n_in));
    t->n_in++;
    ef_build_fail(gc(t), ef_graph_input(t->g, type, &s, NULL, &e));
    return ef_graph_build_value(&t->b, e);
}
static inline V scalar(bench *t) { return input(t, EF_F64, 0, NULL); }
static inline V vector(bench *t, int64_t n) { return input(t, EF_F64, 1, &n); }
static inline V matrix(bench *t, int64_t m, int64_t n) {
    return input(t, EF_F64, 2, (int64_t[]){m, n});
}
/* A float64 parameter of unknown sizes, fed with a vector or matrix. */
static inline V vague(bench *t, int rank, const int64_t *dim) {
    V v = input(t, EF_F64, rank, dim);
    if (v == NULL) return NULL;
    ef_fact *f = t->g->node[ef_graph_build_edge(v).node]->out;
    for (int d = 0; d < rank; d++) f->shape.dim[d] = EF_DIM_UNKNOWN;
    return ef_graph_build_value(&t->b, ef_graph_build_edge(v));
}
static inline V integer(bench *t, int v) {
    V x = input(t, EF_I32, 0, NULL);
    *(int32_t *)t->in[t->n_in - 1].data = v;
    return x;
}
static inline V real(bench *t, double v) { return ef_const_number(gc(t), EF_F64, v); }

/* A function graph being written; its inputs are like the given facts. */
typedef struct fn {
    ef_graph_build b;
    ef_graph *g;
    V in[GC_MAX];
    int n_in;
} fn;
static inline void fn_begin(fn *f) {
    memset(f, 0, sizeof *f);
    f->g = ef_graph_make();
    f->g->function = true;
    ef_graph_build_begin(&f->b, f->g);
}
static inline V fn_input(fn *f, V like) {
    ef_edge e = {0, 0};
    if (like == NULL) return f->in[f->n_in++] = NULL; /* the failure was already reported */
    ef_fact fact = like->fact;
    fact.value = NULL;
    ef_build_fail(&f->b.base, ef_graph_input_like(f->g, &fact, NULL, &e));
    return f->in[f->n_in++] = ef_graph_build_value(&f->b, e);
}
static inline ef_graph *fn_end(fn *f, int n, V const *out) {
    ef_edge e[GC_MAX] = {{0, 0}};
    for (int k = 0; k < n && f->b.base.failed == NULL; k++) e[k] = ef_graph_build_edge(out[k]);
    ef_build_fail(&f->b.base, ef_graph_set_outputs(f->g, e, n));
    ef_check_ok(__FILE__, __LINE__, "a function", ef_graph_build_end(&f->b));
    return f->g;
}

/* Emits a control-flow node and releases its functions. */
static inline int control(ef_build *b, const char *op, const ef_attr_value *set, int n_set,
                          V const *in, int n_in, V *out) {
    int n = ef_emit_many(b, op, set, n_set, in, n_in, out, GC_MAX);
    for (int k = 0; k < n_set; k++)
        if (set[k].kind == EF_ATTR_FUNC) ef_graph_unref(set[k].as.func);
    return n;
}
static inline int loop(ef_build *b, ef_graph *cond, ef_graph *body, V const *in, int n, V *out) {
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    return control(b, "While", set, 2, in, n, out);
}

/* Runs the part of g between its inputs and `fetch`. */
static inline ef_status *evaluate(bench *t, const ef_edge *fetch, int n, ef_tensor *out) {
    ef_edge feed[GC_MAX];
    ef_tensor *in[GC_MAX];
    for (int k = 0; k < t->n_in; k++) {
        feed[k] = (ef_edge){t->g->input[k], 0};
        in[k] = &t->in[k];
    }
    ef_graph *f = NULL;
    ef_program *p = NULL;
    int32_t captures[GC_MAX];
    int n_captures = 0;
    ef_status *s = ef_graph_verify(t->g);
    if (s == NULL)
        s = ef_graph_extract(t->g, feed, t->n_in, fetch, n, NULL, 0, &f, captures, &n_captures);
    if (s == NULL) s = ef_compile(f, &p);
    if (s == NULL) s = ef_program_run(ef_context_here(), p, in, out);
    ef_program_unref(p);
    ef_graph_unref(f);
    return s;
}

static inline double total(const ef_tensor *t) {
    double sum = 0;
    int64_t n = ef_count(t);
    for (int64_t i = 0; i < n; i++) sum += ef_element_double((ef_dtype)t->dtype, t->data, i);
    return sum;
}

static inline ef_status *loss(bench *t, ef_edge y, double *out) {
    ef_tensor r;
    EF_TRY(evaluate(t, &y, 1, &r));
    *out = total(&r);
    ef_tensor_release(&r);
    return NULL;
}

/* Appends gradients of sum(y) as dense values; NULL where there is none. */
static inline bool grads(bench *t, V y, V const *x, int n, V *dx) {
    ef_edge xs[GC_MAX], ye;
    ef_gradient d[GC_MAX];
    if (gc(t)->failed != NULL)
        return ef_check_ok(__FILE__, __LINE__, "graph", gc(t)->failed), gc(t)->failed = NULL, false;
    ye = ef_graph_build_edge(y);
    for (int k = 0; k < n; k++) xs[k] = ef_graph_build_edge(x[k]);
    ef_status *s = ef_gradients(t->g, &ye, 1, NULL, xs, n, NULL, 0, d);
    if (s != NULL) return ef_check_ok(__FILE__, __LINE__, "ef_gradients", s);
    for (int k = 0; k < n; k++) {
        dx[k] = NULL;
        if (d[k].kind == EF_GRADIENT_DENSE) dx[k] = ef_graph_build_value(&t->b, d[k].value);
        if (d[k].kind == EF_GRADIENT_SLICES)
            dx[k] = ef_dense(gc(t), ef_slices(gc(t), ef_graph_build_value(&t->b, d[k].value),
                                              ef_graph_build_value(&t->b, d[k].indices),
                                              ef_graph_build_value(&t->b, d[k].dense_shape)));
    }
    return gc(t)->failed == NULL || ef_check_ok(__FILE__, __LINE__, "dense", NULL);
}

/* Compares dx, the value of a gradient, with differences of sum(y) along input x. */
static inline bool slope_agrees(bench *t, ef_edge y, int input_at, const ef_tensor *dx,
                                const char *file, int line) {
    ef_tensor *x = &t->in[input_at];
    ef_shape sx = ef_shape_from(x), sd = ef_shape_from(dx);
    if (!ef_shape_equal(&sx, &sd)) {
        ef_check_fail(file, line, "shape of the gradient");
        printf(": %s for %s\n", EF_SHAPE(&sd), EF_SHAPE(&sx));
        return false;
    }
    int64_t n = ef_count(x);
    for (int64_t i = 0; i < n; i++) {
        double *at = (double *)x->data + i, old = *at, h = 1e-5, up = 0, down = 0;
        *at = old + h;
        ef_status *s = loss(t, y, &up);
        *at = old - h;
        if (s == NULL) s = loss(t, y, &down);
        *at = old;
        double want = (up - down) / (2 * h);
        if (s != NULL) return ef_check_ok(file, line, "loss", s);
        if (!ef_check_near(file, line, "gradient", ((const double *)dx->data)[i], want,
                           1e-6 * (1 + fabs(want))))
            return false;
    }
    return true;
}

/* d sum(y) / dx for every x (inputs of the graph) by ef_gradients and by differences. */
static inline bool slopes_agree(bench *t, V y, V const *x, int n, const char *file, int line) {
    V dx[GC_MAX];
    ef_edge fetch[GC_MAX];
    ef_tensor r[GC_MAX];
    if (!grads(t, y, x, n, dx)) return false;
    ef_edge ye = ef_graph_build_edge(y);
    for (int k = 0; k < n; k++) {
        if (dx[k] == NULL) {
            ef_check_fail(file, line, "no gradient\n");
            return false;
        }
        fetch[k] = ef_graph_build_edge(dx[k]);
    }
    ef_status *s = evaluate(t, fetch, n, r);
    if (s != NULL) {
        char *text = NULL;
        ef_status_free(ef_graph_text(t->g, &text));
        if (text != NULL) printf("%s", text);
        ef_free(text);
        return ef_check_ok(file, line, "running the gradient", s);
    }
    bool good = true;
    for (int k = 0; k < n; k++) {
        int at = 0;
        while (t->g->input[at] != ef_graph_build_edge(x[k]).node) at++;
        good = good && slope_agrees(t, ye, at, &r[k], file, line);
        ef_tensor_release(&r[k]);
    }
    return good;
}
#define CHECK_SLOPES(t, y, ...)                                                           \
    EF_CHECK_(slopes_agree(t, y, (V const[]){__VA_ARGS__},                                \
                           (int)(sizeof((V const[]){__VA_ARGS__}) / sizeof(V)), __FILE__, \
                           __LINE__))
#endif
