/* Compares every gradient with central differences, one test per op that has one. A builder that
 * runs each op eagerly replaces the tape. With L = sum over outputs of <dout, f(x)>, a gradient
 * function must give dL/dx, and for complex x the sum dL/dRe + i dL/dIm. Each gradient is computed
 * twice: as a tape would, without the values that the record does not keep; and with all dims
 * unknown, as in a graph of unknown shapes (it may return EF_UNIMPLEMENTED then, but must not be
 * wrong). `ops_grads Name...` tests only those. */
#include "base/arena.h"
#include "check.h"
#include "ops/build.h"
#include "ops/example.h"
#include "ops/list/list.h"
#include "ops/run.h"
#include <stdarg.h>
#include <stdlib.h>

enum { MAX_OUT = 32, SEED = 40, PROBES = 24 };
static const ef_op *op;
static char name[300]; /* of the example being tested */

static void fail(const char *fmt, ...) {
    va_list args;
    ef_check.failed = true;
    printf("%s: ", name);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    printf("\n");
}

/* ---- a builder that runs ops eagerly --------------------------------------------------------- */

typedef struct live { /* a value with its tensor */
    ef_value v;
    ef_tensor t; /* dtype 0: withheld */
    struct live *next;
} live;
typedef struct runner {
    ef_build b;
    ef_arena arena;
    live *all;
    bool vague; /* facts have the rank and nothing else */
} runner;

static void *memory(ef_build *b, size_t n) { return ef_arena_zalloc(&((runner *)b)->arena, n); }

/* Takes ownership of t. */
static live *keep(runner *r, ef_tensor *t) {
    live *l = ef_arena_zalloc(&r->arena, sizeof *l);
    if (!l) return NULL;
    ef_tensor_move(&l->t, t);
    ef_fact_of(&l->t, &l->v.fact, NULL);
    if (r->vague) {
        l->v.fact.value = NULL;
        for (int d = 0; d < l->v.fact.shape.rank; d++) l->v.fact.shape.dim[d] = EF_DIM_UNKNOWN;
    }
    l->next = r->all;
    r->all = l;
    return l;
}

static ef_status *run_emit(ef_build *b, const ef_op *o, const ef_attrs *attrs, ef_value *const *in,
                           int n_in, ef_value **out, int max_out, int *n_out) {
    runner *r = (runner *)b;
    ef_tensor *ins[EF_EXAMPLE_MAX_IN], outs[MAX_OUT] = {{0}};
    if (n_in > EF_EXAMPLE_MAX_IN) return ef_error(EF_INTERNAL, "%s: too many inputs", o->name);
    for (int k = 0; k < n_in; k++) {
        ins[k] = &((live *)in[k])->t;
        if (ins[k]->dtype == EF_NO_DTYPE)
            return ef_error(EF_INTERNAL, "%s: input %d was not kept: the record's .keeps lacks it",
                            o->name, k);
    }
    EF_TRY(
        ef_op_run(ef_context_here(), o, ef_attrs_fields(attrs), ins, n_in, outs, MAX_OUT, n_out));
    if (*n_out > max_out) return ef_error(EF_INTERNAL, "%s: too many outputs", o->name);
    for (int k = 0; k < *n_out; k++) out[k] = &keep(r, &outs[k])->v;
    return NULL;
}

static ef_status *run_constant(ef_build *b, const ef_tensor *t, ef_value **out) {
    ef_tensor copy = {0};
    ef_tensor_copy(&copy, t);
    live *l = keep((runner *)b, &copy);
    ef_fact_of(&l->t, &l->v.fact, NULL); /* a constant is known in both cases */
    *out = &l->v;
    return NULL;
}

static void runner_init(runner *r, bool vague) {
    *r = (runner){.b = {run_emit, run_constant, memory, NULL}, .vague = vague};
}

static void runner_end(runner *r) {
    for (live *l = r->all; l; l = l->next) ef_tensor_release(&l->t);
    ef_arena_free(&r->arena);
    ef_status_free(r->b.failed);
}

/* ---- numbers -----------------------------------------------------------------------------------
 */

static ef_dtype real_of(ef_dtype t) { return t == EF_C64 ? EF_F32 : t == EF_C128 ? EF_F64 : t; }
static ef_list *list_of(const ef_tensor *t) {
    return t->dtype == EF_VARIANT && ef_is_list(t) ? t->data : NULL;
}
static ef_dtype dtype_of(const ef_tensor *t) { /* of the elements, for a TensorList too */
    const ef_list *l = list_of(t);
    return l ? l->dtype : (ef_dtype)t->dtype;
}
static bool differentiable(const ef_tensor *t) {
    return ef_dtype_in(dtype_of(t), EF_FLOATS | EF_COMPLEX);
}

