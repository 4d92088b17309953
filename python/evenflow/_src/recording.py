"""Records the engine's events as slices of time for each thread, from which profiles and trace files are made.

During a recording every call is sampled and each step of a plan is an event; the engine keeps the first 2^18 events.
Spans that the program names itself (tf.profiler.experimental.Trace) are stored here, with the thread that entered them.
"""
import bisect
import collections
import functools
import threading
import time

from . import _core

Slice = collections.namedtuple("Slice", "thread begin end name kind args")  # times in ns since the recording began
_KINDS = {name: k for k, name in enumerate(_core.event_kinds()[0])}
_CALLS = {_KINDS[k] for k in ("function call", "session run", "eager op", "trace", "host copy")}
MOST_SPANS = 1 << 16

_now = time.monotonic_ns


class Recording:
    """One recording, from its construction to `end`."""

    current = None  # the active recording
    _lock = threading.Lock()

    def __init__(self):
        with Recording._lock:
            if Recording.current is not None:
                raise RuntimeError("another recording is active")
            Recording.current = self
        self.spans = []  # (Python thread id, begin, end, name, args)
        self._period = _core.event_period(1)
        self.wall_ns, self.begun = time.time_ns(), _now()
        _core.events_record(True)

    def end(self, keep=True):
        """Ends the recording. Returns (slices, nested for each thread; number of events that were dropped)."""
        events, dropped = _core.events_record(False)
        _core.event_period(self._period)
        self.ended = _now()
        with Recording._lock:
            Recording.current = None
        return (self._slices(events), dropped) if keep else ([], 0)

    def _slices(self, events):
        made = [self._slice(e) for e in events if e[0] - e[1] >= self.begun - 1_000_000]
        homes = _homes(self.spans, made, self.begun)
        for thread, begin, end, name, args in self.spans:
            made.append(Slice(homes[thread], begin - self.begun, end - self.begun, name, "span", args))
        return nest(made)

    def _slice(self, event):
        time_, duration, kind, reason, thread, place, subject, note, weight, *values = event
        name, args = _described(kind, subject, values)
        where = _place(place)
        if where:
            args["place"] = where
        end = time_ - self.begun
        return Slice(thread, end - duration, end, name, kind, args)

    def add_span(self, begin, end, name, args):
        """Adds a span of the calling thread."""
        if len(self.spans) < MOST_SPANS:
            self.spans.append((threading.get_ident(), begin, end, name, args))


@functools.lru_cache(4096)
def _op(address):
    return (_core.event_op(address) if address else None) or "fused"


@functools.lru_cache(4096)
def _place(number):
    found = _core.event_place(number) if number else None
    return f"{found[0]}:{found[1]}" if found else ""


def _described(kind, subject, values):
    """(name, arguments) of the slice of an event."""
    word = _core.event_kinds()[0][kind]
    if word == "step":
        return _op(values[1]), {"bytes": values[0]}
    if word == "eager op":
        return _op(values[1]), {"bytes": values[0]}
    about = _core.event_place(subject) if subject else None
    if word in ("function call", "trace"):
        name = about[2] if about else "function"
        return (name if word == "function call" else f"trace {name}"), {"bytes" if word == "function call" else "nodes": values[0]}
    return word, {"value": values[0]} if values[0] else {}


def _homes(spans, slices, begun):
    """{Python thread id: engine thread number} for threads with spans. It is the engine thread whose calls lie inside the
    spans; a Python thread without calls gets a new number."""
    calls = sorted((s.begin, s.end, s.thread) for s in slices if s.kind in _CALLS)
    counted = collections.defaultdict(collections.Counter)
    for thread, begin, end, *_ in spans:
        for at in range(bisect.bisect_left(calls, (begin - begun,)), len(calls)):
            first, last, of = calls[at]
            if first >= end - begun:
                break
            if last <= end - begun:
                counted[thread][of] += 1
    homes, taken = {}, {s.thread for s in slices}
    for thread in {s[0] for s in spans}:
        free = [of for of, _ in counted[thread].most_common() if of not in homes.values()]
        homes[thread] = free[0] if free else max(taken | set(homes.values()), default=-1) + 1
    return homes


def nest(slices):
    """Adjusts the slices so that those of one thread are either nested or disjoint; the outermost is first.

    If two slices overlap, the one that ended first is inside the other. Converting ticks to nanoseconds rounds, so an outer
    slice may begin 1 ns after its first inner slice; its begin is then moved to that of the inner slice."""
    made, open_ = [], collections.defaultdict(list)
    for s in sorted(slices, key=lambda s: (s.thread, s.end, -s.begin)):
        before = open_[s.thread]
        begin = min(s.begin, s.end)
        while before and before[-1][1] > begin:
            begin = min(begin, before.pop()[0])
        before.append((begin, s.end))
        made.append(s._replace(begin=begin))
    return sorted(made, key=lambda s: (s.thread, s.begin, -s.end))
