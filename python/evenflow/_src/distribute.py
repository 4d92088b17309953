"""tf.distribute as every program meets it: the default strategy, one replica on this machine."""
import contextlib
import enum
import threading

from . import _core, nest
from .config import check_device
from .namespace import export, offer


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"


@export("distribute.DistributedValues")
class DistributedValues:
    """The base of values that differ between replicas."""

    __module__ = "tensorflow.python.distribute.distribute_lib"


@export("distribute.DistributedDataset")
class DistributedDataset:
    """The base of datasets that are split between replicas."""

    __module__ = "tensorflow.python.distribute.distribute_lib"


@export("distribute.DistributedIterator")
class DistributedIterator:
    """The base of iterators over datasets that are split between replicas."""

    __module__ = "tensorflow.python.distribute.distribute_lib"


def _operation(op):
    """A ReduceOp, also by name."""
    return op if isinstance(op, ReduceOp) else ReduceOp(str(op).upper())


@export("distribute.StrategyExtended")
class StrategyExtended:
    """What libraries ask of a strategy; here with one replica."""

    __module__ = "tensorflow.python.distribute.distribute_lib"

    def __init__(self, strategy):
        self._strategy = strategy

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """Variables made inside are where that one is."""
        yield

    def variable_created_in_scope(self, v):
        """Whether a variable was made under this strategy."""
        return True

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls `fn(var, *args)` where the variable is."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else nest.map_structure(lambda r: r, result)

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """One replica's value is the result."""
        _operation(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """As reduce_to, for several."""
        return [self.reduce_to(reduce_op, v, d) for v, d in value_destination_pairs]

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """There is one."""
        return fn(*args, **(kwargs or {}))

    def read_var(self, v):
        """The value of a variable."""
        return _core.convert(v)

    def value_container(self, value):
        """What holds a value: itself."""
        return value

    @property
    def worker_devices(self):
        return ("/job:localhost/replica:0/task:0/device:CPU:0",)

    @property
    def parameter_devices(self):
        return self.worker_devices

    @property
    def _num_replicas_in_sync(self):
        return 1

    def _in_multi_worker_mode(self):
        return False


@export("distribute.Strategy")
class Strategy:
    """Where and how often a program runs; this one: once, here."""

    __module__ = "tensorflow.python.distribute.distribute_lib"

    def __init__(self, extended=None):
        self._extended = StrategyExtended(self) if extended is None else extended

    @property
    def extended(self):
        return self._extended

    @property
    def num_replicas_in_sync(self):
        """How many replicas take part in a step."""
        return 1

    @contextlib.contextmanager
    def scope(self):
        """Makes this the current strategy."""
        _scopes.entered.append(self)
        try:
            yield self
        finally:
            _scopes.entered.pop()

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls `fn` once per replica."""
        return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis):
        """The values of all replicas as one; along `axis` of each as well, if given."""
        how = _operation(reduce_op)
        if axis is None:
            return value
        op = _core.raw.Sum if how is ReduceOp.SUM else _core.raw.Mean
        return nest.map_structure(lambda v: op(_core.convert(v), axis), value)

    def gather(self, value, axis):
        """The values of all replicas, put together."""
        return value

    def experimental_distribute_dataset(self, dataset, options=None):
        """One replica gets the whole dataset."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """One replica gets what the function makes."""
        return dataset_fn(InputContext())

    def experimental_local_results(self, value):
        """A value of each replica of this process."""
        return (value,)


@export("distribute.InputContext")
class InputContext:
    """What a function that makes a dataset is told of its part."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """The batch of one replica; ValueError if it does not come out even."""
        if global_batch_size % self.num_replicas_in_sync != 0:
            raise ValueError(f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                             f"{self.num_replicas_in_sync!r}")
        return global_batch_size // self.num_replicas_in_sync


class _DefaultDistributionStrategy(Strategy):
    """The strategy of programs that chose none."""

    @contextlib.contextmanager
    def scope(self):
        if has_strategy():
            raise RuntimeError("the default strategy cannot be entered inside another's scope")
        yield self


@export("distribute.ReplicaContext")
class ReplicaContext:
    """A replica, as seen from inside."""

    __module__ = "tensorflow.python.distribute.distribute_lib"

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    @property
    def strategy(self):
        return self._strategy

    @property
    def num_replicas_in_sync(self):
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self):
        return self._id

    def all_reduce(self, reduce_op, value, options=None):
        """The same values, reduced over all replicas: there is one."""
        _operation(reduce_op)
        return value

    def all_gather(self, value, axis, options=None):
        """The values of all replicas along `axis`: there is one."""
        return value

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls `merge_fn(strategy, *args)` once for all replicas."""
        return merge_fn(self._strategy, *args, **(kwargs or {}))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        return False


class _Scopes(threading.local):
    """The strategies this thread has entered, innermost last."""

    def __init__(self):
        self.entered = []


_default = _DefaultDistributionStrategy()
_scopes = _Scopes()


@export("distribute.get_strategy")
def get_strategy():
    """The current strategy; there always is one."""
    return _scopes.entered[-1] if _scopes.entered else _default


@export("distribute.has_strategy")
def has_strategy():
    """Whether the current strategy was chosen by the program."""
    return bool(_scopes.entered)


@export("distribute.get_replica_context")
def get_replica_context():
    """The replica this runs in."""
    return ReplicaContext(get_strategy())


@export("distribute.in_cross_replica_context")
def in_cross_replica_context():
    """Whether this runs for all replicas at once."""
    return False


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy):
    """Makes a strategy current without a `with`; None ends it."""
    _scopes.entered = [] if strategy is None else [strategy]


@export("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Everything on one device."""

    def __init__(self, device):
        check_device(device)
        super().__init__()


def _elsewhere(name, doc, why):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"tf.distribute.{name}: {why}; tf.distribute.get_strategy() runs on this machine")

    kind = type(name, (Strategy,), {"__doc__": doc, "__init__": refuse,
                                    "__module__": "tensorflow.python.distribute.distribute_lib"})
    offer(kind, f"distribute.{name}")


_elsewhere("TPUStrategy", "For TPUs, of which there are none here.", "there is no TPU")
_elsewhere("MultiWorkerMirroredStrategy", "For several machines.", "there is one machine")


@export("__internal__.distribute.interim.maybe_merge_call")
def maybe_merge_call(fn, strategy, *args, **kwargs):
    """Calls `fn(strategy, *args)` for all replicas."""
    return fn(strategy, *args, **kwargs)


@export("__internal__.distribute.strategy_supports_no_merge_call")
def strategy_supports_no_merge_call():
    """Whether updates need no merging first: with one replica they do not."""
    return True
