/* Tapes inside traces: what TensorFlow's GradientTape does inside a tf.function. Each scene is a
 * function that is traced with a tape in it and then called with values; TensorFlow's rules say
 * which gradients there are. */
#include "base/alloc.h"
#include "base/status.h"
#include "check.h"
#include "evenflow_binding.h"
#include <stdarg.h>

enum { ROOM = 200 };
typedef ef_tensor *T;
static ef_tensor pool[ROOM]; /* all tensors that a test created */
static int used;
static ef_status *failed; /* the first failure of a scene */

static void clean(void) {
    for (int k = 0; k < used; k++) ef_tensor_release(&pool[k]);
    memset(pool, 0, sizeof pool);
    used = 0;
    ef_status_free(failed);
    failed = NULL;
}

static T room(void) { return &pool[used < ROOM - 1 ? used++ : ROOM - 1]; }

static void keep(ef_status *s) {
    if (failed == NULL)
        failed = s;
    else
        ef_status_free(s);
}

static T op(const char *name, int n, ...) {
    const ef_tensor *in[8];
    va_list args;
    va_start(args, n);
    for (int k = 0; k < n; k++) in[k] = va_arg(args, T);
    va_end(args);
    T out = room();
    int n_out = 0;
    if (failed == NULL) keep(ef_call_op(ef_op_find(name), NULL, in, n, out, 1, &n_out));
    return out;
}
static T mul(T a, T b) { return op("Mul", 2, a, b); }
static T add(T a, T b) { return op("AddV2", 2, a, b); }

static T value(int n, const float *v) { /* n 0: a scalar */
    ef_shape s = {.rank = 1, .dim = {n}};
    T out = room();
    keep(ef_tensor_from(EF_F32, n > 0 ? &s : NULL, v, out));
    return out;
}
static T number(float v) { return value(0, &v); }
static T whole(int n, const int32_t *v) {
    ef_shape s = {.rank = 1, .dim = {n}};
    T out = room();
    keep(ef_tensor_from(EF_I32, &s, v, out));
    return out;
}

static T variable(T start) {
    T out = room();
    keep(ef_variable_new(start, "v", out));
    return out;
}
static T read(T handle) {
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F32)};
    const ef_op *what = ef_op_find("ReadVariableOp");
    const ef_attrs *attrs = NULL;
    const ef_tensor *in[] = {handle};
    T out = room();
    int n = 0;
    keep(ef_attrs_make(what, set, 1, &attrs));
    if (failed == NULL) keep(ef_call_op(what, attrs, in, 1, out, 1, &n));
    ef_attrs_unref(attrs);
    return out;
}

static ef_tape *tape(bool persistent) {
    ef_tape *t = NULL;
    keep(ef_tape_start(persistent, &t));
    return t;
}
static void watch(ef_tape *t, T x) {
    if (failed == NULL) keep(ef_tape_watch(t, x));
}

/* The gradient, dense or the values of slices; dtype 0: none. */
static T grad_given(ef_tape *t, T y, T dy, T x) {
    ef_tensor out[3] = {{0}};
    bool slices = false;
    const ef_tensor *target[] = {y}, *source[] = {x}, *dout[] = {dy};
    if (failed == NULL) keep(ef_tape_gradients(t, target, 1, dout, source, 1, out, &slices));
    T first = room();
    *first = out[0];
    if (out[0].data == (void *)out[0].small) first->data = first->small;
    ef_tensor_release(&out[1]);
    ef_tensor_release(&out[2]);
    return first;
}
static T grad(ef_tape *t, T y, T x) { return grad_given(t, y, NULL, x); }
static bool none(const ef_tensor *t) { return t->dtype == EF_NO_DTYPE; }

/* ---- running a scene ---------------------------------------------------------------------------
 */

typedef T scene(T x); /* returns the result; further observations go to `said` */
static bool said[16];
static T outside; /* a value or variable of the test's */

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    scene *const *s = user;
    T x = room();
    (void)n_in, (void)max_out;
    ef_tensor_copy(x, &in[0]);
    T y = (*s)(x);
    if (failed == NULL) ef_tensor_copy(out, y);
    *n_out = failed == NULL;
    ef_status *bad = failed;
    failed = NULL;
    return bad;
}

