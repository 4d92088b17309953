/* _FusedAdam: the three assignments of an Adam update in one pass over memory. The optimiser makes
 * it (passes/updates.c). The result is that of the assignments one after the other, even if two
 * handles refer to the same variable; one pass needs different variables, so in that case the
 * original ops run. */
#include "ops/run.h"
#include "ops/searched_ops.h"
#include "ops/state/optimizer.h"
#include "ops/state/variable.h"

enum { W, M, V, STEP, KEEP1, KEEP2, EPSILON, GRAD };

static bool are_different(const ef_call *c) {
    const void *w = c->in[W]->data, *m = c->in[M]->data, *v = c->in[V]->data;
    return w != m && w != v && m != v;
}

static ef_status *apply(const ef_call *c, const ef_op *op, ef_tensor *x, ef_tensor *y,
                        ef_tensor *out) {
    ef_tensor *in[] = {x, y};
    int n = 0;
    ef_tensor made = {0};
    EF_TRY(ef_op_run(c->context, op, NULL, in, y != NULL ? 2 : 1, &made, 1, &n));
    if (out == NULL) return NULL;
    ef_tensor_release(out);
    ef_tensor_move(out, &made);
    return NULL;
}

static ef_status *read_value(const ef_call *c, int k, ef_tensor *out) {
    ef_variable *v = NULL;
    EF_TRY(ef_call_variable(c, k, (ef_dtype)c->in[GRAD]->dtype, &v));
    ef_tensor_release(out);
    return ef_variable_read(v, out);
}

/* variable += (x - variable) * keep */
static ef_status *average(const ef_call *c, int k, ef_tensor *x, ef_tensor *keep) {
    ef_tensor t = {0};
    ef_status *s;
    EF_TRY_GOTO(read_value(c, k, &t));
    EF_TRY_GOTO(apply(c, &ef_op_Sub, x, &t, &t));
    EF_TRY_GOTO(apply(c, &ef_op_Mul, &t, keep, &t));
    EF_TRY_GOTO(apply(c, &ef_op_AssignAddVariableOp, c->in[k], &t, NULL));
done:
    ef_tensor_release(&t);
    return s;
}

static ef_status *run_ops(const ef_call *c) {
    ef_tensor x = {0}, y = {0};
    ef_status *s;
    EF_TRY_GOTO(average(c, M, c->in[GRAD], c->in[KEEP1]));
    EF_TRY_GOTO(apply(c, &ef_op_Square, c->in[GRAD], NULL, &x));
    EF_TRY_GOTO(average(c, V, &x, c->in[KEEP2]));
    EF_TRY_GOTO(read_value(c, M, &x));
    EF_TRY_GOTO(apply(c, &ef_op_Mul, &x, c->in[STEP], &x));
    EF_TRY_GOTO(read_value(c, V, &y));
    EF_TRY_GOTO(apply(c, &ef_op_Sqrt, &y, NULL, &y));
    EF_TRY_GOTO(apply(c, &ef_op_AddV2, &y, c->in[EPSILON], &y));
    EF_TRY_GOTO(apply(c, &ef_op_RealDiv, &x, &y, &x));
    EF_TRY_GOTO(apply(c, &ef_op_AssignSubVariableOp, c->in[W], &x, NULL));
done:
    ef_tensor_release(&x);
    ef_tensor_release(&y);
    return s;
}

static ef_status *adam_run(const ef_call *c) {
    return are_different(c) ? ef_optimizer_run(c, EF_RULE_ADAM_STEP) : run_ops(c);
}

const ef_op ef_op__FusedAdam = {
    EF_NAMED(_FusedAdam),
    .doc = "`m += (grad - m) * keep1`, `v += (grad * grad - v) * keep2`, then `var -= m * step / "
           "(sqrt(v) + epsilon)`, in one pass. Made by the optimiser.",
    .in = {"var: resource", "m: resource", "v: resource", "step: T", "keep1: T", "keep2: T",
           "epsilon: T", "grad: T"},
    .types = "T: {float, double}",
    .traits = EF_OPTIMIZER_TRAITS,
    .data_in = 1u << GRAD,
    .shape = ef_optimizer_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), adam_run, NULL, NULL, NULL, NULL}},
    .examples = {"var(float[3,2]) var(float[3,2]) var(float[3,2]:0.5..1.5) float[]{0.01} "
                 "float[]{0.1} float[]{0.01} float[]{0.001} float[3,2]"},
};
const ef_adam_ops ef_adam = {
    .read = &ef_op_ReadVariableOp,
    .add_to = &ef_op_AssignAddVariableOp,
    .subtract_from = &ef_op_AssignSubVariableOp,
    .add = &ef_op_AddV2,
    .subtract = &ef_op_Sub,
    .multiply = &ef_op_Mul,
    .divide = &ef_op_RealDiv,
    .root = &ef_op_Sqrt,
    .square = &ef_op_Square,
    .fused = &ef_op__FusedAdam,
};
