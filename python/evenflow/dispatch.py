"""Ops called with composite tensors: each kind says what it does with the ops it knows.

The extension asks here after an op has refused its arguments, so calls with plain tensors pay nothing.
"""
from . import _core
from .composite import SparseTensor

_handlers = {}  # (op's name, class) -> function(op, args, kwargs)


def handle(kind, names, function):
    """`function(op, args, kwargs)` answers for the ops called `names` when an argument is a `kind`."""
    for name in names:
        _handlers[name, kind] = function


def dispatch(name, op, args, kwargs):
    """What the handler for the first composite argument gives; NotImplemented without one."""
    for value in (*args, *kwargs.values()):
        for part in value if type(value) in (list, tuple) else (value,):
            found = _handlers.get((name, type(part)))
            if found is not None:
                return found(op, args, kwargs)
    return NotImplemented


def _on_values(op, args, kwargs):
    """An op whose only tensor is a SparseTensor, on its values."""
    if args:
        x, args = args[0], args[1:]
    else:
        word = next(k for k, v in kwargs.items() if isinstance(v, SparseTensor))
        x, kwargs = kwargs[word], {k: v for k, v in kwargs.items() if k != word}
    return SparseTensor(x.indices, op(x.values, *args, **kwargs), x.dense_shape)


handle(SparseTensor, "Abs ComplexAbs Neg Sign Square Sqrt Erf Tanh BesselI0e BesselI1e".split(), _on_values)


_core.register(dispatch=dispatch)
