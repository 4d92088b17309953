/* A rule is an expression on one element, written once and expanded for each type by macros. The
 * compiler vectorises the resulting loops; 16-bit floats are widened a tile at a time, so their
 * arithmetic is that of float with one rounding at the end. */
#include "kernels/optimizer.h"
#include "base/pool.h"
#include <tgmath.h>

typedef void rule_fn(void *const *at, const void *grad, int64_t n, const double *k);

/* In a rule: w is the parameter, a b c its slots, g the gradient; CONSTANTS are read once. */
#define RULE_FOR(name, SUF, TYPE, LOOP, CONSTANTS, ...)                                           \
    static void name##_##SUF(void *const *at, const void *grad, int64_t n, const double *k) {     \
        typedef TYPE T;                                                                           \
        T *restrict wp = at[0], *restrict ap = at[1], *restrict bp = at[2], *restrict cp = at[3]; \
        const T *restrict gp = grad;                                                              \
        (void)ap, (void)bp, (void)cp;                                                             \
        CONSTANTS                                                                                 \
        LOOP for (int64_t i = 0; i < n; i++) {                                                    \
            const T g = gp[i];                                                                    \
            __VA_ARGS__                                                                           \
        }                                                                                         \
    }
#define SIMD _Pragma("omp simd")
#define W wp[i]
#define A ap[i]
#define B bp[i]
#define C cp[i]
#define RULE(name, CONSTANTS, ...)                           \
    RULE_FOR(name, F32, float, SIMD, CONSTANTS, __VA_ARGS__) \
    RULE_FOR(name, F64, double, SIMD, CONSTANTS, __VA_ARGS__)
#define RULE_COMPLEX(name, CONSTANTS, ...)                \
    RULE(name, CONSTANTS, __VA_ARGS__)                    \
    RULE_FOR(name, C64, ef_c64, , CONSTANTS, __VA_ARGS__) \
    RULE_FOR(name, C128, ef_c128, , CONSTANTS, __VA_ARGS__)
#define K(j) ((T)k[j])
#define LARGER(x, y) ((x) > (y) ? (x) : (y))
#define SIGN(x) ((T)(((x) > 0) - ((x) < 0)))
#define ONE ((T)1)

RULE_COMPLEX(descent, const T lr = K(0);, W -= g * lr;)

#define MOMENTUM_K     \
    const T lr = K(0); \
    const T momentum = K(1);
RULE_COMPLEX(momentum, MOMENTUM_K, const T u = A * momentum + g; A = u; W -= u * lr;)
RULE_COMPLEX(nesterov, MOMENTUM_K, const T u = A * momentum + g; A = u;
             W -= g * lr + u * momentum * lr;)
RULE_COMPLEX(keras_momentum, MOMENTUM_K, const T u = A * momentum - g * lr; A = u; W += u;)
RULE_COMPLEX(keras_nesterov, MOMENTUM_K, const T u = A * momentum - g * lr; A = u;
             W += u * momentum - g * lr;)

#define ADAM_K                                             \
    const T step = K(2) * sqrt(ONE - K(1)) / (ONE - K(0)); \
    const T beta1 = K(3);                                  \
    const T keep1 = ONE - K(3);                            \
    const T keep2 = ONE - K(4);                            \
    const T epsilon = K(5);                                \
    (void)beta1;
#define ADAM_MOMENTS                     \
    const T m = A + (g - A) * keep1;     \
    const T v = B + (g * g - B) * keep2; \
    A = m;                               \
    B = v;
RULE_COMPLEX(adam, ADAM_K, ADAM_MOMENTS W -= (m * step) / (sqrt(v) + epsilon);)
RULE_COMPLEX(adam_nesterov, ADAM_K,
             ADAM_MOMENTS W -= ((g * keep1 + beta1 * m) * step) / (sqrt(v) + epsilon);)
#define ADAM_STEP_K       \
    const T step = K(0);  \
    const T keep1 = K(1); \
    const T keep2 = K(2); \
    const T epsilon = K(3);
RULE(adam_step, ADAM_STEP_K, ADAM_MOMENTS W -= (m * step) / (sqrt(v) + epsilon);)
RULE(amsgrad, ADAM_K, ADAM_MOMENTS const T top = LARGER(C, v); C = top;
     W -= (m * step) / (sqrt(top) + epsilon);)
