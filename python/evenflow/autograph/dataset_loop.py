"""Datasets in a graph: their elements come from Python when it runs.

A for statement is one While. Each run of it has an iterator of its own here, found again by a number that the graph
carries. An iterator from outside that is asked for its next element is an op.
"""
import collections
import itertools
import weakref

from .. import _core, dtypes, nest
from ..datasets import find_iterator
from ..host import failure
from ..optional import Optional
from ..specs import TensorSpec
from .looping import Elements, Loop

MOST = 1024  # loops that ended in an error leave their iterators behind; the oldest are forgotten

_numbers = itertools.count(1)


class _Running:
    """The elements of one run of the loop, asked for by their positions, which grow."""

    def __init__(self, iterated):
        self.iterated, self._elements = iterated, iterated._graph_elements()
        self.element, self.position = None, -1

    def reach(self, position):
        """Makes the element at `position` the current one; False: there is none."""
        while self.position < position:
            found = next(self._elements, self)
            if found is self:
                return False
            self.element, self.position = found, self.position + 1
        return True


class _Source:
    """What the graph's ops call."""

    def __init__(self, iterated, spec):
        self._spec, self._running = nest.flatten(spec), collections.OrderedDict()
        self._iterated = iterated if iterated._asked is None else None

    def start(self, tensors):
        number = next(_numbers)
        self._running[number] = _Running(find_iterator(*tensors) if tensors else self._iterated)
        if len(self._running) > MOST:
            self._running.popitem(last=False)
        return [_core.convert(number, dtypes.int64)]

    def more(self, tensors):
        number, position = (int(t) for t in tensors)
        return [_core.convert(self._running[number].reach(position))]

    def element(self, tensors):
        number, position = (int(t) for t in tensors)
        running = self._running[number]
        running.reach(position)
        return [_core.convert(e, s.dtype) for e, s in zip(nest.flatten(running.element), self._spec)]

    def end(self, tensors):
        number, turns = (int(t) for t in tensors)
        running = self._running.pop(number, None)
        if running is not None and running.position >= turns:  # looked at, and then there was a break
            running.iterated._take_back(running.element)
        return []


def _call(method, inputs, types, shapes):
    """An op that calls `method` when the graph runs; what the user's iterator raises becomes its error."""
    def call(tensors):
        try:
            return method(tensors)
        except Exception as e:
            raise failure(e) from e

    return _core.callback(call, inputs, types, shapes, True)


def _asked(iterated):
    return [] if iterated._asked is None else [iterated._asked]


def for_dataset(iterated, extra_test, body, get_state, set_state, names, opts):
    """The hook for for_stmt; NotImplemented: the elements cannot be described, or are themselves of the graph."""
    spec = iterated.element_spec
    if not iterated._from_host or spec is None or not all(isinstance(s, TensorSpec) for s in nest.flatten(spec)):
        return NotImplemented
    source = _Source(iterated, spec)
    types, shapes = [s.dtype for s in source._spec], [s.shape for s in source._spec]
    [number] = _call(source.start, _asked(iterated), [dtypes.int64], [()])

    def more(position):
        return _call(source.more, [number, position], [dtypes.bool], [()])[0]

    def element(position):
        return nest.pack_sequence_as(spec, _call(source.element, [number, position], types, shapes))

    loop = Loop(names, get_state, set_state, opts)
    loop.run_for(Elements(_core.convert(0, dtypes.int64), more, 1, element), extra_test, body)
    _call(source.end, [number, loop.counter_after], [], [])
    return None


def next_element(iterator, optional):
    """The next element of an iterator, or an Optional of it, whenever the graph runs. Who calls the function keeps the
    iterator, so the graph need not."""
    spec, itself = iterator.element_spec, weakref.ref(iterator)
    parts = nest.flatten(spec, expand_composites=True)
    if optional:
        parts = nest.flatten(Optional.empty(spec)._type_spec, expand_composites=True)

    def take(tensors):
        found = find_iterator(*tensors) if tensors else itself()
        value = found.get_next_as_optional() if optional else found.get_next()
        return [_core.convert(e, s.dtype) for e, s in zip(nest.flatten(value, expand_composites=True), parts)]

    made = _call(take, _asked(iterator), [s.dtype for s in parts], [s.shape for s in parts])
    if optional:
        return Optional(spec, made[0], made[1:])
    return nest.pack_sequence_as(spec, made, expand_composites=True)
