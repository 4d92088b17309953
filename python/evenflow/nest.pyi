"""Type stubs of evenflow.nest. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises ValueError unless both have the same structure, or TypeError if only the types of containers differ."""

def flatten(structure, expand_composites=False):
    """A list of the leaves of `structure` in order. For a leaf it is a list with that leaf."""

def is_nested(seq):
    """Whether `seq` is a structure rather than a leaf. Strings and arrays are leaves."""

def map_structure(func, *structure, **kwargs):
    """Calls `func` with the corresponding leaves of all structures and packs the results like the first structure."""

def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """The items of `flat_sequence` packed into the structure of `structure`."""
