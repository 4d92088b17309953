"""Control flow with the arguments of TensorFlow 1."""
import builtins
import contextlib

from ... import _core, control, dtypes, functional, graph as graphs, loops, py_function
from ...composite import IndexedSlices
from ...namespace import export, offer
from ._reductions import either
from ._scopes import variable_scope
from ._switches import control_flow_v2_enabled

raw = _core.raw


@export("compat.v1.cond")
def cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    """Returns true_fn() if `pred`, else false_fn(). Without control flow v2, a list with one result becomes that result."""
    if None not in (true_fn, fn1) or None not in (false_fn, fn2):
        raise TypeError("cond(): 'true_fn' and 'fn1', or 'false_fn' and 'fn2', may not be set simultaneously.")
    true_fn, false_fn = true_fn or fn1, false_fn or fn2
    for word, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        if function is None:
            raise TypeError(f"cond(): '{word}' argument required")
        if not callable(function):
            raise TypeError(f"'{word}' must be callable.")

    def opened(function):
        def call():
            result = function()
            one = not strict and type(result) in (list, builtins.tuple) and len(result) == 1
            return result[0] if one and not control_flow_v2_enabled() else result
        return call

    return control.cond(pred, opened(true_fn), opened(false_fn), name=name)


@export("compat.v1.while_loop")
def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,  # noqa: A002
               swap_memory=False, name=None, maximum_iterations=None, return_same_structure=False):
    """Repeats `body` while `cond` is true. A single loop variable is returned without a list."""
    results = loops.while_loop(cond, body, loop_vars, shape_invariants=shape_invariants,
                               parallel_iterations=parallel_iterations, maximum_iterations=maximum_iterations, name=name)
    if not return_same_structure and type(results) in (list, builtins.tuple) and len(results) == 1:
        return results[0]
    return results


@export("compat.v1.case")
def case(pred_fn_pairs, default=None, exclusive=False, strict=False, name="case"):
    """Calls the function of the first true predicate."""
    return control.case(pred_fn_pairs, default=default, exclusive=exclusive, strict=strict, name=name)


@export("compat.v1.map_fn")
def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None, fn_output_signature=None):
    """Applies `fn` to each row of `elems` and stacks the results."""
    signature = fn_output_signature if fn_output_signature is not None else dtype
    return functional.map_fn(fn, elems, parallel_iterations=parallel_iterations, infer_shape=infer_shape, name=name,
                             fn_output_signature=signature)


def _folding(word):
    def fold(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, name=None):
        return getattr(functional, word)(fn, elems, initializer=initializer,
                                         parallel_iterations=parallel_iterations, name=name)

    fold.__name__ = word
    fold.__doc__ = f"tf.{word}: combines all rows of `elems` with `fn`."
    return offer(fold, f"compat.v1.{word}")


foldl = _folding("foldl")
foldr = _folding("foldr")


@export("compat.v1.scan")
def scan(fn, elems, initializer=None, parallel_iterations=10, back_prop=True, swap_memory=False, infer_shape=True,
         reverse=False, name=None):
    """Combines the rows of `elems` with `fn` and stacks all intermediate results."""
    return functional.scan(fn, elems, initializer=initializer, parallel_iterations=parallel_iterations,
                           infer_shape=infer_shape, reverse=reverse, name=name)


@export("compat.v1.tuple")
def _tuple(tensors, name=None, control_inputs=None):
    """The tensors, available only when all of them have been computed."""
    return tuple(tensors, control_inputs, name)


@export("tuple")
def tuple(tensors, control_inputs=None, name=None):  # noqa: A001
    """The tensors, available only when all of them and the control inputs have been computed."""
    if _core.current_graph() is None:
        return tensors
    needed = [t for t in tensors if t is not None]
    if not needed:
        raise ValueError("Must have at least one Tensor")
    with graphs.control_dependencies([graphs.group(*needed, *(control_inputs or ()))]):
        return [_after(t) for t in tensors]


def _after(tensor):
    if isinstance(tensor, IndexedSlices):
        return IndexedSlices(raw.Identity(tensor.values), tensor.indices, tensor.dense_shape)
    if tensor is None or isinstance(tensor, graphs.Operation):
        return tensor
    return raw.Identity(_core.convert(tensor))


@export("compat.v1.with_dependencies")
def with_dependencies(dependencies, output_tensor, name=None):
    """The tensor, after the dependencies have run."""
    with graphs.control_dependencies(dependencies):
        return raw.Identity(_core.convert(output_tensor), name=name)


@export("compat.v1.Print")
def Print(input_, data, message=None, first_n=None, summarize=None, name=None):  # noqa: N802
    """Returns `input_`. When the op runs, it prints `data`."""
    return raw.Print(_core.convert(input_), [_core.convert(d) for d in data], message=message or "",
                     first_n=-1 if first_n is None else first_n, summarize=3 if summarize is None else summarize,
                     name=name)


@export("compat.v1.py_func")
def py_func(func, inp, Tout, stateful=True, name=None):  # noqa: N803
    """Calls a Python function with numpy arrays when the op runs."""
    return py_function.numpy_function(func, inp, Tout, stateful=stateful, name=name)


@export("compat.v1.colocate_with")
def colocate_with(op, ignore_existing=False):
    """Does nothing, because there is one device."""
    return contextlib.nullcontext()


@export("compat.v1.container")
def container(container_name):
    """Does nothing: each session has its own resources."""
    return contextlib.nullcontext(container_name)


@export("compat.v1.add_check_numerics_ops")
def add_check_numerics_ops():
    """An op that fails if any float tensor of the graph made so far is not finite."""
    graph = graphs.get_default_graph()
    checks = []
    for op in graph.get_operations():
        for tensor in op.outputs:
            if tensor.dtype in (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16):
                checks.append(raw.CheckNumerics(tensor, message=f"{op.name}:{tensor.value_index}"))
    return graphs.group(*checks)


@export("compat.v1.make_template")
def make_template(name_, func_, create_scope_now_=False, unique_name_=None, custom_getter_=None, **kwargs):
    """Wraps a function so that its first call creates its variables and all later calls share them."""
    state = {"scope": None}

    def call(*args, **more):
        more = dict(kwargs, **more)
        if state["scope"] is None:
            with variable_scope(unique_name_, default_name=name_, custom_getter=custom_getter_) as scope:
                state["scope"] = scope
                return func_(*args, **more)
        with variable_scope(state["scope"], reuse=True):
            return func_(*args, **more)

    if create_scope_now_:
        with variable_scope(unique_name_, default_name=name_, custom_getter=custom_getter_) as made:
            state["scope"] = made
    call.__name__ = name_
    return call
