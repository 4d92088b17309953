/* Control flow: records without kernels. Plans run these ops as sub-plans, and autodiff has its own
 * code for them. This file has their arguments, their attributes, and the shapes that are known
 * without their functions (the graph, which has the functions, knows more). */
#include "ops/engine_nodes.h"
#include "ops/op.h"
#include "ops/shapes.h"

typedef struct while_attrs {
    struct ef_graph *cond, *body;
    ef_shapes output_shapes;
    int64_t parallel_iterations;
} while_attrs;
typedef struct if_attrs {
    ef_types Tout;
    struct ef_graph *then_branch, *else_branch;
    ef_shapes output_shapes;
} if_attrs;
typedef struct case_attrs {
    ef_types Tout;
    ef_funcs branches;
    ef_shapes output_shapes;
} case_attrs;
typedef struct call_attrs {
    ef_types Tout;
    struct ef_graph *f;
    ef_attr_text config, config_proto, executor_type;
} call_attrs;

/* The attribute must be empty or have one shape per output. */
static ef_status *given_shapes(ef_infer *i, const ef_shapes *given) {
    if (given->n == 0) return NULL;
    if (given->n != i->n_out)
        return ef_error(
            EF_INVALID,
            "%s: `output_shapes` has %d shapes for %d outputs; it must be empty or have "
            "one for each",
            i->op->name, given->n, i->n_out);
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = given->at[k];
    return NULL;
}

static ef_status *while_shape(ef_infer *i) {
    return given_shapes(i, &((const while_attrs *)i->attrs)->output_shapes);
}
static ef_status *if_shape(ef_infer *i) {
    return given_shapes(i, &((const if_attrs *)i->attrs)->output_shapes);
}
static ef_status *case_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 0));
    return given_shapes(i, &((const case_attrs *)i->attrs)->output_shapes);
}

#define WHILE_OP(N, TEXT, TRAITS, STATEFUL, PURE)                          \
    const ef_op ef_op_##N = {                                              \
        EF_NAMED(N),                                                       \
        .doc = TEXT,                                                       \
        .in = {"input: T"},                                                \
        .out = {"output: T"},                                              \
        .types = "T: list(type)",                                          \
        .attr = {EF_ATTR(while_attrs, cond, "func", NULL),                 \
                 EF_ATTR(while_attrs, body, "func", NULL),                 \
                 EF_ATTR(while_attrs, output_shapes, "list(shape)", "[]"), \
                 EF_ATTR(while_attrs, parallel_iterations, "int", "10")},  \
        .attr_size = sizeof(while_attrs),                                  \
        .traits = TRAITS,                                                  \
        .pure = &ef_op_##PURE,                                             \
        .stateful = &ef_op_##STATEFUL,                                     \
        .shape = while_shape,                                              \
    };
#define IF_OP(N, TEXT, TRAITS, STATEFUL, PURE)                           \
    const ef_op ef_op_##N = {                                            \
        EF_NAMED(N),                                                     \
        .doc = TEXT,                                                     \
        .in = {"cond: Tcond", "input: Tin"},                             \
        .out = {"output: Tout"},                                         \
        .types = "Tcond: type; Tin: list(type)",                         \
        .attr = {EF_ATTR(if_attrs, Tout, "list(type)", NULL),            \
                 EF_ATTR(if_attrs, then_branch, "func", NULL),           \
                 EF_ATTR(if_attrs, else_branch, "func", NULL),           \
                 EF_ATTR(if_attrs, output_shapes, "list(shape)", "[]")}, \
        .attr_size = sizeof(if_attrs),                                   \
        .traits = TRAITS,                                                \
        .pure = &ef_op_##PURE,                                           \
        .stateful = &ef_op_##STATEFUL,                                   \
        .shape = if_shape,                                               \
    };
#define CASE_OP(N, TEXT, TRAITS, STATEFUL, PURE)                           \
    const ef_op ef_op_##N = {                                              \
        EF_NAMED(N),                                                       \
        .doc = TEXT,                                                       \
        .in = {"branch_index: int32", "input: Tin"},                       \
        .out = {"output: Tout"},                                           \
        .types = "Tin: list(type)",                                        \
        .attr = {EF_ATTR(case_attrs, Tout, "list(type)", NULL),            \
                 EF_ATTR(case_attrs, branches, "list(func) >= 1", NULL),   \
                 EF_ATTR(case_attrs, output_shapes, "list(shape)", "[]")}, \
        .attr_size = sizeof(case_attrs),                                   \
        .traits = TRAITS,                                                  \
        .pure = &ef_op_##PURE,                                             \
        .stateful = &ef_op_##STATEFUL,                                     \
        .shape = case_shape,                                               \
    };
#define CALL_OP(N, TEXT, TRAITS, STATEFUL, PURE)                      \
    const ef_op ef_op_##N = {                                         \
        EF_NAMED(N),                                                  \
        .doc = TEXT,                                                  \
        .in = {"args: Tin"},                                          \
        .out = {"output: Tout"},                                      \
        .types = "Tin: list(type)",                                   \
        .attr = {EF_ATTR(call_attrs, Tout, "list(type)", NULL),       \
                 EF_ATTR(call_attrs, f, "func", NULL),                \
                 EF_ATTR(call_attrs, config, "string", "''"),         \
                 EF_ATTR(call_attrs, config_proto, "string", "''"),   \
                 EF_ATTR(call_attrs, executor_type, "string", "''")}, \
        .attr_size = sizeof(call_attrs),                              \
        .traits = TRAITS,                                             \
        .pure = &ef_op_##PURE,                                        \
        .stateful = &ef_op_##STATEFUL,                                \
        .shape = ef_shape_none,                                       \
    };
enum { PURELY = EF_CONTROL | EF_HEAVY, EFFECTS = EF_CONTROL | EF_HEAVY | EF_STATEFUL | EF_EFFECT };

WHILE_OP(While, "Runs `body` on its own results, starting from `input`, while `cond` returns true.",
         EFFECTS, While, StatelessWhile)
WHILE_OP(StatelessWhile, "While whose `cond` and `body` have no side effects.", PURELY, While,
         StatelessWhile)
IF_OP(If,
      "Runs `then_branch` or `else_branch` on `input`, depending on whether `cond` is true (not "
      "zero, not empty) or not.",
      EFFECTS, If, StatelessIf)
IF_OP(StatelessIf, "If whose branches have no side effects.", PURELY, If, StatelessIf)
CASE_OP(Case,
        "Runs `branches[branch_index]` on `input`; if the index is out of range, the last branch.",
        EFFECTS, Case, StatelessCase)
CASE_OP(StatelessCase, "Case whose branches have no side effects.", PURELY, Case, StatelessCase)
CALL_OP(PartitionedCall, "Calls the function `f`, which has no side effects.", PURELY,
        StatefulPartitionedCall, PartitionedCall)
CALL_OP(StatefulPartitionedCall, "Calls the function `f`.", EFFECTS, StatefulPartitionedCall,
        PartitionedCall)

ef_status *ef_made_call(struct ef_graph *f, int n, const ef_dtype *dtype, bool effects,
                        ef_made *out) {
    ef_attr_value set[] = {EF_SET_FUNC("f", f), EF_SET_TYPES("Tout", n, dtype)};
    out->op = effects ? &ef_op_StatefulPartitionedCall : &ef_op_PartitionedCall;
    return ef_attrs_make(out->op, set, 2, &out->attrs);
}
