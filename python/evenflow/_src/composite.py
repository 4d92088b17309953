"""Composite tensors: values made of several plain tensors, and the specs that describe them.

`IndexedSlices` is the gradient of a gather: some rows of a tensor whose other rows are zero.
`SparseTensor` holds the nonzero elements and their indices. This file only defines the classes; the ops are elsewhere.
"""
import numpy as np

from . import _core, dtypes, nest
from .constants import convert_to_tensor
from .default_session import get_default_session
from .dtypes import as_dtype
from .shapes import TensorShape, as_shape, unknown_shape
from .specs import BatchTypeSpec, ShapedSpec, TensorSpec


class CompositeTensor:
    """The base of values that consist of several tensors; `_type_spec` takes them apart."""

    _nest_kind = "composite"
    _is_tensor = False  # what tf.is_tensor returns: True for ragged and sparse tensors and for IndexedSlices

    @property
    def _type_spec(self):
        raise NotImplementedError(f"{type(self).__name__}._type_spec")

    def _shape_invariant_to_type_spec(self, shape):
        raise NotImplementedError(f"{type(self).__name__}._shape_invariant_to_type_spec")

    def _ef_flatten(self):
        """Used by calls of a tf.function: (the part of the signature, as text; the tensors). An optional third item has an
        integer for each tensor, in which bit k is set if the size of dimension k is data that every trace leaves unknown."""
        return (repr(self._type_spec), tuple(nest.flatten(self, expand_composites=True)))

    def _ef_rebuild(self, tensors):
        """The same kind of value made of other tensors."""
        return nest.pack_sequence_as(self, list(tensors), expand_composites=True)

    def _consumers(self):
        """The ops that use one of the component tensors."""
        found = {}
        for tensor in nest.flatten(self, expand_composites=True):
            found.update((id(op), op) for op in tensor.consumers())
        return list(found.values())

    def _as_spec(self, spec):
        """The same value, with its static shape widened to that of a spec."""
        return self


def _static(value):
    """The value of a tensor, numpy array or Python value; None for a tensor whose value is not known at trace time."""
    if value is None:
        return None
    return _core.seen_value(value) if isinstance(value, _core.Tensor) else value


class _Indexed(CompositeTensor):
    """The base class of IndexedSlices and SparseTensor: values at some indices of a dense tensor."""

    _is_tensor = True

    values = property(lambda self: self._values, doc="The elements or rows that are stored.")
    indices = property(lambda self: self._indices, doc="The index of each value in the dense tensor.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape of the dense tensor, as a tensor.")
    dtype = property(lambda self: as_dtype(self._values.dtype), doc="The type of the values.")
    op = property(lambda self: self._values.op, doc="The op that made the values.")
    graph = property(lambda self: self._values.graph, doc="The graph of the values.")
    consumers = CompositeTensor._consumers

    def __reduce__(self):
        return _remake, (type(self).__name__, tuple(self._type_spec._to_components(self)))


def _remake(name, parts):
    """Used by unpickling: finds the class by its name, because its `__module__` is a module of TensorFlow."""
    return globals()[name](*parts)


