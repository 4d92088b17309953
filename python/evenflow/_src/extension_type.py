"""tf.experimental.ExtensionType: a user's classes whose fields hold tensors, usable wherever a structure of tensors is.

The annotations of a class are its fields. An instance is immutable. The nested class `Spec`, which is generated, has the
same fields with specs in place of tensors; it flattens instances and rebuilds them, as every composite tensor's spec does.
"""
import functools
import inspect
import typing

from . import _core, nest, spec_registry
from .composite import CompositeTensor
from .extension_fields import (HOLDERS, MISSING, ImmutableDict, convert_all, is_reserved, leaves, make_field,
                               map_leaves, replace_leaves)
from .namespace import export
from .shapes import TensorShape
from .specs import BatchTypeSpec, TypeSpec, VariableSpec, type_spec_from_value

raw = _core.raw
_MAKING = "_tf_extension_type_in_constructor"
_CACHED = "_tf_extension_type_cached_type_spec"
_KERAS = ("_keras_mask", "_keras_shape", "_keras_history")  # attributes that Keras sets on every tensor


def _bare(cls, values):
    """An instance of `cls` with its fields set, made without calling its constructor."""
    made = cls.__new__(cls)
    made.__dict__.update(values)
    return made


def _fields(cls):
    """The fields of an extension type, those of its bases first."""
    if "_tf_extension_type_cached_fields" in cls.__dict__:
        return cls._tf_extension_type_cached_fields
    try:
        hints, whole = typing.get_type_hints(cls), True
    except (NameError, AttributeError):  # a forward reference to a class that does not exist yet
        hints, whole = {}, False
        for base in reversed(cls.__mro__):
            hints.update(base.__dict__.get("__annotations__", {}))
    hints = {k: v for k, v in hints.items() if not k.startswith("_tf_extension_type")}
    found = tuple(make_field(name, kind, getattr(cls, name, MISSING)) for name, kind in hints.items())
    if whole:
        cls._tf_extension_type_cached_fields = found
    return found


class _Fixed:
    """A base class whose attributes only a constructor may set."""

    def __setattr__(self, name, value):
        if name in _KERAS or (_MAKING in self.__dict__ and any(f.name == name for f in self._tf_extension_type_fields())):
            self.__dict__[name] = value
        else:
            raise AttributeError(self._tf_extension_type_fixed(name))

    def __delattr__(self, name):
        if name in _KERAS or (_MAKING in self.__dict__ and any(f.name == name for f in self._tf_extension_type_fields())):
            del self.__dict__[name]
        else:
            raise AttributeError(self._tf_extension_type_fixed(name))

    def _tf_extension_type_fixed(self, name):
        kind = "ExtensionTypeSpec" if isinstance(self, TypeSpec) else "ExtensionType"
        return f"Cannot mutate attribute `{name}` outside the custom constructor of {kind}."

    def __validate__(self):
        """Called after construction. A subclass overrides it to raise an error if its fields are inconsistent."""


def _finish(self, values):
    """Converts and sets the fields of an object, then validates it."""
    made = convert_all(self._tf_extension_type_fields(), values, isinstance(self, TypeSpec))
    self.__dict__.clear()
    self.__dict__.update(made)
    self.__validate__()


def _constructor(cls, fields, of_spec):
    """An __init__ with the fields as parameters. A field without default after one with a default is keyword-only."""
    parameters, optional = [], False
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for f in fields:
        default = inspect.Parameter.empty if of_spec or f.default is MISSING else f.default
        if optional and default is inspect.Parameter.empty:
            kind = inspect.Parameter.KEYWORD_ONLY
        optional = optional or default is not inspect.Parameter.empty
        annotation = inspect.Parameter.empty if of_spec else f.kind
        parameters.append(inspect.Parameter(f.name, kind, default=default, annotation=annotation))
    signature = inspect.Signature(parameters, return_annotation=cls)

    def __init__(self, *args, **kwargs):  # noqa: N807
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        _finish(self, given.arguments)

    __init__.__signature__ = signature.replace(
        parameters=[inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *parameters])
    return __init__


