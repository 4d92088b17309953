"""Type stubs of evenflow.data. Written by tools/gen_stubs.py."""

from typing import Any

AUTOTUNE: int
class Dataset:
    """A sequence of elements of one structure. `make` gives a fresh iterator over them."""
    def __getattr__(self, name: str): ...

INFINITE_CARDINALITY: int
class Iterator:
    """The base of iterators over datasets."""
    def __getattr__(self, name: str): ...

UNKNOWN_CARDINALITY: int
