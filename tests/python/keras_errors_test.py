"""Faults of a user's Keras program end in an error that names the user's line and the argument, axis or shape."""
import traceback

import numpy as np
import pytest

import evenflow as tf


def small_model():
    return tf.keras.Sequential([tf.keras.layers.Conv2D(2, 3, activation="relu"), tf.keras.layers.Flatten(),
                                tf.keras.layers.Dense(10)])


def text_of(error):
    """What Python prints for an error, and the number of the marked line of this file."""
    with open(__file__) as f:
        marked = [n for n, line in enumerate(f, 1) if line.rstrip().endswith("# here")]
    return "".join(traceback.format_exception(error)), marked


def test_generator_without_its_argument():
    def pictures(count):
        for _ in range(count):
            yield np.zeros((8, 8, 3), np.float32), 1

    spec = tf.TensorSpec((8, 8, 3), tf.float32), tf.TensorSpec((), tf.int32)
    dataset = tf.data.Dataset.from_generator(pictures, output_signature=spec)  # here
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        next(iter(dataset))
    text, marked = text_of(e.value)
    assert "pictures() missing 1 required positional argument: 'count'" in text
    assert f'keras_errors_test.py", line {marked[0]}' in text and "element 0" in text


def test_one_axis_too_many():
    model = small_model()

    @tf.function
    def step(images):
        return model(images[tf.newaxis])  # here

    with pytest.raises(ValueError) as e:
        step(tf.zeros([1, 8, 8, 3]))
    text, marked = text_of(e.value)
    assert "(1, 1, 8, 8, 3)" in text and f'keras_errors_test.py", line {marked[1]}, in step' in text


def test_scalar_label_inside_a_loop():
    """The loss has no value before the loop; what is wrong is nevertheless its argument."""
    model = small_model()
    model.build((None, 8, 8, 3))

    @tf.function
    def step(images, labels):
        for image, label in zip(images, labels):
            guess = model(image[tf.newaxis])
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)(label, guess)  # here
        return loss

    with pytest.raises(ValueError) as e:
        step(tf.zeros([2, 8, 8, 3]), tf.zeros([2], tf.int32))
    text, marked = text_of(e.value)
    assert "target.shape=(), output.shape=(1, 10)" in text and "must be defined" not in text
    assert f'keras_errors_test.py", line {marked[2]}, in step' in text


def test_variable_used_before_its_loop_still_says_so():
    @tf.function
    def total(n):
        for i in tf.range(n):
            s = s + i  # noqa: F821
        return s  # noqa: F821

    with pytest.raises((ValueError, UnboundLocalError), match="'?s'? "):
        total(tf.constant(3))
