"""The registered names of TypeSpec classes, which files contain: `tensorflow.python.framework.type_spec_registry`."""
import re

from .composite import RaggedTensorSpec, SparseTensorSpec
from .specs import BoundedTensorSpec, TensorSpec, TypeSpec
from .tensor_array import TensorArraySpec

_FORM = re.compile(r"^(\w+\.)+\w+$")
_own = {"tf.TensorSpec": TensorSpec, "tf.BoundedTensorSpec": BoundedTensorSpec, "tf.SparseTensorSpec": SparseTensorSpec,
        "tf.RaggedTensorSpec": RaggedTensorSpec, "tf.TensorArraySpec": TensorArraySpec}
_by_name = dict(_own)
_by_class = {spec: name for name, spec in _own.items()}


def _title(cls):
    return f"{cls.__module__}.{cls.__name__}"


def register(name):
    """A decorator that registers a TypeSpec class under a name."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if not _FORM.match(name):
        raise ValueError("Registered name must have the form '{project_name}.{type_name}' (e.g. 'my_project.MyTypeSpec'); "
                         f"got {name!r}.")

    def note(cls):
        if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
            raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
        if cls in _by_class:
            raise ValueError(f"Class {_title(cls)} has already been registered with name {_by_class[cls]}.")
        if name in _by_name:
            raise ValueError(f"Name {name} has already been registered for class {_title(_by_name[name])}.")
        _by_class[cls], _by_name[name] = name, cls
        return cls

    return note


def get_name(cls):
    """The registered name of a TypeSpec class. Raises ValueError if it has none."""
    if not (isinstance(cls, type) and issubclass(cls, TypeSpec)):
        raise TypeError(f"Expected `cls` to be a TypeSpec; got {cls!r}")
    if cls not in _by_class:
        raise ValueError(f"TypeSpec {_title(cls)} has not been registered.")
    return _by_class[cls]


def lookup(name):
    """The TypeSpec class with this name. Raises ValueError if there is none."""
    if not isinstance(name, str):
        raise TypeError(f"Expected `name` to be a string; got {name!r}")
    if name not in _by_name:
        raise ValueError(f"No TypeSpec has been registered with name {name!r}")
    return _by_name[name]
