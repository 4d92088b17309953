"""Feeding numpy arrays, Python numbers and lists through feed_dict.
The ratio is to the same addition called eagerly.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
import numpy as np
from meter import Meter

v1 = tf.compat.v1
g = tf.Graph()
with g.as_default():
    a = v1.placeholder(tf.int32)
    b = v1.placeholder(tf.int32)
    c = tf.add(a, b)
sess = v1.Session(graph=g)
m = Meter('11_v1_feed_dict')
eager = m.per_call_us(lambda i: tf.add(i, 2 * i), 2000)
m.run(lambda i: sess.run(c, feed_dict={a: i, b: 2 * i}), 20000)
arr = np.arange(100000, dtype=np.int32)
lst = arr.tolist()
t_arr = m.per_call_us(lambda i: sess.run(c, feed_dict={a: arr, b: 1}), 300)
t_lst = m.per_call_us(lambda i: sess.run(c, feed_dict={a: lst, b: 1}), 60)
m.note(eager_us=eager, feed_vs_eager=m.typical_us() / eager, list_vs_array=t_lst / t_arr)
m.bar(feed_vs_eager=3.0)
m.done()
