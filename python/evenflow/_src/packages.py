"""Packages that most programs never need: each is loaded at its first use."""
import importlib


def package(name, user, install):
    """The module `name`. ModuleNotFoundError says which name of ours (`user`) needs it, and what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise ModuleNotFoundError(f"{user} needs the package {install}, which is not installed: pip install {install}",
                                  name=install) from None
