"""A pipeline whose items take as long to make as the step takes to run: without
prefetch the two wait for one another.
"""
import importlib, sys
tf = importlib.import_module(sys.argv[1] if len(sys.argv) > 1 else 'tensorflow')
import numpy as np
from meter import Meter

import time


def slow(v):
    time.sleep(0.002)
    return v


def step():
    time.sleep(0.002)


def make(prefetch):
    ds = tf.data.Dataset.range(40).map(
        lambda v: tf.numpy_function(slow, [v], tf.int64))
    return ds.prefetch(2) if prefetch else ds


def epoch(ds):
    for b in ds:
        step()


with_p, without = make(True), make(False)
m = Meter('34_no_prefetch', budget_s=15)
good = m.per_call_us(lambda i: epoch(with_p), 20)
m.run(lambda i: epoch(without), 60)
m.note(prefetched_us=good, starved_vs_prefetched=m.typical_us() / good)
m.bar(starved_vs_prefetched=1.15)
m.done()
