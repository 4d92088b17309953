"""tf.data.Dataset, plain: elements are made one after the other when they are asked for.

What is here is sequential. Transformations that are not here (shuffling, parallel calls, files ...) are missing
names, not names that do less than they say.
"""
import itertools
import threading
import weakref

import numpy as np

from . import _core, dtypes, errors, nest
from .composite import CompositeTensor, SparseTensor, SparseTensorSpec, SparseTensorValue
from .graph import init_scope
from .namespace import export
from .shapes import TensorShape
from .optional import Iterator
from .ragged import RaggedTensor, RaggedTensorSpec
from .specs import TensorSpec, TypeSpec, type_spec_from_value

INFINITE, UNKNOWN = -1, -2


def _tensors(value):
    """Tuples and dicts are structure; everything else, lists too, becomes a tensor."""
    if isinstance(value, dict):
        return type(value)((k, _tensors(v)) for k, v in value.items())
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if isinstance(value, tuple):
        parts = [_tensors(v) for v in value]
        return type(value)._make(parts) if hasattr(value, "_make") else tuple(parts)
    if hasattr(value, "nested_row_splits"):
        from .ops.ragged_dispatch import as_ragged

        return as_ragged(value)
    return value if isinstance(value, CompositeTensor) else _core.convert(value)


def _as(value, spec):
    """A value of the user's as tensors of a signature; TypeError if it has another structure."""
    if isinstance(spec, dict) and isinstance(value, dict) and set(spec) == set(value):
        return {k: _as(value[k], s) for k, s in spec.items()}
    if isinstance(spec, (tuple, list)) and isinstance(value, (tuple, list)) and len(spec) == len(value):
        return tuple(_as(v, s) for v, s in zip(value, spec))
    if not isinstance(spec, TypeSpec):
        raise TypeError(f"`generator` yielded {value!r}, which does not have the structure of {spec}")
    return _core.convert(value, spec.dtype)


def _spec(structure):
    return nest.map_structure(type_spec_from_value, structure)


def _row_spec(whole):
    """The spec of a row of a tensor."""
    row = whole.shape[1:]
    if not isinstance(whole, CompositeTensor):
        return TensorSpec(row, whole.dtype)
    if isinstance(whole, SparseTensor):
        return SparseTensorSpec(row, whole.dtype)
    if not isinstance(whole, RaggedTensor):
        raise TypeError(f"from_tensor_slices takes dense, sparse and ragged tensors, not {whole!r}")
    deep = whole.ragged_rank > 1
    return RaggedTensorSpec(row, whole.dtype, whole.ragged_rank - 1, whole.row_splits.dtype) if deep else TensorSpec(row, whole.dtype)


def _row(whole, k):
    """Row number k of a tensor of any kind."""
    if not isinstance(whole, SparseTensor):
        return whole[k]
    from .ops import sparse

    sizes = whole.dense_shape[1:]
    start = _core.raw.Pad(_core.convert([k], dtypes.int64), [[0, whole.shape.rank - 1]])
    cut = sparse.slice(whole, start, _core.raw.ConcatV2([_core.convert([1], dtypes.int64), sizes], 0))
    return sparse.reshape(cut, sizes)


def _wider(spec, size):
    """The spec of a stack of elements."""
    return nest.map_structure(lambda s: TensorSpec([size] + (s.shape.as_list() if s.shape.rank is not None else []), s.dtype)
                              if s.shape.rank is not None else TensorSpec(None, s.dtype), spec)


def _packed(structure, elements):
    """The structure of datasets with an element of each in its place."""
    if isinstance(structure, dict):
        return {k: _packed(structure[k], elements) for k in sorted(structure)}
    if isinstance(structure, (tuple, list)):
        return tuple(_packed(s, elements) for s in structure)
    return next(elements)


def _graph_for(iterated, *loop):
    from .autograph.dataset_loop import for_dataset

    return for_dataset(iterated, *loop)


_numbers = itertools.count(1)
_numbered = weakref.WeakValueDictionary()  # number -> the iterator that was given to functions


class _Iteration:
    """The elements of a dataset, once. Random ops of the functions that make them begin anew in each iteration.

    Threads may share it, and each element goes to one of them: Python's generators refuse a second caller.
    """

    __slots__ = ("_elements", "_scope", "_lock")

    def __init__(self, dataset):
        self._elements, self._scope, self._lock = dataset._elements(), _core.random_scope(), threading.RLock()

    def __iter__(self):
        return self

    def __next__(self):
        with self._lock:
            before = _core.random_scope(self._scope)
            try:
                return next(self._elements)
            finally:
                _core.random_scope(before)


