/* Fused against unfused, for every registered elementwise op: the op's own examples are stretched
 * to a few hundred elements, the op is followed by another so that the two form a tile program, and
 * the result is compared, byte for byte, with the ops run one after the other. */
#include "base/alloc.h"
#include "check.h"
#include "graph/graph.h"
#include "ops/example.h"
#include "ops/run.h"
#include "plan/program.h"
#include "plan/tiles.h"

enum { COUNT = 600, MAX_IN = 8 };

/* The example's values again and again, `rows` x 60, or the scalar itself. */
static ef_status *stretch(const ef_tensor *from, ef_tensor *to) {
    int64_t n = ef_count(from);
    if (n <= 1) return ef_tensor_clone(to, from);
    ef_shape s = {.rank = 2, .dim = {COUNT / 60, 60}};
    EF_TRY(ef_tensor_alloc(to, (ef_dtype)from->dtype, &s));
    size_t size = ef_dtype_size((ef_dtype)from->dtype);
    for (int64_t k = 0; k < COUNT; k++)
        memcpy((char *)to->data + (size_t)k * size, (char *)from->data + (size_t)(k % n) * size,
               size);
    return NULL;
}

/* An op that takes any result on: y + y, or not y. */
static const char *follower(ef_dtype t) { return t == EF_BOOL ? "LogicalNot" : "AddV2"; }

static ef_status *one_after_the_other(const ef_op *op, const void *fields, ef_tensor *const *in,
                                      int n_in, ef_tensor *out) {
    ef_tensor y;
    int n;
    EF_TRY(ef_op_run(ef_context_here(), op, fields, in, n_in, &y, 1, &n));
    ef_tensor *twice[] = {&y, &y};
    const ef_op *next = ef_op_find(follower((ef_dtype)y.dtype));
    ef_status *s =
        ef_op_run(ef_context_here(), next, NULL, twice, y.dtype == EF_BOOL ? 1 : 2, out, 1, &n);
    ef_tensor_release(&y);
    return s;
}

static ef_status *as_function(const ef_op *op, const ef_attrs *attrs, ef_tensor *const *in,
                              int n_in, ef_graph *g) {
    ef_edge e[MAX_IN];
    for (int k = 0; k < n_in; k++) {
        ef_shape s = ef_shape_from(in[k]);
        EF_TRY(ef_graph_input(g, (ef_dtype)in[k]->dtype, &s, NULL, &e[k]));
    }
    int32_t node;
    EF_TRY(ef_graph_add(g, op, attrs, e, n_in, NULL, &node));
    ef_dtype t = g->node[node]->out->dtype;
    ef_edge twice[] = {{node, 0}, {node, 0}};
    EF_TRY(
        ef_graph_add(g, ef_op_find(follower(t)), NULL, twice, t == EF_BOOL ? 1 : 2, NULL, &node));
    ef_edge result = {node, 0};
    return ef_graph_set_outputs(g, &result, 1);
}

static bool is_fused(const ef_graph *g, ef_tensor *const *in, int n_in) {
    ef_fact facts[MAX_IN];
    ef_plan *p;
    for (int k = 0; k < n_in; k++)
        facts[k] = (ef_fact){.dtype = (ef_dtype)in[k]->dtype, .shape = ef_shape_from(in[k])};
    ef_status *s = ef_plan_make(g, facts, &(ef_plan_options){0}, &p);
    if (s != NULL) {
        ef_status_free(s);
        return false;
    }
    bool one = p->n_steps == 1;
    ef_plan_free(p);
    return one;
}

static void compare(const ef_op *op, const ef_example *e, const char *name, int *fused) {
    ef_tensor in[MAX_IN] = {0}, want = {0}, got = {0}, *ptr[MAX_IN];
    ef_graph *g = ef_graph_make();
    ef_program *p = NULL;
    CHECK(g != NULL);
    for (int k = 0; k < e->n_in; k++) {
        ptr[k] = &in[k];
        CHECK_OK(stretch(&e->in[k], &in[k]));
    }
    ef_status *s = one_after_the_other(op, e->attrs != NULL ? ef_attrs_fields(e->attrs) : NULL, ptr,
                                       e->n_in, &want);
    ef_status_free(s);
    if (s == NULL) { /* an example whose values only fit their own shape is nothing for fusion */
        CHECK_OK(as_function(op, e->attrs, ptr, e->n_in, g));
        *fused += is_fused(g, ptr, e->n_in);
        CHECK_OK(ef_program_make(g, NULL, &p));
        CHECK_OK(ef_program_run(ef_context_here(), p, ptr, &got));
        if (!ef_tensor_same_bytes(&want, &got)) printf("    %s: fused and unfused differ\n", name);
        CHECK(ef_tensor_same_bytes(&want, &got));
    }
    for (int k = 0; k < e->n_in; k++) ef_tensor_release(&in[k]);
    ef_tensor_release(&want);
    ef_tensor_release(&got);
    ef_program_unref(p);
    ef_graph_unref(g);
}

