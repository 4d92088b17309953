/* Every op's own examples as one-node programs, compared with and without optimisation: whatever a
 * pass does to a single op - folding, another layout, a rule - keeps its values. All registered ops
 * are tested. */
#include "case.h"
#include "check.h"
#include "ops/example.h"

static const ef_op *subject;

/* Inputs of plain dtypes become parameters; those that hold axes, sizes and indices become
 * constants, as in most programs, or all inputs do (`fold`). */
static ef_status *build(const ef_example *e, bool fold, ef_case *c) {
    ef_edge in[EF_EXAMPLE_MAX_IN], out[EF_CASE_MAX_OUT];
    int32_t node;
    for (int k = 0; k < e->n_in; k++) {
        ef_dtype t = (ef_dtype)e->in[k].dtype;
        ef_shape shape = ef_shape_from(&e->in[k]);
        if (fold || t == EF_I32 || t == EF_I64) {
            EF_TRY(ef_graph_constant(c->graph, &e->in[k], &in[k]));
        } else {
            EF_TRY(ef_graph_input(c->graph, t, &shape, NULL, &in[k]));
            ef_tensor_copy(&c->in[c->n_in++], &e->in[k]);
        }
    }
    EF_TRY(ef_graph_add(c->graph, subject, e->attrs, in, e->n_in, NULL, &node));
    int n = c->graph->node[node]->n_out;
    for (int k = 0; k < n && k < EF_CASE_MAX_OUT; k++) out[k] = (ef_edge){node, k};
    return ef_graph_set_outputs(c->graph, out, n < EF_CASE_MAX_OUT ? n : EF_CASE_MAX_OUT);
}

static bool plain(const ef_example *e) {
    for (int k = 0; k < e->n_in; k++)
        if (!ef_dtype_in((ef_dtype)e->in[k].dtype, EF_PLAIN)) return false;
    return e->n_in <= EF_CASE_MAX_IN;
}

static double tolerance(const ef_example *e) {
    bool half = false;
    for (int k = 0; k < e->n_in; k++)
        half = half || ef_dtype_in((ef_dtype)e->in[k].dtype, EF_BIT(F16) | EF_BIT(BF16));
    return half ? 5e-2 : 1e-4;
}

EF_TEST(examples_keep_their_values) {
    for (int k = 0; k < ef_example_count(subject); k++)
        for (int fold = 0; fold < 2; fold++) {
            ef_example e;
            char name[256];
            ef_example_name(subject, k, name, sizeof name);
            CHECK_OK(ef_example_make(subject, k, 5, &e));
            ef_case c = {.graph = ef_graph_make()};
            c.graph->function = true;
            ef_status *s = plain(&e) ? build(&e, fold, &c) : NULL;
            bool built = s == NULL && c.graph->n_outputs > 0;
            ef_status_free(s);
            if (built) s = ef_case_compare(&c, NULL, tolerance(&e));
            if (built && s != NULL) printf("    %s\n", name);
            ef_case_free(&c);
            ef_example_free(&e);
            if (built) CHECK_OK(s);
        }
}

int main(void) {
    for (int k = 0; k < EF_OP_COUNT; k++) {
        subject = ef_op_table[k];
        if (!(subject->traits & (EF_STATEFUL | EF_CONTROL | EF_NO_KERNEL)))
            EF_RUN(examples_keep_their_values);
    }
    return EF_VERDICT();
}
