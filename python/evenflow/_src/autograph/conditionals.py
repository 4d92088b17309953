"""`if` statements and expressions of converted code."""
from .. import _core, nest
from ..control_graphs import Body, as_result
from ..control import build_branches
from . import frames
from .values import (UndefinedReturnValue, as_tensors, condition, is_flag, is_staged, is_undefined, stand_in)

_STAGED = object()


def if_stmt(test, body, orelse, get_state, set_state, names, nouts):
    """An if statement. Its blocks use variables of the enclosing function, which get_state and set_state read and write; the
    first `nouts` of them are used after the statement."""
    if not is_staged(test):
        return body() if test else orelse()
    test = condition(test, "if statement")
    before = get_state()
    main, main_values = _run("if_true", body, before, get_state, set_state, nouts)
    other, other_values = _run("if_false", orelse, before, get_state, set_state, nouts)
    set_state(before)
    after = merge(test, (main, main_values), (other, other_values), names)
    set_state(tuple(after) + tuple(before[nouts:]))


def _run(name, block, before, get_state, set_state, nouts):
    """Traces one block. Returns (Body, values of the variables after it)."""
    traced = Body(name)
    with traced:
        set_state(before)
        block()
        return traced, list(get_state()[:nouts])


def if_exp(test, if_true, if_false, text):
    """`if_true() if test else if_false()`"""
    if not is_staged(test):
        return if_true() if test else if_false()
    test = condition(test, "if expression")
    sides = []
    for name, block in (("if_true", if_true), ("if_false", if_false)):
        traced = Body(name)
        with traced:
            sides.append((traced, [block()]))
    return merge(test, sides[0], sides[1], (text,))[0]


def merge(test, main, other, names):
    """Adds one node that runs one of two traced blocks. Returns the values of the variables after it."""
    kept = []  # for each variable its value if it needs no op, else _STAGED
    for k, name in enumerate(names[:len(main[1])]):
        kept.append(_same_value(test, name, main[1], other[1], k))
    staged = [k for k, value in enumerate(kept) if value is _STAGED]
    for traced, values in (main, other):
        with traced:
            result = as_result([as_tensors(values[k]) for k in staged])
        traced.finish(result)
    for k, a, b in zip(staged, main[0].result, other[0].result):
        _check(names[k], a, b)
    made = build_branches(test, main[0], other[0])
    rest = iter(made)
    return [next(rest) if value is _STAGED else value for value in kept]


def _same_value(test, name, mains, others, k):
    """The value of a variable after both blocks if it needs no op, else _STAGED. If only one block returns a value, the other
    gets a filler."""
    a, b = mains[k], others[k]
    if a is True and is_flag(name) and isinstance(b, _core.Tensor) and getattr(test, "_negates", None) is b:
        return True
    if a is b or (is_flag(name) and isinstance(a, bool) and isinstance(b, bool) and a == b):
        return a
    if is_undefined(a) and is_undefined(b):
        return a
    for which, values, value, like in (("main", mains, a, b), ("else", others, b, a)):
        if isinstance(value, UndefinedReturnValue):
            frames.note_missing_return(which)
            values[k] = _Filler(like)
        elif is_undefined(value):
            raise ValueError(f"'{name}' must also be initialized in the {which} branch")
        elif value is None:
            raise ValueError(f"'{name}' is None at the end of the {which} branch.")
    for values in (mains, others):
        if isinstance(values[k], _Filler):
            values[k] = stand_in(values[k].like)
    return _STAGED


class _Filler:
    __slots__ = ("like",)

    def __init__(self, like):
        self.like = like


def _check(name, a, b):
    """Raises TypeError unless a variable has the same structure and dtypes after both blocks."""
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (TypeError, ValueError) as e:
        raise TypeError(f"'{name}' must have the same nested structure in the main and else branches:\n\n{e}") from None
    for x, y in zip(nest.flatten(a, expand_composites=True), nest.flatten(b, expand_composites=True)):
        if isinstance(x, _core.Tensor) and isinstance(y, _core.Tensor) and x.dtype != y.dtype:
            raise TypeError(f"'{name}' has dtype {x.dtype.name} in the main branch, but dtype {y.dtype.name} in the else "
                            "branch")