class IndexedSlices(_Indexed):
    """The rows `values` at `indices` of a tensor of shape `dense_shape`. Rows with the same index are added."""

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def shape(self):
        """The static shape of the dense tensor."""
        sizes = _static(self._dense_shape)
        return unknown_shape() if sizes is None else TensorShape([int(d) for d in sizes])

    @property
    def name(self):
        """The name of `values`."""
        return self._values.name

    @property
    def device(self):
        """The device of `values`."""
        return self._values.device

    @property
    def _type_spec(self):
        indices_shape = as_shape(self._indices.shape).merge_with(as_shape(self._values.shape)[:1])
        shape_dtype = None if self._dense_shape is None else self._dense_shape.dtype
        tail = as_shape(self._values.shape)[1:]
        shape = self.shape
        if shape.rank is None:
            shape = TensorShape([None]).concatenate(tail)
        return IndexedSlicesSpec(shape, self.dtype, self._indices.dtype, shape_dtype, indices_shape)

    def _shape_invariant_to_type_spec(self, shape):
        indices_shape = shape[:1]
        full = TensorShape([None]).concatenate(shape[1:])
        shape_dtype = None if self._dense_shape is None else self._dense_shape.dtype
        return IndexedSlicesSpec(full, self.dtype, self._indices.dtype, shape_dtype, indices_shape)

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __str__(self):
        parts = f"indices={self._indices!s}, values={self._values!s}"
        if self._dense_shape is not None:
            parts += f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices({parts})"

    def __tf_tensor__(self, dtype=None, name=None):
        """The dense tensor; rows with the same index are added."""
        if dtype is not None and as_dtype(dtype) is not self.dtype:
            raise ValueError(
                f"Incompatible tensor conversion requested to `dtype` {as_dtype(dtype).name} for "
                f"IndexedSlices ({self}) with dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for argument `value` without "
                f"dense_shape: {self}"
            )
        rows = _core.convert(self._dense_shape)[0]
        return _core.raw.UnsortedSegmentSum(self._values, self._indices, rows, name=name)


