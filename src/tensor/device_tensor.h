/* Values on devices other than the host. Such a tensor has `device` set and storage that holds an
 * address of the device. To the host it looks like a deferred one: its data is NULL until somebody
 * materializes it, which copies the elements to host memory, once, and keeps them beside the
 * original for as long as the value lives. So code that knows nothing of devices works with any
 * tensor. */
#ifndef EF_TENSOR_DEVICE_TENSOR_H
#define EF_TENSOR_DEVICE_TENSOR_H
#include "device/device.h"
#include "tensor/tensor.h"

/* Uninitialised memory on a device other than the host. Plain dtypes only; out need not be zeroed.
 */
ef_status *ef_device_tensor_alloc(int device, ef_dtype dtype, const ef_shape *shape,
                                  ef_tensor *out);
/* The address on its device of a tensor that is there. */
void *ef_device_tensor_address(const ef_tensor *t);
/* The value of src on `device`, which may be the host, as a tensor that no tape records; src is
 * materialized if it is deferred. Elements are copied only if they are not there yet. */
ef_status *ef_tensor_to(int device, const ef_tensor *src, ef_tensor *dst);
/* The same as part of a batch; the batch's earlier work on its device comes first. */
ef_status *ef_device_tensor_upload(ef_batch *b, const ef_tensor *src,
                                   ef_tensor *dst); /* host to device */
ef_status *ef_device_tensor_download(ef_batch *b, const ef_tensor *src,
                                     ef_tensor *dst); /* device to host */
#endif
