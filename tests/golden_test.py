#!/usr/bin/env python3
"""Compares with stored results of TensorFlow (tests/golden): every case in each mode for which TensorFlow has a result.

Eager cases run a second time with every op deferred that can be, however small, as happens with large tensors.
A mode in which TensorFlow itself fails is not counted. tests/golden/lacking.json lists missing features and the cases that
need them: these run too and count as skipped; once one passes, it must be removed from the list.
The cases run in a child process: a crash costs one case, not the rest.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"


def answers(mode, **settings):
    """The results of all cases, or the output if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [sys.executable, str(GOLDEN / "check.py"), "--module", "evenflow", "--mode", mode, "--isolate",
                   "--timeout", "30", "--json", str(out)]
        run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **settings))
        if not out.exists():
            return [{"id": "all", "mode": mode, "status": "fail", "reason": run.stdout + run.stderr}]
        return json.loads(out.read_text())["results"]


def main():
    lacking = json.loads((GOLDEN / "lacking.json").read_text())
    needs = {case: name for name, cases in lacking.items() for case in cases}
    good, bad, skipped = 0, 0, collections.Counter()
    for r in answers("all") + answers("eager", EF_DEFER_BYTES="0"):
        if r["status"] == "skip":
            continue
        listed = needs.get(r["id"])
        if listed and r["status"] == "fail" and "died" not in r["reason"] and "no answer" not in r["reason"]:
            skipped[listed] += 1
        elif listed and r["status"] == "pass":
            bad += 1
            print(f"FAILED {r['id']} [{r['mode']}] passes: take it out of tests/golden/lacking.json ({listed})")
        elif r["status"] == "fail":
            bad += 1
            print(f"FAILED {r['id']} [{r['mode']}] {r['reason']}")
        else:
            good += 1
    for name, n in sorted(skipped.items()):
        print(f"skipped {n}: {name}")
    print(f"{good} passed, {bad} failed, {sum(skipped.values())} skipped")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
