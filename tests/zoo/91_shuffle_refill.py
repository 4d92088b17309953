"""A shuffle buffer of large elements, filled anew at the head of each epoch, where
shuffling their numbers first gives the same order immediately.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
from meter import Meter

N = 1000
numbers = tf.data.Dataset.range(N)


def picture(v):
    return tf.fill([32, 32], tf.cast(v, tf.float32))


after = numbers.map(picture).shuffle(N)
before = numbers.shuffle(N).map(picture)
m = Meter('91_shuffle_refill')
light = m.per_call_us(lambda i: next(iter(before)), 60)
m.run(lambda i: next(iter(after)), 200)
m.note(numbers_us=light,
       pictures_vs_numbers=m.typical_us() / light)
m.bar(pictures_vs_numbers=8.0)
m.done()
