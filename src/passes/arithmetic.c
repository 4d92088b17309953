/* Rules about values. Those that are on by default change no bit of any result: integers wrap, and
 * floats keep their NaNs and the sign of zero (x + 0.0 turns -0.0 into 0.0, so only x + -0.0 is
 * removed). */
#include "passes/rule_words.h"

/* Broadcasting against the constant leaves x's shape as it is. */
static bool keeps_x(ef_match *m) {
    const ef_shape *x = &ef_match_fact(m, X)->shape;
    const ef_shape *c = &ef_edge_fact(m->g, m->constant)->shape;
    if (c->rank == 0) return true;
    if (c->rank < 0 || x->rank < c->rank) return false;
    for (int d = 0; d < c->rank; d++)
        if (c->dim[d] != 1 && c->dim[d] != x->dim[x->rank - c->rank + d]) return false;
    return true;
}

static bool keeps_real_x(ef_match *m) {
    return keeps_x(m) && ef_dtype_in(ef_match_dtype(m), EF_REALS);
}
static bool keeps_int_x(ef_match *m) {
    return keeps_x(m) && ef_dtype_in(ef_match_dtype(m), EF_INTS);
}
static bool keeps_float_x(ef_match *m) {
    return keeps_x(m) && ef_dtype_in(ef_match_dtype(m), EF_FLOATS);
}
static bool is_number(ef_match *m) { return ef_dtype_in(ef_match_dtype(m), EF_NUMBERS); }

/* Whether the shapes are certainly equal, so that nothing is broadcast. */
static bool same_shapes(ef_match *m) {
    if (!is_number(m)) return false;
    const ef_shape *x = &ef_edge_fact(m->g, m->in[0])->shape;
    for (int d = 0; d < x->rank; d++)
        if (x->dim[d] == EF_DIM_UNKNOWN) return false;
    for (int k = 1; k < m->n_in; k++)
        if (!ef_shape_equal(x, &ef_edge_fact(m->g, m->in[k])->shape)) return false;
    return x->rank >= 0;
}

/* Whether the condition does not broadcast the values it selects from. */
static bool condition_fits(ef_match *m) {
    const ef_shape *c = &ef_match_fact(m, Y)->shape, *x = &ef_match_fact(m, X)->shape;
    return c->rank == 0 || (ef_shape_known(c) && ef_shape_equal(c, x));
}

#define TWICE_NOTHING(N, text)                                   \
    {                                                            \
        text, P(OP(N), OP(N), X), P(X), .examples = { "T[2,3]" } \
    }
#define TWICE_ONCE(N, text)                                                    \
    {                                                                          \
        text, P(OP(N), OP(N), X), P(OP(N), X), .examples = { "T[2,3]", "T[]" } \
    }
#define WITH_ITSELF(N, text)                                 \
    {                                                        \
        text, P(OP(N), X, X), P(X), .examples = { "T[2,3]" } \
    }
#define HANDS_ON(N, text)                                         \
    {                                                             \
        text, P(OP(N), X), P(X), .examples = { "T[2,3]", "T[0]" } \
    }

