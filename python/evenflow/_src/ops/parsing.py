"""tf.io.parse_example and related functions, which parse the features of serialized Examples into tensors."""
from .. import errors
from ..namespace import export
from ..ragged import RaggedTensor
from ..shapes import TensorShape
from .common import SparseTensor, convert, dtypes, np, rank_of, raw
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from .sparse import reorder

_TYPES = (dtypes.float32, dtypes.int64, dtypes.string)


class _Wanted:
    """The requested features, grouped by how the op parses them (sparse, dense, ragged); each key once, sorted."""

    def __init__(self, features, what, in_lists=False):
        self.sparse, self.dense, self.ragged = {}, {}, {}
        self.in_lists = in_lists
        for key in sorted(features or {}):
            feature = features[key]
            if not isinstance(feature, (VarLenFeature, FixedLenFeature, FixedLenSequenceFeature, SparseFeature, RaggedFeature)):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}: {what} {key!r} needs a feature of tf.io")
            self._add(key, feature)

    def _add(self, key, f):
        if not f.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        if dtypes.as_dtype(f.dtype) not in _TYPES:
            raise errors.InvalidArgumentError(
                None, None, f"Feature {key}: dtype {f.dtype} is not float32, int64 or string, which examples hold")
        if isinstance(f, VarLenFeature):
            self._once(self.sparse, key, dtypes.as_dtype(f.dtype))
        elif isinstance(f, SparseFeature):
            for index in _index_keys(f):
                self._once(self.sparse, index, dtypes.int64)
            self._once(self.sparse, f.value_key, dtypes.as_dtype(f.dtype))
        elif isinstance(f, RaggedFeature):
            self._once(self.ragged, f.value_key or key, (dtypes.as_dtype(f.dtype), f.row_splits_dtype))
            for part in f.partitions:
                if not isinstance(part, RaggedFeature.UniformRowLength):
                    self._once(self.ragged, part.key, (dtypes.int64, f.row_splits_dtype))
        else:
            self.dense[key] = _dense(key, f, self.in_lists)

    @staticmethod
    def _once(where, key, value):
        if where.setdefault(key, value) != value:
            raise ValueError(f"Conflicting type for feature {key}: {where[key]} and {value}")


def _index_keys(f):
    keys = f.index_key if isinstance(f.index_key, (list, tuple)) else [f.index_key]
    sizes = f.size if isinstance(f.size, (list, tuple)) else [f.size]
    if not keys or not f.value_key:
        raise ValueError("Missing index_key or value_key for SparseFeature")
    if len(keys) != len(sizes):
        raise ValueError(f"SparseFeature has {len(keys)} index keys but {len(sizes)} sizes; the numbers must be equal")
    return keys


def _dense(key, f, in_lists):
    """(dtype, shape, default as a tensor, whether it may be missing)."""
    dtype, shape = dtypes.as_dtype(f.dtype), TensorShape(f.shape)
    default, varies = f.default_value, isinstance(f, FixedLenSequenceFeature)
    if f.shape is None:
        raise ValueError(f"Missing shape for feature {key}.")
    if varies and not in_lists and not f.allow_missing:
        raise ValueError(f"Unsupported: FixedLenSequenceFeature requires allow_missing to be True (feature {key})")
    if not varies and in_lists:
        raise ValueError(f"Unsupported FixedLenFeature in a feature list: {key}; use FixedLenSequenceFeature")
    if not varies and shape.rank and shape[0] is None:
        raise ValueError(f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
                         f"Received {f}.")
    if not shape.is_fully_defined() and not (shape.rank and shape[1:].is_fully_defined()):
        raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
    if varies and not in_lists:
        shape = TensorShape([None]).concatenate(shape)
        default = "" if default is None and dtype is dtypes.string else 0 if default is None else default
        default = raw.Reshape(convert(default, dtype), np.array([], np.int32))
    elif default is None:
        default = convert(np.array([], object if dtype is dtypes.string else dtype.as_numpy_dtype), dtype)
    else:
        default = raw.Reshape(convert(default, dtype), np.array(shape.as_list(), np.int32))
    return dtype, shape, default, varies and f.allow_missing


