"""Processes that `multiprocessing` starts anew (methods `spawn` and `forkserver`) import the program again, so they must find
Evenflow under the name TensorFlow, too.

What such a child is told first is a pickled dictionary. An entry is added to it which, when it is read, installs the alias.
"""
import importlib.abc
import importlib.util
import sys

from . import alias

MODULE = "multiprocessing.spawn"


class Alias:
    """Reading it from a pickle installs the alias."""

    def __reduce__(self):
        return alias.install, ()


def _wrap(module):
    tell = module.get_preparation_data

    def get_preparation_data(name):
        return {**tell(name), "evenflow": Alias()}

    module.get_preparation_data = get_preparation_data


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps the module when it is imported: few programs do."""

    def find_spec(self, name, path, target=None):
        if name != MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _wrap(module)

        spec.loader.exec_module = exec_module
        return spec


def install():
    if MODULE in sys.modules:
        _wrap(sys.modules[MODULE])
    else:
        sys.meta_path.insert(0, _Finder())
