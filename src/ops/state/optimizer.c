/* Dense and sparse optimizer updates of variables. The formulas are in kernels/optimizer.c; this
 * file has the records with their arguments in TensorFlow's order. */
#include "ops/state/optimizer.h"
#include "ops/shapes.h"
#include "ops/state/variable.h"

#define TYPES "T: numbertype"
#define SPARSE_TYPES "T: numbertype; Tindices: {int32, int64}"
enum { REALS = EF_FLOATS, WIDE = EF_BIT(F32) | EF_BIT(F64), BOTH = EF_FLOATS | EF_COMPLEX };
#define FLAG(c, name) (((const ef_optimizer_attrs *)(c)->attrs)->name)
#define LIST(...) __VA_ARGS__
#define RUN(name, rule) \
    static ef_status *name##_run(const ef_call *c) { return ef_optimizer_run(c, rule); }
/* N: the op; IN and ATTRS: LIST(...); MASK: dtypes of T. */
#define UPDATE(N, TEXT, IN, TYPES_, ATTRS, MASK, FN, ...)       \
    const ef_op ef_op_##N = {                                   \
        EF_NAMED(N),                                            \
        .doc = TEXT,                                            \
        .in = {IN},                                             \
        .types = TYPES_,                                        \
        .attr = {ATTRS},                                        \
        .attr_size = sizeof(ef_optimizer_attrs),                \
        .traits = EF_OPTIMIZER_TRAITS,                          \
        .shape = ef_optimizer_shape,                            \
        .kernel = {{EF_CPU, MASK, FN, NULL, NULL, NULL, NULL}}, \
        .examples = {__VA_ARGS__},                              \
    };
/* Example variables: parameter and slots of one small shape. Slots that are divisors stay > 0. */
#define V "var(float[3,2]) "
#define P "var(float[3,2]:0.5..1.5) "
#define G "float[3,2] "
#define ROWS "float[2,2] "
#define AT "int32[2]{2,0} "

/* ---- gradient descent and momentum ----------------------------------------------------------- */

RUN(descent, EF_RULE_DESCENT)
UPDATE(ResourceApplyGradientDescent, "`var -= alpha * delta`.",
       LIST("var: resource", "alpha: T", "delta: T"), TYPES, LIST(EF_OPTIMIZER_LOCKING), BOTH,
       descent_run, V "float[]{0.1} " G, "var(double[]) double[]{0.5} double[]",
       "var(half[5]) half[]{0.5} half[5]")

static ef_status *momentum_run(const ef_call *c) {
    return ef_optimizer_run(c, FLAG(c, use_nesterov) ? EF_RULE_NESTEROV : EF_RULE_MOMENTUM);
}
static ef_status *keras_momentum_run(const ef_call *c) {
    return ef_optimizer_run(c, FLAG(c, use_nesterov) ? EF_RULE_KERAS_NESTEROV
                                                     : EF_RULE_KERAS_MOMENTUM);
}
#define MOMENTUM_IN LIST("var: resource", "accum: resource", "lr: T", "grad: T", "momentum: T")
#define SPARSE_MOMENTUM_IN \
    LIST("var: resource", "accum: resource", "lr: T", "grad: T", "indices: Tindices", "momentum: T")
#define NESTEROV LIST(EF_OPTIMIZER_LOCKING, EF_OPTIMIZER_NESTEROV)
#define MOMENTUM_EXAMPLES \
    V V "float[]{0.1} " G "float[]{0.9}", V V "float[]{0.1} " G "float[]{0.9} use_nesterov=true"
#define SPARSE_MOMENTUM_EXAMPLES                \
    V V "float[]{0.1} " ROWS AT "float[]{0.9}", \
        V V "float[]{0.1} " ROWS AT "float[]{0.9} use_nesterov=true"
UPDATE(ResourceApplyMomentum, "`accum = accum * momentum + grad; var -= lr * accum`.", MOMENTUM_IN,
       TYPES, NESTEROV, BOTH, momentum_run, MOMENTUM_EXAMPLES)
