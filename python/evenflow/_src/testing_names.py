"""The names of tf.test that testing.py defines. That module is imported when one of them is first used."""
import importlib

from .namespace import find_others, names, offer

_NAMES = ("TestCase", "main", "mock", "get_temp_dir", "compute_gradient", "compute_gradient_error")


def _finder(table):
    def find(name):
        if name not in _NAMES:
            raise AttributeError(name)
        try:
            return getattr(importlib.import_module(f"{__package__}.testing"), table)[name]
        except KeyError:
            raise AttributeError(name) from None

    return find


for _name in [n for n in names() if n.startswith("test.")]:
    offer(names()[_name], f"compat.v1.{_name}")
find_others("test", _finder("PUBLIC"))
find_others("compat.v1.test", _finder("PUBLIC_V1"))
