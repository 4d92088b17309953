"""x[...] where the index holds tensors or numpy integers, or is a mask. Plain indices are C (python/ext/index.c)."""
import numpy as np

from . import _core, dtypes

CoreTensor, raw = _core.CoreTensor, _core.raw


def _check_index(index):
    """TensorFlow's words for what cannot be an index."""
    if isinstance(index, CoreTensor):
        fits = index.dtype in (dtypes.int16, dtypes.int32, dtypes.int64)
    elif isinstance(index, np.ndarray) and index.ndim == 0:
        fits = np.issubdtype(index.dtype, np.integer)
    else:
        fits = isinstance(index, (int, np.integer)) and not isinstance(index, (bool, np.bool_))
    if not fits:
        raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar "
                        f"tf.int32/tf.int64 tensors are valid indices, got {index!r}")


def getitem(tensor, key):
    """tensor[key] where key holds tensors, numpy integers, or is a mask."""
    if isinstance(key, bool) or (isinstance(key, (np.ndarray, CoreTensor)) and _is_mask(key)):
        from .ops.index import boolean_mask

        return boolean_mask(tensor, key)
    items = key if isinstance(key, (tuple, list)) else (key,)
    if len(items) == 0:
        return raw.Identity(tensor)
    parts, masks = slice_parts(items)
    return raw.StridedSlice(tensor, *parts, **masks)


def slice_parts(items):
    """begin, end and strides of a StridedSlice, and its masks, for a tuple of indices."""
    begin, end, strides = [], [], []
    masks = dict.fromkeys(("begin", "end", "ellipsis", "new_axis", "shrink_axis"), 0)
    for k, item in enumerate(items):
        bit = 1 << k
        if isinstance(item, slice):
            for part in (item.start, item.stop, item.step):
                if part is not None:
                    _check_index(part)
            begin.append(0 if item.start is None else item.start)
            end.append(0 if item.stop is None else item.stop)
            strides.append(1 if item.step is None else item.step)
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
            strides.append(1)
            masks["shrink_axis"] |= bit
    parts = [_index_vector(p) for p in (begin, end, strides)]
    if any(p.dtype is dtypes.int64 for p in parts):
        parts = [raw.Cast(p, dtypes.int64) for p in parts]
    return parts, {f"{name}_mask": mask for name, mask in masks.items()}


def _is_mask(key):
    return key.dtype == np.bool_ if isinstance(key, np.ndarray) else key.dtype is dtypes.bool


def _index_vector(items):
    if not any(isinstance(i, CoreTensor) for i in items):
        array = np.array([int(i) for i in items])
        big = array.size and (array.max() > 2**31 - 1 or array.min() < -(2**31))
        return _core.convert(array.astype(np.int64 if big else np.int32))
    wide = any(isinstance(i, CoreTensor) and i.dtype is dtypes.int64 for i in items)
    want = dtypes.int64 if wide else dtypes.int32
    parts = [raw.Cast(i, want) if isinstance(i, CoreTensor) else _core.convert(int(i), want) for i in items]
    return raw.Pack(parts)
