"""tf.GradientTape over the engine's tape, and gradients of a user's own."""
import functools

from . import _core, dtypes, errors, nest
from .composite import CompositeTensor, IndexedSlices
from .namespace import export, offer


@export("UnconnectedGradients")
class UnconnectedGradients:
    """What a gradient is where target and source are not connected."""

    NONE = "none"
    ZERO = "zero"


class _Kind(str):
    @property
    def value(self):
        return str(self)


UnconnectedGradients.NONE = _Kind("none")
UnconnectedGradients.ZERO = _Kind("zero")


def _zero(unconnected):
    value = getattr(unconnected, "value", unconnected)
    if value not in ("none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected!r}")
    return value == "zero"


def key_of(source):
    """The tensor the tape knows a source by: a variable's handle, or the tensor itself."""
    if isinstance(source, _core.VariableBase):
        return source.handle
    if getattr(source, "_should_act_as_resource_variable", False):
        return source.handle
    if isinstance(source, _core.Tensor):
        return source
    return _core.convert(source)


def result_of(gradient):
    """A gradient of the engine as Python has it: None, a Tensor or IndexedSlices."""
    if isinstance(gradient, tuple):
        values, indices, shape = gradient
        return IndexedSlices(values, indices, shape)
    return gradient


def _zeros_for(source):
    if isinstance(source, (_core.VariableBase,)) or getattr(source, "_should_act_as_resource_variable", False):
        source = _core.convert(source)
    return _core.raw.ZerosLike(_core.convert(source))


@export("GradientTape", "autodiff.GradientTape")
class GradientTape:
    """Records ops on watched tensors and variables, and gives gradients through them."""

    def __init__(self, persistent=False, watch_accessed_variables=True):
        self._tape = None
        self._persistent = persistent
        self._watch_accessed = watch_accessed_variables
        self._recording = False
        self._variables = {}

    def __enter__(self):
        if self._recording:
            raise ValueError("Tape is still recording, This can happen if you try to re-enter an already-active tape.")
        if self._tape is None:
            self._tape = _core.Tape(self._persistent, self._watch_accessed)
        else:
            self._tape.resume()
        self._recording = True
        return self

    def __exit__(self, *unused):
        if self._recording:
            self._tape.pause()
            self._recording = False
        return False

    def watch(self, tensor):
        """Records what is done with `tensor` (a tensor, variable, or structure of them)."""
        for item in nest.flatten(tensor, expand_composites=True):
            if not (isinstance(item, _core.CoreTensor)):
                raise ValueError(f"Passed in object {item!r} of type {type(item).__name__!r}, not tf.Tensor or "
                                 "tf.Variable or ExtensionType.")
            key = key_of(item)
            dtype = item.dtype
            if not (dtype.is_floating or dtype.is_complex):
                import logging

                logging.getLogger("tensorflow").log(
                    logging.WARN, "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", dtype)
                continue
            if self._tape is None:
                raise ValueError("watch: the tape is not recording; use it inside `with tf.GradientTape() as tape:`")
            self._tape.watch(key)

    def watched_variables(self):
        """The variables used so far, in the order of first use."""
        from .variable import by_handle

        handles = self._tape.watched() if self._tape is not None else []
        return tuple(v for v in (by_handle(h) for h in handles) if v is not None)

    def stop_recording(self):
        """A context in which nothing is recorded."""
        if not self._recording:
            raise RuntimeError("Tape is not recording. Call `stop_recording` inside the tape's context.")
        return _Pause(self)

    def reset(self):
        """Forgets everything recorded so far."""
        self._tape.reset()

    def gradient(self, target, sources, output_gradients=None, unconnected_gradients=UnconnectedGradients.NONE):
        """d target / d sources, in the structure of `sources`."""
        zero = _zero(unconnected_gradients)
        if self._tape is None:
            raise RuntimeError("A non-persistent GradientTape can only be used to compute one set of gradients (or "
                               "jacobians)")
        if self._recording:
            if not self._persistent:
                self.__exit__()
        targets, seeds = [], []
        flat_seeds = None
        flat_targets = nest.flatten(target, expand_composites=True)
        if output_gradients is not None:
            flat_seeds = nest.flatten(output_gradients, expand_composites=True)
        for k, item in enumerate(flat_targets):
            if not hasattr(item, "dtype"):
                raise ValueError(f"target {item!r} is not a tensor")
            if not (item.dtype.is_floating or item.dtype.is_complex or item.dtype is dtypes.resource):
                import logging

                logging.getLogger("tensorflow").log(
                    logging.WARN, "The dtype of the target tensor must be floating (e.g. tf.float32) when calling "
                    "GradientTape.gradient, got %r", item.dtype)
                continue
            if isinstance(item, _core.VariableBase) or getattr(item, "_should_act_as_resource_variable", False):
                item = item.handle
            targets.append(item if isinstance(item, _core.Tensor) else _core.convert(item))
            seed = flat_seeds[k] if flat_seeds is not None else None
            seeds.append(None if seed is None else _core.convert(seed, item.dtype))
        flat_sources = nest.flatten(sources)
        keys = []
        for source in flat_sources:
            if source is None or isinstance(source, str):
                raise TypeError(f"Source {source!r} is not a tensor or variable")
            if isinstance(source, CompositeTensor) and not isinstance(source, _core.VariableBase):
                source = nest.flatten(source, expand_composites=True)[-1]
            keys.append(key_of(source))
        raw_grads = self._gradients(targets, seeds if flat_seeds is not None else None, keys)
        grads = [result_of(g) for g in raw_grads]
        if zero:
            grads = [_zeros_for(s) if g is None else g for g, s in zip(grads, flat_sources)]
        if not self._persistent:
            self._tape = None
        return nest.pack_sequence_as(sources, grads)

    def _gradients(self, targets, seeds, keys):
        """Targets that are sources themselves have gradient one, which the engine's tape knows only if watched."""
        return self._tape.gradients(targets, seeds, keys)

    def jacobian(self, target, sources, unconnected_gradients=UnconnectedGradients.NONE, parallel_iterations=None,
                 experimental_use_pfor=True):
        """d target[i] / d sources for every element i of `target`."""
        from .jacobians import jacobian

        return jacobian(self, target, sources, unconnected_gradients)

    def batch_jacobian(self, target, source, unconnected_gradients=UnconnectedGradients.NONE,
                       parallel_iterations=None, experimental_use_pfor=True):
        """d target[b, i] / d source[b, ...] for every row b."""
        from .jacobians import batch_jacobian

        return batch_jacobian(self, target, source, unconnected_gradients)


GradientTape.__module__ = "tensorflow.python.eager.backprop"


class _Pause:
    __slots__ = ("_tape",)

    def __init__(self, tape):
        self._tape = tape

    def __enter__(self):
        self._tape._tape.pause()
        self._tape._recording = False

    def __exit__(self, *unused):
        self._tape._tape.resume()
        self._tape._recording = True
        return False
