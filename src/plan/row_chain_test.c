/* Row chains against the ops run one after the other: norms and their gradients, softmax written
 * with plain ops, values that leave the chain, over rows and columns around every threshold, for
 * every float; and the same bits whatever the number of threads. */
#include "base/pool.h"
#include "check.h"
#include "graph/graph.h"
#include "ops/run.h"
#include "plan/program.h"
#include "plan/row_chain.h"

enum { MOST = 64, INNER = 1, OUTER = 0 };

/* A graph, and beside it the value of each of its nodes, computed by the op alone. */
typedef struct twin {
    ef_graph *g;
    ef_dtype dtype;
    int64_t rows, cols;
    ef_edge edge[MOST];
    ef_tensor value[MOST];
    int n, n_in, n_out;
    int input[MOST], output[MOST];
} twin;

static void must(ef_status *s) { CHECK_OK(s); }

static void begin(twin *t, ef_dtype d, int64_t rows, int64_t cols) {
    *t = (twin){.g = ef_graph_make(), .dtype = d, .rows = rows, .cols = cols};
    t->g->function = true;
}

static int input(twin *t, int64_t rows, int64_t cols) {
    ef_shape s = {.rank = 2, .dim = {rows, cols}};
    int v = t->n++;
    must(ef_tensor_alloc(&t->value[v], t->dtype, &s));
    for (int64_t k = 0; k < rows * cols; k++)
        ef_element_set(t->dtype, t->value[v].data, k,
                       (double)((k * 37 + v * 13 + k / 11) % 97) / 64);
    must(ef_graph_input(t->g, t->dtype, &s, NULL, &t->edge[v]));
    return t->input[t->n_in++] = v;
}

static int add(twin *t, const ef_op *op, const ef_attrs *attrs, const int *in, int n_in) {
    ef_tensor *value[3];
    ef_edge from[3];
    int v = t->n++, n;
    int32_t node;
    for (int k = 0; k < n_in; k++) {
        value[k] = &t->value[in[k]];
        from[k] = t->edge[in[k]];
    }
    const ef_attrs *used = attrs != NULL ? attrs : ef_attrs_default(op);
    must(ef_op_run(ef_context_here(), op, used != NULL ? ef_attrs_fields(used) : NULL, value, n_in,
                   &t->value[v], 1, &n));
    must(ef_graph_add(t->g, op, attrs, from, n_in, NULL, &node));
    t->edge[v] = (ef_edge){node, 0};
    return v;
}

static int apply(twin *t, const char *name, int a, int b) {
    return add(t, ef_op_find(name), NULL, (int[]){a, b}, b < 0 ? 1 : 2);
}

/* Over the inner or the outer axis, which stays with size one. */
static int reduce(twin *t, const char *name, int a, int32_t axis) {
    const ef_op *op = ef_op_find(name);
    const ef_attrs *keep;
    ef_attr_value set = EF_SET_BOOL("keep_dims", true);
    int axes = t->n++;
    must(ef_tensor_from(EF_I32, &(ef_shape){.rank = 0}, &axis, &t->value[axes]));
    must(ef_graph_constant(t->g, &t->value[axes], &t->edge[axes]));
    must(ef_attrs_make(op, &set, 1, &keep));
    int v = add(t, op, keep, (int[]){a, axes}, 2);
    ef_attrs_unref(keep);
    return v;
}

static int give(twin *t, int v) { return t->output[t->n_out++] = v; }

static int chains_of(const twin *t, int *steps) {
    ef_fact facts[MOST] = {0};
    ef_plan *p;
    int chains = 0;
    for (int k = 0; k < t->n_in; k++)
        facts[k] = (ef_fact){.dtype = t->dtype, .shape = ef_shape_from(&t->value[t->input[k]])};
    must(ef_plan_make(t->g, facts, &(ef_plan_options){0}, &p));
    for (int32_t k = 0; k < p->n_steps; k++) chains += p->step[k].run == ef_run_row_chain;
    *steps = (int)p->n_steps;
    ef_plan_free(p);
    return chains;
}

