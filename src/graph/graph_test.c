/* Graphs: errors when a node is added, names, captures, extracts that do not depend on the numbers
 * of nodes, and text. */
#include "base/alloc.h"
#include "check.h"
#include "evenflow_binding.h"
#include "graph/graph.h"

static ef_edge input(ef_graph *g, int64_t n) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_edge e = {-1, 0};
    ef_status *bad = ef_graph_input(g, EF_F32, &s, NULL, &e);
    ef_status_free(bad);
    return e;
}

static ef_edge add(ef_graph *g, const char *op, ef_edge a, ef_edge b) {
    ef_edge in[] = {a, b};
    int32_t node = -1;
    ef_status *bad = ef_graph_add(g, ef_op_find(op), NULL, in, 2, NULL, &node);
    ef_status_free(bad);
    return (ef_edge){node, 0};
}

EF_TEST(wrong_shapes_are_found_where_they_are_made) {
    ef_graph *g = ef_graph_make();
    ef_edge in[] = {input(g, 3), input(g, 4)};
    int32_t node = -7;
    size_t before = g->n_nodes;
    CHECK_FAILS(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, NULL, &node), EF_INVALID, "[3]");
    CHECK_INT(node, -7);
    CHECK_INT(g->n_nodes, before);
    CHECK_OK(ef_graph_verify(g));
    ef_graph_unref(g);
}

EF_TEST(edges_that_do_not_exist_are_refused) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 3);
    ef_edge bad[][2] = {{x, {9, 0}}, {x, {-1, 0}}, {x, {x.node, 1}}, {x, {x.node, -1}}};
    for (int k = 0; k < 4; k++) {
        int32_t node;
        CHECK_FAILS(ef_graph_add(g, ef_op_find("AddV2"), NULL, bad[k], 2, NULL, &node), EF_INVALID,
                    "does not exist");
    }
    int32_t after[] = {42}, node;
    ef_edge in[] = {x, x};
    CHECK_FAILS(ef_graph_add_after(g, ef_op_find("AddV2"), NULL, in, 2, after, 1, NULL, &node),
                EF_INVALID, "control input");
    CHECK_FAILS(ef_graph_set_outputs(g, &bad[0][1], 1), EF_INVALID, "no output");
    ef_graph_unref(g);
}

EF_TEST(taken_names_get_a_number) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 2), in[] = {x, x};
    int32_t first, second;
    CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, "sum", &first));
    CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, "sum", &second));
    CHECK_TEXT(g->node[second]->name, "sum_1");
    CHECK_INT(ef_graph_find(g, "sum"), first);
    CHECK_INT(ef_graph_find(g, "sum_1"), second);
    CHECK_INT(ef_graph_find(g, "sun"), -1);
    ef_graph_unref(g);
}

EF_TEST(nodes_without_a_name_take_that_of_their_kind) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 2), in[] = {x, x};
    int32_t node[4];
    for (int k = 0; k < 3; k++) {
        CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, NULL, &node[k]));
        if (k > 0) g->node[node[k]]->kind = "add";
    }
    CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, "Add", &node[3]));
    const char *name;
    CHECK_OK(ef_graph_called(g, node[3], &name));
    CHECK_TEXT(name, "Add_2"); /* came last, and case makes no difference */
    CHECK_OK(ef_graph_called(g, node[2], &name));
    CHECK_TEXT(name, "add_1");
    CHECK_INT(ef_graph_find(g, "AddV2"), node[0]);
    CHECK_INT(ef_graph_find(g, "add"), node[1]);
    CHECK_INT(ef_graph_find(g, "Add"), -1); /* but to find one it does */
    CHECK_OK(ef_graph_rename(g, node[1], "sum"));
    CHECK_INT(ef_graph_find(g, "sum"), node[1]);
    CHECK_INT(ef_graph_find(g, "add"), -1);
    ef_graph_unref(g);
}

