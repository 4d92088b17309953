"""Event files as whole programs use them: Keras's TensorBoard callback, traces of graphs, a program's end, files that
TensorFlow wrote."""
import glob
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import evenflow as tf

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_keras_callback(tmp_path):
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", str(HERE / "tensorboard_program.py"), str(tmp_path)],
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    made, answer = json.loads(done.stdout), json.loads((HERE / "tensorboard_reference.json").read_text())
    assert made == answer


def _events(folder):
    [path] = glob.glob(os.path.join(folder, "events.out.tfevents.*"))
    return list(tf.compat.v1.train.summary_iterator(path))


def test_what_is_waiting_is_written_at_the_end(tmp_path):
    program = f"""
import evenflow as tf
w = tf.summary.create_file_writer({str(tmp_path)!r})
w.set_as_default()
tf.summary.scalar("a", 1.0, step=1)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert [e.step for e in _events(tmp_path)] == [0, 1]


def test_queue(tmp_path):
    """Events reach the file when more than max_queue are waiting."""
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=3)
    writer.set_as_default()
    try:
        seen = []
        for k in range(9):
            tf.summary.scalar("a", 1.0, step=k)
            seen.append(len(_events(tmp_path)) - 1)
        assert seen == [0, 0, 0, 4, 4, 4, 4, 8, 8]
        tf.summary.flush()
        assert len(_events(tmp_path)) == 10
    finally:
        tf.summary.create_noop_writer().set_as_default()
        from evenflow._src import summary

        summary.state.writer = None
        writer.close()


def test_graph_and_trace(tmp_path):
    @tf.function
    def inner(x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x * 2, lambda: x)

    @tf.function
    def outer(x):
        return tf.matmul(inner(x), x, name="product")

    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert bool(tf.summary.graph(outer.get_concrete_function(tf.TensorSpec([2, 2])).graph))
        tf.summary.trace_on()
        outer(tf.ones([2, 2]))
        tf.summary.trace_export("mine", step=4)
        with pytest.raises(ValueError, match="trace_on"):
            tf.summary.trace_export("mine", step=4)
        with pytest.raises(ValueError, match="not tf.Graph"):
            tf.summary.graph(3)
    writer.close()
    _, graph, trace = _events(tmp_path)
    nodes = tf.compat.v1.GraphDef.FromString(graph.graph_def).node
    assert {"x", "product"} <= {n.name for n in nodes} and "MatMul" in {n.op for n in nodes}
    [value] = trace.summary.value
    assert trace.step == 4 and value.tag == "mine" and value.metadata.plugin_data.plugin_name == "graph_run_metadata_graph"
    assert b"product" in value.tensor.string_val[0]


def test_a_function_writes_without_python(tmp_path):
    """The traced function holds the op itself, and repeated calls trace nothing."""
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step(x, at):
        with writer.as_default(at):
            tf.summary.scalar("x", x)

    for k in range(50):
        step(tf.constant(float(k)), tf.constant(k, tf.int64))
    writer.close()
    assert step.experimental_get_tracing_count() == 1
    ops = [op.type for op in step.get_concrete_function(tf.constant(0.0), tf.constant(0, tf.int64)).graph.get_operations()]
    assert "WriteSummary" in ops and not any("Py" in op for op in ops)
    assert [e.step for e in _events(tmp_path)][2:] == list(range(1, 50))


def test_a_graph_summary_names_its_error():
    with tf.Graph().as_default(), pytest.raises(ValueError, match="graph context"):
        tf.summary.graph(tf.Graph())


def test_a_file_that_tensorflow_wrote():
    """tensorflow.events: one event of each kind."""
    events = list(tf.compat.v1.train.summary_iterator(str(HERE / "tensorflow.events")))
    assert [e.WhichOneof("what") for e in events] == ["file_version"] + ["summary"] * 5 + ["graph_def"]
    assert events[0].file_version == "brain.Event:2" and [e.step for e in events[1:6]] == [1, 2, 3, 4, 5]
    values = [e.summary.value[0] for e in events[1:6]]
    assert [v.tag for v in values] == ["scalar", "histogram", "text", "image", "v1"]
    assert tf.io.parse_tensor(values[0].tensor.SerializeToString(), tf.float32).numpy() == 0.5
    assert tf.io.parse_tensor(values[1].tensor.SerializeToString(), tf.float64).shape == [3, 3]
    assert list(values[2].tensor.string_val) == [b"hello"]
    assert tf.io.decode_png(values[3].tensor.string_val[2]).shape == [2, 2, 1]
    assert values[4].simple_value == 1.5
    assert [n.op for n in tf.compat.v1.GraphDef.FromString(events[6].graph_def).node] == ["Const"]
