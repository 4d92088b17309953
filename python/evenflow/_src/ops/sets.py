"""tf.sets: operations on sets, which are stored along the last axis of tensors. Results are sparse."""
from ..namespace import export
from .common import SparseTensor, Tensor, convert, dtypes, raw

_TYPES = (
    dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.string,
)


def _operand(x):
    x = x if isinstance(x, SparseTensor) else convert(x)
    if x.dtype not in _TYPES:
        raise TypeError(
            f"Invalid dtype `{x.dtype!r}` not in supported dtypes: {', '.join(t.name for t in _TYPES)}"
        )
    return x


def _parts(x):
    return x.indices, x.values, x.dense_shape


def _merge(a, b, operation, validate_indices):
    a, b = _operand(a), _operand(b)
    if a.dtype != b.dtype:
        raise TypeError(f"Types don't match, {a.dtype!r} vs {b.dtype!r}.")
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return SparseTensor(*raw.DenseToDenseSetOperation(a, b, operation, validate_indices))
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        return SparseTensor(
            *raw.SparseToSparseSetOperation(*_parts(a), *_parts(b), operation, validate_indices)
        )
    if isinstance(a, SparseTensor):  # the op takes the dense operand first
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    return SparseTensor(*raw.DenseToSparseSetOperation(a, *_parts(b), operation, validate_indices))


@export("sets.difference")
def difference(a, b, aminusb=True, validate_indices=True):
    """The elements of each set of `a` that are not in the corresponding set of `b`; without `aminusb`, the reverse."""
    return _merge(a, b, "a-b" if aminusb else "b-a", validate_indices)


@export("sets.intersection")
def intersection(a, b, validate_indices=True):
    """The elements that are in both a set of `a` and the corresponding set of `b`."""
    return _merge(a, b, "intersection", validate_indices)


@export("sets.union")
def union(a, b, validate_indices=True):
    """The elements that are in a set of `a` or in the corresponding set of `b`."""
    return _merge(a, b, "union", validate_indices)


@export("sets.size")
def size(a, validate_indices=True):
    """The number of distinct elements of each set of a SparseTensor."""
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    return raw.SetSize(*_parts(a), validate_indices)
