"""Sequences, slices of sparse tensors and patches of volumes: functions of several families that combine a few ops."""
from ..namespace import export
from .common import SparseTensor, convert, dtypes, rank_of, raw, static_shape
from .sparse import slice as part


@export("edit_distance")
def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distance between the sequences of two sparse tensors, whose last axis holds them. With `normalize` it is
    divided by the length of the truth, and is infinite where the truth is empty but the hypothesis is not."""
    for given in (hypothesis, truth):
        if not isinstance(given, SparseTensor):
            which = "Hypothesis" if given is hypothesis else "Truth"
            raise TypeError(f"{which} must be a SparseTensor, not {type(given).__name__}: tf.sparse.from_dense makes one")
    return raw.EditDistance(hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices, truth.values,
                            truth.dense_shape, normalize=normalize, name=name)


@export("sparse.split")
def sparse_split(sp_input=None, num_split=None, axis=None, name=None):
    """`num_split` sparse tensors that follow each other along `axis`. If the size does not divide evenly, the first ones are
    larger by one."""
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis must be given")
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor, not {type(sp_input).__name__}")
    shape, axis = sp_input.dense_shape, convert(axis, dtypes.int64)
    rank = raw.Size(shape, dtypes.int64)
    axis = raw.SelectV2(raw.Less(axis, convert(0, dtypes.int64)), raw.AddV2(axis, rank), axis)
    size = raw.GatherV2(shape, axis, 0)
    parts, longer = raw.FloorDiv(size, convert(num_split, dtypes.int64)), raw.FloorMod(size, convert(num_split, dtypes.int64))
    here = raw.Equal(raw.Range(convert(0, dtypes.int64), rank, convert(1, dtypes.int64)), axis)
    made, start = [], convert(0, dtypes.int64)
    for k in range(num_split):
        length = raw.AddV2(parts, raw.Cast(raw.Less(convert(k, dtypes.int64), longer), dtypes.int64))
        begin = raw.SelectV2(here, start, raw.ZerosLike(shape))
        made.append(part(sp_input, begin, raw.SelectV2(here, length, shape)))
        start = raw.AddV2(start, length)
    return made


@export("extract_volume_patches")
def extract_volume_patches(input, ksizes, strides, padding, name=None):  # noqa: A002
    """The patches of volumes [batch, planes, rows, columns, depth], each put into the depth axis."""
    values = convert(input)
    if rank_of(values) not in (None, 5):
        raise ValueError(f"input must have 5 axes (batch, planes, rows, columns, depth), not the shape {values.shape}")
    for what, sizes in (("ksizes", ksizes), ("strides", strides)):
        if len(sizes) != 5 or sizes[0] != 1 or sizes[4] != 1:
            raise ValueError(f"{what} must be [1, planes, rows, columns, 1], not {list(sizes)}")
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"padding must be 'SAME' or 'VALID', not {padding!r}")
    dims = static_shape(values)
    around, counts = [[0, 0]], []
    for d in (1, 2, 3):
        size = dims[d] if dims is not None and dims[d] is not None else None
        if size is None:
            raise ValueError(f"axis {d} of input must have a known size")
        if padding == "SAME":
            counts.append(-(-size // strides[d]))
            missing = max((counts[-1] - 1) * strides[d] + ksizes[d] - size, 0)
            around.append([missing // 2, missing - missing // 2])
        else:
            counts.append((size - ksizes[d]) // strides[d] + 1)
            around.append([0, 0])
    if any(sum(pair) for pair in around):
        values = raw.Pad(values, around + [[0, 0]])
    pieces = []
    for p in range(ksizes[1]):
        for r in range(ksizes[2]):
            for c in range(ksizes[3]):
                ends = [at + (n - 1) * step + 1 for at, n, step in zip((p, r, c), counts, strides[1:4])]
                pieces.append(values[:, p:ends[0]:strides[1], r:ends[1]:strides[2], c:ends[2]:strides[3]])
    return raw.ConcatV2(pieces, 4, name=name)
