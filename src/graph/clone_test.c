/* The cloner by itself: what a copy keeps, and what the callbacks can change. */
#include "check.h"
#include "graph/clone.h"

static ef_edge input(ef_graph *g, int64_t n) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_edge e = {-1, 0};
    ef_status_free(ef_graph_input(g, EF_F32, &s, NULL, &e));
    return e;
}

static int32_t add(ef_graph *g, const char *op, ef_edge a, ef_edge b, const int32_t *after,
                   int n_after) {
    ef_edge in[] = {a, b};
    int32_t node = -1;
    ef_status_free(ef_graph_add_after(g, ef_op_find(op), NULL, in, 2, after, n_after, NULL, &node));
    return node;
}

typedef struct scene { /* product = x * x after sum = x + x and after a NoOp, x of symbolic size */
    ef_graph *from, *to;
    ef_edge x;
    int32_t sum, nothing, product;
} scene;

static ef_status *scene_begin(scene *s) {
    *s = (scene){.from = ef_graph_make(), .to = ef_graph_make()};
    if (s->from == NULL || s->to == NULL) return ef_no_memory(sizeof *s->to);
    s->x = input(s->from, -5);
    s->sum = add(s->from, "AddV2", s->x, s->x, NULL, 0);
    EF_TRY(ef_graph_add(s->from, ef_op_find("NoOp"), NULL, NULL, 0, "nothing", &s->nothing));
    int32_t after[] = {s->sum, s->nothing};
    s->product = add(s->from, "Mul", s->x, s->x, after, 2);
    s->from->node[s->product]->device = 3;
    s->from->node[s->product]->origin = (ef_origin){41, 42, 43};
    return NULL;
}

static void scene_end(scene *s) {
    ef_graph_unref(s->from);
    ef_graph_unref(s->to);
}

EF_TEST(a_copy_keeps_what_its_node_has) {
    scene s;
    CHECK_OK(scene_begin(&s));
    input(s.to, 9); /* numbers differ */
    ef_clone c = {.from = s.from, .to = s.to};
    CHECK_OK(ef_clone_begin(&c));
    CHECK_OK(ef_clone_inputs(&c));
    CHECK_OK(ef_clone_nodes(&c, NULL));
    ef_edge out = {s.product, 0};
    CHECK_OK(ef_clone_outputs(&c, &out, 1));
    const ef_node *n = s.to->node[s.to->output[0].node];
    CHECK_INT(n->id, s.product + 1);
    CHECK_TEXT(n->op->name, "Mul");
    CHECK_INT(n->in[0].node, s.x.node + 1);
    CHECK_INT(n->n_after, 2);
    CHECK_INT(n->after[0], s.sum + 1);
    CHECK_INT(n->after[1], s.nothing + 1);
    CHECK_INT(n->device, 3);
    CHECK_INT((int64_t)n->origin.graph, 41);
    CHECK_INT(n->origin.node, 43);
    CHECK_INT(n->out->shape.dim[0], -5);
    ef_clone_end(&c);
    CHECK(s.to->copies == NULL);
    CHECK_OK(ef_graph_verify(s.to));
    scene_end(&s);
}

static ef_status *sub_for_add(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out,
                              bool *done) {
    ef_node with = *n;
    if (n->op != ef_op_find("AddV2")) return NULL;
    with.op = ef_op_find("Sub");
    *done = true;
    return ef_clone_copy(c, &with, in, out);
}

static int32_t not_for_nothing(const ef_clone *c, int32_t node) {
    return c->from->node[node]->n_out > 0 ? c->copy[node] : -1;
}

