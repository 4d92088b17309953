"""`import tensorflow` gives Evenflow.

install() puts a finder at the head of sys.meta_path. It resolves `tensorflow` and every module below it, so Python never
searches for the real TensorFlow. There are three kinds of names:

- public modules (`tensorflow.nn`): the module that `evenflow.nn` is, the same object;
- Keras (`tensorflow.keras.layers`): the package `keras` itself, with Evenflow as its backend;
- private modules of TensorFlow that programs and Keras are known to import (`tensorflow.python.ops.math_ops`): the
  tables below say where Evenflow has their names.

`import evenflow` does not install the finder, so a process may still import both packages. It only watches for Keras
(watch_keras): once Keras has read its configuration, and if its backend is "tensorflow", the finder is installed.
So `import keras` after `import evenflow` runs on Evenflow. With any other backend of Keras nothing is installed.
"""
import functools
import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types

from . import namespace
from ._missing import nearest, no_name

OWN = "evenflow"
KERAS = "keras._tf_keras.keras"  # what TensorFlow shows as tf.keras
KERAS_CONFIG = "keras.src.backend.config"  # the module that reads which backend to use
KERAS_COMMON = "keras.src.backend.common"  # Keras imports it next, before it imports anything of TensorFlow
BACKEND = "tensorflow"

# Module below `tensorflow` -> the public namespaces in which its names are searched, in order; "" is `evenflow` itself.
SEARCH = {
    "python.client.session": ("compat.v1",),
    "python.eager.backprop": ("",),
    "python.eager.def_function": ("",),
    "python.eager.polymorphic_function.def_function": ("",),
    "python.framework.config": ("config", "config.experimental"),
    "python.framework.constant_op": ("",),
    "python.framework.dtypes": ("dtypes", ""),
    "python.framework.errors": ("errors",),
    "python.framework.errors_impl": ("errors",),
    "python.framework.function": ("",),
    "python.framework.indexed_slices": ("",),
    "python.framework.ops": ("", "compat.v1", "__internal__"),
    "python.framework.random_seed": ("random", "compat.v1"),
    "python.framework.sparse_tensor": ("", "sparse"),
    "python.framework.tensor": ("",),
    "python.framework.tensor_shape": ("", "compat.v1"),
    "python.framework.tensor_spec": ("",),
    "python.framework.tensor_util": ("",),
    "python.framework.type_spec": ("",),
    "python.module.module": ("",),
    "python.ops.array_ops": ("", "compat.v1"),
    "python.ops.array_ops_stack": ("",),
    "python.ops.bitwise_ops": ("bitwise",),
    "python.ops.check_ops": ("debugging", "compat.v1"),
    "python.ops.clip_ops": ("",),
    "python.ops.cond": ("",),
    "python.ops.control_flow_ops": ("", "compat.v1"),
    "python.ops.custom_gradient": ("",),
    "python.ops.functional_ops": ("",),
    "python.ops.gen_array_ops": ("raw_ops",),
    "python.ops.gen_math_ops": ("raw_ops",),
    "python.ops.gen_nn_ops": ("raw_ops",),
    "python.ops.gradients_impl": ("", "compat.v1"),
    "python.ops.init_ops": ("compat.v1",),
    "python.ops.init_ops_v2": ("",),
    "python.ops.linalg_ops": ("linalg",),
    "python.ops.map_fn": ("",),
    "python.ops.math_ops": ("math", ""),
    "python.ops.nn": ("nn",),
    "python.ops.nn_impl": ("nn",),
    "python.ops.nn_ops": ("nn",),
    "python.ops.random_ops": ("random",),
    "python.ops.resource_variable_ops": ("", "compat.v1"),
    "python.ops.script_ops": ("",),
    "python.ops.state_ops": ("compat.v1",),
    "python.ops.stateless_random_ops": ("random",),
    "python.ops.tensor_array_ops": ("",),
    "python.ops.variable_scope": ("compat.v1",),
    "python.ops.variables": ("", "compat.v1"),
    "python.ops.while_loop": ("",),
    "python.platform.tf_logging": ("compat.v1.logging",),
    "python.trackable.autotrackable": ("__internal__.tracking",),
    "python.trackable.base": ("__internal__.tracking",),
    "python.training.training_util": ("compat.v1.train",),
    "python.util.nest": ("_src.nest",),
}