static double tolerance(ef_dtype d) {
    return d == EF_F64 ? 1e-11 : d == EF_F32 ? 3e-5 : d == EF_F16 ? 2e-2 : 1.5e-1;
}

static void compare(const twin *t, const ef_tensor *want, const ef_tensor *got) {
    double most = 1;
    CHECK_INT(ef_count(want), ef_count(got));
    for (int64_t i = 0, n = ef_count(want); i < n; i++) {
        double x = fabs(ef_element_double(t->dtype, want->data, i));
        if (isfinite(x) && x > most) most = x;
    }
    for (int64_t i = 0, n = ef_count(want); i < n && !ef_check.failed; i++) {
        double x = ef_element_double(t->dtype, want->data, i);
        double y = ef_element_double(t->dtype, got->data, i);
        if (isfinite(x))
            CHECK_NEAR(y, x, tolerance(t->dtype) * most);
        else
            CHECK(isnan(x) ? isnan(y) : x == y);
    }
}

/* Ends the graph: it must have so many row chains, and give what its ops give one by one. */
static void end(twin *t, int chains) {
    ef_edge out[MOST];
    ef_tensor one[MOST] = {{0}}, all[MOST] = {{0}}, *in[MOST];
    ef_program *p;
    int steps;
    for (int k = 0; k < t->n_out; k++) out[k] = t->edge[t->output[k]];
    for (int k = 0; k < t->n_in; k++) in[k] = &t->value[t->input[k]];
    CHECK_OK(ef_graph_set_outputs(t->g, out, t->n_out));
    CHECK_INT(chains_of(t, &steps), chains);
    CHECK_OK(ef_program_make(t->g, NULL, &p));
    ef_pool_limit(1);
    CHECK_OK(ef_program_run(ef_context_here(), p, in, one));
    ef_pool_limit(0);
    CHECK_OK(ef_program_run(ef_context_here(), p, in, all));
    for (int k = 0; k < t->n_out; k++) {
        compare(t, &t->value[t->output[k]], &one[k]);
        CHECK(ef_tensor_same_bytes(&one[k], &all[k]));
        ef_tensor_release(&one[k]);
        ef_tensor_release(&all[k]);
    }
    if (ef_check.failed)
        printf("    %s, %d x %d, %d steps\n", ef_dtype_name(t->dtype), (int)t->rows, (int)t->cols,
               steps);
    for (int k = 0; k < t->n; k++) ef_tensor_release(&t->value[k]);
    ef_program_unref(p);
    ef_graph_unref(t->g);
}

/* ---- programs -------------------------------------------------------------------------------- */

/* A layer norm, and what its gradient computes: two sums over the same rows, sums over columns, and
 * one more walk over all elements. */
static void norm(twin *t) {
    int x = input(t, t->rows, t->cols), back = input(t, t->rows, t->cols);
    int scale = input(t, 1, t->cols), shift = input(t, 1, t->cols), eps = input(t, 1, 1);
    int mean = reduce(t, "Mean", x, INNER), centred = apply(t, "Sub", x, mean);
    int variance = reduce(t, "Mean", apply(t, "Square", centred, -1), INNER);
    int r = apply(t, "Rsqrt", apply(t, "AddV2", variance, eps), -1);
    int hat = apply(t, "Mul", centred, r);
    give(t, apply(t, "AddV2", apply(t, "Mul", hat, scale), shift));
    int g = apply(t, "Mul", back, scale);
    int sum = reduce(t, "Mean", g, INNER);
    int product = reduce(t, "Mean", apply(t, "Mul", g, hat), INNER);
    give(t, reduce(t, "Sum", apply(t, "Mul", back, hat), OUTER));
    give(t, reduce(t, "Sum", back, OUTER));
    int dx = apply(t, "Sub", apply(t, "Sub", g, sum), apply(t, "Mul", hat, product));
    give(t, apply(t, "Mul", dx, r));
}

