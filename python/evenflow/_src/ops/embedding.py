"""Lookups in embedding tables: single rows, or rows combined by sparse matrices of ids."""
from ..dispatch import REFUSED, redirect
from ..namespace import export
from ..ragged import RaggedTensor
from ..shapes import TensorShape
from .clip import clip_by_norm
from .common import CoreTensor, SparseTensor, convert, dtypes, rank_of, raw, static_shape
from .sparse import fill_empty_rows, reshape, retain
from .index import gather


def _limit_norm(rows, ids, max_norm):
    if max_norm is None:
        return rows
    axes = list(range(rank_of(ids) or 0, rank_of(rows)))
    return clip_by_norm(rows, max_norm, axes=axes)


@export("nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """Looks up rows of an embedding table, which may be a list of partitions of nearly equal size, by id."""
    return lookup(params, ids, "div", max_norm, name)


def lookup(params, ids, strategy, max_norm=None, name=None):
    """embedding_lookup with a partition strategy: id k is in partition k % n ("mod"), or partitions are contiguous ("div").
    Ragged ids give ragged rows."""
    params = _parts(params)
    try:
        ids = convert(ids)
    except REFUSED:
        return redirect(lookup, params, ids, strategy, max_norm, name=name)
    if len(params) == 1:
        return _limit_norm(gather(params[0], ids, name=name), ids, max_norm)
    return _limit_norm(_lookup_in_parts(params, ids, strategy, name), ids, max_norm)


def _parts(params):
    """The partitions of a table as a list."""
    if params is None:
        raise ValueError("params must be specified")
    parts = list(params) if isinstance(params, (list, tuple)) else [params]
    if not parts:
        raise ValueError("Length of params is currently 0. Need at least one param.")
    return parts


def _dims(part):
    """The static shape of a partition, which is a tensor or a variable."""
    return TensorShape(part.shape if hasattr(part, "shape") else static_shape(convert(part)))


def _divided(ids, params):
    """(partition, row) of each id, for contiguous partitions of nearly equal size, of which the larger are first."""
    sizes = [_dims(p).as_list()[0] if _dims(p).rank else None for p in params]
    if None in sizes:
        sizes = [raw.Cast(raw.Shape(p)[0], ids.dtype) for p in params]
        total = raw.AddN(sizes)
    else:
        total = convert(sum(sizes), ids.dtype)
    count = convert(len(params), ids.dtype)
    small, extra = raw.FloorDiv(total, count), raw.FloorMod(total, count)
    larger, late = raw.AddV2(small, 1), raw.Sub(ids, extra)
    part = raw.Maximum(raw.FloorDiv(ids, larger), raw.FloorDiv(late, raw.Maximum(small, 1)))
    row = raw.SelectV2(raw.Less(part, extra), raw.FloorMod(ids, larger), raw.FloorMod(late, raw.Maximum(small, 1)))
    return part, row


def _lookup_in_parts(params, ids, strategy, name):
    """Rows of a table with several partitions: gathers from each partition and restores the order of the ids."""
    flat = raw.Reshape(ids, [-1])
    if strategy == "mod":
        part, row = raw.FloorMod(flat, len(params)), raw.FloorDiv(flat, len(params))
    elif strategy == "div":
        part, row = _divided(flat, params)
    else:
        raise ValueError(f"Unrecognized partition strategy: {strategy}. Must be one of either `mod` or `div`.")
    part = raw.Cast(part, dtypes.int32)
    rows = raw.DynamicPartition(row, part, len(params))
    places = raw.DynamicPartition(raw.Range(0, raw.Size(flat), 1), part, len(params))
    found = [gather(p, r) for p, r in zip(params, rows)]
    merged = raw.ParallelDynamicStitch(places, found)
    inner = _dims(params[0])[1:]
    for p in params[1:]:
        inner = inner.merge_with(_dims(p)[1:])
    whole = inner.is_fully_defined()
    sizes = convert(inner.as_list(), dtypes.int32) if whole else raw.Shape(params[0])[1:]
    made = raw.Reshape(merged, raw.ConcatV2([raw.Shape(ids), sizes], 0), name=name)
    made.set_shape(TensorShape(static_shape(ids)).concatenate(inner))
    return made


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """Looks up the rows of an embedding table for a sparse or ragged matrix of ids, and combines them for each row of the
    matrix."""
    return lookup_sparse(params, sp_ids, sp_weights, "div", combiner, max_norm, name)


def _segments(ids, weights):
    """(row of each id, the ids, their weights) of two sparse or two ragged matrices."""
    kind = RaggedTensor if isinstance(ids, RaggedTensor) else SparseTensor
    if not isinstance(ids, kind):
        raise TypeError(f"sp_ids must be a SparseTensor or a RaggedTensor, got {type(ids).__name__}")
    if weights is not None and not isinstance(weights, kind):
        raise TypeError(f"sp_weights must be either None or a {kind.__name__}, got {type(weights).__name__}")
    if weights is not None:
        TensorShape(static_shape(ids.values)).assert_is_compatible_with(static_shape(weights.values))
    rows = ids.value_rowids() if kind is RaggedTensor else ids.indices[:, 0]
    return raw.Cast(rows, dtypes.int32), ids.values, None if weights is None else weights.values


def lookup_sparse(params, sp_ids, sp_weights, strategy, combiner=None, max_norm=None, name=None):
    """embedding_lookup_sparse with a partition strategy."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    segments, values, weights = _segments(sp_ids, sp_weights)
    ids, places = raw.Unique(values)
    rows = lookup(params, ids, strategy, max_norm)
    if weights is None:
        op = {
            "sum": raw.SparseSegmentSum,
            "mean": raw.SparseSegmentMean,
            "sqrtn": raw.SparseSegmentSqrtN,
        }[combiner]
        return op(rows, places, segments, name=name)
    return _combine(raw.GatherV2(rows, places, 0), weights, segments, combiner, name)


def _combine(rows, weights, segments, combiner, name):
    """Adds the weighted rows of each segment, in at least float32 precision, and divides by what `combiner` requires."""
    dtype = rows.dtype
    narrow = dtype in (dtypes.float16, dtypes.bfloat16)
    if narrow:
        rows = raw.Cast(rows, dtypes.float32)
    if weights.dtype is not rows.dtype:
        weights = raw.Cast(weights, rows.dtype)
    beside = [-1] + [1] * (rank_of(rows) - 1)
    total = raw.SegmentSum(raw.Mul(rows, raw.Reshape(weights, beside)), segments)
    if combiner != "sum":
        by = weights if combiner == "mean" else raw.Mul(weights, weights)
        norm = raw.SegmentSum(by, segments)
        norm = norm if combiner == "mean" else raw.Sqrt(norm)
        total = raw.DivNoNan(total, raw.Reshape(norm, beside), name=None if narrow else name)
    elif name is not None and not narrow:
        total = raw.Identity(total, name=name)
    return raw.Cast(total, dtype, name=name) if narrow else total


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None, allow_fast_lookup=False):
    """embedding_lookup_sparse over the last dimension of `sparse_ids`, which ignores negative ids and weights that are not
    positive. A row without remaining ids gets the embedding of `default_id`, or zeros."""
    return safe_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, "div", combiner, default_id, max_norm, name)


