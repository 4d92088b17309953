"""Datasets in a graph: a for statement over one is a While that asks an iterator for its elements."""
from .. import _core, dtypes
from ..dataset_iterators import OwnedIterator
from .looping import Elements, Loop


def for_dataset(iterated, *loop):
    """The hook for for_stmt: each run of the loop has an iterator of its own."""
    return for_iterator(OwnedIterator(iterated), *loop)


def for_iterator(iterator, extra_test, body, get_state, set_state, names, opts):
    """The same for an iterator, which goes on where it is. The test does not use up the element that it finds, so a break
    leaves the next one to whoever asks later."""
    loop = Loop(names, get_state, set_state, opts)
    elements = Elements(_core.convert(0, dtypes.int64), lambda _: iterator._has_next(), 1, lambda _: iterator.get_next())
    loop.run_for(elements, extra_test, body)
