"""Pooling layers over 1, 2 and 3 dimensions."""
from ....namespace import offer
from ....ops import pool
from .base import Layer, by_format, need_rank, sizes

_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class _Pooling(Layer):
    """The base class of the pooling layers. Each subclass has the number of dimensions and the op."""

    dims, op, words = None, None, None

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        strides = pool_size if strides is None else strides
        self.pool_size, self.strides = sizes(pool_size, self.dims, "pool_size"), sizes(strides, self.dims, "strides")
        self.padding, self.data_format = padding.lower(), by_format(data_format)

    def build(self, input_shape):
        need_rank(self, input_shape, self.dims + 2)

    def call(self, inputs):
        layout = _FORMATS[self.dims][self.data_format == "channels_first"]
        return type(self).op(inputs, list(self.pool_size), list(self.strides), self.padding.upper(), layout)


def _layer(word, short, dims):
    name = f"{word}Pooling{dims}D"
    op = staticmethod(getattr(pool, f"{short}_pool{dims}d"))
    layer = type(name, (_Pooling,), {"dims": dims, "op": op, "__module__": __name__,
                                     "__doc__": f"{word} over windows of {dims} dimensions."})

    def function(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    function.__name__ = f"{word.lower()}_pooling{dims}d"
    function.__doc__ = f"{name} as a function."
    offer(layer, f"compat.v1.layers.{name}")
    offer(function, f"compat.v1.layers.{function.__name__}")


for _dims in (1, 2, 3):
    _layer("Max", "max", _dims)
    _layer("Average", "avg", _dims)
