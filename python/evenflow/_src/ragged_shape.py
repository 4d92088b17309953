"""The shape of a ragged tensor, which tf.shape returns for it."""
from . import _core
from .ragged import RaggedTensor

raw = _core.raw


class DynamicRaggedShape:
    """The lengths along each axis of a ragged tensor: one number or, for a ragged axis, one for each row."""

    __module__ = "tensorflow.python.ops.ragged.dynamic_ragged_shape"

    def __init__(self, lengths, dtype):
        self._lengths = lengths  # for each axis a scalar, or a vector if the axis is ragged
        self.dtype = dtype

    @classmethod
    def from_tensor(cls, tensor, dtype):
        """The shape of a ragged tensor, with lengths of `dtype`."""
        found, values = [raw.Cast(tensor.nrows(), dtype)], tensor
        while isinstance(values, RaggedTensor):
            length = values.uniform_row_length
            found.append(raw.Cast(values.row_lengths() if length is None else length, dtype))
            values = values.values
        inner = raw.Shape(values, dtype)
        return cls(found + [inner[k] for k in range(1, values.shape.rank)], dtype)

    rank = property(lambda self: len(self._lengths), doc="The number of axes.")
    num_row_partitions = property(lambda self: max([k for k in range(self.rank) if not self.is_uniform(k)], default=0),
                                  doc="The number of axes that are partitioned into rows.")

    def is_uniform(self, axis):
        """Whether an axis is not ragged: all rows have the same length."""
        return self._lengths[axis].shape.rank == 0

    def static_lengths(self, ragged_lengths=True):
        """The static length of each axis: a number, a tuple of numbers for a ragged axis, None if it is unknown."""
        made = []
        for axis, length in enumerate(self._lengths):
            value = _core.seen_value(length)
            ragged = not self.is_uniform(axis)
            made.append(None if value is None or (ragged and not ragged_lengths) else tuple(value.tolist()) if ragged else int(value))
        return made

    def __getitem__(self, index):
        if isinstance(index, slice):
            begin, stop, step = index.indices(self.rank)
            if step != 1 or (begin != 0 and any(not self.is_uniform(k) for k in range(begin, stop))):
                raise ValueError("a slice of the shape of a ragged tensor must have step 1 and, after axis 0, no ragged axis")
            return DynamicRaggedShape(self._lengths[begin:stop], self.dtype)
        axis = index + self.rank if index < 0 else index
        if not 0 <= axis < self.rank:
            raise IndexError(f"axis {index} of a shape of rank {self.rank}")
        if not self.is_uniform(axis):
            raise ValueError(f"Index {index} is not uniform")
        return self._lengths[axis]

    def __repr__(self):
        return f"<DynamicRaggedShape lengths={self.static_lengths()} num_row_partitions={self.num_row_partitions}>"
