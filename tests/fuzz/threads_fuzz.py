#!/usr/bin/env python3
"""Tensors, variables, functions, tapes and sessions shared by two to eight threads.

    threads_fuzz.py SECONDS SEED

Each round draws a number of threads and what they do, and lets them do it for about two seconds. Every value they see is
checked: a thread's own arithmetic is exact, exchanged vectors are uniform and within their bounds, counters add up. A
watchdog that needs no interpreter calls it a finding if any thread stands still for STILL seconds: it prints where all
threads are and ends the process.
"""
import faulthandler
import os
import random
import sys
import threading
import time

import numpy as np

import evenflow as tf

STILL = float(os.environ.get("EF_STILL", 60))
ROUND = 2.0
v1 = tf.compat.v1


class Round:
    """What the threads of a round share."""

    def __init__(self, rng):
        self.wide = rng.choice([100, 5000, 20000, 300_000])
        self.slots = [tf.fill([self.wide], float(k)) + 0.0 for k in range(4)]
        self.slot_lock = [threading.Lock() for _ in self.slots]
        self.counter = tf.Variable(0, dtype=tf.int64)
        self.wide_counter = tf.Variable(tf.zeros([self.wide]))
        self.added = [0] * 8
        self.weight = tf.Variable(tf.fill([self.wide], 3.0))
        self.slot_variable = tf.Variable(tf.zeros([self.wide]))
        self.square = tf.function(lambda x: x * x + x)
        self.loop = tf.function(lambda x, n: tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y + x), (0, x))[1])
        self.counted = tf.function(lambda x: (self.counter.assign_add(1), x + 1.0)[1])
        self.outer = tf.function(lambda x: self.square(x) - x)
        self.tensors = [tf.constant(np.full(self.wide, k, "float32")) for k in range(8)]
        self.graph = tf.Graph()
        with self.graph.as_default():
            self.fed = v1.placeholder(tf.float32, [None])
            self.fetch = self.fed * 2.0 + 1.0
            self.stored = v1.get_variable("stored", initializer=np.zeros(50, "float32"))
            self.bump = v1.assign_add(self.stored, np.ones(50, "float32"))
            self.session = v1.Session(graph=self.graph)
            self.session.run(v1.global_variables_initializer())
        self.bumped = [0] * 8


def uniform(value, least, most, what):
    a = np.asarray(value)
    assert a.min() == a.max() and least <= a.flat[0] <= most, f"{what}: {a.min()} to {a.max()}, not one of {least} to {most}"


# ---- what a thread does: (round, thread's number, turn, its own generator)


def exchange(r, k, i, rng):
    a, b = rng.randrange(4), rng.randrange(4)
    r.slots[a] = r.slots[a] * 0.5 + r.slots[b] * 0.5
    if rng.random() < 0.2:
        uniform(r.slots[b].numpy(), 0, 3, "slot")


def exchange_small(r, k, i, rng):
    total = tf.reduce_mean(r.slots[rng.randrange(4)])
    r.slots[rng.randrange(4)] = tf.zeros([r.wide]) + total
    if rng.random() < 0.3:
        assert -0.01 <= float(total) <= 3.01, float(total)


def own_chain(r, k, i, rng):
    x = r.tensors[k]
    for _ in range(rng.randrange(60)):
        x = x + 1.0 - 1.0
    uniform(x.numpy(), k, k, "chain")


def shared_tensor(r, k, i, rng):
    j = rng.randrange(8)
    uniform((r.tensors[j] * 2.0 + r.tensors[k]).numpy(), 2 * j + k, 2 * j + k, "sum")


def function(r, k, i, rng):
    n = rng.choice([1, 7, 300, r.wide])
    uniform(rng.choice([r.square])(tf.fill([n], float(k))), k * k + k, k * k + k, "square")
    uniform(r.outer(tf.fill([n], float(k))), k * k, k * k, "outer")


def fresh_function(r, k, i, rng):
    f = tf.function(lambda x: x * float(i % 7) + float(k))
    uniform(f(tf.ones([rng.choice([3, 5000])])), i % 7 + k, i % 7 + k, "fresh")


def loop(r, k, i, rng):
    uniform(r.loop(tf.fill([9], float(k)), tf.constant(i % 5)), k * (1 + i % 5), k * (1 + i % 5), "loop")


def deferred_argument(r, k, i, rng):
    x = r.tensors[k] * 2.0
    uniform(r.square(x), 4 * k * k + 2 * k, 4 * k * k + 2 * k, "deferred argument")


def count(r, k, i, rng):
    if rng.random() < 0.5:
        r.counter.assign_add(1)
    else:
        uniform(r.counted(tf.fill([4], float(k))), k + 1, k + 1, "counted")
    r.wide_counter.assign_add(tf.ones([r.wide]))
    r.added[k] += 1


