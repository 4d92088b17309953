"""Dataset.save, load and snapshot, which store elements in files; Dataset.sparse_batch and fingerprint."""
import json

from . import _core, dtypes, errors, nest
from .composite import SparseTensorSpec
from .datasets import Dataset, DatasetSpec, _int64, _types
from .dataset_elements import ElementFunction, NoneTensorSpec, flat_specs
from .dataset_iterators import types_and_shapes
from .gfile import GFile, exists
from .namespace import export
from .ragged import RaggedTensorSpec
from .shapes import TensorShape
from .specs import TensorSpec

raw = _core.raw
_SPEC_FILE = "/element_spec.json"


# ---- the spec of the elements, in a file ---------------------------------------------------------------------------


def _sizes(shape):
    return None if shape.rank is None else shape.as_list()


def _described(spec):
    """A structure of specs as a value that JSON can represent."""
    if isinstance(spec, NoneTensorSpec):
        return {"none": True}
    if isinstance(spec, TensorSpec):
        return {"dense": spec.dtype.name, "shape": _sizes(spec.shape)}
    if isinstance(spec, SparseTensorSpec):
        return {"sparse": spec.dtype.name, "shape": _sizes(spec.shape)}
    if isinstance(spec, RaggedTensorSpec):
        return {"ragged": spec.dtype.name, "shape": _sizes(spec.shape), "rank": spec.ragged_rank,
                "splits": spec.row_splits_dtype.name}
    if nest.is_mapping(spec):
        return {"dict": [[key, _described(spec[key])] for key in spec]}
    if type(spec) in (tuple, list):
        return {type(spec).__name__: [_described(part) for part in spec]}
    raise TypeError(f"Dataset.save: elements of {spec} cannot be written; tuples, dicts and lists of dense, sparse and ragged "
                    "tensors can")


def _spec_from(text):
    kind, what = next(iter(text.items()))
    if kind == "none":
        return NoneTensorSpec()
    if kind == "dict":
        return {key: _spec_from(part) for key, part in what}
    if kind in ("tuple", "list"):
        return (tuple if kind == "tuple" else list)(_spec_from(part) for part in what)
    shape, dtype = TensorShape(text["shape"]), dtypes.as_dtype(what)
    if kind == "dense":
        return TensorSpec(shape, dtype)
    if kind == "sparse":
        return SparseTensorSpec(shape, dtype)
    return RaggedTensorSpec(shape, dtype, text["rank"], dtypes.as_dtype(text["splits"]))


def _path(path):
    return path.__fspath__() if hasattr(path, "__fspath__") else path


# ---- saving and loading --------------------------------------------------------------------------------------------


def _shard_function(dataset, shard_func, where):
    function = ElementFunction(shard_func, dataset.element_spec, where)
    spec = function.output_spec
    if not isinstance(spec, TensorSpec) or not spec.is_compatible_with(TensorSpec([], dtypes.int64)):
        wrong = f"Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its return type is {spec}."
        raise TypeError(wrong) if where == "Dataset.snapshot()" else errors.InvalidArgumentError(None, None, wrong)
    return function


def _in_turn(shards):
    """The default `reader_func`: interleaves the elements of all files."""
    return shards.interleave(lambda one: one, cycle_length=16, num_parallel_calls=-1)


def _reader_function(spec, reader_func, where):
    function = ElementFunction(_in_turn if reader_func is None else reader_func, DatasetSpec(DatasetSpec(spec)), where)
    if not isinstance(function.output_spec, DatasetSpec):
        raise TypeError(f"Invalid `reader_func`. `reader_func` must return a `Dataset` object, but its return type is "
                        f"{function.output_spec}.")
    return function


def _first_shard(*unused):
    return _int64(0)


