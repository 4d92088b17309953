"""The wire format of protobuf, for messages that are written and read without the package protobuf."""
import struct


def varint(value):
    """A number as a protobuf varint."""
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 0x7f:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def message(field, content):
    """A field with a message, which may be empty."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field, value):
    """A field with a string or bytes; b"" if it is empty."""
    value = value.encode() if isinstance(value, str) else value
    return message(field, value) if value else b""


def number(field, value):
    """A field with an integer; b"" if it is zero."""
    return varint(field << 3) + varint(int(value)) if value else b""


def double(field, value):
    """A field with a 64-bit floating-point number; b"" if it is zero."""
    return varint(field << 3 | 1) + struct.pack("<d", value) if value else b""


def _varint_at(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def fields(data):
    """Yields (number, value) of the fields of a message; strings and messages are bytes. Raises ValueError if it is
    damaged."""
    at, end = 0, len(data)
    try:
        while at < end:
            tag, at = _varint_at(data, at)
            kind = tag & 7
            if kind == 0:
                value, at = _varint_at(data, at)
            else:
                if kind == 2:
                    size, at = _varint_at(data, at)
                elif kind in (1, 5):
                    size = 8 if kind == 1 else 4
                else:
                    raise ValueError(f"a field has the unknown wire type {kind}")
                value = data[at:at + size]
                at += size
                if at > end:
                    raise ValueError("it is cut off")
            yield tag >> 3, value
    except IndexError:
        raise ValueError("it is cut off") from None
