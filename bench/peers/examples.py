#!/usr/bin/env python3
"""Measures the programs of examples/ with TensorFlow and writes the times to examples/tensorflow.json."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent.parent / "examples"


def main():
    parse = argparse.ArgumentParser(description=__doc__)
    parse.add_argument("--python", required=True, help="a Python that has TensorFlow")
    args = parse.parse_args()
    found, status = {}, 0
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "calls"
        env = {**os.environ, "EF_CALLS": str(log), "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONDONTWRITEBYTECODE": "1"}
        for program in sorted(EXAMPLES.glob("*.py")):
            if program.name == "calls.py":
                continue
            done = subprocess.run([args.python, str(program)], env=env, capture_output=True, text=True)
            if done.returncode:
                status = 1
                print(f"{program.name} on TensorFlow: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
        for line in log.read_text().splitlines():
            name, figures = json.loads(line)
            found[name] = figures
    rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
    (EXAMPLES / "tensorflow.json").write_text("{\n" + rows + "\n}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
