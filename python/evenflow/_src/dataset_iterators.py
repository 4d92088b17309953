"""Iterators over datasets. An iterator is a resource handle; the C engine (src/data) makes the elements."""
import atexit

from . import _core, errors, nest
from .composite import CompositeTensor
from .dataset_elements import flat_specs, pack_element
from .namespace import export
from .optional import Iterator, Optional
from .specs import TensorSpec, TypeSpec
from .tracking import Trackable
from . import dtypes

raw = _core.raw
atexit.register(_core.stop_pipelines)  # threads of datasets must not call Python while the interpreter ends


def types_and_shapes(spec):
    """The attributes `output_types` and `output_shapes` of a dataset op whose elements have this spec."""
    flat = flat_specs(spec)
    return {"output_types": [s.dtype for s in flat], "output_shapes": [s.shape for s in flat]}


def hashable(spec):
    """A hashable key for an element spec."""
    return type(spec), str(nest.map_structure(lambda _: 0, spec)), tuple(nest.flatten(spec))


POLICY_FAIL = 2  # ExternalStatePolicy.FAIL


class OwnedIterator(Iterator, Trackable):
    """Iterates over the elements of a dataset once. A tf.function gets it as a resource handle, so that one trace serves all
    iterators with the same element spec."""

    def __init__(self, dataset=None, components=None, element_spec=None):
        self._dataset = dataset
        if dataset is None:
            self._iterator_resource, self._element_spec = components, element_spec
        else:
            self._element_spec = dataset.element_spec
            self._iterator_resource = raw.AnonymousIteratorV3(**types_and_shapes(self._element_spec))
            raw.MakeIterator(dataset._variant_tensor, self._iterator_resource)
        self._eager = not _core.is_symbolic(self._iterator_resource)

    @property
    def element_spec(self):
        return self._element_spec

    def __iter__(self):
        """Returns itself. While a function is traced, a Python loop over an eager iterator is unrolled: see `Unrolled`."""
        return self if not self._eager or _core.executing_eagerly() else Unrolled(self)

    def __next__(self):
        if not self._eager or not _core.executing_eagerly():
            return self.get_next()
        found = _core.iterator_next(self._iterator_resource)
        if found is None:
            raise StopIteration
        return pack_element(self._element_spec, found)

    def get_next(self, name=None):
        """Returns the next element. Raises OutOfRangeError after the last one."""
        if self._eager and _core.executing_eagerly():
            found = _core.iterator_next(self._iterator_resource)
            if found is None:
                raise errors.OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]")
        else:
            found = raw.IteratorGetNext(self._iterator_resource, **types_and_shapes(self._element_spec), name=name)
        return pack_element(self._element_spec, found)

    def get_next_as_optional(self):
        """Returns the next element as an Optional, which is empty after the last one."""
        made = raw.IteratorGetNextAsOptional(self._iterator_resource, **types_and_shapes(self._element_spec))
        return Optional(self._element_spec, made)

    # ---- the position, in checkpoints

    def _checkpoint_names(self):
        return {"ITERATOR": ("ITERATOR_STATE",)}

    def _serialize_to_tensors(self):
        said = self._dataset.options().experimental_external_state_policy if self._dataset is not None else None
        policy = POLICY_FAIL if said is None else said.value
        return {"ITERATOR_STATE": raw._IteratorPosition(self._iterator_resource, external_state_policy=policy)}

    def _restore_from_tensors(self, restored):
        return raw._IteratorSetPosition(self._iterator_resource, restored["ITERATOR_STATE"])

    def _save(self):
        """The position as a string tensor."""
        return self._serialize_to_tensors()["ITERATOR_STATE"]

    def _restore(self, state):
        """Goes on behind a position that `_save` gave."""
        return self._restore_from_tensors({"ITERATOR_STATE": _core.convert(state, dtypes.string)})

    def _has_next(self):
        return raw._IteratorHasNext(self._iterator_resource)

    def _ef_argument(self):
        return hashable(self._element_spec), (self._iterator_resource,)

    def _ef_again(self, parts):
        return OwnedIterator(components=parts[0], element_spec=self._element_spec)

    def _ef_graph_for(self, *loop):
        from .autograph.dataset_loop import for_iterator  # dataset_loop.py imports this file

        return for_iterator(self, *loop)

    @property
    def _type_spec(self):
        return IteratorSpec(self._element_spec)


class Unrolled(OwnedIterator):
    """An eager iterator in a traced Python loop: it returns real elements, which become constants of the trace."""

    def __init__(self, of):
        super().__init__(components=of._iterator_resource, element_spec=of._element_spec)

    def __iter__(self):
        return self

    def __next__(self):
        found = _core.iterator_next(self._iterator_resource)
        if found is None:
            raise StopIteration
        return pack_element(self._element_spec, found)


OwnedIterator.__module__ = "tensorflow.python.data.ops.iterator_ops"


@export("data.IteratorSpec")
class IteratorSpec(TypeSpec):
    """Describes an iterator by the spec of its elements."""

    __module__ = "tensorflow.python.data.ops.iterator_ops"

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @property
    def value_type(self):
        return OwnedIterator

    @staticmethod
    def from_value(value):
        """The spec of an iterator."""
        return IteratorSpec(value.element_spec)

    def _serialize(self):
        return (self._element_spec,)

    @property
    def _component_specs(self):
        return TensorSpec((), dtypes.resource)

    def _to_components(self, value):
        return value._iterator_resource

    def _from_components(self, components):
        return OwnedIterator(components=components, element_spec=self._element_spec)


class NumpyIterator(Trackable):
    """Iterates over the elements of a dataset as numpy arrays."""

    def __init__(self, dataset):
        self._iterator = iter(dataset)

    def next(self):
        """The next element."""
        return next(self)

    def save(self):
        """The position as a string tensor."""
        return self._iterator._save()

    def restore(self, state):
        """Goes on behind a position that `save` gave."""
        return self._iterator._restore(state)

    def _checkpoint_names(self):
        return {"_STATE": ("_STATE",)}

    def _serialize_to_tensors(self):
        return {"_STATE": self._iterator._save()}

    def _restore_from_tensors(self, restored):
        return self._iterator._restore(restored["_STATE"])

    def __iter__(self):
        return self

    def __next__(self):
        return nest.map_structure(_numpy, next(self._iterator))

    def __repr__(self):
        return "NumpyIterator(iterator=%r)" % (self._iterator,)


def _numpy(part):
    if isinstance(part, CompositeTensor) and hasattr(part, "_numpy"):
        return part._numpy()
    return None if part is None else part.numpy()
