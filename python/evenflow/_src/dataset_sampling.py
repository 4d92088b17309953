"""Dataset.sample_from_datasets, padded_batch and bucket_by_sequence_length."""
import numpy as np

from . import _core, dtypes, graph as graphs, nest
from .dataset_elements import flat_specs
from .shapes import TensorShape
from .specs import TensorSpec
from .datasets import Dataset, _directed, _int64

raw = _core.raw


def _drawn(datasets, weights):
    """The datasets of nonzero weight, and their weights. The others are never drawn, so sampling would wait for their end
    forever."""
    known = _core.static_value(weights)
    if known is None or (known > 0).all():
        return datasets, weights
    if not (known > 0).any():
        return [datasets[0].take(0)], weights
    return [d for d, w in zip(datasets, known) if w > 0], _core.convert(known[known > 0])


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
    """A dataset of elements of several datasets, chosen at random."""  # the seed of each draw is two random numbers
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if isinstance(weights, Dataset):
        raise TypeError("sample_from_datasets: weights that come from a dataset are not supported; give a list or a tensor")
    if weights is None:
        logits = _core.convert([[1.0] * len(datasets)])
    else:
        weights = _core.convert(weights)
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(f"Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is {weights.dtype}.")
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError(f"Invalid `weights`. The shape of `weights` should be compatible with `[len(datasets)]` but is "
                             f"{weights.shape}.")
        datasets, weights = _drawn(datasets, weights)
        logits = raw.ExpandDims(raw.Log(weights), 0)
    if len(datasets) == 1:
        return datasets[0]

    def draw(pair):
        return raw.Reshape(raw.StatelessMultinomial(logits, 1, pair, output_dtype=dtypes.int64), np.zeros([0], np.int32))

    choice = Dataset.random(seed, rerandomize_each_iteration).batch(2, drop_remainder=True).map(draw)
    return _directed(choice, datasets, stop_on_empty_dataset)


def _padding_value(value, spec):
    if value is not None:
        value = _core.convert(value, None, spec.dtype)
        if value.dtype != spec.dtype:
            raise TypeError(f"Invalid `padding_values`. `padding_values` values type {value.dtype!r} does not match type {spec.dtype!r} "
                            "of the corresponding input component.")
        return value
    if spec.dtype not in (dtypes.string, dtypes.bool) and not (spec.dtype.is_floating or spec.dtype.is_integer
                                                               or spec.dtype.is_complex):
        raise TypeError(f"Unable to create padding for field of type {spec.dtype}.")
    return _core.convert("" if spec.dtype is dtypes.string else 0, spec.dtype)


def _padded_shape(shape, spec):
    """The sizes to pad to, as a tensor (-1 means the largest size in the batch) and as a static shape."""
    if isinstance(shape, _core.CoreTensor):
        known = _core.static_value(shape)
        sizes = [None] * (spec.shape.rank or 0) if known is None else [None if d < 0 else int(d) for d in known]
        return raw.Cast(shape, dtypes.int64), TensorShape(sizes)
    given = TensorShape([None if d is None or d == -1 else d for d in list(shape)])
    if spec.shape.rank is not None and spec.shape.rank != given.rank:
        raise ValueError(f"The padded shape {given} is not compatible with the shape {spec.shape} of the corresponding input "
                         "component.")
    for want, have in zip(given.as_list(), spec.shape.as_list() if spec.shape.rank is not None else []):
        if want is not None and have is not None and want < have:
            raise ValueError(f"The padded shape {given} is not compatible with the shape {spec.shape} of the corresponding "
                             "input component.")
    return _core.convert([-1 if d is None else d for d in given.as_list()], dtypes.int64), given


def _spread(values, spec):
    """A list with one value for each tensor of an element; a single value is repeated."""
    if values is None or not nest.is_nested(values):
        return [values] * len(flat_specs(spec))
    return nest.flatten_up_to(spec, values)


