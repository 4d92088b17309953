"""Graphs: what tf.Graph offers beyond the engine's graph, the default graph, scopes."""
import contextlib
import itertools
import re
import sys
import threading
import weakref

from . import _core, devices, nest
from .config import check_device
from .namespace import export, offer
from .operation import Operation

_local = threading.local()


class _Stack(threading.local):
    """The graphs this thread has entered as default, innermost last."""

    def __init__(self):
        self.graphs = []


_stack = _Stack()
_global_default = [None]  # the graph of programs that never make one
_eager_off = [False]


class _AsDefault(contextlib.ContextDecorator):
    """What `graph.as_default()` gives to a `with` statement."""

    __slots__ = ("graph", "entered")

    def __init__(self, graph):
        self.graph, self.entered = graph, None

    def __enter__(self):
        if self.entered is not None:
            raise RuntimeError("this graph.as_default() has been entered already; call as_default() once for each `with`")
        self.entered = self.graph._enter_scope()
        return self.graph

    def __exit__(self, *_):
        self.graph._leave_scope(self.entered)

    def _recreate_cm(self):  # each call of a function that it decorates enters anew
        return _AsDefault(self.graph)


@export("Graph")
class Graph(_core.GraphBase):
    """A graph of ops. `with graph.as_default():` adds the ops called inside to it."""

    building_function = False

    def __init__(self):
        self._collections = {}
        self._weakly = {}  # collection -> {address: weak reference}, of values that are asked for through it alone
        self._scope = ""
        self._seed = None
        self._last_id = 0
        self._finalized = False
        self._names = {}
        self._built = None  # how many names there were when the graph began to forget
        self._lock = threading.RLock()

    @classmethod
    def _around(cls, name, function):
        """For a graph that has no object: a function's body that the engine made, or one whose object is gone."""
        return FuncGraph(name or "") if function else Graph()

    def as_default(self):
        """Makes this the graph that ops of this thread are added to."""
        return _AsDefault(self)

    def _enter_scope(self):
        graphs = _stack.graphs
        depth = len(graphs)
        if _core.current_graph() is self:
            graphs.append(self)
            return (None, None, depth)
        suspended = None
        # A plain graph stands alone: nothing is captured from around it. One entered further out starts from the outside.
        if not self.building_function or any(g is self for g in graphs):
            suspended = _core.suspend()
        try:
            entered = [suspended, None, depth]  # what needs memory comes first: a graph that was entered must be left
            graphs.append(self)
            self._enter()
        except BaseException:
            if _core.current_graph() is self:  # a signal's handler raised behind it
                self._leave()
            del graphs[depth:]
            if suspended is not None:
                _core.resume(suspended)
            raise
        entered[1] = _core.set_scope(self._scope)
        return entered

    def _leave_scope(self, entered):
        suspended, scope, depth = entered
        if sys.exc_info()[0] is not None:
            self._leave_inner()
        del _stack.graphs[depth:]
        if scope is None:
            return
        self._scope = _core.set_scope(scope)
        self._leave()
        if suspended is not None:
            _core.resume(suspended)

    def _leave_inner(self):
        """A signal's handler may raise after an inner graph was entered and before its `with` block begins: nobody leaves it."""
        while (inner := _core.current_graph()) is not None and inner is not self:
            inner._leave()

    def _operation(self, node):
        found = self._ops.get(node)
        if found is None:
            found = self._ops[node] = Operation(self, node)
        return found

    def _keep_operation(self, operation):
        """For an op that knows more than its node does."""

    def get_operations(self):
        """All ops, in the order they were added."""
        return [self._operation(k) for k in range(self._nodes()) if not self._gone(k)]

    def get_operation_by_name(self, name):
        """The op called `name`; KeyError if there is none, ValueError for the name of a tensor."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        node = self._find(name)
        if node < 0:
            for k in range(self._nodes()):  # ops are named when they are asked for
                if not self._gone(k) and self._node_name(k) == name:
                    return self._operation(k)
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.")
        return self._operation(node)

    def _has_operation(self, name):
        try:
            return bool(self.get_operation_by_name(name))
        except (KeyError, ValueError):
            return False

    def get_tensor_by_name(self, name):
        """The tensor called `op:output`; KeyError if there is none, ValueError if the name is malformed."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        op, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            what = "refers to an Operation" if not colon and self._has_operation(name) else "looks like an (invalid) Operation name"
            raise ValueError(f"The name {name!r} {what}, not a Tensor. Tensor names must be of the form "
                             "\"<op_name>:<output_index>\".")
        if not self._has_operation(op):
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op!r}, does not "
                           "exist in the graph.")
        outputs = self.get_operation_by_name(op).outputs
        if int(index) >= len(outputs):
            raise KeyError(f"The name {name!r} refers to a Tensor which does not exist. The operation, {op!r}, exists "
                           f"but only has {len(outputs)} outputs.")
        return outputs[int(index)]

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or op of this graph that `obj` (or its name) stands for."""
        if isinstance(obj, bytes):
            obj = obj.decode("utf-8")
        if isinstance(obj, str):
            if allow_tensor and (":" in obj or not allow_operation):
                return self.get_tensor_by_name(obj)
            return self.get_operation_by_name(obj)
        if isinstance(obj, _core.Tensor) and allow_tensor:
            if _core.is_symbolic(obj) and obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj} is not an element of this graph.")
            return obj
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            return self.as_graph_element(convert(), allow_tensor, allow_operation)
        kinds = [word for word, wanted in (("Tensor", allow_tensor), ("Operation", allow_operation)) if wanted]
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {' or '.join(kinds)}.")

    # collections, names, seeds

    def add_to_collection(self, name, value):
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        for name in {names} if isinstance(names, str) else set(names):
            self.add_to_collection(name, value)

    def _collect_weakly(self, name, value):
        """Adds a value to a collection until the graph forgets it, as graphs that grow while they run do."""
        kept, number = self._weakly.setdefault(name, {}), id(value)
        kept[number] = weakref.ref(value, lambda _: kept.pop(number, None))

    def get_collection_ref(self, name):
        items = self._collections.setdefault(name, [])
        for reference in list(self._weakly.pop(name, {}).values()):
            value = reference()
            if value is not None and not any(value is i for i in items):
                items.append(value)
        return items

    def get_collection(self, name, scope=None):
        items = self.get_collection_ref(name) if name in self._weakly else self._collections.get(name, [])
        if scope is None:
            return list(items)
        test = re.compile(scope)
        return [i for i in items if hasattr(i, "name") and test.match(i.name)]

    def get_all_collection_keys(self):
        return [k for k in {**self._collections, **self._weakly} if isinstance(k, str)]

    def clear_collection(self, name):
        self._collections.pop(name, None)
        self._weakly.pop(name, None)

    @property
    def collections(self):
        return self.get_all_collection_keys()

    @property
    def seed(self):
        return self._seed

    @seed.setter
    def seed(self, value):
        self._seed = value

    @property
    def version(self):
        return self._nodes()

    @property
    def finalized(self):
        return self._finalized

    def finalize(self):
        """No op may be added from now on."""
        self._finalized = True
        self._finalize()

    def _unsafe_unfinalize(self):
        """Ops may be added again: for what finalized a graph of others, when it is done."""
        self._finalized = False
        self._unfinalize()

    def is_feedable(self, tensor):
        return True

    def is_fetchable(self, tensor):
        return True

    def unique_name(self, name, mark_as_used=True):
        """`name` below the present scope, with _1, _2 ... if it is taken."""
        full = (_core_scope() + name) if _core.current_graph() is self else self._scope + name
        key = full.lower()
        count = self._used(key)
        unique = full if count == 0 else f"{full}_{count}"
        while (count > 0 and self._used(unique.lower())) or self._find(unique) >= 0:
            count += 1
            unique = f"{full}_{count}"
        if mark_as_used:
            self._names[key] = count + 1
            if self._forgets:
                self._forget_names()
        return unique

    def _forget_names(self):
        """Names of scopes that a loop opens go with its ops: nodes that stay are unique by themselves."""
        if self._built is None:
            self._built = len(self._names)
        if len(self._names) > self._built + 256:
            for old in list(itertools.islice(self._names, self._built, self._built + 128)):
                del self._names[old]

    def _used(self, key):
        """The first number that a name is free with. What was given as name_1, name_2 ... is known by the name's own
        count: a loop that opens a scope in each pass needs no memory of them all."""
        count = self._names.get(key, 0)
        if count == 0:
            base, _, number = key.rpartition("_")
            if number.isdecimal() and number[0] != "0" and int(number) < self._names.get(base, 0):
                return 1
        return count

    @contextlib.contextmanager
    def name_scope(self, name):
        with _scope_in(self, name) as full:
            yield full

    def _waited_for(self, item, node):
        """The node to wait for: of an op of a graph around this one, a value that comes after it."""
        if item.graph is self:
            return node
        with item.graph.as_default(), item.graph.control_dependencies([item]):
            after = _core.raw.Identity(_core.convert(False))
        with self.as_default():
            return _core.raw.Identity(after)._edge[1]

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Ops added inside run after these."""
        if control_inputs is None:
            before = self._after([])
        else:
            nodes = []
            for item in control_inputs:
                if hasattr(item, "_as_graph_element"):
                    item = getattr(item, "_assignment", None) or item._as_graph_element()
                if isinstance(item, Operation):
                    nodes.append(self._waited_for(item, item._node))
                elif isinstance(item, _core.Tensor):
                    if _core.is_symbolic(item):
                        nodes.append(self._waited_for(item, item._edge[1]))
                elif hasattr(item, "handle"):
                    continue
                elif item is not None:
                    raise TypeError(f"Control input must be an Operation, a Tensor, or IndexedSlices, got {item!r}")
            old = self._after([])
            before = old
            self._after(old + [n for n in nodes if n not in old])
        try:
            yield
        finally:
            self._after(before)

    def device(self, name):
        """Ops added inside are wanted on this device."""
        check_device(name, False)
        return devices.scope(self, name)

    @contextlib.contextmanager
    def colocate_with(self, op, ignore_existing=False):
        yield

    @contextlib.contextmanager
    def gradient_override_map(self, op_type_map):
        raise NotImplementedError("gradient_override_map: use tf.custom_gradient, which works in graphs too")
        yield

    def as_graph_def(self, from_version=None, add_shapes=False):
        """The graph as a GraphDef, with its functions in the library."""
        from .graph_def import graph_def  # needs the package protobuf, which most programs never load

        return graph_def(self, add_shapes)

    def __repr__(self):
        return f"<{type(self).__name__} of {self._nodes()} ops>"

    def __enter__(self):
        raise TypeError("use `with graph.as_default():`")


