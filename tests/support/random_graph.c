/* Random programs for fuzzing the optimiser. There are two kinds. Exact programs use ops whose
 * results are determined to the bit, in any dtype. Smooth programs add products and sums, whose
 * order the kernel chooses, and use only continuous ops, mostly in float64, so that rounding
 * errors stay small. */
#include "case.h"
#include <stdio.h>

enum { VALUES = 80, ATTEMPTS = 30, MOST = 4096 };

typedef struct maker {
    uint64_t state;
    ef_graph *g;
    ef_edge value[VALUES];
    int n;
    bool smooth;
    int depth;
    ef_dtype type; /* of smooth programs */
} maker;

static uint64_t draw(maker *m, uint64_t n) { return ef_case_draw(&m->state) % n; }
static bool chance(maker *m, unsigned percent) { return draw(m, 100) < percent; }
static ef_edge any(maker *m) {
    /* recent values are more likely, so that chains grow */
    int back = (int)draw(m, chance(m, 60) ? 4 : (uint64_t)m->n);
    return m->value[m->n - 1 - (back < m->n ? back : m->n - 1)];
}
static const ef_fact *fact(const maker *m, ef_edge e) { return ef_edge_fact(m->g, e); }

static ef_edge any_of(maker *m, ef_dtype t) {
    for (int k = 0; k < 12; k++) {
        ef_edge e = any(m);
        if (fact(m, e)->dtype == t) return e;
    }
    return any(m);
}

static bool keep(maker *m, ef_edge e) {
    const ef_fact *f = fact(m, e);
    int64_t n = ef_shape_known(&f->shape) ? ef_shape_count(&f->shape) : 0;
    if (m->n >= VALUES || n < 0 || n > MOST || !ef_dtype_in(f->dtype, EF_PLAIN)) return false;
    m->value[m->n++] = e;
    return true;
}

/* Adds a node; an invalid one is not added. */
static bool add_set(maker *m, const char *op, const ef_attr_value *set, int n_set,
                    const ef_edge *in, int n_in) {
    const ef_attrs *attrs = NULL;
    const ef_op *record = ef_op_find(op);
    int32_t node;
    if (record == NULL) return false;
    ef_status *s = n_set > 0 ? ef_attrs_make(record, set, n_set, &attrs) : NULL;
    if (s == NULL) s = ef_graph_add(m->g, record, attrs, in, n_in, NULL, &node);
    ef_attrs_unref(attrs);
    ef_status_free(s);
    if (s != NULL) return false;
    for (int k = 0; k < m->g->node[node]->n_out; k++) keep(m, (ef_edge){node, k});
    return true;
}
#define ADD(m, op, ...)                                     \
    add_set(m, op, NULL, 0, (const ef_edge[]){__VA_ARGS__}, \
            (int)(sizeof((ef_edge[]){__VA_ARGS__}) / sizeof(ef_edge)))

static ef_edge constant(maker *m, const ef_tensor *t) {
    ef_edge e = m->value[0];
    ef_status_free(ef_graph_constant(m->g, t, &e));
    return e;
}

static ef_edge ints(maker *m, int n, const int64_t *v, ef_dtype t) {
    ef_shape s = {.rank = 1, .dim = {n}};
    ef_tensor x = {0};
    ef_edge e = m->value[0];
    ef_status *bad = ef_tensor_new(t, &s, &x);
    if (bad == NULL) {
        for (int k = 0; k < n; k++) ef_element_set(t, x.data, k, (double)v[k]);
        e = constant(m, &x);
    }
    ef_status_free(bad);
    ef_tensor_release(&x);
    return e;
}

static ef_edge number(maker *m, ef_dtype t) {
    static const double set[] = {0, -0.0, 1, 2, -1, 0.5, 3, 0.0};
    ef_tensor x = {0};
    ef_shape s = {.rank = (int32_t)draw(m, 3), .dim = {1, 1}};
    ef_edge e = m->value[0];
    ef_status *bad = ef_tensor_new(t, &s, &x);
    if (bad == NULL) {
        ef_element_set(t, x.data, 0, set[draw(m, 8)]);
        e = constant(m, &x);
    }
    ef_status_free(bad);
    ef_tensor_release(&x);
    return e;
}

/* ---- kinds of nodes -------------------------------------------------------------------------- */

#define PICK(m, ...) pick(m, (const char *const[]){__VA_ARGS__, NULL})
static const char *pick(maker *m, const char *const *list) {
    uint64_t n = 0;
    while (list[n] != NULL) n++;
    return list[draw(m, n)];
}

