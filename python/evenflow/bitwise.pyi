"""Type stubs of evenflow.bitwise. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def bitwise_and(x, y, name=None) -> Tensor:
    """The bits set in both `x` and `y`; shapes broadcast."""

def bitwise_or(x, y, name=None) -> Tensor:
    """The bits set in `x` or `y` or both; shapes broadcast."""

def bitwise_xor(x, y, name=None) -> Tensor:
    """The bits set in exactly one of `x` and `y`; shapes broadcast."""

def invert(x, name=None) -> Tensor:
    """Inverts every bit of `x`."""

def left_shift(x, y, name=None) -> Tensor:
    """`x` shifted left by `y` bits; shapes broadcast."""

def right_shift(x, y, name=None) -> Tensor:
    """`x` shifted right by `y` bits; the sign bit is copied into the free bits; shapes broadcast."""