static double at(const ef_tensor *t, int k) {
    const void *v = NULL;
    ef_status *bad = ef_tensor_data(t, &v);
    ef_status_free(bad);
    return v != NULL ? (double)((const float *)v)[k] : NAN;
}

/* Runs the scene as a function of x; *out is the first element of its result. */
static ef_status *play(scene *s, T x, double *out) {
    ef_function *f = NULL;
    ef_tensor y = {0};
    const ef_tensor *in[] = {x};
    int n = 0;
    ef_status *bad = ef_function_new(trace, &s, "scene", &f);
    if (bad == NULL) bad = ef_function_call(f, in, 1, &y, 1, &n);
    if (bad == NULL) *out = at(&y, 0);
    ef_tensor_release(&y);
    ef_function_free(f);
    return bad;
}
#define PLAYS(s, x, want)             \
    do {                              \
        double got_ = NAN;            \
        CHECK_OK(play(s, x, &got_));  \
        CHECK_NEAR(got_, want, 1e-4); \
    } while (0)

/* ---- the rules ---------------------------------------------------------------------------------
 */

static T plain(T x) {
    ef_tape *t = tape(false);
    watch(t, x);
    T y = mul(x, mul(x, x));
    T d = grad(t, y, x);
    ef_status *again = ef_tape_gradient(t, y, NULL, (const ef_tensor *[]){x}, 1, room());
    said[0] = ef_status_code(again) == EF_FAILED_PRECONDITION;
    ef_status_free(again);
    ef_tape_free(t);
    return d;
}

static T unwatched(T x) {
    ef_tape *t = tape(true);
    T y = mul(x, x);
    said[0] = none(grad(t, y, x));
    watch(t, x); /* too late for y */
    said[1] = none(grad(t, y, x));
    T z = mul(x, y), d = grad(t, z, x); /* y is a constant to the tape */
    said[2] = none(grad(t, z, y));
    ef_tape_free(t);
    return d;
}

static T windows(T x) {
    T before = mul(x, x);
    ef_tape *t = tape(true);
    watch(t, x);
    said[0] = none(grad(t, before, x));
    T inside = mul(x, x);
    ef_tape_pause(t);
    T paused = mul(x, x);
    ef_tape_pause(t);
    ef_tape_resume(t);
    T still = mul(x, x);
    ef_tape_resume(t);
    T again = mul(inside, x);
    said[1] = none(grad(t, paused, x));
    said[2] = none(grad(t, still, x));
    T sum = add(again, mul(paused, x)); /* x^3 + [x^2] x */
    ef_tape_stop(t);
    T after = mul(x, x);
    said[3] = none(grad(t, after, x));
    T d = grad(t, sum, x);
    said[4] = !none(grad(t, again, inside)); /* made in the window from x */
    said[5] = none(grad(t, again, paused));
    ef_tape_free(t);
    return d;
}

EF_TEST(what_a_tape_sees_in_a_trace) {
    T x = number(2);
    PLAYS(plain, x, 12);
    CHECK(said[0]); /* once only */
    PLAYS(unwatched, x, 4);
    CHECK(said[0] && said[1] && said[2]);
    PLAYS(windows, x, 12 + 4);
    for (int k = 0; k < 6; k++) CHECK(said[k]);
    clean();
}

static T variables(T x) {
    T other = variable(number(5)), fixed = variable(number(7));
    keep(ef_variable_set_trainable(fixed, false));
    ef_tape *t = tape(true);
    T y = mul(mul(read(outside), x), mul(read(outside), read(fixed)));
    said[0] = none(grad(t, y, fixed));
    said[1] = none(grad(t, y, other));
    ef_tensor seen[2] = {{0}};
    said[2] = ef_tape_watched(t, seen, 2) == 1 && seen[0].storage == outside->storage;
    ef_tensor_release(&seen[0]);
    watch(t, fixed);
    said[3] = !none(grad(t, mul(read(fixed), x), fixed));
    ef_tape_reset(t);
    said[4] = ef_tape_watched(t, NULL, 0) == 0 && none(grad(t, y, outside));
    T z = mul(read(outside), y), d = grad(t, z, outside); /* y is from before */
    ef_tape_free(t);
    t = tape(false);
    ef_tape_set_auto_watch(t, false);
    said[5] = none(grad(t, read(outside), outside));
    ef_tape_free(t);
    return d;
}

