"""What editors and type checkers see: signatures of the functions, and the type stubs."""
import inspect
import subprocess
import sys

import evenflow as tf
import pytest
from evenflow._src import namespace

PROGRAM = '''
import evenflow as tf
import numpy as np

x = tf.constant([[1.0, 2.0]])
v = tf.Variable(tf.zeros([2, 2]), trainable=True, name="v")
y = tf.matmul(x, v) + 1.0
print(y.numpy(), y.shape, y.dtype, -y, y[0], len(y), bool(tf.reduce_all(y > 0)))
v.assign(tf.ones([2, 2])).assign_add(v)


@tf.function(reduce_retracing=True)
def f(a, b=2):
    return tf.nn.relu(a) * b


with tf.GradientTape(persistent=True) as tape:
    tape.watch(x)
    z = f(x) * 3
print(tape.gradient(z, x), tf.math.add(x, x, name="n").numpy(), (v + 1).shape)
for e in tf.data.Dataset.from_tensor_slices(np.arange(4)).map(lambda t: t + 1).batch(2):
    print(e)


class M(tf.Module):
    def __init__(self):
        super().__init__(name="m")
        self.w = tf.Variable(1.0)

    def __call__(self, q):
        return q * self.w


print(M()(x), M().trainable_variables, tf.TensorSpec([2], tf.float32).shape, tf.TensorShape([1, 2]).as_list(), tf.float32.name)
'''
MISTAKES = ["tf.Variable(1.0).asign(2.0)", "tf.nn.rleu([1.0])", "tf.add([1.0])", "tf.GradientTape().gradeint(1, 2)",
            "tf.io.encode_base64('a', padding=True)", "(tf.Variable(1.0) + 1).nunpy()"]


def checked(folder, text):
    (folder / "program.py").write_text(text)
    run = subprocess.run([sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir", "/dev/null", "program.py"],
                         cwd=folder, capture_output=True, text=True)
    return run.stdout


def test_mypy_accepts_an_ordinary_program(tmp_path):
    assert "Success" in checked(tmp_path, PROGRAM)


def test_mypy_finds_mistakes(tmp_path):
    out = checked(tmp_path, "import evenflow as tf\n" + "\n".join(MISTAKES) + "\n")
    missed = [line for k, line in enumerate(MISTAKES) if f"program.py:{k + 2}: error" not in out]
    assert not missed, out


def test_ops_have_signatures():
    assert str(inspect.signature(tf.add)) == "(x, y, name=None)"
    assert str(inspect.signature(tf.io.encode_base64)) == "(input, pad=False, name=None)"
    conv = inspect.signature(tf.raw_ops.Conv2D).parameters
    assert conv["padding"].default is inspect.Parameter.empty and conv["data_format"].default == "NHWC"
    assert all(p.kind is p.KEYWORD_ONLY for p in conv.values())
    assert inspect.signature(tf.raw_ops.Range).parameters["limit"].default is inspect.Parameter.empty


def test_every_op_has_one():
    for name in tf._core.op_names():
        assert "name" in inspect.signature(tf.raw_ops.__dict__.get(name) or getattr(tf.raw_ops, name)).parameters
    for f in namespace.names().values():
        if hasattr(f, "_op_name"):
            inspect.signature(f)


def test_help_shows_parameters(capsys):
    help(tf.io.encode_base64)
    shown = capsys.readouterr().out
    assert "web-safe base64" in shown and "pad" in shown


@pytest.mark.parametrize("attribute", ["_params", "_op_name", "_keywords_only", "__signature__"])
def test_descriptions_cannot_be_changed(attribute):
    with pytest.raises(AttributeError):
        setattr(tf.add, attribute, None)
