"""tf.experimental.numpy: creating, splitting, joining and sorting arrays."""
import builtins

from . import array as _array, creation as _creation, matmul as _matmul, sort as _sorting
from . import numpy as tnp
from .common import Tensor, convert, dtypes, known, np, raw, seen, seen_shape, static_shape
from .numpy import _as, _offer, _promoted, asarray, wanted
from ..namespace import offer

_SPACE = tnp._SPACE
for _name, _kind in (("int_", np.int64), ("float_", np.float64), ("complex_", np.complex128), ("string_", np.bytes_),
                     ("unicode_", np.str_), ("object_", np.object_)):
    offer(_kind, _SPACE + _name)


def _rank(x):
    return len(static_shape(x))


def _axis(axis, rank):
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for an array of {rank} dimensions")
    return axis % rank


# ---- making -----------------------------------------------------------------------------------------------------


@_offer
def empty(shape, dtype=float):
    """An uninitialized array; here its values are zeros."""
    return tnp.zeros(shape, dtype)


@_offer
def empty_like(a, dtype=None):
    """An uninitialized array with the shape of `a`; here its values are zeros."""
    return tnp.zeros_like(a, dtype)


@_offer
def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """An array with the shape of `a`, filled with `fill_value`."""
    if order != "K" or not subok:
        raise ValueError("full_like: only order='K' and subok=True are supported")
    a = asarray(a)
    sizes = raw.Shape(a) if shape is None else convert(shape, dtypes.int32)
    return raw.BroadcastTo(_as(asarray(fill_value), a.dtype if dtype is None else dtype), sizes)


@_offer
def identity(n, dtype=float):
    """The identity matrix."""
    return tnp.eye(n, dtype=dtype)


@_offer
def tri(N, M=None, k=0, dtype=None):  # noqa: N803 - numpy's names
    """A matrix with ones at and below diagonal `k` and zeros elsewhere."""
    return convert(np.tri(N, M, k, wanted(dtype if dtype is not None else float).as_numpy_dtype))


@_offer
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Numbers whose logarithms are evenly spaced."""
    made = tnp.linspace(start, stop, num, endpoint, dtype=None, axis=axis)
    made = raw.Pow(_as(asarray(base), made.dtype), made)
    return made if dtype is None else _as(made, dtype)


@_offer
def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers with a constant ratio between neighbours (a geometric progression)."""
    first, last = (tnp._inexact(v) for v in _promoted(start, stop))
    want = first.dtype if dtype is None else wanted(dtype)
    sign = raw.Sign(first) if not first.dtype.is_complex else convert(1, first.dtype)
    made = tnp.linspace(raw.Log(raw.Mul(first, sign)), raw.Log(raw.Mul(last, sign)), num, endpoint, dtype=None, axis=axis)
    return _as(raw.Mul(sign, raw.Exp(made)), want)


@_offer
def vander(x, N=None, increasing=False):  # noqa: N803 - numpy's names
    """The powers of each element of a vector, one row for each."""
    x = asarray(x)
    if _rank(x) != 1:
        raise ValueError(f"vander: x must be a vector, not of shape {static_shape(x)}")
    count = seen_shape(x)[0] if N is None else int(known(N))
    if count < 0:
        raise ValueError("vander: N must be nonnegative")
    x = x if x.dtype is not dtypes.bool else raw.Cast(x, dtypes.int64)
    powers = np.arange(count) if increasing else np.arange(count)[::-1].copy()
    return raw.Pow(raw.ExpandDims(x, -1), raw.Cast(convert(powers), x.dtype))


@_offer
def diag(v, k=0):
    """For a vector, the matrix with it on diagonal `k`; for a matrix, its diagonal `k`."""
    v = asarray(v)
    if _rank(v) == 1:
        return _matmul.diag(v, k=k)
    if _rank(v) == 2:
        return diagonal(v, k)
    raise ValueError(f"diag: v must be a vector or a matrix, not of {_rank(v)} dimensions")


@_offer
def diagflat(v, k=0):
    """The matrix with all elements of `v` on diagonal `k`."""
    return diag(raw.Reshape(asarray(v), [-1]), k)


