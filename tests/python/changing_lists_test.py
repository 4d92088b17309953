"""Lists that contain themselves, or change while they are read, end in an error; ops that fail leave nothing behind."""
import os
import subprocess
import sys

import numpy as np
import pytest

import evenflow as tf


def test_a_list_that_contains_itself():
    inner = [[]]
    inner.append(inner)
    assert tf.convert_to_tensor(inner).shape[0] == 2  # its first item is empty
    full = [1.0]
    full.append(full)
    with pytest.raises(RecursionError):  # as in TensorFlow
        tf.convert_to_tensor(full)


class Changing(int):
    """A number that changes a list while it is converted."""

    def __new__(cls, value, change):
        made = int.__new__(cls, value)
        made.change = change
        return made

    def __float__(self):
        self.change()
        return 1.0

    __index__ = __int__ = lambda self: self.change() or 1


@pytest.mark.parametrize("dtype", [tf.float32, tf.int32, tf.float64, tf.complex64])
@pytest.mark.parametrize("change", ["extend", "clear", "nest"])
def test_a_list_that_changes(dtype, change):
    numbers = [0] * 100

    def act():
        if change == "extend":
            numbers.extend([7] * 100000)
        elif change == "clear":
            del numbers[1:]
        else:
            numbers[1] = numbers

    numbers[0] = Changing(3, act)
    try:
        made = tf.constant(numbers, dtype).numpy()
    except ValueError as e:
        assert "changed while it was read" in str(e)
    else:
        assert made.shape == (100,)  # where the number's own methods are not asked


def test_arrays_in_a_list_that_changes():
    numbers = [[0, 1], np.zeros(2, np.float32)]

    def act():
        numbers[1] = np.ones(1 << 20, np.float32)

    numbers[0][0] = Changing(3, act)
    try:
        made = tf.constant(numbers, tf.float32)
    except ValueError as e:
        assert "changed while it was read" in str(e)
    else:
        assert made.shape == (2, 2)


def test_the_name_of_an_op_that_failed_is_not_given_to_the_next():
    with tf.Graph().as_default():
        foreign = tf.compat.v1.placeholder(tf.float32, [])
    with tf.Graph().as_default():
        b = tf.compat.v1.placeholder(tf.float32, [])
        with pytest.raises(ValueError):
            tf.add(b, foreign, name="leaked")
        assert (b * b).op.name == "mul"


ARGUMENTS_THAT_GO_AWAY = """
import evenflow as tf

class Leaving:  # removes itself from the list or dict that it is in when it is hashed
    def __init__(self, among, number):
        self.among, self.number = among, number
    def __hash__(self):
        self.among.clear()
        return 7
    def __eq__(self, other):
        return self.number == other.number

@tf.function
def f(x, *rest, **named):
    return x + 1.0

def many():
    among = []
    among.extend([Leaving(among, 1), Leaving(among, 2)])
    return among

for _ in range(3):
    assert f(1.0, many()).numpy() == 2.0
    assert f(1.0, [many(), 1]).numpy() == 2.0
    assert f(1.0, (many(),)).numpy() == 2.0
    among = {}
    among["a"] = Leaving(among, 3)
    assert f(1.0, among).numpy() == 2.0
    outer = []
    outer.append([Leaving(outer, 4), 5])
    assert f(1.0, outer).numpy() == 2.0
print("ended")
"""


def test_arguments_of_a_function_that_go_away_while_they_are_compared():
    run = subprocess.run([sys.executable, "-c", ARGUMENTS_THAT_GO_AWAY], capture_output=True, text=True, timeout=120,
                         env={**os.environ, "PYTHONMALLOC": "debug"})  # writes over freed memory
    assert run.stdout == "ended\n", run.stderr[-2000:]


def test_fetches_that_are_removed_while_the_result_is_built():
    with tf.Graph().as_default():
        class Removing(tf.compat.v1.Variable(0.0).__class__):
            asked = 0

            @property
            def _reference(self):
                Removing.asked += 1
                if Removing.asked == 2:  # the first time is before the run
                    del fetches[1:]
                return False

        variable = tf.compat.v1.Variable(1.0)
        variable.__class__ = Removing
        fetches = [variable, tf.constant(2.0), [tf.constant(3.0)]]
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            with pytest.raises(RuntimeError, match="the fetches were modified during the run"):
                session.run(fetches)
            assert session.run(fetches) == [1.0]
