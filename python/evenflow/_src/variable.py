"""tf.Variable: TensorFlow's methods on top of the engine's variable. Reading and arithmetic are C."""
import enum
import threading
import weakref

import numpy as np

from . import _core, dtypes, errors
from .composite import IndexedSlices
from .control import cond
from .graph import current_scope, init_scope, plain_graph, variable_of
from .namespace import export
from .shapes import TensorShape
from .specs import VariableSpec
from .tensors import Reference, value_text
from .tracking import Trackable

raw = _core.raw
_by_storage = weakref.WeakValueDictionary()  # address of the handle's storage -> variable
_arguments = weakref.WeakValueDictionary()  # (graph, node) of a handle that is an argument of a function -> variable
_count_lock = threading.Lock()
_count = [0]
graph_variable = [None]  # the class for variables of graphs, from compat.v1


def by_handle(handle):
    """The variable of a handle; None if the variable was freed or the handle has none."""
    if _core.is_symbolic(handle):
        graph, node = handle._edge[:2]
        found = _arguments.get((id(graph), node))
        if found is not None or graph.building_function:
            return found
        return next((v for v in graph.get_collection("variables") if v.handle._edge == handle._edge), None)
    return _by_storage.get(handle._storage)


variable_of[0] = by_handle


@export("VariableSynchronization")
class VariableSynchronization(enum.Enum):
    """When the copies of a variable on several devices are aggregated."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class _Aggregation(enum.Enum):
    """Members of the two classes below are equal if their values are."""

    def __eq__(self, other):
        return isinstance(other, _Aggregation) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


@export("VariableAggregation")
class VariableAggregationV2(_Aggregation):
    """How the copies of a variable on several devices are aggregated."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@export("compat.v1.VariableAggregation")
