/* Each pass by itself, and all of them on small programs. */
#include "case.h"
#include "check.h"
#include "passes/passes.h"

static ef_graph *g; /* being built */
static ef_status *failed;

static void start(void) {
    g = ef_graph_make();
    g->function = true;
    failed = NULL;
}

static void keep(ef_status *s) {
    if (failed == NULL)
        failed = s;
    else
        ef_status_free(s);
}

static ef_edge input(ef_dtype t, int rank, const int64_t *dims) {
    ef_edge e = {0, 0};
    ef_shape s = ef_shape_of(rank, dims);
    keep(ef_graph_input(g, t, &s, NULL, &e));
    return e;
}
#define INPUT(t, ...) \
    input(t, (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (int64_t[]){__VA_ARGS__})

static ef_edge number(ef_dtype t, double v) {
    ef_tensor x = {0};
    ef_edge e = {0, 0};
    keep(ef_tensor_new(t, NULL, &x));
    ef_element_set(t, x.data, 0, v);
    keep(ef_graph_constant(g, &x, &e));
    ef_tensor_release(&x);
    return e;
}

static ef_edge ints(int n, const int32_t *v) {
    ef_tensor x = {0};
    ef_edge e = {0, 0};
    ef_shape s = {.rank = 1, .dim = {n}};
    keep(ef_tensor_from(EF_I32, &s, v, &x));
    keep(ef_graph_constant(g, &x, &e));
    ef_tensor_release(&x);
    return e;
}

static ef_edge add_set(const char *op, const ef_attr_value *set, int n_set, int n,
                       const ef_edge *in) {
    int32_t node = 0;
    const ef_attrs *attrs = NULL;
    if (n_set > 0) keep(ef_attrs_make(ef_op_find(op), set, n_set, &attrs));
    if (failed == NULL) keep(ef_graph_add(g, ef_op_find(op), attrs, in, n, NULL, &node));
    ef_attrs_unref(attrs);
    return (ef_edge){node, 0};
}
#define ADD(op, ...)                                                                \
    add_set(op, NULL, 0, (int)(sizeof((ef_edge[]){__VA_ARGS__}) / sizeof(ef_edge)), \
            (ef_edge[]){__VA_ARGS__})

static void finish1(ef_edge out) { keep(ef_graph_set_outputs(g, &out, 1)); }

static int nodes_of(const ef_graph *x, const char *op) {
    int n = 0;
    for (size_t k = 0; k < x->n_nodes; k++) n += strcmp(x->node[k]->op->name, op) == 0;
    return n;
}

/* Inputs filled at random, g optimised against g as it is. */
static ef_status *compare(ef_graph *x, double tolerance) {
    ef_case c = {.graph = x};
    uint64_t state = 5;
    ef_status *s = NULL;
    for (size_t k = 0; k < x->n_inputs && s == NULL; k++) {
        const ef_fact *f = x->node[x->input[k]]->out;
        ef_shape shape = f->shape;
        for (int d = 0; d < shape.rank; d++)
            if (shape.dim[d] < 0) shape.dim[d] = 3;
        s = ef_tensor_new(f->dtype, &shape, &c.in[c.n_in++]);
        if (s == NULL) ef_case_fill(&c.in[k], &state);
    }
    if (s == NULL) s = ef_case_compare(&c, NULL, tolerance);
    for (int k = 0; k < c.n_in; k++) ef_tensor_release(&c.in[k]);
    return s;
}

/* Only the named pass. */
static ef_status *only(const char *name, ef_graph *x, ef_graph **out) {
    char off[200] = "";
    for (const ef_pass *p = ef_passes; p->name != NULL; p++)
        if (strcmp(p->name, name) != 0) {
            if (off[0]) strncat(off, ",", sizeof off - strlen(off) - 1);
            strncat(off, p->name, sizeof off - strlen(off) - 1);
        }
    return ef_optimise_without(x, off, out);
}

/* ---- passes ---------------------------------------------------------------------------------- */

EF_TEST(folds_what_is_known) {
    start();
    ef_edge x = INPUT(EF_F32, 2, 3);
    ef_edge two = ADD("AddV2", number(EF_F32, 1), number(EF_F32, 1));
    ef_edge big = ADD("Fill", ints(2, (int32_t[]){300, 300}), two);
    finish1(
        ADD("AddV2", ADD("Mul", x, ADD("Exp", two)), ADD("Sum", big, ints(2, (int32_t[]){0, 1}))));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("fold", g, &best));
    CHECK_INT(nodes_of(best, "Exp"), 0);
    CHECK_INT(nodes_of(best, "Fill"), 1); /* ninety thousand elements from three are no gain */
    ef_graph_unref(best);
    CHECK_OK(compare(g, 0));
    ef_graph_unref(g);
}

