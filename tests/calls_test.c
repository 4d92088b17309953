/* The same op called in four ways gives the same result; wrong calls give clear errors. */
#include "check.h"
#include "jit/jit.h"
#include <ef_ops.h>
#include <stdlib.h>

static void vector(ef_tensor *t, int n, const float *v) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_status *bad = ef_tensor_from(EF_F32, &s, v, t);
    ef_status_free(bad);
}

static float at(const ef_tensor *t, int k) {
    const void *v = NULL;
    ef_status *bad = ef_tensor_data(t, &v);
    ef_status_free(bad);
    return v != NULL ? ((const float *)v)[k] : NAN;
}

static ef_status *cube(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                       int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    ef_tensor s;
    ef_status *bad = ef_do_Mul(&in[0], &in[0], &s);
    if (bad != NULL) return bad;
    bad = ef_do_Mul(&s, &in[0], out);
    ef_tensor_release(&s);
    *n_out = 1;
    return bad;
}

EF_TEST(four_ways_one_answer) {
    const float v[] = {1, -2, 3};
    ef_tensor x, y[4];
    int n;
    vector(&x, 3, v);
    const ef_tensor *in[] = {&x};
    CHECK_OK(cube(NULL, &x, 1, &y[0], 1, &n)); /* eagerly */
    ef_function *f;
    CHECK_OK(ef_function_new(cube, NULL, "cube", &f));
    CHECK_OK(ef_function_call(f, in, 1, &y[1], 1, &n)); /* as a function */
    ef_graph *g = ef_graph_new();
    ef_tensor p, q;
    ef_shape any = {.rank = -1};
    ef_session *session;
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &any, "x", &p));
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(cube(NULL, &p, 1, &q, 1, &n));
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(ef_session_new(g, &session)); /* in a session, with unknown rank */
    CHECK_OK(ef_session_run(session, &p, &x, 1, &q, 1, NULL, 0, &y[2]));
    ef_sync_set(true); /* without deferring */
    CHECK_OK(cube(NULL, &x, 1, &y[3], 1, &n));
    ef_sync_set(false);
    for (int w = 0; w < 4; w++)
        for (int k = 0; k < 3; k++) CHECK_NEAR(at(&y[w], k), v[k] * v[k] * v[k], 0);
    for (int w = 0; w < 4; w++) ef_tensor_release(&y[w]);
    ef_tensor_release(&p);
    ef_tensor_release(&q);
    ef_session_free(session);
    ef_graph_free(g);
    ef_function_free(f);
}

EF_TEST(a_function_inside_a_function) {
    const float v[] = {2};
    ef_function *inner;
    ef_tensor x, y;
    int n;
    vector(&x, 1, v);
    const ef_tensor *in[] = {&x};
    CHECK_OK(ef_function_new(cube, NULL, "cube", &inner));
    ef_graph *g = ef_graph_new();
    ef_tensor p, q, z;
    ef_shape one = {.rank = 1, .dim = {1}};
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &one, "x", &p));
    CHECK_OK(ef_graph_enter(g));
    const ef_tensor *ps[] = {&p}, *qs[] = {&q};
    CHECK_OK(ef_function_call(inner, ps, 1, &q, 1, &n));
    CHECK_OK(ef_function_call(inner, qs, 1, &z, 1, &n));
    CHECK_OK(ef_graph_leave(g));
    ef_session *session;
    CHECK_OK(ef_session_new(g, &session));
    CHECK_OK(ef_session_run(session, &p, &x, 1, &z, 1, NULL, 0, &y));
    CHECK_NEAR(at(&y, 0), 512, 0);
    ef_tensor_release(&y);
    ef_tensor_release(&p);
    ef_tensor_release(&q);
    ef_tensor_release(&z);
    ef_session_free(session);
    ef_graph_free(g);
    ef_function_free(inner);
    (void)in;
}

EF_TEST(large_ops_wait_and_give_the_same) {
    enum { N = 40000 };
    float *v = malloc(N * sizeof *v);
    CHECK(v != NULL);
    for (int k = 0; k < N; k++) v[k] = (float)(k % 17) - 8;
    ef_tensor x, y, z;
    int n;
    vector(&x, N, v);
    CHECK_OK(cube(NULL, &x, 1, &y, 1, &n));
    CHECK(y.data == NULL); /* deferred */
    CHECK_OK(ef_do_AddV2(&y, &x, &z));
    for (int k = 0; k < N; k += 997) CHECK_NEAR(at(&z, k), v[k] * v[k] * v[k] + v[k], 0);
    CHECK_NEAR(at(&y, 5), v[5] * v[5] * v[5], 0);
    ef_tensor wrong, three;
    vector(&three, 3, v);
    CHECK_FAILS(ef_do_AddV2(&y, &three, &wrong), EF_INVALID, "AddV2"); /* at the call, not later */
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
    free(v);
}

