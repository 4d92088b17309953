"""tf.compat: conversion between text and bytes, and the names of both generations (compat.v1, compat.v2)."""
import numbers
import os

import numpy as np

from ..namespace import export, offer
from ..shapes import Dimension


@export("compat.as_bytes")
def as_bytes(bytes_or_text, encoding="utf-8"):
    """Encodes text to bytes; bytes are returned unchanged."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


@export("compat.as_text", "compat.as_str")
def as_text(bytes_or_text, encoding="utf-8"):
    """Decodes bytes to text; text is returned unchanged."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


@export("compat.as_str_any")
def as_str_any(value, encoding="utf-8"):
    """Anything as text."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


@export("compat.path_to_str")
def path_to_str(path):
    """A path object as text."""
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


offer((numbers.Integral, np.integer), "compat.integral_types")
offer((numbers.Real, np.integer, np.floating), "compat.real_types")
offer((numbers.Complex, np.number), "compat.complex_types")
offer((bytes, str), "compat.bytes_or_text_types")


@export("compat.dimension_value", "compat.v1.dimension_value")
def dimension_value(dimension):
    """The size of a Dimension or int; None if unknown."""
    return getattr(dimension, "value", dimension)


@export("compat.dimension_at_index", "compat.v1.dimension_at_index")
def dimension_at_index(shape, index):
    """The Dimension of a shape at an index."""
    return Dimension(None) if shape.rank is None else Dimension(dimension_value(shape[index]))


@export("compat.forward_compatible", "compat.v1.forward_compatible")
def forward_compatible(year, month, day):
    """Whether features that were announced for this date may be used: always True."""
    return True
