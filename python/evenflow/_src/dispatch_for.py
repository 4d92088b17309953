"""tf.experimental.dispatch_for_api and its elementwise forms: a user's function overrides a tf function for arguments of
certain types.

A signature is a dict from parameters to annotations: classes, Union[...] and List[...]. It matches a call if every parameter
in it does and at least one of them holds a composite value, so a call with plain tensors is never overridden.
"""
import ast
import functools
import inspect
import textwrap
import types
import typing

from . import _core, dispatch, elementwise
from .composite import CompositeTensor
from .graph import name_scope
from .namespace import export, names
from .ragged_value import RaggedTensorValue

_Op = type(_core.raw.Identity)
_DISPATCHABLE = (CompositeTensor, RaggedTensorValue)
_elementwise = {}  # (annotations, and "assert" for assertions) -> (handler, the functions registered for it)


# ---- what may be overridden ------------------------------------------------------------------------------------------


def _supports(api):
    """Whether `api` is a public op or function whose parameters are fixed."""
    if type(api) is _Op:
        return not api._keywords_only
    if not isinstance(_written(api), types.FunctionType) or not api.__module__.startswith("evenflow."):
        return False
    varied = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    return not inspect.unwrap(api).__code__.co_flags & varied and (_asks(api) or not _written(api).__code__.co_freevars)


def _written(api):
    """The Python function behind a function with a short path in C."""
    return api.__wrapped__ if type(api) is _core.Front else api


def _asks(function):
    """Whether the code of a function already calls `redirect` when an argument does not convert."""
    names_used = inspect.unwrap(function).__code__.co_names
    return "redirect" in names_used or "__redirect" in names_used


def _guard(api):
    """Puts the body of a function into `try: ... except REFUSED: return redirect(...)`, as most functions that take
    composite tensors are written. The function object stays the same, and entering a `try` costs nothing."""
    function = _written(api)
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    ast.increment_lineno(tree, function.__code__.co_firstlineno - 1)
    made = tree.body[0]
    words = [a.arg for a in made.args.args + made.args.kwonlyargs]
    arguments = ", ".join(f"{w}=__{w}" for w in words)
    saved = ast.parse("; ".join(f"__{w} = {w}" for w in words) or "pass").body  # the body may assign to its parameters
    handler = ast.parse(f"try: pass\nexcept (TypeError, ValueError): return __redirect(__guarded[{function.__name__!r}], {arguments})")
    guarded = handler.body[0]
    guarded.body = made.body
    made.decorator_list, made.body = [], [*saved, guarded]
    for default in (*saved, *guarded.handlers):
        for node in ast.walk(default):
            ast.copy_location(node, made)
    home = function.__globals__
    home["__redirect"] = dispatch.redirect
    home.setdefault("__guarded", {})[function.__name__] = api
    found = {}
    exec(compile(ast.fix_missing_locations(tree), function.__code__.co_filename, "exec"), {}, found)  # noqa: S102 - our own source
    function.__code__ = found[made.name].__code__


# ---- signatures ------------------------------------------------------------------------------------------------------


def _checker(annotation):
    """A function that checks a value: 0 if it has another type, 1 if it has the type, 2 if it also contains a composite."""
    kind = typing.get_origin(annotation)
    if kind in (typing.Union, types.UnionType):
        options = [_checker(a) for a in typing.get_args(annotation)]
        return lambda value: max(option(value) for option in options)
    if kind is list:
        (inner,) = typing.get_args(annotation)
        element = _checker(inner)

        def listed(value):
            if not isinstance(value, (list, tuple)):
                return 0
            found = [element(v) for v in value]
            return max(found, default=1) if all(found) else 0

        return listed
    if annotation is None:
        annotation = type(None)
    if not isinstance(annotation, type):
        raise ValueError(f"Type annotation {annotation} is not currently supported by dispatch.  Supported annotations: "
                         "type objects,  List[...], and Union[...]")
    return lambda value: isinstance(value, annotation) and (2 if isinstance(value, _DISPATCHABLE) else 1)


def _matcher(parameters, signature):
    if not isinstance(signature, dict) or not all(isinstance(k, (str, int)) for k in signature):
        raise TypeError("signatures must be dictionaries mapping parameter names to type annotations.")
    checks = []
    for word, annotation in signature.items():
        if isinstance(word, int) and word < len(parameters):
            word = list(parameters)[word]
        if word not in parameters:
            raise ValueError(f"signature includes annotation for unknown parameter {word!r}.")
        checks.append((word, parameters[word].default, _checker(annotation)))

    def matches(given):
        found = [check(given.get(word, default)) for word, default, check in checks]
        return all(found) and max(found, default=0) == 2

    return matches


