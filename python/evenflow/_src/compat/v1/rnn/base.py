"""The base class of the cells of recurrent networks, which are layers with an input and a state."""
import collections

from .... import _core, dtypes, nest
from ....namespace import export, offer
from ....shapes import TensorShape
from ..layers.base import Layer
from .._scopes import get_variable_scope, variable_scope

raw = _core.raw


class LSTMStateTuple(collections.namedtuple("LSTMStateTuple", ("c", "h"))):
    """The state of an LSTM: the cell state c and the output h."""

    __slots__ = ()

    @property
    def dtype(self):
        if self.c.dtype != self.h.dtype:
            raise TypeError(f"Inconsistent dtypes for internal state: {self.c.dtype} vs {self.h.dtype}")
        return self.c.dtype


LSTMStateTuple.__module__ = "tensorflow.python.ops.rnn_cell_impl"
offer(LSTMStateTuple, "compat.v1.nn.rnn_cell.LSTMStateTuple")


@export("compat.v1.nn.rnn_cell.RNNCell")
class RNNCell(Layer):
    """A cell maps (input, state) to (output, new state). A subclass defines `state_size` and `output_size`."""

    def __init__(self, trainable=True, name=None, dtype=None, _reuse=None, **kwargs):
        super().__init__(trainable, name, dtype, _reuse=_reuse, **kwargs)

    def __call__(self, inputs, state, scope=None):
        opened = variable_scope(get_variable_scope() if scope is None else scope, auxiliary_name_scope=scope is not None)
        with opened as around:
            if scope is not None and self._scope is None:
                self._scope = around
            return super().__call__(inputs, state)

    @property
    def state_size(self):
        """The sizes of the state: a number or a TensorShape, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} must define the property state_size")

    @property
    def output_size(self):
        """The size of the output: a number or a TensorShape, or a structure of them."""
        raise NotImplementedError(f"{type(self).__name__} must define the property output_size")

    def zero_state(self, batch_size, dtype):
        """A state of zeros."""
        return zeros_of(self.state_size, batch_size, dtype)

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """A state of zeros with the batch size of `inputs`, or with `batch_size`."""
        if inputs is not None:
            inputs = _core.convert(inputs)
            known = _core.static_shape(inputs)
            batch_size = known[0] if known is not None and known[0] is not None else raw.Shape(inputs)[0]
            dtype = inputs.dtype
        if batch_size is None or dtype is None:
            raise ValueError("batch_size and dtype must be given if there are no inputs")
        return self.zero_state(batch_size, dtype)


def zeros_of(size, batch_size, dtype):
    """Zeros for a batch, in a structure of sizes."""
    def one(s):
        dims = [s] if isinstance(s, int) else TensorShape(s).as_list()
        if isinstance(batch_size, _core.Tensor):
            known = _core.static_value(batch_size)
            shape = raw.Pack([raw.Cast(batch_size, dtypes.int32), *dims]) if known is None else [int(known), *dims]
        else:
            shape = [int(batch_size), *dims]
        return raw.Fill(_core.convert(shape, dtypes.int32), _core.convert(0, dtypes.as_dtype(dtype)))

    return nest.map_structure(one, size)
