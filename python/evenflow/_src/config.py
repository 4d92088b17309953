"""tf.config, tf.sysconfig and tf.version: devices, threads, memory, settings and the build.

There is one physical device, CPU:0 (and TEST:0, when a test asks for it). It may be split into several logical devices,
which all compute the same way. A program that places ops on another device runs on the CPU and gets one warning.
"""
import collections
import logging
import os
import re
import warnings

from . import _core, errors
from .namespace import export, offer

PhysicalDevice = collections.namedtuple("PhysicalDevice", ("name", "device_type"))
LogicalDevice = collections.namedtuple("LogicalDevice", ("name", "device_type"))
LogicalDeviceConfiguration = collections.namedtuple(
    "LogicalDeviceConfiguration", ("memory_limit", "experimental_priority", "experimental_device_ordinal"),
    defaults=(None, None, None))
offer(PhysicalDevice, "config.PhysicalDevice")
offer(LogicalDevice, "config.LogicalDevice")
offer(LogicalDeviceConfiguration, "config.LogicalDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration")

CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_log = logging.getLogger("tensorflow")


class _Settings:
    """The current settings, and whether the devices are initialized (after which some settings are fixed)."""

    def __init__(self):
        self.visible = [CPU]
        self.logical = None  # configurations of the CPU's logical devices
        self.in_use = False
        self.intra = self.inter = 0
        self.soft = True
        self.jit = ""
        self.options = {"disable_model_pruning": False, "disable_meta_optimizer": False}
        self.policy = "silent"
        self.synchronous = True
        self.tensor_float_32 = True
        self.deterministic = False
        self.warned = set()


_now = _Settings()


# ---- devices ----------------------------------------------------------------------------------------------------


def _of_type(devices, device_type):
    return [d for d in devices if device_type is None or d.device_type == device_type]


def others():
    """The physical devices other than the CPU."""
    return [PhysicalDevice("/physical_device:" + name, name.split(":")[0]) for name in _core.device_names()[1:]]


@export("config.list_physical_devices", "config.experimental.list_physical_devices")
def list_physical_devices(device_type=None):
    """The devices of this machine."""
    return _of_type([CPU, *others()], device_type)


@export("config.list_logical_devices", "config.experimental.list_logical_devices")
def list_logical_devices(device_type=None):
    """The devices that ops can be placed on."""
    _now.in_use = True
    count = len(_now.logical) if _now.logical else 1
    devices = [LogicalDevice(f"/device:CPU:{k}", "CPU") for k in range(count)] if CPU in _now.visible else []
    devices += [LogicalDevice("/device:" + d.name.split(":", 1)[1], d.device_type) for d in others()]
    return _of_type(devices, device_type)


@export("config.get_visible_devices", "config.experimental.get_visible_devices")
def get_visible_devices(device_type=None):
    """The physical devices that are used."""
    return _of_type(_now.visible, device_type)


def _known(device):
    if device != CPU and device not in others():
        raise ValueError(f"Unrecognized device: {device!r}; there is {CPU!r}")


@export("config.set_visible_devices", "config.experimental.set_visible_devices")
def set_visible_devices(devices, device_type=None):
    """Sets which physical devices are used. Must be called before the devices are initialized."""
    devices = list(devices) if isinstance(devices, (list, tuple)) and not isinstance(devices, PhysicalDevice) else [devices]
    for device in devices:
        _known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    kept = [d for d in _now.visible if device_type is not None and d.device_type != device_type]
    wanted = kept + devices
    if wanted == _now.visible:
        return
    if _now.in_use:
        raise RuntimeError("Visible devices cannot be modified after being initialized")
    if not wanted:
        raise ValueError("the CPU cannot be hidden: nothing could run")
    _now.visible = wanted


@export("config.get_logical_device_configuration", "config.experimental.get_virtual_device_configuration")
def get_logical_device_configuration(device):
    """The list of logical devices that a physical device is split into; None if it is not split."""
    _known(device)
    return _now.logical


@export("config.set_logical_device_configuration", "config.experimental.set_virtual_device_configuration")
def set_logical_device_configuration(device, logical_devices):
    """Splits a physical device into logical devices. Must be called before the devices are initialized."""
    _known(device)
    wanted = list(logical_devices)
    if wanted == _now.logical:
        return
    if _now.in_use:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    for one in wanted:
        if one.memory_limit is not None:
            raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
        if one.experimental_priority is not None:
            raise ValueError("Setting experimental_priority on CPU virtual devices is currently not supported")
    _now.logical = wanted


@export("config.experimental.get_device_details")
def get_device_details(device):
    """Details of a device: an empty dict, because there are none for a CPU."""
    _known(device)
    return {}


@export("config.experimental.get_memory_growth")
def get_memory_growth(device):
    """Whether memory growth is enabled for a GPU. Raises KeyError, because there is no GPU."""
    raise KeyError(device)