UPDATE(ResourceApplyKerasMomentum, "`accum = accum * momentum - lr * grad; var += accum`.",
       MOMENTUM_IN, TYPES, NESTEROV, BOTH, keras_momentum_run, MOMENTUM_EXAMPLES)
UPDATE(ResourceSparseApplyMomentum,
       "ResourceApplyMomentum on the rows of `var` and `accum` that `indices` select.",
       SPARSE_MOMENTUM_IN, SPARSE_TYPES, NESTEROV, BOTH, momentum_run, SPARSE_MOMENTUM_EXAMPLES)
UPDATE(ResourceSparseApplyKerasMomentum,
       "ResourceApplyKerasMomentum on the rows of `var` and `accum` that `indices` select.",
       SPARSE_MOMENTUM_IN, SPARSE_TYPES, NESTEROV, BOTH, keras_momentum_run,
       SPARSE_MOMENTUM_EXAMPLES)

/* ---- Adam and its variants ------------------------------------------------------------------- */

static ef_status *adam_run(const ef_call *c) {
    return ef_optimizer_run(c, FLAG(c, use_nesterov) ? EF_RULE_ADAM_NESTEROV : EF_RULE_ADAM);
}
RUN(amsgrad, EF_RULE_AMSGRAD)
RUN(adamax, EF_RULE_ADAMAX)
#define ADAM_NUMBERS \
    "beta1_power: T", "beta2_power: T", "lr: T", "beta1: T", "beta2: T", "epsilon: T", "grad: T"
#define ADAM_K "float[]{0.9} float[]{0.99} float[]{0.01} float[]{0.9} float[]{0.99} float[]{0.001} "
UPDATE(ResourceApplyAdam,
       "Adam: running means `m` of the gradient and `v` of its square; `var` is updated by their "
       "bias-corrected ratio.",
       LIST("var: resource", "m: resource", "v: resource", ADAM_NUMBERS), TYPES, NESTEROV, BOTH,
       adam_run, V V P ADAM_K G, V V P ADAM_K G "use_nesterov=true")
UPDATE(ResourceApplyAdamWithAmsgrad,
       "Adam that divides by the largest running mean square so far, which `vhat` stores.",
       LIST("var: resource", "m: resource", "v: resource", "vhat: resource", ADAM_NUMBERS), TYPES,
       LIST(EF_OPTIMIZER_LOCKING), REALS, amsgrad_run, V V P P ADAM_K G)
UPDATE(ResourceApplyAdaMax,
       "Adam with the decayed maximum of the gradient instead of the running mean square.",
       LIST("var: resource", "m: resource", "v: resource", "beta1_power: T", "lr: T", "beta1: T",
            "beta2: T", "epsilon: T", "grad: T"),
       TYPES, LIST(EF_OPTIMIZER_LOCKING), REALS, adamax_run,
       V V P "float[]{0.9} float[]{0.01} float[]{0.9} float[]{0.99} float[]{0.001} " G)

/* ---- RMSProp ---- */

RUN(rmsprop, EF_RULE_RMSPROP)
RUN(centered, EF_RULE_CENTERED_RMSPROP)
#define RMS_NUMBERS "lr: T", "rho: T", "momentum: T", "epsilon: T", "grad: T"
#define RMS_K "float[]{0.01} float[]{0.9} float[]{0.5} float[]{2} "
#define RMS_SLOTS "var: resource", "ms: resource", "mom: resource"
#define CENTERED_SLOTS "var: resource", "mg: resource", "ms: resource", "mom: resource"
UPDATE(ResourceApplyRMSProp,
       "Divides the gradient by the root of its running mean square `ms`, with momentum in `mom`.",
       LIST(RMS_SLOTS, RMS_NUMBERS), TYPES, LIST(EF_OPTIMIZER_LOCKING), BOTH, rmsprop_run,
       V P V RMS_K G)
UPDATE(ResourceApplyCenteredRMSProp,
       "RMSProp with the running variance of the gradient instead of its mean square.",
       LIST(CENTERED_SLOTS, RMS_NUMBERS), TYPES, LIST(EF_OPTIMIZER_LOCKING), BOTH, centered_run,
       V P P V RMS_K G)
