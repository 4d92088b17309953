"""tf.gradients: derivatives added to the graph."""
from ... import _core, graph as graphs
from ...composite import IndexedSlices
from ...namespace import export
from ...tape import _zero, _zeros_for, key_of, result_of

raw = _core.raw


@export("compat.v1.AggregationMethod", "AggregationMethod")
class AggregationMethod:
    """How gradients that meet are added; the engine decides by itself."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _listed(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _inside(ys, make):
    """Runs `make` in the graph of ys when no graph is being built."""
    graph = next((y.graph for y in ys if _core.is_symbolic(y)), None)
    if graph is None:
        if _core.executing_eagerly():
            raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
                               "instead.")
        return make()
    if _core.current_graph() is not None:
        return make()
    with graph.as_default():
        return make()


@export("compat.v1.gradients")
def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients="none"):
    """d(sum of ys)/dx for each of xs, as tensors of the graph; None where there is no connection."""
    zero = _zero(unconnected_gradients)
    ys, xs = _listed(ys), _listed(xs)
    graph = next((v.graph for v in ys + xs if _core.is_symbolic(v)), None)

    def make():
        flat = [_core.convert(y) for y in ys]
        for y in flat:
            if not (y.dtype.is_floating or y.dtype.is_complex):
                raise TypeError(f"Gradients of tensors of {y.dtype.name} cannot be taken: {y}")
        seeds = None
        if grad_ys is not None:
            given = _listed(grad_ys)
            if len(given) != len(flat):
                raise ValueError("Passed %d grad_ys for %d ys" % (len(given), len(flat)))
            seeds = [None if d is None else _core.convert(d, y.dtype) for d, y in zip(given, flat)]
        stops = [key_of(s) for s in _listed(stop_gradients)] if stop_gradients is not None else []
        sources = []
        for x in xs:
            sources.append(x if isinstance(x, IndexedSlices) else key_of(x))
        with graphs.name_scope(name or "gradients"):
            found = _core.graph_gradients(flat, seeds, sources, stops)
        found = [result_of(g) for g in found]
        return [_zeros_for(x) if g is None and zero else g for g, x in zip(found, xs)]

    return _inside(ys if graph is None else [v for v in ys + xs if _core.is_symbolic(v)], make)


@export("compat.v1.hessians")
def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The matrix (or higher tensor) of second derivatives of sum(ys), for each of xs."""
    xs = _listed(xs)
    result = []
    for first, x in zip(gradients(ys, xs, name=name), xs):
        if first is None:
            raise ValueError(f"ys do not depend on {x}")

        def make(first=first, x=x):
            shape = _core.static_shape(_core.convert(x))
            if shape is None or None in shape:
                raise ValueError(f"the shape of {x} must be known for its Hessian")
            size = 1
            for d in shape:
                size *= d
            flat = raw.Reshape(first, [size])
            rows = []
            for k in range(size):
                row = gradients(raw.StridedSlice(flat, [k], [k + 1], [1], shrink_axis_mask=1), x)[0]
                rows.append(raw.ZerosLike(_core.convert(x)) if row is None else _core.convert(row))
            return raw.Reshape(raw.Pack(rows), list(shape) * 2)

        result.append(_inside([first], make))
    return result


@export("compat.v1.verify_tensor_all_finite")
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """`t`; running it fails if an element is infinite or not a number."""
    value = t if t is not None else x
    return raw.CheckNumerics(_core.convert(value), message=msg if msg is not None else message, name=name)
