"""Assertions with the arguments of TensorFlow 1. Each returns an op to use as a control dependency."""
import inspect

from ... import _core, graph as graphs
from ...namespace import offer
from ...ops import debug

_WORDS = ("equal", "none_equal", "less", "less_equal", "greater", "greater_equal", "positive", "negative",
          "non_negative", "non_positive", "near", "rank", "rank_at_least", "rank_in")


def _older(function):
    """Wraps an assertion so that it takes its arguments in the order (..., data, summarize, message, name)."""
    own = [p for p in inspect.signature(function).parameters if p not in ("message", "summarize", "name")]
    order = own + ["data", "summarize", "message", "name"]

    def check(*args, **kwargs):
        given = dict(zip(order, args))
        for word, value in kwargs.items():
            if word not in order or word in given:
                raise TypeError(f"{check.__name__}() got an unexpected or repeated argument '{word}'")
            given[word] = value
        given.pop("data", None)
        done = function(**given)
        if done is None and _core.current_graph() is not None:
            return graphs.no_op()
        return done

    check.__name__ = function.__name__
    check.__doc__ = function.__doc__
    return check


for _word in _WORDS:
    _function = getattr(debug, f"assert_{_word}")
    offer(_older(_function), f"compat.v1.assert_{_word}", f"compat.v1.debugging.assert_{_word}")
for _word in ("integer", "type", "scalar"):
    _function = getattr(debug, f"assert_{_word}")
    offer(_function, f"compat.v1.assert_{_word}")
