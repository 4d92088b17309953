"""Type stubs of evenflow.nest. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises unless both are nested alike: ValueError, or TypeError where only types differ."""

def flatten(structure, expand_composites=False):
    """The leaves of `structure` in order; a leaf alone is a list of itself."""

def is_nested(seq):
    """Whether `seq` is a structure rather than a leaf. Strings and arrays are leaves."""

def map_structure(func, *structure, **kwargs):
    """Calls `func` with the leaves at each place and arranges the results as the first structure."""

def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """`flat_sequence`'s items arranged as the leaves of `structure` are."""