EF_TEST(merging_makes_equal_nodes_one) {
    ef_graph *g = ef_graph_make();
    g->merge = true;
    ef_edge x = input(g, 2), y = input(g, 2);
    CHECK_INT(add(g, "Mul", x, y).node, add(g, "Mul", x, y).node);
    CHECK(add(g, "Mul", x, y).node != add(g, "Mul", y, x).node);
    CHECK(add(g, "AddV2", x, y).node != add(g, "Mul", x, y).node);
    ef_graph_unref(g);
}

EF_TEST(shapes_are_known_values) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 5);
    int32_t node;
    CHECK_OK(ef_graph_add(g, ef_op_find("Shape"), NULL, &x, 1, NULL, &node));
    const ef_fact *f = g->node[node]->out;
    CHECK(f->value != NULL);
    CHECK_INT(ef_element_int(f->dtype, f->value->data, 0), 5);
    ef_graph_unref(g);
}

EF_TEST(values_are_captured_once) {
    ef_graph *g = ef_graph_make();
    ef_shape big = {.rank = 1, .dim = {100}};
    ef_tensor t = {0}, small;
    float one = 1;
    ef_edge a, b, c;
    CHECK_OK(ef_tensor_alloc(&t, EF_F32, &big));
    CHECK_OK(ef_tensor_from(EF_F32, NULL, &one, &small));
    CHECK_OK(ef_graph_import(g, &t, &a));
    CHECK_OK(ef_graph_import(g, &t, &b));
    CHECK_OK(ef_graph_import(g, &small, &c));
    CHECK(ef_edge_same(a, b));
    CHECK_INT(g->n_captures, 1);
    CHECK(g->node[c.node]->out->value != NULL); /* a small one is a constant */
    ef_tensor_release(&t);
    ef_graph_unref(g);
}

EF_TEST(a_tensor_of_another_graph_is_refused) {
    ef_graph *g = ef_graph_make(), *other = ef_graph_make();
    ef_tensor t;
    ef_edge e;
    ef_graph_tensor(other, input(other, 2), &t);
    CHECK_FAILS(ef_graph_import(g, &t, &e), EF_OTHER_GRAPH, "another");
    ef_tensor_release(&t);
    ef_graph_unref(other);
    ef_graph_unref(g);
}

static ef_graph *extract_of(ef_graph *g, ef_edge x, ef_edge y) {
    ef_graph *part = NULL;
    int32_t captures[4];
    int n;
    ef_status *bad = ef_graph_extract(g, &x, 1, &y, 1, NULL, 0, &part, captures, &n);
    ef_status_free(bad);
    return part;
}

EF_TEST(equal_structures_give_equal_extracts) {
    ef_graph *a = ef_graph_make(), *b = ef_graph_make();
    ef_edge xa = input(a, 3), ya = add(a, "Mul", add(a, "AddV2", xa, xa), xa);
    ef_edge other = input(b, 9); /* b grew elsewhere first */
    add(b, "Mul", other, other);
    ef_edge xb = input(b, 3), yb = add(b, "Mul", add(b, "AddV2", xb, xb), xb);
    ef_graph *pa = extract_of(a, xa, ya), *pb = extract_of(b, xb, yb);
    CHECK(pa != NULL && pb != NULL);
    CHECK_INT(pa->n_nodes, 3);
    CHECK_INT(ef_graph_hash(pa), ef_graph_hash(pb));
    CHECK(ef_graph_equal(pa, pb));
    ef_graph *pc = extract_of(b, xb, add(b, "Sub", xb, xb));
    CHECK(!ef_graph_equal(pa, pc));
    CHECK_OK(ef_graph_verify(pa));
    ef_graph_unref(pa);
    ef_graph_unref(pb);
    ef_graph_unref(pc);
    ef_graph_unref(a);
    ef_graph_unref(b);
}

