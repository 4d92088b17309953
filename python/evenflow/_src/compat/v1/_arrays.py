"""Functions whose arguments have another order or other names in TensorFlow 1."""
import numpy as np
from ... import _core, dtypes, tensors
from ...composite import IndexedSlices, SparseTensor, SparseTensorValue
from ...dispatch import REFUSED, redirect
from ...graph import global_default_graph
from ...namespace import export, offer
from ...ops import array, counting, index, creation, math, random
from ...ragged import as_ragged, has_rows
from ...shapes import TensorShape
from ._reductions import either

raw = _core.raw


@export("compat.v1.constant")
def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant. If there are fewer values than `shape` has elements, the last one is repeated."""
    if shape is not None and not isinstance(value, _core.Tensor):
        wanted = TensorShape(shape)
        have = np.asarray(value)
        if verify_shape and tuple(have.shape) != tuple(wanted._dims):
            raise TypeError(f"Expected Tensor's shape: {tuple(wanted._dims)}, got {have.shape}.")
        count = wanted.num_elements()
        if have.size != count and have.size > 1:
            if have.size > count:
                raise ValueError(f"Too many elements provided. Takes at most {count:d}, but got {have.size:d}")
            first = tensors._core.convert(value, dtype).numpy() if _core.executing_eagerly() else have
            flat = np.concatenate([first.reshape(-1), np.full(count - have.size, first.reshape(-1)[-1])])
            kind = dtype if dtype is not None or have.dtype == object else _natural(value)
            return tensors.constant(flat.reshape(wanted._dims), kind, name=name)
    return tensors.constant(value, dtype, shape, name)


def _natural(value):
    """The default dtype of a Python value."""
    if isinstance(value, (np.ndarray, np.generic)):
        return None
    kind = np.asarray(value).dtype.kind
    return {"f": dtypes.float32, "i": dtypes.int32, "b": dtypes.bool}.get(kind)


@export("compat.v1.convert_to_tensor")
def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None, dtype_hint=None):
    """`value` as a Tensor."""
    return tensors.convert_to_tensor(value, dtype, either(dtype_hint, "dtype_hint", preferred_dtype, "preferred_dtype"),
                                     name)


@export("compat.v1.convert_to_tensor_or_indexed_slices")
def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """Converts `value` to a Tensor; IndexedSlices are returned unchanged."""
    return value if isinstance(value, IndexedSlices) else tensors.convert_to_tensor(value, dtype, name=name)


@export("compat.v1.convert_to_tensor_or_sparse_tensor")
def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """Converts `value` to a Tensor; SparseTensors are returned unchanged."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else tensors.convert_to_tensor(value, dtype, name=name)


@export("compat.v1.shape")
def shape(input, name=None, out_type=None):  # noqa: A002
    """The sizes of a tensor."""
    return array.shape(input, out_type, name)


@export("compat.v1.size")
def size(input, name=None, out_type=None):  # noqa: A002
    """The number of elements."""
    return array.size(input, out_type, name)


@export("compat.v1.expand_dims")
def expand_dims(input, axis=None, name=None, dim=None):  # noqa: A002
    """The tensor with an axis of size 1 added."""
    axis = either(axis, "axis", dim, "dim")
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return raw.ExpandDims(input, axis, name=name)


@export("compat.v1.squeeze")
def squeeze(input, axis=None, name=None, squeeze_dims=None):  # noqa: A002
    """The tensor without axes of size 1."""
    axis = either(axis, "axis", squeeze_dims, "squeeze_dims")
    return array.squeeze(input, [axis] if isinstance(axis, int) else axis, name)


@export("compat.v1.transpose")
def transpose(a, perm=None, name="transpose", conjugate=False):
    """The tensor with its axes in another order."""
    return array.transpose(a, perm, conjugate, name)


@export("compat.v1.pad")
def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """The tensor with a border."""
    return array.pad(tensor, paddings, mode, constant_values, name)


@export("compat.v1.zeros_like")
def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the shape of a tensor."""
    return creation.zeros_like(tensor, dtype, name)


@export("compat.v1.ones_like")
def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the shape of a tensor."""
    return creation.ones_like(tensor, dtype, name)


@export("compat.v1.reverse_sequence")
def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None,  # noqa: A002
                     batch_dim=None):
    """Reverses the first `seq_lengths[k]` elements of row k."""
    return array.reverse_sequence(input, seq_lengths, either(seq_axis, "seq_axis", seq_dim, "seq_dim"),
                                  either(batch_axis, "batch_axis", batch_dim, "batch_dim"), name)


