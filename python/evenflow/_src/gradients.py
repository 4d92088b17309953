"""Gradients other than those of a tape: tf.custom_gradient, tf.recompute_grad, tf.gradients and tf.hessians."""
import functools
import inspect
import traceback

from . import _core, errors, nest
from .composite import CompositeTensor, IndexedSlices
from .jacobians import rows
from .namespace import export
from .outer_gradients import add_outer
from .tape import (GradientTape, UnconnectedGradients, flowing_part, flows, is_variable, key_of, registered, result_of,
                   shaped_like, wants_zeros, zeros_for)
from .variable import by_handle

raw = _core.raw


# ---- a user's own -------------------------------------------------------------------------------------------


def _part(value):
    """The tensor of an argument or result that a gradient can belong to."""
    return flowing_part(value) if isinstance(value, CompositeTensor) and not is_variable(value) else value


def _read(value):
    """Reads an object that wraps a variable, as those of Keras do. The gradient flows through the read to the variable."""
    return _core.convert(value) if is_variable(value) and not isinstance(value, _core.VariableBase) else value


class _Watcher:
    """A context manager that records which trainable variables are used inside."""

    def __enter__(self):
        self._tape = _core.Tape(False, True, True)
        return self

    def __exit__(self, *unused):
        self._tape.stop()
        return False

    def variables(self):
        """The variables, in the order of first use."""
        found = (by_handle(h) for h in self._tape.watched())
        return [v for v in found if v is not None]


def _takes_variables(grad_fn):
    try:
        spec = inspect.getfullargspec(grad_fn)
    except TypeError:  # not a Python function, so its parameters are unknown
        return True
    return "variables" in spec.args or "variables" in spec.kwonlyargs or spec.varkw is not None


def _given(gradient, want):
    """A gradient that the user's function returned, as the engine takes it: None, a tensor, or a triple if it is sparse."""
    if gradient is None:
        return None
    if isinstance(gradient, IndexedSlices):
        shape = gradient.dense_shape
        shape = raw.Shape(_core.convert(want)) if shape is None else _core.convert(shape)
        return _core.convert(gradient.values), _core.convert(gradient.indices), shape
    return _core.convert(gradient)


def _checked(grad_fn, variables, n_args, grads):
    """Calls the user's gradient function and returns the gradients of the arguments and variables in one list."""
    variable_grads = []
    if variables:
        got = grad_fn(*grads, variables=variables)
        if not isinstance(got, (tuple, list)) or len(got) != 2:
            raise ValueError("the gradient function of a tf.custom_gradient that uses variables returns "
                             "(gradients of the arguments, gradients of the variables)")
        input_grads, variable_grads = got
        variable_grads = list(variable_grads)
        if len(variable_grads) != len(variables):
            raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn: "
                             f"{len(variables)} are used, {len(variable_grads)} gradients came.")
    else:
        input_grads = grad_fn(*grads)
    flat = nest.flatten(input_grads)
    if len(flat) != n_args:
        raise ValueError(f"custom_gradient function expected to return {n_args} gradients, but returned {len(flat)} "
                         "instead.")
    return flat + variable_grads


@export("custom_gradient")
def custom_gradient(f=None):
    """Decorates a function that defines its own gradient: `f(*args)` returns (result, grad_fn), and `grad_fn` maps the
    gradients of the result to those of the arguments. If `f` uses variables, `grad_fn` takes `variables=` and also returns
    a second list: the gradients of the variables."""
    return custom_gradient if f is None else _Own(f)


class _Own:
    """A function with a custom gradient. As an attribute of a class it becomes a method, and `self` is not one of the
    arguments that have gradients."""

    def __init__(self, function):
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return _with_gradient(self._function, args, kwargs)

    def __get__(self, instance, owner=None):
        return self if instance is None else _Own(self._function.__get__(instance, owner))


