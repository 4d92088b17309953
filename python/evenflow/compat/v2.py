"""tf.compat.v2: the same names as tf."""
import sys

from .. import namespace


def __getattr__(name):
    if not name.startswith("__"):
        try:
            return getattr(sys.modules["evenflow"], name)
        except AttributeError:
            pass
    raise namespace.missing(sys.modules["evenflow"], name)
