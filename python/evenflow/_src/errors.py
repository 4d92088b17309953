"""Exceptions: one class for each status code, as TensorFlow names them.

The engine reports a status code and a message; `from_status` makes an exception from them. The classes keep
the constructor of TensorFlow's classes, because programs (and Keras) raise such exceptions themselves.
"""

OK = 0
CANCELLED = 1
UNKNOWN = 2
INVALID_ARGUMENT = 3
DEADLINE_EXCEEDED = 4
NOT_FOUND = 5
ALREADY_EXISTS = 6
PERMISSION_DENIED = 7
RESOURCE_EXHAUSTED = 8
FAILED_PRECONDITION = 9
ABORTED = 10
OUT_OF_RANGE = 11
UNIMPLEMENTED = 12
INTERNAL = 13
UNAVAILABLE = 14
DATA_LOSS = 15
UNAUTHENTICATED = 16
_OUT_OF_SCOPE, _OTHER_GRAPH = 64, 65  # codes that only the engine has

_MODULE = "tensorflow.python.framework.errors_impl"


class OperatorNotAllowedInGraphError(TypeError):
    """A tensor without a value was used where Python needs one: `if`, `for`, `int()`."""


class InaccessibleTensorError(ValueError):
    """A tensor of one function graph was used in another graph, where it has no value."""


class OpError(Exception):
    """Something went wrong while an op ran.

    `node_def` and `op` describe the op if it was part of a graph, `message` says what happened,
    `error_code` is one of the constants of this module. A dict as last argument is kept as
    `experimental_payloads`.
    """

    def __init__(self, node_def, op, message, error_code, *args):
        super().__init__()
        self._node_def = node_def
        self._op = op
        self._message = message
        self._error_code = error_code
        payloads = next((a for a in args if isinstance(a, dict)), {})
        self._experimental_payloads = payloads

    @property
    def message(self):
        """What happened, in a sentence."""
        return self._message

    @property
    def op(self):
        """The Operation that failed, or None (eagerly)."""
        return self._op

    @property
    def error_code(self):
        """The status code as a number."""
        return self._error_code

    @property
    def node_def(self):
        """The failed op's NodeDef, or None."""
        return self._node_def

    @property
    def experimental_payloads(self):
        """A dict of further information that the runtime attached."""
        return self._experimental_payloads

    def __reduce__(self):
        parts = (self._node_def, None, self._message)
        if type(self) is _class_of.get(self._error_code):
            return _remake, (self._error_code, *parts)
        if type(self) is OpError:
            return _remake, (None, *parts, self._error_code)
        return type(self), parts

    def __str__(self):
        if self._op is None:
            return str(self._message)
        name = getattr(self._op, "name", self._op)
        return f"{self._message}\n\nOriginal stack trace for {name!r}"


def _remake(code, *parts):
    """Used by unpickling: finds the class by its code, because its `__module__` is a module of TensorFlow."""
    return OpError(*parts) if code is None else _class_of[code](*parts)


OpError.__module__ = _MODULE
OperatorNotAllowedInGraphError.__module__ = _MODULE
InaccessibleTensorError.__module__ = _MODULE
_class_of = {}
_code_of = {}


def _define(name, code, doc):
    def __init__(self, node_def, op, message, *args):
        OpError.__init__(self, node_def, op, message, code, *args)

    cls = type(OpError)(name, (OpError,), {"__init__": __init__, "__doc__": doc})
    cls.__module__ = _MODULE
    _class_of[code] = cls
    _code_of[cls] = code
    return cls


