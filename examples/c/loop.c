/* Repeats the same call, by default a million times, eagerly and as a traced function. The last
 * call takes as long as the second, and memory does not grow. */
#include "beside.h"
#include <ef_ops.h>

typedef struct layer {
    ef_tensor w, b;
} layer;

static ef_status *dense(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)n_in;
    (void)max_out;
    const layer *l = user;
    ef_tensor y, z;
    ef_status *s = ef_do_MatMul(&in[0], &l->w, NULL, &y);
    if (s != NULL) return s;
    s = ef_do_AddV2(&y, &l->b, &z);
    ef_tensor_release(&y);
    if (s != NULL) return s;
    s = ef_do_Relu(&z, out);
    ef_tensor_release(&z);
    *n_out = 1;
    return s;
}

typedef void one_call(void *arg);
typedef struct subject {
    ef_function *f;
    layer *l;
    ef_tensor x;
} subject;

static void by_function(void *arg) {
    subject *s = arg;
    const ef_tensor *in[] = {&s->x};
    ef_tensor out;
    int n;
    ok(ef_function_call(s->f, in, 1, &out, 1, &n));
    ef_tensor_release(&out);
}

static void eagerly(void *arg) {
    subject *s = arg;
    ef_tensor out;
    int n;
    ok(dense(s->l, &s->x, 1, &out, 1, &n));
    ef_tensor_release(&out);
}

static void repeat(const char *name, one_call *call, subject *s, long n) {
    run r;
    run_begin(&r, name, n);
    for (long k = 0; k < r.n; k++) {
        run_before(&r, k);
        call(s);
        run_after(&r, k);
    }
    run_report(&r);
}

static void fill(ef_tensor *t, int rank, int64_t d0, int64_t d1) {
    ef_shape s = {.rank = rank, .dim = {d0, d1}};
    const void *data;
    ok(ef_tensor_new(EF_F32, &s, t));
    ok(ef_tensor_data(t, &data));
    for (int64_t k = 0, n = ef_tensor_count(t); k < n; k++)
        ((float *)data)[k] = (float)(k % 7) * 0.1f - 0.2f;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    layer l;
    subject s = {.l = &l};
    fill(&s.x, 2, 4, 16);
    fill(&l.w, 2, 16, 16);
    fill(&l.b, 1, 16, 0);
    ok(ef_function_new(dense, &l, "dense", &s.f));
    repeat("loop, traced function", by_function, &s, n);
    repeat("loop, eager", eagerly, &s, n);
    uint64_t before = ef_allocations();
    for (int k = 0; k < 1000; k++) by_function(&s);
    printf("    system allocations in 1000 calls of the function: %llu\n",
           (unsigned long long)(ef_allocations() - before));
    ef_function_free(s.f);
    ef_tensor_release(&s.x);
    ef_tensor_release(&l.w);
    ef_tensor_release(&l.b);
    return 0;
}
