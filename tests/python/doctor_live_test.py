"""`evenflow doctor --live`: the sums of a running process, which is not stopped; `--read`: those that a process saved."""
import json
import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import sys
import evenflow as tf

def body(v):
    return v * 2.0

x = tf.ones([4])
for _ in range(40):
    tf.function(body)(x)
print("ready", flush=True)
for line in sys.stdin:
    for _ in range(5):
        tf.function(body)(x)
    print("more", flush=True)
"""


@pytest.fixture
def running(tmp_path):
    program = tmp_path / "serve.py"
    program.write_text(PROGRAM)
    process = subprocess.Popen([sys.executable, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.wait()


def doctor(*arguments):
    return subprocess.run([sys.executable, "-m", "evenflow", "doctor", *arguments], text=True, capture_output=True,
                          env={**os.environ, "NO_COLOR": "1"}, timeout=60)


def found(pid):
    done = doctor("--live", str(pid), "--json", "--all")
    if "cannot be read" in done.stderr:
        pytest.skip("this machine does not let processes be read")
    assert done.returncode == 0, done.stderr
    return {(f["code"], f["line"]): f for f in json.loads(done.stdout)["findings"]}


def test_a_running_process(running):
    first = found(running.pid)["E104", 10]
    assert first["count"] == 40 and first["file"].endswith("serve.py") and first["function"] == "<module>"
    running.stdin.write("go\n")
    running.stdin.flush()
    assert running.stdout.readline() == "more\n"
    again = found(running.pid)
    assert again["E104", 10]["count"] == 40 and again["E104", 14]["count"] == 5 and running.poll() is None
    done = doctor("--live", str(running.pid), "--all")
    assert f"process {running.pid}:" in done.stderr and "serve.py:10: E104 function-in-loop" in done.stderr


def test_again_until_it_ends(running):
    found(running.pid)
    watching = subprocess.Popen([sys.executable, "-m", "evenflow", "doctor", "--live", str(running.pid), "--every", "0.1", "--all"],
                                stderr=subprocess.PIPE, text=True)
    seen = 0
    for line in watching.stderr:
        seen += "E104" in line
        if seen == 3:
            running.send_signal(signal.SIGKILL)
            running.wait()
            break
    watching.stderr.read()
    assert watching.wait(30) == 0


def test_no_such_process():
    done = doctor("--live", "4194303")
    assert done.returncode == 2 and "does not exist" in done.stderr and "Traceback" not in done.stderr
    sleeping = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])
    try:
        done = doctor("--live", str(sleeping.pid))
        assert done.returncode == 2 and "does not use this Evenflow library" in done.stderr
    finally:
        sleeping.kill()
        sleeping.wait()


def test_sums_from_a_file(tmp_path):
    place = ["/somewhere/loop.c", 12, "main"]
    sums = {"evenflow_doctor": 1, "seconds": 2.0, "tallies": [
        {"kind": "session closed", "reason": "none", "place": place, "subject": None, "note": "", "samples": 50, "count": 50,
         "ns": 0, "sum": [50, 0, 0], "least": 1, "most": 1, "first": 0, "last": 10, "early": 0, "late": 0}]}
    path = tmp_path / "sums.json"
    path.write_text(json.dumps(sums))
    done = doctor("--read", str(path))
    assert done.returncode == 0 and "/somewhere/loop.c:12: E106 session-per-call" in done.stderr
    path.write_text("{}")
    done = doctor("--read", str(path))
    assert done.returncode == 2 and "was not written by ef_doctor_save" in done.stderr
    assert doctor("--read", str(tmp_path / "none.json")).returncode == 2
