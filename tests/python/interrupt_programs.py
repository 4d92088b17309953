"""Programs that interrupt_test.py runs and interrupts: `interrupt_programs.py NAME ROUNDS`.

Each runs far longer than anybody waits. A process of its own sends SIGINT at a random moment, ROUNDS times, and must
be answered by KeyboardInterrupt; afterwards the same functions must still work. A watchdog ends a program that stands
still. Prints the longest answer in milliseconds.
"""
import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np

import evenflow as tf

SENDER = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
for line in sys.stdin:
    time.sleep(float(line))
    print(time.monotonic(), flush=True)
    os.kill(os.getppid(), signal.SIGINT)
"""
LONG = 10 ** 12
steps = tf.Variable(0, dtype=tf.int64)
weights = [tf.constant(np.random.rand(256, 256).astype("f") / 128) for _ in range(100)]


@tf.function
def count(n):
    i = tf.constant(0, tf.int64)
    while i < n:
        i += 1
    return i


counted = count.get_concrete_function(tf.TensorSpec([], tf.int64))


@tf.function
def count_both(n):
    s = tf.constant(0, tf.int64)
    for _ in tf.range(n):
        for _ in tf.range(n):
            s += 1
    return s


@tf.function
def grow(n):
    x, i = tf.zeros([1]), 0
    while i < n:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
        x = tf.concat([x[:50], tf.ones([i % 7])], 0)
        i += 1
    return tf.size(x)


@tf.function
def assign(n):
    i = tf.constant(0, tf.int64)
    while i < n:
        steps.assign_add(1)
        i += 1
    return steps.read_value()


@tf.function
def layers(x):
    for w in weights:
        x = tf.nn.relu(tf.matmul(x, w))
    return tf.reduce_sum(x)


def eager():
    a = tf.ones([600, 600]) / 600.
    while True:
        a = tf.matmul(a, a) * 1.0 + 0.0
        a.numpy()


def tape():
    x = tf.Variable(tf.ones([200, 200]) / 200.)
    while True:
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.matmul(x, x))
        x.assign_sub(1e-9 * t.gradient(y, x))


def dataset():
    for _ in tf.data.Dataset.range(LONG).map(lambda i: i * 2):
        pass


def endless():
    while True:
        time.sleep(0.001)
        yield 1


def generator(ahead):
    for _ in tf.data.Dataset.from_generator(endless, output_signature=tf.TensorSpec((), tf.int32)).prefetch(ahead):
        pass


def python_nap(x):
    time.sleep(0.005)
    return x


def napping(**options):
    return tf.data.Dataset.range(LONG).map(lambda x: tf.numpy_function(python_nap, [x], tf.int64), **options)


def workers():
    for _ in napping(num_parallel_calls=4).prefetch(2):
        pass


def no_element():
    """Waits for an element that never comes, while a thread looks for it."""
    next(iter(napping().filter(lambda x: x < 0).prefetch(1)))


def first(make):
    """One call of the iterator, which draws from its source for ever."""
    next(iter(make(tf.data.Dataset.range(LONG))))


def added(elements):
    return elements.reduce(np.int64(0), lambda s, x: s + x)


@tf.function
def total(elements):
    s = tf.constant(0, tf.int64)
    for x in elements:
        s += x
    return s


def tracing():
    while True:
        @tf.function
        def fresh(x):
            for _ in range(300):
                x = x * 2.0 + 1.0
            return x
        fresh(tf.constant(1.0))


graph = tf.Graph()
with graph.as_default():
    limit = tf.compat.v1.placeholder(tf.int64, [])
    reached = tf.compat.v1.while_loop(lambda i: i < limit, lambda i: i + 1, [tf.constant(0, tf.int64)])
    session = tf.compat.v1.Session(graph=graph)

#: what runs for ever, and what must hold afterwards
PROGRAMS = {
    "count": (lambda: count(tf.constant(LONG, tf.int64)), lambda: int(count(tf.constant(7, tf.int64))) == 7),
    "concrete": (lambda: counted(tf.constant(LONG, tf.int64)), lambda: int(counted(tf.constant(7, tf.int64))) == 7),
    "nested": (lambda: count_both(tf.constant(10 ** 6)), lambda: int(count_both(tf.constant(3))) == 9),
    "changing": (lambda: grow(10 ** 9), lambda: int(grow(3)) == 4),
    "assign": (lambda: assign(tf.constant(LONG, tf.int64)),
               lambda: int(assign(tf.constant(2, tf.int64))) == int(steps.numpy()) >= 2),
    "layers": (lambda: layers(tf.ones([2000, 256])), lambda: np.isfinite(layers(tf.ones([2, 256])).numpy())),
    "eager": (eager, lambda: float(tf.reduce_sum(tf.ones([300, 300]) * 2.0)) == 180000),
    "tape": (tape, lambda: True),
    "dataset": (dataset, lambda: [int(x) for x in tf.data.Dataset.range(3)] == [0, 1, 2]),
    "dataset_loop": (lambda: total(tf.data.Dataset.range(LONG)), lambda: int(total(tf.data.Dataset.range(4))) == 6),
    "generator": (lambda: generator(0), lambda: True),
    "generator_ahead": (lambda: generator(2), lambda: True),
    "workers": (workers, lambda: int(next(iter(napping(num_parallel_calls=2).take(3)))) == 0),
    "no_element": (no_element, lambda: True),
    "filter": (lambda: first(lambda ds: ds.filter(lambda x: x < 0)), lambda: True),
    "skip": (lambda: first(lambda ds: ds.skip(LONG - 1)), lambda: True),
    "group": (lambda: first(lambda ds: ds.group_by_window(lambda x: x % 2, lambda _, w: w.batch(2), LONG)), lambda: True),
    "reduce": (lambda: added(tf.data.Dataset.range(LONG)), lambda: int(added(tf.data.Dataset.range(4))) == 6),
    "session": (lambda: session.run(reached, {limit: LONG}), lambda: session.run(reached, {limit: 5}) == 5),
    "tracing": (tracing, lambda: int(count(tf.constant(7, tf.int64))) == 7),
}


def again(ignored):
    """Python drops an exception that is raised in a weak reference's callback, an interrupt too: its user would press again."""
    if ignored.exc_type is KeyboardInterrupt:  # later: raised in here it would be dropped once more
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(ignored)


def main(name, rounds):
    sys.unraisablehook = again
    forever, works = PROGRAMS[name]
    sender = subprocess.Popen([sys.executable, "-c", SENDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    longest = 0.0
    for _ in range(rounds):
        faulthandler.dump_traceback_later(60, exit=True)
        try:
            print(random.uniform(0.0, 0.15), file=sender.stdin, flush=True)
            while True:
                forever()
        except KeyboardInterrupt:
            longest = max(longest, time.monotonic() - float(sender.stdout.readline()))
        assert works(), name
    faulthandler.cancel_dump_traceback_later()
    sender.stdin.close()
    sender.wait()
    print(f"{longest * 1000:.1f}")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
