"""What a report with pictures needs beyond sums: events and memory over the whole run. A thread of its own reads them
five times a second, only when a page was asked for. Both lists are bounded: when one is full, every second entry goes."""
import os
import threading
import time

from evenflow import _core

from .observed import KINDS, Place

MOST_EVENTS, MOST_POINTS = 6000, 1200
_PAGE = os.sysconf("SC_PAGE_SIZE")
# Kinds that the timeline shows; the others are too many, or have no duration.
SHOWN = ("trace", "compile", "plan", "step", "session run", "function call", "eager op", "conversion", "host copy", "wait",
         "model entry")


def resident():
    """Bytes of memory the process has in use."""
    try:
        with open("/proc/self/statm", "rb") as f:
            return int(f.read().split()[1]) * _PAGE
    except OSError:
        return 0


class Recorder:
    """`events`: (end in ms, duration in ms, kind, Place or None); `memory`: (ms, bytes)."""

    EVERY = 0.2  # seconds

    def __init__(self):
        self.events, self.memory = [], []
        self._began = time.monotonic_ns()
        self._seen = self._began
        self._shown = {KINDS.index(k) for k in SHOWN}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evenflow doctor", daemon=True)
        self._thread.start()

    def _run(self):
        while not self._over.wait(self.EVERY):
            self._look()

    def _look(self):
        newest, found = self._seen, []
        for e in _core.events()[0]:
            if e[0] <= self._seen:
                continue
            newest = max(newest, e[0])
            if e[2] in self._shown and e[1] > 0:
                place = _core.event_place(e[5]) if e[5] else None
                found.append(((e[0] - self._began) / 1e6, e[1] / 1e6, KINDS[e[2]], Place(*place) if place else None))
        self._seen = newest
        self.events = _thinned(self.events + found, MOST_EVENTS)
        self.memory = _thinned([*self.memory, ((time.monotonic_ns() - self._began) / 1e6, resident())], MOST_POINTS)

    def end(self):
        self._over.set()
        self._thread.join()
        self._look()


def _thinned(entries, most):
    while len(entries) > most:
        entries = entries[::2]
    return entries
