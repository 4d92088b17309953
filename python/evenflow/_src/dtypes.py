"""Element types: `tf.float32` and its siblings.

Each type is a single object, which this file makes, so two types are equal if they are the same object. The numbers are
those of TensorFlow's DataType enum; a reference type (`float32_ref` of TensorFlow 1) has the number of its base plus 100.
The table below has all properties of a type. The numpy counterparts of types that numpy lacks come from `ml_dtypes`,
which also registers their names ("bfloat16") with numpy.
"""
import ml_dtypes
import numpy as np

from . import _core

_REF = 100

# name: enum, bytes, kind. Kinds: f floating, i signed, u unsigned, c complex, b bool, q quantized,
# o not numeric; a capital letter marks the types that only `ml_dtypes` has.
_TABLE = {
    "float32": (1, 4, "f"),
    "float64": (2, 8, "f"),
    "int32": (3, 4, "i"),
    "uint8": (4, 1, "u"),
    "int16": (5, 2, "i"),
    "int8": (6, 1, "i"),
    "string": (7, 0, "o"),
    "complex64": (8, 8, "c"),
    "int64": (9, 8, "i"),
    "bool": (10, 1, "b"),
    "qint8": (11, 1, "q"),
    "quint8": (12, 1, "q"),
    "qint32": (13, 4, "q"),
    "bfloat16": (14, 2, "F"),
    "qint16": (15, 2, "q"),
    "quint16": (16, 2, "q"),
    "uint16": (17, 2, "u"),
    "complex128": (18, 16, "c"),
    "float16": (19, 2, "f"),
    "resource": (20, 0, "o"),
    "variant": (21, 0, "o"),
    "uint32": (22, 4, "u"),
    "uint64": (23, 8, "u"),
    "float8_e5m2": (24, 1, "F"),
    "float8_e4m3fn": (25, 1, "F"),
    "float8_e4m3fnuz": (26, 1, "F"),
    "float8_e4m3b11fnuz": (27, 1, "F"),
    "float8_e5m2fnuz": (28, 1, "F"),
    "int4": (29, 1, "I"),
    "uint4": (30, 1, "U"),
    "int2": (31, 1, "I"),
    "uint2": (32, 1, "U"),
    "float4_e2m1fn": (33, 1, "F"),
}
_NAME_OF = {row[0]: name for name, row in _TABLE.items()}
_REAL_OF = {"complex64": "float32", "complex128": "float64"}
_QUANTIZED_CODE = {"qint8": "i1", "quint8": "u1", "qint16": "<i2", "quint16": "<u2", "qint32": "<i4"}
_by_enum = {}


