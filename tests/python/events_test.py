"""Events: what the engine says about traces, plans, calls and places, as the doctor reads it."""
import numpy as np
import pytest

import evenflow as tf
from evenflow import _core

KINDS, REASONS = _core.event_kinds()


@pytest.fixture
def every_call():
    """Samples every second call or so, and forgets what was counted before."""
    before = _core.event_period(2)
    _core.event_reset()
    yield
    _core.event_period(before)


def tallies(kind, reason=None):
    found = []
    for t in _core.event_tallies():
        if KINDS[t[0]] == kind and reason in (None, REASONS[t[1]]):
            place, subject = _core.event_place(t[2]), _core.event_place(t[3])
            if place and place[0] == __file__:
                found.append({"place": place, "subject": subject, "note": _core.event_note(t[4]) if t[4] else None,
                              "count": t[6], "ns": t[7], "sum": t[8:11], "least": t[11], "most": t[12]})
    return found


def here():
    import sys
    return sys._getframe(1).f_lineno


def test_a_trace_says_why(every_call):
    @tf.function
    def f(x, n, name="a", items=()):
        return x * n

    x = tf.ones([3])
    f(x, 1)
    line = here() - 1
    (first,) = tallies("trace", "first")
    assert first["place"][1:] == (line, "test_a_trace_says_why")
    assert first["subject"][2] == "f" and first["ns"] > 0 and first["sum"][0] > 0
    f(x, 2)
    (value,) = tallies("trace", "value")
    assert value["note"] == "n|Python number|1|2"
    f(x, 2, name="b")
    f(x, 2, name="b", items=[1, 2])
    f(x, 2, name="b", items=[1, 3])
    notes = {v["note"] for v in tallies("trace", "value")}
    assert "name|Python string||" in notes and "items|Python list||" in notes


def test_numbers_that_are_not_integers(every_call):
    f = tf.function(lambda x, n: x * n)
    x = tf.ones([3])
    f(x, 2.0)
    f(x, float("inf"))
    f(x, float("nan"))
    f(x, -1e300)
    seen = {v["note"]: tuple(v["sum"][1:]) for v in tallies("trace", "value")}
    least, most = -(2**63), 2**63 - 1
    assert seen == {"n|Python number|2.0|inf": (2, most), "n|Python number|inf|nan": (most, 0),
                    "n|Python number|nan|-1e+300": (0, least)}


def test_a_trace_for_another_size_or_dtype(every_call):
    f = tf.function(lambda x: x + 1)
    f(tf.ones([3]))
    f(tf.ones([4]))
    f(tf.ones([4], tf.int32))
    assert tallies("trace", "shape")[0]["sum"][1:] == (3, 4)
    assert len(tallies("trace", "dtype")) == 1


def test_an_object_and_an_instance(every_call):
    class Thing:
        @tf.function
        def method(self, x):
            return x + 1.0

    @tf.function
    def g(x, thing):
        return x

    for _ in range(3):
        g(1.0, Thing())
    assert sum(t["count"] for t in tallies("trace", "identity")) == 2
    for _ in range(4):
        Thing().method(tf.constant(1.0))
    assert sum(t["count"] for t in tallies("trace", "instance")) == 4


def test_a_plan_says_which_size_changed(every_call):
    f = tf.function(lambda x: tf.reduce_sum(x), reduce_retracing=True)
    for n in range(2, 8):
        f(tf.ones([3, n]))
    rows = tallies("plan", "shape")
    assert rows and all(r["least"] == r["most"] == 1 for r in rows)  # argument 0, axis 1


def test_a_size_that_comes_back_is_no_new_one(every_call):
    """More sizes than a program keeps plans of: those that were evicted are planned again, and told apart from new ones."""
    f = tf.function(lambda x: tf.reduce_sum(x), reduce_retracing=True)
    for turn in range(4):
        for n in range(2, 302):
            f(tf.ones([n, 3]))
    new, again = (sum(t["count"] for t in tallies("plan", reason)) for reason in ("shape", "forgotten"))
    assert 290 <= new <= 300 and again > 300


