"""Constants of a graph. TensorFlow converts them with numpy, which may choose another dtype than an eager conversion: an
array is cast by numpy's rules, the numbers of a list get the dtype that numpy finds for all of them, and a requested dtype
decides which Python types are accepted as leaves."""
import numbers

import numpy as np

from . import _core, dtypes, nest
from .namespace import export, front

# Kind of the requested dtype -> the classes that the leaves of a list may have.
_LEAVES = {"F": (numbers.Real, np.integer, np.floating), "I": (numbers.Integral, np.integer), "C": (numbers.Complex, np.number),
           "B": (bool,), "S": (str, bytes)}


def _kind(dtype):
    for letter, holds in (("I", dtype.is_integer), ("F", dtype.is_floating), ("C", dtype.is_complex), ("B", dtype.is_bool)):
        if holds:
            return letter
    return "S" if dtype is dtypes.string else None


def _is_leaf(value, kinds):
    return isinstance(value, kinds) or isinstance(value, np.ndarray) and issubclass(value.dtype.type, kinds)


def _first_number(value):
    """The first leaf of nested lists that is no tuple, or None. numpy writes a quantized number as a tuple of length one."""
    if not isinstance(value, list):
        return None if isinstance(value, (tuple, np.ndarray, np.generic)) else value
    return next((leaf for leaf in map(_first_number, value) if leaf is not None), None)


def _check_leaves(value, dtype):
    """Raises TypeError for a leaf that does not fit the dtype. Without a dtype, only symbolic tensors are rejected."""
    if dtype is not None and dtype.is_quantized:
        leaf = _first_number(value)
        if leaf is not None:
            raise TypeError(f"Expected {dtype.name}, but got {leaf!r} of type {type(leaf).__name__!r}.")
        return
    kind = None if dtype is None else _kind(dtype)
    for leaf in nest.flatten(value):
        if isinstance(leaf, _core.SymbolicTensor) if kind is None else not _is_leaf(leaf, _LEAVES[kind]):
            wanted = "a value" if dtype is None else dtype.name
            raise TypeError(f"Expected {wanted}, but got {leaf!r} of type {type(leaf).__name__!r}.")


def _is_array_like(value):
    if isinstance(value, _core.SymbolicTensor):
        return False
    if callable(getattr(value, "__array__", None)) or isinstance(getattr(value, "__array_interface__", None), dict):
        return True
    try:
        memoryview(value)
    except TypeError:
        return False
    return not isinstance(value, bytes)


def _list_sizes(value):
    """The shape of nested lists, read from the first element of each list."""
    sizes = []
    while isinstance(value, (list, tuple)):
        sizes.append(len(value))
        if not value:
            break
        value = value[0]
    return sizes


def _from_lists(value, dtype, shape):
    """Converts a value that is not array-like, such as a number or nested lists, to an array."""
    if value is None:
        raise ValueError("None is no value for a tensor.")
    element = dtype.as_numpy_dtype if dtype is not None and dtype.is_numpy_compatible else None
    if shape is not None and np.prod(shape, dtype=np.int64) == 0:
        array = np.empty(shape, element)
    else:
        _check_leaves(value, dtype)
        numeric = element is not None and np.issubdtype(element, np.number)
        array = np.array(value).astype(element) if numeric else np.array(value, element)  # astype wraps around
        if list(array.shape) != _list_sizes(value):
            raise ValueError(f"Expected {value!r} to be a dense tensor of shape {_list_sizes(value)}, but numpy sees {list(array.shape)}.")
    if dtype is None and array.dtype == np.float64:
        return array.astype(np.float32)
    if dtype is None and array.dtype == np.int64 and np.array_equal(narrow := array.astype(np.int32), array):
        return narrow
    return array


def _flat(value):
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _flat(v)
    else:
        yield value


def _check_text(values):
    for leaf in values:
        if not isinstance(leaf, (str, bytes, bytearray)):
            raise TypeError(f"Failed to convert {leaf!r} to an element of a Tensor: it is not text.")


def graph_array(value, dtype=None, shape=None):
    """(the value of a constant as an array, its dtype). A `shape` reshapes the value, or repeats a single element."""
    given = dtype is not None
    if given and dtype:
        dtype = dtypes.as_dtype(dtype)
    if _is_array_like(value):
        value = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value.astype(dtype.as_numpy_dtype) if given and dtype and dtype.is_numpy_compatible else value)
    elif given and not isinstance(dtype, dtypes.DType):
        if value is None:
            raise ValueError("None is no value for a tensor.")
        np.prod(() if shape is None else shape, dtype=np.int64)  # an invalid shape raises first, as in TensorFlow
        raise TypeError(f"{dtype!r} names no dtype")
    else:
        array = _from_lists(value, dtype, shape)
    found = dtypes.as_dtype(array.dtype)
    if given and dtype != found:
        raise TypeError(f"{dtype!r} is not the dtype of {value!r}, which numpy takes as {array.dtype}.")
    if shape is not None:
        shape = [int(size) for size in shape]
        if array.shape not in ((), (1,)) and array.size != np.prod(shape, dtype=np.int64):
            raise TypeError(f"a constant of shape {array.shape} cannot have the shape {tuple(shape)}")
        if any(size < 0 for size in shape):
            raise ValueError(f"Dimension {min(shape)} must be >= 0")
        array = array.reshape(shape) if array.size == np.prod(shape) else np.broadcast_to(array.reshape(()), shape)
    if found is dtypes.string:  # checks the original value, which matters for an empty constant
        _check_text(value.ravel() if isinstance(value, np.ndarray) else _flat(value))
    return array, found


@export("convert_to_tensor")
@front("convert_to_tensor")
def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """Converts `value` to a Tensor. Raises ValueError or TypeError if that is not possible."""
    tensor = _core.convert(value, dtype, dtype_hint)
    if tensor is not value and not _core.executing_eagerly() and not _core.is_symbolic(tensor):
        return constant_node(tensor, name)
    return tensor if tensor is value else _core.device_place(tensor)


def constant_node(tensor, name=None):
    """Adds a Const op to the graph being built and returns its output."""
    return _core.raw.Const(value=tensor, dtype=tensor.dtype, name=name or "Const")
