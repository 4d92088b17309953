"""Counts what a program asks of datasets: datasets made, iterators with their elements, and how long the loop over an
iterator waited for its elements. Only under the doctor: the classes are wrapped when it begins."""
import contextlib
import functools
import importlib
import time
import weakref

from evenflow import _core

from evenflow._src import dataset_elements

from .observed import KINDS, REASONS

_DATASET, _ITERATOR, _WAIT, _STAGE = (KINDS.index(k) for k in ("dataset made", "iterator", "wait", "pipeline stage"))
_DATA = REASONS.index("data")
_open = weakref.WeakSet()  # iterators that have counts nobody has been told of
_BEGAN = _core.event_clock(), time.monotonic_ns()
clock = time.monotonic_ns  # a test gives another one


def _ticks(ns):
    """A duration in the units of the clock of events."""
    return int(ns * (_core.event_clock() - _BEGAN[0]) / max(1, time.monotonic_ns() - _BEGAN[1]))


class _Counts:
    """Of one iterator, in nanoseconds: the time of setting it up, elements, the time of waiting for them, when it began, where
    it is read, and whether its elements have one shape."""

    __slots__ = ("setup", "elements", "wait", "began", "place", "alike")

    def __init__(self, setup, alike):
        self.setup, self.elements, self.wait, self.began, self.place, self.alike = setup, 0, 0, clock(), 0, alike


def _alike(spec):
    """2: all elements of a spec are tensors of the same known sizes; 1: but for the first axis, which may be that of a batch; 0: their
    sizes differ, so that they cannot be batched."""
    try:
        shapes = [s.shape for s in dataset_elements.flat_specs(spec)]
        if all(shape.is_fully_defined() for shape in shapes):
            return 2
        return int(all(shape.rank and shape[1:].is_fully_defined() for shape in shapes))
    except (AttributeError, TypeError, ValueError):
        return 0


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
        began = clock()
        init(self, *args, **kwargs)
        self._doctor = _Counts(clock() - began, _alike(self._element_spec))
        _open.add(self)
    return call


def _given(step):
    @functools.wraps(step)
    def call(self):
        counts = getattr(self, "_doctor", None)
        if counts and not counts.place:
            counts.place = _core.event_here()  # also if it fails
        began = clock()
        try:
            element = step(self)
        except StopIteration:
            _report(self, clock() - began)
            raise
        if counts:
            counts.elements += 1
            counts.wait += clock() - began
        return element
    return call


def _report(iterator, last=0):
    counts = getattr(iterator, "_doctor", None)
    if not counts:
        return
    iterator._doctor = None
    _open.discard(iterator)
    _core.event_post(_ITERATOR, _core.event_clock() - _ticks(counts.setup + last), counts.elements, counts.alike, place=counts.place)
    _core.event_post(_WAIT, _core.event_clock() - _ticks(counts.wait), clock() - counts.began, counts.elements, reason=_DATA,
                     place=counts.place)


def _dropped(self):
    if _report is not None and getattr(self, "_doctor", None) and self._doctor.place:
        _report(self)


def _given_by_stages():
    """(nanoseconds, elements) that the last stages of all pipelines took to give their elements."""
    _core.stages_tell()
    stages = [t for t in _core.event_tallies() if t[0] == _STAGE]
    read = {t[3] for t in stages}
    last = [t for t in stages if t[2] not in read]
    return sum(t[9] for t in last), sum(t[8] for t in last)


@contextlib.contextmanager
def reading(dataset):
    """A call that reads a whole dataset inside the engine, as fit does: how long it waits for elements is told by the stages."""
    if not hasattr(dataset, "_variant_tensor"):
        yield
        return
    (waited, given), began = _given_by_stages(), clock()
    try:
        yield
    finally:
        after = _given_by_stages()
        if after[1] > given:
            _core.event_post(_WAIT, _core.event_clock() - _ticks(after[0] - waited), clock() - began, after[1] - given, reason=_DATA)


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
