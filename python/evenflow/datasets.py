"""tf.data.Dataset, plain: elements are made one after the other when they are asked for.

What is here is sequential but for `prefetch`. Transformations that are not here (shuffling, parallel calls, files ...)
are missing names, not names that do less than they say.
"""
import itertools
import threading
import weakref

import numpy as np

from . import _core, dtypes, errors, nest
from .composite import SparseTensor, SparseTensorSpec
from .dataset_elements import ElementFunction, batch_spec, row_of, row_spec, spec_of, tensors_of, whole_element, yielded
from .dataset_iterators import Batch, Prefetch, Repeat, Rows, Skip, Take, Zip
from .graph import init_scope
from .host import failure
from .namespace import export
from .optional import Iterator
from .specs import TensorSpec

INFINITE, UNKNOWN = -1, -2


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


def _numpy(part):
    if isinstance(part, SparseTensor):
        return part._numpy()
    return None if part is None else part.numpy()


class _Generated:
    """What a generator of the user's yields; what it raises is the error of an op."""

    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return self

    def __next__(self):
        try:
            return next(self._items)
        except StopIteration:
            raise
        except Exception as e:
            raise failure(e) from e


def _check_zipped(structure, flat):
    """Collects the datasets of a structure."""
    if isinstance(structure, Dataset):
        flat.append(structure)
        return
    what = "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"
    if isinstance(structure, list):
        raise TypeError(f"{what}. Python `list` is not supported and you should use `tuple` instead.")
    if not nest.is_nested(structure):
        raise TypeError(f"{what} but encountered object of type {type(structure)}.")
    for part in nest._values(structure):
        _check_zipped(part, flat)


def _wider_state(like, made):
    """The spec that covers a state and what a reduction made of it; TypeError if the types differ."""
    before, after = nest.flatten(like, expand_composites=True), nest.flatten(made, expand_composites=True)
    if len(before) != len(after):
        raise TypeError(f"The element structure for the new state must match the initial state. Expected {like} but got {made}.")
    for old, new in zip(before, after):
        if old.dtype != new.dtype:
            raise TypeError("The element types for the new state must match the initial state. Expected "
                            f"{old.dtype} but got {new.dtype}.")
    if not all(isinstance(s, TensorSpec) for s in nest.flatten(like)):
        return like
    return nest.pack_sequence_as(like, [TensorSpec(old.shape.most_specific_compatible_shape(new.shape), old.dtype)
                                        for old, new in zip(before, after)])


