/* The overhead of a call beyond its arithmetic: eagerly, of a traced function, of one more step. */
#include "bench.h"
#include <stdio.h>

typedef struct call {
    ef_function *f;
    const ef_op *op;
    const ef_tensor *in[2];
} call;

static void eager_add(void *arg) {
    call *c = arg;
    ef_tensor out;
    int n;
    bench_check(ef_call_op(c->op, NULL, c->in, 2, &out, 1, &n));
    ef_tensor_release(&out);
}

static void function_call(void *arg) {
    call *c = arg;
    ef_tensor out;
    int n;
    bench_check(ef_function_call(c->f, c->in, 2, &out, 1, &n));
    ef_tensor_release(&out);
}

/* x, y -> x op y op y ..., alternating Mul and AddV2, *user ops in all. */
static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)n_in;
    (void)max_out;
    int ops = *(const int *)user;
    ef_tensor at;
    ef_tensor_copy(&at, &in[0]);
    for (int k = 0; k < ops; k++) {
        ef_tensor next;
        bench_op(k % 2 ? "AddV2" : "Mul", 2, &at, &in[1], &next);
        ef_tensor_release(&at);
        ef_tensor_copy(&at, &next);
        ef_tensor_release(&next);
    }
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
    *n_out = 1;
    return NULL;
}

void bench_calls(void) {
    double unit = bench_unit(), ns[2];
    char what[160];
    ef_tensor a, b;
    bench_fill(&a, EF_F32, 0, NULL, 1);
    bench_fill(&b, EF_F32, 0, NULL, 2);
    int four = 4, many = 68;
    call c = {.op = ef_op_find("AddV2"), .in = {&a, &b}};
    ef_side add = {.work = eager_add, .arg = &c, .times = 20000, .alone = true};
    bench_compare(&add, &add, 15, &ns[0], &ns[1]);
    snprintf(what, sizeof what, "%.0f ns; u, a malloc and its free, is %.1f ns", ns[0], unit);
    bench_row("eager scalar add from C", ns[0] / unit, 12, " u", what);

    int64_t small[] = {2, 2};
    ef_tensor x, y;
    bench_fill(&x, EF_F32, 2, small, 3);
    bench_fill(&y, EF_F32, 2, small, 4);
    call f4 = {.in = {&x, &y}}, f68 = {.in = {&x, &y}};
    bench_check(ef_function_new(trace, &four, "four", &f4.f));
    bench_check(ef_function_new(trace, &many, "many", &f68.f));
    ef_side s4 = {.work = function_call, .arg = &f4, .times = 20000, .alone = true},
            s68 = {.work = function_call, .arg = &f68, .times = 5000, .alone = true};
    bench_compare(&s4, &s68, 15, &ns[0], &ns[1]);
    snprintf(what, sizeof what, "%.0f ns", ns[0]);
    bench_row("call of a traced 4-op function, small tensors", ns[0] / unit, 25, " u", what);
    snprintf(what, sizeof what, "%.1f ns", (ns[1] - ns[0]) / (many - four));
    bench_row("one extra plan step", (ns[1] - ns[0]) / (many - four) / unit, 1, " u", what);
    uint64_t before = ef_allocations();
    for (int k = 0; k < 1000; k++) function_call(&f4);
    snprintf(what, sizeof what, "%llu in 1000 calls",
             (unsigned long long)(ef_allocations() - before));
    bench_row("allocations per hot planned call", (double)(ef_allocations() - before) / 1000, 0,
              "  ", what);
    ef_function_free(f4.f);
    ef_function_free(f68.f);
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    ef_tensor_release(&a);
    ef_tensor_release(&b);
}
