"""Graph variables: a handle, an initializer op, and a tensor that reads the value.

The value belongs to a session: every session has its own, found by the variable's name.
"""
from ... import _core, dtypes, graph as graphs, variable
from ...control import cond
from ...composite import IndexedSlices
from ...namespace import export, offer
from ...default_session import default_session
from ...shapes import TensorShape
from ._keys import GraphKeys, get_collection
from ._switches import resource_variables_enabled

raw = _core.raw
AUTO, NO_AGGREGATION = variable.VariableSynchronization.AUTO, variable.VariableAggregation.NONE
scope_use_resource = [lambda: None]  # _scopes.py sets it: returns `use_resource` of the current variable scope


def is_reference(use_resource):
    """Whether a variable created with this argument behaves as a reference variable of TensorFlow 1."""
    if use_resource is None:
        use_resource = scope_use_resource[0]()
    return not (resource_variables_enabled() if use_resource is None else use_resource)


class GraphVariable(variable.Variable):
    """A variable of a graph; sessions hold its values.

    Fetched together with an op that changes it, a resource variable gives the value before the change. TensorFlow's
    reference variables (`use_resource=False`, the default of TensorFlow 1) give the value that the run leaves behind,
    because the fetch shares the variable's memory. `_reference` tells them apart; the rest is the same."""

    _reference = False

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None, synchronization=AUTO,
                 aggregation=NO_AGGREGATION, shape=None, experimental_enable_variable_lifting=True, collections=None,
                 absolute_name=False, reference=False):
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        if constraint is not None and not callable(constraint):
            raise ValueError("Argument `constraint` must be None or a callable.")
        synchronization, aggregation, trainable = variable.distribution(synchronization, aggregation, trainable, name)
        if reference:
            self._reference = True
        self._trainable = trainable
        self.constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        self._validate_shape = validate_shape
        name = name.decode("utf-8") if isinstance(name, bytes) else name
        with graphs.init_scope():
            graph = _core.current_graph()
            with graph.control_dependencies(None):
                self._build(graph, initial_value, name or "Variable", dtype, shape, absolute_name)
                self._cached = None if caching_device is None else self._cache(graph, caching_device)
        if collections is None:
            collections = [GraphKeys.GLOBAL_VARIABLES]
        if not isinstance(collections, (list, tuple, set)):
            raise ValueError(f"collections argument to Variable constructor must be a list, tuple, or set. Got "
                             f"{collections} of type {type(collections)}")
        if self._trainable and GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = list(collections) + [GraphKeys.TRAINABLE_VARIABLES]
        graph.add_to_collections(collections, self)

    def _build(self, graph, initial_value, name, dtype, shape, absolute_name):
        before = graphs.current_scope()
        if absolute_name:
            _core.set_scope("")
        full = graph.unique_name(name)
        try:
            _core.set_scope(full + "/Initializer/")
            value = initial_value() if callable(initial_value) else initial_value
            if isinstance(value, _core.VariableBase):
                value = value.value()
            if isinstance(value, _core.Tensor) and dtype is not None and value.dtype != dtypes.as_dtype(dtype):
                raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with "
                                 f"dtype {value.dtype.name}: {value}")
            value = _core.convert(value, None if dtype is None else dtypes.as_dtype(dtype))
            if not _core.is_symbolic(value):
                value = raw.Const(value=value, dtype=value.dtype, name="initial_value")
            dims = TensorShape(_core.static_shape(value))
            if shape is not None:
                shape = TensorShape(shape)
                if not shape.is_compatible_with(dims):
                    raise ValueError(f"The initial value's shape ({dims}) is not compatible with the explicitly "
                                     f"supplied `shape` argument ({shape}).")
            elif self._validate_shape:
                shape = dims
                if not shape.is_fully_defined() and shape.rank is None:
                    raise ValueError(f"initial_value must have a shape specified: {value}")
            else:
                shape = TensorShape(None)
            _core.set_scope("")
            self._handle_name = full
            self._scoped_name = self._unique_id = full
            handle = raw.VarHandleOp(dtype=value.dtype, shape=shape, shared_name=full, name=full + "/")
            self._adopt(handle, value.dtype, shape)
            self._initial_value = value
            _core.set_scope(full + "/")
            self._initializer_op = raw.AssignVariableOp(handle, value, name="Assign")
            self._graph_element = raw.ReadVariableOp(handle, value.dtype, name="Read/ReadVariableOp")
        finally:
            _core.set_scope(before)

    def _cache(self, graph, device):
        """Makes a copy of the value on another device, which all reads of the variable use."""
        with graph.device(device), graphs.name_scope(self._handle_name + "/"):
            return raw.Identity(self._graph_element)

    def value(self):
        """The value; with a caching device, the copy on that device."""
        return super().value() if self._cached is None else self._cached

    # ---- what it is

    @property
    def graph(self):
        return self.handle.graph

    @property
    def initializer(self):
        """The op that initializes the variable."""
        return self._initializer_op

    @property
    def initial_value(self):
        return self._initial_value

    @property
    def device(self):
        return self.handle.device

    @property
    def create(self):
        return self._initializer_op

    def _as_graph_element(self):
        return self._graph_element

    def is_initialized(self, name=None):
        """Whether the running session has a value for it."""
        return self._inside(lambda: raw.VarIsInitializedOp(self.handle, name=name))

    def numpy(self):
        raise NotImplementedError("numpy() is only available when eager execution is enabled.")

    def eval(self, session=None):
        """The value in `session` or the default one."""
        return default_session(session).run(self._graph_element)

    def load(self, value, session=None):
        """Sets the value in `session` or the default one."""
        default_session(session).run(self._initializer_op, {self._initial_value: value})

    def initialized_value(self):
        """The value if the variable is initialized, else the initial value."""
        return cond(self.is_initialized(), self.value, lambda: raw.Identity(self._initial_value))

    def __repr__(self):
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __iter__(self):
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __deepcopy__(self, memo):
        raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")

    def __reduce__(self):
        raise NotImplementedError("a variable of a graph cannot be pickled: sessions hold its values")

    # ---- changing it

    def _inside(self, make):
        """Calls `make`, in the variable's graph if no graph is being built."""
        if _core.current_graph() is not None:
            return make()
        with self.graph.as_default():
            return make()

    def _done(self, op, read_value):
        if op is None or not read_value:
            return op
        if op.graph.building_function:
            made = self._again(_Unread)
            made._assignment = op
            if not op.graph.runs_all:  # whoever reads the result needs the assignment, which does not run by itself
                with op.graph.control_dependencies([op]):
                    made._adopt(raw.Identity(self.handle), self.dtype, self.shape)
            return made
        with op.graph.control_dependencies([op]):
            return raw.ReadVariableOp(self.handle, self.dtype)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """An op that sets the value; as a tensor it is the new value."""
        return self._inside(lambda: super(GraphVariable, self).assign(value, use_locking, name, read_value))

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """An op that adds `delta`; as a tensor it is the new value."""
        return self._inside(lambda: super(GraphVariable, self).assign_add(delta, use_locking, name, read_value))

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """An op that subtracts `delta`; as a tensor it is the new value."""
        return self._inside(lambda: super(GraphVariable, self).assign_sub(delta, use_locking, name, read_value))

    def _scatter(self, op, sparse_delta, name):
        return self._inside(lambda: super(GraphVariable, self)._scatter(op, sparse_delta, name))

    def _scatter_nd(self, op, indices, updates, name):
        return self._inside(lambda: super(GraphVariable, self)._scatter_nd(op, indices, updates, name))


