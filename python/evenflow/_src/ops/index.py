"""Functions of indices: gather, scatter, where, boolean_mask, one_hot, unique, searchsorted."""
from .. import errors
from ..dispatch import REFUSED, redirect
from ..namespace import export, offer_ops
from ..shapes import agree
from .common import (
    Tensor,
    convert,
    dtypes,
    executing_eagerly,
    rank_of,
    raw,
    seen,
    seen_size,
    static_shape,
    static_value,
)

offer_ops(
    """
    DynamicPartition | data, partitions, num_partitions | dynamic_partition
    UnravelIndex | indices, dims | unravel_index
    """
)


# ---- gather ---------------------------------------------------------------------------------------------


def _is_variable(x):
    return hasattr(x, "sparse_read") and not isinstance(x, Tensor)


@export("gather")
def gather(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    """Gathers the slices of `params` at `indices` along `axis`, by default the first axis after the batch dimensions."""
    try:
        along, batch = batch_dims if axis is None else axis, batch_dims
        if not bool((static_value(along) if isinstance(along, Tensor) else along) != 0):
            if _is_variable(params):
                return params.sparse_read(indices, name=name)
            batch = 0  # the first axis has no batch dimensions before it
        return raw.GatherV2(params, indices, along, batch_dims=batch, name=name)
    except REFUSED:
        return redirect(gather, params, indices, validate_indices, axis, batch_dims, name=name)


@export("gather_nd")
def gather_nd(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """Gathers elements or slices of `params`. The last dimension of `indices` holds the coordinates."""
    try:
        if seen(batch_dims) is not None and int(seen(batch_dims)) == 0:
            if _is_variable(params) and not bad_indices_policy:
                return params.gather_nd(indices, name=name)
            return _gather_nd(params, indices, bad_indices_policy, name)
        return _batch_gather_nd(convert(params), convert(indices), int(seen(batch_dims)), name)
    except REFUSED:
        return redirect(gather_nd, params, indices, batch_dims, bad_indices_policy=bad_indices_policy, name=name)


def _gather_nd(params, indices, policy, name):
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise ValueError(
            f"gather_nd: bad_indices_policy {policy!r} must be one of DEFAULT, ERROR, IGNORE"
        )
    if policy != "IGNORE":
        return raw.GatherNd(params, indices, name=name)
    params, indices = convert(params), convert(indices)
    depth = seen_size(indices, -1)
    bounds = raw.Cast(raw.Shape(params)[:depth], indices.dtype)
    good = raw.All(raw.LogicalAnd(raw.GreaterEqual(indices, 0), raw.Less(indices, bounds)), [-1])
    inside = raw.SelectV2(raw.ExpandDims(good, -1), indices, raw.ZerosLike(indices))
    found = raw.GatherNd(params, inside)
    extra = raw.Sub(raw.Rank(found), raw.Rank(good))
    shape = raw.ConcatV2([raw.Shape(good), raw.Fill(raw.Reshape(extra, [1]), 1)], 0)
    return raw.SelectV2(raw.Reshape(good, shape), found, raw.ZerosLike(found), name=name)


def _batch_gather_nd(params, indices, batch_dims, name):
    ranks = (rank_of(params), rank_of(indices))
    if None in ranks:
        raise ValueError("gather_nd with batch_dims needs tensors of known rank")
    if not 0 <= batch_dims < min(ranks):
        raise ValueError(
            f"Argument `batch_dims` = {batch_dims} must be less than the ranks of `params` and `indices`, {ranks}"
        )
    sizes = raw.Shape(indices)
    for mine, theirs in zip(static_shape(params)[:batch_dims], static_shape(indices)):
        if None in (mine, theirs):  # the op checks the batch sizes when it runs
            sizes = raw.ConcatV2([raw.Shape(params)[:batch_dims], sizes[batch_dims:]], 0)
            indices = raw.Reshape(indices, sizes)
            break
        if mine != theirs:
            raise errors.InvalidGraphError(
                f"gather_nd: a batch of {mine} in params, but of {theirs} in indices"
            )
    columns = []
    for d in range(batch_dims):
        places = raw.Cast(raw.Range(0, sizes[d], 1), indices.dtype)
        shape = [1] * (ranks[1] - 1)
        shape[d] = -1
        places = raw.Reshape(places, shape)
        columns.append(raw.ExpandDims(raw.BroadcastTo(places, sizes[:-1]), -1))
    return raw.GatherNd(params, raw.ConcatV2(columns + [indices], -1), name=name)


# ---- where, masks ---------------------------------------------------------------------------------------


@export("where")
def where(condition, x=None, y=None, name=None):
    """Elements of `x` where `condition` is true, else of `y`. Without x and y, returns the coordinates of true elements."""
    try:
        if x is None and y is None:
            return raw.Where(convert(condition), name=name)
        if x is None or y is None:
            raise ValueError("x and y must both be non-None or both be None.")
        return raw.SelectV2(condition, x, y, name=name)
    except REFUSED:
        return redirect(where, condition, x, y, name=name)


@export("boolean_mask")
def boolean_mask(tensor, mask, axis=None, name="boolean_mask"):
    """The elements or slices of `tensor` for which `mask`, applied from `axis` on, is true."""
    tensor, mask = convert(tensor), convert(mask)
    depth = rank_of(mask)
    if depth == 0:
        raise ValueError("boolean_mask: the mask cannot be scalar.")
    if depth is None:
        raise ValueError(
            "boolean_mask: the mask must have a known rank; give its shape (None for open sizes)"
        )
    at = 0 if axis is None else seen(axis)
    if at is None:
        return _masked_anywhere(tensor, mask, raw.Reshape(convert(axis), []), depth)
    axis = int(at)
    fits = tensor.shape[axis : axis + depth]
    if not agree(fits, mask.shape):
        raise ValueError(f"Shapes {fits} and {mask.shape} are incompatible")
    places = raw.Squeeze(raw.Where(raw.Reshape(mask, [-1])), [1])
    sizes = raw.Shape(tensor)
    if depth == 1:  # the reshape makes the gradient dense
        return raw.GatherV2(raw.Reshape(tensor, sizes), places, axis)
    joined = raw.Prod(sizes[axis : axis + depth], [0], True)
    flat = raw.Reshape(tensor, raw.ConcatV2([sizes[:axis], joined, sizes[axis + depth :]], 0))
    return raw.GatherV2(flat, places, axis)


def _masked_anywhere(tensor, mask, axis, depth):
    """boolean_mask with an axis that is known only when the graph runs."""
    places = raw.Squeeze(raw.Where(raw.Reshape(mask, [-1])), [1])
    sizes = raw.Shape(tensor)
    joined = raw.Prod(sizes[axis : axis + depth], [0], True)
    flat = raw.Reshape(tensor, raw.ConcatV2([sizes[:axis], joined, sizes[axis + depth :]], 0))
    made = raw.GatherV2(flat, places, axis)
    rank = rank_of(tensor)
    if rank is not None:
        made.set_shape([None] * (rank - depth + 1))
    return made


@export("one_hot")
def one_hot(
    indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None
):
    """A tensor with a new axis of size `depth` that has `on_value` (1) at each index and `off_value` (0) elsewhere."""
    try:
        on, off = _one_hot_values(on_value, off_value, dtype)
        return raw.OneHot(indices, depth, on, off, -1 if axis is None else axis, name=name or "one_hot")
    except REFUSED:
        return redirect(one_hot, indices, depth, on_value, off_value, axis, dtype, name=name)


def _one_hot_values(on_value, off_value, dtype):
    """(on value, off value) with a common dtype."""
    dtype = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
    on = convert(on_value, None, dtype) if on_value is not None else None
    off = convert(off_value, None, dtype) if off_value is not None else None
    for given, word in ((on, "on_value"), (off, "off_value")):
        if None not in (given, dtype) and given.dtype is not dtype:
            raise TypeError(
                f"dtype {given.dtype.name} of {word} does not match dtype parameter {dtype.name}"
            )
    if dtype is None:
        dtype = next((t.dtype for t in (on, off) if t is not None), dtypes.float32)
    on = convert(1, dtype) if on is None else on
    off = convert(0, dtype) if off is None else off
    if on.dtype is not off.dtype:
        raise TypeError(
            f"dtype {on.dtype.name} of on_value does not match dtype {off.dtype.name} of off_value"
        )
    return on, off


# ---- scatter --------------------------------------------------------------------------------------------


def _inside(tensor_shape, indices, updates, policy, op):
    """For the policy IGNORE: moves updates with indices out of range to index 0 and makes them zero."""
    if policy not in ("", "DEFAULT", "ERROR", "IGNORE"):
        raise ValueError(f"{op}: bad_indices_policy {policy!r} must be DEFAULT, ERROR or IGNORE")
    indices, updates = convert(indices), convert(updates)
    if policy != "IGNORE":
        return indices, updates
    depth = seen_size(indices, -1)
    bounds = raw.Cast(convert(tensor_shape)[:depth], indices.dtype)
    good = raw.All(raw.LogicalAnd(raw.GreaterEqual(indices, 0), raw.Less(indices, bounds)), [-1])
    flat = raw.Reshape(good, [-1])
    places = raw.Squeeze(raw.Where(flat), [1])
    outer = rank_of(indices) - 1
    rows = raw.Reshape(indices, [-1, depth])
    inner = raw.ConcatV2([[-1], raw.Shape(updates)[outer:]], 0)
    values = raw.Reshape(updates, inner)
    return raw.GatherV2(rows, places, 0), raw.GatherV2(values, places, 0)


@export("scatter_nd")
def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None):
    """Zeros of `shape` with `updates` added at `indices`."""
    if not isinstance(indices, Tensor):
        indices = convert(indices, shape.dtype if isinstance(shape, Tensor) and executing_eagerly() else None)
    if not isinstance(shape, Tensor):
        shape = convert(shape, indices.dtype)
    if bad_indices_policy:
        indices, updates = _inside(shape, indices, updates, bad_indices_policy, "scatter_nd")
    return raw.ScatterNd(indices, updates, shape, name=name)


def _scatter(op, tensor, indices, updates, policy, name):
    if policy:
        tensor = convert(tensor)
        updates = convert(updates, tensor.dtype)
        indices, updates = _inside(raw.Shape(tensor), indices, updates, policy, "tensor_scatter")
    return op(tensor, indices, updates, name=name)


@export("tensor_scatter_nd_update")
def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """`tensor` with the elements at `indices` replaced by `updates`."""
    return raw.TensorScatterUpdate(tensor, indices, updates, name=name)


@export("tensor_scatter_nd_add")
def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None):
    """`tensor` with `updates` added at `indices`."""
    return _scatter(raw.TensorScatterAdd, tensor, indices, updates, bad_indices_policy, name)