def _strings(values):
    return convert(np.array(list(values), object).reshape(-1), dtypes.string)


def _sparse_parts(outputs, keys):
    indices, values, shapes = outputs
    return {key: SparseTensor(i, v, s) for key, i, v, s in zip(keys, indices, values, shapes)}


def _turn(feature):
    """The order of a feature in the result: VarLenFeature first, features that combine several keys last."""
    return 0 if isinstance(feature, VarLenFeature) else 2 if isinstance(feature, (SparseFeature, RaggedFeature)) else 1


def _finish(features, sparse, dense, ragged):
    """Builds the requested features from the outputs of the op. `ragged` is {key: (values, outer splits or None[, inner
    splits])}."""
    made = {}
    for key in sorted(features or {}, key=lambda key: (_turn(features[key]), key)):
        f = features[key]
        if isinstance(f, VarLenFeature):
            made[key] = sparse[key]
        elif isinstance(f, SparseFeature):
            made[key] = _from_indices(f, sparse)
        elif isinstance(f, RaggedFeature):
            made[key] = _from_rows(f, f.value_key or key, ragged)
        else:
            made[key] = dense[key]
    return made


def _from_indices(f, sparse):
    value = sparse[f.value_key]
    columns = [raw.ExpandDims(sparse[k].values, 1) for k in _index_keys(f)]
    outer = rank_of(value.indices) and value.indices.shape[1]
    outer = (outer or 1) - 1  # the number of batch axes
    rows = raw.Slice(value.indices, [0, 0], [-1, outer])
    indices = raw.ConcatV2([rows, *columns], 1) if len(columns) + 1 > 1 else columns[0]
    sizes = f.size if isinstance(f.size, (list, tuple)) else [f.size]
    shape = raw.ConcatV2([raw.Slice(value.dense_shape, [0], [outer]), convert(list(sizes), dtypes.int64)], 0)
    made = SparseTensor(indices, value.values, shape)
    return made if f.already_sorted else reorder(made)


# ---- rows of ragged features ------------------------------------------------------------------------------

_FROM = {
    RaggedFeature.RowSplits: RaggedTensor.from_row_splits,
    RaggedFeature.RowLengths: RaggedTensor.from_row_lengths,
    RaggedFeature.RowStarts: RaggedTensor.from_row_starts,
    RaggedFeature.RowLimits: RaggedTensor.from_row_limits,
    RaggedFeature.ValueRowIds: RaggedTensor.from_value_rowids,
}


def _from_rows(f, value_key, ragged):
    values, outer, *inner = ragged[value_key]
    if inner:  # in a feature list, an example already has rows
        if f.partitions:
            raise ValueError("Unsupported: partitions of a RaggedFeature in a feature list")
        rows = RaggedTensor.from_row_splits(values, inner[0], validate=False)
        return rows if outer is None else RaggedTensor.from_row_splits(rows, outer, validate=False)
    for part in reversed(f.partitions):
        if isinstance(part, RaggedFeature.UniformRowLength):
            if isinstance(values, RaggedTensor):
                length = convert(part.length, f.row_splits_dtype)
                values = RaggedTensor.from_uniform_row_length(values, length, validate=f.validate)
            else:
                values = raw.Reshape(values, raw.ConcatV2([[-1, part.length], raw.Shape(values)[1:]], 0))
            outer = outer if outer is None else raw.FloorDiv(outer, convert(part.length, outer.dtype))
        elif outer is None:
            given = raw.Cast(ragged[part.key][0], f.row_splits_dtype)
            values = _FROM[type(part)](values, given, validate=f.validate)
        else:
            lengths, outer = _lengths(part, ragged[part.key], outer, f.row_splits_dtype)
            values = RaggedTensor.from_row_lengths(values, lengths, validate=f.validate)
    return values if outer is None else RaggedTensor.from_row_splits(values, outer, validate=f.validate)