@export("data.Dataset")
class Dataset:
    """A sequence of elements of one structure. `make` gives a fresh iterator over them."""

    def __init__(self, make, spec, count=UNKNOWN):
        self._make, self._element_spec, self._count = make, spec, count
        self._from_host = _core.executing_eagerly()  # made while tracing, it may hold tensors of the graph

    def __getattr__(self, name):
        hint = "" if name.startswith("_") else ": Evenflow does not have this transformation of datasets"
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}", name=name, obj=self)

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
    _maps = False  # whether it is made by `map`

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
        if not _core.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        return map(lambda e: nest.map_structure(_numpy, e), self)

    def __repr__(self):
        return f"<{type(self).__name__} element_spec={self._element_spec}>"

    # ---- sources

    @staticmethod
    def range(*args, output_type=dtypes.int64, name=None):
        """The numbers of Python's range."""
        numbers = range(*[int(a) for a in args])
        made = Dataset(lambda: Rows(numbers, lambda n: _core.convert(n, output_type)), TensorSpec([], output_type), len(numbers))
        made._from_host = True
        return made

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element."""
        element = whole_element(tensors, "from_tensors")
        return Dataset(lambda: iter([element]), spec_of(element), 1)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of tensors of equal length."""
        whole = whole_element(tensors, "from_tensor_slices")
        flat = [t for t in nest.flatten(whole) if t is not None]
        if any(not t.shape.rank for t in flat):
            raise ValueError("from_tensor_slices: Unbatching a tensor is only supported for rank >= 1: it slices the first axis")
        counts = {t.shape.as_list()[0] for t in flat}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible: the first dimensions of all tensors must be equal")
        count = counts.pop()
        spec = nest.map_structure(row_spec, whole)
        return Dataset(lambda: Rows(range_(count), lambda k: nest.map_structure(lambda t: row_of(t, k), whole)), spec, count)

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

        def make():
            try:
                items = iter(generator(*given))
            except TypeError as e:
                raise errors.InvalidArgumentError(None, None, f"TypeError: {e}") from e
            return Rows(_Generated(items), lambda value: yielded(value, output_signature))

        return Dataset(make, output_signature)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements of several datasets side by side, as long as all have one."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else (args[0] if len(args) == 1 else args)
        flat = []
        _check_zipped(structure, flat)
        known = [d._count for d in flat if d._count != INFINITE]
        count = UNKNOWN if UNKNOWN in known else min(known, default=INFINITE)
        spec = nest.map_structure(lambda d: d.element_spec, structure)
        return Dataset(lambda: Zip([d._elements() for d in flat], lambda row: nest.pack_sequence_as(structure, row)), spec, count)

    # ---- transformations

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None):
        """`map_func` of every element, traced once."""
        function = ElementFunction(map_func, self._element_spec, "Dataset.map()")
        if not nest.flatten(function.output_spec, expand_composites=True):
            raise errors.InvalidArgumentError(None, None, "Dataset.map(): `map_func` must return a tensor at least")
        made = Dataset(lambda: map(function.apply, self._elements()), function.output_spec, self._count)
        made._maps = True
        return made

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """`batch_size` elements stacked to one; the last may have fewer."""
        size = int(batch_size)
        if size <= 0:
            raise errors.InvalidArgumentError(None, None, "Batch size must be greater than zero.")

        count = self._count if self._count < 0 else (self._count // size if drop_remainder else -(-self._count // size))
        # TensorFlow runs a map and the batch behind it as one, which drops a batch with an error as a whole.
        return Dataset(lambda: Batch(self._elements(), size, bool(drop_remainder), self._maps),
                       batch_spec(self._element_spec, size if drop_remainder else None), count)

    def take(self, count, name=None):
        """The first `count` elements."""
        n = int(count)
        left = self._count if n < 0 else n if self._count == INFINITE else min(n, self._count) if self._count >= 0 else UNKNOWN
        return Dataset(lambda: self._elements() if n < 0 else Take(self._elements(), n), self._element_spec, left)

    def skip(self, count, name=None):
        """All but the first `count` elements."""
        n = int(count)
        left = self._count if self._count < 0 else 0 if n < 0 else max(0, self._count - n)
        return Dataset(lambda: iter(()) if n < 0 else Skip(self._elements(), n), self._element_spec, left)

    def repeat(self, count=None, name=None):
        """The elements again and again, `count` times or without end."""
        n = -1 if count is None else int(count)

        total = INFINITE if n < 0 else self._count if self._count < 0 else self._count * n
        return Dataset(lambda: Repeat(self._elements, n), self._element_spec, total)

    def enumerate(self, start=0, name=None):
        """(number, element)."""
        return Dataset.zip((Dataset.range(int(start), np.iinfo(np.int64).max), self))

    def prefetch(self, buffer_size, name=None):
        """The same elements, of which a thread makes `buffer_size` ahead; AUTOTUNE: none, since a hand-over costs some 8 us."""
        size = int(buffer_size)
        if size < -1:
            raise errors.InvalidArgumentError(None, None, "buffer_size must be >= 0 or set buffer_size to be -1 for auto-tuning")

        def make():
            ahead = size > 0 and self._from_host and _core.executing_eagerly()  # a trace is of one thread
            return Prefetch(self._elements, size) if ahead else self._elements()

        return Dataset(make, self._element_spec, self._count)

    def filter(self, predicate, name=None):
        """The elements for which `predicate` holds."""
        function = ElementFunction(predicate, self._element_spec, "Dataset.filter()")
        if not isinstance(function.output_spec, TensorSpec) or not function.output_spec.is_compatible_with(
                TensorSpec([], dtypes.bool)):
            raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                             f"{function.output_spec}.")
        return Dataset(lambda: filter(function.apply, self._elements()), self._element_spec)

    def reduce(self, initial_state, reduce_func, name=None):
        """`reduce_func(state, element)` over all elements, traced once, or again where the state's shape changes."""
        state = tensors_of(initial_state)
        like = spec_of(state)
        while True:
            function = ElementFunction(reduce_func, (like, self._element_spec), "Dataset.reduce()")
            wider = _wider_state(like, function.output_spec)
            if wider == like:
                break
            like = wider
        for element in _Iteration(self):
            made = nest.flatten(function.apply((state, element)), expand_composites=True)
            state = nest.pack_sequence_as(like, [t for t in made if t is not None], expand_composites=True)
        return state

    def apply(self, transformation_func):
        """transformation_func(self)"""
        return transformation_func(self)


range_ = range
Dataset.__module__, Dataset.__qualname__, Dataset.__name__ = "tensorflow.python.data.ops.dataset_ops", "DatasetV2", "DatasetV2"


def _of_elements(source, read):
    if not isinstance(source, (Dataset, Iterator)):
        raise TypeError("Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or tf.data.Iterator "
                        f"object, but got {type(source)}.")
    return nest.map_structure(lambda spec: read(spec) if hasattr(spec, "dtype") else spec, source.element_spec)


@export("compat.v1.data.get_output_shapes")
def get_output_shapes(dataset_or_iterator):
    """The shapes of an element."""
    return _of_elements(dataset_or_iterator, lambda spec: spec.shape)


@export("compat.v1.data.get_output_types")
def get_output_types(dataset_or_iterator):
    """The dtypes of an element."""
    return _of_elements(dataset_or_iterator, lambda spec: spec.dtype)


@export("compat.v1.data.get_output_classes")
def get_output_classes(dataset_or_iterator):
    """The classes of an element's parts; a ragged tensor is described by its spec."""
    return _of_elements(dataset_or_iterator,
                        lambda spec: spec.value_type if isinstance(spec, (TensorSpec, SparseTensorSpec)) else spec)
