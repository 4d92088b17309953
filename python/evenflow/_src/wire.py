"""Protobuf's wire format, for messages that are written without the package protobuf."""
import struct


def varint(value):
    """A number as protobuf writes it."""
    value &= (1 << 64) - 1
    made = bytearray()
    while value > 0x7f:
        made.append(value & 0x7f | 0x80)
        value >>= 7
    made.append(value)
    return bytes(made)


def message(field, content):
    """A field that holds a message, even an empty one."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def text(field, value):
    """A string or bytes; nothing if it is empty."""
    value = value.encode() if isinstance(value, str) else value
    return message(field, value) if value else b""


def number(field, value):
    """An integer; nothing if it is zero."""
    return varint(field << 3) + varint(int(value)) if value else b""


def double(field, value):
    """A floating-point number of 64 bits; nothing if it is zero."""
    return varint(field << 3 | 1) + struct.pack("<d", value) if value else b""
