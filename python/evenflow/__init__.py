"""Evenflow: TensorFlow programs on an engine whose calls never get slower.

`import evenflow as tf`, or `evenflow run program.py` for a program that says `import tensorflow`.
"""
import functools as _functools
import os as _os
import sys as _sys
from importlib import util as _util

from . import _level

_level.load(__name__)

from . import _core  # noqa: E402
from ._src import raw as _raw
from ._src import tensors as _tensors
from ._src import graph as _graph
from ._src import manual as _manual
from ._src import namespace as _namespace

__version__ = "2.21.0"
_folder = _os.path.dirname(_os.path.abspath(__file__)) + _os.sep
_core.set_package(_folder)
_core.event_folders(_folder, _os.path.dirname(_os.__file__) + _os.sep)
_tensors.start()
_os.register_at_fork(after_in_child=_core.forked)
_graph.start()

from ._src import _surface, alias as _alias, diagnosis as _diagnosis  # noqa: E402  (these need the calls above)

_surface.gather()
_manual.add_to(_namespace.names())
_namespace.publish()
_diagnosis.from_environment()
_alias.watch_keras()


_OF_KERAS = ("initializers", "losses", "metrics", "optimizers")  # modules of Keras that are also top-level names


def _find(name):
    """Finds the top-level names that import Keras."""
    if name == "keras":
        return _alias.keras()
    if name in _OF_KERAS:
        return getattr(_alias.keras(), name)
    raise AttributeError(name)


_namespace.find_others("", _find)


def __getattr__(name):
    return _namespace.look_up(_sys.modules[__name__], name)


@_functools.cache
def _has_keras():
    return _util.find_spec("keras") is not None


def __dir__():
    """The public names, without the modules of the implementation."""
    public = {name.split(".", 1)[0] for name in _namespace.names()}
    keras = {"keras"} if _has_keras() else set()
    return sorted(public | keras | {"raw_ops"} | {name for name in globals() if name.startswith("__")})
