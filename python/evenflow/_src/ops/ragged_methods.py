"""The methods of RaggedTensor that compute. They are added here, because ops/ragged.py imports the class."""
from .. import _core, dtypes
from ..ragged import RaggedTensor
from . import ragged


def _method(function):
    setattr(RaggedTensor, function.__name__, function)
    function.__qualname__ = f"RaggedTensor.{function.__name__}"
    return function


def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
    """Makes a ragged tensor from the rows of a dense tensor: whole rows, rows of given lengths, or rows without the padding
    at their ends."""
    return ragged.from_tensor(cls, _core.convert(tensor), lengths, padding, ragged_rank, dtypes.as_dtype(row_splits_dtype))


RaggedTensor.from_tensor = classmethod(from_tensor)


@_method
def to_tensor(self, default_value=None, name=None, shape=None):
    """A dense tensor in which short rows are padded with `default_value`."""
    return ragged.to_tensor(self, default_value, shape)


@_method
def to_sparse(self, name=None):
    """A SparseTensor with the same elements."""
    return ragged.to_sparse(self)


@_method
def merge_dims(self, outer_axis, inner_axis):
    """Merges the dimensions from outer_axis to inner_axis into one."""
    return ragged.merge_dims(self, outer_axis, inner_axis)


@_method
def __getitem__(self, key):  # noqa: N807
    return ragged.getitem(self, key)
