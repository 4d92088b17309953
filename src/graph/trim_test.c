/* Nodes that nobody can reach are removed, and everything else stays as it was. */
#include "check.h"
#include "graph/trim.h"

static int32_t number(ef_graph *g, float value, const char *name) { /* -1: failed */
    const ef_op *op = ef_op_find("Const");
    ef_tensor t = {0};
    ef_attr_value set[] = {EF_SET_TENSOR("value", &t), EF_SET_TYPE("dtype", EF_F32)};
    const ef_attrs *attrs = NULL;
    int32_t node = -1;
    ef_status *s = ef_tensor_from(EF_F32, NULL, &value, &t);
    if (s == NULL) s = ef_attrs_make(op, set, 2, &attrs);
    if (s == NULL) s = ef_graph_add(g, op, attrs, NULL, 0, name, &node);
    ef_status_free(s);
    ef_attrs_unref(attrs);
    ef_tensor_release(&t);
    return node;
}

static ef_tensor seen(ef_graph *g, int32_t node) {
    ef_tensor t;
    ef_graph_tensor(g, (ef_edge){node, 0}, &t);
    ef_graph_see(&t, 1);
    return t;
}

static void unseen(ef_tensor *t) {
    ef_graph_see(t, -1);
    ef_tensor_release(t);
}

static int32_t sum(ef_graph *g, int32_t x, int32_t y) {
    ef_edge in[] = {{x, 0}, {y, 0}};
    int32_t z = -1;
    ef_status_free(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, NULL, &z));
    return z;
}

static ef_graph *trimming(void) {
    ef_graph *g = ef_graph_make();
    number(g, 0, "zero");
    g->trims = true;
    return g;
}

EF_TEST(nodes_go_and_their_places_are_used_again) {
    ef_graph *g = trimming();
    ef_tensor a = {0}, b = {0}, c = {0}; /* each held until the next is there, as by a loop */
    uint64_t serial = 0;
    size_t bytes = 0;
    for (int k = 0; k < 2000; k++) {
        ef_tensor *at[] = {&a, &b, &c};
        int32_t node[3] = {0};
        for (int j = 0; j < 3; j++) {
            ef_graph_trim(g, 1, NULL, NULL);
            node[j] = j < 2 ? number(g, (float)j, "x") : sum(g, node[0], node[1]);
            CHECK(node[j] > 0 && node[j] < 10);
            ef_tensor t = seen(g, node[j]);
            if (at[j]->storage != NULL) unseen(at[j]);
            *at[j] = t;
        }
        CHECK(g->node[node[2]]->serial > serial); /* never the same again */
        serial = g->node[node[2]]->serial;
        if (k == 10) bytes = g->arena.bytes;
    }
    CHECK_INT(g->arena.bytes, bytes);
    CHECK(g->n_nodes < 10);
    CHECK_OK(ef_graph_verify(g));
    unseen(&a);
    unseen(&b);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 3); /* the last round; c needs a and b */
    unseen(&c);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 3);
    ef_graph_unref(g);
}

EF_TEST(tensors_held_unseen_keep_everything) {
    ef_graph *g = trimming();
    ef_tensor t = seen(g, number(g, 1, NULL)), hidden;
    ef_tensor_copy(&hidden, &t);
    unseen(&t);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 0);
    ef_tensor_release(&hidden);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 1);
    ef_graph_unref(g);
}

EF_TEST(names_go_with_their_nodes) {
    ef_graph *g = trimming();
    ef_tensor t = seen(g, number(g, 1, "x")), u = seen(g, number(g, 2, NULL));
    CHECK_OK(ef_graph_rename(g, ef_tensor_edge(&u, NULL).node, "late"));
    CHECK_INT(ef_graph_find(g, "late"), 2);
    unseen(&u);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 1);
    CHECK_INT(ef_graph_find(g, "late"), -1);
    CHECK_INT(ef_graph_find(g, "x"), 1);
    unseen(&t);
    ef_graph_unref(g);
}

static bool keep_one(void *user, int node) { return node == *(int *)user; }

EF_TEST(who_waits_or_objects_is_heard) {
    ef_graph *g = trimming();
    ef_tensor t = seen(g, number(g, 1, NULL)), u = seen(g, number(g, 2, NULL));
    int kept = ef_tensor_edge(&t, NULL).node;
    unseen(&t);
    unseen(&u);
    CHECK_INT(ef_graph_trim(g, 1, keep_one, &kept), 1);
    CHECK(!g->node[kept]->gone);
    CHECK_INT(ef_graph_trim(g, 1, NULL, NULL), 1);
    ef_graph_unref(g);
}

static bool keep_all(void *user, int node) {
    (void)node;
    ++*(int *)user;
    return true;
}

EF_TEST(who_objects_is_not_asked_each_time) {
    ef_graph *g = trimming();
    int asked = 0;
    for (int k = 0; k < 1000; k++) {
        ef_tensor t = seen(g, number(g, k, NULL));
        unseen(&t);
        CHECK_INT(ef_graph_trim(g, 1, keep_all, &asked), 0);
    }
    CHECK(asked >= 1000 && asked < 4000);
    for (int k = 0; k < 1000; k++) { /* `keep` keeps none any more, so all are removed soon */
        ef_tensor t = seen(g, number(g, k, NULL));
        unseen(&t);
        ef_graph_trim(g, 1, NULL, NULL);
    }
    CHECK_INT(g->n_doubt, 0);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(nodes_go_and_their_places_are_used_again);
    EF_RUN(tensors_held_unseen_keep_everything);
    EF_RUN(names_go_with_their_nodes);
    EF_RUN(who_waits_or_objects_is_heard);
    EF_RUN(who_objects_is_not_asked_each_time);
    return EF_VERDICT();
}
