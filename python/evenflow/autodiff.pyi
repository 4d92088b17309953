"""Type stubs of evenflow.autodiff. Written by tools/gen_stubs.py."""

from typing import Any

class ForwardAccumulator:
    """Jacobian-vector products of what is computed inside, in the direction `tangents` of `primals`."""
    def __getattr__(self, name: str): ...

class GradientTape:
    """Records ops on watched tensors and variables, and gives gradients through them."""
    def __getattr__(self, name: str): ...