@_offer
def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of the matrices that two axes span."""
    a = asarray(a)
    rank = _rank(a)
    axis1, axis2 = _axis(axis1, rank), _axis(axis2, rank)
    if axis1 == axis2:
        raise ValueError("diagonal: axis1 and axis2 must differ")
    a = tnp.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = seen_shape(a)[-2:]
    size = builtins.max(0, builtins.min(rows, columns - offset) if offset >= 0 else builtins.min(rows + offset, columns))
    at = np.arange(size)
    first = at if offset >= 0 else at - offset
    second = at + offset if offset >= 0 else at
    flat = raw.Reshape(a, raw.ConcatV2([raw.Shape(a)[:-2], [rows * columns]], 0))
    return raw.GatherV2(flat, (first * columns + second).astype(np.int64), -1)


@_offer
def trace(a, offset=0, axis1=0, axis2=1, dtype=None):
    """The sums of diagonals."""
    found = diagonal(a, offset, axis1, axis2)
    return raw.Sum(found if dtype is None else _as(found, dtype), [-1])


@_offer
def diag_indices(n, ndim=2):
    """The coordinates of a diagonal."""
    if n < 0:
        raise ValueError(f"n argument to diag_indices must be nonnegative, got {n}")
    if ndim < 0:
        raise ValueError(f"ndim argument to diag_indices must be nonnegative, got {ndim}")
    return (raw.Range(0, n, 1),) * ndim


@_offer
def tril(m, k=0):
    """The lower triangle: the elements at and below diagonal `k`, zeros elsewhere."""
    return _part(m, k, lambda rows, columns: np.tri(rows, columns, k, bool))


@_offer
def triu(m, k=0):
    """The upper triangle: the elements at and above diagonal `k`, zeros elsewhere."""
    return _part(m, k, lambda rows, columns: ~np.tri(rows, columns, k - 1, bool))


def _part(m, k, mask):
    m = asarray(m)
    if _rank(m) < 2:
        raise ValueError(f"the array must have at least 2 dimensions, not {_rank(m)}")
    keep = mask(*seen_shape(m)[-2:])
    return raw.SelectV2(convert(keep), m, raw.ZerosLike(m))


@_offer
def meshgrid(*xi, **kwargs):
    """The coordinates of a grid, one array for each vector."""
    for word, only in (("sparse", False), ("copy", True)):
        if kwargs.pop(word, only) != only:
            raise ValueError(f"meshgrid: only {word}={only} is supported")
    indexing = kwargs.pop("indexing", "xy")
    if kwargs:
        raise TypeError(f"meshgrid got an unexpected argument {next(iter(kwargs))!r}")
    return list(_creation.meshgrid(*[asarray(x) for x in xi], indexing=indexing)) if xi else []


@_offer
def ix_(*args):
    """Reshapes vectors so that each lies along its own axis; together they index the Cartesian product."""
    made = []
    for k, a in enumerate(args):
        a = asarray(a)
        if _rank(a) != 1:
            raise ValueError("ix_: the arguments must be vectors")
        if a.dtype is dtypes.bool:
            a = raw.Where(a)[:, 0]
        made.append(raw.Reshape(a, [1] * k + [-1] + [1] * (len(args) - k - 1)))
    return made


# ---- shapes and dtypes -----------------------------------------------------------------------------------------------------


@_offer
def asanyarray(a, dtype=None):
    """`a` as a tensor."""
    return asarray(a, dtype)


@_offer
def ascontiguousarray(a, dtype=None):
    """`a` as a tensor of at least one dimension."""
    return tnp.array(a, dtype, ndmin=1)


@_offer
def shape(a):
    """The shape."""
    return asarray(a).shape


@_offer
def ndim(a):
    """The number of dimensions."""
    return _rank(asarray(a))


@_offer
def size(x, axis=None):
    """The number of elements."""
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    dims = static_shape(asarray(x))
    if dims is None or None in dims:
        return raw.Size(asarray(x))
    return np.prod(dims) if dims else 1


@_offer
def isscalar(num):
    """Whether `num` is a single number or text."""
    if isinstance(num, Tensor):
        return static_shape(num) == ()
    return np.isscalar(num)


@_offer
def iscomplexobj(x):
    """Whether the dtype of `x` is complex."""
    return asarray(x).dtype.is_complex


@_offer
def isrealobj(x):
    """Whether the dtype of `x` is not complex."""
    return not asarray(x).dtype.is_complex


@_offer
def issubdtype(arg1, arg2):
    """Whether a dtype is a subtype of another."""
    return np.issubdtype(*(a.as_numpy_dtype if isinstance(a, dtypes.DType) else a for a in (arg1, arg2)))


@_offer
def promote_types(type1, type2):
    """The dtype to which two dtypes are promoted."""
    return np.promote_types(*(wanted(t).as_numpy_dtype for t in (type1, type2)))


@_offer
def array_equal(a1, a2):
    """Whether two arrays have the same shape and equal elements."""
    a1, a2 = _promoted(a1, a2)
    if static_shape(a1) != static_shape(a2):
        return convert(False)
    return tnp._reduce.reduce_all(raw.Equal(a1, a2))


# ---- joining and splitting -------------------------------------------------------------------------------------------


@_offer
def append(arr, values, axis=None):
    """Appends `values` to `arr`."""
    if axis is None:
        return raw.ConcatV2(_promoted(tnp.ravel(arr), tnp.ravel(values)), 0)
    return raw.ConcatV2(_promoted(arr, values), axis)


def _at_least(arys, grow):
    made = [grow(asarray(a)) for a in arys]
    return made[0] if len(made) == 1 else made


@_offer
def atleast_1d(*arys):
    """Arrays of at least one dimension."""
    return _at_least(arys, lambda a: raw.Reshape(a, [1]) if _rank(a) == 0 else a)


@_offer
def atleast_2d(*arys):
    """Arrays of at least two dimensions; new axes are added at the front."""
    return _at_least(arys, _two)


@_offer
def atleast_3d(*arys):
    """Arrays of at least three dimensions."""
    return _at_least(arys, _three)


def _two(a):
    return raw.Reshape(a, [1, -1]) if _rank(a) < 2 else a


def _three(a):
    return a if _rank(a) > 2 else raw.ExpandDims(a, -1) if _rank(a) == 2 else raw.Reshape(a, [1, -1, 1])


def _joined(tup, grow, axis):
    parts = _array.unstack(tup) if isinstance(tup, Tensor) else list(tup)
    return raw.ConcatV2(_promoted(*[grow(asarray(p)) for p in parts]), axis)


@_offer
def hstack(tup):
    """Joins arrays along the second axis, vectors along their only axis."""
    parts = _array.unstack(tup) if isinstance(tup, Tensor) else list(tup)
    parts = [p if _rank(p) else raw.Reshape(p, [1]) for p in map(asarray, parts)]
    return raw.ConcatV2(_promoted(*parts), 0 if _rank(parts[0]) == 1 else 1)


@_offer
def vstack(tup):
    """Joins arrays along the first axis; vectors become rows."""
    return _joined(tup, _two, 0)


@_offer
def dstack(tup):
    """Joins arrays along the third axis."""
    return _joined(tup, _three, 2)


@_offer
def split(ary, indices_or_sections, axis=0):
    """Splits an array into equal pieces, or at the given indices."""
    a = asarray(ary)
    if isinstance(indices_or_sections, (int, np.integer)):
        return list(_array.split(a, int(indices_or_sections), axis))
    places = [int(p) for p in np.ravel(seen(indices_or_sections))]
    size = seen_shape(a)[axis]
    inside = [builtins.min(builtins.max(p + size if p < 0 else p, 0), size) for p in places]
    made = []
    for begin, end in zip([0] + inside, inside + [size]):
        key = [builtins.slice(None)] * _rank(a)
        key[axis] = builtins.slice(begin, builtins.max(begin, end))
        made.append(a[tuple(key)])
    return made


def _splitter(name, axis, doc):
    def cut(ary, indices_or_sections):
        a = asarray(ary)
        return split(a, indices_or_sections, 0 if axis == 1 and _rank(a) == 1 else axis)

    cut.__name__ = cut.__qualname__ = name
    cut.__doc__ = doc
    return _offer(cut)


vsplit = _splitter("vsplit", 0, "Splits an array along the first axis.")
hsplit = _splitter("hsplit", 1, "Splits an array along the second axis, a vector along its only axis.")
dsplit = _splitter("dsplit", 2, "Splits an array along the third axis.")


@_offer
def broadcast_arrays(*args, **kwargs):
    """Broadcasts arrays to a common shape."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {list(kwargs)}")
    made = [asarray(a) for a in args]
    sizes = raw.Shape(made[0])
    for a in made[1:]:
        sizes = raw.BroadcastArgs(sizes, raw.Shape(a))
    return [raw.BroadcastTo(a, sizes) for a in made]