UPDATE(ResourceSparseApplyRMSProp, "ResourceApplyRMSProp on the rows that `indices` select.",
       LIST(RMS_SLOTS, RMS_NUMBERS, "indices: Tindices"), SPARSE_TYPES, LIST(EF_OPTIMIZER_LOCKING),
       BOTH, rmsprop_run, V P V RMS_K ROWS AT)
UPDATE(ResourceSparseApplyCenteredRMSProp,
       "ResourceApplyCenteredRMSProp on the rows that `indices` select.",
       LIST(CENTERED_SLOTS, RMS_NUMBERS, "indices: Tindices"), SPARSE_TYPES,
       LIST(EF_OPTIMIZER_LOCKING), BOTH, centered_run, V P P V RMS_K ROWS AT)

/* ---- Adagrad, Adadelta ---- */

static ef_status *adagrad_run(const ef_call *c) {
    return ef_optimizer_run(c, FLAG(c, update_slots) ? EF_RULE_ADAGRAD : EF_RULE_ADAGRAD_FIXED);
}
static ef_status *adagrad_v2_run(const ef_call *c) {
    return ef_optimizer_run(c,
                            FLAG(c, update_slots) ? EF_RULE_ADAGRAD_V2 : EF_RULE_ADAGRAD_V2_FIXED);
}
RUN(adagrad_da, EF_RULE_ADAGRAD_DA)
RUN(adadelta, EF_RULE_ADADELTA)
#define ADAGRAD_IN "var: resource", "accum: resource", "lr: T", "grad: T"
#define ADAGRAD_V2_IN "var: resource", "accum: resource", "lr: T", "epsilon: T", "grad: T"
#define SLOTS LIST(EF_OPTIMIZER_LOCKING, EF_OPTIMIZER_SLOTS)
UPDATE(ResourceApplyAdagrad, "`accum += grad**2; var -= lr * grad / sqrt(accum)`.",
       LIST(ADAGRAD_IN), TYPES, SLOTS, BOTH, adagrad_run, V P "float[]{0.1} " G,
       V P "float[]{0.1} " G "update_slots=false")
UPDATE(ResourceApplyAdagradV2, "`accum += grad**2; var -= lr * grad / (sqrt(accum) + epsilon)`.",
       LIST(ADAGRAD_V2_IN), TYPES, SLOTS, BOTH, adagrad_v2_run,
       V P "float[]{0.1} float[]{0.001} " G,
       V P "float[]{0.1} float[]{0.001} " G "update_slots=false")
UPDATE(ResourceSparseApplyAdagrad, "ResourceApplyAdagrad on the rows that `indices` select.",
       LIST(ADAGRAD_IN, "indices: Tindices"), SPARSE_TYPES, SLOTS, BOTH, adagrad_run,
       V P "float[]{0.1} " ROWS AT, V P "float[]{0.1} " ROWS "int64[2]{1,1}")
UPDATE(ResourceSparseApplyAdagradV2, "ResourceApplyAdagradV2 on the rows that `indices` select.",
       LIST(ADAGRAD_V2_IN, "indices: Tindices"), SPARSE_TYPES, SLOTS, BOTH, adagrad_v2_run,
       V P "float[]{0.1} float[]{0.001} " ROWS AT)
UPDATE(ResourceApplyAdagradDA,
       "Adagrad dual averaging: `var` is computed from the sums of gradients and of their squares.",
       LIST("var: resource", "gradient_accumulator: resource",
            "gradient_squared_accumulator: resource", "grad: T", "lr: T", "l1: T", "l2: T",
            "global_step: int64"),
       TYPES, LIST(EF_OPTIMIZER_LOCKING), WIDE, adagrad_da_run,
       V V P G "float[]{0.1} float[]{0.01} float[]{0.02} int64[]{3}")
