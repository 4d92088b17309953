"""tf.profiler.experimental: writes the engine's events as profiles in the format of TensorBoard's profile plugin."""
import collections
import os
import socket
import time

from . import errors, wire
from .namespace import export
from .recording import Recording, _now

_active = None  # (recording, directory, options)


@export("profiler.experimental.ProfilerOptions")
class ProfilerOptions(collections.namedtuple("ProfilerOptions", ("host_tracer_level", "python_tracer_level",
                                                                 "device_tracer_level", "delay_ms"))):
    """What a profile records. The engine's events have no levels, so the levels have no effect, except that a
    host_tracer_level of 0 records only the spans of Trace."""

    __slots__ = ()

    def __new__(cls, host_tracer_level=2, python_tracer_level=0, device_tracer_level=1, delay_ms=None):
        return super().__new__(cls, host_tracer_level, python_tracer_level, device_tracer_level, delay_ms)


@export("profiler.experimental.start")
def start(logdir, options=None):
    """Starts a profile. Only one can run at a time."""
    global _active
    try:
        recording = Recording()
    except RuntimeError:
        raise errors.AlreadyExistsError(None, None, "Another profiler is running.") from None
    _active = recording, os.fspath(logdir), options


@export("profiler.experimental.stop")
def stop(save=True):
    """Stops the profile and, with `save`, writes it to plugins/profile/<time>/<host>.xplane.pb in its directory."""
    global _active
    if _active is None:
        raise errors.UnavailableError(None, None, "Cannot export profiling results. No profiler is running.")
    (recording, folder, options), _active = _active, None
    slices, dropped = recording.end(save)
    if options is not None and options.host_tracer_level == 0:
        slices = [s for s in slices if s.kind == "span"]
    if save:
        _save(folder, recording, slices, dropped)


def _save(folder, recording, slices, dropped):
    host = socket.gethostname()
    run = os.path.join(folder, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    os.makedirs(run, exist_ok=True)
    with open(os.path.join(run, f"{host}.xplane.pb"), "wb") as f:
        f.write(xspace(host, recording.wall_ns, slices, dropped))


@export("profiler.experimental.Profile")
class Profile:
    """Profiles the code of a `with` block."""

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, kind, error, trace):
        stop()


@export("profiler.experimental.Trace")
class Trace:
    """A named span in the profile. With the argument `step_num` it is a step."""

    def __init__(self, name, **kwargs):
        self._name, self._args = name, kwargs
        self._begin = _now()  # as in TensorFlow, the span begins with the constructor

    def set_metadata(self, **kwargs):
        """Adds values to the span."""
        self._args.update(kwargs)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        recording = Recording.current
        if recording is not None and self._begin >= recording.begun:
            recording.add_span(self._begin, _now(), self._name, dict(self._args))


# ---- XSpace ----------------------------------------------------------------------------------------------


class _Names:
    """A table of names, numbered from 1: the metadata of a plane."""

    def __init__(self, field):
        self._field, self._numbers = field, {}

    def number(self, name):
        """The number of a name."""
        return self._numbers.setdefault(name, len(self._numbers) + 1)

    def written(self):
        """The table as a protobuf map from a number to a message with the number and the name."""
        return b"".join(wire.message(self._field, wire.number(1, n) + wire.message(2, wire.number(1, n) + wire.text(2, name)))
                        for name, n in self._numbers.items())


def _stat(stats, name, value):
    made = wire.number(1, stats.number(name))
    if isinstance(value, float):
        made += wire.double(2, value)
    elif isinstance(value, (int, bool)):
        made += wire.varint(4 << 3) + wire.varint(int(value))
    else:
        made += wire.message(5, str(value).encode())
    return wire.message(4, made)


def _xevent(s, events, stats):
    args = dict(s.args)
    if s.kind == "span" and "step_num" in args:
        args.setdefault("_r", 1)  # the root of a group: a step
    inner = wire.number(1, events.number(_xname(s))) + wire.number(2, s.begin * 1000) + wire.number(3, (s.end - s.begin) * 1000)
    return wire.message(4, inner + b"".join(_stat(stats, k, v) for k, v in args.items()))


def _xname(s):
    """The name of an event. Ops are named NAME:TYPE, by which TensorBoard recognizes them."""
    return f"{s.name}:{s.name}" if s.kind != "span" and "bytes" in s.args and s.name[:1].isupper() else s.name


def xspace(host, wall_ns, slices, dropped):
    """A serialized XSpace with one plane, that of the host, and a line for each thread. Its times are in picoseconds."""
    events, stats, lines = _Names(4), _Names(5), collections.defaultdict(list)
    for s in slices:
        if s.begin >= 0:
            lines[s.thread].append(_xevent(s, events, stats))
    written = b"".join(
        wire.message(3, wire.number(1, thread + 1) + wire.text(2, "python" if k == 0 else f"evenflow/{thread}") +
                     wire.number(3, wall_ns) + b"".join(made))
        for k, (thread, made) in enumerate(sorted(lines.items())))
    plane = wire.text(2, "/host:CPU") + written + events.written() + stats.written()
    warning = wire.text(3, f"{dropped} events did not fit into the recording") if dropped else b""
    return wire.message(1, plane) + warning + wire.text(4, host)
