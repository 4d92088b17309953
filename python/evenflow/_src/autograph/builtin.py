"""Replacements of Python's builtins for calls with symbolic tensors."""
import builtins
import sys

from .. import _core, dtypes
from ..namespace import _names as public
from .iterables import Numbered, Rows, Staged, Zipped
from .values import is_staged

raw = _core.raw
_NONE = object()


def abs_(x):
    """abs"""
    return public["abs"](x) if is_staged(x) else abs(x)


def float_(x=0.0):
    """float"""
    if not is_staged(x):
        return float(x)
    return raw.StringToNumber(x) if x.dtype is dtypes.string else public["cast"](x, dtypes.float32)


def int_(x=0, base=_NONE):
    """int"""
    if not is_staged(x):
        return int(x) if base is _NONE else int(x, base)
    if base not in (10, _NONE):
        raise NotImplementedError(f"base {base} not supported for int")
    return raw.StringToNumber(x, dtypes.int32) if x.dtype is dtypes.string else public["cast"](x, dtypes.int32)


def len_(s):
    """len: for a tensor the size of its first axis, as a Python int if it is known."""
    if isinstance(s, Staged):
        return s.length()
    if getattr(s, "_flow_of", None) is not None:
        return s.size()
    if not is_staged(s):
        return len(s)
    tensor = _core.convert(s)
    dims = _core.static_shape(tensor)
    if dims == ():
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {raw.Shape(tensor)}")
    size = None if dims is None else _core.seen_size(tensor, 0)
    return raw.Shape(tensor)[0] if size is None else size


def range_(start, stop=_NONE, step=_NONE):
    """range: tf.range if one of its arguments is a tensor"""
    given = [a for a in (start, stop, step) if a is not _NONE]
    if any(is_staged(a) for a in given):
        return public["range"](*given)
    return range(*given)


def enumerate_(items, start=0):
    """enumerate"""
    if is_staged(items) or isinstance(items, Staged):
        return Numbered(items, start)
    if hasattr(type(items), "_ef_graph_for") and hasattr(items, "enumerate") and not _core.executing_eagerly():
        return items.enumerate(start)
    return enumerate(items, start)


def zip_(*items, strict=False):
    """zip"""
    if items and any(is_staged(i) or isinstance(i, Staged) for i in items):
        if all(is_staged(i) or isinstance(i, Staged) for i in items):
            return Zipped(items)
        items = [Rows(i) if is_staged(i) else i for i in items]
    return zip(*items, strict=strict)


def map_(function, *items):
    """map: the function is converted like any other"""
    from .calls import converted_call  # calls.py imports this file

    return map(lambda *a: converted_call(function, a, None), *[Rows(i) if is_staged(i) else i for i in items])


def _extreme(name, python, reduce, pair):
    def of(*args, **kwargs):
        if not any(is_staged(a) for a in args):
            return python(*args, **kwargs)
        if kwargs:
            raise ValueError(f"the builtin {name} takes no keyword arguments where tensors are given")
        if len(args) == 1:
            if _core.static_shape(_core.convert(args[0])) == ():
                raise ValueError(f"{name} of a single scalar tensor: it must be at least a vector")
            return public[reduce](args[0], axis=0)
        result = args[0]
        for arg in args[1:]:
            result = pair(result, arg)
        return result

    of.__doc__ = name
    return of


max_ = _extreme("max", max, "reduce_max", lambda a, b: public["maximum"](a, b))
min_ = _extreme("min", min, "reduce_min", lambda a, b: public["minimum"](a, b))


def sum_(items, start=0):
    """sum"""
    if is_staged(items):
        return public["reduce_sum"](items, axis=0) + start
    return sum(items, start)


def any_(items):
    """any"""
    return public["reduce_any"](items) if is_staged(items) else any(items)


def all_(items):
    """all"""
    return public["reduce_all"](items) if is_staged(items) else all(items)


def sorted_(items, key=None, reverse=False):
    """sorted"""
    if not is_staged(items):
        return sorted(items, key=key, reverse=reverse)
    if key is not None:
        raise NotImplementedError("sorted of a tensor takes no key")
    return public["sort"](items, direction="DESCENDING" if reverse else "ASCENDING")


def print_(*objects, **kwargs):
    """print: prints the values of tensors each time the graph runs (with Feature.BUILTIN_FUNCTIONS)."""
    if not any(is_staged(o) for o in objects):
        return print(*objects, **kwargs)
    tensors = [_core.convert(o) for o in objects if is_staged(o)]
    places = [is_staged(o) for o in objects]

    def show(values):
        rest = iter(values)
        shown = [next(rest).numpy() if staged else o for o, staged in zip(objects, places)]
        print(*[v.decode("utf-8") if isinstance(v, bytes) else v for v in shown], **kwargs)
        return []

    _core.callback(show, tensors, [], [], True)
    return None


OVERLOADS = {abs: abs_, float: float_, int: int_, len: len_, range: range_, enumerate: enumerate_, zip: zip_, map: map_,
             max: max_, min: min_, sum: sum_, any: any_, all: all_, sorted: sorted_, print: print_}


# ---- builtins that inspect their caller's frame -------------------------------------------------------------------------


def _frame_of(scope, innermost=True):
    """The stack frame that has a function scope as a local variable."""
    frame, found = sys._getframe(1), None
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            found = frame
            if innermost:
                break
        frame = frame.f_back
    return found


def in_caller(function, args, scope):
    """Calls eval, super, globals or locals as if converted code itself called it; NotImplemented for other functions."""
    if function is builtins.super and not args:
        frame = _frame_of(scope, innermost=False)
        return super(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])
    if function is builtins.globals:
        return _frame_of(scope).f_globals
    if function is builtins.locals:
        return _frame_of(scope).f_locals
    if function is builtins.eval:
        frame = _frame_of(scope)
        return eval(args[0], *(args[1:] or (frame.f_globals, frame.f_locals)))
    return NotImplemented


SPECIAL = frozenset({super, globals, locals, eval})