EF_TEST(variables_are_watched_by_being_used) {
    outside = variable(number(3));
    PLAYS(variables, number(2), 3 * 3 * 2 * 7);
    for (int k = 0; k < 6; k++) CHECK(said[k]);
    clean();
}

static T second(T x) { /* x^4: 12 x^2; the third by a persistent tape of its own */
    ef_tape *outer = tape(true), *inner = tape(false);
    watch(outer, x);
    watch(inner, x);
    T y = mul(mul(x, x), mul(x, x));
    T d = grad(inner, y, x), dd = grad(outer, d, x), ddd = grad(outer, dd, x);
    ef_tape_free(inner);
    ef_tape_free(outer);
    return add(dd, ddd);
}

static T given(T x) {
    ef_tape *t = tape(false);
    watch(t, x);
    T d = grad_given(t, mul(x, x), mul(x, x), x);
    ef_tape_free(t);
    return d;
}

static T of_itself(T x) {
    ef_tape *t = tape(true);
    watch(t, x);
    T d = grad(t, x, x);
    T i = whole(1, (const int32_t[]){1});
    said[0] = none(grad(t, i, x)) && none(grad(t, mul(x, x), i));
    ef_tape_free(t);
    return d;
}

static T of_a_value(T x) { /* a small value from outside, watched inside */
    ef_tape *t = tape(false);
    watch(t, outside);
    T d = grad(t, mul(mul(outside, outside), x), outside);
    ef_tape_free(t);
    return d;
}

EF_TEST(orders_and_seeds) {
    PLAYS(second, number(2), 48 + 48);
    PLAYS(given, number(3), 9 * 6);
    PLAYS(of_itself, number(3), 1);
    CHECK(said[0]);
    outside = number(5);
    PLAYS(of_a_value, number(3), 30);
    clean();
}

static T rows_of(T handle, T ids) {
    const ef_tensor *in[] = {handle, ids};
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F32)};
    const ef_op *gather = ef_op_find("ResourceGather");
    const ef_attrs *attrs = NULL;
    T rows = room();
    int n;
    keep(ef_attrs_make(gather, set, 1, &attrs));
    if (failed == NULL) keep(ef_call_op(gather, attrs, in, 2, rows, 1, &n));
    ef_attrs_unref(attrs);
    return rows;
}

static T lookup(T x) {
    T ids = whole(3, (const int32_t[]){1, 1, 0}), axis = whole(1, (const int32_t[]){0});
    ef_tensor out[3] = {{0}};
    ef_tape *t = tape(false);
    T rows = rows_of(outside, ids);
    T y = op("Sum", 2, mul(mul(rows, rows), x), axis);
    const ef_tensor *source[] = {outside}, *target[] = {y};
    keep(ef_tape_gradients(t, target, 1, NULL, source, 1, out, &said[0]));
    ef_tape_free(t);
    for (int k = 1; k < 3; k++) ef_tensor_release(&out[k]);
    *room() = out[0];
    return &pool[used - 1];
}

static ef_status *embed(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    T x = room();
    ef_tensor_copy(x, &in[0]);
    T rows = rows_of(outside, whole(3, (const int32_t[]){1, 1, 0}));
    T y = mul(mul(rows, rows), x);
    if (failed == NULL) ef_tensor_copy(out, y);
    *n_out = failed == NULL;
    ef_status *bad = failed;
    failed = NULL;
    return bad;
}

