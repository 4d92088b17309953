/* A While iteration: i < n, i + 1. */
#include "bench.h"
#include <stdio.h>

static ef_graph *cond_graph, *body_graph;

static ef_graph *function(const char *op, const ef_tensor *constant) {
    ef_graph *g = ef_graph_new();
    ef_shape scalar = {.rank = 0};
    ef_tensor i, n, out[2];
    bench_check(ef_graph_placeholder(g, EF_I32, &scalar, "i", &i));
    bench_check(ef_graph_placeholder(g, EF_I32, &scalar, "n", &n));
    bench_check(ef_graph_enter(g));
    bench_op(op, 2, &i, constant != NULL ? constant : &n, &out[0]);
    bench_check(ef_graph_leave(g));
    ef_tensor in[2];
    ef_tensor_copy(&in[0], &i);
    ef_tensor_copy(&in[1], &n);
    ef_tensor_copy(&out[1], &n);
    bench_check(ef_graph_finish(g, in, 2, out, constant != NULL ? 2 : 1));
    for (int k = 0; k < 2; k++) {
        ef_tensor_release(&in[k]);
        ef_tensor_release(&out[k]);
    }
    ef_tensor_release(&i);
    ef_tensor_release(&n);
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
    bench_check(ef_attrs_make(op, set, 2, &attrs));
    const ef_tensor *args[] = {&in[0], &in[1]};
    ef_tensor results[2];
    int n;
    ef_status *s = ef_call_op(op, attrs, args, 2, results, 2, &n);
    ef_attrs_unref(attrs);
    if (s != NULL) return s;
    ef_tensor_copy(out, &results[0]);
    ef_tensor_release(&results[0]);
    ef_tensor_release(&results[1]);
    *n_out = 1;
    return NULL;
}

typedef struct loop {
    ef_function *f;
    ef_tensor zero, trips;
} loop;

static void run(void *arg) {
    loop *l = arg;
    const ef_tensor *in[] = {&l->zero, &l->trips};
    ef_tensor out;
    int n;
    bench_check(ef_function_call(l->f, in, 2, &out, 1, &n));
    ef_tensor_release(&out);
}

void bench_loops(void) {
    int32_t one = 1, zero = 0, few = 1000, many = 101000;
    ef_tensor step;
    bench_check(ef_tensor_from(EF_I32, NULL, &one, &step));
    cond_graph = function("Less", NULL);
    body_graph = function("AddV2", &step);
    loop a, b;
    bench_check(ef_function_new(trace, NULL, "loop", &a.f));
    b.f = a.f;
    bench_check(ef_tensor_from(EF_I32, NULL, &zero, &a.zero));
    bench_check(ef_tensor_from(EF_I32, NULL, &zero, &b.zero));
    bench_check(ef_tensor_from(EF_I32, NULL, &few, &a.trips));
    bench_check(ef_tensor_from(EF_I32, NULL, &many, &b.trips));
    double unit = bench_unit(), ns_few, ns_many;
    ef_side sa = {.work = run, .arg = &a, .times = 20, .alone = true},
            sb = {.work = run, .arg = &b, .times = 1, .alone = true};
    bench_compare(&sa, &sb, 11, &ns_few, &ns_many);
    double each = (ns_many - ns_few) / (many - few);
    char what[80];
    snprintf(what, sizeof what, "%.1f ns", each);
    bench_row("one While iteration (scalar add and compare)", each / unit, 4, " u", what);
    ef_function_free(a.f);
    ef_graph_free(cond_graph);
    ef_graph_free(body_graph);
}
