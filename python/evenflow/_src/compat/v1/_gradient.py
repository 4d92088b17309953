"""tf.gradients of TensorFlow 1: adds gradients to the graph, even if no graph is being built at the call."""
from ... import _core, gradients as _gradients, graph as graphs, nest
from ...namespace import export
from ...tape import UnconnectedGradients

NONE = UnconnectedGradients.NONE


@export("compat.v1.AggregationMethod", "AggregationMethod")
class AggregationMethod:
    """How gradients are accumulated. It has no effect."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def _inside(values, make):
    """Calls `make`, in the graph of `values` if no graph is being built."""
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
    """The gradients of the sum of `ys` for each of `xs`, as tensors of the graph; None for an unconnected one."""
    def make():
        with graphs.name_scope(name or "gradients"):
            return _gradients.gradients(ys, xs, grad_ys, stop_gradients=stop_gradients,
                                        unconnected_gradients=unconnected_gradients)

    return _inside([ys, xs], make)


@export("compat.v1.hessians")
def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """The Hessian of the sum of `ys` for each of `xs`."""
    return _inside([ys, xs], lambda: _gradients.hessians(ys, xs, name=name))


@export("compat.v1.verify_tensor_all_finite")
def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """Returns `t`. When the op runs, it fails if an element is infinite or NaN."""
    value = t if t is not None else x
    return _core.raw.CheckNumerics(_core.convert(value), message=msg if msg is not None else message, name=name)
