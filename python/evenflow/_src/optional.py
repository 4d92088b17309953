"""tf.experimental.Optional: a value that may be missing."""
from . import _core, dtypes, nest
from .composite import CompositeTensor
from .namespace import export, offer
from .specs import TensorSpec, TypeSpec, type_spec_from_value

raw = _core.raw


@export("experimental.Optional")
class Optional(CompositeTensor):
    """A value or nothing, held by a variant tensor."""

    __module__ = "tensorflow.python.data.ops.optional_ops"

    def __init__(self, element_spec, variant):
        self._element_spec = element_spec
        self._variant = variant

    @staticmethod
    def from_value(value):
        """An Optional that holds `value`, a structure of tensors."""
        value = nest.map_structure(lambda v: v if isinstance(v, (_core.Tensor, CompositeTensor)) else _core.convert(v),
                                   value)
        spec = nest.map_structure(type_spec_from_value, value)
        return Optional(spec, raw.OptionalFromValue(nest.flatten(value, expand_composites=True)))

    @staticmethod
    def empty(element_spec):
        """An empty Optional for values with this spec."""
        return Optional(element_spec, raw.OptionalNone())

    @property
    def element_spec(self):
        """The spec of the value."""
        return self._element_spec

    def has_value(self, name=None):
        """A bool tensor: whether it holds a value."""
        return raw.OptionalHasValue(self._variant, name=name)

    def get_value(self, name=None):
        """The value. Raises InvalidArgumentError if there is none."""
        flat = nest.flatten(self._element_spec, expand_composites=True)
        tensors = raw.OptionalGetValue(self._variant, [s.dtype for s in flat], [s.shape for s in flat], name=name)
        return nest.pack_sequence_as(self._element_spec, tensors, expand_composites=True)

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def __repr__(self):
        return f"tf.experimental.Optional(element_spec={self._element_spec!r})"


@export("OptionalSpec")
class OptionalSpec(TypeSpec):
    """Describes an Optional by the spec of its value."""

    __module__ = "tensorflow.python.data.ops.optional_ops"

    def __init__(self, element_spec, optional_shape=()):
        self._element_spec = element_spec
        self._optional_shape = tuple(optional_shape)

    @property
    def value_type(self):
        return Optional

    def _serialize(self):
        return (self._element_spec, self._optional_shape) if self._optional_shape else (self._element_spec,)

    @property
    def _component_specs(self):
        return [TensorSpec((), dtypes.variant)]

    def _to_components(self, value):
        return [value._variant]

    def _from_components(self, components):
        return Optional(self._element_spec, components[0])


# Constants of tf.data, and the base class of iterators, which libraries refer to.
offer(-1, "data.AUTOTUNE", "data.experimental.AUTOTUNE", "data.INFINITE_CARDINALITY")
offer(-2, "data.UNKNOWN_CARDINALITY")


@export("data.Iterator")
class Iterator:
    """The base of iterators over datasets."""

    __module__ = "tensorflow.python.data.ops.iterator_ops"

    def __iter__(self):
        return self

    @property
    def element_spec(self):
        """The specs of an element."""
        raise NotImplementedError(f"{type(self).__name__}.element_spec")

    def get_next(self):
        """Returns the next element. Raises OutOfRangeError at the end."""
        raise NotImplementedError(f"{type(self).__name__}.get_next")

    def get_next_as_optional(self):
        """The next element, or an empty Optional at the end."""
        raise NotImplementedError(f"{type(self).__name__}.get_next_as_optional")


Iterator.__name__ = Iterator.__qualname__ = "IteratorBase"
