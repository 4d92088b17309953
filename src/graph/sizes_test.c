/* Real sizes beside symbolic ones, and which symbols reading them marks. */
#include "check.h"
#include "graph/sizes.h"
#include "ops/op.h"

static void two_inputs(ef_graph **out, ef_edge *x, ef_edge *y) {
    ef_graph *g = *out = ef_graph_make();
    ef_shape a = {.rank = 2, .dim = {ef_dim_symbol(0), 3}},
             b = {.rank = 1, .dim = {ef_dim_symbol(1)}};
    ef_shape real_a = {.rank = 2, .dim = {2, 3}}, real_b = {.rank = 1, .dim = {3}};
    g->sizes = ef_sizes_new(NULL);
    g->sizes->size[0] = 2;
    g->sizes->size[1] = 3;
    CHECK_OK(ef_graph_input(g, EF_F32, &a, NULL, x));
    CHECK_OK(ef_graph_input(g, EF_F32, &b, NULL, y));
    CHECK_OK(ef_graph_set_real(g, *x, &real_a));
    CHECK_OK(ef_graph_set_real(g, *y, &real_b));
}

static void add(ef_graph *g, const char *op, ef_edge a, ef_edge b, int n, ef_edge *out) {
    ef_edge in[] = {a, b};
    int32_t node = 0;
    CHECK_OK(ef_graph_add(g, ef_op_find(op), NULL, in, n, NULL, &node));
    *out = (ef_edge){node, 0};
}

EF_TEST(real_facts_follow_the_call) {
    ef_edge x = {0}, y = {0};
    ef_graph *g;
    two_inputs(&g, &x, &y);
    ef_edge sum = {0}, shape = {0};
    add(g, "AddV2", x, y, 2, &sum);
    CHECK_INT(ef_edge_fact(g, sum)->shape.dim[1], 3);
    CHECK(ef_edge_fact(g, sum)->shape.dim[0] == ef_dim_symbol(0));
    CHECK_INT(ef_edge_real(g, sum)->shape.dim[0], 2);
    add(g, "Shape", sum, sum, 1, &shape);
    CHECK(ef_edge_fact(g, shape)->value == NULL);
    CHECK(ef_edge_real(g, shape)->value != NULL);
    CHECK_INT((int64_t)g->sizes->read, 0);
    ef_graph_unref(g);
}

EF_TEST(reading_a_size_marks_its_symbol) {
    ef_edge x = {0}, y = {0};
    ef_graph *g;
    two_inputs(&g, &x, &y);
    ef_graph_read_size(g, x, 1); /* always 3 */
    CHECK_INT((int64_t)g->sizes->read, 0);
    ef_graph_read_size(g, x, 0);
    CHECK_INT((int64_t)g->sizes->read, 1);
    ef_graph_read_size(g, y, 0);
    CHECK_INT((int64_t)g->sizes->read, 3);
    g->sizes->read = 0;
    g->sizes->closed = true;
    ef_graph_read_size(g, x, 0);
    CHECK_INT((int64_t)g->sizes->read, 0);
    ef_graph_unref(g);
}

EF_TEST(sizes_that_do_not_fit_are_refused_and_count_as_read) {
    ef_edge x = {0}, y = {0};
    ef_graph *g;
    two_inputs(&g, &x, &y);
    ef_shape five = {.rank = 2, .dim = {5, 3}};
    ef_edge z = {0};
    CHECK_OK(ef_graph_input(g, EF_F32, &five, NULL, &z));
    ef_edge in[] = {x, z};
    int32_t node;
    ef_status *s = ef_graph_add(g, ef_op_find("AddV2"), NULL, in, 2, NULL, &node);
    CHECK(ef_status_code(s) == EF_INVALID); /* [2, 3] and [5, 3], though [s, 3] might fit */
    ef_status_free(s);
    CHECK(g->sizes->read == UINT64_MAX);
    ef_graph_unref(g);
}

EF_TEST(sizes_of_unknown_origin_read_everything) {
    ef_edge x = {0}, y = {0};
    ef_graph *g, *inner = ef_graph_make();
    two_inputs(&g, &x, &y);
    inner->sizes = ef_sizes_new(g->sizes);
    ef_edge sum = {0};
    add(g, "Add", y, y, 2, &sum);
    ef_shape unknown = {.rank = 1, .dim = {EF_DIM_UNKNOWN}}, real = {.rank = 1, .dim = {3}};
    ef_edge e = {0};
    CHECK_OK(ef_graph_input(inner, EF_F32, &unknown, NULL, &e));
    CHECK_OK(ef_graph_set_real(inner, e, &real));
    ef_graph_read_size(g, sum, 0);
    CHECK_INT((int64_t)g->sizes->read, 2);
    ef_graph_read_size(inner, e, 0);
    CHECK(inner->sizes->read == UINT64_MAX && g->sizes->read == UINT64_MAX);
    ef_graph_unref(inner);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(real_facts_follow_the_call);
    EF_RUN(reading_a_size_marks_its_symbol);
    EF_RUN(sizes_that_do_not_fit_are_refused_and_count_as_read);
    EF_RUN(sizes_of_unknown_origin_read_everything);
    return EF_VERDICT();
}
