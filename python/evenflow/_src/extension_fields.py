"""The fields of extension types: which annotations are allowed, and how values are converted to them."""
import collections.abc
import types
import typing

from . import _core, dtypes
from .composite import CompositeTensor
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec
from .tensors import convert_to_tensor

MISSING = object()  # the default of a field that has none
HOLDERS = (_core.Tensor, CompositeTensor, _core.VariableBase)  # the values of fields that a spec describes

_RESERVED = frozenset("""self Spec _type_spec _shape_invariant_to_type_spec _consumers value_type is_compatible_with
most_specific_compatible_type _with_tensor_ranks_only _to_components _from_components _component_specs _to_tensor_list
_from_tensor_list _from_compatible_tensor_list _flat_tensor_specs _serialize _deserialize _to_legacy_output_types
_to_legacy_output_shapes _to_legacy_output_classes _keras_mask""".split())
_SCALARS = (int, float, str, bytes, bool, type(None))


def is_reserved(name):
    """Whether `name` is reserved, so that no field may have it."""
    return name in _RESERVED or (name.startswith("__") and name.endswith("__")) or name.startswith("_tf_extension_type")


class ImmutableDict(collections.abc.Mapping):
    """An immutable mapping: the value of a field that is annotated as Mapping."""

    def __init__(self, *args, **kwargs):
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key):
        return self._items[key]

    def __contains__(self, key):
        return key in self._items

    def __iter__(self):
        return iter(self._items)

    def __len__(self):
        return len(self._items)

    def __hash__(self):
        return hash(tuple(sorted(self._items.items())))

    def __eq__(self, other):
        return self._items == (other._items if isinstance(other, ImmutableDict) else other)

    def __repr__(self):
        return f"ImmutableDict({self._items!r})"


class Field(typing.NamedTuple):
    """One field: its annotation, and its converted default or MISSING."""

    name: str
    kind: object
    default: object


def make_field(name, kind, default):
    """A Field. Raises TypeError if the annotation is not supported or the default does not fit it."""
    try:
        _check_kind(kind, allow_names=True)
    except TypeError as e:
        raise TypeError(f"In field {name!r}: {e}") from None
    if default is not MISSING and not _has_names(kind):
        default = converted(default, kind, f"default value for {name}", spec=None)
    return Field(name, kind, default)


def _has_names(kind):
    """Whether an annotation contains a forward reference: the name of a class as a string."""
    return isinstance(kind, (str, typing.ForwardRef)) or any(_has_names(k) for k in typing.get_args(kind))


def _check_kind(kind, allow_names=False):
    """Raises TypeError unless `kind` is a supported annotation."""
    if isinstance(kind, (str, typing.ForwardRef)):
        if not allow_names:
            raise TypeError(f"Unresolved forward reference {kind!r}")
        return
    if kind is None or kind in _SCALARS or kind is TensorShape or kind is dtypes.DType:
        return
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        args = args[:1] if len(args) == 2 and args[1] is Ellipsis else args
    elif origin is collections.abc.Mapping:
        if args[0] not in (str, int, float, bytes, bool):
            name = getattr(args[0], "__name__", repr(args[0]))
            raise TypeError(f"Mapping had a key {name!r} with type {type(args[0]).__name__!r}")
    elif origin not in (typing.Union, types.UnionType):
        if isinstance(kind, type) and issubclass(kind, (*HOLDERS, TypeSpec)) and origin is None:
            return
        raise TypeError(f"Unsupported type annotation {kind.__name__!r}" if isinstance(kind, type) and origin is None
                        else f"Unsupported type annotation {kind!r}")
    for k in args:
        _check_kind(k, allow_names)


def convert_all(fields, values, spec):
    """{name: value converted to its annotation} of all fields, in order. With `spec`, specs take the place of tensors."""
    extra = set(values) - {f.name for f in fields}
    if extra:
        raise ValueError(f"Got unexpected fields: {extra}")
    lacking = {f.name for f in fields} - set(values)
    if lacking:
        raise ValueError(f"Missing required fields: {lacking}")
    return {f.name: converted(values[f.name], f.kind, f.name, spec) for f in fields}


