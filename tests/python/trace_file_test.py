"""`evenflow run --trace FILE`: trace-event JSON with nested slices on each thread."""
import json
import subprocess
import sys

PROGRAM = """
import sys, threading
import tensorflow as tf

@tf.function
def train(x):
    for _ in tf.range(3):
        x = tf.nn.relu(tf.matmul(x, x))
    return x

def work():
    for _ in range(20):
        train(tf.ones([16, 16]))

threads = [threading.Thread(target=work) for _ in range(2)]
for t in threads: t.start()
work()
for t in threads: t.join()
data = tf.data.Dataset.range(100).map(lambda v: v * 2).batch(10).prefetch(2)
print(sum(int(tf.reduce_sum(b)) for b in data), sys.argv[1:])
sys.exit(3)
"""


def _run(*arguments):
    return subprocess.run([sys.executable, "-m", "evenflow", "run", *arguments], capture_output=True, text=True, timeout=120)


def _check_nested(slices):
    """Each is inside the one that is open, or begins when that has ended."""
    open_ = []
    for s in slices:
        begin, end = round(s["ts"] * 1000), round(s["ts"] * 1000) + round(s["dur"] * 1000)
        while open_ and open_[-1] <= begin:
            open_.pop()
        assert not open_ or end <= open_[-1], s
        open_.append(end)


def test_trace(tmp_path):
    program, out = tmp_path / "program.py", tmp_path / "out.json"
    program.write_text(PROGRAM)
    done = _run("--trace", str(out), str(program), "--epochs", "3")
    assert done.returncode == 3 and done.stdout == "9900 ['--epochs', '3']\n", done.stderr
    trace = json.loads(out.read_text())
    events = trace["traceEvents"]
    assert {e["ph"] for e in events} <= {"X", "M", "i"} and trace["otherData"]["dropped"] == 0
    threads = {e["tid"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    slices = [e for e in events if e["ph"] == "X"]
    assert {e["tid"] for e in slices} <= threads and len(threads) >= 3
    for thread in threads:
        mine = [e for e in slices if e["tid"] == thread]
        assert mine == sorted(mine, key=lambda e: (e["ts"], -e["dur"]))
        _check_nested(mine)
    calls = [e for e in slices if e["cat"] == "function call"]
    assert len(calls) >= 55 and {e["name"] for e in calls} == {"train"}  # some calls trace instead
    assert all(e["args"]["place"] == f"{program}:13" for e in calls)
    for c in calls:
        inside = [e for e in slices if e["tid"] == c["tid"] and c["ts"] <= e["ts"] < c["ts"] + c["dur"]]
        assert any(e["cat"] == "step" for e in inside), c
    assert any(e["name"] == "trace train" for e in slices)


def test_wrong_use(tmp_path):
    done = _run("--trace", str(tmp_path / "no" / "out.json"), "x.py")
    assert done.returncode == 2 and "cannot write the trace to" in done.stderr
    done = _run("--trace", str(tmp_path / "out.json"))
    assert done.returncode == 2 and "--trace needs a file to write to, and a program" in done.stderr


def test_a_program_that_fails(tmp_path):
    program, out = tmp_path / "program.py", tmp_path / "out.json"
    program.write_text("import tensorflow as tf\ntf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))\n")
    done = _run("--trace", str(out), str(program))
    assert done.returncode == 1 and "InvalidArgumentError" in done.stderr
    assert json.loads(out.read_text())["traceEvents"]
