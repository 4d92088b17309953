"""Python functions as ops (tf.py_function, tf.numpy_function), tf.print and tf.strings.format."""
import functools
import os
import pprint
import sys

import numpy as np

from . import _core, dtypes, errors, nest
from .composite import CompositeTensor, IndexedSlices, SparseTensor
from .dtypes import as_dtype
from .namespace import export
from .ops.ragged_arrays import as_text
from .ragged import has_rows
from .specs import TensorSpec, TypeSpec
from .tape import GradientTape, UnconnectedGradients

raw = _core.raw

# ---- Python functions -----------------------------------------------------------------------------------------

_CLASSES = ((TypeError, "InvalidArgumentError"), (ValueError, "InvalidArgumentError"),
            (StopIteration, "OutOfRangeError"), (MemoryError, "ResourceExhaustedError"),
            (NotImplementedError, "UnimplementedError"))
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def failure(error):
    """Converts an exception of the user's function to the exception of an op."""
    if isinstance(error, errors.OpError) and not isinstance(error, errors.OutOfRangeError):
        return error  # an OutOfRangeError would read as the end of a dataset
    kind = next((name for known, name in _CLASSES if isinstance(error, known)), "UnknownError")
    return getattr(errors, kind)(None, None, f"{type(error).__name__}: {error}{_raised_at(error)}")


def _raised_at(error):
    """A line of text that names the line of the user's program where an exception was raised."""
    place, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if not code.co_filename.startswith(_PACKAGE):
            place = f"\n    raised at {code.co_filename}:{trace.tb_lineno} in {code.co_name}"
        trace = trace.tb_next
    return place


def _decorator(make, what, func, inp, Tout, **options):
    """The decorator, if the function is used as one (`@tf.py_function(Tout=...)`); else None, after checking arguments."""
    if Tout is None:
        raise TypeError(f"Missing required argument: 'Tout'. If {what} is used as a decorator, give it by name: "
                        f"`@{what}(Tout=tout)`")
    if func is None:
        if inp is not None:
            raise TypeError(f"Don't set the `inp` argument when using {what} as a decorator: it is called with the arguments "
                            "of the function")

        def decorate(function):
            @functools.wraps(function)
            def called(*args):
                return make(function, list(args), Tout, **options)

            return called

        return decorate
    if inp is None:
        raise TypeError(f"Missing argument `inp`: the arguments of the function are needed, unless {what} is a decorator")
    return None


def _promised(Tout):
    """The flat list of specs (or plain dtypes) in `Tout`."""
    for part in Tout if isinstance(Tout, (list, tuple)) else ():
        if isinstance(part, dict) and not part:
            as_dtype(part)  # raises TypeError
    return nest.flatten(Tout) if nest.is_nested(Tout) else [Tout]


def _has_composites(values):
    return any(isinstance(x, CompositeTensor) for x in nest.flatten(values))


def _parts(promise):
    """The specs of the tensors of one entry of `Tout`; a composite has several."""
    if isinstance(promise, TensorSpec):
        return [promise]
    if isinstance(promise, TypeSpec):
        return promise._flat_tensor_specs
    return [TensorSpec(None, as_dtype(promise))]


def _wanted(Tout):
    """(dtypes, shapes) of all tensors that `Tout`, a dtype, a spec or a structure of them, declares."""
    parts = [part for promise in _promised(Tout) for part in _parts(promise)]
    return [p.dtype for p in parts], [p.shape if p.shape.rank is not None else None for p in parts]


def _packed(Tout, results):
    rest, values = iter(results), []
    for promise in _promised(Tout):
        mine = [next(rest) for _ in _parts(promise)]
        plain = not isinstance(promise, TypeSpec) or isinstance(promise, TensorSpec)
        values.append(mine[0] if plain else promise._from_tensor_list(mine))
    return nest.pack_sequence_as(Tout, values) if nest.is_nested(Tout) else values[0]


def _listed(made, count):
    """The result of the user's function as a list of `count` values."""
    several = isinstance(made, (list, tuple)) and (count > 1 or len(made) == 1)
    made = nest.flatten(made) if several else [made]
    if len(made) != count:
        raise ValueError(f"the function must return {count} values, as Tout says, but returned {len(made)}")
    return made


def _results(made, promises):
    """The result of the user's function, converted to the tensors that `Tout` declares."""
    if not promises:
        return []
    tensors = []
    for value, promise in zip(_listed(made, len(promises)), promises):
        if isinstance(promise, TypeSpec) and not isinstance(promise, TensorSpec):
            if not isinstance(value, CompositeTensor) or not promise.is_compatible_with(value):
                raise TypeError(f"the function must return {promise}, as Tout says, but returned {value!r}")
            tensors.extend(promise._to_tensor_list(value))
        elif isinstance(value, CompositeTensor):
            raise TypeError(f"the function must return a tensor, as Tout says, but returned {value!r}")
        else:
            tensors.append(_core.convert(value, _parts(promise)[0].dtype))
    return tensors


