/* Optimizer rules: one fused pass over a parameter, its slots and its gradient. Each element is
 * loaded once, updated, and stored once, whatever the number of slots. */
#ifndef EF_KERNELS_OPTIMIZER_H
#define EF_KERNELS_OPTIMIZER_H
#include "tensor/dtype.h"

/* The slots, and k: the hyperparameters in the order of TensorFlow's arguments. */
typedef enum ef_rule {
    EF_RULE_DESCENT,          /* k: lr */
    EF_RULE_MOMENTUM,         /* accum; k: lr, momentum */
    EF_RULE_NESTEROV,         /* accum; k: lr, momentum */
    EF_RULE_KERAS_MOMENTUM,   /* accum; k: lr, momentum */
    EF_RULE_KERAS_NESTEROV,   /* accum; k: lr, momentum */
    EF_RULE_ADAM,             /* m, v; k: beta1_power, beta2_power, lr, beta1, beta2, epsilon */
    EF_RULE_ADAM_NESTEROV,    /* as ADAM */
    EF_RULE_ADAM_STEP,        /* m, v; k: step, 1 - beta1, 1 - beta2, epsilon */
    EF_RULE_AMSGRAD,          /* m, v, vhat; k as ADAM */
    EF_RULE_ADAMAX,           /* m, v; k: beta1_power, lr, beta1, beta2, epsilon */
    EF_RULE_RMSPROP,          /* ms, mom; k: lr, rho, momentum, epsilon */
    EF_RULE_CENTERED_RMSPROP, /* mg, ms, mom; k: lr, rho, momentum, epsilon */
    EF_RULE_ADAGRAD,          /* accum; k: lr */
    EF_RULE_ADAGRAD_FIXED,    /* like ADAGRAD, but the slot is only read */
    EF_RULE_ADAGRAD_V2,       /* accum; k: lr, epsilon */
    EF_RULE_ADAGRAD_V2_FIXED, /* like ADAGRAD_V2, but the slot is only read */
    EF_RULE_ADAGRAD_DA,       /* sum, sum of squares; k: lr, l1, l2, global_step */
    EF_RULE_ADADELTA,         /* accum, accum_update; k: lr, rho, epsilon */
    EF_RULE_FTRL,             /* accum, linear; k: lr, l1, l2, l2_shrinkage, lr_power */
    EF_RULE_FTRL_TIMES_LR,    /* like FTRL, with `linear` stored multiplied by lr */
    EF_RULE_PROXIMAL_DESCENT, /* k: lr, l1, l2 */
    EF_RULE_PROXIMAL_ADAGRAD, /* accum; k: lr, l1, l2 */
    EF_RULE_ADD_SIGN,         /* m; k: lr, alpha, sign_decay, beta */
    EF_RULE_POWER_SIGN,       /* m; k: lr, logbase, sign_decay, beta */
    EF_RULES
} ef_rule;
enum { EF_RULE_SLOTS = 3, EF_RULE_NUMBERS = 6 };

typedef struct ef_sweep {
    ef_rule rule;
    ef_dtype dtype;              /* one for which ef_rule_has(rule, dtype) is true */
    void *at[1 + EF_RULE_SLOTS]; /* the parameter, then its slots; none overlaps another */
    const void *grad; /* for a sparse update `rows` rows of `row` elements, else n elements */
    double k[EF_RULE_NUMBERS];
} ef_sweep;

bool ef_rule_has(ef_rule rule, ef_dtype t);
/* Updates n elements, on several threads if that is faster. */
void ef_sweep_dense(const ef_sweep *s, int64_t n);
/* Row j of grad updates row index[j] of parameter and slots, in order of j; every index is in
 * range. */
void ef_sweep_sparse(const ef_sweep *s, const int64_t *index, int64_t rows, int64_t row);
#endif
