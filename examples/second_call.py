"""The second call. A product is computed, a variable is changed, and the product is computed again: eagerly, in a
function and in a session, with the same size and with another one. Nothing makes the second call slower than the
first, and the sizes may change at will.
"""
import numpy as np
import tensorflow as tf

import calls

rng = np.random.default_rng(1)
rows = [rng.random((64 + 16 * k, 128), dtype=np.float32) for k in range(8)]
weights = tf.Variable(rng.random((128, 32), dtype=np.float32))
step = tf.constant(1e-3, shape=[128, 32])


def eagerly(i):
    result = tf.matmul(rows[i % 8], weights)
    weights.assign_sub(step)
    return result.numpy()


def product(x):
    result = tf.matmul(x, weights)
    weights.assign_sub(step)
    return result


def in_session():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 128])
        w = v1.get_variable("w", initializer=rng.random((128, 32), dtype=np.float32))
        with tf.control_dependencies([v1.assign_sub(w, np.full((128, 32), 1e-3, np.float32))]):
            y = tf.matmul(x, w)
        session = v1.Session()
        session.run(v1.global_variables_initializer())
    return lambda i: session.run(y, {x: rows[i % 8]})


calls.measure("second call, eager", eagerly, 400)
one_size, many_sizes = tf.function(product), tf.function(product)
calls.measure("second call, function, one size", lambda i: one_size(rows[0]).numpy(), 400)
calls.measure("second call, function, eight sizes", lambda i: many_sizes(rows[i % 8]).numpy(), 400)
calls.measure("second call, session", in_session(), 400)
