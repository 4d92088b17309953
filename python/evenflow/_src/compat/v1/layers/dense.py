"""The layers Dense, Dropout and Flatten."""
from .... import _core, dtypes
from ....namespace import export
from ....ops import nn
from ....ops.matmul import tensordot
from .._initializers import Zeros
from .base import Layer, by_format, while_training

raw = _core.raw


@export("compat.v1.layers.Dense")
class Dense(Layer):
    """activation(inputs @ kernel + bias), over the last dimension."""

    def __init__(self, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.units, self.activation, self.use_bias = int(units), activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    def build(self, input_shape):
        width = None if input_shape.rank is None else input_shape.as_list()[-1]
        if width is None:
            raise ValueError("The last dimension of the inputs to `Dense` should be defined. Found `None`.")
        self.kernel = self.add_weight("kernel", [width, self.units], initializer=self.kernel_initializer,
                                      regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.units], initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)

    def call(self, inputs):
        if inputs.dtype != self._dtype:
            inputs = raw.Cast(inputs, self._dtype)
        rank = len(_core.static_shape(inputs))
        made = raw.MatMul(inputs, self.kernel) if rank == 2 else tensordot(inputs, self.kernel, [[rank - 1], [0]])
        if self.use_bias:
            made = raw.BiasAdd(made, self.bias)
        return made if self.activation is None else self.activation(made)


@export("compat.v1.layers.Dropout")
class Dropout(Layer):
    """Sets elements to zero at random while training."""

    def __init__(self, rate=0.5, noise_shape=None, seed=None, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs, training=False):
        def dropped():
            return nn.dropout(inputs, self.rate, self.noise_shape, self.seed)

        return while_training(training, dropped, lambda: raw.Identity(inputs))


@export("compat.v1.layers.Flatten")
class Flatten(Layer):
    """Flattens all dimensions but the first into one."""

    def __init__(self, data_format="channels_last", **kwargs):
        super().__init__(**kwargs)
        self.data_format = by_format(data_format)

    def call(self, inputs):
        dims = _core.static_shape(inputs)
        if self.data_format == "channels_first" and dims is not None and len(dims) > 2:
            inputs = raw.Transpose(inputs, [0, *range(2, len(dims)), 1])
        if dims is None:
            return raw.Reshape(inputs, raw.Pack([raw.Shape(inputs)[0], -1]))
        if len(dims) == 1:
            return raw.ExpandDims(inputs, 1)
        if None not in dims[1:]:
            count = 1
            for size in dims[1:]:
                count *= size
            return raw.Reshape(inputs, [-1 if dims[0] is None else dims[0], count])
        if dims[0] is not None:
            return raw.Reshape(inputs, [dims[0], -1])
        return raw.Reshape(inputs, raw.Pack([raw.Shape(inputs)[0], _core.convert(-1, dtypes.int32)]))


@export("compat.v1.layers.dense")
def dense(inputs, units, activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
          kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
          bias_constraint=None, trainable=True, name=None, reuse=None):
    """Dense as a function."""
    return Dense(units, activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                 activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _reuse=reuse)(inputs)


@export("compat.v1.layers.dropout")
def dropout(inputs, rate=0.5, noise_shape=None, seed=None, training=False, name=None):
    """Dropout as a function."""
    return Dropout(rate, noise_shape, seed, name)(inputs, training=training)


@export("compat.v1.layers.flatten")
def flatten(inputs, name=None, data_format="channels_last"):
    """Flatten as a function."""
    return Flatten(data_format, name=name)(inputs)
