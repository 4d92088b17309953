"""Sessions, in which TensorFlow 1 programs run parts of a graph.

`Session.run` is C (ext/session.c) if the fetches and feeds are plain tensors. This file handles the rest: fetches by name,
composite tensors, feeds that numpy must convert, and the default session and graph.
"""
import collections
import collections.abc
import re

import numpy as np

from . import _core, dtypes, errors, graph as graphs
from .composite import IndexedSlices, SparseTensor, SparseTensorValue
from .default_session import stack
from .namespace import export, offer
from .ragged import RaggedTensor
from .ragged_value import value_of
from .shapes import TensorShape

IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", "values indices dense_shape")
IndexedSlicesValue.__module__ = "tensorflow.python.framework.indexed_slices"
offer(IndexedSlicesValue, "compat.v1.IndexedSlicesValue")
offer(SparseTensorValue, "compat.v1.SparseTensorValue")


# ---- fetches -------------------------------------------------------------------------------------------


class _Fetches:
    """The fetches of a run: symbolic tensors and nodes. `take` also returns how the results are put together."""

    def __init__(self, graph):
        self.graph = graph
        self.tensors = []
        self.nodes = []
        self.values = 0

    def take(self, item):
        """Adds a fetch and returns a function from the list of results to its value."""
        if item is None:
            raise TypeError('Argument `fetch` = None has invalid type "NoneType". Cannot be None')
        if isinstance(item, (list, tuple)):
            return self._sequence(item)
        if isinstance(item, collections.abc.Mapping):
            return self._mapping(item)
        if isinstance(item, SparseTensor):
            parts = [self.take(p) for p in (item.indices, item.values, item.dense_shape)]
            return lambda results: SparseTensorValue(*(p(results) for p in parts))
        if isinstance(item, IndexedSlices):
            shape = item.dense_shape
            parts = [self.take(item.values), self.take(item.indices),
                     self.take(shape) if shape is not None else lambda results: None]
            return lambda results: IndexedSlicesValue(*(p(results) for p in parts))
        if isinstance(item, RaggedTensor):
            values, splits = self.take(item.flat_values), [self.take(s) for s in item.nested_row_splits]
            return lambda results: value_of(values(results), [p(results) for p in splits])
        return self._leaf(item)

    def _sequence(self, items):
        parts = [self.take(i) for i in items]
        make = getattr(type(items), "_make", type(items))
        return lambda results: make([p(results) for p in parts])

    def _mapping(self, items):
        parts = {k: self.take(v) for k, v in items.items()}
        kind = type(items)
        if issubclass(kind, dict) and kind is not dict:
            def make(results):
                made = items.copy()
                for k, p in parts.items():
                    made[k] = p(results)
                return made
            return make
        return lambda results: {k: p(results) for k, p in parts.items()}

    def _leaf(self, item):
        if isinstance(item, _core.EagerTensor):
            self.values += 1
            return lambda results: item.numpy()
        if isinstance(item, _core.VariableBase) and not hasattr(item, "_graph_element"):
            if not _core.is_symbolic(item.handle):
                self.values += 1
                return lambda results: item.numpy()
        if getattr(item, "_reference", False) and item.graph is self.graph:
            at = len(self.tensors)
            self.tensors.append(item)  # ext/session.c reads it after the run
            return lambda results: results[at]
        try:
            found = self.graph.as_graph_element(item, allow_tensor=True, allow_operation=True)
        except TypeError as e:
            raise TypeError(f'Argument `fetch` = {item} has invalid type "{type(item).__name__}" must be a string or '
                            f"Tensor. ({e})") from None
        except (ValueError, KeyError) as e:
            raise ValueError(f"Argument `fetch` = {item} cannot be interpreted as a Tensor. ({e})") from None
        if isinstance(found, graphs.Operation):
            self.nodes.append(found._node)
            return lambda results: None
        at = len(self.tensors)
        self.tensors.append(found)
        return lambda results: results[at]


def _op_failed(graph, error):
    """Sets the `op` of an exception of a run: the op whose node the message names."""
    found = re.search(r"\{\{node ([^}]+)\}\}", getattr(error, "message", ""))
    if found is not None:
        error._op = graph.get_operation_by_name(found[1])