#define ADAMAX_K                        \
    const T step = K(1) / (ONE - K(0)); \
    const T keep1 = ONE - K(2);         \
    const T beta2 = K(3);               \
    const T epsilon = K(4);
RULE(adamax, ADAMAX_K, const T m = A + (g - A) * keep1; const T old = beta2 * B;
     const T size = fabs(g); const T v = LARGER(old, size); A = m; B = v;
     W -= step * (m / (v + epsilon));)

#define RMSPROP_K              \
    const T lr = K(0);         \
    const T keep = ONE - K(1); \
    const T momentum = K(2);   \
    const T epsilon = K(3);
RULE_COMPLEX(rmsprop, RMSPROP_K, const T ms = A + (g * g - A) * keep; A = ms;
             const T u = B * momentum + (g * lr) / sqrt(ms + epsilon); B = u; W -= u;)
RULE_COMPLEX(centered_rmsprop, RMSPROP_K, const T ms = B + (g * g - B) * keep; B = ms;
             const T mg = A + (g - A) * keep; A = mg;
             const T u = C * momentum + (g * lr) / sqrt(ms - mg * mg + epsilon); C = u; W -= u;)

RULE_COMPLEX(adagrad, const T lr = K(0);, const T s = A + g * g; A = s; W -= g * lr / sqrt(s);)
RULE_COMPLEX(adagrad_fixed, const T lr = K(0);, W -= g * lr / sqrt(A);)
#define ADAGRAD_V2_K   \
    const T lr = K(0); \
    const T epsilon = K(1);
RULE_COMPLEX(adagrad_v2, ADAGRAD_V2_K, const T s = A + g * g; A = s;
             W -= g * lr / (sqrt(s) + epsilon);)
RULE_COMPLEX(adagrad_v2_fixed, ADAGRAD_V2_K, W -= g * lr / (sqrt(A) + epsilon);)
#define ADAGRAD_DA_K          \
    const T lr = K(0);        \
    const T l1 = K(1) * K(3); \
    const T l2 = K(2) * (K(3) * K(0));
/* l1 > 0 shrinks the summed gradient towards zero; with l1 = 0 both forms are equal. */
RULE(adagrad_da, ADAGRAD_DA_K, const T sum = A + g; A = sum; const T squares = B + g * g;
     B = squares; const T beyond = fabs(sum) - l1;
     W = -lr * SIGN(sum) * LARGER(beyond, (T)0) / (l2 + sqrt(squares));)

#define ADADELTA_K             \
    const T lr = K(0);         \
    const T rho = K(1);        \
    const T keep = ONE - K(1); \
    const T epsilon = K(2);
RULE_COMPLEX(adadelta, ADADELTA_K, const T s = A * rho + g * g * keep; A = s;
             const T u = sqrt(B + epsilon) / sqrt(s + epsilon) * g; W -= u * lr;
             B = B * rho + u * u * keep;)

#define FTRL_K                 \
    const T lr = K(0);         \
    const T l1 = K(1);         \
    const T l2 = 2 * K(2);     \
    const T shrink = 2 * K(3); \
    const T power = -K(4);     \
    (void)power;
/* The usual power is 1/2: a square root, many times faster than pow. */
#define FTRL(POW)                                               \
    const T s = A + g * g;                                      \
    const T now = POW(s);                                       \
    const T z = B + (g + shrink * W - (now - POW(A)) / lr * W); \
    A = s;                                                      \
    B = z;                                                      \
    W = fabs(z) > l1 ? (l1 * SIGN(z) - z) / (now / lr + l2) : (T)0;
#define FTRL_TIMES_LR(POW)                                        \
    const T s = A + g * g;                                        \
    const T now = POW(s);                                         \
    const T z = B + ((g + shrink * W) * lr - (now - POW(A)) * W); \
    A = s;                                                        \
    B = z;                                                        \
    W = fabs(z) > l1 * lr ? (l1 * lr * SIGN(z) - z) / (now + l2 * lr) : (T)0;
#define ROOT(x) sqrt(x)
#define POWER(x) pow((x), power)
RULE(ftrl_root, FTRL_K, FTRL(ROOT))
RULE(ftrl_power, FTRL_K, FTRL(POWER))
RULE(ftrl_lr_root, FTRL_K, FTRL_TIMES_LR(ROOT))
RULE(ftrl_lr_power, FTRL_K, FTRL_TIMES_LR(POWER))
#define BY_POWER(name, root, power)                                                         \
    static void name##_F32(void *const *at, const void *grad, int64_t n, const double *k) { \
        (k[4] == -0.5 ? root##_F32 : power##_F32)(at, grad, n, k);                          \
    }                                                                                       \
    static void name##_F64(void *const *at, const void *grad, int64_t n, const double *k) { \
        (k[4] == -0.5 ? root##_F64 : power##_F64)(at, grad, n, k);                          \
    }
