"""tf.autodiff.ForwardAccumulator: forward-mode derivatives (Jacobian-vector products).

The gradient g(u) of a result is linear in the output gradient u: g(u) is the transposed Jacobian times u. So the gradient
of g by u, with the tangents as its output gradients, is the Jacobian times the tangents. Two reverse passes compute it.
"""
import logging
import threading

from . import _core, nest
from .shapes import agree
from .composite import IndexedSlices
from .namespace import export
from .tape import UnconnectedGradients, flows, is_variable, key_of, registered, result_of, wants_zeros, zeros_for

raw = _core.raw


class _Open(threading.local):
    """The stack of accumulators that a thread has entered; the outermost is first."""

    def __init__(self):
        self.all = []


_open = _Open()


@export("autodiff.ForwardAccumulator")
class ForwardAccumulator:
    """Computes Jacobian-vector products of the ops inside, in the direction `tangents` of the inputs `primals`."""

    __module__ = "tensorflow.python.eager.forwardprop"

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        self._primals, self._tangents = [], []
        self._tape = None
        self._recording = False
        self._around = ()  # the accumulators inside which it was entered
        for primal, tangent in zip(nest.flatten(primals, expand_composites=True),
                                   nest.flatten(tangents, expand_composites=True)):
            self._watch(primal, tangent)

    def _watch(self, primal, tangent):
        dtype = primal.dtype
        if not flows(dtype):
            _warn(dtype)
        tangent = _core.convert(tangent, dtype)
        if not agree(primal.shape, tangent.shape):
            raise ValueError(f"Tangent {tangent!r} has shape {tangent.shape}, which does not match the primal's "
                             f"{primal.shape}")
        self._primals.append(primal)
        self._tangents.append(tangent)

    def __enter__(self):
        if self._recording:
            raise ValueError("Accumulator is already recording.")
        if self._tape is None:
            self._tape = _core.Tape(True, False)
            for primal in self._primals:
                if flows(primal.dtype):
                    self._tape.watch(key_of(primal))
        else:
            self._tape.resume()
        self._recording = True
        self._around = tuple(_open.all)
        _open.all.append(self)
        return self

    def __exit__(self, *unused):
        if self._recording:
            self._tape.pause()
            self._recording = False
            _open.all.remove(self)
        return False

    def jvp(self, primals, unconnected_gradients=UnconnectedGradients.NONE):
        """The tangents of `primals`, in their structure; None, or zeros, where they do not depend on the inputs."""
        zero = wants_zeros(unconnected_gradients)
        if self._tape is None:
            raise ValueError("Called jvp() without first tracing anything.")
        recording = self._recording
        if recording:  # this accumulator does not record its own work, but the accumulators around it do,
            self._tape.pause()
        left = [a for a in self._around if not a._recording]  # even those whose `with` block has ended
        for other in left:
            other._tape.resume()
        try:
            return nest.map_structure(lambda t: self._one(t, zero), primals)
        finally:
            for other in left:
                other._tape.pause()
            if recording:
                self._tape.resume()

    def _one(self, value, zero):
        made = None
        for primal, tangent in zip(self._primals, self._tangents):
            if value is primal or (is_variable(value) and is_variable(primal) and value.handle is primal.handle):
                return tangent
        target = _core.convert(value)
        if flows(target.dtype):
            made = self._push(target)
        return zeros_for(target) if made is None and zero else made

    def _push(self, target):
        live = [k for k, p in enumerate(self._primals) if flows(p.dtype)]
        second = _core.Tape(True, False)
        seed = raw.OnesLike(target)  # any value would do but zero: some gradients divide by it
        second.watch(seed)
        found = registered(self._tape.gradients, [target], [seed], [key_of(self._primals[k]) for k in live])
        second.pause()
        firsts, directions = [], []
        for k, gradient in zip(live, map(result_of, found)):
            if gradient is None:
                continue
            direction = self._tangents[k]
            if isinstance(gradient, IndexedSlices):
                direction = raw.GatherV2(direction, gradient.indices, 0)
                gradient = gradient.values
            firsts.append(gradient)
            directions.append(direction)
        if not firsts:
            return None
        [made] = registered(second.gradients, firsts, directions, [seed])
        made = result_of(made)
        return raw.ZerosLike(target) if made is None else _core.convert(made)


def _warn(dtype):
    logging.getLogger("tensorflow").warning(
        "The dtype of the watched primal must be floating (e.g. tf.float32), got %r", dtype)
