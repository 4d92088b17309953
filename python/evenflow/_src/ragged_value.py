"""The value of a RaggedTensor as numpy arrays, which a session returns and can be fed with."""
import numpy as np

from .namespace import export


@export("compat.v1.ragged.RaggedTensorValue")
class RaggedTensorValue:
    """The value of a RaggedTensor as numpy arrays: row i is values[row_splits[i]:row_splits[i + 1]]."""

    def __init__(self, values, row_splits):
        if not (isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.dtype in (np.int32, np.int64)
                and row_splits.ndim == 1):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values, self._row_splits = values, row_splits

    values = property(lambda self: self._values, doc="The values of all rows, concatenated.")
    row_splits = property(lambda self: self._row_splits, doc="The start of each row in `values`, and the end of the last.")
    dtype = property(lambda self: self._values.dtype, doc="The numpy dtype of the values.")

    @property
    def flat_values(self):
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self):
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits,) + inner

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def shape(self):
        """The shape as a tuple, with None for ragged dimensions."""
        return (self._row_splits.shape[0] - 1, None) + self._values.shape[1:]

    def to_list(self):
        """The rows as nested Python lists."""
        values = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [values[a:b] for a, b in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"


def value_of(flat_values, nested_row_splits):
    """Makes a RaggedTensorValue from the innermost values and the row splits, the outermost first."""
    made = flat_values
    for splits in reversed(nested_row_splits):
        made = RaggedTensorValue(made, splits)
    return made
