"""tf.debugging: checks of values, shapes and dtypes.

Static values and shapes are checked immediately; the rest is checked by an Assert op when it runs.
A check returns None eagerly. In a graph it returns the Assert op, to be used as a control dependency.
"""
from .. import errors
from ..composite import CompositeTensor
from ..dispatch import REFUSED, redirect
from ..graph import control_dependencies
from ..namespace import export
from ..shapes import TensorShape, as_shape
from .common import (
    SparseTensor,
    Tensor,
    convert,
    dtypes,
    executing_eagerly,
    np,
    raw,
    rank_of,
    is_named,
    seen_size,
    sizes_agree,
    static_shape,
    static_value,
)
from .math import abs as magnitude


def with_dependencies(checks, value):
    """Returns `value`; in a graph, with the checks as control dependencies."""
    checks = [c for c in checks if c is not None]
    if not checks:
        return value
    with control_dependencies(checks):
        return raw.Identity(value)


@export("Assert", "debugging.Assert")
def Assert(condition, data, summarize=None, name=None):  # noqa: N802 - TensorFlow's name
    """Raises InvalidArgumentError with `data` in its message unless `condition` is true."""
    if executing_eagerly():
        if not condition:
            shown = "\n".join(_show(d, 3 if summarize is None else summarize) for d in data)
            raise errors.InvalidArgumentError(
                None, None, f"Expected '{condition}' to be true. Summarized data: {shown}"
            )
        return None
    data = [convert(d) for d in data]
    return raw.Assert(condition, data, 3 if summarize is None else summarize, name=name)


def _show(value, count):
    if not isinstance(value, Tensor):
        return str(value)
    array = np.asarray(value.numpy())
    if array.ndim == 0:
        item = array.item()
        return str(item)
    flat = array.reshape(-1)
    if count >= 0 and flat.size > count:
        return f"[{' '.join(str(v) for v in flat[:count])}...]"
    return str(array)


def _fail(message, text):
    return errors.InvalidArgumentError(None, None, f"{message}\n{text}" if message else text)


def _compare(op, sign, x, y, message, summarize, name):
    """The implementation of assert_less and the other comparisons."""
    x, y = convert(x), convert(y)
    good = raw.All(_flat(op(x, y)), [0])
    if executing_eagerly():
        if not bool(good):
            raise _fail(message, _mismatch(op, sign, x, y, summarize))
        return None
    seen = static_value(good)
    if seen is not None and not seen:
        raise _fail(
            message, f"the condition x {sign} y does not hold for x = {x!r} and y = {y!r}"
        )
    what = f"Condition x {sign} y did not hold element-wise:"
    data = [message or "", what, "x = ", x, "y = ", y]
    return raw.Assert(good, [convert(d) for d in data], summarize or 3, name=name)


def _flat(x):
    return raw.Reshape(x, [-1])


def _mismatch(op, sign, x, y, summarize):
    count = 3 if summarize is None else summarize
    wrong = np.asarray(raw.LogicalNot(op(x, y)).numpy())
    where = np.argwhere(wrong)
    shown = where if count < 0 else where[:count]
    return (
        f"Condition x {sign} y did not hold.\nFirst {len(shown)} of {len(where)} indices where it "
        f"fails: {shown.tolist()}\nx (shape {static_shape(x)}) = {_show(x, count)}\n"
        f"y (shape {static_shape(y)}) = {_show(y, count)}"
    )


@export("debugging.assert_equal", "assert_equal")
def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x == y` for all elements."""
    try:
        return _compare(raw.Equal, "==", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_equal, x, y, message, summarize, name=name)


@export("debugging.assert_none_equal")
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raises InvalidArgumentError if `x == y` for any element."""
    try:
        return _compare(raw.NotEqual, "!=", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_none_equal, x, y, summarize, message, name=name)


@export("debugging.assert_less", "assert_less")
def assert_less(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < y` for all elements."""
    try:
        return _compare(raw.Less, "<", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_less, x, y, message, summarize, name=name)


@export("debugging.assert_less_equal")
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= y` for all elements."""
    try:
        return _compare(raw.LessEqual, "<=", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_less_equal, x, y, message, summarize, name=name)


@export("debugging.assert_greater", "assert_greater")
def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > y` for all elements."""
    try:
        return _compare(raw.Greater, ">", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_greater, x, y, message, summarize, name=name)


@export("debugging.assert_greater_equal")
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= y` for all elements."""
    try:
        return _compare(raw.GreaterEqual, ">=", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_greater_equal, x, y, message, summarize, name=name)


def _zero(x):
    x = convert(x)
    return x, convert(0, x.dtype)


@export("debugging.assert_positive")
def assert_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > 0` for all elements."""
    x, zero = _zero(x)
    return _compare(raw.Greater, ">", x, zero, message, summarize, name)


@export("debugging.assert_negative")
def assert_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < 0` for all elements."""
    x, zero = _zero(x)
    return _compare(raw.Less, "<", x, zero, message, summarize, name)


@export("debugging.assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= 0` for all elements."""
    x, zero = _zero(x)
    return _compare(raw.GreaterEqual, ">=", x, zero, message, summarize, name)


@export("debugging.assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= 0` for all elements."""
    x, zero = _zero(x)
    return _compare(raw.LessEqual, "<=", x, zero, message, summarize, name)


