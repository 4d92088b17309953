"""`evenflow bench`: functions and marked regions, variants in turn, and the figures. No test looks at how long anything took."""
import json
import os
import stat
import subprocess
import sys
import textwrap
import types

import pytest
from evenflow._src.commands import bench, bench_child, bench_numbers

COMMAND = [sys.executable, "-m", "evenflow", "bench"]
PROGRAM = """
    import sys
    import tensorflow as tf

    calls = []

    @tf.function
    def f(x):
        return x * 2.0

    f_args = (tf.ones([3]),)

    @tf.function(input_signature=[tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)])
    def g(x, n):
        return x @ tf.transpose(x) * tf.cast(n, tf.float32)

    def plain():
        calls.append(1)

    def needs(x):
        pass

    def fails():
        raise KeyError("broken on purpose")

    model = tf.Module()
    model.step = plain
    not_a_function = 3
    if "regions" in sys.argv:
        for k in range(10 ** 9):
            with tf.experimental.benchmark("twice"):
                y = tf.constant(2.0) * 2.0
            with tf.experimental.benchmark("nothing"):
                pass
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))

    def call(*options, name="", arguments=(), **more):
        environment = {k: v for k, v in os.environ.items() if k != "EF_PEERS"}
        return subprocess.run([*COMMAND, *options, f"program.py{name}", *arguments], capture_output=True, text=True, cwd=tmp_path,
                              env=environment, **more)
    return call


@pytest.fixture
def peers(tmp_path):
    """A virtual environment in which `tensorflow` is a module that says who it is."""
    folder = tmp_path / "peers"
    (folder / "bin").mkdir(parents=True)
    (folder / "tensorflow.py").write_text("import sys, evenflow\nprint('the other package')\nsys.modules['tensorflow'] = evenflow\n")
    python = folder / "bin" / "python"
    python.write_text(f"#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} \"$@\"\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    return folder


def test_function_with_its_arguments(run):
    done = run("--repeat", "60", "--json", name=":f,g,model.step")
    assert done.returncode == 0 and done.stderr == "", done.stderr
    data = json.loads(done.stdout)
    assert [(r["package"], r["name"], r["calls"]) for r in data["results"]] == [
        ("evenflow", n, 60) for n in ("f", "g", "model.step")]
    for r in data["results"]:
        assert 0 < r["least_ns"] <= r["low_ns"] <= r["median_ns"] <= r["high_ns"]
    assert [(c["fast"], c["slow"]) for c in data["comparisons"]] == [("f", "g"), ("f", "model.step")]


def test_report_for_people(run):
    done = run("--repeat", "30", name=":f")
    first, over_time, distribution = done.stdout.splitlines()
    assert first.startswith("f on evenflow: ") and "drift" in first and "30 calls" in first and "\x1b" not in done.stdout
    assert over_time.startswith("  over time") and distribution.startswith("  distribution")


def test_marked_regions(run):
    done = run("--repeat", "25", "--json", arguments=("regions",))
    assert [(r["name"], r["calls"]) for r in json.loads(done.stdout)["results"]] == [("twice", 25), ("nothing", 25)], done.stderr


@pytest.mark.parametrize("name, arguments", [(":f", ()), ("", ("regions",))])
def test_compare_runs_both(run, peers, name, arguments):
    done = run("--compare", "tensorflow", "--peers", str(peers), "--repeat", "20", "--json", name=name, arguments=arguments)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert [r["package"] for r in data["results"]] == ["evenflow"] * (len(data["results"]) // 2) + ["tensorflow"] * (len(data["results"]) // 2)
    assert "the other package" in done.stderr
    ours = [c for c in data["comparisons"] if c["fast"] == "evenflow"]
    assert ours and all(c["low"] <= c["ratio"] <= c["high"] for c in ours)


def test_a_function_of_a_program_that_marks_regions_too(run, peers, tmp_path):
    with open(peers / "tensorflow.py", "a") as file:  # a package that has no such mark, as TensorFlow
        file.write("del evenflow.experimental.benchmark\n")
    with open(tmp_path / "program.py", "a") as file:
        file.write("with tf.experimental.benchmark('apart'):\n    f(*f_args)\n")
    done = run("--compare", "tensorflow", "--peers", str(peers), "--repeat", "20", "--json", name=":f")
    assert done.returncode == 0, done.stderr
    assert [r["package"] for r in json.loads(done.stdout)["results"]] == ["evenflow", "tensorflow"]


def test_variants_take_turns():
    class Fake:
        def __init__(self, package):
            self.package = package

        def answer(self):
            return {"first_ns": 5}

        def measure(self, which, n):
            order.append((self.package, which, n))
            return [100 + which] * n

    order, options = [], types.SimpleNamespace(repeat=40, seconds=1)
    progress = types.SimpleNamespace(show=lambda text: None)
    times, first = bench._measure_functions([Fake("a"), Fake("b")], ["f", "g"], options, progress)
    assert {k: len(v) for k, v in times.items()} == {(p, n): 40 for p in "ab" for n in "fg"} and first == {"a": 5, "b": 5}
    turns = [(p, k) for p, k, _ in order[4:]]
    assert turns[:8] == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 1), ("b", 0), ("a", 1), ("a", 0)]


def test_a_package_without_the_mark_gets_it():
    other = types.SimpleNamespace(experimental=types.SimpleNamespace())
    times = []
    bench_child.mark(other, lambda name: types.SimpleNamespace(begin=lambda: times.append(name), end=lambda: times.append("end")))
    with other.experimental.benchmark("part"):
        pass
    with pytest.raises(ZeroDivisionError), other.experimental.benchmark("part"):
        1 / 0
    assert times == ["part", "end", "part"]


def test_figures():
    values = [float(v) for v in range(1, 102)]
    assert bench_numbers.median(values) == 51 and bench_numbers.median([1, 2, 3, 4]) == 2.5
    low, high = bench_numbers.interval(values)
    assert low < 51 < high and 38 <= low and high <= 64
    assert bench_numbers.drift([1.0] * 30 + [2.0] * 30) == 1.0 and bench_numbers.drift([1.0] * 5) == 0.0
    ratio, low, high = bench_numbers.ratio_interval([10.0, 11.0, 12.0] * 9, [20.0, 22.0, 24.0] * 9)
    assert ratio == 0.5 and low <= 0.5 <= high
    assert bench_numbers.over_time([1.0] * 50 + [2.0] * 50, 4) == "▄▄██"
    bars, low, high = bench_numbers.distribution([1.0] * 90 + [2.0] * 8 + [50.0] * 2, 2)
    assert bars == "█▁" and (low, high) == (1.0, 2.0)


@pytest.mark.parametrize("options, name, status, message", [
    ((), ":needs", 2, "needs takes arguments; define needs_args = (...) in the program, give the function an input_signature, or measure a "
     "region marked by `with tf.experimental.benchmark(\"name\"):`"),
    ((), "", 2, "the program marks no region: write `with tf.experimental.benchmark(\"name\"):` around what is to be measured, or name a "
     "function, as in program.py:step"),
    ((), ":gone", 2, "the program has no name 'gone'; name one of its functions: f, fails, g, needs, plain"),
    ((), ":fail", 2, "the program has no name 'fail'; did you mean 'fails'?"),
    ((), ":not_a_function", 2, "'not_a_function' is not a function; name one of its functions: f, fails, g, needs, plain"),
    ((), ":fails", 1, "on evenflow the program failed: KeyError: 'broken on purpose'; mend it first"),
    (("--compare", "tensorflow"), ":f", 2, "--compare tensorflow needs an environment that has it: give --peers FOLDER or set EF_PEERS"),
    (("--compare", "tensorflow", "--peers", "nowhere"), ":f", 2,
     "'nowhere' has no bin/python; --peers takes the folder of a virtual environment"),
    (("--repeat", "0"), ":f", 2, "--repeat and --seconds must be positive"),
    (("--seconds", "nan"), ":f", 2, "--repeat and --seconds must be positive"),
    (("--size", "-3"), ":f", 2, "--size is -3; it must not be negative"),
])
def test_errors_take_one_line(run, options, name, status, message):
    done = run(*options, name=name)
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.splitlines()[-1] == f"evenflow bench: {message}"
    assert "bench_child.py" not in done.stderr  # a traceback shows the program's frames only