def converted(value, kind, path, spec):
    """Converts `value` to the annotation `kind`. `spec` is False for a value, True for a spec, and None for a default, whose
    tensors are converted when it is used. Raises TypeError, which names `path`, if the value does not fit."""
    if isinstance(kind, type) and typing.get_origin(kind) is None and issubclass(kind, HOLDERS):
        return _converted_tensor(value, kind, path, spec)
    if kind is TensorShape or kind is dtypes.DType:
        return _converted_type(value, kind, path)
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _converted_union(value, kind, path, spec)
    if origin is tuple:
        return _converted_tuple(value, typing.get_args(kind), path, spec)
    if origin is collections.abc.Mapping:
        if not isinstance(value, collections.abc.Mapping):
            raise TypeError(f"{path}: expected mapping, got {type(value).__name__!r}")
        key_kind, value_kind = typing.get_args(kind)
        return ImmutableDict((converted(k, key_kind, f"{path}[key]", spec), converted(v, value_kind, f"{path}[{k!r}]", spec))
                             for k, v in value.items())
    kind = type(None) if kind is None else kind
    if not isinstance(kind, type):
        raise TypeError(f"{path}: Unsupported type annotation {kind!r}")
    if not isinstance(value, kind):
        raise TypeError(f"{path}: expected {kind.__name__!r}, got {type(value).__name__!r}")
    return value


def _converted_tensor(value, kind, path, spec):
    if spec is None:
        return value
    if issubclass(kind, (CompositeTensor, _core.VariableBase)):
        if spec and (not isinstance(value, TypeSpec) or not issubclass(value.value_type, kind)):
            raise TypeError(f"{path}: expected a TypeSpec for {kind.__name__!r}, got {type(value).__name__!r}")
        if not spec and not isinstance(value, kind):
            raise TypeError(f"{path}: expected {kind.__name__!r}, got {type(value).__name__!r}")
        return value
    if spec:
        if not isinstance(value, TensorSpec):
            raise TypeError(f"{path}: expected a TensorSpec, got {type(value).__name__!r}")
        return value
    if isinstance(value, _core.Tensor):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError) as e:
        raise TypeError(f"{path}: expected a Tensor, got {type(value).__name__!r}") from e


def _converted_type(value, kind, path):
    try:
        return TensorShape(value) if kind is TensorShape else dtypes.as_dtype(value)
    except (TypeError, ValueError) as e:
        raise TypeError(f"{path}: expected 'tf.{kind.__name__}', got {type(value).__name__!r}") from e


def _converted_tuple(value, kinds, path, spec):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{path}: expected tuple, got {type(value).__name__!r}")
    if len(kinds) == 2 and kinds[1] is Ellipsis:
        kinds = kinds[:1] * len(value)
    if len(value) != len(kinds):
        raise TypeError(f"{path}: expected tuple with length {len(kinds)}, got {type(value).__name__!r})")
    return tuple([converted(v, k, f"{path}[{i}]", spec) for i, (v, k) in enumerate(zip(value, kinds))])


def _converted_union(value, kind, path, spec):
    for option in typing.get_args(kind):
        try:
            return converted(value, option, path, spec)
        except TypeError:
            pass
    raise TypeError(f"{path}: expected {kind!r}, got {type(value).__name__!r}")


# ---- walking through values ------------------------------------------------------------------------------------------


def map_leaves(function, value):
    """`value` with `function` applied to its leaves: everything in it that is neither a tuple nor a mapping."""
    if isinstance(value, tuple):
        return tuple([map_leaves(function, v) for v in value])
    if isinstance(value, collections.abc.Mapping):
        return type(value)([(k, map_leaves(function, value[k])) for k in value])
    return function(value)


def leaves(value):
    """Yields the leaves of `value`; those of a mapping in the order of its keys."""
    if isinstance(value, tuple):
        for v in value:
            yield from leaves(v)
    elif isinstance(value, collections.abc.Mapping):
        for k in sorted(value):
            yield from leaves(value[k])
    else:
        yield value


def replace_leaves(value, parts):
    """`value` with its leaves, in the order of `leaves`, replaced by those of the iterator `parts`."""
    if isinstance(value, tuple):
        return tuple([replace_leaves(v, parts) for v in value])
    if isinstance(value, collections.abc.Mapping):
        made = {k: replace_leaves(value[k], parts) for k in sorted(value)}
        return type(value)([(k, made[k]) for k in value])
    return next(parts)
