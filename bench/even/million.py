#!/usr/bin/env python3
"""Makes a million calls of each kind and checks that neither memory nor time grows.

usage: even.py [CALLS]

Each row makes CALLS calls in samples of five hundred. `growth` is what resident memory gained after the first
hundredth of them, `late/early` the median sample of the last tenth over that of the second. Between the two lie seconds, in
which a machine with other guests may change its speed by half. So a row has a companion, a second process that
makes the same calls: it takes turns with the row on one processor through its second tenth, then rests, and takes turns
with it again through its last. What the companion's calls take more or less the second time is `machine`. `drift` is how
much the row lost on its companion: a sample over the companion's of the same turn, the median of the last tenth over
that of the second. The last line is `N held, M missed`; exit status 1 if one was missed.
"""
import array
import gc
import os
import subprocess
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


class Samples:
    """The time of each five hundred calls, in the order they were made."""

    def __init__(self, call, calls):
        self.call, self.took, self.made = call, array.array("d", [0.0]) * (calls // SAMPLE), 0
        self.tenth = len(self.took) // 10

    def make(self, until):
        call, clock, took = self.call, time.thread_time, self.took  # processor time: the machine may have other work
        for k in range(self.made, until):
            start = clock()
            for _ in range(SAMPLE):
                call()
            took[k] = clock() - start
        self.made = until

    def turns(self, wait, give):
        """Makes a tenth, a sample at a turn."""
        for _ in range(self.tenth):
            wait()
            self.make(self.made + 1)
            give()

    def of_tenth(self, k):
        return self.took[k * self.tenth:(k + 1) * self.tenth]


def be_companion(name, calls, cpu):
    """The companion's side of measure(): a byte on stdin gives it the turn, a byte on stdout gives the turn back."""
    samples = Samples(next(make for row, make, _ in ROWS if row == name)(), calls)
    samples.make(samples.tenth)
    os.sched_setaffinity(0, {cpu})
    for _ in range(2):
        samples.turns(lambda: os.read(0, 1), lambda: os.write(1, b"."))
    os.write(1, samples.took[samples.tenth:3 * samples.tenth].tobytes())


def measure(name, call, calls):
    """(growth, late/early, machine, drift, seconds of a call)"""
    samples = Samples(call, calls)
    samples.make(max(1, len(samples.took) // 100))
    gc.collect()
    early = resident_kb()
    samples.make(samples.tenth)
    anywhere = os.sched_getaffinity(0)
    cpu = max(anywhere)
    companion = subprocess.Popen([sys.executable, __file__, "--companion", name, str(calls), str(cpu)], bufsize=0,
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def give():
        companion.stdin.write(b".")
        assert companion.stdout.read(1)

    os.sched_setaffinity(0, {cpu})
    samples.turns(lambda: None, give)
    os.sched_setaffinity(0, anywhere)
    samples.make(9 * samples.tenth)
    os.sched_setaffinity(0, {cpu})
    samples.turns(lambda: None, give)
    os.sched_setaffinity(0, anywhere)
    growth = resident_kb() - early
    beside = array.array("d", companion.communicate()[0])
    early, late, then, now = samples.of_tenth(1), samples.of_tenth(9), beside[:samples.tenth], beside[samples.tenth:]
    drift = median(a / b for a, b in zip(late, now)) / median(a / b for a, b in zip(early, then))
    return growth, median(late) / median(early), median(now) / median(then), drift, median(samples.took) / SAMPLE


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


def fill_samples():
    """The engine keeps a weak reference to the results of the last 1024 sampled calls (python/ext/profile.c). One call in about 1024
    is sampled, so in a million calls this fixed number of objects is reached anyway; here it is before they are counted."""
    tf._core.event_burst(2000)
    call = eager_op()
    for _ in range(2000):
        call()


def main():
    if sys.argv[1:2] == ["--companion"]:
        return be_companion(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    held = missed = 0
    fill_samples()
    print(f"{'':28}{'calls':>9}{'each':>12}{'growth':>10}{'late/early':>12}{'machine':>9}{'drift':>8}{'left behind':>14}")
    for name, make, share in ROWS:
        call = make()
        gc.collect()
        objects, bytes_held = len(gc.get_objects()), tf.config.experimental.get_memory_info("CPU:0")["current"]
        growth, aged, machine, drift, each = measure(name, call, calls // share)
        gc.collect()
        tf._core.wait()
        left = len(gc.get_objects()) - objects
        more = tf.config.experimental.get_memory_info("CPU:0")["current"] - bytes_held
        ok = growth <= MOST_GROWTH_KB and drift <= MOST_DRIFT and left <= 700 and more <= 65536
        held, missed = held + ok, missed + (not ok)
        print(f"{name:28}{calls // share:>9}{each * 1e6:>9.2f} us{growth:>7} KB{aged:>12.2f}{machine:>9.2f}{drift:>8.2f}"
              f"{left:>6} obj{more:>5} B  {'held' if ok else 'MISSED'}", flush=True)
    print(f"{held} held, {missed} missed")
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
