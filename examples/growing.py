"""The growing time. Calls that are known to become slower, or to fill memory, as a program goes on: a Python number
that changes, a shape that changes, losses that are kept, variables that are dropped. First and last call should cost
the same, and memory should stay where it was.
"""
import os

import numpy as np
import tensorflow as tf

import calls


def resident_mb():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@tf.function
def scaled(x, factor):
    return tf.reduce_sum(x * factor)


@tf.function
def squares(x):
    return tf.reduce_mean(tf.square(x) - x)


x = tf.constant(np.linspace(0, 1, 64, dtype=np.float32))
shapes = [tf.ones([1 + k % 40, 1 + k // 40]) for k in range(400)]
weight = tf.Variable(tf.ones([64]))


def step(i):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(weight * x - 0.5))
    weight.assign_sub(0.01 * tape.gradient(loss, weight))


def made_and_dropped(i):
    return tf.Variable(tf.zeros([32, 32])) + 1.0


for i in range(5):
    scaled(x, 0.5), squares(x), step(i), made_and_dropped(i)
before = resident_mb()
calls.measure("growing, a new number each call", lambda i: scaled(x, float(i)), 300)
calls.measure("growing, a new shape each call", lambda i: squares(shapes[i]), 300)
calls.measure("growing, training steps", step, 1000)
calls.measure("growing, variables made and dropped", made_and_dropped, 1000)
print(f"memory grew by {resident_mb() - before:.1f} MB")
