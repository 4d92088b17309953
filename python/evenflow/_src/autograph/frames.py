"""Whether the converted function that runs now is inside a staged loop of its own."""
import threading


class _Frames(threading.local):
    def __init__(self):
        self.depth = [0]
        self.missing = [None]


_frames = _Frames()


def enter_function():
    """A converted function begins."""
    _frames.depth.append(0)
    _frames.missing.append(None)


def leave_function():
    """It ends."""
    _frames.depth.pop()
    _frames.missing.pop()


def in_loop():
    """Whether a loop of this function is being staged."""
    return _frames.depth[-1] > 0


def note_missing_return(branch):
    """A branch of an `if` outside all loops does not return though the other does."""
    if not in_loop():
        _frames.missing[-1] = branch


def missing_return():
    """The last such branch of this function, or None."""
    return _frames.missing[-1]


class staged_loop:
    """The extent in which a loop's body is traced."""

    __slots__ = ()

    def __enter__(self):
        _frames.depth[-1] += 1

    def __exit__(self, *unused):
        _frames.depth[-1] -= 1
        return False
