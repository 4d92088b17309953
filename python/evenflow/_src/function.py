"""tf.function: creating functions, and the parts of tracing that are written in Python.

Calls and tracing are C (python/ext/function.c, trace.c), which calls the hooks that this file registers.
"""
import functools
import inspect
import types

import numpy as np

from . import _core, arguments, autograph, nest  # noqa: F401 - arguments registers how C flattens structures
from .autograph.error_lines import translated
from .composite import CompositeTensor
from .concrete import weakly
from .graph import FuncGraph
from .config import get_logger
from .namespace import export, offer
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec, type_spec_from_value
from .tensors import constant
from .variable import by_handle

Function = _core.Function
_SIZES_SEEN, _SIZES_UNKNOWN = 1, 3  # values of the C enum ef_relax: what Python code sees of a size that changed


# ---- tracing ------------------------------------------------------------------------------------------


def _converted(function):
    """The Python function that tracing calls: the autograph conversion of the user's function."""
    return autograph.target(function.python_function, function._features)


def _translated(error):
    made = translated(error)
    made.__suppress_context__ = True
    return made


def _tensor_result(value):
    if isinstance(value, _core.Tensor):
        return value
    if isinstance(value, (str, bytes, np.ndarray, np.generic)):
        return constant(value)  # a node of the graph; an eager tensor would be captured
    return _core.convert(value)


def _flat_result(result):
    """(tensors, function that packs results) of what a traced function returned. C calls it for structures that it does not
    flatten itself; the second item is None for a single tensor."""
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
        return kept, None
    return kept, functools.partial(_pack, result_structure(result), template)


def result_structure(result):
    """The structure of a result without its plain tensors, which would keep the graph of the trace alive."""
    return nest.map_structure(lambda leaf: 0 if not isinstance(leaf, CompositeTensor) else leaf, result)


def _pack(structure, template, results):
    flat = [None if k is None else results[k] for k in template]
    return nest.pack_sequence_as(structure, flat, expand_composites=True)


def _retraces(traces, calls, python):
    """Warns about a function that is traced again in nearly every call."""
    get_logger().warning(
        "%d out of the last %d calls to %s triggered tf.function retracing. Tracing is expensive, because it "
        "runs the Python code of the function. Usual causes: the function is made inside the loop that calls it (make it once, "
        "outside); it is given a new Python number or object in each call (pass a tensor); its code reads a size that changes, as "
        "x.shape[0] does (use tf.shape(x)[0], or reduce_retracing=True). See "
        "https://www.tensorflow.org/guide/function#controlling_retracing.", traces, calls, python)


# ---- making functions ------------------------------------------------------------------------------------


def _parameters(python):
    """(names, number of positional-only names, defaults, keyword-only, has *args, has **kwargs) of a callable."""
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
    """Makes a function that is traced once per signature; later calls run the compiled plan of the trace."""
    if func is None:
        return functools.partial(function, input_signature=input_signature, autograph=autograph,
                                 jit_compile=jit_compile, reduce_retracing=reduce_retracing,
                                 experimental_implements=experimental_implements,
                                 experimental_autograph_options=experimental_autograph_options,
                                 experimental_attributes=experimental_attributes,
                                 experimental_relax_shapes=experimental_relax_shapes,
                                 experimental_compile=experimental_compile)
    reduce = bool(reduce_retracing or experimental_relax_shapes)
    if isinstance(func, (staticmethod, classmethod)):
        raise TypeError("decorate the function itself, below @staticmethod or @classmethod")
    if not callable(func):
        raise TypeError(f"tf.function: {func!r} is not a callable object")
    if isinstance(func, (Function, _core.BoundFunction)) and input_signature is None:
        python = func.python_function
    else:
        python = func
    return Function(python, input_signature, autograph, jit_compile, experimental_autograph_options,
                    _SIZES_UNKNOWN if reduce else _SIZES_SEEN)


