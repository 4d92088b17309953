/* Ops that call back into the program that made them: eagerly, in graphs, sessions and loops. */
#include "check.h"
#include "small_tensors.h"
#include <ef_ops.h>
#include <evenflow_binding.h>
#include <stdatomic.h>
#include <stdlib.h>

typedef struct counter {
    int calls, ended;
    bool fail, wrong_type;
    ef_graph *graph; /* entered while it was called */
} counter;

static ef_status *add_one(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int n_out) {
    counter *c = user;
    c->calls++;
    c->graph = ef_graph_current();
    (void)n_in;
    (void)n_out;
    if (c->wrong_type) return ef_tensor_from(EF_I32, NULL, &c->calls, out);
    if (c->fail) return ef_do_MatMul(&in[0], &in[0], NULL, out); /* scalars: an error */
    ef_tensor one;
    scalar(&one, 1);
    return ef_do_AddV2(&in[0], &one, out);
}

static void count_end(void *user) { ((counter *)user)->ended++; }

static ef_status *call_add_one(counter *c, const ef_tensor *x, ef_tensor *y) {
    const ef_tensor *in[] = {x};
    ef_dtype t = EF_F32;
    return ef_callback_call(add_one, c, count_end, in, 1, &t, NULL, true, y, 1);
}

EF_TEST(callbacks_run_eagerly) {
    counter c = {0};
    ef_tensor x, y;
    scalar(&x, 4);
    CHECK_OK(call_add_one(&c, &x, &y));
    CHECK_NEAR(at(&y, 0), 5, 0);
    CHECK_INT(c.calls, 1);
    CHECK_INT(c.ended, 1);
    c.fail = true;
    CHECK(fails(call_add_one(&c, &x, &y), EF_INVALID));
    c.fail = false;
    c.wrong_type = true;
    CHECK(fails(call_add_one(&c, &x, &y), EF_INVALID));
    CHECK_INT(c.ended, 3);
}

static ef_status *trace_add_one(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                                int max_out, int *n_out) {
    (void)n_in;
    (void)max_out;
    *n_out = 1;
    ef_tensor y;
    ef_status *s = call_add_one(user, &in[0], &y);
    if (s != NULL) return s;
    s = ef_do_Mul(&y, &y, out);
    ef_tensor_release(&y);
    return s;
}

/* A function that is traced again keeps nothing of the old trace alive, though both share a
 * program. */
EF_TEST(callbacks_end_with_their_graph) {
    ef_tensor x, y;
    int n;
    scalar(&x, 4);
    const ef_tensor *in[] = {&x};
    for (int k = 0; k < 3; k++) {
        counter c = {0};
        ef_function *f;
        CHECK_OK(ef_function_new(trace_add_one, &c, "f", &f));
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        ef_tensor_release(&y);
        CHECK_OK(ef_function_call(f, in, 1, &y, 1, &n));
        CHECK_NEAR(at(&y, 0), 25, 0);
        ef_tensor_release(&y);
        CHECK_INT(c.calls, 2);
        CHECK_INT(c.ended, 0);
        ef_function_free(f);
        CHECK_INT(c.ended, 1);
    }
}

EF_TEST(callbacks_in_sessions_see_no_graph) {
    counter c = {0};
    ef_graph *g = ef_graph_new();
    ef_tensor x, y, v, out;
    ef_shape any = {.rank = -1};
    ef_session *s;
    scalar(&v, 1);
    CHECK_OK(ef_graph_placeholder(g, EF_F32, &any, "x", &x));
    CHECK_OK(ef_graph_enter(g));
    CHECK_OK(call_add_one(&c, &x, &y));
    CHECK_OK(ef_session_new(g, &s));
    c.graph = g;
    CHECK_OK(ef_session_run(s, &x, &v, 1, &y, 1, NULL, 0, &out)); /* with the graph entered */
    CHECK_OK(ef_graph_leave(g));
    CHECK(c.graph == NULL);
    CHECK_NEAR(at(&out, 0), 2, 0);
    CHECK_INT(c.ended, 0);
    ef_tensor_release(&out);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_session_free(s);
    ef_graph_free(g);
    CHECK_INT(c.ended, 1);
}