Graph.__module__ = "tensorflow.python.framework.ops"


_SHARED = ("variables", "local_variables", "trainable_variables")


class FuncGraph(Graph):
    """The body of a function: what tensors from around it are used inside is captured. It sees the collections of the graph
    around it: those of `collections`, a graph, or copies, of which those of variables are shared."""

    building_function = True

    def __init__(self, name, collections=None, capture_by_value=None, structured_input_signature=None):
        super().__init__()
        self.name = name
        self.structured_input_signature = structured_input_signature
        self.structured_outputs = None
        self.variables = ()
        self._set_function(True)
        around = _core.current_graph()
        if around is self:  # the engine was tracing into it before it had an object
            around = _stack.graphs[-1] if _stack.graphs else None
        if collections is not None:
            self._collections, self._weakly = collections._collections, collections._weakly
        elif around is not None and around._collections:
            self._collections = {key: values if key in _SHARED else list(values) for key, values in around._collections.items()}

    def _operation(self, node):
        """Held weakly: a trace ends with its function, not with the next garbage collection."""
        known = self._ops.get(node)
        found = known() if known is not None else None
        if found is None:
            found = Operation(self, node)
            self._ops[node] = weakref.ref(found)
        return found

    def _keep_operation(self, operation):
        self.__dict__.setdefault("_kept", []).append(operation)

    @property
    def inputs(self):
        return self._function_inputs()

    @property
    def outputs(self):
        return self._function_outputs()

    @property
    def captures(self):
        return [(t, None) for t in self._captures()]

    @property
    def external_captures(self):
        return self._captures()

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if getattr(v, "trainable", False))

    def capture(self, tensor, name=None):
        """The tensor of this graph that stands for one from around it."""
        return self._import(tensor)