UPDATE(ResourceSparseApplyAdagradDA, "ResourceApplyAdagradDA on the rows that `indices` select.",
       LIST("var: resource", "gradient_accumulator: resource",
            "gradient_squared_accumulator: resource", "grad: T", "indices: Tindices", "lr: T",
            "l1: T", "l2: T", "global_step: int64"),
       SPARSE_TYPES, LIST(EF_OPTIMIZER_LOCKING), WIDE, adagrad_da_run,
       V V P ROWS AT "float[]{0.1} float[]{0.01} float[]{0.02} int64[]{3}")
#define ADADELTA_IN                                                                                \
    "var: resource", "accum: resource", "accum_update: resource", "lr: T", "rho: T", "epsilon: T", \
        "grad: T"
#define ADADELTA_K "float[]{0.1} float[]{0.9} float[]{0.001} "
UPDATE(ResourceApplyAdadelta,
       "Scales the gradient by the ratio of the running mean squares of past updates and past "
       "gradients.",
       LIST(ADADELTA_IN), TYPES, LIST(EF_OPTIMIZER_LOCKING), BOTH, adadelta_run, V P P ADADELTA_K G)
UPDATE(ResourceSparseApplyAdadelta, "ResourceApplyAdadelta on the rows that `indices` select.",
       LIST(ADADELTA_IN, "indices: Tindices"), SPARSE_TYPES, LIST(EF_OPTIMIZER_LOCKING), BOTH,
       adadelta_run, V P P ADADELTA_K ROWS AT)

/* ---- FTRL ---- */

/* The first version has no l2_shrinkage: it is 0. */
static ef_status *ftrl(const ef_call *c, bool v2) {
    double k[EF_RULE_NUMBERS] = {0};
    EF_TRY(ef_optimizer_numbers(c, k));
    if (!v2) {
        k[4] = k[3];
        k[3] = 0;
    }
    if (!(k[0] > 0))
        return ef_error(EF_INVALID, "%s: lr is %g but must be positive", c->op->name, k[0]);
    if (!(k[1] >= 0) || !(k[2] >= 0) || !(k[3] >= 0))
        return ef_error(EF_INVALID, "%s: l1 is %g, l2 %g, l2_shrinkage %g; none may be negative",
                        c->op->name, k[1], k[2], k[3]);
    if (!(k[4] <= 0))
        return ef_error(EF_INVALID, "%s: lr_power is %g but must be non-positive", c->op->name,
                        k[4]);
    return ef_optimizer_run_with(
        c, FLAG(c, multiply_linear_by_lr) ? EF_RULE_FTRL_TIMES_LR : EF_RULE_FTRL, k);
}
static ef_status *ftrl_run(const ef_call *c) { return ftrl(c, false); }
static ef_status *ftrl_v2_run(const ef_call *c) { return ftrl(c, true); }
#define FTRL_SLOTS "var: resource", "accum: resource", "linear: resource"
#define FTRL_K "lr: T", "l1: T", "l2: T", "lr_power: T"
#define FTRL_V2_K "lr: T", "l1: T", "l2: T", "l2_shrinkage: T", "lr_power: T"
#define LINEAR LIST(EF_OPTIMIZER_LOCKING, EF_OPTIMIZER_LINEAR)
#define FTRL_NUMBERS "float[]{0.1} float[]{0.01} float[]{0.02} float[]{-0.5}"
#define FTRL_V2_NUMBERS "float[]{0.1} float[]{0.01} float[]{0.02} float[]{0.03} float[]{-0.5}"
UPDATE(ResourceApplyFtrl, "Follow-the-regularised-leader with l1 and l2 penalties.",
       LIST(FTRL_SLOTS, "grad: T", FTRL_K), TYPES, LINEAR, REALS, ftrl_run, V P V G FTRL_NUMBERS,
       V P V G FTRL_NUMBERS " multiply_linear_by_lr=true",
       V P V G "float[]{0.1} float[]{0.01} float[]{0.02} float[]{-0.7}")