static const ef_op *subject;
static int total_fused;

EF_TEST(fused_equals_unfused) {
    for (int k = 0; k < ef_example_count(subject); k++) {
        ef_example e;
        char name[256];
        ef_example_name(subject, k, name, sizeof name);
        CHECK_OK(ef_example_make(subject, k, 5, &e));
        bool plain = e.n_in >= 1 && e.n_in <= MAX_IN;
        for (int i = 0; i < e.n_in; i++)
            plain =
                plain && ef_dtype_in((ef_dtype)e.in[i].dtype, EF_PLAIN) && ef_count(&e.in[i]) > 0;
        if (plain) compare(subject, &e, name, &total_fused);
        ef_example_free(&e);
    }
}

/* x [10, 1] broadcast to [10, 60], plus y: one step, which never writes the broadcast value. */
EF_TEST(broadcast_is_fused) {
    ef_graph *g = ef_graph_make();
    ef_tensor in[2] = {0}, shape = {0}, got = {0}, *ptr[] = {&in[0], &in[1]};
    ef_shape column = {.rank = 2, .dim = {COUNT / 60, 1}}, whole = {.rank = 2, .dim = {10, 60}};
    ef_shape pair = {.rank = 1, .dim = {2}};
    CHECK_OK(ef_tensor_alloc(&in[0], EF_F32, &column));
    CHECK_OK(ef_tensor_alloc(&in[1], EF_F32, &whole));
    CHECK_OK(ef_tensor_alloc(&shape, EF_I32, &pair));
    ((int32_t *)shape.data)[0] = COUNT / 60;
    ((int32_t *)shape.data)[1] = 60;
    for (int k = 0; k < COUNT / 60; k++) ((float *)in[0].data)[k] = (float)k;
    for (int k = 0; k < COUNT; k++) ((float *)in[1].data)[k] = (float)(k % 60) / 64;
    ef_edge x, y, to;
    int32_t spread, sum;
    CHECK_OK(ef_graph_input(g, EF_F32, &column, NULL, &x));
    CHECK_OK(ef_graph_input(g, EF_F32, &whole, NULL, &y));
    CHECK_OK(ef_graph_constant(g, &shape, &to));
    ef_edge first[] = {x, to};
    CHECK_OK(ef_graph_add(g, ef_op_find("BroadcastTo"), NULL, first, 2, NULL, &spread));
    ef_edge second[] = {{spread, 0}, y};
    CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, second, 2, NULL, &sum));
    ef_edge result = {sum, 0};
    CHECK_OK(ef_graph_set_outputs(g, &result, 1));
    int64_t before = ef_fuse_counted().groups;
    CHECK(is_fused(g, ptr, 2));
    CHECK(ef_fuse_counted().groups == before + 1);
    CHECK(ef_fuse_counted().dropped == 0);
    ef_program *p = NULL;
    CHECK_OK(ef_program_make(g, NULL, &p));
    CHECK_OK(ef_program_run(ef_context_here(), p, ptr, &got));
    for (int k = 0; k < COUNT; k++) {
        int row = k / 60, rest = k % 60;
        CHECK(((float *)got.data)[k] == (float)row + (float)rest / 64);
    }
    for (int k = 0; k < 2; k++) ef_tensor_release(&in[k]);
    ef_tensor_release(&shape);
    ef_tensor_release(&got);
    ef_program_unref(p);
    ef_graph_unref(g);
}

EF_TEST(most_were_fused) { CHECK(total_fused > 500); }

int main(void) {
    for (int k = 0; k < EF_OP_COUNT; k++) {
        subject = ef_op_table[k];
        if (subject->traits & EF_ELEMENTWISE) EF_RUN(fused_equals_unfused);
    }
    EF_RUN(broadcast_is_fused);
    EF_RUN(most_were_fused);
    return EF_VERDICT();
}
