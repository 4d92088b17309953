"""Small programs whose every allocation fails in turn; faults_test.py runs each in a process of its own.

    fault_programs.py NAME           prints `N allocations, M raised`; exit status 1 after a finding
    fault_programs.py NAME python    the same with allocations of Python's own, in children that may not die
    fault_programs.py NAME signal    a signal whose handler raises, at random moments

An allocation that fails must end in MemoryError or ResourceExhaustedError, or in the right result if there was another way. After
all of them the program answers as before and holds no more memory.
"""
import gc
import os
import random
import signal
import sys
import time
import warnings

import numpy as np

import evenflow as tf

MOST = 300  # allocations tried of each program; of more, an even sample


def function():
    x, v = tf.constant(np.arange(6, dtype=np.float32)), tf.Variable(2.0)

    @tf.function
    def f(x, k):
        y = {"a": tf.nn.relu(x * v - 1.0), "b": tf.reduce_sum(tf.reshape(x, [2, 3]), axis=k)}
        return y

    f(x, 0)
    got = f(tf.concat([x, x], 0)[:6] + 1.0, 1)
    return [got["a"].numpy().tolist(), got["b"].numpy().tolist()]


def control():
    @tf.function
    def f(n, x):
        s = tf.constant(0.0)
        for i in tf.range(n):
            if i % 2 == 0:
                s += x * tf.cast(i, tf.float32)
            else:
                s -= tf.sqrt(tf.cast(i, tf.float32))
        rows = tf.map_fn(lambda r: r * 2.0, tf.ones([3, 2]))
        return s, rows
    return [t.numpy().tolist() for t in f(tf.constant(5), tf.constant(1.5))]


def tape():
    v, w = tf.Variable(np.ones((4, 4), np.float32)), tf.Variable(np.full((4,), 0.5, np.float32))
    x = tf.constant(np.arange(8, dtype=np.float32).reshape(2, 4))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(tf.tanh(tf.matmul(x, v) + w) ** 2)
        g = inner.gradient(y, x)
        z = tf.reduce_sum(g * g)
    grads = [tape.gradient(y, v), tape.gradient(y, w), tape.gradient(z, x)]
    v.assign_sub(0.1 * grads[0])
    return [t.numpy().round(5).tolist() for t in [*grads, v]]


def orders():
    f, x, seen = tf.function(lambda x: tf.sin(x) * x), tf.constant([1.0, 2.0]), []
    for _ in range(2):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            g = inner.gradient(y, x)
        seen += [g, outer.gradient(g, x)]
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = f(x)
    return [t if t is None else t.numpy().round(5).tolist() for t in [*seen, forward.jvp(y)]]


def calls():
    x, g = tf.constant([1.0, 2.0]), tf.function(lambda x: tf.sin(x) * x)

    @tf.function
    def f(x):
        y = g(x)
        for _ in range(2):
            y = y + g(y)
        return y

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy().round(5).tolist()


def custom():
    @tf.custom_gradient
    def cube(x):
        return x * x * x, lambda upstream: upstream * 3.0 * x * x
    x = tf.constant([1.0, 2.0])

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x) + tf.numpy_function(lambda a: a + np.float32(1), [x], tf.float32)
        return tape.gradient(y, x)
    return f(x).numpy().tolist()


def session():
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 3])
        w = v1.get_variable("w", [3, 2], initializer=v1.ones_initializer())
        y = tf.nn.softmax(tf.matmul(x, w))
        loss = tf.reduce_mean(tf.square(y))
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with v1.Session() as s:
            s.run(v1.global_variables_initializer())
            out = [float(s.run([loss, train], {x: np.ones((n, 3), np.float32)})[0]) for n in (1, 2)]
    return out


def dataset():
    d = tf.data.Dataset.from_tensor_slices(np.arange(10, dtype=np.float32)).map(lambda x: x * 2.0).batch(3)
    return [b.numpy().tolist() for b in d]


def deferred():
    x = tf.constant(np.linspace(0, 1, 40_000, dtype=np.float32))
    y = x
    for _ in range(5):
        y = tf.sqrt(y * 2.0 + x)
    v = tf.Variable(y)
    v.assign_add(x)
    return [round(float(tf.reduce_sum(v)), 2), round(float(y[7]), 5)]


