"""Type stubs of evenflow.debugging. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def Assert(condition, data, summarize=None, name=None):
    """Raises InvalidArgumentError with `data` in it unless `condition` is true."""

def assert_all_finite(x, message, name=None):
    """`x`; InvalidArgumentError if it holds a NaN or an infinity."""

def assert_equal(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x == y` everywhere."""

def assert_greater(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x > y` everywhere."""

def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x >= y` everywhere."""

def assert_integer(x, message=None, name=None):
    """TypeError unless `x` is of an integer dtype."""

def assert_less(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x < y` everywhere."""

def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x <= y` everywhere."""

def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `|x - y| < atol + rtol |y|` everywhere."""

def assert_negative(x, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x < 0` everywhere."""

def assert_non_negative(x, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x >= 0` everywhere."""

def assert_non_positive(x, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x <= 0` everywhere."""

def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """InvalidArgumentError if `x == y` anywhere."""

def assert_positive(x, message=None, summarize=None, name=None):
    """InvalidArgumentError unless `x > 0` everywhere."""

def assert_proper_iterable(values):
    """TypeError unless `values` is an iterable that is not itself one value."""

def assert_rank(x, rank, message=None, name=None):
    """ValueError (or, when it runs, InvalidArgumentError) unless `x` has that rank."""

def assert_rank_at_least(x, rank, message=None, name=None):
    """ValueError (or, when it runs, InvalidArgumentError) unless `x` has at least that rank."""

def assert_rank_in(x, ranks, message=None, name=None):
    """ValueError (or, when it runs, InvalidArgumentError) unless `x` has one of the ranks."""

def assert_same_float_dtype(tensors=None, dtype=None):
    """The one floating dtype of all tensors; ValueError if they differ or are not floats."""

def assert_scalar(tensor, message=None, name=None):
    """ValueError unless `tensor` is a scalar."""

def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks sizes against numbers and labels; a label means one size wherever it stands."""

def assert_type(tensor, tf_type, message=None, name=None):
    """TypeError unless `tensor` is of dtype `tf_type`."""

def check_numerics(tensor, message, name=None):
    """`tensor`; InvalidArgumentError if it holds a NaN or an infinity."""

def disable_traceback_filtering():
    """Tracebacks show every frame."""

def enable_traceback_filtering():
    """Tracebacks leave out the library's own frames."""

def get_log_device_placement():
    """Whether placements are to be logged."""

def is_numeric_tensor(tensor):
    """Whether `tensor` is a tensor of numbers."""

def is_traceback_filtering_enabled():
    """Whether tracebacks leave out the library's own frames."""

def set_log_device_placement(enabled):
    """Asks for placements to be logged."""
