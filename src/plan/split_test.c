/* Groups that need more than a tile program has (arguments, registers, buffers): each becomes a few
 * fused steps instead of a step per op, with the values of the ops run one by one. */
#include "check.h"
#include "graph/graph.h"
#include "ops/run.h"
#include "plan/program.h"

enum { ROWS = 20, COLS = 30, MOST = 256 };

/* A graph, and beside it the value of each of its nodes, computed by the op alone. */
typedef struct twin {
    ef_graph *g;
    ef_edge edge[MOST];
    ef_tensor value[MOST];
    int n, n_ops;
    int input[MOST], n_in;
    int output[MOST], n_out;
} twin;

static void begin(twin *t) {
    *t = (twin){.g = ef_graph_make()};
    CHECK(t->g != NULL);
}

static void must(ef_status *s) { CHECK_OK(s); }

static int input(twin *t, int64_t rows, int64_t cols) {
    ef_shape s = {.rank = 2, .dim = {rows, cols}};
    int v = t->n++;
    must(ef_tensor_alloc(&t->value[v], EF_F32, &s));
    for (int64_t k = 0; k < rows * cols; k++)
        ((float *)t->value[v].data)[k] = 0.01f * (float)((k * 7 + v * 13) % 97) + 0.1f;
    must(ef_graph_input(t->g, EF_F32, &s, NULL, &t->edge[v]));
    return t->input[t->n_in++] = v;
}

static int whole(twin *t) { return input(t, ROWS, COLS); }

static int apply(twin *t, const char *name, int a, int b) {
    const ef_op *op = ef_op_find(name);
    ef_tensor *in[] = {&t->value[a], b < 0 ? NULL : &t->value[b]};
    ef_edge from[] = {t->edge[a], b < 0 ? (ef_edge){0, 0} : t->edge[b]};
    int v = t->n++, n_in = b < 0 ? 1 : 2, n;
    int32_t node;
    must(ef_op_run(ef_context_here(), op, NULL, in, n_in, &t->value[v], 1, &n));
    must(ef_graph_add(t->g, op, NULL, from, n_in, NULL, &node));
    t->edge[v] = (ef_edge){node, 0};
    t->n_ops++;
    return v;
}

static void give(twin *t, int v) { t->output[t->n_out++] = v; }

static int steps_of(const twin *t) {
    ef_fact facts[MOST] = {0};
    ef_plan *p;
    for (int k = 0; k < t->n_in; k++)
        facts[k] = (ef_fact){.dtype = EF_F32, .shape = ef_shape_from(&t->value[t->input[k]])};
    must(ef_plan_make(t->g, facts, &(ef_plan_options){0}, &p));
    int n = (int)p->n_steps;
    ef_plan_free(p);
    return n;
}

/* Ends the graph: it must take at most `most` steps and give what its ops give one by one. */
static void end(twin *t, int most) {
    ef_edge out[MOST];
    ef_tensor got[MOST] = {{0}}, *in[MOST];
    ef_program *p;
    for (int k = 0; k < t->n_out; k++) out[k] = t->edge[t->output[k]];
    for (int k = 0; k < t->n_in; k++) in[k] = &t->value[t->input[k]];
    CHECK_OK(ef_graph_set_outputs(t->g, out, t->n_out));
    int steps = steps_of(t);
    if (steps > most) printf("    %d ops are %d steps, not %d\n", t->n_ops, steps, most);
    CHECK(steps <= most);
    CHECK_OK(ef_program_make(t->g, NULL, &p));
    CHECK_OK(ef_program_run(ef_context_here(), p, in, got));
    for (int k = 0; k < t->n_out; k++) {
        CHECK(ef_tensor_same_bytes(&got[k], &t->value[t->output[k]]));
        ef_tensor_release(&got[k]);
    }
    for (int k = 0; k < t->n; k++) ef_tensor_release(&t->value[k]);
    ef_program_unref(p);
    ef_graph_unref(t->g);
}

EF_TEST(sum_of_many_squares) {
    twin t;
    begin(&t);
    int x = whole(&t), sum = apply(&t, "Square", x, -1);
    for (int k = 1; k < 40; k++) {
        x = whole(&t);
        sum = apply(&t, "AddV2", sum, apply(&t, "Square", x, -1));
    }
    give(&t, sum);
    end(&t, 3);
}

EF_TEST(squares_first_then_their_sum) {
    twin t;
    int square[40];
    begin(&t);
    for (int k = 0; k < 40; k++) square[k] = apply(&t, "Square", whole(&t), -1);
    for (int k = 1; k < 40; k++) square[k] = apply(&t, "AddV2", square[k - 1], square[k]);
    give(&t, square[39]);
    end(&t, 4);
}

/* Every parameter's update reads one common value, so all of them would be one group. */
EF_TEST(updates_that_share_a_factor) {
    twin t;
    begin(&t);
    int factor = apply(&t, "Rsqrt", whole(&t), -1), rate = input(&t, 1, 1);
    for (int k = 0; k < 8; k++) {
        int p = whole(&t), m = whole(&t), v = whole(&t), g = apply(&t, "Mul", whole(&t), factor);
        m = apply(&t, "AddV2", m, apply(&t, "Mul", apply(&t, "Sub", g, m), rate));
        v = apply(&t, "AddV2", v,
                  apply(&t, "Mul", apply(&t, "Sub", apply(&t, "Square", g, -1), v), rate));
        p = apply(&t, "Sub", p,
                  apply(&t, "Mul", apply(&t, "Mul", m, rate), apply(&t, "Rsqrt", v, -1)));
        give(&t, m);
        give(&t, v);
        give(&t, p);
    }
    end(&t, 9);
}

EF_TEST(many_broadcast_vectors) {
    twin t;
    begin(&t);
    int y = whole(&t);
    for (int k = 0; k < 12; k++)
        y = apply(&t, k % 2 ? "Mul" : "AddV2", y, input(&t, k % 3 ? 1 : ROWS, k % 3 ? COLS : 1));
    give(&t, y);
    end(&t, 3);
}

EF_TEST(many_values_at_once) {
    twin t;
    int wave[14];
    begin(&t);
    wave[0] = apply(&t, "Sin", whole(&t), -1);
    for (int k = 1; k < 14; k++) wave[k] = apply(&t, "Sin", wave[k - 1], -1);
    int sum = wave[13];
    for (int k = 12; k >= 0; k--) sum = apply(&t, "Sub", wave[k], sum);
    give(&t, sum);
    end(&t, 3);
}

EF_TEST(many_results_of_one_value) {
    twin t;
    begin(&t);
    int x = apply(&t, "Neg", whole(&t), -1);
    for (int k = 0; k < 28; k++) {
        x = apply(&t, "Sin", x, -1);
        give(&t, x);
    }
    end(&t, 2);
}

/* Fifteen inputs and the sum use up all arguments, so the reduction becomes a separate step. */
EF_TEST(reduction_without_room) {
    twin t;
    begin(&t);
    int sum = whole(&t);
    for (int k = 1; k < 15; k++) sum = apply(&t, "AddV2", sum, whole(&t));
    give(&t, sum);
    give(&t, apply(&t, "L2Loss", sum, -1));
    end(&t, 2);
}

int main(void) {
    EF_RUN(sum_of_many_squares);
    EF_RUN(squares_first_then_their_sum);
    EF_RUN(updates_that_share_a_factor);
    EF_RUN(many_broadcast_vectors);
    EF_RUN(many_values_at_once);
    EF_RUN(many_results_of_one_value);
    EF_RUN(reduction_without_room);
    return EF_VERDICT();
}
