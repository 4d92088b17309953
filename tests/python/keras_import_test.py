"""`import keras` after `import evenflow`: it runs on Evenflow, or says in one sentence why it cannot."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

LAYER = "print(keras.backend.backend(), keras.layers.Dense(2)(evenflow.ones([1, 3])).shape, tensorflow is evenflow)"


def run(code, *, path=None, **environment):
    env = {k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"} | environment
    if path is not None:
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(path), env.get("PYTHONPATH")]))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)


def last_line(done):
    return (done.stderr.strip().splitlines() or [""])[-1]


def test_evenflow_alone_does_not_load_keras():
    done = run("import evenflow, sys; print([m for m in sys.modules if m.split('.')[0] in ('keras', 'tensorflow')])")
    assert done.stdout.strip() == "[]", done.stderr


def test_asking_whether_keras_is_there_installs_nothing():
    done = run("import evenflow, sys, importlib.util as u; u.find_spec('keras'); dir(evenflow); print('tensorflow' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize("first", ["import keras", "from keras import layers; import keras", "import keras.layers"])
def test_keras_after_evenflow(first):
    done = run(f"import evenflow; {first}; import tensorflow; {LAYER}")
    assert done.stdout.strip() == "tensorflow (1, 2) True", done.stderr


def test_the_modules_of_keras_show_their_own_loader():
    done = run("import evenflow, keras.src.backend.common as c; print(type(c.__loader__).__name__, c.__spec__.loader is c.__loader__)")
    assert done.stdout.split() == ["SourceFileLoader", "True"], done.stderr


def test_keras_in_a_program_that_is_run(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import keras\nimport tensorflow as tf\nprint(keras.backend.backend(), tf.__name__)\n")
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", str(program)], capture_output=True, text=True)
    assert done.stdout.split() == ["tensorflow", "evenflow"], done.stderr


def test_another_tensorflow_in_the_process_is_an_error(tmp_path):
    (tmp_path / "tensorflow").mkdir()
    (tmp_path / "tensorflow" / "__init__.py").write_text("__version__ = '2.21.0'\n")
    for keras in ("import keras", "evenflow.keras"):
        done = run(f"import tensorflow, evenflow; {keras}", path=tmp_path)
        assert last_line(done).startswith("ImportError: TensorFlow itself is already imported in this process"), done.stderr


def test_another_backend_is_left_alone(tmp_path):
    """Keras of another backend is not connected to Evenflow: it gets as far as importing the backend's own package."""
    done = run("import evenflow, sys\ntry:\n    import keras\nexcept ModuleNotFoundError as e:\n    print(e.name)\n"
               "print('tensorflow' in sys.modules)", KERAS_BACKEND="no_such_backend")
    assert "no_such_backend" in done.stderr and "Evenflow" not in last_line(done), done.stderr


@pytest.mark.parametrize("code", ["evenflow.keras", "evenflow._src.alias.install(); import keras"])
def test_another_backend_on_evenflow_is_an_error(code):
    done = run(f"import evenflow; {code}", KERAS_BACKEND="jax")
    assert last_line(done).startswith("ImportError: Keras is set to the backend 'jax'"), done.stderr
    assert "KERAS_BACKEND=tensorflow" in last_line(done)


def test_the_file_of_keras_names_the_backend(tmp_path):
    (tmp_path / "keras.json").write_text('{"backend": "jax"}')
    done = run("import evenflow; evenflow._src.alias.install(); import keras", KERAS_HOME=str(tmp_path))
    assert last_line(done).startswith("ImportError: Keras is set to the backend 'jax'"), done.stderr
    done = run("import evenflow; keras = evenflow.keras; print(keras.backend.backend())", KERAS_HOME=str(tmp_path))
    assert done.stdout.strip() == "tensorflow", done.stderr


def test_without_keras_the_error_says_what_to_install():
    """The extra of pyproject.toml, by the names of its packages: a name on PyPI may be another project's."""
    done = run("import sys; sys.modules['keras'] = None; import evenflow; evenflow.keras")
    extra = re.search(r"^keras = \[(.*)\]$", (pathlib.Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(), re.M)[1]
    wanted = " ".join(extra.replace('"', "").split(", "))
    assert last_line(done) == f"ModuleNotFoundError: tf.keras is the package keras, which is not installed: pip install {wanted}"
