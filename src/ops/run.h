/* Runs one op immediately on tensors: infers shapes, chooses the kernel, allocates the outputs,
 * runs. Eager calls, constant folding, plan steps of unknown shape and tests all use these
 * functions. */
#ifndef EF_OPS_RUN_H
#define EF_OPS_RUN_H
#include "ops/op.h"
#include "tensor/device_tensor.h"

/* in[k] are materialized, that is not deferred. out[k] are zeroed tensors; on success they own
 * their data. */
ef_status *ef_op_run(ef_context *context, const ef_op *op, const void *attrs, ef_tensor *const *in,
                     int n_in, ef_tensor *out, int max_out, int *n_out);
/* The same for a caller that reads some outputs only. Bit k of `unread`: out[k] is never read, so
 * its elements may be left undefined. */
ef_status *ef_op_run_some(ef_context *context, const ef_op *op, const void *attrs,
                          ef_tensor *const *in, int n_in, uint32_t unread, ef_tensor *out,
                          int max_out, int *n_out);
/* run_small.c: runs a small elementwise op whose operands have one dtype and shape, so that nothing
 * is inferred or allocated. n_in is at least 1; `out` need not be zeroed. Returns false, having
 * done nothing, if the call is not of this kind. */
bool ef_op_run_small(const ef_op *op, const void *attrs, ef_tensor *const *in, int n_in,
                     ef_tensor *out);
bool ef_op_may_be_small(const ef_op *op); /* whether some call of it without attributes is */
/* The fact of an existing tensor, for inference. `handle` is space for the fact of a resource's
 * value. */
void ef_fact_of(const ef_tensor *t, ef_fact *fact, ef_fact *handle);
/* The part after inference: takes the facts of the outputs. */
ef_status *ef_op_execute(ef_context *context, const ef_op *op, const void *attrs,
                         ef_tensor *const *in, int n_in, const ef_fact *facts, uint32_t unread,
                         ef_tensor *out, int n_out);

/* run_on_device.c: the same on any device. in[k] are materialized or on a device; they are copied
 * to the device that runs the op, or to the host if the op has no kernel for the device. */
ef_status *ef_op_run_on(ef_context *context, int device, const ef_op *op, const void *attrs,
                        ef_tensor *const *in, int n_in, ef_tensor *out, int max_out, int *n_out);
/* A kernel on a device's queue. The submitter keeps it alive until it has waited for the batch. */
typedef struct ef_queued {
    ef_work work; /* first */
    ef_kernel_fn *run;
    ef_call call;   /* op, attrs, counts, state */
    ef_tensor *arg; /* space for n_in + n_out of each */
    ef_tensor **ptr;
    void *scratch; /* memory of the device, or NULL */
    int32_t node;  /* graph node that an error names; -1: none */
} ef_queued;
void ef_queued_submit(ef_queued *q, ef_batch *b, ef_tensor *const *in, ef_tensor *const *out);
#endif
