"""x[...] with an index that contains tensors or numpy integers or is a mask. Plain indices are C (python/ext/index.c)."""
import numpy as np

from . import _core, dtypes
from .shapes import Dimension

CoreTensor, Tensor, raw = _core.CoreTensor, _core.Tensor, _core.raw
_INDEX_TYPES = (dtypes.int16, dtypes.int32, dtypes.int64)


def _check_index(index):
    """Raises TensorFlow's TypeError for a value that cannot be an index."""
    if isinstance(index, CoreTensor):
        dims = (index if isinstance(index, Tensor) else index.shape)._dims
        fits = index.dtype in _INDEX_TYPES and (dims is None or len(dims) != 1)
    elif isinstance(index, np.ndarray):
        fits = index.dtype.name in ("int16", "int32", "int64") and index.ndim != 1
    else:
        fits = isinstance(index, (int, np.integer))
    if not fits:
        raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
                        f"tf.int32/tf.int64 tensors are valid indices, got {index!r}")


def getitem(tensor, key):
    """tensor[key] for a key that contains tensors or numpy integers, or that is a mask."""
    if is_mask(key):
        from .ops.index import boolean_mask  # ops/index.py imports tensors.py, which imports this file

        return boolean_mask(tensor, key)
    items = key if isinstance(key, (tuple, list)) else (key,)
    if len(items) == 0:
        return raw.Identity(tensor)
    parts, masks = slice_parts(items)
    return raw.StridedSlice(tensor, *parts, **masks)


def slice_parts(items):
    """([begin, end, strides], masks) of the StridedSlice for a tuple of indices."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for k, item in enumerate(items):
        bit = 1 << k
        if isinstance(item, slice):
            item = slice(*(p.value if isinstance(p, Dimension) else p for p in (item.start, item.stop, item.step)))
            given = [part for part in (item.start, item.stop, item.step) if part is not None]
            for part in given:
                _check_index(part)
            like = max((p.dtype for p in given if isinstance(p, Tensor)), key=_INDEX_TYPES.index, default=None)
            zero, one = (0, 1) if like is None else (_core.convert(0, like), _core.convert(1, like))
            begin.append(zero if item.start is None else item.start)
            end.append(zero if item.stop is None else item.stop)
            strides.append(one if item.step is None else item.step)
            masks["begin"] |= bit if item.start is None else 0
            masks["end"] |= bit if item.stop is None else 0
        elif item is Ellipsis or item is None:
            begin.append(0)
            end.append(0)
            strides.append(1)
            masks["ellipsis" if item is Ellipsis else "new_axis"] |= bit
        else:
            _check_index(item)
            begin.append(item)
            end.append(item + 1)
            wide = isinstance(item, Tensor) and item.dtype is not dtypes.int32
            strides.append(_core.convert(1, item.dtype) if wide else 1)
            masks["shrink_axis"] |= bit
    parts = [_index_vector(p) for p in (begin, end, strides)]
    if any(p.dtype is dtypes.int64 for p in parts):
        parts = [p if p.dtype is dtypes.int64 else raw.Cast(p, dtypes.int64) for p in parts]
    return parts, {f"{name}_mask": mask for name, mask in masks.items()}


def is_mask(key):
    """Whether an index is a boolean mask."""
    if isinstance(key, np.ndarray):
        return key.dtype == np.bool_
    return isinstance(key, bool) or (isinstance(key, Tensor) and key.dtype is dtypes.bool)


def _index_vector(items):
    """A vector of indices. A tensor among them decides the dtype."""
    try:
        return _core.convert(items, None if items else dtypes.int32)
    except (TypeError, ValueError, NotImplementedError):
        return raw.Pack(items)
