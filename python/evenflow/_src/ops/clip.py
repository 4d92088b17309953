"""Clipping of values and norms."""
from ..dispatch import REFUSED, redirect
from ..namespace import export
from ..shapes import agree
from .common import IndexedSlices, convert, np, raw
from .reduce import _reduce, global_norm, need_sequence


def _need_shape(out, values):
    """Raises ValueError if broadcasting with a bound has changed the shape of a tensor."""
    if not agree(out.shape, values.shape):
        raise ValueError(
            f"Shapes {values.shape} and {out.shape} are incompatible: the bounds of a clipping must fit the tensor's own shape"
        )


@export("clip_by_value")
def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """Clips the elements of `t` to the interval [clip_value_min, clip_value_max]."""
    try:
        values = convert(t.values if isinstance(t, IndexedSlices) else t)
    except REFUSED:
        return redirect(clip_by_value, t, clip_value_min, clip_value_max, name=name)
    out = raw.Minimum(values, clip_value_max)
    _need_shape(out, values)
    out = raw.Maximum(out, clip_value_min, name=name or "clip_by_value")
    _need_shape(out, values)
    if isinstance(t, IndexedSlices):
        return IndexedSlices(out, t.indices, t.dense_shape)
    return out


@export("clip_by_norm")
def clip_by_norm(t, clip_norm, axes=None, name=None):
    """Scales `t` down so that its norm along `axes` is at most `clip_norm`."""
    values = convert(t.values if isinstance(t, IndexedSlices) else t)
    if np.isscalar(clip_norm):
        limit = max(clip_norm, 0)
    else:
        limit = convert(clip_norm)
        limit = raw.Maximum(limit, convert(0, limit.dtype))
        limit = limit if limit.dtype is values.dtype else raw.Cast(limit, values.dtype)
    square = _reduce(raw.Sum, raw.Mul(values, values), axes, True, None)
    some = raw.Greater(square, 0)
    safe = raw.SelectV2(some, square, raw.OnesLike(square))
    length = raw.SelectV2(some, raw.Sqrt(safe), square)
    limit = convert(limit, values.dtype)
    scaled = raw.Mul(values, limit)
    _need_shape(scaled, values)
    out = raw.RealDiv(scaled, raw.Maximum(length, limit), name=name)
    if isinstance(t, IndexedSlices):
        return IndexedSlices(out, t.indices, t.dense_shape)
    return out


@export("clip_by_global_norm")
def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """Scales all tensors by one factor so that their global norm is at most `clip_norm`.

    Returns (list of scaled tensors, global norm before clipping). If the norm is not finite, all elements become NaN.
    """
    need_sequence(t_list)
    t_list = list(t_list)
    if use_norm is None:
        use_norm = global_norm(t_list)
    use_norm = convert(use_norm)
    limit = convert(clip_norm, use_norm.dtype)
    factor = raw.Minimum(raw.Reciprocal(use_norm), raw.RealDiv(convert(1.0, limit.dtype), limit))
    scale = raw.Mul(limit, factor)
    # norm - norm is 0, or NaN if the norm is not finite; this makes the scale NaN on purpose, as in TensorFlow
    scale = raw.AddV2(scale, raw.Sub(use_norm, use_norm))
    out = []
    for t in t_list:
        if t is None:
            out.append(None)
            continue
        values = convert(t.values if isinstance(t, IndexedSlices) else t)
        by = scale if values.dtype is scale.dtype else raw.Cast(scale, values.dtype)
        scaled = raw.Mul(values, by)
        if isinstance(t, IndexedSlices):
            scaled = IndexedSlices(scaled, t.indices, t.dense_shape)
        out.append(scaled)
    return out, use_norm