@export("py_function")
def py_function(func=None, inp=None, Tout=None, name=None):  # noqa: N803 - TensorFlow's name
    """Calls `func` with the values of `inp` as eager tensors; in a graph, each time the graph runs. It is differentiable."""
    decorated = _decorator(py_function, "tf.py_function", func, inp, Tout, name=name)
    if decorated is not None:
        return decorated
    if not callable(func):
        raise ValueError(f"Expected func to be callable. Received func={func} of type {type(func)}.")
    types, shapes = _wanted(Tout)
    promises, given = _promised(Tout), list(inp) if isinstance(inp, (list, tuple)) else [inp]
    given = [_core.convert(x) if isinstance(x, list) and not _has_composites(x) else x for x in given]
    composite = _has_composites(given)

    def call(tensors):
        try:
            values = nest.pack_sequence_as(given, tensors, expand_composites=True) if composite else tensors
            return _results(func(*values), promises)
        except Exception as e:  # any exception becomes the error of an op
            raise failure(e) from e

    inputs = [_core.convert(x) for x in nest.flatten(given, expand_composites=True)]
    if _core.executing_eagerly():
        return _packed(Tout, call(inputs))
    outputs = _core.callback(call, inputs, types, shapes, True)
    if not outputs:
        graph = _core.current_graph()
        return graph._operation(graph._nodes() - 1)
    flows = [k for k, x in enumerate(inputs) if x.dtype.is_floating or x.dtype.is_complex]
    if flows and outputs:
        outputs = _core.custom_gradient(inputs, outputs, functools.partial(_back_through, call, inputs, flows))
    return _packed(Tout, outputs)


def _back_through(call, inputs, flows, grads):
    """The gradient of a Python function, which is called again under a tape when the gradient is computed."""
    arrived = [k for k, g in enumerate(grads) if g is not None]

    def back(tensors):
        values, seeds = tensors[:len(inputs)], tensors[len(inputs):]
        with GradientTape() as tape:
            tape.watch([values[k] for k in flows])
            results = call(values)
        found = tape.gradient([results[k] for k in arrived], [values[k] for k in flows], output_gradients=list(seeds),
                              unconnected_gradients=UnconnectedGradients.ZERO)
        return [_core.convert(g) for g in found]

    made = _core.callback(back, inputs + [grads[k] for k in arrived], [inputs[k].dtype for k in flows],
                          [_core.static_shape(inputs[k]) for k in flows], True)
    answer = [None] * len(inputs)
    for k, gradient in zip(flows, made):
        answer[k] = gradient
    return answer


@export("numpy_function", "compat.v1.numpy_function")
def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):  # noqa: N803 - TensorFlow's name
    """Calls `func` with the values of `inp` as numpy arrays; in a graph, each time the graph runs."""
    decorated = _decorator(numpy_function, "tf.numpy_function", func, inp, Tout, stateful=stateful, name=name)
    if decorated is not None:
        return decorated
    given = nest.flatten(inp, expand_composites=True)
    if _core.executing_eagerly():
        made = func(*[np.array(x) for x in given])
        return None if made is None else nest.map_structure(_core.convert, made)
    inputs = [_core.convert(x) for x in given]
    types, shapes = _wanted(Tout)

    def call(tensors):
        try:
            return _array_results(func(*[np.asarray(t.numpy())[()] for t in tensors]), types)
        except Exception as e:
            raise failure(e) from e

    once = functools.lru_cache(maxsize=1)(lambda: call([]))  # stateless without inputs: a constant, as in TensorFlow
    fixed = not stateful and not inputs
    outputs = _core.callback((lambda _: once()) if fixed else call, inputs, types, shapes, bool(stateful))
    return _packed(Tout, outputs)


def _array_results(made, types):
    if not types:
        return []
    tensors = []
    for value, want in zip(_listed(made, len(types)), types):
        array = np.asarray(value)
        if isinstance(value, (int, float, bool, list, tuple)):
            tensors.append(_core.convert(value, want))
            continue
        tensor = _core.convert(array)
        if tensor.dtype != want:
            raise TypeError(f"the function must return {want.name}, as Tout says, but returned {tensor.dtype.name}")
        tensors.append(tensor)
    return tensors


# ---- printing -----------------------------------------------------------------------------------------------------

_HOLE = "\ue000"  # the placeholder of a tensor in a text; it is in Unicode's private use area, so no program prints it


class _Hole:
    """An object whose repr is a text with placeholders. The repr of a string would escape these."""

    def __init__(self, text=_HOLE):
        self._text = text

    def __repr__(self):
        return self._text


