"""The methods of tensors that need not be fast: printing, references, conversion of other objects, copies. The
classes are C; this file adds the methods to them."""
import numpy as np

from . import _core, dtypes, errors
from .composite import CompositeTensor
from .constants import constant_node, convert_to_tensor, graph_array  # noqa: F401 - other modules import these from here
from .default_session import default_session
from .indexing import getitem, is_mask, slice_parts
from .namespace import export, offer
from .shapes import Dimension, TensorShape, agree, narrow, unread_sizes

Tensor, EagerTensor, SymbolicTensor = _core.Tensor, _core.EagerTensor, _core.SymbolicTensor
CoreTensor = _core.CoreTensor
raw = _core.raw

# ---- conversion --------------------------------------------------------------------------------------

_converters = []  # (priority, type, function), lowest priority number first


@export("register_tensor_conversion_function")
def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Registers conversion_func(value, dtype, name, as_ref), which converts objects of `base_type` to tensors."""
    bases = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(b, type) for b in bases) or not callable(conversion_func):
        raise TypeError("base_type must be a type or a tuple of types, conversion_func callable")
    if any(issubclass(b, (Tensor, int, float, str, bytes, np.ndarray, np.generic)) for b in bases):
        raise TypeError("numbers, strings and arrays are always converted by Evenflow itself")
    _converters.append((priority, bases, conversion_func))
    _converters.sort(key=lambda row: row[0])


def _pack(items, dtype, hint):
    """Stacks a list that contains tensors. The result has the requested dtype, or else that of the first tensor."""
    found = next((i.dtype for i in leaves(items) if isinstance(i, CoreTensor)), None)
    if found is None:  # the list has only objects that convert to tensors
        arrays = [i for i in leaves(items) if isinstance(i, (np.ndarray, np.generic))]
        found = dtypes.as_dtype(np.result_type(*arrays)) if arrays and dtype is None else dtype
    if hint and dtype != found:
        try:
            return _packed(items, dtype, True)
        except (TypeError, ValueError):
            dtype = None
    return _packed(items, dtype or found, dtype is not None and dtype != found)


def _packed(items, dtype, cast):
    """The items stacked as one tensor. In a graph every tensor must already have `dtype`, unless `cast` is set; eagerly, a list of
    tensors alone is stacked as it is. Inner lists are packed first, everything else becomes a constant."""
    if _core.executing_eagerly() and not cast and all(isinstance(i, CoreTensor) for i in items):
        return raw.Pack(list(items), axis=0)
    parts = []
    for i in items:
        if isinstance(i, CoreTensor) and dtype is not None and i.dtype != dtype and not cast:
            raise TypeError(f"Cannot convert a list that holds a tensor of dtype {i.dtype.name} to {dtype.name} (it is {i!r})")
        parts.append(_packed(i, dtype, cast) if isinstance(i, (list, tuple)) and _holds_tensors(i) else i)
    parts = [p if isinstance(p, CoreTensor) else _core.convert(p, dtype, None, not _is_foreign(p)) for p in parts]
    if cast:
        parts = [p if p.dtype == dtype else raw.Cast(p, dtype) for p in parts]
    return raw.Pack(parts, axis=0)


def _is_foreign(value):
    """Whether `value` is no tensor but an object that converts to one."""
    return (hasattr(value, "__tf_tensor__") or isinstance(value, CompositeTensor)) and not isinstance(value, (CoreTensor, TensorShape))


def _holds_tensors(items):
    return any(isinstance(v, CoreTensor) or _is_foreign(v) for v in leaves(items))


def _opened(items, rank):
    """Converts a list of iterables (text, ranges, keys of a dict, arrays of objects) to nested lists. `rank` is the depth,
    which the first elements decide."""
    items = [i.tolist() if isinstance(i, np.ndarray) and i.dtype == object else i for i in items]
    return [_opened(i, rank - 1) if rank > 1 and not isinstance(i, (np.ndarray, np.generic, CoreTensor)) and hasattr(i, "__iter__")
            else i for i in items]


def _depth(value):
    depth = 0
    while isinstance(value, (list, tuple, range, TensorShape)):
        depth += 1
        value = next(iter(value), None)
    return depth + (value.ndim if isinstance(value, np.ndarray) else 0)


def leaves(items):
    """Yields the leaves of nested lists and tuples."""
    for i in items:
        if isinstance(i, (list, tuple)):
            yield from leaves(i)
        else:
            yield i


def _asked(dtype, hint):
    """(dtype, dtype hint, whether it is a plain constant), the further arguments of _core.convert."""
    return (None, dtype, False) if hint else (dtype, None, hint is None)


def _again(value, dtype, hint):
    """Converts another form of a value in C."""
    return _core.convert(value, *_asked(dtype, hint))


def _stack_arrays(value, dtype, hint):
    """Converts a list of numbers and other sequences (ranges, arrays of text, array-like objects)."""
    for leaf in leaves(value):
        if isinstance(leaf, np.generic) and leaf.dtype.kind == "V":  # scalars of ml_dtypes
            raise _unsupported(leaf)
    opened = _opened(value, _depth(value))
    if not _same_lists(opened, value):
        return _core.convert(opened, *_asked(dtype, hint))
    try:
        array = np.array(value)
    except ValueError as e:
        raise ValueError(f"Can't convert non-rectangular Python sequence to Tensor: {e}") from None
    if array.dtype == object:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.")
    if array.dtype.kind in "SU" and not all(np.asarray(leaf).dtype.kind in "SU" for leaf in leaves(value)):
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    return _again(array, dtype, hint)


def _same_lists(opened, value):
    return isinstance(value, (list, tuple)) and all(_same_lists(o, v) if isinstance(o, list) and o is not v else o is v
                                                    for o, v in zip(opened, value))


def _unsupported(value, error=None):
    """The exception for an object that cannot be converted: TypeError in a graph, ValueError eagerly."""
    error = error or (ValueError if _core.executing_eagerly() else TypeError)
    return error(_Refusal(value))


class _Refusal:
    """The message of `_unsupported`, made when it is read. A ragged or sparse argument of an op is refused before a handler
    is looked for (dispatch.py), and the text of a large one takes longer than the op."""

    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"Attempt to convert a value ({self.value!r}) with an unsupported type ({type(self.value)}) to a Tensor."

    def __repr__(self):
        return repr(str(self))


def _joined(value, dtype, hint):
    """Converts a value by the rules for constants of a graph."""
    return _hinted(lambda v, d: _core.convert(*graph_array(v, d)), value, dtype, hint)


def _counted(value, dtype):
    """Converts a Python range as tf.range does."""
    from .ops.creation import range as numbers  # ops/creation.py imports this file

    return numbers(value.start, value.stop, value.step, dtype=dtype)


def _hinted(function, value, dtype, hint):
    """function(value, dtype). If the dtype is only a hint and the conversion fails, function(value, None)."""
    if hint and dtype is not None:
        try:
            return function(value, dtype)
        except (TypeError, ValueError):
            dtype = None
    return function(value, dtype)


def convert_object(value, dtype, hint):
    """Converts an object that C could not convert. `hint` is true if the dtype is only a hint, None for tf.constant."""
    if hint is None and not _core.executing_eagerly():
        return _joined(value, dtype, hint)
    if isinstance(value, (list, tuple)):
        if _holds_tensors(value):
            if hint is None:
                raise ValueError("tf.constant takes no tensors in lists; use tf.stack or tf.convert_to_tensor")
            return _pack(value, dtype, hint)
        return _stack_arrays(value, dtype, hint) if _core.executing_eagerly() else _joined(value, dtype, hint)
    if isinstance(value, range) and hint is not None:
        return _hinted(_counted, value, dtype, hint)
    if isinstance(value, TensorShape) and hint is None:
        return _again(value.as_list(), dtype, hint)
    if isinstance(value, (TensorShape, Dimension)):
        return _hinted(type(value).__tf_tensor__, value, dtype, hint)
    to_tensor = getattr(type(value), "__tf_tensor__", None)
    if to_tensor is not None:
        tensor = to_tensor(value, None if hint else dtype)
        if not isinstance(tensor, Tensor):
            tensor = _core.convert(tensor, None if hint else dtype)
        return tensor
    for _, bases, function in _converters:
        if isinstance(value, bases):
            made = _hinted(lambda v, d: function(v, dtype=d, name=None, as_ref=False), value, dtype, hint)
            if made is not NotImplemented:
                return made
    if value is None:
        raise _unsupported(value, ValueError)
    if isinstance(value, (dtypes.DType, type)):
        raise _unsupported(value, TypeError if hasattr(value, "__array__") else None)  # a class with __array__ is no array
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return _again(np.asarray(value), dtype, hint)
    if not _core.executing_eagerly():
        return _joined(value, dtype, hint)
    try:
        buffer = memoryview(value)
    except TypeError:
        pass
    else:
        return _again(np.asarray(buffer), dtype, hint)
    if hasattr(value, "__iter__") and hasattr(value, "__len__") and not isinstance(value, (dict, set, frozenset)):
        return _again(list(value), dtype, hint)
    raise _unsupported(value)


# ---- printing ------------------------------------------------------------------------------------------


def value_text(tensor, is_repr):
    """The value as TensorFlow prints it: arrays in numpy's format, scalars in Python's."""
    if tensor.dtype is dtypes.resource or tensor.dtype is dtypes.variant:
        return "<unprintable>"
    value = tensor.numpy()
    if is_repr and isinstance(value, np.generic):
        value = value.item()
    text = repr(value) if is_repr else str(value)
    return "\n" + text if "\n" in text else text


def tensor_repr(tensor):
    """`<tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>`, as TensorFlow prints it."""
    if _core.is_symbolic(tensor):
        return f'<tf.Tensor {tensor.name!r} shape={_shape_text(tensor)} dtype={tensor.dtype.name}>'
    return f"<tf.Tensor: shape={_shape_text(tensor)}, dtype={tensor.dtype.name}, numpy={value_text(tensor, True)}>"


def tensor_str(tensor):
    if _core.is_symbolic(tensor):
        shape = f", shape={_shape_text(tensor)}" if tensor._dims is not None else ""
        return f'Tensor("{tensor.name}"{shape}, dtype={tensor.dtype.name})'
    return f"tf.Tensor({value_text(tensor, False)}, shape={_shape_text(tensor)}, dtype={tensor.dtype.name})"


def _shape_text(tensor):
    return str(tensor.shape)


# ---- equality ------------------------------------------------------------------------------------------------


def _same(x, y, op):
    if y is None:
        return op is raw.NotEqual
    if isinstance(y, CompositeTensor):
        return NotImplemented
    return op(x, y, incompatible_shape_error=False)


def tensor_equals(x, y):
    return _same(x, y, raw.Equal)


def tensor_not_equals(x, y):
    return _same(x, y, raw.NotEqual)


# ---- methods ---------------------------------------------------------------------------------------------------


class Reference:
    """A hashable reference to a tensor or variable. Two references to the same object are equal."""

    __slots__ = ("_wrapped", "__weakref__")

    def __init__(self, wrapped):
        self._wrapped = wrapped

    def deref(self):
        """The object itself."""
        return self._wrapped

    def __hash__(self):
        return id(self._wrapped)

    def __eq__(self, other):
        return isinstance(other, Reference) and self._wrapped is other._wrapped

    def __lt__(self, other):
        return id(self._wrapped) < id(other._wrapped) if isinstance(other, Reference) else NotImplemented

    def __repr__(self):
        return f"<Reference wrapping {self._wrapped!r}>"


def _method(cls, name=None):
    def hang(function):
        setattr(cls, name or function.__name__, function)
        return function

    return hang


@_method(TensorShape, "__tf_tensor__")
def _sizes(self, dtype=None, name=None):
    if not self.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape {self} to a Tensor.")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert TensorShape {self} to dtype {dtype}: sizes are tf.int32 or tf.int64.")
    kept = None if self._of is None else unread_sizes(self, dtype or dtypes.int32)
    if kept is not None:
        return kept
    wide = any(d > 2**31 - 1 for d in self._dims)
    if wide and dtype == dtypes.int32:
        raise ValueError(f"Cannot convert TensorShape {self} to dtype int32: a dimension is too large. Use tf.int64.")
    return _core.convert(list(self._dims), dtype or (dtypes.int64 if wide else dtypes.int32))


@_method(Dimension, "__tf_tensor__")
def _one_size(self, dtype=None, name=None):
    if self._value is None:
        raise ValueError("Cannot convert an unknown Dimension to a Tensor.")
    if dtype not in (None, dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a Dimension to dtype {dtype}: sizes are tf.int32 or tf.int64.")
    return _core.convert(self._value, dtype or dtypes.int32)


@_method(Tensor)
def ref(self):
    """A hashable reference to this tensor."""
    return Reference(self)


Tensor.experimental_ref = ref


@_method(Tensor)
def get_shape(self):
    """The same as `shape`."""
    return self.shape


@_method(Tensor)
def set_shape(self, shape):
    """Merges a shape into the static shape. The value does not change."""
    try:
        shape = TensorShape(shape)
        if shape._of is not None and shape.rank == self.ndim:
            if not agree(self.shape, shape):
                raise ValueError(f"Shapes {self.shape} and {shape} are not compatible")
            narrow(self, shape)
        else:
            _core.set_shape(self, shape)
    except errors.InvalidArgumentError as e:
        raise ValueError(e.message) from None


@_method(Tensor)
def eval(self, feed_dict=None, session=None):  # noqa: A001
    """The value, computed in `session` or in the default session."""
    if not _core.is_symbolic(self):
        raise NotImplementedError("eval is not supported when eager execution is enabled; use numpy()")
    return default_session(session).run(self, feed_dict)


@_method(Tensor)
def __copy__(self):
    return self


@_method(EagerTensor)
def __deepcopy__(self, memo):
    return self


@_method(Tensor)
def __reduce__(self):
    if _core.is_symbolic(self):
        raise TypeError("a symbolic tensor cannot be pickled: it has no value outside its graph")
    return _unpickle, (self.numpy(), self.dtype)


def _unpickle(value, dtype):
    return _core.convert(value, dtype)


@_method(Tensor)
def __format__(self, spec):
    if _core.is_symbolic(self):
        return object.__format__(self, spec)
    return self.numpy().__format__(spec)


@_method(EagerTensor)
def __complex__(self):
    return complex(self.numpy())


@_method(Tensor)
def __round__(self):
    raise AttributeError("a Tensor has no attribute 'astype', which rounding needs; use tf.round")


@_method(Tensor)
def __dlpack__(self, stream=None, **kwargs):
    return np.atleast_1d(self.numpy()).reshape(self._dims).__dlpack__()


@_method(Tensor)
def __dlpack_device__(self):
    return (1, 0)


@export("experimental.dlpack.to_dlpack")
def to_dlpack(tf_tensor):
    """A DLPack capsule with a copy of the tensor's values, which the receiver owns."""
    tensor = _core.convert(tf_tensor)
    if tensor.dtype.is_quantized or (not tensor.dtype.is_numeric and not tensor.dtype.is_bool):
        raise errors.InvalidArgumentError(None, None, f"{tensor.dtype.name} is not supported by dlpack")
    return tensor.__dlpack__()


