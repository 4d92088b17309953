"""tf.data.Options: how the elements of a dataset are made, never which they are."""
import enum

from .namespace import export


@export("data.experimental.AutoShardPolicy")
class AutoShardPolicy(enum.IntEnum):
    """How a dataset is split between workers."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


@export("data.experimental.ExternalStatePolicy")
class ExternalStatePolicy(enum.Enum):
    """What to do about state outside of a dataset that is copied."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


@export("data.experimental.AutotuneAlgorithm")
class AutotuneAlgorithm(enum.Enum):
    """How the tuner looks for settings."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class _Options:
    """Named settings; None: not set. Names that TensorFlow does not have are errors."""

    _settings = ()
    _parts = {}

    def __init__(self):
        for name in self._settings:
            object.__setattr__(self, name, None)
        for name, kind in self._parts.items():
            object.__setattr__(self, name, kind())

    def __setattr__(self, name, value):
        if name in self._aliases():
            name = self._aliases()[name]
        if name not in self._settings and name not in self._parts:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __getattr__(self, name):
        real = type(self)._aliases().get(name)
        if real is None:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)
        return getattr(self, real)

    @classmethod
    def _aliases(cls):
        return {}

    def __eq__(self, other):
        return type(self) is type(other) and all(getattr(self, n) == getattr(other, n) for n in self._all())

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def _all(self):
        return (*self._settings, *self._parts)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in self._all())})"

    def merge(self, other):
        """These settings; where `other` has one, that."""
        made = type(self)()
        for name in self._settings:
            mine, its = getattr(self, name), getattr(other, name)
            setattr(made, name, mine if its is None else its)
        for name in self._parts:
            object.__setattr__(made, name, getattr(self, name).merge(getattr(other, name)))
        return made


@export("data.experimental.AutotuneOptions")
class AutotuneOptions(_Options):
    """Settings of the tuner."""

    _settings = ("autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism", "min_parallelism", "ram_budget")


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Options):
    """Settings of distribution."""

    _settings = ("num_devices", "_policy")

    @property
    def auto_shard_policy(self):
        return AutoShardPolicy.AUTO if self._policy is None else self._policy

    @classmethod
    def _aliases(cls):
        return {"auto_shard_policy": "_policy"}


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(_Options):
    """Settings of rewriting pipelines."""

    _settings = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
                 "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
                 "noop_elimination", "parallel_batch", "shuffle_and_repeat_fusion", "seq_interleave_prefetch")


@export("data.ThreadingOptions")
class ThreadingOptions(_Options):
    """Settings of threads."""

    _settings = ("max_intra_op_parallelism", "private_threadpool_size")


@export("data.experimental.ThreadingOptions")
class _ThreadingOptions(ThreadingOptions):
    """As tf.data.ThreadingOptions."""


@export("data.experimental.ServiceOptions")
class ServiceOptions(_Options):
    """Settings of a service."""

    _settings = ("pinned",)


@export("data.Options")
class Options(_Options):
    """All settings of a dataset."""

    __module__ = "tensorflow.python.data.ops.options"

    _settings = ("dataset_name", "deterministic", "experimental_deterministic", "experimental_external_state_policy",
                 "experimental_slack", "experimental_symbolic_checkpoint", "experimental_warm_start",
                 "framework_type")
    _parts = {"autotune": AutotuneOptions, "experimental_distribute": DistributeOptions,
              "experimental_optimization": OptimizationOptions, "threading": ThreadingOptions,
              "experimental_service": ServiceOptions}

    @classmethod
    def _aliases(cls):
        return {"experimental_threading": "threading"}
