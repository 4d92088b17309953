"""Type stubs of evenflow.sysconfig. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

CXX11_ABI_FLAG: int
MONOLITHIC_BUILD: int
def get_build_info():
    """A dict of what the build supports."""

def get_compile_flags():
    """Flags to compile against the C interface."""

def get_include():
    """The directory of the package's headers."""

def get_lib():
    """The directory of the package's libraries."""

def get_link_flags():
    """Flags to link against the C interface."""