static ef_status *gradient(const ef_tensor *x, ef_function *f, bool persistent, ef_tensor *dx) {
    ef_tape *tape;
    ef_tensor y, watched;
    int n;
    ef_status *s = ef_tape_start(persistent, &tape);
    if (s != NULL) return s;
    ef_tensor_copy(&watched, x);
    s = ef_tape_watch(tape, &watched);
    const ef_tensor *in[] = {&watched};
    if (s == NULL)
        s = f != NULL ? ef_function_call(f, in, 1, &y, 1, &n) : cube(NULL, &watched, 1, &y, 1, &n);
    if (s == NULL) {
        s = ef_tape_gradient(tape, &y, NULL, in, 1, dx);
        ef_tensor_release(&y);
    }
    ef_tensor_release(&watched);
    ef_tape_free(tape);
    return s;
}

EF_TEST(gradients_by_tape) {
    const float v[] = {1, -2, 3};
    ef_tensor x, dx;
    ef_function *f;
    vector(&x, 3, v);
    CHECK_OK(ef_function_new(cube, NULL, "cube", &f));
    for (int w = 0; w < 2; w++) {
        CHECK_OK(gradient(&x, w == 0 ? NULL : f, false, &dx));
        for (int k = 0; k < 3; k++) CHECK_NEAR(at(&dx, k), 3 * v[k] * v[k], 1e-5);
        ef_tensor_release(&dx);
    }
    ef_function_free(f);
}

EF_TEST(second_order_by_nested_tapes) {
    const float v[] = {2};
    ef_tape *outer, *inner;
    ef_tensor x, y, dy, ddy;
    int n;
    vector(&x, 1, v);
    const ef_tensor *in[] = {&x};
    CHECK_OK(ef_tape_start(false, &outer));
    CHECK_OK(ef_tape_watch(outer, &x));
    CHECK_OK(ef_tape_start(false, &inner));
    CHECK_OK(ef_tape_watch(inner, &x));
    CHECK_OK(cube(NULL, &x, 1, &y, 1, &n));
    CHECK_OK(ef_tape_gradient(inner, &y, NULL, in, 1, &dy));
    CHECK_OK(ef_tape_gradient(outer, &dy, NULL, in, 1, &ddy));
    CHECK_NEAR(at(&dy, 0), 12, 1e-5);
    CHECK_NEAR(at(&ddy, 0), 12, 1e-5);
    ef_tape_free(inner);
    ef_tape_free(outer);
    ef_tensor_release(&y);
    ef_tensor_release(&dy);
    ef_tensor_release(&ddy);
}

EF_TEST(tapes_keep_their_rules) {
    const float v[] = {2};
    ef_tape *tape;
    ef_tensor x, y, dx, other;
    int n;
    vector(&x, 1, v);
    vector(&other, 1, v);
    const ef_tensor *in[] = {&x}, *unwatched[] = {&other};
    CHECK_OK(ef_tape_start(true, &tape));
    CHECK_OK(ef_tape_watch(tape, &x));
    CHECK_OK(cube(NULL, &x, 1, &y, 1, &n));
    for (int k = 0; k < 2; k++) { /* persistent: more than once */
        CHECK_OK(ef_tape_gradient(tape, &y, NULL, in, 1, &dx));
        CHECK_NEAR(at(&dx, 0), 12, 1e-5);
        ef_tensor_release(&dx);
    }
    CHECK_OK(ef_tape_gradient(tape, &y, NULL, unwatched, 1, &dx));
    CHECK_INT(dx.dtype, EF_NO_DTYPE); /* not watched: none */
    ef_tape_free(tape);
    ef_tensor_release(&y);

    CHECK_OK(ef_tape_start(false, &tape));
    CHECK_OK(ef_tape_watch(tape, &x));
    CHECK_OK(cube(NULL, &x, 1, &y, 1, &n));
    CHECK_OK(ef_tape_gradient(tape, &y, NULL, in, 1, &dx));
    ef_tensor_release(&dx);
    CHECK_FAILS(ef_tape_gradient(tape, &y, NULL, in, 1, &dx), EF_FAILED_PRECONDITION, "persistent");
    ef_tape_free(tape);
    ef_tensor_release(&y);
    int32_t i = 1;
    ef_tensor whole;
    CHECK_OK(ef_tensor_from(EF_I32, NULL, &i, &whole));
    CHECK_OK(ef_tape_start(false, &tape));
    CHECK_FAILS(ef_tape_watch(tape, &whole), EF_INVALID, "int32");
    ef_tape_free(tape);
}

