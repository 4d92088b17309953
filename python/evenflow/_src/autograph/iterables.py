"""zip and enumerate over symbolic tensors. Staged loops iterate over them; if the size is known they can also be
unrolled."""
from .. import _core, dtypes, errors
from ..shapes import unknown_shape
from ..tensor_array import TensorArray, _shape_vector

raw = _core.raw


class Staged:
    """The base class of iterables whose elements are known only when the graph runs."""

    def length(self):
        """The number of elements as a tensor."""
        raise NotImplementedError

    def elements(self):
        """A function from the number of an element to the element."""
        raise NotImplementedError

    def static_length(self):
        """The number of elements if it is known, else None."""
        raise NotImplementedError

    def __iter__(self):
        n = self.static_length()
        if n is None:
            raise errors.OperatorNotAllowedInGraphError("Iterating over a symbolic `tf.Tensor` of unknown size is not allowed "
                                                        "here; a for statement can do it.")
        at = self.elements()
        for k in range(n):
            yield at(_core.convert(k, dtypes.int32))


def length_of(tensor):
    """The size of the first axis. Raises TypeError for a scalar."""
    dims = _core.static_shape(tensor)
    if dims == ():
        raise TypeError("Cannot iterate over a scalar tensor.")
    if dims is not None and dims[0] is not None:
        return _core.convert(dims[0], dtypes.int32)
    return raw.Shape(tensor)[0]


def rows_of(tensor):
    """A function from the number of a row to the row."""
    tail = unknown_shape() if tensor.ndim is None else tensor.shape[1:]
    rows = TensorArray(tensor.dtype, flow=raw.TensorListFromTensor(tensor, _shape_vector(tail)), element_shape=tail)
    return rows.read


class Rows(Staged):
    """Iterates over the rows of a tensor (its first axis)."""

    def __init__(self, tensor):
        self.tensor = _core.convert(tensor)

    def length(self):
        return length_of(self.tensor)

    def static_length(self):
        return _core.seen_size(self.tensor, 0) if self.tensor.ndim else None

    def elements(self):
        return rows_of(self.tensor)


class Zipped(Staged):
    """zip: tuples of the elements of several iterables, as many as the shortest has."""

    def __init__(self, parts):
        self.parts = [p if isinstance(p, Staged) else Rows(p) for p in parts]

    def length(self):
        n = self.parts[0].length()
        for part in self.parts[1:]:
            n = raw.Minimum(n, part.length())
        return n

    def static_length(self):
        lengths = [p.static_length() for p in self.parts]
        return None if None in lengths else min(lengths)

    def elements(self):
        each = [p.elements() for p in self.parts]
        return lambda k: tuple(at(k) for at in each)


class Numbered(Staged):
    """enumerate: pairs (number, element)."""

    def __init__(self, part, start):
        self.part = part if isinstance(part, Staged) else Rows(part)
        self.start = start

    def length(self):
        return self.part.length()

    def static_length(self):
        return self.part.static_length()

    def elements(self):
        at = self.part.elements()
        start = _core.convert(self.start, dtypes.int32)
        return lambda k: (raw.AddV2(k, start), at(k))
