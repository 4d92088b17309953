"""Which code is converted: that of the user, not that of libraries."""
import sys

_LIBRARIES = frozenset("""evenflow tensorflow keras numpy scipy pandas matplotlib PIL absl h5py ml_dtypes malt mock ipdb
tensorflow_probability tensorflow_datasets tensorboard torch jax pytest _pytest IPython six wrapt""".split())
_STANDARD = frozenset(getattr(sys, "stdlib_module_names", ())) - {"__main__", "antigravity", "test", "this"}


def is_library(module):
    """Whether functions of this module are not converted."""
    if not isinstance(module, str):
        return False
    top = module.partition(".")[0]
    return top in _LIBRARIES or top in _STANDARD
