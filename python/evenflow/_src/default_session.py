"""The default session of each thread, which `Tensor.eval` and `Operation.run` use."""
import threading

from .namespace import export


class _Sessions(threading.local):
    """The stack of default sessions of this thread; the innermost is last."""

    def __init__(self):
        self.sessions = []


stack = _Sessions()


@export("compat.v1.get_default_session", "get_default_session")
def get_default_session():
    """The innermost default session of this thread; None if there is none."""
    return stack.sessions[-1] if stack.sessions else None


def default_session(session=None, what="tensor using `eval()`"):
    """`session`, or the default session if it is None. Raises ValueError if there is neither."""
    if session is None:
        session = get_default_session()
    if session is None:
        raise ValueError(f"Cannot evaluate {what}: No default session is registered. Use `with sess.as_default()` or "
                         "pass an explicit session to `eval(session=sess)`")
    return session
