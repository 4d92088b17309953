/* A new batch size every call. The function is traced twice - once for the first size, once with
 * the size left open - and from then on a new size costs microseconds. */
#include "beside.h"
#include <ef_ops.h>

enum { LAYERS = 8, WIDTH = 32, MOST = 97 };

typedef struct mlp {
    ef_tensor w[LAYERS], b[LAYERS];
} mlp;

static ef_status *forward(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out) {
    (void)n_in;
    (void)max_out;
    const mlp *m = user;
    ef_tensor at, y, z;
    ef_tensor_copy(&at, &in[0]);
    ef_status *s = NULL;
    for (int k = 0; k < LAYERS && s == NULL; k++) {
        s = ef_do_MatMul(&at, &m->w[k], NULL, &y);
        ef_tensor_release(&at);
        if (s != NULL) break;
        s = ef_do_BiasAdd(&y, &m->b[k], NULL, &z);
        ef_tensor_release(&y);
        if (s != NULL) break;
        s = ef_do_Relu(&z, &at);
        ef_tensor_release(&z);
    }
    if (s != NULL) return s;
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
    *n_out = 1;
    return NULL;
}

static void fill(ef_tensor *t, int rank, int64_t d0, int64_t d1) {
    ef_shape s = {.rank = rank, .dim = {d0, d1}};
    const void *data;
    ok(ef_tensor_new(EF_F32, &s, t));
    ok(ef_tensor_data(t, &data));
    for (int64_t k = 0, n = ef_tensor_count(t); k < n; k++)
        ((float *)data)[k] = (float)(k % 5) * 0.05f - 0.08f;
}

int main(int argc, char **argv) {
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
    mlp m;
    ef_tensor x[MOST];
    for (int k = 0; k < LAYERS; k++) {
        fill(&m.w[k], 2, WIDTH, WIDTH);
        fill(&m.b[k], 1, WIDTH, 0);
    }
    for (int k = 0; k < MOST; k++) fill(&x[k], 2, k + 1, WIDTH);
    ef_function *f;
    ok(ef_function_new(forward, &m, "mlp", &f));
    run r;
    run_begin(&r, "shapes, a new size every call", n);
    unsigned size = 1;
    for (long k = 0; k < r.n; k++) {
        size = (size * 37 + 11) % MOST; /* never the size of the call before */
        const ef_tensor *in[] = {&x[size]};
        ef_tensor out;
        int n_out;
        run_before(&r, k);
        ok(ef_function_call(f, in, 1, &out, 1, &n_out));
        run_after(&r, k);
        ef_tensor_release(&out);
    }
    run_report(&r);
    ef_function_info info;
    ef_function_info_get(f, &info);
    printf("    traces %llu (the last because %s), plans made %llu\n",
           (unsigned long long)info.traces, info.last_reason, (unsigned long long)info.plans);
    ef_function_free(f);
    for (int k = 0; k < LAYERS; k++) {
        ef_tensor_release(&m.w[k]);
        ef_tensor_release(&m.b[k]);
    }
    for (int k = 0; k < MOST; k++) ef_tensor_release(&x[k]);
    return 0;
}
