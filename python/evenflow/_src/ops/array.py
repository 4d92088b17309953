"""Functions that rearrange the elements of tensors: reshape, concat, split, pad, repeat and others."""
import math

from .. import _core, nest
from ..dispatch import REFUSED, redirect
from ..namespace import export, offer_ops
from ..shapes import Dimension, TensorShape, as_shape
from ..tensors import EagerTensor, SymbolicTensor, is_tensor
from .common import (
    CoreTensor,
    Tensor,
    convert,
    dtypes,
    executing_eagerly,
    is_symbolic,
    known,
    normal_axis,
    np,
    raw,
    rank_of,
    static_shape,
)

offer_ops(
    """
    Bitcast | input, type | bitcast
    BroadcastTo | input, shape | broadcast_to
    DynamicStitch | indices, data | dynamic_stitch
    StopGradient | input | stop_gradient
    Tile | input, multiples | tile
    SpaceToBatchND | input, block_shape, paddings | space_to_batch nn.space_to_batch space_to_batch_nd
    BatchToSpaceND | input, block_shape, crops | batch_to_space
    ExpandDims | input, axis | expand_dims
    GuaranteeConst | input | guarantee_const
    Roll | input, shift, axis | roll
    Slice | input_, begin, size | slice
    """
)


@export("reverse")
def reverse(tensor, axis, name=None):
    """`tensor` reversed along each axis in `axis`. Eagerly, the axes of a tensor without elements are not checked."""
    try:
        if executing_eagerly():
            whole = convert(tensor)
            dims = static_shape(whole)
            if not dims or 0 in dims:
                turned = convert(axis, dtype_hint=dtypes.int32)
                if turned.dtype in (dtypes.int32, dtypes.int64):
                    return whole
        return raw.ReverseV2(tensor, axis, name=name)
    except REFUSED:
        return redirect(reverse, tensor, axis, name=name)


# ---- the same tensor ------------------------------------------------------------------------------------


@export("identity")
def identity(input, name=None):  # noqa: A002
    """A tensor with the same value. A composite tensor gives a composite tensor."""
    if getattr(type(input), "_nest_kind", None) == "composite":
        return nest.map_structure(raw.Identity, input, expand_composites=True)
    return raw.Identity(input, name=name)


@export("identity_n")
def identity_n(input, name=None):  # noqa: A002
    """The same tensors; they are available when all of them are computed."""
    return raw.IdentityN(list(input), name=name)


@export("is_symbolic_tensor")
def is_symbolic_tensor(tensor):
    """Whether `tensor` is a symbolic tensor of a graph."""
    if not isinstance(tensor, Tensor):
        handle = getattr(tensor, "handle", None)
        return isinstance(handle, Tensor) and is_symbolic(handle)
    return is_symbolic(tensor)


@export("get_static_value")
def get_static_value(tensor, partial=False):
    """The value of a tensor as a numpy array if it is known without running a graph, else None."""
    if isinstance(tensor, Tensor):
        return _core.seen_value(tensor)
    return None if is_tensor(tensor) else tensor


@export("ensure_shape")
def ensure_shape(x, shape, name=None):
    """Returns `x` with `shape` merged into its static shape. The op checks the shape when it runs."""
    return raw.EnsureShape(x, as_shape(shape), name=name)


# ---- shapes and sizes ---------------------------------------------------------------------------------------------


def _measured(op, input, out_type, of, name):  # noqa: A002
    """Shape or Size. In a graph, if the sizes are known, it is a constant, which may have any dtype."""
    if out_type is None:
        return op(input, name=name)
    out_type = dtypes.as_dtype(out_type)
    if out_type not in (dtypes.int32, dtypes.int64) and (op is raw.Size or not executing_eagerly()):
        input = convert(input)  # noqa: A001
        dims = static_shape(input)
        if dims is not None and None not in dims:
            return convert(of(dims), out_type)
    return op(input, out_type, name=name)


