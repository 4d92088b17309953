"""The doctor: each cause is found at its line, and nothing is found where nothing is wrong."""
import importlib.util
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import doctor_forms
import doctor_programs
import doctor_repaired
import doctor_zoo_test
import numpy as np
import pytest

import evenflow as tf
from evenflow import _core
from evenflow._src.doctor import causes, data_entries, holders, observed, page, patch, prices, recorder, report

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"


class Clock(threading.local):
    """A clock that only `pause` moves, for the thread that calls it: what a program waits for does not depend on how busy the
    machine is. Stages of pipelines are timed by the engine's own clock, so a pause takes its time, too."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1000
        return self.now

    def pause(self, seconds):
        self.now += int(1e9 * seconds)
        time.sleep(seconds)


def examine(text, path, everything=True):
    """Runs a program under the doctor; it stands in a file, since findings name its lines."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    _core.clear_programs()  # plans of programs that were run before would be found again
    clock = Clock()
    names = {"tf": tf, "np": np, "pause": clock.pause, "__name__": "__main__"}
    with pytest.MonkeyPatch.context() as patched, tf.experimental.doctor(show=False, everything=everything) as found:
        if "pause(" in text:
            patched.setattr(data_entries, "clock", clock)
        exec(compile(text, str(path), "exec"), names)
    return [f for f in found.findings if f.place.file == str(path)], found


@pytest.mark.parametrize("code", sorted(doctor_programs.PAIRS))
def test_cause(code, tmp_path):
    wrong, right = doctor_programs.PAIRS[code]
    found, _ = examine(wrong, tmp_path / "wrong.py")
    line = next(k for k, text in enumerate(wrong.split("\n"), 1) if "# here" in text)
    assert (code, line) in [(f.code, f.place.line) for f in found], [report.line(f) for f in found]
    found, _ = examine(right, tmp_path / "right.py")
    assert code not in [f.code for f in found], [report.line(f) for f in found]


@pytest.mark.parametrize("name", sorted(doctor_forms.FORMS))
def test_another_form_of_a_cause(name, tmp_path):
    code, wrong, right = doctor_forms.FORMS[name]
    found, _ = examine(wrong, tmp_path / "wrong.py")
    line = next(k for k, text in enumerate(wrong.split("\n"), 1) if "# here" in text)
    assert (code, line) in [(f.code, f.place.line) for f in found], [report.line(f) for f in found]
    found, _ = examine(right, tmp_path / "right.py")
    assert code not in [f.code for f in found], [report.line(f) for f in found]


@pytest.mark.parametrize("name", sorted(doctor_programs.ORDINARY))
def test_no_false_alarm(name, tmp_path):
    found, _ = examine(doctor_programs.ORDINARY[name], tmp_path / "ordinary.py", everything=False)
    assert found == [], [report.line(f) for f in found]


@pytest.mark.parametrize("name", sorted(doctor_repaired.REPAIRED))
def test_nothing_is_found_in_a_repaired_program(name, tmp_path):
    """No finding above 1 % of the run time, in the repaired forms of tests/zoo."""
    found, diagnosis = examine(doctor_repaired.REPAIRED[name], tmp_path / "repaired.py", everything=False)
    assert found == [], [report.line(f) for f in found]


def test_every_program_of_the_zoo_is_repaired():
    assert set(doctor_repaired.REPAIRED) == set(doctor_zoo_test.CAUSES)


def test_every_cause_has_its_programs():
    assert set(doctor_programs.PAIRS) == set(causes.table())
    assert len(doctor_programs.ORDINARY) >= 20


def test_every_cause_is_told():
    for code, cause in causes.table().items():
        text = report.explain(code)
        assert code in text and cause.title in text and ("Instead of" in text) == bool(cause.wrong and cause.right)
        name, said, what = cause.title.partition(": ")
        assert said and name.islower() and len(what) > 10
    assert report.explain("E999") is None


def test_prices_follow_from_the_results():
    """What TensorFlow costs is data: each price is what its formula says of the measured results."""
    results = {r["name"]: r for r in json.loads((ZOO / "results-tensorflow-2.21.json").read_text())["results"]}
    for name, price in prices.PRICES.items():
        fields = results[price.program]
        assert price.us == pytest.approx(eval(price.formula, {}, fields), rel=0.01, abs=0.1 if price.us > 1 else 1e-4), name
        each = int(price.formula.rpartition(") / ")[2] or 1) if ") / " in price.formula else 1  # a call is that many of them
        assert price.kb == pytest.approx(fields["rss_growth_kb_per_1000_calls"] / 1000 / each, abs=0.06), name


