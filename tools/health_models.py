#!/usr/bin/env python3
"""Runs each model of the benchmark once, for tools/health.py, which reads what EF_LOG=fuse prints of their plans.

Prints the caches that are charged to the byte budget, with their entries now. Run with the project's own Python.
"""
import pathlib
import re
import sys

import evenflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench" / "peers"))
import models_keras  # noqa: E402


def main():
    for name, make in models_keras.rows(tf).items():
        if name != "resnet_8":  # the plan of resnet_1 for another size
            make()(1)()
    report = tf._core.memory_report()
    found = re.findall(r"^([a-z ]+): .* in (\d+) entries", report, re.M)
    print(", ".join(f"{name} ({n})" for name, n in found))


if __name__ == "__main__":
    main()
