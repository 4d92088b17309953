"""tf.ConcreteFunction: one trace of a tf.function, its signature, and calls with tensors that match it."""
import collections.abc
import inspect
import weakref

from . import _core, errors, nest
from .composite import CompositeTensor
from .namespace import offer
from .specs import TensorSpec, type_spec_from_value
from .variable import Variable

ConcreteFunction = _core.ConcreteFunction
_PLAIN = frozenset((int, float, complex, str, bytes, bool, type(None)))


class Taken:
    """Stands for an argument, such as an iterator, that is passed as tensors but is no structure of them: its class and the
    part of it that belongs to the signature."""

    def __init__(self, value):
        self.kind = next(c for c in type(value).__mro__ if "_ef_argument" in vars(c))
        self.fixed, self._text = value._ef_argument()[0], f"IteratorSpec({value.element_spec},)"

    def __repr__(self):
        return self._text


def weakly(value):
    """An argument as a trace stores it. Objects other than plain values and tensors are held by weak reference, so that a
    trace does not keep them alive."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, (_core.Tensor, CompositeTensor)):
        return value
    if hasattr(value, "_ef_argument"):
        return Taken(value)
    if kind is list or kind is tuple:
        return kind([weakly(v) for v in value])
    if kind is dict:
        return {k: weakly(v) for k, v in value.items()}
    try:
        return weakref.ref(value)
    except TypeError:
        return value


# ---- types ----------------------------------------------------------------------------------------------------


class _Type:
    """The type of an argument or result. Its repr is the text of TensorFlow's trace types."""

    __slots__ = ("_text",)

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text

    def __eq__(self, other):
        return isinstance(other, _Type) and self._text == other._text

    def __hash__(self):
        return hash(self._text)


def _describe(value, name=None):
    if isinstance(value, _core.Tensor):
        return repr(TensorSpec(value.shape, value.dtype, name))
    alive = value() if isinstance(value, weakref.ref) else value
    if isinstance(alive, Variable):
        return f"VariableSpec(shape={alive.shape}, dtype={alive.dtype!r}, trainable={alive.trainable})"
    if isinstance(value, CompositeTensor):
        return repr(type_spec_from_value(value))
    if isinstance(value, Taken):
        return repr(value)
    if isinstance(value, dict):
        return f"Dict[{', '.join(f'[{k!r}, {_describe(v)}]' for k, v in value.items())}]"
    if isinstance(value, (list, tuple)):
        return f"{'List' if isinstance(value, list) else 'Tuple'}[{', '.join(map(_describe, value))}]"
    return f"{'Weakref' if isinstance(value, weakref.ref) else 'Literal'}[{value!r}]"


class FunctionType(inspect.Signature):
    """The signature of a trace: the types of the parameters, of the result and of the captured tensors."""

    __slots__ = ("captures",)

    @property
    def output(self):
        return self.return_annotation

    def __repr__(self):
        """A line per parameter, result and capture."""
        lines = ["Input Parameters:"]
        lines += [f"  {p.name} ({p.kind.name}): {p.annotation!r}" for p in self.parameters.values()] or ["  None"]
        lines += ["Output Type:", f"  {self.output!r}", "Captures:"]
        lines += [f"  {k}: {t!r}" for k, t in self.captures.items()] or ["  None"]
        return "\n".join(lines)


def _is_again(old, new):
    """Whether the argument `new` equals `old`, the one that the trace was made with (see `weakly`). As in TensorFlow, 2.0 and
    a tensor of 2 equal 2."""
    if isinstance(old, weakref.ref):
        return old() is new
    try:
        return old is new or bool(old == new)
    except (TypeError, ValueError):
        return False


def _bound(python, args, kwargs):
    """[(parameter name, kind, value)] of the arguments a trace was made with."""
    kinds = inspect.Parameter
    try:
        declared = list(inspect.signature(python).parameters.values())
    except (TypeError, ValueError):
        declared = []
    places = [p for p in declared if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in declared if p.kind is kinds.VAR_POSITIONAL), None)
    found = []
    for k, value in enumerate(args):
        name = places[k].name if k < len(places) else f"{rest or 'args'}_{k - len(places)}"
        kind = kinds.POSITIONAL_ONLY if rest is not None or k >= len(places) else places[k].kind
        found.append((name, kind, value))
    found += [(name, kinds.KEYWORD_ONLY, value) for name, value in (kwargs or {}).items()]
    return found


# ---- the trace ------------------------------------------------------------------------------------------------


