"""The signature of an op, which is a C object, for `inspect.signature` and `help`: its parameters and their defaults."""
import ast
import inspect

from . import _core, dtypes

_WORDS = {"true": True, "false": False}


def _default(text, kind):
    """The default of an attribute as a Python value. A default that only the engine can parse is shown as `...`."""
    if text in _WORDS:
        return _WORDS[text]
    try:
        return dtypes.as_dtype(text) if kind == "type" or (kind.startswith("{") and "'" not in kind) else ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError):
        return ...


def of(op):
    """The signature of an op object. The C extension calls this for its `__signature__`."""
    record = _core.describe_op(op._op_name)
    defaults = [inspect.Parameter.empty] * len(record["inputs"])
    defaults += [inspect.Parameter.empty if text is None else _default(text, kind)
                 for _, kind, text, inferred in record["attrs"] if not inferred]
    kind = inspect.Parameter.KEYWORD_ONLY if op._keywords_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, optional = [], False
    for name, default in zip(op._params, [*defaults, None]):
        if optional and default is inspect.Parameter.empty:
            kind = inspect.Parameter.KEYWORD_ONLY  # Python allows no required positional parameter after an optional one
        optional = optional or default is not inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)
