/* Runs one op at once on tensors: infer, pick the kernel, get memory, run. Eager calls, constant
 * folding, steps of unknown shape and tests all come through here. */
#ifndef EF_OPS_RUN_H
#define EF_OPS_RUN_H
#include "ops/op.h"
#include "tensor/away.h"

/* in[k] are settled. out[k] are zeroed tensors; on success they own their data. */
ef_status *ef_op_run(ef_context *context, const ef_op *op, const void *attrs, ef_tensor *const *in,
                     int n_in, ef_tensor *out, int max_out, int *n_out);
/* A small elementwise op on operands of one dtype and shape: nothing to infer, nothing to allocate.
 * False: not such a case; nothing was done. */
bool ef_op_run_small(const ef_op *op, const void *attrs, ef_tensor *const *in, int n_in,
                     ef_tensor *out);
/* What inference may know of a tensor that exists. `handle` gives room for a resource's fact. */
void ef_fact_of(const ef_tensor *t, ef_fact *fact, ef_fact *handle);
/* The part after inference: facts of the outputs are given. */
ef_status *ef_op_execute(ef_context *context, const ef_op *op, const void *attrs,
                         ef_tensor *const *in, int n_in, const ef_fact *facts, ef_tensor *out,
                         int n_out);

/* run_away.c: the same on any device. in[k] are settled or on a device; they are copied to where
 * the op runs, which is the host if it has no kernel for the device. */
ef_status *ef_op_run_on(ef_context *context, int device, const ef_op *op, const void *attrs,
                        ef_tensor *const *in, int n_in, ef_tensor *out, int max_out, int *n_out);
/* A kernel on a device's queue. It is kept by the submitter until the batch was waited for. */
typedef struct ef_queued {
    ef_work work; /* first */
    ef_kernel_fn *run;
    ef_call call;   /* op, attrs, counts, state */
    ef_tensor *arg; /* room for n_in + n_out of each */
    ef_tensor **ptr;
    void *scratch; /* memory of the device, or NULL */
    int32_t node;  /* that a failure names; -1: none */
} ef_queued;
void ef_queued_submit(ef_queued *q, ef_batch *b, ef_tensor *const *in, ef_tensor *const *out);
#endif
