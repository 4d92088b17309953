"""Type stubs of evenflow.dtypes. Written by tools/gen_stubs.py."""

from typing import Any

class DType:
    """The type of a tensor's elements."""
    def __getattr__(self, name: str): ...

def as_dtype(type_value):
    """Turns a DType, name, numpy type, Python type or enum number into the DType it means."""

bfloat16: DType
bool: DType
def cast(x, dtype, name=None):
    """`x` with its elements converted to `dtype`."""

def complex(real, imag, name=None):
    """Complex numbers of two tensors of floats."""

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
    """As cast, but values that `dtype` cannot hold become its nearest extreme."""

string: DType
uint16: DType
uint32: DType
uint64: DType
uint8: DType
variant: DType