class _Unread(GraphVariable):
    """The result of an assignment in a function."""

    __slots__ = ("_assignment",)
    op = property(lambda self: self._assignment, doc="The assignment.")


_Unread.__name__, _Unread.__module__ = "_UnreadVariable", GraphVariable.__module__
GraphVariable.__module__ = "tensorflow.python.ops.resource_variable_ops"
GraphVariable.__name__ = "ResourceVariable"
variable.graph_variable[0] = GraphVariable


class _Maker(type):
    """The metaclass of VariableV1: a call creates a graph variable or, with eager execution, an eager one."""

    def __call__(cls, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None, synchronization=AUTO, aggregation=NO_AGGREGATION, shape=None):
        given = dict(initial_value=initial_value, trainable=trainable, validate_shape=validate_shape, name=name,
                     dtype=dtype, constraint=constraint, synchronization=synchronization, aggregation=aggregation,
                     shape=shape if shape is not None else expected_shape)
        if graphs.plain_graph() is not None:
            return GraphVariable(collections=collections, caching_device=caching_device,
                                 reference=is_reference(use_resource), **given)
        return variable.Variable(**given)

    def __instancecheck__(cls, instance):
        return isinstance(instance, variable.Variable)

    def __subclasscheck__(cls, subclass):
        return issubclass(subclass, variable.Variable)


