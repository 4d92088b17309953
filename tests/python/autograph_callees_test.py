"""AutoGraph converts the user's functions wherever a traced function finds them: in containers, in partials, as
attributes, as callables given to tf.map_fn. A function that needs no conversion today may need it tomorrow."""
import collections
import functools
import types

import numpy as np
import pytest

import evenflow as tf


def branch(x):
    if x > 0:
        return x * 2
    else:
        return x - 1


class Callable(tf.Module):
    def __call__(self, x):
        return branch(x)

    def method(self, x):
        return branch(x)

    @staticmethod
    def static(x):
        return branch(x)

    @classmethod
    def of_class(cls, x):
        return branch(x)


class Holder:
    def __init__(self):
        self.function, self.listed = branch, [branch]


TABLE, LISTED, PAIR = {"branch": branch}, [branch], (branch,)
ORDERED, QUEUE = collections.OrderedDict(branch=branch), collections.deque([branch])
NAMED, SPACE = collections.namedtuple("Named", "function")(branch), types.SimpleNamespace(function=branch)
PARTIAL, NESTED = functools.partial(branch), functools.partial(functools.partial(branch))
MODULES, HOLDER = [Callable()], Holder()


def scaled(x):
    return x * scaled.factor


scaled.factor = 3.0


CALLS = {
    "dict": lambda x: TABLE["branch"](x),
    "dict.get": lambda x: TABLE.get("branch")(x),
    "list": lambda x: LISTED[0](x),
    "tuple": lambda x: PAIR[0](x),
    "ordered dict": lambda x: ORDERED["branch"](x),
    "deque": lambda x: QUEUE[0](x),
    "named tuple": lambda x: NAMED.function(x),
    "namespace": lambda x: SPACE.function(x),
    "partial": lambda x: PARTIAL(x),
    "partial of a partial": lambda x: NESTED(x),
    "module in a list": lambda x: MODULES[0](x),
    "method of a module in a list": lambda x: MODULES[0].method(x),
    "static method": lambda x: Callable.static(x),
    "class method": lambda x: Callable.of_class(x),
    "attribute": lambda x: HOLDER.function(x),
    "list in an attribute": lambda x: HOLDER.listed[0](x),
    "keywords": lambda x: TABLE["branch"](x=x),
}


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("value", [3.0, -3.0])
def test_callee_is_converted(how, value):
    x = tf.constant(value)
    assert float(tf.function(CALLS[how])(x)) == float(branch(x))


def test_function_that_reads_its_own_attribute():
    assert float(tf.function(scaled)(tf.constant(2.0))) == 6.0
    assert float(tf.function(lambda x: scaled(x) + 1.0)(tf.constant(2.0))) == 7.0


@pytest.mark.parametrize("function", [branch, PARTIAL, Callable(), HOLDER.function, lambda x: x * 2 if x > 0 else x - 1])
def test_map_fn_converts_its_function(function):
    rows = tf.constant([1.0, -2.0, 3.0])
    mapped = tf.function(lambda v: tf.map_fn(function, v))(rows)
    np.testing.assert_array_equal(mapped, [2.0, -3.0, 6.0])


def test_reduce_of_a_dataset_converts_its_function():
    def add_magnitude(total, x):
        if x > 0:
            return total + x
        else:
            return total - x

    assert float(tf.data.Dataset.from_tensor_slices([1.0, -2.0, 3.0]).reduce(0.0, add_magnitude)) == 6.0


CONVERSIONS = {"int": lambda x: int(x * 1.5) + 1, "float": lambda x: float(x), "float of an int": lambda x: float(int(x)),
               "abs": lambda x: abs(-x), "len": lambda x: len(tf.stack([x, x]))}


@pytest.mark.parametrize("how", CONVERSIONS)
def test_builtins_of_tensors(how):
    x = tf.constant(3.0)
    assert float(tf.function(CONVERSIONS[how])(x)) == float(CONVERSIONS[how](x))


def test_sorted_of_a_tensor():
    v = tf.constant([3.0, 1.0, 2.0])
    np.testing.assert_array_equal(tf.function(lambda v: sorted(v))(v), [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tf.function(lambda v: sorted(v, reverse=True))(v), [3.0, 2.0, 1.0])


activation = tf.nn.relu


def test_name_that_comes_to_stand_for_a_user_function():
    global activation
    f = tf.function(lambda x: activation(x))
    try:
        assert float(f(tf.constant(3.0))) == 3.0
        activation = branch
        assert f(tf.constant(3, tf.int32)).numpy() == 6  # a new dtype: traced again
    finally:
        activation = tf.nn.relu


def test_closure_that_comes_to_hold_a_user_function():
    inner = tf.nn.relu
    f = tf.function(lambda x: inner(x))
    assert float(f(tf.constant(3.0))) == 3.0
    inner = branch
    assert f(tf.constant(-3, tf.int32)).numpy() == -4


def test_a_function_that_is_not_converted_is_named_once(caplog):
    @tf.function
    def total(n):
        s = 0
        for i in range(2):
            s += n
        else:
            s += 100
        return s

    assert int(total(tf.constant(1))) == 102 and int(total(tf.constant(1.0))) == 102
    [warning] = [r.getMessage() for r in caplog.records if "could not transform" in r.getMessage()]
    assert "total" in warning and "\nCause: for/else statement not yet supported\n" in warning
    caplog.clear()
    unseen = eval("lambda x: 1 if x else 2")  # there is no source text to convert, nor anything to do about it
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
        tf.function(unseen)(tf.constant(True))
    assert not caplog.records