BY_POWER(ftrl, ftrl_root, ftrl_power)
BY_POWER(ftrl_lr, ftrl_lr_root, ftrl_lr_power)

/* A gradient step, then a step towards zero by at most `by`, then a division: Fobos. */
#define PROXIMAL(STEP, BY, SHRINK)          \
    const T rate = STEP;                    \
    const T p = W - g * rate;               \
    const T beyond = fabs(p) - rate * (BY); \
    W = ((BY) > 0 ? SIGN(p) * LARGER(beyond, (T)0) : p) / (ONE + (SHRINK)*rate);
#define PROXIMAL_K     \
    const T lr = K(0); \
    const T l1 = K(1); \
    const T l2 = K(2);
RULE(proximal_descent, PROXIMAL_K, PROXIMAL(lr, l1, l2))
RULE(proximal_adagrad, PROXIMAL_K, const T s = A + g * g; A = s; PROXIMAL(lr / sqrt(s), l1, l2))

#define SIGN_K            \
    const T lr = K(0);    \
    const T base = K(1);  \
    const T decay = K(2); \
    const T beta = K(3);  \
    const T keep = ONE - K(3);
RULE(add_sign, SIGN_K, const T m = A * beta + g * keep; A = m;
     W -= lr * (base + decay * (SIGN(g) * SIGN(m))) * g;)
RULE(power_sign, SIGN_K, const T m = A * beta + g * keep; A = m;
     W -= lr * exp(base * decay * (SIGN(g) * SIGN(m))) * g;)