@export("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None):
    """`tensor` with `updates` subtracted at `indices`."""
    return _scatter(raw.TensorScatterSub, tensor, indices, updates, bad_indices_policy, name)


@export("tensor_scatter_nd_max")
def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None):
    """The larger of `tensor` and `updates` at `indices`."""
    return _scatter(raw.TensorScatterMax, tensor, indices, updates, bad_indices_policy, name)


@export("tensor_scatter_nd_min")
def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None):
    """The smaller of `tensor` and `updates` at `indices`."""
    return _scatter(raw.TensorScatterMin, tensor, indices, updates, bad_indices_policy, name)


# ---- searching --------------------------------------------------------------------------------------------


@export("unique")
def unique(x, out_idx=dtypes.int32, name=None):
    """(the distinct values in the order of their first occurrence, for each element the index of its value)."""
    return raw.Unique(x, dtypes.as_dtype(out_idx), name=name)


@export("unique_with_counts")
def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """Like unique, but also returns the number of occurrences of each value."""
    return raw.UniqueWithCounts(x, dtypes.as_dtype(out_idx), name=name)


@export("searchsorted")
def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """The indices at which `values` would be inserted into the sorted last dimension of `sorted_sequence`."""
    rows, found = convert(sorted_sequence), None
    values = convert(values)
    size = raw.Shape(rows)[-1]
    flat_rows = raw.Reshape(rows, raw.Pack([-1, size]))
    flat = raw.Reshape(values, raw.Pack([-1, raw.Shape(values)[-1]]))
    out_type = dtypes.as_dtype(out_type)
    if side == "left":
        found = raw.LowerBound(flat_rows, flat, out_type)
    elif side == "right":
        found = raw.UpperBound(flat_rows, flat, out_type)
    else:
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: {side!r}.")
    return raw.Reshape(found, raw.Shape(values), name=name)