def _lengths(part, partition, value_splits, dtype):
    """(lengths of all rows of a batch, row splits by example)."""
    given, splits = raw.Cast(partition[0], dtype), raw.Cast(partition[1], dtype)
    one, zero = convert(1, dtype), convert(0, dtype)
    if isinstance(part, RaggedFeature.RowLengths):
        return given, splits
    examples = RaggedTensor.from_row_splits(given, splits, validate=False)
    row = raw.Cast(examples.value_rowids(), dtypes.int32)
    if isinstance(part, RaggedFeature.ValueRowIds):
        last = raw.UnsortedSegmentMax(given, row, raw.Sub(raw.Size(splits), 1))
        counts = raw.SelectV2(raw.Greater(examples.row_lengths(), zero), raw.AddV2(last, one), zero)
        rows = raw.ConcatV2([raw.Reshape(zero, [1]), raw.Cumsum(counts, 0)], 0)
        at = raw.AddV2(given, raw.GatherV2(rows, row, 0))
        return raw.UnsortedSegmentSum(raw.OnesLike(given), at, rows[-1]), rows
    place = raw.Sub(raw.Range(zero, raw.Cast(raw.Size(given), dtype), one), raw.GatherV2(splits, row, 0))
    first = raw.Equal(place, zero)
    if isinstance(part, RaggedFeature.RowStarts):
        end = raw.GatherV2(raw.Cast(value_splits[1:] - value_splits[:-1], dtype), row, 0)
        following = raw.ConcatV2([given[1:], given[:1]], 0)
        size = raw.GatherV2(examples.row_lengths(), row, 0)
        return raw.Sub(raw.SelectV2(raw.Equal(raw.AddV2(place, one), size), end, following), given), splits
    before = raw.ConcatV2([given[:1], given[:-1]], 0)
    lengths = raw.Sub(given, raw.SelectV2(first, raw.ZerosLike(given), before))
    if isinstance(part, RaggedFeature.RowLimits):
        return lengths, splits
    kept = raw.Reshape(raw.Where(raw.LogicalNot(first)), [-1])  # row splits have one element more than there are rows
    counts = raw.Maximum(raw.Sub(examples.row_lengths(), one), zero)
    return raw.GatherV2(lengths, kept, 0), raw.ConcatV2([raw.Reshape(zero, [1]), raw.Cumsum(counts, 0)], 0)


# ---- examples --------------------------------------------------------------------------------------------


@export("io.parse_example")
def parse_example(serialized, features, example_names=None, name=None):
    """Parses one serialized Example, or a vector of them, into a dict of tensors."""
    if not features:
        raise ValueError("Argument `features` cannot be None or empty; it maps keys to features such as tf.io.FixedLenFeature")
    want = _Wanted(features, "feature")
    names = convert(np.array([], object) if example_names is None else example_names, dtypes.string)
    serialized = convert(serialized, dtypes.string)
    out = raw.ParseExampleV2(
        serialized, names, _strings(want.sparse), _strings(want.dense), _strings(want.ragged),
        [d[2] for d in want.dense.values()], num_sparse=len(want.sparse), sparse_types=list(want.sparse.values()),
        ragged_value_types=[t for t, _ in want.ragged.values()], ragged_split_types=[s for _, s in want.ragged.values()],
        dense_shapes=[d[1] for d in want.dense.values()], name=name)
    single = rank_of(serialized) == 0
    splits = [None] * len(want.ragged) if single else out[5]
    return _finish(features, _sparse_parts(out[:3], want.sparse), dict(zip(want.dense, out[3])),
                   dict(zip(want.ragged, zip(out[4], splits))))