def arrays():
    a = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for k in range(4):
        a = a.write(k, tf.fill([2], float(k)))
    r = tf.ragged.constant([[1, 2], [], [3]])
    s = tf.sparse.from_dense([[0, 1], [2, 0]])
    text = tf.strings.join([tf.constant(["a", "b"]), tf.constant(["c", "d"])])
    v = tf.Variable(np.zeros((4, 2), np.float32))
    v.scatter_update(tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 3])))
    return [a.stack().numpy().tolist(), r.to_tensor().numpy().tolist(), tf.sparse.to_dense(s).numpy().tolist(),
            text.numpy().tolist(), v.numpy().tolist()]


PROGRAMS = {f.__name__: f for f in (function, control, tape, orders, calls, custom, session, dataset, deferred, arrays)}
CLEAN = (MemoryError, tf.errors.ResourceExhaustedError)


def fresh(program):
    """The program with nothing compiled before."""
    tf._core.clear_programs()
    return program()


def attempt(program, k):
    """(whether allocation k was reached, whether the program raised)"""
    raised = False
    tf._core.fail_allocation(k)
    try:
        got = fresh(program)
    except CLEAN:
        raised, got = True, None
    reached = tf._core.fail_allocation(0)
    if got is not None and got != program.expected:
        raise AssertionError(f"allocation {k} failed and the answer is {got}, not {program.expected}")
    return reached, raised


def held():
    gc.collect()
    tf._core.wait()
    return tf._core.memory("CPU:0")["current"]


def count(program):
    """Allocations of a run."""
    before = tf._core.allocations()
    fresh(program)
    return tf._core.allocations() - before


def fail_python(program):
    """Python's own allocations fail one at a time. What Python and numpy make of that is theirs; a death is ours."""
    import _testcapi
    r, died = random.Random(7), []
    for _ in range(80):
        k = r.randrange(1, 1500)
        child = os.fork()
        if child == 0:
            try:
                _testcapi.set_nomemory(k, k + 1)
                try:
                    program()
                finally:
                    _testcapi.remove_mem_hooks()
            except BaseException:
                pass
            program()
            os._exit(0)
        if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
            died.append(k)
    assert died == [], f"it died after these allocations of Python failed: {died}"


class Interrupted(Exception):
    pass


def interrupt(program):
    """A signal's handler raises while the program runs, each time at another moment."""
    def handler(*_):
        raise Interrupted

    began = time.perf_counter()
    fresh(program)
    took = time.perf_counter() - began
    signal.signal(signal.SIGALRM, handler)
    r, seen, entered = random.Random(7), 0, 0
    for _ in range(300):
        try:
            signal.setitimer(signal.ITIMER_REAL, r.uniform(1e-6, took))
            fresh(program)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except (Interrupted, tf.errors.UnknownError):  # the latter from inside of a numpy_function
            seen += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        if not tf.executing_eagerly():  # between the entry of the outermost graph and its `with` block, as in any Python
            entered += 1
            while tf._core.current_graph() is not None:
                tf._core.current_graph()._leave()
        assert float(tf.constant(1.0) + 1.0) == 2.0
    assert entered <= 9, f"{entered} interruptions left a graph entered"
    assert fresh(program) == program.expected
    print(f"{seen} interrupted")


def main(name, how=""):
    warnings.simplefilter("ignore")
    program = PROGRAMS[name]
    program.expected = fresh(program)
    fresh(program)
    if how:
        return {"python": fail_python, "signal": interrupt}[how](program)
    n = count(program)
    step = max(1, n // MOST)
    for k in range(1, 20):
        attempt(program, k)
    before, raised, tried = held(), 0, 0
    for k in range(1, n + 1, step):
        print(k, file=sys.stderr, flush=True)
        tried += 1
        raised += attempt(program, k)[1]
    assert fresh(program) == program.expected
    more = held() - before
    assert more <= 65536, f"{more} bytes are held after {tried} failures"
    assert raised > tried // 4, f"only {raised} of {tried} failures were seen"
    print(f"{n} allocations, {raised} of {tried} raised")


if __name__ == "__main__":
    main(*sys.argv[1:])
