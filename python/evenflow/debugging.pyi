"""Type stubs of evenflow.debugging. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def Assert(condition, data, summarize=None, name=None):
    """Raises InvalidArgumentError with `data` in its message unless `condition` is true."""

def assert_all_finite(x, message, name=None):
    """Returns `x`. Raises InvalidArgumentError if it contains a NaN or an infinity."""

def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x == y` for all elements."""

def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > y` for all elements."""

def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= y` for all elements."""

def assert_integer(x, message=None, name=None):
    """Raises TypeError unless `x` has an integer dtype."""

def assert_less(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < y` for all elements."""

def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= y` for all elements."""

def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `|x - y| < atol + rtol |y|` for all elements."""

def assert_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x < 0` for all elements."""

def assert_non_negative(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x >= 0` for all elements."""

def assert_non_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x <= 0` for all elements."""

def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raises InvalidArgumentError if `x == y` for any element."""

def assert_positive(x, message=None, summarize=None, name=None):
    """Raises InvalidArgumentError unless `x > 0` for all elements."""

def assert_proper_iterable(values):
    """Raises TypeError unless `values` is an iterable other than a tensor, an array or a string."""

def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless `x` has the rank `rank`."""

def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless the rank of `x` is at least `rank`."""

def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError (or, when a graph runs, InvalidArgumentError) unless `x` has one of the ranks."""

def assert_same_float_dtype(tensors=None, dtype=None):
    """The common floating-point dtype of all tensors. Raises ValueError if they differ or are not floating-point."""

def assert_scalar(tensor, message=None, name=None):
    """Raises ValueError unless `tensor` is a scalar."""

def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks sizes against numbers and labels. A label stands for the same size in all tensors."""

def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless `tensor` has the dtype `tf_type`."""

def check_numerics(tensor, message, name=None):
    """Returns `tensor`. Raises InvalidArgumentError if it contains a NaN or an infinity."""

def disable_traceback_filtering():
    """From now on tracebacks show every frame."""

def enable_traceback_filtering():
    """From now on tracebacks omit the frames of the library."""

def get_log_device_placement():
    """Whether the logging of device placements was enabled."""

def is_numeric_tensor(tensor):
    """Whether `tensor` is a tensor of numbers."""

def is_traceback_filtering_enabled():
    """Whether tracebacks omit the frames of the library."""

def set_log_device_placement(enabled):
    """Stores whether device placements are logged."""