@export("shape")
def shape(input, out_type=None, name=None):  # noqa: A002
    """The sizes of `input` as a 1-D tensor."""
    try:
        return _measured(raw.Shape, input, out_type, lambda dims: dims, name)
    except REFUSED:
        return redirect(shape, input, out_type, name=name)


@export("shape_n")
def shape_n(input, out_type=dtypes.int32, name=None):  # noqa: A002
    """The sizes of each tensor of a list."""
    return raw.ShapeN(list(input), dtypes.as_dtype(out_type), name=name)


@export("size")
def size(input, out_type=None, name=None):  # noqa: A002
    """The number of elements of `input`."""
    try:
        return _measured(raw.Size, input, out_type, math.prod, name)
    except REFUSED:
        return redirect(size, input, out_type, name=name)


@export("rank")
def rank(input, name=None):  # noqa: A002
    """The number of dimensions of `input`."""
    try:
        return raw.Rank(input, name=name)
    except REFUSED:
        return redirect(rank, input, name=name)


@export("broadcast_dynamic_shape")
def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape that two shapes (tensors) broadcast to."""
    return raw.BroadcastArgs(shape_x, shape_y)


@export("broadcast_static_shape")
def broadcast_static_shape(shape_x, shape_y):
    """The shape that two TensorShapes broadcast to. Raises ValueError if they are not compatible."""
    a, b = as_shape(shape_x), as_shape(shape_y)
    if a.rank is None or b.rank is None:
        return TensorShape(None)
    longest = max(a.rank, b.rank)
    left = (1,) * (longest - a.rank) + a._dims
    right = (1,) * (longest - b.rank) + b._dims
    out = []
    for m, n in zip(left, right):
        if m == n or n == 1:
            out.append(m)
        elif m == 1:
            out.append(n)
        elif m is None or n is None:
            out.append((n if m is None else m) or None)  # the other size may be 1 or unknown, so 0 is not certain
        else:
            raise ValueError(
                f"Incompatible shapes for broadcasting: {a} and {b}; sizes {m} and {n} differ "
                "and neither is 1"
            )
    return TensorShape(out)


# ---- shape ----------------------------------------------------------------------------------------------


@export("reshape")
def reshape(tensor, shape, name=None):
    """The same elements in another shape; one size may be -1."""
    try:
        if isinstance(shape, TensorShape) and shape.rank is not None and not shape.is_fully_defined():
            shape = [-1 if d is None else d for d in shape._dims]
        return raw.Reshape(tensor, shape, name=name)
    except REFUSED:
        return redirect(reshape, tensor, shape, name=name)


@export("squeeze")
def squeeze(input, axis=None, name=None):  # noqa: A002
    """Removes the dimensions of size 1: all of them, or those in `axis`."""
    try:
        axes = [] if axis is None else [axis] if np.isscalar(axis) else axis
        if not isinstance(axes, (list, tuple)):
            if executing_eagerly() and hasattr(axes, "__len__") and all(type(a) is int for a in axes):
                return raw.Squeeze(input, list(axes), name=name)
            raise TypeError(f"squeeze: expected a list of axes, not {axis!r}")
        return raw.Squeeze(input, axes, name=name)
    except REFUSED:
        return redirect(squeeze, input, axis, name=name)


_BACKWARDS = tuple(convert(np.arange(count, dtype=np.int32)[::-1].copy()) for count in range(9))


@export("transpose")
def transpose(a, perm=None, conjugate=False, name="transpose"):
    """Permutes the dimensions to the order `perm`; without it, reverses them. `conjugate` also conjugates the elements."""
    if not isinstance(a, Tensor):
        a = convert(a)
    op = raw.ConjugateTranspose if conjugate and a.dtype.is_complex else raw.Transpose
    if perm is None:
        count = rank_of(a)
        if count is None:
            perm = raw.Sub(raw.Sub(raw.Rank(a), 1), raw.Range(0, raw.Rank(a), 1))
        else:
            perm = _BACKWARDS[count]
    return op(a, perm, name=name)


@export("linalg.matrix_transpose")
def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Transposes the last two dimensions."""
    a = convert(a)
    count = rank_of(a)
    if count is None:
        whole = raw.Rank(a)
        head = raw.Range(0, raw.Sub(whole, 2), 1)
        perm = raw.ConcatV2([head, raw.Pack([raw.Sub(whole, 1), raw.Sub(whole, 2)])], 0)
    else:
        if count < 2:
            raise ValueError(
                f"matrix_transpose: the tensor must have rank 2 or more, not shape "
                f"{as_shape(static_shape(a))}"
            )
        perm = list(range(count - 2)) + [count - 1, count - 2]
    op = raw.ConjugateTranspose if conjugate and a.dtype.is_complex else raw.Transpose
    return op(a, perm)