/* A tensor counts as a row of real numbers, a TensorList as the concatenated rows of its
 * elements. */
static int64_t parts_of(const ef_tensor *t) {
    const ef_list *l = list_of(t);
    int64_t n = 0;
    if (!l) return ef_count(t) * (ef_dtype_in((ef_dtype)t->dtype, EF_COMPLEX) ? 2 : 1);
    for (int64_t k = 0; k < l->n; k++) n += l->item[k].dtype ? parts_of(&l->item[k]) : 0;
    return n;
}
static const ef_tensor *owner(const ef_tensor *t, int64_t *i) {
    const ef_list *l = list_of(t);
    for (int64_t k = 0; l && k < l->n; k++) {
        int64_t n = l->item[k].dtype ? parts_of(&l->item[k]) : 0;
        if (*i < n) return &l->item[k];
        *i -= n;
    }
    return t;
}
static double part(const ef_tensor *t, int64_t i) {
    t = owner(t, &i);
    return ef_element_double(real_of((ef_dtype)t->dtype), t->data, i);
}
static void set_part(ef_tensor *t, int64_t i, double v) {
    const ef_tensor *x = owner(t, &i);
    ef_element_set(real_of((ef_dtype)x->dtype), x->data, i, v);
}

/* The part of a gradient that belongs to part i of x. In the gradient of a list, elements without a
 * gradient are empty. */
static double grad_part(const ef_tensor *grad, const ef_tensor *x, int64_t i) {
    const ef_list *g = list_of(grad), *l = list_of(x);
    if (!g || !l) return part(grad, i);
    const ef_tensor *item = owner(x, &i);
    const ef_tensor *place = &g->item[item - l->item];
    return place->dtype ? part(place, i) : 0;
}
static bool same_form(const ef_tensor *grad, const ef_tensor *x) {
    const ef_list *g = list_of(grad), *l = list_of(x);
    ef_shape sx = ef_shape_from(x), sg = ef_shape_from(grad);
    if (dtype_of(grad) != dtype_of(x) || !g != !l) return false;
    if (!l) return ef_shape_equal(&sx, &sg);
    for (int64_t k = 0; k < l->n && g->n == l->n; k++)
        if (g->item[k].dtype && !same_form(&g->item[k], &l->item[k])) return false;
    return g->n == l->n;
}

