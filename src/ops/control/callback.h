/* Callbacks into the program as resources: the op that calls one takes it as its first input, so it
 * is captured, counted and ended like a variable, and graphs that differ only in what they call
 * have one structure. */
#ifndef EF_OPS_CALLBACK_H
#define EF_OPS_CALLBACK_H
#include "ops/op.h"

/* in: counted or copied, the callee may keep copies. out: zeroed; what is set is taken over, also
 * on failure. */
typedef ef_status *ef_callback_fn(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                                  int n_out);
/* A handle that owns `user`: end(user) is called with the last copy of the handle, or at once if
 * there is no memory. end may be NULL. */
ef_status *ef_callback_make(ef_callback_fn *run, void *user, void (*end)(void *),
                            ef_tensor *handle);
bool ef_op_calls_back(const ef_op *op); /* whether running it calls the program */
#endif
