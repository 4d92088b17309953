"""A tape owns what it recorded: whatever becomes of tapes in a loop, memory stays where it was."""
import ctypes
import gc
import threading

import numpy as np
import pytest

import evenflow as tf

WIDTH = 64  # one value of WIDTH x WIDTH is 16 KiB: a step that leaks shows


class _Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
                 "keepcost")]


def _in_use():
    """Bytes that values and the heap hold."""
    gc.collect()
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "mallinfo2"):
        pytest.skip("malloc does not tell")
    libc.mallinfo2.restype = _Mallinfo
    heap = libc.mallinfo2()
    return tf.config.experimental.get_memory_info("CPU:0")["current"] + heap.uordblks + heap.hblkhd


def _grows_by(step, steps=400, warm=200):
    for _ in range(warm):
        step()
    before = _in_use()
    for _ in range(steps):
        step()
    return (_in_use() - before) / steps


@pytest.fixture
def model():
    w = [tf.Variable(np.full((WIDTH, WIDTH), 0.01, np.float32)) for _ in range(2)]
    x = tf.constant(np.ones((WIDTH, WIDTH), np.float32))

    def loss(k=0):
        return tf.reduce_sum(tf.tanh(tf.matmul(x, w[k])) * w[k])

    return w, x, loss


def _persistent_in_a_name(model):
    w, _, loss = model
    held = {}

    def step():
        with tf.GradientTape(persistent=True) as tape:
            a, b = loss(0), loss(1)
        held["tape"] = tape  # the old one goes when the new one has recorded
        for y, v in ((a, w[0]), (b, w[1])):
            v.assign_sub(1e-6 * tape.gradient(y, v))
    return step


def _never_asked(model):
    held = {}

    def step():
        with tf.GradientTape() as tape:
            held["loss"] = model[2]()
        held["tape"] = tape
    return step


def _left_by_an_exception(model):
    held = {}

    def step():
        try:
            with tf.GradientTape() as tape:
                held["tape"] = tape
                held["loss"] = model[2]()
                raise KeyError("stop")
        except KeyError:
            pass
    return step


def _beside_an_old_one(model):
    w, _, loss = model
    with tf.GradientTape(persistent=True) as old:
        first = loss()
    kept = [old, first]

    def step():
        with tf.GradientTape() as tape:
            y = loss()
        assert tape.gradient(y, w[0]) is not None and kept
    return step


def _reset(model):
    w, _, loss = model
    tape = tf.GradientTape(persistent=True)

    def step():
        with tape:
            y = loss()
        assert tape.gradient(y, w[0]) is not None
        tape.reset()
    return step


def _reset_while_recording(model):
    w, _, loss = model
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()

    def step():
        y = loss()
        assert tape.gradient(y, w[0]) is not None
        tape.reset()
    return step


def _outer_around_inner(model, **how):
    w, _, loss = model
    outer = tf.GradientTape(**how)
    outer.__enter__()

    def step():
        with tf.GradientTape() as inner:
            y = loss()
        w[0].assign_sub(1e-6 * inner.gradient(y, w[0]))
    step.outer = outer
    return step


def _outer_persistent(model):
    return _outer_around_inner(model, persistent=True)


def _outer_watching_nothing(model):
    x = [tf.ones((WIDTH, WIDTH))]
    outer = tf.GradientTape(watch_accessed_variables=False)
    outer.__enter__()

    def step():
        with tf.GradientTape() as inner:
            inner.watch(x[0])
            y = tf.reduce_sum(x[0] * x[0])
        x[0] = x[0] - 1e-6 * inner.gradient(y, x[0])  # a chain that the outer tape knows nothing of
    step.outer = outer
    return step


def _results_dropped(model):
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()
    step = model[2]

    def once():
        step()
    once.tape = tape
    return once


def _new_values_watched(model):
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()

    def step():
        x = tf.ones((WIDTH, WIDTH))
        tape.watch(x)
        assert tape.gradient(x * x, x) is not None
    return step


def _stopped_and_resumed(model):
    w, _, loss = model
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()

    def step():
        with tape.stop_recording():
            loss()
        assert tape.gradient(loss(), w[0]) is not None
    return step


