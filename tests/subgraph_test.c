/* Subgraphs as functions: their inputs, the further tensors they need, and calls with other values.
 */
#include "base/alloc.h"
#include "base/status.h"
#include "check.h"
#include "evenflow_binding.h"
#include "graph/graph.h"

typedef struct scene { /* y = (x*w + x) * 2 in a graph, where w is another tensor of it */
    ef_graph *g;
    ef_tensor x, w, two, xw, sum, y;
} scene;

static ef_status *call(const char *op, const ef_tensor *a, const ef_tensor *b, ef_tensor *out) {
    const ef_tensor *in[] = {a, b};
    int n;
    return ef_call_op(ef_op_find(op), NULL, in, 2, out, 1, &n);
}

static ef_status *number(float v, ef_tensor *out) { return ef_tensor_from(EF_F32, NULL, &v, out); }

static ef_status *scene_begin(scene *s) {
    ef_shape scalar = {.rank = 0};
    memset(s, 0, sizeof *s);
    if ((s->g = ef_graph_new()) == NULL) return ef_no_memory(0);
    EF_TRY(ef_graph_placeholder(s->g, EF_F32, &scalar, "x", &s->x));
    EF_TRY(ef_graph_placeholder(s->g, EF_F32, &scalar, "w", &s->w));
    EF_TRY(ef_graph_enter(s->g));
    ef_status *bad = call("Mul", &s->x, &s->w, &s->xw);
    if (bad == NULL) bad = call("AddV2", &s->xw, &s->x, &s->sum);
    if (bad == NULL) bad = number(2, &s->two);
    if (bad == NULL) bad = call("Mul", &s->sum, &s->two, &s->y);
    ef_status *left = ef_graph_leave(s->g);
    if (bad != NULL) {
        ef_status_free(left);
        return bad;
    }
    return left;
}

static void scene_end(scene *s) {
    ef_tensor *all[] = {&s->x, &s->w, &s->two, &s->xw, &s->sum, &s->y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) ef_tensor_release(all[k]);
    ef_graph_free(s->g);
}

/* Calls the subgraph with values. */
static ef_status *call_part(ef_graph *part, float a, float b, int n_in, float *result) {
    ef_tensor v[2] = {0}, out = {0};
    const ef_tensor *in[] = {&v[0], &v[1]};
    int n = 0;
    ef_status *s = number(a, &v[0]);
    if (s == NULL) s = number(b, &v[1]);
    if (s == NULL) s = ef_graph_call(part, in, n_in, &out, 1, &n);
    const void *data = NULL;
    if (s == NULL) s = ef_tensor_data(&out, &data);
    if (s == NULL) memcpy(result, data, sizeof *result);
    ef_tensor_release(&v[0]);
    ef_tensor_release(&v[1]);
    ef_tensor_release(&out);
    return s;
}

EF_TEST(what_is_needed_beside) {
    scene s;
    CHECK_OK(scene_begin(&s));
    const ef_tensor *in[] = {&s.x}, *out[] = {&s.y};
    ef_graph *part = NULL;
    ef_tensor *more = NULL;
    int n_more = -1;
    CHECK_OK(ef_graph_part(s.g, in, 1, out, 1, &part, &more, &n_more));
    CHECK_INT(n_more, 1); /* w; the constant went inside */
    CHECK_INT(ef_graph_inputs(part), 2);
    float r = 0;
    CHECK_OK(call_part(part, 3, 10, 2, &r));
    CHECK_NEAR(r, 66, 0);
    CHECK_OK(call_part(part, 1, 0, 2, &r));
    CHECK_NEAR(r, 2, 0);
    ef_graph_part_end(more, n_more);
    ef_graph_free(part);
    scene_end(&s);
}

EF_TEST(from_the_middle) {
    scene s;
    CHECK_OK(scene_begin(&s));
    const ef_tensor *in[] = {&s.xw}, *out[] = {&s.y, &s.w, &s.xw};
    ef_graph *part = NULL;
    ef_tensor *more = NULL;
    int n_more = -1;
    CHECK_OK(ef_graph_part(s.g, in, 1, out, 3, &part, &more, &n_more));
    CHECK_INT(n_more, 2); /* an output that does not depend on the input, and x */
    CHECK_INT(ef_graph_outputs(part), 3);
    ef_graph_part_end(more, n_more);
    ef_graph_free(part);
    scene_end(&s);
}

static int node_of(const ef_tensor *t) { return ef_tensor_edge(t, NULL).node; }