# Names that have no public home: "module:name", or "module" for a whole module.
NAMES = {
    "compiler.tf2xla.python.xla": {"dynamic_update_slice": "evenflow._src.internals:dynamic_update_slice"},
    "experimental.dtensor": {},
    "python.eager.context": {"async_wait": "evenflow._src.internals:async_wait",
                             "context": "evenflow._src.internals:context",
                             "executing_eagerly": "evenflow:executing_eagerly"},
    "python.framework.config": {"disable_op_determinism": "evenflow._src.config:disable_op_determinism",
                                "is_op_determinism_enabled": "evenflow._src.config:is_op_determinism_enabled"},
    "python.framework.tensor_util": {"is_tf_type": "evenflow:is_tensor", "is_tensor": "evenflow:is_tensor",
                                     "constant_value": "evenflow:get_static_value"},
    "core.framework.summary_pb2": {"Summary": "evenflow:compat.v1.Summary", "SummaryMetadata": "evenflow:compat.v1.SummaryMetadata"},
    "core.util.event_pb2": {"Event": "evenflow:compat.v1.Event"},
    "python.lib.io.tf_record": {"tf_record_iterator": "evenflow:compat.v1.io.tf_record_iterator",
                                "TFRecordWriter": "evenflow:io.TFRecordWriter"},
    "python.framework.type_spec_registry": {"get_name": "evenflow._src.spec_registry:get_name",
                                            "lookup": "evenflow._src.spec_registry:lookup",
                                            "register": "evenflow._src.spec_registry:register"},
    "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
        "sparse_tensor_to_csr_sparse_matrix": "evenflow._src.ops.sparse_counts:to_csr",
        "sparse_matrix_sparse_mat_mul": "evenflow._src.ops.sparse_counts:product_of_csr",
        "csr_sparse_matrix_to_sparse_tensor": "evenflow._src.ops.sparse_counts:from_csr"},
    "python.trackable.data_structures": {"ListWrapper": "evenflow._src.tracking:ListWrapper",
                                         "_DictWrapper": "evenflow._src.tracking:_DictWrapper"},
}


@functools.cache
def _classes():
    """Module below `tensorflow` -> {name: class} of the public classes whose `__module__` it is. Unpickling imports a class
    from its `__module__`."""
    found = {}
    for value in namespace.names().values():
        if isinstance(value, type) and value.__module__.startswith("tensorflow."):
            found.setdefault(value.__module__[len("tensorflow."):], {})[value.__qualname__] = value
    return found


def own(path=""):
    """The public module (or object) that a dotted path below `evenflow` names."""
    found = importlib.import_module(OWN)
    for part in path.split(".") if path else ():
        found = getattr(found, part)
    return found


def _look_up(target):
    module, _, name = target.partition(":")
    found = importlib.import_module(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part)
    return found


class Inside(types.ModuleType):
    """A private module of TensorFlow, with the names that the tables above list."""

    def __init__(self, path):
        super().__init__(f"tensorflow.{path}", f"The names of tensorflow.{path} that Evenflow has.")
        self.__path__ = []  # modules below it are found by the finder
        self.__dict__["_path"] = path

    def _sources(self):
        for place in SEARCH.get(self._path, ()):
            try:
                yield own(place)
            except AttributeError:
                continue

    def __getattr__(self, name):
        target = NAMES.get(self._path, {}).get(name)
        if target:
            value = _look_up(target)
            setattr(self, name, value)
            return value
        if not (name.startswith("__") and name.endswith("__")):
            below = f"{self._path}.{name}"
            if is_inside(below):
                return importlib.import_module(f"tensorflow.{below}")
            for source in self._sources():
                if name in dir(source):
                    return getattr(source, name)
            if name in _classes().get(self._path, ()):
                return _classes()[self._path][name]
        place = f"tensorflow.{self._path}"
        raise no_name(place, name, nearest(place, name, dir(self)))

    def __dir__(self):
        names = {*NAMES.get(self._path, ()), *_classes().get(self._path, ())}
        for source in self._sources():
            names.update(dir(source))
        return sorted(names)


def is_inside(path):
    """Whether `tensorflow.<path>` is a private module that the tables list, or a package that contains one."""
    return path != "experimental" and any(p == path or p.startswith(path + ".") for table in (SEARCH, NAMES, _classes())
                                          for p in table)


