"""tf.data.experimental: transformations for `Dataset.apply`, and functions that are no methods of a dataset."""
import numpy as np

from . import _core, dtypes, nest
from .composite import CompositeTensor, SparseTensorSpec
from .datasets import Dataset, _int64, _types
from .dataset_elements import ElementFunction, flat_specs, pack_element, tensors_of
from .dataset_iterators import NumpyIterator, types_and_shapes
from .namespace import export, offer
from .optional import Iterator, Optional
from .ops.lookup import StaticHashTable, StaticVocabularyTable, KeyValueTensorInitializer, hash_of
from .ops.parsing import parse_example
from .ops.random import op_seeds
from .records import TFRecordOptions
from .specs import TensorSpec

raw = _core.raw
_PLACES = ("data.experimental.", "compat.v1.data.experimental.")


def _both(name):
    return export(*(place + name for place in _PLACES))


for _name, _value in (("INFINITE_CARDINALITY", -1), ("UNKNOWN_CARDINALITY", -2), ("SHARD_HINT", -1), ("AUTOTUNE", -1),
                      ("Optional", Optional)):
    offer(_value, *(place + _name for place in _PLACES))
offer(NumpyIterator, "data.NumpyIterator", "compat.v1.data.NumpyIterator")


# ---- transformations that datasets have as methods ----------------------------------------------------------------


def _method(name, doc=None):
    """A function that takes the arguments of the method `name` and returns a function for `Dataset.apply`."""
    def outer(*args, **kwargs):
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    outer.__name__ = outer.__qualname__ = doc or name
    outer.__doc__ = f"For `Dataset.apply`: dataset.{name}(...)."
    return outer


for _name in ("bucket_by_sequence_length", "group_by_window", "ignore_errors", "rejection_resample", "scan", "snapshot",
              "take_while", "unbatch", "unique"):
    offer(_method(_name), *(place + _name for place in _PLACES))
offer(_method("enumerate", "enumerate_dataset"), *(place + "enumerate_dataset" for place in _PLACES))
offer(_method("ragged_batch", "dense_to_ragged_batch"), *(place + "dense_to_ragged_batch" for place in _PLACES))
offer(_method("sparse_batch", "dense_to_sparse_batch"), *(place + "dense_to_sparse_batch" for place in _PLACES))


@_both("assert_cardinality")
def assert_cardinality(expected_cardinality):
    """For `Dataset.apply`: raises an error at the end if the dataset has more or fewer elements."""
    return lambda dataset: dataset._then(raw.AssertCardinalityDataset, _int64(expected_cardinality))


@_both("shuffle_and_repeat")
def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """For `Dataset.apply`: repeats the dataset `count` times, or indefinitely, and shuffles it anew each time."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


@_both("map_and_batch")
def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """For `Dataset.apply`: `map`, then `batch`, which run as one fused stage."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, but "
                         f"`num_parallel_batches` was set to {num_parallel_batches} and `num_parallel_calls` was set to "
                         f"{num_parallel_calls}.")
    calls = num_parallel_calls
    if calls is None:
        calls = 1 if num_parallel_batches is None else batch_size * num_parallel_batches
    return lambda dataset: dataset.map(map_func, num_parallel_calls=calls).batch(batch_size, drop_remainder)


offer(map_and_batch, "compat.v1.data.experimental.map_and_batch_with_legacy_function")


@_both("parallel_interleave")
def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """For `Dataset.apply`: `interleave` that reads all `cycle_length` datasets in parallel."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, num_parallel_calls=cycle_length,
                                              deterministic=not sloppy)


@_both("prefetch_to_device")
def prefetch_to_device(device, buffer_size=None):
    """For `Dataset.apply`: `prefetch`, which must be the last stage. The device has no effect."""
    return lambda dataset: dataset.prefetch(buffer_size)


@_both("copy_to_device")
def copy_to_device(target_device, source_device="/cpu:0"):
    """For `Dataset.apply`: leaves the elements as they are. Ops that run on another device copy them."""
    return lambda dataset: dataset._then(raw.OptionsDataset, serialized_options="")


@_both("parse_example_dataset")
def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """For `Dataset.apply`: parses batches of serialized Examples."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")

    def apply(dataset):
        spec = dataset.element_spec
        if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([None], dtypes.string)):
            raise TypeError("Input dataset should be a dataset of vectors of strings. Instead it is of "
                            f"{spec}: use `batch` before.")
        made = dataset.map(lambda examples: parse_example(examples, features), num_parallel_calls, deterministic)
        return Dataset(made._variant_tensor, {key: _with_rows(part, spec.shape[:1]) for key, part in made.element_spec.items()},
                       made._options)

    return apply


