"""Iterators of TensorFlow 1, which are nodes of a graph: one-shot, initializable, reinitializable and feedable."""
import itertools

from . import _core, dtypes, nest
from .composite import SparseTensor, SparseTensorSpec
from .datasets import Dataset, get_output_classes, get_output_shapes, get_output_types
from .dataset_elements import pack_element
from .dataset_iterators import OwnedIterator, types_and_shapes
from .dataset_options import ExternalStatePolicy
from .namespace import export
from .optional import Iterator as IteratorBase
from .optional import Optional
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec

raw = _core.raw
_numbers = itertools.count()


def _new_name():
    return f"_iterator_{next(_numbers)}"


def _spec(output_types, output_shapes, output_classes):
    """The element spec from the dtypes, shapes and classes by which TensorFlow 1 describes elements."""
    shapes = nest.map_structure(lambda t: TensorShape(None), output_types) if output_shapes is None else \
        nest.map_structure_up_to(output_types, TensorShape, output_shapes)
    if output_classes is None:
        return nest.map_structure_up_to(output_types, lambda t, s: TensorSpec(s, t), output_types, shapes)

    def one(dtype, shape, kind):
        if isinstance(kind, TypeSpec):
            return kind
        return SparseTensorSpec(shape, dtype) if kind is SparseTensor else TensorSpec(shape, dtype)

    return nest.map_structure_up_to(output_types, one, output_types, shapes, output_classes)


@export("compat.v1.data.Iterator")
class Iterator(IteratorBase):
    """An iterator in a graph. Its position in the dataset is a resource of the session."""

    def __init__(self, iterator_resource, initializer, output_types, output_shapes, output_classes, element_spec=None):
        self._iterator_resource, self._initializer = iterator_resource, initializer
        self._element_spec = _spec(output_types, output_shapes, output_classes) if element_spec is None else element_spec

    @classmethod
    def _of(cls, resource, initializer, spec):
        return cls(resource, initializer, None, None, None, spec)

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for any dataset with such elements; `make_initializer` binds it to one."""
        spec = _spec(nest.map_structure(dtypes.as_dtype, output_types), output_shapes, output_classes)
        return Iterator._of(_resource(spec, shared_name), None, spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator that a string handle names. The string may be fed, so each run can choose another iterator."""
        spec = _spec(nest.map_structure(dtypes.as_dtype, output_types), output_shapes, output_classes)
        handle = _core.convert(string_handle, dtypes.string)
        return Iterator._of(raw.IteratorFromStringHandleV2(handle, **types_and_shapes(spec)), None, spec)

    @property
    def initializer(self):
        """The operation that moves the iterator to the first element."""
        if self._initializer is None:
            raise ValueError("The iterator does not have an initializer. This means it was likely created using "
                             "`tf.data.Dataset.make_one_shot_iterator()`. For an initializable iterator, use "
                             "`tf.data.Dataset.make_initializable_iterator()` instead.")
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """An operation that binds the iterator to `dataset` and moves it to the first element."""
        mine, its = nest.flatten(self._element_spec), nest.flatten(dataset.element_spec)
        nest.assert_same_structure(self._element_spec, dataset.element_spec)
        for own, other in zip(mine, its):
            if own.dtype != other.dtype:
                raise TypeError(f"Expected output types {self.output_types!r} but got dataset with output types "
                                f"{get_output_types(dataset)!r}.")
            if not own.shape.is_compatible_with(other.shape):
                raise TypeError(f"Expected output shapes compatible with {self.output_shapes!r} but got dataset with output "
                                f"shapes {get_output_shapes(dataset)!r}.")
        return raw.MakeIterator(dataset._variant_tensor, self._iterator_resource, name=name)

    def get_next(self, name=None):
        """The next element. A run after the last one raises OutOfRangeError."""
        found = raw.IteratorGetNext(self._iterator_resource, **types_and_shapes(self._element_spec), name=name)
        return pack_element(self._element_spec, found)

    def get_next_as_optional(self):
        """The next element as an Optional."""
        made = raw.IteratorGetNextAsOptional(self._iterator_resource, **types_and_shapes(self._element_spec))
        return Optional(self._element_spec, made)

    def string_handle(self, name=None):
        """A string tensor that names the iterator in its session."""
        return raw.IteratorToStringHandle(self._iterator_resource, name=name)

    element_spec = property(lambda self: self._element_spec)
    output_types = property(get_output_types)
    output_shapes = property(get_output_shapes)
    output_classes = property(get_output_classes)


