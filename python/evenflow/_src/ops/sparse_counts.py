"""tf.sparse.bincount, feature crosses (tf.sparse.cross), and the product of two sparse matrices."""
from ..namespace import export
from ..ragged import RaggedTensor
from .common import SparseTensor, convert, dtypes, rank_of, raw
from .counting import _flat
from .sparse import sparse

_HASH_KEY = 0xDECAFCAFFE  # the default hash key
_MULTIPLIER = 0xC6A4A7935BD1E995  # the multiplier of the 64-bit MurmurHash, which combines fingerprints


@export("sparse.bincount")
def bincount(values, weights=None, axis=0, minlength=None, maxlength=None, binary_output=False, name=None):
    """The number of occurrences of each integer in `values`, or the sum of its `weights`, as a SparseTensor. With axis -1,
    for each row."""
    if axis not in (0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported.")
    rows = next((kind for kind in (SparseTensor, RaggedTensor) if isinstance(values, kind)), None)
    if rows is not None and weights is not None and not isinstance(weights, rows):
        raise ValueError(f"Argument `weights` must be a {rows.__name__}, as `values` is. Received: {type(weights).__name__}")
    numbers = convert(values if rows is None else _flat(values))
    weights = convert([], numbers.dtype) if weights is None else convert(weights if rows is None else _flat(weights))
    lengths = {"minlength": -1 if minlength is None else minlength, "maxlength": -1 if maxlength is None else maxlength}
    if axis == 0:
        numbers, weights = raw.Reshape(numbers, [-1]), raw.Reshape(weights, [-1])
    if axis == -1 and rows is SparseTensor:
        made = raw.SparseCountSparseOutput(values.indices, numbers, values.dense_shape, weights, binary_output=binary_output, **lengths)
    elif axis == -1 and rows is RaggedTensor:
        splits = raw.Cast(values.row_splits, dtypes.int64)
        made = raw.RaggedCountSparseOutput(splits, numbers, weights, binary_output=binary_output, **lengths)
    else:
        made = raw.DenseCountSparseOutput(numbers, weights, binary_output=binary_output, **lengths)
    return SparseTensor(*made)


# ---- crosses --------------------------------------------------------------------------------------------


def _spread(counts):
    """(group of each member, its index within the group) for groups of these sizes."""
    ends = raw.Cumsum(counts, 0)
    total = raw.Sum(counts, [0])
    member = raw.Range(convert(0, dtypes.int64), total, convert(1, dtypes.int64))
    group = raw.UpperBound(raw.ExpandDims(ends, 0), raw.ExpandDims(member, 0), dtypes.int64)[0]
    return group, raw.Sub(member, raw.GatherV2(raw.Sub(ends, counts), group, 0))


def _column(x, wrong):
    """(values, row splits) of one feature, which is a dense or sparse matrix of strings or integers."""
    if isinstance(x, RaggedTensor):
        raise TypeError(wrong)
    if isinstance(x, SparseTensor):
        rows, values, size = x.indices[:, 0], x.values, x.dense_shape[0]
        among = raw.Range(convert(0, dtypes.int64), raw.AddV2(size, convert(1, dtypes.int64)), convert(1, dtypes.int64))
        splits = raw.LowerBound(raw.ExpandDims(rows, 0), raw.ExpandDims(among, 0), dtypes.int64)[0]
    else:
        x = convert(x)
        if rank_of(x) not in (2, None):
            raise ValueError(f"each dense input must be a matrix of rows; one has the shape {x.shape}")
        size = raw.Shape(x, dtypes.int64)
        splits = raw.Mul(raw.Range(convert(0, dtypes.int64), raw.AddV2(size[0], convert(1, dtypes.int64)), convert(1, dtypes.int64)), size[1])
        values = raw.Reshape(x, [-1])
    return (values if values.dtype is dtypes.string else raw.Cast(values, dtypes.int64)), splits


def _crossed(inputs, wrong, start, combine):
    """A SparseTensor of all combinations of one value of each input, for each row; the last input varies fastest."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise TypeError("Inputs must be a list")
    inputs = [*(x for x in inputs if isinstance(x, SparseTensor)), *(x for x in inputs if not isinstance(x, SparseTensor))]
    made = rows = size = None
    for x in inputs:
        values, splits = _column(x, wrong)
        if made is None:
            size = raw.Sub(raw.Size(splits, dtypes.int64), convert(1, dtypes.int64))
            row, _ = _spread(raw.Sub(splits[1:], splits[:-1]))
            made, rows = start(values), row
            continue
        counts = raw.GatherV2(raw.Sub(splits[1:], splits[:-1]), rows, 0)
        of, place = _spread(counts)
        rows = raw.GatherV2(rows, of, 0)
        made = combine(raw.GatherV2(made, of, 0), raw.GatherV2(values, raw.AddV2(raw.GatherV2(splits, rows, 0), place), 0))
    among = raw.Range(convert(0, dtypes.int64), size, convert(1, dtypes.int64))
    begins = raw.LowerBound(raw.ExpandDims(rows, 0), raw.ExpandDims(among, 0), dtypes.int64)[0]
    places = raw.Sub(raw.Range(convert(0, dtypes.int64), raw.Size(rows, dtypes.int64), convert(1, dtypes.int64)), raw.GatherV2(begins, rows, 0))
    width = raw.Max(raw.ConcatV2([raw.AddV2(places, convert(1, dtypes.int64)), convert([0], dtypes.int64)], 0), [0])
    return SparseTensor(raw.Pack([rows, places], axis=1), made, raw.Pack([size, width]))


def _text(values):
    return values if values.dtype is dtypes.string else raw.AsString(values)


@export("sparse.cross")
def cross(inputs, name=None, separator=None):
    """All combinations of one value of each input, row by row, joined by `separator` (_X_)."""
    between = "_X_" if separator is None else separator
    return _crossed(inputs, "All inputs must be Tensor or SparseTensor.", _text,
                    lambda a, b: raw.StringJoin([a, _text(b)], separator=between))


def _mixed(x):
    return raw.BitwiseXor(x, raw.RightShift(x, convert(47, dtypes.uint64)))


def _fingerprint(values):
    """The 64-bit fingerprint of features: an integer itself, or the FarmHash of a string."""
    if values.dtype is not dtypes.string:
        return raw.Bitcast(values, dtypes.uint64)
    return raw.Bitcast(raw.Fingerprint(values, "farmhash64"), dtypes.uint64)


def _joined(a, b):
    """The combined fingerprint of two fingerprints; their order matters."""
    by = convert(_MULTIPLIER, dtypes.uint64)
    made = raw.BitwiseXor(raw.BitwiseXor(a, by), raw.Mul(_mixed(raw.Mul(b, by)), by))
    return _mixed(raw.Mul(_mixed(raw.Mul(made, by)), by))


@export("sparse.cross_hashed")
def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """The hashes of all combinations of one value of each input, for each row, modulo `num_buckets` (0: 2**63 - 1)."""
    key = convert(_HASH_KEY if hash_key is None else hash_key, dtypes.uint64)
    made = _crossed(inputs, "All inputs must be SparseTensors", lambda x: _joined(key, _fingerprint(x)), lambda a, b: _joined(a, _fingerprint(b)))
    modulus = convert(num_buckets or 2**63 - 1, dtypes.uint64)
    return SparseTensor(made.indices, raw.Cast(raw.FloorMod(made.values, modulus), dtypes.int64), made.dense_shape)


# ---- products -------------------------------------------------------------------------------------------


def _row_keys(x):
    """(row, column) of each element; in a batch, the rows of all matrices are numbered consecutively."""
    at, size = x.indices, x.dense_shape
    if rank_of(at) is not None and at.shape[1] == 3:
        return raw.AddV2(raw.Mul(at[:, 0], size[1]), at[:, 1]), at[:, 2]
    return at[:, 0], at[:, 1]


def product(a, b):
    """The product of two sparse matrices, or of two batches of them, as a SparseTensor with sorted indices."""
    a, b = sparse(a), SparseTensor(*raw.SparseReorder(*_parts(sparse(b))), b.dense_shape)
    batched = a.indices.shape[1] == 3
    row, inner = _row_keys(a)
    if batched:
        inner = raw.AddV2(raw.Mul(a.indices[:, 0], b.dense_shape[1]), inner)
    b_row, b_column = _row_keys(b)
    first = raw.LowerBound(raw.ExpandDims(b_row, 0), raw.ExpandDims(inner, 0), dtypes.int64)[0]
    behind = raw.UpperBound(raw.ExpandDims(b_row, 0), raw.ExpandDims(inner, 0), dtypes.int64)[0]
    of, place = _spread(raw.Sub(behind, first))
    other = raw.AddV2(raw.GatherV2(first, of, 0), place)
    terms = raw.Mul(raw.GatherV2(a.values, of, 0), raw.GatherV2(b.values, other, 0))
    width = b.dense_shape[-1]
    where = raw.AddV2(raw.Mul(raw.GatherV2(row, of, 0), width), raw.GatherV2(b_column, other, 0))
    found, group = raw.Unique(where, dtypes.int64)
    values = raw.UnsortedSegmentSum(terms, group, raw.Size(found, dtypes.int64))
    row, column = raw.FloorDiv(found, width), raw.FloorMod(found, width)
    if batched:
        rows = a.dense_shape[1]
        index = raw.Pack([raw.FloorDiv(row, rows), raw.FloorMod(row, rows), column], axis=1)
        shape = raw.Pack([a.dense_shape[0], rows, width])
    else:
        index, shape = raw.Pack([row, column], axis=1), raw.Pack([a.dense_shape[0], width])
    return SparseTensor(*raw.SparseReorder(index, values, shape), shape)


def _parts(x):
    return x.indices, x.values, x.dense_shape


def to_csr(indices, values, dense_shape, name=None):
    """The sparse matrix for product_of_csr. It is a SparseTensor; the row offsets are computed when they are needed."""
    return SparseTensor(indices, values, dense_shape)


def product_of_csr(a, b, type, name=None):  # noqa: A002
    """The product of two matrices from to_csr."""
    return product(a, b)


def from_csr(sparse_matrix, type, name=None):  # noqa: A002
    """The SparseTensor of a matrix from to_csr."""
    return sparse_matrix