def _with_rows(spec, rows):
    """The spec of a sparse batch with its number of rows set; other specs are returned unchanged."""
    if not isinstance(spec, SparseTensorSpec) or spec.shape.rank is None:
        return spec
    return SparseTensorSpec(rows.concatenate(spec.shape[1:]), spec.dtype)


@_both("pad_to_cardinality")
def pad_to_cardinality(cardinality, mask_key="valid"):
    """For `Dataset.apply`: appends elements of zeros until there are `cardinality`. The entry `mask_key` of an element is
    False for these and True for the others."""
    def apply(dataset):
        if not isinstance(dataset.element_spec, dict):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        for spec in flat_specs(dataset.element_spec):
            if not spec.shape.is_fully_defined():
                raise ValueError(f"`pad_to_cardinality` requires elements of known shapes, not {spec}.")

        def padding(*unused):
            zeros = nest.map_structure(lambda s: _zeros(s), dataset.element_spec)
            return {**zeros, mask_key: _core.convert(False)}

        true = dataset.map(lambda element: {**element, mask_key: _core.convert(True)})
        return true.concatenate(Dataset.range(cardinality).map(padding)).take(cardinality)

    return apply


def _zeros(spec):
    return raw.Fill(_core.convert(spec.shape.as_list(), dtypes.int32), _core.convert("" if spec.dtype is dtypes.string else 0, spec.dtype))


# ---- reductions by key --------------------------------------------------------------------------------------------


@_both("Reducer")
class Reducer:
    """The three functions of a reduction: init_func(key), reduce_func(state, element), finalize_func(state)."""

    __module__ = "tensorflow.python.data.experimental.ops.grouping"

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    init_func = property(lambda self: self._init_func)
    reduce_func = property(lambda self: self._reduce_func)
    finalize_func = property(lambda self: self._finalize_func)


@_both("group_by_reducer")
def group_by_reducer(key_func, reducer):
    """For `Dataset.apply`: one element for each key, reduced from all elements with that key."""
    def apply(dataset):
        where, spec = "tf.data.experimental.group_by_reducer()", dataset.element_spec
        number = TensorSpec([], dtypes.int64)
        key = ElementFunction(lambda *e: tensors_of(key_func(*e)), spec, where)
        if not isinstance(key.output_spec, TensorSpec) or not key.output_spec.is_compatible_with(number):
            raise ValueError(f"Invalid `key_func`. Expected `key_func` to return a scalar tf.int64 tensor, but instead `key_func` "
                             f"has output types={key.output_spec}.")
        init = ElementFunction(reducer.init_func, number, where)
        reduce = ElementFunction(reducer.reduce_func, (init.output_spec, spec), where)
        if [s.dtype for s in flat_specs(reduce.output_spec)] != [s.dtype for s in flat_specs(init.output_spec)]:
            raise TypeError(f"The element types for the new state must match the initial state. Expected {init.output_spec} "
                            f"but got {reduce.output_spec}.")
        end = ElementFunction(reducer.finalize_func, reduce.output_spec, where)
        return dataset._then(raw.GroupByReducerDataset, key.captured, init.captured, reduce.captured, end.captured,
                             key_func=key.graph, init_func=init.graph, reduce_func=reduce.graph, finalize_func=end.graph,
                             Tkey_func_other_arguments=_types(key.captured), Tinit_func_other_arguments=_types(init.captured),
                             Treduce_func_other_arguments=_types(reduce.captured),
                             Tfinalize_func_other_arguments=_types(end.captured), spec=end.output_spec)

    return apply


