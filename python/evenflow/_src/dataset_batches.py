"""Batches of elements that are not dense tensors: each element is wrapped in a variant, the variants are batched, and each
batch of variants is unpacked row by row."""
from . import _core, dtypes, nest
from .composite import SparseTensorSpec
from .dataset_elements import NoneTensorSpec, batch_spec, flat_element, flat_specs, pack_element
from .ragged import RaggedTensorSpec
from .specs import TensorSpec
from .functional import map_fn

raw = _core.raw


def is_plain(spec):
    """Whether all leaves of an element spec are dense tensors or None."""
    return all(isinstance(s, (TensorSpec, NoneTensorSpec)) for s in nest.flatten(spec))


def as_variants(dataset):
    """The same dataset, with each leaf that is no dense tensor wrapped in one variant."""
    spec = dataset.element_spec

    def wrap(*element):
        element = element if type(spec) is tuple else element[0]
        parts = [part if isinstance(s, (TensorSpec, NoneTensorSpec)) else raw.OptionalFromValue(flat_element(part))
                 for part, s in zip(nest.flatten(element), nest.flatten(spec))]
        return nest.pack_sequence_as(spec, parts)

    return dataset.map(wrap)


def from_variants(dataset, spec, size=None):
    """Unwraps the variants of `as_variants` after batching. `spec` is the element spec before `as_variants`; `size` is the
    batch size if it is known."""
    def unwrap(*batch):
        batch = batch if type(spec) is tuple else batch[0]
        parts = [rows if isinstance(s, (TensorSpec, NoneTensorSpec)) else _unpack(rows, s)
                 for rows, s in zip(nest.flatten(batch), nest.flatten(spec))]
        return nest.pack_sequence_as(spec, parts)

    made = dataset.map(unwrap)
    if size is not None:
        made._element_spec = batch_spec(spec, size)
    return made


def _unpack(rows, spec):
    """Makes one composite tensor from a list of optionals."""
    flat = flat_specs(spec)

    def row(k):
        one = raw.TensorListGetItem(rows, k, _core.convert([], dtypes.int32), dtypes.variant)
        return pack_element(spec, raw.OptionalGetValue(one, [s.dtype for s in flat], [s.shape for s in flat]))

    n = raw.TensorListLength(rows)
    return map_fn(row, raw.Range(0, n, 1), fn_output_signature=spec)


def ragged_spec(spec, row_splits_dtype):
    """The spec as which dense tensors of different sizes are batched: a RaggedTensorSpec if a dimension is unknown."""
    if not isinstance(spec, TensorSpec) or not spec.shape.rank or spec.shape.is_fully_defined():
        return spec
    return RaggedTensorSpec(spec.shape, spec.dtype, 0, row_splits_dtype)


def ragged_rows(dataset, row_splits_dtype):
    """The element spec of a dataset after `ragged_spec`, which `ragged_batch` uses."""
    return nest.map_structure(lambda s: ragged_spec(s, row_splits_dtype), dataset.element_spec)


def wrap_dense(dataset, spec):
    """The same dataset, with the leaves whose spec is ragged or sparse wrapped in variants."""
    def wrap(*element):
        element = element if type(dataset.element_spec) is tuple else element[0]
        parts = [raw.OptionalFromValue(flat_element(part)) if isinstance(s, (RaggedTensorSpec, SparseTensorSpec)) else part
                 for part, s in zip(nest.flatten(element), nest.flatten(spec))]
        return nest.pack_sequence_as(spec, parts)

    return dataset.map(wrap)
