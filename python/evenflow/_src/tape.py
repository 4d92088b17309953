"""tf.GradientTape, implemented with the tape of the C engine."""
import contextlib
import enum
import logging

from . import _core, errors, nest
from .shapes import agree
from .variable import by_handle
from .composite import CompositeTensor, IndexedSlices
from .graph import plain_graph
from .namespace import export

_log = logging.getLogger("tensorflow")


@export("UnconnectedGradients")
class UnconnectedGradients(enum.Enum):
    """The gradient of a target by a source that it does not depend on: None or zeros."""

    NONE = "none"
    ZERO = "zero"


def wants_zeros(unconnected):
    """Whether unconnected gradients are zeros. Raises ValueError for an invalid value."""
    try:
        return UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}") from None


def is_variable(value):
    """Whether a value is a variable, or an object that wraps one, as those of Keras do."""
    return isinstance(value, _core.VariableBase) or getattr(value, "_should_act_as_resource_variable", False)


def key_of(source):
    """The tensor by which the tape identifies a source: the handle of a variable, or the tensor itself."""
    if isinstance(source, _core.Tensor):
        return source
    if is_variable(source):
        return source.handle
    return _core.convert(source)


def result_of(gradient):
    """Converts a gradient of the engine to None, a Tensor or IndexedSlices."""
    if isinstance(gradient, tuple):
        values, indices, shape = gradient
        return IndexedSlices(values, indices, shape)
    return gradient


def registered(gradients, *args):
    """Calls a gradient function of the engine. An op without a gradient raises LookupError, as in TensorFlow."""
    try:
        return gradients(*args)
    except errors.NotFoundError as e:
        raise LookupError(e.message) from None


def zeros_for(source):
    """The zero gradient of a tensor, a variable or the flat values of a ragged tensor."""
    if hasattr(source, "with_flat_values"):
        source = source.flat_values
    return _core.raw.ZerosLike(_core.convert(source))


def flows(dtype):
    """Whether tensors of this dtype can have gradients."""
    return (dtype.is_floating and dtype.is_numeric) or dtype.is_complex


