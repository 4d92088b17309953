/* The loops of softmax over one row, compiled for each kind of processor. */
#ifndef EF_KERNELS_SOFTMAX_ROWS_H
#define EF_KERNELS_SOFTMAX_ROWS_H
#include <stdbool.h>
#include <stdint.h>

/* Elements that are summed in their own type before the sum is widened. */
enum { EF_SOFTMAX_STRETCH = 512 };

/* n: number of elements, or of classes; functions whose names end in 64 work on doubles. Steps are
 * 0 (one value for all classes) or 1. */
typedef struct ef_softmax_rows {
    float (*highest)(const float *x, int64_t n);
    /* y = exp(x - m); returns their sum. */
    double (*exps)(const float *x, float *y, int64_t n, float m);
    double (*exp_sum)(const float *x, int64_t n, float m);
    void (*row)(bool log_too, const float *x, float *y, int64_t n);
    void (*row64)(bool log_too, const double *x, double *y, int64_t n);
    /* Returns the loss of one row and writes its gradient to back. For `sparse` back may be
     * NULL. */
    float (*entropy)(const float *x, int64_t x_step, const float *labels, int64_t label_step,
                     float *back, int64_t n);
    double (*entropy64)(const double *x, int64_t x_step, const double *labels, int64_t label_step,
                        double *back, int64_t n);
    float (*sparse)(const float *x, int64_t label, float *back, int64_t n);
    double (*sparse64)(const double *x, int64_t label, double *back, int64_t n);
} ef_softmax_rows;

extern const ef_softmax_rows ef_softmax_base; /* for the baseline processor */
/* For x86-64-v4 (AVX-512), if the compiler supports it. */
extern const ef_softmax_rows ef_softmax_v4;
#endif