typedef struct rule_row {
    rule_fn *f32, *f64, *c64, *c128;
    int slots;
    double cost_ns; /* of one float element */
} rule_row;
#define REAL(name, slots, cost) \
    { name##_F32, name##_F64, NULL, NULL, slots, cost }
#define BOTH(name, slots, cost) \
    { name##_F32, name##_F64, name##_C64, name##_C128, slots, cost }
static const rule_row rules[EF_RULES] = {
    [EF_RULE_DESCENT] = BOTH(descent, 0, 0.5),
    [EF_RULE_MOMENTUM] = BOTH(momentum, 1, 0.8),
    [EF_RULE_NESTEROV] = BOTH(nesterov, 1, 0.8),
    [EF_RULE_KERAS_MOMENTUM] = BOTH(keras_momentum, 1, 0.8),
    [EF_RULE_KERAS_NESTEROV] = BOTH(keras_nesterov, 1, 0.8),
    [EF_RULE_ADAM] = BOTH(adam, 2, 1.2),
    [EF_RULE_ADAM_NESTEROV] = BOTH(adam_nesterov, 2, 1.2),
    [EF_RULE_ADAM_STEP] = REAL(adam_step, 2, 1.2),
    [EF_RULE_AMSGRAD] = REAL(amsgrad, 3, 1.5),
    [EF_RULE_ADAMAX] = REAL(adamax, 2, 1.2),
    [EF_RULE_RMSPROP] = BOTH(rmsprop, 2, 1.2),
    [EF_RULE_CENTERED_RMSPROP] = BOTH(centered_rmsprop, 3, 1.5),
    [EF_RULE_ADAGRAD] = BOTH(adagrad, 1, 1.0),
    [EF_RULE_ADAGRAD_FIXED] = BOTH(adagrad_fixed, 1, 1.0),
    [EF_RULE_ADAGRAD_V2] = BOTH(adagrad_v2, 1, 1.0),
    [EF_RULE_ADAGRAD_V2_FIXED] = BOTH(adagrad_v2_fixed, 1, 1.0),
    [EF_RULE_ADAGRAD_DA] = REAL(adagrad_da, 2, 1.2),
    [EF_RULE_ADADELTA] = BOTH(adadelta, 2, 1.5),
    [EF_RULE_FTRL] = REAL(ftrl, 2, 2.0),
    [EF_RULE_FTRL_TIMES_LR] = REAL(ftrl_lr, 2, 2.0),
    [EF_RULE_PROXIMAL_DESCENT] = REAL(proximal_descent, 0, 0.8),
    [EF_RULE_PROXIMAL_ADAGRAD] = REAL(proximal_adagrad, 1, 1.0),
    [EF_RULE_ADD_SIGN] = REAL(add_sign, 1, 1.0),
    [EF_RULE_POWER_SIGN] = REAL(power_sign, 1, 3.0),
};

static rule_fn *rule_of(const rule_row *r, ef_dtype t) {
    return t == EF_F64 ? r->f64 : t == EF_C64 ? r->c64 : t == EF_C128 ? r->c128 : r->f32;
}

bool ef_rule_has(ef_rule rule, ef_dtype t) {
    return ef_dtype_in(t, EF_FLOATS | EF_COMPLEX) && rule_of(&rules[rule], t) != NULL;
}

enum { TILE = 256 };
static void widen(ef_dtype t, float *out, const void *in, int64_t n) {
    if (t == EF_F16)
        ef_f16_to_f32(out, in, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++) out[i] = ef_bf16_float(((const ef_bf16 *)in)[i]);
}
static void narrow(ef_dtype t, void *out, const float *in, int64_t n) {
    if (t == EF_F16)
        ef_f32_to_f16(out, in, (size_t)n);
    else
        for (int64_t i = 0; i < n; i++) ((ef_bf16 *)out)[i] = ef_float_bf16(in[i]);
}

static void halves(const rule_row *r, ef_dtype t, void *const *at, const void *grad, int64_t n,
                   const double *k) {
    float wide[1 + EF_RULE_SLOTS][TILE], g[TILE];
    void *tile[1 + EF_RULE_SLOTS] = {wide[0], wide[1], wide[2], wide[3]};
    for (int64_t i = 0; i < n; i += TILE) {
        int64_t m = n - i < TILE ? n - i : TILE;
        for (int s = 0; s <= r->slots && at[s] != NULL; s++)
            widen(t, wide[s], (const char *)at[s] + 2 * i, m);
        widen(t, g, (const char *)grad + 2 * i, m);
        r->f32(tile, g, m, k);
        for (int s = 0; s <= r->slots && at[s] != NULL; s++)
            narrow(t, (char *)at[s] + 2 * i, wide[s], m);
    }
}

/* Elements [0, n) at byte offset `of` of parameter and slots and `og` of the gradient. */
static void run(const ef_sweep *s, int64_t of, int64_t og, int64_t n) {
    const rule_row *r = &rules[s->rule];
    void *at[1 + EF_RULE_SLOTS] = {0};
    for (int j = 0; j <= r->slots; j++) at[j] = (char *)s->at[j] + of;
    const void *grad = (const char *)s->grad + og;
    if (s->dtype == EF_F16 || s->dtype == EF_BF16)
        halves(r, s->dtype, at, grad, n, s->k);
    else
        rule_of(r, s->dtype)(at, grad, n, s->k);
}

static double cost(const ef_sweep *s) {
    return rules[s->rule].cost_ns * (s->dtype == EF_F32                  ? 1
                                     : ef_dtype_in(s->dtype, EF_COMPLEX) ? 8
                                                                         : 2);
}

static void dense_range(void *arg, int64_t begin, int64_t end) {
    const ef_sweep *s = arg;
    int64_t size = (int64_t)ef_dtype_size(s->dtype);
    run(s, begin * size, begin * size, end - begin);
}

void ef_sweep_dense(const ef_sweep *s, int64_t n) {
    ef_parallel(n, 1024, cost(s), dense_range, (void *)s);
}

typedef struct sparse_job {
    const ef_sweep *s;
    const int64_t *index;
    int64_t rows, row;
} sparse_job;

/* Columns, not rows, are divided among threads: an index may occur twice, and its updates must be
 * applied in order. */
static void sparse_range(void *arg, int64_t begin, int64_t end) {
    const sparse_job *j = arg;
    int64_t size = (int64_t)ef_dtype_size(j->s->dtype);
    for (int64_t r = 0; r < j->rows; r++)
        run(j->s, (j->index[r] * j->row + begin) * size, (r * j->row + begin) * size, end - begin);
}

void ef_sweep_sparse(const ef_sweep *s, const int64_t *index, int64_t rows, int64_t row) {
    sparse_job job = {s, index, rows, row};
    ef_parallel(row, 64, cost(s) * (double)rows, sparse_range, &job);
}
