"""Loops in loops: a body is traced once at every level, as in TensorFlow, and what the first run needs grows with the number of
levels, not with a power of it."""
import importlib.util

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def nest(levels, ran, loop, turns=2, at=0):
    """x -> x + turns ** levels, by nested loops; notes in ran[level] how often each condition and body ran."""
    def run(x):
        if at == levels:
            return x + 1.0

        def more(i, y):
            ran[at][0] += 1
            return i < turns

        def body(i, y):
            ran[at][1] += 1
            return i + 1, nest(levels, ran, loop, turns, at + 1)(y)
        return loop(more, body, [tf.constant(0), x])[1]
    return run


def in_function(loop, levels, ran, turns=2):
    return float(tf.function(nest(levels, ran, loop, turns))(tf.constant(1.0)))


def in_session(levels, ran, turns=2):
    with tf.Graph().as_default():
        y = nest(levels, ran, v1.while_loop, turns)(tf.constant(1.0))
        with v1.Session() as session:
            return float(session.run(y))


def in_tape(levels, ran, turns=2):
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = nest(levels, ran, tf.while_loop, turns)(x) * x
        return tape.gradient(y, x)
    return float(f(tf.constant(1.0)))


WAYS = {"v2": lambda *a, **k: in_function(tf.while_loop, *a, **k), "v1": lambda *a, **k: in_function(v1.while_loop, *a, **k),
        "session": in_session, "tape": in_tape}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("levels", [1, 3, 10])
def test_traces_each_body_once(way, levels):
    ran = [[0, 0] for _ in range(levels)]
    result = WAYS[way](levels, ran)
    assert ran == [[1, 1]] * levels  # TensorFlow 2.21 runs them as often, in all four ways
    assert result == 1.0 + 2 ** levels + (1.0 if way == "tape" else 0.0)


@pytest.mark.parametrize("head", ["while i{} < 2:", "for i{} in tf.range(2):"])
@pytest.mark.parametrize("levels", [2, 10])
def test_autograph_converts_each_body_once(tmp_path, head, levels):
    lines = ["ran = []", "def f(x):"]
    for k in range(levels):
        indent = "    " * (k + 1)
        lines += [indent + f"i{k} = tf.constant(0)"] if head.startswith("while") else []
        lines += [indent + head.format(k), indent + f"    ran.append({k})"]
        lines += [indent + f"    i{k} += 1"] if head.startswith("while") else []
    lines += ["    " * (levels + 1) + "x += 1.0", "    return x"]
    file = tmp_path / "program.py"
    file.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("program", file)
    program = importlib.util.module_from_spec(spec)
    program.tf = tf
    spec.loader.exec_module(program)
    assert float(tf.function(program.f)(tf.constant(1.0))) == 1.0 + 2 ** levels
    assert program.ran == list(range(levels))


def allocations(way, levels):
    before = tf._core.allocations()
    WAYS[way](levels, [[0, 0] for _ in range(levels)], turns=1)
    return tf._core.allocations() - before


@pytest.mark.parametrize("way", WAYS)
def test_the_first_run_does_not_double_with_each_level(way):
    allocations(way, 2)
    small, large = allocations(way, 5), allocations(way, 15)
    assert large < 9 * small  # plans compare sizes once per level, and per level inside it


def test_inner_loops_read_what_the_outer_one_wrote():
    """The outer body has one frame, bound anew in each iteration: variables that swap, stay, grow and are not changed."""
    def inner(a, b, k):
        return tf.while_loop(lambda j, u, v: j < k, lambda j, u, v: (j + 1, u + v, u * 0.5), [tf.constant(0), a, b])[1:]

    @tf.function
    def f(a, b, c):
        ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[3])

        def body(i, a, b, c, ta):
            u, v = inner(a, b, i)
            return i + 1, b, u + c, c, ta.write(i, v)
        _, a, b, _, ta = tf.while_loop(lambda i, *_: i < 5, body, [tf.constant(0), a, b, c, ta])
        return a, b, ta.stack()

    def expected(a, b, c):
        rows = []
        for i in range(5):
            u, v = a, b
            for _ in range(i):
                u, v = u + v, u * np.float32(0.5)
            a, b = b, u + c
            rows.append(v)
        return a, b, np.stack(rows)
    given = [np.array(v, np.float32) for v in ([1, 2, 3], [0.5, -1, 4], [0.25, 0, -2])]
    for _ in range(3):
        for ours, theirs in zip(f(*map(tf.constant, given)), expected(*given)):
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-6)


def test_conditions_may_hold_loops():
    def count_down(n):
        return tf.while_loop(lambda m: m > 3, lambda m: (m - 2,), [n])[0]

    @tf.function
    def f(n, x):
        return tf.while_loop(lambda i, y: count_down(n - i) > 1, lambda i, y: (i + 1, count_down(y) + i), [tf.constant(0), x])
    got = [int(v) for v in f(tf.constant(9), tf.constant(20))]

    def plain(m):
        while m > 3:
            m -= 2
        return m
    i, y = 0, 20
    while plain(9 - i) > 1:
        i, y = i + 1, plain(y) + i
    assert got == [i, y]
