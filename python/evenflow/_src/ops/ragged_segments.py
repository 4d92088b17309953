"""The numbers of the rows of values, and row splits made from them."""
from ..namespace import export
from ..ragged import RaggedTensor, _need_rank, _partition, row_numbers
from ..tensors import convert_to_tensor
from .common import Tensor, dtypes, np, raw, static_shape


def _integer_vector(x, name):
    x = convert_to_tensor(x, None if isinstance(x, (Tensor, np.ndarray)) else dtypes.int64, name=name)
    if not x.dtype.is_integer:
        raise TypeError(f"Argument `tensor` (name: {name}) must be of type integer. Received `tensor` = {x} of dtype: {x.dtype.name}")
    _need_rank(x, 1, name)
    return _partition(x if x.dtype in (dtypes.int32, dtypes.int64) else raw.Cast(x, dtypes.int64))


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits, name=None, out_type=None):
    """The row number of each value."""
    splits = _integer_vector(splits, "splits")
    if static_shape(splits) == (0,):
        raise ValueError("Invalid row_splits: []")
    rows = row_numbers(raw.Sub(splits, splits[0]))
    return rows if out_type is None else raw.Cast(rows, dtypes.as_dtype(out_type))


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(segment_ids, num_segments=None, out_type=None, name=None):
    """The row splits for the row numbers of values."""
    ids = _integer_vector(segment_ids, "segment_ids")
    made = RaggedTensor.from_value_rowids(ids, ids, num_segments, validate=False).row_splits
    return made if out_type is None else raw.Cast(made, dtypes.as_dtype(out_type))
