"""tf.TensorArray: an array of tensors, which are written and read one by one.

Eagerly it is a Python list that `write` modifies in place. In a graph it is a TensorList (a variant tensor,
`flow`), and every write returns a new array. An eager array that is passed into a graph is converted.
"""
import numpy as np

from . import _core, dtypes, errors
from .composite import CompositeTensor
from .dtypes import as_dtype
from .namespace import export, offer
from .shapes import TensorShape, agree, as_shape, narrow, static_dims, unread_sizes
from .specs import TensorSpec, TypeSpec

raw = _core.raw


def _shape_vector(shape):
    """A shape as the TensorList ops take it: a vector with -1 for unknown sizes, or the scalar -1."""
    if shape.rank is None:
        return _core.convert(-1, dtypes.int32)
    return _core.convert(np.array([-1 if d is None else d for d in static_dims(shape)], np.int32))


def _size_vector(shape):
    """_shape_vector, but with sizes that change from call to call as tensors: an empty array has no element to take them
    from."""
    known = None
    if shape._of is not None and shape.is_fully_defined():
        known = unread_sizes(shape, dtypes.int32)
    return _shape_vector(shape) if known is None else known


def _shape_of(tensor):
    return tensor.shape


@export("TensorArray")
class TensorArray(CompositeTensor):
    """An array of tensors of one dtype. `write` returns the array to use afterwards."""

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None and flow is None:
            raise ValueError("Cannot construct with handle: a TensorArray is known by its flow")
        if flow is not None and size is not None:
            raise ValueError("Cannot provide both `handle` and `size` arguments at the same time.")
        if flow is None and size is None:
            raise ValueError("Size must be declared for a new TensorArray")
        self._dtype = as_dtype(dtype).base_dtype
        self._dynamic = bool(dynamic_size)
        self._clear = clear_after_read is None or bool(clear_after_read)
        self._infer = bool(infer_shape)
        self._known = [as_shape(element_shape)]  # shared with the arrays that `write` returns
        self._name = name or tensor_array_name or "TensorArray"
        self._items = self._flow = None
        self._count = None  # the number of elements if it is known in a graph: an int, or a shape of rank 1
        if flow is not None:
            self._flow = flow
        elif _core.executing_eagerly():
            self._items = [None] * int(size)
            self._read = set()
        else:
            if not self._dynamic:
                known = _core.static_value(size) if isinstance(size, _core.Tensor) else size
                self._count = None if known is None else int(known)
            self._flow = raw.TensorListReserve(_size_vector(self.element_shape), raw.Cast(size, dtypes.int32),
                                               self._dtype, name=name)

    # ---- what it is

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._dtype

    @property
    def dynamic_size(self):
        """Whether a write beyond the end makes the array longer."""
        return self._dynamic

    @property
    def element_shape(self):
        """The static shape of the elements."""
        return self._known[0]

    @property
    def handle(self):
        """None: the array has only a flow."""
        return None

    @property
    def flow(self):
        """The tensor that represents the array. Each op on the array depends on it, which fixes their order."""
        return _core.convert(0) if self._items is not None else self._flow

    @property
    def _flow_of(self):
        return self._flow if self._items is None else None

    @property
    def shape(self):
        return TensorShape([])

    @property
    def _type_spec(self):
        return TensorArraySpec(self.element_shape, self._dtype, self._dynamic, self._infer, self._known, self._count)

    def identity(self):
        """The same array; in a graph with a new flow tensor."""
        return self if self._items is not None else self._with(raw.Identity(self._flow))

    def size(self, name=None):
        """The number of elements."""
        if self._items is not None:
            return _core.convert(len(self._items), dtypes.int32)
        return raw.TensorListLength(self._flow, name=name)

    def close(self, name=None):
        """Removes the elements. In a graph it returns a NoOp, because the engine frees them when they are not used."""
        if self._items is None:
            return raw.NoOp(name=name)
        del self._items[:]

    def __len__(self):
        if self._items is None:
            raise TypeError("len() of a TensorArray in a graph is not known; use size()")
        return len(self._items)

    def __repr__(self):
        return f"<tf.TensorArray {self._name!r} dtype={self._dtype.name} element_shape={self.element_shape}>"

    def _with(self, flow):
        other = TensorArray(self._dtype, flow=flow, dynamic_size=self._dynamic, infer_shape=False)
        other._infer, other._known, other._clear = self._infer, self._known, self._clear
        other._count = self._count
        return other

    def _learn(self, shape):
        """Merges a shape into the element shape. Raises ValueError if they are not compatible."""
        if not agree(self.element_shape, shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self.element_shape} (and infer_shape=True)")
        if self._infer and not self.element_shape.is_fully_defined():
            self._known[0] = shape if shape.is_fully_defined() else self.element_shape.merge_with(shape)

    def _convert(self, value):
        value = _core.convert(value, None if isinstance(value, _core.Tensor) else self._dtype)
        if value.dtype != self._dtype:
            words = f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype {value.dtype.name}"
            if self._items is not None:
                raise errors.InvalidArgumentError(None, None, words)
            raise errors.InvalidGraphError(words)
        return value

    # ---- one element

    def write(self, index, value, name=None):
        """Writes `value` at `index` and returns the array."""
        value = self._convert(value)
        if self._items is not None:
            self._put(int(index), value)
            return self
        self._learn(_shape_of(value))
        made = self._with(raw.TensorListSetItem(self._flow, raw.Cast(index, dtypes.int32), value,
                                                resize_if_index_out_of_bounds=self._dynamic, name=name))
        if self._dynamic:  # it may have grown
            made._count = None
        return made

    def _put(self, index, value):
        size = len(self._items)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not allowed.")
        if index >= size:
            if not self._dynamic:
                raise errors.OutOfRangeError(None, None, f"Tried to write to index {index} but array is not resizeable "
                                                         f"and size is: {size} ")
            self._items.extend([None] * (index - size + 1))
        shape = _shape_of(value)
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(f"Incompatible shape for value ({shape}), expected ({self.element_shape})")
        if self._infer:
            self._known[0] = self.element_shape.merge_with(shape)
        self._read.discard(index)
        self._items[index] = value

    def read(self, index, name=None):
        """The element at `index`. Eagerly it can be read once, unless clear_after_read is False."""
        if self._items is None:
            made = raw.TensorListGetItem(self._flow, raw.Cast(index, dtypes.int32), _shape_vector(self.element_shape),
                                         self._dtype, name=name)
            narrow(made, self.element_shape)
            return made
        index, size = int(index), len(self._items)
        if index < 0:
            raise errors.OutOfRangeError(None, None, f"Reading from negative indices (index {index}) is not allowed.")
        if index >= size:
            raise errors.OutOfRangeError(None, None, f"Tried to read from index {index} but array size is: {size} ")
        if index in self._read and self._items[index] is None:
            raise errors.InvalidArgumentError(
                None, None, f"Could not read index {index} twice because it was cleared after a previous read (perhaps try "
                            "setting clear_after_read = false?)")
        value = self._get(index)
        if self._clear:
            self._items[index] = None
            self._read.add(index)
        return value

    def _get(self, index):
        """The element at `index`; zeros if it was not written or was cleared."""
        value = self._items[index]
        if value is not None:
            return value
        if not self.element_shape.is_fully_defined():
            raise ValueError(f"Tried to read the unwritten element {index} and the element shape {self.element_shape} is not "
                             "known; give element_shape")
        return raw.Fill(self.element_shape.as_list(), _core.convert(_zero(self._dtype), self._dtype))

    # ---- many

    def stack(self, name=None):
        """Stacks all elements into one tensor along a new first axis."""
        if self._items is None:
            made = raw.TensorListStack(self._flow, _size_vector(self.element_shape), self._dtype,
                                       self._count if isinstance(self._count, int) and not self._dynamic else -1, name=name)
            narrow(made, self.element_shape, 1)
            if self._dynamic:  # TensorFlow does not say how long an array is that can grow
                _core.forget_size(made, 0)
            elif isinstance(self._count, TensorShape):
                narrow(made, self._count)
            return made
        if not self._items:
            tail = self.element_shape.as_list() if self.element_shape.is_fully_defined() else []
            return raw.Fill([0] + tail, _core.convert(_zero(self._dtype), self._dtype))
        return raw.Pack([self._get(k) for k in range(len(self._items))], name=name)

    def gather(self, indices, name=None):
        """Stacks the elements at `indices` into one tensor."""
        indices = raw.Cast(_core.convert(indices, dtype_hint=dtypes.int32), dtypes.int32)
        if self._items is None:
            made = raw.TensorListGather(self._flow, indices, _size_vector(self.element_shape), self._dtype, name=name)
            narrow(made, self.element_shape, 1)
            return made
        return raw.Pack([self._get(k) for k in indices.numpy().tolist()], name=name)

    def concat(self, name=None):
        """Concatenates the elements along their first axis."""
        if self._items is None:
            shape = self.element_shape
            if shape.rank is not None:
                shape = TensorShape([None] + list(static_dims(shape)[1:]))
            made = raw.TensorListConcatV2(self._flow, _shape_vector(shape), np.zeros([0], np.int64), self._dtype,
                                          name=name)[0]
            if self.element_shape.rank:
                narrow(made, self.element_shape[1:], 1)
            return made
        parts = [self._get(k) for k in range(len(self._items))]
        if len(parts) == 1:
            return raw.Identity(parts[0])
        try:
            return raw.ConcatV2(parts, 0, name=name)
        except errors.OpError as e:
            shapes = [p._dims for p in parts]
            if () in shapes:
                raise errors.InvalidArgumentError(None, None, "Concat saw a scalar shape but requires at least vectors.") from None
            if len({s[1:] for s in shapes}) > 1:
                raise ValueError(f"TensorArray.concat: elements of shapes {shapes} cannot be joined") from None
            raise e

    def unstack(self, value, name=None):
        """Writes the slices of `value` along its first axis as the elements and returns the array."""
        value = self._convert(value)
        if self._items is None:
            shape = _shape_of(value)
            if shape.rank is not None:
                self._learn(shape[1:])
            made = self._with(raw.TensorListFromTensor(value, _shape_vector(shape[1:] if shape.rank else shape), name=name))
            made._count = None
            if shape.rank:  # the size itself, or a shape that refers to the tensor
                made._count = static_dims(shape)[0] if static_dims(shape)[0] is not None else shape[:1]
            return made
        parts = raw.Unpack(value, value.shape.as_list()[0])
        if len(parts) > len(self._items) and not self._dynamic:
            raise ValueError(f"Cannot unstack {len(parts)} tensors into a TensorArray of static size {len(self._items)} ")
        self._items[:] = []
        self._items.extend([None] * len(parts))
        for k, part in enumerate(parts):
            self._put(k, part)
        return self

    def scatter(self, indices, value, name=None):
        """Writes the slices of `value` at `indices` and returns the array."""
        value = self._convert(value)
        indices = raw.Cast(_core.convert(indices, dtype_hint=dtypes.int32), dtypes.int32)
        if self._items is None:
            shape = _shape_of(value)
            if shape.rank is not None:
                self._learn(shape[1:])
            return self._with(raw.TensorListScatterIntoExistingList(self._flow, value, indices, name=name))
        for k, part in zip(indices.numpy().tolist(), raw.Unpack(value, value.shape.as_list()[0])):
            self._put(k, part)
        return self

    def split(self, value, lengths, name=None):
        """Splits `value` along its first axis into pieces of these lengths, which become the elements. Returns the array."""
        value = self._convert(value)
        lengths = raw.Cast(_core.convert(lengths, dtype_hint=dtypes.int64), dtypes.int64)
        if self._items is None:
            made = self._with(self._split(value, lengths, name))
            made._count = None
            return made
        sizes = lengths.numpy()
        if sizes.ndim != 1:
            raise errors.InvalidArgumentError(None, None, f"Expected lengths to be a vector, received shape: "
                                                          f"{list(sizes.shape)}")
        if value.ndim == 0:
            raise errors.InvalidArgumentError(None, None, "Expected value to be at least a vector, but received shape: []")
        if sizes.sum() != value.shape.as_list()[0]:
            raise errors.InvalidArgumentError(None, None, f"Expected sum of lengths to be equal to values.shape[0], but sum "
                                                          f"of lengths is {sizes.sum()} and value's shape is: "
                                                          f"{value.shape.as_list()} ")
        if not self._dynamic and len(sizes) != len(self._items):
            raise errors.InvalidArgumentError(None, None, f"TensorArray's size is not equal to the size of lengths "
                                                          f"({len(self._items)} vs. {len(sizes)}), and the TensorArray is "
                                                          "not marked as dynamically resizeable.")
        self._items[:] = raw.SplitV(value, lengths, 0, len(sizes))  # the lengths may differ, even with infer_shape
        self._read.clear()
        return self

    def _split(self, value, lengths, name):
        shape = _shape_of(value)
        if shape.rank is not None and shape.rank > 0:
            known = _core.static_value(lengths)
            same = known is not None and len(known) and (known == known[0]).all()
            shape = TensorShape([int(known[0]) if same else None] + list(static_dims(shape)[1:]))
            if self._infer:
                self._learn(shape)
        return raw.TensorListSplit(value, _shape_vector(shape), lengths, name=name)


