"""tf.autograph: converts Python control flow on tensors to graph ops.

tf.function uses `target`, other functions use `convert`. The source transformers (package `malt`) are imported when
the first function needs them; functions without control flow never do.
"""
import functools
import inspect
import types

from .. import _core
from ..namespace import export, offer
from . import state, transpile
from .conversion import still, straight
from .error_lines import translated
from .state import ControlStatusCtx, Feature, Status, artifact

offer(Feature, "autograph.experimental.Feature")
offer(state.set_loop_options, "autograph.experimental.set_loop_options")
offer(state.set_verbosity, "autograph.set_verbosity")
offer(state.trace, "autograph.trace")
offer(state.control_status_ctx, "__internal__.autograph.control_status_ctx")


def _features(given):
    if given is None:
        return ()
    given = (given,) if isinstance(given, Feature) else tuple(given)
    return Feature.all() if Feature.ALL in given else given


def _options(features):
    return transpile.options_for(transpile.Feature[f.name] for f in _features(features))


def _callable_of(function):
    """(the Python function that runs when `function` is called, the arguments before those of the call: `self` or nothing)"""
    if isinstance(function, types.MethodType):
        return function.__func__, (function.__self__,)
    if isinstance(function, types.FunctionType):
        return function, ()
    call = getattr(type(function), "__call__", None)
    return (call, (function,)) if isinstance(call, types.FunctionType) else (None, ())


def target(python, features=None):
    """What runs when `python` is traced: (`python`, converted if that is needed and possible; whether errors are translated
    to the user's lines; the lookups by which it needs no conversion, see `conversion.still`)"""
    if isinstance(python, functools.partial):
        made, told, seen = target(python.func, features)
        return functools.partial(made, *python.args, **python.keywords), told, seen
    function, first = _callable_of(python)
    if function is None or isinstance(python, type) or "autograph_info__" in function.__dict__:
        return python, False, []
    seen = straight(function)
    if seen is not None:
        return python, True, seen
    made = transpile.converted(function, _options(features))
    if made is None:
        return python, False, []
    return (types.MethodType(made, first[0]) if first else made), True, []


def convert(python, features=None):
    """`python` with its control flow converted and the same signature; `python` itself if conversion is not needed or not
    possible. Whether it is needed depends on the objects that the function's names refer to; it is checked again at each
    call, and the function is converted if one of them has changed."""
    made, told, seen = target(python, features)
    if not told:
        return made

    def call(*args, **kwargs):
        nonlocal made, seen
        if seen and not still(seen):
            made, _, seen = target(python, features)
        try:
            return made(*args, **kwargs)
        except Exception as e:
            raise translated(e) from None

    return call


# ---- the public face ---------------------------------------------------------------------------------------


@export("autograph.experimental.do_not_convert", "__internal__.autograph.do_not_convert")
def do_not_convert(func=None):
    """Marks a function, so that neither it nor the functions it calls are converted."""
    if func is None:
        return do_not_convert

    def wrapper(*args, **kwargs):
        with ControlStatusCtx(Status.DISABLED):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        functools.update_wrapper(wrapper, func)
    return artifact(wrapper)


@export("__internal__.autograph.tf_convert")
def tf_convert(f, ctx, convert_by_default=True, user_requested=False):
    """`f`, converted if the status `ctx` says so. It is for functions that call a user's function."""
    if hasattr(f, "autograph_info__"):
        return f
    status = ctx.status
    if status is Status.DISABLED or (status is Status.UNSPECIFIED and not convert_by_default):
        return do_not_convert(f) if status is Status.DISABLED else f
    wrapper = convert(f)
    if wrapper is f:
        return f
    if inspect.isfunction(f) or inspect.ismethod(f):
        functools.update_wrapper(wrapper, f)
    return artifact(wrapper)


@export("autograph.to_graph")
def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The converted function."""
    function, first = _callable_of(entity)
    made = None if function is None else transpile.converted(function, _options(experimental_optional_features))
    if made is None:
        raise ConversionError(f"converting {entity}: its source code is not available or not convertible")
    return artifact(functools.partial(made, *first) if first and not isinstance(entity, types.MethodType) else made)


@export("autograph.to_code")
def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source code that the function is converted to."""
    if isinstance(entity, (_core.Function, _core.BoundFunction)):
        entity = entity.python_function
    function, _ = _callable_of(entity)
    options = _options(experimental_optional_features)
    if function is None or transpile.factory_of(function, options) is None:
        raise ConversionError(f"converting {entity}: its source code is not available or not convertible")
    return transpile.text_of(function, options)


class ConversionError(ValueError):
    """A function that cannot be converted."""
