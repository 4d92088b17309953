"""tf.function: what happens while tracing, and everything about functions that is not a call.

Calls are C (python/ext/function.c): they find the trace, or call `_trace` here to make one.
"""
import functools
import inspect
import weakref

from . import _core, arguments, nest  # noqa: F401 - arguments tells C how to look into structures
from .composite import CompositeTensor
from .concrete import BY_PYTHON, LIST, NONE, ONE, TUPLE, ConcreteFunction, weakly
from .namespace import export, offer
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec
from .variable import watch

Function = _core.Function


# ---- tracing ------------------------------------------------------------------------------------------


class _Tracing:
    """One trace being made: whether it makes variables, and whether it may."""

    __slots__ = ("makes", "may_make")

    def __init__(self, may_make):
        self.makes = False
        self.may_make = may_make

    def made_variable(self, variable):
        if not self.may_make:
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function. See "
                "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.")
        self.makes = True


def _method_of(own, function, args):
    """The instance a function was called on as a method, if it can be remembered; else None."""
    name = own["__name__"]
    if args and any(vars(c).get(name) is function for c in type(args[0]).__mro__):
        try:
            weakref.ref(args[0])
            return args[0]
        except TypeError:
            pass
    return None


def _may_make(own, instance):
    """Whether a trace may make variables: the first one may, for each function and each instance."""
    if own.get("_again"):
        return False
    if instance is None:
        return own["_first"]
    seen = own.setdefault("_instances", {}).get(id(instance))
    return seen is None or seen() is not instance


def _first_done(own, instance):
    if instance is None:
        own["_first"] = False
    else:
        instances, number = own["_instances"], id(instance)
        instances[number] = weakref.ref(instance, lambda _: instances.pop(number, None))


def _trace(function, args, kwargs, placeholders):
    """Called by C inside the graph of a new trace -> (flat results, kind, pack)."""
    own = function.__dict__
    graph = _core.current_graph()
    graph.name = own["__name__"]
    instance = _method_of(own, function, args)
    state = _Tracing(_may_make(own, instance))
    own["_again"] = False
    watch.tracing.append(state)
    try:
        _name_arguments(graph, own, args, kwargs)
        target = own["_target"]
        if target is None:
            target = own["_target"] = _converted(function)
        result = target(*args, **(kwargs or {}))
        answer = _flatten_result(result)
    finally:
        watch.tracing.pop()
    if state.may_make:
        _first_done(own, instance)
        if state.makes:  # they exist now: the trace to keep must not make any
            own["_again"] = True
            raise _core.TraceAgain
    graph.structured_outputs = result
    graph.arguments = [weakly(a) for a in args], {k: weakly(a) for k, a in (kwargs or {}).items()}
    graph.packing = answer[1:]
    own["_graphs"][id(graph)] = graph
    return answer


def _name_arguments(graph, own, args, kwargs):
    """Placeholders are called as the parameters are, or as the input signature says."""
    signature = own["_input_signature"] or ()
    names = own["_parameter_names"]
    for k, value in enumerate(args):
        given = signature[k].name if k < len(signature) and isinstance(signature[k], TensorSpec) else None
        _name_tensors(graph, given or (names[k] if k < len(names) else "args"), value)
    for name, value in (kwargs or {}).items():
        _name_tensors(graph, name, value)


