"""tf.while_loop.

Eagerly it is a Python loop. While a graph is being built, condition and body are traced into function graphs
and one While node runs them. Tensors that they capture become further loop variables, which the body returns
unchanged.
"""
from . import _core, dtypes, nest
from .control_graphs import Body, as_result, close, is_stateful, scalar
from .namespace import export
from .shapes import TensorShape
from .specs import TypeSpec

raw = _core.raw


@export("while_loop")
def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               maximum_iterations=None, name=None):
    """Repeats `loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` is true, and returns the last `loop_vars`.
    The variables may be any structure. In a graph, a variable must keep its dtype and its shape, unless `shape_invariants`
    gives a less specific shape. `back_prop` and `swap_memory` have no effect."""
    if not callable(cond):
        raise TypeError("'cond' must be callable.")
    if not callable(body):
        raise TypeError("'body' must be callable.")
    if parallel_iterations < 1:
        raise TypeError("'parallel_iterations' must be a positive integer.")
    if isinstance(loop_vars, _core.Tensor) or not loop_vars:
        raise ValueError("'loop_vars' must be provided.")
    if _core.executing_eagerly():
        return _run(cond, body, loop_vars, maximum_iterations)
    return _build(cond, body, loop_vars, shape_invariants, maximum_iterations, name)


def _as_sequence(result, count):
    """The result of a body as a sequence of loop variables."""
    if isinstance(result, (list, tuple)) and not nest.is_namedtuple(result):
        return result
    if count == 1 or result is None:
        return (result,)
    return result if isinstance(result, (list, tuple)) else (result,)


def _run(cond, body, loop_vars, maximum_iterations):
    """The loop, run eagerly."""
    count = len(loop_vars)
    left = None if maximum_iterations is None else int(maximum_iterations)
    while cond(*loop_vars) if left is None else raw.LogicalAnd(left > 0, cond(*loop_vars)):
        result = _as_sequence(body(*loop_vars), count)
        if left is None or count == 1:
            nest.assert_same_structure(list(loop_vars), list(result))
        else:  # TensorFlow then compares the whole structure, in which a list differs from a tuple
            nest.assert_same_structure(loop_vars, result)
        loop_vars = result
        if left is not None:
            left -= 1
    return nest.map_structure(_core.convert, loop_vars, expand_composites=True)


# ---- in a graph ----------------------------------------------------------------------------------------


def _flat_invariants(loop_vars, invariants):
    """For each plain tensor of the loop variables, the dims that it keeps in all iterations, or a tensor that has them."""
    if invariants is None:
        return nest.flatten(loop_vars, expand_composites=True)
    nest.assert_same_structure(list(loop_vars), _no_shapes(list(invariants)))
    dims = []
    variables = nest.flatten(loop_vars)
    given = nest.flatten_up_to(list(loop_vars), list(invariants), check_types=False)
    for variable, shape in zip(variables, given):
        if isinstance(shape, TypeSpec):
            dims.extend(s.shape._dims for s in nest.flatten(shape, expand_composites=True))
        elif nest._opens(variable):
            if hasattr(variable, "_flow_of"):  # a TensorArray is one scalar variant
                dims.append(())
            else:
                spec = variable._shape_invariant_to_type_spec(TensorShape(shape))
                dims.extend(s.shape._dims for s in nest.flatten(spec, expand_composites=True))
        else:
            dims.append(_as_bound(variable, TensorShape(shape)))
    return dims


def _kept(loop_vars, invariants):
    """The loop variables, but the spec that holds in all iterations in place of each composite tensor with an invariant. Tensors
    are packed into it, so that they do not take on the shape of the first iteration."""
    if invariants is None:
        return loop_vars

    def spec(variable, shape):
        if isinstance(shape, TypeSpec) or not nest._opens(variable) or hasattr(variable, "_flow_of"):
            return shape if nest._opens(shape) else variable
        return variable._shape_invariant_to_type_spec(TensorShape(shape))

    given = nest.flatten_up_to(list(loop_vars), list(invariants), check_types=False)
    return nest.pack_sequence_as(loop_vars, [spec(v, s) for v, s in zip(nest.flatten(loop_vars), given)])


def _as_bound(variable, shape):
    """A shape invariant: the variable itself if the shape is its own, else the dims of the shape."""
    return variable if shape._of is variable and shape.rank == variable.ndim else shape._dims


