"""The implementation of the package. What programs may use stands in the public modules of `evenflow`."""
from .. import _core  # noqa: F401
