#!/usr/bin/env python3
"""Counts the allocations of warm calls (calls that were made before), for docs/health.md.

Prints a line `what: allocations per call` for each kind of call. Run by tools/health.py with the project's own Python.
"""
import numpy as np

import evenflow as tf

CALLS = 500


def functions():
    x = tf.constant(np.ones(1000, np.float32))
    m = tf.constant(np.ones((64, 64), np.float32))
    v = tf.Variable(np.ones((64, 64), np.float32))
    chain = tf.function(lambda x: tf.nn.relu((x + x) * x - x), autograph=False)
    product = tf.function(lambda m: tf.reduce_sum(tf.nn.relu(tf.matmul(m, m) + 1.0)), autograph=False)

    @tf.function
    def loop(x):
        s = tf.constant(0.0)
        for i in tf.range(10):
            s += x * tf.cast(i, tf.float32)
        return s

    @tf.function
    def step(m):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(m, v)))
        v.assign_sub(0.01 * tape.gradient(loss, v))
        return loss

    one = tf.constant(2.0)
    return {"function of four elementwise ops": lambda: chain(x), "function of a product": lambda: product(m),
            "function with a loop": lambda: loop(one), "step of training as a function": lambda: step(m)}


def sessions():
    v1, graph = tf.compat.v1, tf.Graph()
    with graph.as_default():
        a = v1.placeholder(tf.float32, [])
        b = a * a + 1.0
    run = v1.Session(graph=graph).run
    return {"session run": lambda: run(b, {a: 2.0})}


def eager():
    a, v = tf.constant([1.0, 2.0]), tf.Variable([1.0, 2.0])

    def tape():
        with tf.GradientTape() as tape:
            y = v * v
        return tape.gradient(y, v)
    return {"eager op on a small tensor": lambda: a + a, "update of a variable": lambda: v.assign_add(a),
            "small tape and gradient": tape}


def main():
    for name, call in {**functions(), **sessions(), **eager()}.items():
        for _ in range(50):
            call()
        before = tf._core.allocations()
        for _ in range(CALLS):
            call()
        print(f"{name}: {(tf._core.allocations() - before) / CALLS:g}")


if __name__ == "__main__":
    main()