def _with_gradient(f, args, kwargs, forget=False):
    """Calls `f` and attaches the returned gradient function to its result. With `forget`, no tape records the ops inside."""
    args = nest.map_structure(_read, args)
    suspended = _core.suspend() if forget and _core.executing_eagerly() else None
    try:
        with _Watcher() as watcher:
            made = f(*args, **kwargs)
    finally:
        if suspended is not None:
            _core.resume(suspended)
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        raise ValueError("a function under tf.custom_gradient returns (result, gradient function)")
    result, grad_fn = made
    flat_args = [_part(a) for a in nest.flatten(args)]
    given = flat_args + [_part(a) for a in nest.flatten(kwargs)]
    variables = [v for v in watcher.variables() if not any(v is a for a in given)]
    if variables and not _takes_variables(grad_fn):
        raise TypeError("@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function uses "
                        f"variables: {variables}")
    leaves = nest.flatten(result)
    outputs = [_core.convert(_part(leaf)) for leaf in leaves]
    inputs = [key_of(a) if _is_tensor(a) else _core.convert(a) for a in flat_args] + [v.handle for v in variables]
    likes = list(flat_args) + variables

    def backward(grads):
        grads = [zeros_for(o) if g is None and flows(o.dtype) else g
                 for g, o in zip(grads, outputs)]
        def user():
            made = _checked(grad_fn, variables, len(flat_args), _as_result(leaves, grads))
            return [_given(g, like) for g, like in zip(made, likes)]

        try:
            return user()
        except Exception as e:
            if _core.executing_eagerly() or not _again_fails(user, type(e)):
                raise
            return _failing(e, grads, inputs, likes)

    carrying = _core.custom_gradient(inputs, outputs, backward)
    return nest.pack_sequence_as(result, _as_result(leaves, carrying))


def _again_fails(function, kind):
    """Whether a function raises the same exception again. It does not if a signal or a lack of memory was the cause."""
    if issubclass(kind, (MemoryError, errors.ResourceExhaustedError, errors.CancelledError)):
        return False
    try:
        function()
    except kind:
        return True
    return False


def _failing(error, grads, inputs, likes):
    """Gradients that raise `error` when they are computed. In a graph, gradients are built before it is known whether the
    program uses them; a program that does not must not see the error."""
    at = traceback.extract_tb(error.__traceback__)[-1]
    if hasattr(error, "add_note"):  # since Python 3.11
        error.add_note(f"in the gradient function of a tf.custom_gradient: File \"{at.filename}\", line {at.lineno}, in {at.name}")
    error.__context__ = error.__cause__ = None  # their tracebacks keep the graph alive

    def fail(tensors):
        raise error.with_traceback(None)

    gradients = [None] * len(inputs)
    for k, (tensor, like) in enumerate(zip(inputs, likes)):
        value = like if is_variable(like) else tensor
        if flows(value.dtype):
            shape = value.shape.as_list() if value.shape.is_fully_defined() else None
            [gradients[k]] = _core.callback(fail, [g for g in grads if g is not None], [value.dtype], [shape], True)
    return gradients


def _is_tensor(value):
    return isinstance(value, _core.CoreTensor)


def _as_result(leaves, parts):
    """`parts`, each wrapped in a composite tensor like its leaf if the leaf is one."""
    made = []
    for leaf, part in zip(leaves, parts):
        if isinstance(leaf, IndexedSlices) and part is not None:
            part = IndexedSlices(part, leaf.indices, leaf.dense_shape)
        elif isinstance(leaf, CompositeTensor) and not is_variable(leaf) and part is not None:
            part = leaf.with_flat_values(part) if hasattr(leaf, "with_flat_values") else leaf.with_values(part)
        made.append(part)
    return made


@export("grad_pass_through")
def grad_pass_through(f):
    """Wraps `f` so that its gradient is that of the identity function."""

    @custom_gradient
    def passing(*args, **kwargs):
        def backward(*grads, **variables):
            wanted = variables.get("variables")
            if wanted is not None:
                return grads, [None] * len(wanted)
            return grads

        return f(*args, **kwargs), backward

    return functools.wraps(f)(lambda *args, **kwargs: passing(*args, **kwargs)) if hasattr(f, "__name__") else passing


@export("recompute_grad")
def recompute_grad(f):
    """Wraps `f` so that its intermediate values are not kept for the gradient but computed again."""

    def with_backward(*args, **kwargs):
        def backward(*grads, variables=None):
            used = list(variables or ())
            with GradientTape(persistent=False) as tape:
                again = nest.map_structure(lambda a: raw.Identity(a) if _is_tensor(a) else a, args)
                tape.watch([a for a in nest.flatten(again) if _flows(a)])
                if used:
                    tape.watch(used)
                result = f(*again, **kwargs)
            sources = nest.flatten(again)
            live = [k for k, a in enumerate(sources) if _flows(a)]
            found = tape.gradient(result, [sources[k] for k in live] + used, output_gradients=list(grads),
                                  unconnected_gradients=UnconnectedGradients.ZERO)
            flat = [None] * len(sources)
            for k, gradient in zip(live, found):
                flat[k] = gradient
            flat = nest.pack_sequence_as(again, flat) if sources else []
            return (flat, found[len(live):]) if used else flat

        return f(*args, **kwargs), backward

    @functools.wraps(f)
    def recomputing(*args, **kwargs):
        return _with_gradient(with_backward, args, kwargs, forget=True)

    return recomputing


