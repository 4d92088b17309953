"""tf.RaggedTensor: rows of different lengths, stored as one tensor of values and the splits between the rows.

The `values` of a RaggedTensor may be ragged again; `flat_values` are the innermost. This file has the class with its
constructors and properties. ops/ragged.py has the functions of ragged tensors and adds the methods that compute.
"""
import builtins
import contextlib

import numpy as np

from . import _core, dtypes
from .composite import CompositeTensor, RaggedTensorSpec, SparseTensor
from .default_session import get_default_session
from .graph import name_scope
from .namespace import export
from .ops import debug
from .ragged_value import RaggedTensorValue
from .shapes import TensorShape
from .tensors import convert_to_tensor

raw, convert = _core.raw, _core.convert
_KEY = object()
_NO_SCOPE = contextlib.nullcontext()


def _scope(name):
    """The name scope of the ops that a factory method adds to a graph."""
    return _NO_SCOPE if _core.executing_eagerly() else name_scope(name)


def _text(x):
    """Nested arrays as text, in the notation of Python lists."""
    if not isinstance(x, np.ndarray):
        return str(x)
    if x.size == 0:
        return repr(x.tolist())
    return np.array2string(x, separator=", ", formatter={"all": _text})


def _values(values):
    values = as_ragged(values)
    return values if isinstance(values, RaggedTensor) else convert_to_tensor(values, name="values")


def is_ragged(x):
    """Whether `x` is a RaggedTensor."""
    return isinstance(x, RaggedTensor)


def has_rows(x):
    """Whether `x` is a RaggedTensor or the value of one."""
    return isinstance(x, (RaggedTensor, RaggedTensorValue))


def as_ragged(x):
    """`x`, with a RaggedTensorValue converted to a RaggedTensor."""
    if not isinstance(x, RaggedTensorValue):
        return x
    return RaggedTensor.from_nested_row_splits(x.flat_values, x.nested_row_splits, validate=False)


def _partition(x, dtype=None, name=None):
    """Row splits, row lengths or row numbers as an integer tensor: int64, unless they are int32 already."""
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
        x = convert(x) if isinstance(x, _core.Tensor) else convert_to_tensor(x, dtype, name=name)
        return x if x.dtype == dtype else raw.Cast(x, dtype)
    if isinstance(x, np.ndarray) and x.dtype == np.int32:
        return convert_to_tensor(x, name=name)
    x = convert_to_tensor(x, None, dtypes.int64, name)
    if x.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"row partitions must be int32 or int64, not {x.dtype.name}")
    return x


def _need_rank(tensor, rank, what, validate=True):
    """Checks that the rank of `tensor` is `rank`. Returns the assertions to run, if the rank is not known statically."""
    dims = _core.static_shape(tensor)
    if dims is None:
        if not validate:
            return []
        return [debug.assert_rank(tensor, rank, message=f"{what} must have rank {rank}")]
    if len(dims) != rank:
        raise ValueError(f"Shape {dims} must have rank {rank}: {what} has another")
    return []