FuncGraph.__module__ = "tensorflow.python.framework.func_graph"
offer(FuncGraph, "__internal__.FuncGraph")


# ---- the default graph ------------------------------------------------------------------------------


def global_default_graph():
    """The graph of v1 programs that never made one."""
    if _global_default[0] is None:
        _global_default[0] = Graph()
    return _global_default[0]


@export("compat.v1.get_default_graph")
def get_default_graph():
    """The graph ops are added to, or would be."""
    current = _core.current_graph()
    if current is not None:
        return current
    return _stack.graphs[-1] if _stack.graphs else global_default_graph()


def plain_graph():
    """The innermost graph being built that is no function's body; None if ops outside functions run eagerly."""
    current = _core.current_graph()
    if current is None or not current.building_function:
        return current
    return next((g for g in reversed(_stack.graphs) if not g.building_function), None)


@export("compat.v1.reset_default_graph")
def reset_default_graph():
    """Forgets the global default graph."""
    if _stack.graphs and not _eager_off[0]:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, "
                             "exit the nesting and create a new graph.")
    if _eager_off[0]:
        _leave_permanently()
        _global_default[0] = None
        _enter_permanently()
    else:
        _global_default[0] = None


_permanent = [None]


def _enter_permanently():
    graph = global_default_graph()
    _permanent[0] = (graph, graph._enter_scope())


