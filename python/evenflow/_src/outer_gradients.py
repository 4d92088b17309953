"""Gradients by tensors of the graphs around the one being built.

A branch, a loop's body or a function uses tensors from around it by capturing them. A source that lies outside and leads
to such a tensor is reached in two steps: the gradient by what was captured, then, with the way from the source to it
called once more in here, the gradient of that call.
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
    """What a graph uses of those around it, where something can flow."""
    return [t for t in graph._captures() if _core.is_symbolic(t) and flows(t.dtype)]


def _back(here, around, inputs, pairs):
    """From gradients, in `here`, of tensors of the graph `around`, to those of its `inputs`."""
    part, beside = around._part(inputs, [tensor for tensor, _ in pairs])
    given = [here._import(t) for t in inputs]
    made = part._call(given + [here._import(t) for t in beside])
    return [_whole(g) for g in registered(_core.graph_gradients, made, [d for _, d in pairs], given, [])]


def _by(here, pairs, source):
    """The parts of a source's gradient that come by way of `pairs`, (tensor outside, its gradient in here)."""
    parts, pending = [], list(pairs)
    while pending:  # graph by graph, outwards
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
    """`found`, the gradients of `targets` by `sources`, with what comes by way of captured tensors."""
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
