/* Control flow in a graph: the Collatz steps of a number, by While and If. A body is a graph of its
 * own with inputs and outputs; an iteration costs its kernels and nothing else. */
#include "example.h"
#include <ef_ops.h>

static void scalar(int64_t v, ef_tensor *t) { ok(ef_tensor_from(EF_I64, NULL, &v, t)); }

/* A function graph of n int64 scalars; `write` computes its outputs from them. */
typedef int write_fn(const ef_tensor *in, ef_tensor *out);
static ef_graph *function(int n, write_fn *write) {
    ef_graph *g = ef_graph_new();
    ef_shape s = {.rank = 0};
    ef_tensor in[2], out[2];
    for (int k = 0; k < n; k++) ok(ef_graph_placeholder(g, EF_I64, &s, "v", &in[k]));
    ok(ef_graph_enter(g));
    int n_out = write(in, out);
    ok(ef_graph_leave(g));
    ok(ef_graph_finish(g, in, n, out, n_out));
    for (int k = 0; k < n; k++) ef_tensor_release(&in[k]);
    for (int k = 0; k < n_out; k++) ef_tensor_release(&out[k]);
    return g;
}

static ef_graph *halve_graph, *triple_graph;

static int halve(const ef_tensor *in, ef_tensor *out) {
    ef_tensor two;
    scalar(2, &two);
    ok(ef_do_FloorDiv(&in[0], &two, &out[0]));
    return 1;
}
static int triple(const ef_tensor *in, ef_tensor *out) {
    ef_tensor three, one, t;
    scalar(3, &three);
    scalar(1, &one);
    ok(ef_do_Mul(&in[0], &three, &t));
    ok(ef_do_AddV2(&t, &one, &out[0]));
    ef_tensor_release(&t);
    return 1;
}
static int above_one(const ef_tensor *in, ef_tensor *out) { /* of (value, steps) */
    ef_tensor one;
    scalar(1, &one);
    ok(ef_do_Greater(&in[0], &one, &out[0]));
    return 1;
}
static int step(const ef_tensor *in, ef_tensor *out) {
    ef_tensor two, one, zero, rest, even;
    scalar(2, &two);
    scalar(1, &one);
    scalar(0, &zero);
    ok(ef_do_FloorMod(&in[0], &two, &rest));
    ok(ef_do_Equal(&rest, &zero, NULL, &even));
    const ef_op *op = ef_op_find("StatelessIf");
    const ef_attrs *attrs;
    ef_dtype types[] = {EF_I64};
    ef_attr_value set[] = {EF_SET_TYPES("Tout", 1, types), EF_SET_FUNC("then_branch", halve_graph),
                           EF_SET_FUNC("else_branch", triple_graph)};
    ok(ef_attrs_make(op, set, 3, &attrs));
    const ef_tensor *args[] = {&even, &in[0]};
    int n;
    ok(ef_call_op(op, attrs, args, 2, &out[0], 1, &n));
    ef_attrs_unref(attrs);
    ok(ef_do_AddV2(&in[1], &one, &out[1]));
    ef_tensor_release(&rest);
    ef_tensor_release(&even);
    return 2;
}

int main(void) {
    halve_graph = function(1, halve);
    triple_graph = function(1, triple);
    ef_graph *cond = function(2, above_one), *body = function(2, step);
    char *text;
    ok(ef_graph_print(body, &text));
    printf("the body:\n%s", text);
    ef_text_release(text);

    const ef_op *op = ef_op_find("StatelessWhile");
    const ef_attrs *attrs;
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    ok(ef_attrs_make(op, set, 2, &attrs));
    float us[1000];
    for (int k = 0; k < 1000; k++) {
        ef_tensor start, zero, out[2];
        scalar(837799, &start);
        scalar(0, &zero);
        const ef_tensor *in[] = {&start, &zero};
        int n;
        double t = now_us();
        ok(ef_call_op(op, attrs, in, 2, out, 2, &n)); /* outside a graph it runs immediately */
        us[k] = (float)(now_us() - t);
        const void *steps;
        ok(ef_tensor_data(&out[1], &steps));
        if (k == 0) printf("837799 reaches 1 in %lld steps\n", (long long)*(const int64_t *)steps);
        ef_tensor_release(&out[0]);
        ef_tensor_release(&out[1]);
    }
    report_calls("loops, 524 iterations", us, 1000);
    ef_attrs_unref(attrs);
    ef_graph_free(cond);
    ef_graph_free(body);
    ef_graph_free(halve_graph);
    ef_graph_free(triple_graph);
    return 0;
}