class VariableAggregation(_Aggregation):
    """How the copies of a variable on several devices are aggregated."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def distribution(synchronization, aggregation, trainable, name):
    """(synchronization, aggregation, trainable) with defaults filled in. Raises ValueError for an invalid mode."""
    try:
        if aggregation is None:
            aggregation = VariableAggregation.NONE
        elif not isinstance(aggregation, _Aggregation):
            aggregation = VariableAggregationV2(aggregation)
    except ValueError:
        raise ValueError(f"Invalid variable aggregation mode: {aggregation} for variable: {name}") from None
    try:
        synchronization = VariableSynchronization(synchronization if synchronization is not None else 0)
    except ValueError:
        raise ValueError(f"Invalid variable synchronization mode: {synchronization} for variable: {name}") from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


def lift(tensor, own=False):
    """Computes a symbolic tensor of the function being traced, if it does not depend on the function's inputs. If it does,
    raises ValueError or, with `own` (the function may create variables), returns the tensor unchanged."""
    if not _core.is_symbolic(tensor):
        return tensor
    graph = tensor.graph
    session = _core.SessionBase()
    session._open(graph)
    suspended = _core.suspend()
    try:
        return _core.convert(session._run_flat([tensor], [], [], [])[0], tensor.dtype)
    except errors.OpError as e:
        if own:
            return tensor
        raise ValueError("the initial value of a variable made inside a tf.function depends on the function's "
                         f"arguments; give a callable or a value known beforehand ({e.message})") from None
    finally:
        _core.resume(suspended)


@export("Variable")
class Variable(_core.VariableBase, Trackable):
    """A tensor whose value can be changed by `assign`."""

    _should_act_as_resource_variable = True
    __array_priority__ = 100

    def __new__(cls, *args, **kwargs):
        if cls is Variable and plain_graph() is not None:
            cls = graph_variable[0]  # a variable of a graph, whose values belong to sessions
        return super().__new__(cls)

    def __init__(self, initial_value=None, trainable=None, validate_shape=True, caching_device=None, name=None,
                 variable_def=None, dtype=None, import_scope=None, constraint=None,
                 synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, shape=None,
                 experimental_enable_variable_lifting=True):
        if initial_value is None:
            raise ValueError("The `initial_value` arg to `tf.Variable` must be specified except when you are not "
                             "providing a `variable_def`. You provided neither.")
        if constraint is not None and not callable(constraint):
            raise ValueError("Argument `constraint` must be None or a callable.")
        synchronization, aggregation, trainable = distribution(synchronization, aggregation, trainable, name)
        if name is not None and not isinstance(name, str) and name:
            raise ValueError("name for name_scope must be a string.")
        own = _core.variable_made()  # a function may create variables only in its first trace
        self._trainable = trainable
        self.constraint = constraint
        self._synchronization, self._aggregation = synchronization, aggregation
        scope = current_scope()
        value = self._first_value(initial_value, dtype, own)
        self._scoped_name = "" if name is not None and not name else scope + (name or "Variable")
        with _count_lock:
            _count[0] += 1
            self._unique_id = f"{name or 'Variable'}_{_count[0]}"
        wanted = None if shape is None else TensorShape(shape)
        if wanted is not None and not wanted.is_compatible_with(TensorShape(value._dims)):
            raise ValueError(f"The initial value's shape ({TensorShape(value._dims)}) is not compatible with the "
                             f"explicitly supplied `shape` argument ({wanted}).")
        if wanted is not None and any(type(size) is bool for size in wanted._dims or ()):
            raise TypeError(f"the sizes of a variable are numbers, not {wanted}")
        late = _core.is_symbolic(value)
        if late and wanted is None:
            wanted = TensorShape(value._dims)
        with init_scope():
            self._create(value, self._scoped_name, self._trainable, wanted)
        _by_storage[self.handle._storage] = self
        if late:
            self._set_when_run(value)

    def _set_when_run(self, value):
        """Adds ops to the function being traced that initialize the variable when it runs, unless it has a value."""
        def assign():
            raw.AssignVariableOp(self.handle, value)
            return False

        _core.variable_made(True)
        cond(raw.VarIsInitializedOp(self.handle), lambda: True, assign)

    @staticmethod
    def _first_value(initial_value, dtype, own):
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        if callable(initial_value) and own:
            initial_value = _cast_to(initial_value(), dtype)
        if callable(initial_value):
            with init_scope():
                made = _cast_to(initial_value(), dtype)
                if _core.is_symbolic(made) and _core.executing_eagerly():
                    raise ValueError("the initial value of a variable depends on the arguments of a tf.function")
                return made
        if isinstance(initial_value, _core.Tensor) and _core.is_symbolic(initial_value):
            initial_value = lift(initial_value, own)
            if _core.is_symbolic(initial_value):
                return _cast_to(initial_value, dtype)
        with init_scope():
            return _cast_to(initial_value, dtype)

    # ---- what it is

    @property
    def name(self):
        return self._scoped_name + ":0"

    @property
    def _shared_name(self):
        return self._scoped_name

    @property
    def trainable(self):
        return self._trainable

    @property
    def synchronization(self):
        return self._synchronization

    @property
    def aggregation(self):
        return self._aggregation

    @property
    def device(self):
        return self.handle.device

    @property
    def create(self):
        return None

    @property
    def op(self):
        return self.handle.op

    @property
    def graph(self):
        return self.handle.graph

    @property
    def initializer(self):
        return None

    def is_initialized(self, name=None):
        return raw.VarIsInitializedOp(self.handle, name=name)

    def get_shape(self):
        """The same as `shape`."""
        return self.shape

    def set_shape(self, shape):
        """Raises ValueError if the shape is not compatible. The shape of the variable does not change."""
        TensorShape(shape).assert_is_compatible_with(self.shape)

    def numpy(self):
        """The value as a numpy array."""
        if not _core.executing_eagerly():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        value = self.value()
        return np.array(value.numpy()) if value._dims else value.numpy()

    def _dense_var_to_tensor(self, dtype=None, name=None, as_ref=False):
        return _core.convert(self, dtype)

    def __tf_tensor__(self, dtype=None, name=None):
        return _core.convert(self, dtype)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.numpy(), dtype)

    def ref(self):
        """A hashable reference to this variable."""
        return Reference(self)

    experimental_ref = ref

    def eval(self, session=None):
        if not _core.executing_eagerly():
            raise AttributeError("a variable that was made eagerly is not part of this graph: there is nothing to evaluate")
        raise RuntimeError("eval is not supported when eager execution is enabled; use numpy()")

    def load(self, value, session=None):
        """Sets the value, as assign does. Variables of TensorFlow 1 graphs take the session."""
        self.assign(value)

    @property
    def initial_value(self):
        if _core.executing_eagerly():
            raise RuntimeError("initial_value is not kept when eager execution is enabled")

    def initialized_value(self):
        return self.value()

    def __repr__(self):
        if not _core.executing_eagerly():
            return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}>"
        text = value_text(self.value(), True)
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.dtype.name}, numpy={text}>"

    def __iter__(self):
        return iter(self.value())

    def __copy__(self):
        return self

    def _shape_tuple(self):
        return tuple(self.shape.as_list())

    def __deepcopy__(self, memo):
        if not _core.executing_eagerly():
            raise NotImplementedError("__deepcopy__() is only available when eager execution is enabled.")
        copied = Variable(self.value(), trainable=self._trainable, name=self._scoped_name.rpartition("/")[2],
                            dtype=self.dtype, constraint=self.constraint, shape=self.shape,
                            synchronization=self._synchronization, aggregation=self._aggregation)
        memo[id(self)] = copied
        return copied

    def __reduce__(self):
        return _restore, (self.numpy(), self._trainable, self._scoped_name, self.dtype)

    def __complex__(self):
        return complex(self.value().numpy())

    # ---- changing it

    def _done(self, op, read_value):
        """The result of an assignment: the variable as an UnreadVariable; without `read_value`, None eagerly and the op in a
        graph."""
        if not read_value:
            return op
        made = self._again(_UnreadVariable)
        if op is not None:
            made._assignment = op
        return made

    def _operand(self, value):
        return _core.convert(value, self.dtype)

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets the value."""
        value = self._operand(value)
        dims = value._dims
        if dims != self.shape._dims and not self.shape.is_compatible_with(TensorShape(dims)):
            raise ValueError(f"Cannot assign value to variable '{self.name}': Shape mismatch.The variable shape "
                             f"{self.shape}, and the assigned value shape {TensorShape(dims)} are incompatible.")
        return self._done(raw.AssignVariableOp(self.handle, value, name=name), read_value)

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        """Adds `delta`."""
        return self._done(raw.AssignAddVariableOp(self.handle, self._operand(delta), name=name), read_value)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        """Subtracts `delta`."""
        return self._done(raw.AssignSubVariableOp(self.handle, self._operand(delta), name=name), read_value)

    def _scatter(self, op, sparse_delta, name):
        _check_slices(sparse_delta)
        values = _core.convert(sparse_delta.values, self.dtype)
        return self._done(op(self.handle, sparse_delta.indices, values, name=name), True)

    def scatter_sub(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterSub, sparse_delta, name)

    def scatter_add(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterAdd, sparse_delta, name)

    def scatter_max(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMax, sparse_delta, name)

    def scatter_min(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMin, sparse_delta, name)

    def scatter_mul(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterMul, sparse_delta, name)

    def scatter_div(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterDiv, sparse_delta, name)

    def scatter_update(self, sparse_delta, use_locking=False, name=None):
        return self._scatter(raw.ResourceScatterUpdate, sparse_delta, name)

    def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
        """Each row of indices updates the corresponding row of the variable."""
        _check_slices(sparse_delta)
        indices = _core.convert(sparse_delta.indices)
        updates = _core.convert(sparse_delta.values, self.dtype)
        rank = len(indices._dims)
        grid = np.indices(indices._dims[:-1] + (1,))[: rank - 1] if rank > 1 else []
        parts = [np.broadcast_to(g, indices._dims) for g in grid]
        full = raw.Pack([_core.convert(p.astype(indices.dtype.as_numpy_dtype)) for p in parts] + [indices], axis=rank)
        return self.scatter_nd_update(full, updates, name)

    def _scatter_nd(self, op, indices, updates, name):
        return self._done(op(self.handle, indices, self._operand(updates), name=name), True)

    def scatter_nd_sub(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdSub, indices, updates, name)

    def scatter_nd_add(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdAdd, indices, updates, name)

    def scatter_nd_update(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdUpdate, indices, updates, name)

    def scatter_nd_max(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdMax, indices, updates, name)

    def scatter_nd_min(self, indices, updates, name=None):
        return self._scatter_nd(raw.ResourceScatterNdMin, indices, updates, name)

    def sparse_read(self, indices, name=None):
        """Gathers rows of the value. The gradient with respect to the variable is an IndexedSlices."""
        return raw.ResourceGather(self.handle, indices, dtype=self.dtype, name=name)

    def gather_nd(self, indices, name=None):
        return raw.ResourceGatherNd(self.handle, indices, dtype=self.dtype, name=name)

    def count_up_to(self, limit):
        """Adds 1 and returns the previous value. Raises OutOfRangeError when the variable has reached `limit`."""
        return raw.ResourceCountUpTo(self.handle, limit, self.dtype)

    def __iadd__(self, other):
        raise RuntimeError("`variable += value` with `tf.Variable`s is not supported. Use `variable.assign_add(value)` "
                           "to modify the variable, or `out = variable + value` if you need to get a new output Tensor.")

    def __isub__(self, other):
        raise RuntimeError("`variable -= value` with `tf.Variable`s is not supported. Use `variable.assign_sub(value)` "
                           "to modify the variable, or `out = variable - value` if you need to get a new output Tensor.")

    def __imul__(self, other):
        raise RuntimeError("`var *= value` with `tf.Variable`s is not supported. Use `var.assign(var * value)` to modify "
                           "the variable, or `out = var * value` if you need to get a new output Tensor.")

    def __itruediv__(self, other):
        raise RuntimeError("`var /= value` with `tf.Variable`s is not supported. Use `var.assign(var / value)` to modify "
                           "the variable, or `out = var / value` if you need to get a new output Tensor.")

    def __ipow__(self, other):
        raise RuntimeError("`var **= value` with `tf.Variable`s is not supported. Use `var.assign(var ** value)` to modify "
                           "the variable, or `out = var ** value` if you need to get a new output Tensor.")

    # ---- checkpoints; the variables of Keras call these

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": self}

    def _serialize_to_tensors(self):
        return {"VARIABLE_VALUE": self.value()}

    def _restore_from_tensors(self, restored):
        value = restored["VARIABLE_VALUE"]
        shape = TensorShape(value._dims)
        if not self.shape.is_compatible_with(shape):
            raise ValueError(f"Received incompatible tensor with shape {shape} when attempting to restore variable with shape "
                             f"{self.shape} and name {self.name}.")
        return self.assign(value)