def _no_shapes(structure):
    """The structure with every TensorShape and TypeSpec replaced by a leaf, as both can be iterated over."""
    if isinstance(structure, (TensorShape, TypeSpec)):
        return 0
    if isinstance(structure, dict):
        return type(structure)((k, _no_shapes(v)) for k, v in structure.items())
    if nest.is_namedtuple(structure):
        return type(structure)(*[_no_shapes(v) for v in structure])
    if isinstance(structure, (list, tuple)):
        return type(structure)(_no_shapes(v) for v in structure)
    return 0


def text_of(bound):
    """A shape invariant, or the shape of a tensor, as text for a message."""
    dims = _core.seen_shape(bound) if isinstance(bound, _core.Tensor) else bound
    return "<unknown>" if dims is None else str(tuple(dims))


def _check_turn(before, after, bounds):
    """Raises an error if an iteration changes the dtype of a loop variable, or its shape beyond its shape invariant."""
    for k, (old, new, bound) in enumerate(zip(before, after, bounds)):
        if old.dtype != new.dtype:
            raise TypeError(f"Loop var {k} enters the loop with type {old.dtype!r} but has type {new.dtype!r} after 1 "
                            "iteration. Its type should remain constant.")
        if not _core.shape_fits(new, bound):
            raise ValueError(f"Input tensor `{k}` enters the loop with shape {text_of(bound)}, but has shape "
                             f"{text_of(new)} after one iteration. To allow the shape to vary across "
                             "iterations, use the `shape_invariants` argument of tf.while_loop to specify a "
                             "less-specific shape.")


def _build(cond, body, loop_vars, invariants, maximum_iterations, name):
    def start(value):
        if value is None:
            raise ValueError("None values not supported.")
        return value if isinstance(value, _core.Tensor) else _core.convert(value)

    loop_vars = nest.map_structure(start, loop_vars, expand_composites=True)
    flat = nest.flatten(loop_vars, expand_composites=True)
    bounds = _flat_invariants(loop_vars, invariants)
    counted = maximum_iterations is not None
    if counted:
        limit = raw.Cast(scalar(maximum_iterations, "maximum_iterations"), dtypes.int32)
        flat = [_core.convert(0, dtypes.int32)] + flat
        bounds = [()] + bounds
    loop_vars = _kept(loop_vars, invariants)
    test = _trace_cond(cond, loop_vars, flat, bounds, limit if counted else None)
    turn = _trace_body(body, loop_vars, flat, bounds, counted)
    _check_turn(flat[counted:], turn.tensors[counted:], bounds[counted:])
    return _node(test, turn, loop_vars, flat, counted, name)


def _parameters(graph, loop_vars, flat, bounds, counted):
    inputs = [graph.placeholder(t.dtype, b) for t, b in zip(flat, bounds)]
    return inputs, nest.pack_sequence_as(loop_vars, inputs[counted:], expand_composites=True)


def _trace_cond(cond, loop_vars, flat, bounds, limit):
    test = Body("while_cond")
    with test:
        inputs, variables = _parameters(test, loop_vars, flat, bounds, limit is not None)
        go_on = scalar(cond(*variables), "the condition of tf.while_loop")
        if limit is not None:
            go_on = raw.LogicalAnd(raw.Less(inputs[0], limit), raw.Cast(go_on, dtypes.bool))
    test.finish(go_on)
    return test


def _trace_body(body, loop_vars, flat, bounds, counted):
    turn = Body("while_body")
    with turn:
        inputs, variables = _parameters(turn, loop_vars, flat, bounds, counted)
        result = _as_sequence(body(*variables), len(loop_vars))
        nest.assert_same_structure(list(result), list(variables))
        result = as_result(result)
        out = nest.flatten(result, expand_composites=True)
        if any(t is None for t in out):
            raise ValueError("None values not supported.")
        if counted:
            out = [raw.AddV2(inputs[0], 1)] + out
    turn.finish(out)
    return turn


def _node(test, turn, loop_vars, flat, counted, name):
    for tensor in test.graph._captures():
        turn.graph._import(tensor)
    kept = turn.graph._captures()
    unchanged = [turn.graph._import(t) for t in kept]
    close([turn, test], [turn.tensors + unchanged, test.tensors])
    op = raw.While if is_stateful(turn.graph) or is_stateful(test.graph) else raw.StatelessWhile
    node = op(flat + kept, test.graph, turn.graph, name=name)
    return nest.pack_sequence_as(loop_vars, node[counted:len(flat)], expand_composites=True)
