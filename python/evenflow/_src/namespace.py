"""The public names, such as `tf.math.add`, which are collected from the modules that define them.

A module marks its public functions with `@export("math.add", "add")`, or calls `offer` for objects that it does not
define itself. `publish` then sets every name as an attribute: names without a dot on the package, the others on module
objects (`evenflow.math`) that are created for this and put into `sys.modules`, so that `import evenflow.math` works. No
public module is a file of the implementation. If a module lacks a name that its counterpart of the other generation has,
it is found there (`tf.log` is `tf.compat.v1.log`). Any other missing name raises an AttributeError that suggests the
nearest one.
"""
import copyreg
import functools
import sys
import types

from . import _core
from ._missing import nearest, no_name

_names = {}  # dotted public name -> object
_spaces = {}  # dotted module name -> module
_finders = {}  # dotted module name -> function that finds names which were not exported there


def offer(obj, *names):
    """Makes `obj` public under `names`; returns it."""
    for name in names:
        if _names.setdefault(name, obj) is not obj:
            raise ValueError(f"tf.{name} is defined twice: {_names[name]!r} and {obj!r}")
    return obj


def export(*names):
    """Marks a function or class as public under `names`; returns it unchanged."""
    return lambda obj: offer(obj, *names)


def front(path, *op):
    """Puts a short path in C (python/ext/front.c) before a function."""
    return lambda function: functools.update_wrapper(_core.front(function, path, *op), function)


def offer_ops(table):
    """Adds public functions that only call an op. A line is `Sub | x, y | math.subtract subtract`; an optional fourth field
    is the older op after which TensorFlow names the nodes."""
    for line in table.strip().splitlines():
        op, params, names, *older = (part.strip() for part in line.split("|"))
        names = names.split()
        offer(_core.op(op, params, names[0], None, False, *older), *names)


def find_others(dotted, find):
    """Registers `find(name)` for names of a public module that were not exported."""
    _finders[dotted] = find


def names():
    """{dotted public name: object} of all names collected so far."""
    return _names


_V1 = "compat.v1"


def own(dotted, name):
    """The object `name` of the public module `dotted` ("" is the package): exported there, or found by its finder. Raises
    AttributeError if there is none; the other generation is not searched."""
    module = sys.modules.get(f"evenflow.{dotted}" if dotted else "evenflow")
    if module is not None and name in vars(module):
        return vars(module)[name]
    if module is None or dotted not in _finders:
        raise AttributeError(name)
    return _finders[dotted](name)


def other_generation(dotted):
    """The module of the other generation: "compat.v1.nn" of "nn", and back."""
    if dotted == _V1:
        return ""
    if dotted.startswith(_V1 + "."):
        return dotted[len(_V1) + 1:]
    return f"{_V1}.{dotted}" if dotted else _V1


def look_up(module, name):
    """Finds a name that is no attribute of a public module: with its finder, else in the other generation. So a name that
    both generations have always belongs to the generation of the module."""
    dotted = module.__name__[len("evenflow."):]
    if not name.startswith("__"):
        for place in (dotted, other_generation(dotted)):
            try:
                return own(place, name)
            except AttributeError:
                continue
    raise missing(module, name)


def missing(module, name):
    """The AttributeError for a name that `module` does not have."""
    short = module.__name__.replace("evenflow", "tf", 1)
    hint = nearest(short, name, dir(module))
    if not hint:
        tail = [n for n in _names if n.rsplit(".", 1)[-1] == name]
        hint = f"; there is tf.{tail[0]}" if tail else ""
    return no_name(short, name, hint)


def space(dotted):
    """The module object for `dotted` ("math.special"), which is created if it does not exist."""
    found = _spaces.get(dotted)
    if found is not None:
        return found
    full = "evenflow." + dotted
    module = sys.modules.get(full)
    if module is None:
        module = types.ModuleType(full, f"Public names of tf.{dotted}.")  # of no class of ours: the interpreter's look-up is quickest
        module.__getattr__ = functools.partial(look_up, module)
        module.__path__ = []
        module.__package__ = full
        sys.modules[full] = module
    _spaces[dotted] = module
    outer, _, last = dotted.rpartition(".")
    setattr(space(outer) if outer else sys.modules["evenflow"], last, module)
    return module


def _find(name):
    return _names[name]


def _find_raw(name):
    return getattr(sys.modules["evenflow.raw_ops"], name)


def _reduce_op(op):
    """Used by pickle: a function that only calls an op is stored by its public name."""
    for name, value in _names.items():
        if value is op:
            return _find, (name,)
    return _find_raw, (op.__name__,)


copyreg.pickle(type(_core.raw.Identity), _reduce_op)
copyreg.pickle(_core.Front, lambda function: function.__qualname__)


def publish():
    """Sets every collected name as an attribute of its public module."""
    package = sys.modules["evenflow"]
    for name, obj in _names.items():
        outer, _, last = name.rpartition(".")
        setattr(space(outer) if outer else package, last, obj)
