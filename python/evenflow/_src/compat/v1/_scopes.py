"""Variable scopes and get_variable: variables are shared by name, and a scope has the defaults for new ones."""
import contextlib
import inspect
import threading

from ... import _core, dtypes, graph as graphs, variable
from ...namespace import export, offer
from ...shapes import TensorShape
from ._initializers import GlorotUniform, Zeros
from ._keys import GraphKeys
from ._variables import AUTO, NO_AGGREGATION, GraphVariable, VariableV1, is_reference, scope_use_resource


class _Reuse:
    """tf.compat.v1.AUTO_REUSE: reuse the variable if it exists, else create it."""

    name, value = "AUTO_REUSE", 1

    def __repr__(self):
        return "<_ReuseMode.AUTO_REUSE: 1>"


AUTO_REUSE = offer(_Reuse(), "compat.v1.AUTO_REUSE")


class _Scopes(threading.local):
    """The current variable scope of a thread, and how often the thread has opened each scope."""

    def __init__(self):
        self.opened = {}
        self.scope = None


class _Store:
    """The variables of a graph by full name. Each thread has its own scopes."""

    def __init__(self):
        self.variables = {}
        self.scopes = _Scopes()

    @property
    def opened(self):
        """{name of a scope: how often this thread has opened it}."""
        return self.scopes.opened

    @opened.setter
    def opened(self, counts):
        self.scopes.opened = counts

    def unique(self, scope, prefix):
        """The name of `prefix` in `scope`, with a suffix _1, _2, ... if it was opened before."""
        full = f"{scope}/{prefix}" if scope else prefix
        if not self.opened.get(full, 0):
            return prefix
        k = 1
        while self.opened.get(f"{full}_{k}", 0):
            k += 1
        return f"{prefix}_{k}"

    def open(self, name):
        self.opened[name] = self.opened.get(name, 0) + 1

    def close_below(self, name):
        for other in list(self.opened):
            if name == "" or other.startswith(name + "/"):
                self.opened[other] = 0


class _EagerStore(threading.local):
    """The store for eager execution: scopes only prefix names, and variables are not shared."""

    def __init__(self):
        self.store = _Store()


_eager = _EagerStore()


def _store():
    """The store of the graph being built. Bodies of branches and loops use the store of the surrounding graph."""
    graph = graphs.plain_graph() or _core.current_graph()
    if graph is None:
        return _eager.store
    return graph.__dict__.setdefault("_variable_store", _Store())


@export("compat.v1.get_variable_scope")
def get_variable_scope():
    """The current variable scope."""
    scopes = _store().scopes
    if scopes.scope is None:
        scopes.scope = VariableScope(False)
    return scopes.scope


scope_use_resource[0] = lambda: get_variable_scope().use_resource


def _set_scope(scope):
    _store().scopes.scope = scope