def _around(init):
    """Wraps a user's constructor: the attributes that it has assigned become the fields."""

    @functools.wraps(init)
    def __init__(self, *args, **kwargs):  # noqa: N807
        outer = _MAKING in self.__dict__  # the constructor of a subclass called this one
        self.__dict__[_MAKING] = True
        init(self, *args, **kwargs)
        if not outer:
            values = {k: v for k, v in self.__dict__.items() if k != _MAKING}
            for f in self._tf_extension_type_fields():
                if f.default is not MISSING:
                    values.setdefault(f.name, f.default)
            _finish(self, values)

    return __init__


class _Meta(type):
    """Generates the constructor and the Spec of a class from its annotations, which are its fields."""

    def __init__(cls, name, bases, namespace):
        if not namespace.get("_tf_extension_type_do_not_transform_this_class", False):
            _check_class(cls)
            own = cls.__dict__.get("__init__")
            _fields(cls)
            cls.__init__ = _around(own) if own is not None else _constructor(cls, _fields(cls), False)
            _add_spec(cls)
        super().__init__(name, bases, namespace)


def _check_class(cls):
    annotations = cls.__dict__.get("__annotations__", {})
    where = f"The field annotations for {cls.__name__} are invalid."
    for name, value in cls.__dict__.items():
        if name == "Spec":
            if not isinstance(value, type):
                raise ValueError(f"{cls.__qualname__}.Spec must be a nested class; got {value}.")
            if value.__bases__ not in ((object,), (ExtensionTypeSpec,), (BatchableExtensionTypeSpec,)):
                raise ValueError(f"{cls.__qualname__}.Spec must be directly subclassed from tf.TypeSpec.")
        elif is_reserved(name) and not (name.startswith("__") and name.endswith("__")) and name not in _FROM_OURSELVES:
            raise ValueError(f"{where} Field '{name}' is reserved.")
    for name in annotations:
        if is_reserved(name):
            raise ValueError(f"{where} Field '{name}' is reserved.")


_FROM_OURSELVES = ("_tf_extension_type_do_not_transform_this_class", "_tf_extension_type_cached_fields")


def _add_spec(cls):
    """Generates the Spec of an extension type. The members of a nested class Spec that the user wrote are added to it."""
    base = BatchableExtensionTypeSpec if issubclass(cls, BatchableExtensionType) else ExtensionTypeSpec
    user = cls.__dict__.get("Spec")
    names = {} if user is None else {k: v for k, v in vars(user).items() if k not in ("__dict__", "__weakref__")}
    for f in _fields(cls):
        if f.name in names:
            raise ValueError(f"{cls.__qualname__}.Spec defines {f.name!r}, which shadows a field in {cls.__qualname__}")
    names.update(__module__=cls.__module__, __qualname__=f"{cls.__qualname__}.Spec", value_type=cls)
    spec = type(f"{cls.__name__}.Spec", (base,), names)
    own = spec.__dict__.get("__init__")
    spec.__init__ = _around(own) if own is not None else _constructor(spec, _fields(cls), True)
    cls.Spec = spec
    if "__name__" in cls.__dict__:  # the class has a registered name, by which files refer to it
        spec_registry.register(cls.__dict__["__name__"] + ".Spec")(spec)


@export("experimental.ExtensionTypeSpec")
class ExtensionTypeSpec(_Fixed, TypeSpec):
    """Describes an extension type: its fields, with specs in place of tensors."""

    _slots = ()

    @classmethod
    def _tf_extension_type_fields(cls):
        return _fields(cls.value_type)

    @classmethod
    def from_value(cls, value):
        """The spec of a value."""
        return value._type_spec

    def _own(self):
        """The values of the fields, in order."""
        return tuple([self.__dict__[f.name] for f in self._tf_extension_type_fields()])

    def _serialize(self):
        return tuple([(f.name, map_leaves(lambda v: v, _plain(self.__dict__[f.name])))
                      for f in self._tf_extension_type_fields()])

    @classmethod
    def _deserialize(cls, serialization):
        return _bare(cls, {name: _frozen(value) for name, value in serialization})

    def _key(self):
        return type(self), self._own()

    def __reduce__(self):
        return _remake_spec, (self.value_type, self._serialize())

    @property
    def _component_specs(self):
        return tuple([v for v in leaves(self._own()) if isinstance(v, TypeSpec)])

    def _to_components(self, value):
        own = tuple([value.__dict__[f.name] for f in self._tf_extension_type_fields()])
        return tuple([v for v in leaves(own) if isinstance(v, HOLDERS)])

    def _from_components(self, components):
        rest = iter(components)
        parts = [next(rest) if isinstance(v, TypeSpec) else v for v in leaves(self._own())]
        if any(True for _ in rest):
            raise ValueError("Cannot build an ExtensionType instance from components because more components are provided "
                             "than the number expected by the type spec.")
        values = replace_leaves(self._own(), iter(parts))
        return _bare(self.value_type, zip([f.name for f in self._tf_extension_type_fields()], values))

    def __repr__(self):
        return f"{type(self).__qualname__}({', '.join(f'{k}={v!r}' for k, v in self._serialize())})"