class DType(_core.DTypeBase):
    """The type of a tensor's elements.

    Compares equal to whatever `as_dtype` would turn into it: `tf.float32 == "float32"`.
    """

    __slots__ = ("name", "size", "_kind", "_numpy", "__weakref__")

    def __new__(cls, type_enum):
        type_enum = int(type_enum)
        known = _by_enum.get(type_enum)
        if known is not None:
            return known
        if not -(2**63) <= type_enum < 2**63:
            raise OverflowError(f"{type_enum} does not fit into 64 bits, so it is the number of no dtype")
        base = _NAME_OF.get(type_enum - _REF if type_enum > _REF else type_enum)
        if base is None:
            raise TypeError(f"Could not convert enum {type_enum!r} to a TensorFlow DType.")
        self = super().__new__(cls)
        self._enum = type_enum
        self.name = base + ("_ref" if type_enum > _REF else "")
        _, self.size, self._kind = _TABLE[base]
        self._numpy = None
        _by_enum[type_enum] = self
        return self

    @property
    def as_datatype_enum(self):
        """The number of this type in TensorFlow's DataType enum."""
        return self._enum

    _type_enum = as_datatype_enum

    @property
    def as_numpy_dtype(self):
        """The numpy scalar type that holds one element."""
        if self._numpy is None:
            self._numpy = _numpy_type(self)
        return self._numpy

    @property
    def _is_ref_dtype(self):
        return self._enum > _REF

    @property
    def _as_ref(self):
        return self if self._enum > _REF else DType(self._enum + _REF)

    @property
    def base_dtype(self):
        """The type itself, or what a reference type refers to."""
        return _by_enum[self._enum - _REF] if self._enum > _REF else self

    @property
    def real_dtype(self):
        """The type of the real part of a complex type; else the type itself."""
        real = _REAL_OF.get(self.base_dtype.name)
        return self if real is None else _by_enum[_TABLE[real][0]]

    @property
    def is_bool(self):
        """Whether elements are true or false."""
        return self._kind == "b"

    @property
    def is_integer(self):
        """Whether elements are whole numbers and not quantized."""
        return self._kind in "iuIU"

    @property
    def is_unsigned(self):
        """Whether elements are whole numbers that cannot be negative."""
        return self._kind in "uU"

    @property
    def is_floating(self):
        """Whether elements are real floating-point numbers."""
        return self._kind in "fF"

    @property
    def is_complex(self):
        """Whether elements are complex numbers."""
        return self._kind == "c"

    @property
    def is_quantized(self):
        """Whether elements are quantized integers."""
        return self._kind == "q"

    @property
    def is_numeric(self):
        """Whether TensorFlow counts the type among the numeric ones."""
        return self._kind in "fiucq" or self.base_dtype.name == "bfloat16"

    @property
    def is_numpy_compatible(self):
        """Whether a numpy array can hold such elements."""
        return self.base_dtype.name not in ("resource", "variant")

    is_numeric_compatible = is_numeric

    @property
    def min(self):
        """The smallest finite value. Raises TypeError if the type has none."""
        return _extreme(self, "min", "minimum")

    @property
    def max(self):
        """The largest finite value. Raises TypeError if the type has none."""
        return _extreme(self, "max", "maximum")

    @property
    def limits(self, clip_negative=True):
        """The range of the values of a pixel: (0, 1) for floats, (0, max) for integers."""
        kind = self._kind
        if kind == "f" and self.size > 2:
            return (0, 1)
        if kind == "b":
            return (0, True)
        if kind in "iu":
            return (0, self.max)
        if not self.is_numpy_compatible:
            raise KeyError(self._enum)
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other):
        """Whether a tensor of type `other` may be used where this type is required."""
        other = as_dtype(other)
        return self._enum in (other._enum, other.base_dtype._enum)

    def is_subtype_of(self, other):
        """Types have no hierarchy: true only for the same type."""
        return type(other) is DType and self is other

    def most_specific_common_supertype(self, types):
        """This type, if all `types` are the same; else None."""
        return self if all(self == other for other in types) else None

    def _is_meant_by(self, other):
        """Whether `as_dtype` turns an object of another class into this type. C compares with types and names."""
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __int__(self):
        return self._enum

    def __repr__(self):
        return "tf." + self.name

    def __str__(self):
        return f"<dtype: '{self.name}'>"

    def __reduce__(self):
        return as_dtype, (self.name,)


DType.__module__ = "tensorflow.python.framework.dtypes"


def _numpy_type(dtype):
    """Looks up or builds the numpy type of `dtype` (a reference type has its base's)."""
    name = dtype.base_dtype.name
    if name in _QUANTIZED_CODE:
        return np.dtype([(name, _QUANTIZED_CODE[name])])
    if name == "string":
        return object if dtype._enum < _REF else np.object_
    if name in ("resource", "variant"):
        raise KeyError(dtype._enum)
    if name == "bool":
        return np.bool_
    if dtype._kind in "FIU":
        return getattr(ml_dtypes, name)
    return getattr(np, name)


def _extreme(dtype, which, word):
    base = dtype.base_dtype
    if base._kind == "q":
        raise TypeError(f"Cannot find {word} value of {dtype} with quantized type {base}.")
    if base.name in ("resource", "variant"):
        raise TypeError(f"Cannot find {word} value of {dtype}.")
    if base._kind in "cbo":
        raise TypeError(f"Cannot find {word} value of {dtype} with type {base}.")
    if base._kind == "f":
        return getattr(np.finfo(dtype.as_numpy_dtype), which)
    if base._kind in "iu":
        return getattr(np.iinfo(dtype.as_numpy_dtype), which)
    info = ml_dtypes.finfo if base._kind == "F" else ml_dtypes.iinfo
    return getattr(info(dtype.as_numpy_dtype), which)


