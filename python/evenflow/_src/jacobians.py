"""Jacobians: the gradient of every element of a target.

A gradient is linear in its output gradient, so each row of the Jacobian is the same computation with another unit vector.
Eagerly this is a Python loop. In a graph the gradient is built once, extracted as a function of the output gradient, and
called in a loop.
"""
import numpy as np

from . import _core, nest
from .composite import IndexedSlices
from .functional import map_fn
from .specs import TensorSpec
from .tape import GradientTape, UnconnectedGradients, key_of, wants_zeros, zeros_for

raw = _core.raw
convert = _core.convert


def _whole(gradient):
    return convert(gradient) if isinstance(gradient, IndexedSlices) else gradient


def _count(dims):
    return int(np.prod(dims, dtype=np.int64))


def rows(target, sources, gradient):
    """For each source the gradients of all elements of `target`, with shape `target.shape + source.shape`; None if it does
    not depend on the source. `gradient(target, seed, sources)` computes the gradients for one output gradient."""
    if _core.is_symbolic(target):
        return _rows_in_graph(target, sources, gradient)
    dims = tuple(target._dims)
    n = _count(dims)
    if n == 0:
        found = gradient(target, raw.ZerosLike(target), sources)
        return [None if g is None else convert(np.zeros(dims + tuple(_whole(g)._dims)), _whole(g).dtype)
                for g in found]
    per_source = [[] for _ in sources]
    eye = convert(np.eye(n, dtype=target.dtype.as_numpy_dtype).reshape((n,) + dims), target.dtype)
    for seed in raw.Unpack(eye, num=n, axis=0):
        for made, g in zip(per_source, gradient(target, seed, sources)):
            made.append(None if g is None else _whole(g))
    results = []
    for made in per_source:
        if made[0] is None:
            results.append(None)
            continue
        stacked = raw.Pack(made)
        results.append(raw.Reshape(stacked, list(dims + tuple(made[0]._dims))))
    return results


# ---- in a graph -----------------------------------------------------------------------------------------------


def _rows_in_graph(target, sources, gradient):
    """Builds the gradient once, and calls it in a loop for every unit vector."""
    seed = raw.ZerosLike(target)
    found = [_whole(g) for g in gradient(target, seed, sources)]
    live = [k for k, g in enumerate(found) if g is not None]
    results = [None] * len(sources)
    if not live:
        return results
    one_row, beside = target.graph._part([seed], [found[k] for k in live])
    shape, n = raw.Shape(target), raw.Size(target)
    units = raw.OneHot(raw.Range(0, n, 1), n, convert(1, target.dtype), convert(0, target.dtype))
    units = raw.Reshape(units, raw.ConcatV2([raw.ExpandDims(n, 0), shape], 0))
    dims = _core.static_shape(target)
    if dims is not None:
        _core.set_shape(units, (None if None in dims else _count(dims),) + tuple(dims))
    made = map_fn(lambda unit: one_row._call([unit] + beside), units,
                     fn_output_signature=[_spec(found[k]) for k in live])
    for k, stacked in zip(live, made):
        whole = raw.Reshape(stacked, raw.ConcatV2([shape, raw.Shape(found[k])], 0))
        inner = _core.static_shape(found[k])
        if dims is not None and inner is not None:
            _core.set_shape(whole, tuple(dims) + tuple(inner))
        results[k] = whole
    return results


def _spec(tensor):
    return TensorSpec(tensor.shape, tensor.dtype)


# ---- for the tape ---------------------------------------------------------------------------------------------


def jacobian(tape, target, sources, unconnected):
    """`tape.jacobian`. The tape keeps its records until all rows are computed."""
    zero = wants_zeros(unconnected)
    flat = nest.flatten(sources)
    keys = [key_of(s) for s in flat]
    with tape._for_rows():
        target = target if isinstance(target, _core.Tensor) else convert(target)
        found = rows(target, keys, tape._row)
    if zero:
        found = [_zeros(target, s) if g is None else g for g, s in zip(found, flat)]
    return nest.pack_sequence_as(sources, found)


def _zeros(target, source):
    """Zeros with the shape of the Jacobian."""
    like = zeros_for(source)
    shape = raw.ConcatV2([raw.Shape(target), raw.Shape(like)], 0)
    return raw.Fill(shape, convert(0, like.dtype))


def batch_jacobian(tape, target, source, unconnected):
    """`tape.batch_jacobian`: row b of the target depends only on row b of the source, so the gradient of the sum of a column
    contains that column's gradient for every row. An unconnected source gets zeros, as in TensorFlow, even if `unconnected`
    is NONE."""
    wants_zeros(unconnected)
    value = convert(source)
    dims, inner = _core.static_shape(target), _core.static_shape(value)
    if dims is None or inner is None or len(dims) < 2 or len(inner) < 2:
        raise ValueError(f"batch_jacobian needs a target and a source of rank 2 or more; they are "
                         f"{target.shape} and {source.shape}")
    if not _core.sizes_agree(target, 0, value, 0):
        raise ValueError(f"Need first dimension of target shape ({target.shape}) and source shape ({source.shape}) to "
                         "match.")
    with tape._for_rows():
        with tape._ensure_recording():
            columns = raw.Reshape(target, raw.Pack([raw.Shape(target)[0], -1]))
            sums = raw.Sum(columns, [0])
        [found] = rows(sums, [key_of(source)], tape._row)
    shape = raw.ConcatV2([raw.Shape(target), raw.Shape(value)[1:]], 0)
    if found is None:
        return raw.Fill(shape, convert(0, value.dtype))
    made = raw.Transpose(found, [1, 0] + list(range(2, 1 + len(inner))))
    made = raw.Reshape(made, shape)
    if _core.is_symbolic(made):
        _core.set_shape(made, tuple(dims) + tuple(inner[1:]))
    return made


# ---- methods of tapes ------------------------------------------------------------------------------------------------


def _jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
              experimental_use_pfor=True):
    """The gradients of every element of `target` by `sources`."""
    self._for_loops("jacobian", parallel_iterations, experimental_use_pfor)
    return jacobian(self, target, sources, unconnected_gradients)


def _batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                    experimental_use_pfor=True):
    """For every row b, the gradients of the elements of target[b] by source[b]."""
    self._for_loops("batch_jacobian", parallel_iterations, experimental_use_pfor)
    return batch_jacobian(self, target, source, unconnected_gradients)


for _name, _function in (("jacobian", _jacobian), ("batch_jacobian", _batch_jacobian)):
    _function.__name__, _function.__qualname__ = _name, f"GradientTape.{_name}"
    setattr(GradientTape, _name, _function)
