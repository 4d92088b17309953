/* Nodes that nobody can reach go, and everything else stays as it was. */
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

EF_TEST(newest_nodes_go_and_their_numbers_come_again) {
    ef_graph *g = ef_graph_make();
    ef_tensor first = seen(g, number(g, 1, "a"));
    size_t bytes = 0;
    uint64_t serial = 0;
    for (int k = 0; k < 2000; k++) {
        int32_t x = number(g, 2, NULL), y = number(g, 3, "b"), z = -1;
        ef_edge in[] = {{x, 0}, {y, 0}};
        CHECK_OK(ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, NULL, &z));
        CHECK_INT(z, 3);
        CHECK_INT(ef_graph_find(g, "b"), y);
        CHECK(g->node[z]->serial > serial); /* never the same again */
        serial = g->node[z]->serial;
        ef_tensor t = seen(g, z);
        CHECK_INT(ef_graph_trim(g, 0, 1, NULL, NULL), 0); /* somebody sees it */
        unseen(&t);
        CHECK_INT(ef_graph_trim(g, 0, 1, NULL, NULL), 3);
        CHECK_INT(ef_graph_find(g, "b"), -1);
        if (k == 10) bytes = g->arena.bytes;
    }
    CHECK_INT(g->arena.bytes, bytes);
    CHECK_INT(g->n_nodes, 1);
    CHECK_OK(ef_graph_verify(g));
    unseen(&first);
    ef_graph_unref(g);
}

EF_TEST(tensors_held_unseen_keep_everything) {
    ef_graph *g = ef_graph_make();
    int32_t x = number(g, 1, NULL);
    ef_tensor hidden;
    ef_graph_tensor(g, (ef_edge){x, 0}, &hidden);
    CHECK_INT(ef_graph_trim(g, 0, 1, NULL, NULL), 0);
    CHECK_INT(ef_graph_trim(g, 1, 2, NULL, NULL), 0); /* below the floor */
    ef_tensor_release(&hidden);
    CHECK_INT(ef_graph_trim(g, 0, 1, NULL, NULL), 1);
    ef_graph_unref(g);
}

EF_TEST(a_name_given_late_keeps_what_stood_before_it) {
    ef_graph *g = ef_graph_make();
    ef_tensor old = seen(g, number(g, 1, NULL));
    number(g, 2, NULL);
    CHECK_OK(ef_graph_rename(g, 0, "late"));
    number(g, 3, NULL);
    CHECK_INT(ef_graph_trim(g, 0, 1, NULL, NULL), 1);
    number(g, 4, NULL);
    CHECK_INT(ef_graph_find(g, "late"), 0);
    CHECK_INT(strcmp(g->node[0]->name, "late"), 0);
    unseen(&old);
    ef_graph_unref(g);
}

static bool keep_first(void *user, int node) { return node == *(int *)user; }

EF_TEST(who_waits_or_objects_is_heard) {
    ef_graph *g = ef_graph_make();
    int32_t x = number(g, 1, NULL);
    number(g, 2, NULL);
    CHECK_INT(ef_graph_trim(g, 0, 1, keep_first, &x), 1);
    CHECK_INT(g->n_nodes, 1);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(newest_nodes_go_and_their_numbers_come_again);
    EF_RUN(tensors_held_unseen_keep_everything);
    EF_RUN(a_name_given_late_keeps_what_stood_before_it);
    EF_RUN(who_waits_or_objects_is_heard);
    return EF_VERDICT();
}
