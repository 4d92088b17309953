/* Compares the gradient of every op in a graph of which only the ranks are known with the gradient
 * of a tape. For each example of the registry the op is built with placeholders of unknown sizes;
 * its gradients are added and run by a session with the example's values. Inputs with axes, sizes
 * and indices are constants in the first round and placeholders in the second; in the last round
 * even the ranks are unknown. If a gradient is differentiable, the second order is compared too, as
 * the gradient of the sum of its squares.   tests_vague_gradients Name...   tests only those. */
#include "case.h"
#include "check.h"
#include "evenflow_binding.h"
#include "ops/example.h"

enum { MOST_OUT = 32, PARTS = 3 * EF_EXAMPLE_MAX_IN };
static const ef_op *op;
static char name[300];

typedef struct answer { /* gradients by input, in parts as ef_tape_gradients gives them */
    ef_tensor part[PARTS];
    bool slices[EF_EXAMPLE_MAX_IN];
} answer;

static bool is_float(const ef_tensor *t) {
    return ef_dtype_in((ef_dtype)t->dtype, EF_FLOATS | EF_COMPLEX);
}
static bool is_source(const ef_tensor *t) { return is_float(t) || t->dtype == EF_RESOURCE; }

static void answer_free(answer *a) {
    for (int k = 0; k < PARTS; k++) ef_tensor_release(&a->part[k]);
}

/* The outputs that are differentiated. */
static int targets(const ef_tensor *out, int n_out, bool first, const ef_tensor **target) {
    int n = 0;
    for (int k = 0; k < n_out && (!first || k == 0); k++)
        if (is_float(&out[k])) target[n++] = &out[k];
    return n;
}

static ef_status *dense(const ef_tensor *part, bool slices, ef_tensor *out) {
    if (!slices) {
        ef_tensor_copy(out, part);
        return NULL;
    }
    int32_t axis = 0;
    ef_tensor at = {0}, rows = {0};
    int n;
    const ef_tensor *pick[] = {&part[2], NULL, NULL}, *sum[] = {&part[0], &part[1], &rows};
    ef_status *s = ef_tensor_from(EF_I32, NULL, &axis, &at);
    pick[1] = pick[2] = &at;
    if (s == NULL) s = ef_call_op(ef_op_find("GatherV2"), NULL, pick, 3, &rows, 1, &n);
    if (s == NULL) s = ef_call_op(ef_op_find("UnsortedSegmentSum"), NULL, sum, 3, out, 1, &n);
    ef_tensor_release(&at);
    ef_tensor_release(&rows);
    return s;
}

/* sum(d * d) over all existing gradients, which depends on the inputs again. */
static ef_status *squares(const answer *a, const ef_tensor *const *source, int n, ef_tensor *out,
                          int *n_out) {
    *n_out = 0;
    for (int k = 0; k < n; k++) {
        if (a->part[3 * k].dtype == EF_NO_DTYPE || !is_float(&a->part[3 * k])) continue;
        (void)source;
        ef_tensor d = {0};
        int one;
        EF_TRY(dense(&a->part[3 * k], a->slices[k], &d));
        const ef_tensor *in[] = {&d, &d};
        ef_status *s = ef_call_op(ef_op_find("Mul"), NULL, in, 2, &out[*n_out], 1, &one);
        ef_tensor_release(&d);
        if (s != NULL) return s;
        ++*n_out;
    }
    return NULL;
}

static void release(ef_tensor *t, int n) {
    for (int k = 0; k < n; k++) ef_tensor_release(&t[k]);
}

/* ---- by tape -----------------------------------------------------------------------------------
 */

static ef_status *by_tape(ef_example *e, bool first_only, answer *first, answer *second,
                          bool *has_second) {
    ef_tape *outer = NULL, *inner = NULL;
    const ef_tensor *in[EF_EXAMPLE_MAX_IN], *source[EF_EXAMPLE_MAX_IN], *target[MOST_OUT];
    ef_tensor out[MOST_OUT] = {{0}}, square[MOST_OUT] = {{0}};
    int n = 0, n_out = 0, n_square = 0;
    ef_status *s;
    *has_second = false;
    EF_TRY_GOTO(ef_tape_start(true, &outer));
    EF_TRY_GOTO(ef_tape_start(true, &inner));
    for (int k = 0; k < e->n_in; k++) {
        in[k] = &e->in[k];
        if (!is_source(&e->in[k])) continue;
        EF_TRY_GOTO(ef_tape_watch(outer, &e->in[k]));
        EF_TRY_GOTO(ef_tape_watch(inner, &e->in[k]));
        source[n++] = &e->in[k];
    }
    EF_TRY_GOTO(ef_call_op(op, e->attrs, in, e->n_in, out, MOST_OUT, &n_out));
    ef_tape_stop(inner);
    int n_target = targets(out, n_out, first_only, target);
    if (n_target == 0) goto done;
    EF_TRY_GOTO(
        ef_tape_gradients(inner, target, n_target, NULL, source, n, first->part, first->slices));
    if (squares(first, source, n, square, &n_square) == NULL && n_square > 0) {
        ef_tape_stop(outer);
        n_target = targets(square, n_square, false, target);
        ef_status *bad = ef_tape_gradients(outer, target, n_target, NULL, source, n, second->part,
                                           second->slices);
        *has_second = bad == NULL; /* some gradients have none themselves */
        ef_status_free(bad);
    }
done:
    ef_tape_free(inner);
    ef_tape_free(outer);
    release(out, MOST_OUT);
    release(square, MOST_OUT);
    return s;
}