def _need_rows(rows, count):
    """Raises ValueError if the number of rows is known and too small for `rows`, the row of each value."""
    if count is None:
        return
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    known = _core.static_value(rows)
    if known is not None and len(known) and known[-1] >= count:
        raise ValueError(f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, value_rowids[-1]={known[-1]}")


def _number(value, like):
    return convert(value, like.dtype)


def _count(values, dtype):
    """The number of rows of `values`, as a scalar tensor."""
    if isinstance(values, RaggedTensor):
        return values.nrows(dtype)
    return raw.StridedSlice(raw.Shape(values, dtype), [0], [1], [1], shrink_axis_mask=1)


def _splits(lengths):
    return raw.ConcatV2([convert([0], lengths.dtype), raw.Cumsum(lengths, 0)], 0)


def ragged_indices(starts, lengths):
    """(row splits, all numbers) of rows in which row i has `lengths[i]` numbers that count up from `starts[i]`."""
    splits = _splits(lengths)
    rows = row_numbers(splits)
    total = splits[-1]
    at = raw.Range(_number(0, total), total, _number(1, total))
    begin = raw.GatherV2(raw.Sub(starts, splits[:-1]), rows, 0)
    return splits, raw.AddV2(at, begin)


def row_numbers(splits):
    """The row number of each value."""
    total = splits[-1]
    at = raw.Range(_number(0, total), total, _number(1, total))
    return raw.UpperBound(raw.ExpandDims(splits[1:], 0), raw.ExpandDims(at, 0), splits.dtype)[0]


@export("RaggedTensor")
class RaggedTensor(CompositeTensor):
    """A tensor whose rows may have different lengths. The `from_` methods create it."""

    _is_tensor = True

    def __init__(self, values, row_splits, internal=None, uniform_row_length=None):
        if internal is not _KEY:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        self._values, self._row_splits = values, row_splits
        self._uniform = uniform_row_length
        self._lengths = self._rows = self._nrows = None  # the partition as it was given, unless by splits

    # ---- making ------------------------------------------------------------------------------------
    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """A ragged tensor whose row i is values[row_splits[i]:row_splits[i + 1]]."""
        with _scope(name or "RaggedFromRowSplits"):
            values = _values(values)
            with _scope("RowPartitionFromRowSplits"):
                splits = _partition(row_splits, name="row_splits")
            return cls._from_splits(values, splits, validate)

    @classmethod
    def _from_splits(cls, values, splits, validate):
        dims = _core.static_shape(splits)
        if dims is not None and (len(dims) != 1 or dims[0] == 0):
            raise ValueError(f"row_splits tensor may not be empty, and must be a vector, not of shape {dims}")
        if validate:
            text = "Arguments to from_row_splits do not form a valid RaggedTensor:"
            checks = _need_rank(splits, 1, "row_splits") + [
                debug.assert_equal(splits[0], _number(0, splits), message=text + "zero"),
                debug.assert_non_negative(
                    raw.Sub(splits[1:], splits[:-1]), message=text + "monotonic"),
                debug.assert_equal(splits[-1], _count(values, splits.dtype), message=text + "values"),
            ]
            splits = debug.with_dependencies([c for c in checks if c is not None], splits)
        return cls(values, splits, _KEY)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """A ragged tensor whose row i has the next row_lengths[i] values."""
        with _scope(name or "RaggedFromRowLengths"):
            values = _values(values)
            with _scope("RowPartitionFromRowLengths"):
                lengths = _partition(row_lengths, name="row_lengths")
            return cls._from_lengths(values, lengths, validate)

    @classmethod
    def _from_lengths(cls, values, lengths, validate):
        checks = _need_rank(lengths, 1, "row_lengths", validate)
        if validate:
            text = "Arguments to from_row_lengths do not form a valid RaggedTensor"
            total = raw.Sum(lengths, [0])
            checks += [
                debug.assert_non_negative(lengths, message=text),
                debug.assert_equal(total, _count(values, lengths.dtype), message=text),
            ]
            lengths = debug.with_dependencies([c for c in checks if c is not None], lengths)
        return cls(values, _splits(lengths), _KEY)._partitioned(lengths=lengths)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """A ragged tensor in which value k belongs to row value_rowids[k]. The row numbers must be sorted."""
        with _scope(name or "RaggedFromValueRowIds"):
            values = _values(values)
            with _scope("RowPartitionFromValueRowIds"):
                rows = _partition(value_rowids, name="value_rowids")
                count = None if nrows is None else _partition(nrows, rows.dtype, "nrows")
            return cls._from_rows(values, rows, count, validate)

    @classmethod
    def _from_rows(cls, values, rows, count, validate):
        checks, given = _need_rank(rows, 1, "value_rowids", validate), count
        if count is not None:
            checks += _need_rank(count, 0, "nrows", validate)
            _need_rows(rows, _core.static_value(count))
        if count is None:
            padded = raw.ConcatV2([convert([-1], rows.dtype), rows], 0)
            count = raw.AddV2(raw.Max(padded, [0]), _number(1, rows))
        if validate:
            text = "Arguments to from_value_rowids do not form a valid RaggedTensor"
            checks += [
                debug.assert_non_negative(rows, message=text),
                debug.assert_non_negative(raw.Sub(rows[1:], rows[:-1]), message=text),
                debug.assert_less(rows, count, message=text),
                debug.assert_equal(
                    _count(rows, rows.dtype), _count(values, rows.dtype), message=text),
            ]
            rows = debug.with_dependencies([c for c in checks if c is not None], rows)
        lengths = raw.UnsortedSegmentSum(raw.OnesLike(rows), rows, count)
        return cls(values, _splits(lengths), _KEY)._partitioned(rows=rows, nrows=given)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """A ragged tensor whose row i begins at values[row_starts[i]]."""
        with _scope(name or "RaggedFromRowStarts"):
            values = _values(values)
            with _scope("RowPartitionFromRowStarts"):
                starts = _partition(row_starts, name="row_starts")
            end = raw.Reshape(_count(values, starts.dtype), [1])
            return cls._from_splits(values, raw.ConcatV2([starts, end], 0), validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """A ragged tensor whose row i ends before values[row_limits[i]]."""
        with _scope(name or "RaggedFromRowLimits"):
            values = _values(values)
            with _scope("RowPartitionFromRowLimits"):
                limits = _partition(row_limits, name="row_limits")
            zero = convert([0], limits.dtype)
            return cls._from_splits(values, raw.ConcatV2([zero, limits], 0), validate)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, name=None, validate=True):
        """A ragged tensor whose rows all have the same length."""
        with _scope(name or "RaggedFromUniformRowLength"):
            values = _values(values)
            with _scope("RowPartitionFromUniformRowLength"):
                length = _partition(uniform_row_length, name="uniform_row_length")
                nrows = None if nrows is None else _partition(nrows, length.dtype, "nrows")
            return cls._from_uniform(values, length, nrows, validate)

    @classmethod
    def _from_uniform(cls, values, length, nrows, validate):
        checks = _need_rank(length, 0, "uniform_row_length", validate)
        if nrows is None:
            count = raw.FloorDiv(
                _count(values, length.dtype), raw.Maximum(length, _number(1, length)))
        else:
            count = nrows
            checks += _need_rank(count, 0, "nrows", validate)
        if validate:
            text = "Arguments to from_uniform_row_length do not form a valid RaggedTensor"
            checks += [
                debug.assert_non_negative(length, message=text),
                debug.assert_equal(raw.Mul(count, length), _count(values, length.dtype), message=text)
            ]
            count = debug.with_dependencies([c for c in checks if c is not None], count)
        at = raw.Range(_number(0, count), raw.AddV2(count, _number(1, count)), _number(1, count))
        size = _core.static_value(length)
        made = cls(values, raw.Mul(at, length), _KEY, None if size is None else int(size))
        return made._partitioned(nrows=nrows)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """A ragged tensor with several ragged dimensions, from their row splits; the outermost is first."""
        return cls._nest(flat_values, nested_row_splits, cls.from_row_splits, validate, "nested_row_splits")

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """A ragged tensor with several ragged dimensions, from their row lengths; the outermost is first."""
        return cls._nest(flat_values, nested_row_lengths, cls.from_row_lengths, validate, "nested_row_lengths")

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None,
                                 validate=True):
        """A ragged tensor with several ragged dimensions, from the row numbers of their values; the outermost is first."""
        if isinstance(nested_value_rowids, _core.Tensor):
            raise TypeError("Argument `nested_value_rowids` must be a list of Tensors, not one tensor")
        if isinstance(nested_nrows, _core.Tensor):
            raise TypeError("Argument `nested_nrows` must be a list of Tensors, not one tensor")
        if nested_nrows is not None and len(nested_nrows) != len(nested_value_rowids):
            raise ValueError("Argument `nested_nrows` must have the same length as argument `nested_value_rowids`: "
                             f"{len(nested_nrows)} and {len(nested_value_rowids)}")
        counts = nested_nrows or [None] * len(nested_value_rowids)
        made = flat_values
        for rows, count in reversed(list(zip(nested_value_rowids, counts))):
            made = cls.from_value_rowids(made, rows, count, validate=validate)
        return made

    @staticmethod
    def _nest(values, parts, make, validate, word):
        if isinstance(parts, _core.Tensor):
            raise TypeError(f"Argument `{word}` must be a list of Tensors, not one tensor")
        for part in reversed(list(parts)):
            values = make(values, part, validate=validate)
        return values

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """A ragged tensor of the rows of a sparse matrix, in which no row may have a gap between its elements."""
        if not isinstance(st_input, SparseTensor):
            raise TypeError(f"Argument `st_input` must be of type SparseTensor, not {st_input!r}")
        dtype = dtypes.as_dtype(row_splits_dtype)
        rows = raw.Cast(st_input.indices[:, 0], dtype)
        count = raw.Cast(st_input.dense_shape[0], dtype)
        made = cls.from_value_rowids(st_input.values, rows, count)
        columns = raw.Cast(st_input.indices[:, 1], dtype)
        _, want = ragged_indices(raw.ZerosLike(made.row_starts()), made.row_lengths())
        check = debug.assert_equal(
            columns, want, message="SparseTensor is not right-ragged (a row has a gap before an element)")
        values = debug.with_dependencies([check] if check is not None else [], made.values)
        return cls(values, made.row_splits, _KEY)

    def _partitioned(self, lengths=None, rows=None, nrows=None):
        self._lengths, self._rows, self._nrows = lengths, rows, nrows
        return self

    # ---- parts -------------------------------------------------------------------------------------
    values = property(lambda self: self._values, doc="The values of all rows, concatenated.")
    row_splits = property(lambda self: self._row_splits, doc="The start of each row in `values`, and the end of the last.")
    dtype = property(lambda self: self._values.dtype, doc="The type of the elements.")
    uniform_row_length = property(
        lambda self: None if self._uniform is None else convert(self._uniform, self._row_splits.dtype),
        doc="The length of the rows if it was declared to be uniform, else None.")

    @property
    def flat_values(self):
        """The innermost values: a tensor."""
        values = self._values
        return values.flat_values if isinstance(values, RaggedTensor) else values

    @property
    def ragged_rank(self):
        """The number of partitioned (ragged) dimensions."""
        values = self._values
        return 1 + (values.ragged_rank if isinstance(values, RaggedTensor) else 0)

    @property
    def nested_row_splits(self):
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self._row_splits,) + inner

    def nested_row_lengths(self, name=None):
        """The row lengths of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
        return (self.row_lengths(),) + inner

    def nested_value_rowids(self, name=None):
        """The row numbers of all ragged dimensions, the outermost first."""
        inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
        return (self.value_rowids(),) + inner

    @property
    def shape(self):
        """The static shape, with None for ragged dimensions."""
        size = _core.seen_size(self._row_splits, 0) if self._row_splits.ndim else None
        rows = None if size is None else size - 1
        values = self._values
        inner = values.shape
        return TensorShape([rows, self._uniform]).concatenate(inner[1:])

    def get_shape(self):
        """As `shape`."""
        return self.shape

    @property
    def rank(self):
        """The number of dimensions, if known."""
        return self.shape.rank

    def nrows(self, out_type=None, name=None):
        """The number of rows."""
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._nrows is not None and self._nrows.dtype is dtype:
            return self._nrows
        size = raw.StridedSlice(
            raw.Shape(self._row_splits, dtype), [0], [1], [1], shrink_axis_mask=1)
        return raw.Sub(size, _number(1, size))

    def row_starts(self, name=None):
        """Where each row begins in `values`."""
        return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends in `values`."""
        return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The length of each row or, for a larger axis, of each inner row."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._lengths if self._lengths is not None else raw.Sub(self._row_splits[1:], self._row_splits[:-1])
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = raw.Shape(self._values, self._row_splits.dtype)
        return self.with_values(
            raw.Mul(raw.Fill(shape[:1], _number(1, shape)), shape[axis - 1]))

    def value_rowids(self, name=None):
        """The row number of each value."""
        return self._rows if self._rows is not None else row_numbers(self._row_splits)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest dense shape that contains all rows."""
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        longest = raw.Max(raw.ConcatV2([self.row_lengths(), convert([0], self._row_splits.dtype)], 0), [0])
        if isinstance(self._values, RaggedTensor):
            inner = self._values.bounding_shape(out_type=dtype)[1:]
        else:
            inner = raw.Shape(self._values, dtype)[1:]
        outer = raw.Pack([raw.Cast(self.nrows(), dtype), raw.Cast(longest, dtype)])
        whole = raw.ConcatV2([outer, inner], 0)
        return whole if axis is None else raw.GatherV2(whole, axis, 0)

    def with_values(self, new_values):
        """A ragged tensor with the same row partition and other values."""
        made = RaggedTensor(_values(new_values), self._row_splits, _KEY, self._uniform)
        return made._partitioned(self._lengths, self._rows, self._nrows)

    def with_flat_values(self, new_values):
        """A ragged tensor with the same row partitions and other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same ragged tensor with row splits of another integer dtype."""
        dtype = dtypes.as_dtype(dtype)
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        splits = self._row_splits
        splits = splits if splits.dtype == dtype else raw.Cast(splits, dtype)
        return RaggedTensor(values, splits, _KEY, self._uniform)

    # ---- conversion to numpy and Python ------------------------------------------------------------------
    def numpy(self):
        """A numpy array: a dense one if all rows have the same length, else an array of arrays."""
        if _core.is_symbolic(self._row_splits) or _core.is_symbolic(self.flat_values):
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values, splits = self._values.numpy(), self._row_splits.numpy()
        rows = np.split(values, splits[1:-1]) if len(splits) > 1 else []
        if not rows:
            return np.array([], dtype=values.dtype)
        if all(len(row) == len(rows[0]) for row in rows):
            return np.array(rows)
        made = np.empty(len(rows), dtype=object)
        made[:] = rows
        return made

    def to_list(self):
        """Nested Python lists."""
        if _core.is_symbolic(self._row_splits) or _core.is_symbolic(self.flat_values):
            raise ValueError("to_list can only be used in eager mode.")
        splits = self._row_splits.numpy().tolist()
        inner = self._values
        values = inner.to_list() if isinstance(inner, RaggedTensor) else inner.numpy().tolist()
        return [values[a:b] for a, b in zip(splits[:-1], splits[1:])]

    def eval(self, feed_dict=None, session=None):
        """The value in a session."""
        if session is None:
            session = get_default_session()
        return session.run(self, feed_dict=feed_dict)

    consumers = CompositeTensor._consumers

    def __iter__(self):
        if _core.is_symbolic(self._row_splits):
            raise TypeError("a RaggedTensor can be iterated over only in eager mode")
        return (self[k] for k in builtins.range(int(self.nrows())))  # `range` here is tf.ragged.range

    def __bool__(self):
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self):
        if _core.is_symbolic(self._row_splits) or _core.is_symbolic(self.flat_values):
            return f"tf.RaggedTensor(values={self._values!s}, row_splits={self._row_splits!s})"
        return f"<tf.RaggedTensor {_text(self.numpy())}>"

    __str__ = __repr__

    def __reduce__(self):
        return _remake, (self._values, self._row_splits, self._uniform)

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def _shape_invariant_to_type_spec(self, shape):
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self._row_splits.dtype)

    def _ef_flatten(self):
        # Every call of a tf.function comes here. Dtypes and sizes are in the signatures of the tensors, so no spec is needed.
        levels, flat = self._levels()
        if len(levels) == 1:
            return (self._uniform,), (flat, self._row_splits), (1, 0)
        return (tuple([level._uniform for level in levels]), (flat, *[level._row_splits for level in levels]),
                (1, 0, *[1] * (len(levels) - 1)))

    def _ef_rebuild(self, tensors):
        made, *splits = tensors
        for level in reversed(self._levels()[0]):
            made = RaggedTensor(made, splits.pop(), _KEY, level._uniform)
        return made

    def _levels(self):
        levels, values = [], self
        while isinstance(values, RaggedTensor):
            levels.append(values)
            values = values._values
        return levels, values


def _remake(values, row_splits, uniform):
    """Used by unpickling, because the `__module__` of the class is a module of TensorFlow."""
    return RaggedTensor(values, row_splits, _KEY, uniform)


RaggedTensor.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"
RaggedTensorSpec._ragged_class = RaggedTensor