def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
    """Combines `batch_size` elements into one, after padding them to the same shape."""
    spec = self.element_spec
    flat = nest.flatten(spec)
    if not all(isinstance(s, TensorSpec) for s in flat):
        raise TypeError(f"`padded_batch` is only supported for datasets that produce tensor elements but the input dataset "
                        f"produces elements of {spec}.")
    if padded_shapes is None:
        if any(s.shape.rank is None for s in flat):
            raise ValueError(f"You must provide `padded_shapes` argument because component of the input dataset has unknown rank: {spec}.")
        shapes = [s.shape for s in flat]
    else:
        shapes = nest.flatten_up_to(spec, padded_shapes)
    sizes, known = zip(*[_padded_shape(shape, s) for shape, s in zip(shapes, flat)])
    values = [_padding_value(v, s) for v, s in zip(_spread(padding_values, spec), flat)]
    n = _core.static_value(_int64(batch_size)) if drop_remainder else None
    first = None if n is None else int(n)
    made = [TensorSpec([first] + shape.as_list(), s.dtype) for shape, s in zip(known, flat)]
    variant = raw.PaddedBatchDatasetV2(self._variant_tensor, _int64(batch_size), list(sizes), values, drop_remainder,
                                       Toutput_types=[s.dtype for s in flat], output_shapes=[s.shape for s in made])
    return Dataset(variant, nest.pack_sequence_as(spec, made), self._options)


def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None, padding_values=None,
                              pad_to_bucket_boundary=False, no_padding=False, drop_remainder=False, name=None):
    """Batches of elements of similar length, padded to the same shape."""
    dataset, length_of, boundaries, batch_sizes = self, element_length_func, bucket_boundaries, bucket_batch_sizes
    to_boundary = pad_to_bucket_boundary
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but `len(bucket_batch_sizes)={len(batch_sizes)}` "
                         f"and `len(bucket_boundaries)={len(boundaries)}`.")
    sizes = _core.convert(list(batch_sizes), dtypes.int64)
    least, most = _core.convert([np.iinfo(np.int32).min, *boundaries]), _core.convert([*boundaries, np.iinfo(np.int32).max])
    edges = _core.convert(list(boundaries), dtypes.int64) if to_boundary else None

    def bucket(*element):
        length = _core.convert(length_of(*element))
        if length.dtype != least.dtype:
            raise TypeError(f"The lengths of a dataset are {length.dtype.name}, but `bucket_boundaries` {least.dtype.name}: "
                            f"`element_length_func` must return a tf.{least.dtype.name}.")
        fits = raw.LogicalAnd(raw.LessEqual(least, length), raw.Less(length, most))
        return raw.Min(raw.Where(fits), [0, 1])  # of a length without a bucket, a number that has no batch size

    def batch(key, group):
        size = raw.GatherV2(sizes, key, 0)
        if no_padding:
            return group.batch(size, drop_remainder)
        shapes = padded_shapes if padded_shapes is not None else nest.map_structure(lambda s: s.shape, group.element_spec)
        if to_boundary:
            fits = raw.Less(key, _core.convert(len(boundaries), dtypes.int64))
            check = raw.Assert(fits, ["When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."])
            with graphs.control_dependencies([check]):
                last = raw.GatherV2(edges, raw.Identity(key), 0) - 1
            shapes = nest.map_structure_up_to(group.element_spec, lambda shape: _fill(shape, last), shapes)
        return group.padded_batch(size, shapes, padding_values, drop_remainder)

    return dataset.group_by_window(bucket, batch, window_size_func=lambda key: raw.GatherV2(sizes, key, 0))


def _fill(shape, size):
    """A shape with its unknown sizes replaced by `size`."""
    return raw.Pack([size if d is None or d < 0 else _core.convert(d, dtypes.int64) for d in TensorShape(shape).as_list()]) \
        if TensorShape(shape).rank else TensorShape([])


# These methods are added here, because datasets.py is imported first.
Dataset.sample_from_datasets = staticmethod(sample_from_datasets)
Dataset.padded_batch = padded_batch
Dataset.bucket_by_sequence_length = bucket_by_sequence_length