const ef_rule ef_rules_arithmetic[] = {
    HANDS_ON(Identity, "identity(x) -> x"),
    HANDS_ON(Snapshot, "snapshot(x) -> x"),
    HANDS_ON(StopGradient, "stop_gradient(x) -> x"),
    HANDS_ON(PreventGradient, "prevent_gradient(x) -> x"),
    HANDS_ON(GuaranteeConst, "guarantee_const(x) -> x"),

    {"add -> add_v2", P(OP(Add), X, Y), P(OP(AddV2), X, Y), .when = is_number,
     .examples = {"T[2,3] T[3]"}},
    {"x+0 -> x", P(OP(AddV2), X, NEGATIVE_ZERO), P(X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{-0.0}", "T[2,3] T[1,3]{-0.0,-0.0,-0.0}"}},
    {"x+0.0 -> x", P(OP(AddV2), X, ZERO), P(X), .when = keeps_float_x, .loose = true,
     .examples = {"T[2,3] T[]{0}"}},
    {"x-0 -> x", P(OP(Sub), X, ZERO), P(X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{0}", "T[4] T[4]{0,0,0,0}"}},
    {"x*1 -> x", P(OP(Mul), X, ONE), P(X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{1}", "T[2,3] T[1,1]{1}"}},
    {"x/1 -> x", P(OP(RealDiv), X, ONE), P(X), .when = keeps_float_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"div(x,1) -> x", P(OP(Div), X, ONE), P(X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"floor_div(x,1) -> x", P(OP(FloorDiv), X, ONE), P(X), .when = keeps_int_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"truncate_div(x,1) -> x", P(OP(TruncateDiv), X, ONE), P(X), .when = keeps_int_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"div_no_nan(x,1) -> x", P(OP(DivNoNan), X, ONE), P(X), .when = keeps_float_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"pow(x,1) -> x", P(OP(Pow), X, ONE), P(X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{1}"}},
    {"pow(x,2) -> square(x)", P(OP(Pow), X, TWO), P(OP(Square), X), .when = keeps_real_x,
     .examples = {"T[2,3] T[]{2}"}},
    {"pow(x,-1) -> 1/x", P(OP(Pow), X, MINUS_ONE), P(OP(Reciprocal), X), .when = keeps_float_x,
     .examples = {"T[2,3] T[]{-1}"}},

    TWICE_NOTHING(Neg, "-(-x) -> x"),
    {"x-(-y) -> x+y", P(OP(Sub), X, OP(Neg), Y), P(OP(AddV2), X, Y), .examples = {"T[2,3] T[3]"}},
    {"x+(-y) -> x-y", P(OP(AddV2), X, OP(Neg), Y), P(OP(Sub), X, Y),
     .examples = {"T[2,3] T[3]", "T[3] T[2,3]"}},
    {"(-x)*(-y) -> x*y", P(OP(Mul), OP(Neg), X, OP(Neg), Y), P(OP(Mul), X, Y),
     .examples = {"T[2,3] T[3]"}},
    {"square(-x) -> square(x)", P(OP(Square), OP(Neg), X), P(OP(Square), X),
     .examples = {"T[2,3]"}},
    {"abs(-x) -> abs(x)", P(OP(Abs), OP(Neg), X), P(OP(Abs), X), .examples = {"T[2,3]"}},
    TWICE_NOTHING(LogicalNot, "not(not(x)) -> x"),
    TWICE_NOTHING(Invert, "invert(invert(x)) -> x"),
    TWICE_NOTHING(Conj, "conj(conj(x)) -> x"),
    TWICE_ONCE(Abs, "abs(abs(x)) -> abs(x)"),
    TWICE_ONCE(Relu, "relu(relu(x)) -> relu(x)"),
    TWICE_ONCE(Relu6, "relu6(relu6(x)) -> relu6(x)"),
    TWICE_ONCE(Floor, "floor(floor(x)) -> floor(x)"),
    TWICE_ONCE(Ceil, "ceil(ceil(x)) -> ceil(x)"),
    TWICE_ONCE(Rint, "rint(rint(x)) -> rint(x)"),
    WITH_ITSELF(Maximum, "maximum(x,x) -> x"),
    WITH_ITSELF(Minimum, "minimum(x,x) -> x"),
    WITH_ITSELF(LogicalAnd, "and(x,x) -> x"),
    WITH_ITSELF(LogicalOr, "or(x,x) -> x"),
    WITH_ITSELF(BitwiseAnd, "bitwise_and(x,x) -> x"),
    WITH_ITSELF(BitwiseOr, "bitwise_or(x,x) -> x"),
    {"and(x,true) -> x", P(OP(LogicalAnd), X, ONE), P(X), .when = keeps_x,
     .examples = {"bool[2,3] bool[]{true}"}},
    {"or(x,false) -> x", P(OP(LogicalOr), X, ZERO), P(X), .when = keeps_x,
     .examples = {"bool[2,3] bool[]{false}"}},
    {"select(c,x,x) -> x", P(OP(SelectV2), Y, X, X), P(X), .when = condition_fits,
     .examples = {"bool[] T[2,3]", "bool[2,3] T[2,3]"}},

    {"add_n(x) -> x", P(OP(AddN), X), P(X), .when = is_number, .examples = {"T[2,3]"}},
    {"add_n(x,y) -> x+y", P(OP(AddN), X, Y), P(OP(AddV2), X, Y), .when = same_shapes,
     .examples = {"T[2,3] T[2,3]"}},
    {"add_n(x,y,z) -> (x+y)+z", P(OP(AddN), X, Y, Z), P(OP(AddV2), OP(AddV2), X, Y, Z),
     .when = same_shapes, .examples = {"T[2,3] T[2,3] T[2,3]"}},
    {"log(softmax(x)) -> log_softmax(x)", P(OP(Log), OP(Softmax), X), P(OP(LogSoftmax), X),
     .loose = true, .examples = {"T[2,3]"}},
    {0}};