CancelledError = _define("CancelledError", CANCELLED, "The operation was cancelled.")
UnknownError = _define("UnknownError", UNKNOWN, "An error that has no other code.")
InvalidArgumentError = _define(
    "InvalidArgumentError", INVALID_ARGUMENT, "An op got an invalid argument."
)
DeadlineExceededError = _define(
    "DeadlineExceededError", DEADLINE_EXCEEDED, "The operation did not finish before its deadline."
)
NotFoundError = _define("NotFoundError", NOT_FOUND, "A file, variable or name does not exist.")
AlreadyExistsError = _define(
    "AlreadyExistsError", ALREADY_EXISTS, "A file or object that was to be created exists already."
)
PermissionDeniedError = _define(
    "PermissionDeniedError", PERMISSION_DENIED, "The operating system denied permission."
)
ResourceExhaustedError = _define(
    "ResourceExhaustedError", RESOURCE_EXHAUSTED, "Memory or another resource ran out."
)
FailedPreconditionError = _define(
    "FailedPreconditionError", FAILED_PRECONDITION, "The state of the system does not allow the operation."
)
AbortedError = _define("AbortedError", ABORTED, "The operation was aborted because of a conflict with another one.")
OutOfRangeError = _define("OutOfRangeError", OUT_OF_RANGE, "The end of the data or of a valid range was passed.")
UnimplementedError = _define("UnimplementedError", UNIMPLEMENTED, "The operation is not implemented for these values.")
InternalError = _define("InternalError", INTERNAL, "An invariant of the engine does not hold.")
UnavailableError = _define("UnavailableError", UNAVAILABLE, "A service is currently not available.")
DataLossError = _define("DataLossError", DATA_LOSS, "Stored data is damaged or incomplete.")
UnauthenticatedError = _define("UnauthenticatedError", UNAUTHENTICATED, "The request has no valid credentials.")

class InvalidGraphError(InvalidArgumentError, ValueError):
    """An invalid argument found while a graph is being built.

    TensorFlow raises ValueError for errors that its shape functions find and InvalidArgumentError for errors that are
    found when the graph runs. Here shape inference finds nearly all of them while the graph is being built, so this
    class derives from both and programs may catch either.
    """

    def __init__(self, *args):  # (message, op name), or as for the other classes: (node_def, op, message, ...)
        if len(args) < 3:
            args = (None, None, args[0])
        InvalidArgumentError.__init__(self, *args)

    def __reduce__(self):
        return _remake_graph_error, (self._message,)


def _remake_graph_error(message):
    return InvalidGraphError(message)


InvalidGraphError.__module__ = _MODULE

PUBLIC = tuple(n for n in dir() if not n.startswith("_") and n not in ("InaccessibleTensorError", "InvalidGraphError"))
PUBLIC_V1 = ("error_code_from_exception_type", "exception_type_from_error_code")


def exception_type_from_error_code(error_code):
    """The exception class of a status code. Raises KeyError if there is none."""
    return _class_of[error_code]


def error_code_from_exception_type(cls):
    """The status code of an exception class; UNKNOWN for any other class."""
    return _code_of.get(cls, UNKNOWN)


def _out_of_scope(code, message):
    """The exception for a tensor that is used outside of its graph; None for any other code."""
    if code == _OUT_OF_SCOPE:
        return TypeError(message)
    if code != _OTHER_GRAPH:
        return None
    return InaccessibleTensorError(f"{message}\nA tensor made inside a loop, a branch or a function is out of scope outside "
                                   "of it. Use return values or variables that the loop carries along.")


def graph_error(message, op_name=None):
    """The exception for a mistake found while a graph is being built."""
    return InvalidGraphError(message, op_name)


def from_status(code, message, op_name=None):
    """The exception for a status of the engine. The message ends with `[Op:op_name]`, as in TensorFlow."""
    found = _out_of_scope(code, message)
    if found is not None:
        return found
    if op_name:
        message = f"{message} [Op:{op_name}]"
    cls = _class_of.get(code)
    if cls is None:
        return OpError(None, None, message, code)
    return cls(None, None, message)


def raise_status(code, message, op_name=None):
    """Raises the exception that `from_status` returns."""
    raise from_status(code, message, op_name)