class OwnedIterator(Iterator):
    """Goes through the elements of a dataset once. Functions take it as a number, so that one trace serves all iterators
    over such elements."""

    _number = None  # a tensor, once a function was called with it

    def __init__(self, dataset):
        self._dataset = dataset
        self._elements = _Iteration(dataset)
        self._goes_on = _core.executing_eagerly()  # from run to run of a graph; one made while tracing begins anew

    @property
    def element_spec(self):
        return self._dataset.element_spec

    def __iter__(self):
        return self if _core.executing_eagerly() else self._elements  # Python's own loops cannot be recorded

    def __next__(self):
        return self._recorded(False) if self._records() else next(self._elements)

    def _records(self):
        return self._goes_on and not _core.executing_eagerly()

    def _recorded(self, optional):
        from .autograph.dataset_loop import next_element

        return next_element(self, optional)

    def _ef_argument(self):
        if self._number is None:
            number = next(_numbers)
            _numbered[number] = self
            with init_scope():
                self._number = _core.convert(number, dtypes.int64)
        return self._dataset._spec_key(), (self._number,)

    def _ef_again(self, parts):
        return _Given(self, parts[0])

    _asked = None  # the number to be found by when a graph runs; None: it is itself
    _from_host = True

    def _graph_elements(self):
        return self

    def _take_back(self, element):
        self._elements = itertools.chain([element], self._elements)

    _ef_graph_for = _graph_for

    def get_next(self, name=None):
        """The next element; OutOfRangeError after the last."""
        if self._records():
            return self._recorded(False)
        try:
            return next(self._elements)
        except StopIteration:
            raise errors.OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]") from None

    def get_next_as_optional(self):
        """An Optional that is empty after the last element."""
        from .optional import Optional

        if self._records():
            return self._recorded(True)
        try:
            return Optional.from_value(next(self._elements))
        except StopIteration:
            return Optional.empty(self.element_spec)


OwnedIterator.__module__ = "tensorflow.python.data.ops.iterator_ops"


class _Given(OwnedIterator):
    """An iterator in a function that takes it as argument: whichever the call is made with."""

    def __init__(self, like, number):
        self._dataset, self._elements = like._dataset, like._elements  # for what is asked while tracing
        self._asked = self._number = number
        self._goes_on = True


def find_iterator(number):
    """The iterator that a number stands for; whoever calls a function with it holds it."""
    return _numbered[int(number)]


