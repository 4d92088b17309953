"""Sequences, slices of sparse tensors and patches of volumes: functions of several families that combine a few ops."""
import operator

from ..errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ..namespace import export
from .common import SparseTensor, convert, dtypes, executing_eagerly, known, rank_of, raw, static_shape
from .debug import Assert, with_dependencies
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


def _check_parts(count, size):
    """`size` with the check that it can be split into `count` parts, none of which is empty."""
    rule = "Input num_split should be between 1 and the splitting dimension size:"
    if executing_eagerly():
        if int(size) < count:
            raise InvalidArgumentError(None, None, f"SparseSplit: {rule} num_split is {count}, but that size is {int(size)}")
        return size
    return with_dependencies([Assert(raw.LessEqual(convert(count, dtypes.int64), size), [f"SparseSplit: {rule}", count, size])], size)


@export("sparse.split")
def sparse_split(sp_input=None, num_split=None, axis=None, name=None):
    """`num_split` sparse tensors that follow each other along `axis`. If the size does not divide evenly, the first ones are
    larger by one."""
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split and axis must be given")
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"sp_input must be a SparseTensor, not {type(sp_input).__name__}")
    count = operator.index(num_split)
    if count < 1:
        raise InvalidArgumentError(None, None, f"SparseSplit: num_split is {count}; it must be at least 1")
    shape, axis = sp_input.dense_shape, convert(axis, dtypes.int64)
    given, axes = known(axis), static_shape(shape)[0]
    if given is not None and given.ndim == 0 and axes is not None and not -axes <= given < axes:
        raise InvalidArgumentError(None, None, f"SparseSplit: Input axis should be in range [{-axes}, {axes}), got {given}")
    rank = raw.Size(shape, dtypes.int64)
    axis = raw.SelectV2(raw.Less(axis, convert(0, dtypes.int64)), raw.AddV2(axis, rank), axis)
    size, num_split = _check_parts(count, raw.GatherV2(shape, axis, 0)), convert(count, dtypes.int64)
    parts, longer = raw.FloorDiv(size, num_split), raw.FloorMod(size, num_split)
    here = raw.Equal(raw.Range(convert(0, dtypes.int64), rank, convert(1, dtypes.int64)), axis)
    made, start = [], convert(0, dtypes.int64)
    for k in range(count):
        length = raw.AddV2(parts, raw.Cast(raw.Less(convert(k, dtypes.int64), longer), dtypes.int64))
        begin = raw.SelectV2(here, start, raw.ZerosLike(shape))
        made.append(part(sp_input, begin, raw.SelectV2(here, length, shape)))
        start = raw.AddV2(start, length)
    return made


def _check_volumes(values, ksizes, strides, padding):
    if rank_of(values) not in (None, 5):
        raise InvalidArgumentError(None, None, "ExtractVolumePatches: input must be 5-dimensional (batch, planes, rows, columns, depth), "
                                   f"but its shape is {values.shape}")
    for what, sizes in (("ksizes", ksizes), ("strides", strides)):
        if len(sizes) != 5:
            raise InvalidArgumentError(None, None, f"ExtractVolumePatches: {what} must have 5 numbers, not {list(sizes)}")
        if sizes[0] != 1 or sizes[4] != 1:
            raise UnimplementedError(None, None, f"ExtractVolumePatches: Only support {what} across space: the first and the last number "
                                     f"must be 1, but they are {list(sizes)}")
        if min(sizes) < 1:
            raise OutOfRangeError(None, None, f"ExtractVolumePatches: {what} is out of range: all numbers must be at least 1, but they are "
                                  f"{list(sizes)}")
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError(None, None, f"ExtractVolumePatches: padding must be 'SAME' or 'VALID', not {padding!r}")


def _most(a, b):
    return max(a, b) if isinstance(a, int) else raw.Maximum(a, b)


def _patches_along(size, width, step, padding):
    """(number of patches along an axis, zeros before it, zeros after it, first element): integers, or tensors if `size` is one.
    Where patches of SAME padding reach less far than the axis, TensorFlow leaves out as much at either end."""
    if padding == "SAME":
        count = -(-size // step)
        reach = (count - 1) * step + width
        missing = _most(reach - size, 0)
        return count, missing // 2, missing - missing // 2, _most(size - reach, 0) // 2
    count = (size - width) // step + 1
    if isinstance(size, int) and count < 0:
        raise InvalidArgumentError(None, None, f"ExtractVolumePatches: Computed output size would be negative: {count} patches of {width} "
                                   f"in an axis of size {size}")
    return _most(count, 0), 0, 0, 0


def _cut(at, along, step):
    """The slice with the elements of one axis that come `at` places after the beginning of a patch."""
    count, _, _, first = along
    begin = first + at
    return slice(begin, begin + _most((count - 1) * step + 1, 0), step)


@export("extract_volume_patches")
def extract_volume_patches(input, ksizes, strides, padding, name=None):  # noqa: A002
    """The patches of volumes [batch, planes, rows, columns, depth], each put into the depth axis."""
    values = convert(input)
    _check_volumes(values, ksizes, strides, padding)
    dims = static_shape(values) or [None] * 5
    sizes = [dims[d] if dims[d] is not None else raw.Shape(values)[d] for d in (1, 2, 3)]
    along = [_patches_along(*axis, padding) for axis in zip(sizes, ksizes[1:4], strides[1:4])]
    if any(not isinstance(n, int) or n > 0 for _, *zeros, _ in along for n in zeros):
        values = raw.Pad(values, [[0, 0], *(zeros for _, *zeros, _ in along), [0, 0]])
    cuts = [[_cut(at, axis, step) for at in range(width)] for axis, width, step in zip(along, ksizes[1:4], strides[1:4])]
    pieces = [values[:, planes, rows, columns] for planes in cuts[0] for rows in cuts[1] for columns in cuts[2]]
    return raw.ConcatV2(pieces, 4, name=name) if len(pieces) > 1 else raw.Identity(pieces[0], name=name)
