"""tf.Operation: an op of a graph."""
import linecache
import traceback

from . import _core, devices
from .default_session import default_session
from .namespace import offer


class Operation:
    """An op of a graph: its type, name, inputs, outputs and attributes."""

    __slots__ = ("graph", "_node", "__weakref__", "__dict__")

    def __init__(self, graph, node):
        self.graph = graph
        self._node = node

    @property
    def type(self):
        return self.graph._node(self._node)[0]

    @property
    def name(self):
        return self.graph._node_name(self._node)

    @property
    def inputs(self):
        return tuple(self.graph._node_input(self._node, k) for k in range(self.graph._node(self._node)[1]))

    @property
    def outputs(self):
        return [self.graph._node_output(self._node, k) for k in range(self.graph._node(self._node)[2])]

    @property
    def control_inputs(self):
        count = self.graph._node(self._node)[3]
        return [self.graph._operation(self.graph._node_control(self._node, k)) for k in range(count)]

    @property
    def device(self):
        """The device name that the program gave with tf.device; "" if there is none."""
        return devices.of_node(self.graph, self._node)

    @property
    def traceback(self):
        """The call stack of the user's program that created the op; the outermost call is first."""
        return traceback.StackSummary.from_list(
            [(file, line, name, linecache.getline(file, line).strip() or None)
             for file, line, name in self.graph._places(self._node)])

    @property
    def op_def(self):
        return _core.describe_op(self.type)

    def _is_parameter(self):
        """Whether the op is an input of the function that its graph is traced for."""
        return self.graph.building_function and any(t.op is self for t in self.graph.inputs)

    def get_attr(self, name):
        """The value of an attribute. Raises ValueError if there is no attribute `name`."""
        if name == "_user_specified_name" and self._is_parameter():
            return self.name.encode()
        given = self.__dict__.get("_attrs", {})
        return given[name] if name in given else self.graph._attr(self._node, name)

    def values(self):
        return tuple(self.outputs)

    def run(self, feed_dict=None, session=None):
        """Runs the op in `session`, or in the default session."""
        default_session(session).run(self, feed_dict)

    def _set_attr(self, name, value):
        """Adds an attribute that the engine does not read: an AttrValue message, or a plain value."""
        field = value.WhichOneof("value") if hasattr(value, "WhichOneof") else None
        value = getattr(value, field) if field else value
        self.__dict__.setdefault("_attrs", {})[name] = value
        self.graph._keep_operation(self)

    def __repr__(self):
        return f"<tf.Operation {self.name!r} type={self.type}>"

    def __str__(self):
        return f"name: {self.name!r}\nop: {self.type!r}"

    def __hash__(self):
        return hash((id(self.graph), self._node))

    def __eq__(self, other):
        return isinstance(other, Operation) and other.graph is self.graph and other._node == self._node


Operation.__module__ = "tensorflow.python.framework.ops"
offer(Operation, "Operation")
