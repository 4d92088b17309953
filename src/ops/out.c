/* How a kernel returns results whose memory was not allocated before it runs. */
#include "ops/op.h"

ef_status *ef_out_alloc(const ef_call *c, int k, const ef_shape *shape) {
    ef_tensor *t = c->out[k];
    ef_shape has = ef_shape_from(t);
    bool laid_out = t->storage == NULL && t->data != NULL && t->data != (void *)t->small;
    if (laid_out && ef_shape_equal(&has, shape))
        return NULL; /* the plan had allocated it: its shape was known */
    ef_dtype dtype = (ef_dtype)t->dtype;
    ef_tensor fresh = {0};
    EF_TRY(ef_tensor_alloc(&fresh, dtype, shape));
    ef_tensor_release(t);
    ef_tensor_move(t, &fresh);
    return NULL;
}

/* Sharing copies the tensor's header: storage gets one more reference, small data is copied.
 * Borrowed memory has no reference count, so it is cloned. */
ef_status *ef_out_share(const ef_call *c, int k, const ef_tensor *t) {
    ef_tensor fresh = {0};
    EF_TRY(ef_tensor_keep(&fresh, t));
    ef_tensor_unmark(&fresh);
    fresh.flags &= (uint8_t)~EF_TENSOR_WATCHED;
    ef_tensor_release(c->out[k]);
    ef_tensor_move(c->out[k], &fresh);
    return NULL;
}

void ef_out_object(const ef_call *c, int k, ef_object *o) {
    ef_tensor *t = c->out[k];
    ef_dtype dtype = (ef_dtype)t->dtype;
    ef_tensor_release(t);
    ef_tensor_from_object(t, dtype, o);
}
