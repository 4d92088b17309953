"""tf.distribute on one machine: the default strategy and the strategies with one replica.

A thread is either in a replica context or, inside `strategy.scope()` and `merge_call`, in the cross-replica context. A
program without a strategy is in the replica context of its only replica.
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
    """How the values of several replicas are reduced."""

    SUM = "SUM"
    MEAN = "MEAN"


@export("distribute.DistributedValues")
class DistributedValues:
    """The base of values that differ between replicas."""

    __module__ = "tensorflow.python.distribute.distribute_lib"


@export("types.experimental.distributed.PerReplica")
class PerReplica(DistributedValues):
    """One value for each replica. Passed as an argument of `run`, each replica gets its own value."""

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
    """A ReduceOp from a ReduceOp or its name."""
    return op if isinstance(op, ReduceOp) else ReduceOp(str(op).upper())


@export("distribute.StrategyExtended")
class StrategyExtended:
    """The part of a strategy that libraries use; here with one replica."""

    __module__ = "tensorflow.python.distribute.distribute_lib"

    def __init__(self, strategy):
        self._strategy = strategy

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """Creates variables on the device of another one; with one device there is nothing to do."""
        yield

    def variable_created_in_scope(self, v):
        """Whether a variable was made under this strategy."""
        return True

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls `fn(var, *args)` on the device of the variable."""
        result = fn(var, *args, **(kwargs or {}))
        return result if group else nest.map_structure(lambda r: r, result)

    def reduce_to(self, reduce_op, value, destinations, options=None):
        """Returns the value, because there is one replica."""
        _operation(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        """Calls reduce_to for each pair."""
        return [self.reduce_to(reduce_op, v, d) for v, d in value_destination_pairs]

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        """Calls `fn` for the one replica. A PerReplica argument is replaced by the replica's value."""
        _need_cross_replica()
        args, kwargs = nest.map_structure(_own_part, (tuple(args), kwargs or {}))
        with _entered(self._strategy, ReplicaContext(self._strategy)):
            return fn(*args, **kwargs)

    def read_var(self, v):
        """The value of a variable."""
        return _core.convert(v)

    def value_container(self, value):
        """Returns the value itself: there is no container around it."""
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
    """The base class of strategies: one replica, on this machine."""

    __module__ = "tensorflow.python.distribute.distribute_lib"
    _dataset_class = None  # OneReplicaDataset; dataset_distributed.py sets it

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
        """Reduces the values of all replicas to one and, if `axis` is given, along that axis too."""
        _need_cross_replica()
        how = _operation(reduce_op)
        value = nest.map_structure(_own_part, value)
        if axis is None:
            return value
        op = _core.raw.Sum if how is ReduceOp.SUM else _core.raw.Mean
        return nest.map_structure(lambda v: op(_core.convert(v), axis), value)

    def gather(self, value, axis):
        """Concatenates the values of all replicas along `axis`: returns the value of the one replica."""
        return _own_part(value)

    def experimental_distribute_dataset(self, dataset, options=None):
        """Distributes a dataset: the one replica gets all of it."""
        return self._dataset_class(dataset)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """Distributes the dataset that `dataset_fn(InputContext)` returns: the one replica gets all of it."""
        return self._dataset_class(dataset_fn(InputContext()))

    def experimental_distribute_values_from_function(self, value_fn):
        """A PerReplica of the values that `value_fn(ValueContext)` returns for each replica."""
        return PerReplica([value_fn(ValueContext(0, self.num_replicas_in_sync))])

    @property
    def cluster_resolver(self):
        """None: with one machine there is no cluster to resolve."""
        return None

    def experimental_local_results(self, value):
        """A tuple of the values of the replicas of this process."""
        return value.values if isinstance(value, PerReplica) else (value,)


@export("distribute.InputContext")
class InputContext:
    """The argument of a function that makes a dataset: which of how many input pipelines it is for."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size):
        """The batch size of one replica. Raises ValueError if the global size is not divisible by the number of replicas."""
        if global_batch_size % self.num_replicas_in_sync != 0:
            raise ValueError(f"The `global_batch_size` {global_batch_size!r} is not divisible by `num_replicas_in_sync` "
                             f"{self.num_replicas_in_sync!r}")
        return global_batch_size // self.num_replicas_in_sync


@export("distribute.experimental.ValueContext")
class ValueContext:
    """The argument of a function that makes a value for a replica: which of how many replicas it is."""

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
    """Options for reading the datasets of replicas; on one machine they have no effect."""

    experimental_fetch_to_device: typing.Optional[bool] = None
    experimental_replication_mode: int = 0
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


@export("distribute.RunOptions")
class RunOptions(typing.NamedTuple):
    """Options for running a step; on one machine they have no effect."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: typing.Any = None


@export("distribute.CrossDeviceOps")
class CrossDeviceOps:
    """The base class of algorithms that reduce values of several devices; with one device they are not used."""


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
    """The strategy of programs that chose none. It does not wrap datasets."""

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
    """The replica in which code runs."""

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
        """Returns the values reduced over all replicas: the same values, as there is one replica."""
        _operation(reduce_op)
        return value

    def all_gather(self, value, axis, options=None):
        """Returns the values of all replicas concatenated along `axis`: the same value, as there is one replica."""
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
    """The stack of (strategy, replica) that this thread has entered; the innermost is last. The replica is None in the
    cross-replica context."""

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
    """The current replica; None in the cross-replica context."""
    return _scopes.entered[-1][1] if _scopes.entered else _only_replica


@export("distribute.in_cross_replica_context")
def in_cross_replica_context():
    """Whether the thread is in the cross-replica context."""
    return bool(_scopes.entered) and _scopes.entered[-1][1] is None


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy):
    """Makes a strategy current without a `with` statement; None restores the default."""
    _scopes.entered = [] if strategy is None else [(strategy, None)]


@export("distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Runs everything on one device."""

    def __init__(self, device):
        check_device(device)
        super().__init__()


def _whole_name(device):
    """A device name completed with job, replica and task, so that two names of one device are equal."""
    check_device(device)
    kind, _, number = str(getattr(device, "name", device)).split("/")[-1].upper().replace("DEVICE:", "").partition(":")
    return f"/job:localhost/replica:0/task:0/device:{kind}:{int(number or 0)}"


@export("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Runs a step on several devices of this machine, each with a part of the batch. Here there is one device, the CPU."""

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
    """Whether variables can be updated without `merge_call`: always true, as there is one replica."""
    return True
