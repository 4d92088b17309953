"""Gradients with respect to tensors of outer graphs, around the one being built.

A branch, a loop's body or a function captures the tensors that it uses from outer graphs. If a captured tensor depends on
the source, the gradient is computed in two steps: first by the captured tensor; then the subgraph from the source to the
captured tensor is called again in the inner graph, and this call is differentiated.
"""
from . import _core
from .composite import IndexedSlices
from .tape import flows, registered, result_of


def _same(a, b):
    x, y = a._edge, b._edge
    return x[0] is y[0] and x[1:] == y[1:]


def _whole(gradient):
    gradient = result_of(gradient)
    return _core.convert(gradient) if isinstance(gradient, IndexedSlices) else gradient


def _captured(graph):
    """The captured tensors of a graph that can have a gradient."""
    return [t for t in graph._captures() if _core.is_symbolic(t) and flows(t.dtype)]


def _back(here, around, inputs, pairs):
    """The gradients of the tensors `inputs` of the graph `around`, computed in the graph `here`. `pairs` are (tensor of
    `around`, its gradient in `here`)."""
    part, beside = around._part(inputs, [tensor for tensor, _ in pairs])
    given = [here._import(t) for t in inputs]
    made = part._call(given + [here._import(t) for t in beside])
    return [_whole(g) for g in registered(_core.graph_gradients, made, [d for _, d in pairs], given, [])]


def _by(here, pairs, source):
    """The summands of a source's gradient through the tensors of `pairs`: (outer tensor, its gradient in `here`)."""
    parts, pending = [], list(pairs)
    while pending:  # one graph after the other, outwards
        around = pending[0][0]._edge[0]
        group = [(t, d) for t, d in pending if t._edge[0] is around]
        pending = [(t, d) for t, d in pending if t._edge[0] is not around]
        if source._edge[0] is around:
            parts += _back(here, around, [source], group)
            continue
        outer = _captured(around)
        found = _back(here, around, [around._import(t) for t in outer], group) if outer else []
        for tensor, gradient in zip(outer, found):
            if gradient is not None and _same(tensor, source):
                parts.append(gradient)
            elif gradient is not None:
                pending.append((tensor, gradient))
    return parts


def add_outer(targets, seeds, sources, stops, found):
    """`found`, the gradients of `targets` by `sources`, plus the gradients through captured tensors."""
    here = next((t._edge[0] for t in targets if _core.is_symbolic(t)), None)
    outside = [k for k, s in enumerate(sources) if _core.is_symbolic(s) and s._edge[0] is not here]
    captured = _captured(here) if here is not None and here.building_function and outside else []
    if not captured:
        return found
    inside = [here._import(t) for t in captured]
    given = [_whole(g) for g in registered(_core.graph_gradients, targets, seeds, inside, stops)]
    found = list(found)
    for k in outside:
        pairs = [(t, d) for t, d in zip(captured, given) if d is not None and not _same(t, sources[k])]
        for part in _by(here, pairs, sources[k]):
            if part is not None:
                found[k] = part if found[k] is None else _whole(found[k]) + part
    return found
