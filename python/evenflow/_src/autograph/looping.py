"""`while` and `for` statements of converted code."""
import numpy as np

from .. import _core, dtypes, nest
from ..control_graphs import Body
from ..loops import text_of, while_loop
from ..namespace import _names as public
from ..ragged import RaggedTensor
from ..shapes import TensorShape
from . import frames
from .iterables import Staged, length_of, rows_of
from .state import UNSPECIFIED
from .values import (NUMBERS, Undefined, as_tensors, condition, is_flag, is_return_value, is_staged, is_undefined,
                     stand_in)

raw = _core.raw
_MORE = ("See https://github.com/tensorflow/tensorflow/blob/master/tensorflow/python/autograph/g3doc/reference/"
         "limitations.md#consistency-of-control-flow-types for more info.")


# ---- while -----------------------------------------------------------------------------------------------------


def while_stmt(test, body, get_state, set_state, names, opts):
    """A while statement; see if_stmt for the state functions."""
    if _core.executing_eagerly():
        while test():
            body()
        return
    scratch = Body("while_test")
    with scratch:  # traced only to find out whether its value is symbolic
        first = test()
    if is_staged(first):
        Loop(names, get_state, set_state, opts).run_while(test, body)
        return
    while first:
        body()
        first = test()
        if is_staged(first):
            raise NotImplementedError(
                "The condition of while loop started as non-Tensor, then changed to Tensor. This may happen either because "
                "variables changed type, or when a break or return statement inside the loop depends on a Tensor "
                f"condition. In both cases, changing to a TF loop should remove the error.\n{_MORE}")


# ---- for -------------------------------------------------------------------------------------------------------


def for_stmt(iterated, extra_test, body, get_state, set_state, names, opts):
    """A for statement. `extra_test`, if there is one, returns whether to continue: false after a break or return."""
    if not _core.executing_eagerly():
        hook = getattr(type(iterated), "_ef_graph_for", None)
        if hook is not None and hook(iterated, extra_test, body, get_state, set_state, names, opts) is not NotImplemented:
            return None
        if isinstance(iterated, (_core.CoreTensor, Staged, RaggedTensor)):
            loop = Loop(names, get_state, set_state, opts)
            return loop.run_for(Elements.of(iterated), extra_test, body)
    if extra_test is None:
        for item in iterated:
            body(item)
        return None
    if not _go_on(extra_test):
        return None
    for item in iterated:
        body(item)
        if not _go_on(extra_test):
            break
    return None


def _go_on(extra_test):
    result = extra_test()
    if is_staged(result):
        raise NotImplementedError("break and return statements which depend on a TF condition are not supported in Python "
                                  f"for loops. Did you intend to make it a TF loop?\n{_MORE}")
    return result


class Elements:
    """What a staged for loop iterates over: the start, test and step of a counter, and the element for a counter's value."""

    def __init__(self, start, test, step, at):
        self.start, self.test, self.step, self.at = start, test, step, at

    @classmethod
    def of(cls, iterated):
        """The Elements of a tensor (its rows), of a range, or of a zip or enumerate."""
        if isinstance(iterated, RaggedTensor):
            return cls._counted(iterated.nrows(dtypes.int32), iterated.__getitem__)
        if isinstance(iterated, Staged):
            return cls._counted(iterated.length(), iterated.elements())
        tensor = _core.convert(iterated)
        edge = tensor._edge
        if edge is not None and edge[0]._node(edge[1])[0] == "Range" and edge[0] is _core.current_graph():
            return cls._range(*(edge[0]._node_input(edge[1], k) for k in range(3)))
        return cls._counted(length_of(tensor), rows_of(tensor))

    @classmethod
    def _counted(cls, n, at):
        return cls(_core.convert(0, dtypes.int32), lambda i: raw.Less(i, n), 1, at)

    @classmethod
    def _range(cls, start, limit, delta):
        known = _core.static_value(delta)
        if known is not None:
            test = (lambda i: raw.Less(i, limit)) if known > 0 else (lambda i: raw.Greater(i, limit))
            return cls(start, test, known, lambda i: i)

        def test(i):
            up = raw.Greater(delta, raw.ZerosLike(delta))
            return raw.SelectV2(up, raw.Less(i, limit), raw.Greater(i, limit))

        return cls(start, test, delta, lambda i: i)


# ---- a staged loop ------------------------------------------------------------------------------------------------