@export("debugging.assert_near")
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `|x - y| < atol + rtol |y|` for all elements."""
    try:
        first = convert(x)
        x, y = first, convert(y, first.dtype)
        real = x.dtype.real_dtype
        eps = float(np.finfo(real.as_numpy_dtype).eps)
        rtol = convert(10 * eps if rtol is None else rtol, real)
        atol = convert(10 * eps if atol is None else atol, real)

        def near(a, b):
            return raw.Less(magnitude(raw.Sub(a, b)), raw.AddV2(atol, raw.Mul(rtol, magnitude(b))))

        return _compare(near, "~=", x, y, message, summarize, name)
    except REFUSED:
        return redirect(assert_near, x, y, rtol, atol, message, summarize, name=name)


# ---- numbers --------------------------------------------------------------------------------------------


@export("debugging.check_numerics")
def check_numerics(tensor, message, name=None):
    """Returns `tensor`. Raises InvalidArgumentError if it contains a NaN or an infinity."""
    try:
        return raw.CheckNumerics(tensor, message, name=name)
    except REFUSED:
        return redirect(check_numerics, tensor, message, name=name)


@export("debugging.assert_all_finite")
def assert_all_finite(x, message, name=None):
    """Returns `x`. Raises InvalidArgumentError if it contains a NaN or an infinity."""
    return raw.Identity(raw.CheckNumerics(x, message), name=name)


# ---- types ----------------------------------------------------------------------------------------------


@export("debugging.is_numeric_tensor")
def is_numeric_tensor(tensor):
    """Whether `tensor` is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric


