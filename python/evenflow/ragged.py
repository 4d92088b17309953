"""RaggedTensor: rows of different lengths, as flat values and where each row begins. A holder, as the sparse ones are."""
from . import _core, nest
from .composite import CompositeTensor, RaggedTensorSpec
from .namespace import offer
from .shapes import TensorShape

raw = _core.raw


class RaggedTensor(CompositeTensor):
    """Rows `values[row_splits[i]:row_splits[i + 1]]`; `values` may be ragged itself."""

    __module__ = "tensorflow.python.ops.ragged.ragged_tensor"

    def __init__(self, values, row_splits, internal=False):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                             "RaggedTensor.from_row_lengths())")
        self._values = values
        self._row_splits = row_splits

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Rows by where each begins, and where the last ends."""
        values = values if isinstance(values, RaggedTensor) else _core.convert(values)
        splits = _core.convert(row_splits, None, "int64")
        if splits.dtype.name not in ("int32", "int64"):
            raise ValueError(f"row_splits must be int32 or int64, not {splits.dtype.name}")
        known = _core.static_value(splits) if validate else None
        if known is not None:
            count = values._dims[0] if not isinstance(values, RaggedTensor) else values.shape[0]
            if len(known) == 0 or known[0] != 0 or (known[1:] < known[:-1]).any() or (
                    count is not None and known[-1] != count):
                raise ValueError(f"row_splits {known.tolist()} must begin with 0, not decrease, and end with the number of "
                                 f"values, {count}")
        return cls(values, splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows by their lengths."""
        lengths = _core.convert(row_lengths, None, "int64")
        ends = raw.Cumsum(lengths, 0)
        return cls.from_row_splits(values, raw.ConcatV2([_core.convert([0], lengths.dtype), ends], 0), validate=validate)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Rows of rows, from the outermost splits to the innermost."""
        made = flat_values
        for splits in reversed(list(nested_row_splits)):
            made = cls.from_row_splits(made, splits, validate=validate)
        return made

    @property
    def values(self):
        """The rows, one after the other."""
        return self._values

    @property
    def row_splits(self):
        """Where each row begins."""
        return self._row_splits

    @property
    def flat_values(self):
        """The innermost values, a plain tensor."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        """The splits of every level, outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits,) + tuple(inner)

    @property
    def ragged_rank(self):
        """How many levels there are."""
        return len(self.nested_row_splits)

    @property
    def dtype(self):
        """The type of the elements."""
        return self._values.dtype

    @property
    def shape(self):
        """The shape, None where rows differ in length."""
        splits = _core.static_shape(self._row_splits)
        rows = splits[0] - 1 if splits is not None and splits[0] is not None else None
        inner = self._values.shape if isinstance(self._values, RaggedTensor) else TensorShape(
            _core.static_shape(self._values))
        return TensorShape([rows, None]).concatenate(inner[1:])

    def get_shape(self):
        """As `shape`."""
        return self.shape

    def row_lengths(self, axis=1, name=None):
        """The length of each row."""
        splits = self._row_splits
        return raw.Sub(splits[1:], splits[:-1])

    def nrows(self, out_type=None, name=None):
        """How many rows there are."""
        count = raw.Sub(raw.Shape(self._row_splits, self._row_splits.dtype)[0], 1)
        return count if out_type is None else raw.Cast(count, out_type)

    def with_values(self, new_values):
        """The same rows with other values."""
        return RaggedTensor(new_values, self._row_splits, internal=True)

    def with_flat_values(self, new_values):
        """The same rows of rows with other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def to_list(self):
        """Nested Python lists."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.numpy().tolist()
        splits = self._row_splits.numpy().tolist()
        return [rows[a:b] for a, b in zip(splits, splits[1:])]

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def __repr__(self):
        if any(_core.is_symbolic(t) for t in nest.flatten(self, expand_composites=True)):
            return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"
        return f"<tf.RaggedTensor {self.to_list()}>"


offer(RaggedTensor, "RaggedTensor")