/* ---- by graph ----------------------------------------------------------------------------------
 */

typedef struct drawing {
    ef_graph *g;
    ef_tensor in[EF_EXAMPLE_MAX_IN]; /* symbolic, or the example's own */
    ef_tensor feed[EF_EXAMPLE_MAX_IN], value[EF_EXAMPLE_MAX_IN];
    int n_feed;
} drawing;

typedef enum known { INDICES_CONSTANT, NOTHING_CONSTANT, RANKS_UNKNOWN, ROUNDS } known;

static ef_status *draw(drawing *d, const ef_example *e, known which) {
    d->g = ef_graph_new();
    if (d->g == NULL) return ef_no_memory(1);
    for (int k = 0; k < e->n_in; k++) {
        const ef_tensor *v = &e->in[k];
        if (v->dtype == EF_RESOURCE || (which != NOTHING_CONSTANT && !is_float(v))) {
            ef_tensor_copy(&d->in[k], v);
            continue;
        }
        ef_shape shape = ef_shape_from(v);
        for (int i = 0; i < shape.rank; i++) shape.dim[i] = EF_DIM_UNKNOWN;
        if (which == RANKS_UNKNOWN) shape.rank = -1;
        EF_TRY(ef_graph_placeholder(d->g, (ef_dtype)v->dtype, &shape, NULL, &d->in[k]));
        ef_tensor_copy(&d->feed[d->n_feed], &d->in[k]);
        ef_tensor_copy(&d->value[d->n_feed++], v);
    }
    return NULL;
}

static void erase(drawing *d) {
    release(d->in, EF_EXAMPLE_MAX_IN);
    release(d->feed, EF_EXAMPLE_MAX_IN);
    release(d->value, EF_EXAMPLE_MAX_IN);
    ef_graph_free(d->g);
}

/* Values of symbolic gradients. */
static ef_status *fetch(drawing *d, const answer *symbolic, int n, answer *out) {
    ef_tensor want[PARTS], got[PARTS] = {{0}};
    int place[PARTS], n_want = 0;
    for (int k = 0; k < 3 * n; k++) {
        if (symbolic->part[k].dtype == EF_NO_DTYPE) continue;
        place[n_want] = k;
        want[n_want++] = symbolic->part[k];
    }
    memcpy(out->slices, symbolic->slices, sizeof out->slices);
    if (n_want == 0) return NULL;
    ef_session *session = NULL;
    ef_status *s = ef_session_new(d->g, &session);
    if (s == NULL)
        s = ef_session_run(session, d->feed, d->value, d->n_feed, want, n_want, NULL, 0, got);
    for (int k = 0; k < n_want && s == NULL; k++) ef_tensor_move(&out->part[place[k]], &got[k]);
    ef_session_free(session);
    return s;
}

static ef_status *by_graph(drawing *d, const ef_example *e, bool first_only, bool with_second,
                           answer *first, answer *second, bool *drawn) {
    const ef_tensor *in[EF_EXAMPLE_MAX_IN], *source[EF_EXAMPLE_MAX_IN], *target[MOST_OUT];
    ef_tensor out[MOST_OUT] = {{0}}, square[MOST_OUT] = {{0}};
    answer a = {0}, b = {0};
    int n = 0, n_out = 0, n_square = 0;
    ef_status *s;
    EF_TRY(ef_graph_enter(d->g));
    for (int k = 0; k < e->n_in; k++) {
        in[k] = &d->in[k];
        if (is_source(in[k])) source[n++] = in[k];
    }
    EF_TRY_GOTO(ef_call_op(op, e->attrs, in, e->n_in, out, MOST_OUT, &n_out));
    *drawn = true;
    int n_target = targets(out, n_out, first_only, target);
    if (n_target == 0) goto done;
    EF_TRY_GOTO(
        ef_graph_gradients_of(target, n_target, NULL, source, n, NULL, 0, a.part, a.slices));
    EF_TRY_GOTO(fetch(d, &a, n, first));
    if (!with_second) goto done;
    EF_TRY_GOTO(squares(&a, source, n, square, &n_square));
    n_target = targets(square, n_square, false, target);
    EF_TRY_GOTO(
        ef_graph_gradients_of(target, n_target, NULL, source, n, NULL, 0, b.part, b.slices));
    s = fetch(d, &b, n, second);
done:
    ef_status_free(ef_graph_leave(d->g));
    release(out, MOST_OUT);
    release(square, MOST_OUT);
    answer_free(&a);
    answer_free(&b);
    return s;
}

/* ---- both --------------------------------------------------------------------------------------
 */

