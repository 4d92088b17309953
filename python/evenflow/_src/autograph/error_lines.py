"""Translates errors that are raised while a function is traced, so that they name the user's files and lines."""
import os
import traceback
import types

from .. import errors

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class _LongKeyError(KeyError):
    """A KeyError that prints its message without quotes."""

    def __init__(self, message, key):
        super().__init__(key)
        self._message = message

    def __str__(self):
        return self._message


_LongKeyError.__name__ = _LongKeyError.__qualname__ = "KeyError"


def _user_frames(error):
    """The innermost line of each of the user's functions in the traceback of the error."""
    found, library = [], True
    for frame in traceback.extract_tb(error.__traceback__):
        inside = frame.filename.startswith(_HERE) or f"{os.sep}malt{os.sep}" in frame.filename
        if inside:
            library = library or frame.name == "converted_call"
            continue
        if found and not library and found[-1].name == frame.name and found[-1].filename == frame.filename:
            found[-1] = frame
        else:
            found.append(frame)
        library = False
    return found


def _message(error, frames):
    lines = ["in user code:", ""]
    for frame in frames:
        lines.append(f'    File "{frame.filename}", line {frame.lineno}, in {frame.name}  *')
        lines.append(f"        {(frame.line or '<source unavailable>').strip()}")
    lines.append("")
    lines.extend("    " + line for line in f"{type(error).__name__}: {error}".split("\n"))
    return "\n".join(lines + [""])


def _takes_message(kind):
    """Whether an exception of this class can be constructed from a message alone."""
    if issubclass(kind, (OSError, UnicodeError, SyntaxError, ImportError)):
        return False
    return not any(isinstance(vars(c).get(m), types.FunctionType) for c in kind.__mro__ for m in ("__init__", "__new__"))


def _remade(error, message):
    """An error of the same class with another message; None if the class cannot be constructed from a message."""
    kind = type(error)
    if kind is KeyError:
        return _LongKeyError(message, str(error))
    if kind is errors.InvalidGraphError:
        return kind(message, None)
    if isinstance(error, errors.OpError):
        return kind(error.node_def, error.op, message) if kind.__module__.startswith("tensorflow") else None
    return kind(message) if _takes_message(kind) else None


def translated(error):
    """The error to raise instead: of the same class, with a message that names the user's lines."""
    if getattr(error, "_told", False):
        return error
    frames = _user_frames(error)
    if not frames:
        return error
    made = _remade(error, _message(error, frames))
    if made is None:
        made = error
    else:
        made.__traceback__ = error.__traceback__
        made.__cause__, made.__suppress_context__ = error.__cause__, True
    try:
        made._told = True
    except AttributeError:
        pass
    return made
