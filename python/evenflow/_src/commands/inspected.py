"""Inspects a user's object: asks the engine for its graph, passes and plan, and wraps them in an Inspection."""
import json
from inspect import signature

from evenflow._src import _core, nest
from evenflow._src.concrete import _flat_arguments
from evenflow._src.datasets import Dataset
from evenflow._src.function import Function, function as traced
from evenflow._src.specs import TensorSpec, TypeSpec

from . import inspect_svg, inspect_text
from .terminal import Failure

MEASURED_RUNS, UNKNOWN_SIZE = 20, 32
_CONTROL = {"While", "StatelessWhile", "If", "StatelessIf", "Case", "StatelessCase", "PartitionedCall", "StatefulPartitionedCall"}


class Step:
    """A step of a plan: what it computes, its slots, and its measured time in nanoseconds (None if not measured)."""

    def __init__(self, data, nodes, plan):
        self.data, self.plan = data, plan
        node = nodes[data["node"]] if 0 <= data["node"] < len(nodes) else {}
        self.node, self.ns, self.way = node, data.get("ns"), data["way"]
        self.fused = [nodes[f["node"]]["op"] for f in data.get("fused", ())]
        self.compiled = [f["compiled"] for f in data.get("fused", ()) if f["compiled"] is not None]  # None for reductions
        self.inner = [(p["role"], steps_of(p["plan"], p["graph"]["nodes"])) for p in data.get("plans", ())]
        self.title = "fused " + " + ".join(self.fused) if self.fused else data["op"]

    @property
    def place(self):
        return (self.node["file"], self.node["line"]) if "file" in self.node else None

    @property
    def results(self):
        return [self.plan["slots"][k] for k in self.data["out"]]


def steps_of(plan, nodes):
    return [Step(data, nodes, plan) for data in plan["steps"]]


class Inspection:
    """How the engine runs a function."""

    def __init__(self, title, data, remarks):
        self.title, self.data, self.remarks = title, data, remarks
        self.plan = data["plan"]
        self.steps = steps_of(self.plan, data["graph"]["nodes"])

    def text(self, everything=False, stream=None):
        return inspect_text.function(self, everything, stream)

    def svg(self):
        """The memory plan as an SVG picture: steps from left to right, the arena from bottom to top."""
        return inspect_svg.memory(self)

    def __str__(self):
        return self.text()

    __repr__ = __str__


class DatasetInspection:
    """A dataset with its sources."""

    def __init__(self, title, data):
        self.title, self.data = title, data

    def text(self, everything=False, stream=None):
        return inspect_text.dataset(self, everything, stream)

    def __str__(self):
        return self.text()

    __repr__ = __str__


class GraphInspection:
    """The ops of a `tf.Graph` that belongs to no function. Which of them run depends on the fetches of a session; inspect a
    tensor to see the plan for it."""

    def __init__(self, title, graph):
        self.title, self.graph = title, graph

    def text(self, everything=False, stream=None):
        return inspect_text.graph(self, everything, stream)

    def __str__(self):
        return self.text()

    __repr__ = __str__


# ---- functions ------------------------------------------------------------------------------------------------


def effects(graph):
    """The ops of a graph that have side effects."""
    found = []
    for node in graph["nodes"]:
        if node.get("effect") and node["op"] not in _CONTROL:
            found.append(node["op"])
        for inner in node.get("functions", ()):
            found += effects(inner)
    return found


def _example(spec, unknown):
    """An example value for an input with this dtype and shape; None if the rank is unknown or the dtype has no values."""
    dtype, shape = spec.dtype, spec.shape
    if shape.rank is None or dtype.name in ("resource", "variant"):
        return None
    dims = [unknown if d is None else d for d in shape.as_list()]
    if dtype.name == "string":
        return _core.raw.Fill(_core.convert(dims, "int32"), _core.convert(""))
    count = 1
    for d in dims:
        count *= d
    if dtype.is_floating or dtype.is_complex:  # values in [0.5, 1.5): zeros and denormals have other speeds
        values = _core.raw.Cast(_core.raw.Range(_core.convert(0), _core.convert(count), _core.convert(1)), "float32")
        values = _core.raw.Cast(values / float(max(count, 1)) + 0.5, dtype)
    else:
        values = _core.raw.Cast(_core.raw.Fill(_core.convert([count], "int32"), _core.convert(0)), dtype)
    return _core.raw.Reshape(values, _core.convert(dims, "int32"))


