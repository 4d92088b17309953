"""However a program ends, and whatever it does to its streams: the report comes, and the exit status is the program's."""
import json
import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """import os, signal, sys
import tensorflow as tf
@tf.function
def scale(x, n):
    return x * n
for i in range(40):
    scale(tf.constant(1.0), i)
"""

ENDS = {
    "os._exit": ("os._exit(7)", 7),
    "os._exit in a child": ("if os.fork() == 0: os._exit(3)\nos.wait()", 0),
    "SIGTERM": ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "a handler of its own": ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))\nos.kill(os.getpid(), signal.SIGTERM)", 9),
    "SIGTERM in a child": ("child = os.fork()\nif child == 0: signal.pause()\nos.kill(child, signal.SIGTERM)\n"
                           "sys.exit(os.WTERMSIG(os.wait()[1]) - 10)", 5),
    "standard output closed": ("sys.stdout.close()", 0),
    "standard error closed": ("sys.stderr.close()", 0),
    "no streams": ("sys.stdout = sys.stderr = None", 0),
    "streams replaced": ("import io; sys.stdout, sys.stderr = io.StringIO(), io.StringIO()", 0),
    "another folder": ("os.chdir('/')", 0),
}


def run(folder, end, *arguments):
    (folder / "program.py").write_text(PROGRAM + ENDS[end][0] + "\n")
    return subprocess.run([sys.executable, "-m", "evenflow", *arguments, "program.py"], text=True, capture_output=True, cwd=folder,
                          env=os.environ)


@pytest.mark.parametrize("end", sorted(ENDS))
def test_the_report_comes(end, tmp_path):
    done = run(tmp_path, end, "doctor", "--html", "page.html")
    assert done.returncode == ENDS[end][1], done
    assert done.stderr.count("\nprogram.py:7: E101") == 1 and "Traceback" not in done.stderr, done.stderr
    assert "E101" in (tmp_path / "page.html").read_text() and "wrote page.html" in done.stderr


@pytest.mark.parametrize("end", ["os._exit", "SIGTERM", "no streams", "standard output closed"])
def test_findings_as_json(end, tmp_path):
    done = run(tmp_path, end, "doctor", "--json", "--fail-on", "E2xx")
    assert done.returncode == ENDS[end][1], done
    assert [f["line"] for f in json.loads(done.stdout)["findings"]] == [7]


@pytest.mark.parametrize("end", ["os._exit", "SIGTERM"])
def test_a_trace_is_written(end, tmp_path):
    assert run(tmp_path, end, "run", "--trace", "trace.json").returncode == ENDS[end][1]
    assert sum(e.get("cat") == "trace" for e in json.loads((tmp_path / "trace.json").read_text())["traceEvents"]) == 40


@pytest.mark.parametrize("name", ["program.py", "programs.py"])
def test_a_long_path_that_is_not_ascii(name, tmp_path):
    """Only its end is kept; that must be whole characters, wherever it begins."""
    folder = tmp_path.joinpath(*["\u00e4" * 40] * 5)
    folder.mkdir(parents=True)
    (folder / name).write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--html", "page.html", str(folder / name)], text=True, capture_output=True,
                          cwd=tmp_path, env=os.environ)
    assert done.returncode == 0 and f"{name}:7: E101" in done.stderr and "Traceback" not in done.stderr, done.stderr
