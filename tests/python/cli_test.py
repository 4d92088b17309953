"""The command `evenflow`: programs run as under python, with `import tensorflow` giving Evenflow."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

import pytest

COMMAND = [sys.executable, "-m", "evenflow"]


@pytest.fixture
def program(tmp_path):
    """Writes a program and gives back a function that runs it."""
    def write_and_run(text, *arguments, command=(*COMMAND, "run"), name="program.py", **more):
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return subprocess.run([*command, str(path), *arguments], capture_output=True, text=True, cwd=tmp_path, **more)
    return write_and_run


def test_tensorflow_is_evenflow(program):
    done = program("""
        import tensorflow as tf, evenflow, sys
        print(tf is evenflow, float(tf.constant(1.0) + 2.0))
        import tensorflow.nn, tensorflow.compat.v1 as v1
        from tensorflow import math
        print(tensorflow.nn is evenflow.nn, v1 is evenflow.compat.v1, math is evenflow.math)
        print([m for m in sys.modules.values() if "/tensorflow/" in (getattr(m, "__file__", None) or "")])
    """)
    assert done.stderr == "" and done.returncode == 0
    assert done.stdout.splitlines() == ["True 3.0", "True True True", "[]"]


def test_specs_of_our_modules_stay(program):
    done = program("""
        import evenflow
        before = evenflow.nn.__spec__
        import tensorflow.nn
        print(evenflow.nn.__spec__ is before, evenflow.__spec__.name)
    """)
    assert done.stdout.split() == ["True", "evenflow"], done.stderr


def test_program_sees_python(program, tmp_path):
    (tmp_path / "beside.py").write_text("value = 5")
    done = program("""
        import sys, beside, __main__
        class Thing: pass
        print(sys.argv[1:], __name__, beside.value, __main__.Thing is Thing, Thing.__module__)
        import pickle; print(type(pickle.loads(pickle.dumps(Thing()))) is Thing)
        sys.exit(7)
    """, "a", "--b", "-h")
    assert done.returncode == 7, done.stderr
    assert done.stdout.splitlines() == ["['a', '--b', '-h'] __main__ 5 True __main__", "True"]


FAILING = """
def inner():
    raise RuntimeError("told so")

