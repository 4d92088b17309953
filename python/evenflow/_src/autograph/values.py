"""Special values of converted code: variables without a value, and symbolic (staged) tensors."""
import numpy as np

from .. import _core, nest

NUMBERS = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


class Undefined:
    """Marks a variable that has no value."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name):
        self.symbol_name = symbol_name

    def read(self):
        """Raises the error for reading such a variable."""
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
    """Marks the result of a function that has not returned yet."""

    __slots__ = ()


def is_undefined(value):
    """Whether a value marks a variable, or the result of a function, as undefined."""
    return isinstance(value, (Undefined, UndefinedReturnValue))


def is_staged(value):
    """Whether `value` is a tensor (or variable) while a graph is being built: control flow on it becomes ops."""
    return isinstance(value, _core.CoreTensor) and not _core.executing_eagerly()


def is_flag(name):
    """Whether a variable was introduced by the conversion to mark that a loop or function is done."""
    return name.startswith(("do_return", "break_", "continue_"))


def is_return_value(name):
    """Whether a variable, by its name, holds the result of the function."""
    return name.startswith("retval_")


def as_tensors(value):
    """A structure with numbers, strings, arrays and variables converted to tensors; other leaves are unchanged."""

    def leaf(v):
        if isinstance(v, NUMBERS) or isinstance(v, _core.VariableBase):
            return _core.convert(v)
        return v

    return nest.map_structure(leaf, value)


def condition(value, where):
    """Converts a condition to a scalar bool tensor. Raises ValueError if it is something else."""
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
    """Zeros with the structure of a value, for a result that will not be used. Unknown sizes become 0."""

    def leaf(v):
        if not isinstance(v, _core.Tensor):
            return v
        dims = _core.seen_shape(v)
        if v.dtype.name == "variant":
            return _core.raw.EmptyTensorList(-1, -1, "float32")
        zero = _core.convert("" if v.dtype.name == "string" else 0, v.dtype)
        return _core.raw.Fill(np.array([d or 0 for d in dims or ()], np.int32), zero)

    return nest.map_structure(leaf, as_tensors(value), expand_composites=True)