def test_a_comment_silences(tmp_path):
    wrong = doctor_programs.PAIRS["E104"][0]
    found, _ = examine(wrong.replace("# here", "# evenflow: ignore E104"), tmp_path / "a.py")
    assert "E104" not in [f.code for f in found]
    found, _ = examine(wrong.replace("# here", "# evenflow: ignore E101"), tmp_path / "b.py")
    assert "E104" in [f.code for f in found]


def apply(text, path):
    if not shutil.which("patch"):
        pytest.skip("patch is not installed")
    subprocess.run(["patch", "-s", "-p0", str(path)], input=text, text=True, check=True, cwd=path.parent)


@pytest.mark.parametrize("code", sorted(patch.PATCHES))
def test_a_patch_cures(code, tmp_path):
    wrong = "import evenflow as tf\n" + doctor_programs.PATCHED.get(code, doctor_programs.PAIRS[code][0])
    path = tmp_path / "program.py"
    found, _ = examine(wrong, path)
    text = patch.diff([f for f in found if f.code == code])
    assert text.startswith(f"--- {path}\n+++ {path}\n")
    apply(text, path)
    again, _ = examine(path.read_text(), tmp_path / "cured.py")
    assert code not in [f.code for f in again], path.read_text()


def test_one_patch_for_several_findings(tmp_path):
    wrong = "import evenflow as tf\n" + doctor_programs.PAIRS["E104"][0] + doctor_programs.PAIRS["E101"][0] + doctor_programs.PAIRS["E303"][0]
    path = tmp_path / "program.py"
    found, _ = examine(wrong, path)
    text = patch.diff(found)
    apply(text, path)
    again, _ = examine(path.read_text(), tmp_path / "cured.py")
    assert {"E101", "E104", "E303"} <= {f.code for f in found} and not {"E101", "E104", "E303"} & {f.code for f in again}


def test_no_patch_where_the_number_is_used(tmp_path):
    text = "import evenflow as tf\n" + doctor_programs.PAIRS["E206"][0].replace("x + 1.0", "x + float(i)")
    found, _ = examine(text, tmp_path / "program.py")
    assert "E206" in [f.code for f in found] and patch.diff(found) == ""


def command(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "evenflow", *arguments], text=True, capture_output=True,
                          env={**os.environ, "NO_COLOR": "1", **environment})


