"""for i in tf.range(n) inside a function: the cost of one
iteration, compared with the same sum unrolled and vectorised.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
import numpy as np
from meter import Meter

N = 200


@tf.function
def looped(x):
    y = tf.constant(0.0)
    for i in tf.range(N):
        y = y + x * tf.cast(i, tf.float32)
    return y


@tf.function
def unrolled(x):
    y = tf.constant(0.0)
    for i in range(N):
        y = y + x * float(i)
    return y


@tf.function
def vector(x):
    return tf.reduce_sum(x * tf.cast(tf.range(N), tf.float32))


x = tf.constant(2.0)
m = Meter('29_range_loop_in_function')
u = m.per_call_us(lambda i: unrolled(x), 500)
v = m.per_call_us(lambda i: vector(x), 500)
m.run(lambda i: looped(x), 2500)
m.note(us_per_trip=m.typical_us() / N, loop_vs_unrolled=m.typical_us() / u, loop_vs_vector=m.typical_us() / v)
m.bar(us_per_trip=1.0, loop_vs_unrolled=2.0)
m.done()
