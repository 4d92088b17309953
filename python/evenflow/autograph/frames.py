"""Whether the converted function that runs now is inside a staged loop of its own."""
import threading


class _Frames(threading.local):
    def __init__(self):
        self.depth = [0]


_frames = _Frames()


def enter_function():
    """A converted function begins."""
    _frames.depth.append(0)


def leave_function():
    """It ends."""
    _frames.depth.pop()


def in_loop():
    """Whether a loop of this function is being staged."""
    return _frames.depth[-1] > 0


class staged_loop:
    """The extent in which a loop's body is traced."""

    __slots__ = ()

    def __enter__(self):
        _frames.depth[-1] += 1

    def __exit__(self, *unused):
        _frames.depth[-1] -= 1
        return False