def _arguments(concrete, args, kwargs):
    """The tensors of a call of this trace."""
    given = [leaf for leaf in nest.flatten([args, kwargs], expand_composites=True)
             if isinstance(leaf, _core.Tensor) or hasattr(leaf, "__array__")]
    if len(given) == len(concrete._input_names):
        return [_core.convert(v) for v in given]
    return _flat_arguments(concrete, args, kwargs)


def of_concrete(concrete, args, kwargs, runs, title, unknown=UNKNOWN_SIZE):
    """Inspects one trace. Without arguments, example values are used for its inputs."""
    remarks, specs = [], concrete.graph._function_inputs()[:len(concrete._input_names)]
    if args or kwargs:
        tensors = _arguments(concrete, args, kwargs)
    else:
        tensors = [_example(spec, unknown) for spec in specs]
        if any(t is None for t in tensors):
            tensors = None
            remarks.append("the shape of an input is unknown, so the plan is that for unknown shapes; give arguments to see another")
        elif any(None in spec.shape.as_list() for spec in specs):
            remarks.append(f"unknown sizes are taken as {unknown}")
    data = json.loads(_core.describe(concrete.graph, tensors, 0))
    found = effects(data["graph"])
    if runs is None:
        runs = 0 if found or tensors is None else MEASURED_RUNS
        if found:
            remarks.append(f"the steps were not measured, as running them has effects ({', '.join(sorted(set(found))[:3])}); "
                           "--runs N (in a program: runs=N) measures them all the same")
    if runs:
        if tensors is None:
            raise Failure("the steps cannot be measured: an input has no known shape; give arguments")
        data = json.loads(_core.describe(concrete.graph, tensors, runs))
    return Inspection(title, data, remarks)


def _named(concrete, name):
    inputs = concrete.graph._function_inputs()[:len(concrete._input_names)]
    takes = ", ".join(f"{n}: {t.dtype.name} {list(t.shape.as_list()) if t.shape.rank is not None else '?'}"
                      for n, t in zip(concrete._input_names, inputs))
    return f"function {name}({takes})"


def traces(function):
    return function._list_all_concrete_functions()


def _needs_nothing(function):
    """Whether a function can be called without arguments: it has none, or all of them have defaults."""
    try:
        parameters = signature(function.python_function).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def of_function(function, args, kwargs, runs, name=None, trace=None, unknown=UNKNOWN_SIZE):
    name = name or getattr(function, "__name__", "function")
    given = args or kwargs
    if given:
        concrete = function.get_concrete_function(*args, **kwargs)
        if any(isinstance(leaf, TypeSpec) for leaf in nest.flatten([args, kwargs])):
            args, kwargs = (), {}
    else:
        all_traces = traces(function)
        if not all_traces and (getattr(function, "input_signature", None) is not None or _needs_nothing(function)):
            all_traces = [function.get_concrete_function()]
        if not all_traces:
            raise Failure(f"{name} has not been traced: call it first, give it an input_signature, or pass arguments")
        if trace is not None and not 1 <= trace <= len(all_traces):
            raise Failure(f"{name} has {len(all_traces)} traces; there is no trace {trace}")
        concrete = all_traces[(trace or len(all_traces)) - 1]
    made = of_concrete(concrete, args, kwargs, runs, _named(concrete, name), unknown)
    if not given and len(all_traces) > 1:
        made.remarks.insert(0, f"trace {trace or len(all_traces)} of {len(all_traces)}")
    return made


