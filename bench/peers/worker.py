"""The process of one peer, which answers the controller in lines of JSON.

    worker.py PEER            reads {"row": name, "seconds": s, "most": n} and answers {"times": [...]}, seconds per call; rows
                              whose calls need an input of their own take at most n samples
    worker.py PEER --once     makes some calls of every row and prints the process's peak memory in bytes
    worker.py PEER --import   prints the seconds that importing the package takes
"""
import importlib
import json
import os
import sys
import time

SCALE = {"range_loop": 1000}  # a call of the row is this many iterations; the figure is for one
MOST = {"new_shape": 100, "new_number": 1000, "fresh_function": 100}  # calls that need an input of their own, per sample
ONCE = {"eager_add": 10000, "function_call": 10000, "session_run": 2000, "graph_in_loop": 50, "new_shape": 50,
        "new_number": 50, "fresh_function": 50, "range_loop": 5}  # calls for the peak of memory; 3 of each other row
# Not part of the peak: Keras and its weights, and the files that pipelines read, would be most of it.
MODELS = {"dense_fit", "dense_predict", "dense_call", "dense_batch", "dense_step", "lstm", "transformer", "classifier_1", "classifier_32", "resnet_1",
          "resnet_8", "data_range", "data_shuffle", "data_jpeg", "data_examples", "data_generator"}


class Subject:
    """A row of this peer, set up at its first use."""

    def __init__(self, name, make):
        self.name, self.prepare, self.calls = name, make(), 1
        began = time.perf_counter()  # warm up, and learn how many calls make a sample
        most = MOST.get(name, 1 << 20)
        while time.perf_counter() - began < 0.3 and self.calls < most:
            if self.sample() * self.calls < 2e-3:
                self.calls = min(self.calls * 2, most)

    def sample(self):
        """The time of one call, in seconds."""
        run = self.prepare(self.calls)
        began = time.perf_counter()
        run()
        return (time.perf_counter() - began) / self.calls

    def measure(self, seconds, most):
        times, end = [], time.perf_counter() + seconds
        while not times or (time.perf_counter() < end and (self.name not in MOST or len(times) < most)):
            times.append(self.sample() / SCALE.get(self.name, 1))
        return times


def peak_bytes():
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmHWM"))


def main(peer, how=""):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if how == "--import":
        began = time.perf_counter()
        importlib.import_module(peer)
        print(json.dumps(time.perf_counter() - began))
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of the peer itself must not mix with the answers
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    file = "subject_" + ("tensorflow" if peer == "evenflow" else peer)
    rows, subjects = importlib.import_module(file).rows(peer), {}
    if how == "--once":
        for name, make in rows.items():
            if name not in MODELS:
                make()(ONCE.get(name, 3))()
        print(json.dumps(peak_bytes()), file=out, flush=True)
        return
    version = importlib.import_module(peer).__version__
    print(json.dumps({"rows": list(rows), "version": version}), file=out, flush=True)
    for line in sys.stdin:
        ask = json.loads(line)
        name = ask["row"]
        try:
            if name not in subjects:
                subjects[name] = Subject(name, rows[name])
            answer = {"times": subjects[name].measure(ask["seconds"], ask["most"])}
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
