#!/usr/bin/env python3
"""A million calls of each kind: does memory stay, does the time stay?

usage: even.py [CALLS]

Each row makes CALLS calls in samples of five hundred. `growth` is what resident memory gained after the first
hundredth of them, `drift` the median sample of the last tenth over that of the second. The last line is
`N held, M missed`; exit status 1 if one was missed.
"""
import array
import gc
import sys
import time

import evenflow as tf

MOST_GROWTH_KB, MOST_DRIFT = 256, 1.05
SAMPLE = 500
statm = open("/proc/self/statm", "rb", buffering=0)


def resident_kb():
    statm.seek(0)
    return int(statm.read().split()[1]) * 4


def median(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def measure(call, calls):
    samples = array.array("d", [0.0]) * (calls // SAMPLE)
    clock, early = time.thread_time, 0  # processor time: the machine may have other work
    warm = len(samples) // 100
    for k in range(len(samples)):
        start = clock()
        for _ in range(SAMPLE):
            call()
        samples[k] = clock() - start
        if k == warm:
            gc.collect()
            early = resident_kb()
    growth = resident_kb() - early
    tenth = len(samples) // 10
    return growth, median(samples[-tenth:]) / median(samples[tenth:2 * tenth]), median(samples) / SAMPLE


def eager_op():
    a, b = tf.constant(2.0), tf.constant(3.0)
    return lambda: a + b


def function_call():
    a, b = tf.constant(2.0), tf.constant(3.0)
    f = tf.function(lambda x, y: x * y + x, autograph=False)
    return lambda: f(a, b)


def session_run():
    graph = tf.Graph()
    with graph.as_default():
        a = tf.compat.v1.placeholder(tf.float32, [])
        b = tf.compat.v1.placeholder(tf.float32, [])
        c = a * b + a
    session = tf.compat.v1.Session(graph=graph)
    return lambda: session.run(c, feed_dict={a: 2.0, b: 3.0})


def variable_step():
    v, d = tf.Variable([1.0, 2.0]), tf.constant([0.5, 0.25])
    return lambda: v.assign_add(d)


def tape_step():
    v, x = tf.Variable(tf.ones([8, 8])), tf.ones([4, 8])

    def call():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(tf.matmul(x, v)))
        return tape.gradient(loss, v)

    return call


def tensors_dropped():
    return lambda: tf.constant([[1.0, 2.0], [3.0, 4.0]])


def functions_dropped():
    x = tf.constant(2.0)
    state = [0.0]

    def call():
        state[0] += 1.0
        factor = state[0]
        return tf.function(lambda v: v * factor + 1.0, autograph=False)(x)

    return call


ROWS = [("eager op", eager_op, 1), ("function call", function_call, 1), ("session run", session_run, 1),
        ("variable update", variable_step, 2), ("tape and gradient", tape_step, 10),
        ("tensors made and dropped", tensors_dropped, 2), ("functions made and dropped", functions_dropped, 20)]


def main():
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    held = missed = 0
    print(f"{'':28}{'calls':>9}{'each':>12}{'growth':>12}{'drift':>8}{'left behind':>14}")
    for name, make, share in ROWS:
        call = make()
        gc.collect()
        objects, bytes_held = len(gc.get_objects()), tf.config.experimental.get_memory_info("CPU:0")["current"]
        growth, drift, each = measure(call, calls // share)
        gc.collect()
        tf._core.wait()
        left = len(gc.get_objects()) - objects
        more = tf.config.experimental.get_memory_info("CPU:0")["current"] - bytes_held
        ok = growth <= MOST_GROWTH_KB and drift <= MOST_DRIFT and left <= 700 and more <= 65536
        held, missed = held + ok, missed + (not ok)
        print(f"{name:28}{calls // share:>9}{each * 1e6:>9.2f} us{growth:>9} KB{drift:>8.2f}"
              f"{left:>6} obj{more:>5} B  {'held' if ok else 'MISSED'}", flush=True)
    print(f"{held} held, {missed} missed")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
