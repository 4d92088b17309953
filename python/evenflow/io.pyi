"""Type stubs of evenflow.io. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

def decode_base64(input, name=None) -> Tensor:
    """The bytes that web-safe base64 stands for, with or without padding."""

def encode_base64(input, pad=False, name=None) -> Tensor:
    """Each string in web-safe base64; `pad` adds `=` up to a multiple of four characters."""
