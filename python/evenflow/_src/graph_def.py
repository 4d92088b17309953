"""Converts graphs to GraphDef messages, for TensorBoard and for programs that read them. Function graphs (the branches of a
condition, the body of a loop) go to the library of the message."""
import numpy as np

from . import _core, dtypes, shapes
from .event_messages import message
from .graph import eagerly


def _set_shape(proto, shape):
    shape = shapes.TensorShape(shape)
    if shape.rank is None:
        proto.unknown_rank = True
        return
    for size in shape.as_list():
        proto.dim.add(size=-1 if size is None else size)


def _set_tensor(proto, value):
    with eagerly():
        proto.ParseFromString(_core.raw.SerializeTensor(_core.convert(value)).numpy())


class _Writer:
    """Fills one GraphDef."""

    def __init__(self, add_shapes):
        self.graph_def = message("GraphDef")()
        self.graph_def.versions.producer = 2389
        self._add_shapes = add_shapes
        self._names = {}  # id of a function's graph -> its name in the library
        self._kept = []

    def function(self, graph):
        """The name in the library of a function graph, which is added if it is new."""
        name = self._names.get(id(graph))
        if name is None:
            name = self._names[id(graph)] = f"{getattr(graph, 'name', None) or 'function'}_{len(self._names)}"
            self._kept.append(graph)
            self._add_function(graph, name)
        return name

    def _add_function(self, graph, name):
        made = message("GraphDef")().library.function.add()
        made.signature.name = name
        inside = {}
        for k, t in enumerate(graph._function_inputs()):
            arg = made.signature.input_arg.add(name=t.op.name.replace("/", "_").lower() or f"x{k}", type=t.dtype.as_datatype_enum)
            inside[t.op.name] = arg.name
        for op in graph.get_operations():
            if op.name not in inside:
                self.node(made.node_def.add(), op, inside)
        for k, t in enumerate(graph._function_outputs()):
            arg = made.signature.output_arg.add(name=f"out_{k}", type=t.dtype.as_datatype_enum)
            made.ret[arg.name] = self._reference(t, inside)
        self.graph_def.library.function.add().CopyFrom(made)

    def _reference(self, t, inside):
        op, _, index = t.name.rpartition(":")
        if inside is None:
            return op if index == "0" else t.name
        return inside[op] if op in inside else f"{op}:{_output(t.op, int(index))}"

    def node(self, proto, op, inside=None):
        """Fills a NodeDef."""
        proto.name, proto.op, proto.device = op.name, op.type, op.device or ""
        proto.input.extend(self._reference(t, inside) for t in op.inputs)
        proto.input.extend("^" + (inside or {}).get(c.name, c.name) for c in op.control_inputs)
        for name, kind, *_ in op.op_def["attrs"]:
            try:
                value = op.get_attr(name)
            except ValueError:  # an attribute that follows from the inputs
                continue
            self.attr(proto.attr[name], value, kind)
        _add_inferred(proto, op)
        if self._add_shapes and op.outputs:
            for t in op.outputs:
                _set_shape(proto.attr["_output_shapes"].list.shape.add(), t.shape)

    def attr(self, proto, value, kind):
        """Fills an AttrValue; `kind` is the attribute's type in TensorFlow's notation."""
        if kind.startswith("list("):
            self._list(proto.list, value, kind)
        elif kind == "shape":
            _set_shape(proto.shape, value)
        elif kind == "func":
            proto.func.name = self.function(value)
        elif kind == "tensor":
            _set_tensor(proto.tensor, value)
        else:
            word, value = _simple(value)
            setattr(proto, word, value)

    def _list(self, proto, values, kind):
        proto.SetInParent()
        for value in values:
            if "shape" in kind:
                _set_shape(proto.shape.add(), value)
            elif "func" in kind:
                proto.func.add(name=self.function(value))
            else:
                word, value = _simple(value)
                getattr(proto, word).append(value)


def _split(described, n):
    """The number of tensors of each argument: one, or all remaining ones for a list."""
    fixed = sum(1 for _, _, number, listed in described if number is None and not listed)
    return [1 if number is None and not listed else n - fixed for _, _, number, listed in described]


def _output(op, index):
    """Output `index` in the notation of FunctionDef: the name of the output argument and the position in it."""
    described = op.op_def["outputs"]
    for (name, *_), count in zip(described, _split(described, len(op.outputs))):
        if index < count:
            return f"{name}:{index}"
        index -= count
    return f"output:{index}"


def _add_inferred(proto, op):
    """Adds the attributes that follow from the inputs: their dtypes and their number."""
    described, inputs = op.op_def["inputs"], op.inputs
    known = {name for name, *_ in op.op_def["attrs"]}
    at = 0
    for (_, kind, number, listed), count in zip(described, _split(described, len(inputs))):
        given = [t.dtype.as_datatype_enum for t in inputs[at:at + count]]
        at += count
        if number is not None and number in known:
            proto.attr[number].i = count
        if kind not in known or kind in proto.attr:
            continue
        if listed and number is None:
            proto.attr[kind].list.type.extend(given)
        elif given:
            proto.attr[kind].type = given[0]


def _simple(value):
    """(name of the field of an AttrValue, value of the field)."""
    if isinstance(value, bool):
        return "b", value
    if isinstance(value, (int, np.integer)):
        return "i", int(value)
    if isinstance(value, float):
        return "f", value
    if isinstance(value, dtypes.DType):
        return "type", value.as_datatype_enum
    return "s", value if isinstance(value, bytes) else str(value).encode()


def graph_def(graph, add_shapes=False):
    """The GraphDef of a graph."""
    writer = _Writer(add_shapes)
    for op in graph.get_operations():
        writer.node(writer.graph_def.node.add(), op)
    return writer.graph_def