static void unary(maker *m) {
    const char *op = m->smooth
                         ? PICK(m, "Neg", "Tanh", "Sigmoid", "Relu", "Elu", "Identity", "Softplus",
                                "Sin", "Abs", "StopGradient", "Relu6", "LeakyRelu")
                         : PICK(m, "Neg", "Abs", "Square", "Relu", "Relu6", "Floor", "Ceil", "Rint",
                                "Sign", "Identity", "Snapshot", "LogicalNot", "Invert", "Sqrt",
                                "PreventGradient", "OnesLike", "ZerosLike", "Reciprocal");
    ADD(m, op, any(m));
}

static void binary(maker *m) {
    const char *op =
        m->smooth ? PICK(m, "AddV2", "Sub", "Mul", "Maximum", "Minimum", "AddN")
                  : PICK(m, "AddV2", "Add", "Sub", "Mul", "Maximum", "Minimum", "RealDiv", "Div",
                         "FloorDiv", "TruncateDiv", "LogicalAnd", "LogicalOr", "BitwiseAnd",
                         "BitwiseOr", "Less", "Equal", "DivNoNan", "SquaredDifference", "AddN");
    ef_edge x = any(m), y = chance(m, 30)   ? number(m, fact(m, x)->dtype)
                            : chance(m, 15) ? x
                                            : any_of(m, fact(m, x)->dtype);
    if (chance(m, 50))
        ADD(m, op, x, y);
    else
        ADD(m, op, y, x);
    if (m->smooth && op[0] == 'M' && chance(m, 70)) ADD(m, "Tanh", m->value[m->n - 1]);
}

static void select(maker *m) {
    ef_edge c = any_of(m, EF_BOOL), x = any(m),
            y = chance(m, 30) ? x : any_of(m, fact(m, x)->dtype);
    if (fact(m, c)->dtype == EF_BOOL) ADD(m, "SelectV2", c, x, y);
}

static void cast(maker *m) {
    static const ef_dtype types[] = {EF_F32, EF_F64, EF_I32,  EF_I64, EF_I8,
                                     EF_U8,  EF_F16, EF_BF16, EF_BOOL};
    ef_edge x = any(m);
    ef_dtype from = fact(m, x)->dtype, to = types[draw(m, 9)];
    /* casting a float out of range to an integer has no defined result */
    if (m->smooth || (ef_dtype_in(from, EF_FLOATS) && ef_dtype_in(to, EF_INTS))) to = from;
    ef_attr_value set[] = {EF_SET_TYPE("DstT", to)};
    add_set(m, "Cast", set, 1, &x, 1);
}

static void reshape(maker *m) {
    ef_edge x = any(m);
    const ef_shape *s = &fact(m, x)->shape;
    int64_t n = ef_shape_known(s) ? ef_shape_count(s) : 12, dims[4];
    int rank = (int)draw(m, 4);
    for (int d = 0; d < rank; d++) {
        int64_t f = (int64_t)draw(m, 4) + 1;
        dims[d] = n > 0 && n % f == 0 ? f : 1;
        n = dims[d] > 0 ? n / dims[d] : n;
    }
    dims[rank] = chance(m, 40) ? -1 : n;
    ADD(m, "Reshape", x, ints(m, rank + 1, dims, chance(m, 50) ? EF_I32 : EF_I64));
}

static void transpose(maker *m) {
    ef_edge x = any(m);
    int rank = fact(m, x)->shape.rank;
    int64_t perm[EF_MAX_RANK];
    if (rank < 1) return;
    for (int d = 0; d < rank; d++) perm[d] = d;
    for (int d = rank - 1; d > 0; d--) {
        int e = (int)draw(m, (uint64_t)d + 1);
        int64_t t = perm[d];
        perm[d] = perm[e];
        perm[e] = t;
    }
    ADD(m, "Transpose", x, ints(m, rank, perm, EF_I32));
}

static void reduce(maker *m) {
    const char *op =
        m->smooth ? PICK(m, "Sum", "Mean", "Max", "Min") : PICK(m, "Max", "Min", "All", "Any");
    ef_edge x = any(m);
    int rank = fact(m, x)->shape.rank, n = 0;
    int64_t axes[EF_MAX_RANK];
    for (int d = 0; d < rank; d++)
        if (chance(m, 50)) axes[n++] = d;
    ef_attr_value set[] = {EF_SET_BOOL("keep_dims", chance(m, 50))};
    ef_edge in[] = {x, ints(m, n, axes, EF_I32)};
    add_set(m, op, set, 1, in, 2);
}