/* product has first, which nothing reads, as a control input; both are on another device. */
static ef_edge waiting(ef_graph *g, ef_edge x, int32_t *first) {
    ef_edge in[] = {x, x};
    int32_t product = -1;
    *first = add(g, "AddV2", x, x).node;
    g->node[*first]->device = 1;
    ef_status *bad =
        ef_graph_add_after(g, ef_op_find("Mul"), NULL, in, 2, first, 1, NULL, &product);
    ef_status_free(bad);
    if (bad == NULL) g->node[product]->device = 2;
    return (ef_edge){product, 0};
}

static void check_waiting(const ef_graph *g, int32_t product) {
    const ef_node *n = g->node[product];
    CHECK_INT(n->device, 2);
    CHECK_INT(n->n_after, 1);
    CHECK_TEXT(g->node[n->after[0]]->op->name, "AddV2");
    CHECK_INT(g->node[n->after[0]]->device, 1);
    CHECK_OK(ef_graph_verify(g));
}

EF_TEST(extracts_keep_control_inputs_and_devices) {
    ef_graph *g = ef_graph_make();
    int32_t first;
    input(g, 7);
    ef_edge x = input(g, 3), y = waiting(g, x, &first);
    g->node[x.node]->device = 3;
    ef_graph *part = extract_of(g, x, y);
    CHECK(part != NULL);
    CHECK_INT(part->n_nodes, 3);
    CHECK_INT(part->node[0]->device, 3);
    check_waiting(part, part->output[0].node);
    ef_graph_unref(part);
    ef_graph_unref(g);
}

EF_TEST(inlining_keeps_control_inputs_and_devices) {
    ef_graph *f = ef_graph_make(), *g = ef_graph_make();
    int32_t first;
    ef_edge y = waiting(f, input(f, 3), &first), out = {-1, 0};
    CHECK_OK(ef_graph_set_outputs(f, &y, 1));
    input(g, 7);
    ef_edge x = input(g, 3);
    CHECK_OK(ef_graph_inline(g, f, &x, &out));
    check_waiting(g, out.node);
    CHECK_INT(g->node[add(g, "Sub", x, x).node]->device, 0); /* what comes later is not a copy */
    ef_graph_unref(f);
    ef_graph_unref(g);
}

/* A control input that is an input of the function becomes a control input on the argument. */
EF_TEST(inlining_keeps_control_inputs_on_inputs) {
    ef_graph *f = ef_graph_make(), *g = ef_graph_make();
    ef_edge a = input(f, 3), b = input(f, 3), in[] = {b, b}, y = {-1, 0}, out = {-1, 0};
    CHECK_OK(ef_graph_add_after(f, ef_op_find("Mul"), NULL, in, 2, &a.node, 1, NULL, &y.node));
    CHECK_OK(ef_graph_set_outputs(f, &y, 1));
    ef_edge x = input(g, 3), given[] = {add(g, "AddV2", x, x), x};
    CHECK_OK(ef_graph_inline(g, f, given, &out));
    CHECK_INT(g->node[out.node]->n_after, 1);
    CHECK_INT(g->node[out.node]->after[0], given[0].node);
    ef_graph_unref(f);
    ef_graph_unref(g);
}

EF_TEST(equal_nodes_of_two_devices_stay_two) {
    ef_graph *g = ef_graph_make();
    g->merge = true;
    ef_edge x = input(g, 2);
    ef_node like = {.device = 1};
    ef_edge here = add(g, "Mul", x, x);
    g->copies = &like;
    ef_edge there = add(g, "Mul", x, x), again = add(g, "Mul", x, x);
    g->copies = NULL;
    CHECK(here.node != there.node);
    CHECK_INT(there.node, again.node);
    CHECK_INT(g->node[there.node]->device, 1);
    ef_graph_unref(g);
}

EF_TEST(a_missing_feed_is_named) {
    ef_graph *g = ef_graph_make(), *part = NULL;
    ef_shape s = {.rank = 0};
    ef_edge x;
    int32_t captures[1];
    int n;
    CHECK_OK(ef_graph_input(g, EF_F32, &s, "rate", &x));
    ef_edge y = add(g, "Mul", x, x);
    CHECK_FAILS(ef_graph_extract(g, NULL, 0, &y, 1, NULL, 0, &part, captures, &n), EF_INVALID,
                "'rate'");
    ef_graph_unref(g);
}