EF_TEST(sparse_gradients_stay_sparse) {
    outside = variable(value(2, (const float[]){3, 4}));
    PLAYS(lookup, number(2), 16);
    CHECK(said[0]);
    ef_function *f; /* and through a call under a tape */
    CHECK_OK(ef_function_new(embed, NULL, "embed", &f));
    ef_tape *t = tape(false);
    T x = number(2), y = room(), both[2] = {x, outside};
    watch(t, x);
    ef_tensor out[6] = {{0}};
    bool slices[2];
    int n;
    CHECK_OK(ef_function_call(f, (const ef_tensor *[]){x}, 1, y, 1, &n));
    CHECK_OK(ef_tape_gradients(t, (const ef_tensor *[]){y}, 1, NULL, (const ef_tensor *const *)both,
                               2, out, slices));
    CHECK(!slices[0] && slices[1]);
    CHECK_NEAR(at(&out[0], 0), 16 + 16 + 9, 0);
    for (int k = 0; k < 3; k++) CHECK_NEAR(at(&out[3], k), k < 2 ? 16 : 12, 0);
    CHECK_INT(((const int32_t *)out[4].data)[2], 0);
    for (int k = 0; k < 6; k++) ef_tensor_release(&out[k]);
    ef_tape_free(t);
    ef_function_free(f);
    clean();
}

/* The same rules hold eagerly. */
EF_TEST(eager_windows) {
    T x = number(2), w = windows(x);
    CHECK(failed == NULL);
    CHECK_NEAR(at(w, 0), 12 + 4, 1e-5);
    for (int k = 0; k < 6; k++) CHECK(said[k]);
    outside = variable(number(3));
    CHECK_NEAR(at(variables(x), 0), 3 * 3 * 2 * 7, 1e-4);
    for (int k = 0; k < 6; k++) CHECK(said[k]);
    clean();
}

/* ---- calls, loops, captures --------------------------------------------------------------------
 */

static ef_status *cube(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                       int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    T x = room();
    ef_tensor_copy(x, &in[0]);
    T y = mul(mul(x, x), mul(x, read(outside)));
    if (failed == NULL) ef_tensor_copy(out, y);
    *n_out = failed == NULL;
    ef_status *bad = failed;
    failed = NULL;
    return bad;
}

static ef_function *helper;

static T calls(T x) { /* a function called in a traced one: 6 x w */
    ef_tape *outer = tape(true), *inner = tape(false);
    watch(outer, x);
    watch(inner, x);
    const ef_tensor *in[] = {x};
    T y = room();
    int n;
    keep(ef_function_call(helper, in, 1, y, 1, &n));
    T d = grad(inner, y, x), dd = grad(outer, d, x);
    said[0] = ef_tape_watched(outer, NULL, 0) == 1;
    T dw = grad(outer, y, outside); /* x^3 */
    ef_tape_free(inner);
    ef_tape_free(outer);
    return add(dd, dw);
}

/* A While node under two tapes: x^8. */
static T looped(T x) {
    ef_graph *cond = ef_graph_new(), *body = ef_graph_new();
    ef_shape scalar = {.rank = 0};
    ef_tensor ci[2] = {{0}}, bi[2] = {{0}}, bo[2] = {{0}};
    T k0 = room(), k1 = room(), k3 = room();
    for (int k = 0; k < 3; k++) {
        int32_t v = k == 2 ? 3 : k;
        keep(ef_tensor_from(EF_I32, NULL, &v, k == 0 ? k0 : k == 1 ? k1 : k3));
    }
    const char *name[] = {"i", "v"};
    for (int k = 0; k < 2; k++) {
        keep(ef_graph_placeholder(cond, k ? EF_F32 : EF_I32, &scalar, name[k], &ci[k]));
        keep(ef_graph_placeholder(body, k ? EF_F32 : EF_I32, &scalar, name[k], &bi[k]));
    }
    ef_tape *outer = tape(true), *inner = tape(false);
    watch(outer, x);
    watch(inner, x);
    keep(ef_graph_enter(cond));
    T more = op("Less", 2, &ci[0], k3);
    keep(ef_graph_leave(cond));
    keep(ef_graph_finish(cond, ci, 2, more, 1));
    keep(ef_graph_enter(body));
    bo[0] = *add(&bi[0], k1);
    bo[1] = *mul(&bi[1], &bi[1]); /* v -> v^2: x^8 in the end */
    keep(ef_graph_leave(body));
    keep(ef_graph_finish(body, bi, 2, bo, 2));
    const ef_op *op_while = ef_op_find("While");
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    const ef_attrs *attrs = NULL;
    ef_tensor out[2] = {{0}};
    const ef_tensor *in[] = {k0, x};
    int n;
    keep(ef_attrs_make(op_while, set, 2, &attrs));
    if (failed == NULL) keep(ef_call_op(op_while, attrs, in, 2, out, 2, &n));
    ef_attrs_unref(attrs);
    T y = room();
    *y = out[1];
    ef_tensor_release(&out[0]);
    for (int k = 0; k < 2; k++) {
        ef_tensor_release(&ci[k]);
        ef_tensor_release(&bi[k]);
    }
    ef_graph_free(cond);
    ef_graph_free(body);
    T d = grad(inner, y, x), dd = grad(outer, d, x); /* 56 x^6 */
    ef_tape_free(inner);
    ef_tape_free(outer);
    return dd;
}