def _zero(dtype):
    return "" if dtype is dtypes.string else 0


class TensorArraySpec(TypeSpec):
    """Describes a TensorArray."""

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True, known=None, count=None):
        self._element_shape = as_shape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic = bool(dynamic_size)
        self._infer = bool(infer_shape)
        self._known = known  # the list with the element shape that arrays of one origin share
        self._count = None if dynamic_size else count  # the number of elements of an array of fixed size, or None

    @property
    def value_type(self):
        return TensorArray

    @property
    def dtype(self):
        """The dtype of the elements."""
        return self._dtype

    @property
    def shape(self):
        return TensorShape([])

    def _serialize(self):
        return (self._element_shape, self._dtype, self._dynamic, self._infer)

    @property
    def _component_specs(self):
        return [TensorSpec([], dtypes.variant)]

    def _to_components(self, value):
        if value._items is None:
            return [value._flow]
        shape = value.element_shape
        flow = raw.TensorListReserve(_shape_vector(shape), len(value._items), value.dtype)
        for k, item in enumerate(value._items):
            if item is not None:
                flow = raw.TensorListSetItem(flow, k, item)
        return [flow]

    def _from_components(self, components):
        made = TensorArray(self._dtype, flow=components[0], dynamic_size=self._dynamic, infer_shape=False)
        made._infer = self._infer
        made._known = self._known if self._known is not None else [self._element_shape]
        made._count = self._count if isinstance(self._count, int) else None
        return made

    def is_compatible_with(self, spec_or_value):
        other = spec_or_value if isinstance(spec_or_value, TypeSpec) else getattr(spec_or_value, "_type_spec", None)
        return (isinstance(other, TensorArraySpec) and other._dtype == self._dtype and other._dynamic == self._dynamic
                and agree(self._element_shape, other._element_shape))

    def most_specific_common_supertype(self, others):
        if any(not isinstance(o, TensorArraySpec) or o._dtype != self._dtype for o in others):
            return None
        shape = self._element_shape
        for other in others:
            if shape.rank != other._element_shape.rank or not agree(shape, other._element_shape):
                shape = shape.most_specific_compatible_shape(other._element_shape)
        return TensorArraySpec(shape, self._dtype, self._dynamic, self._infer, self._known, self._count)


offer(TensorArraySpec, "TensorArraySpec")
