/* The activations that a matrix product or a convolution may apply to its results while they are in
 * the cache. */
#ifndef EF_KERNELS_ACTIVATION_H
#define EF_KERNELS_ACTIVATION_H

typedef enum ef_activation {
    EF_ACT_NONE,
    EF_ACT_RELU,
    EF_ACT_RELU6,
    EF_ACT_ELU,
    EF_ACT_TANH,
    EF_ACT_SIGMOID,
    EF_ACT_LEAKY_RELU
} ef_activation;
enum { EF_ACTS = EF_ACT_LEAKY_RELU + 1 }; /* their number */
#endif
