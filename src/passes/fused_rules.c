/* Rules that make epilogues: a bias, an added tensor or an activation after a matrix product or a
 * convolution is computed by its kernel while the result is still in the cache. They apply only if
 * nothing else reads the intermediate value, which no longer exists then. A bias after another op
 * becomes an addition, which fuses with its elementwise neighbours. */
#include "ops/nn/fused_words.h"
#include "passes/rule_words.h"

enum { MOST_OPS = 3 };

/* ---- guards ---------------------------------------------------------------------------------- */

static const ef_node *product(const ef_match *m) { return m->inner[0]; }

static bool only_ours(const ef_match *m) {
    return ef_walk_only_user(m->walk, (ef_edge){product(m)->id, 0}) &&
           ef_dtype_in(product(m)->out->dtype, EF_FLOATS);
}

static bool last_axis_fits(const ef_shape *y, const ef_shape *b) {
    return y->rank >= 1 && b->rank == 1 && ef_dim_same(y->dim[y->rank - 1], b->dim[0]);
}

static bool has_text(const ef_op *op, const void *fields, const char *attr, const char *text) {
    ef_attr_value v;
    if (fields == NULL) return false;
    ef_status *s = ef_attrs_get(op, fields, attr, &v);
    ef_status_free(s);
    return s == NULL && v.kind == EF_ATTR_STRING && strcmp(v.as.s, text) == 0;
}

static bool matmul_alone(ef_match *m) { return only_ours(m); }

/* An addition of a vector along the last axis, which is the same as a bias. */
static bool matmul_plus_vector(ef_match *m) {
    return only_ours(m) && last_axis_fits(&product(m)->out->shape, &ef_match_fact(m, B)->shape);
}

static bool conv_and_bias(ef_match *m) {
    const char *format = has_text(m->op, m->fields, "data_format", "NCHW") ? "NCHW" : "NHWC";
    return only_ours(m) && has_text(product(m)->op, product(m)->fields, "data_format", format);
}

static bool conv_plus_vector(ef_match *m) {
    return matmul_plus_vector(m) &&
           has_text(product(m)->op, product(m)->fields, "data_format", "NHWC");
}

static int fused_ops(const ef_node *n, const char **list) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(n->op, n->fields, "fused_ops", &v);
    ef_status_free(s);
    if (s != NULL) return 0;
    for (int k = 0; k < v.n && k < MOST_OPS; k++) list[k] = v.as.strings[k];
    return v.n;
}

static bool takes_input(const char *word) {
    ef_fused_kind kind = ef_fused_kind_of(word, NULL);
    return kind == EF_FUSED_BIAS || kind == EF_FUSED_SUM;
}

/* Whether the epilogue has only a bias and perhaps an addition so far. */
static bool no_activation_yet(ef_match *m) {
    const char *list[MOST_OPS];
    int n = fused_ops(product(m), list);
    if (n == 0 || n >= MOST_OPS || !only_ours(m)) return false;
    return takes_input(list[n - 1]);
}

