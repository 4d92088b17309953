"""`tf.experimental.inspect` and `evenflow inspect`: what the engine tells of functions, graphs and datasets."""
import importlib.util
import json
import subprocess
import sys
import textwrap
from xml.etree import ElementTree

import evenflow as tf
import pytest
from evenflow._src.commands import inspect_svg

COMMAND = [sys.executable, "-m", "evenflow", "inspect"]


@tf.function
def layer(x):
    return tf.reduce_sum(tf.nn.relu(tf.matmul(x, x, transpose_b=True) * 1.0 + 1.0) * 2.0)


def test_passes_and_fused_groups():
    found = tf.experimental.inspect(layer, tf.ones([200, 4]), runs=3)
    rules = [r["rule"] for p in found.data["passes"] for r in p["rewrites"]]
    assert "x*1 -> x" in rules
    fused = [s for s in found.steps if s.fused]
    assert [s.fused for s in fused] == [["AddV2", "Relu", "Mul", "Sum"]]
    assert [s.title for s in found.steps][0] == "MatMul"
    assert all(s.ns is not None and s.ns >= 0 for s in found.steps) and found.data["runs"] == 3
    file, line = fused[0].place
    assert file == __file__ and line == layer.python_function.__code__.co_firstlineno + 2
    text = str(found)
    assert "x*1 -> x" in text and "fused AddV2 + Relu + Mul + Sum" in text and "inspect_test.py" in text


def test_arguments_decide_the_plan():
    small, large = (tf.experimental.inspect(layer, tf.ones([n, 4]), runs=0).plan["arena"] for n in (4, 64))
    assert small < large >= 64 * 64 * 4


def test_loops_show_their_bodies():
    @tf.function
    def loop(x):
        for _ in tf.range(3):
            x = tf.tanh(x) * 2.0 + 1.0
        return x

    found = tf.experimental.inspect(loop, tf.ones([300, 4]))
    (step,) = [s for s in found.steps if s.inner]
    assert [role for role, _ in step.inner] == ["condition", "body"]
    assert any(s.fused == ["Tanh", "Mul", "AddV2"] for s in dict(step.inner)["body"])


def test_effects_are_not_run_unless_asked_for():
    v = tf.Variable(1.0)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def add(x):
        return v.assign_add(x)

    found = tf.experimental.inspect(add)
    assert found.data["runs"] == 0 and float(v) == 1.0 and any("AssignAddVariableOp" in r and "--runs N" in r for r in found.remarks)
    tf.experimental.inspect(add, tf.constant(1.0), runs=4)
    assert float(v) == 1.0 + 5  # one run to warm up


def test_random_state_and_results_are_untouched():
    @tf.function
    def draw(x):
        return x + tf.random.uniform([2], seed=1)

    tf.random.set_seed(3)
    first = draw(tf.zeros([2])).numpy()
    tf.random.set_seed(3)
    tf.experimental.inspect(draw, tf.zeros([2]), runs=0)
    assert draw(tf.zeros([2])).numpy().tolist() == first.tolist()


def test_memory_plan_has_no_overlaps():
    @tf.function
    def chain(x):
        a = tf.matmul(x, x)
        b = tf.matmul(a, x)
        c = tf.matmul(b, a)
        return tf.matmul(c, b) + tf.reshape(a, [32, 32])

    found = tf.experimental.inspect(chain, tf.ones([32, 32]), runs=2)
    blocks = inspect_svg.lives(found.plan)
    assert len(blocks) >= 3
    for k, (_, first, last, offset, size) in enumerate(blocks):
        assert offset + size <= found.plan["arena"]
        for _, first2, last2, offset2, size2 in blocks[k + 1:]:  # a step may overwrite the input that it is the last to read
            apart = last <= first2 or last2 <= first or offset + size <= offset2 or offset2 + size2 <= offset
            assert apart
    picture = ElementTree.fromstring(found.svg())
    titles = [e.text for e in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert len(titles) == len(blocks) and all("made by step" in t or "scratch of step" in t for t in titles)


def test_graphs_tensors_and_datasets():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [300, 30], name="x")
        y = tf.nn.relu(x * 2.0, name="y")
    assert "Relu" in str(tf.experimental.inspect(graph)) and "x:0" in str(tf.experimental.inspect(graph))
    assert [s.fused for s in tf.experimental.inspect(y).steps] == [["Mul", "Relu"]]
    a = tf.data.Dataset.range(6).map(lambda v: v * 2)
    data = tf.experimental.inspect(tf.data.Dataset.zip((a, tf.data.Dataset.range(3))).batch(2)).data
    assert data["op"].startswith("BatchDataset") and data["arguments"]["batch_size"] == 2
    (pair,) = data["sources"]
    assert pair["op"] == "ZipDataset" and [s["op"] for s in pair["sources"]] == ["MapDataset", "RangeDataset"]
    assert "Mul" in pair["sources"][0]["functions"]["f"]
    assert data["element"] == [{"dtype": "int64", "shape": "[?]"}] * 2


