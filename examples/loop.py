"""The loop. Things that people put into a loop and should not have to think about: a graph and a session made in
every pass, one graph that grows by a node in every pass, numbers fed one by one - and the loop inside a function.
"""
import tensorflow as tf

import calls

v1 = tf.compat.v1


def all_anew(i):
    """A graph, a session and a run in each pass."""
    with tf.Graph().as_default(), v1.Session() as session:
        total = tf.constant(float(i)) * 3.0
        return session.run(total)


def growing():
    """One graph that grows with each pass, because the ops are made inside the loop."""
    graph = tf.Graph()
    session = v1.Session(graph=graph)

    def one(i):
        with graph.as_default():
            return session.run(tf.constant(float(i)) * 3.0)
    return one


def fed():
    """One graph, one session, numbers fed to it."""
    graph = tf.Graph()
    with graph.as_default():
        a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
        product = a * b
    session = v1.Session(graph=graph)
    return lambda i: session.run(product, {a: float(i), b: 3.0})


@tf.function
def inside(x):
    total = tf.constant(0.0)
    for i in tf.range(500):
        total += x * tf.cast(i, tf.float32)
    return total


@tf.function
def unrolled(x):
    total = tf.constant(0.0)
    for i in range(500):
        total += x * float(i)
    return total


calls.measure("loop, graph and session anew", all_anew, 300)
calls.measure("loop, a graph that grows", growing(), 300)
calls.measure("loop, numbers fed", fed(), 300)
x = tf.constant(0.5)
calls.measure("loop inside, 500 turns of tf.range", lambda i: inside(x).numpy(), 100)
calls.measure("loop inside, 500 turns unrolled", lambda i: unrolled(x).numpy(), 100)
