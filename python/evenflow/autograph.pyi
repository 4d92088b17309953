"""Type stubs of evenflow.autograph. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def set_verbosity(level, alsologtostdout=False):
    """Sets how much is logged about conversions; 0 logs nothing."""

def to_code(entity, recursive=True, experimental_optional_features=None):
    """The source code that the function is converted to."""

def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The converted function."""

def trace(*args):
    """Prints its arguments while tracing."""