EF_TEST(text_has_a_line_per_node) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 2), y = add(g, "Mul", x, x);
    char *text;
    CHECK_OK(ef_graph_set_outputs(g, &y, 1));
    CHECK_OK(ef_graph_text(g, &text));
    CHECK(strstr(text, "%1 = Mul(%0, %0) : float32 [2]") != NULL);
    CHECK(strstr(text, "return %1.0") != NULL);
    ef_free(text);
    ef_graph_unref(g);
}

EF_TEST(small_values_are_captured_where_they_stay) {
    ef_graph *g = ef_graph_make();
    for (int k = 0; k < 100; k++) { /* the list moves meanwhile */
        float v = (float)k;
        ef_tensor t;
        ef_edge e;
        CHECK_OK(ef_tensor_from(EF_F32, NULL, &v, &t));
        CHECK_OK(ef_graph_take(g, &t, &e));
        ef_tensor_release(&t);
    }
    CHECK_INT(g->n_captures, 100);
    for (int k = 0; k < 100; k++) {
        const ef_tensor *t = &g->capture[k].tensor;
        CHECK(t->data == (const void *)t->small);
        CHECK_NEAR(*(const float *)t->data, (float)k, 0);
    }
    ef_graph_unref(g);
}

EF_TEST(captures_are_found_without_looking_at_the_others) {
    enum { N = 2000 };
    ef_graph *g = ef_graph_make(), *outer = ef_graph_make();
    ef_graph_nest(outer, NULL);
    ef_graph_nest(g, outer);
    static ef_tensor t[2 * N];
    static ef_edge edge[2 * N];
    ef_shape shape = {.rank = 1, .dim = {100}};
    for (int k = 0; k < 2 * N; k++) { /* values, and tensors of one graph */
        if (k % 2)
            ef_graph_tensor(outer, input(outer, 5), &t[k]);
        else
            CHECK_OK(ef_tensor_alloc(&t[k], EF_F32, &shape));
        CHECK_OK(ef_graph_import(g, &t[k], &edge[k]));
    }
    CHECK_INT(g->n_captures, 2 * N);
    for (int k = 0; k < 2 * N; k++) {
        ef_edge again, found;
        CHECK_OK(ef_graph_import(g, &t[k], &again));
        CHECK(ef_edge_same(again, edge[k]));
        CHECK(ef_graph_imported(g, &t[k], &found) && ef_edge_same(found, edge[k]));
    }
    CHECK_INT(g->n_captures, 2 * N);
    CHECK(g->n_compared < 2 * 2 * N);
    for (int k = 0; k < 2 * N; k++) ef_tensor_release(&t[k]);
    ef_graph_unref(g);
    ef_graph_unref(outer);
}

EF_TEST(captures_that_go_leave_the_others_where_they_are_found) {
    enum { N = 20 };
    ef_graph *g = ef_graph_make();
    ef_tensor t[N] = {0};
    ef_edge edge[N], found;
    ef_shape shape = {.rank = 1, .dim = {100}};
    for (int k = 0; k < N; k++) {
        CHECK_OK(ef_tensor_alloc(&t[k], EF_F32, &shape));
        CHECK_OK(ef_graph_import(g, &t[k], &edge[k]));
    }
    ef_graph_uncapture(g, edge[3].node); /* the later ones move up */
    CHECK_INT(g->n_captures, N - 1);
    ef_graph_give_up(g, edge[10].node);
    ef_graph_give_up(g, edge[5].node);
    CHECK_INT(g->n_captures, N - 1);
    for (int k = 0; k < N; k++) {
        bool there = ef_graph_imported(g, &t[k], &found);
        CHECK(there == (k != 3 && k != 5 && k != 10));
        CHECK(!there || ef_edge_same(found, edge[k]));
    }
    CHECK_OK(ef_graph_import(g, &t[3], &found)); /* into the places that were given up */
    CHECK_OK(ef_graph_import(g, &t[10], &found));
    CHECK_INT(g->n_captures, N - 1);
    CHECK_OK(ef_graph_import(g, &t[5], &found));
    CHECK_INT(g->n_captures, N);
    for (int k = 0; k < N; k++) {
        CHECK(ef_graph_imported(g, &t[k], &found));
        CHECK(g->capture[k].node >= 0);
        ef_tensor_release(&t[k]);
    }
    ef_graph_unref(g);
}

