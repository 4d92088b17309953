"""Ways of calling an op repeatedly. Each makes a call() whose time and memory must be the same every time."""
import collections
import dataclasses
import itertools
import queue
import threading

import numpy as np

from cases import COMPLEX, FLOATS


@dataclasses.dataclass(frozen=True)
class Way:
    name: str
    make: object          # make(tf, op, dtype, n) -> call
    floats: bool = False  # needs gradients

    def takes(self, dtype):
        return not self.floats or dtype in FLOATS + COMPLEX


WAYS = {}


def way(name, floats=False):
    def note(make):
        WAYS[name] = Way(name, make, floats)
        return make
    return note


def arrays(dtype, n):
    rng = np.random.default_rng(n)
    a = rng.integers(0, 3, (2, n))
    return a.astype("float32" if dtype == "bfloat16" else dtype)


def tensors(tf, dtype, n):
    return [fresh(tf, dtype, a) for a in arrays(dtype, n)]


def fresh(tf, dtype, a):
    x = tf.constant(a)
    return tf.cast(x, tf.bfloat16) if dtype == "bfloat16" else x


@way("same inputs")
def same(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    return lambda: op(tf, x, y)


@way("same inputs, read")
def same_read(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    return lambda: op(tf, x, y).numpy()


@way("fresh inputs")
def fresh_inputs(tf, op, dtype, n):
    a, b = arrays(dtype, n)
    return lambda: op(tf, fresh(tf, dtype, a), fresh(tf, dtype, b))


@way("one fresh input")
def one_fresh(tf, op, dtype, n):
    (a, b), x = arrays(dtype, n), tensors(tf, dtype, n)[0]
    return lambda: op(tf, x, fresh(tf, dtype, b))


@way("fresh inputs, read")
def fresh_read(tf, op, dtype, n):
    a, b = arrays(dtype, n)
    return lambda: op(tf, fresh(tf, dtype, a), fresh(tf, dtype, b)).numpy()


@way("results kept")
def kept(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    last = collections.deque(maxlen=3)
    return lambda: last.append(op(tf, x, y))


@way("chain")
def chain(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)

    def call():
        z = x
        for _ in range(4):
            z = op(tf, z, y)
        return z.numpy()
    return call


@way("endless chain")
def endless(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    state = [x]

    def call():
        state[0] = op(tf, state[0], y)
    return call


@way("function")
def function(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    f = tf.function(lambda x, y: op(tf, x, y), autograph=False)
    return lambda: f(x, y)


@way("function of fresh inputs")
def function_fresh(tf, op, dtype, n):
    a, b = arrays(dtype, n)
    f = tf.function(lambda x, y: op(tf, x, y))
    return lambda: f(fresh(tf, dtype, a), fresh(tf, dtype, b)).numpy()


@way("function of two sizes")
def function_sizes(tf, op, dtype, n):
    (x, y), (u, v) = tensors(tf, dtype, n), tensors(tf, dtype, n + 1)
    f = tf.function(lambda x, y: op(tf, x, y))
    return lambda: (f(x, y), f(u, v))


@way("tape", floats=True)
def tape_plain(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)

    def call():
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = op(tf, x, y)
        return tape.gradient(z, x)
    return call


@way("persistent tape", floats=True)
def tape_persistent(tf, op, dtype, n):
    v, w = [tf.Variable(x) for x in tensors(tf, dtype, n)]
    held = {}  # keeps the last tape alive while the next one starts, as a variable in a loop does

    def call():
        with tf.GradientTape(persistent=True) as tape:
            a, b = op(tf, v, w), op(tf, w, v)
        held["tape"] = tape
        return tape.gradient(a, v), tape.gradient(b, w)
    return call


@way("tape never asked", floats=True)
def tape_never(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    held = {}

    def call():
        with tf.GradientTape() as tape:
            tape.watch(x)
            op(tf, x, y)
        held["tape"] = tape
    return call


@way("nested tapes", floats=True)
def tape_nested(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)

    def call():
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                z = op(tf, x, y) * x
            g = inner.gradient(z, x)
        return None if g is None else outer.gradient(g, x)
    return call


@way("one outer tape", floats=True)
def tape_outer(tf, op, dtype, n):
    """An outer tape around a hundred inner ones, then the next outer one."""
    x, y = tensors(tf, dtype, n)
    state = {"left": 0}

    def call():
        if state["left"] == 0:
            state["outer"], state["left"] = tf.GradientTape(), 20
            state["outer"].__enter__()
        state["left"] -= 1
        with tf.GradientTape() as tape:
            tape.watch(y)
            z = op(tf, y, x)
        tape.gradient(z, y)
        if state["left"] == 0:
            state.pop("outer").__exit__(None, None, None)
    return call


@way("exception under a tape", floats=True)
def tape_exception(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)

    def call():
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                op(tf, x, y)
                raise KeyError
        except KeyError:
            pass
    return call


@way("reset tape", floats=True)
def tape_reset(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)

    def call():
        with tf.GradientTape(persistent=True) as tape:
            for _ in range(2):
                tape.reset()
                tape.watch(x)
                z = op(tf, x, y)
        return tape.gradient(z, x)
    return call


@way("function under a tape", floats=True)
def tape_function(tf, op, dtype, n):
    v, y = tf.Variable(tensors(tf, dtype, n)[0]), tensors(tf, dtype, n)[1]
    f = tf.function(lambda y: op(tf, v, y), autograph=False)

    def call():
        with tf.GradientTape() as tape:
            z = f(y)
        return tape.gradient(z, v)
    return call


@way("variable")
def variable(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    v = tf.Variable(x)
    return lambda: v.assign(op(tf, v, y))


@way("variable, read")
def variable_read(tf, op, dtype, n):
    x, y = tensors(tf, dtype, n)
    v, kept = tf.Variable(x), collections.deque(maxlen=2)

    def call():
        kept.append(v.read_value())
        v.assign(op(tf, v, y))
        return v.numpy()
    return call


@way("session")
def session(tf, op, dtype, n):
    v1, graph = tf.compat.v1, tf.Graph()
    with graph.as_default():
        x = v1.placeholder(dtype, [n])
        y = v1.placeholder(dtype, [n])
        z = op(tf, x, y)
    run = v1.Session(graph=graph).run
    a, b = arrays(dtype, n)
    if dtype == "bfloat16":
        a, b = [fresh(tf, dtype, v).numpy() for v in (a, b)]
    return lambda: run(z, {x: a, y: b})


@way("threads")
def threads(tf, op, dtype, n):
    """Two threads that use each other's last value. Repeated quotients would soon be denormal numbers, which are slow, so the
    values are reset every few calls."""
    first, ask, done = tensors(tf, dtype, n), [queue.SimpleQueue(), queue.SimpleQueue()], queue.SimpleQueue()
    slot, turns = list(first), itertools.count()

    def work(k):
        while ask[k].get():
            try:
                slot[k] = op(tf, slot[k], slot[1 - k])
                done.put(None)
            except Exception as e:
                done.put(e)

    for k in range(2):
        threading.Thread(target=work, args=(k,), daemon=True).start()

    def call():
        if next(turns) % 4 == 0:
            slot[:] = first
        for q in ask:
            q.put(True)
        for e in [done.get(), done.get()]:
            if e is not None:
                raise e
    return call