for _row in _TABLE.values():
    DType(_row[0])
for _row in _TABLE.values():
    DType(_row[0] + _REF)

float16 = half = _by_enum[19]
float32 = _by_enum[1]
float64 = double = _by_enum[2]
bfloat16 = _by_enum[14]
int8, int16, int32, int64 = (_by_enum[k] for k in (6, 5, 3, 9))
uint8, uint16, uint32, uint64 = (_by_enum[k] for k in (4, 17, 22, 23))
int4, uint4, int2, uint2 = (_by_enum[k] for k in (29, 30, 31, 32))
complex64, complex128 = _by_enum[8], _by_enum[18]
bool = _by_enum[10]  # noqa: A001 - the public name
string, resource, variant = (_by_enum[k] for k in (7, 20, 21))
qint8, quint8, qint16, quint16, qint32 = (_by_enum[k] for k in (11, 12, 15, 16, 13))
float8_e5m2, float8_e4m3fn, float8_e4m3fnuz = (_by_enum[k] for k in (24, 25, 26))
float8_e4m3b11fnuz, float8_e5m2fnuz, float4_e2m1fn = (_by_enum[k] for k in (27, 28, 33))

PUBLIC = (
    "bfloat16 bool complex64 complex128 double float16 float32 float64 half int8 int16 int32 int64 "
    "qint8 qint16 qint32 quint8 quint16 resource string uint8 uint16 uint32 uint64 variant"
).split()
TYPES = dict(_by_enum)  # enum -> DType, for the C extension

_words = {d.name: d for d in _by_enum.values()}
_words.update({"half": float16, "double": float64, "float": float32})
for _alias in ("half", "double", "float"):
    _words[_alias + "_ref"] = _words[_alias]._as_ref
_core.register_dtype_words(_words)

# Numpy types, numpy dtypes and Python types -> DType, for as_dtype.
_found = {float: float32, type(True): bool, object: string, np.object_: string, np.str_: string}
_found[np.bytes_] = string
for _name, (_enum, _, _kind) in _TABLE.items():
    if _kind in "fiuc":
        _found[getattr(np, _name)] = _by_enum[_enum]
        _found[np.dtype(_name)] = _by_enum[_enum]
_found[np.bool_] = _found[np.dtype(np.bool_)] = bool
for _name in ("longlong", "ulonglong", "intc", "uintc", "long", "ulong", "int_", "uint"):
    if hasattr(np, _name):
        _found.setdefault(getattr(np, _name), _words[np.dtype(getattr(np, _name)).name])


def _from_numpy(dtype):
    """The DType of a numpy dtype that is not in the table, or None."""
    if dtype.kind in "SUO":
        return string
    if dtype.fields is not None:
        if len(dtype.fields) == 1:
            name = next(iter(dtype.fields))
            if name in _QUANTIZED_CODE:
                return _words[name]
        return None
    if dtype.kind == "V" and dtype.name == "void":
        return None
    return _words.get(dtype.newbyteorder("=").name)


def as_dtype(type_value):
    """Turns a DType, name, numpy type, Python type or enum number into the DType it means.

    Raises TypeError for anything else, also for `int`, which could mean int32 or int64.
    """
    if type(type_value) is DType:
        return type_value
    if isinstance(type_value, str):
        found = _words.get(type_value) or (_guess(type_value) if type(type_value) is np.str_ else None)
    else:
        try:
            found = _found.get(type_value)
            if found is None:
                found = _by_enum.get(type_value)
        except TypeError:
            found = None
        if found is None:
            found = _guess(type_value)
    if found is None:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType."
        )
    return found


def _guess(value):
    """The DType of a value that is not in the tables: other numpy dtypes and types, and objects with a `dtype`."""
    if isinstance(value, np.dtype):
        return _from_numpy(value)
    if isinstance(value, type):
        if not issubclass(value, np.generic):
            return None
        return _from_numpy(np.dtype(value))
    dtype = getattr(value, "dtype", None)
    return _from_numpy(dtype) if isinstance(dtype, np.dtype) else None