/* Weights of the right size, so that products happen. */
static ef_edge weights(maker *m, ef_dtype t, int rank, const int64_t *dims) {
    ef_shape s = ef_shape_of(rank, dims);
    ef_tensor x = {0};
    ef_edge e = m->value[0];
    ef_status *bad = ef_tensor_new(t, &s, &x);
    if (bad == NULL) {
        ef_case_fill(&x, &m->state);
        e = constant(m, &x);
    }
    ef_status_free(bad);
    ef_tensor_release(&x);
    return e;
}

static void product(maker *m) {
    ef_edge x = any(m);
    const ef_fact f = *fact(m, x);
    bool tb = chance(m, 40);
    int rank = f.shape.rank;
    int64_t inner = rank > 0 ? f.shape.dim[rank - 1] : -1, n = 1 + (int64_t)draw(m, 5);
    if (rank < 2 || inner < 0 || f.dtype != m->type) return;
    ef_edge w = weights(m, f.dtype, 2, tb ? (int64_t[]){n, inner} : (int64_t[]){inner, n});
    if (tb && chance(m, 50)) { /* the rule should see through it */
        if (!ADD(m, "Transpose", w, ints(m, 2, (int64_t[]){1, 0}, EF_I32))) return;
        w = m->value[m->n - 1];
        tb = false;
    }
    ef_edge in[] = {x, w};
    ef_attr_value set[] = {EF_SET_BOOL(rank == 2 ? "transpose_b" : "adj_y", tb)};
    if (!add_set(m, rank == 2 ? "MatMul" : "BatchMatMulV2", set, 1, in, 2)) return;
    if (chance(m, 70)) {
        ef_edge b = weights(m, f.dtype, 1, &n);
        ADD(m, chance(m, 50) ? "BiasAdd" : "AddV2", m->value[m->n - 1], b);
    }
    if (chance(m, 30)) ADD(m, "AddV2", m->value[m->n - 1], any(m));
    ADD(m, PICK(m, "Relu", "Relu6", "Elu", "Tanh", "Sigmoid", "LeakyRelu", "Identity"),
        m->value[m->n - 1]);
    ADD(m, "Tanh", m->value[m->n - 1]);
}

static void convolution(maker *m) {
    bool first = chance(m, 50);
    int64_t c = 1 + (int64_t)draw(m, 3), n = 1 + (int64_t)draw(m, 4);
    int64_t last[] = {1, 4, 5, c}, front[] = {1, c, 4, 5};
    static const int64_t ones[] = {1, 1, 1, 1};
    ef_edge x = weights(m, m->type, 4, first ? front : last);
    if (!ADD(m, "Mul", x, any_of(m, m->type))) return;
    x = m->value[m->n - 1];
    ef_edge in[] = {x, weights(m, m->type, 4, (int64_t[]){2, 3, c, n})};
    ef_attr_value set[] = {EF_SET_INTS("strides", 4, ones), EF_SET_STRING("padding", "SAME"),
                           EF_SET_STRING("data_format", first ? "NCHW" : "NHWC")};
    if (!add_set(m, "Conv2D", set, 3, in, 2)) return;
    ef_edge with[] = {m->value[m->n - 1], weights(m, m->type, 1, &n)};
    if (chance(m, 80)) add_set(m, "BiasAdd", set + 2, 1, with, 2);
    ADD(m, PICK(m, "Relu", "Tanh", "Elu", "Sigmoid"), m->value[m->n - 1]);
    if (chance(m, 50)) {
        int64_t window[] = {1, 2, 2, 1}, window_first[] = {1, 1, 2, 2};
        ef_attr_value pool[] = {EF_SET_INTS("ksize", 4, first ? window_first : window),
                                EF_SET_INTS("strides", 4, ones), EF_SET_STRING("padding", "VALID"),
                                EF_SET_STRING("data_format", first ? "NCHW" : "NHWC")};
        ef_edge y = m->value[m->n - 1];
        add_set(m, PICK(m, "MaxPool", "AvgPool"), pool, 4, &y, 1);
    }
    ADD(m, "Tanh", m->value[m->n - 1]);
}