@export("config.experimental.set_memory_growth")
def set_memory_growth(device, enable):
    """Sets memory growth, which only GPUs have. Raises ValueError for the CPU, whose memory always grows and shrinks."""
    _known(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


_SPEC = re.compile(r"^(?:/?(?:job:[A-Za-z][\w.-]*|replica:\d+|task:\d+|(?:device:)?(?:[A-Za-z_]+):(?:\d+|\*)|"
                   r"(?:device:)?(?:CPU|GPU|TPU|cpu|gpu|tpu)))*$")


def check_device(name, runs=True):
    """Validates the argument of tf.device. For a device that does not exist, the CPU is used and one warning is logged.
    With `runs` the ops run immediately, so a device of another job raises InvalidArgumentError."""
    if name is None or name == "" or callable(name):
        return
    if hasattr(name, "to_string"):
        name = name.to_string()
    if isinstance(name, (PhysicalDevice, LogicalDevice)):
        name = name.name
    if not isinstance(name, str):
        raise ValueError(f"Expecting a string device name. Got {type(name)}({name})")
    if not _SPEC.match(name):
        raise ValueError(f"Unknown attribute {name!r} is encountered while parsing the device spec: {name!r}.")
    job = re.search(r"job:([\w.-]+)", name)
    if job and job.group(1) != "localhost":
        if not runs:
            return
        raise errors.InvalidArgumentError(None, None, f"{name} unknown device.")
    found = re.search(r"(?:device:|^/?)(\w+)(?::(\d+))?$", name)
    if found is None or found.group(1).upper() in ("CPU", "XLA_CPU") or found.group(1) in ("job", "replica", "task"):
        return
    if _core.device_number(f"{found.group(1)}:{found.group(2) or 0}") >= 0:
        return
    if not _now.soft:
        raise errors.InvalidArgumentError(
            None, None, f"Could not satisfy device specification '{name}'. enable_soft_placement=0. Supported device "
            "types [CPU].")
    kind = found.group(1).upper()
    if kind not in _now.warned:
        _now.warned.add(kind)
        _log.warning("There is no device %s here; ops that are placed on it run on CPU:0.", name)


@export("config.get_soft_device_placement")
def get_soft_device_placement():
    """Whether ops that are placed on a device that does not exist run on another device."""
    return _now.soft


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled):
    """Sets soft placement. With False, placing an op on a device that does not exist is an error."""
    _now.soft = bool(enabled)


# ---- memory ------------------------------------------------------------------------------------------------------


_warned = set()  # the missing device types that a warning was given for


def _device_of(device):
    found = re.fullmatch(r"(?:/job:localhost/replica:0/task:0)?(?:/?device:|/?)?(\w+):(\d+)", device)
    if found is None:
        raise ValueError(f"Failed parsing device name: '{device}'. Note a valid device string should at least contain a "
                         "device type and a device index, like \"GPU:0\".")
    kind, number = found.group(1).upper(), int(found.group(2))
    if kind != "CPU" and _core.device_number(f"{kind}:{number}") >= 0:
        return f"{kind}:{number}"
    if kind not in ("CPU", "GPU", "TPU") or (kind == "CPU" and number >= max(1, len(_now.logical or ()))):
        raise ValueError(f"No matching devices found for '{device}'")
    if kind != "CPU" and kind not in _warned:  # the program was written for another machine
        _warned.add(kind)
        warnings.warn(f"there is no {kind} here; the figures are those of CPU:0, which runs its ops", stacklevel=3)
    return "CPU:0"


@export("config.experimental.get_memory_info")
def get_memory_info(device):
    """The bytes of tensors on the device, `current` and `peak`, and `caches`: the bytes that each cache holds.

    `_core.memory_report()` returns these and other figures as text."""
    usage = _core.memory(_device_of(device))
    caches, _ = _core.caches()
    return {"current": usage["current"], "peak": usage["peak"], "caches": {name: kept[0] for name, kept in caches.items()}}


@export("config.experimental.get_memory_usage")
def get_memory_usage(device):
    """The bytes that tensors on the device use now."""
    return get_memory_info(device)["current"]


@export("config.experimental.reset_memory_stats")
def reset_memory_stats(device):
    """Resets the peak to the current usage."""
    _core.memory_peak_reset(_device_of(device))


# ---- threads and switches ------------------------------------------------------------------------------------------


