"""tf.gradients of the first generation: derivatives added to the graph, also from outside of it."""
from ... import _core, gradients as _gradients, graph as graphs, nest
from ...namespace import export
from ...tape import UnconnectedGradients

NONE = UnconnectedGradients.NONE


@export("compat.v1.AggregationMethod", "AggregationMethod")
class AggregationMethod:
    """How gradients that meet are added; the engine decides by itself."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _inside(values, make):
    """Runs `make` in the graph of `values` when no graph is being built."""
    if _core.executing_eagerly():
        for value in nest.flatten(values, expand_composites=True):
            handle = getattr(value, "handle", value)
            if _core.is_symbolic(handle):
                with handle.graph.as_default():
                    return make()
    return make()


@export("compat.v1.gradients")
def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients=NONE):
    """d(sum of ys)/dx for each of xs, as tensors of the graph; None where there is no connection."""
    def make():
        with graphs.name_scope(name or "gradients"):
            return _gradients.gradients(ys, xs, grad_ys, stop_gradients=stop_gradients,
                                        unconnected_gradients=unconnected_gradients)

    return _inside([ys, xs], make)


@export("compat.v1.hessians")
def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The matrix (or higher tensor) of second derivatives of sum(ys), for each of xs."""
    return _inside([ys, xs], lambda: _gradients.hessians(ys, xs, name=name))


@export("compat.v1.verify_tensor_all_finite")
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """`t`; running it fails if an element is infinite or not a number."""
    value = t if t is not None else x
    return _core.raw.CheckNumerics(_core.convert(value), message=msg if msg is not None else message, name=name)
