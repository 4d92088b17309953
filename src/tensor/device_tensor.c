/* Storage of tensors on other devices, and copies of whole tensors between devices. */
#include "tensor/device_tensor.h"
#include "base/alloc.h"

typedef struct device_storage {
    ef_storage base; /* data: a copy of the elements on the host; NULL until one is needed */
    void *there;     /* their address on the device */
} device_storage;

static void device_end(ef_storage *self) {
    device_storage *a = (device_storage *)self;
    ef_memory_free(EF_HOST, self->data, self->bytes);
    ef_memory_free(self->device, a->there, self->bytes);
    ef_free(a);
}

/* Several threads may fetch the elements at the same time: the first copy that is done stays. */
static ef_status *bring(ef_batch *b, device_storage *a) {
    if (ef_storage_data(&a->base) != NULL) return NULL;
    void *here = NULL, *none = NULL;
    EF_TRY(ef_memory_alloc(EF_HOST, a->base.bytes, &here));
    ef_status *s = ef_device_copy(b, EF_COPY_TO_HOST, here, a->there, a->base.bytes);
    if (s != NULL ||
        !atomic_compare_exchange_strong_explicit((_Atomic(void *) *)&a->base.data, &none, here,
                                                 memory_order_acq_rel, memory_order_acquire))
        ef_memory_free(EF_HOST, here, a->base.bytes);
    return s;
}

static ef_status *fetch_to_host(ef_storage *self) {
    ef_batch b = {.device = self->device};
    return bring(&b, (device_storage *)self);
}

ef_status *ef_device_tensor_alloc(int device, ef_dtype dtype, const ef_shape *shape,
                                  ef_tensor *out) {
    if (!ef_dtype_in(dtype, EF_PLAIN) || !ef_shape_known(shape))
        return ef_error(EF_INTERNAL, "%s: %s %s cannot be stored on a device",
                        ef_device_name(device), ef_dtype_name(dtype), EF_SHAPE(shape));
    device_storage *a = ef_malloc(sizeof *a);
    if (a == NULL) return ef_no_memory(sizeof *a);
    size_t bytes = (size_t)ef_shape_count(shape) * ef_dtype_size(dtype);
    *a = (device_storage){.base = {.device = (uint8_t)device,
                                   .kind = EF_STORE_DEVICE,
                                   .bytes = bytes,
                                   .end = device_end,
                                   .materialize = fetch_to_host}};
    atomic_init(&a->base.refs, 1);
    ef_status *s = ef_memory_alloc(device, bytes, &a->there);
    if (s != NULL) {
        ef_free(a);
        return s;
    }
    memset(out, 0, sizeof *out);
    ef_tensor_shape_set(out, dtype, shape);
    out->device = (uint8_t)device;
    out->storage = &a->base;
    return NULL;
}

void *ef_device_tensor_address(const ef_tensor *t) { return ((device_storage *)t->storage)->there; }

static bool is_on_device(const ef_tensor *t, int device) {
    return t->storage != NULL && t->storage->kind == EF_STORE_DEVICE &&
           t->storage->device == device;
}

/* The same storage seen as a tensor of `device`. */
static void seen_on(int device, const ef_tensor *src, ef_tensor *dst) {
    ef_tensor_copy(dst, src);
    ef_tensor_unmark(dst);
    dst->flags = 0;
    dst->device = (uint8_t)device;
    if (dst->storage != NULL && dst->storage->kind == EF_STORE_DEVICE)
        dst->data = ef_storage_data(dst->storage);
}

ef_status *ef_device_tensor_upload(ef_batch *b, const ef_tensor *src, ef_tensor *dst) {
    if (is_on_device(src, b->device)) { /* it came from there */
        seen_on(b->device, src, dst);
        return NULL;
    }
    const void *from;
    ef_tensor t;
    ef_shape shape = ef_shape_from(src);
    EF_TRY(ef_tensor_data(src, &from));
    EF_TRY(ef_device_tensor_alloc(b->device, (ef_dtype)src->dtype, &shape, &t));
    ef_status *s =
        ef_device_copy(b, EF_COPY_TO_DEVICE, ef_device_tensor_address(&t), from, t.storage->bytes);
    if (s != NULL)
        ef_tensor_release(&t);
    else
        ef_tensor_move(dst, &t);
    return s;
}

ef_status *ef_device_tensor_download(ef_batch *b, const ef_tensor *src, ef_tensor *dst) {
    EF_TRY(bring(b, (device_storage *)src->storage));
    seen_on(EF_HOST, src, dst);
    return NULL;
}

ef_status *ef_tensor_to(int device, const ef_tensor *src, ef_tensor *dst) {
    ef_batch b = {.device = device};
    if (src->device == device || !ef_dtype_in((ef_dtype)src->dtype, EF_PLAIN)) {
        seen_on(src->device, src, dst);
        return NULL;
    }
    if (device != EF_HOST) return ef_device_tensor_upload(&b, src, dst); /* by way of the host */
    b.device = src->device;
    return ef_device_tensor_download(&b, src, dst);
}