class _Capsule:
    """An object with the methods that np.from_dlpack calls, around a plain capsule."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **kwargs):
        return self._capsule

    def __dlpack_device__(self):
        return (1, 0)


@export("experimental.dlpack.from_dlpack")
def from_dlpack(dlcapsule):
    """A tensor with the values of a DLPack capsule, or of an object with `__dlpack__`."""
    source = dlcapsule if hasattr(dlcapsule, "__dlpack__") else _Capsule(dlcapsule)
    return _core.convert(np.from_dlpack(source))


@_method(Tensor)
def __tf_tensor__(self, dtype=None, name=None):
    return _core.convert(self, dtype)


def _property(cls, name):
    def hang(function):
        setattr(cls, name, property(function))
        return function

    return hang


@_property(Tensor, "device")
def _device(self):
    return self.op.device if _core.is_symbolic(self) else "/job:localhost/replica:0/task:0/device:" + _core.device_of(self)


@_method(EagerTensor)
def gpu(self, gpu_index=0):
    """Raises RuntimeError, because there is no GPU."""
    raise RuntimeError(f"GPU:{gpu_index} unknown device.")


@_property(EagerTensor, "backing_device")
def _backing_device(self):
    return self.device


def _place(tensor, what):
    """(graph, node, output) of a symbolic tensor. For an eager one, raises AttributeError that names `what`."""
    edge = tensor._edge
    if edge is None:
        raise AttributeError(f"Tensor.{what} is undefined when eager execution is enabled.")
    return edge


@_property(Tensor, "op")
def _op(self):
    graph, node, _ = _place(self, "op")
    return graph._operation(node)


@_property(Tensor, "name")
def _name(self):
    graph, node, index = _place(self, "name")
    return f"{graph._node_name(node)}:{index}"


@_property(Tensor, "value_index")
def _value_index(self):
    return _place(self, "value_index")[2]


@_method(Tensor)
def consumers(self):
    """The ops that use this tensor."""
    if self._edge is None:
        raise NotImplementedError("Tensor.consumers is undefined when eager execution is enabled.")
    graph, node, index = self._edge
    return [graph._operation(k) for k in graph._consumers(node, index)]


@_property(Tensor, "assign")
def _assign(self):
    """`assign` of a slice of a variable: `v[1:].assign(value)` changes these elements of v. Other tensors have none."""
    sliced = self.__dict__.get("_sliced")
    if sliced is None or is_mask(sliced[1]):
        raise AttributeError("a Tensor cannot be assigned to; a tf.Variable, or a slice of one, can")
    variable, key = sliced

    def assign(value, name=None):
        parts, masks = slice_parts(key if isinstance(key, (tuple, list)) else (key,))
        value = _core.convert(value, variable.dtype)
        return variable._done(raw.ResourceStridedSliceAssign(variable.handle, *parts, value, name=name, **masks), True)

    return assign


Tensor.__array_priority__ = 100
Tensor._should_act_as_resource_variable = False
Tensor._rank = lambda self: self.ndim
Tensor._shape_tuple = lambda self: self.shape._dims
Tensor._datatype_enum = lambda self: self.dtype.as_datatype_enum
EagerTensor.cpu = lambda self: self
Tensor.is_symbolic = property(_core.is_symbolic)
EagerTensor.__hash__ = Tensor.__hash__
offer(Tensor, "Tensor")


@_property(Tensor, "_shape_as_list")
def _shape_as_list(self):
    dims = self.shape._dims
    return lambda: None if dims is None else list(dims)


def iterate(tensor):
    """Raises the error for iterating over a symbolic tensor in a loop that AutoGraph did not convert."""
    raise errors.OperatorNotAllowedInGraphError(
        "Iterating over a symbolic `tf.Tensor` is not allowed: AutoGraph did not convert this loop. Write it as a statement, "
        "`for x in tensor:`, in a function decorated with @tf.function; comprehensions are not converted.")


is_tensor = export("is_tensor")(_core.is_tensor)


@export("constant")
def constant(value, dtype=None, shape=None, name="Const"):
    """A constant tensor from a Python value or array. A `shape` reshapes the value, or repeats a single element."""
    if not _core.executing_eagerly():
        if shape is None and not isinstance(value, CoreTensor) and (dtype is None or isinstance(dtype, dtypes.DType)):
            return constant_node(_core.convert(value, dtype, None, True), name)
        return constant_node(_core.convert(*graph_array(value, dtype, shape)), name)
    if isinstance(value, _core.VariableBase):
        value = np.asarray(value)
    if isinstance(value, Tensor) and dtype is not None and value.dtype != dtype:
        raise TypeError(f"Expected tensor {value} with dtype {dtype!r}, but got dtype {value.dtype!r}.")
    tensor = value if isinstance(value, Tensor) else _core.device_place(_core.convert(value, dtype, None, True))
    if shape is not None:
        want = TensorShape(shape)
        have, need = _count(tensor._dims), want.num_elements()
        if tensor._dims != want._dims:  # the result is a new constant, without gradient to `value`
            tensor = raw.StopGradient(tensor)
        if have == need:
            tensor = tensor if tensor._dims == want._dims else raw.Reshape(tensor, list(want._dims))
        elif have == 1:
            tensor = raw.Fill(_core.convert(want.as_list(), dtypes.int32),
                              raw.Reshape(tensor, []) if len(tensor._dims) < 2 else tensor)
        else:
            raise TypeError(f"Eager execution of tf.constant with unsupported shape. Tensor {tensor!r} (converted from "
                            f"{value!r}) has shape {tensor._dims} which is not {want}")
    return tensor


def _count(dims):
    n = 1
    for d in dims:
        n *= d
    return n


def start():
    """Registers the Python functions that the C extension calls."""
    _core.register_dtypes({n: d for n, d in dtypes._by_enum.items() if n < 100})
    _core.register(error=errors.from_status, graph_error=errors.graph_error, composite=CompositeTensor, as_dtype=dtypes.as_dtype,
                   convert=convert_object,
                   repr=tensor_repr, str=tensor_str, getitem=getitem, equal=tensor_equals,
                   not_equal=tensor_not_equals, not_allowed=errors.OperatorNotAllowedInGraphError,
                   iterate=iterate)
