"""The rows as a TensorFlow program. The same text measures TensorFlow and Evenflow.

Each function below sets a row up and returns `prepare(n)`, which returns a callable that makes n calls; only the
callable is timed.
"""
import importlib
from itertools import repeat

import numpy as np


def rows(module):
    tf = importlib.import_module(module)
    v1 = tf.compat.v1

    def again(call):
        """n times the same call."""
        def prepare(n):
            def run():
                for _ in repeat(None, n):
                    call()
            return run
        return prepare

    def eager_add():
        a, b = tf.constant(1.0), tf.constant(2.0)

        def prepare(n):
            def run():
                for _ in repeat(None, n):
                    a + b
            return run
        return prepare

    def function_call():
        f = tf.function(lambda a, b: a + b)
        a, b = tf.constant(1.0), tf.constant(2.0)

        def prepare(n):
            def run():
                for _ in repeat(None, n):
                    f(a, b)
            return run
        return prepare

    def session_run():
        graph = tf.Graph()
        with graph.as_default():
            a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
            c = a + b
        session = v1.Session(graph=graph)
        return again(lambda: session.run(c, {a: 1.0, b: 2.0}))

    def graph_in_loop():
        def once():
            with tf.Graph().as_default():
                a = v1.placeholder(tf.float32, [3])
                b = tf.constant([1.0, 2.0, 3.0])
                c = tf.reduce_sum(a * b + 1.0)
                with v1.Session() as session:
                    return session.run(c, {a: [1.0, 1.0, 1.0]})
        return again(once)

    def new_shape():
        f = tf.function(lambda x: tf.reduce_sum(tf.nn.relu(x * 2.0 - 1.0)))
        seen = [0]

        def prepare(n):
            first, seen[0] = seen[0], seen[0] + n
            xs = [tf.ones([1 + k % 128, 1 + k // 128 % 128]) for k in range(first, first + n)]

            def run():
                for x in xs:
                    f(x)
            return run
        return prepare

    def new_number():
        f = tf.function(lambda x, k: x * k + 1.0)
        x = tf.constant([1.0, 2.0, 3.0])
        seen = [0]

        def prepare(n):
            first, seen[0] = seen[0], seen[0] + n
            ks = [0.5 + k for k in range(first, first + n)]

            def run():
                for k in ks:
                    f(x, k)
            return run
        return prepare

    def range_loop():
        @tf.function
        def f(x):
            s = tf.constant(0.0)
            for i in tf.range(1000):
                s += x * tf.cast(i, tf.float32)
            return s
        x = tf.constant(2.0)
        return again(lambda: f(x))

    def links(x):
        y = x * 2.0 + 1.0
        y = tf.nn.relu(y) - 0.5 * x
        y = tf.sqrt(tf.abs(y)) + x
        return y / (1.0 + y * y)

    def chain():
        x = tf.constant(np.linspace(-1, 1, 1 << 22, dtype=np.float32))
        return again(lambda: links(x).numpy())

    def chain_function():
        x = tf.constant(np.linspace(-1, 1, 1 << 22, dtype=np.float32))
        f = tf.function(links)
        return again(lambda: f(x).numpy())

    def matmul():
        rng = np.random.default_rng(0)
        a, b = (tf.constant(rng.random((1000, 1000), dtype=np.float32)) for _ in range(2))
        return again(lambda: tf.matmul(a, b).numpy())

    found = (eager_add, function_call, session_run, graph_in_loop, new_shape, new_number, range_loop, chain,
             chain_function, matmul)
    return {f.__name__: f for f in found}
