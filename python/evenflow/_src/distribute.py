"""tf.distribute on one machine: the default strategy and those with one replica.

A thread is in the context of a replica, or, inside `strategy.scope()` and what replicas call together, in the one across all
replicas. Programs that chose no strategy are in the context of their only replica.
"""
import contextlib
import enum
import threading
import typing

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


@export("types.experimental.distributed.PerReplica")
class PerReplica(DistributedValues):
    """One value for each replica; a replica that is given it as an argument gets its own."""

    __module__ = "tensorflow.python.distribute.values"

    def __init__(self, values):
        self._values = tuple(values)

    @property
    def values(self):
        """The values, in the order of the replicas."""
        return self._values

    def __repr__(self):
        return "PerReplica:{\n" + ",\n".join(f"  {k}: {v!r}" for k, v in enumerate(self._values)) + "\n}"


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
        """There is one, which gets its part of what differs between replicas."""
        _need_cross_replica()
        args, kwargs = nest.map_structure(_own_part, (tuple(args), kwargs or {}))
        with _entered(self._strategy, ReplicaContext(self._strategy)):
            return fn(*args, **kwargs)

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
    _dataset_class = None  # OneReplicaDataset, which dataset_distributed.py puts here

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
        _need_cross_replica()
        if has_strategy() and get_strategy() is not self:
            raise RuntimeError(f"Mixing different tf.distribute.Strategy objects: {get_strategy()} is not {self}")
        with _entered(self, None):
            yield self

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls `fn` once per replica."""
        return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op, value, axis):
        """The values of all replicas as one; along `axis` of each as well, if given."""
        _need_cross_replica()
        how = _operation(reduce_op)
        value = nest.map_structure(_own_part, value)
        if axis is None:
            return value
        op = _core.raw.Sum if how is ReduceOp.SUM else _core.raw.Mean
        return nest.map_structure(lambda v: op(_core.convert(v), axis), value)

    def gather(self, value, axis):
        """The values of all replicas, put together."""
        return _own_part(value)

    def experimental_distribute_dataset(self, dataset, options=None):
        """One replica gets the whole dataset."""
        return self._dataset_class(dataset)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """One replica gets what the function makes."""
        return self._dataset_class(dataset_fn(InputContext()))

    def experimental_distribute_values_from_function(self, value_fn):
        """The values that a function of the replica's ValueContext makes."""
        return PerReplica([value_fn(ValueContext(0, self.num_replicas_in_sync))])

    @property
    def cluster_resolver(self):
        """There is one machine, so nothing to find."""
        return None

    def experimental_local_results(self, value):
        """A value of each replica of this process."""
        return value.values if isinstance(value, PerReplica) else (value,)


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


@export("distribute.experimental.ValueContext")
class ValueContext:
    """What a function that makes a value for a replica is told."""

    def __init__(self, replica_id_in_sync_group=0, num_replicas_in_sync=1):
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync


def _own_part(value):
    return value.values[0] if isinstance(value, PerReplica) else value


def _need_cross_replica():
    if _scopes.entered and not in_cross_replica_context():
        raise RuntimeError("Method requires being in cross-replica context, use get_replica_context().merge_call()")


@export("distribute.InputOptions")
class InputOptions(typing.NamedTuple):
    """How the datasets of replicas are read; on one machine there is nothing to choose."""

    experimental_fetch_to_device: typing.Optional[bool] = None
    experimental_replication_mode: int = 0
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


@export("distribute.RunOptions")
class RunOptions(typing.NamedTuple):
    """How a step is run; on one machine there is nothing to choose."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: typing.Any = None


@export("distribute.CrossDeviceOps")
class CrossDeviceOps:
    """How values of several devices are reduced; with one device nothing is."""


@export("distribute.ReductionToOneDevice")
class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device and copies the result to the others."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


@export("distribute.NcclAllReduce")
class NcclAllReduce(CrossDeviceOps):
    """Reduces between GPUs."""

    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")


@export("distribute.HierarchicalCopyAllReduce")
class HierarchicalCopyAllReduce(NcclAllReduce):
    """Reduces between GPUs in two stages."""


class _DefaultDistributionStrategy(Strategy):
    """The strategy of programs that chose none: no wrapper around what it is given."""

    def run(self, fn, args=(), kwargs=None, options=None):
        return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset, options=None):
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        return dataset_fn(InputContext())

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
        with _entered(self._strategy, None):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        return False


class _Scopes(threading.local):
    """What this thread has entered, innermost last: strategies, each with its replica or None for all replicas."""

    def __init__(self):
        self.entered = []


_default = _DefaultDistributionStrategy()
_scopes = _Scopes()
_only_replica = ReplicaContext(_default)


@contextlib.contextmanager
def _entered(strategy, replica):
    _scopes.entered.append((strategy, replica))
    try:
        yield
    finally:
        _scopes.entered.pop()


@export("distribute.get_strategy")
def get_strategy():
    """The current strategy; there always is one."""
    return _scopes.entered[-1][0] if _scopes.entered else _default


@export("distribute.has_strategy")
def has_strategy():
    """Whether the current strategy was chosen by the program."""
    return bool(_scopes.entered) and _scopes.entered[-1][0] is not _default


@export("distribute.get_replica_context")
def get_replica_context():
    """The replica this runs in; None: this runs for all replicas at once."""
    return _scopes.entered[-1][1] if _scopes.entered else _only_replica


@export("distribute.in_cross_replica_context")
def in_cross_replica_context():
    """Whether this runs for all replicas at once."""
    return bool(_scopes.entered) and _scopes.entered[-1][1] is None


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy):
    """Makes a strategy current without a `with`; None ends it."""
    _scopes.entered = [] if strategy is None else [(strategy, None)]


@export("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Everything on one device."""

    def __init__(self, device):
        check_device(device)
        super().__init__()


def _whole_name(device):
    """A device's name with job, replica and task: two names of one device are then equal."""
    check_device(device)
    kind, _, number = str(getattr(device, "name", device)).split("/")[-1].upper().replace("DEVICE:", "").partition(":")
    return f"/job:localhost/replica:0/task:0/device:{kind}:{int(number or 0)}"


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """The same step on several devices of this machine, each with a part of the batch; here on one device, the CPU."""

    __module__ = "tensorflow.python.distribute.mirrored_strategy"

    def __init__(self, devices=None, cross_device_ops=None):
        devices = [devices] if isinstance(devices, str) else devices
        names = tuple(map(_whole_name, devices if devices is not None else ("CPU:0",)))
        if not names:
            raise ValueError("Got an empty `devices` list")
        if len(set(names)) < len(names):
            raise AssertionError(f"No duplicates allowed in `devices` argument: {names}")
        if len(names) > 1:
            raise NotImplementedError(f"tf.distribute.MirroredStrategy: {len(names)} devices, {names}; Evenflow runs one replica, "
                                      "which uses all cores: leave `devices` out")
        if cross_device_ops is not None and not isinstance(cross_device_ops, CrossDeviceOps):
            raise ValueError(f"tf.distribute.MirroredStrategy: `cross_device_ops` is {cross_device_ops!r}, not a tf.distribute.CrossDeviceOps")
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