_core.register(op_failed=_op_failed)


# ---- feeds ---------------------------------------------------------------------------------------------


def _pairs(feed_dict):
    """Yields (key, value) of every feed. A key that is a tuple is split together with its value."""
    if not isinstance(feed_dict, collections.abc.Mapping):
        raise TypeError("FlattenDictItems: 'dict' must be a dictionary or collection.Mapping type object, instead of "
                        f"'{type(feed_dict).__name__}'.")
    for key, value in feed_dict.items():
        yield from _parts(key, value)


def _parts(key, value):
    if not isinstance(key, tuple):
        yield key, value
        return
    if len(key) != len(value):
        raise ValueError(f"the key {key!r} has {len(key)} parts and its value {len(value)}")
    for pair in zip(key, value):
        yield from _parts(*pair)


def _expand(key, value):
    """Yields the pairs of component tensors of a composite feed, or the pair itself."""
    if isinstance(key, SparseTensor):
        parts = (value.indices, value.values, value.dense_shape) if isinstance(value, SparseTensor) else tuple(value)
        yield from zip((key.indices, key.values, key.dense_shape), parts)
    elif isinstance(key, IndexedSlices):
        parts = (value.values, value.indices, value.dense_shape) if isinstance(value, IndexedSlices) else tuple(value)
        ends = (key.values, key.indices) + ((key.dense_shape,) if key.dense_shape is not None else ())
        yield from zip(ends, parts)
    elif isinstance(key, RaggedTensor):
        yield key.flat_values, value.flat_values
        yield from zip(key.nested_row_splits, value.nested_row_splits)
    else:
        yield key, value


def _to_array(session, tensor, value):
    """The value of a feed, converted by numpy to the dtype of the fed tensor. If the value is a tensor of the session's own
    graph, it is computed first, without any feeds."""
    if _core.is_symbolic(value) and isinstance(value, _core.Tensor) and value.graph is session.graph:
        value = session.run(value)
    if isinstance(value, _core.EagerTensor):
        if value.dtype is tensor.dtype:
            return value
        value = value.numpy()
    elif _core.is_symbolic(value.handle if isinstance(value, _core.VariableBase) else value):
        raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python scalars, "
                        f"strings, lists, numpy ndarrays, or TensorHandles. For reference, the tensor object was {value} "
                        f"which was passed to the feed with key {tensor}.")
    elif isinstance(value, _core.VariableBase):
        value = value.numpy()
    if tensor.dtype is dtypes.resource or tensor.dtype is dtypes.variant:
        return _core.convert(value)
    kind = tensor.dtype.as_numpy_dtype
    if isinstance(value, int) and not isinstance(value, bool) and tensor.dtype.is_integer:
        low, high = tensor.dtype.min, tensor.dtype.max
        if not low <= value <= high:
            raise TypeError(f"Type of feed value {value} with type {type(value)} is not compatible with Tensor type "
                            f"{kind}. Try explicitly setting the type of the feed tensor to a larger type (e.g. "
                            "int64).")
    if tensor.dtype is dtypes.string:
        return np.asarray(value, dtype=object)
    return np.asarray(value, dtype=kind)


def _check_shape(tensor, value):
    want, have = tensor._dims, tuple(value.shape)
    if want is None:
        return
    if len(want) != len(have) or any(w is not None and w != h for w, h in zip(want, have)):
        raise ValueError(f"Cannot feed value of shape {have} for Tensor {tensor.name}, which has shape "
                         f"{tuple(want)}")


def _feeds(session, feed_dict):
    """(list of fed tensors, list of their values)."""
    found = {}
    for key, value in _pairs(feed_dict) if feed_dict else ():
        for part, one in _expand(key, value):
            if isinstance(part, _core.VariableBase) and hasattr(part, "_graph_element"):
                part = part._graph_element
            try:
                tensor = session.graph.as_graph_element(part, allow_operation=False)
            except (TypeError, ValueError, KeyError) as e:
                reason = e.args[0] if e.args else e
                raise TypeError(f"Cannot interpret feed_dict key as Tensor: {reason}") from None
            value_now = _to_array(session, tensor, one)
            _check_shape(tensor, value_now)
            found[tensor] = value_now
    return list(found), list(found.values())


