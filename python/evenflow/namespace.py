"""The public names: `tf.math.add` and all others, gathered from the modules that define them.

A module marks what it offers with `@export("math.add", "add")`, or `offer` for objects that are not
written there. `publish` then hangs every name where it belongs: names without a dot on the package,
the others on real module objects (`evenflow.math`), which stand in `sys.modules` so that
`import evenflow.math` works. A module that already exists as a file (`evenflow.nest`) gets the names
added. Asking for a name that is not there raises an AttributeError that names the nearest one.
"""
import copyreg
import importlib
import sys
import types

from . import _core
from ._missing import nearest, no_name

_names = {}  # dotted public name -> object
_spaces = {}  # dotted module name -> module


def export(*names):
    """Marks a function or class as public under `names`; returns it unchanged."""

    def mark(obj):
        for name in names:
            _names[name] = obj
        return obj

    return mark


def offer(obj, *names):
    """Makes `obj` public under `names`."""
    for name in names:
        _names[name] = obj
    return obj


def offer_ops(table):
    """Public functions that are just an op. A line reads: `Sub | x, y | math.subtract subtract`; a fourth field names
    the older op that TensorFlow names the nodes after."""
    for line in table.strip().splitlines():
        op, params, names, *older = (part.strip() for part in line.split("|"))
        names = names.split()
        function = _core.op(op, params, names[0], None, False, *older)
        for name in names:
            _names[name] = function


def names():
    """All public names gathered so far, dotted."""
    return _names


class Namespace(types.ModuleType):
    """A module of public names."""

    def __getattr__(self, name):
        older = "evenflow.compat.v1."
        if self.__name__.startswith(older) and not name.startswith("__"):  # what both generations share
            same = sys.modules.get("evenflow." + self.__name__[len(older):])
            if same is not None and hasattr(same, name):
                return getattr(same, name)
        raise missing(self, name)


_KERAS = ("initializers", "losses", "metrics", "optimizers")  # what TensorFlow shows at the top too


def missing(module, name):
    """The exception when `module` has no public `name`."""
    short = module.__name__.replace("evenflow", "tf", 1)
    hint = nearest(short, name, dir(module))
    if short == "tf" and name in _KERAS:
        hint = f"; use tf.keras.{name}"
    elif not hint:
        tail = [n for n in _names if n.rsplit(".", 1)[-1] == name]
        hint = f"; there is tf.{tail[0]}" if tail else ""
    return no_name(short, name, hint)


def space(dotted):
    """The module object for `dotted` ("math.special"), made if need be."""
    found = _spaces.get(dotted)
    if found is not None:
        return found
    full = "evenflow." + dotted
    module = sys.modules.get(full)
    if module is None and dotted in _FILES:
        module = importlib.import_module(full)
    if module is None:
        module = Namespace(full, f"Public names of tf.{dotted}.")
        module.__path__ = []
        module.__package__ = full
        sys.modules[full] = module
    _spaces[dotted] = module
    outer, _, last = dotted.rpartition(".")
    setattr(space(outer) if outer else sys.modules["evenflow"], last, module)
    return module


_FILES = ("dtypes", "errors", "nest")


def _find(name):
    return _names[name]


def _find_raw(name):
    return getattr(sys.modules["evenflow.raw_ops"], name)


def _reduce_op(op):
    """For pickles: a function that is just an op goes by its public name."""
    for name, value in _names.items():
        if value is op:
            return _find, (name,)
    return _find_raw, (op.__name__,)


copyreg.pickle(type(_core.raw.Identity), _reduce_op)


def publish():
    """Puts every gathered name where programs look for it."""
    package = sys.modules["evenflow"]
    for name, obj in _names.items():
        outer, _, last = name.rpartition(".")
        setattr(space(outer) if outer else package, last, obj)
