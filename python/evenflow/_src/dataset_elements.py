"""Elements of datasets, which are structures of tensors, and traced functions of elements.

Tuples, dicts and classes with `__tf_flatten__` are structures; a list is converted to a tensor. A structure may contain
None, which stays None.
"""
from . import _core, dtypes, errors, nest
from .composite import CompositeTensor, SparseTensor, SparseTensorSpec, SparseTensorValue
from .extension_type import decoded_row, encoded, is_batchable
from .namespace import export
from .ragged import RaggedTensor, RaggedTensorSpec
from .shapes import TensorShape
from .specs import TensorSpec, TypeSpec, register_type_spec_from_value_converter, type_spec_from_value
from .ops.ragged_dispatch import as_ragged
from .ops import sparse
from .autograph import tf_convert
from .autograph.state import control_status_ctx
from .control_graphs import Body, as_result, close


@export("NoneTensorSpec")
class NoneTensorSpec(TypeSpec):
    """Describes None where an element has no tensor."""

    @property
    def value_type(self):
        return type(None)

    _component_specs = ()

    def _serialize(self):
        return ()

    def _to_components(self, value):
        return ()

    def _from_components(self, components):
        return None

    def _batch(self, batch_size):
        return self

    _unbatch = most_specific_compatible_shape = lambda self, *unused: self


NoneTensorSpec.__module__ = "tensorflow.python.data.util.structure"
register_type_spec_from_value_converter(type(None), lambda _: NoneTensorSpec())


def is_dataset(value):
    return isinstance(value, CompositeTensor) and hasattr(value, "_variant_tensor")


def is_dataset_list(value):
    return isinstance(value, list) and len(value) > 0 and all(map(is_dataset, value))


def has_datasets(value):
    """Whether a list of datasets is a leaf of the structure."""
    if isinstance(value, (tuple, dict)):
        return any(map(has_datasets, nest._values(value)))
    return is_dataset_list(value)