EF_TEST(leaves_what_fails) {
    start();
    ef_edge x = INPUT(EF_I32, 2);
    finish1(ADD("AddV2", x, ADD("FloorDiv", number(EF_I32, 1), number(EF_I32, 0))));
    CHECK_OK(failed);
    CHECK_OK(compare(g, 0)); /* the same error with and without */
    ef_graph_unref(g);
}

EF_TEST(prunes_what_nobody_needs) {
    start();
    ef_edge x = INPUT(EF_F32, 2, 3), y = INPUT(EF_F32, 2, 3);
    ADD("Exp", ADD("Neg", y));
    finish1(ADD("Relu", x));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("prune", g, &best));
    CHECK_INT(best->n_nodes, 3); /* both inputs stay */
    CHECK_INT(best->n_inputs, 2);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

EF_TEST(merges_common_subexpressions) {
    start();
    ef_edge x = INPUT(EF_F32, 2, 3), y = INPUT(EF_F32, 3);
    ef_edge a = ADD("Mul", x, y), b = ADD("Mul", x, y);
    finish1(ADD("Sub", ADD("Exp", a), ADD("Tanh", b)));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("rules", g, &best));
    CHECK_INT(nodes_of(best, "Mul"), 1);
    ef_graph_unref(best);
    CHECK_OK(compare(g, 0));
    ef_graph_unref(g);
}

static ef_graph *square_plus_one(void) { /* x*x+1, dead code and a doubled node inside */
    ef_graph *outer = g;
    start();
    ef_edge x = INPUT(EF_F32, -1, 3);
    ADD("Exp", x);
    finish1(ADD("AddV2", ADD("Identity", ADD("Mul", x, x)), number(EF_F32, 1)));
    ef_graph *f = g;
    g = outer;
    return f;
}

static ef_edge call(ef_graph *f, ef_edge x) {
    const ef_dtype t = EF_F32;
    ef_attr_value set[] = {EF_SET_FUNC("f", f), EF_SET_TYPES("Tout", 1, &t)};
    return add_set("PartitionedCall", set, 2, 1, &x);
}

EF_TEST(opens_calls) {
    start();
    ef_graph *outer = g, *f = square_plus_one();
    CHECK_OK(failed);
    start();
    ef_edge x = INPUT(EF_F32, -1, 3);
    finish1(call(f, x));
    ef_graph *middle = g;
    g = outer;
    ef_edge y = INPUT(EF_F32, -1, 3);
    finish1(ADD("Sub", call(middle, y), call(f, ADD("Neg", y))));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("inline", g, &best));
    CHECK_INT(nodes_of(best, "PartitionedCall"), 0);
    CHECK_INT(nodes_of(best, "Mul"), 2);
    CHECK_INT(nodes_of(best, "Exp"), 0);
    ef_graph_unref(best);
    CHECK_OK(compare(g, 0));
    ef_graph_unref(f);
    ef_graph_unref(middle);
    ef_graph_unref(g);
}

EF_TEST(keeps_declared_shapes_of_calls) {
    start();
    ef_graph *outer = g, *f = square_plus_one();
    g = outer;
    ef_edge x = INPUT(EF_F32, -1, -1);
    finish1(call(f, x));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("inline", g, &best));
    CHECK_INT(nodes_of(best, "EnsureShape"), 1);
    ef_graph_unref(best);
    ef_graph_unref(f);
    ef_graph_unref(g);
}