def _opened(value, tensors):
    """A structure with its tensors replaced by placeholders; the tensors are appended to the list."""
    if isinstance(value, SparseTensor):
        tensors.extend((value.indices, value.values, value.dense_shape))
        return _Hole(f"'SparseTensor(indices={_HOLE}, values={_HOLE}, shape={_HOLE})'")
    if isinstance(value, IndexedSlices):
        value = _core.convert(value)
    if isinstance(value, (_core.Tensor, _core.VariableBase)) or getattr(value, "_should_act_as_resource_variable", False):
        tensors.append(_core.convert(value))
        return _Hole()
    if has_rows(value):
        tensors.append(value)
        return _Hole()
    if isinstance(value, CompositeTensor):
        return str(value)
    if nest.is_nested(value):
        return nest.pack_sequence_as(value, [_opened(v, tensors) for v in nest.flatten(value)])
    return value


def _formatted(text, tensors, hole, summarize, name=None):
    """`text` with its placeholders replaced by tensors. A ragged tensor is written as nested lists."""
    parts = text.split(hole)
    plain = [v for v in tensors if not has_rows(v)]
    if len(plain) == len(tensors) or len(parts) != len(tensors) + 1:
        return raw.StringFormat(inputs=tensors, template=text, placeholder=hole, summarize=summarize, name=name)
    pieces = [_core.convert(parts[0])]
    for value, after in zip(tensors, parts[1:]):
        pieces.append(as_text(value, summarize) if has_rows(value) else raw.StringFormat(
            inputs=[value], template=hole, placeholder=hole, summarize=summarize))
        pieces.append(_core.convert(after))
    return raw.StringJoin(pieces, "", name=name)


def _template(values, sep):
    """(text with placeholders, the tensors that replace them)."""
    tensors, texts = [], []
    for value in values:
        opened = value if isinstance(value, str) else _opened(value, tensors)
        texts.append(opened if isinstance(value, str) else pprint.pformat(opened))
    return sep.join(texts), tensors


_LEVELS = ("info", "warning", "warn", "error")


def _stream(output_stream):
    """The name of a stream as the op PrintV2 takes it."""
    if isinstance(output_stream, str) and output_stream.startswith("file://"):
        return output_stream
    if output_stream is sys.stdout:
        return "stdout"
    if output_stream is sys.stderr:
        return "stderr"
    name = getattr(output_stream, "__name__", None)
    if callable(output_stream) and name in _LEVELS:
        return f"log({'warning' if name == 'warn' else name})"
    raise ValueError(f"Unsupported output stream, logging level, or file.{output_stream}. Supported streams are "
                     "sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File needs to be in "
                     "the form of 'file://<filepath>'.")


def _is_text(value):
    """Whether a value is a scalar string tensor, which is printed without quotes if it is the only argument."""
    return isinstance(value, _core.Tensor) and value.dtype is dtypes.string and _core.static_shape(value) == ()


@export("print")
def print_v2(*inputs, **kwargs):
    """Prints values and tensors to stderr or `output_stream`; in a graph, each time the graph runs."""
    output_stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", os.linesep)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    stream = _stream(output_stream)
    summarize = 3 if summarize is None else summarize
    text, tensors = _template(inputs, " " if sep is None else sep)
    end = os.linesep if end is None else end
    if len(inputs) == 1 and _is_text(inputs[0]):
        if not _core.executing_eagerly():
            return raw.PrintV2(input=inputs[0], output_stream=stream, end=end, name=name)
        text, tensors = inputs[0].numpy().decode("utf-8", "replace"), []
    if not _core.executing_eagerly():
        made = _formatted(text, tensors, _HOLE, summarize)
        return raw.PrintV2(input=made, output_stream=stream, end=end, name=name)
    if tensors:
        made = _formatted(text, tensors, _HOLE, summarize)
        text = made.numpy().decode("utf-8", "replace")
    if stream in ("stdout", "stderr"):
        output_stream.write(text + end)
        output_stream.flush()
    elif stream.startswith("log("):
        output_stream(text)
    else:
        raw.PrintV2(input=text, output_stream=stream, end=end)
    return None


@export("strings.format")
def strings_format(template, inputs, placeholder="{}", summarize=3, name=None):
    """A string tensor: `template` with its placeholders replaced by the values of tensors."""
    values = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    holes = template.count(placeholder)
    if holes != len(values):
        raise ValueError(f"The template expects {holes} tensors, but the inputs only has {len(values)}. Please ensure the "
                         "number of placeholders in template matches inputs.")
    values = [v if has_rows(v) else _core.convert(v) for v in values]
    return _formatted(template, values, placeholder, summarize, name)
