"""tf.data.Dataset. The methods check arguments and build dataset ops; the C engine (src/data) makes the elements."""
import functools

import numpy as np

from . import _core, dtypes, errors, nest
from .composite import CompositeTensor, SparseTensorSpec
from .dataset_batches import as_variants, from_variants, is_plain, ragged_rows, wrap_dense
from .dataset_elements import (ElementFunction, batch_spec, flat_element, flat_specs, has_datasets, is_dataset, is_dataset_list,
                               pack_element, row_of, row_parts, row_spec, spec_of, tensors_of, whole_element)
from .dataset_iterators import NumpyIterator, OwnedIterator, Unrolled, types_and_shapes
from .dataset_options import Options
from .graph import FuncGraph, init_scope
from .tracking import Trackable
from .namespace import export
from .optional import Iterator
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec
from .ops.random import op_seeds
from .autograph.dataset_loop import for_dataset

INFINITE, UNKNOWN = -1, -2
raw = _core.raw


def _int64(value):
    return _core.convert(value, dtypes.int64)


def _seeds(seed):
    """The two seeds of a dataset op. (0, 0) means a random seed, so an explicit seed of zero becomes (0, 2**31 - 1)."""
    first, second = op_seeds(seed)
    if first is None and second is None:
        return 0, 0
    first, second = first or 0, second or 0
    return (first, second) if first or second else (0, 2**31 - 1)


def _structure_of(datasets, flat):
    """Appends the datasets of a structure to `flat`."""
    if isinstance(datasets, Dataset):
        flat.append(datasets)
        return
    what = "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"
    if isinstance(datasets, list):
        raise TypeError(f"{what}. Python `list` is not supported and you should use `tuple` instead.")
    if not nest.is_nested(datasets):
        raise TypeError(f"{what} but encountered object of type {type(datasets)}.")
    for part in nest._values(datasets):
        _structure_of(part, flat)


def _wider(like, made, what):
    """The most specific spec that describes both a state and the next state. Raises TypeError if their dtypes differ."""
    before, after = flat_specs(like), flat_specs(made)
    if len(before) != len(after):
        raise TypeError(f"The element structure for the new state must match the initial state. Expected {like} but got {made}.")
    for old, new in zip(before, after):
        if old.dtype != new.dtype:
            raise TypeError(f"The element types for the new state must match the initial state. Expected {old.dtype} but got "
                            f"{new.dtype}.")
    if not is_plain(like):
        return like
    return nest.pack_sequence_as(like, [TensorSpec(old.shape.most_specific_compatible_shape(new.shape), old.dtype)
                                        for old, new in zip(before, after)])


def _stateful_function(function, state, element_spec, where, states=lambda made: made):
    """Traces a function of a state and an element, again if needed with unknown sizes in the state's spec, until the next
    state has that spec too. Returns (traced function, spec of the state)."""
    like = spec_of(state)
    while True:
        traced = ElementFunction(function, (like, element_spec), where)
        wider = _wider(like, states(traced.output_spec), where)
        if wider == like:
            return traced, like
        like = wider