/* A tape inside a graph inside the trace, on tensors of the trace: 2 x w. */
static T nested(T x) {
    ef_graph *g = ef_graph_new();
    if (g == NULL) keep(ef_no_memory(1));
    if (g == NULL) return x;
    keep(ef_graph_enter(g));
    ef_tape *t = tape(true);
    watch(t, x);
    T y = mul(mul(x, x), read(outside)), d = grad(t, y, x);
    said[0] = !none(grad(t, y, outside));
    ef_tape_free(t);
    keep(ef_graph_leave(g));
    T out = room();
    int n;
    keep(ef_graph_finish(g, NULL, 0, d, 1));
    if (failed == NULL) keep(ef_graph_call(g, NULL, 0, out, 1, &n));
    ef_graph_free(g);
    return out;
}

static T densely(T x) { /* ef_tape_gradient makes one tensor of slices */
    ef_tape *t = tape(false);
    T rows = rows_of(outside, whole(3, (const int32_t[]){1, 1, 0})), out = room();
    const ef_tensor *source[] = {outside};
    if (failed == NULL) keep(ef_tape_gradient(t, mul(rows, x), NULL, source, 1, out));
    ef_tape_free(t);
    return add(out, mul(out, out));
}

EF_TEST(through_calls_and_loops) {
    outside = variable(number(5));
    CHECK_OK(ef_function_new(cube, NULL, "cube", &helper));
    PLAYS(calls, number(2), 60 + 8);
    CHECK(said[0]);
    ef_function_free(helper);
    PLAYS(looped, number(1.5F), 56 * 11.390625);
    PLAYS(nested, number(3), 30);
    CHECK(said[0]);
    outside = variable(value(2, (const float[]){3, 4}));
    PLAYS(densely, number(3), 3 + 9);
    clean();
}

/* Nested tapes around a call: 6 x w, and 6 w by a third. */
EF_TEST(higher_orders_of_a_call) {
    outside = variable(number(5));
    CHECK_OK(ef_function_new(cube, NULL, "cube", &helper));
    CHECK_NEAR(at(calls(number(2)), 0), 60 + 8, 1e-4);
    ef_tape *t[3];
    T x = number(2), y = room();
    for (int k = 0; k < 3; k++) {
        t[k] = tape(false);
        watch(t[k], x);
    }
    int n;
    CHECK_OK(ef_function_call(helper, (const ef_tensor *[]){x}, 1, y, 1, &n));
    T d = grad(t[2], y, x), dd = grad(t[1], d, x), ddd = grad(t[0], dd, x);
    CHECK(failed == NULL);
    CHECK_NEAR(at(d, 0), 60, 1e-4);
    CHECK_NEAR(at(dd, 0), 60, 1e-4);
    CHECK_NEAR(at(ddd, 0), 30, 1e-4);
    for (int k = 0; k < 3; k++) ef_tape_free(t[k]);
    ef_function_free(helper);
    clean();
}

/* ---- custom gradients --------------------------------------------------------------------------
 */

static int ended, called;
static void end(void *user) {
    (void)user;
    ended++;
}