@export("compat.v1.VariableScope")
class VariableScope:
    """The defaults of get_variable: name prefix, reuse, initializer, regularizer and others."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, name_scope="", dtype=dtypes.float32, use_resource=None, constraint=None):
        self._name = name
        self._initializer = initializer
        self._regularizer = regularizer
        self._reuse = reuse
        self._caching_device = caching_device
        self._partitioner = None
        self._custom_getter = custom_getter
        self._name_scope = name_scope
        self._dtype = dtype
        self._use_resource = use_resource
        self._constraint = constraint
        self.set_partitioner(partitioner)

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self):
        """From now on get_variable only finds existing variables in this scope."""
        self._reuse = True

    def set_initializer(self, initializer):
        self._initializer = initializer

    def set_dtype(self, dtype):
        self._dtype = dtype

    def set_use_resource(self, use_resource):
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        self._caching_device = caching_device

    def set_custom_getter(self, custom_getter):
        self._custom_getter = custom_getter

    def set_partitioner(self, partitioner):
        """Raises NotImplementedError: partitioned variables are not supported."""
        if partitioner is not None:
            raise NotImplementedError("partitioned variables are not supported; leave `partitioner` out")

    def get_collection(self, name):
        """The members of a collection whose names are in this scope."""
        return graphs.get_default_graph().get_collection(name, self._name + "/" if self._name else "")

    def trainable_variables(self):
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, name, **given):
        """get_variable in this scope."""
        return _get(self, name, **given)


# ---- getting a variable -----------------------------------------------------------------------------------


def _default_initializer(name, shape, dtype):
    if dtype.is_floating:
        return GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype is dtypes.string:
        return Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype} is required")


def _found(full, found, shape, dtype, reuse):
    if not reuse:
        raise ValueError(f"Variable {full} already exists, disallowed. Did you mean to set reuse=True or "
                         "reuse=tf.AUTO_REUSE in VarScope?")
    if shape is not None and not TensorShape(shape).is_compatible_with(found.shape):
        raise ValueError(f"Trying to share variable {full}, but specified shape {TensorShape(shape)} and found shape "
                         f"{found.shape}.")
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(found.dtype):
        raise ValueError(f"Trying to share variable {full}, but specified dtype {dtypes.as_dtype(dtype).name} and found "
                         f"dtype {found.dtype.name}.")
    return found


def _takes_nothing(function):
    """Whether a function can be called without arguments, so that it returns the initial value itself."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return False
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters)


def _make(full, shape, dtype, initializer, use_resource, given):
    dtype = dtypes.as_dtype(dtype)
    if initializer is None:
        initializer = _default_initializer(full, shape, dtype)
    if isinstance(initializer, type):
        initializer = initializer()
    if callable(initializer) and shape is None and _takes_nothing(initializer):
        first = initializer
    elif callable(initializer):
        if shape is None or not TensorShape(shape).is_fully_defined():
            raise ValueError(f"Shape of a new variable ({full}) must be fully defined, but instead was "
                             f"{TensorShape(shape) if shape is not None else '<unknown>'}.")
        dims = list(TensorShape(shape)._dims)
        first = lambda: initializer(dims, dtype=dtype)  # noqa: E731
    else:
        value = initializer
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        first = lambda: _core.convert(value)  # noqa: E731
    if graphs.plain_graph() is not None:
        return GraphVariable(first, dtype=None, name=full, absolute_name=True, reference=is_reference(use_resource),
                             **given)
    given.pop("collections")
    made = variable.Variable(first, dtype=None, name=full, **given)
    made._scoped_name = full
    return made


def _true_getter(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None, trainable=None,
                 collections=None, caching_device=None, validate_shape=True, constraint=None, synchronization=AUTO,
                 aggregation=NO_AGGREGATION, use_resource=None, **unused):
    store = _store()
    found = store.variables.get(name)
    if found is not None:
        return _found(name, found, shape, dtype, reuse)
    if reuse is True:
        raise ValueError(f"Variable {name} does not exist, or was not created with tf.get_variable(). Did you mean to "
                         "set reuse=tf.AUTO_REUSE in VarScope?")
    if isinstance(initializer, _core.Tensor):
        dtype = initializer.dtype
    given = dict(trainable=trainable, collections=collections, caching_device=caching_device,
                 validate_shape=validate_shape, constraint=constraint, synchronization=synchronization,
                 aggregation=aggregation)
    made = _make(name, shape, dtype, initializer, use_resource, given)
    if _core.current_graph() is not None:
        store.variables[name] = made
    if regularizer is not None:
        _regularize(name, made, regularizer)
    return made


def _regularize(name, made, regularizer):
    with graphs.name_scope(name + "/Regularizer/"):
        loss = regularizer(made)
    if loss is not None:
        graphs.get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)


