"""Eight threads at once: eager ops, functions and sessions give each thread its own right answers.

`make tsan` and `make asan` run this file with a sanitized extension.
"""
import os
import subprocess
import sys
import threading
import time

import numpy as np

import evenflow as tf

THREADS = 8
TURNS = int(os.environ.get("EF_TURNS", 300))


def together(work):
    """Runs work(k) in eight threads that start at the same moment; raises what any of them raised."""
    start, errors = threading.Barrier(THREADS), []

    def one(k):
        start.wait()
        try:
            work(k)
        except BaseException as e:
            errors.append(e)

    threads = [threading.Thread(target=one, args=(k,)) for k in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def test_eager_ops():
    def work(k):
        x = tf.constant(np.full(1000, k, np.float32))
        for i in range(TURNS):
            assert float(tf.reduce_sum(x * 2.0 + float(i))) == 1000 * (2 * k + i)
    together(work)


def test_large_deferred_ops():
    def work(k):
        x = tf.constant(np.full(1 << 18, k, np.float32))
        for i in range(max(3, TURNS // 50)):
            y = tf.nn.relu(x * 2.0 - float(i)) + 1.0
            assert float(y[0]) == max(0, 2 * k - i) + 1
    together(work)


def test_deferred_values_are_exchanged():
    slot = [tf.constant(np.full((512, 512), k, np.float32)) for k in range(4)]

    def work(k):
        for i in range(TURNS):
            a, b = (k + i) % 4, (k + 3 * i + 1) % 4
            slot[a] = slot[a] * 0.5 + slot[b] * 0.5
            if i % 11 == 0:
                value = slot[b].numpy()
                assert value.min() == value.max() and 0 <= value[0, 0] <= 3
    together(work)
    for x in slot:
        assert 0 <= x.numpy().min() <= x.numpy().max() <= 3


def test_small_results_of_deferred_work_are_exchanged():
    x = tf.constant(np.ones(100_000, np.float32))
    total = [tf.constant(0.0)] * THREADS

    def work(k):
        for i in range(TURNS // 3):
            total[k] = tf.reduce_sum(x * float(i)) + 0.0 * total[(k + 1) % THREADS]
            if i % 5 == 0:
                assert float(total[k]) == 100_000.0 * i
    together(work)


def test_one_function():
    f = tf.function(lambda x, y: tf.reduce_sum(x * y))

    def work(k):
        for i in range(TURNS):
            n = 1 + (i + k) % 7
            assert float(f(tf.fill([n], float(k)), tf.ones([n]))) == n * k
    together(work)


def test_functions_made_in_threads():
    def work(k):
        for i in range(max(3, TURNS // 20)):
            f = tf.function(lambda x: x * float(k) + float(i))
            assert float(f(tf.constant(2.0))) == 2 * k + i
    together(work)


def test_one_session():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a, b = v1.placeholder(tf.float32, [None]), v1.placeholder(tf.float32, [])
        c = tf.reduce_sum(a * b)
        session = v1.Session()

    def work(k):
        for i in range(TURNS):
            assert session.run(c, {a: [1.0] * (1 + i % 5), b: float(k)}) == (1 + i % 5) * k
    together(work)


def test_a_graph_grows_while_it_is_run():
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None])
        old = x * 2.0
    session = tf.compat.v1.Session(graph=graph)
    newest = [(old, 0)]

    def work(k):
        if k == 0:
            with graph.as_default():
                for turn in range(TURNS):
                    newest[0] = newest[0][0] + tf.constant([1.0]), turn + 1
            return
        large = np.full(40000, float(k), np.float32)  # runs without the interpreter's lock
        for _ in range(TURNS // 10):
            fetch, added = newest[0]
            a, b = session.run([old, fetch], {x: large})
            assert (a == 2.0 * k).all() and (b == 2.0 * k + added).all()

    together(work)


def test_graphs_of_their_own():
    v1 = tf.compat.v1

    def work(k):
        for i in range(max(3, TURNS // 20)):
            with tf.Graph().as_default():
                x = tf.constant(float(k)) + float(i)
                with v1.Session() as session:
                    assert session.run(x) == k + i
    together(work)


def test_tapes():
    def work(k):
        v = tf.Variable(float(k))
        for i in range(max(3, TURNS // 5)):
            with tf.GradientTape() as tape:
                y = v * v * float(i)
            assert float(tape.gradient(y, v)) == 2 * k * i
    together(work)


def test_one_variable():
    v = tf.Variable(0.0)
    together(lambda k: [v.assign_add(1.0) for _ in range(TURNS)])
    assert float(v) == THREADS * TURNS


def test_one_iterator():
    """Each element goes to one of the threads that share an iterator, while its generator lets others run too."""

    def slowly():
        for k in range(40):
            time.sleep(0.001)
            yield k

    elements = iter(tf.data.Dataset.from_generator(slowly, output_signature=tf.TensorSpec([], tf.int32)).map(lambda k: k + 1))
    seen = []
    together(lambda k: seen.extend(int(e) for e in elements))
    assert sorted(seen) == list(range(1, 41))


def test_fork_is_safe_or_refused_clearly():
    """A child of fork() either computes, or is told why it may not."""
    x = tf.constant(np.ones((300, 300), np.float32))
    float(tf.reduce_sum(tf.matmul(x, x)))  # the threads are awake
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            text = str(float(tf.reduce_sum(tf.matmul(x, x))))
        except BaseException as e:
            text = f"{type(e).__name__}: {e}"
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    timer = threading.Timer(30, os.kill, (child, 9))
    timer.start()
    with os.fdopen(read) as f:
        answer = f.read()
    _, status = os.waitpid(child, 0)
    timer.cancel()
    assert status == 0, "the child hung or crashed"
    assert answer == str(300.0**3) or "fork" in answer, answer


PIPE = """
import os, sys, threading
import evenflow as tf
path = sys.argv[1]
os.mkfifo(path)

def read(how):
    def write():
        with open(path, "w") as f:
            f.write("one\\ntwo\\n")
    thread = threading.Thread(target=write)
    thread.start()
    got = how()
    thread.join()
    return got

assert read(lambda: tf.io.read_file(path).numpy()) == b"one\\ntwo\\n"
assert read(tf.function(lambda: tf.io.read_file(path))).numpy() == b"one\\ntwo\\n"
assert read(lambda: list(tf.data.TextLineDataset(path).as_numpy_iterator())) == [b"one", b"two"]
thread = threading.Thread(target=lambda: seen.append(open(path).read()))
seen = []
thread.start()
tf.io.write_file(path, "three")
thread.join()
assert seen == ["three"]
"""


def test_a_pipe_between_two_threads(tmp_path):
    """Opening a pipe waits for its other end, which needs the GIL to be opened."""
    subprocess.run([sys.executable, "-c", PIPE, str(tmp_path / "pipe")], check=True, timeout=60)
