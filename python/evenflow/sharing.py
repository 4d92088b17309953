"""Functions made again from the same code, as in a loop, are found again with their traces.

A trace depends on what its Python function reads: what the closure holds, globals, defaults. A function is shared only if
all of that is known by value, or cannot change: a model that was compiled anew, or an object with another attribute, is
the same object and would give a stale trace. Shared functions outlive their makers, so those that hold much are only
found while somebody else keeps them.
"""
import collections
import functools
import sys
import threading
import types
import weakref

from . import _core, dtypes
from .shapes import TensorShape

_PLAIN = {int, str, bytes, bool, type(None), type(Ellipsis)}
_MOST = 32  # functions remembered
_LITTLE = 1 << 16  # bytes of tensors and variables that a function may keep alive by being remembered
_LIBRARIES = sys.stdlib_module_names | {"evenflow", "tensorflow", "numpy"}
_RESTLESS = {"time", "datetime", "random", "secrets", "uuid", "os", "sys"}  # what they say is never the same twice
_BY_IDENTITY = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType,
                type(_core.raw.AddV2), dtypes.DType)


class _Held:
    """An object by identity, weakly where it can be."""

    __slots__ = ("ref", "strong", "number")

    def __init__(self, value):
        self.number = id(value)
        try:
            self.ref, self.strong = weakref.ref(value), None
        except TypeError:
            self.ref, self.strong = None, value

    def value(self):
        return self.ref() if self.ref is not None else self.strong

    def __hash__(self):
        return self.number

    def __eq__(self, other):
        if not isinstance(other, _Held) or self.number != other.number:
            return False
        mine = self.value()
        return mine is not None and mine is other.value()


@functools.lru_cache(maxsize=512)
def _names_in(code):
    names = set(code.co_names)
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names.update(_names_in(const))
    return tuple(sorted(names))


class _Reader:
    """Reads what a function depends on; raises TypeError if sharing would not be safe."""

    def __init__(self):
        self.bytes = 0  # of tensors and variables

    def function(self, python, depth=0):
        code = python.__code__
        names = _names_in(code)
        held = tuple(self.value(c.cell_contents, depth, names) for c in (python.__closure__ or ()))
        around = python.__globals__
        used = tuple((n, self.value(around[n], depth + 1, names)) for n in names if n in around)
        defaults = self.value(python.__defaults__ or (), depth)
        kwdefaults = self.value(python.__kwdefaults__, depth) if python.__kwdefaults__ else None
        return (code, id(around), held, used, defaults, kwdefaults)

    def value(self, value, depth=0, names=()):
        """What a value is known by; `names` are those the function may ask a module for."""
        kind = type(value)
        if kind is float or kind is complex:
            return (kind, repr(value))  # zero has two signs
        if kind in _PLAIN:
            return (kind, value)
        if depth > 4:
            raise TypeError
        if kind is tuple:
            return (kind, tuple(self.value(v, depth + 1, names) for v in value))
        if kind is list:
            return (kind, id(value), tuple(self.value(v, depth + 1, names) for v in value))
        if kind is dict:
            return (kind, id(value), tuple((k, self.value(v, depth + 1, names)) for k, v in value.items()))
        if kind is types.FunctionType:
            return _Held(value) if _of_library(value) else self.function(value, depth + 1)
        if kind is types.ModuleType:
            return self.module(value, depth, names)
        if isinstance(value, (_core.Function, _core.BoundFunction)):
            return (_Held(value), self.value(value.python_function, depth + 1))
        return self.object(value)

    def object(self, value):
        """Things that are what they are; all others may change."""
        if isinstance(value, (_core.EagerTensor, _core.VariableBase)):
            self.bytes += _size(value)
        elif isinstance(value, type):
            if not _of_library(value):
                raise TypeError
        elif not isinstance(value, _BY_IDENTITY) and not isinstance(value, TensorShape):
            raise TypeError
        return _Held(value)

    def module(self, module, depth, names):
        name = module.__name__.partition(".")[0]
        if name in _RESTLESS or (name == "numpy" and "random" in names):
            raise TypeError
        if name in _LIBRARIES:
            return _Held(module)
        own = module.__dict__
        return (_Held(module), tuple((n, self.value(own[n], depth + 1, names)) for n in names if n in own))


def _of_library(value):
    return (getattr(value, "__module__", None) or "").partition(".")[0] in _LIBRARIES


def _size(value):
    count = value.shape.num_elements()
    return _LITTLE + 1 if count is None else count * max(value.dtype.size, 1)


_made = collections.OrderedDict()  # what a function depends on -> the function, or a weak reference; the last few
_lock = threading.Lock()


def made_before(python, options):
    """(key, function made before from the same code reading the same values, or None)"""
    if not isinstance(python, types.FunctionType):
        return None, None
    reader = _Reader()
    try:
        key = (reader.function(python), options)
        hash(key)
    except (TypeError, ValueError):  # something that may change, an empty cell, something unhashable
        return None, None
    with _lock:
        found = _made.get(key)
        if isinstance(found, weakref.ref):
            found = found()
        if found is not None:
            _made.move_to_end(key)
            if found.__dict__.get("_made"):  # it made variables: each function has its own
                return None, None
        return (key, reader.bytes), found


def remember(key, function):
    key, size = key
    with _lock:
        _made[key] = function if size <= _LITTLE else weakref.ref(function)
        _made.move_to_end(key)
        while len(_made) > _MOST:
            _made.popitem(last=False)