def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
    """Pairs (class, element). Some elements are dropped so that the classes have the distribution `target_dist`."""
    target = _core.convert(target_dist, dtypes.float32) if not isinstance(target_dist, _core.CoreTensor) else target_dist
    with_class = self.map(lambda *e: (raw.Cast(_core.convert(class_func(*e)), dtypes.int64), e if len(e) > 1 else e[0]))
    tiny = float(np.finfo(target.dtype.as_numpy_dtype).tiny)
    count = int(target.shape[0])

    def keep_rates(initial):
        ratios = target / raw.Maximum(initial, tiny)
        return ratios / raw.Max(ratios, 0)

    if initial_dist is not None:
        rates = keep_rates(_core.convert(initial_dist, target.dtype))
        return with_class.filter(lambda kind, element: _drawn(raw.GatherV2(rates, kind, 0), seed))

    def counted(seen, element):
        seen = seen + raw.OneHot(element[0], count, _int64(1), _int64(0), axis=-1)
        share = raw.Cast(seen, target.dtype) / raw.Cast(raw.Sum(seen, 0), target.dtype)
        return seen, (element, raw.GatherV2(keep_rates(share), element[0], 0))

    estimated = with_class.scan(_core.convert(np.zeros(count, np.int64)), counted)
    return estimated.filter(lambda element, rate: _drawn(rate, seed)).map(lambda element, rate: element)


def _drawn(rate, seed):
    first, second = op_seeds(seed)
    drawn = raw.RandomUniform(_core.convert([], dtypes.int32), dtype=rate.dtype, seed=first or 0, seed2=second or 0)
    return raw.Less(drawn, rate)


Dataset.rejection_resample = rejection_resample


# ---- sources --------------------------------------------------------------------------------------------------------


@_both("RandomDataset")
class RandomDataset(Dataset):
    """An infinite dataset of random 32-bit integers."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None):
        made = Dataset.random(seed, rerandomize_each_iteration)
        super().__init__(made._variant_tensor, made._element_spec)


@_both("Counter")
def Counter(start=0, step=1, dtype=dtypes.int64):  # noqa: N802
    """An infinite dataset of the numbers start, start + step, start + 2 * step, ..."""
    return Dataset.counter(start, step, dtype)


@_both("from_list")
def from_list(elements, name=None):
    """A dataset of the elements of a list, which all have the structure of the first."""
    if not isinstance(elements, list):
        raise ValueError("`elements` must be a list.")
    if not elements:
        raise ValueError("`elements` must be non-empty.")
    made = [tensors_of(element) for element in elements]
    spec = nest.map_structure(lambda t: t._type_spec if isinstance(t, CompositeTensor) else TensorSpec(t.shape, t.dtype), made[0])
    flat, shapes = [], None
    for element in made:
        nest.assert_same_structure(spec, element, expand_composites=True)
        parts = nest.flatten(element, expand_composites=True)
        found = [part.shape for part in parts]
        shapes = found if shapes is None else [a.most_specific_compatible_shape(b) for a, b in zip(shapes, found)]
        flat += parts
    spec = nest.pack_sequence_as(spec, [TensorSpec(shape, s.dtype) for shape, s in zip(shapes, flat_specs(spec))],
                                 expand_composites=True) if all(isinstance(s, TensorSpec) for s in nest.flatten(spec)) else spec
    return Dataset(raw.ListDataset(flat, **types_and_shapes(spec)), spec)


@_both("choose_from_datasets")
def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """tf.data.Dataset.choose_from_datasets, which by default continues when one dataset has ended."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


@_both("sample_from_datasets")
def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """tf.data.Dataset.sample_from_datasets, which by default continues when one dataset has ended."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


# ---- elements, structures, values -----------------------------------------------------------------------------------


@_both("at")
def at(dataset, index):
    """The element number `index`. Raises OutOfRangeError if there are fewer elements."""
    found = raw.GetElementAtIndex(dataset._variant_tensor, _int64(index), **types_and_shapes(dataset.element_spec))
    return pack_element(dataset.element_spec, found)


@_both("cardinality")
def cardinality(dataset):
    """dataset.cardinality()"""
    return dataset.cardinality()


@_both("get_single_element")
def get_single_element(dataset):
    """dataset.get_single_element()"""
    return dataset.get_single_element()


@_both("get_next_as_optional")
def get_next_as_optional(iterator):
    """iterator.get_next_as_optional()"""
    return iterator.get_next_as_optional()


@_both("get_structure")
def get_structure(dataset_or_iterator):
    """The spec of the elements."""
    if not isinstance(dataset_or_iterator, (Dataset, Iterator)):
        raise TypeError(f"Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a `tf.data.Dataset` or `tf.data.Iterator`, "
                        f"but got {type(dataset_or_iterator)}.")
    return dataset_or_iterator.element_spec


@_both("to_variant")
def to_variant(dataset):
    """The variant tensor of a dataset."""
    return dataset._variant_tensor


@_both("from_variant")
def from_variant(variant, structure):
    """The dataset of a variant tensor."""
    return Dataset(variant, structure)


@_both("enable_debug_mode")
def enable_debug_mode():
    """Does nothing. In this mode TensorFlow runs the functions of datasets eagerly, so that errors name the user's line;
    Evenflow's errors name it in any case."""
    if not _core.executing_eagerly():
        raise ValueError("`enable_debug_mode()` is only supported in eager mode.")


