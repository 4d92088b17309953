/* What the convolution ops share: one shape function, kernel and gradient for each direction; a
 * small tag tells which op they are used for. */
#ifndef EF_OPS_CONV_H
#define EF_OPS_CONV_H
#include "kernels/conv.h"
#include "ops/nn/window.h"

typedef struct ef_conv_op {
    int rank; /* number of image axes */
    bool depthwise;
    ef_conv_kind kind;
} ef_conv_op;

/* Shape inference of a convolution; checks everything that is known. */
ef_status *ef_conv_infer(ef_infer *i, ef_conv_op what);
/* The full description of a call; checks once more that the shapes agree. */
ef_status *ef_conv_describe(const ef_call *c, ef_conv_op what, ef_conv *out);
/* Kernel functions: by oneDNN and by our own loops, and the other columns of a kernel row. */
ef_status *ef_conv_call_dnnl(const ef_call *c, ef_conv_op what);
ef_status *ef_conv_call_direct(const ef_call *c, ef_conv_op what);
bool ef_conv_call_pays(const ef_call *c, ef_conv_op what);
ef_status *ef_conv_call_prepare(const ef_call *c, ef_conv_op what, void **state);

/* Gradients of a convolution and of its two gradient ops. Each of the three is differentiated by
 * the other two; `kind` is the one that is differentiated. */
typedef struct ef_conv_names {
    const char *forward, *input, *filter;
} ef_conv_names;
ef_status *ef_conv_grad(ef_grad *g, ef_conv_kind kind, const ef_conv_names *names);

/* Defines forward_grad, input_grad and filter_grad. */
#define EF_CONV_GRADS(...)                                    \
    static const ef_conv_names conv_names = {__VA_ARGS__};    \
    static ef_status *forward_grad(ef_grad *g) {              \
        return ef_conv_grad(g, EF_CONV_FORWARD, &conv_names); \
    }                                                         \
    static ef_status *input_grad(ef_grad *g) {                \
        return ef_conv_grad(g, EF_CONV_INPUT, &conv_names);   \
    }                                                         \
    static ef_status *filter_grad(ef_grad *g) {               \
        return ef_conv_grad(g, EF_CONV_FILTER, &conv_names);  \
    }

/* Defines NAME_shape, NAME_dnnl, NAME_direct, NAME_pays and NAME_prepare for one op. */
#define EF_CONV_FUNCTIONS(NAME, ...)                                      \
    static ef_status *NAME##_shape(ef_infer *i) {                         \
        return ef_conv_infer(i, (ef_conv_op){__VA_ARGS__});               \
    }                                                                     \
    static ef_status *NAME##_dnnl(const ef_call *c) {                     \
        return ef_conv_call_dnnl(c, (ef_conv_op){__VA_ARGS__});           \
    }                                                                     \
    static ef_status *NAME##_direct(const ef_call *c) {                   \
        return ef_conv_call_direct(c, (ef_conv_op){__VA_ARGS__});         \
    }                                                                     \
    static bool NAME##_pays(const ef_call *c) {                           \
        return ef_conv_call_pays(c, (ef_conv_op){__VA_ARGS__});           \
    }                                                                     \
    static ef_status *NAME##_prepare(const ef_call *c, void **state) {    \
        return ef_conv_call_prepare(c, (ef_conv_op){__VA_ARGS__}, state); \
    }
#define EF_CONV_KERNELS(NAME, DIRECT_TYPES)                                \
    {                                                                      \
        {EF_CPU,         EF_BIT(F32) | EF_BIT(F16) | EF_BIT(BF16),         \
         NAME##_dnnl,    NULL,                                             \
         NAME##_pays,    NAME##_prepare,                                   \
         ef_conv_release},                                                 \
            {EF_CPU, DIRECT_TYPES, NAME##_direct, NULL, NULL, NULL, NULL}, \
    }
#endif
