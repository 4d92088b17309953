"""tf.profiler.experimental: the file that TensorBoard's profile plugin reads, parsed here by its field numbers."""
import glob
import os
import struct
import threading
import time

import pytest

import evenflow as tf
from evenflow._src import recording


def fields(data):
    """(number, value) of each field of a serialized message: integers, or the bytes of strings and messages."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 == 1:
            yield tag >> 3, struct.unpack("<d", data[at:at + 8])[0]
            at += 8
        else:
            size = varint()
            yield tag >> 3, data[at:at + size]
            at += size


def all_of(message, number):
    return [value for n, value in fields(message) if n == number]


def one(message, number, otherwise=0):
    return next(iter(all_of(message, number)), otherwise)


def names(plane, field):
    made = {}
    for entry in all_of(plane, field):
        value = one(entry, 2)
        made[one(entry, 1)] = one(value, 2, b"").decode()
    return made


def read(folder):
    """The lines of the only profile: [(name, begin, end, {stat: value})] in picoseconds, by the line's name."""
    [path] = glob.glob(os.path.join(folder, "plugins", "profile", "*", "*.xplane.pb"))
    data = open(path, "rb").read()
    [plane] = all_of(data, 1)
    assert one(plane, 2) == b"/host:CPU" and all_of(data, 4)
    events, stats = names(plane, 4), names(plane, 5)
    lines = {}
    for line in all_of(plane, 3):
        assert one(line, 3) > 1_600_000_000 * 10**9  # the time of day, in nanoseconds
        lines[one(line, 2).decode()] = made = []
        for event in all_of(line, 4):
            values = {stats[one(s, 1)]: one(s, 4, one(s, 5, None)) for s in all_of(event, 4)}
            begin = one(event, 2)
            made.append((events[one(event, 1)], begin, begin + one(event, 3), values))
    return lines


def check_nested(slices):
    """Slices in the order of their begin, outer ones first, are nested or apart."""
    open_ = []
    for name, begin, end, *_ in sorted(slices, key=lambda s: (s[1], -s[2])):
        assert begin <= end
        while open_ and open_[-1] <= begin:
            open_.pop()
        assert not open_ or end <= open_[-1], name
        open_.append(end)


def test_steps_and_ops(tmp_path):
    @tf.function
    def train(x):
        return tf.reduce_sum(tf.linalg.matmul(x, x))

    x = tf.ones([64, 64])
    train(x)
    tf.profiler.experimental.start(str(tmp_path))
    for step in range(3):
        with tf.profiler.experimental.Trace("train", step_num=step, color="red") as span:
            train(x)
            tf.sort(x)
            span.set_metadata(more=7)
    tf.profiler.experimental.stop()
    lines = read(tmp_path)
    for slices in lines.values():
        check_nested(slices)
    main = lines["python"]
    steps = [s for s in main if s[0] == "train" and "step_num" in s[3]]
    assert [s[3]["step_num"] for s in steps] == [0, 1, 2]
    assert all(s[3]["_r"] == 1 and s[3]["color"] == b"red" and s[3]["more"] == 7 for s in steps)
    for _, begin, end, _ in steps:
        inside = [s[0] for s in main if begin <= s[1] and s[2] <= end]
        assert "MatMul:MatMul" in inside and inside.count("train") == 2  # the span, and the call
    assert any(v.get("place", b"").endswith(b"profiler_test.py:%d" % (train.python_function.__code__.co_firstlineno + 9))
               for *_, v in main)


def test_profile_block_and_threads(tmp_path):
    x = tf.ones([8, 8])

    def work():
        with tf.profiler.experimental.Trace("other", step_num=5):
            tf.matmul(x, x)

    with tf.profiler.experimental.Profile(str(tmp_path), tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)):
        with tf.profiler.experimental.Trace("mine"):
            tf.matmul(x, x)
        t = threading.Thread(target=work)
        t.start()
        t.join()
    lines = read(tmp_path)
    where = {s[0]: name for name, slices in lines.items() for s in slices if s[0] in ("mine", "other")}
    assert len(set(where.values())) == 2
    for slices in lines.values():
        check_nested(slices)


def test_one_at_a_time(tmp_path):
    tf.profiler.experimental.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        tf.profiler.experimental.start(str(tmp_path))
    tf.profiler.experimental.stop(save=False)
    assert not os.listdir(tmp_path)
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        tf.profiler.experimental.stop()
    with tf.profiler.experimental.Trace("outside", step_num=1):
        pass


def test_a_recording_is_bounded():
    made = recording.Recording()
    for _ in range(recording.MOST_SPANS + 10):
        made.add_span(made.begun, made.begun + 1, "x", {})
    x = tf.constant(1.0)
    for _ in range(300_000):
        x + x
    slices, dropped = made.end()
    assert dropped > 0 and len(made.spans) == recording.MOST_SPANS
    assert len(slices) <= (1 << 18) + recording.MOST_SPANS
    assert recording.Recording.current is None


def test_nesting_moves_an_outer_begin():
    s = recording.Slice
    made = recording.nest([s(0, 5, 20, "outer", 1, {}), s(0, 4, 8, "first", 1, {}), s(0, 9, 20, "second", 1, {}),
                           s(0, 20, 30, "next", 1, {}), s(1, 0, 50, "elsewhere", 1, {})])
    assert [(m.name, m.begin, m.end) for m in made] == [("outer", 4, 20), ("first", 4, 8), ("second", 9, 20), ("next", 20, 30),
                                                        ("elsewhere", 0, 50)]


def test_threads_of_many_spans_are_found_quickly():
    kind, n = next(iter(recording._CALLS)), 30000
    slices = [recording.Slice(5 + k % 2, 10 * k + 1, 10 * k + 9, "op", kind, {}) for k in range(n)]
    spans = [(70 + k % 2, 10 * k, 10 * k + 10, "span", {}) for k in range(n)]
    began = time.process_time()
    assert recording._homes(spans, slices, 0) == {70: 5, 71: 6}
    assert time.process_time() - began < 3  # it took half a minute when each span went through all calls before it