def keras():
    """Imports Keras with Evenflow as its backend and returns the module that TensorFlow shows as `tf.keras`."""
    loaded = sys.modules.get(KERAS_CONFIG)
    if loaded is not None and loaded.backend() != BACKEND:
        raise ImportError(f"keras is already imported with the backend {loaded.backend()!r}; tf.keras needs "
                          f"{BACKEND!r}: import evenflow before keras, or set KERAS_BACKEND={BACKEND}")
    install()
    os.environ.setdefault("KERAS_BACKEND", BACKEND)  # the variable overrides the user's keras.json
    try:
        return importlib.import_module(KERAS)
    except ModuleNotFoundError as e:
        if e.name and e.name.split(".")[0] == "keras":
            raise ModuleNotFoundError("tf.keras is the package keras, which is not installed: "
                                      "pip install keras==3.15.1 h5py", name="keras") from None
        raise


def _find(path):
    """The module that `tensorflow.<path>` stands for, or None."""
    if not path:
        return own()
    if path == "keras" or path.startswith("keras."):
        keras()
        name = KERAS + path[len("keras"):]
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as e:
            if e.name != name:
                raise
            return None
    if is_inside(path):
        return Inside(path)
    try:
        found = own(path)
    except AttributeError:
        return None
    return found if isinstance(found, types.ModuleType) else None


class Loader(importlib.abc.Loader):
    """A loader for a module that exists already. It restores the module's own `__spec__`, which the import replaces."""

    def __init__(self, module):
        self.module = module
        self.spec = getattr(module, "__spec__", None)

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        if not isinstance(module, Inside):  # an Inside has no other spec
            module.__spec__ = self.spec
        if not hasattr(module, "__path__"):
            module.__path__ = []  # Python asks finders for submodules only of a module with a __path__


class Finder(importlib.abc.MetaPathFinder):
    """Finds `tensorflow` and every module below it."""

    def find_spec(self, fullname, path=None, target=None):
        top, _, below = fullname.partition(".")
        if top != "tensorflow":
            return None
        module = _find(below)
        if module is None:
            parent, _, last = below.rpartition(".")
            around = vars(own(parent)) if not is_inside(parent) else {}
            known = [n for n, found in around.items() if isinstance(found, types.ModuleType)]
            hint = nearest(f"tensorflow.{parent}".rstrip("."), last, known)
            raise ModuleNotFoundError(f"Evenflow has no module {fullname}{hint}", name=fullname)
        return importlib.machinery.ModuleSpec(fullname, Loader(module), is_package=hasattr(module, "__path__"))


def _connect_keras():
    """Called when Keras has read its configuration and is about to load its backend."""
    backend = sys.modules[KERAS_CONFIG].backend()
    if backend == BACKEND:
        install()
    elif installed():
        raise ImportError(f"Keras is set to the backend {backend!r} (by KERAS_BACKEND or keras.json), but in this process "
                          f"its backend is Evenflow, which it knows as {BACKEND!r}: set KERAS_BACKEND={BACKEND}, "
                          "or run the program without Evenflow")


class KerasLoader(importlib.abc.Loader):
    """Calls _connect_keras(), then loads a module of Keras with the module's own loader."""

    def __init__(self, loader):
        self.loader = loader

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        module.__loader__ = module.__spec__.loader = self.loader  # the module reports its own loader, not this one
        _connect_keras()
        self.loader.exec_module(module)


class KerasWatch(importlib.abc.MetaPathFinder):
    """A finder that wraps the loader of the module KERAS_COMMON and finds no other module."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != KERAS_COMMON:
            return None
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = KerasLoader(spec.loader)
                return spec
        return None


def watch_keras():
    """Makes a later `import keras` run on Evenflow. Loads nothing; may be called again."""
    if not any(isinstance(f, KerasWatch) for f in sys.meta_path):
        sys.meta_path.insert(0, KerasWatch())


def installed():
    return any(isinstance(f, Finder) for f in sys.meta_path)


def install():
    """Makes `import tensorflow` give Evenflow in this process. May be called again."""
    if installed():
        return
    here = importlib.import_module(OWN)
    if sys.modules.get("tensorflow", here) is not here:
        raise ImportError("TensorFlow itself is already imported in this process, so its name cannot stand for "
                          "Evenflow: import evenflow first, or start the program with `evenflow run`")
    sys.meta_path.insert(0, Finder())
    sys.modules["tensorflow"] = here
    experimental = namespace.space("experimental")
    if "dtensor" not in vars(experimental):  # `from tensorflow.experimental import dtensor` must find it
        experimental.dtensor = sys.modules["tensorflow.experimental.dtensor"] = Inside("experimental.dtensor")