@_offer
def compress(condition, a, axis=None):
    """The slices of `a` along `axis` for which the condition is true. Slices beyond the end of the condition are dropped."""
    keep = raw.Where(asarray(condition, np.bool_))[:, 0]
    a = asarray(a)
    return raw.GatherV2(tnp.ravel(a), keep, 0) if axis is None else raw.GatherV2(a, keep, axis)


@_offer
def flatten(a, order="C"):
    """The elements as a vector, in the order `order`."""
    return tnp.reshape(a, [-1], order)


@_offer
def repeat(a, repeats, axis=None):
    """Repeats each element `repeats` times."""
    return _array.repeat(asarray(a), repeats, axis)


@_offer
def pad(array, pad_width, mode, **kwargs):  # noqa: A002
    """Pads an array with a constant, or with its own elements mirrored."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError(f"Unsupported padding mode: {mode}; it must be 'constant', 'reflect' or 'symmetric'")
    a = asarray(array)
    widths = np.broadcast_to(seen(pad_width), (_rank(a), 2)) if not isinstance(pad_width, Tensor) else pad_width
    return _array.pad(a, widths, mode, kwargs.get("constant_values", 0))


# ---- order ------------------------------------------------------------------------------------------------------


@_offer
def flip(m, axis=None):
    """Reverses an array along `axis`, or along all axes."""
    m = asarray(m)
    axes = list(builtins.range(_rank(m))) if axis is None else [int(v) for v in np.ravel(axis)]
    return raw.ReverseV2(m, [_axis(v, _rank(m)) for v in axes]) if axes else m


@_offer
def fliplr(m):
    """Reverses an array along the second axis. A vector or scalar is returned unchanged."""
    m = asarray(m)
    return flip(m, 1) if _rank(m) > 1 else m


@_offer
def flipud(m):
    """Reverses an array along the first axis. A scalar is returned unchanged."""
    m = asarray(m)
    return flip(m, 0) if _rank(m) > 0 else m


@_offer
def roll(a, shift, axis=None):
    """Shifts elements cyclically along an axis."""
    a = asarray(a)
    if axis is None:
        return raw.Reshape(raw.Roll(tnp.ravel(a), convert(shift, dtypes.int64), convert(0)), raw.Shape(a))
    shift = np.broadcast_to(shift, np.shape(axis)) if not isinstance(shift, Tensor) else shift
    return raw.Roll(a, raw.Cast(convert(shift), dtypes.int64), convert(axis, dtypes.int32))


@_offer
def rot90(m, k=1, axes=(0, 1)):
    """Rotates an array by `k` times 90 degrees in the plane of two axes."""
    m = asarray(m)
    first, second = (_axis(v, _rank(m)) for v in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (first, second))
    perm = list(builtins.range(_rank(m)))
    perm[first], perm[second] = perm[second], perm[first]
    return raw.Transpose(flip(m, second), perm) if k == 1 else flip(raw.Transpose(m, perm), second)


def _plain_sort(kind, order):
    if kind not in ("quicksort", "stable"):
        raise ValueError(f"Invalid value for argument `kind`. Only kind='quicksort' and kind='stable' are supported. Received: kind={kind!r}")
    if order is not None:
        raise ValueError("The `order` argument is not supported. Pass order=None")


@_offer
def sort(a, axis=-1, kind="quicksort", order=None):
    """The elements along `axis` in ascending order."""
    _plain_sort(kind, order)
    a = asarray(a)
    return _sorting.sort(tnp.ravel(a), 0) if axis is None else _sorting.sort(a, axis)


@_offer
def argsort(a, axis=-1, kind="quicksort", order=None):
    """The indices that sort the elements along `axis` in ascending order."""
    _plain_sort(kind, order)
    a = asarray(a)
    a = tnp.ravel(a) if axis is None else a
    a = raw.Reshape(a, [1]) if _rank(a) == 0 else a
    return raw.Cast(_sorting.argsort(a, 0 if axis is None else axis, stable=kind == "stable"), dtypes.int64)


@_offer
def take_along_axis(arr, indices, axis):
    """For each element of `indices`, the element of `arr` with that index along `axis`."""
    a, at = asarray(arr), asarray(indices)
    if axis is None:
        return take_along_axis(tnp.ravel(a), indices, 0)
    rank = _rank(a)
    if _rank(at) != rank:
        raise ValueError(f"take_along_axis: the indices have {_rank(at)} dimensions, the array {rank}; they must be equal")
    axis = _axis(axis, rank)
    sizes = raw.BroadcastArgs(_without(raw.Shape(a), axis), _without(raw.Shape(at), axis))
    a = raw.BroadcastTo(a, _with(sizes, axis, raw.Shape(a)[axis]))
    at = raw.BroadcastTo(at, _with(sizes, axis, raw.Shape(at)[axis]))
    count = raw.Cast(raw.Shape(a)[axis], at.dtype)
    at = raw.SelectV2(raw.Less(at, convert(0, at.dtype)), raw.AddV2(at, count), at)
    a, at = tnp.moveaxis(a, axis, -1), tnp.moveaxis(at, axis, -1)
    return tnp.moveaxis(raw.GatherV2(a, at, rank - 1, batch_dims=rank - 1), -1, axis)


def _without(sizes, axis):
    return raw.ConcatV2([sizes[:axis], [1], sizes[axis + 1:]], 0)


def _with(sizes, axis, one):
    return raw.ConcatV2([sizes[:axis], raw.Reshape(one, [1]), sizes[axis + 1:]], 0)
