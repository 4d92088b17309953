"""Values converted code knows beside Python's own: variables that have none yet, and tensors being staged."""
import numpy as np

from .. import _core, nest

NUMBERS = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


class Undefined:
    """The value of a variable that has none."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        """What reading such a variable does."""
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self):
        return self.symbol_name

    def __getattribute__(self, name):
        try:
            return object.__getattribute__(self, name)
        except AttributeError:
            return self

    def __getitem__(self, key):
        return self


class UndefinedReturnValue:
    """The value of a function that has not returned yet."""

    __slots__ = ()


def is_undefined(value):
    """Whether a variable has no value, be it a function's result."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def is_staged(value):
    """Whether `value` is a tensor (or variable) while a graph is being built: control flow on it becomes ops."""
    return isinstance(value, _core.CoreTensor) and not _core.executing_eagerly()


def is_flag(name):
    """Whether a variable is one the conversion made up to say that a loop or function is done."""
    return name.startswith(("do_return", "break_", "continue_"))


def is_return_value(name):
    """Whether a variable holds what the function returns."""
    return name.startswith("retval_")


def as_tensors(value):
    """Numbers, strings and arrays of a structure as tensors; variables as their values; all else as it is."""

    def leaf(v):
        if isinstance(v, NUMBERS) or isinstance(v, _core.VariableBase):
            return _core.convert(v)
        return v

    return nest.map_structure(leaf, value)


def condition(value, where):
    """A tensor that decides: a scalar bool."""
    value = _core.convert(value)
    if value.dtype.name != "bool":
        raise ValueError(f"condition of {where} expected to be `tf.bool` scalar, got {value}; to use as boolean Tensor, use "
                         "`tf.cast`; to check for None, use `is not None`")
    dims = _core.static_shape(value)
    if dims is None:
        return _core.raw.Reshape(value, np.zeros([0], np.int32))
    if dims:
        raise ValueError(f"condition of {where} expected to be `tf.bool` scalar, got {value}; to check for None, use "
                         "`is not None`")
    return value


def stand_in(value):
    """Zeros in the place of a value that will not be used; unknown sizes are 0."""

    def leaf(v):
        if not isinstance(v, _core.Tensor):
            return v
        dims = _core.seen_shape(v)
        if v.dtype.name == "variant":
            return _core.raw.EmptyTensorList(-1, -1, "float32")
        zero = _core.convert("" if v.dtype.name == "string" else 0, v.dtype)
        return _core.raw.Fill(np.array([d or 0 for d in dims or ()], np.int32), zero)

    return nest.map_structure(leaf, as_tensors(value), expand_composites=True)
