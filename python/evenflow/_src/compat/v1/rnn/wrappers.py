"""Wrappers around cells: dropout, a residual connection, a device."""
from .... import _core, nest
from ....devices import device
from ....namespace import export
from ....ops import nn, random
from .base import LSTMStateTuple, RNNCell

raw = _core.raw


class _Wrapper(RNNCell):
    """The base class of wrappers. A wrapper has no variable scope of its own."""

    def __init__(self, cell):
        super().__init__()
        self._cell = cell

    wrapped_cell = property(lambda self: self._cell)
    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    trainable_weights = property(lambda self: self._cell.trainable_weights)
    non_trainable_weights = property(lambda self: self._cell.non_trainable_weights)

    def zero_state(self, batch_size, dtype):
        return self._cell.zero_state(batch_size, dtype)


@export("compat.v1.nn.rnn_cell.DropoutWrapper")
class DropoutWrapper(_Wrapper):
    """Dropout of a cell's input, output or state. With `variational_recurrent`, every step drops the same elements."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0, variational_recurrent=False,
                 input_size=None, dtype=None, seed=None, dropout_state_filter_visitor=None):
        super().__init__(cell)
        for word, value in (("input", input_keep_prob), ("state", state_keep_prob), ("output", output_keep_prob)):
            known = value if not isinstance(value, _core.CoreTensor) else _core.static_value(_core.convert(value))
            if known is not None and not 0 <= known <= 1:
                raise ValueError(f"Parameter {word}_keep_prob must be between 0 and 1: {known}")
        self._keep = {"input": input_keep_prob, "state": state_keep_prob, "output": output_keep_prob}
        self._seed, self._noise = seed, None
        self._filter = dropout_state_filter_visitor or (lambda s: not isinstance(s, LSTMStateTuple))
        if variational_recurrent:
            if dtype is None:
                raise ValueError("When variational_recurrent=True, dtype must be provided")
            if input_size is None and input_keep_prob != 1.0:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must "
                                 "be provided")
            sizes = {"input": input_size, "state": cell.state_size, "output": cell.output_size}
            self._noise = {word: None if size is None else nest.map_structure(
                lambda s: random.uniform([1, s], 0, 1, dtype, seed), size) for word, size in sizes.items()}

    def _dropped(self, word, value):
        keep = self._keep[word]
        if not isinstance(keep, _core.CoreTensor) and keep == 1.0:
            return value
        noise = None if self._noise is None else self._noise[word]

        def one(x, u=None):
            if u is None:
                return nn.dropout(x, 1 - keep, seed=self._seed)
            kept = _core.convert(keep, x.dtype)
            made = x / kept * raw.Floor(kept + u)
            made.set_shape(x.shape)
            return made

        if word == "state":
            return self._dropped_state(value, noise, one)
        return nest.map_structure(one, value) if noise is None else nest.map_structure(one, value, noise)

    def _dropped_state(self, state, noise, one):
        """Dropout of a state. For an LSTM, only the output h is dropped, not the cell state c."""
        if isinstance(state, LSTMStateTuple) and not self._filter(state):
            return LSTMStateTuple(state.c, one(state.h, None if noise is None else noise.h))
        if isinstance(state, tuple):
            parts = noise if noise is not None else [None] * len(state)
            made = [self._dropped_state(s, n, one) for s, n in zip(state, parts)]
            return type(state)(*made) if hasattr(state, "_fields") else tuple(made)
        return one(state, noise)

    def __call__(self, inputs, state, scope=None):
        output, new = self._cell(self._dropped("input", inputs), state, scope) if scope is not None else \
            self._cell(self._dropped("input", inputs), state)
        return self._dropped("output", output), self._dropped("state", new)


@export("compat.v1.nn.rnn_cell.ResidualWrapper")
class ResidualWrapper(_Wrapper):
    """Adds a cell's input to its output."""

    def __init__(self, cell, residual_fn=None):
        super().__init__(cell)
        self._join = residual_fn or (lambda i, o: nest.map_structure(raw.AddV2, i, o))

    def __call__(self, inputs, state, scope=None):
        output, new = self._cell(inputs, state) if scope is None else self._cell(inputs, state, scope)
        return self._join(inputs, output), new


@export("compat.v1.nn.rnn_cell.DeviceWrapper")
class DeviceWrapper(_Wrapper):
    """Runs a cell on a device."""

    def __init__(self, cell, device):
        super().__init__(cell)
        self._device = device

    def zero_state(self, batch_size, dtype):
        with device(self._device):
            return super().zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        with device(self._device):
            return self._cell(inputs, state) if scope is None else self._cell(inputs, state, scope)