/* for (i = 0; i < 5; i++) x = x * identity(k) + 0 * 3 */
static ef_graph *loop_graph(void) {
    start();
    ef_graph *outer = g;
    start();
    ef_edge i = input(EF_I32, 0, NULL), x = INPUT(EF_F32, 2, 3), k = INPUT(EF_F32, 3);
    (void)x, (void)k;
    finish1(ADD("Less", i, number(EF_I32, 5)));
    ef_graph *cond = g;
    start();
    i = input(EF_I32, 0, NULL), x = INPUT(EF_F32, 2, 3), k = INPUT(EF_F32, 3);
    ef_edge held = ADD("Identity", k);
    ef_edge outs[] = {ADD("AddV2", i, number(EF_I32, 1)),
                      ADD("Mul", x, ADD("Tanh", ADD("Mul", held, number(EF_F32, 2)))), held};
    keep(ef_graph_set_outputs(g, outs, 3));
    ef_graph *body = g;
    g = outer;
    ef_edge in[] = {number(EF_I32, 0), INPUT(EF_F32, 2, 3), INPUT(EF_F32, 3)};
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
    ef_edge w = add_set("While", set, 2, 3, in);
    ef_edge out[] = {{w.node, 1}, {w.node, 2}};
    keep(ef_graph_set_outputs(g, out, 2));
    ef_graph_unref(cond);
    ef_graph_unref(body);
    return g;
}

static const ef_graph *body_of(const ef_graph *x) {
    for (size_t k = 0; k < x->n_nodes; k++) {
        ef_attr_value v;
        if (strstr(x->node[k]->op->name, "While") == NULL) continue;
        ef_status *s = ef_attrs_get(x->node[k]->op, x->node[k]->fields, "body", &v);
        ef_status_free(s);
        return s == NULL ? v.as.func : NULL;
    }
    return NULL;
}

EF_TEST(optimises_bodies) {
    ef_graph *x = loop_graph(), *best;
    CHECK_OK(failed);
    CHECK_OK(ef_optimise_without(x, "invariant", &best));
    CHECK(body_of(best) != NULL);
    CHECK_INT(nodes_of(body_of(best), "Identity"), 0);
    ef_graph_unref(best);
    CHECK_OK(compare(x, 0));
    ef_graph_unref(x);
}

EF_TEST(moves_invariants_out) {
    ef_graph *x = loop_graph(), *best;
    CHECK_OK(failed);
    CHECK_OK(ef_optimise(x, &best));
    CHECK(body_of(best) != NULL);
    CHECK_INT(nodes_of(body_of(best), "Tanh"), 0);
    CHECK_INT(nodes_of(best, "Tanh"), 1);
    CHECK_INT(body_of(best)->n_inputs, 4);
    ef_graph_unref(best);
    CHECK_OK(compare(x, 0));
    ef_graph_unref(x);
}

/* for (i = 0; i < limit; i++) s += transpose(x[i]) (x[i] w), x being the slices of a tensor that
 * are popped from a list as well. */
