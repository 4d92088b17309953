"""Arguments of a tf.function that are structures of other classes than list, tuple and dict.

A call flattens them (python/ext/signature.c): the tensors they hold become arguments, and everything else about them is
part of the signature that selects a trace. While tracing, the function receives rebuilt structures: a mapping keeps its
class, and a subclass of list becomes a plain list, as in TensorFlow.
"""
import collections
import collections.abc as abc

from . import _core, nest


def _opens(kind):
    return (issubclass(kind, (list, abc.Mapping)) or getattr(kind, "_nest_kind", None) == "composite"
            or getattr(kind, "__attrs_attrs__", None) is not None or hasattr(kind, "_ef_argument")
            or hasattr(kind, "__tf_flatten__") and hasattr(kind, "__tf_unflatten__"))


def _take_apart(value):
    """(part of the signature, which must be hashable; the components) and optionally a third item, which says for each
    component which of its dimensions every trace leaves unknown."""
    if nest._opens(value):
        return value._ef_flatten()
    if hasattr(value, "_ef_argument"):
        return value._ef_argument()
    if isinstance(value, abc.Mapping):
        try:
            keys = tuple(sorted(value))
        except TypeError:
            keys = tuple(value)
        return keys, tuple([value[k] for k in keys])
    if nest.is_custom(value):
        fixed, parts = value.__tf_flatten__()
        return fixed, tuple(parts)
    return None, tuple(nest._values(value))


def _put_together(value, fixed, parts):
    """A structure like `value` that holds other components."""
    if nest._opens(value):
        return value._ef_rebuild(parts)
    if hasattr(value, "_ef_argument"):
        return value._ef_again(parts)
    if isinstance(value, abc.Mapping):
        made = dict(zip(fixed, parts))
        pairs = [(k, made[k]) for k in value]
        return dict(pairs) if isinstance(value, collections.defaultdict) else type(value)(pairs)
    return parts if isinstance(value, list) else nest._rebuild(value, parts)


_core.register(opens=_opens, take_apart=_take_apart, put_together=_put_together)
