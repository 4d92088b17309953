"""Type stubs of evenflow.sets. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def difference(a, b, aminusb=True, validate_indices=True):
    """The elements of each set of `a` that are not in the corresponding set of `b`; without `aminusb`, the reverse."""

def intersection(a, b, validate_indices=True):
    """The elements that are in both a set of `a` and the corresponding set of `b`."""

def size(a, validate_indices=True):
    """The number of distinct elements of each set of a SparseTensor."""

def union(a, b, validate_indices=True):
    """The elements that are in a set of `a` or in the corresponding set of `b`."""