inner()
"""


def test_traceback_is_the_programs_own(program):
    ours = program(FAILING)
    python = program(FAILING, command=[sys.executable])
    assert ours.stderr == python.stderr and "told so" in ours.stderr
    assert ours.returncode == python.returncode == 1


def test_syntax_error(program):
    ours, python = program("x = = 1"), program("x = = 1", command=[sys.executable])
    assert ours.stderr == python.stderr and ours.returncode == python.returncode == 1


def test_own_excepthook(program):
    done = program("""
        import sys, traceback
        sys.excepthook = lambda t, e, tb: print(t.__name__, [f.name for f in traceback.extract_tb(tb)])
        1 / 0
    """)
    assert done.stdout == "ZeroDivisionError ['<module>']\n" and done.returncode == 1


def test_exit_with_text(program):
    done = program("raise SystemExit('enough')")
    assert (done.returncode, done.stderr) == (1, "enough\n")


def test_interrupt(tmp_path):
    path = tmp_path / "p.py"
    path.write_text("import atexit, time\natexit.register(print, 'bye', flush=True)\n"
                    "print('ready', flush=True)\ntime.sleep(30)")
    child = subprocess.Popen([*COMMAND, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a job behind "&" ignores it
    assert child.stdout.readline() == "ready\n"
    time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert out == "bye\n" and "KeyboardInterrupt" in err and "cli.py" not in err
    assert child.returncode == -signal.SIGINT


def test_standard_input_and_module(tmp_path):
    done = subprocess.run([*COMMAND, "run", "-"], input="import tensorflow as tf; print(tf.__version__)",
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("2."), done.stderr
    (tmp_path / "thing.py").write_text("import sys, tensorflow; print(__name__, sys.argv[1:])")
    done = subprocess.run([*COMMAND, "run", "-m", "thing", "x"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "__main__ ['x']\n", done.stderr


def call(*arguments, **environment):
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, env=os.environ | environment)


def test_usage():
    assert call("--help").stdout.startswith("usage: evenflow COMMAND") and call().stdout == call("--help").stdout
    assert call().returncode == 0 and "Evenflow 0." in call("--version").stdout


@pytest.mark.parametrize("arguments, message", [
    (("frobnicate",), "evenflow: 'frobnicate' is neither a command nor a program ending in .py; `evenflow run` takes any file, "
     "`evenflow --help` lists the commands"),
    (("inspct",), "evenflow: 'inspct' is neither a command nor a program ending in .py; did you mean `evenflow inspect`?"),
    (("run",), "evenflow run: no program was named; write evenflow run PROGRAM.py (see evenflow run --help)"),
    (("run", "-m"), "evenflow run: no program was named; write evenflow run PROGRAM.py (see evenflow run --help)"),
    (("help", "foo"), "evenflow help: there is no command 'foo'; there are run, doctor, inspect, bench, completion"),
    (("run", "--trace", "/nowhere/t.json", "x.py"),
     "evenflow run: cannot write the trace to '/nowhere/t.json': No such file or directory; give --trace another file"),
    (("run", "-x"), "evenflow run: unknown option '-x'; options of the program follow its name (see evenflow run --help)"),
    (("run", "-m", "no.such"), "evenflow run: there is no module 'no.such'; run it from the folder it is in, or give a file: "
     "evenflow run PROGRAM.py"),
    (("bench", "--repeet", "3", "x.py"), "evenflow bench: unrecognized arguments: --repeet; did you mean --repeat? (see evenflow bench --help)"),
    (("inspect",), "evenflow inspect: the following arguments are required: PROGRAM.py[:NAME] (see evenflow inspect --help)"),
    (("completion", "tcsh"), "evenflow completion: argument SHELL: invalid choice: 'tcsh' (choose from 'bash', 'zsh', 'fish') "
     "(see evenflow completion --help)"),
])
def test_errors_take_one_line(arguments, message):
    done = call(*arguments)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr == message + "\n"


def test_missing_file():
    missing = call("run", "missing.py")
    assert missing.returncode == 2 and "No such file" in missing.stderr and len(missing.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["run", "doctor", "inspect", "bench", "completion"])
def test_help_has_examples(command):
    done = call(command, "--help")
    assert done.returncode == 0 and f"usage: evenflow {command}" in done.stdout and f"\nexamples:\n" in done.stdout
    assert call("help", command).stdout == done.stdout


def test_console_command():
    """What installing writes as `evenflow` calls the function that pyproject.toml names."""
    project = (pathlib.Path(__file__).parents[2] / "pyproject.toml").read_text()
    module, function = re.search(r'^evenflow = "([\w.]+):(\w+)"$', project, re.M).groups()
    code = f"import sys; from {module} import {function}; sys.exit({function}())"
    done = subprocess.run([sys.executable, "-c", code, "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and "Evenflow" in done.stdout, done.stderr


def test_names_we_do_not_have(program):
    done = program("""
        import tensorflow as tf
        try:
            tf.reduce_summ
        except AttributeError as e:
            print(e)
        try:
            import tensorflow.nnn
        except ModuleNotFoundError as e:
            print(e, e.name)
        try:
            import tensorflow.foo
        except ModuleNotFoundError as e:
            print(e)
        tf.nn.relou
    """)
    first, second, third = done.stdout.splitlines()
    assert done.stderr.splitlines()[-1].endswith("the nearest is tf.nn.relu")  # once, without Python's own suggestion
    assert "reduce_summ" in first and "reduce_sum" in first.replace("reduce_summ", "")
    assert second == "Evenflow has no module tensorflow.nnn; the nearest is tensorflow.nn tensorflow.nnn"
    assert third == "Evenflow has no module tensorflow.foo"  # tf.floor is near, but no module


def test_inside_names(program):
    done = program("""
        from tensorflow.python.ops import math_ops, array_ops
        from tensorflow.python.ops.math_ops import is_nan
        from tensorflow.python.framework import ops, dtypes, tensor_util, errors_impl
        from tensorflow.python.eager import context
        from tensorflow.python.trackable.data_structures import ListWrapper, _DictWrapper
        from tensorflow.compiler.tf2xla.python.xla import dynamic_update_slice
        from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops
        from tensorflow.experimental import dtensor
        import tensorflow as tf
        print(math_ops.add is tf.math.add, dtypes.float32 is tf.float32, context.executing_eagerly())
        context.async_wait()
        context.context().clear_kernel_cache()
        print(dynamic_update_slice([1, 2, 3, 4], [8, 9], [3]).numpy())
        try:
            math_ops.nothing_such
        except AttributeError as e:
            print("'tensorflow.python.ops.math_ops' has no attribute 'nothing_such'" in str(e))
    """)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["True True True", "[1 2 8 9]", "True"]


def test_real_tensorflow_is_not_looked_for(program, tmp_path):
    (tmp_path / "tensorflow.py").write_text("raise ImportError('the wrong one')")
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    done = program("import tensorflow as tf; print(tf.__name__)", env={**os.environ, "PYTHONPATH": path})
    assert done.stdout == "evenflow\n", done.stderr


def test_alias_installed_by_a_program():
    """What a conftest.py or a notebook writes, where `evenflow run` cannot start the program."""
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import evenflow.alias
        evenflow.alias.install()
        evenflow.alias.install()  # again, which changes nothing
        import tensorflow as tf
        from tensorflow.nn import relu
        print(tf is evenflow, relu(-1.0).numpy(), "alias" in dir(tf))
    """)], capture_output=True, text=True)
    assert done.stdout == "True 0.0 False\n", done.stderr


