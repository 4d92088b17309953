"""tf.flags and tf.app: command-line flags, implemented by the package absl."""
import sys

from ... import namespace
from ...namespace import export
from ...packages import package

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _absl(module):
    return package(f"absl.{module}", f"tf.{module}", "absl-py")


class _Flags:
    """FLAGS. The command line is parsed when a flag is first read."""

    def __getattr__(self, name):
        flags = _absl("flags").FLAGS
        if not flags.is_parsed():
            flags(sys.argv, known_only=True)
        return getattr(flags, name)

    def __setattr__(self, name, value):
        setattr(_absl("flags").FLAGS, name, value)

    def __iter__(self):
        return iter(_absl("flags").FLAGS)

    def __contains__(self, name):
        return name in _absl("flags").FLAGS


_FLAGS = _Flags()


def _find(name):
    if name == "FLAGS":
        return _FLAGS
    found = getattr(_absl("flags"), name)
    if not name.startswith("DEFINE_"):
        return found

    def define(*args, **kwargs):
        return found(*args, **{_OLD_NAMES.get(k, k): v for k, v in kwargs.items()})

    return define


@export("compat.v1.app.run")
def run(main=None, argv=None):
    """Parses the flags and calls main with the rest of the command line. The result of main is the exit status."""
    main = main or sys.modules["__main__"].main
    _absl("app").run(main, argv, flags_parser=lambda args: _absl("flags").FLAGS(args, known_only=True))


for _place in ("compat.v1.flags", "compat.v1.app.flags"):
    namespace.space(_place)
    namespace.find_others(_place, _find)
