"""Type stubs of evenflow.train. Written by tools/gen_stubs.py."""

from typing import Any

class ExponentialMovingAverage:
    """Keeps shadow = decay * shadow + (1 - decay) * value for variables and tensors."""
    def __getattr__(self, name: str): ...