def tensors_of(value):
    """Converts a user's value to an element. Structures are kept; everything else, including a list, becomes a tensor."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if value is None or isinstance(value, (_core.CoreTensor, CompositeTensor)):
        return value
    if hasattr(value, "nested_row_splits"):
        return as_ragged(value)
    if nest.is_nested(value) and (isinstance(value, (tuple, dict)) or nest.is_mapping(value) or nest.is_attrs(value)
                                  or nest.is_custom(value)):
        return nest._rebuild(value, [tensors_of(child) for child in nest._values(value)])
    if isinstance(value, list) and any(map(is_dataset, value)):
        raise ValueError(f"{value!r} cannot be converted to a tensor: give the datasets as a tuple, or as a list of nothing else to "
                         "Dataset.from_tensor_slices")
    return _core.convert(value)


def whole_element(value, what):
    """tensors_of for the argument of a source such as from_tensors. Raises an error if it contains no tensor."""
    element = tensors_of(value)
    if all(t is None for t in nest.flatten(element)):
        if what == "from_tensors":
            raise errors.InvalidArgumentError(None, None, f"{what}: an element needs a tensor at least, not {value!r}")
        raise ValueError(f"{what}: Invalid `element`. `element` should not be empty.")
    return element


def spec_of(element):
    """The spec of an element: the same structure with a TypeSpec for each leaf."""
    return nest.map_structure(type_spec_from_value, element)


def row_spec(whole):
    """The spec of one row (a slice along the first axis) of a tensor."""
    if whole is None:
        return NoneTensorSpec()
    if is_batchable(whole):
        return whole._type_spec._unbatch()
    row = whole.shape[1:]
    if not isinstance(whole, CompositeTensor):
        return TensorSpec(row, whole.dtype)
    if isinstance(whole, SparseTensor):
        return SparseTensorSpec(row, whole.dtype)
    if not isinstance(whole, RaggedTensor):
        raise TypeError(f"from_tensor_slices takes dense, sparse and ragged tensors, not {whole!r}")
    return RaggedTensorSpec(row, whole.dtype, whole.ragged_rank - 1, whole.row_splits.dtype)


def row_parts(whole):
    """The tensors whose rows make up the rows of `whole`: itself, or the components of a batchable extension type."""
    return encoded(whole) if is_batchable(whole) else (whole,)


def row_of(whole, k):
    """Row k of a dense, ragged or sparse tensor or of a batchable extension type."""
    if whole is None:
        return None
    if is_batchable(whole):
        return decoded_row(whole, [row_of(part, k) for part in encoded(whole)])
    if not isinstance(whole, SparseTensor):
        return whole[k]
    sizes = whole.dense_shape[1:]
    start = _core.raw.Pad(_core.convert([k], dtypes.int64), [[0, whole.shape.rank - 1]])
    cut = sparse.slice(whole, start, _core.raw.ConcatV2([_core.convert([1], dtypes.int64), sizes], 0))
    return sparse.reshape(cut, sizes)


def batch_spec(spec, size):
    """The spec of a batch of elements."""
    return nest.map_structure(lambda s: s if s.value_type is not type(None) and getattr(s, "dtype", None) == dtypes.variant
                              else s._batch(size), spec)


def stack(*rows):
    """Stacks rows along a new first axis."""
    if rows[0] is None:
        return None
    if not isinstance(rows[0], SparseTensor):
        return _core.raw.Pack(list(rows))
    return sparse.concat(0, [sparse.expand_dims(row, 0) for row in rows])


# ---- functions of elements ---------------------------------------------------------------------------------------


class ElementFunction:
    """A user's function, traced once for elements of a spec. The dataset ops take its graph and its captured tensors. An
    element that is a tuple is passed as separate arguments, if `spread`."""

    def __init__(self, python, spec, where, *, spread=True):
        if not callable(python):
            raise TypeError(f"{where}: the function must be callable, not {python!r}")
        converted = tf_convert(python, control_status_ctx())
        body = Body(_name_of(python), runs_all=True)
        with body:
            tensors = [body.placeholder(s.dtype, s.shape) for s in flat_specs(spec)]
            element = pack_element(spec, tensors)
            made = converted(*element) if spread and type(element) is tuple else converted(element)
            try:
                made = tensors_of(tuple(made) if isinstance(made, list) else made)
                self.output_spec = spec_of(made)
            except (TypeError, ValueError) as e:
                raise TypeError(f"Unsupported return value from function passed to {where}: {made}.") from e
            result = as_result(made)
        body.finish(result)
        self.captured = close([body], [body.tensors])
        self.graph = body.graph


def _name_of(python):
    name = getattr(python, "__name__", type(python).__name__)
    return "".join(c if c.isalnum() else "_" for c in name)


def flat_specs(spec):
    """The specs of the plain tensors of an element."""
    return nest.flatten(spec, expand_composites=True)


def pack_element(spec, tensors):
    """Packs plain tensors into an element."""
    if type(spec) is TensorSpec:
        return tensors[0]
    if type(spec) is tuple and all(type(s) is TensorSpec for s in spec):
        return tuple(tensors)
    return nest.pack_sequence_as(spec, tensors, expand_composites=True)


def flat_element(element):
    """The plain tensors of an element."""
    return [t for t in nest.flatten(element, expand_composites=True) if t is not None]


# ---- elements of generators ---------------------------------------------------------------------------------------


def yielded(value, signature):
    """Converts what a generator yielded to tensors that match a signature."""
    found = []
    try:
        _collect(value, signature, found)
    except _OtherStructure:
        raise errors.InvalidArgumentError(
            None, None, "TypeError: `generator` yielded an element that did not match the expected structure. The expected "
            f"structure was {signature}, but the yielded element was {value}.") from None
    return nest.pack_sequence_as(signature, found)


class _OtherStructure(Exception):
    pass


def _collect(value, spec, found):
    if isinstance(spec, TypeSpec):
        found.append(_fitting(value, spec))
        return
    alike = nest.is_mapping(value) if nest.is_mapping(spec) else isinstance(value, tuple)
    if not alike or len(value) != len(spec) or (nest.is_mapping(spec) and set(value) != set(spec)):
        raise _OtherStructure
    for one, wanted in zip(nest._values(value), nest._values(spec)):
        _collect(one, wanted, found)


def _fitting(value, spec):
    """Converts a user's value to a tensor. Raises InvalidArgumentError if it does not match the spec."""
    if not isinstance(spec, TensorSpec):
        value = tensors_of(value)
        if not spec.is_compatible_with(value):
            raise errors.InvalidArgumentError(None, None, "TypeError: `generator` yielded an element of "
                                              f"{type_spec_from_value(value)} where an element of {spec} was expected.")
        return value
    try:
        tensor = _core.convert(value, spec.dtype)
    except (TypeError, ValueError) as e:
        raise errors.InvalidArgumentError(
            None, None, "TypeError: `generator` yielded an element that could not be converted to the expected type. The "
            f"expected type was {spec.dtype.name}, but the yielded element was {value}.") from e
    if not spec.shape.is_compatible_with(TensorShape(tensor._dims)):
        raise errors.InvalidArgumentError(None, None, f"TypeError: `generator` yielded an element of shape {tensor._dims} "
                                          f"where an element of shape {spec.shape} was expected.")
    return tensor