def _read_signature(given, parameters, n_defaults, kwonly, varargs):
    """(the signature as a tuple; (dtype, shape) of its tensors; the name of each entry, which may be None, or False for an
    entry that is no TensorSpec; the number of the parameter that it begins with)"""
    if not isinstance(given, (tuple, list)):
        raise TypeError("input_signature must be either a tuple or a list, got " f"{type(given)}.")
    specs = nest.flatten(list(given), expand_composites=True)
    if not all(isinstance(s, TypeSpec) for s in specs):
        raise TypeError("input_signature must be a possibly nested sequence of TensorSpec objects, got invalid args "
                        f"{[s for s in specs if not isinstance(s, TypeSpec)]} in {given}")
    first = 1 if parameters[:1] == ("self",) else 0
    left = parameters[first + len(given):len(parameters) - n_defaults]
    if left:
        raise TypeError(f"input_signature missing type constraint for {left[0]}")
    extra = first + len(given) - len(parameters)
    if extra > 0 and not varargs:
        raise TypeError(f"input_signature contains {extra} extra type constraints.")
    for name, default in (kwonly or {}).items():
        if default is None:
            raise TypeError(f"Since input_signature is defined, keyword-only parameter `{name}` must have a default value")
    names = tuple(s.name if isinstance(s, TensorSpec) else False for s in given)
    return tuple(given), tuple((s.dtype, s.shape) for s in specs), names, first


