#!/usr/bin/env python3
"""Runs all checks of `make check`, the fastest first, and ends with the health figures and a verdict."""
import pathlib
import subprocess
import sys
import time

TOOLS = pathlib.Path(__file__).resolve().parent
STEPS = [("layers", "check_layers.py", False), ("Python layers", "check_python_layers.py", False), ("sizes", "check_sizes.py", False),
         ("habits", "check_habits.py", False), ("records", "check_records.py", False), ("headers", "check_headers.py", True),
         ("format", "check_format.py", False), ("cppcheck", "check_cppcheck.py", True),
         ("clang-tidy", "check_tidy.py", True), ("health", "health.py", True)]


def main(build):
    failed = []
    for name, program, wants_build in STEPS:
        print(f"== {name} ==", flush=True)
        began = time.monotonic()
        command = [sys.executable, str(TOOLS / program)] + ([build] if wants_build else [])
        if subprocess.run(command).returncode:
            failed.append(name)
        took = time.monotonic() - began
        if took > 10:
            print(f"({took:.0f} s)")
    print("check failed: " + ", ".join(failed) if failed else "check passed")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "build"))