def _leave_permanently():
    graph, entered = _permanent[0]
    graph._leave_scope(entered)
    _permanent[0] = None


@export("compat.v1.disable_eager_execution")
def disable_eager_execution():
    """From now on ops outside any graph are added to the default graph."""
    if _eager_off[0]:
        return
    if _core.current_graph() is not None:
        raise ValueError("tf.disable_eager_execution must be called at program startup.")
    _eager_off[0] = True
    _enter_permanently()


@export("compat.v1.enable_eager_execution")
def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Undoes disable_eager_execution."""
    if _eager_off[0]:
        _leave_permanently()
        _eager_off[0] = False


@export("executing_eagerly", "compat.v1.executing_eagerly")
def executing_eagerly():
    """Whether ops run eagerly."""
    return _core.executing_eagerly()


@export("compat.v1.executing_eagerly_outside_functions")
def executing_eagerly_outside_functions():
    """Whether ops outside all functions run eagerly, and do not go to a graph."""
    return plain_graph() is None and not _eager_off[0]


@export("inside_function")
def inside_function():
    """Whether a function is being traced."""
    return getattr(_core.current_graph(), "building_function", False)


@export("init_scope")
@contextlib.contextmanager
def init_scope():
    """Leaves the functions being traced: ops inside run eagerly (or are added to the outer v1 graph)."""
    current = _core.current_graph()
    if current is None or not current.building_function:
        yield
        return
    suspended = _core.suspend()
    scope = _core.set_scope("")
    graphs, _stack.graphs = _stack.graphs, []
    entered = None
    outer = next((g for g in reversed(graphs) if not g.building_function), None)
    if outer is not None:
        entered = outer._enter_scope()
        _core.set_scope(scope)  # names keep the scope they are asked for in
    eager_scope, _local.eager_scope = getattr(_local, "eager_scope", ""), scope
    try:
        yield
    finally:
        _local.eager_scope = eager_scope
        if outer is not None:
            outer._leave_scope(entered)
        _stack.graphs = graphs
        _core.set_scope(scope)
        _core.resume(suspended)


@contextlib.contextmanager
def eagerly():
    """Leaves every graph, also one of a session: ops inside run immediately. For values that are known already."""
    suspended, scope = _core.suspend(), _core.set_scope("")
    try:
        yield
    finally:
        _core.set_scope(scope)
        _core.resume(suspended)


# ---- names ------------------------------------------------------------------------------------------------


def _core_scope():
    scope = _core.set_scope("")
    _core.set_scope(scope)
    return scope


_ROOT = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_NESTED = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class _scope_in:
    """Enters a name scope of a graph."""

    __slots__ = ("graph", "name", "before")

    def __init__(self, graph, name):
        self.graph = graph
        self.name = name

    def __enter__(self):
        before = self.before = _core_scope()
        name = self.name
        if not name:
            _core.set_scope("")
            return ""
        if not (_NESTED if before else _ROOT).match(name):
            raise ValueError(f"{name!r} is not a valid {'scope' if before else 'root scope'} name")
        if name.endswith("/"):
            full = name
        else:
            full = (self.graph.unique_name(name) if self.graph is not None else before + name) + "/"
        _core.set_scope(full)
        return full

    def __exit__(self, *unused):
        _core.set_scope(self.before)
        return False


@export("name_scope", "compat.v2.name_scope")
class name_scope:
    """Puts the ops made inside under `name/`. Eagerly it costs next to nothing."""

    __slots__ = ("_name", "_inner")

    def __init__(self, name):
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._inner = []

    @property
    def name(self):
        return self._name

    def __enter__(self):
        graph = _core.current_graph()
        if graph is None:
            before = getattr(_local, "eager_scope", "")
            self._inner.append(before)
            name = self._name
            _local.eager_scope = name if name.endswith("/") else (before + name + "/" if name else "")
            return _local.eager_scope
        inner = _scope_in(graph, self._name)
        full = inner.__enter__()
        self._inner.append(inner)
        return full

    def __exit__(self, *unused):
        inner = self._inner.pop()
        if isinstance(inner, str):
            _local.eager_scope = inner
        else:
            inner.__exit__()
        return False


def current_scope():
    """The present name scope, with its slash; "" outside all."""
    if _core.current_graph() is None:
        return getattr(_local, "eager_scope", "")
    return _core_scope()


@export("control_dependencies", "compat.v1.control_dependencies")
def control_dependencies(control_inputs):
    """Ops made inside run after `control_inputs`; eagerly everything has run already."""
    graph = _core.current_graph()
    if graph is None:
        for item in control_inputs if isinstance(control_inputs, (list, tuple)) else [control_inputs]:
            if callable(item):
                item()
        return contextlib.nullcontext()
    return graph.control_dependencies(control_inputs)


@export("group", "compat.v1.group")
def group(*inputs, **kwargs):
    """An op that runs all of `inputs`; None eagerly."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}")
    if _core.current_graph() is None:
        return None
    items = [i for i in nest.flatten(list(inputs), expand_composites=True) if i is not None]
    with control_dependencies(items):
        return _core.raw.NoOp(name=name or "group_deps")


@export("no_op", "compat.v1.no_op")
def no_op(name=None):
    """An op that does nothing."""
    return _core.raw.NoOp(name=name)


def start():
    _core.register(graph_class=Graph, operation_class=Operation, operation=lambda graph, node: graph._operation(node))
