"""Helpers of the op families: entry points of the C extension, and small functions about shapes and values."""
import numpy as np

from .. import _core, dtypes
from ..composite import IndexedSlices, SparseTensor

raw = _core.raw
convert = _core.convert
static_shape = _core.static_shape
static_value = _core.static_value
seen_size = _core.seen_size  # the sizes of the call that is being traced: see python/ext/static_values.c
seen_shape = _core.seen_shape
sizes_agree = _core.sizes_agree
is_symbolic = _core.is_symbolic
is_named = _core.is_named
executing_eagerly = _core.executing_eagerly
Tensor = _core.Tensor
CoreTensor = _core.CoreTensor  # the base class of tensors and variables

__all__ = [
    "CoreTensor",
    "IndexedSlices",
    "SparseTensor",
    "Tensor",
    "convert",
    "dtypes",
    "exchanged",
    "executing_eagerly",
    "is_named",
    "is_symbolic",
    "known",
    "like",
    "normal_axis",
    "np",
    "pair",
    "raw",
    "rank_of",
    "seen",
    "seen_shape",
    "seen_size",
    "shape_value",
    "sizes_agree",
    "static_shape",
    "static_value",
]


rank_of = _core.rank  # the rank of a tensor if it is known, else None


def known(value):
    """The numpy value of a tensor, array or Python value; None if it is known only when a graph runs."""
    if isinstance(value, Tensor):
        return static_value(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        parts = [known(v) for v in value]
        return None if any(p is None for p in parts) else np.array(parts)
    if hasattr(value, "__tf_tensor__") or hasattr(value, "handle"):
        return static_value(convert(value))
    return np.asarray(value)


def seen(value):
    """Like `known`, but the sizes of the call that is being traced count as known."""
    if isinstance(value, Tensor):
        return _core.seen_value(value)
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        parts = [seen(v) for v in value]
        return None if any(p is None for p in parts) else np.array(parts)
    return known(value)


def like(value, tensor):
    """`value` as a tensor of the dtype of `tensor`."""
    return convert(value, tensor.dtype)


def pair(x, y):
    """Two operands as tensors. The second is converted to the dtype of the first if possible."""
    x = convert(x)
    return x, convert(y, None, x.dtype)


def shape_value(x, out_type=dtypes.int32):
    """The shape of `x` as a numpy array if it is known, else as a tensor."""
    dims = static_shape(x)
    if dims is None or None in dims:
        return raw.Shape(x, out_type)
    return np.array(dims, out_type.as_numpy_dtype)


def normal_axis(axis, rank, word="axis"):
    """`axis` as a nonnegative number. Raises ValueError if it is not in [-rank, rank)."""
    axis = int(axis)
    if rank is None:
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"{word} {axis} is out of range: it must lie in [{-rank}, {rank})")
    return axis + rank if axis < 0 else axis


def exchanged(axis, rank):
    """The permutation that swaps `axis` and the last dimension."""
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    return perm