# ---- sessions --------------------------------------------------------------------------------------------


class _Default:
    """The context manager that `session.as_default()` returns."""

    __slots__ = ("session",)

    def __init__(self, session):
        self.session = session

    def __enter__(self):
        stack.sessions.append(self.session)
        return self.session

    def __exit__(self, *unused):
        if stack.sessions and stack.sessions[-1] is not self.session:
            raise AssertionError(f"Nesting violated for default stack of {type(self.session)} objects: leave the sessions in the "
                                 "reverse of the order in which they were entered")
        del stack.sessions[-1:]
        return False


class BaseSession(_core.SessionBase):
    """The base class of sessions, which run parts of `graph` and hold the values of its variables."""

    def __init__(self, target="", graph=None, config=None):
        if graph is None:
            graph = graphs.get_default_graph()
        elif not isinstance(graph, graphs.Graph):
            raise TypeError(f'Argument `graph` must be a tf.Graph, but got "{type(graph).__name__}"')
        target = target.decode("utf-8") if isinstance(target, bytes) else target or ""
        if not isinstance(target, str):
            raise TypeError(f'Argument `target` must be a string, but got "{type(target).__name__}"')
        if target:
            raise errors.NotFoundError(None, None, "No session factory registered for the given session options: "
                                                   f'{{target: "{target}"}}. Registered factories are {{DIRECT_SESSION}}: '
                                                   "sessions run in this process; leave `target` out.")
        if config is not None and not hasattr(config, "HasField"):
            raise TypeError(f'Argument `config` must be a tf.ConfigProto, but got "{type(config).__name__}"')
        self._config = config
        self._target = target
        self._open(graph)

    def _run(self, fetches, feed_dict):
        """run() for fetches and feeds that are not plain tensors. C calls it, outside of all graphs."""
        graph = self.graph
        wanted = _Fetches(graph)
        make = wanted.take(fetches)
        if graph._nodes() == 0 and not wanted.values:
            raise RuntimeError("The Session graph is empty. Add operations to the graph before calling run().")
        feeds, values = _feeds(self, feed_dict)
        for k, item in enumerate(wanted.tensors):
            if isinstance(item, _core.VariableBase) and any(f is item._graph_element for f in feeds):
                wanted.tensors[k] = item._graph_element
        return make(self._run_flat(wanted.tensors, wanted.nodes, feeds, values))

    @property
    def sess_str(self):
        return self._target

    @property
    def graph_def(self):
        """The graph as a GraphDef."""
        return self.graph.as_graph_def()

    def as_default(self):
        """A context manager that makes this the default session. The default graph does not change."""
        return _Default(self)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs `fetches` and feeds its arguments to the tensors of `feed_list`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError(f"Argument `feed_list` must be a list or tuple. Received: feed_list={feed_list}")
        feeds = [self.graph.as_graph_element(f, allow_operation=False) for f in feed_list or ()]
        run, count = self.run, len(feeds)

        def call(*values, **kwargs):
            if len(values) != count:
                raise TypeError(f"the callable takes {count} feeds, not {len(values)}")
            return run(fetches, dict(zip(feeds, values)))

        return call

    def partial_run_setup(self, fetches, feeds=None):
        """Raises NotImplementedError: partial runs are not supported."""
        raise NotImplementedError("partial runs are not supported: use Session.run for each part, or make_callable")

    def partial_run(self, handle, fetches, feed_dict=None):
        """Raises NotImplementedError: partial runs are not supported."""
        return self.partial_run_setup(fetches)

    def list_devices(self):
        """The devices that ops may run on: the CPU."""
        return [DeviceAttributes("/job:localhost/replica:0/task:0/device:CPU:0", "CPU", 268435456, 0)]

    def close(self):
        """Closes the session and frees the values of its variables. It may be called twice."""
        self._close()

    def reset(self, *unused):
        """Does nothing: it would clear the state of a server, and there is none."""


