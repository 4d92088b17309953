"""Type specs: descriptions of values (tensors, composite tensors, variables) without the values.

A spec has the class of a value and what is fixed about it, such as its dtype. Specs are equal if their
parts are equal, are hashable, and have a subtype relation. The spec of a composite also flattens a value
into plain tensors and rebuilds it.
"""
import numpy as np

from . import _core, dtypes, nest
from .dtypes import as_dtype
from .shapes import TensorShape, as_shape


def _tensor_class():
    return _core.Tensor


class TypeSpec:
    """The base class of all specs. A subclass defines `value_type`, `_serialize`, `_component_specs`,
    `_to_components` and `_from_components`."""

    __slots__ = ("__dict__", "__weakref__")
    _nest_kind = "spec"

    @property
    def value_type(self):
        """The Python class of values this spec describes."""
        raise NotImplementedError(f"{type(self).__name__}.value_type")

    def _serialize(self):
        raise NotImplementedError(f"{type(self).__name__}._serialize")

    @classmethod
    def _deserialize(cls, serialization):
        return cls(*serialization)

    @property
    def _component_specs(self):
        raise NotImplementedError(f"{type(self).__name__}._component_specs")

    def _to_components(self, value):
        raise NotImplementedError(f"{type(self).__name__}._to_components")

    def _from_components(self, components):
        raise NotImplementedError(f"{type(self).__name__}._from_components")

    # -- flattening ------------------------------------------------------------------------------
    @property
    def _flat_tensor_specs(self):
        """The specs of the plain tensors that a value consists of."""
        return nest.flatten(self._component_specs, expand_composites=True)

    def _to_tensor_list(self, value):
        return nest.flatten(self._to_components(value), expand_composites=True)

    def _from_tensor_list(self, tensor_list):
        parts = nest.pack_sequence_as(self._component_specs, tensor_list, expand_composites=True)
        return self._from_components(parts)

    _from_compatible_tensor_list = _from_tensor_list

    def flatten(self):
        """The specs of the plain tensors that a value consists of."""
        return self._flat_tensor_specs

    def to_tensors(self, value):
        """The plain tensors of a value."""
        return self._to_tensor_list(value)

    def from_tensors(self, tensors):
        """Rebuilds a value from the plain tensors that an iterator yields."""
        tensors = iter(tensors)
        return self._from_tensor_list([next(tensors) for _ in self._flat_tensor_specs])

    # -- subtypes ---------------------------------------------------------------------------------------
    def is_compatible_with(self, spec_or_value):
        """Whether the value, or a value of the other spec, may be used where this spec is required."""
        other = spec_or_value
        if not isinstance(other, TypeSpec):
            try:
                other = type_spec_from_value(other)
            except TypeError:
                return False
        if type(self) is not type(other):
            return False
        return _compatible(self._serialize(), other._serialize())

    def is_subtype_of(self, other):
        """Whether every value of this spec is also a value of `other`."""
        if type(self) is not type(other):
            return False
        try:
            nest.assert_same_structure(self._serialize(), other._serialize())
        except (TypeError, ValueError):
            return False
        mine, theirs = nest.flatten(self._serialize()), nest.flatten(other._serialize())
        return all(_within(a, b) for a, b in zip(mine, theirs))

    def most_specific_common_supertype(self, others):
        """The most specific spec of which this one and all `others` are subtypes, or None."""
        if any(type(self) is not type(other) for other in others):
            return None
        common = self._serialize()
        for other in others:
            try:
                common = _widen(common, other._serialize())
            except _NothingCommon:
                return None
        return self._deserialize(common)

    def most_specific_compatible_type(self, other):
        """most_specific_common_supertype([other]). Raises ValueError if there is none."""
        common = self.most_specific_common_supertype([other])
        if common is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return common

    # -- equality, hashing, pickling -------------------------------------------------------------------------------
    def _key(self):
        return (type(self), nest.list_to_tuple(self._serialize()))

    def __eq__(self, other):
        return type(other) is type(self) and self._key() == other._key()

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self._key())

    def __reduce__(self):
        if type(self).__module__.startswith("tensorflow."):
            return _remake, (type(self).__name__, tuple(self._serialize()))
        return type(self), tuple(self._serialize())

    def __repr__(self):
        return f"{type(self).__name__}{self._serialize()!r}"


def _remake(name, parts):
    """Used by unpickling: finds the class by its name, because its `__module__` is a module of TensorFlow."""
    kinds = [TypeSpec]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next(k for k in kinds if k.__name__ == name and k.__module__.startswith("tensorflow."))(*parts)