/* Softmax with a mask, and the logarithm of the sum beside it. */
static void softmax(twin *t) {
    int x = input(t, t->rows, t->cols), mask = input(t, t->rows, t->cols);
    int high = reduce(t, "Max", x, INNER);
    int e = apply(t, "Mul", apply(t, "Exp", apply(t, "Sub", x, high), -1), mask);
    int sum = reduce(t, "Sum", e, INNER);
    give(t, apply(t, "RealDiv", e, sum));
    give(t, apply(t, "AddV2", apply(t, "Log", sum, -1), high));
}

static int64_t enough(int64_t cols) { return EF_ROW_CHAIN_LEAST / cols + 3; }

EF_TEST(every_width) {
    static const int64_t cols[] = {2, 7, 8, 9, 31, 255, 256, 257, 511, 512, 513, 700, 1025, 1500};
    for (size_t k = 0; k < sizeof cols / sizeof *cols && !ef_check.failed; k++) {
        twin t;
        begin(&t, EF_F32, enough(cols[k]), cols[k]);
        norm(&t);
        end(&t, 1);
        begin(&t, EF_F32, enough(cols[k]), cols[k]);
        softmax(&t);
        end(&t, 1);
    }
}

EF_TEST(every_height) {
    static const int64_t rows[] = {8, 9, 15, 16, 17, 63, 64, 65, 255, 256, 257, 1024, 1031};
    for (size_t k = 0; k < sizeof rows / sizeof *rows && !ef_check.failed; k++) {
        twin t;
        begin(&t, EF_F32, rows[k], EF_ROW_CHAIN_LEAST / rows[k] + 5);
        norm(&t);
        end(&t, 1);
    }
}

EF_TEST(every_float) {
    static const ef_dtype types[] = {EF_F64, EF_F16, EF_BF16};
    for (size_t k = 0; k < sizeof types / sizeof *types && !ef_check.failed; k++) {
        twin t;
        begin(&t, types[k], 300, 100);
        norm(&t);
        end(&t, 1);
        begin(&t, types[k], 30, 800);
        softmax(&t);
        end(&t, 1);
    }
}

/* Too few elements, too few rows, or rows so long that each is cut: steps of their own. */
EF_TEST(where_no_chain_pays) {
    static const int64_t shapes[][2] = {{10, 100}, {7, 3000}, {9, 20000}, {1, 20000}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes && !ef_check.failed; k++) {
        twin t;
        begin(&t, EF_F32, shapes[k][0], shapes[k][1]);
        softmax(&t);
        end(&t, 0);
    }
}

/* NaN and infinities in one row stay in that row. */
EF_TEST(not_finite) {
    static const float odd[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
        twin t;
        begin(&t, EF_F32, 70, 300);
        int x = input(&t, 70, 300);
        ((float *)t.value[x].data)[33 * 300 + 299] = odd[k];
        int high = reduce(&t, "Max", x, INNER);
        int e = apply(&t, "Exp", apply(&t, "Sub", x, high), -1);
        give(&t, apply(&t, "RealDiv", e, reduce(&t, "Sum", e, INNER)));
        give(&t, apply(&t, "Sub", x, reduce(&t, "Mean", x, INNER)));
        end(&t, 1);
    }
}

/* A value of the chain that an op outside reads, and one that is an output: both are written.
 * Groups after the reader form another chain. */
EF_TEST(values_leave_the_chain) {
    twin t;
    begin(&t, EF_F32, 90, 200);
    int x = input(&t, 90, 200), w = input(&t, 200, 5);
    int centred = apply(&t, "Sub", x, reduce(&t, "Mean", x, INNER));
    int squares = give(&t, apply(&t, "Square", centred, -1));
    int r = apply(&t, "Rsqrt", reduce(&t, "Mean", squares, INNER), -1);
    int y = apply(&t, "Mul", centred, r);
    give(&t, apply(&t, "MatMul", y, w));
    int high = reduce(&t, "Max", y, INNER);
    int e = apply(&t, "Exp", apply(&t, "Sub", y, high), -1);
    give(&t, apply(&t, "RealDiv", e, reduce(&t, "Sum", e, INNER)));
    end(&t, 2);
}

