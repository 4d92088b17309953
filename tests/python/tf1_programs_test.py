"""Programs of both generations: names that resolve across them, and programs of TensorFlow 1 run as printed."""
import subprocess
import sys
import textwrap

import pytest

import evenflow as tf
from evenflow._src import tf1_programs


# ---- names ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["set_random_seed", "random_normal", "log", "train.GradientDescentOptimizer", "get_variable",
                                  "variable_scope", "global_variables_initializer", "to_float", "assign", "GraphKeys",
                                  "reset_default_graph", "logging.set_verbosity", "nn.xw_plus_b"])
def test_names_of_the_first_generation_at_the_top(name):
    here, there = tf, tf.compat.v1
    for part in name.split("."):
        here, there = getattr(here, part), getattr(there, part)
    assert here is there
    assert name.split(".")[0] not in dir(tf) or "." in name


@pytest.mark.parametrize("name", ["nn.dropout", "reduce_sum", "Variable", "name_scope", "where", "nn.softmax", "constant"])
def test_a_name_of_both_is_that_of_its_own_generation(name):
    here, there = tf, tf.compat.v1
    for part in name.split("."):
        here, there = getattr(here, part), getattr(there, part)
    assert here is not there


def test_names_that_neither_has():
    for module, name in ((tf, "contrib"), (tf.nn, "no_such_name"), (tf.compat.v1, "contrib"), (tf.compat.v1.nn, "no_such_name")):
        assert not hasattr(module, name)
        with pytest.raises(AttributeError, match="Evenflow has no such name"):
            getattr(module, name)


def test_modules_of_keras_stand_at_the_top():
    program = """
        import sys, evenflow as tf
        assert "keras" not in sys.modules
        assert tf.optimizers.SGD is tf.keras.optimizers.SGD and tf.losses.MeanSquaredError is tf.keras.losses.MeanSquaredError
        assert tf.metrics.Mean is tf.keras.metrics.Mean and tf.initializers.Zeros is tf.keras.initializers.Zeros
        assert tf.compat.v1.keras.layers.Dense is tf.keras.layers.Dense
        assert tf.compat.v1.losses.mean_squared_error is not tf.losses.MeanSquaredError
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


# ---- recognising a program -------------------------------------------------------------------------------------------------


_V1 = ["import tensorflow as tf\nx = tf.placeholder(tf.float32)",
       "import tensorflow\nwith tensorflow.Session() as s: pass",
       "import numpy as np, tensorflow as tf\nprint('version', tf.__version__)\ntf.get_variable('w', [2])",
       "from tensorflow import placeholder, Session",
       "import tensorflow as tf\ndef f():\n    return tf.global_variables_initializer()"]
_NOT_V1 = ["import tensorflow as tf\ntf.log(1.0)\ntf.random_normal([2])\ntf.train.AdamOptimizer()",  # eagerly too
           "import tensorflow.compat.v1 as tf\ntf.Session()",
           "import tensorflow as tf\ntf.compat.v1.Session()",
           "import tensorflow as tf\nif tf.__version__ < '2': tf.Session()",
           "import tensorflow as tf\ns = tf.Session() if hasattr(tf, 'Session') else None",
           "import tensorflow as tf\ntry:\n    tf.Session()\nexcept AttributeError:\n    pass",
           "import tensorflow as tf\n@tf.function\ndef f(x): return x\ntf.Session()",
           "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\ntf.Session()",
           "import other as tf\ntf.Session()", "not python at all", ""]


@pytest.mark.parametrize("source, first", [(s, True) for s in _V1] + [(s, False) for s in _NOT_V1])
def test_recognising_a_program(tmp_path, source, first):
    assert bool(tf1_programs.first_generation(tmp_path / "p.py", source)) is first


def _run(folder, **files):
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return subprocess.run([sys.executable, "-m", "evenflow", "run", str(folder / "main.py")], capture_output=True, text=True)


def test_a_program_of_the_first_generation(tmp_path):
    done = _run(tmp_path, main="""
        import tensorflow as tf
        w = tf.Variable(3.0, name="w")
        two = tf.constant(2.0)
        x = tf.placeholder(tf.float32, [None, 2])
        kept = tf.nn.dropout(x, 1.0)                       # keep_prob, not rate
        y = tf.reduce_sum(kept * w, reduction_indices=[1])
        assert not tf.executing_eagerly_outside_functions() and x.get_shape()[1].value == 2
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(y))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step, {x: [[1.0, 2.0]]})
            print(session.run([y, w, two], {x: [[1.0, 1.0]]}), [v.name for v in tf.trainable_variables()])
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[array([5.4], dtype=float32), 2.7, 2.0] ['w:0']\n".replace("2.7, 2.0", _shown(2.7, 2.0))


def _shown(*numbers):
    import numpy as np

    return repr([np.float32(n) for n in numbers])[1:-1]


def test_a_program_in_several_files(tmp_path):
    done = _run(tmp_path, main="""
        import tensorflow as tf
        import model, tools.read
        from tools import also
        assert tf is model.tf is tools.read.tf is also.tf and tf is not also.now
        print(model.run(), also.session_exists)
        """, model="""
        import tensorflow as tf
        def run():
            v = tf.get_variable("v", initializer=1.5)
            with tf.Session() as s:
                s.run(tf.global_variables_initializer())
                return float(s.run(v * 2))
        """, tools__read="import tensorflow as tf", tools____init__="", tools__also="""
        import tensorflow as tf
        import tensorflow.compat.v2 as now
        session_exists = tf.Session is not None
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3.0 True\n"


def test_the_line_of_an_error(tmp_path):
    done = _run(tmp_path, main="""
        import os, tensorflow as tf
        x = tf.placeholder(tf.float32, [2, 3])
        tf.matmul(x, x)
        """)
    assert done.returncode == 1 and "main.py\", line 4, in <module>\n    tf.matmul(x, x)" in done.stderr


def test_a_program_of_the_second_generation_is_left_alone(tmp_path):
    done = _run(tmp_path, main="""
        import tensorflow as tf
        assert tf.executing_eagerly() and tf.__name__ == "evenflow"
        v = tf.Variable(2.0)
        tf.assign(v, 3.0)
        print(float(tf.log(tf.exp(v))))
        """)
    assert (done.returncode, done.stdout) == (0, "3.0\n"), done.stderr


def test_flags_and_app(tmp_path):
    done = _run(tmp_path, main="""
        import tensorflow as tf
        flags = tf.app.flags
        flags.DEFINE_integer("steps", 3, "how many")
        tf.flags.DEFINE_string("word", default_value="a", docstring="which")
        FLAGS = tf.flags.FLAGS
        def main(_):
            with tf.Session() as session:
                print(session.run(tf.constant(FLAGS.steps) * 2), FLAGS.word)
        if __name__ == "__main__":
            tf.app.run()
        """)
    assert (done.returncode, done.stdout) == (0, "6 a\n"), done.stderr