def _name_tensors(graph, name, value):
    if isinstance(value, _core.Tensor):
        edge = value._edge
        if edge is not None and edge[0] is graph:
            graph._rename(edge[1], name)
    elif isinstance(value, dict):
        for item in value.values():
            _name_tensors(graph, name, item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _name_tensors(graph, name, item)


def _converted(function):
    python = function.python_function
    if not function.__dict__["_autograph"]:
        return python
    from . import autograph

    return autograph.convert(python, function.__dict__.get("_features"))


def _tensor_result(value):
    if isinstance(value, _core.Tensor):
        return value
    return _core.convert(value)


def _flatten_result(result):
    """What a traced function returned, as tensors and how to put them together again."""
    if isinstance(result, _core.Tensor):
        return [result], ONE, None
    if result is None:
        return [], NONE, None
    kind = {tuple: TUPLE, list: LIST}.get(type(result))
    if kind is not None and all(isinstance(r, _core.Tensor) for r in result):
        return list(result), kind, None
    flat = nest.flatten(result, expand_composites=True)
    kept, template = [], []
    for item in flat:
        if item is None:
            template.append(None)
            continue
        try:
            kept.append(_tensor_result(item))
        except (TypeError, ValueError) as e:
            if isinstance(item, (str, bytes)):
                raise
            if isinstance(item, type) and issubclass(item, _core.Tensor):
                raise ValueError("a tf.function returned the class of tensors: it has no value") from e
            raise TypeError("To be compatible with tf.function, Python functions must return zero or more Tensors or "
                            f"ExtensionTypes or None values; in compilation of the function, found return value of type "
                            f"{type(item).__name__}, which is not a Tensor or ExtensionType.") from e
        template.append(len(kept) - 1)
    if len(flat) == 1 and flat[0] is result:
        return kept, ONE, None
    return kept, BY_PYTHON, functools.partial(_pack, result_structure(result), template)


def result_structure(result):
    """The structure alone: specs and None in place of tensors, so that no trace tensor is held."""
    return nest.map_structure(lambda leaf: 0 if not isinstance(leaf, CompositeTensor) else leaf, result)


def _pack(structure, template, results):
    flat = [None if k is None else results[k] for k in template]
    return nest.pack_sequence_as(structure, flat, expand_composites=True)


# ---- making functions ------------------------------------------------------------------------------------


def _parameters(python):
    """(names, how many of them are given by position only, defaults, keyword-only, has *args, has **kwargs) of a callable."""
    try:
        signature = inspect.signature(python)
    except (TypeError, ValueError):
        return (), 0, (), None, True, True
    names, unnamed, defaults, kwonly, varargs, varkw = [], 0, [], {}, False, False
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            varargs = True
        elif p.kind is p.VAR_KEYWORD:
            varkw = True
        elif p.kind is p.KEYWORD_ONLY:
            kwonly[p.name] = None if p.default is p.empty else (p.default,)
        else:
            names.append(p.name)
            unnamed += p.kind is p.POSITIONAL_ONLY
            if p.default is not p.empty:
                defaults.append(p.default)
    return tuple(names), unnamed, tuple(defaults), kwonly or None, varargs, varkw


@export("function", "compat.v1.function")
def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Makes a function that is traced once per signature and then runs as a plan."""
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph,
                                 jit_compile=jit_compile, reduce_retracing=reduce_retracing,
                                 experimental_implements=experimental_implements,
                                 experimental_autograph_options=experimental_autograph_options,
                                 experimental_attributes=experimental_attributes,
                                 experimental_relax_shapes=experimental_relax_shapes,
                                 experimental_compile=experimental_compile)
    if isinstance(func, (staticmethod, classmethod)):
        raise TypeError("decorate the function itself, below @staticmethod or @classmethod")
    if not callable(func):
        raise TypeError(f"tf.function needs a callable, not {func!r}")
    if isinstance(func, (Function, _core.BoundFunction)) and input_signature is None:
        python = func.python_function
    else:
        python = func
    made = _make(python, input_signature, autograph, jit_compile)
    made.__dict__["_features"] = experimental_autograph_options
    return made


def _make(python, input_signature, autograph, jit_compile):
    names, unnamed, defaults, kwonly, varargs, varkw = _parameters(python)
    signature = prepare = None
    if input_signature is not None:
        if not isinstance(input_signature, (tuple, list)):
            raise TypeError("input_signature must be either a tuple or a list, got " f"{type(input_signature)}.")
        specs = nest.flatten(list(input_signature), expand_composites=True)
        if not all(isinstance(s, TypeSpec) for s in specs):
            raise TypeError("input_signature must be a possibly nested sequence of TensorSpec objects, got "
                            f"{input_signature}")
        if len(input_signature) > len(names) and not varargs:
            raise ValueError(f"input_signature has {len(input_signature)} entries but the function takes {len(names)}")
        signature = tuple((s.dtype, s.shape) for s in specs)
        prepare = _prepare
    made = Function(python, _trace, names, unnamed, defaults, kwonly, varargs, varkw, signature, prepare, True)
    own = made.__dict__
    own["__name__"] = getattr(python, "__name__", type(python).__name__)
    own["__qualname__"] = getattr(python, "__qualname__", own["__name__"])
    own["__doc__"] = getattr(python, "__doc__", None)
    own["__module__"] = getattr(python, "__module__", None)
    own["__wrapped__"] = python
    own["_autograph"] = autograph
    own["_parameter_names"] = names
    own["_jit_compile"] = jit_compile
    own["_target"] = None
    own["_first"] = True  # the first trace may make variables
    own["_graphs"] = weakref.WeakValueDictionary()
    own["_input_signature"] = None if input_signature is None else tuple(input_signature)
    return made


def _prepare(function, args, kwargs):
    """The arguments of a call as the input signature wants them."""
    signature = function.__dict__["_input_signature"]
    bound = []
    for k, spec in enumerate(signature):
        if k >= len(args):
            raise TypeError(f"{function.__name__} missing an argument for {spec}")
        bound.append(_fit(args[k], spec, function))
    return tuple(bound) + tuple(args[len(signature):])


def _fit(value, spec, function):
    if isinstance(spec, TensorSpec):
        if isinstance(value, TypeSpec):
            return value
        try:
            tensor = _core.convert(value, None if isinstance(value, _core.CoreTensor) else spec.dtype)
        except (TypeError, ValueError) as e:
            raise TypeError(f"Binding inputs to tf.function failed due to `{e}`. Received value {value!r} for {spec} of "
                            f"function {function.__name__}") from None
        if tensor.dtype != spec.dtype or not spec.shape.is_compatible_with(TensorShape(tensor._dims)):
            raise TypeError("Binding inputs to tf.function failed due to `Can not cast "
                            f"{TensorSpec(TensorShape(tensor._dims), tensor.dtype)} to {spec}` for function "
                            f"{function.__name__}")
        return tensor
    if isinstance(spec, TypeSpec):
        return value
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise TypeError(f"the argument {value!r} does not have the structure of {spec}")
        return {k: _fit(value[k], spec[k], function) for k in spec}
    if isinstance(spec, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(spec):
            raise TypeError(f"the argument {value!r} does not have the structure of {spec}")
        return type(spec)(_fit(v, s, function) for v, s in zip(value, spec))
    return value


# ---- concrete functions ---------------------------------------------------------------------------------------


def _stand_in(value, scratch):
    """A placeholder for a spec, so that a trace can be asked for without values."""
    if isinstance(value, TensorSpec):
        return scratch._placeholder(value.dtype, value.shape)
    return value


def get_concrete_function(self, *args, **kwargs):
    """The trace for these arguments; specs stand for any tensor of their kind."""
    from .graph import FuncGraph

    own = self.__dict__
    if own["_input_signature"] is not None and not args and not kwargs:
        args = own["_input_signature"]
    scratch = FuncGraph("scratch")
    fitted = [nest.map_structure(lambda v: _stand_in(v, scratch), a) for a in args]
    named = {k: nest.map_structure(lambda v: _stand_in(v, scratch), v) for k, v in kwargs.items()}
    given = dict(zip(own["_parameter_names"], args), **kwargs)
    names = {k: v.name for k, v in given.items() if isinstance(v, TensorSpec) and v.name is not None}
    return _concrete(self, self._concrete(*fitted, **named), names)


def _concrete(function, graph, names):
    """The concrete function over a trace's graph; names: of specs, by the parameter they were given for."""
    found = function.__dict__.setdefault("_concrete_functions", weakref.WeakValueDictionary())
    concrete = found.get(id(graph))
    if concrete is None:
        concrete = found[id(graph)] = ConcreteFunction(function.__name__, function.python_function, graph, names)
    return concrete


def _method(function):
    setattr(Function, function.__name__, function)
    return function


Function.get_concrete_function = get_concrete_function
Function._get_concrete_function_garbage_collected = get_concrete_function


@_method
def experimental_get_tracing_count(self):
    """How often the Python function was run to make a trace."""
    return self._traces()


@_method
def experimental_get_trace_reasons(self):
    """(reason, traces) for each kept set of Python arguments: why its last trace was made."""
    return self._reasons()


@_method
def _list_all_concrete_functions(self):
    return [_concrete(self, graph, {}) for graph in self.__dict__["_graphs"].values()]


@_method
def pretty_printed_concrete_signatures(self, verbose=True):
    return "\n\n".join(c.pretty_printed_signature(verbose) for c in self._list_all_concrete_functions())


@_method
def experimental_get_compiler_ir(self, *args, **kwargs):
    raise NotImplementedError("there is no XLA here; get_concrete_function(...).graph._text() shows the graph")


@_method
def __repr__(self):
    return f"<{type(self).__module__}.Function object at 0x{id(self):x}>"


@_method
def __deepcopy__(self, memo):
    return self


@_method
def __reduce__(self):
    return function, (self.python_function, self.__dict__["_input_signature"], self.__dict__["_autograph"])


Function.input_signature = property(lambda self: self.__dict__["_input_signature"])
Function.function_spec = property(lambda self: self)
Function.concrete_functions = property(_list_all_concrete_functions)
Function.experimental_compile = property(lambda self: self.__dict__["_jit_compile"])
_core.BoundFunction.get_concrete_function = lambda self, *args, **kwargs: self.__func__.get_concrete_function(
    self.__self__, *args, **kwargs)




class _Instances(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, (Function, _core.BoundFunction))


offer(_Instances("GenericFunction", (), {"__doc__": "Everything tf.function makes is an instance."}), "types.experimental.GenericFunction",
      "types.experimental.PolymorphicFunction")


@export("config.run_functions_eagerly")
def run_functions_eagerly(run_eagerly):
    """True: functions run as plain Python, for debugging."""
    _core.run_functions_eagerly(bool(run_eagerly))


@export("config.functions_run_eagerly")
def functions_run_eagerly():
    return _core.functions_run_eagerly()