static ef_graph *products_graph(int limit) {
    const ef_attr_value float32[] = {EF_SET_TYPE("element_dtype", EF_F32)};
    const ef_attr_value turned[] = {EF_SET_BOOL("transpose_a", true)};
    ef_graph *function[2];
    start();
    ef_graph *outer = g;
    for (int f = 0; f < 2; f++) {
        start();
        ef_edge i = input(EF_I32, 0, NULL), list = input(EF_VARIANT, 0, NULL);
        ef_edge left = input(EF_VARIANT, 0, NULL), w = INPUT(EF_F32, 3, 4), s = INPUT(EF_F32, 3, 4);
        function[f] = g;
        if (f == 0) {
            finish1(ADD("Less", i, number(EF_I32, limit)));
            continue;
        }
        ef_edge size = ints(2, (int32_t[]){2, 3});
        ef_edge x = add_set("TensorListGetItem", float32, 1, 3, (ef_edge[]){list, i, size});
        ef_edge pop = add_set("TensorListPopBack", float32, 1, 2, (ef_edge[]){left, size});
        ef_edge y = ADD("MatMul", x, w);
        ef_edge z = add_set("MatMul", turned, 1, 2, (ef_edge[]){{pop.node, 1}, y});
        ef_edge out[] = {ADD("AddV2", i, number(EF_I32, 1)), list, pop, w, ADD("AddV2", s, z)};
        keep(ef_graph_set_outputs(g, out, 5));
    }
    g = outer;
    ef_edge x = INPUT(EF_F32, 5, 2, 3), w = INPUT(EF_F32, 3, 4), s = INPUT(EF_F32, 3, 4);
    ef_edge list = ADD("TensorListFromTensor", x, ints(2, (int32_t[]){2, 3}));
    ef_edge in[] = {number(EF_I32, 0), list, list, w, s};
    ef_attr_value set[] = {EF_SET_FUNC("cond", function[0]), EF_SET_FUNC("body", function[1])};
    ef_edge loop = add_set("While", set, 2, 5, in);
    finish1((ef_edge){loop.node, 4});
    for (int f = 0; f < 2; f++) ef_graph_unref(function[f]);
    return g;
}

/* The loop of five iterations needs no product of its own; one of three reads fewer slices than
 * there are, so these are not all multiplied beforehand. */
EF_TEST(moves_products_out) {
    for (int limit = 0; limit <= 5; limit++) {
        ef_graph *x = products_graph(limit), *best;
        CHECK_OK(failed);
        CHECK_OK(ef_optimise(x, &best));
        CHECK(body_of(best) != NULL);
        CHECK_INT(nodes_of(body_of(best), "MatMul"), limit == 5 ? 0 : 1);
        CHECK_INT(nodes_of(best, "MatMul"), limit == 5 ? 2 : 1);
        ef_graph_unref(best);
        CHECK_OK(compare(x, 1e-5));
        ef_graph_unref(x);
    }
}

/* ---- control inputs and devices -------------------------------------------------------------- */

/* A node of g with a control input, on device 2. */
static ef_edge add_after(const char *op, ef_edge x, int32_t after) {
    int32_t node = 0;
    if (failed == NULL)
        keep(ef_graph_add_after(g, ef_op_find(op), NULL, &x, 1, &after, 1, NULL, &node));
    g->node[node]->device = 2;
    return (ef_edge){node, 0};
}

static const ef_node *node_of(const ef_graph *x, const char *op) {
    for (size_t k = 0; k < x->n_nodes; k++)
        if (strcmp(x->node[k]->op->name, op) == 0) return x->node[k];
    return NULL;
}

static void check_waits(const ef_graph *x, const char *op, const char *after) {
    const ef_node *n = node_of(x, op);
    CHECK(n != NULL);
    CHECK_INT(n->device, 2);
    CHECK_INT(n->n_after, 1);
    CHECK_TEXT(x->node[n->after[0]]->op->name, after);
    CHECK_INT(x->node[n->after[0]]->device, 1);
}

EF_TEST(walks_keep_control_inputs_and_devices) {
    start();
    ef_edge x = INPUT(EF_F32, 3);
    ADD("Exp", x); /* unused: pruning it makes the pass copy the graph */
    ef_edge first = ADD("Neg", x);
    g->node[first.node]->device = 1;
    g->node[x.node]->device = 3;
    finish1(add_after("Tanh", x, first.node));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("prune", g, &best));
    CHECK_INT(nodes_of(best, "Exp"), 0);
    check_waits(best, "Tanh", "Neg");
    CHECK_INT(best->node[best->input[0]]->device, 3);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

