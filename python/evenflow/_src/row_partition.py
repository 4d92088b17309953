"""`tf.experimental.RowPartition`: the division of values into rows, without the values.

It is implemented by a ragged tensor whose values are 0, 1, 2, ..., which computes everything about the rows."""
from . import _core, dtypes
from .namespace import export
from .ragged import RaggedTensor

_KEY = object()


@export("experimental.RowPartition")
class RowPartition:
    """A division of `nvals` values into `nrows` rows."""

    def __init__(self, rows, key=None):
        if key is not _KEY:
            raise ValueError("RowPartition constructor is private; please use one of the factory methods instead "
                             "(e.g., RowPartition.from_row_lengths())")
        self._rows = rows

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """A partition in which value k belongs to row value_rowids[k]. The row numbers must be sorted."""
        rows = _numbers(value_rowids, dtype, dtype_hint)
        return cls(RaggedTensor.from_value_rowids(_values(_core.raw.Shape(rows)[0]), rows, nrows, validate=validate), _KEY)

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """A partition whose row k begins at row_splits[k] and ends before row_splits[k + 1]."""
        splits = _numbers(row_splits, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_splits(_values(_last(splits)), splits, validate=validate), _KEY)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """A partition with rows of the given lengths."""
        lengths = _numbers(row_lengths, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_lengths(_values(_core.raw.Sum(lengths, [0])), lengths, validate=validate), _KEY)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """A partition whose row k begins at value row_starts[k]."""
        starts = _numbers(row_starts, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_starts(_values(nvals), starts, validate=validate), _KEY)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """A partition whose row k ends before value row_limits[k]."""
        limits = _numbers(row_limits, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_limits(_values(_last(limits)), limits, validate=validate), _KEY)

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """A partition whose rows all have the same length."""
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        length = _numbers(uniform_row_length, dtype, dtype_hint, rank=0)
        if nvals is None:
            nvals = _core.raw.Mul(length, _core.convert(nrows, length.dtype))
        return cls(RaggedTensor.from_uniform_row_length(_values(nvals), length, nrows, validate=validate), _KEY)

    @property
    def dtype(self):
        """The dtype of the row splits."""
        return self._rows.row_splits.dtype

    @property
    def static_nrows(self):
        """The number of rows if it is known while tracing, else None."""
        return self._rows.shape[0]

    @property
    def static_nvals(self):
        """The number of values if it is known while tracing, else None."""
        return self._rows.values.shape[0]

    @property
    def static_uniform_row_length(self):
        """The length of the rows if it is uniform and known while tracing, else None."""
        return None if self._rows.uniform_row_length is None else _core.static_value(self._rows.uniform_row_length)

    def row_splits(self):
        """The start of each row, followed by the number of values."""
        return self._rows.row_splits

    def value_rowids(self):
        """The row number of each value."""
        return self._rows.value_rowids()

    def nrows(self):
        """The number of rows."""
        return self._rows.nrows(out_type=self.dtype)

    def nvals(self):
        """The number of values."""
        return _last(self._rows.row_splits)

    def row_lengths(self):
        """The length of each row."""
        return self._rows.row_lengths()

    def row_starts(self):
        """The start of each row."""
        return self._rows.row_starts()

    def row_limits(self):
        """The end of each row."""
        return self._rows.row_limits()

    def uniform_row_length(self):
        """The length of the rows, or None if the partition was not created with a uniform length."""
        return self._rows.uniform_row_length

    def is_uniform(self):
        """Whether the partition was created with a uniform row length."""
        return self._rows.uniform_row_length is not None

    def offsets_in_rows(self):
        """The position of each value within its row."""
        numbers = _core.raw.Cast(self._rows.values, DstT=self.dtype)
        return _core.raw.Sub(numbers, _core.raw.GatherV2(self.row_starts(), self.value_rowids(), 0))

    def with_dtype(self, dtype):
        """The same partition with row splits of another dtype."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `dtype` must be int32 or int64. Received {dtype}.")
        return RowPartition(self._rows.with_row_splits_dtype(dtype), _KEY)

    def __repr__(self):
        if self.is_uniform():
            return f"tf.RowPartition(nrows={_shown(self.nrows())}, uniform_row_length={_shown(self.uniform_row_length())})"
        return f"tf.RowPartition(row_splits={_shown(self.row_splits())})"


def _numbers(value, dtype, hint, rank=1):
    if dtype is None and not (hasattr(value, "dtype") and value.dtype in (dtypes.int32, dtypes.int64)):
        dtype = hint or dtypes.int64
    made = _core.convert(value) if dtype is None else _core.convert(value, dtypes.as_dtype(dtype))
    made.shape.assert_has_rank(rank)
    return made


def _last(numbers):
    return numbers[-1]


def _values(count):
    count = _core.convert(count)
    return _core.raw.Range(_core.convert(0, count.dtype), count, _core.convert(1, count.dtype))


def _shown(tensor):
    known = _core.static_value(tensor)
    return "<unknown>" if known is None else str(known)
