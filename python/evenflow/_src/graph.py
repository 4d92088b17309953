"""tf.Graph and FuncGraph on top of the engine's graph, the default graph, name scopes and control dependencies."""
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



class _Stack(threading.local):
    """The stack of graphs that this thread has made default; the innermost is last."""

    def __init__(self):
        self.graphs = []


_stack = _Stack()
_global_default = [None]  # the default graph of programs that do not create one
_eager_off = [False]


class _AsDefault(contextlib.ContextDecorator):
    """The context manager that `graph.as_default()` returns."""

    __slots__ = ("graph", "entered")

    def __init__(self, graph):
        self.graph, self.entered = graph, None

    def __enter__(self):
        if self.entered is not None:
            raise RuntimeError("this graph.as_default() has been entered already; call as_default() once for each `with`")
        self.entered = self.graph._enter_scope()
        return self.graph

    def __exit__(self, kind=True, *_):
        self.graph._leave_scope(self.entered, kind)

    def _recreate_cm(self):  # as a decorator, each call of the function enters again
        return _AsDefault(self.graph)


@export("Graph")
class Graph(_core.GraphBase):
    """A graph of ops. `with graph.as_default():` adds the ops called inside to it."""

    building_function = False
    runs_all = False  # whether an op with side effects runs although no result depends on it

    def __init__(self):
        self._collections = {}
        self._weakly = {}  # collection -> {address: weak reference}, of values that the collection does not keep alive
        self._scope = ""
        self._seed = None
        self._last_id = 0
        self._finalized = False
        self._names = {}
        self._built = None  # the number of names when the graph began to remove ops
        self._lock = threading.RLock()

    @classmethod
    def _around(cls, name, function):
        """A Python object for an engine graph that has none, because the engine made it or because the object was freed."""
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
        # A plain graph captures nothing from the graphs around it, so these are suspended. The same holds for a graph that is
        # on the stack already, further out.
        if not self.building_function or any(g is self for g in graphs):
            suspended = _core.suspend()
        try:
            entered = [suspended, None, depth]  # allocated before _enter, so that no failure can follow it
            graphs.append(self)
            self._enter()
        except BaseException:
            if _core.current_graph() is self:  # a signal handler raised after it was entered
                self._leave()
            del graphs[depth:]
            if suspended is not None:
                _core.resume(suspended)
            raise
        entered[1] = _core.set_scope(self._scope)
        return entered

    def _leave_scope(self, entered, raised=True):
        """raised: None if no exception leaves the scope."""
        suspended, scope, depth = entered
        if raised is not None and sys.exc_info()[0] is not None:
            self._leave_inner()
        del _stack.graphs[depth:]
        if scope is None:
            return
        self._scope = _core.set_scope(scope)
        self._leave()
        if suspended is not None:
            _core.resume(suspended)

    def _leave_inner(self):
        """Leaves the inner graphs that were entered by a `with` whose block never began, because a signal handler raised."""
        while (inner := _core.current_graph()) is not None and inner is not self:
            inner._leave()

    def _operation(self, node):
        found = self._ops.get(node)
        if found is None:
            found = self._ops[node] = Operation(self, node)
        return found

    def _keep_operation(self, operation):
        """Called for an Operation with attributes that its node does not have. A FuncGraph overrides it to keep it alive."""

    def get_operations(self):
        """All ops, in the order in which they were added."""
        return [self._operation(k) for k in range(self._nodes()) if not self._gone(k)]

    def get_operation_by_name(self, name):
        """The op called `name`. Raises KeyError if there is none and ValueError for the name of a tensor."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        if ":" in name:
            raise ValueError(f"Name {name!r} appears to refer to a Tensor, not a Operation.")
        node = self._find(name)
        if node < 0:
            for k in range(self._nodes()):  # an op gets its name when it is first read
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
        """The tensor called `op:output`. Raises KeyError if there is none and ValueError if the name is malformed."""
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
        """The tensor or op of this graph that `obj`, which may be a name, refers to."""
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
        """Adds a value to a collection by weak reference, so that a graph that grows in a loop can free it."""
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
        """Makes the graph read-only: adding an op raises an error from now on."""
        self._finalized = True
        self._finalize()

    def _unsafe_unfinalize(self):
        """Undoes `finalize`, for a caller that finalized a graph temporarily."""
        self._finalized = False
        self._unfinalize()

    def is_feedable(self, tensor):
        return True

    def is_fetchable(self, tensor):
        return True

    def unique_name(self, name, mark_as_used=True):
        """`name` in the current name scope, with a suffix _1, _2, ... if it is taken."""
        full = (_core.current_scope() + name) if _core.current_graph() is self else self._scope + name
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
        """Removes old scope names, so that a loop that opens a scope in each iteration does not fill the table. The names of
        existing nodes stay unique, because unique_name also looks them up in the graph."""
        if self._built is None:
            self._built = len(self._names)
        if len(self._names) > self._built + 256:
            for old in list(itertools.islice(self._names, self._built, self._built + 128)):
                del self._names[old]

    def _used(self, key):
        """The first suffix with which a name is free. name_1, name_2, ... are not stored: they follow from the count of the
        name itself, so a loop that opens a scope in each iteration needs constant memory."""
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
        """The node of this graph to depend on. For an op of an outer graph, it is a captured value that depends on the op."""
        if item.graph is self:
            return node
        with item.graph.as_default(), item.graph.control_dependencies([item]):
            after = _core.raw.Identity(_core.convert(False))
        with self.as_default():
            return _core.raw.Identity(after)._edge[1]

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Ops that are added inside run after `control_inputs`."""
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
        """Ops that are added inside are placed on this device."""
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


