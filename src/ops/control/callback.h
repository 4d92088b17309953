/* Callbacks into the user's program as resources. The op that calls one takes it as its first
 * input, so it is captured, counted and released like a variable, and graphs that differ only in
 * the functions they call have the same structure. */
#ifndef EF_OPS_CALLBACK_H
#define EF_OPS_CALLBACK_H
#include "ops/op.h"

/* in: counted or copied; the callee may keep copies. out: zeroed; tensors that are set are owned by
 * the caller afterwards, also on failure. */
typedef ef_status *ef_callback_fn(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                                  int n_out);
/* A handle that owns `user`: end(user) is called when the last copy of the handle is released, or
 * immediately if there is no memory. end may be NULL. */
ef_status *ef_callback_make(ef_callback_fn *run, void *user, void (*end)(void *),
                            ef_tensor *handle);
bool ef_op_calls_back(const ef_op *op); /* whether running it calls the user's program */
#endif