@export("debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless `tensor` has the dtype `tf_type`."""
    tf_type = dtypes.as_dtype(tf_type)
    found = dtypes.as_dtype(tensor.dtype) if isinstance(tensor, CompositeTensor) else convert(tensor).dtype
    if found is not tf_type:
        raise TypeError(f"{message or ''}the tensor must be of type {tf_type!r}, it is {found!r}")
    return None


@export("debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """Raises TypeError unless `x` has an integer dtype."""
    found = convert(x).dtype
    if not found.is_integer:
        raise TypeError(f"{message or ''}Expected \"x\" to be an integer, it is {found!r}")
    return None


@export("debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors=None, dtype=None):
    """The common floating-point dtype of all tensors. Raises ValueError if they differ or are not floating-point."""
    found = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    for t in tensors or ():
        if t is None:
            continue
        kind = dtypes.as_dtype(t.dtype).base_dtype
        if found is None:
            found = kind
        elif kind is not found:
            raise ValueError(f"Tensor type {kind.name} of {t!r} does not match type {found.name}.")
    found = found or dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found.name}.")
    return found


@export("debugging.assert_proper_iterable")
def assert_proper_iterable(values):
    """Raises TypeError unless `values` is an iterable other than a tensor, an array or a string."""
    if isinstance(values, (Tensor, SparseTensor, np.ndarray, bytes, str)):
        raise TypeError(f"Expected argument \"values\" to be a \"proper\" iterable. Found: {type(values)}")
    if not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument \"values\" to be iterable. Found: {type(values)}")


# ---- shapes ---------------------------------------------------------------------------------------------


def _static_rank(x, message, test, words):
    rank = rank_of(x)
    if rank is not None and not test(rank):
        raise ValueError(
            f"{message + '. ' if message else ''}Tensor must have rank {words}. Received rank "
            f"{rank}, shape {as_shape(static_shape(x))}"
        )
    return rank


def _no_more():
    """The result of a check that needs nothing at run time: None eagerly, a NoOp in a graph."""
    return None if executing_eagerly() else raw.NoOp()


def _rank_number(rank):
    rank = convert(rank, dtypes.int32) if not isinstance(rank, Tensor) else rank
    if not rank.dtype.is_integer:
        raise TypeError(f"Rank must be an integer, got {rank.dtype!r}")
    if rank_of(rank) not in (None, 0):
        raise ValueError(f"Rank must be a scalar. Received shape {static_shape(rank)}")
    return rank


@export("debugging.assert_rank", "assert_rank")
def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless `x` has the rank `rank`."""
    x, rank = convert(x), _rank_number(rank)
    want = static_value(rank)
    if want is not None:
        if _static_rank(x, message, lambda r: r == int(want), f"{int(want)}") is not None:
            return _no_more()
    return _compare(raw.Equal, "==", raw.Rank(x), rank, message, None, name)


@export("debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless the rank of `x` is at least `rank`."""
    x, rank = convert(x), _rank_number(rank)
    want = static_value(rank)
    if want is not None:
        if _static_rank(x, message, lambda r: r >= int(want), f"at least {int(want)}") is not None:
            return _no_more()
    return _compare(raw.GreaterEqual, ">=", raw.Rank(x), rank, message, None, name)


@export("debugging.assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless `x` has one of the ranks."""
    x = convert(x)
    ranks = [_rank_number(r) for r in ranks]
    wants = [static_value(r) for r in ranks]
    if None not in wants:
        wants = [int(w) for w in wants]
        if _static_rank(x, message, lambda r: r in wants, f"in {tuple(wants)}") is not None:
            return _no_more()
    hits = raw.Pack([raw.Equal(raw.Rank(x), r) for r in ranks])
    data = [message or "", "Tensor must have rank in", *ranks, "but has", raw.Rank(x)]
    return Assert(raw.Any(hits, [0]), data, name=name)


@export("debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None):
    """Raises ValueError unless `tensor` is a scalar."""
    dims = static_shape(convert(tensor))
    if dims != ():
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {as_shape(dims)}.")


def _shape_items(shapes):
    pairs = shapes.items() if isinstance(shapes, dict) else shapes
    out = []
    for x, spec in pairs:
        if not isinstance(x, SparseTensor) and not isinstance(x, Tensor):
            x = convert(x.deref() if hasattr(x, "deref") else x)
        if isinstance(spec, TensorShape):
            spec = spec.as_list()
        elif isinstance(spec, (str, int)) or spec is None or not hasattr(spec, "__iter__"):
            spec = list(spec) if isinstance(spec, str) else [spec]
        out.append((x, list(spec)))
    return out


@export("debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks sizes against numbers and labels. A label stands for the same size in all tensors.

    None and "." match any size, "*" or "..." at the front matches any number of dimensions, and "Q=3"
    is a label with its size.
    """
    known_sizes = {}
    for x, spec in _shape_items(shapes):
        dims = _dims_of(x)
        front = bool(spec) and spec[0] in ("*", "...", Ellipsis)
        rest = spec[1:] if front else spec
        if dims is None:
            if not isinstance(x, SparseTensor):
                (assert_rank_at_least if front else assert_rank)(x, len(rest))
            continue
        if not front and len(rest) < 2 and len(dims) < 2:  # a scalar also counts as a vector of size 1
            dims, rest = dims or (1,), rest or [1]
        if len(dims) < len(rest) or (not front and len(dims) != len(rest)):
            raise ValueError(
                f"{message or ''}Specified by tensor of shape {as_shape(dims)}: rank must be "
                f"{'at least ' if front else ''}{len(rest)}"
            )
        for k, want in enumerate(rest):
            place = len(dims) - len(rest) + k
            if want is not None and want != ".":
                _check_size(x, place if place < len(_dims_of(x)) else None, want, known_sizes, message)


def _check_size(x, place, want, sizes, message):
    """Checks the size of an axis against a number or a label. `place` is None for the axis that a scalar counts as."""
    if isinstance(want, str):
        want = int(want) if want.lstrip("-").isdigit() else want
    label = want if isinstance(want, str) else None
    if label is not None and label not in sizes:
        sizes[label] = x, place
        return None
    if label is not None:
        other, there = sizes[label]
        dense = not isinstance(x, SparseTensor) and not isinstance(other, SparseTensor)
        if dense and None not in (place, there) and static_shape(x)[place] is None and sizes_agree(x, place, other, there):
            if is_named(x, place) and is_named(other, there):
                return None  # equal in every call, or compared by reading the sizes
        want = _size_at(other, there)
    size = _size_at(x, place)
    if isinstance(size, int) and isinstance(want, int):
        if size != want:
            named = f" ({label})" if label else ""
            raise ValueError(
                f"{message or ''}dimension {place} of a tensor of shape "
                f"{as_shape(_dims_of(x))} must be {want}{named}, it is {size}"
            )
        return None
    return _compare(raw.Equal, "==", size, want, message, None, None)


def _dims_of(x):
    return x.shape._dims if isinstance(x, SparseTensor) else static_shape(x)


def _size_at(x, place):
    """A size as an int if it is known while tracing, else as a tensor."""
    if place is not None and isinstance(x, SparseTensor):
        return x.shape[place] if x.shape[place] is not None else raw.Cast(x.dense_shape[place], dtypes.int32)
    size = 1 if place is None else seen_size(x, place)
    return raw.Shape(x)[place] if size is None else size


# ---- switches -------------------------------------------------------------------------------------------

_switch = {"filter": True, "placement": False}


@export("debugging.is_traceback_filtering_enabled")
def is_traceback_filtering_enabled():
    """Whether tracebacks omit the frames of the library."""
    return _switch["filter"]


@export("debugging.enable_traceback_filtering")
def enable_traceback_filtering():
    """From now on tracebacks omit the frames of the library."""
    _switch["filter"] = True


@export("debugging.disable_traceback_filtering")
def disable_traceback_filtering():
    """From now on tracebacks show every frame."""
    _switch["filter"] = False


@export("debugging.get_log_device_placement")
def get_log_device_placement():
    """Whether the logging of device placements was enabled."""
    return _switch["placement"]


@export("debugging.set_log_device_placement")
def set_log_device_placement(enabled):
    """Stores whether device placements are logged."""
    _switch["placement"] = bool(enabled)
