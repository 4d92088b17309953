"""A for statement over a dataset in a graph: a While node that takes elements from an iterator."""
from .. import _core, dtypes
from ..dataset_iterators import OwnedIterator
from .looping import Elements, Loop


def for_dataset(iterated, *loop):
    """The hook of for_stmt for a dataset. Each run of the loop creates a new iterator."""
    return for_iterator(OwnedIterator(iterated), *loop)


def for_iterator(iterator, extra_test, body, get_state, set_state, names, opts):
    """The hook of for_stmt for an iterator, which continues at its position. The test only peeks at the next element, so
    after a break that element is still in the iterator."""
    loop = Loop(names, get_state, set_state, opts)
    elements = Elements(_core.convert(0, dtypes.int64), lambda _: iterator._has_next(), 1, lambda _: iterator.get_next())
    loop.run_for(elements, extra_test, body)
