/* Random calls of the graph builder: ops with valid and with invalid inputs, attributes, names and
 * control inputs, followed by everything that can be done with a graph. Nothing may crash, a call
 * that fails must change nothing, and the graph must always pass the verifier.
 *
 *   graph_fuzz SECONDS SEED [CASE]     CASE: only that one */
#include "base/alloc.h"
#include "base/clock.h"
#include "case.h"
#include "ops/example.h"
#include "passes/passes.h"
#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 40, EDGES = 24 };

static uint64_t state;
static char finding[400];

static uint64_t draw(uint64_t n) { return ef_case_draw(&state) % n; }
static bool chance(unsigned percent) { return draw(100) < percent; }

static void found(const char *what, const char *more) {
    if (finding[0] == 0) snprintf(finding, sizeof finding, "%s: %s", what, more);
}

/* Mostly an edge that exists. */
static ef_edge any_edge(const ef_graph *g) {
    if (g->n_nodes == 0 || chance(4))
        return (ef_edge){(int32_t)draw(100) - 20, (int32_t)draw(5) - 1};
    const ef_node *n = g->node[draw(g->n_nodes)];
    return (ef_edge){n->id, n->n_out > 0 && !chance(3) ? (int32_t)draw((uint64_t)n->n_out)
                                                       : (int32_t)draw(4) - 1};
}

static ef_shape any_shape(void) {
    ef_shape s = {.rank = (int32_t)draw(6) - 1};
    for (int d = 0; d < s.rank; d++) s.dim[d] = (int64_t)draw(6) - 1;
    if (s.rank > 0 && chance(3)) s.dim[0] = INT64_MAX / 2;
    return s;
}

static const char *any_name(char *buf, size_t n) {
    if (chance(60)) return NULL;
    snprintf(buf, n, chance(90) ? "n%d" : "/odd name_%d%%s", (int)draw(6));
    return buf;
}

static void add_input(ef_graph *g) {
    ef_edge e;
    ef_shape s = any_shape();
    char name[40];
    ef_status_free(
        ef_graph_input(g, (ef_dtype)draw(EF_DTYPES), &s, any_name(name, sizeof name), &e));
}

static void add_constant(ef_graph *g) {
    static const ef_dtype types[] = {EF_F32, EF_I32, EF_I64, EF_BOOL, EF_F16};
    ef_shape s = {.rank = (int32_t)draw(3)};
    for (int d = 0; d < s.rank; d++) s.dim[d] = (int64_t)draw(4);
    ef_tensor t = {0};
    ef_edge e;
    ef_status *bad = ef_tensor_new(types[draw(5)], &s, &t);
    if (bad == NULL) {
        ef_case_fill(&t, &state);
        bad = ef_graph_constant(g, &t, &e);
    }
    ef_status_free(bad);
    ef_tensor_release(&t);
}

/* Attributes of one of its examples, defaults, or those of another op altogether. */
static const ef_attrs *any_attrs(const ef_op *op, int *n_in) {
    int n = ef_example_count(op);
    *n_in = (int)draw(4);
    if (n == 0 || chance(20)) return NULL;
    ef_example e;
    ef_status *s = ef_example_make(op, (int)draw((uint64_t)n), draw(1000), &e);
    ef_status_free(s);
    if (s != NULL) return NULL;
    const ef_attrs *a = e.attrs != NULL ? ef_attrs_ref(e.attrs) : NULL;
    *n_in = e.n_in;
    ef_example_free(&e);
    return a;
}

static void add_node(ef_graph *g) {
    const ef_op *op = ef_op_table[draw(EF_OP_COUNT)];
    int n_in, n_after = chance(10) ? (int)draw(3) : 0;
    const ef_attrs *attrs = any_attrs(op, &n_in);
    ef_edge in[EDGES];
    int32_t after[3], node;
    if (chance(5)) n_in = (int)draw(EDGES);
    if (n_in > EDGES) n_in = EDGES;
    for (int k = 0; k < n_in; k++) in[k] = any_edge(g);
    for (int k = 0; k < n_after; k++) after[k] = (int32_t)draw(g->n_nodes + 3) - 1;
    char name[40];
    size_t had = g->n_nodes;
    ef_status *s = ef_graph_add_after(g, op, attrs, in, n_in, after, n_after,
                                      any_name(name, sizeof name), &node);
    if (s != NULL && g->n_nodes != had) found("a failed call added a node", op->name);
    if (s == NULL && (node < 0 || (size_t)node >= g->n_nodes)) found("no such node", op->name);
    ef_status_free(s);
    ef_attrs_unref(attrs);
}

