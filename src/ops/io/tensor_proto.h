/* Tensors as TensorProto messages. */
#ifndef EF_OPS_TENSOR_PROTO_H
#define EF_OPS_TENSOR_PROTO_H
#include "base/text.h"
#include "tensor/tensor.h"

/* Appends the fields of a TensorProto: elements as raw bytes, strings one by one. */
void ef_tensor_proto_put(ef_text *out, const ef_tensor *x);
#endif
