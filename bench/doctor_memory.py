"""Tests the tables of the doctor with calls from very many lines of a program: the number of sums stays bounded, they count
every call, and memory does not grow.

    python bench/doctor_memory.py [--places 100000] [--calls 10000000]
"""
import argparse
import json
import os
import tempfile

import evenflow as tf
from evenflow import _core

PER_FUNCTION = 500  # lines of one function: a code object of its own


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def program(places):
    """Functions in which every line is an eager op."""
    lines = []
    for k in range(max(1, places // PER_FUNCTION)):
        lines.append(f"def f{k}(x):\n" + "    x = x + x\n" * min(PER_FUNCTION, places))
    return "".join(lines)


def measure(places, calls):
    """Runs each line often enough. Returns the counts and the growth of memory after the first pass."""
    names, text = {"tf": tf}, program(places)
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(text)
        file.flush()
        exec(compile(text, file.name, "exec"), names)
        functions = [names[f"f{k}"] for k in range(max(1, places // PER_FUNCTION))]
        zero, made = tf.constant(0.0), len(functions) * min(PER_FUNCTION, places)
        with tf.experimental.doctor(show=False) as found:
            for f in functions:
                f(zero)
            after_one, passes = resident(), max(1, calls // made)
            for _ in range(passes - 1):
                for f in functions:
                    f(zero)
            grown = resident() - after_one
        return {"places": made, "calls": passes * made, "counted": found.observed.total("eager op"),
                "sums": len(_core.event_tallies()), "grown_bytes": grown}


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("--places", type=int, default=100_000)
    parse.add_argument("--calls", type=int, default=10_000_000)
    options = parse.parse_args()
    print(json.dumps(measure(options.places, options.calls)))


if __name__ == "__main__":
    main()
