"""Finds functions that need no conversion.

Most functions that people trace are straight-line code: arithmetic and calls of tf and numpy. Their bytecode
has no jumps, and every callee is a dotted name that can be looked up now and is not the user's own code.
Such functions are traced unchanged, and the transformers are never imported. A callee that is known only
when the code runs - an element of a list or a dict, a local variable, the result of another call - may be
the user's code, so such a function is converted.
"""
import builtins
import dis
import functools
import types
import weakref

from .. import _core
from .rules import is_library

_PLAIN = frozenset("""RESUME NOP CACHE PRECALL CALL KW_NAMES CALL_KW PUSH_NULL LOAD_CONST LOAD_FAST STORE_FAST LOAD_GLOBAL
LOAD_DEREF LOAD_CLOSURE COPY_FREE_VARS MAKE_CELL STORE_DEREF LOAD_ATTR LOAD_METHOD BINARY_OP BINARY_SUBSCR BINARY_SLICE
BUILD_TUPLE BUILD_LIST BUILD_MAP BUILD_CONST_KEY_MAP BUILD_SLICE BUILD_STRING FORMAT_VALUE LIST_EXTEND UNARY_NEGATIVE
UNARY_POSITIVE UNARY_INVERT COMPARE_OP RETURN_VALUE RETURN_CONST POP_TOP SWAP COPY UNPACK_SEQUENCE LIST_APPEND
LOAD_FAST_LOAD_FAST STORE_FAST_STORE_FAST STORE_FAST_LOAD_FAST LOAD_FAST_CHECK""".split())
_OVERLOADED = frozenset({abs, all, any, enumerate, filter, float, int, len, map, max, min, next, print, range, sorted, sum,
                         zip, eval, exec, globals, locals, super, vars})
_MISSING = object()
_NULL = object()  # the NULL that the interpreter pushes beside a callee that is no method
_WITHOUT_RESULT = frozenset("POP_TOP STORE_FAST STORE_DEREF RETURN_VALUE LIST_EXTEND LIST_APPEND STORE_FAST_STORE_FAST".split())
_DEPTH = 4  # the depth to which calls of the user's functions are followed


_kept = weakref.WeakKeyDictionary()  # code object -> result of _find_paths


def _paths(code):
    """_find_paths, cached as long as the code object exists."""
    found = _kept.get(code, _MISSING)
    if found is _MISSING:
        found = _kept[code] = _find_paths(code)
    return found


class _Stack:
    """A model of the interpreter's stack: dotted names as lists, NULLs, and None for any other value."""

    def __init__(self):
        self.items = []
        self.paths = []  # every dotted name that is read

    def name(self, step):
        path = [step.argval]
        self.paths.append(path)
        pushed = [path]
        if step.opname == "LOAD_GLOBAL" and "NULL" in step.argrepr:  # NULL is below the callee; since Python 3.13, above it
            pushed.insert(0 if step.argrepr.startswith("NULL") else 1, _NULL)
        self.items += pushed

    def attribute(self, step):
        owner = self.items.pop()
        if isinstance(owner, list):
            owner.append(step.argval)
        else:
            owner = None
        self.items.append(owner)
        if step.opname == "LOAD_METHOD" or "NULL" in step.argrepr:
            self.items.append(_NULL)  # or the instance; in both cases the callee is the item below

    def call(self, count):
        """Pops a call with `count` arguments. Returns whether the callee is a dotted name."""
        del self.items[len(self.items) - count:]
        pair = [self.items.pop(), self.items.pop()]
        self.items.append(None)
        return any(isinstance(item, list) for item in pair)

    def other(self, step):
        name = step.opname
        if name == "PUSH_NULL":
            self.items.append(_NULL)
        elif name == "COPY":
            self.items.append(self.items[-step.arg])
        elif name == "SWAP":
            self.items[-1], self.items[-step.arg] = self.items[-step.arg], self.items[-1]
        else:
            effect = dis.stack_effect(step.opcode, step.arg)
            pushed = 0 if name in _WITHOUT_RESULT else step.arg if name == "UNPACK_SEQUENCE" else 2 if effect == 2 else 1
            if name in ("RESUME", "NOP", "CACHE", "PRECALL", "KW_NAMES", "COPY_FREE_VARS", "MAKE_CELL", "RETURN_CONST"):
                return
            del self.items[len(self.items) - (pushed - effect):]
            self.items += [None] * pushed


