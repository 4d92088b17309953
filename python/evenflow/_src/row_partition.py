"""`tf.experimental.RowPartition`: how values are divided into rows, without the values.

A partition is that of a ragged tensor whose values are 0, 1, 2 ...; what a ragged tensor knows of its rows it knows too."""
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
        """Value k belongs to row value_rowids[k], which must ascend."""
        rows = _numbers(value_rowids, dtype, dtype_hint)
        return cls(RaggedTensor.from_value_rowids(_values(_core.raw.Shape(rows)[0]), rows, nrows, validate=validate), _KEY)

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """Row k begins at row_splits[k] and ends before row_splits[k + 1]."""
        splits = _numbers(row_splits, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_splits(_values(_last(splits)), splits, validate=validate), _KEY)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """Rows of the given lengths."""
        lengths = _numbers(row_lengths, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_lengths(_values(_core.raw.Sum(lengths, [0])), lengths, validate=validate), _KEY)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """Rows that begin at the given values."""
        starts = _numbers(row_starts, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_starts(_values(nvals), starts, validate=validate), _KEY)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """Rows that end before the given values."""
        limits = _numbers(row_limits, dtype, dtype_hint)
        return cls(RaggedTensor.from_row_limits(_values(_last(limits)), limits, validate=validate), _KEY)

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """Rows of one length."""
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        length = _numbers(uniform_row_length, dtype, dtype_hint, rank=0)
        if nvals is None:
            nvals = _core.raw.Mul(length, _core.convert(nrows, length.dtype))
        return cls(RaggedTensor.from_uniform_row_length(_values(nvals), length, nrows, validate=validate), _KEY)

    @property
    def dtype(self):
        """The dtype of the numbers that describe the rows."""
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
        """The length of all rows if they have one and it is known while tracing, else None."""
        return None if self._rows.uniform_row_length is None else _core.static_value(self._rows.uniform_row_length)

    def row_splits(self):
        """Where rows begin, and last the number of values."""
        return self._rows.row_splits

    def value_rowids(self):
        """The row of each value."""
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
        """Where each row begins."""
        return self._rows.row_starts()

    def row_limits(self):
        """Where each row ends."""
        return self._rows.row_limits()

    def uniform_row_length(self):
        """The length of all rows, or None if they were not made with one."""
        return self._rows.uniform_row_length

    def is_uniform(self):
        """Whether the rows were made with one length."""
        return self._rows.uniform_row_length is not None

    def offsets_in_rows(self):
        """The place of each value within its row."""
        numbers = _core.raw.Cast(self._rows.values, DstT=self.dtype)
        return _core.raw.Sub(numbers, _core.raw.GatherV2(self.row_starts(), self.value_rowids(), 0))

    def with_dtype(self, dtype):
        """The same rows described by numbers of another dtype."""
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