EF_TEST(wrong_calls_say_what_is_wrong) {
    const float v[] = {1, 2};
    ef_tensor x, y, released = {0};
    int n, i = 3;
    vector(&x, 2, v);
    const ef_op *op = ef_op_find("AddV2");
    const ef_tensor *in[] = {&x, &x}, *null[] = {&x, NULL}, *gone[] = {&x, &released};
    CHECK(ef_op_find("AddV3") == NULL && ef_op_find(NULL) == NULL);
    CHECK_FAILS(ef_call_op(NULL, NULL, in, 2, &y, 1, &n), EF_INVALID, "ef_op_find");
    CHECK_FAILS(ef_call_op(op, NULL, in, 1, &y, 1, &n), EF_INVALID, "AddV2");
    CHECK_FAILS(ef_call_op(op, NULL, null, 2, &y, 1, &n), EF_INVALID, "NULL");
    CHECK_FAILS(ef_call_op(op, NULL, gone, 2, &y, 1, &n), EF_INVALID, "released");
    CHECK_FAILS(ef_call_op(op, NULL, in, 2, &x, 1, &n), EF_INVALID, "output");
    CHECK_FAILS(ef_call_op(op, NULL, in, -1, &y, 1, &n), EF_INVALID, "negative");
    ef_tensor whole;
    CHECK_OK(ef_tensor_from(EF_I32, NULL, &i, &whole));
    CHECK_FAILS(ef_do_AddV2(&x, &whole, &y), EF_INVALID, "int32");
    ef_attr_value wrong[] = {EF_SET_BOOL("transpose_c", true)},
                  kind[] = {EF_SET_INT("transpose_a", 1)};
    const ef_attrs *attrs;
    CHECK_FAILS(ef_attrs_make(ef_op_find("MatMul"), wrong, 1, &attrs), EF_INVALID, "transpose_c");
    CHECK_FAILS(ef_attrs_make(ef_op_find("MatMul"), kind, 1, &attrs), EF_INVALID, "transpose_a");
    ef_shape huge = {.rank = 3, .dim = {INT64_MAX / 4, 4, 4}}, minus = {.rank = 1, .dim = {-5}};
    CHECK_FAILS(ef_tensor_new(EF_F32, &huge, &y), EF_INVALID, "");
    CHECK_FAILS(ef_tensor_new(EF_F32, &minus, &y), EF_INVALID, "");
    CHECK_FAILS(ef_call_op(ef_op_find("Placeholder"), NULL, NULL, 0, &y, 1, &n), EF_INVALID, "");
}