class IndexedSlicesSpec(ShapedSpec):
    """Describes an IndexedSlices."""

    def __init__(
        self,
        shape=None,
        dtype=dtypes.float32,
        indices_dtype=dtypes.int64,
        dense_shape_dtype=None,
        indices_shape=None,
    ):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = as_shape(indices_shape).with_rank(1)

    @property
    def value_type(self):
        return IndexedSlices

    def _serialize(self):
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self):
        rows = self._indices_shape.concatenate(self._shape[1:])
        parts = [
            TensorSpec(rows, self._dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        ]
        if self._dense_shape_dtype is not None:
            parts.append(TensorSpec([self._shape.rank], self._dense_shape_dtype))
        return tuple(parts)

    def _to_components(self, value):
        if value.dense_shape is None:
            return (value.values, value.indices)
        return (value.values, value.indices, value.dense_shape)

    def _from_components(self, components):
        return IndexedSlices(*components)


class SparseTensor(_Indexed):
    """A tensor stored as its nonzero elements: their indices [n, rank], their values [n], and the dense shape [rank]."""

    def __init__(self, indices, values, dense_shape):
        self._indices = indices = convert_to_tensor(indices, dtypes.int64, name="indices")
        self._values = values = convert_to_tensor(values, name="values")
        self._dense_shape = dense_shape = convert_to_tensor(dense_shape, dtypes.int64, name="dense_shape")
        index_shape = TensorShape(_core.static_shape(indices)).with_rank(2)
        value_shape = TensorShape(_core.static_shape(values)).with_rank(1)
        rank_shape = TensorShape(_core.static_shape(dense_shape)).with_rank(1)
        for a, b in ((index_shape, value_shape), (index_shape[1:], rank_shape)):
            if a._dims[0] is not None and b._dims[0] is not None and a._dims[0] != b._dims[0]:
                raise ValueError(
                    f"Dimensions {a._dims[0]} and {b._dims[0]} are not compatible: indices "
                    f"{index_shape}, values {value_shape} and dense_shape {rank_shape} of a "
                    "SparseTensor must agree"
                )
        self._rank = index_shape._dims[1] if rank_shape._dims[0] is None else rank_shape._dims[0]
        self._known = None

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """Makes a SparseTensor from a SparseTensor or from a triple (indices, values, dense_shape)."""
        if isinstance(sparse_tensor_value, SparseTensor):
            return sparse_tensor_value
        if len(sparse_tensor_value) != 3:
            raise TypeError(
                "Argument `sparse_tensor_value` must be a SparseTensor or SparseTensorValue; got "
                f"{sparse_tensor_value!r}"
            )
        return cls(*sparse_tensor_value)

    @property
    def shape(self):
        """The static shape of the dense tensor."""
        if self._known is None:
            sizes = _static(self._dense_shape)
            if sizes is None:
                dims = _core.known_shape(self._dense_shape)
                return unknown_shape(self._rank) if dims is None else TensorShape(dims)
            self._known = TensorShape([None if d < 0 else int(d) for d in sizes])
        return self._known

    def get_shape(self):
        """As `shape`."""
        return self.shape

    def set_shape(self, shape):
        """Merges a shape into the static shape."""
        self._known = self.shape.merge_with(shape)

    def with_values(self, new_values):
        """A SparseTensor with the same indices and other values."""
        return SparseTensor(self._indices, new_values, self._dense_shape)

    def _numpy(self):
        if not hasattr(self._values, "numpy"):
            raise ValueError("SparseTensor.numpy() is only supported in eager mode.")
        whole = np.zeros(self._dense_shape.numpy(), self._values.numpy().dtype)
        whole[tuple(self._indices.numpy().T)] = self._values.numpy()
        return whole

    def eval(self, feed_dict=None, session=None):
        """The value in a session: a SparseTensorValue."""
        if session is None:
            session = get_default_session()
        parts = session.run([self._indices, self._values, self._dense_shape], feed_dict=feed_dict)
        return SparseTensorValue(*parts)

    @property
    def _type_spec(self):
        return SparseTensorSpec(self.shape, self.dtype)

    def _shape_invariant_to_type_spec(self, shape):
        return SparseTensorSpec(unknown_shape(as_shape(shape).rank), self.dtype)

    def _as_spec(self, spec):
        made = SparseTensor.__new__(SparseTensor)
        made._indices, made._values, made._dense_shape = self._indices, self._values, self._dense_shape
        made._rank, made._known = self._rank, spec.shape
        return made

    def _ef_flatten(self):
        # Every call of a tf.function comes here. The dtype of the values is in their own signature, so no spec is needed.
        return self.shape._dims, (self._indices, self._values, self._dense_shape), (1, 1, 0)

    def _ef_rebuild(self, tensors):
        if any([_core.is_symbolic(t) for t in tensors]):
            return super()._ef_rebuild(tensors)
        made = SparseTensor.__new__(SparseTensor)  # skips the checks of __init__: these tensors match
        made._indices, made._values, made._dense_shape = tensors
        made._rank, made._known = self._rank, None
        return made

    def __repr__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


class SparseTensorValue(tuple):
    """A SparseTensor as numpy arrays, as Session.run returns it."""

    __slots__ = ()
    _fields = ("indices", "values", "dense_shape")

    def __new__(cls, indices, values, dense_shape):
        return super().__new__(cls, (indices, values, dense_shape))

    indices = property(lambda self: self[0])
    values = property(lambda self: self[1])
    dense_shape = property(lambda self: self[2])

    def __repr__(self):
        return "SparseTensorValue(indices={!r}, values={!r}, dense_shape={!r})".format(*self)


class SparseTensorSpec(ShapedSpec, BatchTypeSpec):
    """Describes a SparseTensor."""

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def value_type(self):
        return SparseTensor

    def _serialize(self):
        return (self._shape, self._dtype)

    @classmethod
    def from_value(cls, value):
        """The spec of a SparseTensor or SparseTensorValue."""
        return SparseTensor.from_value(value)._type_spec

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    def _to_components(self, value):
        value = SparseTensor.from_value(value)
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        made = SparseTensor(*components)
        made._known = made.shape.merge_with(self._shape)
        return made

    def _batch(self, batch_size):
        return SparseTensorSpec(self._batched_shape(batch_size), self._dtype)

    def _unbatch(self):
        return SparseTensorSpec(self._element_shape(), self._dtype)


class RaggedTensorSpec(ShapedSpec, BatchTypeSpec):
    """Describes a RaggedTensor: its shape, with None where rows differ in length."""

    def __init__(
        self,
        shape=None,
        dtype=dtypes.float32,
        ragged_rank=None,
        row_splits_dtype=dtypes.int64,
        flat_values_spec=None,
    ):
        self._shape = as_shape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if flat_values_spec is not None:
            self._dtype = flat_values_spec.dtype if dtype is None else as_dtype(dtype)
        elif dtype is None:
            raise ValueError("At least one of `dtype` or `flat_values_spec` must be provided")
        else:
            self._dtype = as_dtype(dtype)
        self._flat_values_spec = flat_values_spec
        if self._row_splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                f"row_splits_dtype must be int32 or int64, got {self._row_splits_dtype.name}"
            )
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        elif not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank!r}.")
        self._ragged_rank = ragged_rank
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank}).")

    _ragged_class = None  # RaggedTensor, which ragged.py puts here

    @property
    def value_type(self):
        return _core.Tensor if self._ragged_rank == 0 else self._ragged_class

    @classmethod
    def from_value(cls, value):
        """The spec of a RaggedTensor."""
        if not isinstance(value, cls._ragged_class):
            return cls(value.shape, value.dtype, value.ragged_rank, dtypes.as_dtype(value.nested_row_splits[0].dtype))
        return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)

    def is_compatible_with(self, spec_or_value):
        """Whether a value or another spec is compatible. Without ragged dimensions a plain tensor may be."""
        if self._ragged_rank <= 0 and isinstance(spec_or_value, (_core.Tensor, TensorSpec)):
            return TensorSpec(self._shape, self._dtype).is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    ragged_rank = property(lambda self: self._ragged_rank, doc="The number of ragged dimensions.")
    row_splits_dtype = property(lambda self: self._row_splits_dtype, doc="The type of row splits.")
    flat_values_spec = property(
        lambda self: self._flat_values_spec, doc="The spec of the innermost values, or None."
    )

    def _serialize(self):
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else parts + (self._flat_values_spec,)

    @property
    def _component_specs(self):
        if self._ragged_rank <= 0:
            return [self._flat_values_spec or TensorSpec(self._shape, self._dtype)]
        inner = self._shape[self._ragged_rank + 1 :] if self._shape.rank is not None else None
        flat = TensorShape([None]).concatenate(inner) if inner is not None else unknown_shape()
        outer = self._shape._dims[0] if self._shape.rank is not None else None
        splits = [TensorSpec([None if outer is None else outer + 1], self._row_splits_dtype)]
        splits += [TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)
        return [self._flat_values_spec or TensorSpec(flat, self._dtype)] + splits

    def _to_components(self, value):
        if self._ragged_rank == 0 and not hasattr(value, "flat_values"):
            return [value]
        return [value.flat_values] + list(value.nested_row_splits)

    def _from_components(self, components):
        if self._ragged_rank == 0:
            return components[0]
        for part, spec in zip(components, self._component_specs):
            if _core.is_symbolic(part) and isinstance(spec, TensorSpec):
                part.set_shape(spec.shape)
        return self.value_type.from_nested_row_splits(components[0], components[1:], validate=False)

    def _batch(self, batch_size):
        return RaggedTensorSpec(
            self._batched_shape(batch_size), self._dtype, self._ragged_rank + 1, self._row_splits_dtype
        )

    def _unbatch(self):
        return RaggedTensorSpec(
            self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype
        )


CompositeTensor.__module__ = "tensorflow.python.framework.composite_tensor"
for _cls in (IndexedSlices, IndexedSlicesSpec):
    _cls.__module__ = "tensorflow.python.framework.indexed_slices"
for _cls in (SparseTensor, SparseTensorSpec, SparseTensorValue):
    _cls.__module__ = "tensorflow.python.framework.sparse_tensor"
RaggedTensorSpec.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"
