"""Bodies of control flow: Python functions that are traced into function graphs.

A branch or a loop's body is traced into a graph of its own. Tensors of the surrounding graph that it uses
are captured; the node that runs it gets those tensors as further inputs, so before a graph becomes an
attribute its captures are turned into parameters (`close`). Structures are flattened to plain tensors;
`None` and ops have a position in the structure but no tensor.
"""
import functools

import numpy as np

from . import _core, errors, nest
from .graph import FuncGraph, control_dependencies
from .operation import Operation
from .shapes import narrow

_stateful = {}


def is_stateful(graph):
    """Whether the graph contains a stateful op."""
    for k in range(graph._nodes()):
        op = graph._node(k)[0]
        known = _stateful.get(op)
        if known is None:
            known = _stateful[op] = bool(_core.describe_op(op)["stateful"])
        if known:
            return True
    return False


class Body:
    """One traced function: its graph, the structure it returned (`result`), the leaves of that structure (`flat`), and those
    of the leaves that are not None (`tensors`)."""

    __slots__ = ("graph", "inputs", "result", "flat", "tensors")

    def __init__(self, name, runs_all=None):
        """`runs_all`: whether the ops with side effects run that no result depends on. By default this is as in the graph
        around: all of them run in a function, none in a graph of TensorFlow 1."""
        around = _core.current_graph()
        self.graph = FuncGraph(name, around)
        self.graph.runs_all = runs_all if runs_all is not None else around is None or around.runs_all
        self.inputs = []

    def __enter__(self):
        entered = self.graph._enter_scope()
        self.flat = entered  # the field holds the scope's token while the body is traced
        return self

    def __exit__(self, *unused):
        entered, self.flat = self.flat, None
        self.graph._leave_scope(entered)
        return False

    def placeholder(self, dtype, dims):
        """Adds a parameter. `dims` are its sizes, or a tensor whose dtype and shape it takes."""
        made = self.graph._placeholder_like(dims) if isinstance(dims, _core.Tensor) else self.graph._placeholder(dtype, dims)
        self.inputs.append(made)
        return made

    def placeholder_row(self, tensor):
        """Adds a parameter for one row (a slice along the first axis) of a tensor."""
        made = self.placeholder(tensor.dtype, _core.static_shape(tensor)[1:])
        narrow(made, tensor.shape[1:])
        return made

    def finish(self, result):
        """Stores what the function returned. Called after the graph's scope has ended."""
        self.result = result
        self.flat = nest.flatten(result, expand_composites=True)
        self.tensors = [t for t in self.flat if t is not None]


def as_result(result, for_ops=None):
    """Converts the leaves of a traced function's result to tensors of its graph; None stays None. An op becomes a copy of the
    tensor `for_ops` with the op as a control input, or None if `for_ops` is None."""
    return nest.map_structure(functools.partial(_leaf, _core.current_graph(), for_ops), result)


def _leaf(graph, for_ops, value):  # a recursive closure would be a reference cycle that keeps the graph alive
    if value is None:
        return None
    if isinstance(value, _core.Tensor):
        edge = value._edge
        if edge is None:
            return _core.raw.Identity(value)
        return value if edge[0] is graph else graph._import(value)
    if isinstance(value, Operation):
        if for_ops is None:
            return None
        with control_dependencies([value]):
            return _core.raw.Identity(for_ops)
    if nest._opens(value):
        flat = [_leaf(graph, for_ops, v) for v in nest.flatten(value, expand_composites=True)]
        return nest.pack_sequence_as(value, flat, expand_composites=True)
    return _leaf(graph, for_ops, _core.convert(value))


def trace(name, function, *args, for_ops=None):
    """Traces a function into a Body, which captures the tensors it uses from outside."""
    body = Body(name)
    with body:
        result = as_result(function(*args), for_ops)
        body.tensors = None
    body.finish(result)
    return body


def close(bodies, outputs):
    """Gives all bodies the same parameters: their own, then the captures of all bodies. Returns the captured tensors."""
    first = bodies[0].graph
    captured = first._captures()
    seen = {first._import(t)._edge[1] for t in captured}
    for body in bodies[1:]:
        for tensor in body.graph._captures():
            node = first._import(tensor)._edge[1]  # one parameter per tensor, even if several bodies capture it
            if node not in seen:
                seen.add(node)
                captured.append(tensor)
    for body, out in zip(bodies, outputs):
        graph = body.graph
        graph._finish(body.inputs + [graph._import(t) for t in captured], out)
        if not graph.runs_all and is_stateful(graph):
            body.graph = graph._fetched()
    return captured


def pack(like, tensors):
    """Packs tensors into the structure of a Body's result."""
    rest = iter(tensors)
    flat = [None if t is None else next(rest) for t in like.flat]
    return nest.pack_sequence_as(like.result, flat, expand_composites=True)


def scalar(value, where):
    """Converts a predicate to a scalar. A tensor of any rank is accepted if it has one element."""
    value = _core.convert(value)
    dims = _core.static_shape(value)
    if dims == ():
        return value
    if dims is not None and any(d not in (1, None) for d in dims):
        raise errors.InvalidGraphError(f"{where} must be a scalar, but it has shape {list(dims)}")
    return _core.raw.Reshape(value, np.zeros([0], np.int32))
