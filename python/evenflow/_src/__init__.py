"""The implementation of the package. Programs use the public modules of `evenflow`, not the modules below this one."""
from .. import _core  # noqa: F401
