"""tf.experimental.numpy.experimental_enable_numpy_behavior: operators, indexing and methods of tensors as in numpy.

Other programs pay nothing for it: the operators of tensors are replaced only when the function is called. Even then an
operator is first tried as usual; only if it rejects its operands are they promoted.
"""
import builtins

from .. import _core, errors
from ..dispatch import REFUSED
from ..namespace import export, names
from .array import reshape, transpose
from .common import CoreTensor, Tensor, convert, dtypes, np, raw, rank_of, static_shape
from .math import cast, round as rounded
from .numpy import _promoted, wanted

_OPERATORS = "add sub mul truediv floordiv mod pow lt le gt ge and or xor eq ne".split()
_FAILURES = (*REFUSED, errors.InvalidArgumentError)
_enabled = []


@export("experimental.numpy.experimental_enable_numpy_behavior")
def experimental_enable_numpy_behavior(prefer_float32=False, dtype_conversion_mode="legacy"):
    """From now on operators promote the dtypes of their operands, tensors are indexed by lists and arrays, and they have the
    methods of arrays: `astype`, `reshape`, `ravel`, `transpose`, `T`, `size`, `clip`, `max`, `min`, `mean`, `tolist`."""
    if prefer_float32 or dtype_conversion_mode != "legacy":
        raise NotImplementedError(f"numpy behavior with prefer_float32={prefer_float32} and dtype_conversion_mode="
                                  f"{dtype_conversion_mode!r}: Evenflow has prefer_float32=False and 'legacy' only")
    if _enabled:
        return
    _enabled.append(True)
    product = names()["experimental.numpy.matmul"]
    words = [name for word in _OPERATORS for name in (f"__{word}__", f"__r{word}__") if hasattr(Tensor, name)]
    own = {name: getattr(Tensor, name) for name in words}
    for kind in (Tensor, _core.VariableBase):
        for name in words:
            setattr(kind, name, _promoting(getattr(kind, name), own[name]))
        kind.__matmul__, kind.__rmatmul__ = product, lambda self, other: product(other, self)
        for name, method in _METHODS.items():
            setattr(kind, name, method)
        kind.__getitem__ = _indexing(kind.__getitem__)


# ---- operators -------------------------------------------------------------------------------------------------------


def _promoting(original, of_tensors):
    """An operator that promotes its operands if the original one rejects them, or if one is an array, which the original
    would convert to the dtype of the tensor."""

    def operator(self, other):
        made = NotImplemented
        if not isinstance(other, (np.ndarray, np.generic)) or other.dtype == self.dtype.as_numpy_dtype:
            try:
                made = original(self, other)
            except _FAILURES:
                pass
        if made is not NotImplemented:
            return made
        try:
            pair = _promoted(self, other)
        except _FAILURES:
            return NotImplemented
        return of_tensors(*pair)

    return operator


# ---- indices ---------------------------------------------------------------------------------------------------------


def _is_advanced(item):
    """Whether an index is a list or array of integers (advanced indexing)."""
    if isinstance(item, list):
        return True
    if isinstance(item, np.ndarray):
        return item.ndim > 0 and item.dtype != bool
    return isinstance(item, CoreTensor) and item.dtype is not dtypes.bool and rank_of(convert(item)) != 0


def _indexing(original):
    def getitem(self, key):
        if isinstance(key, list):
            key = np.asarray(key)
        items = key if isinstance(key, tuple) else (key,)
        if not any(map(_is_advanced, items)):
            return original(convert(self), key)
        return _picked(original, convert(self), list(items))

    return getitem


def _picked(original, tensor, items):
    """Applies the plain indices first, then the advanced indices, which must belong to neighbouring axes."""
    if Ellipsis in [i for i in items if i is Ellipsis]:
        at = next(k for k, i in enumerate(items) if i is Ellipsis)
        used = builtins.sum(i is not None for i in items) - 1
        items[at : at + 1] = [slice(None)] * (rank_of(tensor) - used)
    places = [k for k, i in enumerate(items) if _is_advanced(i)]
    if places != list(range(places[0], places[-1] + 1)):
        raise NotImplementedError("advanced indices of axes that are not neighbours are not supported")
    plain = original(tensor, tuple(slice(None) if k in places else i for k, i in enumerate(items)))
    axis = builtins.sum(not isinstance(i, (int, np.integer)) for i in items[: places[0]])
    size = raw.Shape(plain)
    indices = [convert(np.asarray(items[k]) if not isinstance(items[k], CoreTensor) else items[k]) for k in places]
    indices = [raw.Cast(i, dtypes.int32) for i in indices]
    indices = [raw.SelectV2(raw.Less(i, 0), raw.AddV2(i, size[axis + n]), i) for n, i in enumerate(indices)]
    if len(indices) == 1:
        return raw.GatherV2(plain, indices[0], axis)
    shape = indices[0]
    for other in indices[1:]:
        shape = raw.AddV2(raw.ZerosLike(shape), raw.ZerosLike(other))
    joined = raw.Pack([raw.AddV2(shape, i) for i in indices], axis=rank_of(shape))
    rank, count = rank_of(plain), len(indices)
    front = [*range(axis, axis + count), *range(axis), *range(axis + count, rank)]
    made = raw.GatherNd(transpose(plain, front), joined)
    wide = rank_of(shape)
    back = [*range(wide, wide + axis), *range(wide), *range(wide + axis, rank_of(made))]
    return transpose(made, back)


# ---- methods ---------------------------------------------------------------------------------------------------------


def _tnp(name):
    def method(self, *args, **kwargs):
        return names()[f"experimental.numpy.{name}"](self, *args, **kwargs)

    method.__name__ = name
    return method


def _reshape(self, *newshape, **kwargs):
    order = kwargs.pop("order", "C")
    if order != "C" or kwargs:
        raise ValueError("reshape of a tensor supports only order='C'")
    return reshape(self, newshape[0] if len(newshape) == 1 else newshape)


def _size(self):
    dims = static_shape(convert(self))
    return np.int64(np.prod(dims, dtype=np.int64)) if dims is not None and None not in dims else raw.Size(self)


_METHODS = {
    "astype": lambda self, dtype: cast(convert(self), wanted(dtype)),
    "reshape": _reshape, "ravel": lambda self: reshape(self, [-1]),
    "transpose": lambda self, axes=None: transpose(self, axes),
    "T": property(lambda self: transpose(self)), "size": property(_size), "data": property(lambda self: self),
    "clip": _tnp("clip"), "max": _tnp("max"), "min": _tnp("min"), "mean": _tnp("mean"),
    "tolist": lambda self: self.numpy().tolist(), "__round__": lambda self, digits=0: rounded(self),
}
