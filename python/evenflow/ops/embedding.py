"""Embedding tables: rows by number, singly or combined by sparse matrices of numbers."""
from ..namespace import export
from .common import convert, dtypes, raw, rank_of, static_shape


def _limit_norm(rows, ids, max_norm):
    if max_norm is None:
        return rows
    from .clip import clip_by_norm

    axes = list(range(rank_of(ids) or 0, rank_of(rows)))
    return clip_by_norm(rows, max_norm, axes=axes)


@export("nn.embedding_lookup")
def embedding_lookup(params, ids, max_norm=None, name=None):
    """Rows of an embedding table, or of one cut into a list of equal parts, by number."""
    from .index import gather

    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Length of `params` is currently 0. Need at least one.")
    ids = convert(ids)
    if not isinstance(params, (list, tuple)):
        params = [params]
    if len(params) == 1:
        found = _limit_norm(gather(params[0], ids, name=name), ids, max_norm)
        return found
    return _limit_norm(_partitioned_lookup(list(params), ids), ids, max_norm)


def _partitioned_lookup(params, ids):
    """Rows of a table that is cut by rows into parts of nearly equal size, the larger first."""
    flat = raw.Reshape(ids, [-1])
    sizes = [raw.Cast(raw.Shape(p)[0], flat.dtype) for p in params]
    total = raw.AddN(sizes)
    count = convert(len(params), flat.dtype)
    small = raw.FloorDiv(total, count)
    extra = raw.FloorMod(total, count)
    early = raw.FloorDiv(flat, raw.AddV2(small, 1))
    late = raw.FloorDiv(raw.Sub(flat, extra), small)
    part = raw.Maximum(early, late)
    before = raw.Less(part, extra)
    row = raw.SelectV2(
        before,
        raw.FloorMod(flat, raw.AddV2(small, 1)),
        raw.FloorMod(raw.Sub(flat, extra), raw.Maximum(small, 1)),
    )
    part = raw.Cast(part, dtypes.int32)
    rows = raw.DynamicPartition(row, part, len(params))
    places = raw.DynamicPartition(raw.Range(0, raw.Size(flat), 1), part, len(params))
    from .index import gather

    found = [gather(p, r) for p, r in zip(params, rows)]
    merged = raw.DynamicStitch(places, found)
    shape = raw.ConcatV2([raw.Shape(ids), raw.Shape(params[0])[1:]], 0)
    return raw.Reshape(merged, shape)


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None, allow_fast_lookup=False
):
    """Rows of a table by a sparse matrix of numbers, combined for each row of that matrix."""
    combiner = "mean" if combiner is None else combiner
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"`combiner` must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    segments = raw.Cast(sp_ids.indices[:, 0], dtypes.int32)
    ids, places = raw.Unique(sp_ids.values)
    rows = embedding_lookup(params, ids, max_norm=max_norm)
    if rows.dtype in (dtypes.float16, dtypes.bfloat16):
        rows = raw.Cast(rows, dtypes.float32)
    if sp_weights is None:
        op = {
            "sum": raw.SparseSegmentSum,
            "mean": raw.SparseSegmentMean,
            "sqrtn": raw.SparseSegmentSqrtN,
        }[combiner]
        return op(rows, places, segments, name=name)
    weights = sp_weights.values
    if weights.dtype is not rows.dtype:
        weights = raw.Cast(weights, rows.dtype)
    rows = raw.GatherV2(rows, places, 0)
    rank = rank_of(rows)
    rows = raw.Mul(rows, raw.Reshape(weights, [-1] + [1] * (rank - 1)))
    total = raw.SegmentSum(rows, segments)
    if combiner == "sum":
        return total if name is None else raw.Identity(total, name=name)
    by = weights if combiner == "mean" else raw.Mul(weights, weights)
    norm = raw.SegmentSum(by, segments)
    norm = norm if combiner == "mean" else raw.Sqrt(norm)
    return raw.DivNoNan(total, raw.Reshape(norm, [-1] + [1] * (rank - 1)), name=name)


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 max_norm=None, name=None, allow_fast_lookup=False):
    """embedding_lookup_sparse over the last dimension of `sparse_ids`, that passes over negative numbers and weights that
    are not positive. A row with none left is that of `default_id`, or zeros."""
    from .sparse import fill_empty_rows, reshape, retain

    if embedding_weights is None:
        raise ValueError("embedding_weights must be specified")
    if isinstance(embedding_weights, (list, tuple)) and not embedding_weights:
        raise ValueError("Length of `embedding_weights` is currently 0. Need at least one.")
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
    rows = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm, None, allow_fast_lookup)
    if default_id is None:
        beside = raw.Reshape(empty, [-1] + [1] * (rank_of(rows) - 1))
        rows = raw.SelectV2(beside, raw.ZerosLike(rows), rows)
    size = raw.ConcatV2([raw.Cast(outer, dtypes.int32), raw.Slice(raw.Shape(rows), [1], [-1])], 0)
    made = raw.Reshape(rows, size, name=name)
    if rank is not None:
        made.set_shape([None] * (rank - 1) + list(static_shape(rows)[1:]))
    return made


def _as_sparse(ids):
    """Ragged rows of numbers as a sparse matrix; what is sparse already as it is."""
    if ids is None or hasattr(ids, "dense_shape"):
        return ids
    if hasattr(ids, "to_sparse"):
        return ids.to_sparse()
    raise TypeError(f"numbers for an embedding table must be a SparseTensor or a RaggedTensor, not {type(ids).__name__}")
