"""Counts checkpoints and files of weights that a program writes, and the objects that write them. Only under the doctor:
the classes are wrapped when it begins (Keras's, when it is imported)."""
import functools
import os

import evenflow
from evenflow import _core

from .observed import KINDS, REASONS

_SAVE = KINDS.index("save")
_MADE, _WRITTEN = REASONS.index("first"), REASONS.index("none")
_inside = [0]  # a manager saves by a checkpoint: that is one save


def _bytes(path):
    """What a file, or a checkpoint of that prefix, takes on disk; 0: it cannot be told."""
    path = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    total = 0
    for name in (path, path + ".index", path + ".data-00000-of-00001"):
        try:
            total += os.path.getsize(name) if name and os.path.isfile(name) else 0
        except OSError:
            pass
    return total


def written(method):
    @functools.wraps(method)
    def call(self, *args, **kwargs):
        began = _core.event_clock()
        _inside[0] += 1
        path = None
        try:
            path = method(self, *args, **kwargs)
            return path
        finally:
            _inside[0] -= 1
            if not _inside[0]:
                path = path if isinstance(path, str) else next((a for a in args if isinstance(a, (str, os.PathLike))), None)
                _core.event_post(_SAVE, began, _bytes(path), reason=_WRITTEN)
    return call


def _made(init):
    @functools.wraps(init)
    def call(self, *args, **kwargs):
        init(self, *args, **kwargs)
        _core.event_post(_SAVE, reason=_MADE)
    return call


def wrap(owner, *names):
    """Wraps the methods of a class that write a file, once."""
    if owner is None or "_evenflow_saves" in vars(owner):
        return
    owner._evenflow_saves = True
    for name in names:
        if callable(vars(owner).get(name)):
            setattr(owner, name, written(vars(owner)[name]))


def _class(*path):
    found = evenflow
    for name in path:
        found = getattr(found, name, None)
    return found if isinstance(found, type) else None


def install():
    for path, names in ((("train", "Checkpoint"), ("save", "write")), (("train", "CheckpointManager"), ("save",)),
                        (("compat", "v1", "train", "Saver"), ("save",))):
        owner = _class(*path)
        if owner is None or "_evenflow_saves" in vars(owner):
            continue
        wrap(owner, *names)
        if path[-1] != "CheckpointManager" and "__init__" in vars(owner):
            owner.__init__ = _made(owner.__init__)
