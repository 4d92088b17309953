"""Type stubs of evenflow.sysconfig. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

CXX11_ABI_FLAG: int
MONOLITHIC_BUILD: int
def get_build_info():
    """What the build supports."""

def get_compile_flags():
    """Flags to compile against the C interface."""

def get_include():
    """Where the package's headers are."""

def get_lib():
    """Where the package's libraries are."""

def get_link_flags():
    """Flags to link against the C interface."""
