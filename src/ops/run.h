/* Runs one op at once on tensors: infer, pick the kernel, get memory, run. Eager calls, constant
 * folding, steps of unknown shape and tests all come through here. */
#ifndef EF_OPS_RUN_H
#define EF_OPS_RUN_H
#include "ops/op.h"

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
#endif
