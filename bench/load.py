#!/usr/bin/env python3
"""Simulates a busy machine: processes that do nothing but occupy a processor each.

    python3 bench/load.py [-n 2] COMMAND ...     runs the command beside n of them (as many as there are processors)

    from load import Busy
    with Busy(2):
        ...                                      the same for a stretch of a Python program

They are started in the session of the caller: Linux divides the processors first among sessions ("autogroup"), and
what is measured must get the share of one process among others, not that of a session among two. A busy process ends
by itself when its parent is gone.
"""
import argparse
import os
import subprocess
import sys
import time

SPIN = "import os\nparent = os.getppid()\nprint(flush=True)\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass"


class Busy:
    """Keeps `count` processes busy inside a `with`; 0 is a quiet machine."""

    def __init__(self, count=None):
        self.count = len(os.sched_getaffinity(0)) if count is None else count
        self.children = []

    def __enter__(self):
        command = [sys.executable, "-S", "-c", SPIN]
        self.children = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(self.count)]
        for child in self.children:
            child.stdout.readline()  # it runs
        if self.children:
            time.sleep(0.2)  # the scheduler has found places for all
        return self

    def __exit__(self, *_):
        for child in self.children:
            child.kill()
            child.wait()
            child.stdout.close()
        self.children = []


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("-n", type=int, default=None, help="busy processes; as many as there are processors")
    parse.add_argument("command", nargs=argparse.REMAINDER)
    args = parse.parse_args()
    if not args.command:
        parse.error("a command is missing")
    with Busy(args.n):
        return subprocess.run(args.command).returncode


if __name__ == "__main__":
    sys.exit(main())
