"""Type stubs of evenflow.experimental. Written by tools/gen_stubs.py."""

from typing import Any

class Optional:
    """A value, or none."""
    def __getattr__(self, name: str): ...