@export("io.parse_single_example")
def parse_single_example(serialized, features, example_names=None, name=None):
    """Parses one serialized Example into a dict of tensors."""
    if not features:
        raise ValueError("Invalid argument: Argument `features` cannot be None or empty.")
    serialized = convert(serialized, dtypes.string)
    if rank_of(serialized) not in (0, None):
        raise ValueError(f"Input serialized must be a scalar; its shape is {serialized.shape}")
    if rank_of(serialized) is None:
        serialized = raw.Reshape(serialized, np.array([], np.int32))
    return parse_example(serialized, features, example_names, name)


@export("compat.v1.parse_example", "compat.v1.io.parse_example")
def v1_parse_example(serialized, features, name=None, example_names=None):
    """parse_example with the older order of arguments."""
    return parse_example(serialized, features, example_names, name)


@export("compat.v1.parse_single_example", "compat.v1.io.parse_single_example")
def v1_parse_single_example(serialized, features, name=None, example_names=None):
    """parse_single_example with the older order of arguments."""
    return parse_single_example(serialized, features, example_names, name)


@export("io.parse_sequence_example", "compat.v1.io.parse_sequence_example")
def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Parses one serialized SequenceExample, or a vector of them. Returns (context, feature lists, lengths of the dense
    lists)."""
    if not (context_features or sequence_features):
        raise ValueError("Both `context_features` and `sequence_features` are missing: nothing would be parsed")
    context = _Wanted(context_features, "context feature")
    lists = _Wanted(sequence_features, "sequence feature", True)
    names = convert(np.array([], object) if example_names is None else example_names, dtypes.string)
    serialized = convert(serialized, dtypes.string)
    out = raw.ParseSequenceExampleV2(
        serialized, names, _strings(context.sparse), _strings(context.dense), _strings(context.ragged),
        _strings(lists.sparse), _strings(lists.dense), _strings(lists.ragged),
        convert(np.array([d[3] for d in lists.dense.values()], bool)), [d[2] for d in context.dense.values()],
        Ncontext_sparse=len(context.sparse), context_sparse_types=list(context.sparse.values()),
        context_ragged_value_types=[t for t, _ in context.ragged.values()],
        context_ragged_split_types=[s for _, s in context.ragged.values()],
        context_dense_shapes=[d[1] for d in context.dense.values()], Nfeature_list_sparse=len(lists.sparse),
        Nfeature_list_dense=len(lists.dense), feature_list_dense_types=[d[0] for d in lists.dense.values()],
        feature_list_sparse_types=list(lists.sparse.values()),
        feature_list_ragged_value_types=[t for t, _ in lists.ragged.values()],
        feature_list_ragged_split_types=[s for _, s in lists.ragged.values()],
        feature_list_dense_shapes=[d[1] for d in lists.dense.values()], name=name)
    single = rank_of(serialized) == 0
    outer = [None] * len(context.ragged) if single else out[5]
    made = _finish(context_features, _sparse_parts(out[:3], context.sparse), dict(zip(context.dense, out[3])),
                   dict(zip(context.ragged, zip(out[4], outer))))
    outer = [None] * len(lists.ragged) if single else out[12]
    sequences = _finish(sequence_features, _sparse_parts(out[6:9], lists.sparse), dict(zip(lists.dense, out[9])),
                        dict(zip(lists.ragged, zip(out[11], outer, out[13]))))
    return made, sequences, dict(zip(lists.dense, out[10]))


@export("io.parse_single_sequence_example", "compat.v1.parse_single_sequence_example")
def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None, name=None):
    """Parses one serialized SequenceExample. Returns (context, feature lists)."""
    serialized = convert(serialized, dtypes.string)
    if rank_of(serialized) not in (0, None):
        raise ValueError(f"Input serialized must be a scalar; its shape is {serialized.shape}")
    serialized = raw.Reshape(serialized, np.array([], np.int32))
    names = None if example_name is None else [example_name]
    return parse_sequence_example(serialized, context_features, sequence_features, names, name)[:2]