def _fit_signature(function, args):
    """The arguments of a call, converted to match the input signature. Raises TypeError if one does not."""
    first, specs = function._first_spec, function.input_signature
    if first + len(specs) > len(args):
        raise TypeError(f"{function.__name__} missing an argument for {specs[len(args) - first]}")
    bound = [_fit(value, spec, function) for value, spec in zip(args[first:], specs)]
    return (*args[:first], *bound, *args[first + len(specs):])


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
        return value if isinstance(value, TypeSpec) else _fit_composite(value, spec, function)
    if isinstance(spec, dict):
        if not isinstance(value, dict) or set(value) != set(spec):
            raise TypeError(f"the argument {value!r} does not have the structure of {spec}")
        return {k: _fit(value[k], spec[k], function) for k in spec}
    if isinstance(spec, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(spec):
            raise TypeError(f"the argument {value!r} does not have the structure of {spec}")
        return type(spec)(_fit(v, s, function) for v, s in zip(value, spec))
    return value


def _fit_composite(value, spec, function):
    """A composite argument with the static shape of its spec, so that sizes are unknown where the spec has None."""
    if not isinstance(value, (CompositeTensor, _core.CoreTensor)) or not issubclass(spec.value_type, CompositeTensor):
        return value
    if not spec.is_compatible_with(value):
        raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast {type_spec_from_value(value)} to {spec}` "
                        f"for function {function.__name__}")
    return value._as_spec(spec)


# ---- concrete functions ---------------------------------------------------------------------------------------


def _stand_in(value, scratch):
    """A placeholder for a spec, so that `get_concrete_function` needs no values. Other arguments are returned as they are."""
    if isinstance(value, TensorSpec):
        return scratch._placeholder(value.dtype, value.shape)
    if isinstance(value, TypeSpec) and issubclass(value.value_type, CompositeTensor):
        parts = [scratch._placeholder(s.dtype, s.shape) for s in value._flat_tensor_specs]
        with scratch.as_default():
            return value._from_tensor_list(parts)
    return value


def get_concrete_function(self, *args, **kwargs):
    """The ConcreteFunction (trace) for these arguments. A TensorSpec stands for any tensor that is compatible with it."""
    if self.input_signature is not None and len(args) <= self._first_spec and not kwargs:
        args = (*args, *self.input_signature)
    scratch = FuncGraph("scratch")
    fitted = [nest.map_structure(lambda v: _stand_in(v, scratch), a) for a in args]
    named = {k: nest.map_structure(lambda v: _stand_in(v, scratch), v) for k, v in kwargs.items()}
    given = dict(zip(self._parameter_names, args), **kwargs)
    names = {k: v.name for k, v in given.items() if isinstance(v, TensorSpec) and v.name is not None}
    concrete = self._concrete(*fitted, **named)
    if "name" not in concrete.__dict__:
        _name_inputs(concrete, [*args, *(kwargs[k] for k in _order(concrete, kwargs))])
        _name_variables(concrete, dict(zip(self._parameter_names, args), **kwargs))
    return _of(self, concrete, names)


def _order(concrete, kwargs):
    """The keywords of a call in the order of the trace's inputs."""
    made = [t.op.name for t in concrete.inputs]
    return sorted(kwargs, key=lambda k: made.index(k) if k in made else len(made))


def _name_inputs(concrete, arguments):
    """Renames the inputs of a trace after the names of the specs that were passed for them."""
    leaves = [leaf for leaf in nest.flatten(arguments) if isinstance(leaf, (TypeSpec, _core.Tensor))]
    if any(isinstance(leaf, TypeSpec) and not isinstance(leaf, TensorSpec) for leaf in leaves):
        return  # a composite has several inputs
    for tensor, leaf in zip(concrete.inputs, leaves):
        name = getattr(leaf, "name", None) if isinstance(leaf, TensorSpec) else None
        if name and tensor.op.name != name:
            concrete.graph._rename(tensor.op._node, name)


def _name_variables(concrete, given):
    """Renames the captured handles of variables that were passed as arguments after the parameters."""
    words = {id(v): k for k, v in given.items() if isinstance(v, _core.VariableBase)}
    captured = concrete.graph._captures() if words else []
    for tensor, outside in zip(concrete.inputs[len(concrete.inputs) - len(captured):], captured):
        word = words.get(id(by_handle(outside))) if outside.dtype.name == "resource" else None
        if word is not None:
            concrete.graph._rename(tensor.op._node, word)


def _of(function, concrete, names):
    """`concrete`, with its name and Python function set at the first time. `names` maps parameters to names of specs."""
    own = concrete.__dict__
    if "name" not in own:
        own.update(name=f"__inference_{function.__name__}".encode(), _python=function.python_function, _names=names,
                   _method=function._instance is not None)
    return concrete


def _method(function):
    setattr(Function, function.__name__, function)
    return function


Function.get_concrete_function = get_concrete_function
Function._get_concrete_function_garbage_collected = get_concrete_function


@_method
def experimental_get_tracing_count(self):
    """The number of times the Python function was traced."""
    return self._traces()


@_method
def experimental_get_trace_reasons(self):
    """[(reason, number of traces)] for each stored set of Python arguments: why its last trace was made."""
    return self._reasons()


@_method
def _list_all_concrete_functions(self):
    return [_of(self, concrete, {}) for concrete in sorted(self._all(), key=lambda c: c._number)]


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
    return function, (self.python_function, self.input_signature, self._autograph)


Function.function_spec = property(lambda self: self)
Function.concrete_functions = property(_list_all_concrete_functions)
Function.experimental_compile = property(lambda self: self._jit_compile)


def _signature(self):
    """What inspect.signature returns: the parameters of the Python function, without `self` for a method."""
    try:
        return inspect.signature(self.__wrapped__)
    except ValueError as e:  # a builtin has no signature, so there is no such attribute
        raise AttributeError(str(e)) from None


Function.__signature__ = _core.BoundFunction.__signature__ = property(_signature)
_core.BoundFunction.__wrapped__ = property(lambda self: types.MethodType(self.__func__.__wrapped__, self.__self__))
_core.BoundFunction.get_concrete_function = lambda self, *args, **kwargs: self.__func__.get_concrete_function(
    self.__self__, *args, **kwargs)
_core.register(parameters=_parameters, read_signature=_read_signature, fit_signature=_fit_signature, converted=_converted,
               translated=_translated, weakly=weakly, flat_result=_flat_result, retraces=_retraces)


class _Instances(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, (Function, _core.BoundFunction))


offer(_Instances("GenericFunction", (), {"__doc__": "Everything tf.function makes is an instance."}), "types.experimental.GenericFunction",
      "types.experimental.PolymorphicFunction")


@export("config.run_functions_eagerly", "config.experimental_run_functions_eagerly")
def run_functions_eagerly(run_eagerly):
    """With True, functions made by tf.function run as plain Python, for debugging."""
    _core.run_functions_eagerly(bool(run_eagerly))


@export("config.functions_run_eagerly", "config.experimental_functions_run_eagerly")
def functions_run_eagerly():
    return _core.functions_run_eagerly()