def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
    """Writes the elements to the directory `path`, from which `tf.data.Dataset.load` reads them."""
    if checkpoint_args is not None:
        raise NotImplementedError("Dataset.save: checkpoint_args is not supported; an interrupted save must be started again")
    path = _path(path)
    function = _shard_function(self, _first_shard if shard_func is None else shard_func, "Dataset.save()")
    described = json.dumps(_described(self.element_spec))
    made = self._then(raw.SaveDatasetV2, _core.convert(path, dtypes.string), function.captured, compression=compression or "",
                      shard_func=function.graph, use_shard_func=shard_func is not None, Tshard_func_args=_types(function.captured))
    count = made.reduce(_int64(0), lambda n, *unused: n + 1)
    if _core.executing_eagerly():
        with GFile(path + _SPEC_FILE, "w") as f:
            f.write(described)
        return None
    return count


def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
    """A dataset of the elements that `Dataset.save` wrote to the directory `path`."""
    path = _path(path)
    if wait:
        raise NotImplementedError("Dataset.load: wait=True is not supported: the directory must be complete")
    if element_spec is None:
        if not _core.executing_eagerly():
            raise ValueError("In graph mode the `element_spec` argument must be provided.")
        if not exists(path + _SPEC_FILE):
            raise errors.NotFoundError(None, None, f"{path}{_SPEC_FILE}; No such file or directory: Dataset.save did not write here")
        with GFile(path + _SPEC_FILE, "r") as f:
            element_spec = _spec_from(json.loads(f.read()))
    function = _reader_function(element_spec, reader_func, "Dataset.load()")
    made = raw.LoadDataset(_core.convert(path, dtypes.string), function.captured, compression=compression or "",
                           reader_func=function.graph, Treader_func_args=_types(function.captured),
                           **types_and_shapes(element_spec))
    return Dataset(made, element_spec)


def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
    """The same elements. The first complete iteration writes them to the directory `path`; later iterations read them."""
    shard = _shard_function(self, _first_shard if shard_func is None else shard_func, "Dataset.snapshot()")
    reader = _reader_function(self.element_spec, reader_func, "Dataset.snapshot()")
    return self._then(raw.SnapshotDatasetV2, _core.convert(_path(path), dtypes.string), reader.captured, shard.captured,
                      compression=compression or "", reader_func=reader.graph, shard_func=shard.graph,
                      Treader_func_args=_types(reader.captured), Tshard_func_args=_types(shard.captured))


def fingerprint(self):
    """A number that is equal for datasets that were built in the same way."""
    return raw.DatasetFingerprint(self._variant_tensor)


def sparse_batch(self, batch_size, row_shape, name=None):
    """Combines `batch_size` dense elements into one sparse tensor, of which they are the rows."""
    specs = flat_specs(self.element_spec)
    if len(specs) != 1 or not isinstance(self.element_spec, TensorSpec):
        raise TypeError(f"`tf.data.Dataset.sparse_batch` needs elements of one dense tensor, not {self.element_spec}.")
    if isinstance(row_shape, _core.CoreTensor):
        sizes, known = raw.Cast(row_shape, dtypes.int64), _core.static_value(row_shape)
        shape = TensorShape(None) if known is None else TensorShape([None if d < 0 else int(d) for d in known])
    else:
        given = TensorShape([None if d is None or d == -1 else d for d in row_shape])
        sizes, shape = _core.convert([-1 if d is None else d for d in given.as_list()], dtypes.int64), given
    spec = SparseTensorSpec(TensorShape([None]).concatenate(shape), specs[0].dtype)
    return self._then(raw.DenseToSparseBatchDataset, _int64(batch_size), sizes, spec=spec)


Dataset.save, Dataset.load, Dataset.snapshot = save, staticmethod(load), snapshot
Dataset.fingerprint, Dataset.sparse_batch = fingerprint, sparse_batch


@export("data.experimental.save")
def save_to(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """dataset.save(path)"""
    return dataset.save(path, compression, shard_func, checkpoint_args)


@export("data.experimental.load")
def load_from(path, element_spec=None, compression=None, reader_func=None):
    """tf.data.Dataset.load(path)"""
    return Dataset.load(path, element_spec, compression, reader_func)