def test_calls_are_sampled_by_line(every_call):
    a = tf.ones([10])
    for _ in range(5000):
        a = a + a
    line = here() - 1
    (ops,) = [t for t in tallies("eager op") if t["place"][1] == line]
    assert 4500 < ops["count"] < 5500 and ops["sum"][0] == 80 * ops["count"] and ops["ns"] > 0
    f = tf.function(lambda x: x)
    for _ in range(5000):
        f(a)
    (calls,) = [t for t in tallies("function call") if t["place"][1] == here() - 1]
    assert 4500 < calls["count"] < 5500 and calls["most"] == 40


def test_what_is_made_is_counted(every_call):
    for _ in range(7):
        tf.Variable([1.0])
    for _ in range(5):
        tf.function(lambda x: x)
    for _ in range(3):
        with tf.GradientTape(persistent=True):
            pass
    lines = {t["place"][1]: t for t in tallies("variable", "none")}
    assert sum(t["count"] for t in lines.values()) == 7
    assert sum(t["count"] for t in tallies("variable", "forgotten")) == 7
    assert sum(t["count"] for t in tallies("function made")) == 5
    (tapes,) = tallies("persistent tape")
    assert tapes["count"] == 6 and tapes["sum"][0] == 0


def test_sessions_and_growing_graphs(every_call):
    graph = tf.Graph()
    with graph.as_default():
        for i in range(30):
            with tf.compat.v1.Session(graph=graph) as session:
                session.run(tf.constant(i) + 1)
    (closed,) = tallies("session closed")
    assert closed["count"] == 30 and closed["sum"][0] == 30
    assert sum(t["count"] for t in tallies("node added after a run")) >= 29 * 2
    assert {t["place"][1] for t in tallies("node added after a run")} == {here() - 4}


def test_conversions_copies_and_casts(every_call):
    tf.constant(list(range(1000)))
    array = np.ones(100_000, np.float64)
    tf.constant(array).numpy()
    tf.constant(array, tf.float32)
    (convert,) = tallies("conversion")
    assert convert["sum"][0] == 1000 and convert["ns"] > 0
    assert {t["sum"][0] for t in tallies("host copy")} == {800_000} or sum(t["count"] for t in tallies("host copy")) == 2
    (cast,) = tallies("implicit cast")
    assert cast["sum"][0] == 400_000


def test_a_python_loop_that_is_unrolled(every_call):
    @tf.function
    def f(x):
        for _ in range(600):
            x = x + 1.0
        return x

    f(tf.constant(1.0))
    (lines,) = tallies("nodes of one line")
    assert lines["most"] >= 600 and lines["place"][1] == here() - 5


def test_steps_and_loops_of_sampled_calls(every_call):
    @tf.function
    def f(x):
        for i in tf.range(50):
            x = x + tf.cast(i, tf.float32)
        return x

    for _ in range(10):
        f(tf.constant(1.0))
    (loop,) = tallies("loop")
    assert loop["least"] == loop["most"] == 50
    events, dropped = _core.events()
    assert any(KINDS[e[2]] == "step" for e in events) and dropped >= 0
    assert all(a[0] <= b[0] for a, b in zip(events, events[1:]))


def test_results_that_are_held(every_call):
    kept = []
    for _ in range(200):
        kept.append(tf.constant([1.0, 2.0]) + 1.0)
    held = [h for place, _, h in _core.event_kept() if _core.event_place(place)[1] == here() - 1]
    assert held and all(held)
    kept.clear()
    held = [h for place, _, h in _core.event_kept() if _core.event_place(place)[1] == here() - 4]
    assert held and not any(held)


def test_memory_is_bounded():
    """Calls from 10^5 places: neither tables nor references grow."""
    _core.event_reset()
    before = _core.event_period(1)
    x = tf.constant(1.0)
    for k in range(200):
        code = compile("\n" * k + "\n".join(["x + x"] * 500), f"/tmp/place{k}.py", "exec")
        exec(code, {"x": x})
    _core.event_period(before)
    rows = _core.event_tallies()
    assert len(rows) <= 4096 + len(KINDS)
    ops = sum(t[6] for t in rows if KINDS[t[0]] == "eager op")
    assert 90_000 < ops < 110_000


def test_wrong_arguments():
    with pytest.raises(ValueError, match="there is no event"):
        _core.event_post(10_000)
    with pytest.raises(ValueError, match="period"):
        _core.event_period(-1)
    assert _core.event_place(0) is None and _core.event_note(0) is None