EF_TEST(an_extract_does_not_look_at_the_rest) {
    ef_graph *g = ef_graph_make(), *a, *b;
    ef_edge x = input(g, 2), y = add(g, "Mul", x, x);
    ef_edge z = add(g, "AddV2", y, x);
    int32_t captures, target = y.node;
    int n = -1;
    CHECK_OK(ef_graph_extract(g, &x, 1, &z, 1, &target, 1, &a, &captures, &n));
    CHECK_INT(n, 0);
    for (int k = 0; k < 5000; k++) add(g, "AddV2", z, y);
    ef_edge last = add(g, "Mul", y, z);
    CHECK_OK(ef_graph_extract(g, &x, 1, &z, 1, &target, 1, &b, &captures, &n));
    CHECK(ef_graph_equal(a, b));
    ef_graph_unref(b);
    CHECK_OK(ef_graph_extract(g, &z, 1, &z, 1, NULL, 0, &b, &captures, &n));
    CHECK_INT(b->n_nodes, 1); /* what is fed needs nothing */
    ef_graph_unref(b);
    ef_edge all[] = {x, y};
    CHECK_OK(ef_graph_extract(g, all, 2, &last, 1, NULL, 0, &b, &captures, &n));
    CHECK_INT(b->n_nodes, 4); /* two inputs, AddV2, Mul */
    CHECK_OK(ef_graph_verify(b));
    ef_graph_unref(b);
    ef_graph_unref(a);
    ef_graph_unref(g);
}

/* x * x + 2 as a function of x. */
static ef_graph *whole(void) {
    ef_graph *g = ef_graph_make();
    ef_edge x = input(g, 2), two;
    float v = 2;
    ef_tensor t;
    g->function = true;
    ef_status_free(ef_tensor_from(EF_F32, NULL, &v, &t));
    ef_status_free(ef_graph_constant(g, &t, &two));
    ef_edge y = add(g, "AddV2", add(g, "Mul", x, x), two);
    ef_status_free(ef_graph_set_outputs(g, &y, 1));
    return g;
}

/* A node that runs although nobody uses its result. */
static void check_numbers(ef_graph *g, ef_edge x) {
    int32_t node;
    const ef_attrs *attrs;
    const ef_op *op = ef_op_find("CheckNumerics");
    const ef_attr_value message = EF_SET_STRING("message", "bad");
    CHECK_OK(ef_attrs_make(op, &message, 1, &attrs));
    CHECK_OK(ef_graph_add(g, op, attrs, &x, 1, NULL, &node));
    ef_attrs_unref(attrs);
}

EF_TEST(a_whole_graph_equals_its_extract) {
    ef_graph *g = whole(), *a, *b;
    ef_edge x = {0, 0}, y = g->output[0];
    int n = -1;
    CHECK(ef_graph_is_whole(g));
    check_numbers(g, x);
    CHECK(ef_graph_is_whole(g));
    size_t n_nodes = g->n_nodes;
    CHECK_OK(ef_graph_extract(g, &x, 1, &y, 1, NULL, 0, &a, NULL, &n));
    CHECK(ef_graph_equal(g, a));
    check_numbers(g, y); /* what is added later does not count */
    CHECK_OK(ef_graph_extract_whole(g, n_nodes, &b));
    CHECK(ef_graph_equal(a, b));
    ef_graph_unref(b);
    ef_graph_unref(a);
    ef_graph_unref(g);
}

