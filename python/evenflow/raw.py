"""tf.raw_ops: every op of the engine under its own name, made when it is first asked for."""
import difflib
import sys
import types

from . import _core


class RawOps(types.ModuleType):
    """One attribute per op of the engine's table."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            op = _core.op(name)
        except AttributeError:
            near = difflib.get_close_matches(name, _core.op_names(), 1)
            hint = f"; the nearest is {near[0]}" if near else ""
            raise AttributeError(f"Evenflow has no op '{name}'{hint}") from None
        setattr(self, name, op)
        return op

    def __dir__(self):
        return _core.op_names()


_core.raw = RawOps("evenflow.raw_ops", __doc__)
sys.modules["evenflow.raw_ops"] = _core.raw
