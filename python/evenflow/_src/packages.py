"""Imports optional packages at their first use, as most programs never need them."""
import importlib


def package(name, user, install):
    """Imports the module `name`. If it is missing, the ModuleNotFoundError says that `user` needs it and what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{user} needs the package {install}, which is not installed: pip install {install}",
                                  name=install) from None