/* A custom gradient that returns 10 x dy for x*x, with a tensor from outside its own function. */
static ef_status *ten(void *user, const ef_tensor *dout, int n_out, ef_tensor *din, int n_in) {
    (void)n_out, (void)n_in;
    called++;
    T dy = room(), x = room();
    ef_tensor_copy(dy, &dout[0]);
    ef_tensor_copy(x, user);
    T d = mul(dy, mul(number(10), x));
    ef_status *bad = failed;
    failed = NULL;
    if (bad == NULL) ef_tensor_copy(&din[0], d);
    return bad;
}

static T custom(T x) {
    T y = room();
    ef_tensor_copy(y, mul(x, x));
    const ef_tensor *in[] = {x};
    if (failed == NULL) keep(ef_custom_gradient_attach(in, 1, y, 1, ten, x, end));
    return y;
}

static T custom_once(T x) { /* y = x^2 by its own gradient; y^2 on top: 2 y * 10 x */
    ef_tape *t = tape(false);
    watch(t, x);
    T y = custom(x), d = grad(t, mul(y, y), x);
    ef_tape_free(t);
    return d;
}
static T custom_twice(T x) { /* 10 x, then 10 */
    ef_tape *outer = tape(false), *inner = tape(false);
    watch(outer, x);
    watch(inner, x);
    T d = grad(inner, custom(x), x), dd = grad(outer, d, x);
    ef_tape_free(inner);
    ef_tape_free(outer);
    return dd;
}

static ef_status *custom_function(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                                  int max_out, int *n_out) {
    (void)user, (void)n_in, (void)max_out;
    T x = room();
    ef_tensor_copy(x, &in[0]);
    T y = custom(mul(x, x));
    if (failed == NULL) ef_tensor_copy(out, y);
    *n_out = failed == NULL;
    ef_status *bad = failed;
    failed = NULL;
    return bad;
}

EF_TEST(gradients_of_ones_own) {
    called = ended = 0;
    T x = number(3);
    PLAYS(custom_once, x, 2 * 9 * 30);
    CHECK(called == 1 && ended == 1);
    PLAYS(custom_twice, x, 10);
    CHECK_NEAR(at(custom_once(x), 0), 2 * 9 * 30, 1e-4); /* eagerly */
    CHECK_NEAR(at(custom_twice(x), 0), 10, 1e-4);
    CHECK(failed == NULL && ended == called);
    CHECK_NEAR(at(custom(x), 0), 9, 0); /* no tape */
    ef_function *f;
    CHECK_OK(ef_function_new(custom_function, NULL, "f", &f));
    ef_tape *t = tape(false); /* a function called under a tape: 10 x^2 * 2 x */
    watch(t, x);
    const ef_tensor *in[] = {x};
    T y = room();
    int n;
    CHECK_OK(ef_function_call(f, in, 1, y, 1, &n));
    CHECK_NEAR(at(grad(t, y, x), 0), 540, 1e-3);
    ef_tape_free(t);
    ef_function_free(f);
    clean();
}

/* Each allocation of a scene fails in turn: the result is a clean status, or success. */
EF_TEST(allocations_may_fail) {
    scene *const all[] = {windows, variables, second, custom_twice, nested, lookup};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (uint64_t k = 1;; k++) {
            T x = number(2);
            outside = variable(value(2, (const float[]){3, 4}));
            CHECK(failed == NULL);
            ef_programs_clear();
            ef_alloc_fail_at(k);
            double unused;
            ef_status *s = play(all[i], x, &unused);
            bool happened = ef_alloc_failed() != 0;
            ef_alloc_fail_at(0);
            if (!happened) CHECK_OK(s);
            if (s != NULL) CHECK_INT(ef_status_code(s), EF_NO_MEMORY);
            ef_status_free(s);
            clean();
            if (!happened) break;
        }
}

int main(void) {
    EF_RUN(what_a_tape_sees_in_a_trace);
    EF_RUN(variables_are_watched_by_being_used);
    EF_RUN(orders_and_seeds);
    EF_RUN(sparse_gradients_stay_sparse);
    EF_RUN(eager_windows);
    EF_RUN(higher_orders_of_a_call);
    EF_RUN(through_calls_and_loops);
    EF_RUN(gradients_of_ones_own);
    EF_RUN(allocations_may_fail);
    return EF_VERDICT();
}
