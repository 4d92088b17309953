/* Looking up a graph without its constants: the key of the graph matches exactly the graph that
 * ef_lift makes. */
#include "check.h"
#include "plan/lift.h"

typedef struct made { /* x * number + second, of which the number may be a control input */
    float number, second;
    int64_t rows;    /* of the number: 0 for a scalar */
    bool waits, fed; /* fed: a parameter in place of the number */
} made;

static ef_status *constant(ef_graph *g, float v, int64_t rows, ef_edge *out) {
    float many[4] = {v, v + 1, v + 2, v + 3};
    ef_shape shape = {.rank = rows > 0, .dim = {rows}};
    ef_tensor t;
    EF_TRY(ef_tensor_from(EF_F32, &shape, many, &t));
    ef_status *s = ef_graph_constant(g, &t, out);
    ef_tensor_release(&t);
    return s;
}

static ef_status *build(ef_graph *g, const made *m) {
    ef_shape shape = {.rank = 1, .dim = {4}}, one = {.rank = m->rows > 0, .dim = {m->rows}};
    ef_edge x, k, second;
    int32_t product, sum;
    g->function = true;
    EF_TRY(ef_graph_input(g, EF_F32, &shape, NULL, &x));
    if (m->fed)
        EF_TRY(ef_graph_input(g, EF_F32, &one, NULL, &k));
    else
        EF_TRY(constant(g, m->number, m->rows, &k));
    ef_edge in[] = {x, k};
    EF_TRY(ef_graph_add_after(g, &ef_op_Mul, NULL, in, 2, &k.node, m->waits, NULL, &product));
    EF_TRY(constant(g, m->second, 0, &second));
    ef_edge more[] = {{product, 0}, second};
    EF_TRY(ef_graph_add_after(g, &ef_op_AddV2, NULL, more, 2, &product, m->waits, NULL, &sum));
    ef_edge out = {sum, 0};
    return ef_graph_set_outputs(g, &out, 1);
}

/* Whether b without its numbers is found by the key of a; the hash must say the same. */
static void check(made a, made b, bool found) {
    ef_graph *g = ef_graph_make(), *other = ef_graph_make();
    ef_numbers x;
    ef_lifted l;
    CHECK(g != NULL && other != NULL);
    CHECK_OK(build(g, &a));
    CHECK_OK(build(other, &b));
    CHECK_OK(ef_numbers_find(g, &x));
    CHECK_OK(ef_lift(other, &l));
    CHECK(x.n > 0);
    ef_graph *kept = l.graph != NULL ? l.graph : other;
    CHECK(ef_graph_equal_without(g, x.taken, kept) == found);
    CHECK((ef_graph_hash_without(g, x.taken) == ef_graph_hash(kept)) == found);
    ef_numbers_free(&x);
    ef_lifted_free(&l);
    ef_graph_unref(g);
    ef_graph_unref(other);
}

EF_TEST(other_numbers_are_found) {
    check((made){.number = 5, .second = 7}, (made){.number = 6, .second = 8}, true);
    check((made){.number = 5, .second = 1}, (made){.number = 6, .second = 1}, true);
    check((made){5, 7, 4, false, false}, (made){6, 8, 4, false, false}, true);
    check((made){5, 7, 0, true, false}, (made){6, 8, 0, true, false}, true);
}

EF_TEST(other_graphs_are_not) {
    check((made){.number = 5, .second = 7}, (made){.number = 6, .second = 1}, false);
    check((made){.number = 5, .second = 1}, (made){.number = 6, .second = 2}, false);
    check((made){5, 7, 0, false, false}, (made){6, 8, 4, false, false}, false);
    check((made){5, 7, 0, false, false}, (made){6, 8, 0, true, false}, false);
    check((made){5, 7, 0, false, false}, (made){6, 1, 0, false, true}, false);
}

/* A number taken out is a parameter behind the others: one program serves both. */
EF_TEST(a_parameter_is_like_a_number) {
    check((made){.number = 5, .second = 1}, (made){.second = 1, .fed = true}, true);
}

EF_TEST(numbers_that_rules_know_stay) {
    ef_graph *g = ef_graph_make();
    ef_numbers x;
    CHECK(g != NULL);
    CHECK_OK(build(g, &(made){.number = 2, .second = 1}));
    CHECK_OK(ef_numbers_find(g, &x));
    CHECK_INT((int64_t)x.n, 0);
    ef_numbers_free(&x);
    ef_graph_unref(g);
}

/* A constant of another device than the host would not be taken out. */
static uint8_t device_of(const ef_node *n) {
    return n->op->traits & EF_CONSTANT ? 1 : (uint8_t)(n->id + 1);
}

EF_TEST(control_inputs_and_devices_stay) {
    ef_graph *g = ef_graph_make();
    ef_lifted l;
    CHECK(g != NULL);
    CHECK_OK(build(g, &(made){.number = 5, .second = 7, .waits = true}));
    for (size_t k = 0; k < g->n_nodes; k++) g->node[k]->device = device_of(g->node[k]);
    CHECK_OK(ef_lift(g, &l));
    CHECK(l.graph != NULL);
    CHECK_INT(l.graph->n_nodes, g->n_nodes);
    for (size_t k = 0; k < g->n_nodes; k++)
        CHECK_INT(l.graph->node[k]->device, device_of(g->node[k]));
    const ef_node *sum = l.graph->node[l.graph->output[0].node];
    CHECK_INT(sum->n_after, 1);
    CHECK_TEXT(l.graph->node[sum->after[0]]->op->name, "Mul");
    CHECK_INT(l.graph->node[sum->after[0]]->n_after, 0); /* nothing waits for a constant */
    ef_lifted_free(&l);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(other_numbers_are_found);
    EF_RUN(other_graphs_are_not);
    EF_RUN(a_parameter_is_like_a_number);
    EF_RUN(numbers_that_rules_know_stay);
    EF_RUN(control_inputs_and_devices_stay);
    return EF_VERDICT();
}