def _plain(value):
    """`value` with its ImmutableDicts replaced by dicts."""
    if isinstance(value, tuple):
        return tuple([_plain(v) for v in value])
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, ImmutableDict) else value


def _frozen(value):
    """`value` with its dicts replaced by ImmutableDicts."""
    if isinstance(value, tuple):
        return tuple([_frozen(v) for v in value])
    return ImmutableDict((k, _frozen(v)) for k, v in value.items()) if isinstance(value, dict) else value


def _remake_spec(value_type, serialization):
    return value_type.Spec._deserialize(serialization)


@export("experimental.ExtensionType")
class ExtensionType(_Fixed, CompositeTensor, metaclass=_Meta):
    """The base class of extension types. Annotated fields hold tensors, composite tensors, numbers, strings, shapes, dtypes,
    and tuples, mappings and unions of these."""

    _tf_extension_type_do_not_transform_this_class = True

    def __init__(self, *args, **kwargs):
        if type(self) is ExtensionType:
            raise AssertionError("Cannot create an instance of ExtensionType because ExtensionType is an abstract base class.")

    @classmethod
    def _tf_extension_type_fields(cls):
        return _fields(cls)

    def _own(self):
        return tuple([self.__dict__[f.name] for f in self._tf_extension_type_fields()])

    @property
    def _type_spec(self):
        found = self.__dict__.get(_CACHED)
        if found is None:
            found = _bare(self.Spec, {f.name: map_leaves(_spec_of, self.__dict__[f.name])
                                      for f in self._tf_extension_type_fields()})
            self.__dict__[_CACHED] = found
        return found

    def _ef_flatten(self):
        """See CompositeTensor. The signatures of the tensors include their shapes, so this part has only the other fields."""
        own = self._own()
        fixed = map_leaves(lambda v: _core.Tensor if isinstance(v, HOLDERS) else v, own)
        return fixed, tuple([v for v in leaves(own) if isinstance(v, HOLDERS)])

    def _ef_rebuild(self, tensors):
        rest = iter(tensors)
        values = replace_leaves(self._own(), iter([next(rest) if isinstance(v, HOLDERS) else v for v in leaves(self._own())]))
        return _bare(type(self), zip([f.name for f in self._tf_extension_type_fields()], values))

    def __reduce__(self):
        return _bare, (type(self), {f.name: self.__dict__[f.name] for f in self._tf_extension_type_fields()})

    def __getattr__(self, name):
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self):
        return f"{type(self).__qualname__}({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in _fields(type(self)))})"

    __hash__ = None

    def __eq__(self, other):
        if type(self) is not type(other) or self._type_spec != other._type_spec:
            return False
        mine, theirs = nest.flatten(self, expand_composites=True), nest.flatten(other, expand_composites=True)
        same = []
        for a, b in zip(mine, theirs):
            same.append(_all(raw.Equal(raw.Shape(a), raw.Shape(b), incompatible_shape_error=False)))
            same.append(_all(raw.Equal(a, b, incompatible_shape_error=False)))
        return _all(raw.Pack(same)) if same else _core.convert(True)

    def __ne__(self, other):
        equal = self == other
        return raw.LogicalNot(equal) if isinstance(equal, _core.Tensor) else not equal


def _all(x):
    return raw.All(x, raw.Range(0, raw.Rank(x), 1))


def _spec_of(value):
    if isinstance(value, _core.VariableBase):
        return VariableSpec(value.shape, value.dtype, value.trainable)
    return type_spec_from_value(value) if isinstance(value, HOLDERS) else value


@export("experimental.extension_type.as_dict")
def as_dict(value):
    """{name: value} of the fields of an extension type. Extension types inside it are not converted."""
    return {f.name: getattr(value, f.name) for f in value._tf_extension_type_fields()}


# ---- batches ---------------------------------------------------------------------------------------------------------


