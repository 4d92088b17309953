"""Evenflow: TensorFlow programs on an engine whose calls never get slower.

`import evenflow as tf`, or `evenflow run program.py` for a program that says `import tensorflow`.
"""
import functools as _functools
import os as _os
import sys as _sys
from importlib import util as _util

from . import _core
from . import raw as _raw
from . import dtypes, errors, nest
from . import tensors as _tensors
from . import graph as _graph
from . import namespace as _namespace

__version__ = "2.21.0"
_core.set_package(_os.path.dirname(_os.path.abspath(__file__)) + _os.sep)
_tensors.start()
_os.register_at_fork(after_in_child=_core.forked)
_graph.start()

from . import _surface  # noqa: E402  (the public names; needs what is above)

_surface.gather()
_namespace.publish()


def __getattr__(name):
    if name == "keras":
        from . import alias

        return alias.keras()
    raise _namespace.missing(_sys.modules[__name__], name)


@_functools.cache
def _has_keras():
    return _util.find_spec("keras") is not None


def __dir__():
    """The public names; modules of the package itself are not among them."""
    public = {name.split(".", 1)[0] for name in _namespace.names()}
    keras = {"keras"} if _has_keras() else set()
    return sorted(public | keras | {"raw_ops"} | {name for name in globals() if name.startswith("__")})