Variable.__module__ = "tensorflow.python.ops.resource_variable_ops"
VariableSpec.value_type = Variable
Variable.__name__ = "ResourceVariable"


class _UnreadVariable(Variable):
    """The result of an assignment: the same variable under another name."""

    @property
    def name(self):
        return "UnreadVariable"

    __slots__ = ("_assignment",)  # all other attributes are those of the variable

    @property
    def op(self):
        """The op of the assignment in a graph; None eagerly."""
        return getattr(self, "_assignment", None)


_UnreadVariable.__module__ = Variable.__module__


def _check_slices(delta):
    if not isinstance(delta, IndexedSlices):
        raise TypeError(f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {delta}")


def _restore(value, trainable, name, dtype):
    return Variable(value, trainable=trainable, name=name, dtype=dtype)


def _cast_to(value, dtype):
    if isinstance(value, _core.VariableBase):
        value = value.value()
    if isinstance(value, _core.Tensor) and dtype is not None and value.dtype != dtype:
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype {value.dtype.name}: "
                         f"{value!r}")
    return _core.convert(value, dtype)


def _again(variable, handle):
    """A variable like another one, for a function that takes variables of this dtype and shape as arguments."""
    made = _core.VariableBase.__new__(type(variable))
    made.__dict__.update(variable.__dict__)
    made._adopt(handle, variable.dtype, variable.shape)
    graph, node = handle._edge[:2]
    _arguments[id(graph), node] = made
    return made


_core.register(variable_again=_again)