Iterator.__module__ = "tensorflow.python.data.ops.iterator_ops"


def _resource(spec, shared_name=None):
    return raw.IteratorV2(shared_name or _new_name(), "", **types_and_shapes(spec))


@export("compat.v1.data.make_one_shot_iterator")
def make_one_shot_iterator(dataset):
    """An iterator over a dataset; in a graph it needs no initializer."""
    if _core.executing_eagerly():
        return OwnedIterator(dataset)
    spec = dataset.element_spec
    made = raw._OneShotIterator(dataset._variant_tensor, **types_and_shapes(spec), shared_name=_new_name())
    return Iterator._of(made, None, spec)


@export("compat.v1.data.make_initializable_iterator")
def make_initializable_iterator(dataset, shared_name=None):
    """An iterator over a dataset, to be initialized by running its initializer in a session."""
    if _core.executing_eagerly():
        raise RuntimeError("`tf.compat.v1.data.make_initializable_iterator()` is not supported in eager mode. Use Python-style "
                           "iteration instead.")
    spec = dataset.element_spec
    resource = _resource(spec, shared_name)
    return Iterator._of(resource, raw.MakeIterator(dataset._variant_tensor, resource), spec)


class _SaveSpec:
    """A tensor of a checkpoint and its name there."""

    def __init__(self, tensor, name):
        self.tensor, self.name, self.slice_spec, self.dtype, self.device = tensor, name, "", tensor.dtype, ""


class _IteratorSaveable:
    """What a Saver needs in order to save and restore the position of an iterator."""

    def __init__(self, resource, name, policy):
        self.op, self.name = resource, name
        self.specs = [_SaveSpec(raw._IteratorPosition(resource, external_state_policy=policy.value), name + "_STATE")]

    @property
    def device(self):
        return self.op.device

    def restore(self, restored_tensors, restored_shapes):  # noqa: ARG002
        """The op that lets the iterator go on behind the saved position."""
        return raw._IteratorSetPosition(self.op, restored_tensors[0])


@export("data.experimental.make_saveable_from_iterator", "compat.v1.data.experimental.make_saveable_from_iterator")
def make_saveable_from_iterator(iterator, external_state_policy=None):
    """What tf.compat.v1.train.Saver takes to save and restore the position of an iterator."""
    policy = external_state_policy or "fail"
    if not isinstance(policy, ExternalStatePolicy):
        if policy not in ("warn", "ignore", "fail"):
            raise ValueError("Invalid `ExternalStatePolicy.` Supported values include 'warn', 'ignore', and 'fail.' Received "
                             f"{policy}.")
        policy = ExternalStatePolicy[policy.upper()]
    return _IteratorSaveable(iterator._iterator_resource, iterator._iterator_resource.name, policy)


def _from_sparse_tensor_slices(sparse_tensor):
    return Dataset.from_tensor_slices(sparse_tensor)


def _map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None, use_unbounded_threadpool=False):
    return self.map(map_func, num_parallel_calls, deterministic)


# The methods that only datasets of TensorFlow 1 have. No name is used by both generations, so one class has them all.
Dataset.make_one_shot_iterator = make_one_shot_iterator
Dataset.make_initializable_iterator = make_initializable_iterator
Dataset.output_types = property(get_output_types)
Dataset.output_shapes = property(get_output_shapes)
Dataset.output_classes = property(get_output_classes)
Dataset.from_sparse_tensor_slices = staticmethod(_from_sparse_tensor_slices)
Dataset.map_with_legacy_function = _map_with_legacy_function
Dataset.filter_with_legacy_function = lambda self, predicate: self.filter(predicate)