/* while i < 5: i = callback(i), where the callback's handle is a loop variable. */
EF_TEST(callbacks_in_loops) {
    counter c = {0};
    ef_tensor five, i, j, h, before, results[2];
    scalar(&five, 5);
    scalar(&before, 0);
    ef_graph *cond = ef_graph_new(), *body = ef_graph_new();
    ef_shape none = {.rank = 0};
    CHECK_OK(ef_graph_enter(body));
    CHECK_OK(ef_graph_placeholder(body, EF_F32, &none, "i", &i));
    CHECK_OK(call_add_one(&c, &i, &j));
    CHECK_OK(ef_graph_leave(body));
    CHECK_INT(ef_graph_captures(body), 1);
    CHECK_OK(ef_graph_capture(body, 0, &h));
    ef_tensor_release(&i);
    ef_tensor_release(&j);
    ef_graph_free(body);
    ef_tensor ph, out[2];
    body = ef_graph_new();
    CHECK_OK(ef_graph_placeholder(body, EF_F32, &none, "i", &i));
    CHECK_OK(ef_graph_placeholder(body, EF_RESOURCE, &none, "h", &ph));
    const ef_tensor *call[] = {&ph, &i};
    const ef_attrs *attrs;
    ef_dtype t = EF_F32;
    ef_attr_value set[] = {
        EF_SET_TYPES("Tout", 1, &t),
        {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = 1, .as = {.shapes = &none}}};
    CHECK_OK(ef_attrs_make(ef_op_find("EagerPyFunc"), set, 2, &attrs));
    int n;
    CHECK_OK(ef_graph_enter(body));
    CHECK_OK(ef_call_op(ef_op_find("EagerPyFunc"), attrs, call, 2, &out[0], 1, &n));
    CHECK_OK(ef_graph_leave(body));
    ef_attrs_unref(attrs);
    ef_tensor_copy(&out[1], &ph);
    ef_tensor params[2];
    ef_tensor_copy(&params[0], &i);
    ef_tensor_copy(&params[1], &ph);
    CHECK_OK(ef_graph_finish(body, params, 2, out, 2));
    ef_tensor ci, ch, less;
    CHECK_OK(ef_graph_placeholder(cond, EF_F32, &none, "i", &ci));
    CHECK_OK(ef_graph_placeholder(cond, EF_RESOURCE, &none, "h", &ch));
    CHECK_OK(ef_graph_enter(cond));
    CHECK_OK(ef_do_Less(&ci, &five, &less));
    CHECK_OK(ef_graph_leave(cond));
    ef_tensor cp[2];
    ef_tensor_copy(&cp[0], &ci);
    ef_tensor_copy(&cp[1], &ch);
    CHECK_OK(ef_graph_finish(cond, cp, 2, &less, 1));
    ef_attr_value loop[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    CHECK_OK(ef_attrs_make(ef_op_find("While"), loop, 2, &attrs));
    const ef_tensor *start[] = {&before, &h};
    CHECK_OK(ef_call_op(ef_op_find("While"), attrs, start, 2, results, 2, &n));
    CHECK_NEAR(at(&results[0], 0), 5, 0);
    CHECK_INT(c.calls, 5);
    ef_attrs_unref(attrs);
    ef_tensor *all[] = {&i,  &ph,   &out[0], &out[1], &params[0],  &params[1],  &ci,
                        &ch, &less, &cp[0],  &cp[1],  &results[0], &results[1], &h};
    for (int k = 0; k < 14; k++) ef_tensor_release(all[k]);
    ef_graph_free(cond);
    ef_graph_free(body);
    CHECK_INT(c.ended, 1);
}

int main(void) {
    EF_RUN(callbacks_run_eagerly);
    EF_RUN(callbacks_end_with_their_graph);
    EF_RUN(callbacks_in_sessions_see_no_graph);
    EF_RUN(callbacks_in_loops);
    return EF_VERDICT();
}
