"""`tf.experimental.doctor`. The modules that examine a program are imported at the first use, as most programs never use
them."""
import importlib
import os

from .namespace import export


def _session():
    return importlib.import_module("evenflow._src.doctor.session")


@export("experimental.doctor")
class doctor:  # noqa: N801 - a context manager is called like a function
    """Examines the code of a `with` block: what in it is slow, where, and what to write instead.

    >>> with tf.experimental.doctor(show=False) as found:
    ...     for n in range(20):
    ...         y = tf.function(lambda v: v + 1.0)(tf.constant(1.0))
    >>> found.codes
    ['E104']

    Args:
      show: prints the report to standard error at the end of the block.
      everything: keeps findings below 1 % of the run time too.
    """

    def __init__(self, show=True, everything=False):
        self._show, self._everything = show, everything

    def __enter__(self):
        self._diagnosis, self._watch = _session().begin(self._everything)
        return self._diagnosis

    def __exit__(self, kind, error, trace):
        self._diagnosis.finish(self._watch, _session().endings.of(error))
        if self._show:
            self._diagnosis.print()
        return False


def from_environment():
    """Examines the program until its exit if EVENFLOW_DOCTOR=1 is set, so that the program needs no change."""
    if os.environ.get("EVENFLOW_DOCTOR", "0").lower() not in ("", "0", "no", "off", "false"):
        _session().at_exit(lambda diagnosis: diagnosis.print())