/* The tensor that is perturbed: the input, or the value of the variable it refers to. */
static ef_tensor *target(ef_tensor *t) {
    ef_variable *v = (ef_variable *)(void *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    return t->dtype == EF_RESOURCE && v ? &v->value : t;
}

typedef struct trial { /* one example and the upstream gradients of its outputs */
    ef_example e;
    ef_tensor *in[EF_EXAMPLE_MAX_IN];
    ef_tensor out[MAX_OUT], dout[MAX_OUT]; /* dout: dtype 0 for an output without a gradient */
    int n_out;
    bool compared; /* with differences; if not, TensorFlow may have no gradient there either */
} trial;

static ef_status *forward(trial *t, ef_tensor *out) {
    int n;
    return ef_op_run(ef_context_here(), op, ef_attrs_fields(t->e.attrs), t->in, t->e.n_in, out,
                     MAX_OUT, &n);
}

static ef_status *loss(trial *t, double *sum) {
    ef_tensor out[MAX_OUT] = {{0}};
    EF_TRY(forward(t, out));
    *sum = 0;
    for (int k = 0; k < t->n_out; k++) {
        for (int64_t i = 0; t->dout[k].dtype && i < parts_of(&out[k]); i++)
            *sum += part(&out[k], i) * part(&t->dout[k], i);
        ef_tensor_release(&out[k]);
    }
    return NULL;
}

static ef_status *random_like(const ef_tensor *t, uint64_t *state, ef_tensor *out) {
    ef_list *l = list_of(t), *made;
    if (l) {
        EF_TRY(ef_list_make(l->dtype, &l->element, l->n, &made));
        ef_tensor_from_object(out, EF_VARIANT, &made->object);
        for (int64_t k = 0; k < l->n; k++)
            if (l->item[k].dtype) EF_TRY(random_like(&l->item[k], state, &made->item[k]));
        return NULL;
    }
    ef_shape s = ef_shape_from(t);
    EF_TRY(ef_tensor_alloc(out, (ef_dtype)t->dtype, &s));
    for (int64_t i = 0; i < parts_of(out); i++) {
        *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
        set_part(out, i, (double)(*state % 2000) / 1000 - 1);
    }
    return NULL;
}

static ef_status *make_douts(trial *t, bool all) {
    uint64_t state = 88172645463325252u;
    for (int k = 0; k < t->n_out; k++)
        if (differentiable(&t->out[k]) && (k == 0 || all))
            EF_TRY(random_like(&t->out[k], &state, &t->dout[k]));
    return NULL;
}

/* ---- gradients ---------------------------------------------------------------------------------
 */

static bool kept(int bit) {
    return op->keeps == 0 ||
           (!(op->keeps & EF_KEEP_NONE) && (bit > 30 || ((op->keeps >> bit) & 1u)));
}

static ef_value *lend(runner *r, const ef_tensor *t, bool whole) {
    ef_tensor copy = {0};
    ef_tensor_copy(&copy, t);
    live *l = keep(r, &copy);
    if (!whole) {
        ef_tensor_release(&l->t);
        l->v.fact.value = NULL;
    }
    return &l->v;
}

/* Runs the gradient function; din[k] are the dense results or NULL. */
static bool gradients(trial *t, runner *r, bool strict, ef_tensor **din) {
    ef_value *in[EF_EXAMPLE_MAX_IN], *out[MAX_OUT], *dout[MAX_OUT], *d[EF_EXAMPLE_MAX_IN] = {NULL};
    for (int k = 0; k < t->e.n_in; k++) in[k] = lend(r, t->in[k], !strict || kept(k));
    for (int k = 0; k < t->n_out; k++) {
        out[k] = lend(r, &t->out[k], !strict || kept(16 + k));
        dout[k] = t->dout[k].dtype ? lend(r, &t->dout[k], true) : NULL;
    }
    ef_grad g = {&r->b, op, ef_attrs_fields(t->e.attrs), t->e.n_in, t->n_out, in, out, dout, d};
    ef_status *s = op->grad(&g);
    if (s) ef_build_fail(&r->b, s);
    for (int k = 0; k < t->e.n_in; k++) {
        ef_value *v = ef_dense(&r->b, d[k]);
        din[k] = v ? &((live *)v)->t : NULL;
    }
    bool may_fail = r->vague || !t->compared;
    if (r->b.failed && !(may_fail && ef_status_code(r->b.failed) == EF_UNIMPLEMENTED))
        fail("the gradient %sfailed with code %d: %s", r->vague ? "for unknown shapes " : "",
             (int)ef_status_code(r->b.failed), ef_status_message(r->b.failed));
    return !r->b.failed;
}

/* ---- comparing ---------------------------------------------------------------------------------
 */

static ef_status *slope(trial *t, ef_tensor *x, int64_t i, double h, double *out) {
    double at = part(x, i), up = 0, down = 0;
    set_part(x, i, at + h);
    double high = part(x, i);
    ef_status *s = loss(t, &up);
    set_part(x, i, at - h);
    double low = part(x, i);
    if (!s) s = loss(t, &down);
    set_part(x, i, at);
    *out = (up - down) / (high - low);
    return s;
}

static void check_input(trial *t, int k, const ef_tensor *grad) {
    ef_tensor *x = target(t->in[k]);
    bool wide = real_of(dtype_of(x)) == EF_F64;
    for (int j = 0; j < t->n_out; j++) wide &= real_of(dtype_of(&t->dout[j])) != EF_F32;
    double h = wide ? 1e-5 : 4e-3, tolerance = wide ? 1e-6 : 2e-2;
    int64_t n = parts_of(x), step = n > PROBES ? n / PROBES : 1;
    if (grad && !same_form(grad, x)) {
        fail("gradient of input %d is %s but the input is %s", k, EF_TENSOR(grad), EF_TENSOR(x));
        return;
    }
    for (int64_t i = 0; i < n; i += step) {
        double want = 0, got = grad ? grad_part(grad, x, i) : 0;
        ef_status *s = slope(t, x, i, h, &want);
        if (s) {
            fail("forward failed: %s", ef_status_message(s));
            ef_status_free(s);
            return;
        }
        if (fabs(want - got) <= tolerance * (1 + fabs(want)) || (isnan(want) && isnan(got)))
            continue;
        fail("input %d, element %lld: %s is %.9g but differences say %.9g", k, (long long)i,
             grad ? "gradient" : "there is no gradient, which", got, want);
        return;
    }
}

/* The gradient for unknown shapes must be the same numbers. */
static void check_vague(trial *t, ef_tensor *const *din) {
    runner r;
    ef_tensor *again[EF_EXAMPLE_MAX_IN] = {NULL};
    runner_init(&r, true);
    if (gradients(t, &r, false, again))
        for (int k = 0; k < t->e.n_in; k++) {
            if (!din[k] != !again[k]) fail("input %d: a gradient depends on knowing shapes", k);
            if (!din[k] || !again[k]) continue;
            bool same = same_form(again[k], din[k]) && parts_of(again[k]) == parts_of(din[k]);
            for (int64_t i = 0; same && i < parts_of(din[k]); i++) {
                double x = part(din[k], i), y = part(again[k], i);
                same = fabs(x - y) <= 1e-5 * (1 + fabs(x)) || (isnan(x) && isnan(y));
            }
            if (!same) fail("input %d: the gradient for unknown shapes is another", k);
        }
    runner_end(&r);
}

/* ---- one example -------------------------------------------------------------------------------
 */

static bool wanted(const trial *t) {
    bool some = false;
    for (int k = 0; k < t->e.n_in; k++) {
        const ef_tensor *x = target(t->in[k]);
        ef_dtype d = dtype_of(x);
        if (d == EF_F16 || d == EF_BF16) return false; /* too coarse for differences */
        some |= differentiable(x);
    }
    for (int k = 0; k < t->n_out; k++)
        if (t->dout[k].dtype == EF_F16 || t->dout[k].dtype == EF_BF16) return false;
    return some;
}

static void trial_end(trial *t) {
    for (int k = 0; k < MAX_OUT; k++) {
        ef_tensor_release(&t->out[k]);
        ef_tensor_release(&t->dout[k]);
    }
    ef_example_free(&t->e);
}

static ef_status *trial_make(trial *t, int example, bool wide) {
    memset(t, 0, sizeof *t);
    EF_TRY(wide ? ef_example_make_wide(op, example, SEED, &t->e)
                : ef_example_make(op, example, SEED, &t->e));
    for (int k = 0; k < t->e.n_in; k++) t->in[k] = &t->e.in[k];
    ef_status *s = ef_op_run(ef_context_here(), op, ef_attrs_fields(t->e.attrs), t->in, t->e.n_in,
                             t->out, MAX_OUT, &t->n_out);
    if (!s) s = make_douts(t, ef_example_gradient(op, example) == EF_GRAD_ALL);
    t->compared = ef_example_gradient(op, example) != EF_GRAD_NOT;
    if (s) trial_end(t);
    return s;
}

static void check_example(int example) {
    static trial t;
    runner r;
    ef_tensor *din[EF_EXAMPLE_MAX_IN] = {NULL};
    ef_example_name(op, example, name, sizeof name);
    ef_status *s = trial_make(&t, example, true);
    if (s) { /* not for the wide types, perhaps */
        ef_status_free(s);
        s = trial_make(&t, example, false);
    }
    if (s) {
        fail("forward failed: %s", ef_status_message(s));
        ef_status_free(s);
        return;
    }
    bool some = false;
    for (int k = 0; k < t.n_out; k++) some |= t.dout[k].dtype != EF_NO_DTYPE;
    runner_init(&r, false);
    if (some && wanted(&t) && gradients(&t, &r, true, din)) {
        for (int k = 0; k < t.e.n_in && t.compared; k++)
            if (differentiable(target(t.in[k])) && !((op->no_grad_in >> k) & 1u))
                check_input(&t, k, din[k]);
        check_vague(&t, din);
    }
    runner_end(&r);
    trial_end(&t);
}

static int current;
EF_TEST(one_op) {
    op = ef_op_table[current];
    for (int k = 0, n = ef_example_count(op); k < n && !ef_check.failed; k++) check_example(k);
}

int main(int argc, char **argv) {
    for (current = 0; current < EF_OP_COUNT; current++) {
        const ef_op *o = ef_op_table[current];
        bool chosen = argc < 2;
        for (int k = 1; k < argc; k++) chosen |= strcmp(argv[k], o->name) == 0;
        if (chosen && o->grad && !(o->traits & (EF_CONTROL | EF_NO_KERNEL)))
            ef_check_run(o->name, one_op);
    }
    if (ef_check.passes + ef_check.failures + ef_check.skips == 0) {
        printf("no op of such a name has a gradient function\n");
        return 2;
    }
    return EF_VERDICT();
}
