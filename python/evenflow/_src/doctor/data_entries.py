"""Counts what a program asks of datasets: datasets made, iterators with their elements, and how long the loop over an
iterator waited for its elements. Only under the doctor: the classes are wrapped when it begins."""
import functools
import importlib
import time

from evenflow import _core

from .observed import KINDS, REASONS

_DATASET, _ITERATOR, _WAIT = (KINDS.index(k) for k in ("dataset made", "iterator", "wait"))
_DATA = REASONS.index("data")


def _made(init):
    @functools.wraps(init)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        init(self, *args, **kwargs)
        _core.event_post(_DATASET, began)
    return call


def _opened(init):
    @functools.wraps(init)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        init(self, *args, **kwargs)
        self._doctor = [_core.event_clock() - began, 0, 0, time.perf_counter_ns()]
    return call


def _given(step):
    @functools.wraps(step)
    def call(self):
        began = _core.event_clock()
        try:
            element = step(self)
        except StopIteration:
            _report(self, _core.event_clock() - began)
            raise
        counts = getattr(self, "_doctor", None)
        if counts:
            counts[1] += 1
            counts[2] += _core.event_clock() - began
        return element
    return call


def _report(iterator, last):
    counts = getattr(iterator, "_doctor", None)
    if not counts:
        return
    setup, elements, wait, began = counts
    iterator._doctor = None
    now = _core.event_clock()
    _core.event_post(_ITERATOR, now - setup - last, elements)
    _core.event_post(_WAIT, now - wait, time.perf_counter_ns() - began, elements, reason=_DATA)


def install():
    datasets = importlib.import_module("evenflow._src.datasets")
    if getattr(datasets, "_doctor_counts", False):
        return
    datasets._doctor_counts = True
    datasets.Dataset.__init__ = _made(datasets.Dataset.__init__)
    iterator = datasets.OwnedIterator
    iterator.__init__ = _opened(iterator.__init__)
    iterator.__next__ = _given(iterator.__next__)