def _find_paths(code):
    """The dotted names that a straight-line function calls or reads from outside; None if it is not straight-line code."""
    stack = _Stack()
    for step in dis.get_instructions(code):
        name = step.opname
        if name not in _PLAIN:
            return None
        if name in ("LOAD_GLOBAL", "LOAD_DEREF"):
            stack.name(step)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            stack.attribute(step)
        elif name in ("CALL", "CALL_KW"):
            if not stack.call(step.arg + (name == "CALL_KW")):
                return None
        else:
            stack.other(step)
    return [tuple(p) for p in stack.paths]


def _root(python, name, seen):
    """The object that a name refers to in the function's closure, globals or builtins. The lookup is appended to `seen`."""
    code = python.__code__
    if name in code.co_freevars:
        cell = python.__closure__[code.co_freevars.index(name)]
        try:
            value = cell.cell_contents
        except ValueError:
            return _MISSING
        seen.append((cell, None, value))
        return value
    value = python.__globals__.get(name, _MISSING)
    seen.append((python.__globals__, name, value))
    return getattr(builtins, name, _MISSING) if value is _MISSING else value


def _lookup(python, path, depth, seen):
    value = _root(python, path[0], seen)
    for attribute in path[1:]:
        own = getattr(value, "__dict__", {})
        if isinstance(value, types.ModuleType):
            value = getattr(value, attribute, _MISSING)
        elif isinstance(value, types.FunctionType) or (
                attribute in own and not isinstance(value, type) and is_library(type(value).__module__)):
            value = own.get(attribute, _MISSING)
        elif isinstance(value, tuple) and type(value) is not tuple:
            return _MISSING  # a field of a named tuple
        else:
            return value if is_harmless(value, depth, seen) else _MISSING
        if value is _MISSING:
            return _MISSING
    return value


def is_harmless(value, depth, seen):
    """Whether calling (or just reading) `value` runs no code that needs conversion."""
    if isinstance(value, types.ModuleType):
        return True
    if isinstance(value, type):
        return value not in _OVERLOADED and is_library(value.__module__)
    if isinstance(value, (_core.CoreTensor, _core.Op, _core.Function, _core.BoundFunction)):
        return True
    if isinstance(value, types.BuiltinFunctionType):
        return value not in _OVERLOADED
    if isinstance(value, functools.partial):
        return is_harmless(value.func, depth, seen)
    if isinstance(value, types.MethodType):
        return is_harmless(value.__func__, depth, seen)
    if isinstance(value, types.FunctionType):
        if "autograph_info__" in value.__dict__ or is_library(value.__globals__.get("__name__")):
            return True
        return depth < _DEPTH and _is_straight(value, depth + 1, seen)
    if isinstance(value, (int, float, complex, str, bytes, type(None), list, tuple, dict)):
        return True
    return is_library(type(value).__module__)


def _is_straight(python, depth, seen):
    paths = _paths(python.__code__)
    if paths is None:
        return False
    for path in paths:
        value = _lookup(python, path, depth, seen)
        if value is _MISSING or not is_harmless(value, depth, seen):
            return False
    return True


def straight(python):
    """The lookups by which the function needs no conversion, which `still` checks later; None if it needs conversion."""
    seen = []
    return seen if _is_straight(python, 0, seen) else None


def still(seen):
    """Whether all lookups of `straight` still find the same objects."""
    for where, name, value in seen:
        if name is None:
            if where.cell_contents is not value:
                return False
        elif where.get(name, _MISSING) is not value:
            return False
    return True