/* A random op is copied with a position of its own, and keeps its control inputs. */
EF_TEST(opened_calls_keep_control_inputs_and_devices) {
    start();
    ef_graph *outer = g;
    start();
    ef_edge x = INPUT(EF_F32, 3), first = ADD("Neg", x);
    g->node[first.node]->device = 1;
    int32_t draw = 0, sizes = ints(1, (int32_t[]){3}).node;
    ef_edge shape = {sizes, 0};
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F32), EF_SET_TYPE("T", EF_I32)};
    const ef_attrs *attrs = NULL;
    keep(ef_attrs_make(ef_op_find("RandomUniform"), set, 2, &attrs));
    keep(ef_graph_add_after(g, ef_op_find("RandomUniform"), attrs, &shape, 1, &first.node, 1, NULL,
                            &draw));
    ef_attrs_unref(attrs);
    g->node[draw]->device = 2;
    finish1(ADD("AddV2", (ef_edge){draw, 0}, add_after("Tanh", x, first.node)));
    ef_graph *f = g;
    g = outer;
    finish1(call(f, INPUT(EF_F32, 3)));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(only("inline", g, &best));
    CHECK_INT(nodes_of(best, "PartitionedCall"), 0);
    check_waits(best, "Tanh", "Neg");
    check_waits(best, "RandomUniform", "Neg");
    ef_graph_unref(best);
    ef_graph_unref(f);
    ef_graph_unref(g);
}

/* ---- effects --------------------------------------------------------------------------------- */

static ef_edge variable_input(int64_t n) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_fact handle = {.dtype = EF_F32, .shape = s},
            fact = {.dtype = EF_RESOURCE, .handle = &handle};
    ef_edge e = {0, 0};
    keep(ef_graph_input_like(g, &fact, NULL, &e));
    return e;
}

static ef_edge read_variable(ef_edge handle) {
    ef_attr_value set[] = {EF_SET_TYPE("dtype", EF_F32)};
    return add_set("ReadVariableOp", set, 1, 1, &handle);
}

