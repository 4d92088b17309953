/* What batch normalisation and its gradient share. */
#ifndef EF_OPS_BATCH_NORM_H
#define EF_OPS_BATCH_NORM_H
#include "kernels/batch_norm.h"
#include "ops/op.h"

typedef struct norm_attrs {
    float epsilon, exponential_avg_factor;
    int data_format; /* 0 NHWC, 1 NCHW, 2 NDHWC, 3 NCDHW */
    bool is_training;
} norm_attrs;

int ef_norm_axis(int data_format, int rank); /* the axis of the channels */
/* Checks the rank of input k against the format and sets its number of channels. */
ef_status *ef_norm_check(const ef_infer *i, int k, int data_format, int64_t *channels);
ef_status *ef_norm_check_vector(const ef_infer *i, int k, const char *name, int64_t *channels);
ef_norm ef_norm_view(const ef_tensor *x, int data_format, float epsilon);
#endif