def _named(target, parameters):
    """`target`, wrapped if it lacks the parameter `name`: the wrapper puts the ops into a name scope."""
    mine = inspect.signature(target)
    if "name" not in parameters or "name" in mine.parameters or any(
            p.kind is p.VAR_KEYWORD for p in mine.parameters.values()):
        return target
    place = list(parameters).index("name")

    @functools.wraps(target)
    def scoped(*args, **kwargs):
        name = kwargs.pop("name", None)
        if place < len(args):
            name, args = args[place], args[:place] + args[place + 1:]
        if name is None:
            return target(*args, **kwargs)
        with name_scope(name):
            return target(*args, **kwargs)

    scoped.__signature__ = mine.replace(parameters=[*mine.parameters.values(), parameters["name"]])
    return scoped


def _check_parameters(target, signature):
    mine = inspect.signature(target)
    kinds = [p.kind for p in mine.parameters.values()]
    if kinds == [inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD]:
        return
    if [(p.name, p.kind) for p in mine.parameters.values()] != [(p.name, p.kind) for p in signature.parameters.values()]:
        raise ValueError(f"Dispatch function's signature {mine} does not match API's signature {signature}.")


# ---- registering -----------------------------------------------------------------------------------------------------


@export("experimental.dispatch_for_api")
def dispatch_for_api(api, *signatures):
    """Decorates a function that overrides `api` for calls whose arguments match one of the signatures. A signature is a dict
    from parameters to types; the default is the annotations of the function itself."""
    if not _supports(api):
        raise ValueError(f"{api} does not support dispatch.")
    signature = inspect.signature(api)
    parameters = signature.parameters
    matchers = [_matcher(parameters, s) for s in signatures]

    def register(target):
        if not callable(target):
            raise TypeError(f"Expected dispatch_target to be callable; got {target!r}")
        target = _named(target, parameters)
        _check_parameters(target, signature)
        if not signatures:
            found = {p.name: p.annotation for p in inspect.signature(target).parameters.values() if p.annotation is not p.empty}
            if not found:
                raise ValueError("The dispatch_for_api decorator must be called with at least one signature, or applied to a "
                                 "function that has type annotations on its parameters.")
            matchers.append(_matcher(parameters, found))
        if type(api) is not _Op and not _asks(api):
            _guard(api)
        dispatch.targets.setdefault(api, []).extend((matches, target) for matches in matchers)
        return target

    return register


@export("experimental.unregister_dispatch_for")
def unregister_dispatch_for(dispatch_target):
    """Removes what a `dispatch_for` decorator registered for this function."""
    gone = {dispatch_target}
    for key in [k for k, (handler, _) in _elementwise.items() if handler is dispatch_target]:
        gone.update(_elementwise.pop(key)[1])
    count = 0
    for api, rows in list(dispatch.targets.items()):
        kept = [row for row in rows if row[1] not in gone]
        count += len(rows) - len(kept)
        dispatch.targets[api] = kept
        if not kept:
            del dispatch.targets[api]
    if not count:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")


def _elementwise_target(api, handler, count):
    """The function that overrides `api`. It calls the handler with a function of the first `count` arguments, and with these
    arguments."""
    words = list(inspect.signature(api).parameters)
    plain = len(words) == count + 1 and words[-1] == "name"

    def target(*args, **kwargs):
        given = dict(zip(words, args), **kwargs)
        name = given.pop("name", None)
        values = [given.pop(word, None) for word in words[:count]]
        function = api if plain else lambda *v: api(*v, **given)
        if name is None:
            return handler(function, *values)
        with name_scope(name):
            return handler(function, *values)

    target.__name__ = target.__qualname__ = f"elementwise_dispatch_target_for_{api.__name__}"
    return target


def _register_elementwise(what, public_names, annotations, key):
    def register(handler):
        if key in _elementwise:
            shown = annotations[0] if len(annotations) == 1 else f"({', '.join(map(str, annotations))})"
            raise ValueError(f"A {what} dispatch handler ({_elementwise[key][0]}) has already been registered for {shown}.")
        made = []
        for api in dict.fromkeys(names()[name] for name in public_names if name in names()):
            if not _supports(api):  # such a function calls another one of the list
                continue
            target = _elementwise_target(api, handler, len(annotations))
            dispatch_for_api(api, dict(enumerate(annotations)))(target)
            made.append(target)
        _elementwise[key] = handler, made
        return handler

    return register


@export("experimental.dispatch_for_unary_elementwise_apis")
def dispatch_for_unary_elementwise_apis(x_type):
    """Decorates `handler(api, x)`, which overrides every elementwise function of one value for `x_type`."""
    return _register_elementwise("unary elementwise", elementwise.UNARY, (x_type,), (x_type,))


@export("experimental.dispatch_for_binary_elementwise_apis")
def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """Decorates `handler(api, x, y)`, which overrides every elementwise function of two values for these types."""
    return _register_elementwise("binary elementwise", elementwise.BINARY, (x_type, y_type), (x_type, y_type))


@export("experimental.dispatch_for_binary_elementwise_assert_apis")
def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """Decorates `handler(assertion, x, y)`, which overrides every assertion that compares two values of these types."""
    return _register_elementwise("binary elementwise assert", elementwise.ASSERTS, (x_type, y_type), (x_type, y_type, "assert"))