def of_tensor(tensor, runs):
    """Inspects the subgraph that computes a tensor of a graph from the graph's placeholders."""
    graph = tensor.graph
    inputs = [op.outputs[0] for op in graph.get_operations() if op.type.startswith("Placeholder")]
    part, more = graph._part(inputs, [tensor])
    values = [_example(t, UNKNOWN_SIZE) for t in inputs]
    values = None if more or any(v is None for v in values) else values
    if runs and values is None:
        raise Failure(f"{tensor.name} depends on variables of a session, so its steps cannot be measured here")
    data = json.loads(_core.describe(part, values, 0))
    if runs is None and values is not None and not effects(data["graph"]):
        runs = MEASURED_RUNS
    if runs:
        data = json.loads(_core.describe(part, values, runs))
    return Inspection(f"tensor {tensor.name}", data, [])


# ---- Keras ----------------------------------------------------------------------------------------------------


def is_keras(obj, name):
    """Whether an object is an instance of the Keras class `name`, without importing Keras."""
    return any(c.__name__ == name and c.__module__.split(".")[0] == "keras" for c in type(obj).__mro__)


def of_model(model, args, kwargs, runs, name, unknown):
    """Inspects a call of a Keras model with training=False, for its own inputs or for arguments."""
    name = name or model.name
    inputs = getattr(model, "inputs", None) or ()
    specs = [TensorSpec(t.shape, t.dtype, name=t.name) for t in inputs]
    if not args and not kwargs and not specs:
        raise Failure(f"{name} is a Keras model of which no inputs are known: give it tf.keras.Input, or inspect a function that "
                      "calls it: step = tf.function(model)")
    example = args or (specs[0] if len(specs) == 1 else nest.pack_sequence_as(model.input, specs),)
    made = traced(lambda *a, **k: model(*a, training=False, **k)).get_concrete_function(*example, **kwargs)
    found = of_concrete(made, (), {}, runs, f"model {name}", unknown)
    found.title = f"model {name}({_named(made, '').partition('(')[2]}"
    return found


# ---- everything -----------------------------------------------------------------------------------------------


def can_inspect(obj):
    return isinstance(obj, (Function, _core.BoundFunction, _core.ConcreteFunction, Dataset, _core.GraphBase)) or is_keras(obj, "Model")


def inspect(obj, args=(), kwargs=None, runs=None, name=None, trace=None, unknown=UNKNOWN_SIZE):
    kwargs = kwargs or {}
    if runs is not None and not 0 <= runs <= 1000:
        raise ValueError(f"tf.experimental.inspect: runs is {runs}; it must be from 0 to 1000")
    try:
        if isinstance(obj, _core.BoundFunction):
            return of_function(obj.__func__, (obj.__self__, *args), kwargs, runs, name, trace, unknown) if args or kwargs else (
                of_function(obj.__func__, (), {}, runs, name, trace, unknown))
        if isinstance(obj, Function):
            return of_function(obj, args, kwargs, runs, name, trace, unknown)
        if isinstance(obj, _core.ConcreteFunction):
            return of_concrete(obj, args, kwargs, runs, _named(obj, name or obj.name.decode()), unknown)
        if isinstance(obj, Dataset):
            return DatasetInspection(f"dataset {name or ''}".rstrip(), json.loads(_core.describe_dataset(obj._variant_tensor)))
        if isinstance(obj, _core.GraphBase):
            return GraphInspection(f"graph {name or ''}".rstrip(), obj)
        if isinstance(obj, _core.Tensor) and _core.is_symbolic(obj):
            return of_tensor(obj, runs)
        if is_keras(obj, "Model"):
            return of_model(obj, args, kwargs, runs, name, unknown)
    except Failure as e:
        raise ValueError(f"tf.experimental.inspect: {e}") from None
    what = "a Keras layer: put it into a model, or call it in a tf.function" if is_keras(obj, "Layer") else (
        "a plain Python function: decorate it with @tf.function" if callable(obj) and not isinstance(obj, type) else (
            f"an object of {type(obj)}"))
    raise TypeError("tf.experimental.inspect: needs a tf.function, ConcreteFunction, Keras model, tf.Graph, tensor of a graph or "
                    "Dataset, "
                    f"not {what}")
