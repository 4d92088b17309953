/* Updates by Adam in several assignments: which become one sweep, and that values stay the same. */
#include "case.h"
#include "check.h"
#include "passes/passes.h"

static ef_graph *g; /* being built */
static ef_status *failed;

static void keep(ef_status *s) {
    if (failed == NULL)
        failed = s;
    else
        ef_status_free(s);
}

static ef_edge variable_input(ef_dtype t) {
    ef_shape s = {.rank = 1, .dim = {5}};
    ef_fact handle = {.dtype = t, .shape = s}, fact = {.dtype = EF_RESOURCE, .handle = &handle};
    ef_edge e = {0, 0};
    keep(ef_graph_input_like(g, &fact, NULL, &e));
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

static ef_edge read_variable(ef_edge handle, ef_dtype t) {
    ef_attr_value set[] = {EF_SET_TYPE("dtype", t)};
    return add_set("ReadVariableOp", set, 1, 1, &handle);
}

static ef_edge number(ef_dtype t, double v) {
    ef_tensor x = {0};
    ef_edge e = {0, 0};
    keep(ef_tensor_new(t, NULL, &x));
    ef_element_set(t, x.data, 0, v);
    keep(ef_graph_constant(g, &x, &e));
    ef_tensor_release(&x);
    return e;
}

typedef struct form { /* how the update is written */
    ef_dtype dtype;
    bool swapped; /* operands of products and sums */
    bool spread;  /* the gradient is one number */
    bool read;    /* m is read between the assignments */
    bool cubed;   /* v averages something else */
    int seen;     /* what the last assignment reads is an output: m, m * step, v, the ratio */
    bool same;    /* m and v are one handle */
    bool twice;   /* two handles lead to one variable */
} form;

static ef_edge both(const form *f, const char *op, ef_edge x, ef_edge y) {
    return f->swapped ? ADD(op, y, x) : ADD(op, x, y);
}

static void update_graph(const form *f) {
    const ef_dtype t = f->dtype;
    g = ef_graph_make();
    g->function = true;
    failed = NULL;
    ef_edge w = variable_input(t), m = variable_input(t), v = variable_input(t), grad = {0, 0};
    ef_shape s = {.rank = 1, .dim = {f->spread ? 1 : 5}};
    keep(ef_graph_input(g, t, &s, NULL, &grad));
    if (f->same) v = m;
    ef_edge change = ADD("Sub", grad, read_variable(m, t)), out = grad;
    ADD("AssignAddVariableOp", m, both(f, "Mul", change, number(t, 0.1)));
    if (f->read) out = read_variable(m, t);
    ef_edge square = ADD("Square", grad);
    if (f->cubed) square = ADD("Mul", square, grad);
    change = ADD("Sub", square, read_variable(v, t));
    ADD("AssignAddVariableOp", v, both(f, "Mul", change, number(t, 0.01)));
    ef_edge new_m = read_variable(m, t), top = both(f, "Mul", new_m, number(t, 0.5));
    ef_edge new_v = read_variable(v, t);
    ef_edge root = both(f, "AddV2", ADD("Sqrt", new_v), number(t, 1e-3));
    ef_edge ratio = ADD("RealDiv", top, root);
    ADD("AssignSubVariableOp", w, ratio);
    if (f->seen > 0) out = (ef_edge[]){new_m, top, new_v, ratio}[f->seen - 1];
    keep(ef_graph_set_outputs(g, &out, 1));
}

static int sweeps(const ef_graph *x) {
    int n = 0;
    for (size_t k = 0; k < x->n_nodes; k++) n += x->node[k]->op == &ef_op__FusedAdam;
    return n;
}

/* Runs a graph on new variables and checks them against the formula. */
static void check_values(const form *f, ef_graph *x) {
    double w[5], m[5], v[5];
    ef_tensor in[4] = {{0}}, out = {0}, value = {0};
    for (int k = 0; k < 4; k++) {
        ef_shape s = {.rank = 1, .dim = {f->spread && k == 3 ? 1 : 5}};
        CHECK_OK(ef_tensor_new(f->dtype, &s, k == 3 ? &in[3] : &value));
        for (int64_t i = 0; i < s.dim[0]; i++)
            ef_element_set(f->dtype, (k == 3 ? &in[3] : &value)->data, i,
                           1 + 0.25 * (double)(k + i));
        if (k < 3) {
            CHECK_OK(ef_variable_new(&value, NULL, &in[k]));
            ef_tensor_release(&value);
        }
    }
    if (f->twice) {
        ef_tensor_release(&in[2]);
        ef_tensor_copy(&in[2], &in[1]);
    }
    CHECK_OK(ef_case_run(x, in, 4, &out));
    for (int i = 0; i < 5; i++) {
        double grad = 1 + 0.25 * (3 + (f->spread ? 0 : i));
        w[i] = 1 + 0.25 * i, m[i] = 1.25 + 0.25 * i, v[i] = 1.5 + 0.25 * i;
        double *second = f->same || f->twice ? &m[i] : &v[i];
        m[i] += (grad - m[i]) * 0.1;
        *second += (grad * grad * (f->cubed ? grad : 1) - *second) * 0.01;
        w[i] -= m[i] * 0.5 / (sqrt(*second) + 1e-3);
    }
    for (int i = 0; f->seen > 0 && i < 5; i++) {
        const double ratio = m[i] * 0.5 / (sqrt(v[i]) + 1e-3);
        const double seen[] = {m[i], m[i] * 0.5, v[i], ratio};
        CHECK_NEAR(ef_element_double(f->dtype, out.data, i), seen[f->seen - 1], 1e-6);
    }
    const double *want[] = {w, m, v};
    for (int k = 0; k < (f->twice ? 2 : 3); k++) {
        CHECK_OK(ef_variable_get(&in[k], &value));
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(ef_element_double(f->dtype, value.data, i), want[k][i],
                       f->dtype == EF_F16 ? 1e-2 : 1e-6);
        ef_tensor_release(&value);
    }
    for (int k = 0; k < 4; k++) ef_tensor_release(&in[k]);
    ef_tensor_release(&out);
}

static void check_form(form f, int want) {
    ef_graph *best;
    update_graph(&f);
    CHECK_OK(failed);
    CHECK_OK(ef_optimise(g, &best));
    CHECK_INT(sweeps(best), want);
    check_values(&f, best);
    ef_graph_unref(best);
    ef_graph_unref(g);
}

EF_TEST(assignments_become_a_sweep) {
    check_form((form){.dtype = EF_F32}, 1);
    check_form((form){.dtype = EF_F32, .swapped = true}, 1);
    check_form((form){.dtype = EF_F64}, 1);
}

/* The handles of m and v are one input, or two that lead to one variable. */
EF_TEST(one_variable_twice) {
    check_form((form){.dtype = EF_F32, .same = true}, 0);
    check_form((form){.dtype = EF_F32, .twice = true}, 1);
    check_form((form){.dtype = EF_F64, .twice = true}, 1);
}

EF_TEST(others_stay) {
    check_form((form){.dtype = EF_F16}, 0);
    check_form((form){.dtype = EF_F32, .spread = true}, 0);
    check_form((form){.dtype = EF_F32, .read = true}, 0);
    check_form((form){.dtype = EF_F32, .cubed = true}, 0);
    for (int k = 1; k <= 4; k++) check_form((form){.dtype = EF_F32, .seen = k}, 0);
}

int main(void) {
    EF_RUN(assignments_become_a_sweep);
    EF_RUN(one_variable_twice);
    EF_RUN(others_stay);
    return EF_VERDICT();
}
