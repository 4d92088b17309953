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
                return found(op, *_in_order(op, args, kwargs))
    return NotImplemented


def _in_order(op, args, kwargs):
    """The arguments of a call, those given by name in their places if nothing before them is left out."""
    for word in op._params[len(args):]:
        if word not in kwargs or word == "name":
            break
        args, kwargs = (*args, kwargs[word]), {k: v for k, v in kwargs.items() if k != word}
    return args, kwargs


def _on_values(op, args, kwargs):
    """An op whose only tensor is a SparseTensor, on its values."""
    x, *rest = args
    return SparseTensor(x.indices, op(x.values, *rest, **kwargs), x.dense_shape)


handle(SparseTensor, "Abs ComplexAbs Neg Sign Square Sqrt Erf Tanh BesselI0e BesselI1e".split(), _on_values)


_core.register(dispatch=dispatch)