/* a = v; b = v; v = a + b; c = v; d = v; return (a + b) + (c + d) */
EF_TEST(reads_do_not_pass_writes) {
    start();
    ef_edge v = variable_input(4);
    ef_edge a = read_variable(v), b = read_variable(v), sum = ADD("AddV2", a, b);
    ADD("AssignVariableOp", v, sum);
    ef_edge c = read_variable(v), d = read_variable(v);
    finish1(ADD("AddV2", sum, ADD("AddV2", c, d)));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(nodes_of(best, "ReadVariableOp"), 2);
    CHECK_INT(nodes_of(best, "AssignVariableOp"), 1);
    ef_tensor value = {0}, handle = {0}, out = {0};
    ef_shape s = {.rank = 1, .dim = {4}};
    const float start_value[] = {1, 2, 3, 4};
    CHECK_OK(ef_tensor_from(EF_F32, &s, start_value, &value));
    CHECK_OK(ef_variable_new(&value, NULL, &handle));
    CHECK_OK(ef_case_run(best, &handle, 1, &out));
    for (int k = 0; k < 4; k++) CHECK_NEAR(((const float *)out.data)[k], 6 * start_value[k], 0);
    ef_tensor_release(&value);
    ef_tensor_release(&handle);
    ef_tensor_release(&out);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

/* ---- whole programs -------------------------------------------------------------------------- */

static ef_edge dense(ef_edge x, int64_t from, int64_t to, const char *act) {
    ef_edge w = INPUT(EF_F32, from, to), b = INPUT(EF_F32, to);
    ef_edge y = ADD("BiasAdd", ADD("MatMul", x, w), b);
    return act != NULL ? ADD(act, y) : y;
}

EF_TEST(dense_layers_fuse) {
    start();
    ef_edge x = INPUT(EF_F32, -1, 8);
    ef_edge h = dense(dense(x, 8, 6, "Relu"), 6, 6, "Tanh");
    finish1(ADD("Softmax", dense(h, 6, 4, NULL)));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(nodes_of(best, "_FusedMatMul"), 3);
    CHECK_INT(best->n_nodes, 7 + 4);
    ef_graph_unref(best);
    CHECK_OK(compare(g, 1e-5));
    ef_graph_unref(g);
}

EF_TEST(shared_products_stay) {
    start();
    ef_edge x = INPUT(EF_F32, 2, 3), w = INPUT(EF_F32, 3, 4), b = INPUT(EF_F32, 4);
    ef_edge m = ADD("MatMul", x, w);
    finish1(ADD("Mul", ADD("BiasAdd", m, b), m));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(nodes_of(best, "MatMul"), 1);
    CHECK_INT(nodes_of(best, "BiasAdd"), 0);
    ef_graph_unref(best);
    CHECK_OK(compare(g, 1e-6));
    ef_graph_unref(g);
}

/* conv, bias, relu, pool, conv, relu, mean over the image: all channels first */
EF_TEST(images_turn_once) {
    start();
    static const int64_t ones[] = {1, 1, 1, 1}, two[] = {1, 1, 2, 2};
    ef_attr_value conv[] = {EF_SET_INTS("strides", 4, ones), EF_SET_STRING("padding", "SAME"),
                            EF_SET_STRING("data_format", "NCHW")};
    ef_attr_value pool[] = {EF_SET_INTS("ksize", 4, two), EF_SET_INTS("strides", 4, two),
                            EF_SET_STRING("padding", "VALID"),
                            EF_SET_STRING("data_format", "NCHW")};
    ef_edge x[] = {INPUT(EF_F32, -1, 3, 8, 6), INPUT(EF_F32, 3, 3, 3, 4)};
    ef_edge b[] = {add_set("Conv2D", conv, 3, 2, x), INPUT(EF_F32, 4)};
    ef_edge h = ADD("Relu", add_set("BiasAdd", conv + 2, 1, 2, b));
    ef_edge y[] = {add_set("MaxPool", pool, 4, 1, &h), INPUT(EF_F32, 3, 3, 4, 5)};
    ef_edge z = ADD("Softplus", ADD("Mul", add_set("Conv2D", conv, 3, 2, y), number(EF_F32, 0.1)));
    finish1(ADD("Mean", z, ints(2, (int32_t[]){2, 3})));
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(nodes_of(best, "Transpose"), 1);
    CHECK_INT(nodes_of(best, "_FusedConv2D"), 1);
    ef_graph_unref(best);
    CHECK_OK(compare(g, 1e-5));
    ef_graph_unref(g);
}

EF_TEST(unknown_shapes_decline) {
    start();
    ef_edge x = INPUT(EF_F32, -1), one = ADD("OnesLike", INPUT(EF_F32, 3));
    finish1(ADD("Mul", x, one)); /* x may be [1], so the ones stretch it */
    CHECK_OK(failed);
    ef_graph *best;
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(nodes_of(best, "Mul"), 1);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

EF_TEST(switched_off_by_name) {
    start();
    finish1(ADD("Identity", INPUT(EF_F32, 2)));
    ef_graph *best;
    CHECK_OK(ef_optimise_without(g, "all", &best));
    CHECK(best == g);
    ef_graph_unref(best);
    CHECK_OK(ef_optimise_without(g, "fold,rules", &best));
    CHECK_INT(nodes_of(best, "Identity"), 1);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

int main(void) {
    EF_RUN(folds_what_is_known);
    EF_RUN(leaves_what_fails);
    EF_RUN(prunes_what_nobody_needs);
    EF_RUN(merges_common_subexpressions);
    EF_RUN(opens_calls);
    EF_RUN(keeps_declared_shapes_of_calls);
    EF_RUN(optimises_bodies);
    EF_RUN(moves_invariants_out);
    EF_RUN(moves_products_out);
    EF_RUN(walks_keep_control_inputs_and_devices);
    EF_RUN(opened_calls_keep_control_inputs_and_devices);
    EF_RUN(reads_do_not_pass_writes);
    EF_RUN(dense_layers_fuse);
    EF_RUN(shared_products_stay);
    EF_RUN(images_turn_once);
    EF_RUN(unknown_shapes_decline);
    EF_RUN(switched_off_by_name);
    return EF_VERDICT();
}