EF_TEST(graphs_that_their_extract_changes_are_not_whole) {
    ef_graph *unused = whole(), *late = whole(), *after = whole(), *fed = whole();
    add(unused, "Mul", unused->output[0], unused->output[0]);
    CHECK(!ef_graph_is_whole(unused));
    ef_edge y = add(late, "Mul", late->output[0], input(late, 2)); /* its inputs come first */
    CHECK_OK(ef_graph_set_outputs(late, &y, 1));
    CHECK(!ef_graph_is_whole(late));
    ef_edge in[] = {after->output[0]};
    int32_t x = 0;
    CHECK_OK(ef_graph_add_after(after, ef_op_find("Neg"), NULL, in, 1, &x, 1, NULL, &y.node));
    CHECK_OK(ef_graph_set_outputs(after, &y, 1));
    CHECK(!ef_graph_is_whole(after)); /* it loses the control input, which is an input */
    ef_shape s = {.rank = 1, .dim = {2}};
    CHECK_OK(ef_graph_stand_in(fed, EF_F32, &s, NULL, NULL, &y.node));
    y = add(fed, "Mul", fed->output[0], y);
    CHECK_OK(ef_graph_set_outputs(fed, &y, 1));
    CHECK(!ef_graph_is_whole(fed)); /* to extract it fails: the placeholder has no value */
    ef_graph *all[] = {unused, late, after, fed};
    for (int k = 0; k < 4; k++) ef_graph_unref(all[k]);
}

EF_TEST(equal_places_are_one) {
    enum { FILES = 3, LINES = 9 }; /* more than are compared one by one */
    static const char *const file[FILES] = {"a.py", "b.py", "c.py"};
    ef_graph *g = ef_graph_make();
    int known[FILES][LINES], n = 0;
    for (int round = 0; round < 2; round++)
        for (int f = 0; f < FILES; f++)
            for (int line = 0; line < LINES; line++) {
                int up = line == 0 ? 0 : known[f][line - 1];
                int place = ef_graph_place(g, file[f], "run", line + 1, up);
                if (round == 0) CHECK_INT(place, ++n);
                if (round == 0) known[f][line] = place;
                CHECK_INT(place, known[f][line]);
            }
    const char *name, *function;
    int line, up;
    CHECK(ef_graph_place_get(g, known[2][4], &name, &function, &line, &up));
    CHECK_TEXT(name, "c.py");
    CHECK_INT(line, 5);
    CHECK_INT(up, known[2][3]);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(wrong_shapes_are_found_where_they_are_made);
    EF_RUN(edges_that_do_not_exist_are_refused);
    EF_RUN(taken_names_get_a_number);
    EF_RUN(nodes_without_a_name_take_that_of_their_kind);
    EF_RUN(merging_makes_equal_nodes_one);
    EF_RUN(shapes_are_known_values);
    EF_RUN(values_are_captured_once);
    EF_RUN(a_tensor_of_another_graph_is_refused);
    EF_RUN(equal_structures_give_equal_extracts);
    EF_RUN(extracts_keep_control_inputs_and_devices);
    EF_RUN(inlining_keeps_control_inputs_and_devices);
    EF_RUN(inlining_keeps_control_inputs_on_inputs);
    EF_RUN(equal_nodes_of_two_devices_stay_two);
    EF_RUN(a_missing_feed_is_named);
    EF_RUN(text_has_a_line_per_node);
    EF_RUN(small_values_are_captured_where_they_stay);
    EF_RUN(captures_are_found_without_looking_at_the_others);
    EF_RUN(captures_that_go_leave_the_others_where_they_are_found);
    EF_RUN(an_extract_does_not_look_at_the_rest);
    EF_RUN(a_whole_graph_equals_its_extract);
    EF_RUN(graphs_that_their_extract_changes_are_not_whole);
    EF_RUN(equal_places_are_one);
    return EF_VERDICT();
}
