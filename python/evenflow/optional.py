"""tf.experimental.Optional: a value that may be missing, as a composite tensor.

It is whether there is a value, and the value's tensors; where there is none these are empty or zero, and nobody looks.
"""
from . import _core, dtypes, errors, nest
from .composite import CompositeTensor
from .namespace import export, offer
from .specs import TensorSpec, TypeSpec, type_spec_from_value

raw = _core.raw


def _filler(spec):
    """A tensor of a spec that stands where there is no value; unknown sizes are zero."""
    dims = [0 if d is None else d for d in (spec.shape if spec.shape.rank is not None else ())]
    empty = "" if spec.dtype is dtypes.string else 0
    return raw.Fill(dims, _core.convert(empty, spec.dtype))


@export("experimental.Optional")
class Optional(CompositeTensor):
    """A value, or none."""

    __module__ = "tensorflow.python.data.ops.optional_ops"

    def __init__(self, element_spec, has_value, tensors):
        self._element_spec = element_spec
        self._has_value = has_value
        self._tensors = tensors

    @staticmethod
    def from_value(value):
        """One that holds `value`, a structure of tensors."""
        value = nest.map_structure(lambda v: v if isinstance(v, (_core.Tensor, CompositeTensor)) else _core.convert(v),
                                   value)
        spec = nest.map_structure(type_spec_from_value, value)
        return Optional(spec, _core.convert(True), nest.flatten(value, expand_composites=True))

    @staticmethod
    def empty(element_spec):
        """One that holds nothing, and would hold a value of that spec."""
        tensors = None if element_spec is None else [_filler(s) for s in nest.flatten(element_spec,
                                                                                     expand_composites=True)]
        return Optional(element_spec, _core.convert(False), tensors)

    @property
    def element_spec(self):
        """The spec of the value."""
        return self._element_spec

    def has_value(self, name=None):
        """Whether there is one: a bool tensor."""
        return self._has_value

    def get_value(self, name=None):
        """The value; InvalidArgumentError if there is none."""
        tensors = self._tensors
        known = _core.static_value(self._has_value)
        if known is not None and not known:
            raise errors.InvalidArgumentError(None, None, "The given optional does not have a value.")
        if known is None:
            from .graph import control_dependencies
            from .ops.debug import Assert

            with control_dependencies([Assert(self._has_value, ["The given optional does not have a value."])]):
                tensors = [raw.Identity(t) for t in tensors]
        return nest.pack_sequence_as(self._element_spec, tensors, expand_composites=True)

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def __repr__(self):
        return f"tf.experimental.Optional(has_value={self._has_value!r}, element_spec={self._element_spec!r})"


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
        inner = [] if self._element_spec is None else nest.flatten(self._element_spec, expand_composites=True)
        return [TensorSpec((), dtypes.bool)] + inner

    def _to_components(self, value):
        tensors = value._tensors
        if tensors is None and self._element_spec is not None:  # made empty before its spec was known
            tensors = [_filler(s) for s in nest.flatten(self._element_spec, expand_composites=True)]
        return [value._has_value] + list(tensors or ())

    def _from_components(self, components):
        return Optional(self._element_spec, components[0], list(components[1:]))


# Constants of tf.data, and the base class that libraries ask for by name.
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
        """The next element; OutOfRangeError at the end."""
        raise NotImplementedError(f"{type(self).__name__}.get_next")

    def get_next_as_optional(self):
        """The next element, or an empty Optional at the end."""
        raise NotImplementedError(f"{type(self).__name__}.get_next_as_optional")
