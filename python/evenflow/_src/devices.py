"""tf.device: where ops are wanted. A device that is not there stands for CPU:0; a graph remembers what was asked for.

A graph numbers its nodes in the order they are made, so a scope is kept as a span of numbers, and an op's device is
what the spans around its number say together.
"""
import contextlib
import re

from . import _core
from .config import check_device
from .namespace import export

_MANY = 64  # spans kept before those are looked for whose ops the graph has forgotten
_PARTS = re.compile(r"(job|replica|task):([\w.-]+)|(?:device:)?([A-Za-z_]+)(?::(\d+|\*))?")


def _fields(name):
    """The parts of a device's name: {"job": "ps", "device": "CPU:0"}."""
    found = {}
    for part in filter(None, name.split("/")):
        job = _PARTS.fullmatch(part)
        if job and job[1]:
            found[job[1]] = job[2]
        elif job:
            found["device"] = f"{job[3].upper()}:{job[4] or '*'}"
    return found


def _text(fields):
    return "".join(f"/{k}:{fields[k]}" for k in ("job", "replica", "task", "device") if k in fields)


class _Asked:
    """A function that names the device of each op; it is asked once for every op."""

    def __init__(self, graph, function):
        self.graph, self.function, self.answers = graph, function, {}

    def device(self, node):
        found = self.answers.get(node)
        if found is None:
            self.answers[node] = ""  # what the function sees if it asks for the op's device itself
            found = self.function(self.graph._operation(node)) or ""
            found = self.answers[node] = found.to_string() if hasattr(found, "to_string") else found
        return found

    def every(self, first, last):
        for node in range(first, last):
            if not self.graph._gone(node):
                self.device(node)


@contextlib.contextmanager
def scope(graph, wanted):
    """Ops added to `graph` inside are wanted on the device `wanted`: a name, None, or a function of the op."""
    if hasattr(wanted, "to_string"):
        wanted = wanted.to_string()
    elif hasattr(wanted, "name") and not callable(wanted):
        wanted = wanted.name
    spans = graph.__dict__.setdefault("_device_spans", [])
    span = [graph._nodes(), None, wanted]
    if callable(wanted):
        span[2] = _Asked(graph, wanted)
    spans.append(span)
    try:
        with _wanted(wanted):
            yield
    finally:
        span[1] = graph._nodes()
        if callable(wanted):
            span[2].every(span[0], span[1])
        if span[0] == span[1]:
            spans.remove(span)
        elif len(spans) > _MANY and len(spans) & (len(spans) - 1) == 0:
            spans[:] = [s for s in spans if s[1] is None or not all(map(graph._gone, range(s[0], s[1])))]


def of_node(graph, node):
    """The device that op number `node` was asked for; "" if there is none."""
    fields = {}
    for first, last, wanted in graph.__dict__.get("_device_spans", ()):
        if node < first or (last is not None and node >= last):
            continue
        if isinstance(wanted, _Asked):
            wanted = wanted.device(node)
            fields = {**_fields(wanted), **fields}  # a function speaks last: it fills in what is open
        else:
            fields = {} if wanted is None else {**fields, **_fields(wanted)}
    return _text(fields)


@export("device", "compat.v1.device")
@contextlib.contextmanager
def device(device_name):
    """Asks for a device: ops inside run there, and so do the nodes of graphs that are built inside. An op that the device
    has no kernel for runs on CPU:0, and so does everything that is wanted on a device that is not there."""
    graph = _core.current_graph()
    check_device(device_name, graph is None)
    with _wanted(device_name) if graph is None else scope(graph, device_name):
        yield


@contextlib.contextmanager
def _wanted(name):
    """Tells the engine. A name without a device ("/job:localhost"), or a function of the op, changes nothing there."""
    name = name.to_string() if hasattr(name, "to_string") else getattr(name, "name", name)
    number = 0
    if isinstance(name, str) and name:
        kind = _fields(name).get("device")
        if kind is None:
            yield
            return
        number = _core.device_number(kind.replace(":*", ""))
        number = 1 if number < 0 else number + 1
    elif callable(name):
        yield
        return
    before = _core.device_want(number)
    try:
        yield
    finally:
        _core.device_want(before)