@_both("TFRecordWriter")
class TFRecordWriter:
    """Writes the elements of a dataset of strings to a TFRecord file."""

    __module__ = "tensorflow.python.data.experimental.ops.writers"

    def __init__(self, filename, compression_type=None):
        self._filename, self._compression = filename, TFRecordOptions.get_compression_type_string(compression_type or "")

    def write(self, dataset):
        """Writes all elements. An existing file is replaced."""
        if not isinstance(dataset, Dataset):
            raise TypeError(f"Invalid `dataset.` Expected a `tf.data.Dataset` object but got {type(dataset)}.")
        if dataset.element_spec != TensorSpec([], dtypes.string):
            raise TypeError(f"Invalid `dataset`. Expected a dataset of scalar `tf.string`, but its elements are {dataset.element_spec}.")
        if not _core.executing_eagerly():
            raise NotImplementedError("TFRecordWriter.write: in a graph, write with tf.io.TFRecordWriter from eager code instead")
        writer = _core.RecordWriter(self._filename, self._compression, *TFRecordOptions()._numbers())
        try:
            for record in dataset:
                writer.write(record.numpy())
        finally:
            writer.close()


# ---- tables from datasets ---------------------------------------------------------------------------------------


def _pairs(dataset):
    """(keys, values) as two tensors, of a dataset of pairs."""
    spec = dataset.element_spec
    if not isinstance(spec, tuple) or len(spec) != 2:
        raise ValueError("elements of the dataset must be pairs of a key and a value")
    whole = dataset.batch(2**31 - 1).get_single_element()
    return whole[0], whole[1]


@_both("DatasetInitializer")
class DatasetInitializer(KeyValueTensorInitializer):
    """Fills a table with the pairs of a dataset."""

    def __init__(self, dataset):
        keys, values = _pairs(dataset)
        super().__init__(keys, values)


@_both("table_from_dataset")
def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None, hasher_spec=None,
                       key_dtype=dtypes.string, name=None):
    """A lookup table of the (key, value) pairs of a dataset. hasher_spec: an object with the fields `hasher` ("fasthash" or
    "stronghash") and `key`, which tells how keys that are not in the dataset are assigned to the buckets."""
    spec = dataset.element_spec
    if len(spec) != 2:
        raise ValueError(f"Expected a dataset of pairs of a key and a value, but its elements are {spec}.")
    if spec[0].dtype != key_dtype and not (key_dtype.is_integer and spec[0].dtype.is_integer):
        raise TypeError(f"Invalid `dataset`. Keys are {spec[0].dtype.name}, but key_dtype is {key_dtype.name}.")
    if vocab_size is not None:
        if vocab_size < 1:
            raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
        dataset = dataset.take(vocab_size).apply(assert_cardinality(vocab_size))
    if num_oov_buckets:
        if num_oov_buckets < 0:
            raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
        table = StaticVocabularyTable(DatasetInitializer(dataset), num_oov_buckets)
        table._hash = hash_of(hasher_spec)
        return table
    if default_value is None:
        if not (spec[1].dtype.is_integer or spec[1].dtype.is_floating):
            raise ValueError("`default_value` must be specified when creating a table from a dataset that produces values of "
                             f"type {spec[1].dtype}.")
        default_value = -1
    return StaticHashTable(DatasetInitializer(dataset), default_value)


@_both("index_table_from_dataset")
def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None,
                             key_dtype=dtypes.string, name=None):
    """A lookup table from the elements of a dataset to their positions in it."""
    numbered = dataset.enumerate().map(lambda n, key: (key, n))
    return table_from_dataset(numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name)
