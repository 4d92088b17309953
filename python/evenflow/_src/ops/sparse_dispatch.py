"""Handlers for functions of dense tensors that are called with sparse ones.

Functions that map 0 to 0 are applied to the stored values; shape, size and rank are computed from `dense_shape`.
"""
from ..composite import SparseTensor, SparseTensorValue
from ..dispatch import handle
from ..namespace import names
from .common import dtypes, raw
from .sparse import sparse


def _on_values(api, args, kwargs):
    """Applies a function whose only tensor argument is a SparseTensor to its values."""
    x, *rest = args
    return SparseTensor(x.indices, api(x.values, *rest, **kwargs), x.dense_shape)


def _index_type(args):
    """The dtype of `out_type`, the second argument of shape and size."""
    return dtypes.int32 if len(args) < 2 or args[1] is None else dtypes.as_dtype(args[1])


def _shape(api, args, kwargs):
    return raw.Cast(sparse(args[0]).dense_shape, _index_type(args), **kwargs)


def _size(api, args, kwargs):
    return raw.Prod(raw.Cast(sparse(args[0]).dense_shape, _index_type(args)), [0], **kwargs)


def _rank(api, args, kwargs):
    return raw.Size(sparse(args[0]).dense_shape, **kwargs)


_ZERO_TO_ZERO = """math.abs math.asin math.asinh math.atan math.atanh math.bessel_i0e math.bessel_i1e math.erf math.negative
math.sign math.sin math.sqrt math.square math.tan math.tanh cast""".split()


def register():
    """Registers the handlers. Called when all public functions are defined."""
    handle(SparseTensor, [names()[name] for name in _ZERO_TO_ZERO], _on_values)
    for name, handler in (("shape", _shape), ("size", _size), ("rank", _rank)):
        for kind in (SparseTensor, SparseTensorValue):
            handle(kind, [names()[name]], handler)