variable_of = [None]  # the function from a handle to its variable, from variable.py
_SHARED = ("variables", "local_variables", "trainable_variables")


class FuncGraph(Graph):
    """The graph of a function body. It captures tensors of outer graphs that are used inside. It has the collections of the
    graph `collections`; without it, copies of those of the outer graph, except that collections of variables are shared."""

    building_function = True
    runs_all = True

    def __init__(self, name, collections=None, capture_by_value=None, structured_input_signature=None):
        super().__init__()
        self.name = name
        self.structured_input_signature = structured_input_signature
        self.structured_outputs = None
        self._set_function(True)
        around = _core.current_graph()
        if around is self:  # the engine began tracing into it before this object existed
            around = _stack.graphs[-1] if _stack.graphs else None
        if collections is not None:
            self._collections, self._weakly = collections._collections, collections._weakly
        elif around is not None and around._collections:
            self._collections = {key: values if key in _SHARED else list(values) for key, values in around._collections.items()}

    def _operation(self, node):
        """The Operation of a node. It is held by weak reference, since a reference cycle would keep the trace alive until the
        next garbage collection."""
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
    def variables(self):
        """The variables of outer graphs and of the eager program that the function uses."""
        found = (variable_of[0](t) for t in self._captures() if t.dtype.name == "resource")
        return tuple(v for v in found if v is not None)

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if getattr(v, "trainable", False))

    def capture(self, tensor, name=None):
        """The tensor of this graph that represents a tensor of an outer graph."""
        return self._import(tensor)


FuncGraph.__module__ = "tensorflow.python.framework.func_graph"
offer(FuncGraph, "__internal__.FuncGraph")


# ---- the default graph ------------------------------------------------------------------------------


def global_default_graph():
    """The default graph of TensorFlow 1 programs that do not create one."""
    if _global_default[0] is None:
        _global_default[0] = Graph()
    return _global_default[0]


@export("compat.v1.get_default_graph")
def get_default_graph():
    """The graph that ops are added to or, when they run eagerly, would be added to."""
    current = _core.current_graph()
    if current is not None:
        return current
    return _stack.graphs[-1] if _stack.graphs else global_default_graph()


def plain_graph():
    """The innermost graph being built that is no FuncGraph; None if ops outside functions run eagerly."""
    current = _core.current_graph()
    if current is None or not current.building_function:
        return current
    return next((g for g in reversed(_stack.graphs) if not g.building_function), None)


@export("compat.v1.reset_default_graph")
def reset_default_graph():
    """Replaces the global default graph by an empty one."""
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
    """Whether ops outside all functions run eagerly instead of being added to a graph."""
    return plain_graph() is None and not _eager_off[0]


@export("inside_function")
def inside_function():
    """Whether a function is being traced."""
    return getattr(_core.current_graph(), "building_function", False)


@export("init_scope")
@contextlib.contextmanager
def init_scope():
    """Leaves the functions being traced: ops inside run eagerly, or are added to the graph of a TensorFlow 1 program."""
    current = _core.current_graph()
    if current is None or not current.building_function:
        yield
        return
    suspended = _core.suspend()
    scope = _core.set_scope("")
    graphs, _stack.graphs = _stack.graphs, []
    entered = None
    outer = next((g for g in reversed(graphs) if not g.building_function), None)
    eager_scope = _core.eager_scope()
    _core.set_eager_scope(scope)
    try:
        if outer is not None:
            entered = (outer._enter_scope(),)
            _core.set_scope(scope)  # names keep the scope in which init_scope was entered
        yield
    finally:
        _core.set_eager_scope(eager_scope)
        if entered is not None:
            outer._leave_scope(*entered)
        _stack.graphs = graphs
        _core.set_scope(scope)
        _core.resume(suspended)


@contextlib.contextmanager
def eagerly():
    """Leaves every graph, also that of a TensorFlow 1 program: ops inside run immediately."""
    suspended, scope = _core.suspend(), _core.set_scope("")
    try:
        yield
    finally:
        _core.set_scope(scope)
        _core.resume(suspended)


# ---- names ------------------------------------------------------------------------------------------------


_ROOT = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_NESTED = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class _scope_in:
    """Enters a name scope of a graph."""

    __slots__ = ("graph", "name", "before")

    def __init__(self, graph, name):
        self.graph = graph
        self.name = name

    def __enter__(self):
        before = self.before = _core.current_scope()
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
class name_scope(_core.NameScopeBase):
    """Prefixes the names of ops that are created inside with `name/`. Eagerly it only stores the scope."""

    __slots__ = ()

    def _in_graph(self):
        return _scope_in(_core.current_graph(), self.name)

    def __reduce__(self):
        return type(self), (self.name,)  # a copy has not been entered


def current_scope():
    """The current name scope with its trailing slash; "" outside of all scopes."""
    if _core.current_graph() is None:
        return _core.eager_scope()
    return _core.current_scope()


@export("get_current_name_scope")
def get_current_name_scope():
    """The current name scope without a trailing slash; "" outside of all scopes."""
    return current_scope().rstrip("/")


@export("control_dependencies", "compat.v1.control_dependencies")
def control_dependencies(control_inputs):
    """Ops that are created inside run after `control_inputs`. Eagerly nothing is to be done: these have run already."""
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