@export("compat.v1.gather")
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """Gathers slices of `params` by index."""
    return index.gather(params, indices, axis=axis, batch_dims=batch_dims, name=name)


@export("compat.v1.gather_nd", "compat.v1.manip.gather_nd")
def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """Gathers elements or slices of `params`; each row of `indices` is one multi-dimensional index."""
    return index.gather_nd(params, indices, batch_dims, name)


@export("compat.v1.batch_gather")
def batch_gather(params, indices, name=None):
    """gather for each row of a batch."""
    indices = as_ragged(indices) if has_rows(indices) else _core.convert(indices)
    batch = indices.shape.rank - 1
    if has_rows(params) or has_rows(indices):
        return index.gather(as_ragged(params), indices, batch_dims=batch, name=name)
    return index.gather(params, indices, axis=-1, batch_dims=batch, name=name)


@export("compat.v1.boolean_mask")
def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The elements where the mask is true."""
    return index.boolean_mask(tensor, mask, 0 if axis is None else axis, name)


@export("compat.v1.count_up_to")
def count_up_to(ref, limit, name=None):
    """Adds 1 to a variable and returns its previous value. Raises OutOfRangeError when it has reached `limit`."""
    return raw.ResourceCountUpTo(ref.handle, limit, T=ref.dtype, name=name)


@export("compat.v1.where")
def where(condition, x=None, y=None, name=None):
    """Elements of x where `condition` is true, else of y; a vector condition selects whole rows. Without x and y, returns the
    indices of the true elements."""
    if x is None and y is None:
        return index.where(condition if has_rows(condition) else _core.convert(condition, dtypes.bool), name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if any(has_rows(v) for v in (condition, x, y)):
        return raw.Select(condition, x, y, name=name)
    x, y = _core.convert(x), _core.convert(y)
    return raw.Select(_core.convert(condition), x, _core.convert(y, x.dtype), name=name)


def _caster(dtype, word):
    def to(x, name=word):
        return math.cast(x, dtype, name)

    to.__name__ = f"to_{dtype.name}"
    to.__doc__ = f"`x` as {dtype.name}."
    return to


for _public, _dtype, _word in (("float", dtypes.float32, "ToFloat"), ("double", dtypes.float64, "ToDouble"),
                               ("int32", dtypes.int32, "ToInt32"), ("int64", dtypes.int64, "ToInt64"),
                               ("bfloat16", dtypes.bfloat16, "ToBFloat16"), ("complex64", dtypes.complex64, "ToComplex64"),
                               ("complex128", dtypes.complex128, "ToComplex128")):
    offer(_caster(_dtype, _word), f"compat.v1.to_{_public}")


@export("compat.v1.div")
def div(x, y, name=None):
    """Divides x by y. Integers are rounded down, as in Python 2."""
    try:
        first = _core.convert(x, None, getattr(y, "dtype", None))
        x, y = first, _core.convert(y, first.dtype)
    except REFUSED:
        return redirect(div, x, y, name=name)
    op = raw.RealDiv if x.dtype.is_floating or x.dtype.is_complex else raw.FloorDiv
    return op(x, y, name=name)


@export("compat.v1.confusion_matrix", "compat.v1.math.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """The confusion matrix: element [i, j] counts the examples of class i that were predicted as class j."""
    return counting.confusion_matrix(labels, predictions, num_classes, weights, dtype, name)


@export("compat.v1.setdiff1d")
def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """The elements of x that are not in y, and their indices."""
    return raw.ListDiff(x, y, out_idx=index_dtype, name=name)


# ---- random numbers ------------------------------------------------------------------------------------------


@export("compat.v1.set_random_seed", "compat.v1.random.set_random_seed", "compat.v1.random.set_seed")
def set_random_seed(seed):
    """Sets the seed of the default graph; with eager execution, the global seed."""
    graph = _core.current_graph()
    if graph is None:
        random.set_seed(seed)
        graph = global_default_graph()
    graph.seed = seed


@export("compat.v1.multinomial", "compat.v1.random.multinomial")
def multinomial(logits, num_samples, seed=None, name=None, output_dtype=None):
    """Draws class numbers from unnormalised log probabilities."""
    return random.categorical(logits, num_samples, output_dtype, seed, name)


@export("compat.v1.random_poisson", "compat.v1.random.poisson")
def random_poisson(lam, shape, dtype=dtypes.float32, seed=None, name=None):
    """Numbers of the Poisson distribution."""
    return random.poisson(shape, lam, dtype, seed, name)