def test_command(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nimport sys\nprint(sys.argv[1:])\n" + doctor_programs.PAIRS["E104"][0])
    done = command("doctor", str(program), "--own", "option")
    assert done.returncode == 0 and done.stdout.startswith("['--own', 'option']\n")
    assert "program.py:9: E104 function-in-loop" in done.stderr and "Fix: wrap it" in done.stderr
    done = command("doctor", "--json", "--fail-on", "E1xx", str(program))
    assert done.returncode == 3
    (finding,) = json.loads(done.stdout)["findings"]  # what the program prints is not among it
    assert "[]\n" in done.stderr
    assert finding["code"] == "E104" and finding["line"] == 9 and finding["count"] == 30
    assert finding["measured_by"] == "04_function_made_in_loop"
    assert command("doctor", "--fail-on", "E2xx", str(program)).returncode == 0
    done = command("doctor", "--diff", str(program))
    assert "+body_function = tf.function(body)" in done.stdout
    done = command("doctor", "explain", "E104")
    assert done.returncode == 0 and "function-in-loop" in done.stdout
    assert command("doctor", "explain", "E999").returncode == 2
    assert command("doctor").returncode == 2


@pytest.mark.parametrize("arguments", [["nofile.py"], ["-m", "no.such.module"], ["."]])
def test_nothing_to_run(arguments, tmp_path):
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--json", *arguments], text=True, capture_output=True, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("evenflow doctor: ") and arguments[-1] in done.stderr


def test_environment(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import evenflow as tf\n" + doctor_programs.PAIRS["E104"][0])
    done = subprocess.run([sys.executable, str(program)], text=True, capture_output=True,
                          env={**os.environ, "EVENFLOW_DOCTOR": "1"})
    assert done.returncode == 0 and "E104" in done.stderr


def test_context_manager(capsys):
    with tf.experimental.doctor():
        for _ in range(20):
            tf.function(lambda v: v)(1.0)
    assert "E104" in capsys.readouterr().err


def test_the_page_loads_nothing(tmp_path):
    program, page = tmp_path / "program.py", tmp_path / "report.html"
    program.write_text("import tensorflow as tf\n" + doctor_programs.PAIRS["E104"][0])
    done = command("doctor", "--html", str(page), str(program))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "tf.function(body)(x)" in text and len(text) < 1 << 20
    for loaded in ("src=", "@import", "url(", "fetch(", "XMLHttpRequest", 'href="http'):
        assert loaded not in text
    assert "cannot write" in command("doctor", "--html", "/nowhere/x.html", str(program)).stderr


def test_results_kept_among_very_many_that_are_not(tmp_path):
    """What a program holds on to is seen however many other results come and go; the last few of many are not all of them."""
    text = """
import collections
x, kept, recent = tf.ones([4]), [], collections.deque(maxlen=1500)
for turn in range(150):
    for _ in range(3000):
        y = x + 1.0
    for _ in range(30):
        kept.append(x * 2.0)
    for _ in range(100):
        recent.append(x * 3.0)
"""
    found, diagnosis = examine(text, tmp_path / "program.py")
    assert [f.place.line for f in found if f.code == "E303"] == [8], [report.line(f) for f in found]
    [held] = [f.count for f in found if f.code == "E303"]
    assert held == pytest.approx(4500, rel=0.5)


def test_a_saver_on_another_line(tmp_path):
    """It is told to make it once, and nothing is said of the counter that it holds."""
    found, _ = examine(f"""import evenflow as tf
v = tf.Variable(tf.ones([10]))
for i in range(60):
    saver = tf.train.Checkpoint(v=v)
    saver.save({str(tmp_path / "c")!r})
""", tmp_path / "program.py")
    assert [(f.code, f.place.line) for f in found] == [("E501", 5)]
    assert "a saver was made 60 times" in found[0].what and "above the loop" in found[0].fix


def test_an_iterator_that_is_not_read_to_its_end(tmp_path):
    text = "ds = tf.data.Dataset.range(400).map(lambda v: tf.numpy_function(slow, [v], tf.int64))\n"
    text = "def slow(v):\n    pause(0.002)\n    return v\n" + text + (
        "for k, v in enumerate(ds):\n    pause(0.002)\n    if k == 40:\n        break\n"
        "kept = iter(ds)\nfor _ in range(40):\n    next(kept)\n    pause(0.002)\n")
    found, _ = examine(text, tmp_path / "program.py")
    assert [5, 11] == sorted(f.place.line for f in found if f.code == "E401"), [report.line(f) for f in found]
    assert all("map() at program.py:4" in f.what for f in found if f.code == "E401"), [report.line(f) for f in found]


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_a_fit_that_waits_for_its_data(tmp_path):
    """Keras reads the dataset inside a function: the wait is told by the pipeline's last stage, at the line of fit."""
    text = """import evenflow as tf
def slow(v):
    pause(0.003)
    return v
ds = tf.data.Dataset.from_tensor_slices(np.zeros([300, 4], np.float32)).map(lambda v: tf.numpy_function(slow, [v], tf.float32))
ds = ds.map(lambda v: (tf.ensure_shape(v, [4]), tf.reduce_sum(tf.ensure_shape(v, [4]), keepdims=True))).batch(10)
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(ds, verbose=0)
"""
    path = tmp_path / "program.py"
    found, _ = examine(text.replace("pause", "__import__('time').sleep"), path)
    [starved] = [f for f in found if f.code == "E401"]
    assert starved.place.line == 9 and starved.count == 30 and "map() at program.py:5" in starved.what, report.line(starved)
    assert "+model.fit(ds.prefetch(tf.data.AUTOTUNE), verbose=0)" in patch.diff([starved])


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_a_model_called_with_doubles(tmp_path):
    """Keras casts them itself, after a copy."""
    text = """
x = np.random.rand(500, 200)
model = tf.keras.Sequential([tf.keras.layers.Input((200,)), tf.keras.layers.Dense(2)])
for _ in range(25):
    model(x)
"""
    found, _ = examine(text, tmp_path / "program.py")
    assert [(f.place.line, f.count) for f in found if f.code == "E204"] == [(5, 25)], [report.line(f) for f in found]
    found, _ = examine(text.replace("np.random.rand(500, 200)", "np.random.rand(500, 200).astype(np.float32)"), tmp_path / "right.py")
    assert "E204" not in [f.code for f in found]


def test_the_tables_are_bounded(tmp_path):
    """More places than the table has: sums over all places stay exact, and memory does not grow."""
    lines = [f"def f{k}(x):\n" + "".join("    x = tf.Variable(1.0)\n" for _ in range(100)) for k in range(60)]
    text = "".join(lines) + "".join(f"f{k}(1.0)\n" for k in range(60))
    names = {"tf": tf}
    code = compile(text, str(tmp_path / "many.py"), "exec")
    with tf.experimental.doctor(show=False) as found:
        exec(code, names)
    assert found.observed.total("variable") >= 6000
    assert len(found.observed._tallies) <= 4096 + len(_core.event_kinds()[0])
    before = _memory()
    for _ in range(5):
        exec(code, names)
    assert _memory() - before < 8 << 20


def test_calls_from_very_many_lines():
    """bench/doctor_memory.py, shortened: every call is counted, in a table of fixed size."""
    spec = importlib.util.spec_from_file_location("doctor_memory", ZOO.parent.parent / "bench" / "doctor_memory.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    found = bench.measure(places=10_000, calls=200_000)
    assert found["places"] == 10_000 and found["counted"] == pytest.approx(200_000, rel=0.01)
    assert found["sums"] <= 4096 + len(_core.event_kinds()[0]) and found["grown_bytes"] < 4 << 20


def _memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_pytest_fixture(tmp_path):
    (tmp_path / "some_test.py").write_text(
        "import evenflow as tf\n\ndef test_wrong(evenflow_doctor):\n    for _ in range(30):\n        tf.function(lambda v: v)(1.0)\n"
        "    assert evenflow_doctor.codes == ['E104']\n    evenflow_doctor.check('E2xx')\n    evenflow_doctor.check()\n\n"
        "def test_right(evenflow_doctor):\n    f = tf.function(lambda v: v)\n    for _ in range(30):\n        f(1.0)\n"
        "    evenflow_doctor.check()\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "evenflow.pytest_plugin", "-p", "no:cacheprovider", str(tmp_path / "some_test.py")],
                          text=True, capture_output=True, cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "some_test.py:5: E104" in done.stdout
    project = (ZOO.parent.parent / "pyproject.toml").read_text()
    assert '[project.entry-points.pytest11]\nevenflow = "evenflow.pytest_plugin"' in project


def test_holders_by_line():
    """The bytes of tensors count for the line that made them, and together are those of get_memory_info."""
    recorded = recorder.Recorder()
    try:
        first = inspect.currentframe().f_lineno
        kept = tf.random.normal([1000, 1000])
        large = tf.random.normal([2000, 1000])
        recorded._remember()
        before = tf.config.experimental.get_memory_info("CPU:0")["current"]
        del large
        recorded._remember()
        after = tf.config.experimental.get_memory_info("CPU:0")["current"]
        many = recorded.memory[-2:]
    finally:
        recorded.end()
    assert [m[2] for m in many] == [before, after] and before - after >= 8_000_000
    for moment in many:
        assert sum(size for _, size in moment[3]) == moment[2]
    held = [dict(m[3]) for m in many]
    assert held[0][__file__, first + 1] == held[1][__file__, first + 1] == 4_000_000 == 4 * int(tf.size(kept))
    assert held[0][__file__, first + 2] == 8_000_000 and (__file__, first + 2) not in held[1]


def test_a_memory_profile(tmp_path):
    program, profile = tmp_path / "program.py", tmp_path / "memory.json"
    program.write_text("import evenflow as tf\nkept = tf.random.normal([1000, 1000])\nkept.numpy()\n"
                       "info = tf.config.experimental.get_memory_info('CPU:0')\nprint(info['current'], info['peak'])\n")
    done = command("doctor", "--memory", str(profile), str(program))
    assert done.returncode == 0, done.stderr
    current, peak = map(int, done.stdout.split())
    made = json.loads(profile.read_text())
    last = made["moments"][-1]
    assert last["tensors"] == made["current"] == current and made["peak"] == peak
    line = made["holders"].index({"file": str(program), "line": 2})
    assert dict(last["held"])[line] == 4_000_000 and sum(size for _, size in last["held"]) == current
    assert "cannot write" in command("doctor", "--memory", "/nowhere/x.json", str(program)).stderr


def test_points_are_spread_evenly_over_a_long_run():
    kept = recorder.Spread(100)
    for k in range(98765):
        kept.add(k)
    assert 50 <= len(kept.kept) <= 100 and kept.kept[0] == 0 and kept.kept[-1] > 96000
    assert len({b - a for a, b in zip(kept.kept, kept.kept[1:])}) == 1
    few = recorder.Spread(100)
    for k in range(100):
        few.add(k)
    assert few.kept == list(range(100))


class _Full:
    """A recorder whose lists are as long as they may be, as after a run of hours."""

    def __init__(self):
        where = [observed.Place(f"/home/someone/project/module_{k}.py", k, "function") for k in range(300)]
        self.events = [(600000 * k / recorder.MOST_EVENTS, 0.123456 * k, kind, where[k % 300]) for kind in recorder.SHOWN
                       for k in range(recorder.MOST_EVENTS)]
        held = tuple(((w.file, w.line), 12345678 + w.line) for w in where[:holders.MOST])
        self.memory = [(500.0 * k, 1 << 30, 1 << 29, held) for k in range(recorder.MOST_POINTS)]
        self.stacks = recorder.Node()
        self.stacks.ms = 600000.0
        for k in range(recorder.MOST_NODES):
            below = self.stacks.below["/home/someone/project/module.py", k, "some_function"] = recorder.Node()
            below.ms = 2000.0


def test_the_page_of_a_long_run_is_small():
    with tf.experimental.doctor(show=False) as found:
        tf.ones([2]) + 1.0
    assert len(page.page([], found.observed, _Full())) < 1 << 20