/* z = y - y with control inputs x * x and w * w: the first depends on the input and becomes part of
 * the subgraph, the second stays outside. */
EF_TEST(control_inputs_and_devices) {
    scene s;
    CHECK_OK(scene_begin(&s));
    ef_tensor square = {0}, outside = {0}, z = {0};
    CHECK_OK(ef_graph_enter(s.g));
    CHECK_OK(call("Mul", &s.x, &s.x, &square));
    CHECK_OK(call("Mul", &s.w, &s.w, &outside));
    int after[] = {node_of(&square), node_of(&outside)};
    CHECK_OK(ef_graph_after_set(s.g, after, 2));
    CHECK_OK(call("Sub", &s.y, &s.y, &z));
    CHECK_OK(ef_graph_after_set(s.g, NULL, 0));
    CHECK_OK(ef_graph_leave(s.g));
    s.g->node[after[0]]->device = 1;
    s.g->node[node_of(&z)]->device = 2;
    const ef_tensor *in[] = {&s.x}, *out[] = {&z};
    ef_graph *part = NULL;
    ef_tensor *more = NULL;
    int n_more = -1;
    CHECK_OK(ef_graph_part(s.g, in, 1, out, 1, &part, &more, &n_more));
    CHECK_INT(n_more, 1);
    const ef_node *n = part->node[part->output[0].node];
    CHECK_INT(n->device, 2);
    CHECK_INT(n->n_after, 1);
    const ef_node *first = part->node[n->after[0]];
    CHECK_INT(first->device, 1);
    CHECK_INT(first->in[0].node, part->input[0]);
    CHECK_INT(first->in[1].node, part->input[0]);
    float r = 1;
    CHECK_OK(call_part(part, 3, 10, 2, &r));
    CHECK_NEAR(r, 0, 0);
    ef_graph_part_end(more, n_more);
    ef_graph_free(part);
    ef_tensor_release(&square);
    ef_tensor_release(&outside);
    ef_tensor_release(&z);
    scene_end(&s);
}

EF_TEST(tensors_of_other_graphs) {
    scene s, other;
    CHECK_OK(scene_begin(&s));
    CHECK_OK(scene_begin(&other));
    const ef_tensor *in[] = {&other.x}, *out[] = {&s.y};
    ef_graph *part = NULL;
    ef_tensor *more = NULL;
    int n_more = 0;
    ef_status *bad = ef_graph_part(s.g, in, 1, out, 1, &part, &more, &n_more);
    CHECK_INT(ef_status_code(bad), EF_INVALID);
    ef_status_free(bad);
    ef_tensor one = {0};
    CHECK_OK(number(1, &one));
    in[0] = &one;
    bad = ef_graph_part(s.g, in, 1, out, 1, &part, &more, &n_more);
    CHECK_INT(ef_status_code(bad), EF_INVALID);
    ef_status_free(bad);
    bad = ef_graph_part(NULL, in, 1, out, 1, &part, &more, &n_more);
    CHECK_INT(ef_status_code(bad), EF_INVALID);
    ef_status_free(bad);
    ef_tensor_release(&one);
    ef_graph_part_end(NULL, 0);
    scene_end(&other);
    scene_end(&s);
}

EF_TEST(allocations_may_fail) {
    scene s;
    CHECK_OK(scene_begin(&s));
    const ef_tensor *in[] = {&s.x}, *out[] = {&s.y};
    for (uint64_t k = 1;; k++) {
        ef_graph *part = NULL;
        ef_tensor *more = NULL;
        int n_more = 0;
        ef_alloc_fail_at(k);
        ef_status *bad = ef_graph_part(s.g, in, 1, out, 1, &part, &more, &n_more);
        bool happened = ef_alloc_failed() != 0;
        ef_alloc_fail_at(0);
        if (bad != NULL) CHECK_INT(ef_status_code(bad), EF_NO_MEMORY);
        if (!happened) CHECK_OK(bad);
        if (bad == NULL) {
            ef_graph_part_end(more, n_more);
            ef_graph_free(part);
        } else {
            ef_status_free(bad);
        }
        if (!happened) break;
    }
    scene_end(&s);
}

int main(void) {
    EF_RUN(what_is_needed_beside);
    EF_RUN(from_the_middle);
    EF_RUN(control_inputs_and_devices);
    EF_RUN(tensors_of_other_graphs);
    EF_RUN(allocations_may_fail);
    return EF_VERDICT();
}
