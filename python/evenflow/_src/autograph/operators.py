"""The namespace `ag__`, whose operators converted code calls.

Each operator decides when the code runs: for a symbolic tensor it builds tf.cond, tf.while_loop and similar ops; for
every other value it does what Python does.
"""
import types

from malt.operators import variables as malt_variables
from malt.operators.data_structures import ListPopOpts, ListStackOpts
from malt.operators.slices import GetItemOpts

from .. import _core
from ..namespace import _names as public
from . import frames, state
from .values import Undefined, UndefinedReturnValue, is_staged

NAMESPACE = types.ModuleType("ag__", "What converted code calls.")
raw = _core.raw


def operator(function):
    """Puts a function into the namespace of converted code."""
    setattr(NAMESPACE, function.__name__, function)
    return function


# ---- values -------------------------------------------------------------------------------------------------


@operator
def ld(value):
    """Reads a variable. Raises UnboundLocalError if it has no value."""
    if type(value) is Undefined:
        return value.read()
    return value


@operator
def ldu(load, name):
    """Reads a name, attribute or item that may not exist; Undefined if it does not."""
    try:
        return load()
    except (KeyError, AttributeError, NameError):
        return Undefined(name)


NAMESPACE.Undefined = Undefined
NAMESPACE.UndefinedReturnValue = UndefinedReturnValue
NAMESPACE.autograph_artifact = state.artifact
NAMESPACE.ListPopOpts, NAMESPACE.ListStackOpts, NAMESPACE.GetItemOpts = ListPopOpts, ListStackOpts, GetItemOpts
malt_variables.Undefined = Undefined


# ---- the frame of a function -------------------------------------------------------------------------------


@operator
class FunctionScope:
    """The context of one call of a converted function."""

    __slots__ = ("name", "callopts", "options")

    def __init__(self, function_name, scope_name, options):
        self.name = scope_name
        self.options = self.callopts = options

    def __enter__(self):
        frames.enter_function()
        return self

    def __exit__(self, *unused):
        frames.leave_function()
        return False

    def ret(self, value, did_return):
        """The value that the function returns."""
        if isinstance(value, UndefinedReturnValue):
            return None
        if did_return is not True and is_staged(did_return) and value is not None:
            which = frames.missing_return()
            if which is not None:
                raise ValueError(f"the {which} branch must also have a return statement.")
            # A loop may end without reaching its `return`, and then there is no value.
            public["debugging.Assert"](did_return, ["the function ended without returning a value"])
        return value


@operator
def with_function_scope(thunk, scope_name, options):
    """FunctionScope for a lambda."""
    return thunk(FunctionScope("lambda_", scope_name, options))


# ---- logic ------------------------------------------------------------------------------------------------------


@operator
def not_(a):
    """`not a`"""
    if not is_staged(a):
        return not a
    result = raw.LogicalNot(a)
    result._negates = a  # by which `if not done: ...; done = True` is known to end with done == True
    return result


@operator
def and_(a, b):
    """`a() and b()`: b is evaluated only if a is true."""
    left = a()
    if is_staged(left):
        return public["cond"](left, b, lambda: left)
    return left and b()


@operator
def or_(a, b):
    """`a() or b()`"""
    left = a()
    if is_staged(left):
        return public["cond"](left, lambda: left, b)
    return left or b()


@operator
def eq(a, b):
    """`a == b`"""
    return a == b


@operator
def not_eq(a, b):
    """`a != b`"""
    return a != b


@operator
def assert_stmt(condition, message):
    """`assert condition, message()`"""
    if not is_staged(condition):
        assert condition, message()
        return None
    said = message()
    return public["debugging.Assert"](condition, list(said) if isinstance(said, (list, tuple)) else [said])


# ---- lists (only with Feature.LISTS) -----------------------------------------------------------------------------


@operator
def new_list(items=None):
    """A list display."""
    return list(items or ())


@operator
def list_append(target, item):
    """`target.append(item)`. For a TensorArray, writes the item at its end."""
    if hasattr(target, "_flow_of"):
        return target.write(target.size(), item)
    if isinstance(target, _core.Tensor) and target.dtype.name == "variant":
        return raw.TensorListPushBack(target, item)
    target.append(item)
    return target


@operator
def list_pop(target, index, opts):
    """`target.pop(index)`. Returns (the list, the removed item)."""
    if isinstance(target, _core.Tensor) and target.dtype.name == "variant":
        if index is not None:
            raise NotImplementedError("tensor lists only support removing from the end")
        shape = -1 if opts.element_shape is None else opts.element_shape
        return raw.TensorListPopBack(target, shape, opts.element_dtype)
    item = target.pop() if index is None else target.pop(index)
    return target, item


@operator
def list_stack(target, opts):
    """Stacks a list's items."""
    if hasattr(target, "_flow_of"):
        return target.stack()
    if isinstance(target, _core.Tensor) and target.dtype.name == "variant":
        if opts.element_dtype is None:
            raise ValueError("cannot stack a list without knowing its element type; use set_element_type to annotate it")
        return raw.TensorListStack(target, -1, opts.element_dtype)
    return opts.original_call(target)


@operator
def get_item(target, index, opts):
    """`target[index]`"""
    if isinstance(target, _core.Tensor) and target.dtype.name == "variant":
        return raw.TensorListGetItem(target, index, -1, opts.element_dtype)
    return target[index]


@operator
def set_item(target, index, value):
    """`target[index] = value`. Returns the target to use afterwards."""
    if hasattr(target, "_flow_of"):
        return target.write(index, value)
    if isinstance(target, _core.Tensor):
        if target.dtype.name == "variant":
            return raw.TensorListSetItem(target, index, value)
        return public["tensor_scatter_nd_update"](target, [[index]], [value])
    target[index] = value
    return target


def complete():
    """Adds the operators of other modules to the namespace."""
    from . import calls, conditionals, looping  # these modules import transpile.py, which imports this file

    NAMESPACE.converted_call = calls.converted_call
    NAMESPACE.if_stmt, NAMESPACE.if_exp = conditionals.if_stmt, conditionals.if_exp
    NAMESPACE.while_stmt, NAMESPACE.for_stmt = looping.while_stmt, looping.for_stmt
