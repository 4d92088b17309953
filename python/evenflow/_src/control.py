"""Branches: tf.cond, tf.case, tf.switch_case.

Eagerly the chosen function is simply called. While a graph is being built, every function is traced into a
function graph of its own, and one node selects the graph to run.
"""
from . import _core, dtypes, graph as graphs, nest
from .control_graphs import close, is_stateful, pack, scalar, trace
from .composite import IndexedSlices
from .namespace import export
from .ops.debug import Assert

raw = _core.raw


def _match_indices(bodies):
    """Casts the indices of IndexedSlices to int64 in all branches if one branch returns int32 indices and another int64."""
    flat = [nest.flatten(b.result) for b in bodies]
    if len({len(f) for f in flat}) > 1:
        return
    for k, slices in enumerate(zip(*flat)):
        if not all(isinstance(s, IndexedSlices) for s in slices) or len({s.indices.dtype for s in slices}) == 1:
            continue
        for body, values, given in zip(bodies, flat, slices):
            if given.indices.dtype == dtypes.int32:
                with body:
                    indices = raw.Cast(given.indices, dtypes.int64)
                values[k] = IndexedSlices(given.values, indices, given.dense_shape)
                body.finish(nest.pack_sequence_as(body.result, values))


def _same_results(bodies, names, where):
    """Raises an error unless all branches return the same structure with the same dtypes."""
    _match_indices(bodies)
    first = bodies[0]
    for body, name in zip(bodies[1:], names[1:]):
        if bool(first.tensors) != bool(body.tensors):
            raise ValueError(f"Lengths of branch outputs of {where} must match: {names[0]} returns "
                             f"{len(first.tensors)} tensors and {name} returns {len(body.tensors)}.")
        why = None
        try:
            nest.assert_same_structure(first.result, body.result, expand_composites=True)
        except (TypeError, ValueError) as e:
            why = str(e)
        if why is None:
            for a, b in zip(first.flat, body.flat):
                if (a is None) != (b is None) or (a is not None and a.dtype != b.dtype):
                    why = f"{a} and {b} have different types"
                    break
        if why is not None:
            raise TypeError(f"{names[0]} and {name} arguments to tf.{where} must have the same number, type, and overall "
                            f"structure of return values.\n\n{names[0]} output: {first.result}\n{name} output: "
                            f"{body.result}\n\nError details:\n{why}")


def _result(node, body):
    """The outputs of the node, packed into the structure that the branches returned."""
    return pack(body, node) if body.tensors else body.result


def _branch_dtypes(body):
    return [t.dtype for t in body.tensors]


def _build_cond(pred, true_fn, false_fn, name):
    chooses = _predicate(pred)
    given = _core.convert(pred)
    bodies = [trace("cond_true", true_fn, for_ops=given), trace("cond_false", false_fn, for_ops=given)]
    _same_results(bodies, ("true_fn", "false_fn"), "cond")
    return build_branches(chooses, bodies[0], bodies[1], name)


def build_branches(pred, true_body, false_body, name=None):
    """Adds a node that runs one of two traced bodies and returns its result. Both must return the same structure."""
    bodies = [true_body, false_body]
    captured = close(bodies, [b.tensors for b in bodies])
    op = raw.If if is_stateful(true_body.graph) or is_stateful(false_body.graph) else raw.StatelessIf
    node = op(pred, captured, _branch_dtypes(true_body), true_body.graph, false_body.graph, name=name)
    return _result(node, true_body)


def _predicate(pred):
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    return scalar(pred, "the predicate of tf.cond")


@export("cond")
def cond(pred, true_fn=None, false_fn=None, name=None):
    """Returns `true_fn()` if `pred` is true, else `false_fn()`. In a graph both are traced and one is run; they must return
    the same structure of tensors. Where a function returns an op, the result has the value of `pred` instead."""
    for fn, which in ((true_fn, "true_fn"), (false_fn, "false_fn")):
        if fn is None:
            raise TypeError(f"cond(): '{which}' argument required")
        if not callable(fn):
            raise TypeError(f"'{which}' must be callable.")
    if pred is None:
        raise ValueError("cond(): 'pred' must be a boolean, not None")
    if _core.executing_eagerly():
        if not isinstance(pred, bool):
            pred = _core.convert(pred).numpy()
        return true_fn() if pred else false_fn()
    return _build_cond(pred, true_fn, false_fn, name)


