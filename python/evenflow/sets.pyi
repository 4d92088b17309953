"""Type stubs of evenflow.sets. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def difference(a, b, aminusb=True, validate_indices=True):
    """The elements of each set of `a` that its counterpart in `b` lacks (or the other way round)."""

def intersection(a, b, validate_indices=True):
    """The elements that each set of `a` shares with its counterpart in `b`."""

def size(a, validate_indices=True):
    """How many different elements each set of a SparseTensor has."""

def union(a, b, validate_indices=True):
    """The elements of each set of `a` and of its counterpart in `b`."""
