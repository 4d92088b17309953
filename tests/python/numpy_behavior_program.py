"""Evaluates expressions with numpy behavior enabled, which cannot be undone: numpy_behavior_test.py runs it in a process of
its own. `python numpy_behavior_program.py MODULE < cases` prints a line for each; numpy_behavior_cases.txt has TensorFlow's."""
import importlib
import sys

import numpy as np

tf = importlib.import_module(sys.argv[1])
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior()
i = tf.constant([1, 2])
f = tf.constant([1.5, 2.5])
d = tf.constant([1.5, 2.5], tf.float64)
b = tf.constant([True, False])
m = tf.reshape(tf.range(6), [2, 3])
v = tf.Variable([1.0, 2.0])


def shown(value):
    if isinstance(value, tf.Tensor):
        return f"tensor {value.dtype.name} {np.asarray(value.numpy()).tolist()}"
    return f"{type(value).__name__} {value}"


for line in sys.stdin:
    expression = line.split(" => ")[0].strip()
    try:
        print(f"{expression} => {shown(eval(expression))}")  # noqa: S307 - our own expressions
    except Exception as e:  # noqa: BLE001 - whatever it is, it is the outcome
        print(f"{expression} => raises {type(e).__name__}")
