/* The description of a function as JSON: it has all parts, the steps are timed, and arguments that
 * do not match are rejected. */
#include "base/alloc.h"
#include "base/status.h"
#include "check.h"
#include "evenflow_binding.h"
#include "graph/graph.h"

static ef_status *call(const char *op, const ef_tensor *a, const ef_tensor *b, ef_tensor *out) {
    const ef_tensor *in[] = {a, b};
    int n;
    return ef_call_op(ef_op_find(op), NULL, in, b != NULL ? 2 : 1, out, 1, &n);
}

/* relu(x * 1) as a function of x of one dimension of unknown size. */
static ef_status *make(ef_graph **out) {
    ef_shape shape = {.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    float one = 1;
    ef_tensor x = {0}, number = {0}, product = {0}, y = {0};
    ef_graph *g = ef_graph_new();
    if (g == NULL) return ef_no_memory(0);
    ef_status *s = ef_graph_placeholder(g, EF_F32, &shape, "x", &x);
    if (s == NULL) s = ef_graph_enter(g);
    if (s == NULL) {
        s = ef_tensor_from(EF_F32, NULL, &one, &number);
        if (s == NULL) s = call("Mul", &x, &number, &product);
        if (s == NULL) s = call("Relu", &product, NULL, &y);
        ef_status *left = ef_graph_leave(g);
        if (s == NULL) s = left;
    }
    if (s == NULL) s = ef_graph_finish(g, &x, 1, &y, 1);
    ef_tensor *all[] = {&x, &number, &product, &y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) ef_tensor_release(all[k]);
    *out = g;
    return s;
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

EF_TEST(described) {
    ef_graph *g = NULL;
    CHECK_OK(make(&g));
    char *text = NULL;
    CHECK_OK(ef_graph_describe(g, NULL, 0, 0, &text));
    CHECK(strstr(text, "\"rule\": \"x*1 -> x\"") != NULL);
    CHECK(strstr(text, "\"way\": \"shape at run time\"") != NULL);
    CHECK(count(text, "\"op\": \"Mul\"") == 1); /* as traced, and not as planned */
    CHECK(count(text, "\"ns\": ") == 0);
    ef_text_release(text);
    ef_graph_free(g);
}

EF_TEST(measured) {
    ef_graph *g = NULL;
    CHECK_OK(make(&g));
    ef_shape shape = {.rank = 1, .dim = {3}};
    ef_tensor x = {0};
    const ef_tensor *in[] = {&x};
    char *text = NULL;
    CHECK_OK(ef_tensor_from(EF_F32, &shape, (float[]){-1, 0, 2}, &x));
    CHECK_OK(ef_graph_describe(g, in, 1, 5, &text));
    if (text != NULL) {
        CHECK(strstr(text, "{\"runs\": 5,") == text);
        CHECK(count(text, "\"ns\": ") == 1 && count(text, "\"least_ns\": ") == 1);
        CHECK(strstr(text, "\"shape\": \"[3]\"") != NULL);
    }
    ef_text_release(text);
    ef_tensor_release(&x);
    ef_graph_free(g);
}

EF_TEST(refused) {
    ef_graph *g = NULL;
    CHECK_OK(make(&g));
    ef_tensor x = {0};
    const ef_tensor *in[] = {&x};
    char *text = NULL;
    CHECK_OK(ef_tensor_from(EF_I32, NULL, (int32_t[]){1}, &x));
    CHECK_FAILS(ef_graph_describe(g, in, 1, 0, &text), EF_INVALID, "argument 0 must be float32");
    CHECK_FAILS(ef_graph_describe(g, in, 0, 0, &text), EF_INVALID,
                "takes 1 arguments but 0 were given");
    CHECK_FAILS(ef_graph_describe(g, NULL, 0, 3, &text), EF_INVALID,
                "only with arguments to run on");
    CHECK_FAILS(ef_graph_describe(NULL, in, 1, 0, &text), EF_INVALID, "the graph is NULL");
    CHECK_FAILS(ef_dataset_describe(&x, &text), EF_INVALID, "holds no dataset");
    CHECK(text == NULL);
    ef_tensor_release(&x);
    ef_graph_free(g);
}

EF_TEST(allocations_may_fail) {
    ef_shape shape = {.rank = 1, .dim = {3}};
    ef_graph *g = NULL;
    ef_tensor x = {0};
    const ef_tensor *in[] = {&x};
    CHECK_OK(make(&g));
    CHECK_OK(ef_tensor_from(EF_F32, &shape, (float[]){-1, 0, 2}, &x));
    bool happened = true;
    for (uint64_t k = 1; happened; k++) {
        char *text = NULL;
        ef_alloc_fail_at(k);
        ef_status *bad = ef_graph_describe(g, in, 1, 1, &text);
        happened = ef_alloc_failed() != 0;
        ef_alloc_fail_at(0);
        if (bad != NULL) CHECK_INT(ef_status_code(bad), EF_NO_MEMORY);
        if (!happened) CHECK(text != NULL);
        ef_status_free(bad);
        ef_text_release(text);
    }
    ef_tensor_release(&x);
    ef_graph_free(g);
}

int main(void) {
    EF_RUN(described);
    EF_RUN(measured);
    EF_RUN(refused);
    EF_RUN(allocations_may_fail);
    return EF_VERDICT();
}
