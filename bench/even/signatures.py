"""A model of 100 layers, called with 500 signatures whose plans together need many times the budget of all caches.

usage: signatures.py [SIGNATURES [LAYERS [MEGABYTES]]]
Prints what the caches hold at most, what the process grew by after the budget was reached, and what calls cost with sizes seen
recently and long ago; exit status 1 if the caches exceed their budget, memory grows, or a recent size is planned again."""
import sys
import time

import numpy as np

import evenflow as tf
from evenflow._src import _core

RECENT = 5


def kept():
    """Bytes that the caches hold, and entries made so far."""
    caches, _ = _core.caches()
    return sum(c[0] for c in caches.values()), sum(c[2] for c in caches.values())


def resident():
    """Megabytes of the process that are in memory."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096 / 2**20


def model(layers, width=16):
    """A training step: its sizes are part of its signature, because the Python code reads them."""
    weights = [tf.Variable(np.full([width, width], 0.01, "f")) for _ in range(layers)]

    @tf.function
    def step(x):
        rows = x.shape[0]  # makes each size a signature of its own
        with tf.GradientTape() as tape:
            y = x
            for w in weights:
                y = tf.tanh(y @ w + x)
            loss = tf.reduce_sum(y) / rows
        for w, g in zip(weights, tape.gradient(loss, weights)):
            w.assign_sub(1e-3 * g)
        return loss

    return lambda rows: step(tf.ones([rows, width]))


def measure(signatures, layers, megabytes):
    """The verdicts, as text."""
    _core.cache_limit(megabytes << 20)
    call, wrong = model(layers), []
    most = reached = 0
    before = resident()
    sizes = [signatures + 1 - k * 7 % signatures for k in range(signatures)]  # the largest first: values grow no more
    if len(set(sizes)) < signatures:
        raise ValueError("the number of signatures must not be a multiple of 7")
    for k, rows in enumerate(sizes):
        call(rows)
        most = max(most, kept()[0])
        if not reached and most > 0.75 * (megabytes << 20):
            reached, before = k + 1, resident()
        if k == (signatures + reached) // 2:
            before = resident()
    grown = resident() - before
    made = kept()[1]
    began = time.perf_counter()
    for rows in sizes[-RECENT:]:
        call(rows)
    recent = (time.perf_counter() - began) / RECENT * 1e3
    planned = kept()[1] - made
    began = time.perf_counter()
    call(sizes[0])
    old = (time.perf_counter() - began) * 1e3
    print(f"{signatures} signatures of {layers} layers: {most / 2**20:.1f} MiB of {megabytes} kept at most, reached after {reached}; then "
          f"{grown:+.1f} MiB resident; a recent size {recent:.2f} ms and {planned} entries made, an evicted one {old:.0f} ms")
    if most > megabytes << 20:
        wrong.append("the caches exceed their budget")
    if not reached or reached > signatures // 2:
        wrong.append("the budget was not reached early: nothing was measured")
    if grown > 8:
        wrong.append("memory grew after the budget was reached")
    if planned:
        wrong.append("sizes seen recently were traced or planned again")
    return wrong


if __name__ == "__main__":
    found = measure(*(int(a) for a in (*sys.argv[1:], *("500", "100", "128")[len(sys.argv) - 1:])))
    print("\n".join(found) or "held")
    sys.exit(bool(found))
