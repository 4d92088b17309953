"""The public names of AutoGraph that need no conversion, and the conversion status of each thread.

Nothing here imports the transformers, so `import evenflow` stays quick.
"""
import enum
import sys
import threading

UNSPECIFIED = object()


class Feature(enum.Enum):
    """Optional parts of AutoGraph."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls):
        """All features."""
        return tuple(cls.__members__.values())

    @classmethod
    def all_but(cls, exclude):
        """All features but one or some."""
        if not isinstance(exclude, (list, tuple, set)):
            exclude = (exclude,)
        return tuple(set(cls.all()) - set(exclude) - {cls.ALL})


def set_element_type(entity, dtype, shape=UNSPECIFIED):
    """A directive for converted code: declares the dtype (and shape) of the elements of a list. Otherwise it does nothing."""


def set_loop_options(parallel_iterations=UNSPECIFIED, swap_memory=UNSPECIFIED, maximum_iterations=UNSPECIFIED,
                     shape_invariants=UNSPECIFIED):
    """A directive for the first statement of a converted loop: sets options of its tf.while_loop. `shape_invariants` is a
    list of (tensor, shape) pairs. Elsewhere it does nothing."""


class Status(enum.Enum):
    """Whether functions that are called in this context are converted."""

    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class ControlStatusCtx:
    """A context manager that sets the status for a `with` block."""

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _local.stack.append(self)
        return self

    def __exit__(self, *unused):
        _local.stack.pop()
        return False


class _Local(threading.local):
    def __init__(self):
        self.stack = [ControlStatusCtx(Status.UNSPECIFIED)]


_local = _Local()


def control_status_ctx():
    """The innermost status."""
    return _local.stack[-1]


_verbosity = [0]


def set_verbosity(level, alsologtostdout=False):
    """Sets how much is logged about conversions; 0 logs nothing."""
    _verbosity[0] = int(level)


def trace(*args):
    """Prints its arguments while tracing."""
    print(*args)


def log(level, text, *args):
    """Prints a message to stderr if the verbosity is at least `level`."""
    if _verbosity[0] >= level:
        print("AutoGraph: " + text % args, file=sys.stderr)


def artifact(function, extras=None):
    """Marks a function, so that it is not converted (again)."""
    target = getattr(function, "__func__", function)
    try:
        target.autograph_info__ = extras
    except AttributeError:
        pass
    return function
