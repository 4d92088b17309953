"""The calling approach. One small network, one batch, and the ways to call it: op by op, as a function, as a function
with a fixed signature, as a new function each time, in a session. They should differ in how they are written, not
in their speed.
"""
import numpy as np
import tensorflow as tf

import calls

rng = np.random.default_rng(2)
sizes = [64, 256, 256, 10]
layers = [(tf.Variable(rng.standard_normal((a, b), dtype=np.float32) * 0.1), tf.Variable(tf.zeros([b])))
          for a, b in zip(sizes, sizes[1:])]
batch = tf.constant(rng.random((32, 64), dtype=np.float32))


def network(x):
    for w, b in layers[:-1]:
        x = tf.nn.relu(tf.matmul(x, w) + b)
    w, b = layers[-1]
    return tf.nn.softmax(tf.matmul(x, w) + b)


def in_session():
    v1 = tf.compat.v1
    values = [(w.numpy(), b.numpy()) for w, b in layers]
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 64])
        y = x
        for k, (w, b) in enumerate(values):
            y = tf.matmul(y, w) + b
            y = tf.nn.relu(y) if k < len(values) - 1 else tf.nn.softmax(y)
        session = v1.Session()
    feed = {x: batch.numpy()}
    return lambda i: session.run(y, feed)


function = tf.function(network)
signed = tf.function(network, input_signature=[tf.TensorSpec([None, 64], tf.float32)])

calls.measure("calling, op by op", lambda i: network(batch).numpy(), 300)
calls.measure("calling, a function", lambda i: function(batch).numpy(), 300)
calls.measure("calling, with a signature", lambda i: signed(batch).numpy(), 300)
calls.measure("calling, a function made anew", lambda i: tf.function(lambda x: network(x))(batch).numpy(), 100)
calls.measure("calling, a session", in_session(), 300)