def _flows(value):
    return _is_tensor(value) and flows(value.dtype)


@export("nondifferentiable_batch_function")
def nondifferentiable_batch_function(num_batch_threads, max_batch_size, batch_timeout_micros,
                                     allowed_batch_sizes=None, max_enqueued_batches=10, autograph=True,
                                     enable_large_batch_splitting=True):
    """Decorates a function whose concurrent calls a server may batch. Here each call runs on its own."""
    def mark(fn):
        @functools.wraps(fn)
        def alone(*args):
            return nest.map_structure(_core.raw.StopGradient, fn(*args))

        return alone

    return mark


# ---- of graphs ------------------------------------------------------------------------------------------------


def _in_graph(value, graph):
    """A target or source as a tensor of the graph; for a variable, its handle."""
    value = _part(value)
    if is_variable(value):
        value = value.handle
    elif not isinstance(value, _core.Tensor):
        value = _core.convert(value)
    return value


def _one_each(grad_ys, count):
    """A list with the output gradient of each target. An item of the list may itself be a list of numbers."""
    if not isinstance(grad_ys, (list, tuple)):
        grad_ys = [grad_ys]
    given = list(grad_ys) if len(grad_ys) == count else nest.flatten(grad_ys)
    if len(given) != count:
        raise ValueError(f"Passed {len(given)} grad_ys for {count} ys")
    return given


@export("gradients")
def gradients(ys, xs, grad_ys=None, name="gradients", gate_gradients=False, aggregation_method=None,
              stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
    """A list with the gradient of the sum of `ys` for each x of `xs`. Only in graphs and functions."""
    if _core.executing_eagerly():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
                           "instead.")
    zero = wants_zeros(unconnected_gradients)
    graph = _core.current_graph()
    targets, seeds = [], []
    flat = nest.flatten(ys)
    given = None if grad_ys is None else _one_each(grad_ys, len(flat))
    for k, y in enumerate(flat):
        seed = given[k] if given is not None else None
        if isinstance(y, CompositeTensor):
            y, seed = _part(y), _part(seed)
        y = _core.convert(y) if is_variable(y) else _in_graph(y, graph)
        targets.append(y)
        seeds.append(None if seed is None else _core.convert(seed, y.dtype))
    sources = nest.flatten(xs)
    keys = [_in_graph(x, graph) for x in sources]
    stops = [_in_graph(s, graph) for s in nest.flatten(stop_gradients)] if stop_gradients is not None else []
    found = registered(_core.graph_gradients, targets, seeds if given is not None else None, keys, stops)
    found = add_outer(targets, seeds if given is not None else None, keys, stops, [result_of(g) for g in found])
    if zero:
        found = [zeros_for(x) if g is None else g for g, x in zip(found, sources)]
    return [shaped_like(x, g) for x, g in zip(sources, found)]


@export("hessians")
def hessians(ys, xs, gate_gradients=False, aggregation_method=None, name="hessians"):
    """A list with the Hessian of the sum of `ys`, of shape `x.shape + x.shape`, for each x of `xs`. Only in graphs and
    functions."""
    found = []
    for x in nest.flatten(xs):
        first = gradients(ys, x)[0]
        source = _core.convert(x) if is_variable(x) else x
        if first is None:
            raise ValueError("hessians: y does not depend on x, so there is nothing to differentiate twice")
        [hessian] = rows(_core.convert(first), [_in_graph(x, None)],
                         lambda y, seed, keys: [result_of(g) for g in registered(_core.graph_gradients, [y], [seed], keys, [])])
        if hessian is None:
            shape = raw.Shape(source)
            hessian = raw.Fill(raw.ConcatV2([shape, shape], 0), _core.convert(0, source.dtype))
        found.append(hessian)
    return found