@export("data.Dataset")
class Dataset(CompositeTensor, Trackable):
    """A sequence of elements with the same structure. It holds a variant tensor, which describes the pipeline."""

    _shown_as = None  # the name in its repr; None means the name of the class

    def __init__(self, variant, element_spec, options=None, op=None):
        self._variant_tensor, self._element_spec, self._options = variant, element_spec, options
        if op is not None:
            name = op.__name__.rstrip("0123456789").removesuffix("V")
            self._shown_as = name if name == "CacheDataset" else "_" + name

    def __getattr__(self, name):
        hint = "" if name.startswith("_") else ": Evenflow does not have this transformation of datasets"
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'{hint}", name=name, obj=self)

    def _then(self, op, *args, spec=None, **attrs):
        """The dataset that `op` makes from this one."""
        spec = self._element_spec if spec is None else spec
        made = op(self._variant_tensor, *args, **attrs, **types_and_shapes(spec))
        return Dataset(made, spec, self._options, op)

    @property
    def element_spec(self):
        return self._element_spec

    @property
    def _type_spec(self):
        return DatasetSpec(self._element_spec)

    def _ef_graph_for(self, *loop):
        return for_dataset(self, *loop)

    def __iter__(self):
        graph = _core.current_graph()
        if graph is not None and not isinstance(graph, FuncGraph):
            raise RuntimeError("`tf.data.Dataset` only supports Python-style iteration in eager mode or within tf.function.")
        if graph is None or _core.is_symbolic(self._variant_tensor):
            return OwnedIterator(self)
        with init_scope():
            outside = OwnedIterator(self)
        return Unrolled(outside)

    def __len__(self):
        if not _core.executing_eagerly():
            raise TypeError("`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` instead.")
        count = int(self.cardinality())
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def cardinality(self, name=None):
        """The number of elements; -1 for an infinite dataset, -2 if it is unknown."""
        return raw.DatasetCardinality(self._variant_tensor, name=name)

    def as_numpy_iterator(self):
        """An iterator over the elements as numpy arrays."""
        if not _core.executing_eagerly():
            raise RuntimeError("`tf.data.Dataset.as_numpy_iterator()` is only supported in eager mode.")
        return NumpyIterator(self)

    def __repr__(self):
        return f"<{self._shown_as or type(self).__name__} element_spec={self._element_spec}>"

    def options(self):
        """The options that were set."""
        return self._options if self._options is not None else Options()

    def with_options(self, options, name=None):
        """The same dataset with `options` merged into its own."""
        merged = self.options().merge(options)
        made = self._then(raw.OptionsDataset, serialized_options=merged._serialized().hex())
        made._options = merged
        return made

    def explain(self):
        """Prints what each stage did in the latest iteration over this dataset: its rate, the time it waited for elements,
        its threads, the bytes of prefetched elements and the last decision of autotuning. Returns the same text."""
        text = _core.dataset_explain(self._variant_tensor)
        if text is None:
            text = "explain: no iteration over this dataset is known; iterate over it first, then explain the same object\n"
        print(text, end="")
        return text

    def get_single_element(self, name=None):
        """Returns the only element of the dataset. Raises InvalidArgumentError if there are more or none."""
        found = raw.DatasetToSingleElement(self._variant_tensor, **types_and_shapes(self._element_spec), name=name)
        return pack_element(self._element_spec, found)

    # ---- sources

    @staticmethod
    def range(*args, output_type=dtypes.int64, name=None):
        """A dataset of the numbers of Python's `range`."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}.")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        spec = TensorSpec([], output_type)
        made = raw.RangeDataset(_int64(start), _int64(stop), _int64(step), **types_and_shapes(spec))
        return Dataset(made, spec, op=raw.RangeDataset)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """An infinite dataset of random 32-bit integers, as int64."""
        first, second = _seeds(seed)
        spec = TensorSpec([], dtypes.int64)
        again = bool(rerandomize_each_iteration)
        generator = raw.AnonymousSeedGenerator(_int64(first), _int64(second), again)[0]
        return Dataset(raw.RandomDatasetV2(_int64(first), _int64(second), generator, rerandomize_each_iteration=again,
                                           **types_and_shapes(spec)), spec)

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """An infinite dataset of the numbers start, start + step, start + 2 * step, ..."""
        start, step = _core.convert(start, dtype), _core.convert(step, dtype)
        if not _core.executing_eagerly() or start.dtype != dtypes.int64:
            whole = Dataset.range(2**63 - 1).map(lambda n: start + raw.Cast(n, start.dtype) * step)
        else:
            whole = Dataset.range(start, 2**63 - 1 if int(step) >= 0 else -2**63, step)
        return whole._endless()

    def _endless(self):
        return self._then(raw.AssertCardinalityDataset, _int64(INFINITE))

    @staticmethod
    def from_tensors(tensors, name=None):
        """A dataset of one element: the given tensors."""
        element = whole_element(tensors, "from_tensors")
        spec = spec_of(element)
        return Dataset(raw.TensorDataset(flat_element(element), [s.shape for s in flat_specs(spec)]), spec, op=raw.TensorDataset)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """A dataset of the slices of tensors along their first axis, which must have the same size in all of them. A list of
        datasets counts as a tensor of them."""
        if has_datasets(tensors):
            return _slices_of_datasets(tensors)
        whole = whole_element(tensors, "from_tensor_slices")
        values = [t for t in nest.flatten(whole) if t is not None]
        if any(map(is_dataset, values)):
            raise ValueError("Slicing dataset elements is not supported for rank 0: give the datasets as a list, or use from_tensors")
        flat = [part for t in values for part in row_parts(t)]
        if any(t.shape.rank == 0 for t in flat):
            raise ValueError("from_tensor_slices: Unbatching a tensor is only supported for rank >= 1: it slices the first axis")
        counts = {d for d in (t.shape.as_list()[0] for t in flat if t.shape.rank is not None) if d is not None}
        if len(counts) > 1:
            raise ValueError(f"Dimensions {sorted(counts)} are not compatible: the first dimensions of all tensors must be equal")
        spec = nest.map_structure(row_spec, whole)
        if any(isinstance(t, CompositeTensor) for t in values):
            n = flat[0].dense_shape[0] if hasattr(flat[0], "dense_shape") else _rows(flat[0])
            rows = Dataset.range(n).map(lambda k: nest.map_structure(lambda t: row_of(t, k), whole))
            return Dataset(rows._variant_tensor, spec)
        return Dataset(raw.TensorSliceDataset(flat, [s.shape for s in flat_specs(spec)]), spec, op=raw.TensorSliceDataset)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """A dataset whose elements combine one element of each dataset. It ends with the shortest dataset."""
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else (args[0] if len(args) == 1 else args)
        flat = []
        _structure_of(structure, flat)
        spec = nest.map_structure(lambda d: d.element_spec, structure)
        return Dataset(raw.ZipDataset([d._variant_tensor for d in flat], **types_and_shapes(spec)), spec, op=raw.ZipDataset)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Takes each element from the dataset whose number is the next element of `choice_dataset`."""
        datasets = list(datasets)
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if choice_dataset.element_spec != TensorSpec([], dtypes.int64):
            raise TypeError("Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` tensors but are "
                            f"{choice_dataset.element_spec}.")
        return _directed(choice_dataset, datasets, stop_on_empty_dataset)

    # ---- functions

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None, use_unbounded_threadpool=False,
            name=None):
        """Applies `map_func`, which is traced once, to every element."""
        if synchronous and num_parallel_calls is not None:
            raise ValueError("`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set to "
                             f"{num_parallel_calls}.")
        function = ElementFunction(map_func, self._element_spec, "Dataset.map()")
        if not flat_specs(function.output_spec):
            raise errors.InvalidArgumentError(None, None, "Dataset.map(): `map_func` must return a tensor at least")
        if num_parallel_calls is None:
            return self._then(raw.MapDataset, function.captured, function.graph, spec=function.output_spec,
                              preserve_cardinality=True)
        return self._then(raw.ParallelMapDatasetV2, function.captured, _int64(num_parallel_calls), function.graph,
                          spec=function.output_spec, deterministic=_order(deterministic), preserve_cardinality=True)

    def _datasets_of(self, function, where):
        function = ElementFunction(function, self._element_spec, where)
        spec = function.output_spec
        if not isinstance(spec, DatasetSpec):
            raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {spec}.")
        return function, spec._element_spec

    def flat_map(self, map_func, name=None):
        """Applies `map_func`, which returns a dataset, to every element and concatenates the datasets."""
        function, spec = self._datasets_of(map_func, "Dataset.flat_map()")
        return self._then(raw.FlatMapDataset, function.captured, function.graph, spec=spec)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None, name=None):
        """Applies `map_func`, which returns a dataset, to every element and interleaves the datasets: takes `block_length`
        elements in turn from each of `cycle_length` datasets."""
        function, spec = self._datasets_of(map_func, "Dataset.interleave()")
        block = 1 if block_length is None else block_length
        cycle = -1 if cycle_length is None else cycle_length
        if num_parallel_calls is None and cycle_length is not None:
            return self._then(raw.InterleaveDataset, function.captured, _int64(cycle), _int64(block), function.graph, spec=spec)
        calls = -1 if num_parallel_calls is None else num_parallel_calls
        return self._then(raw.ParallelInterleaveDatasetV4, function.captured, _int64(cycle), _int64(block), _int64(-1), _int64(-1),
                          _int64(calls), function.graph, spec=spec, deterministic=_order(deterministic))

    def _predicate(self, predicate, where):
        function = ElementFunction(predicate, self._element_spec, where)
        if not isinstance(function.output_spec, TensorSpec) or not function.output_spec.is_compatible_with(
                TensorSpec([], dtypes.bool)):
            raise ValueError("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                             f"{function.output_spec}.")
        return function

    def filter(self, predicate, name=None):
        """Keeps the elements for which `predicate` returns true."""
        function = self._predicate(predicate, "Dataset.filter()")
        return self._then(raw.FilterDataset, function.captured, function.graph)

    def take_while(self, predicate, name=None):
        """Ends the dataset before the first element for which `predicate` returns false."""
        function = self._predicate(predicate, "Dataset.take_while()")
        return self._then(raw.TakeWhileDataset, function.captured, function.graph)

    def scan(self, initial_state, scan_func, name=None):
        """Applies `scan_func(state, element)`, which returns (next state, new element), to the elements in order."""
        state = tensors_of(initial_state)

        def states(made):
            if not isinstance(made, tuple) or len(made) != 2:
                raise TypeError("Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output "
                                f"value but its return type is {made}.")
            return made[0]

        function, like = _stateful_function(scan_func, state, self._element_spec, "Dataset.scan()", states)
        return self._then(raw.ScanDataset, flat_element(state), function.captured, function.graph,
                          Tstate=_types(flat_element(state)), Targuments=_types(function.captured), spec=function.output_spec[1], preserve_cardinality=True)

    def reduce(self, initial_state, reduce_func, name=None):
        """Applies `state = reduce_func(state, element)` to all elements in order and returns the last state."""
        state = tensors_of(initial_state)
        function, like = _stateful_function(reduce_func, state, self._element_spec, "Dataset.reduce()")
        found = raw.ReduceDataset(self._variant_tensor, flat_element(state), function.captured, function.graph,
                                  Tstate=_types(flat_element(state)), Targuments=_types(function.captured),
                                  **types_and_shapes(like), name=name)
        return pack_element(like, list(found))

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """Groups consecutive elements with the same key into windows. `reduce_func(key, window)` returns a dataset for each
        window; the result concatenates these datasets."""
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        size_of = window_size_func if window_size_func is not None else lambda unused: _int64(window_size)
        number = TensorSpec([], dtypes.int64)
        key = ElementFunction(lambda *e: raw.Cast(_core.convert(key_func(*e)), dtypes.int64), self._element_spec,
                              "Dataset.group_by_window()")
        size = ElementFunction(lambda k: raw.Cast(_core.convert(size_of(k)), dtypes.int64), number, "Dataset.group_by_window()")
        reduce = ElementFunction(reduce_func, (number, DatasetSpec(self._element_spec)), "Dataset.group_by_window()")
        if not isinstance(reduce.output_spec, DatasetSpec):
            raise TypeError(f"Invalid `reduce_func`. `reduce_func` must return a `Dataset` object, but its return type is "
                            f"{reduce.output_spec}.")
        return self._then(raw.GroupByWindowDataset, key.captured, reduce.captured, size.captured, key_func=key.graph,
                          reduce_func=reduce.graph, window_size_func=size.graph, Tkey_func_other_arguments=_types(key.captured),
                          Treduce_func_other_arguments=_types(reduce.captured),
                          Twindow_size_func_other_arguments=_types(size.captured), spec=reduce.output_spec._element_spec)

    def apply(self, transformation_func):
        """Returns transformation_func(self), which must be a dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    # ---- batches

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Stacks `batch_size` consecutive elements into one. The last batch may be smaller, unless `drop_remainder`."""
        if not is_plain(self._element_spec):
            rows = as_variants(self)
            return from_variants(rows.batch(batch_size, drop_remainder), self._element_spec, _known_size(batch_size, drop_remainder))
        known = _core.static_value(_int64(batch_size)) if drop_remainder is True or drop_remainder else None
        spec = batch_spec(self._element_spec, None if known is None else int(known))
        if num_parallel_calls is None:
            return self._then(raw.BatchDatasetV2, _int64(batch_size), drop_remainder, spec=spec)
        return self._then(raw.ParallelBatchDataset, _int64(batch_size), _int64(num_parallel_calls), drop_remainder, spec=spec,
                          deterministic=_order(deterministic))

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
        """Stacks `batch_size` elements of different sizes into ragged tensors."""
        spec = ragged_rows(self, dtypes.as_dtype(row_splits_dtype))
        return from_variants(wrap_dense(self, spec).batch(batch_size, drop_remainder), spec, _known_size(batch_size, drop_remainder))

    def unbatch(self, name=None):
        """Splits each element into its slices along the first axis."""
        spec = self._element_spec
        if not is_plain(spec):
            return self.flat_map(lambda *e: Dataset.from_tensor_slices(e if type(spec) is tuple else e[0]))
        for s in flat_specs(spec):
            if s.shape.rank == 0:
                raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if len({s.shape.as_list()[0] for s in flat_specs(spec) if s.shape.rank} - {None}) > 1:
            raise ValueError(f"Cannot unbatch an input with components that have different batch sizes: {spec}")
        return self._then(raw.UnbatchDataset, spec=nest.map_structure(lambda s: s._unbatch(), spec))

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Splits the batches and stacks their rows into batches of other sizes."""
        sizes = _int64(batch_size)
        known = _core.static_value(sizes)
        rows = nest.map_structure(lambda s: s._unbatch(), self._element_spec)
        one = known is not None and len(set(np.ravel(known).tolist())) == 1 and drop_remainder
        spec = batch_spec(rows, int(np.ravel(known)[0]) if one else None)
        return self._then(raw.RebatchDatasetV2, sizes, drop_remainder, spec=spec)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """A dataset of windows: datasets of `size` elements each."""
        if not is_plain(self._element_spec):
            raise TypeError("Dataset.window() takes elements of dense tensors")
        spec = nest.map_structure(DatasetSpec, self._element_spec)
        return self._then(raw.WindowDataset, _int64(size), _int64(size if shift is None else shift), _int64(stride), drop_remainder,
                          spec=spec)

    # ---- order and number

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Shuffles the elements: each is drawn at random from a buffer of `buffer_size` elements."""
        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        first, second = (_int64(s) for s in _seeds(seed))
        generator = raw.AnonymousSeedGenerator(first, second, again)[0]
        return self._then(raw.ShuffleDatasetV3, _int64(buffer_size), first, second, generator, reshuffle_each_iteration=again)

    def repeat(self, count=None, name=None):
        """Repeats the dataset `count` times, or indefinitely if `count` is None or -1."""
        return self._then(raw.RepeatDataset, _int64(-1 if count is None else count))

    def take(self, count, name=None):
        """Keeps the first `count` elements."""
        return self._then(raw.TakeDataset, _int64(count))

    def skip(self, count, name=None):
        """Skips the first `count` elements."""
        return self._then(raw.SkipDataset, _int64(count))

    def shard(self, num_shards, index, name=None):
        """Keeps the elements whose number modulo `num_shards` is `index`."""
        return self._then(raw.ShardDataset, _int64(num_shards), _int64(index))

    def enumerate(self, start=0, name=None):
        """Pairs (number, element), counted from `start`."""
        return Dataset.zip((Dataset.range(start, np.iinfo(np.int64).max), self))

    def concatenate(self, dataset, name=None):
        """The elements of this dataset, followed by those of another."""
        spec = _common(self._element_spec, dataset.element_spec)
        return self._then(raw.ConcatenateDataset, dataset._variant_tensor, spec=spec)

    def unique(self, name=None):
        """Drops the elements that are equal to an earlier one."""
        specs = flat_specs(self._element_spec)
        if len(specs) != 1:
            raise errors.InvalidArgumentError(None, None, "UniqueDataset only supports inputs with a single component, but found "
                                              f"{self._element_spec}.")
        if specs[0].dtype not in (dtypes.int32, dtypes.int64, dtypes.string):
            raise TypeError("`tf.data.Dataset.unique` only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` "
                            f"component, but found {self._element_spec}.")
        return self._then(raw.UniqueDataset)

    def cache(self, filename="", name=None):
        """Caches the elements in memory, or in a file, during the first iteration; later ones read the cache."""
        return self._then(raw.CacheDatasetV2, _core.convert(filename, dtypes.string), raw.AnonymousMemoryCache()[0])

    def prefetch(self, buffer_size, name=None):
        """A background thread makes up to `buffer_size` elements ahead of the consumer."""
        return self._then(raw.PrefetchDataset, _int64(-1 if buffer_size is None else buffer_size))

    def ignore_errors(self, log_warning=False, name=None):
        """Drops the elements whose computation raises an error."""
        return self._then(raw.IgnoreErrorsDataset, log_warning=log_warning)


Dataset.__module__, Dataset.__qualname__, Dataset.__name__ = "tensorflow.python.data.ops.dataset_ops", "DatasetV2", "DatasetV2"


def _known_size(batch_size, drop_remainder):
    """The size of every batch; None if it is unknown or the last batch may be smaller."""
    known = _core.static_value(_int64(batch_size)) if drop_remainder is True else None
    return None if known is None else int(known)


def _types(tensors):
    return [t.dtype for t in tensors]


def _order(deterministic):
    return "default" if deterministic is None else "true" if deterministic else "false"


def _rows(tensor):
    return raw.Cast(tensor.nrows(), dtypes.int64) if hasattr(tensor, "nrows") else raw.Shape(tensor, out_type=dtypes.int64)[0]


def _directed(choice, datasets, stop):
    spec = datasets[0].element_spec
    for other in datasets[1:]:
        spec = _common(spec, other.element_spec)
    return Dataset(raw.DirectedInterleaveDataset(choice._variant_tensor, [d._variant_tensor for d in datasets],
                                                 **types_and_shapes(spec), stop_on_empty_dataset=stop), spec)


def _slices_of_datasets(tensors):
    """from_tensor_slices of a structure in which some leaves are lists of datasets."""
    counts = set()

    def part(value):
        if is_dataset_list(value):
            counts.add(len(value))
            return _joined(value)
        if isinstance(value, (tuple, dict)):
            return nest._rebuild(value, [part(child) for child in nest._values(value)])
        whole = tensors_of(value)
        counts.update(t.shape[0] for t in nest.flatten(whole)[:1] if t is not None and t.shape.rank)
        return Dataset.from_tensor_slices(whole)

    parts = part(tensors)
    counts.discard(None)
    if len(counts) > 1:
        raise ValueError(f"Dimensions {sorted(counts)} are not compatible: the first dimensions of all tensors must be equal")
    return parts if isinstance(parts, Dataset) else Dataset.zip(parts)


def _joined(datasets):
    """A dataset whose elements are the given datasets, made by halves, so that it is not deep."""
    try:
        spec = DatasetSpec(functools.reduce(_common, [d.element_spec for d in datasets]))
    except TypeError as e:
        raise ValueError(f"from_tensor_slices: the datasets of a list must have elements of one kind: {e}") from None
    made = [Dataset(raw.TensorDataset([d._variant_tensor], [[]]), spec) for d in datasets]
    while len(made) > 1:
        made = [a._then(raw.ConcatenateDataset, b._variant_tensor, spec=spec) for a, b in zip(made[::2], made[1::2])] \
            + made[len(made) // 2 * 2:]
    return made[0]


def _common(one, other):
    """The spec that describes the elements of both datasets. Raises TypeError if they differ in more than shapes."""
    def both(a, b):
        if isinstance(a, DatasetSpec):
            a = a.most_specific_common_supertype([b])
            if a is None:
                raise TypeError(f"Incompatible types of input datasets: {one} vs. {other}.")
            return a
        wide = a.most_specific_compatible_shape(b) if not isinstance(a, TensorSpec) else None
        if wide is not None:
            return wide
        if not isinstance(b, TensorSpec) or a.dtype != b.dtype:
            raise TypeError(f"Incompatible types of input datasets: {one} vs. {other}.")
        return TensorSpec(a.shape.most_specific_compatible_shape(b.shape), a.dtype)

    try:
        return nest.map_structure(both, one, other)
    except (ValueError, AttributeError) as e:
        raise TypeError(f"Incompatible dataset elements: {one} vs. {other}.") from e


@export("data.DatasetSpec")
class DatasetSpec(TypeSpec):
    """Describes a dataset by the spec of its elements."""

    __module__ = "tensorflow.python.data.ops.dataset_ops"

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec, self._dataset_shape = element_spec, TensorShape(dataset_shape)

    @property
    def value_type(self):
        return Dataset

    @staticmethod
    def from_value(value):
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    @property
    def element_spec(self):
        return self._element_spec

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self):
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        return Dataset(components, self._element_spec)


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
    """The classes of the leaves of an element. For a ragged tensor it is the spec."""
    return _of_elements(dataset_or_iterator,
                        lambda spec: spec.value_type if isinstance(spec, (TensorSpec, SparseTensorSpec)) else spec)
