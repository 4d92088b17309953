"""A function of a pipeline called for each of very many tiny elements, where one call
for a whole batch gives the same.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
from meter import Meter

N = 4096
w = tf.constant([1.0, 2.0, 3.0, 4.0])
each = tf.data.Dataset.range(N).map(
    lambda v: tf.reduce_sum(w * tf.cast(v, tf.float32))).batch(256)
whole = tf.data.Dataset.range(N).batch(256).map(
    lambda v: tf.reduce_sum(w * tf.cast(v, tf.float32)[:, None], axis=1))


def epoch(ds):
    for b in ds:
        pass


m = Meter('90_map_per_element')
batched = m.per_call_us(lambda i: epoch(whole), 40)
m.run(lambda i: epoch(each), 120)
m.note(batched_us=batched,
       each_vs_batched=m.typical_us() / batched)
m.bar(each_vs_batched=8.0)
m.done()
