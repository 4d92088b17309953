"""What a report with pictures needs beyond sums: events, memory and stacks over the whole run. A thread of its own looks at
them, only when a page was asked for. Everything is bounded: lists keep entries evenly spread over the run; the tree of stacks
takes no new nodes beyond a number of them."""
import os
import sys
import sysconfig
import threading
import time

from evenflow import _core

from . import holders
from .observed import KINDS, Place

MOST_EVENTS, MOST_POINTS, MOST_NODES, DEEPEST = 1000, 1200, 1500, 24  # MOST_EVENTS: of each kind
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Kinds that the pictures show; the others are too many, or have no duration.
SHOWN = ("function call", "session run", "eager op", "model entry", "trace", "plan", "compile", "step", "conversion", "pipeline stage",
         "host copy", "wait", "save")
_HERE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep  # the package
_LIBRARY = sysconfig.get_paths()["stdlib"] + os.sep


def resident():
    """Bytes of memory the process has in use."""
    try:
        with open("/proc/self/statm", "rb") as f:
            return int(f.read().split()[1]) * _PAGE
    except OSError:
        return 0


class Spread:
    """At most `most` (an even number) of the entries that are added, evenly spread over all of them: when it is full every second one
    goes, and from then on only every second new one is kept."""

    __slots__ = ("kept", "most", "_every", "_added")

    def __init__(self, most):
        self.kept, self.most, self._every, self._added = [], most, 1, 0

    def add(self, entry):
        if self._added % self._every == 0:
            if len(self.kept) >= self.most:
                self.kept, self._every = self.kept[::2], 2 * self._every
            self.kept.append(entry)
        self._added += 1


class Node:
    """A frame of the flame graph: milliseconds spent in it and below."""

    __slots__ = ("ms", "below")

    def __init__(self):
        self.ms, self.below = 0.0, {}


def _label(frame):
    """(file, line, function) of a frame of the program; the package's and Keras's are one each; None: Python's own."""
    file = frame.f_code.co_filename
    if file.startswith(_HERE):
        return "Evenflow"
    if "-packages" in file:
        parts = file.split("-packages" + os.sep, 1)[-1].split(os.sep)
        if parts[0] == "malt":  # it turns Python into graphs
            return "Evenflow"
        return parts[0].capitalize() if len(parts) > 1 else parts[0]
    if file.startswith(_LIBRARY) or file.startswith("<frozen"):
        return None
    return file, frame.f_lineno, frame.f_code.co_name


class Recorder:
    """`events`: (end in ms, duration in ms, kind, Place or None); `memory`: (ms, bytes of the process, bytes of tensors, and
    their holders); `stacks`: a tree of Nodes."""

    EVERY = 0.2  # seconds, for events and memory; less while events are overwritten faster than that
    LEAST, FIRST = 0.04, 0.02  # FIRST: short runs have pictures, too
    STACKS = 0.01  # seconds, for stacks

    def __init__(self):
        self._kinds, self.stacks, self.nodes = {k: Spread(MOST_EVENTS) for k in SHOWN}, Node(), 0
        self._moments, self._peak, self._last = Spread(MOST_POINTS), None, None
        self._every, self._dropped = self.FIRST, 0
        self._began = time.monotonic_ns()
        self._seen = self._began
        self._main = threading.main_thread().ident
        self._shown = {KINDS.index(k) for k in SHOWN}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenflow doctor", daemon=True)
        holders.watch(True)
        self._remember()
        self._thread.start()

    def _run(self):
        looked = before = time.monotonic()
        while not self._over.wait(self.STACKS):
            now = time.monotonic()
            self._stack(1e3 * (now - before))
            before = now
            if now - looked >= self._every:
                looked = now
                self._look()

    def _stack(self, ms):
        """Adds the time since the last look to the stack of the main thread."""
        frame, labels = sys._current_frames().get(self._main), []
        while frame is not None:
            label = _label(frame)
            if label is not None and not (labels and labels[-1] == label and isinstance(label, str)):
                labels.append(label)
            frame = frame.f_back
        labels.reverse()
        if "Evenflow" in labels[:3]:  # the command that runs the program
            del labels[:labels.index("Evenflow") + 1]
        node = self.stacks
        node.ms += ms
        for label in labels[:DEEPEST]:
            below = node.below.get(label)
            if below is None:
                if self.nodes >= MOST_NODES:
                    return
                self.nodes += 1
                below = node.below[label] = Node()
            below.ms += ms
            node = below

    def _remember(self):
        tensors = _core.memory("CPU:0")["current"]
        moment = (time.monotonic_ns() - self._began) / 1e6, resident(), tensors, holders.now(tensors)
        self._moments.add(moment)
        self._last = moment
        if self._peak is None or tensors > self._peak[2]:
            self._peak = moment

    def _look(self):
        newest = self._seen
        events, dropped = _core.events()
        self._every = max(self.LEAST, self._every / 2) if dropped > self._dropped + 256 else min(self.EVERY, self._every * 1.1)
        self._dropped = dropped
        for e in events:
            if e[0] <= self._seen:
                continue
            newest = max(newest, e[0])
            if e[2] in self._shown and e[1] > 0:
                place = _core.event_place(e[5]) if e[5] else None
                self._kinds[KINDS[e[2]]].add(((e[0] - self._began) / 1e6, e[1] / 1e6, KINDS[e[2]], Place(*place) if place else None))
        self._seen = newest
        self._remember()

    @property
    def events(self):
        return [e for kind in self._kinds.values() for e in kind.kept]

    @property
    def memory(self):
        """The moments kept, with the one at which tensors took most, and the last one."""
        moments = {m[0]: m for m in (*self._moments.kept, self._peak, self._last) if m}
        return [moments[t] for t in sorted(moments)]

    def end(self):
        self._over.set()
        self._thread.join()
        self._look()
        holders.watch(False)
