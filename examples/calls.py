"""Times every call of an example, and prints the times of the first, second and last call and those of TensorFlow.

    calls.measure("name", call, n)      times call(0) ... call(n - 1)

The times of TensorFlow are in tensorflow.json, which `make bench-peers` writes; `last` is the median
of the last hundred calls, because a single call may meet a busy machine. With EF_CALLS=file the figures are
also added to that file, and `python calls.py FILE` prints them as one table.
"""
import array
import json
import os
import pathlib
import statistics
import sys
import time

KNOWN = pathlib.Path(__file__).resolve().parent / "tensorflow.json"
WIDTH = 36
_headed = False  # whether the heading has been printed


def known():
    try:
        return json.loads(KNOWN.read_text())
    except (OSError, ValueError):
        return {}


def shown(us):
    """Microseconds with three digits, in the unit that suits them."""
    for unit, size in (("us", 1), ("ms", 1e3), ("s", 1e6)):
        if us < 999.5 * size or unit == "s":
            value = us / size
            return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:.3g} {unit}"


def line(name, here, there):
    text = f"{name:<{WIDTH}} " + "".join(f"{shown(t):>9}" for t in here)
    return text + (" |" + "".join(f"{shown(t):>9}" for t in there) if there else "")


def heading(beside=True):
    three = "".join(f"{t:>9}" for t in ("first", "second", "last"))
    return f"{'':<{WIDTH}} {three}" + (f" |{three} on TensorFlow 2.21" if beside else "")


def measure(name, call, n=1000):
    """Times n calls; prints, keeps and returns (first, second, last) in microseconds."""
    global _headed
    clock = time.perf_counter_ns
    times = array.array("q", bytes(8 * n))
    for i in range(n):
        began = clock()
        call(i)
        times[i] = clock() - began
    last = statistics.median(times[-min(100, max(1, n // 3)):])
    found = [round(t / 1e3, 3) for t in (times[0], times[1], last)]
    reference = known().get(name) if "evenflow" in sys.modules else None
    if not _headed:
        print(heading(reference is not None))
        _headed = True
    print(line(name, found, reference), flush=True)
    if os.environ.get("EF_CALLS"):
        with open(os.environ["EF_CALLS"], "a") as f:
            f.write(json.dumps([name, found]) + "\n")
    return found


if __name__ == "__main__":
    reference = known()
    print(heading())
    for entry in pathlib.Path(sys.argv[1]).read_text().splitlines():
        label, figures = json.loads(entry)
        print(line(label, figures, reference.get(label)))
