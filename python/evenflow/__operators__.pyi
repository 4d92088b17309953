"""Type stubs of evenflow.__operators__. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def eq(self, other):
    """`self == other`, element by element."""

def ne(self, other):
    """`self != other`, element by element."""
