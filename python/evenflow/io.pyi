"""Type stubs of evenflow.io. Written by tools/gen_stubs.py."""

from typing import Any

def decode_base64(input, name=None):
    """The bytes that web-safe base64 stands for, with or without padding."""

def encode_base64(input, pad, name=None):
    """Each string in web-safe base64; `pad` adds `=` up to a multiple of four characters."""
