/* Runs every op with failing allocations: each allocation that a run of its examples makes fails in
 * turn. The run must return EF_NO_MEMORY or succeed without that memory; the sanitized build
 * detects leaks. */
#include "base/alloc.h"
#include "check.h"
#include "ops/example.h"
#include "ops/run.h"

enum { MAX_OUT = 32, SEED = 60, MOST = 200 };
static const ef_op *op;

/* One run in which the k-th allocation fails; false if there is no k-th allocation. */
static bool refuse(int example, uint64_t k) {
    ef_example e;
    ef_tensor *in[EF_EXAMPLE_MAX_IN], out[MAX_OUT] = {{0}};
    int n = 0;
    char name[200];
    ef_example_name(op, example, name, sizeof name);
    ef_status *s = ef_example_make(op, example, SEED, &e);
    if (s) {
        ef_status_free(s);
        return false; /* ops_test reports this failure */
    }
    for (int j = 0; j < e.n_in; j++) in[j] = &e.in[j];
    ef_alloc_fail_at(k);
    s = ef_op_run(ef_context_here(), op, ef_attrs_fields(e.attrs), in, e.n_in, out, MAX_OUT, &n);
    bool refused = ef_alloc_failed();
    ef_alloc_fail_at(0);
    if (s && ef_status_code(s) != EF_NO_MEMORY && refused) {
        ef_check_fail(__FILE__, __LINE__, name);
        printf(": allocation %d refused, but the status is: %s\n", (int)k, ef_status_message(s));
    }
    for (int j = 0; !s && j < n; j++) ef_tensor_release(&out[j]);
    ef_status_free(s);
    ef_example_free(&e);
    return refused;
}

static int current;
EF_TEST(one_op) {
    op = ef_op_table[current];
    for (int k = 0, row = -1, n = ef_example_count(op); k < n; k++) {
        if (ef_example_row(op, k) == row) continue; /* one dtype of each example is enough */
        row = ef_example_row(op, k);
        for (uint64_t at = 1; at < MOST && refuse(k, at); at++) {}
    }
}

int main(int argc, char **argv) {
    for (current = 0; current < EF_OP_COUNT; current++) {
        const ef_op *o = ef_op_table[current];
        bool chosen = argc < 2;
        for (int k = 1; k < argc; k++) chosen |= strcmp(argv[k], o->name) == 0;
        if (chosen && !(o->traits & (EF_CONTROL | EF_NO_KERNEL))) ef_check_run(o->name, one_op);
    }
    return EF_VERDICT();
}