@export("linalg.adjoint")
def adjoint(matrix, name=None):
    """The conjugate transpose of the last two dimensions."""
    return matrix_transpose(matrix, conjugate=True)


@export("reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):  # noqa: A002
    """Reverses the first `seq_lengths[i]` elements along `seq_axis` of batch element i."""
    return raw.ReverseSequence(input, seq_lengths, seq_axis, 0 if batch_axis is None else batch_axis, name=name)


# ---- concatenating and splitting --------------------------------------------------------------------------------


@export("concat")
def concat(values, axis, name="concat"):
    """Concatenates tensors along an existing axis."""
    try:
        if not isinstance(values, (list, tuple)):
            values = [values]
        if len(values) == 1:
            if not isinstance(axis, int) and rank_of(convert(axis, dtypes.int32)) != 0:
                raise ValueError(f"concat: axis must be a single number, got {axis!r}")
            return raw.Identity(values[0], name=name)
        if not values and not executing_eagerly():
            raise ValueError("concat: a graph needs at least one tensor")
        return raw.ConcatV2(values, axis, name=name)
    except REFUSED:
        return redirect(concat, values, axis, name=name)


_TENSORS = frozenset((EagerTensor, SymbolicTensor))


@export("stack")
def stack(values, axis=0, name="stack"):
    """Stacks tensors of the same shape along a new axis."""
    try:
        listed = isinstance(values, (list, tuple)) and len(values) > 0
        if axis == 0 and listed and (_TENSORS.issuperset(map(type, values)) or all(isinstance(v, CoreTensor) for v in values)):
            return raw.Pack(values, 0, name=name)
        if axis == 0:
            try:
                return convert(values)
            except (TypeError, ValueError):
                pass
        count = rank_of(convert(values[0]))
        if count is not None and not -(count + 1) <= axis <= count:
            raise ValueError(
                f"Argument `axis` = {axis} not in range [{-(count + 1)}, {count + 1})"
            )
        return raw.Pack(values, axis, name=name)
    except REFUSED:
        return redirect(stack, values, axis, name=name)


@export("parallel_stack")
def parallel_stack(values, name="parallel_stack"):
    """Stacks tensors along a new first axis. Only in graphs."""
    if executing_eagerly():
        raise RuntimeError("tf.parallel_stack() is not compatible with eager execution.")
    return raw.Pack(list(values), 0)


@export("unstack")
def unstack(value, num=None, axis=0, name="unstack"):
    """A list of the slices of a tensor along `axis`."""
    value = convert(value)
    if num is None:
        dims = static_shape(value)
        if dims is None:
            raise ValueError("Cannot infer argument `num` from a tensor of unknown rank")
        if not -len(dims) <= axis < len(dims):
            raise ValueError(f"Argument `axis` = {axis} not in range [{-len(dims)}, {len(dims)})")
        num = _core.seen_size(value, axis)
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {as_shape(dims)}")
    return raw.Unpack(value, num, axis, name=name)


@export("split")
def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """Splits a tensor along `axis` into a number of equal pieces, or into pieces of the given sizes."""
    try:
        if isinstance(num_or_size_splits, (int, np.integer, Dimension)):
            return raw.Split(axis, value, int(num_or_size_splits), name=name)
        if isinstance(num_or_size_splits, TensorShape):
            num_or_size_splits = num_or_size_splits.as_list()
        sizes = convert(num_or_size_splits)
        if rank_of(sizes) == 0:
            raise ValueError(
                "Rank-0 tensors are not supported as the num_or_size_splits argument to split; give a "
                "Python integer or a list of sizes"
            )
        if num is None:
            dims = static_shape(sizes)
            num = None if dims is None else dims[0]
            if num is None:
                raise ValueError(
                    f"Cannot infer argument `num` from shape {as_shape(dims)} of the sizes; give num"
                )
        return raw.SplitV(value, sizes, axis, num, name=name)
    except REFUSED:
        return redirect(split, value, num_or_size_splits, axis, num, name=name)


@export("strided_slice")
def strided_slice(
    input_,
    begin,
    end,
    strides=None,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
    var=None,
    name=None,
):
    """The slice of a tensor from `begin` to `end` with step `strides`, as with Python's slices."""
    if strides is None:
        strides = raw.OnesLike(begin)
    return raw.StridedSlice(
        input_,
        begin,
        end,
        strides,
        begin_mask=begin_mask,
        end_mask=end_mask,
        ellipsis_mask=ellipsis_mask,
        new_axis_mask=new_axis_mask,
        shrink_axis_mask=shrink_axis_mask,
        name=name,
    )


def _is_zero(value):
    return np.all(value == np.zeros_like(value))  # a quantized zero does not equal the number 0


@export("pad")
def pad(tensor, paddings, mode="CONSTANT", constant_values=0, name=None):
    """Pads `tensor` with a constant, or with its own elements mirrored ("REFLECT", "SYMMETRIC")."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if not isinstance(constant_values, Tensor) and _is_zero(np.asarray(constant_values)):
            return raw.Pad(tensor, paddings, name=name)
        return raw.PadV2(tensor, paddings, constant_values, name=name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(
            f'Value of argument `mode` expected to be one of "CONSTANT", "REFLECT", or '
            f'"SYMMETRIC". Received {mode!r}'
        )
    return raw.MirrorPad(tensor, paddings, mode, name=name)


# ---- repetition -----------------------------------------------------------------------------------------


def _repeat_by(x, repeats, axis):
    """Repeats slice i along `axis` repeats[i] times, with a gather of slice numbers."""
    ends = raw.Cumsum(repeats, 0)
    total = raw.Sum(repeats, [0])
    places = raw.Range(0, total, 1)
    rows = raw.UpperBound(raw.Reshape(ends, [1, -1]), raw.Reshape(places, [1, -1]))
    # A gather along the first axis would have IndexedSlices as its gradient; this one has a dense tensor.
    made = raw.GatherV2(raw.ExpandDims(x, 0), raw.Reshape(rows, [-1]), axis + 1)
    return raw.Squeeze(made, [0])


@export("repeat")
def repeat(input, repeats, axis=None, name=None):  # noqa: A002
    """Repeats each element along `axis`. Without an axis, the tensor is flattened first."""
    x = convert(input)
    repeats = convert(repeats, None, dtypes.int32)
    if not repeats.dtype.is_integer:
        raise TypeError(f"repeats must be integers, but they are {repeats.dtype.name}")
    repeats = raw.Cast(repeats, dtypes.int32)
    if axis is None:
        x, axis = raw.Reshape(x, [-1]), 0
    elif rank_of(x) == 0:
        x = raw.Reshape(x, [1])
    if not isinstance(axis, int):
        raise TypeError(f"Argument `axis` must be an int. Received `axis` = {axis} of type {type(axis).__name__}")
    count = rank_of(x)
    if count is None:
        x = raw.Reshape(x, raw.ConcatV2([[1], raw.Shape(x)], 0)[-raw.Maximum(raw.Rank(x), 1) :])
        if axis < 0:
            raise ValueError(f"repeat: axis {axis} is counted from the end, but the rank is not known")
    axis = normal_axis(axis, count)
    return _repeat_along(x, repeats, axis, name)


def _repeat_along(x, repeats, axis, name):
    """Repeats the slices of `x` along `axis`. `repeats` is one number for all slices, or one for each."""
    sizes, dims = static_shape(repeats), static_shape(x)
    if sizes == () or sizes == (1,):
        return _repeat_all(x, raw.Reshape(repeats, []), axis, name)
    if sizes is not None and len(sizes) > 1:
        raise ValueError("repeat: repeats must be a number or a vector")
    if sizes is not None and sizes[0] is not None and dims is not None and dims[axis] not in (None, sizes[0]):
        raise ValueError(
            f"repeat: {sizes[0]} repeats for {dims[axis]} elements along axis {axis}; there "
            "must be one for each"
        )
    if sizes is None or sizes[0] is None:  # the vector may have one number, for all slices
        repeats = raw.BroadcastTo(repeats, raw.Shape(x)[axis : axis + 1])
    return _repeat_by(x, repeats, axis)


def _repeat_all(x, times, axis, name):
    """Repeats each slice along `axis` the same number of times: tiles along a new axis and merges it with `axis`."""
    grown = raw.ExpandDims(x, axis + 1)
    sizes = raw.Shape(grown)
    multiples = raw.ConcatV2(
        [
            raw.OnesLike(sizes[: axis + 1]),
            raw.Reshape(times, [1]),
            raw.OnesLike(sizes[axis + 2 :]),
        ],
        0,
    )
    shape = raw.Shape(x)
    merged = raw.ConcatV2(
        [shape[:axis], raw.Mul(shape[axis : axis + 1], times), shape[axis + 1 :]], 0
    )
    return raw.Reshape(raw.Tile(grown, multiples), merged, name=name)


# ---- space and batch --------------------------------------------------------------------------------------


@export("nn.space_to_depth")
def space_to_depth(input, block_size, data_format="NHWC", name=None):  # noqa: A002
    """Moves blocks of pixels into the channels."""
    return raw.SpaceToDepth(input, block_size, data_format, name=name)


@export("nn.depth_to_space")
def depth_to_space(input, block_size, data_format="NHWC", name=None):  # noqa: A002
    """Moves channels into blocks of pixels."""
    return raw.DepthToSpace(input, block_size, data_format, name=name)


@export("required_space_to_batch_paddings")
def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings that make `input_shape` a multiple of `block_shape`, crops that undo them)."""
    sizes, block = known(input_shape), known(block_shape)
    if sizes is not None and block is not None and (
        base_paddings is None or known(base_paddings) is not None
    ):
        base = np.zeros([len(block), 2], np.int64) if base_paddings is None else known(base_paddings)
        start, end = base[:, 0], base[:, 1]
        full = sizes + start + end
        extra = (block - full % block) % block
        paddings = np.stack([start, end + extra], 1).astype(np.int32)
        crops = np.stack([np.zeros_like(extra), extra], 1).astype(np.int32)
        return convert(paddings), convert(crops)
    sizes = convert(input_shape, dtypes.int32)
    block = convert(block_shape, dtypes.int32)
    if base_paddings is None:
        start = end = raw.ZerosLike(block)
    else:
        base = convert(base_paddings, dtypes.int32)
        start, end = base[:, 0], base[:, 1]
    full = sizes + start + end
    extra = (block - full % block) % block
    crops = raw.Pack([raw.ZerosLike(extra), extra], 1)
    return raw.Pack([start, end + extra], 1), crops
