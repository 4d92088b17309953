"""tf.Module: a base class that collects the variables and modules in its attributes."""
import functools
import re

from . import nest
from .graph import name_scope
from .namespace import export
from .tracking import AutoTrackable
from .variable import Variable

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Za-z0-9_])(?=[A-Z][a-z])")


def snake(name):
    """The default name of a module, from the name of its class: MyLayer -> my_layer."""
    return _WORD.sub("_", name).lower()


def is_module(value):
    """Whether a value is a module."""
    return isinstance(value, Module)


def _is_variable(value):
    return isinstance(value, Variable)


def _is_trainable(value):
    return isinstance(value, Variable) and bool(value.trainable)


def _is_fixed(value):
    return isinstance(value, Variable) and not value.trainable


@export("Module")
class Module(AutoTrackable):
    """The base class of objects that hold variables. Variables and submodules are collected from the attributes, and from
    lists and dicts in them, in the order of the attribute names."""

    __module__ = "tensorflow.python.module.module"
    _TF_MODULE_IGNORED_PROPERTIES = frozenset(("__children__", "_self_hidden"))

    def __init__(self, name=None):
        if name is None:
            name = snake(type(self).__name__)
        elif not name.isidentifier():
            raise ValueError(f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. "
                             "a valid class name).")
        self._name = name
        with name_scope(name) as scope:
            self._name_scope = name_scope(scope)

    @property
    def name(self):
        """The name of the module: as given, or derived from its class."""
        return self._name

    @property
    def name_scope(self):
        """A name scope for the ops and variables that the module creates."""
        return self._name_scope

    @property
    def variables(self):
        """All variables of this module and its submodules."""
        return tuple(self._flatten(predicate=_is_variable, expand_composites=True))

    @property
    def trainable_variables(self):
        """The trainable variables."""
        return tuple(self._flatten(predicate=_is_trainable, expand_composites=True))

    @property
    def non_trainable_variables(self):
        """The variables that are not trainable."""
        return tuple(self._flatten(predicate=_is_fixed, expand_composites=True))

    @property
    def submodules(self):
        """All modules that are reachable from this one."""
        return tuple(self._flatten(predicate=is_module))

    def _flatten(self, recursive=True, predicate=None, attribute_traversal_key=None, with_path=False,
                 expand_composites=False):
        """Yields the leaves of all attributes for which `predicate` is true; those of submodules come last. Each leaf is
        yielded once, unless `with_path`."""
        return _walk(self, recursive, predicate or (lambda _: True), attribute_traversal_key, with_path,
                     expand_composites, (), {id(self)})

    @classmethod
    def with_name_scope(cls, method):
        """Decorates a method, so that its ops and variables are created in the module's name scope."""

        @functools.wraps(method)
        def scoped(self, *args, **kwargs):
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _leaves(name, value, expand_composites):
    try:
        return nest.flatten_with_tuple_paths(value, expand_composites=expand_composites)
    except Exception as e:  # such as a dict with keys of several kinds
        raise ValueError(f"Error processing property {name!r} of {value!r}") from e


def _walk(module, recursive, predicate, key, with_path, expand, path, seen):
    attributes = vars(module)
    below = []
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for tail, leaf in _leaves(name, attributes[name], expand):
            here = path + (name,) + tuple(tail)
            if not with_path:
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
            if predicate(leaf):
                yield (here, leaf) if with_path else leaf
            if recursive and is_module(leaf) and (not with_path or id(leaf) not in seen):
                if with_path:
                    seen.add(id(leaf))
                below.append((here, leaf))
    for here, leaf in below:
        yield from _walk(leaf, recursive, predicate, key, with_path, expand, here, seen)