class _NothingCommon(Exception):
    pass


def _compatible(a, b):
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(_compatible, a, b))
    if isinstance(a, TensorShape):
        return isinstance(b, TensorShape) and a.is_compatible_with(b)
    if isinstance(a, TypeSpec):
        return a.is_compatible_with(b)
    if isinstance(a, dict):
        return isinstance(b, dict) and set(a) == set(b) and all(_compatible(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


def _within(a, b):
    if hasattr(a, "is_subtype_of"):
        return a.is_subtype_of(b)
    return a == b


def _widen(a, b):
    if isinstance(a, (tuple, list)):
        if type(a) is not type(b) or len(a) != len(b):
            raise _NothingCommon
        return type(a)([_widen(x, y) for x, y in zip(a, b)])
    if isinstance(a, dict):
        if not isinstance(b, dict) or set(a) != set(b):
            raise _NothingCommon
        return {k: _widen(a[k], b[k]) for k in a}
    if hasattr(a, "most_specific_common_supertype"):
        common = a.most_specific_common_supertype([b])
        if common is None:
            raise _NothingCommon
        return common
    if type(a) is not type(b) or not a == b:
        raise _NothingCommon
    return a


class BatchTypeSpec(TypeSpec):
    """A spec whose values can be stacked into batches."""

    __slots__ = ()

    def _batch(self, batch_size):
        raise NotImplementedError(f"{type(self).__name__}._batch")

    def _unbatch(self):
        raise NotImplementedError(f"{type(self).__name__}._unbatch")


class ShapedSpec(TypeSpec):
    """A spec of values that have a shape and a dtype."""

    __slots__ = ()
    shape = property(lambda self: self._shape, doc="The TensorShape of values.")
    dtype = property(lambda self: self._dtype, doc="The DType of values.")

    def _batched_shape(self, size):
        return TensorShape([size]).concatenate(self._shape)

    def _element_shape(self):
        if self._shape.rank == 0:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return self._shape[1:]


class DenseSpec(ShapedSpec):
    """A spec that consists of a shape, a dtype and a name."""

    __slots__ = ("_shape", "_dtype", "_name")
    _nest_kind = None

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    @property
    def name(self):
        """A name for the value, or None."""
        return self._name

    def __repr__(self):
        return (
            f"{type(self).__name__}(shape={self._shape}, dtype={self._dtype!r}, "
            f"name={self._name!r})"
        )

    def __hash__(self):
        return hash((self._shape._dims, self._dtype))

    def __eq__(self, other):
        return (
            type(self) is type(other)
            and self._shape._dims == other._shape._dims
            and self._dtype is other._dtype
            and self._name == other._name
        )

    def _serialize(self):
        return (self._shape, self._dtype, self._name)


class TensorSpec(DenseSpec, BatchTypeSpec):
    """Shape, dtype and perhaps a name of a tensor."""

    __slots__ = ()

    @property
    def value_type(self):
        return _tensor_class()

    @classmethod
    def from_spec(cls, spec, name=None):
        """The TensorSpec with the shape and dtype of another spec."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor; for a symbolic tensor, with the name of its op."""
        if isinstance(tensor, _core.Tensor) and not _core.is_symbolic(tensor):
            return cls(tensor.shape, tensor.dtype, name)
        if isinstance(tensor, _core.Tensor):
            return cls(tensor.shape, tensor.dtype, name or tensor.op.name)
        raise ValueError(f"`tensor` should be a tf.Tensor, but got type {type(tensor)}.")

    @property
    def _component_specs(self):
        return self

    def _to_components(self, value):
        return value

    def _from_components(self, components):
        return components

    @property
    def _flat_tensor_specs(self):
        return [self]

    def _to_tensor_list(self, value):
        return [self._to_components(value)]

    _to_batched_tensor_list = _to_tensor_list

    def _from_tensor_list(self, tensor_list):
        return tensor_list[0]

    _from_compatible_tensor_list = _from_tensor_list

    def is_compatible_with(self, spec_or_value):
        other = spec_or_value
        if not isinstance(other, TensorSpec) and not isinstance(other, _tensor_class()):
            return False
        return other.dtype is self._dtype and self._shape.is_compatible_with(other.shape)

    def is_subtype_of(self, other):
        return (
            type(self) is type(other)
            and (not self._name or self._name == other._name)
            and self._dtype is other._dtype
            and self._shape.is_subtype_of(other._shape)
        )

    def most_specific_common_supertype(self, others):
        shape = self._shape
        for other in others:
            if type(other) is not type(self) or other._dtype is not self._dtype or other._name != self._name:
                return None
            shape = shape.most_specific_compatible_shape(other._shape)
        return type(self)(shape, self._dtype, self._name)

    def _batch(self, batch_size):
        return TensorSpec(self._batched_shape(batch_size), self._dtype)

    def _unbatch(self):
        return TensorSpec(self._element_shape(), self._dtype)


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the smallest and largest allowed value of an element."""

    __slots__ = ("_minimum", "_maximum")

    def __init__(self, shape, dtype, minimum, maximum, name=None):
        super().__init__(shape, dtype, name)
        self._minimum = self._bound(minimum, "minimum")
        self._maximum = self._bound(maximum, "maximum")

    def _bound(self, value, word):
        if value is None:
            raise ValueError(f"`{word}` can not be None.")
        array = np.array(value, dtype=self._dtype.as_numpy_dtype)
        if self._shape.is_fully_defined():
            try:
                np.broadcast_to(array, self._shape._dims)
            except ValueError:
                raise ValueError(
                    f"`{word}` {array!r} is not compatible with shape {self._shape}."
                ) from None
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec, name=None):
        """A bounded spec from another spec. Without bounds, it gets the smallest and largest value of its dtype."""
        low = getattr(spec, "minimum", None)
        high = getattr(spec, "maximum", None)
        low = spec.dtype.min if low is None else low
        high = spec.dtype.max if high is None else high
        return cls(spec.shape, spec.dtype, low, high, name or spec.name)

    @property
    def minimum(self):
        """The smallest allowed value: a numpy array."""
        return self._minimum

    @property
    def maximum(self):
        """The largest allowed value: a numpy array."""
        return self._maximum

    def __repr__(self):
        return (
            f"BoundedTensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def __eq__(self, other):
        return (
            super().__eq__(other)
            and np.allclose(self._minimum, other._minimum)
            and np.allclose(self._maximum, other._maximum)
        )

    __hash__ = DenseSpec.__hash__

    def _serialize(self):
        return (self._shape, self._dtype, self._minimum, self._maximum, self._name)


class VariableSpec(DenseSpec):
    """Shape, dtype and trainability of a variable."""

    __slots__ = ("trainable", "alias_id")

    def __init__(self, shape, dtype=dtypes.float32, trainable=True, alias_id=None):
        super().__init__(shape, dtype)
        self.trainable = trainable
        self.alias_id = alias_id

    value_type = None  # Variable; variable.py sets it

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.resource)]

    def _to_components(self, value):
        return [value.handle]

    def is_compatible_with(self, spec_or_value):
        other = spec_or_value
        if not isinstance(other, VariableSpec) and not hasattr(other, "handle"):
            return False
        return (
            self._dtype is other.dtype
            and self._shape.is_compatible_with(other.shape)
            and self.trainable == other.trainable
        )

    def __repr__(self):
        return (
            f"VariableSpec(shape={self._shape}, dtype={self._dtype!r}, "
            f"trainable={self.trainable!r}, alias_id={self.alias_id!r})"
        )

    def __eq__(self, other):
        return super().__eq__(other) and self._serialize() == other._serialize()

    def __hash__(self):
        return hash((self._shape._dims, self._dtype, self.trainable, self.alias_id))

    def _serialize(self):
        return (self._shape, self._dtype, self.trainable, self.alias_id)


# (class, function that makes the spec of a value, whether subclasses are included), for classes without `_type_spec`.
_makers = []


def register_type_spec_from_value_converter(type_object, converter_fn, allow_subclass=False):
    """Registers `converter_fn`, which makes the specs of values of the class `type_object`."""
    _makers.append((type_object, converter_fn, allow_subclass))


def type_spec_from_value(value):
    """The spec of a tensor, of a composite tensor, or of the tensor that a value converts to."""
    if isinstance(value, _core.Tensor):
        return TensorSpec(value.shape, value.dtype)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    for cls, make, deep in reversed(_makers):
        if type(value) is cls or (deep and isinstance(value, cls)):
            return make(value)
    try:
        tensor = _core.convert(value)
    except (TypeError, ValueError):
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)}."
        ) from None
    return TensorSpec(tensor.shape, tensor.dtype)


for _cls in (TensorSpec, BoundedTensorSpec, DenseSpec):
    _cls.__module__ = "tensorflow.python.framework.tensor"
TypeSpec.__module__ = BatchTypeSpec.__module__ = "tensorflow.python.framework.type_spec"
BatchTypeSpec.__name__ = BatchTypeSpec.__qualname__ = "BatchableTypeSpec"
VariableSpec.__module__ = "tensorflow.python.ops.resource_variable_ops"