def _get(scope, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None, trainable=None,
         collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
         custom_getter=None, constraint=None, synchronization=AUTO, aggregation=NO_AGGREGATION):
    if partitioner is not None:
        raise NotImplementedError("partitioned variables are not supported; leave `partitioner` out")
    name = name.decode("utf-8") if isinstance(name, bytes) else name
    full = f"{scope.name}/{name}" if scope.name else name
    if dtype is None:
        dtype = scope.dtype
    elif initializer is not None and not callable(initializer):
        given = _core.convert(initializer).dtype
        if given != dtypes.as_dtype(dtype).base_dtype:
            raise ValueError(f"Initializer type '{given}' and explicit dtype '{dtype}' don't match.")
    given = dict(shape=shape, dtype=dtype,
                 initializer=scope.initializer if initializer is None else initializer,
                 regularizer=scope.regularizer if regularizer is None else regularizer,
                 reuse=scope.reuse if reuse is None else reuse, trainable=trainable, collections=collections,
                 caching_device=scope.caching_device if caching_device is None else caching_device, partitioner=None,
                 validate_shape=validate_shape, use_resource=use_resource,
                 constraint=scope.constraint if constraint is None else constraint,
                 synchronization=synchronization, aggregation=aggregation)
    if _core.current_graph() is None:
        given["reuse"] = False
    getter = scope.custom_getter if custom_getter is None else custom_getter
    if getter is None:
        return _true_getter(full, **given)
    if not callable(getter):
        raise ValueError(f"Passed a custom_getter which is not callable: {getter}")
    with graphs.name_scope(""):  # ops that a getter creates are outside of the name scope
        return getter(_true_getter, full, **given)


@export("compat.v1.get_variable")
def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=AUTO, aggregation=NO_AGGREGATION):
    """The variable `name` in the current variable scope: an existing one, or a new one."""
    return _get(get_variable_scope(), name, shape, dtype, initializer, regularizer, None, trainable, collections,
                caching_device, partitioner, validate_shape, use_resource, custom_getter, constraint, synchronization,
                aggregation)


@export("compat.v1.get_local_variable")
def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False,
                       collections=None, **given):
    """get_variable for local variables, which are neither trained nor saved."""
    collections = list(collections or ()) + [GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, collections, **given)


# ---- variable scopes ----------------------------------------------------------------------------------------