static ef_status *materialized(const ef_tensor *t) {
    const void *unused;
    return t->dtype != EF_NO_DTYPE ? ef_tensor_data(t, &unused) : NULL;
}

static ef_status *same(const answer *want, const answer *got, int n, double tolerance, bool strict,
                       const char *order) {
    for (int k = 0; k < n; k++) {
        ef_tensor x = {0}, y = {0};
        double worst = 0;
        EF_TRY(dense(&want->part[3 * k], want->slices[k], &x));
        EF_TRY(dense(&got->part[3 * k], got->slices[k], &y));
        EF_TRY(materialized(&x));
        EF_TRY(materialized(&y));
        ef_shape a = ef_shape_from(&x), b = ef_shape_from(&y);
        bool good = x.dtype == y.dtype && (x.dtype == EF_NO_DTYPE || ef_shape_equal(&a, &b)) &&
                    (want->slices[k] == got->slices[k] || !strict) &&
                    (x.dtype == EF_NO_DTYPE || ef_case_same(&x, &y, tolerance, &worst));
        ef_status *s = good ? NULL
                            : ef_error(EF_INTERNAL,
                                       "%s gradient of source %d: %s by tape, %s by graph (slices "
                                       "%d and %d), relative difference %g",
                                       order, k, EF_TENSOR(&x), EF_TENSOR(&y), want->slices[k],
                                       got->slices[k], worst);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
        if (s != NULL) return s;
    }
    return NULL;
}

static double tolerance_of(const ef_example *e) {
    for (int k = 0; k < e->n_in; k++)
        if (ef_dtype_in((ef_dtype)e->in[k].dtype, EF_BIT(F16) | EF_BIT(BF16))) return 5e-2;
    return 1e-4;
}

static ef_status *round_of(const ef_example *e, known which, bool first_only, const answer *want,
                           const answer *want2, bool has_second, int n) {
    drawing d = {0};
    answer first = {0}, second = {0};
    /* If the axis is unknown, so is whether the gradient is IndexedSlices; TensorFlow too. */
    bool drawn = false, strict = which == INDICES_CONSTANT;
    ef_status *s = draw(&d, e, which);
    if (s == NULL) s = by_graph(&d, e, first_only, has_second, &first, &second, &drawn);
    if (s != NULL && !drawn) { /* the op itself must know more */
        ef_status_free(s);
        s = NULL;
    } else {
        if (s == NULL) s = same(want, &first, n, tolerance_of(e), strict, "first");
        if (s == NULL && has_second) s = same(want2, &second, n, tolerance_of(e), strict, "second");
    }
    answer_free(&first);
    answer_free(&second);
    erase(&d);
    return s;
}

static bool fits(const ef_example *e) {
    bool any = false;
    for (int k = 0; k < e->n_in; k++) {
        if (e->in[k].dtype == EF_VARIANT) return false;
        any = any || is_source(&e->in[k]);
    }
    return any;
}

/* A gradient may fail as unimplemented for unknown shapes, but must not be wrong. */
static ef_status *unless_unimplemented(ef_status *s) {
    if (s == NULL || ef_status_code(s) != EF_UNIMPLEMENTED) return s;
    ef_status_free(s);
    return NULL;
}

/* compared: TensorFlow has a gradient there. */
static ef_status *example(ef_example *e, bool first_only, bool compared) {
    answer first = {0}, second = {0};
    bool has_second = false;
    int n = 0;
    for (int k = 0; k < e->n_in; k++) n += is_source(&e->in[k]);
    ef_status *s = by_tape(e, first_only, &first, &second, &has_second);
    static const char *const said[] = {"indices constant", "nothing constant", "ranks unknown"};
    for (int r = 0; r < ROUNDS && s == NULL; r++) {
        s = round_of(e, (known)r, first_only, &first, &second, has_second, n);
        s = unless_unimplemented(s);
        if (s != NULL) s = ef_status_add(s, "%s", said[r]);
    }
    if (!compared) s = unless_unimplemented(s);
    answer_free(&first);
    answer_free(&second);
    return s;
}

static void one_op(void) {
    for (int k = 0; k < ef_example_count(op); k++) {
        ef_example e;
        ef_example_name(op, k, name, sizeof name);
        CHECK_OK(ef_example_make(op, k, 11, &e));
        ef_example_grad g = ef_example_gradient(op, k);
        ef_status *s = fits(&e) ? example(&e, g == EF_GRAD_FIRST, g != EF_GRAD_NOT) : NULL;
        ef_example_free(&e);
        if (s != NULL) printf("%s\n", name);
        CHECK_OK(s);
    }
}

int main(int argc, char **argv) {
    uint32_t not_these = EF_CONTROL | EF_NO_KERNEL | EF_EFFECT;
    for (int k = 0; k < EF_OP_COUNT; k++) {
        op = ef_op_table[k];
        bool chosen = argc < 2;
        for (int i = 1; i < argc; i++) chosen = chosen || strcmp(argv[i], op->name) == 0;
        if (chosen && op->grad != NULL && !(op->traits & not_these)) ef_check_run(op->name, one_op);
    }
    return EF_VERDICT();
}