def _made_with(concrete):
    """[(parameter name, kind, value)] of the arguments a trace was made with."""
    own = concrete.__dict__
    if "_bound" not in own:
        bound = _bound(own.get("_python"), *concrete._arguments)
        own["_bound"] = bound[1:] if own.get("_method") else bound  # callers do not pass the instance (self)
    return own["_bound"]


def _outcome(concrete):
    """The structure that the traced function returned, with Python values converted to tensors."""
    def leaf(value):
        return value if value is None or isinstance(value, (_core.Tensor, CompositeTensor)) else _core.convert(value)

    return nest.map_structure(leaf, concrete._result)


def _inputs(concrete):
    """The placeholders of the arguments, without those of the captures."""
    return concrete.graph._function_inputs()[:len(concrete._input_names)]


def _flat_arguments(concrete, args, kwargs):
    """The tensors of a call. The arguments are those of the function's own parameters; if they do not fit, the tensors among
    them alone, by position or by the names of the graph's inputs."""
    try:
        return _by_parameters(concrete, args, kwargs)
    except TypeError as why:
        try:
            return _by_inputs(concrete, args, kwargs)
        except TypeError as too:
            raise TypeError(f"{why}\nFallback to flat signature also failed due to: {too}") from None


def _by_inputs(concrete, args, kwargs):
    inputs = _inputs(concrete)
    names, left, given = [t.op.name for t in inputs], dict(kwargs), list(args)
    text = f"{getattr(concrete, 'name', b'').decode()}({', '.join(names)})"
    if len(args) > len(names):
        raise TypeError(f"{text} takes {len(names)} positional arguments, got {len(args)}.")
    missing = [name for name in names[len(args):] if name not in left]
    if missing:
        raise TypeError(f"{text} missing required arguments: {', '.join(sorted(missing))}.")
    given += [left.pop(name) for name in names[len(args):]]
    for name in left:
        if name in names:
            raise TypeError(f"{text} got two values for {name!r}.")
        raise TypeError(f"{text} got unexpected keyword arguments: {', '.join(sorted(left))}.")
    for k, (value, like) in enumerate(zip(given, inputs)):
        if not isinstance(value, _core.Tensor):
            raise TypeError(f"{text}: expected argument #{k}(zero-based) to be a Tensor; got {type(value).__name__} ({value}).")
        if value.dtype != like.dtype:
            raise errors.InvalidArgumentError(
                None, None, f"cannot compute {concrete.name.decode()} as input #{k}(zero-based) was expected to be a "
                f"{like.dtype.name} tensor but is a {value.dtype.name} tensor")
    return given


def _by_parameters(concrete, args, kwargs):
    def refuse(why):
        return TypeError(f"Binding inputs to tf.function failed due to `{why}`. Received args: {args} and kwargs: {kwargs} "
                         f"for signature: {concrete.function_type}")

    bound, left, given = _made_with(concrete), dict(kwargs), list(args)
    if len(args) > sum(kind is not inspect.Parameter.KEYWORD_ONLY for _, kind, _ in bound):
        raise refuse("too many positional arguments")
    for k, (name, kind, _) in enumerate(bound):
        if k >= len(args) and name not in left:
            raise refuse(f"missing a required argument: {name!r}")
        if k >= len(args):
            given.append(left.pop(name))
        elif name in left and kind is not inspect.Parameter.POSITIONAL_ONLY:
            raise refuse(f"multiple values for argument {name!r}")
    if left:
        raise refuse(f"got an unexpected keyword argument {next(iter(left))!r}")
    return [t for (_, _, made_with), value in zip(bound, given) for t in _cast(made_with, value, refuse)]


def _cast(old, new, refuse):
    """The tensors of `new`, an argument in place of `old`, which the trace was made with."""
    if isinstance(old, _core.Tensor):
        return [_cast_to_tensor(old, new, refuse)]
    if type(old) in (list, tuple) or hasattr(old, "_fields"):
        fields = getattr(old, "_fields", None)  # a named tuple of another class will do if it has the same
        if not isinstance(new, type(old) if fields is None else tuple) or getattr(new, "_fields", None) != fields:
            raise refuse(f"Can not cast {new!r} to {type(old).__name__} type.")
        if len(new) != len(old):
            raise refuse(f"Can not cast {new!r} to {_describe(old)}")
        return [t for pair in zip(old, new) for t in _cast(*pair, refuse)]
    if type(old) is dict:
        if not isinstance(new, collections.abc.Mapping):
            raise refuse(f"Can not cast {new!r} to a Dict type.")
        if set(new) != set(old):
            raise refuse(f"{new!r} has different keys with the TraceType {_describe(old)}.")
        return [t for k in _sorted(old) for t in _cast(old[k], new[k], refuse)]
    if nest.is_nested(old):  # a class made by attrs
        return _cast_parts(old, new, nest.flatten(old), nest.flatten, refuse)
    if isinstance(old, CompositeTensor):
        return _cast_parts(old, new, nest.flatten(old, expand_composites=True),
                           lambda v: nest.flatten(v, expand_composites=True), refuse)
    if isinstance(old, Taken):
        if isinstance(new, old.kind) and new._ef_argument()[0] == old.fixed:
            return list(new._ef_argument()[1])
    elif _is_again(old, new):
        return []
    raise refuse(f"Can not cast {new!r} to {_describe(old)}")