static void arrange(maker *m) {
    ef_edge x = any(m), axis = ints(m, 1, (int64_t[]){(int64_t)draw(m, 3) - 1}, EF_I32);
    switch (draw(m, 6)) {
    case 0: ADD(m, "ExpandDims", x, axis); break;
    case 1: ADD(m, "Squeeze", x); break;
    case 2: ADD(m, "Shape", x); break;
    case 3: {
        ef_edge flat = number(m, EF_I32);
        if (ADD(m, "Reshape", flat, ints(m, 0, NULL, EF_I32)))
            ADD(m, "ConcatV2", x, any_of(m, fact(m, x)->dtype), m->value[m->n - 1]);
        break;
    }
    case 4: ADD(m, "IdentityN", x, any(m)); break;
    default:
        if (ADD(m, "Shape", any(m))) ADD(m, "BroadcastTo", x, m->value[m->n - 1]);
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static void grow(maker *m, int attempts);

/* A function with the same inputs for every branch, which returns `n_out` values like `want`. */
static ef_graph *branch(maker *m, const ef_fact *in, int n_in, const ef_fact *want, int n_out) {
    maker inner = {.state = ef_case_draw(&m->state),
                   .smooth = m->smooth,
                   .depth = m->depth + 1,
                   .type = m->type,
                   .g = ef_graph_make()};
    if (inner.g == NULL) return NULL;
    inner.g->function = true;
    for (int k = 0; k < n_in; k++) {
        ef_fact f = {.dtype = in[k].dtype, .shape = in[k].shape};
        for (int d = 0; d < f.shape.rank; d++)
            if (f.shape.dim[d] < -1) f.shape.dim[d] = EF_DIM_UNKNOWN;
        ef_status *s = ef_graph_input_like(inner.g, &f, NULL, &inner.value[inner.n]);
        ef_status_free(s);
        if (s == NULL) inner.n++;
    }
    grow(&inner, 6);
    ef_edge out[4];
    for (int k = 0; k < n_out; k++) {
        out[k] = inner.value[0];
        for (int j = inner.n - 1; j >= 0; j--) {
            const ef_fact *f = fact(&inner, inner.value[j]);
            if (f->dtype != want[k].dtype || !ef_shape_equal(&f->shape, &want[k].shape)) continue;
            out[k] = inner.value[j];
            break;
        }
    }
    ef_status_free(ef_graph_set_outputs(inner.g, out, n_out));
    return inner.g;
}

static void call(maker *m) {
    ef_edge in[] = {any(m), any(m)};
    ef_fact facts[] = {*fact(m, in[0]), *fact(m, in[1])};
    ef_graph *f = branch(m, facts, 2, facts, 1);
    if (f == NULL) return;
    ef_dtype t = ef_edge_fact(f, f->output[0])->dtype;
    ef_attr_value set[] = {EF_SET_FUNC("f", f), EF_SET_TYPES("Tout", 1, &t)};
    add_set(m, chance(m, 50) ? "PartitionedCall" : "StatefulPartitionedCall", set, 2, in, 2);
    ef_graph_unref(f);
}

static void choose(maker *m) {
    ef_edge c = any_of(m, EF_BOOL), x = any(m), in[] = {c, x, any(m)};
    if (fact(m, c)->shape.rank != 0) return;
    ef_fact facts[] = {*fact(m, in[1]), *fact(m, in[2])};
    ef_graph *f = branch(m, facts, 2, facts, 1), *e = branch(m, facts, 2, facts, 1);
    ef_dtype t = facts[0].dtype;
    ef_attr_value set[] = {EF_SET_FUNC("then_branch", f), EF_SET_FUNC("else_branch", e),
                           EF_SET_TYPES("Tout", 1, &t)};
    if (f != NULL && e != NULL) add_set(m, chance(m, 50) ? "If" : "StatelessIf", set, 3, in, 3);
    ef_graph_unref(f);
    ef_graph_unref(e);
}

/* while (i < k) { i++; x = f(x, y); } where y is returned unchanged */
static void loop(maker *m) {
    ef_edge zero = ints(m, 1, (int64_t[]){0}, EF_I32);
    if (!ADD(m, "Reshape", zero, ints(m, 0, NULL, EF_I32))) return;
    ef_edge in[] = {m->value[m->n - 1], any(m), any(m)};
    ef_fact facts[] = {*fact(m, in[0]), *fact(m, in[1]), *fact(m, in[2])};
    if (!ef_shape_known(&facts[1].shape) || !ef_shape_known(&facts[2].shape)) return;
    facts[0].value = NULL;
    ef_graph *body = branch(m, facts, 3, facts, 3), *cond = branch(m, facts, 3, facts, 1);
    if (body != NULL && cond != NULL) {
        maker b = {.g = body, .value = {{body->input[0], 0}}, .n = 1, .state = m->state};
        ef_edge one = ints(&b, 1, (int64_t[]){1}, EF_I32), scalar = ints(&b, 0, NULL, EF_I32);
        ADD(&b, "Reshape", one, scalar);
        ADD(&b, "AddV2", b.value[0], b.value[b.n - 1]);
        ef_edge out[] = {b.value[b.n - 1], body->output[1], {body->input[2], 0}};
        ef_status_free(ef_graph_set_outputs(body, out, 3));
        maker c = {.g = cond, .value = {{cond->input[0], 0}}, .n = 1, .state = m->state};
        ef_edge limit = ints(&c, 1, (int64_t[]){(int64_t)draw(m, 4)}, EF_I32);
        ADD(&c, "Reshape", limit, ints(&c, 0, NULL, EF_I32));
        ADD(&c, "Less", c.value[0], c.value[c.n - 1]);
        ef_status_free(ef_graph_set_outputs(cond, &c.value[c.n - 1], 1));
        ef_attr_value set[] = {EF_SET_FUNC("cond", cond), EF_SET_FUNC("body", body)};
        add_set(m, chance(m, 50) ? "While" : "StatelessWhile", set, 2, in, 3);
    }
    ef_graph_unref(body);
    ef_graph_unref(cond);
}

/* ---- programs -------------------------------------------------------------------------------- */

static void grow(maker *m, int attempts) {
    for (int k = 0; k < attempts && m->n < VALUES - 4 && m->n > 0; k++) {
        uint64_t what = draw(m, 100);
        if (what < 25)
            unary(m);
        else if (what < 55)
            binary(m);
        else if (what < 60)
            select(m);
        else if (what < 65)
            cast(m);
        else if (what < 71)
            reshape(m);
        else if (what < 77)
            transpose(m);
        else if (what < 82)
            reduce(m);
        else if (what < 86)
            arrange(m);
        else if (what < 93 && m->smooth)
            product(m);
        else if (what < 95 && m->smooth)
            convolution(m);
        else if (what < 97 && m->depth < 2)
            call(m);
        else if (what < 98 && m->depth < 2)
            choose(m);
        else if (m->depth < 2)
            loop(m);
    }
}

static ef_status *add_input(maker *m, ef_case *out) {
    static const ef_dtype types[] = {EF_F32, EF_F32, EF_F64,  EF_I32, EF_I64,
                                     EF_I8,  EF_U8,  EF_BOOL, EF_F16, EF_BF16};
    ef_dtype t = m->smooth ? m->type : types[draw(m, 10)];
    ef_shape s = {.rank = (int32_t)draw(m, 4)};
    for (int d = 0; d < s.rank; d++)
        s.dim[d] = chance(m, 5) ? 0 : chance(m, 8) ? 30 : 1 + (int64_t)draw(m, 4);
    ef_tensor *v = &out->in[out->n_in];
    EF_TRY(ef_tensor_new(t, &s, v));
    out->n_in++;
    ef_case_fill(v, &m->state);
    ef_shape said = s;
    for (int d = 0; d < s.rank; d++)
        if (chance(m, 15)) said.dim[d] = EF_DIM_UNKNOWN;
    if (chance(m, 3)) said = ef_unknown_shape();
    return ef_graph_input(m->g, t, &said, NULL, &m->value[m->n++]);
}

ef_status *ef_case_random(uint64_t seed, ef_case *out, double *tolerance) {
    maker m = {.state = seed * 0x9E3779B97F4A7C15u + 1};
    m.smooth = chance(&m, 50);
    m.type = chance(&m, 75) ? EF_F64 : EF_F32;
    *tolerance = !m.smooth ? 0 : m.type == EF_F64 ? 1e-7 : 3e-2;
    *out = (ef_case){.graph = m.g = ef_graph_make()};
    if (m.g == NULL) return ef_no_memory(sizeof *m.g);
    m.g->function = true;
    ef_status *s = NULL;
    for (uint64_t k = 0, n = 2 + draw(&m, 4); k < n && s == NULL; k++) s = add_input(&m, out);
    if (s == NULL) grow(&m, m.smooth && m.type == EF_F32 ? ATTEMPTS / 3 : ATTEMPTS);
    ef_edge result[6];
    int n = 1 + (int)draw(&m, 5);
    for (int k = 0; k < n; k++) result[k] = any(&m);
    if (s == NULL) s = ef_graph_set_outputs(m.g, result, n);
    if (s != NULL) ef_case_free(out);
    return s;
}
