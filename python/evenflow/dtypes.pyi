"""Type stubs of evenflow.dtypes. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class DType:
    """The type of a tensor's elements."""
    def __init__(self, *args, **kwargs): ...
    def __eq__(self, *args: Any) -> Any: ...
    def __hash__(self, *args: Any) -> builtins.int: ...
    def __int__(self, *args: Any) -> builtins.int: ...
    def __ne__(self, *args: Any) -> Any: ...
    @property
    def as_datatype_enum(self) -> Any: ...
    @property
    def as_numpy_dtype(self) -> Any: ...
    @property
    def base_dtype(self) -> Any: ...
    @property
    def is_bool(self) -> Any: ...
    def is_compatible_with(self, other): ...
    @property
    def is_complex(self) -> Any: ...
    @property
    def is_floating(self) -> Any: ...
    @property
    def is_integer(self) -> Any: ...
    @property
    def is_numeric(self) -> Any: ...
    @property
    def is_numeric_compatible(self) -> Any: ...
    @property
    def is_numpy_compatible(self) -> Any: ...
    @property
    def is_quantized(self) -> Any: ...
    def is_subtype_of(self, other): ...
    @property
    def is_unsigned(self) -> Any: ...
    @property
    def limits(self) -> Any: ...
    @property
    def max(self) -> Any: ...
    @property
    def min(self) -> Any: ...
    def most_specific_common_supertype(self, types): ...
    @property
    def name(self) -> Any: ...
    @property
    def real_dtype(self) -> Any: ...
    @property
    def size(self) -> Any: ...

def as_dtype(type_value):
    """Turns a DType, name, numpy type, Python type or enum number into the DType it means."""

bfloat16: DType
bool: DType
def cast(x, dtype, name=None):
    """`x` with its elements converted to `dtype`."""

def complex(real, imag, name=None):
    """Complex numbers from their real and imaginary parts."""

complex128: DType
complex64: DType
double: DType
float16: DType
float32: DType
float64: DType
half: DType
int16: DType
int32: DType
int64: DType
int8: DType
qint16: DType
qint32: DType
qint8: DType
quint16: DType
quint8: DType
resource: DType
def saturate_cast(value, dtype, name=None):
    """Like cast, but values out of the range of `dtype` become its minimum or maximum."""

string: DType
uint16: DType
uint32: DType
uint64: DType
uint8: DType
variant: DType
