"""Lists that contain themselves, or change while they are read, end in an error; ops that fail leave nothing behind."""
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