def variable(r, k, i, rng):
    n = rng.randrange(4)
    if n == 0:
        r.slot_variable.assign(r.tensors[k] * 2.0)
    elif n == 1:
        r.slot_variable.assign(np.full(r.wide, 5, "float32"))
    elif n == 2:
        value = r.slot_variable.numpy()
        uniform(value, 0, 14, "variable")
        value[...] = -1
    else:
        uniform((r.slot_variable + 1.0).numpy(), 1, 15, "variable + 1")


def tape(r, k, i, rng):
    x = r.tensors[k]
    with tf.GradientTape(persistent=rng.random() < 0.3) as t:
        t.watch(x)
        y = tf.reduce_sum(x * r.weight)
    dx, dw = t.gradient(y, [x, r.weight])
    uniform(dx, 3, 3, "gradient of x")
    uniform(dw, k, k, "gradient of the variable")


def function_tape(r, k, i, rng):
    x = tf.fill([rng.choice([4, 700])], float(k))
    with tf.GradientTape() as t:
        t.watch(x)
        y = r.square(x)
    uniform(t.gradient(y, x), 2 * k + 1, 2 * k + 1, "gradient of a function")


def session(r, k, i, rng):
    n = rng.choice([3, 40, 30000])
    uniform(r.session.run(r.fetch, {r.fed: np.full(n, k, "float32")}), 2 * k + 1, 2 * k + 1, "session")


def session_variable(r, k, i, rng):
    r.session.run(r.bump)
    r.bumped[k] += 1
    uniform(r.session.run(r.stored), 1, 10**7, "stored")


def callback(r, k, i, rng):
    y = tf.numpy_function(lambda a: a + np.float32(1), [tf.fill([6], float(k))], tf.float32)
    uniform(y, k + 1, k + 1, "callback")


def drop(r, k, i, rng):
    r.tensors[k] = tf.identity(r.tensors[k]) + 0.0


def dataset(r, k, i, rng):
    d = tf.data.Dataset.range(4).map(lambda x: x * 2 + k)
    assert [int(x) for x in d] == [k, 2 + k, 4 + k, 6 + k]


ACTS = [exchange, exchange, exchange_small, own_chain, shared_tensor, function, fresh_function, loop, deferred_argument, count,
        variable, tape, function_tape, session, session_variable, callback, drop, dataset]


class Crew:
    def __init__(self, seed, number):
        self.rng = random.Random(f"{seed} {number}")
        self.seed, self.number = seed, number
        self.n = self.rng.randint(2, 8)
        self.acts = self.rng.sample(ACTS, self.rng.randint(1, 6))
        self.turns, self.found = [0] * self.n, []
        self.over = False

    def work(self, r, k):
        rng = random.Random(f"{self.seed} {self.number} {k}")
        while not self.over and not self.found:
            act = rng.choice(self.acts)
            try:
                act(r, k, self.turns[k], rng)
            except BaseException as e:
                self.found.append(f"{act.__name__} in thread {k}: {type(e).__name__}: {e}")
            self.turns[k] += 1

    def watch(self, threads, end):
        """Returns when all are done; re-arms the watchdog whenever every living thread has moved."""
        before = list(self.turns)
        faulthandler.dump_traceback_later(STILL, exit=True)
        while any(t.is_alive() for t in threads):
            time.sleep(0.05)
            self.over = time.monotonic() > end
            moved = [not t.is_alive() or a != b for t, a, b in zip(threads, self.turns, before)]
            if all(moved):
                before = list(self.turns)
                faulthandler.dump_traceback_later(STILL, exit=True)
        faulthandler.cancel_dump_traceback_later()

    def run(self):
        print(f"round {self.number}: {self.n} threads, {' '.join(a.__name__ for a in self.acts)}", end="", flush=True)
        r = Round(self.rng)
        threads = [threading.Thread(target=self.work, args=(r, k), daemon=True) for k in range(self.n)]
        for t in threads:
            t.start()
        self.watch(threads, time.monotonic() + ROUND)
        if not self.found:
            try:
                uniform(r.wide_counter.numpy(), sum(r.added), sum(r.added), "wide counter")
                assert int(r.counter) == sum(r.added), f"counter {int(r.counter)} of {sum(r.added)}"
                uniform(r.session.run(r.stored), sum(r.bumped), sum(r.bumped), "session's counter")
            except AssertionError as e:
                self.found.append(str(e))
        r.session.close()
        print(f": {sum(self.turns)} turns", flush=True)
        for text in self.found:
            print(f"    WRONG {text}", flush=True)
        return len(self.found)


def main():
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    end, found, number = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end:
        found += Crew(seed, number).run()
        number += 1
    print(f"{number} rounds, {found} findings")
    return found > 0


if __name__ == "__main__":
    sys.exit(main())
