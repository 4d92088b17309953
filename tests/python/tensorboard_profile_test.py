"""The real TensorBoard reads what is written here: the profile of a Keras fit in its profile plugin, through its HTTP API, and
event files by its own reader; and event files that TensorBoard's own writer made are read here."""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest
import tensorboard_server

import evenflow as tf

PROGRAM = """
import sys
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Input((64,)), tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(1)
x, y = rng.random((640, 64), np.float32), rng.integers(0, 10, 640)
board = tf.keras.callbacks.TensorBoard(sys.argv[1], profile_batch=(5, 15))
done = model.fit(x, y, batch_size=32, epochs=2, verbose=0, callbacks=[board])
print(done.history["loss"])
"""
READ = """
import json, sys
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
from tensorboard.util import tensor_util
found = []
for event in EventFileLoader(sys.argv[1]).Load():
    for value in event.summary.value:
        made = tensor_util.make_ndarray(value.tensor)
        text = [v.decode("latin1") for v in made.ravel()] if made.dtype == object else None
        found.append([event.step, value.tag, value.metadata.plugin_data.plugin_name, str(made.dtype), list(made.shape),
                      text if text is not None else made.ravel().tolist()])
    if event.HasField("graph_def"):
        found.append([event.step, "graph", len(event.graph_def)])
print(json.dumps(found))
"""
WRITE = """
import sys
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
writer = EventFileWriter(sys.argv[1])
for step in range(3):
    value = summary_pb2.Summary.Value(tag="loss", simple_value=0.5 * step)
    writer.add_event(event_pb2.Event(step=step, wall_time=10.0 + step, summary=summary_pb2.Summary(value=[value])))
writer.close()
"""


@pytest.fixture(scope="module", autouse=True)
def tensorboard():
    why = tensorboard_server.missing()
    if why:
        pytest.skip(why)


def theirs(program, *arguments):
    """Runs a program in TensorBoard's environment; returns what it printed."""
    done = subprocess.run([str(tensorboard_server.VENV / "bin" / "python"), "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(table):
    """The rows of a table of the plugin, by column."""
    names = [c["id"] for c in table["cols"]]
    return [dict(zip(names, [cell["v"] for cell in row["c"]])) for row in table["rows"]]


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_the_profile_of_a_fit(tmp_path):
    program, folder = tmp_path / "program.py", tmp_path / "logs"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", str(program), str(folder)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    losses = json.loads(done.stdout)
    server = tensorboard_server.Server(folder, tmp_path / "log.txt")
    try:
        [run] = server.wait_for("plugin/profile/runs", bool)
        [host] = server.wait_for("plugin/profile/hosts", bool, run=run, tag="trace_viewer@")
        asked = {"run": run, "host": host["hostname"]}
        overview = server.wait_for("plugin/profile/data", bool, tag="overview_page", **asked)
        steps = next(rows(t) for t in overview if any(c["id"] == "stepTimeMs" for c in t.get("cols", ())))
        assert [s["stepnum"] for s in steps] == [f"Profiled batch {k}" for k in range(5, 5 + len(steps))] and len(steps) >= 8
        assert all(0 < s["hostComputeTimeMs"] < s["stepTimeMs"] < 60000 for s in steps)
        ops = {r["operation"]: r for r in rows(server.get("plugin/profile/data", tag="framework_op_stats", **asked)[0])}
        assert ops["MatMul"]["occurrences"] == 3 * ops["IteratorGetNext"]["occurrences"] > 0 and ops["MatMul"]["total_time"] > 0
        trace = server.get("plugin/profile/data", tag="trace_viewer@", **asked)
        names = {e["name"] for e in trace["traceEvents"] if e.get("ph") == "X"}
        assert any("MatMul" in n for n in names) and any(n.startswith("Profiled batch") for n in names)
        server.wait_for("plugin/scalars/tags", lambda tags: "epoch_loss" in tags.get("train", {}))
        shown = server.get("plugin/scalars/scalars", run="train", tag="epoch_loss")
        assert [s[1] for s in shown] == [0, 1] and [s[2] for s in shown] == pytest.approx(losses, rel=1e-5)
    finally:
        server.close()


def test_their_reader_reads_our_events(tmp_path):
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.scalar("a/loss", 0.25, step=3)
        tf.summary.text("words", ["one", "two"], step=4)
        tf.summary.histogram("weights", tf.constant([0.0, 1.0, 1.0, 2.0]), step=5, buckets=2)
        tf.summary.image("picture", tf.ones([1, 2, 3, 1]), step=6)
        tf.summary.audio("sound", tf.zeros([1, 8, 1]), 8000, step=7)
        graph = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2])).graph
        tf.summary.graph(graph)
        tf.summary.flush()
    [path] = pathlib.Path(tmp_path).glob("events.out.tfevents.*")
    found = {f[1]: f for f in json.loads(theirs(READ, str(path)))}
    assert found["a/loss"] == [3, "a/loss", "scalars", "float32", [], [0.25]]
    assert found["words"] == [4, "words", "text", "object", [2], ["one", "two"]]
    assert found["weights"][2:5] == ["histograms", "float64", [2, 3]] and found["weights"][5] == [0.0, 1.0, 1.0, 1.0, 2.0, 3.0]
    assert found["picture"][2] == "images" and found["picture"][5][:2] == ["3", "2"] and found["picture"][5][2].startswith("\x89PNG")
    assert found["sound"][2] == "audio" and found["sound"][5][0].startswith("RIFF")
    assert found["graph"][2] > 20


def test_we_read_their_events(tmp_path):
    theirs(WRITE, str(tmp_path))
    [path] = pathlib.Path(tmp_path).glob("events.out.tfevents.*")
    events = [e for e in tf.compat.v1.train.summary_iterator(str(path)) if e.summary.value]
    assert [(e.step, e.wall_time, e.summary.value[0].tag, e.summary.value[0].simple_value) for e in events] == [
        (k, 10.0 + k, "loss", 0.5 * k) for k in range(3)]
