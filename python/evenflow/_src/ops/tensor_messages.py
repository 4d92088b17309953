"""tf.make_tensor_proto and tf.make_ndarray: conversion between arrays and TensorProto messages."""
from ..event_messages import message
from ..graph import eagerly
from ..namespace import export
from .common import Tensor, convert, dtypes, np, raw

_FIELDS = {  # kind of a dtype -> field of a message with a single element
    dtypes.float32: "float_val", dtypes.float64: "double_val", dtypes.int64: "int64_val", dtypes.bool: "bool_val",
    dtypes.uint32: "uint32_val", dtypes.uint64: "uint64_val", dtypes.float16: "half_val", dtypes.bfloat16: "half_val",
    dtypes.complex64: "scomplex_val", dtypes.complex128: "dcomplex_val", dtypes.string: "string_val",
}


def _array(values, dtype):
    """(array, dtype) of these values, with the dtype that a tensor of them would have."""
    if isinstance(values, Tensor):
        raise TypeError("make_tensor_proto takes arrays and Python values, not tensors; call .numpy() on it")
    with eagerly():
        tensor = convert(values, dtype)
    return np.asarray(tensor.numpy(), object if tensor.dtype == dtypes.string else None), tensor.dtype


@export("make_tensor_proto", "compat.v1.make_tensor_proto")
def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto with these values."""
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    kind = message("TensorProto")
    if isinstance(values, kind):
        return values
    array, dtype = _array(values, None if dtype is None else dtypes.as_dtype(dtype))
    if shape is not None:
        shape = [int(d) for d in shape]
        if verify_shape and shape != list(array.shape):
            raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, but got {array.shape}.")
        if allow_broadcast and array.size > 1 and shape != list(array.shape):
            array = np.broadcast_to(array, shape)
        elif not verify_shape and array.size != int(np.prod(shape)) and array.size != 1:
            raise ValueError(f"{array.size} values do not fit the shape {shape}")
    made = kind(dtype=dtype.as_datatype_enum)
    made.tensor_shape.SetInParent()
    for size in array.shape if shape is None else shape:
        made.tensor_shape.dim.add(size=size)
    if array.size > 1 and dtype != dtypes.string:
        made.tensor_content = np.ascontiguousarray(array).tobytes()
        return made
    getattr(made, _FIELDS.get(dtype, "int_val")).extend(_elements(array, dtype))
    return made


def _elements(array, dtype):
    if dtype in (dtypes.float16, dtypes.bfloat16):
        return array.reshape(-1).view(np.uint16).tolist()
    if dtype in (dtypes.complex64, dtypes.complex128):
        return [part for v in array.reshape(-1).tolist() for part in (v.real, v.imag)]
    return array.reshape(-1).tolist()


@export("make_ndarray", "compat.v1.make_ndarray")
def make_ndarray(tensor):
    """The array that a TensorProto holds."""
    dtype = dtypes.as_dtype(tensor.dtype)
    with eagerly():
        made = raw.ParseTensor(tensor.SerializeToString(), dtype).numpy()
    return np.array(made, object if dtype == dtypes.string else None)