/* More reductions of one group than a program has room for. */
EF_TEST(many_reductions) {
    twin t;
    begin(&t, EF_F32, 100, 300);
    int x = input(&t, 100, 300), sum = -1;
    for (int k = 0; k < 7; k++) {
        x = apply(&t, "AddV2", apply(&t, "Mul", x, x), x);
        x = apply(&t, "Tanh", x, -1);
        int one = reduce(&t, k % 2 ? "Max" : "Mean", x, INNER);
        sum = sum < 0 ? one : apply(&t, "AddV2", sum, one);
    }
    give(&t, apply(&t, "Sub", x, sum));
    end(&t, 1);
}

/* How many programs of the graph's chain leave their sums over rows to others. */
static int folded_sums(twin *t) {
    ef_edge out[MOST];
    ef_fact facts[MOST] = {0};
    ef_plan *p;
    int n = 0;
    for (int k = 0; k < t->n_out; k++) out[k] = t->edge[t->output[k]];
    must(ef_graph_set_outputs(t->g, out, t->n_out));
    for (int k = 0; k < t->n_in; k++)
        facts[k] = (ef_fact){.dtype = t->dtype, .shape = ef_shape_from(&t->value[t->input[k]])};
    must(ef_plan_make(t->g, facts, &(ef_plan_options){0}, &p));
    for (int32_t k = 0; k < p->n_steps; k++) {
        const ef_row_chain *c = p->step[k].state;
        for (int i = 0; p->step[k].run == ef_run_row_chain && i < c->n; i++)
            n += c->program[i].way == EF_ROWS_SUMMED;
    }
    ef_plan_free(p);
    return n;
}

/* Sums over many rows are taken while their elements are in a register, where the rows are long
 * and their type is one that we compile: of an input, of a value that nothing else reads, and of
 * one that is an output too. */
EF_TEST(sums_over_rows_join_other_programs) {
    static const struct {
        ef_dtype dtype;
        int64_t rows, cols;
        int sums;
    } of[] = {{EF_F32, 3001, 300, 3}, {EF_F32, 70, 256, 3},  {EF_F32, 1100, 1500, 3},
              {EF_F64, 2500, 260, 3}, {EF_F32, 3000, 31, 0}, {EF_F16, 200, 300, 0}};
    for (size_t k = 0; k < sizeof of / sizeof *of && !ef_check.failed; k++) {
        twin t;
        begin(&t, of[k].dtype, of[k].rows, of[k].cols);
        int x = input(&t, t.rows, t.cols), back = input(&t, t.rows, t.cols);
        int centred = apply(&t, "Sub", x, reduce(&t, "Mean", x, INNER));
        int product = apply(&t, "Mul", centred, back);
        give(&t, reduce(&t, "Sum", product, INNER));
        give(&t, reduce(&t, "Sum", product, OUTER));
        give(&t, reduce(&t, "Mean", back, OUTER));
        int root = give(&t, apply(&t, "Sqrt", apply(&t, "Square", product, -1), -1));
        give(&t, reduce(&t, "Sum", root, INNER));
        give(&t, reduce(&t, "Sum", root, OUTER));
        CHECK_INT(folded_sums(&t), of[k].sums);
        end(&t, 1);
    }
}

int main(void) {
    EF_RUN(every_width);
    EF_RUN(every_height);
    EF_RUN(every_float);
    EF_RUN(where_no_chain_pays);
    EF_RUN(not_finite);
    EF_RUN(values_leave_the_chain);
    EF_RUN(many_reductions);
    EF_RUN(sums_over_rows_join_other_programs);
    return EF_VERDICT();
}