EF_TEST(wrong_sessions_say_what_is_wrong) {
    ef_graph *g = ef_graph_new(), *other = ef_graph_new();
    ef_tensor p, q, foreign, two[2], x, values[2], out;
    ef_shape s = {.rank = 1, .dim = {2}};
    const float v[] = {1, 2, 3};
    ef_session *session;
    int n;
    vector(&x, 2, v);
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &s, "x", &p));
    CHECK_OK(ef_graph_placeholder(other, EF_F32, &s, "x", &foreign));
    CHECK_OK(ef_graph_enter(g));
    CHECK_FAILS(ef_graph_enter(g), EF_INVALID, "already");
    CHECK_OK(cube(NULL, &p, 1, &q, 1, &n));
    CHECK_FAILS(ef_graph_leave(other), EF_INVALID, "another");
    CHECK_OK(ef_graph_leave(g));
    CHECK_OK(cube(NULL, &p, 1, &out, 1, &n)); /* joins the graph of p */
    CHECK(out.flags & EF_TENSOR_SYMBOLIC);
    ef_tensor_release(&out);
    CHECK_OK(ef_session_new(g, &session));
    CHECK_FAILS(ef_session_run(session, NULL, NULL, 0, &q, 1, NULL, 0, &out), EF_INVALID, "'x'");
    ef_tensor_copy(&two[0], &p);
    ef_tensor_copy(&two[1], &p);
    ef_tensor_copy(&values[0], &x);
    ef_tensor_copy(&values[1], &x);
    CHECK_FAILS(ef_session_run(session, two, values, 2, &q, 1, NULL, 0, &out), EF_INVALID, "twice");
    CHECK_FAILS(ef_session_run(session, &foreign, &x, 1, &q, 1, NULL, 0, &out), EF_INVALID,
                "feed 0");
    CHECK_FAILS(ef_session_run(session, &p, &x, 1, &foreign, 1, NULL, 0, &out), EF_INVALID,
                "fetch 0");
    const char *nobody[] = {"train"};
    CHECK_FAILS(ef_session_run(session, &p, &x, 1, &q, 1, nobody, 1, &out), EF_NOT_FOUND,
                "'train'");
    ef_tensor three;
    vector(&three, 3, v);
    CHECK_FAILS(ef_session_run(session, &p, &three, 1, &q, 1, NULL, 0, &out), EF_INVALID, "[2]");
    CHECK_OK(ef_session_run(session, &p, &x, 1, &q, 1, NULL, 0, &out)); /* and still it works */
    CHECK_NEAR(at(&out, 1), 8, 0);
    ef_tensor_release(&out);
    CHECK_FAILS(ef_graph_get(g, "nobody:0", &out), EF_NOT_FOUND, "nobody");
    CHECK_FAILS(ef_graph_get(g, "x:7", &out), EF_NOT_FOUND, "x:7");
    CHECK_OK(ef_graph_get(g, "x:0", &out));
    ef_tensor_release(&out);
    for (int k = 0; k < 2; k++) ef_tensor_release(&two[k]);
    ef_tensor_release(&p);
    ef_tensor_release(&q);
    ef_tensor_release(&foreign);
    ef_session_free(session);
    ef_graph_free(g);
    ef_graph_free(other);
}

EF_TEST(a_failed_update_leaves_the_variable) {
    const float v[] = {1, 2}, w[] = {1, 2, 3};
    ef_tensor start, wrong, handle, now;
    vector(&start, 2, v);
    vector(&wrong, 3, w);
    CHECK_OK(ef_variable_new(&start, "v", &handle));
    CHECK_FAILS(ef_do_AssignVariableOp(&handle, &wrong, NULL), EF_INVALID, "");
    CHECK_FAILS(ef_variable_set(&handle, &wrong), EF_INVALID, "");
    CHECK_OK(ef_variable_get(&handle, &now));
    CHECK_NEAR(at(&now, 1), 2, 0);
    ef_tensor_release(&now);
    ef_tensor_release(&handle);
    CHECK_FAILS(ef_variable_get(&start, &now), EF_INVALID, "handle");
}

/* What is true of an op's expression is found once, not for each new shape. */
EF_TEST(a_new_size_parses_no_expression) {
    enum { FIRST = 600, LAST = 640 };
    ef_function *f;
    uint64_t parsed = 0;
    static float v[LAST];
    for (int k = 0; k < LAST; k++) v[k] = (float)k / 64;
    CHECK_OK(ef_function_new(cube, NULL, "cube", &f));
    for (int size = FIRST; size < LAST; size++) {
        ef_tensor x, y;
        int n;
        vector(&x, size, v);
        const ef_tensor *in[] = {&x};
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_NEAR(at(&y, size - 1), powf((float)(size - 1) / 64, 3), 1e-3);
        if (size == FIRST + 2)
            CHECK((parsed = ef_jit_parsed) > 0); /* sizes were symbols since the second */
        CHECK(size <= FIRST + 2 || ef_jit_parsed == parsed);
        ef_tensor_release(&x);
        ef_tensor_release(&y);
    }
    ef_function_free(f);
}

int main(void) {
    EF_RUN(four_ways_one_answer);
    EF_RUN(a_function_inside_a_function);
    EF_RUN(large_ops_wait_and_give_the_same);
    EF_RUN(gradients_by_tape);
    EF_RUN(second_order_by_nested_tapes);
    EF_RUN(tapes_keep_their_rules);
    EF_RUN(wrong_calls_say_what_is_wrong);
    EF_RUN(wrong_sessions_say_what_is_wrong);
    EF_RUN(a_failed_update_leaves_the_variable);
    EF_RUN(a_new_size_parses_no_expression);
    return EF_VERDICT();
}