@export("__internal__.smart_cond.smart_cond")
def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """tf.cond that calls only one function if the value of `pred` is known at trace time."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("`true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name)
    return true_fn() if known else false_fn()


def smart_constant_value(pred):
    """True or False if `pred` is a Python value or a tensor whose value is known at trace time, else None."""
    if isinstance(pred, _core.CoreTensor):
        value = _core.static_value(_core.convert(pred))
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead type: {type(pred)}")


# ---- case ------------------------------------------------------------------------------------------------


def _pairs(pred_fn_pairs):
    if isinstance(pred_fn_pairs, dict):
        pred_fn_pairs = list(pred_fn_pairs.items())
    if not isinstance(pred_fn_pairs, (list, tuple)):
        raise TypeError(f"'pred_fn_pairs' must be a list, tuple, or dict. Received: {type(pred_fn_pairs)}")
    if not pred_fn_pairs:
        raise ValueError("'pred_fn_pairs' must have at least one pair")
    for pair in pred_fn_pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"Each entry in 'pred_fn_pairs' must be a 2-tuple. Received {pair}.")
        pred, fn = pair
        if not isinstance(pred, _core.CoreTensor):
            raise TypeError(f"pred must be a Tensor, got: {pred}")
        if pred.dtype != dtypes.bool:
            raise TypeError(f"pred must be Tensor of type bool: {pred!r}")
        if not callable(fn):
            raise TypeError(f"fn for pred {pred!r} must be callable.")
    return list(pred_fn_pairs)


def _check(condition, words, preds):
    return Assert(condition, [words] + list(preds), summarize=len(preds))


def _check_preds(preds, exclusive, has_default):
    """Asserts that the predicates are valid. In a graph, returns the ops that the branches need as control inputs."""
    checks = []
    flags = raw.Pack([_core.convert(p) for p in preds])
    if exclusive:
        others = flags if has_default else flags[:-1]  # without a default, the last branch is the default
        count = raw.Sum(raw.Cast(others, dtypes.int32), 0)
        words = "Input error: exclusive=True: more than 1 conditions evaluated as True:"
        checks.append(_check(count < 2, words, [flags]))
    if not has_default:
        checks.append(_check(raw.Any(flags, 0), "Input error: None of conditions evaluated as True:", [flags]))
    return checks


@export("case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Calls the function of the first true predicate, or `default` if none is true. `exclusive` asserts that at most one
    predicate is true. Without a default, one must be true."""
    pairs = _pairs(pred_fn_pairs)
    if default is not None and not callable(default):
        raise TypeError("default must be callable.")
    checks = []
    if exclusive or default is None:
        checks = _check_preds([p for p, _ in pairs], exclusive, default is not None)
    if default is None:
        default = pairs.pop()[1]
    if _core.executing_eagerly():
        chosen = next((fn for pred, fn in pairs if pred), default)
        result = chosen()
        single = not strict and isinstance(result, (list, tuple)) and len(result) == 1
        return result[0] if single else result
    choice = default
    for pred, fn in reversed(pairs):
        choice = _or_else(pred, fn, choice)
    with graphs.control_dependencies(checks):
        return choice()


def _or_else(pred, fn, otherwise):
    return lambda: cond(pred, fn, otherwise)


# ---- switch_case -------------------------------------------------------------------------------------------


def _indexed(branch_fns, default):
    """The branch functions as a list. The last one is chosen when the index is out of range."""
    if isinstance(branch_fns, dict):
        branch_fns = list(branch_fns.items())
    if not branch_fns:
        raise ValueError("Must provide at least one item in 'branch_fns'")
    if not isinstance(branch_fns, (list, tuple)):
        raise TypeError(f"'branch_fns' must be a list, tuple, or dict. Received: {type(branch_fns)}")
    if all(callable(fn) for fn in branch_fns):
        branch_fns = list(enumerate(branch_fns))
    for item in branch_fns:
        if not isinstance(item, tuple) or len(item) != 2:
            raise TypeError(f"Each entry in 'branch_fns' must be a 2-tuple. Received {item}.")
        key, fn = item
        if not isinstance(key, int):
            raise TypeError(f"key must be a Python `int`, got {type(key)}")
        if not callable(fn):
            raise TypeError(f"fn for key {key} must be callable.")
    keys = [key for key, _ in branch_fns]
    if min(keys) < 0 or max(keys) >= len(keys) or len(set(keys)) < len(keys):
        raise ValueError("branch indices (keys) must form contiguous range of "
                         f"[0 to {len(keys)}) but found {{{','.join(map(str, sorted(keys)))}}}")
    functions = [fn for _, fn in sorted(branch_fns, key=lambda item: item[0])]
    if default is not None:
        if not callable(default):
            raise TypeError("'default' must be callable.")
        functions.append(default)
    return functions


@export("switch_case")
def switch_case(branch_index, branch_fns, default=None, name="switch_case"):
    """Calls the branch number `branch_index`, or `default` (without it, the last branch) if there is no such branch."""
    functions = _indexed(branch_fns, default)
    if not isinstance(branch_index, _core.CoreTensor):
        raise TypeError(f"'branch_index' must be a Tensor, got {type(branch_index)}")
    if not branch_index.dtype.is_integer:
        raise TypeError(f"'branch_index' must be an integer Tensor, got {branch_index.dtype}")
    if _core.executing_eagerly():
        index = int(branch_index)
        return functions[index if 0 <= index < len(functions) else -1]()
    if len(functions) == 1:
        return functions[0]()
    bodies = [trace(f"case_branch{k}", fn, for_ops=branch_index) for k, fn in enumerate(functions)]
    _same_results(bodies, [f"branches[{k}]" for k in range(len(bodies))], "switch_case")
    captured = close(bodies, [b.tensors for b in bodies])
    op = raw.Case if any(is_stateful(b.graph) for b in bodies) else raw.StatelessCase
    node = op(branch_index, captured, _branch_dtypes(bodies[0]), [b.graph for b in bodies], name=name)
    return _result(node, bodies[0])



@export("__internal__.execute_fn_for_device")
def execute_fn_for_device(device_branch_fns, default_fn, name="execute_fn"):
    """Calls the function for the CPU, which runs all ops here, or `default_fn` if there is no function for it."""
    functions = {kind.upper(): fn for kind, fn in device_branch_fns.items()}
    _indexed(list(functions.values()), default_fn)
    return functions.get("CPU", default_fn)()
