"""tf.DeviceSpec: the parts of a device name such as "/job:worker/task:1/device:GPU:0"."""
from .namespace import export

_PARTS = ("job", "replica", "task", "device_type", "device_index")


def _parsed(name):
    """Parses a device name into a dict of the parts that it specifies."""
    found = {}
    for part in filter(None, name.split("/")):
        words = part.split(":")
        kind = words[0].lower()
        if kind in ("job", "replica", "task") and len(words) == 2:
            if words[1] != "*":
                found[kind] = words[1] if kind == "job" else int(words[1])
            continue
        if kind == "device" and len(words) == 3:
            words = words[1:]
        elif kind not in ("cpu", "gpu", "tpu", "xla_cpu", "xla_gpu") or len(words) > 2:
            raise ValueError(f"Unknown attribute '{words[0]}' is encountered while parsing the device spec: '{name}'.")
        if "device_type" in found:
            raise ValueError(f"Multiple device types are not allowed while parsing the device spec: {name}.")
        found["device_type"] = words[0].upper()
        if len(words) == 2 and words[1] != "*":
            found["device_index"] = int(words[1])
    return found


@export("DeviceSpec")
class DeviceSpecV2:
    """The parts of a device name; None for a part that is not specified."""

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self._job = None if job is None else str(job)
        self._replica = None if replica is None else int(replica)
        self._task = None if task is None else int(task)
        self._device_type = None if device_type is None else str(device_type).upper()
        self._device_index = None if device_index is None else int(device_index)

    job = property(lambda self: self._job, doc="The name of the job.")
    replica = property(lambda self: self._replica, doc="The number of the replica.")
    task = property(lambda self: self._task, doc="The number of the task.")
    device_type = property(lambda self: self._device_type, doc="The type of the device, such as GPU.")
    device_index = property(lambda self: self._device_index, doc="The number of the device among those of its type.")

    def _parts(self):
        return {part: getattr(self, part) for part in _PARTS}

    @classmethod
    def from_string(cls, spec):
        """Parses a device name into a new spec."""
        return cls(**_parsed(spec))

    def parse_from_string(self, spec):
        """Parses a device name into a new spec, independent of this one."""
        return self.from_string(spec)

    def to_string(self):
        """The device name."""
        text = "".join(f"/{part}:{getattr(self, part)}" for part in ("job", "replica", "task") if getattr(self, part) is not None)
        if self._device_type is not None:
            text += f"/device:{self._device_type}:{'*' if self._device_index is None else self._device_index}"
        return text

    def make_merged_spec(self, dev):
        """A copy of this spec in which the parts that `dev` specifies are replaced by those of `dev`."""
        return type(self)(**{part: mine if theirs is None else theirs
                             for (part, mine), theirs in zip(self._parts().items(), dev._parts().values())})

    def replace(self, **kwargs):
        """A copy of this spec with some parts replaced."""
        return type(self)(**{**self._parts(), **kwargs})

    def __eq__(self, other):
        return isinstance(other, DeviceSpecV2) and self.to_string() == other.to_string()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return f"<DeviceSpec({', '.join(f'{part}={value}' for part, value in self._parts().items())})>"


def _settable(part):
    def set_part(self, value):
        setattr(self, "_" + part, getattr(type(self)(**{part: value}), part))

    return property(getattr(DeviceSpecV2, part).fget, set_part, doc=getattr(DeviceSpecV2, part).__doc__)


@export("compat.v1.DeviceSpec")
class DeviceSpecV1(DeviceSpecV2):
    """A DeviceSpec whose parts can be assigned."""

    job, replica, task, device_type, device_index = map(_settable, _PARTS)

    def parse_from_string(self, spec):
        """Replaces all parts of this spec by those of a device name."""
        self.__init__(**_parsed(spec))
        return self

    def merge_from(self, dev):
        """Replaces the parts of this spec that `dev` specifies."""
        self.__init__(**self.make_merged_spec(dev)._parts())


DeviceSpecV2.__module__ = "tensorflow.python.framework.device_spec"
DeviceSpecV1.__module__ = DeviceSpecV2.__module__
