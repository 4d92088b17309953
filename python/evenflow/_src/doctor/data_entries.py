"""Counts what a program asks of datasets: datasets made, iterators with their elements, and how long the loop over an
iterator waited for its elements. Only under the doctor: the classes are wrapped when it begins."""
import functools
import importlib
import time
import weakref

from evenflow import _core

from .observed import KINDS, REASONS

_DATASET, _ITERATOR, _WAIT = (KINDS.index(k) for k in ("dataset made", "iterator", "wait"))
_DATA = REASONS.index("data")
_open = weakref.WeakSet()  # iterators that have counts nobody has been told of


class _Counts:
    """Of one iterator: ticks of setting it up, elements, ticks of waiting for them, when it began, and where it is read."""

    __slots__ = ("setup", "elements", "wait", "began", "place")

    def __init__(self, setup):
        self.setup, self.elements, self.wait, self.began, self.place = setup, 0, 0, time.perf_counter_ns(), 0


def _made(init):
    @functools.wraps(init)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        init(self, *args, **kwargs)
        _core.event_post(_DATASET, began)
        _core.dataset_place(self._variant_tensor)
    return call


def _opened(init):
    @functools.wraps(init)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        init(self, *args, **kwargs)
        self._doctor = _Counts(_core.event_clock() - began)
        _open.add(self)
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
            counts.elements += 1
            counts.wait += _core.event_clock() - began
            if not counts.place:
                counts.place = _core.event_here()
        return element
    return call


def _report(iterator, last=0):
    counts = getattr(iterator, "_doctor", None)
    if not counts:
        return
    iterator._doctor = None
    _open.discard(iterator)
    now = _core.event_clock()
    _core.event_post(_ITERATOR, now - counts.setup - last, counts.elements, place=counts.place)
    _core.event_post(_WAIT, now - counts.wait, time.perf_counter_ns() - counts.began, counts.elements, reason=_DATA,
                     place=counts.place)


def _dropped(self):
    if _report is not None and getattr(self, "_doctor", None) and self._doctor.place:
        _report(self)


def tell():
    """Posts what iterators and pipelines that are still open have done."""
    for iterator in list(_open):
        if iterator._doctor and iterator._doctor.place:
            _report(iterator)
    _core.stages_tell()


def install():
    _core.stages_watch(True)
    datasets = importlib.import_module("evenflow._src.datasets")
    if getattr(datasets, "_doctor_counts", False):
        return
    datasets._doctor_counts = True
    datasets.Dataset.__init__ = _made(datasets.Dataset.__init__)
    iterator = datasets.OwnedIterator
    iterator.__init__ = _opened(iterator.__init__)
    iterator.__next__ = _given(iterator.__next__)
    iterator.__del__ = _dropped


def end():
    _core.stages_watch(False)
