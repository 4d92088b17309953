"""tf.data.Options: settings of how a pipeline runs. They never change which elements it produces."""
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
    """What to do if a dataset that is copied depends on state outside of it, such as a variable."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


@export("data.experimental.AutotuneAlgorithm")
class AutotuneAlgorithm(enum.Enum):
    """How autotuning searches for settings."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


def _varint(number):
    """A number as a protobuf varint."""
    number, out = int(number) & (1 << 64) - 1, b""
    while number > 127:
        number, out = number >> 7, out + bytes([number & 127 | 128])
    return out + bytes([number])


def _field(number, value):
    """A protobuf field; strings and messages are passed as bytes."""
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(value.value if isinstance(value, enum.Enum) else value)


class _Options:
    """Named settings, which are None until they are set. Setting a name that TensorFlow does not have is an error."""

    _settings = ()
    _parts = {}
    _numbers = {}  # name -> field number in the message tensorflow.data.Options, for the names that it has

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

    def _serialized(self):
        """The settings as a serialized message, which OptionsDataset takes."""
        out = []
        for name, number in self._numbers.items():
            value = getattr(self, name)
            if isinstance(value, _Options):
                out.append((number, value._serialized()))
            elif isinstance(value, (list, tuple)):
                out += [(number, str(one).encode()) for one in value]
            elif value is not None:
                out.append((number, value.encode() if isinstance(value, str) else value))
        return b"".join(_field(number, value) for number, value in sorted(out, key=lambda field: field[0]))

    def merge(self, other):
        """New options with the settings of `other` where they are set, else those of this object."""
        made = type(self)()
        for name in self._settings:
            mine, its = getattr(self, name), getattr(other, name)
            setattr(made, name, mine if its is None else its)
        for name in self._parts:
            object.__setattr__(made, name, getattr(self, name).merge(getattr(other, name)))
        return made


@export("data.experimental.AutotuneOptions")
class AutotuneOptions(_Options):
    """Settings of autotuning."""

    _settings = ("autotune_algorithm", "cpu_budget", "enabled", "initial_parallelism", "min_parallelism", "ram_budget")
    _numbers = {"enabled": 1, "cpu_budget": 2, "ram_budget": 3, "autotune_algorithm": 4, "initial_parallelism": 5,
                "min_parallelism": 6}


@export("data.experimental.DistributeOptions")
class DistributeOptions(_Options):
    """Settings of distribution."""

    _settings = ("num_devices", "_policy")
    _numbers = {"_policy": 1, "num_devices": 2}

    @property
    def auto_shard_policy(self):
        return AutoShardPolicy.AUTO if self._policy is None else self._policy

    @classmethod
    def _aliases(cls):
        return {"auto_shard_policy": "_policy"}


@export("data.experimental.OptimizationOptions")
class OptimizationOptions(_Options):
    """Settings of the rewrites that optimize a pipeline."""

    _settings = ("apply_default_optimizations", "filter_fusion", "filter_parallelization", "inject_prefetch",
                 "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion", "map_parallelization",
                 "noop_elimination", "parallel_batch", "shuffle_and_repeat_fusion", "seq_interleave_prefetch")
    _numbers = {"apply_default_optimizations": 1, "filter_fusion": 6, "map_and_batch_fusion": 9, "map_and_filter_fusion": 10,
                "map_fusion": 11, "map_parallelization": 12, "noop_elimination": 14, "parallel_batch": 15,
                "shuffle_and_repeat_fusion": 17, "filter_parallelization": 18, "inject_prefetch": 19, "seq_interleave_prefetch": 21}


@export("data.ThreadingOptions")
class ThreadingOptions(_Options):
    """Settings of threads."""

    _settings = ("max_intra_op_parallelism", "private_threadpool_size")
    _numbers = {"max_intra_op_parallelism": 1, "private_threadpool_size": 2}


@export("data.experimental.ThreadingOptions")
class _ThreadingOptions(ThreadingOptions):
    """As tf.data.ThreadingOptions."""


@export("data.experimental.ServiceOptions")
class ServiceOptions(_Options):
    """Settings of the tf.data service."""

    _settings = ("pinned",)
    _numbers = {"pinned": 1}


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
    _numbers = {"deterministic": 1, "experimental_distribute": 2, "experimental_optimization": 3, "experimental_slack": 4,
                "threading": 5, "experimental_external_state_policy": 6, "autotune": 7, "experimental_symbolic_checkpoint": 8,
                "experimental_warm_start": 9, "dataset_name": 10, "framework_type": 11, "experimental_service": 12}

    @classmethod
    def _aliases(cls):
        return {"experimental_threading": "threading"}
