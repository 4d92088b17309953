"""Which functions need no conversion at all.

Most functions that people trace are straight lines: arithmetic and calls of tf and numpy. The bytecode
shows it: no jumps, and every call's target is a name that can be looked up now and is not the user's own
code. Such functions run as they are, and the transformers are never loaded. Anything unknown counts as
needing conversion.
"""
import builtins
import dis
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


_kept = weakref.WeakKeyDictionary()  # code object -> its paths


def _paths(code):
    """As _find_paths, kept for as long as the code."""
    found = _kept.get(code, _MISSING)
    if found is _MISSING:
        found = _kept[code] = _find_paths(code)
    return found


def _find_paths(code):
    """The dotted names a straight-line function calls or reads from around it; None if it is not one."""
    found, path, callee = [], None, False
    for step in dis.get_instructions(code):
        name = step.opname
        if name not in _PLAIN:
            return None
        if name == "PUSH_NULL":
            callee = True
            continue
        if name in ("LOAD_GLOBAL", "LOAD_DEREF"):
            path, callee = [step.argval], False
            found.append(path)
        elif name in ("LOAD_ATTR", "LOAD_METHOD"):
            is_method = name == "LOAD_METHOD" or (step.arg is not None and "NULL" in step.argrepr)
            if path is not None:
                path.append(step.argval)
            elif is_method:
                return None  # a method of something that is only known when it runs
            elif callee:
                return None
        elif name not in ("CACHE", "NOP", "PRECALL", "KW_NAMES"):
            if callee:
                return None  # calls what a local variable holds
            path = None
    return [tuple(p) for p in found]


def _lookup(python, path):
    name = path[0]
    code = python.__code__
    if name in code.co_freevars:
        try:
            value = python.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return _MISSING
    else:
        value = python.__globals__.get(name, getattr(builtins, name, _MISSING))
    for attribute in path[1:]:
        if not isinstance(value, types.ModuleType):
            return value if is_harmless(value, 0) else _MISSING
        value = getattr(value, attribute, _MISSING)
        if value is _MISSING:
            return _MISSING
    return value


def is_harmless(value, depth):
    """Whether calling (or just reading) `value` runs no code that needs conversion."""
    if isinstance(value, types.ModuleType) or isinstance(value, type):
        return not isinstance(value, type) or value.__module__ == "builtins" and value not in _OVERLOADED or is_library(
            value.__module__)
    if isinstance(value, (_core.CoreTensor, _core.Op, _core.Function, _core.BoundFunction)):
        return True
    if isinstance(value, types.BuiltinFunctionType):
        return value not in _OVERLOADED
    if isinstance(value, types.FunctionType):
        if "autograph_info__" in value.__dict__ or is_library(value.__globals__.get("__name__")):
            return True
        return depth < 4 and is_straight(value, depth + 1)
    if isinstance(value, (int, float, complex, str, bytes, type(None), list, tuple, dict)):
        return True
    return is_library(type(value).__module__)


def is_straight(python, depth=0):
    """Whether the function runs unconverted just as well."""
    paths = _paths(python.__code__)
    if paths is None:
        return False
    for path in paths:
        value = _lookup(python, path)
        if value is _MISSING or not is_harmless(value, depth):
            return False
    return True
