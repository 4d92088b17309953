"""tf.device: on which device ops are placed. A device that does not exist is replaced by CPU:0, but a graph still records the
name that the program gave.

A graph numbers its nodes in the order in which they are added. So a scope is stored as a span of node numbers, and the
device of an op follows from all spans that contain its number.
"""
import contextlib
import re

from . import _core
from .config import check_device
from .namespace import export

_MANY = 64  # above this number of spans, those are dropped whose ops have all been removed from the graph
_PARTS = re.compile(r"(job|replica|task):([\w.-]+)|(?:device:)?([A-Za-z_]+)(?::(\d+|\*))?")


def _fields(name):
    """The parts of a device name, such as {"job": "ps", "device": "CPU:0"}."""
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
    """A user's function that returns the device of an op. It is called once for every op."""

    def __init__(self, graph, function):
        self.graph, self.function, self.answers = graph, function, {}

    def device(self, node):
        found = self.answers.get(node)
        if found is None:
            self.answers[node] = ""  # the device of the op while the function itself runs
            found = self.function(self.graph._operation(node)) or ""
            found = self.answers[node] = found.to_string() if hasattr(found, "to_string") else found
        return found

    def every(self, first, last):
        for node in range(first, last):
            if not self.graph._gone(node):
                self.device(node)


@contextlib.contextmanager
def scope(graph, wanted):
    """Places the ops that are added to `graph` inside on the device `wanted`: a name, None, or a function of the op."""
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
    """The device name that the program gave for node number `node`; "" if it gave none."""
    fields = {}
    for first, last, wanted in graph.__dict__.get("_device_spans", ()):
        if node < first or (last is not None and node >= last):
            continue
        if isinstance(wanted, _Asked):
            wanted = wanted.device(node)
            fields = {**_fields(wanted), **fields}  # a function only adds the parts that no name specifies
        else:
            fields = {} if wanted is None else {**fields, **_fields(wanted)}
    return _text(fields)


@export("device", "compat.v1.device")
@contextlib.contextmanager
def device(device_name):
    """Places the ops inside, and the nodes of graphs that are built inside, on a device. An op runs on CPU:0 instead if the
    device has no kernel for it or does not exist."""
    graph = _core.current_graph()
    check_device(device_name, graph is None)
    with _wanted(device_name) if graph is None else scope(graph, device_name):
        yield


@contextlib.contextmanager
def _wanted(name):
    """Sets the device in the engine. A name without a device ("/job:localhost"), or a function of the op, sets nothing."""
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