static bool only_bias_yet(ef_match *m) {
    const char *list[MOST_OPS];
    const ef_shape *y = &product(m)->out->shape, *r = &ef_match_fact(m, R)->shape;
    if (fused_ops(product(m), list) != 1 || ef_fused_kind_of(list[0], NULL) != EF_FUSED_BIAS)
        return false;
    for (int d = 0; d < y->rank; d++)
        if (y->dim[d] == EF_DIM_UNKNOWN) return false;
    return y->rank >= 0 && ef_shape_equal(y, r) && only_ours(m);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool has_attr(const ef_op *op, const char *name) {
    for (int k = 0; k < EF_MAX_ATTRS && op->attr[k].name != NULL; k++)
        if (strcmp(op->attr[k].name, name) == 0) return true;
    return false;
}

/* The attributes of the product, with one more op in its epilogue. */
static ef_status *append(const ef_match *m, const ef_op *op, const char *word,
                         const ef_attrs **out) {
    const ef_node *from = product(m);
    const char *list[MOST_OPS + 1];
    int n = from->op == op ? fused_ops(from, list) : 0, n_set = 1;
    list[n++] = word;
    int args = m->n_rest + takes_input(word);
    ef_activation act = EF_ACT_NONE;
    ef_attr_value set[3] = {
        {.name = "fused_ops", .kind = EF_ATTR_STRINGS, .n = n, .as = {.strings = list}}};
    if (has_attr(op, "num_args")) set[n_set++] = (ef_attr_value)EF_SET_INT("num_args", args);
    if (ef_fused_kind_of(word, &act) == EF_FUSED_ACTIVATION && act == EF_ACT_LEAKY_RELU) {
        EF_TRY(ef_attrs_get(m->op, m->fields, "alpha", &set[n_set]));
        set[n_set++].name = "leakyrelu_alpha";
    }
    return ef_attrs_like(op, from->op, from->fields, set, n_set, out);
}

static ef_status *with_bias(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return append(m, op, ef_fused_word(EF_FUSED_BIAS), out);
}
static ef_status *with_sum(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return append(m, op, ef_fused_word(EF_FUSED_SUM), out);
}
static ef_status *with_root(const ef_match *m, const ef_op *op, const ef_attrs **out) {
    return append(m, op, m->op->name, out);
}

/* ---- bias as an addition --------------------------------------------------------------------- */

static bool bias_is_last(ef_match *m) {
    const ef_shape *x = &ef_match_fact(m, X)->shape;
    if (has_text(m->op, m->fields, "data_format", "NCHW") && x->rank != 2) return false;
    return last_axis_fits(x, &ef_match_fact(m, B)->shape);
}

/* Channels first: the vector is reshaped so that it lies along axis 1; R is its new shape. */
static bool bias_is_second(ef_match *m) {
    const ef_shape *x = &ef_match_fact(m, X)->shape, *b = &ef_match_fact(m, B)->shape;
    if (!has_text(m->op, m->fields, "data_format", "NCHW") || x->rank < 3 || b->rank != 1)
        return false;
    int64_t dims[EF_MAX_RANK] = {b->dim[0], 1, 1, 1, 1, 1, 1};
    return b->dim[0] >= 0 && b->dim[0] <= INT32_MAX && b->dim[0] == x->dim[1] &&
           ef_match_bind_ints(m, R, x->rank - 1, dims);
}

#define MATMUL "T[2,3] T[3,4] "
#define CONV "T[2,5,4,3] T[3,2,3,4] "
#define SAME " strides=[1,1,1,1] padding='SAME'"

#define ACTIVATION(N, word)                                                                        \
    {"matmul+" word " -> fused", P(OP(N), OP(MatMul), X, Y),                                       \
     P(OP(_FusedMatMul), X, Y),  .when = matmul_alone,                                             \
     .attrs = with_root,         .examples = {MATMUL, MATMUL "transpose_a=false"}},                \
        {"fused matmul+" word " -> fused",                                                         \
         P(OP(N), OP(_FusedMatMul), X, Y, REST),                                                   \
         P(OP(_FusedMatMul), X, Y, REST),                                                          \
         .when = no_activation_yet,                                                                \
         .attrs = with_root,                                                                       \
         .examples = {MATMUL "T[4] fused_ops=['BiasAdd']"}},                                       \
    {                                                                                              \
        "fused conv+" word " -> fused", P(OP(N), OP(_FusedConv2D), X, Y, REST),                    \
            P(OP(_FusedConv2D), X, Y, REST), .when = no_activation_yet, .attrs = with_root,        \
                                             .examples = {                                         \
                                                 CONV "T[4] num_args=1 fused_ops=['BiasAdd']" SAME \
                                             }                                                     \
    }

const ef_rule ef_rules_fused[] = {
    {"matmul+bias -> fused", P(OP(BiasAdd), OP(MatMul), X, Y, B), P(OP(_FusedMatMul), X, Y, B),
     .when = matmul_alone, .attrs = with_bias,
     .examples = {MATMUL "T[4]", "T[3,2] T[3,4] T[4] transpose_a=true"}},
    {"matmul+vector -> fused", P(OP(AddV2), OP(MatMul), X, Y, B), P(OP(_FusedMatMul), X, Y, B),
     .when = matmul_plus_vector, .attrs = with_bias,
     .examples = {MATMUL "T[4]", "T[2,3] T[4,3] T[4] transpose_b=true"}},
    {"fused matmul+r -> fused", P(OP(AddV2), OP(_FusedMatMul), X, Y, REST, R),
     P(OP(_FusedMatMul), X, Y, REST, R), .when = only_bias_yet, .attrs = with_sum,
     .examples = {MATMUL "T[4] T[2,4] fused_ops=['BiasAdd']"}},
    {"conv+bias -> fused", P(OP(BiasAdd), OP(Conv2D), X, Y, B), P(OP(_FusedConv2D), X, Y, B),
     .when = conv_and_bias, .attrs = with_bias,
     .examples = {CONV "T[4]" SAME, "T[2,3,5,4] T[3,2,3,4] T[4] data_format='NCHW'" SAME}},
    {"conv+vector -> fused", P(OP(AddV2), OP(Conv2D), X, Y, B), P(OP(_FusedConv2D), X, Y, B),
     .when = conv_plus_vector, .attrs = with_bias, .examples = {CONV "T[4]" SAME}},
    {"fused conv+r -> fused", P(OP(AddV2), OP(_FusedConv2D), X, Y, REST, R),
     P(OP(_FusedConv2D), X, Y, REST, R), .when = only_bias_yet, .attrs = with_sum,
     .examples = {CONV "T[4] T[2,5,4,4] num_args=1 fused_ops=['BiasAdd']" SAME}},
    ACTIVATION(Relu, "relu"),
    ACTIVATION(Relu6, "relu6"),
    ACTIVATION(Elu, "elu"),
    ACTIVATION(Tanh, "tanh"),
    ACTIVATION(Sigmoid, "sigmoid"),
    ACTIVATION(LeakyRelu, "leaky_relu"),
    {"bias -> add", P(OP(BiasAdd), X, B), P(OP(AddV2), X, B), .when = bias_is_last,
     .examples = {"T[2,3] T[3]", "T[2,2,2,3] T[3]", "T[2,3] T[3] data_format='NCHW'"}},
    {"bias, channels first -> add", P(OP(BiasAdd), X, B), P(OP(AddV2), X, OP(Reshape), B, R),
     .when = bias_is_second, .examples = {"T[2,3,4,2] T[3] data_format='NCHW'"}},
    {"bias_v1 -> add", P(OP(BiasAddV1), X, B), P(OP(AddV2), X, B), .when = bias_is_last,
     .examples = {"T[2,3] T[3]", "T[2,2,3] T[3]"}},
    {0}};