@export("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads():
    """The number of threads within an op; 0 means one per core."""
    return _now.intra


@export("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads):
    """Sets the number of threads within an op. It may be changed at any time."""
    _now.intra = int(num_threads)
    _core.threads(_now.intra or len(os.sched_getaffinity(0)))


@export("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads():
    """The number that was set. It has no effect: the ops of one call run one after the other."""
    return _now.inter


@export("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads):
    """Stored without effect: the ops of one call run one after the other, large ones on several threads."""
    _now.inter = int(num_threads)


@export("config.optimizer.get_jit")
def get_jit():
    """"autoclustering" if `set_jit` enabled it, else "". It has no effect: Evenflow always compiles fused ops."""
    return _now.jit


@export("config.optimizer.set_jit")
def set_jit(enabled):
    """Stored without effect: Evenflow always compiles fused ops."""
    _now.jit = "autoclustering" if enabled in (True, "autoclustering") else ""


@export("config.optimizer.get_experimental_options")
def get_experimental_options():
    """The optimizer options that were set."""
    return dict(_now.options)


@export("config.optimizer.set_experimental_options")
def set_experimental_options(options):
    """Stored without effect: these are the names of TensorFlow's passes. EF_PASSES switches off those of Evenflow."""
    _now.options.update(options)


@export("config.experimental.enable_op_determinism")
def enable_op_determinism():
    """Stored for `is_op_determinism_enabled`. Every op is deterministic without it."""
    _now.deterministic = True


def disable_op_determinism():
    """Undoes `enable_op_determinism`. TensorFlow has no public name for it."""
    _now.deterministic = False


def is_op_determinism_enabled():
    """Whether `enable_op_determinism` was called."""
    return _now.deterministic


@export("config.experimental.get_device_policy")
def get_device_policy():
    """The policy for operands on another device that was set. Evenflow copies them silently whatever it is."""
    return _now.policy


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy):
    """Stores None, "explicit", "warn", "silent" or "silent_for_int32". Without effect: with one device nothing is copied."""
    if device_policy not in (None, "explicit", "warn", "silent", "silent_for_int32"):
        raise ValueError(f"Invalid argument `device_policy`: {device_policy}. It must be one of None, \"explicit\", "
                         "\"warn\", \"silent\" and \"silent_for_int32\"")
    _now.policy = device_policy or "silent"


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution():
    """Whether execution is synchronous. Evenflow may still defer an op until its value is needed."""
    return _now.synchronous


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable):
    """Stored without effect: the call that made an error always raises it, as with synchronous execution."""
    _now.synchronous = enable is None or bool(enable)


@export("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled():
    """Whether GPUs may round float32 operands to TensorFloat-32. CPUs never do."""
    return _now.tensor_float_32


@export("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled):
    """Stored without effect: only some GPUs compute in TensorFloat-32."""
    _now.tensor_float_32 = bool(enabled)


@export("config.experimental.enable_mlir_bridge", "config.experimental.disable_mlir_bridge")
def mlir_bridge():
    """Does nothing: Evenflow has no MLIR bridge."""


# ---- the build -------------------------------------------------------------------------------------------------------


def _answer(value, doc, *names):
    def asked(*unused, **also_unused):
        return value

    asked.__doc__ = doc
    asked.__name__ = names[0].rpartition(".")[2]
    offer(asked, *names)


_answer(False, "Whether the build supports CUDA: always False.", "test.is_built_with_cuda")
_answer(False, "Whether the build supports ROCm: always False.", "test.is_built_with_rocm")
_answer(False, "Whether the build supports GPUs: always False.", "test.is_built_with_gpu_support")
_answer(True, "Whether tf.function accepts jit_compile=True: always True.", "test.is_built_with_xla")
_answer(False, "Whether there is a GPU: always False.", "test.is_gpu_available")
_answer("", "The name of the first GPU: always empty.", "test.gpu_device_name")


@export("sysconfig.get_build_info")
def get_build_info():
    """A dict of what the build supports."""
    return collections.OrderedDict(is_cuda_build=False, is_rocm_build=False, is_tensorrt_build=False)


@export("sysconfig.get_lib")
def get_lib():
    """The directory of the package's libraries."""
    return os.path.dirname(os.path.abspath(__file__))


@export("sysconfig.get_include")
def get_include():
    """The directory of the package's headers."""
    return os.path.join(get_lib(), "include")


@export("sysconfig.get_compile_flags")
def get_compile_flags():
    """Flags to compile against the C interface."""
    return [f"-I{get_include()}"]


@export("sysconfig.get_link_flags")
def get_link_flags():
    """Flags to link against the C interface."""
    return [f"-L{get_lib()}"]


offer(0, "sysconfig.MONOLITHIC_BUILD")
offer(1, "sysconfig.CXX11_ABI_FLAG")
for _names in (("version.GIT_VERSION", "__git_version__"), ("version.COMPILER_VERSION", "__compiler_version__")):
    offer(f"evenflow {_core.version}", *_names)
offer(2474, "version.GRAPH_DEF_VERSION")
offer(0, "version.GRAPH_DEF_VERSION_MIN_CONSUMER")
offer(0, "version.GRAPH_DEF_VERSION_MIN_PRODUCER")


@export("get_logger")
def get_logger():
    """The logger "tensorflow". It gets a handler that writes to stderr, unless the program has configured logging itself."""
    if not _log.handlers and not logging.getLogger().handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter(logging.BASIC_FORMAT, None))
        _log.addHandler(handler)
    return _log


@export("timestamp")
def timestamp(name=None):
    """Seconds since 1970, as float64. In a graph, the time is that of the run."""
    return _core.raw.Timestamp(name=name)
