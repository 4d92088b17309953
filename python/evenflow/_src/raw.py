"""tf.raw_ops: every op of the engine under its own name. A callable is created when its name is first used."""
import sys
import types

from . import _core
from ._missing import nearest, no_name


class RawOps(types.ModuleType):
    """A module with one attribute per op of the engine. Arguments may be positional; the package itself uses this one."""

    @staticmethod
    def _make(name):
        return _core.op(name)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            op = self._make(name)
        except AttributeError:
            raise no_name("tf.raw_ops", name, nearest("tf.raw_ops", name, _core.op_names())) from None
        setattr(self, name, op)
        return op

    def __dir__(self):
        return _core.op_names()


class PublicOps(RawOps):
    """tf.raw_ops: arguments are keyword-only, and a few have other names than in the definitions of the ops."""

    _RENAMED = {"reduction_indices": "axis", "dim": "axis", "split_dim": "axis", "squeeze_dims": "axis"}
    _OPS = ("All", "Any", "EuclideanNorm", "ExpandDims", "Max", "Mean", "Min", "Prod", "Split", "SplitV", "Squeeze", "Sum")
    _OTHERS = {"Select": "condition, x, y", "Where": "condition"}

    @classmethod
    def _make(cls, name):
        params = cls._OTHERS.get(name)
        if name in cls._OPS:
            params = [cls._RENAMED.get(p, p) for p in getattr(_core.raw, name)._params[:-1]]
        op = _core.op(name, params, None, None, True)
        return _VarHandle(op) if name == "VarHandleOp" else op


class _VarHandle:
    """VarHandleOp. In a graph, a variable without shared_name gets the name of its node, so that all runs share it."""

    def __init__(self, op):
        self._op, self._params = op, op._params
        self.__name__ = self.__qualname__ = "VarHandleOp"

    def __call__(self, *, shared_name="", name=None, **kwargs):
        graph = _core.current_graph()
        if graph is not None and not shared_name:
            shared_name = graph.unique_name(name or "VarHandleOp", mark_as_used=False)
        return self._op(shared_name=shared_name, name=name, **kwargs)


_core.raw = RawOps("evenflow._core.raw", RawOps.__doc__)
public = sys.modules["evenflow.raw_ops"] = PublicOps("evenflow.raw_ops", __doc__)
