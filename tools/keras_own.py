#!/usr/bin/env python3
"""Runs Keras's own tests on TensorFlow or on Evenflow and compares how they end: docs/keras.md is written from it.

    keras_own.py run tensorflow theirs.jsonl [PART...]    with a Python that has TensorFlow, Keras and pytest
    keras_own.py run evenflow ours.jsonl [PART...]        with the project's own Python
    keras_own.py compare theirs.jsonl ours.jsonl          the table, and what passes there and fails here

A PART is a folder or file below keras/src; without one, all but those of LEFT_OUT run. Each part has a process of its own. The
tests' optional packages (jax, torch without triton, grain, pandas, scipy, requests) may stand in a folder that PYTHONPATH
names. A line of the result file is one test; tests that the file already has are not run again.
"""
import collections
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import time

LEFT_OUT = ("backend/jax", "backend/torch", "distribution", "export")
APART = ("backend", "layers", "ops")  # folders whose parts are run one by one
LIMIT = 300  # seconds a test may take before its process is ended


class Notes:
    """Writes how each test ends, its seconds by the processor's clock and by the wall's."""

    def __init__(self, path):
        done = [json.loads(line)["test"] for line in path.read_text().splitlines()] if path.exists() else []
        self.done, self.out, self.failed = set(done), open(path, "a"), {}

    def write(self, test, end, processor=0.0, wall=0.0, why=""):
        print(json.dumps({"test": test, "end": end, "processor": round(processor, 4), "wall": round(wall, 4), "why": why}),
              file=self.out, flush=True)

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self.name(item.nodeid) not in self.done]

    def name(self, nodeid):
        return nodeid.removeprefix("keras/src/")

    def pytest_runtest_logstart(self, nodeid):
        import faulthandler
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        self.ends, self.why = [], ""
        self.began = time.process_time(), time.perf_counter()

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or not report.passed:
            self.ends.append(report.outcome)
        if report.failed:
            self.why = getattr(getattr(report.longrepr, "reprcrash", None), "message", str(report.longrepr))[:300]

    def pytest_runtest_logfinish(self, nodeid):
        end = "failed" if "failed" in self.ends else (self.ends or ["skipped"])[-1]
        self.write(self.name(nodeid), end, time.process_time() - self.began[0], time.perf_counter() - self.began[1], self.why)


def one(package, path, part):
    """The tests of one part, in this process."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    importlib.import_module(package)
    import keras
    import pytest
    home = pathlib.Path(keras.__file__).resolve().parent.parent
    return pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short", "--continue-on-collection-errors", "-c", os.devnull,
                        f"--rootdir={home}", str(home / "keras/src" / part)], plugins=[Notes(pathlib.Path(path))])


def parts():
    source = pathlib.Path(importlib.util.find_spec("keras").origin).parent / "src"
    folders = [p for p in sorted(source.iterdir()) if p.is_dir()]
    found = [q for p in folders for q in (sorted(p.iterdir()) if p.name in APART else [p])]
    return [p.relative_to(source).as_posix() for p in found if (p.is_dir() and any(p.rglob("*_test.py"))) or p.match("*_test.py")]


def run(package, path, chosen):
    for part in chosen or [p for p in parts() if p not in LEFT_OUT]:
        began = time.perf_counter()
        done = subprocess.run([sys.executable, __file__, "one", package, path, part])
        print(f"{part}: ended with {done.returncode} after {time.perf_counter() - began:.0f} s", flush=True)


def folder(test):
    return "/".join(test.split("/")[:2 if test.startswith("backend/") else 1])


def compare(theirs, ours):
    theirs, ours = ({t["test"]: t for t in map(json.loads, open(path))} for path in (theirs, ours))
    rows = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, 0.0, 0.0])
    wrong = []
    for test, there in theirs.items():
        if there["end"] != "passed":
            continue
        here = ours.get(test, {"end": "missing", "processor": 0.0, "wall": 0.0, "why": ""})
        good = here["end"] == "passed"
        for row in (rows[folder(test)], rows["all of these"]):
            for k, more in enumerate((1, good, there["processor"], here["processor"], there["wall"], here["wall"])):
                row[k] += more
        if not good:
            wrong.append(f"{here['end']:8} {test}  {here['why'].splitlines()[:1]}")
    print("| directory | pass on TensorFlow | pass on Evenflow | s on TensorFlow | s on Evenflow |\n" + "| --- " * 5 + "|")
    for name in sorted(rows, key=lambda n: (n == "all of these", n)):
        row = rows[name]
        print(f"| {name} | {row[0]} | {row[1]} | {row[2]:.1f} | {row[3]:.1f} |")
    total = rows["all of these"]
    print(f"{100 * total[1] / total[0]:.2f} %, 1/{total[2] / total[3]:.2f} of the processor time, 1/{total[4] / total[5]:.2f} of the elapsed")
    print("\n".join(wrong))


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(*sys.argv[2:4], sys.argv[4:])
    elif sys.argv[1] == "one":
        sys.exit(one(*sys.argv[2:5]))
    else:
        compare(*sys.argv[2:4])