@export("data.Dataset")
class Dataset:
    """A sequence of elements of one structure. `make` gives a fresh iterator over them."""

    def __init__(self, make, spec, count=UNKNOWN):
        self._make, self._element_spec, self._count = make, spec, count
        self._from_host = _core.executing_eagerly()  # made while tracing, it may hold tensors of the graph

    _ef_graph_for = _graph_for

    _asked = None

    def _graph_elements(self):
        return _Iteration(self)

    def _spec_key(self):
        """The element spec as something hashable."""
        if self._key is None:
            spec = self.element_spec
            structure = nest.map_structure(lambda _: 0, spec)
            self._key = type(spec), str(structure), tuple(nest.flatten(spec))
        return self._key

    _key = None

    def _take_back(self, element):
        """Of a run that is over nobody asks for more."""

    @property
    def element_spec(self):
        return self._element_spec

    def _elements(self):
        return iter(self._make())

    def __iter__(self):
        return OwnedIterator(self)

    def __len__(self):
        if self._count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if self._count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return self._count

    def __bool__(self):
        return True

    def cardinality(self, name=None):
        """How many elements there are; -1 without end, -2 not known."""
        return _core.convert(self._count, dtypes.int64)

    def as_numpy_iterator(self):
        """The elements as numpy arrays."""
        return (nest.map_structure(lambda t: t.numpy(), e) for e in self)

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self._element_spec}>"

    # ---- sources

    @staticmethod
    def range(*args, output_type=dtypes.int64, name=None):
        """The numbers of Python's range."""
        numbers = range(*[int(a) for a in args])
        made = Dataset(lambda: (_core.convert(n, output_type) for n in numbers), TensorSpec([], output_type), len(numbers))
        made._from_host = True
        return made

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element."""
        element = _tensors(tensors)
        return Dataset(lambda: iter([element]), _spec(element), 1)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of tensors of equal length."""
        whole = _tensors(tensors)
        flat = nest.flatten(whole)
        if not flat or any(not t.shape.rank for t in flat):
            raise ValueError("from_tensor_slices needs tensors of rank 1 at least: their first axis is cut")
        counts = {t.shape.as_list()[0] for t in flat}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible: all tensors must have as many rows")
        count = counts.pop()
        spec = nest.map_structure(_row_spec, whole)
        return Dataset(lambda: (nest.map_structure(lambda t: _row(t, k), whole) for k in range_(count)), spec, count)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """What a Python generator yields, checked against the signature."""
        if not callable(generator):
            raise TypeError("`generator` must be a Python callable.")
        if output_signature is None:
            if output_types is None:
                raise ValueError("from_generator needs output_signature (or output_types)")
            shapes = output_shapes if output_shapes is not None else nest.map_structure(lambda t: None, output_types)
            output_signature = nest.map_structure_up_to(output_types, lambda t, s: TensorSpec(s, t), output_types, shapes)
        given = tuple(_core.convert(a).numpy() for a in args or ())

        def element(value):
            made = _as(value, output_signature)
            for t, s in zip(nest.flatten(made), nest.flatten(output_signature)):
                if not s.shape.is_compatible_with(TensorShape(t._dims)):
                    raise errors.InvalidArgumentError(None, None, f"TypeError: `generator` yielded an element of shape "
                                                      f"{t._dims} where an element of shape {s.shape} was expected.")
            return made

        def make():
            try:
                items = iter(generator(*given))
            except TypeError as e:
                raise errors.InvalidArgumentError(None, None, f"TypeError: {e}") from e
            return (element(v) for v in items)

        return Dataset(make, output_signature)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, as long as all have one."""
        structure = datasets if datasets is not None else (args[0] if len(args) == 1 else args)
        flat = nest.flatten(structure)
        known = [d._count for d in flat if d._count != INFINITE]
        count = UNKNOWN if UNKNOWN in known else min(known, default=INFINITE)
        spec = nest.map_structure(lambda d: d.element_spec, structure)
        return Dataset(lambda: (_packed(structure, iter(row)) for row in zip(*[d._elements() for d in flat])), spec, count)

    # ---- transformations


    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None):
        """`map_func` of every element, traced once."""
        from .function import function

        traced = function(map_func)

        def apply(element):
            return traced(*element) if isinstance(element, tuple) else traced(element)

        def stand_in(spec):
            return list(spec) if isinstance(spec, tuple) else [spec]

        try:
            spec = traced.get_concrete_function(*stand_in(self._element_spec)).structured_outputs
        except (TypeError, ValueError):
            spec = None
        made = Dataset(lambda: (apply(e) for e in self._elements()), spec, self._count)
        if spec is None:
            first = next(_Iteration(made), None)
            made._element_spec = None if first is None else _spec(first)
        return made

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """`batch_size` elements stacked to one; the last may have fewer."""
        size = int(batch_size)
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, "Batch size must be greater than zero.")

        def make():
            elements = self._elements()
            while True:
                part = list(itertools.islice(elements, size))
                if not part or (drop_remainder and len(part) < size):
                    return
                yield nest.map_structure(lambda *rows: _core.raw.Pack(list(rows)), *part)

        count = self._count if self._count < 0 else (self._count // size if drop_remainder else -(-self._count // size))
        return Dataset(make, _wider(self._element_spec, size if drop_remainder else None), count)

    def take(self, count, name=None):
        """The first `count` elements."""
        n = int(count)
        left = self._count if n < 0 else n if self._count == INFINITE else min(n, self._count) if self._count >= 0 else UNKNOWN
        return Dataset(lambda: self._elements() if n < 0 else itertools.islice(self._elements(), n), self._element_spec, left)

    def skip(self, count, name=None):
        """All but the first `count` elements."""
        n = int(count)
        left = self._count if self._count < 0 else 0 if n < 0 else max(0, self._count - n)
        return Dataset(lambda: iter(()) if n < 0 else itertools.islice(self._elements(), n, None), self._element_spec, left)

    def repeat(self, count=None, name=None):
        """The elements again and again, `count` times or without end."""
        n = -1 if count is None else int(count)

        def make():
            for _ in itertools.count() if n < 0 else range_(n):
                empty = True
                for e in self._elements():
                    empty = False
                    yield e
                if empty:
                    return

        total = INFINITE if n < 0 else self._count if self._count < 0 else self._count * n
        return Dataset(make, self._element_spec, total)

    def enumerate(self, start=0, name=None):
        """(number, element)."""
        return Dataset.zip((Dataset.range(int(start), np.iinfo(np.int64).max), self))

    def prefetch(self, buffer_size, name=None):
        """The same elements: here nothing runs beside the program."""
        return Dataset(self._make, self._element_spec, self._count)

    def filter(self, predicate, name=None):
        """The elements for which `predicate` holds."""
        from .function import function

        traced = function(predicate)
        return Dataset(lambda: (e for e in self._elements()
                                if bool(traced(*e) if isinstance(e, tuple) else traced(e))), self._element_spec)

    def reduce(self, initial_state, reduce_func, name=None):
        """`reduce_func(state, element)` over all elements, traced once."""
        from .function import function

        traced, state = function(reduce_func), _tensors(initial_state)
        for element in _Iteration(self):
            state = _tensors(traced(state, element))
        return state

    def apply(self, transformation_func):
        """transformation_func(self)"""
        return transformation_func(self)


range_ = range
Dataset.__module__, Dataset.__qualname__, Dataset.__name__ = "tensorflow.python.data.ops.dataset_ops", "DatasetV2", "DatasetV2"
