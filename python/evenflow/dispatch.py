"""Ops called with composite tensors: each kind says what it does with the ops it knows.

The extension asks here after an op has refused its arguments, so calls with plain tensors pay nothing.
"""
from . import _core
from .composite import SparseTensor, SparseTensorValue

_handlers = {}  # (op's name, class) -> function(op, args, kwargs)


def handle(kind, names, function):
    """`function(op, args, kwargs)` answers for the ops called `names` when an argument is a `kind`."""
    for name in names:
        _handlers[name, kind] = function


def _kind(value):
    """The class under which a value is registered: a SparseTensorValue stands for its SparseTensor."""
    return SparseTensor if isinstance(value, SparseTensorValue) else type(value)


def dispatch(name, op, args, kwargs):
    """What the handler for the first composite argument gives; NotImplemented without one."""
    for value in (*args, *kwargs.values()):
        found = _handlers.get((name, _kind(value)))
        if found is not None:
            return found(op, args, kwargs)
    return NotImplemented


def _on_values(op, args, kwargs):
    """An op without argument but a SparseTensor, on its values: it keeps zeros zero."""
    if args:
        x, args = args[0], args[1:]
    else:
        word = next(k for k, v in kwargs.items() if _kind(v) is SparseTensor)
        x, kwargs = kwargs[word], {k: v for k, v in kwargs.items() if k != word}
    x = SparseTensor.from_value(x)
    return SparseTensor(x.indices, op(x.values, *args, **kwargs), x.dense_shape)


handle(SparseTensor, "Abs ComplexAbs Neg Sign Square Sqrt Erf Tanh BesselI0e BesselI1e".split(), _on_values)


_core.register(dispatch=dispatch)