EF_TEST(callbacks_replace_nodes_and_control_inputs) {
    scene s;
    CHECK_OK(scene_begin(&s));
    ef_clone c = {.from = s.from, .to = s.to, .visit = sub_for_add, .waits = not_for_nothing};
    CHECK_OK(ef_clone_begin(&c));
    CHECK_OK(ef_clone_inputs(&c));
    CHECK_OK(ef_clone_nodes(&c, NULL));
    const ef_node *n = s.to->node[c.copy[s.product]];
    CHECK_INT(n->n_after, 1);
    CHECK_TEXT(s.to->node[n->after[0]]->op->name, "Sub");
    ef_clone_end(&c);
    scene_end(&s);
}

EF_TEST(only_what_is_needed_and_has_no_place) {
    scene s;
    CHECK_OK(scene_begin(&s));
    ef_edge x = input(s.to, -5), sum = input(s.to, -5);
    ef_clone c = {.from = s.from, .to = s.to};
    uint8_t need[] = {0, 1, 0, 1};
    CHECK_OK(ef_clone_begin(&c));
    ef_clone_set(&c, s.x, x);
    ef_clone_set(&c, (ef_edge){s.sum, 0}, sum);
    CHECK_OK(ef_clone_nodes(&c, need));
    CHECK_INT(s.to->n_nodes, 3);
    CHECK_INT(s.to->node[2]->n_after, 1); /* the NoOp has no copy */
    CHECK_INT(s.to->node[2]->after[0], sum.node);
    ef_clone_end(&c);
    scene_end(&s);
}

EF_TEST(an_input_without_a_place_is_an_error) {
    scene s;
    CHECK_OK(scene_begin(&s));
    ef_clone c = {.from = s.from, .to = s.to};
    CHECK_OK(ef_clone_begin(&c));
    CHECK_FAILS(ef_clone_node(&c, s.from->node[s.sum]), EF_INTERNAL, "nobody feeds");
    ef_clone_end(&c);
    scene_end(&s);
}

/* One output is given, the other computed: control inputs refer to the node that computes. */
EF_TEST(an_output_given_alone) {
    ef_graph *from = ef_graph_make(), *to = ef_graph_make();
    CHECK(from != NULL && to != NULL);
    ef_edge x = input(from, 3), y[] = {input(to, 3), {-1, 0}};
    ef_attr_value set[] = {EF_SET_INT("N", 2)};
    const ef_attrs *attrs;
    CHECK_OK(ef_attrs_make(ef_op_find("ShapeN"), set, 1, &attrs));
    ef_edge in[] = {x, x};
    int32_t node = -1;
    CHECK_OK(ef_graph_add(from, ef_op_find("ShapeN"), attrs, in, 2, NULL, &node));
    ef_attrs_unref(attrs);
    int32_t last = add(from, "Mul", x, x, &node, 1);
    ef_shape one = {.rank = 1, .dim = {1}};
    CHECK_OK(ef_graph_input(to, EF_I32, &one, NULL, &y[1]));
    ef_clone c = {.from = from, .to = to};
    CHECK_OK(ef_clone_begin(&c));
    ef_clone_set(&c, x, y[0]);
    ef_clone_set(&c, (ef_edge){node, 0}, y[1]);
    CHECK_OK(ef_clone_nodes(&c, NULL));
    CHECK_INT(ef_clone_moved(&c, (ef_edge){node, 0}).node, y[1].node);
    ef_edge second = ef_clone_moved(&c, (ef_edge){node, 1});
    CHECK_TEXT(to->node[second.node]->op->name, "ShapeN");
    CHECK_INT(second.index, 1);
    CHECK_INT(to->node[c.copy[last]]->after[0], second.node);
    ef_clone_end(&c);
    ef_graph_unref(from);
    ef_graph_unref(to);
}

int main(void) {
    EF_RUN(a_copy_keeps_what_its_node_has);
    EF_RUN(callbacks_replace_nodes_and_control_inputs);
    EF_RUN(only_what_is_needed_and_has_no_place);
    EF_RUN(an_input_without_a_place_is_an_error);
    EF_RUN(an_output_given_alone);
    return EF_VERDICT();
}
