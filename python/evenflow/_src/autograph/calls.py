"""Calls in converted code: the user's own functions are converted, all others are called unchanged."""
import functools
import types
import unittest

from .. import _core
from . import builtin, state
from .rules import is_library
from .transpile import converted, options_for

_DIRECT = (_core.Op, _core.Function, _core.BoundFunction)


def converted_call(f, args, kwargs, scope=None, options=None):
    """`f(*args, **kwargs)` from converted code."""
    if kwargs is None:
        kwargs = {}
    kind = type(f)
    if kind in _DIRECT:
        return f(*args, **kwargs)
    try:
        overload = builtin.OVERLOADS.get(f) if kind is type or kind is types.BuiltinFunctionType else None
    except TypeError:
        overload = None
    if overload is not None:
        return overload(*args, **kwargs)
    if (kind is type or kind is types.BuiltinFunctionType) and scope is not None and f in builtin.SPECIAL:
        result = builtin.in_caller(f, args, scope)
        return f(*args, **kwargs) if result is NotImplemented else result
    if isinstance(f, functools.partial):
        return converted_call(f.func, f.args + tuple(args), {**f.keywords, **kwargs}, scope, options)
    target, first = _target(f)
    if target is not None and state.control_status_ctx().status is not state.Status.DISABLED:
        if options is None:
            options = options_for(()) if scope is None else scope.callopts
        made = converted(target, options)
        if made is not None:
            return made(*first, *args, **kwargs)
    return f(*args, **kwargs)


def _target(f):
    """(the function to convert, the arguments before those of the call); (None, ()) if `f` is called unchanged."""
    first = ()
    if isinstance(f, types.MethodType):
        first, function = (f.__self__,), f.__func__
        if isinstance(f.__self__, unittest.TestCase):
            return None, ()
    elif isinstance(f, types.FunctionType):
        function = f
    elif isinstance(f, type) or isinstance(f, (types.BuiltinFunctionType, types.MethodWrapperType)):
        return None, ()
    else:
        function, first = getattr(type(f), "__call__", None), (f,)
    if not isinstance(function, types.FunctionType):
        return None, ()
    if "autograph_info__" in function.__dict__ or is_library(function.__globals__.get("__name__")):
        return None, ()
    if function.__code__.co_filename in ("<string>", "<stdin>"):
        return None, ()
    return function, first