UPDATE(ResourceApplyFtrlV2,
       "ResourceApplyFtrl with an l2 penalty that shrinks `var` itself as well.",
       LIST(FTRL_SLOTS, "grad: T", FTRL_V2_K), TYPES, LINEAR, REALS, ftrl_v2_run,
       V P V G FTRL_V2_NUMBERS, V P V G FTRL_V2_NUMBERS " multiply_linear_by_lr=true")
UPDATE(ResourceSparseApplyFtrl, "ResourceApplyFtrl on the rows that `indices` select.",
       LIST(FTRL_SLOTS, "grad: T", "indices: Tindices", FTRL_K), SPARSE_TYPES, LINEAR, REALS,
       ftrl_run, V P V ROWS AT FTRL_NUMBERS)
UPDATE(ResourceSparseApplyFtrlV2, "ResourceApplyFtrlV2 on the rows that `indices` select.",
       LIST(FTRL_SLOTS, "grad: T", "indices: Tindices", FTRL_V2_K), SPARSE_TYPES, LINEAR, REALS,
       ftrl_v2_run, V P V ROWS AT FTRL_V2_NUMBERS)

/* ---- proximal steps, sign rules ---- */

RUN(proximal, EF_RULE_PROXIMAL_DESCENT)
RUN(proximal_adagrad, EF_RULE_PROXIMAL_ADAGRAD)
RUN(add_sign, EF_RULE_ADD_SIGN)
RUN(power_sign, EF_RULE_POWER_SIGN)
#define PROXIMAL_NUMBERS "float[]{0.1} float[]{0.01} float[]{0.02} "
UPDATE(ResourceApplyProximalGradientDescent,
       "A gradient descent step, then a proximal step towards zero: l1 by a threshold, l2 by a "
       "factor.",
       LIST("var: resource", "alpha: T", "l1: T", "l2: T", "delta: T"), TYPES,
       LIST(EF_OPTIMIZER_LOCKING), WIDE, proximal_run, V PROXIMAL_NUMBERS G)
UPDATE(ResourceSparseApplyProximalGradientDescent,
       "ResourceApplyProximalGradientDescent on the rows that `indices` select.",
       LIST("var: resource", "alpha: T", "l1: T", "l2: T", "grad: T", "indices: Tindices"),
       SPARSE_TYPES, LIST(EF_OPTIMIZER_LOCKING), WIDE, proximal_run, V PROXIMAL_NUMBERS ROWS AT)
UPDATE(ResourceApplyProximalAdagrad,
       "An Adagrad step, then a proximal step towards zero, both with Adagrad's learning rate.",
       LIST("var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T"), TYPES,
       LIST(EF_OPTIMIZER_LOCKING), WIDE, proximal_adagrad_run, V P PROXIMAL_NUMBERS G)
UPDATE(ResourceSparseApplyProximalAdagrad,
       "ResourceApplyProximalAdagrad on the rows that `indices` select.",
       LIST("var: resource", "accum: resource", "lr: T", "l1: T", "l2: T", "grad: T",
            "indices: Tindices"),
       SPARSE_TYPES, LIST(EF_OPTIMIZER_LOCKING), WIDE, proximal_adagrad_run,
       V P PROXIMAL_NUMBERS ROWS AT)
#define SIGN_NUMBERS "float[]{0.1} float[]{1.5} float[]{0.5} float[]{0.9} "
UPDATE(ResourceApplyAddSign,
       "AddSign: larger steps where the gradient and its running mean `m` have the same sign.",
       LIST("var: resource", "m: resource", "lr: T", "alpha: T", "sign_decay: T", "beta: T",
            "grad: T"),
       TYPES, LIST(EF_OPTIMIZER_LOCKING), REALS, add_sign_run, V V SIGN_NUMBERS G)
UPDATE(ResourceApplyPowerSign,
       "PowerSign: exponentially larger steps where the gradient and its running mean `m` have the "
       "same sign.",
       LIST("var: resource", "m: resource", "lr: T", "logbase: T", "sign_decay: T", "beta: T",
            "grad: T"),
       TYPES, LIST(EF_OPTIMIZER_LOCKING), REALS, power_sign_run, V V SIGN_NUMBERS G)