class Loop:
    """A staged loop, which becomes a While node. Its loop variables are those of get_state that hold tensors or numbers."""

    def __init__(self, names, get_state, set_state, opts):
        self.names = names
        self.get_state, self.set_state = get_state, set_state
        self.opts = {k: v for k, v in opts.items() if v is not UNSPECIFIED and k != "iterate_names"}
        self.before = list(get_state())
        self.late = []  # names of variables that get their first value inside the loop
        self.fixed = {}

    def run_while(self, test, body):
        def ready():
            return condition(test(), "while loop")

        self._prepare(body)
        if self.late:
            self.set_state(tuple(self.before))
            self._must_run(ready())
        after = self._loop(ready, body, [], lambda: [])
        self._done(after)

    def run_for(self, elements, extra_test, body):
        def turn():
            body(elements.at(self.counter))

        def ready():
            more = elements.test(self.counter)
            if extra_test is None:
                return more
            also = extra_test()
            return raw.LogicalAnd(more, condition(also, "for loop") if is_staged(also) else _core.convert(bool(also)))

        self.counter = elements.start
        self._prepare(turn)
        if self.late:
            self._must_run(elements.test(elements.start))
        step = elements.step

        def advanced():
            return [raw.AddV2(self.counter, step)]

        self._done(self._loop(ready, turn, [elements.start], advanced))

    # ---- variables without a value

    def _prepare(self, body):
        """Finds initial values for variables without a value: zeros with the shape and dtype of what the body assigns."""
        self.bounds = {}
        missing = [k for k, v in enumerate(self.before) if v is None or is_undefined(v)]
        if missing:
            self._find_values(missing, body)
        self.staged = []
        for k, value in enumerate(self.before):
            if is_undefined(value) or value is None or not _can_vary(value):
                self.fixed[k] = value
            else:
                self.staged.append(k)
                self.before[k] = as_tensors(value)

    def _find_values(self, missing, body):
        trial = Body("loop_trial")
        failed = None
        try:
            with trial, frames.staged_loop():
                self.set_state(tuple(self._entering(v) for v in self.before))
                counter = getattr(self, "counter", None)
                if counter is not None:
                    self.counter = trial.placeholder(counter.dtype, counter)
                try:
                    body()
                    found = self.get_state()
                finally:
                    if counter is not None:
                        self.counter = counter
        except (UnboundLocalError, TypeError, ValueError, KeyError) as e:
            failed = e
        self.set_state(tuple(self.before))
        for k in missing:
            self._start(k, None if failed is not None else found[k], failed)

    def _entering(self, value):
        """A value as the body sees it in later iterations: a placeholder like it."""
        if is_undefined(value) or value is None or not _can_vary(value):
            return value
        graph = _core.current_graph()

        def leaf(v):
            return graph._placeholder_like(v) if isinstance(v, _core.Tensor) else v

        return nest.map_structure(leaf, as_tensors(value), expand_composites=True)

    def _start(self, k, found, failed):
        name, old = self.names[k], self.before[k]
        if failed is not None:
            if is_return_value(name):
                raise NotImplementedError(
                    "a return statement cannot be placed inside this TensorFlow loop; this may happen if a return statement "
                    "depends on a static Python condition such as a hyperparameter") from failed
            if isinstance(old, Undefined) and not isinstance(failed, ValueError):  # the ValueError of an op is more specific
                raise ValueError(f"'{name}' must be defined before the loop.\n{type(failed).__name__}: {failed}") from failed
            raise failed
        if found is None or is_undefined(found) or not _can_vary(found):
            return
        found = as_tensors(found)
        self.bounds[k] = [_core.seen_shape(t) for t in nest.flatten(found, expand_composites=True)]
        self.before[k] = stand_in(found)
        if not is_return_value(name):
            self.late.append(name)

    def _must_run(self, begins):
        for name in self.late:
            public["debugging.Assert"](begins, [f"loop must iterate at least once to initialize {name}"])

    # ---- the node

    def _loop(self, test, body, extra, advanced):
        variables = [self.before[k] for k in self.staged]
        n = len(extra)

        def enter(values):
            if n:
                self.counter = values[0]
            self._set(values[n:])

        def run_test(*values):
            enter(values)
            return test()

        def turn(*values):
            enter(values)
            with frames.staged_loop():
                body()
            after = self.get_state()
            results = [self._result(k, entered, after[k]) for k, entered in zip(self.staged, values[n:])]
            for k, value in self.fixed.items():
                self._unchanged(k, value, after[k])
            return advanced() + results

        start = list(extra) + variables
        if not start:
            start = [_core.convert(0)]
            return while_loop(lambda i: run_test(), lambda i: (turn(), i)[1:], start, **self._options([]))[1:]
        after = while_loop(run_test, turn, start, **self._options(start))
        self.counter_after = after[0] if n else None
        return after[n:]

    def _set(self, values):
        state = list(self.before)
        for k, value in self.fixed.items():
            state[k] = value
        for k, value in zip(self.staged, values):
            state[k] = value
        self.set_state(tuple(state))

    def _done(self, after):
        self._set(after)

    def _unchanged(self, k, old, new):
        if new is old or is_undefined(new) or (is_flag(self.names[k]) and new == old):
            return
        if isinstance(old, (list, dict, set)) and type(old) is type(new) and not nest.flatten(old):
            raise TypeError(f"'{self.names[k]}' does not have the same nested structure after one iteration.")
        if old is None or is_undefined(old):
            raise ValueError(f"'{self.names[k]}' must be defined before the loop.")
        raise TypeError(f"'{self.names[k]}' is a {type(old).__name__} before the loop and another {type(new).__name__} after "
                        "one iteration; only tensors, numbers and structures of them may change in a TensorFlow loop")

    def _result(self, k, entered, value):
        """The value of a variable after the body. Raises an error if its structure, dtype or shape has changed."""
        name = self.names[k]
        if value is None:
            raise ValueError(f"'{name}' is not allowed to be None at the end of the iteration.")
        if is_undefined(value):
            raise ValueError(f"'{name}' is undefined at the end of the iteration.")
        value = as_tensors(value)
        try:
            nest.assert_same_structure(entered, value, expand_composites=True)
        except (TypeError, ValueError) as e:
            raise TypeError(f"'{name}' does not have the same nested structure after one iteration.\n\n{e}") from None
        bounds = self._bounds_of(k)
        old, new = (nest.flatten(v, expand_composites=True) for v in (entered, value))
        for a, b, dims in zip(old, new, bounds):
            if not isinstance(b, _core.Tensor):
                continue
            if a.dtype != b.dtype:
                raise TypeError(f"'{name}' has dtype {a.dtype.name} before the loop, but dtype {b.dtype.name} after one "
                                "iteration")
            if not _core.shape_fits(b, dims):
                raise ValueError(f"'{name}' has shape {text_of(dims)} before the loop, but shape "
                                 f"{text_of(b)} after one iteration. Use "
                                 "tf.autograph.experimental.set_loop_options to set shape invariants.")
        return value

    # ---- shapes

    def _bounds_of(self, k):
        """The dims that the plain tensors of a variable have in every iteration."""
        flat = nest.flatten(self.before[k], expand_composites=True)
        given = self._given_shape(k)
        if given is not None:
            return [given] * len(flat)
        if k in self.bounds:
            return self.bounds[k]
        return flat

    def _given_shape(self, k):
        for tensor, shape in self.opts.get("shape_invariants") or ():
            if tensor is self.before[k]:
                shape = shape.shape if hasattr(shape, "shape") else TensorShape(shape)
                return None if hasattr(tensor, "_flow_of") else shape._dims
        return None

    def _options(self, start):
        options = {k: v for k, v in self.opts.items() if k != "shape_invariants"}
        bounded = {k: self._bounds_of(k) for k in self.staged}
        if start and (self.bounds or self.opts.get("shape_invariants")):
            shapes = [t.shape for t in start[:len(start) - len(self.staged)]]
            for k in self.staged:
                rest = iter(bounded[k])
                shapes.append(nest.map_structure(lambda t, rest=rest: _shape_like(t, rest), self.before[k]))
            options["shape_invariants"] = shapes
        return options


def _shape_like(value, rest):
    """The shape invariant of a tensor; for a composite tensor, that of its first component."""
    if nest._opens(value):
        parts = [next(rest) for _ in nest.flatten(value, expand_composites=True)]
        return _as_shape(parts[0])
    return _as_shape(next(rest))


def _as_shape(bound):
    return bound.shape if isinstance(bound, _core.Tensor) else TensorShape(bound)


def _can_vary(value):
    """Whether a value can be a loop variable of a staged loop: a tensor, a number or a structure of these."""
    if isinstance(value, (_core.CoreTensor,) + NUMBERS) or nest._opens(value):
        return not isinstance(value, np.ndarray) or value.dtype != object
    if not nest.is_nested(value):
        return False
    flat = nest.flatten(value)
    return bool(flat) and all(v is not None and _can_vary(v) for v in flat)
