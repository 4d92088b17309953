"""Ragged values and placeholders for sessions of TensorFlow 1."""
import numpy as np

from . import dtypes
from .namespace import export
from .ops.ragged import nested_splits
from .ragged import _KEY, RaggedTensor
from .ragged_value import value_of
from .session import placeholder


@export("compat.v1.ragged.constant_value")
def constant_value(pylist, dtype=None, ragged_rank=None, inner_shape=None, row_splits_dtype="int64"):
    """Converts nested Python lists to a RaggedTensorValue, or to a numpy array if no dimension is ragged."""
    dtype = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
    if not isinstance(pylist, (list, tuple, np.ndarray)):
        if ragged_rank:
            raise ValueError("Invalid pylist: a scalar has no ragged dimensions")
        return np.array(pylist, dtype)
    splits, items = nested_splits(pylist, ragged_rank, inner_shape)
    values = np.asarray(items) if dtype is None else np.asarray(items).astype(dtype)
    if inner_shape is not None:
        values = values.reshape([-1] + list(inner_shape))
    kind = dtypes.as_dtype(row_splits_dtype).as_numpy_dtype
    return value_of(values, [row.astype(kind) for row in splits])


@export("compat.v1.ragged.placeholder")
def ragged_placeholder(dtype, ragged_rank, value_shape=None, name=None):
    """A RaggedTensor whose value every run must feed. `value_shape` is the shape of one innermost value."""
    if ragged_rank == 0:
        return placeholder(dtype, value_shape, name)
    name = name or "RaggedPlaceholder"
    shape = None if value_shape is None else [None] + list(value_shape)
    made = placeholder(dtype, shape, name + "/flat_values")
    for level in reversed(range(ragged_rank)):
        made = RaggedTensor(made, placeholder(dtypes.int64, [None], f"{name}/row_splits_{level}"), _KEY)
    return made
