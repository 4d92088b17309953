"""The axes of ragged tensors: normalizing axis numbers, and expand_dims."""
from ..ragged import RaggedTensor, is_ragged
from .common import convert, known, raw


def axis_of(axis, rank):
    """An axis as a nonnegative number. Raises ValueError if it is out of range or unknown."""
    number = known(axis)
    if number is None or rank is None:
        raise ValueError("an axis of a ragged tensor, and its rank, must be known")
    number = int(number)
    if not -rank <= number < rank:
        raise ValueError(f"axis={number} out of bounds: expected {-rank}<=axis<{rank}")
    return number % rank


def expand_dims(x, axis):
    """tf.expand_dims of a ragged tensor."""
    axis = axis_of(axis, None if x.shape.rank is None else x.shape.rank + 1)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(x, x.nrows(), nrows=1, validate=False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(x, convert(1, x.row_splits.dtype), nrows=x.nrows(), validate=False)
    if is_ragged(x.values):
        return x.with_values(expand_dims(x.values, axis - 1))
    return x.with_values(raw.ExpandDims(x.values, axis - 1))
