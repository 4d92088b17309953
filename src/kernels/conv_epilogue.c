/* The epilogue of a convolution, for primitives that do not apply it themselves: bias, addend,
 * activation. */
#include "base/pool.h"
#include "kernels/conv.h"
#include <math.h>

typedef struct job {
    const ef_conv *c;
    const ef_conv_data *d;
} job;

#define ACTIVATE(NAME, NUM, EXP, TANH)                                      \
    static inline NUM NAME(int kind, NUM x, NUM alpha) {                    \
        switch ((ef_activation)kind) {                                      \
        case EF_ACT_RELU: return x > 0 ? x : x != x ? x : 0;                \
        case EF_ACT_RELU6: return x > 0 ? (x < 6 ? x : 6) : x != x ? x : 0; \
        case EF_ACT_ELU: return x < 0 ? EXP(x) - 1 : x;                     \
        case EF_ACT_LEAKY_RELU: return x > 0 ? x : x * alpha;               \
        case EF_ACT_TANH: return TANH(x);                                   \
        case EF_ACT_SIGMOID: return 1 / (1 + EXP(-x));                      \
        case EF_ACT_NONE: break;                                            \
        }                                                                   \
        return x;                                                           \
    }
ACTIVATE(activate_f32, float, expf, tanhf)
ACTIVATE(activate_f64, double, exp, tanh)

#define SPAN(NAME, NUM, ACT)                                            \
    static void NAME(void *arg, int64_t begin, int64_t end) {           \
        const job *j = arg;                                             \
        const ef_window_box *b = &j->c->box;                            \
        const NUM *bias = j->d->bias, *add = j->d->add;                 \
        NUM *out = j->d->out;                                           \
        int64_t inner = b->channels_first ? ef_volume(b->out) : 1;      \
        for (int64_t i = begin; i < end; i++) {                         \
            NUM x = out[i];                                             \
            if (j->c->has_bias) x += bias[i / inner % b->out_channels]; \
            if (j->c->has_add) x += add[i];                             \
            out[i] = ACT(j->c->activation, x, (NUM)j->c->alpha);        \
        }                                                               \
    }
SPAN(span_f32, float, activate_f32)
SPAN(span_f64, double, activate_f64)

void ef_conv_epilogue(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    job j = {c, d};
    const ef_window_box *b = &c->box;
    ef_parallel(b->batch * b->out_channels * ef_volume(b->out), 1024, 2.0,
                t == EF_F64 ? span_f64 : span_f32, &j);
}