@export("compat.v1.Variable")
class VariableV1(metaclass=_Maker):
    """tf.Variable with the arguments of TensorFlow 1."""


# ---- lists of variables ---------------------------------------------------------------------------------


@export("compat.v1.global_variables", "compat.v1.all_variables")
def global_variables(scope=None):
    """Variables of the default graph that are shared and saved."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


@export("compat.v1.local_variables")
def local_variables(scope=None):
    """Variables of the default graph that are not saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


@export("compat.v1.model_variables")
def model_variables(scope=None):
    """Variables that layers created."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


@export("compat.v1.trainable_variables")
def trainable_variables(scope=None):
    """Variables that optimizers train."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


@export("compat.v1.moving_average_variables")
def moving_average_variables(scope=None):
    """Variables that have a moving average."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


@export("compat.v1.variables_initializer", "compat.v1.initialize_variables", "compat.v1.initializers.variables")
def variables_initializer(var_list, name="init"):
    """An op that initializes the variables of `var_list`."""
    if var_list and not _core.executing_eagerly():
        return graphs.group(*[v.initializer for v in var_list if hasattr(v, "_initializer_op")], name=name)
    return graphs.group(name=name)


@export("compat.v1.global_variables_initializer", "compat.v1.initialize_all_variables",
        "compat.v1.initializers.global_variables")
def global_variables_initializer():
    """An op that initializes all global variables."""
    return _initializer(global_variables)


@export("compat.v1.local_variables_initializer", "compat.v1.initialize_local_variables",
        "compat.v1.initializers.local_variables")
def local_variables_initializer():
    """An op that initializes all local variables."""
    return _initializer(local_variables)


def _initializer(listed):
    if _core.current_graph() is not None:
        return variables_initializer(listed())
    graph = graphs.get_default_graph()  # with eager execution, the variables of the default graph, if any
    with graph.as_default():
        return variables_initializer(listed())


@export("compat.v1.is_variable_initialized")
def is_variable_initialized(variable):  # noqa: A002
    """A bool tensor: whether the variable has a value."""
    return variable.is_initialized()


@export("compat.v1.report_uninitialized_variables")
def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """A 1-D string tensor with the names of variables that have no value yet."""
    if var_list is None:
        var_list = global_variables() + local_variables()
    if not var_list:
        return _core.convert([], dtypes.string)
    missing = raw.LogicalNot(raw.Pack([v.is_initialized() for v in var_list]))
    names = _core.convert([v.op.name for v in var_list], dtypes.string)
    return raw.GatherV2(names, raw.Squeeze(raw.Where(missing), squeeze_dims=[1]), 0)


@export("compat.v1.assert_variables_initialized")
def assert_variables_initialized(var_list=None):
    """An op that fails if a variable has no value."""
    var_list = global_variables() + local_variables() if var_list is None else var_list
    return graphs.group(*[v.value() for v in var_list])


# ---- changing variables by functions --------------------------------------------------------------------


@export("compat.v1.assign")
def assign(ref, value, validate_shape=None, use_locking=None, name=None):
    """Sets a variable."""
    return ref.assign(value, name=name)


@export("compat.v1.assign_add")
def assign_add(ref, value, use_locking=None, name=None):
    """Adds to a variable."""
    return ref.assign_add(value)


@export("compat.v1.assign_sub")
def assign_sub(ref, value, use_locking=None, name=None):
    """Subtracts from a variable."""
    return ref.assign_sub(value)


def _scatters():
    def by_slices(method):
        def scatter(ref, indices, updates, use_locking=False, name=None):
            return getattr(ref, method)(IndexedSlices(_core.convert(updates, ref.dtype), _core.convert(indices)),
                                        name=name)
        scatter.__name__ = method
        scatter.__doc__ = f"{method} on rows of a variable. Returns the new value."
        return scatter

    def by_nd(method):
        def scatter(ref, indices, updates, use_locking=True, name=None):
            return getattr(ref, method)(indices, updates, name=name)
        scatter.__name__ = method
        scatter.__doc__ = f"{method} on a variable. Returns the new value."
        return scatter

    for word in ("add", "sub", "mul", "div", "min", "max", "update"):
        offer(by_slices(f"scatter_{word}"), f"compat.v1.scatter_{word}")
    for word in ("add", "sub", "update", "min", "max"):
        offer(by_nd(f"scatter_nd_{word}"), f"compat.v1.scatter_nd_{word}")


_scatters()
