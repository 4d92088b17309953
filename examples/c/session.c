/* A graph with placeholders and a variable, run by a session: y = x @ w + b, and a training step
 * that changes w. Building the graph and the session again in a loop costs little, because programs
 * are found by structure. */
#include "example.h"
#include <ef_ops.h>

typedef struct model {
    ef_graph *graph;
    ef_tensor x, want, w, loss;
} model;

static void build(model *m) {
    ef_shape any = {.rank = 2, .dim = {EF_DIM_UNKNOWN, 3}},
             out = {.rank = 2, .dim = {EF_DIM_UNKNOWN, 1}};
    m->graph = ef_graph_new();
    ok(ef_graph_placeholder(m->graph, EF_F32, &any, "x", &m->x));
    ok(ef_graph_placeholder(m->graph, EF_F32, &out, "want", &m->want));
    ok(ef_graph_enter(m->graph));
    ef_tensor w, y, square, axes, grad, rate;
    float rate_value = 0.1f;
    int32_t both[] = {0, 1};
    ef_shape two = {.rank = 1, .dim = {2}};
    ok(ef_tensor_from(EF_F32, NULL, &rate_value, &rate));
    ok(ef_tensor_from(EF_I32, &two, both, &axes));
    ok(ef_do_ReadVariableOp(
        &m->w, EF_F32, &w)); /* the variable is outside of the graph, which captures its handle */
    ok(ef_do_MatMul(&m->x, &w, NULL, &y));
    ok(ef_do_SquaredDifference(&y, &m->want, &square));
    ok(ef_do_Mean(&square, &axes, NULL, &m->loss));
    const ef_tensor *by[] = {&w};
    ok(ef_graph_gradients(&m->loss, by, 1, &grad));
    ok(ef_graph_name_next(m->graph, "train"));
    ok(ef_do_ResourceApplyGradientDescent(&m->w, &rate, &grad, NULL));
    ok(ef_graph_leave(m->graph));
    ef_tensor_release(&w);
    ef_tensor_release(&y);
    ef_tensor_release(&square);
    ef_tensor_release(&axes);
    ef_tensor_release(&grad);
    ef_tensor_release(&rate);
}

static void end(model *m) {
    ef_tensor_release(&m->x);
    ef_tensor_release(&m->want);
    ef_tensor_release(&m->loss);
    ef_graph_free(m->graph);
}

int main(void) {
    float zeros[3] = {0}, xs[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}, ys[] = {2, -1, 3, 4};
    ef_shape ws = {.rank = 2, .dim = {3, 1}}, xsh = {.rank = 2, .dim = {4, 3}},
             ysh = {.rank = 2, .dim = {4, 1}};
    ef_tensor start, values[2];
    model m;
    ok(ef_tensor_from(EF_F32, &ws, zeros, &start));
    ok(ef_variable_new(&start, "w", &m.w));
    ok(ef_tensor_from(EF_F32, &xsh, xs, &values[0]));
    ok(ef_tensor_from(EF_F32, &ysh, ys, &values[1]));

    build(&m);
    ef_session *session;
    ok(ef_session_new(m.graph, &session));
    const char *train[] = {"train"};
    ef_tensor feeds[2], loss;
    ef_tensor_copy(&feeds[0], &m.x);
    ef_tensor_copy(&feeds[1], &m.want);
    float us[1000];
    for (int k = 0; k < 1000; k++) {
        double t = now_us();
        ok(ef_session_run(session, feeds, values, 2, &m.loss, 1, train, 1, &loss));
        us[k] = (float)(now_us() - t);
        const void *v;
        ok(ef_tensor_data(&loss, &v));
        if (k % 250 == 0 || k == 999) printf("step %4d  loss %.6f\n", k, *(const float *)v);
        ef_tensor_release(&loss);
    }
    report_calls("session, training step", us, 1000);
    ef_tensor w;
    const void *wv;
    ok(ef_variable_get(&m.w, &w));
    ok(ef_tensor_data(&w, &wv));
    printf("w = [%.3f, %.3f, %.3f]\n", ((const float *)wv)[0], ((const float *)wv)[1],
           ((const float *)wv)[2]);
    ef_tensor_release(&w);
    ef_session_free(session);
    for (int k = 0; k < 2; k++) ef_tensor_release(&feeds[k]);
    end(&m);

    for (int k = 0; k < 1000; k++) { /* graph and session made afresh each time */
        double t = now_us();
        build(&m);
        ok(ef_session_new(m.graph, &session));
        ef_tensor f[2];
        ef_tensor_copy(&f[0], &m.x);
        ef_tensor_copy(&f[1], &m.want);
        ok(ef_session_run(session, f, values, 2, &m.loss, 1, NULL, 0, &loss));
        ef_tensor_release(&loss);
        ef_session_free(session);
        for (int j = 0; j < 2; j++) ef_tensor_release(&f[j]);
        end(&m);
        us[k] = (float)(now_us() - t);
    }
    report_calls("session, graph and session rebuilt", us, 1000);
    ef_tensor_release(&m.w);
    ef_tensor_release(&start);
    ef_tensor_release(&values[0]);
    ef_tensor_release(&values[1]);
    return 0;
}