/* Uses the op's own example with valid inputs, so that deep graphs are built too. */
static void add_example(ef_graph *g) {
    const ef_op *op = ef_op_table[draw(EF_OP_COUNT)];
    int n = ef_example_count(op);
    ef_example e;
    if (n == 0) return;
    ef_status *s = ef_example_make(op, (int)draw((uint64_t)n), draw(1000), &e);
    ef_status_free(s);
    if (s != NULL) return;
    ef_edge in[EF_EXAMPLE_MAX_IN];
    int32_t node;
    for (int k = 0; k < e.n_in && s == NULL; k++) {
        ef_shape shape = ef_shape_from(&e.in[k]);
        bool plain = ef_dtype_in((ef_dtype)e.in[k].dtype, EF_PLAIN);
        s = plain && chance(40) ? ef_graph_constant(g, &e.in[k], &in[k])
                                : ef_graph_input(g, (ef_dtype)e.in[k].dtype, &shape, NULL, &in[k]);
    }
    if (s == NULL) s = ef_graph_add(g, op, e.attrs, in, e.n_in, NULL, &node);
    ef_status_free(s);
    ef_example_free(&e);
}

static void use(ef_graph *g) {
    ef_edge out[4], feed[3];
    char *text = NULL;
    int n = (int)draw(4), n_feed = 0;
    for (int k = 0; k < n; k++) out[k] = any_edge(g);
    ef_status *s = ef_graph_set_outputs(g, out, n);
    ef_status_free(s);
    ef_status_free(ef_graph_text(g, &text));
    ef_free(text);
    if (s != NULL) return;
    for (size_t k = 0; k < g->n_inputs && n_feed < 3; k++)
        if (chance(70)) feed[n_feed++] = (ef_edge){g->input[k], 0};
    ef_graph *part = NULL;
    int n_captures = 0;
    s = ef_graph_extract(g, feed, n_feed, out, n, NULL, 0, &part, NULL, &n_captures);
    ef_status_free(s);
    if (s != NULL) return;
    if ((s = ef_graph_verify(part)) != NULL) found("an extract", ef_status_message(s));
    ef_status_free(s);
    if (!ef_graph_equal(part, part) || ef_graph_hash(part) == 0) found("a graph", "unlike itself");
    ef_graph *best = NULL;
    s = ef_optimise(part, &best);
    if (s != NULL && ef_status_code(s) != EF_NO_MEMORY) found("optimising", ef_status_message(s));
    ef_status_free(s);
    if (best != NULL && (s = ef_graph_verify(best)) != NULL) {
        found("an optimised graph", ef_status_message(s));
        ef_status_free(s);
    }
    ef_graph_unref(best);
    ef_graph_unref(part);
}

static void one(uint64_t seed) {
    state = seed;
    ef_graph *g = ef_graph_make();
    g->function = true;
    g->merge = chance(50);
    for (int k = 0; k < CALLS; k++) {
        uint64_t what = draw(100);
        if (what < 10)
            add_input(g);
        else if (what < 20)
            add_constant(g);
        else if (what < 70)
            add_node(g);
        else
            add_example(g);
    }
    ef_status *s = ef_graph_verify(g);
    if (s != NULL) found("a graph", ef_status_message(s));
    ef_status_free(s);
    use(g);
    ef_graph_unref(g);
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 10;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    uint64_t first = argc > 3 ? strtoull(argv[3], NULL, 10) : 0, cases = 0;
    int findings = 0;
    uint64_t end = ef_now_ns() + (uint64_t)(seconds * 1e9);
    for (uint64_t k = first; findings < 10 && (k == first || ef_now_ns() < end); k++, cases++) {
        finding[0] = 0;
        one(seed * 1000003 + k);
        if (finding[0] != 0) {
            findings++;
            printf("case %llu: %s\n", (unsigned long long)k, finding);
            fflush(stdout);
        }
        if (argc > 3) break;
    }
    printf("graph: %llu graphs, %d findings\n", (unsigned long long)cases, findings);
    return findings > 0;
}