def _sorted(keys):
    try:
        return sorted(keys)
    except TypeError:
        return list(keys)


def _cast_parts(old, new, parts, flatten, refuse):
    try:
        nest.assert_same_structure(old, new, expand_composites=True)
    except (TypeError, ValueError):
        raise refuse(f"Can not cast {new!r} to {_describe(old)}") from None
    whole = isinstance(old, CompositeTensor)  # the sizes of its components may differ
    return [t for pair in zip(parts, flatten(new)) for t in (_cast_component if whole else _cast)(*pair, refuse)]


def _cast_component(old, new, refuse):
    if not isinstance(new, _core.Tensor) or new.dtype != old.dtype:
        raise refuse(f"Can not cast {_describe(new)} to {_describe(old)}")
    return [new]


def _cast_to_tensor(like, value, refuse):
    """Converts a value that is no tensor. The shape must be compatible and the dtype the same."""
    if not isinstance(value, _core.Tensor):
        try:
            value = _core.convert(value, None if isinstance(value, _core.CoreTensor) else like.dtype)
        except (TypeError, ValueError) as e:
            raise refuse(str(e)) from None
    if value.dtype != like.dtype or not like.shape.is_compatible_with(value.shape):
        raise refuse(f"Can not cast {_describe(value)} to {_describe(like)}")
    return value


class _Concrete:
    """The properties and methods of a ConcreteFunction; calling it is implemented in C."""


    @property
    def function_type(self):
        parameters = [inspect.Parameter(name, kind, annotation=_Type(_describe(value, self.__dict__.get("_names", {}).get(name))))
                      for name, kind, value in _made_with(self)]
        found = FunctionType(parameters, return_annotation=_Type(_describe(_outcome(self))))
        found.captures = {id(t): _Type(_describe(t)) for t in self.captured_inputs}
        return found

    @property
    def inference_fn(self):
        return self.__call__

    @property
    def inputs(self):
        return self.graph._function_inputs()

    @property
    def outputs(self):
        return self.graph._function_outputs()

    @property
    def captured_inputs(self):
        return self.graph._captures()

    @property
    def variables(self):
        return self.graph.variables

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    @property
    def structured_input_signature(self):
        def spec(leaf):
            if isinstance(leaf, CompositeTensor):
                return leaf._type_spec
            return TensorSpec(leaf.shape, leaf.dtype, leaf.op.name) if isinstance(leaf, _core.Tensor) else leaf

        values = [(kind, name, nest.map_structure(spec, value)) for name, kind, value in _made_with(self)]
        named = inspect.Parameter.KEYWORD_ONLY
        return (tuple(v for kind, _, v in values if kind is not named),
                {name: v for kind, name, v in values if kind is named})

    @property
    def structured_outputs(self):
        def spec(leaf):
            return type_spec_from_value(leaf) if isinstance(leaf, (_core.Tensor, CompositeTensor)) else leaf

        return nest.map_structure(spec, _outcome(self))

    @property
    def output_shapes(self):
        return nest.map_structure(lambda t: getattr(t, "shape", None), _outcome(self))

    @property
    def output_dtypes(self):
        return nest.map_structure(lambda t: getattr(t, "dtype", None), _outcome(self))

    def pretty_printed_signature(self, verbose=True):
        """The signature as text: one line per parameter, or everything in one line if not `verbose`."""
        return repr(self.function_type) if verbose else str(self.function_type)

    def add_to_graph(self, g=None, overwrite=False):
        """Does nothing: graphs hold the functions they call directly and do not look them up by name."""

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self):
        return f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"


for _name, _value in vars(_Concrete).items():
    if _name not in ("__module__", "__dict__", "__weakref__", "__doc__"):
        setattr(ConcreteFunction, _name, _value)
_core.register(concrete_arguments=_flat_arguments)
offer(ConcreteFunction, "types.experimental.ConcreteFunction", "__internal__.function.ConcreteFunction")
