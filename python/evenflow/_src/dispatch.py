"""Type dispatch: how an op or a function handles an argument that cannot be converted to a tensor.

Every op and function first converts its arguments. Only if a conversion fails is this file used: the ops, which are
C, call `answer`, and functions written in Python call `redirect` from an `except REFUSED` clause. So a call whose
arguments all convert does no work for dispatch. The candidates are tried in this order:

1. the functions registered by `tf.experimental.dispatch_for_api` and its elementwise forms (dispatch_for.py);
2. `__tf_dispatch__(api, types, args, kwargs)` of an argument, which may return NotImplemented;
3. the handlers for ragged and sparse tensors, registered by `handle`.
"""
import inspect

from . import _core

REFUSED = (TypeError, ValueError)  # the exceptions that a failed conversion raises

targets = {}  # public function -> [(matches(args by name), function)], in the order of registration
_handlers = {}  # (name of an op, or function; class) -> function(api, args, kwargs)
_Op = type(_core.raw.Identity)


def key_of(api):
    """The key of `_handlers`: the name of an op, which may have several public names; else the function."""
    return api._op_name if type(api) is _Op else api


def handle(kind, apis, handler):
    """Registers `handler(api, args, kwargs)` for calls of `apis` (names of ops, or functions) with an argument of the class
    `kind`."""
    for api in apis:
        _handlers[api if isinstance(api, str) else key_of(api), kind] = handler


def parameters(api):
    """The names of the parameters of an op or function, in order."""
    if type(api) is _Op:
        return api._params
    code = inspect.unwrap(api).__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def redirect(api, *args, **kwargs):
    """Called in an `except REFUSED` clause. Returns the result of a handler; if there is none, raises the error again."""
    result = answer(api, args, kwargs)
    if result is NotImplemented:
        raise  # noqa: PLE0704 - the error that is being handled
    return result


def answer(api, args, kwargs):
    """The result of a call whose arguments do not convert; NotImplemented if no handler accepts them."""
    registered = targets.get(api)
    if registered:
        target = _match(api, registered, args, kwargs)
        if target is not None:
            return target(*args, **kwargs)
    values = [*_parts(args), *_parts(kwargs.values())]
    classes = dict.fromkeys(map(type, values))
    kinds = [kind for kind in classes if hasattr(kind, "__tf_dispatch__")]
    if kinds and not _is_private(api):
        for kind in kinds:
            first = next(v for v in values if type(v) is kind)
            result = first.__tf_dispatch__(api, tuple(kinds), args, kwargs)
            if result is not NotImplemented:
                return result
    key = key_of(api)
    for kind in classes:
        handler = _handlers.get((key, kind))
        if handler is not None:
            by_place = getattr(_core.raw, key) if type(api) is _Op and api._keywords_only else api
            return handler(by_place, *_in_order(api, args, kwargs))
    return NotImplemented


def _parts(values):
    """Yields the arguments, and the elements of lists and tuples among them."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from value
        yield value


def _is_private(api):
    """Whether `api` is an op that the package itself calls. `__tf_dispatch__` gets the public function that calls it."""
    return type(api) is _Op and vars(_core.raw).get(api._op_name) is api


def _match(api, registered, args, kwargs):
    """The one registered function whose signature matches the arguments, or None."""
    given = dict(zip(parameters(api), args), **kwargs)
    found = None
    for matches, target in registered:
        if target is found or not matches(given):
            continue
        if found is not None:
            raise ValueError(f"Multiple dispatch targets that were registered with tf.dispatch_for ({found} and {target}) "
                             f"match the arguments to {api.__name__}")
        found = target
    return found


def _in_order(api, args, kwargs):
    """(args, kwargs) of a call, with keyword arguments made positional as far as no parameter before them is missing."""
    for word in parameters(api)[len(args):]:
        if word not in kwargs or word == "name":
            break
        args, kwargs = (*args, kwargs[word]), {k: v for k, v in kwargs.items() if k != word}
    return args, kwargs


_core.register(dispatch=answer)
