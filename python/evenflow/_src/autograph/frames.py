"""The stack of converted functions that are running: whether each is inside a staged loop (one that becomes a While node)."""
import threading


class _Frames(threading.local):
    def __init__(self):
        self.depth = [0]
        self.missing = [None]


_frames = _Frames()


def enter_function():
    """Called when a converted function begins."""
    _frames.depth.append(0)
    _frames.missing.append(None)


def leave_function():
    """Called when a converted function ends."""
    _frames.depth.pop()
    _frames.missing.pop()


def in_loop():
    """Whether a loop of this function is being staged."""
    return _frames.depth[-1] > 0


def note_missing_return(branch):
    """Records that a branch of an `if` outside of loops does not return a value although the other does."""
    if not in_loop():
        _frames.missing[-1] = branch


def missing_return():
    """The last branch that `note_missing_return` recorded for this function, or None."""
    return _frames.missing[-1]


class staged_loop:
    """The context in which the body of a loop is traced."""

    __slots__ = ()

    def __enter__(self):
        _frames.depth[-1] += 1

    def __exit__(self, *unused):
        _frames.depth[-1] -= 1
        return False
