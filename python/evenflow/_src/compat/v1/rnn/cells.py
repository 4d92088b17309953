"""The basic cell, LSTM cells and the GRU cell, with the variables and equations of TensorFlow 1."""
from .... import _core
from ....namespace import export
from .._initializers import Constant, Zeros
from .._scopes import variable_scope
from .base import LSTMStateTuple, RNNCell

raw = _core.raw


def _width(cell, shape):
    found = None if shape.rank is None else shape.as_list()[-1]
    if found is None:
        raise ValueError(f"Expected inputs.shape[-1] to be known, saw shape: {shape}")
    if shape.rank != 2:
        raise ValueError(f"Input 0 of layer {cell.name} is incompatible with the layer: expected ndim=2, found "
                         f"ndim={shape.rank}. Full shape received: {shape.as_list()}")
    return found


def _affine(parts, kernel, bias):
    return raw.BiasAdd(raw.MatMul(raw.ConcatV2(parts, 1) if len(parts) > 1 else parts[0], kernel), bias)


class _Cell(RNNCell):
    """A cell of `num_units` units."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units = num_units
        self._activation = raw.Tanh if activation is None else activation


@export("compat.v1.nn.rnn_cell.BasicRNNCell")
class BasicRNNCell(_Cell):
    """activation([input, state] @ kernel + bias)."""

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        wide = _width(self, input_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [wide, self._num_units])
        self._bias = self.add_weight("bias", [self._num_units], initializer=Zeros())

    def call(self, inputs, state):
        output = self._activation(_affine([inputs, state], self._kernel, self._bias))
        return output, output


@export("compat.v1.nn.rnn_cell.GRUCell")
class GRUCell(_Cell):
    """Gated recurrent unit."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None, bias_initializer=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    state_size = output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        units, wide = self._num_units, _width(self, input_shape) + self._num_units
        self._gate_kernel = self.add_weight("gates/kernel", [wide, 2 * units], initializer=self._kernel_initializer)
        self._gate_bias = self.add_weight("gates/bias", [2 * units],
                                          initializer=self._bias_initializer or Constant(1.0))
        self._candidate_kernel = self.add_weight("candidate/kernel", [wide, units], initializer=self._kernel_initializer)
        self._candidate_bias = self.add_weight("candidate/bias", [units], initializer=self._bias_initializer or Zeros())

    def call(self, inputs, state):
        gates = raw.Sigmoid(_affine([inputs, state], self._gate_kernel, self._gate_bias))
        reset, update = raw.Split(1, gates, 2)
        fresh = self._activation(_affine([inputs, reset * state], self._candidate_kernel, self._candidate_bias))
        made = update * state + (1 - update) * fresh
        return made, made


class _LSTM(_Cell):
    """The base class of the LSTM cells, whose state is a tuple, or one tensor with both halves concatenated."""

    def _halves(self, state):
        return state if self._state_is_tuple else raw.Split(1, state, 2)

    def _joined(self, c, h):
        return LSTMStateTuple(c, h) if self._state_is_tuple else raw.ConcatV2([c, h], 1)