@export("experimental.ExtensionTypeBatchEncoder")
class ExtensionTypeBatchEncoder:
    """How values of a batchable extension type are stacked, unstacked, mapped over and put into datasets. This default stacks
    each tensor of a value separately. A class some of whose tensors lack the batch dimension needs its own encoder."""

    def batch(self, spec, batch_size):
        """The spec of a batch of values."""

        def batched(field):
            if isinstance(field, TypeSpec):
                return field._batch(batch_size)
            return _batched_shape(field, batch_size)

        return _bare(type(spec), {f.name: map_leaves(batched, spec.__dict__[f.name]) for f in spec._tf_extension_type_fields()})

    def unbatch(self, spec):
        """The spec of one value of a batch."""

        def element(field):
            if isinstance(field, TypeSpec):
                return field._unbatch()
            return _element_shape(field)

        return _bare(type(spec), {f.name: map_leaves(element, spec.__dict__[f.name]) for f in spec._tf_extension_type_fields()})

    def encode(self, spec, value, minimum_rank=0):
        """The tensors of a value, each of which can be stacked separately."""
        parts = []
        for part, kind in zip(spec._to_components(value), spec._component_specs):
            if isinstance(kind, BatchableExtensionTypeSpec):
                parts += kind._encoder().encode(kind, part, minimum_rank)
            else:
                parts.append(part)
        return parts

    def decode(self, spec, encoded_value):
        """Rebuilds a value from the tensors that `encode` returned, or from rows of them."""
        rest, parts = list(encoded_value), []
        for kind in spec._component_specs:
            if isinstance(kind, BatchableExtensionTypeSpec):
                count = len(kind._encoder().encoding_specs(kind))
                parts.append(kind._encoder().decode(kind, rest[:count]))
                rest = rest[count:]
            else:
                parts.append(rest.pop(0))
        return spec._from_components(parts)

    def encoding_specs(self, spec):
        """The specs of the tensors that `encode` returns."""
        found = []
        for kind in spec._component_specs:
            deep = isinstance(kind, BatchableExtensionTypeSpec)
            found += kind._encoder().encoding_specs(kind) if deep else [kind]
        return found


def _batched_shape(field, size):
    return TensorShape([size]).concatenate(field) if isinstance(field, TensorShape) else field


def _element_shape(field):
    return field[1:] if isinstance(field, TensorShape) else field


class BatchableExtensionTypeSpec(ExtensionTypeSpec, BatchTypeSpec):
    """The spec of a batchable extension type."""

    def _encoder(self):
        return self.value_type.__batch_encoder__

    def _batch(self, batch_size):
        return self._encoder().batch(self, batch_size)

    def _unbatch(self):
        return self._encoder().unbatch(self)

    def _to_batched_tensor_list(self, value):
        return self._encoder().encode(self, value, minimum_rank=1)

    def _from_compatible_tensor_list(self, tensor_list):
        return self._encoder().decode(self, tensor_list)


@export("experimental.BatchableExtensionType")
class BatchableExtensionType(ExtensionType):
    """An extension type whose values can be batched; `__batch_encoder__` defines how."""

    _tf_extension_type_do_not_transform_this_class = True
    __batch_encoder__ = ExtensionTypeBatchEncoder()


def is_batchable(value):
    """Whether `value` is a batchable extension type. Raises AttributeError, as TensorFlow, for other extension types."""
    if isinstance(value, ExtensionType) and not isinstance(value, BatchableExtensionType):
        raise AttributeError(f"{type(value).Spec.__name__!r} object has no attribute '_to_batched_tensor_list': "
                             f"{type(value).__name__} is no BatchableExtensionType, so it has no rows")
    return isinstance(value, BatchableExtensionType)


def encoded(value):
    """The encoded tensors of a batchable value; row k of each belongs to row k of the value."""
    return tuple(value._type_spec._to_batched_tensor_list(value))


def row_count(value):
    """The number of rows of a batchable value if it is known, else None."""
    return encoded(value)[0].shape.as_list()[0]


def decoded_row(value, parts):
    """Rebuilds a row of a batchable value from the rows of its encoded tensors."""
    return value._type_spec._unbatch()._from_compatible_tensor_list(list(parts))


def stacked(first, parts, count):
    """Rebuilds a batch of `count` values like `first` from the stacked encoded tensors."""
    return first._type_spec._batch(count)._from_compatible_tensor_list(list(parts))
