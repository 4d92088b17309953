#!/usr/bin/env python3
"""What TensorFlow answers, case by case (tests/golden): every case in each mode that TensorFlow has an answer for.

Eager cases run a second time with every op that can be deferred waiting, however small: what large tensors do.
A mode in which TensorFlow itself fails is no case, so it is not counted. The cases run in a child process: a crash
costs one case, not the rest.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
CATEGORIES = ("math array nn arith reduce error cast random matmul convert compare control grad variable shape "
              "repr nest autograph").split()


def answers(mode, **settings):
    """The results of all cases, or the output if there are none."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        command = [sys.executable, str(GOLDEN / "check.py"), "--module", "evenflow", "--mode", mode, "--isolate",
                   "--timeout", "30", "--category", ",".join(CATEGORIES), "--json", str(out)]
        run = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **settings))
        if not out.exists():
            return [{"id": "all", "mode": mode, "status": "fail", "reason": run.stdout + run.stderr}]
        return json.loads(out.read_text())["results"]


def main():
    results = answers("all") + answers("eager", EF_DEFER_BYTES="0")
    bad = [r for r in results if r["status"] == "fail"]
    for r in bad:
        print(f"FAILED {r['id']} [{r['mode']}] {r['reason']}")
    good = sum(r["status"] == "pass" for r in results)
    print(f"{good} passed, {len(bad)} failed, 0 skipped")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main())