@export("GradientTape", "autodiff.GradientTape")
class GradientTape(_core.GradientTape):
    """Records ops on watched tensors and variables, and computes gradients of their results.

    Plain calls are implemented in C. This class handles structures, composite tensors and graphs.
    """

    __module__ = "tensorflow.python.eager.backprop"

    def _see_graph(self):
        """Watches the trainable variables of a TensorFlow 1 graph, because the tape does not see reads in it."""
        graph = plain_graph()  # also from inside a branch or a loop's body
        for variable in graph.get_collection("trainable_variables") if graph is not None else ():
            self._tape.watch(key_of(variable))

    @contextlib.contextmanager
    def _ensure_recording(self):
        if self._recording:
            yield
            return
        self._push()
        try:
            yield
        finally:
            self._pop()

    def _watch_any(self, tensor):
        for item in nest.flatten(tensor, expand_composites=True):
            if not isinstance(item, _core.CoreTensor):
                raise ValueError(f"Passed in object {item!r} of type {type(item).__name__!r}, not tf.Tensor or "
                                 "tf.Variable or ExtensionType.")
            if not flows(item.dtype):
                _log.warning("The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", item.dtype)
                continue
            if self._tape is None:
                raise AttributeError("the tape is not recording; watch inside `with tf.GradientTape() as tape:`")
            self._tape.watch(key_of(item))

    def watched_variables(self):
        """The variables used so far, in the order of first use."""
        handles = () if self._last is None else self._last.watched()
        return tuple(v for v in map(by_handle, handles) if v is not None)

    @contextlib.contextmanager
    def stop_recording(self):
        """A context in which nothing is recorded."""
        if not self._recording:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self):
        """Forgets everything recorded so far."""
        if self._tape is not None:
            self._tape.reset()

    def _begin(self):
        """Called before gradients are computed. Raises RuntimeError if the tape is used up; stops a non-persistent tape."""
        if self._tape is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or "
                               "jacobians)")
        if self._recording and not self._persistent:
            self._pop()

    @contextlib.contextmanager
    def _for_rows(self):
        """A context for many gradients that count as one use of the tape."""
        self._begin()
        try:
            yield
        finally:
            self._done()

    def _row(self, target, seed, keys):
        return [result_of(g) for g in registered(self._tape.gradients, [target], [seed], keys)]

    def _gradient_any(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        zero = unconnected_gradients is not UnconnectedGradients.NONE and wants_zeros(unconnected_gradients)
        self._begin()
        if target is None:
            raise TypeError("Argument `target` should be a list or nested structure of Tensors, Variables or "
                            "CompositeTensors to be differentiated, but received None.")
        targets, seeds, variables = _targets(target, output_gradients)
        flat = nest.flatten(sources)
        keys = [_source(s) for s in flat]
        grads = [result_of(g) for g in registered(self._tape.gradients, targets, seeds, keys)]
        if variables or any(g is None for g in grads):
            _itself(targets, seeds, variables, keys, grads)
        if zero:
            grads = [zeros_for(s) if g is None else g for g, s in zip(grads, flat)]
        grads = [shaped_like(s, g) for s, g in zip(flat, grads)]
        self._done()
        return nest.pack_sequence_as(sources, grads)

    def _complete(self, target, sources, grads):
        """The gradients of the engine with sparse ones converted, and with those of sources that are the target itself."""
        grads = [result_of(g) for g in grads]
        _itself([target], None, (), [_source(s) for s in sources], grads)
        return grads

    def _for_loops(self, what, parallel_iterations, vectorize):
        """Raises TensorFlow's errors for a Jacobian whose rows are computed in a loop, which needs a persistent tape."""
        if self._persistent:
            return
        if not vectorize and _core.executing_eagerly():
            raise RuntimeError(f"GradientTape must be created with persistent=True to compute the {what} with eager execution "
                               "enabled and with experimental_use_pfor set to False.")
        if vectorize and parallel_iterations is not None:
            error = ValueError if what == "jacobian" else RuntimeError
            raise error(f"GradientTape must be created with persistent=True to compute the {what} with parallel_iterations.")


def _spread(seed, target):
    """An output gradient, broadcast to the shape of its target."""
    if None in (seed._dims, target._dims) or agree(seed.shape, target.shape):
        return seed
    return _core.raw.BroadcastTo(seed, _core.raw.Shape(target))


def _targets(target, output_gradients):
    """(targets that are tensors, their output gradients or None for ones, [(variable, output gradient)])."""
    if type(target) in (_core.EagerTensor, _core.SymbolicTensor) and output_gradients is None and flows(target.dtype):
        return [target], None, ()
    targets, seeds, variables = [], [], []
    given = None
    if output_gradients is not None:
        given = nest.flatten(output_gradients, expand_composites=True)
    for k, item in enumerate(nest.flatten(target)):
        seed = given[k] if given is not None else None
        if is_variable(item):
            variables.append((item, seed))
            continue
        if isinstance(item, CompositeTensor):
            item = flowing_part(item)
        if not isinstance(item, _core.Tensor):
            raise AttributeError(f"target {item!r} is not a tensor")
        if not flows(item.dtype):
            if _core.is_symbolic(item):
                continue
            seed = None  # an integer target has no gradient, or zero if a tf.function computed it
        targets.append(item)
        seeds.append(None if seed is None else _spread(_core.convert(seed, item.dtype), item))
    return targets, seeds if given is not None else None, variables


def flowing_part(composite):
    """The component of a composite tensor that has a gradient."""
    if hasattr(composite, "_tf_extension_type_fields"):
        part = _gradient_of(composite).get_gradient_components(composite)
        return flowing_part(part) if isinstance(part, CompositeTensor) else part
    if hasattr(composite, "flat_values"):
        return composite.flat_values
    return composite.values


def _gradient_of(composite):
    """The `__composite_gradient__` of a user's class: it returns the component that has a gradient, and replaces the
    component by its gradient."""
    found = getattr(type(composite), "__composite_gradient__", None)
    if found is None:
        raise ValueError(f"Type {type(composite).__name__} is not supported as a gradient source or gradient target.")
    return found


def shaped_like(source, gradient):
    """The gradient of a source in the form of the source: a ragged tensor for a ragged one."""
    if gradient is None or not isinstance(source, CompositeTensor):
        return gradient
    if hasattr(source, "_tf_extension_type_fields"):
        return _gradient_of(source).replace_gradient_components(source, gradient)
    if not hasattr(source, "with_flat_values"):
        return gradient
    return source.with_flat_values(_core.convert(gradient))


def _source(source):
    if type(source) in (_core.EagerTensor, _core.SymbolicTensor):
        return source
    if is_variable(source):
        return source.handle
    if isinstance(source, CompositeTensor):
        return flowing_part(source)
    if not isinstance(source, _core.CoreTensor):
        raise TypeError(f"source {source!r} is neither a tensor nor a variable")
    return key_of(source)


def _same(a, b):
    if a is b:
        return True
    if _core.is_symbolic(a) and _core.is_symbolic(b):
        x, y = a._edge, b._edge
        return x[0] is y[0] and x[1:] == y[1:]
    return False


def _itself(targets, seeds, variables, keys, grads):
    """Adds the gradient of a target by itself, for sources that are also targets. These need not be watched."""
    for k, key in enumerate(keys):
        found = []
        if grads[k] is None:
            found = [_one(t, seeds[j] if seeds is not None else None) for j, t in enumerate(targets)
                     if flows(t.dtype) and _same(t, key)]
        found += [_one(v, seed) for v, seed in variables if v.handle is key]
        for one in found:
            grads[k] = one if grads[k] is None else grads[k] + one


def _one(target, seed):
    return _core.raw.OnesLike(_core.convert(target)) if seed is None else _core.convert(seed)
