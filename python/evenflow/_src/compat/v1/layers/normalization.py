"""Batch normalization with moving averages, which ops in the collection UPDATE_OPS update."""
from .... import _core, dtypes, graph as graphs
from ....namespace import export
from ....ops import nn
from ....ops.reduce import moments
from .._initializers import Ones, Zeros
from .base import Layer, while_training

raw = _core.raw


@export("compat.v1.layers.BatchNormalization")
class BatchNormalization(Layer):
    """Normalises by the mean and variance of the batch while training, and by their moving averages otherwise."""

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=Zeros(),
                 gamma_initializer=Ones(), moving_mean_initializer=Zeros(), moving_variance_initializer=Ones(),
                 beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False,
                 renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
                 adjustment=None, name=None, **kwargs):
        super().__init__(trainable, name, **kwargs)
        if renorm or virtual_batch_size is not None or adjustment is not None:
            raise NotImplementedError("batch_normalization: renorm, virtual_batch_size and adjustment are not supported; "
                                      "leave them out")
        self.axis, self.momentum, self.epsilon = axis, momentum, epsilon
        self.center, self.scale, self.fused = center, scale, fused
        self._first = {"beta": beta_initializer, "gamma": gamma_initializer, "moving_mean": moving_mean_initializer,
                       "moving_variance": moving_variance_initializer}
        self._rules = {"beta": (beta_regularizer, beta_constraint), "gamma": (gamma_regularizer, gamma_constraint)}

    def build(self, input_shape):
        rank = input_shape.rank
        if not rank:
            raise ValueError(f"Input has undefined rank: {input_shape}")
        axis = self.axis[0] if isinstance(self.axis, (list, tuple)) and len(self.axis) == 1 else self.axis
        if isinstance(axis, (list, tuple)):
            raise NotImplementedError("batch_normalization: only one axis is supported")
        if not -rank <= axis < rank:
            raise ValueError(f"Invalid axis: {axis}")
        self.axis = axis = axis % rank
        width = input_shape.as_list()[axis]
        if width is None:
            raise ValueError(f"Input has undefined `axis` dimension. Input shape: {input_shape}")
        if self.fused is None:
            self.fused = rank == 4 and axis in (1, 3)
        if self.fused and (rank != 4 or axis not in (1, 3)):
            raise ValueError("Unsupported axis, fused batch norm only supports axis == [1] or axis == [3]")
        self._wide = [width if k == axis else 1 for k in range(rank)]
        self._other = [k for k in range(rank) if k != axis]
        kind = dtypes.float32 if self._dtype in (dtypes.float16, dtypes.bfloat16) else self._dtype
        self.gamma = self._parameter("gamma", width, kind) if self.scale else None
        self.beta = self._parameter("beta", width, kind) if self.center else None
        self.moving_mean = self._average("moving_mean", width, kind)
        self.moving_variance = self._average("moving_variance", width, kind)

    def _parameter(self, name, width, kind):
        regularizer, constraint = self._rules[name]
        return self.add_weight(name, [width], kind, self._first[name], regularizer, constraint=constraint)

    def _average(self, name, width, kind):
        return self.add_weight(name, [width], kind, self._first[name], trainable=False)

    def call(self, inputs, training=False):
        return self._fused(inputs, training) if self.fused else self._plain(inputs, training)

    def _update(self, training, mean, variance):
        """Updates the moving averages with the mean and variance of a batch. Without training they do not change."""
        left = while_training(training, lambda: _core.convert(1 - self.momentum, mean.dtype),
                              lambda: _core.convert(0.0, mean.dtype))
        for average, value in ((self.moving_mean, mean), (self.moving_variance, variance)):
            with graphs.name_scope("AssignMovingAvg"):
                change = raw.Mul(raw.Sub(average.value(), value), left)
                self.add_update(average.assign_sub(change, read_value=False))

    def _is_off(self, training):
        """Whether `training` is known to be false, so that nothing is updated."""
        return isinstance(training, (bool, int)) and not training

    def _fused(self, inputs, training):
        kind = self.moving_mean.dtype
        width = self._wide[self.axis]
        scale = self.gamma if self.scale else _core.convert([1.0] * width, kind)
        offset = self.beta if self.center else _core.convert([0.0] * width, kind)
        layout = "NHWC" if self.axis == 3 else "NCHW"

        def normal(is_training):
            mean = [] if is_training else self.moving_mean.value()
            variance = [] if is_training else self.moving_variance.value()
            made = raw.FusedBatchNormV3(inputs, scale, offset, _core.convert(mean, kind), _core.convert(variance, kind),
                                        epsilon=max(self.epsilon, 1.001e-5), data_format=layout, is_training=is_training)
            return made[0], made[1], made[2]

        made, mean, variance = while_training(training, lambda: normal(True), lambda: normal(False))
        if not self._is_off(training):
            self._update(training, mean, variance)
        return made

    def _plain(self, inputs, training):
        if self._is_off(training):
            mean, variance = self.moving_mean.value(), self.moving_variance.value()
        else:
            now, spread = moments(inputs, self._other)
            mean = while_training(training, lambda: now, lambda: self.moving_mean.value())
            variance = while_training(training, lambda: spread, lambda: self.moving_variance.value())
            self._update(training, mean, variance)

        def wide(x):
            return None if x is None else raw.Reshape(_core.convert(x), self._wide) if self.axis != len(self._wide) - 1 else x

        return nn.batch_normalization(inputs, wide(mean), wide(variance), wide(self.beta), wide(self.gamma), self.epsilon)


@export("compat.v1.layers.batch_normalization")
def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, beta_initializer=Zeros(),
                        gamma_initializer=Ones(), moving_mean_initializer=Zeros(), moving_variance_initializer=Ones(),
                        beta_regularizer=None, gamma_regularizer=None, beta_constraint=None, gamma_constraint=None,
                        training=False, trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None,
                        renorm_momentum=0.99, fused=None, virtual_batch_size=None, adjustment=None):
    """BatchNormalization as a function."""
    layer = BatchNormalization(axis, momentum, epsilon, center, scale, beta_initializer, gamma_initializer,
                               moving_mean_initializer, moving_variance_initializer, beta_regularizer, gamma_regularizer,
                               beta_constraint, gamma_constraint, renorm, renorm_clipping, renorm_momentum, fused, trainable,
                               virtual_batch_size, adjustment, name, _reuse=reuse)
    return layer(inputs, training=training)
