/* Cancellation: a loop that would run for years ends when another thread cancels it or its deadline
 * passes, with the right status code, and everything works afterwards. */
#include "check.h"
#include "evenflow.h"
#include <pthread.h>
#include <time.h>

static ef_graph *cond_graph, *body_graph;

static void ok(ef_status *s) { CHECK_OK(s); }

static ef_graph *part(const char *op, const ef_tensor *constant) {
    ef_graph *g = ef_graph_new();
    ef_shape scalar = {.rank = 0};
    ef_tensor in[2], out[2];
    int n;
    ok(ef_graph_placeholder(g, EF_I64, &scalar, "i", &in[0]));
    ok(ef_graph_placeholder(g, EF_I64, &scalar, "n", &in[1]));
    ok(ef_graph_enter(g));
    const ef_tensor *args[] = {&in[0], constant != NULL ? constant : &in[1]};
    ok(ef_call_op(ef_op_find(op), NULL, args, 2, out, 1, &n));
    ok(ef_graph_leave(g));
    ef_tensor_copy(&out[1], &in[1]);
    ok(ef_graph_finish(g, in, 2, out, constant != NULL ? 2 : 1));
    for (int k = 0; k < 2; k++) {
        ef_tensor_release(&in[k]);
        ef_tensor_release(&out[k]);
    }
    return g;
}

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    const ef_op *op = ef_op_find("StatelessWhile");
    const ef_attrs *attrs;
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond_graph), EF_SET_FUNC("body", body_graph)};
    ok(ef_attrs_make(op, set, 2, &attrs));
    const ef_tensor *args[] = {&in[0], &in[1]};
    ef_status *s = ef_call_op(op, attrs, args, 2, out, 2, n_out);
    ef_attrs_unref(attrs);
    return s;
}

static ef_function *counter(void) {
    int64_t one = 1;
    ef_tensor step;
    ef_function *f;
    ok(ef_tensor_from(EF_I64, NULL, &one, &step));
    cond_graph = part("Less", NULL);
    body_graph = part("AddV2", &step);
    ok(ef_function_new(trace, NULL, "counter", &f));
    ef_tensor_release(&step);
    return f;
}

static void counter_free(ef_function *f) {
    ef_function_free(f);
    ef_graph_free(cond_graph);
    ef_graph_free(body_graph);
}

static ef_status *count_to(ef_function *f, int64_t n, int64_t *reached) {
    int64_t zero = 0;
    ef_tensor in[2], out[2];
    int n_out;
    const void *data;
    ok(ef_tensor_from(EF_I64, NULL, &zero, &in[0]));
    ok(ef_tensor_from(EF_I64, NULL, &n, &in[1]));
    const ef_tensor *args[] = {&in[0], &in[1]};
    ef_status *s = ef_function_call(f, args, 2, out, 2, &n_out);
    if (s != NULL) return s;
    ok(ef_tensor_data(&out[0], &data));
    *reached = *(const int64_t *)data;
    for (int k = 0; k < 2; k++) ef_tensor_release(&out[k]);
    return NULL;
}

static void *cancel_soon(void *c) {
    struct timespec t = {.tv_nsec = 30000000};
    nanosleep(&t, NULL);
    ef_cancel(c);
    return NULL;
}

static const int64_t forever = INT64_MAX;

EF_TEST(another_thread_cancels) {
    ef_function *f = counter();
    ef_canceller *c;
    int64_t reached = 0;
    CHECK_OK(ef_canceller_new(&c));
    ef_canceller_use(c);
    for (int k = 0; k < 3; k++) {
        pthread_t t;
        CHECK_INT(pthread_create(&t, NULL, cancel_soon, c), 0);
        CHECK_FAILS(count_to(f, forever, &reached), EF_CANCELLED, "cancelled");
        pthread_join(t, NULL);
        CHECK_FAILS(count_to(f, 10, &reached), EF_CANCELLED, "cancelled");
        ef_canceller_reset(c);
        CHECK_OK(count_to(f, 10, &reached));
        CHECK_INT(reached, 10);
    }
    ef_canceller_use(NULL);
    ef_canceller_free(c);
    counter_free(f);
}

EF_TEST(time_is_over) {
    ef_function *f = counter();
    ef_canceller *c;
    int64_t reached = 0;
    CHECK_OK(ef_canceller_new(&c));
    ef_canceller_use(c);
    ef_canceller_deadline(c, 0.05);
    CHECK_FAILS(count_to(f, forever, &reached), EF_DEADLINE, "deadline");
    ef_canceller_deadline(c, 1000);
    CHECK_OK(count_to(f, 10, &reached));
    CHECK_INT(reached, 10);
    ef_canceller_use(NULL);
    ef_canceller_free(c);
    CHECK_OK(count_to(f, 11, &reached));
    CHECK_INT(reached, 11);
    counter_free(f);
}

EF_TEST(others_go_on) {
    ef_function *f = counter();
    ef_canceller *c;
    int64_t reached = 0;
    CHECK_OK(ef_canceller_new(&c));
    ef_cancel(c);
    CHECK_OK(count_to(f, 100000, &reached));
    CHECK_INT(reached, 100000);
    ef_canceller_free(c);
    counter_free(f);
}

int main(void) {
    EF_RUN(another_thread_cancels);
    EF_RUN(time_is_over);
    EF_RUN(others_go_on);
    return EF_VERDICT();
}