@export("compat.v1.variable_scope")
class variable_scope:
    """Prefixes the names of the variables that get_variable creates inside, and sets defaults for them."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        if name_or_scope is None and default_name is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if reuse not in (None, False, True, AUTO_REUSE):
            raise ValueError("reuse must be None, False, True or tf.AUTO_REUSE")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"The auxiliary_name_scope must be `True` or `False`, while get {auxiliary_name_scope}")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        self._given = name_or_scope
        self._default_name = default_name
        self._reuse = reuse
        self._auxiliary = auxiliary_name_scope
        self._set = dict(initializer=initializer, regularizer=regularizer, caching_device=caching_device,
                         partitioner=partitioner, custom_getter=custom_getter, dtype=dtype, use_resource=use_resource,
                         constraint=constraint)
        self._values = values

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        graph = next((v.graph for v in self._values or () if _core.is_symbolic(v)), None)
        if graph is not None and _core.current_graph() is None:
            self._stack.enter_context(graph.as_default())
        self._before = outer = get_variable_scope()
        store = self._store = _store()
        given = self._given
        if isinstance(given, VariableScope):
            name, base = given.name, given
            scope_name = name.rpartition("/")[2]
        else:
            if given is None:
                given = store.unique(outer.name, self._default_name)
            name = f"{outer.name}/{given}" if outer.name else given
            base, scope_name = outer, given
        original = base.original_name_scope if isinstance(self._given, VariableScope) else ""
        if not self._auxiliary and not isinstance(self._given, VariableScope):
            original = graphs.current_scope()
        elif self._auxiliary and scope_name:
            full = self._stack.enter_context(graphs.name_scope(scope_name))
            original = original or full
        reuse = self._reuse or (base.reuse if isinstance(self._given, VariableScope) else None) or outer.reuse
        made = VariableScope(reuse, name, base.initializer, base.regularizer, base.caching_device, None,
                             base.custom_getter, original, base.dtype, base.use_resource, base.constraint)
        self._override(made, base)
        self._counts = dict(store.opened)
        store.open(name)
        _set_scope(made)
        self._made = made
        return made

    def _override(self, made, base):
        given = self._set
        made.set_partitioner(given["partitioner"])
        for word in ("initializer", "regularizer", "caching_device", "dtype", "use_resource", "constraint"):
            if given[word] is not None:
                setattr(made, "_" + word, given[word])
        if given["custom_getter"] is not None:
            made._custom_getter = _compose(base.custom_getter, given["custom_getter"])

    def __exit__(self, *unused):
        if get_variable_scope() is not self._made:
            raise RuntimeError("Improper nesting of variable_scope.")
        self._store.close_below(self._made.name)
        _set_scope(self._before)
        if isinstance(self._given, VariableScope):
            self._store.opened = self._counts
        return self._stack.__exit__(*unused)


def _compose(outer, inner):
    """A custom getter that calls `inner` with `outer` as its getter."""
    if outer is None:
        return inner

    def getter(true_getter, *args, **kwargs):
        return inner(lambda *a, **k: outer(true_getter, *a, **k), *args, **kwargs)

    return getter


@export("compat.v1.variable_op_scope")
def variable_op_scope(values, name_or_scope, default_name=None, **given):
    """variable_scope with its arguments in an older order."""
    return variable_scope(name_or_scope, default_name, values, **given)


@export("compat.v1.no_regularizer")
def no_regularizer(tensor):
    """A regularizer that adds no loss, to override that of the scope."""
    return None


@export("compat.v1.variable_creator_scope", "variable_creator_scope")
@contextlib.contextmanager
def variable_creator_scope(variable_creator):
    """Raises NotImplementedError: variable creators cannot be replaced."""
    raise NotImplementedError("variable_creator_scope: variables are always made by the engine; use a custom_getter")
    yield


# ---- name scopes of the first generation -----------------------------------------------------------------------


@export("compat.v1.name_scope", "compat.v1.keras.backend.name_scope")
class name_scope:
    """Prefixes the names of ops with `name`, or with `default_name` if `name` is None. A full name ("a/b/") enters that scope
    again."""

    def __init__(self, name, default_name=None, values=None):
        if not (default_name is None or isinstance(default_name, str)):
            raise TypeError(f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass "
                            "this into the `values` kwarg.")
        if values is not None and name is None and default_name is None:
            raise ValueError("At least one of name and default_name must be provided")
        self._name = default_name if name is None else name
        self._values = values

    @property
    def name(self):
        return self._name

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        around = _core.current_graph()
        if around is None or not around.building_function:
            graph = _graph_of(self._values or ())
            if graph is not None and graph is not around:
                self._stack.enter_context(graph.as_default())
        name = self._name if self._name is not None else ""
        if not isinstance(name, str):
            raise TypeError(f"a name scope must be a string, not {name!r}")
        return self._stack.enter_context(graphs.name_scope(name))

    def __exit__(self, *unused):
        return self._stack.__exit__(*unused)


def _graph_of(values):
    """The graph of the symbolic tensors among `values`; None if there are none. Raises ValueError if they have several graphs."""
    first = None
    for value in values:
        if not _core.is_symbolic(value):
            continue
        if first is not None and value.graph is not first.graph:
            raise ValueError(f"{value} must be from the same graph as {first}: {value.graph!r} is another one than {first.graph!r}. "
                             "Make both tensors inside one `with graph.as_default():`")
        first = first if first is not None else value
    return first.graph if first is not None else None


@export("compat.v1.op_scope")
def op_scope(values, name, default_name=None):
    """name_scope with its arguments in an older order."""
    return name_scope(name, default_name, values)


offer(VariableV1, "compat.v1.VariableV1")