def test_what_cannot_be_inspected():
    with pytest.raises(TypeError, match="decorate it with @tf.function"):
        tf.experimental.inspect(lambda x: x)
    with pytest.raises(TypeError, match="Dataset, not an object of <class 'int'>"):
        tf.experimental.inspect(3)
    with pytest.raises(ValueError, match="has not been traced: call it first"):
        tf.experimental.inspect(tf.function(lambda x: x))
    with pytest.raises(ValueError, match="runs is 5000"):
        tf.experimental.inspect(layer, tf.ones([2, 2]), runs=5000)


PROGRAM = """
    import sys
    import tensorflow as tf

    @tf.function
    def f(x):
        return tf.nn.relu(x * 2.0) + 1.0

    @tf.function(input_signature=[tf.TensorSpec([None, 3])])
    def g(x):
        return x @ tf.transpose(x)

    model = tf.Module()
    model.step = f
    data = tf.data.Dataset.range(5).batch(2)
    f(tf.ones([2]))
    if __name__ == "__main__":
        print("ran", *sys.argv[1:])
        f(tf.ones([1000]))
        sys.exit(0)
"""


@pytest.fixture
def inspect(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(PROGRAM))

    def run(*options, name="", arguments=()):
        return subprocess.run([*COMMAND, *options, f"program.py{name}", *arguments], capture_output=True, text=True, cwd=tmp_path)
    return run


def test_command_shows_a_function(inspect, tmp_path):
    done = inspect("--svg", "m.svg", name=":f", arguments=("--epochs", "3"))
    assert done.returncode == 0 and done.stderr == "ran --epochs 3\n", done.stderr
    assert done.stdout.startswith("function f(x: float32 [") and "fused Mul + Relu + AddV2" in done.stdout
    assert "program.py:7" in done.stdout and "\x1b" not in done.stdout
    ElementTree.parse(tmp_path / "m.svg")


def test_a_function_that_needs_no_arguments():
    x = tf.ones([4])
    for made in (tf.function(lambda: x * 2.0), tf.function(lambda y=x: y * 2.0)):
        assert "Mul" in str(tf.experimental.inspect(made))


def test_command_takes_signatures_sizes_and_attributes(inspect):
    done = inspect("--size", "5", "--json", name=":g")
    data = json.loads(done.stdout)
    assert data["plan"]["slots"][data["plan"]["outputs"][0]]["type"]["shape"] == "[5, 5]"
    assert inspect("--import", name=":model.step").stderr == ""
    assert "BatchDataset" in inspect(name=":data").stdout


@pytest.mark.parametrize("options, name, message", [
    ((), "", "program.py has 3 things to inspect: f, g, data; name one, as in program.py:f"),
    ((), ":ff", "program.py has no name 'ff'; did you mean 'f'?"),
    ((), ":model.stop", "'model' of program.py has no attribute 'stop' ('model.stop')"),
    (("--trace", "9"), ":g", "g: g has 1 traces; there is no trace 9"),
    (("--svg", "x.svg"), ":data", "data has no memory plan to draw; --svg is for functions"),
    (("--svg", "program.py"), ":f",
     "cannot write the picture to 'program.py': it is a program; the name of the picture comes first, then the program"),
    (("--runs", "5000"), ":f", "--runs is 5000; it must be from 0 to 1000"),
])
def test_errors_take_one_line(inspect, options, name, message):
    done = inspect(*options, name=name)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.splitlines()[-1] == f"evenflow inspect: {message}"


def test_missing_program(tmp_path):
    done = subprocess.run([*COMMAND, "nowhere.py:f"], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "evenflow inspect: there is no file 'nowhere.py'; give the path of a Python program\n")


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_a_keras_model():
    model = tf.keras.Sequential([tf.keras.layers.Input((6,)), tf.keras.layers.Dense(3, activation="relu")], name="mine")
    found = tf.experimental.inspect(model, runs=2)
    assert "model mine(" in str(found) and "float32 [None, 6]" in str(found) and "_FusedMatMul" in str(found)
    a, b = tf.keras.Input((3,)), tf.keras.Input((4,))
    two = tf.keras.Model([a, b], tf.keras.layers.Concatenate()([a, b]))
    assert "ConcatV2" in str(tf.experimental.inspect(two))

    class Own(tf.keras.Model):
        def call(self, x):
            return x * 2.0

    with pytest.raises(ValueError, match="no inputs are known.*step = tf.function"):
        tf.experimental.inspect(Own())
    assert "Mul" in str(tf.experimental.inspect(Own(), tf.ones([2])))
    with pytest.raises(TypeError, match="a Keras layer: put it into a model"):
        tf.experimental.inspect(tf.keras.layers.Dense(2))
