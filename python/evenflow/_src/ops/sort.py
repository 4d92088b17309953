"""Sorting and top_k."""
from ..graph import name_scope
from ..namespace import export
from ..tensors import constant
from .common import convert, dtypes, exchanged, executing_eagerly, seen, normal_axis, raw, rank_of


def _last(x, axis):
    """The permutation that swaps `axis` and the last dimension; in a graph it is a named constant."""
    rank = rank_of(x)
    if rank is None:
        rank = raw.Rank(x)
        axis = raw.Add(rank, axis) if axis < 0 else axis
        ends = [raw.Sub(rank, 1), axis]
        return raw.TensorScatterUpdate(raw.Range(0, rank, 1), [[axis], ends[:1]], ends)
    perm = exchanged(axis, rank)
    return perm if executing_eagerly() else constant(perm, name="transposition")


def _descending(x, axis, places):
    count = raw.Shape(x)[axis]  # raises an error if the axis is out of range
    if axis == -1 or axis + 1 == rank_of(x):
        found = raw.TopKV2(x, count)
        return found[1] if places else found[0]
    perm = _last(x, axis)
    found = raw.TopKV2(raw.Transpose(x, perm, name="transpose"), count)
    return raw.Transpose(found[1] if places else found[0], perm, name="transpose")


def _ordered(values, axis, direction, places):
    axis = seen(convert(axis))
    if axis is None or axis.ndim != 0:
        raise ValueError(f"axis must be a constant scalar, got {axis}")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be ASCENDING or DESCENDING, got {direction!r}")
    x = convert(values)
    axis = int(axis)
    if direction == "DESCENDING":
        return _descending(x, axis, places)
    if x.dtype.is_unsigned:  # reversed, because top_k finds the largest
        top = convert(x.dtype.max, x.dtype)
        found = _descending(raw.Sub(top, x), axis, places)
        return found if places else raw.Sub(top, found)
    if x.dtype.is_integer:  # -x - 1 has no overflow
        found = _descending(raw.Sub(raw.Neg(x), 1), axis, places)
        return found if places else raw.Sub(raw.Neg(found), 1)
    found = _descending(raw.Neg(x), axis, places)
    return found if places else raw.Neg(found)


@export("sort")
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements along `axis` in order."""
    if executing_eagerly():
        return _ordered(values, axis, direction, False)
    with name_scope(name or "sort"):
        return _ordered(values, axis, direction, False)


@export("argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The indices (int32) that sort the elements along `axis`."""
    if executing_eagerly():
        return _ordered(values, axis, direction, True)
    with name_scope(name or "argsort"):
        return _ordered(values, axis, direction, True)


@export("math.top_k", "nn.top_k")
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):  # noqa: A002
    """(the `k` largest elements along the last dimension, their indices)."""
    index_type = dtypes.as_dtype(index_type)
    found = raw.TopKV2(input, k, sorted, name=name)
    if index_type is dtypes.int32:
        return found
    return type(found)(found[0], raw.Cast(found[1], index_type))


def _approximate(name, largest, doc):
    def approx_k(
        operand,
        k,
        reduction_dimension=-1,
        recall_target=0.95,
        reduction_input_size_override=-1,
        aggregate_to_topk=True,
        name=None,
    ):
        x = convert(operand)
        axis = normal_axis(reduction_dimension, rank_of(x), "reduction_dimension")
        perm = exchanged(axis, rank_of(x))
        values, places = raw.TopKV2(raw.Transpose(x if largest else raw.Neg(x), perm), k)
        values = values if largest else raw.Neg(values)
        return raw.Transpose(values, perm, name=name), raw.Transpose(places, perm)

    approx_k.__name__ = approx_k.__qualname__ = name
    approx_k.__doc__ = doc
    return export(f"math.{name}", f"nn.{name}")(approx_k)


approx_max_k = _approximate(
    "approx_max_k",
    True,
    "(the `k` largest elements along an axis, their indices). The result is exact for any `recall_target`.",
)
approx_min_k = _approximate(
    "approx_min_k",
    False,
    "(the `k` smallest elements along an axis, their indices). The result is exact for any `recall_target`.",
)


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """Whether each target class is among the `k` highest predictions of its row."""
    return raw.InTopKV2(predictions, targets, k, name=name)
