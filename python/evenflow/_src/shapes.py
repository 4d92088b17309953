"""`tf.TensorShape`, and `Dimension` of TensorFlow 1.

A shape is a tuple of sizes, with None for an unknown size, or None if the rank is unknown. A function may be
traced for sizes that change from call to call. Then the shapes of its tensors show the sizes of the call that
is traced, and refer to the tensor. Reading a size (through `_dims`) notifies the trace, which from then on is
valid for this size only. Passing on a whole shape does not read it (see `TensorShape.__tf_tensor__`); neither
does reading its rank.
"""
import operator

from . import _core


def _size(value):
    """Converts a size to int or None. Raises an error for values that Dimension does not accept."""
    if type(value) is int or type(value) is bool:
        size = value
    elif value is None:
        return None
    elif isinstance(value, Dimension):
        return value._value
    else:
        try:
            size = operator.index(value)
        except (TypeError, AttributeError):
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, got value "
                f"'{value!r}' with type '{type(value)!r}'"
            ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


class Dimension:
    """One size of a shape in TensorFlow 1: a number, or None if it is unknown.

    The result of arithmetic with an unknown size is unknown; a comparison with one returns None.
    """

    __slots__ = ("_value",)
    __hash__ = None

    def __init__(self, value):
        self._value = _size(value)

    @property
    def value(self):
        """The size, or None."""
        return self._value

    def __repr__(self):
        return f"Dimension({self._value})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __int__(self):
        return self._value

    def __bool__(self):
        return bool(self._value)

    def __index__(self):
        return self._value

    def is_compatible_with(self, other):
        """Whether both could be the same size."""
        other = _size(other)
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other):
        """Raises ValueError unless both could be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {as_dimension(other)} are not compatible")

    def merge_with(self, other):
        """The known size of the two, which must be compatible."""
        self.assert_is_compatible_with(other)
        return Dimension(_size(other) if self._value is None else self._value)

    def __eq__(self, other):
        return self._compare(other, operator.eq)

    def __ne__(self, other):
        return self._compare(other, operator.ne)

    def __lt__(self, other):
        return self._compare(other, operator.lt)

    def __le__(self, other):
        return self._compare(other, operator.le)

    def __gt__(self, other):
        return self._compare(other, operator.gt)

    def __ge__(self, other):
        return self._compare(other, operator.ge)

    def _compare(self, other, test):
        try:
            other = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else test(self._value, other)

    def _combine(self, other, how, swap=False):
        try:
            other = _size(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other is None:
            return Dimension(None)
        return Dimension(how(other, self._value) if swap else how(self._value, other))

    def __add__(self, other):
        return self._combine(other, operator.add)

    def __radd__(self, other):
        return self._combine(other, operator.add, True)

    def __sub__(self, other):
        return self._combine(other, operator.sub)

    def __rsub__(self, other):
        return self._combine(other, operator.sub, True)

    def __mul__(self, other):
        return self._combine(other, operator.mul)

    def __rmul__(self, other):
        return self._combine(other, operator.mul, True)

    def __floordiv__(self, other):
        return self._combine(other, operator.floordiv)

    def __rfloordiv__(self, other):
        return self._combine(other, operator.floordiv, True)

    def __mod__(self, other):
        return self._combine(other, operator.mod)

    def __rmod__(self, other):
        return self._combine(other, operator.mod, True)

    def __truediv__(self, other):
        raise TypeError(
            "unsupported operand type(s) for /: 'Dimension' and "
            f"'{type(other).__name__}', please use // instead"
        )

    def __rtruediv__(self, other):
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', "
            "please use // instead"
        )

    __div__ = __floordiv__

    def __reduce__(self):
        return as_dimension, (self._value,)


def as_dimension(value):
    """`value` as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    """The int or None that a Dimension holds; other values are returned unchanged."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


def _parse(dims):
    """Converts anything that describes a shape to a tuple of sizes, or None for an unknown rank."""
    if dims is None:
        return None
    if isinstance(dims, (tuple, list)):
        return tuple([_size(d) for d in dims])
    if isinstance(dims, str):
        items = dims
    else:
        try:
            items = iter(dims)
        except TypeError:
            return (_size(dims),)
    sizes = []
    for item in items:
        try:
            sizes.append(_size(item))
        except TypeError:
            raise TypeError(
                f"Failed to convert '{dims!r}' to a shape: '{item!r}'could not be converted to a "
                "dimension. A shape should either be single dimension (e.g. 10), or an iterable of "
                "dimensions (e.g. [1, 10, None])."
            ) from None
    return tuple(sizes)


class TensorShape(_core.ShapeBase):
    """The shape of a tensor, which may be partly unknown.

    It equals the list or tuple of its sizes and is hashable. A slice of it is a shape, an item is an int or None.
    """

    __slots__ = ("__weakref__",)
    _v2_items = True  # False if items are Dimensions, as in TensorFlow 1; see compat.v1.disable_v2_tensorshape

    _parse = staticmethod(_parse)  # for what C does not convert itself

    @property
    def dims(self):
        """The sizes as a list of Dimensions, or None if the rank is unknown."""
        if self._sizes is None:
            return None
        return [Dimension(d) for d in self._dims]

    def _unknown_item(self, key):
        if not isinstance(key, slice):
            return None if TensorShape._v2_items else Dimension(None)
        if key.step is not None:
            raise ValueError("a shape of unknown rank takes no slice with a step")
        start = 0 if key.start is None else key.start
        if key.stop is None or start < 0 or key.stop < 0:
            return unknown_shape()
        return unknown_shape(max(0, key.stop - start))

    def __eq__(self, other):
        if type(other) is not TensorShape:
            try:
                other = as_shape(other)
            except TypeError:
                return NotImplemented
        return self._dims == other._dims

    def __hash__(self):
        return hash(self._dims)

    def __repr__(self):
        if self._sizes is None:
            return "TensorShape(None)"
        return f"TensorShape({list(self)})"

    def __str__(self):
        if self._sizes is None or TensorShape._v2_items:
            return "<unknown>" if self._sizes is None else str(self._dims)
        return f"({', '.join(map(str, self))}{',' if len(self) == 1 else ''})"

    def __reduce__(self):
        return as_shape, (self._dims,)

    def num_elements(self):
        """The product of the sizes, or None if one is unknown."""
        if not self.is_fully_defined():
            return None
        count = 1
        for d in self._dims:
            count *= d
        return count

    def is_fully_defined(self):
        """Whether rank and all sizes are known."""
        if self._of is not None:  # whether a size is known can depend on other sizes
            always = _core.static_shape(self._of)
            for axis in self._axes:
                if always[axis] is None and not _core.is_named(self._of, axis):
                    _core.read_size(self._of, axis)
        return self._sizes is not None and None not in self._sizes

    def assert_is_fully_defined(self):
        """Raises ValueError unless the rank and all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def merge_with(self, other):
        """The shape with the sizes that are known in either. Raises ValueError if they are not compatible."""
        other = as_shape(other)
        if self._sizes is None:
            return other
        if other._sizes is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        merged = tuple([b if a is None else a for a, b in zip(self._dims, other._dims)])
        return TensorShape._from_dims(merged)

    def concatenate(self, other):
        """The sizes of both shapes in one; an unknown shape if either rank is unknown."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None:
            return unknown_shape()
        return TensorShape._from_dims(self._dims + other._dims)

    __concat__ = concatenate
    __add__ = concatenate

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def is_compatible_with(self, other):
        """Whether one tensor could have both shapes."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None:
            return True
        if len(self._sizes) != len(other._sizes):
            return False
        return all(a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def assert_is_compatible_with(self, other):
        """Raises ValueError unless one tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_same_rank(self, other):
        """Raises ValueError if both ranks are known and differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank):
        """Raises ValueError unless the rank is `rank` or unknown."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank):
        """This shape with rank `rank`. Raises ValueError if it has another rank."""
        if self._sizes is None:
            return unknown_shape(rank)
        if rank is not None and len(unknown_shape(rank)._sizes) != len(self._sizes):
            raise ValueError(f"Shape {self} must have rank {rank}")
        return self

    def with_rank_at_least(self, rank):
        """This shape. Raises ValueError if its rank is known to be smaller."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """This shape. Raises ValueError if its rank is known to be larger."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other):
        """The most specific shape that is compatible with both."""
        other = as_shape(other)
        if self._sizes is None or other._sizes is None or len(self._sizes) != len(other._sizes):
            return unknown_shape()
        common = tuple([a if a == b else None for a, b in zip(self._dims, other._dims)])
        return TensorShape._from_dims(common)

    def is_subtype_of(self, other):
        """Whether every tensor with this shape is also compatible with `other`."""
        if not isinstance(other, TensorShape):
            return False
        if other._sizes is None:
            return True
        if self._sizes is None or len(self._sizes) != len(other._sizes):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims))

    def most_specific_common_supertype(self, others):
        """The most specific shape that is compatible with this one and all `others`; None if one is no TensorShape."""
        shape = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            shape = shape.most_specific_compatible_shape(other)
        return shape