@export("compat.v1.nn.rnn_cell.BasicLSTMCell")
class BasicLSTMCell(_LSTM):
    """Long short-term memory, without clipping, projection or peepholes."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self):
        units = self._num_units
        return LSTMStateTuple(units, units) if self._state_is_tuple else 2 * units

    output_size = property(lambda self: self._num_units)

    def build(self, input_shape):
        wide = _width(self, input_shape) + self._num_units
        self._kernel = self.add_weight("kernel", [wide, 4 * self._num_units])
        self._bias = self.add_weight("bias", [4 * self._num_units], initializer=Zeros())

    def call(self, inputs, state):
        c, h = self._halves(state)
        i, j, f, o = raw.Split(1, _affine([inputs, h], self._kernel, self._bias), 4)
        c = c * raw.Sigmoid(f + self._forget_bias) + raw.Sigmoid(i) * self._activation(j)
        h = self._activation(c) * raw.Sigmoid(o)
        return h, self._joined(c, h)


@export("compat.v1.nn.rnn_cell.LSTMCell")
class LSTMCell(_LSTM):
    """Long short-term memory with optional peepholes, clipping and projection."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None, num_proj=None, proj_clip=None,
                 num_unit_shards=None, num_proj_shards=None, forget_bias=1.0, state_is_tuple=True, activation=None,
                 reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(num_units, activation, reuse, name, dtype, **kwargs)
        if num_unit_shards not in (None, 1) or num_proj_shards not in (None, 1):
            raise NotImplementedError("LSTMCell: variables in shards are not supported; leave num_unit_shards and "
                                      "num_proj_shards out")
        self._use_peepholes, self._cell_clip, self._initializer = use_peepholes, cell_clip, initializer
        self._num_proj, self._proj_clip = num_proj, proj_clip
        self._forget_bias, self._state_is_tuple = forget_bias, state_is_tuple

    @property
    def state_size(self):
        units, out = self._num_units, self.output_size
        return LSTMStateTuple(units, out) if self._state_is_tuple else units + out

    output_size = property(lambda self: self._num_proj or self._num_units)

    def build(self, input_shape):
        units, wide = self._num_units, _width(self, input_shape) + self.output_size
        first = self._initializer
        self._kernel = self.add_weight("kernel", [wide, 4 * units], initializer=first)
        self._bias = self.add_weight("bias", [4 * units], initializer=Zeros())
        if self._use_peepholes:
            self._f, self._i, self._o = (self.add_weight(f"w_{gate}_diag", [units], initializer=first) for gate in "fio")
        if self._num_proj is not None:
            self._projection = self.add_weight("projection/kernel", [units, self._num_proj], initializer=first)

    def _halves(self, state):
        if self._state_is_tuple:
            return state
        units = self._num_units
        return raw.Slice(state, [0, 0], [-1, units]), raw.Slice(state, [0, units], [-1, self.output_size])

    def call(self, inputs, state):
        c, h = self._halves(state)
        i, j, f, o = raw.Split(1, _affine([inputs, h], self._kernel, self._bias), 4)
        f = f + self._forget_bias
        if self._use_peepholes:
            f, i = f + self._f * c, i + self._i * c
        c = raw.Sigmoid(f) * c + raw.Sigmoid(i) * self._activation(j)
        if self._cell_clip is not None:
            c = _clipped(c, self._cell_clip)
        h = raw.Sigmoid(o + self._o * c if self._use_peepholes else o) * self._activation(c)
        if self._num_proj is not None:
            h = raw.MatMul(h, self._projection)
            h = h if self._proj_clip is None else _clipped(h, self._proj_clip)
        return h, self._joined(c, h)


def _clipped(x, most):
    return raw.ClipByValue(x, _core.convert(-most, x.dtype), _core.convert(most, x.dtype))


@export("compat.v1.nn.rnn_cell.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """A stack of cells: the output of each is the input of the next."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not state_is_tuple and any(isinstance(c.state_size, tuple) for c in cells):
            raise ValueError("Some cells return tuples of states, but the flag state_is_tuple is not set. State sizes "
                             f"are: {[c.state_size for c in cells]}")
        self._cells, self._state_is_tuple = list(cells), state_is_tuple

    @property
    def state_size(self):
        found = tuple(cell.state_size for cell in self._cells)
        return found if self._state_is_tuple else sum(found)

    output_size = property(lambda self: self._cells[-1].output_size)

    def zero_state(self, batch_size, dtype):
        if self._state_is_tuple:
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)
        return super().zero_state(batch_size, dtype)

    @property
    def trainable_weights(self):
        return [v for cell in self._cells for v in cell.trainable_weights]

    @property
    def non_trainable_weights(self):
        return [v for cell in self._cells for v in cell.non_trainable_weights]

    def call(self, inputs, state):
        if self._state_is_tuple and len(state) != len(self._cells):
            raise ValueError(f"Expected state to be a tuple of length {len(self._cells)}, but received: {state}")
        new, at = [], 0
        for k, cell in enumerate(self._cells):
            with variable_scope(f"cell_{k}"):
                if self._state_is_tuple:
                    old = state[k]
                else:
                    old = raw.Slice(state, [0, at], [-1, cell.state_size])
                    at += cell.state_size
                inputs, made = cell(inputs, old)
                new.append(made)
        return inputs, tuple(new) if self._state_is_tuple else raw.ConcatV2(new, 1)