def test_alias_refuses_when_tensorflow_is_there():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent("""
        import sys, types
        sys.modules["tensorflow"] = types.ModuleType("tensorflow")
        from evenflow._src import alias
        try:
            alias.install()
        except ImportError as e:
            print(e)
    """)], capture_output=True, text=True)
    assert "already imported" in done.stdout, done.stderr


def test_file_is_absolute(program, tmp_path):
    """As under `python program.py`, which leaves sys.argv alone."""
    (tmp_path / "relative.py").write_text("import os, sys; os.chdir('/')\nprint(__file__, sys.argv, type(__loader__).__name__)\n1 / 0\n")
    done = subprocess.run([*COMMAND, "relative.py"], capture_output=True, text=True, cwd=tmp_path)
    path = tmp_path / "relative.py"
    assert done.stdout == f"{path} ['relative.py'] SourceFileLoader\n"
    assert f'File "{path}", line 3, in <module>\n    1 / 0' in done.stderr


def test_public_classes_are_found_where_they_say(program):
    """Pickles name a class by its module, which is TensorFlow's."""
    done = program("""
        import tensorflow as tf, importlib, pickle
        from evenflow._src import namespace
        classes = {v for v in namespace.names().values() if isinstance(v, type) and v.__module__.startswith("tensorflow.")}
        print(len(classes) > 50)
        print([c for c in classes if getattr(importlib.import_module(c.__module__), c.__qualname__) is not c])
        print(pickle.loads(pickle.dumps(tf.RaggedTensor)) is tf.RaggedTensor)
    """)
    assert done.stdout.splitlines() == ["True", "[]", "True"], done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_processes_of_the_program(program, method):
    """A process that multiprocessing starts anew imports the program again, and finds Evenflow there too."""
    done = program(f"""
import multiprocessing
import tensorflow as tf
def double(k):
    return float(tf.constant(2.0) * k)
if __name__ == "__main__":
    context = multiprocessing.get_context({method!r})
    with context.Pool(1) as pool:
        print(pool.map_async(double, [1.0, 2.0]).get(timeout=60))
""", timeout=120)
    assert done.stdout == "[2.0, 4.0]\n", done.stderr[-2000:]