class DeviceAttributes:
    """A device in the list that `list_devices` returns."""

    def __init__(self, name, device_type, memory_limit_bytes, incarnation):
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes
        self.incarnation = incarnation

    def __repr__(self):
        return f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, {self.incarnation})"


@export("compat.v1.Session", "Session")
class Session(BaseSession):
    """Runs a graph. `with tf.Session() as sess:` also makes its graph the default one, and closes the session at the end."""

    def __enter__(self):
        if self.__dict__.get("_entered") is not None:
            raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter "
                               "a session multiple times.")
        self._entered = (self.graph._enter_scope(),)
        stack.sessions.append(self)
        return self

    def __exit__(self, kind, error, trace):
        stack.sessions.pop()
        entered, self._entered = self._entered, None
        self.graph._leave_scope(entered[0], kind)
        self._close()
        return False

    @staticmethod
    def reset(target, containers=None, config=None):
        """Does nothing: it would clear the state of a server, and there is none."""


@export("compat.v1.InteractiveSession", "InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that is the default session, with its graph as the default graph, from its construction until close()."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._explicit = graph
        self._scope = graph._enter_scope() if graph is not None else None
        stack.sessions.append(self)
        self._installed = True

    def close(self):
        """Closes the session, which is no longer the default."""
        self._close()
        if not self._installed:
            return
        self._installed = False
        for k in range(len(stack.sessions) - 1, -1, -1):
            if stack.sessions[k] is self:
                del stack.sessions[k]
                break
        if self._explicit is not None:
            self._explicit._leave_scope(self._scope)


for _class in (Session, InteractiveSession, BaseSession):
    _class.__module__ = "tensorflow.python.client.session"


# ---- placeholders ------------------------------------------------------------------------------------------


@export("compat.v1.placeholder", "placeholder")
def placeholder(dtype, shape=None, name=None):
    """A tensor whose value every run must feed. Outside of all graphs it is added to the default graph."""
    name = name.decode("utf-8") if isinstance(name, bytes) else name
    graph = _core.current_graph()
    if graph is None:
        graph, full = graphs.get_default_graph(), name or "Placeholder"
    else:
        full = name[:-1] if name and name.endswith("/") else graphs.current_scope() + (name or "Placeholder")
    return graph._placeholder(dtypes.as_dtype(dtype), shape, full)


@export("compat.v1.placeholder_with_default")
def placeholder_with_default(input, shape, name=None):  # noqa: A002
    """A tensor with the value `input`, unless a run feeds another one. Eagerly it is `input`."""
    return _core.raw.PlaceholderWithDefault(input, TensorShape(shape), name=name)


@export("placeholder_with_default")
def default_graph_placeholder(input, shape, name=None):  # noqa: A002
    """compat.v1.placeholder_with_default, but outside of all graphs it is added to the default graph."""
    return _in_default_graph(lambda: placeholder_with_default(input, shape, name))


@export("compat.v1.sparse_placeholder", "sparse_placeholder")
def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor whose value every run must feed."""
    name = name or "SparsePlaceholder"
    dims = None
    if shape is not None:
        if isinstance(shape, (list, tuple)):  # only this function accepts -1 for an unknown size
            shape = [None if size == -1 else size for size in shape]
        dims = TensorShape(shape)._dims
    rank = None if dims is None else len(dims)
    if dims is not None and None not in dims:
        dense = _in_default_graph(lambda: _core.raw.Const(value=_core.convert(list(dims), dtypes.int64),
                                                          dtype=dtypes.int64, name=name + "/shape"))
    else:
        dense = placeholder(dtypes.int64, [rank], name + "/shape")
    made = SparseTensor(placeholder(dtypes.int64, [None, rank], name + "/indices"),
                        placeholder(dtype, [None], name + "/values"), dense)
    if shape is not None:
        made.set_shape(shape)
    return made


def _in_default_graph(make):
    if _core.current_graph() is not None:
        return make()
    with graphs.get_default_graph().as_default():
        return make()