_core.register_shape(TensorShape)
TensorShape.__module__ = "tensorflow.python.framework.tensor_shape"
Dimension.__module__ = "tensorflow.python.framework.tensor_shape"


def show_numbers(on):
    """Whether items of shapes are int or None, as in TensorFlow 2, or Dimensions."""
    TensorShape._v2_items = on
    _core.shape_items(None if on else Dimension)


def as_shape(shape):
    """`shape` as a TensorShape."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def static_dims(shape):
    """The sizes that are the same in every call of a trace, with None for those that may change. It does not count as
    reading them."""
    if shape._of is None:
        return shape._sizes
    always = _core.static_shape(shape._of)
    return tuple([always[axis] for axis in shape._axes])


def unread_sizes(shape, dtype):
    """A tensor of the sizes that a shape has in the current call; None if they cannot be computed from tensors in scope."""
    raw = _core.raw
    if _core.in_scope(shape._of):
        sizes = raw.Shape(shape._of, dtype)
        axes, rank = shape._axes, shape._of.ndim
        if axes == tuple(range(rank)):
            return sizes
        first = axes[0] if axes else 0
        if axes == tuple(range(first, first + len(axes))):
            return raw.StridedSlice(sizes, [first], [first + len(axes)], [1])
        return raw.GatherV2(sizes, list(axes), 0)
    sizes = []
    for axis, always in zip(shape._axes, static_dims(shape)):
        source = None if always is not None else _core.size_source(shape._of, axis)
        if always is None and source is None:
            return None
        if always is None:
            tensor, of, factor, offset = source
            always = raw.StridedSlice(raw.Shape(tensor, dtype), [of], [of + 1], [1], shrink_axis_mask=1)
            if (factor, offset) != (1, 0):
                always = always * factor + offset
        sizes.append(_core.convert(always, dtype))
    return raw.Pack(sizes)


def narrow(tensor, shape, at=0):
    """Narrows the static shape of a tensor from axis `at` on. It does not count as reading the sizes of `shape`."""
    if shape._of is not None:
        _core.set_sizes_like(tensor, at, shape._of, shape._axes)
    elif shape._sizes is not None:
        rest = (None,) * (tensor.ndim - at - len(shape._sizes))
        _core.set_shape(tensor, (None,) * at + shape._sizes + rest)


def agree(a, b):
    """Whether one tensor could have both shapes. Sizes that are equal in every call are not read."""
    if a is b:
        return True
    if a._of is None or b._of is None or len(a._sizes) != len(b._sizes):
        return a.is_compatible_with(b)
    return all(_core.sizes_agree(a._of, i, b._of, j) for i, j in zip(a._axes, b._axes))


def unknown_shape(rank=None):
    """A shape without known sizes; the rank may be known."""
    return TensorShape._from_dims(None if rank is None else (None,) * rank)


def dimension_at_index(shape, index):
    """Size `index` of `shape` as a Dimension."""
    shape = as_shape(shape)
    if shape.rank is None:
        return Dimension(None)
    return Dimension(dimension_value(shape[index]))