def _accumulator_inside(model):
    _, x, _ = model
    tape = tf.GradientTape(persistent=True)
    tape.__enter__()

    def step():
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.tanh(x) * x
        assert acc.jvp(y) is not None
    step.tape = tape
    return step


def _accumulator_in_a_tape_of_its_own(model):
    w, x, _ = model

    def step():
        with tf.GradientTape(persistent=True) as tape:
            with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
                y = tf.tanh(x * w[0])
            jvp = acc.jvp(y)
        assert tape.gradient(jvp, w[0]) is not None
    return step


def _dropped_by_another_thread(model):
    w, _, loss = model
    box = []

    def step():
        with tf.GradientTape(persistent=True) as tape:
            y = loss()
        assert tape.gradient(y, w[0]) is not None
        box.append((tape, y))
        del tape, y
        t = threading.Thread(target=box.clear)
        t.start()
        t.join()
    return step


def _dropped_while_open(model):
    _, _, loss = model
    box = []

    def step():
        tape = tf.GradientTape(persistent=True)
        tape.__enter__()
        box.append((tape, loss()))
        del tape
        t = threading.Thread(target=box.clear)
        t.start()
        t.join()
    return step


def _recorded_by_a_thread_that_ends(model):
    w, _, loss = model

    def record():
        tape = tf.GradientTape(persistent=True)
        tape.__enter__()  # never left
        assert tape.gradient(loss(), w[0]) is not None

    def step():
        t = threading.Thread(target=record)
        t.start()
        t.join()
    return step


def _function_in_a_persistent_tape(model):
    w, x, loss = model
    f = tf.function(lambda: loss(0))
    held = {}

    def step():
        with tf.GradientTape(persistent=True) as tape:
            y = f()
        held["tape"] = tape
        w[0].assign_sub(1e-6 * tape.gradient(y, w[0]))
    return step


def _custom_gradient(model):
    held = {}

    @tf.custom_gradient
    def f(x):
        big = tf.tanh(x)
        return big, lambda dy: dy * big

    def step():
        with tf.GradientTape(persistent=True) as tape:
            x = tf.ones((WIDTH, WIDTH))
            tape.watch(x)
            y = f(x)
        held["tape"] = tape
        assert tape.gradient(y, x) is not None
    return step


@pytest.mark.parametrize("form", [
    _persistent_in_a_name, _never_asked, _left_by_an_exception, _beside_an_old_one, _reset, _reset_while_recording,
    _outer_around_inner, _outer_persistent, _outer_watching_nothing, _results_dropped, _new_values_watched,
    _stopped_and_resumed, _accumulator_inside, _accumulator_in_a_tape_of_its_own, _dropped_by_another_thread,
    _dropped_while_open, _recorded_by_a_thread_that_ends, _function_in_a_persistent_tape, _custom_gradient])
def test_a_loop_of_tapes_keeps_its_memory(form, model):
    step = form(model)
    grown = _grows_by(step)
    assert grown < 512, f"{grown:.0f} bytes a step"
    for tape in (getattr(step, "outer", None), getattr(step, "tape", None)):
        if tape is not None:
            tape.__exit__(None, None, None)


def test_kept_losses_do_not_keep_their_tapes(model):
    w, _, loss = model
    losses = []

    def step():
        with tf.GradientTape() as tape:
            losses.append(loss())
        assert tape.gradient(losses[-1], w[0]) is not None

    assert _grows_by(step) < 1024  # the scalar and its object


def test_what_a_tape_can_reach_stays(model):
    """However much is dropped around it."""
    w, _, loss = model
    with tf.GradientTape(persistent=True) as tape:
        kept = loss()
        half = w[0] * 2.0
        for _ in range(3000):
            loss()
        late = tf.reduce_sum(half * half)
    assert tape.gradient(kept, w[0]) is not None
    np.testing.assert_allclose(tape.gradient(late, w[0]), 8 * w[0].numpy(), rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(late, half), 2 * half.numpy(), rtol=1e-5)


def test_another_thread_may_ask(model):
    w, _, loss = model
    with tf.GradientTape() as tape:
        y = loss()
    found = []
    t = threading.Thread(target=lambda: found.append(tape.gradient(y, w)))
    t.start()
    t.join()
    with tf.GradientTape() as again:
        y = loss()
    np.testing.assert_allclose(found[0][0], again.gradient(y, w[0]))
    assert found[0][1] is None
