"""A new session for every run, on a graph that also grows.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
import numpy as np
from meter import Meter

v1 = tf.compat.v1
g = tf.Graph()
m = Meter('10_v1_session_per_call')
with g.as_default():
    a = v1.placeholder(tf.int32, shape=[1])
    ref = tf.add(a, a)
    one = v1.Session(graph=g)
    kept = m.per_call_us(lambda i: one.run(ref, feed_dict={a: [i]}), 500)

    def call(i):
        c = tf.add(tf.constant([i]), tf.constant([2 * i]))
        with v1.Session() as sess:
            assert sess.run(c)[0] == 3 * i

    m.run(call, 1000)
m.note(kept_session_us=kept, new_session_vs_kept=m.typical_us() / kept)
m.bar(new_session_vs_kept=3.0)
m.done()