def safe_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, strategy, combiner, default_id, max_norm, name):
    """safe_embedding_lookup_sparse with a partition strategy."""
    embedding_weights = _parts(embedding_weights)
    if sparse_weights is not None:  # the rows are converted to the dtype of the weights
        embedding_weights = [w if isinstance(w, CoreTensor) and w.dtype == sparse_weights.dtype
                             else convert(w, sparse_weights.dtype) for w in embedding_weights]
    ids, weights = _as_sparse(sparse_ids), _as_sparse(sparse_weights)
    outer = raw.Slice(ids.dense_shape, [0], raw.Sub(raw.Shape(ids.dense_shape), convert([1])))
    rank = ids.shape.rank
    flat = raw.Pack([raw.Prod(outer, [0]), ids.dense_shape[-1]])
    ids = reshape(ids, flat)
    good = raw.GreaterEqual(ids.values, convert(0, ids.dtype))
    if weights is not None:
        weights = reshape(weights, flat)
        if combiner != "sum":
            good = raw.LogicalAnd(good, raw.Greater(weights.values, convert(0, weights.dtype)))
        weights, _ = fill_empty_rows(retain(weights, good), 1.0)
    ids, empty = fill_empty_rows(retain(ids, good), default_id or 0)
    rows = lookup_sparse(embedding_weights, ids, weights, strategy, combiner, max_norm)
    if default_id is None:
        beside = raw.Reshape(empty, [-1] + [1] * (rank_of(rows) - 1))
        rows = raw.SelectV2(beside, raw.ZerosLike(rows), rows)
    size = raw.ConcatV2([raw.Cast(outer, dtypes.int32), raw.Slice(raw.Shape(rows), [1], [-1])], 0)
    made = raw.Reshape(rows, size, name=name)
    if rank is not None:
        made.set_shape([None] * (rank - 1) + list(static_shape(rows)[1:]))
    return made


def _as_sparse(ids):
    """Ragged ids as a sparse matrix; sparse ones are returned unchanged."""
    if ids is None or hasattr(ids, "dense_shape"):
        return ids
    if hasattr(ids, "to_sparse"):
        return ids.to_sparse()
    raise TypeError(f"the ids of an embedding lookup must be a SparseTensor or a RaggedTensor, not {type(ids).__name__}")
