"""`evenflow bench`: the command line. Each variant runs in a process of its own, and the variants take turns, so that a
machine that gets slower or busier in the meantime affects all of them."""
import json
import os
import subprocess
import sys
import threading
import time

from . import bench_child, bench_numbers, programs
from .options import Parser
from .terminal import Failure, Paint, Progress, duration, out, width

EXAMPLES = (
    ("evenflow bench train.py:step", "calls the function `step` again and again"),
    ("evenflow bench train.py:step,old_step", "two variants in turn"),
    ("evenflow bench --compare tensorflow train.py:step", "the same beside TensorFlow, in turn"),
    ("evenflow bench --repeat 200 train.py", 'the regions marked by `with tf.experimental.benchmark("name"):`'),
    ("evenflow bench --json train.py:step", "the figures as JSON, on standard output"),
)
ROUNDS = 20  # the most turns of each variant
OTHERS = {"tensorflow": "tensorflow"}


def parser():
    parse = Parser("evenflow bench",
                   "Measures a function of a program, or the regions it marks: medians with 95 % intervals, drift from the first\n"
                   "third of the calls to the last, and plots. Arguments of a function come from NAME_args in the program (a tuple,\n"
                   "or a function that returns one), else example values that fit its input_signature are passed.", EXAMPLES)
    parse.add_argument("--compare", metavar="PACKAGE", choices=sorted(OTHERS), help="measure the same on another package: tensorflow")
    parse.add_argument("--peers", metavar="FOLDER", default=os.environ.get("EF_PEERS"),
                       help="a virtual environment that has that package (default: EF_PEERS)")
    parse.add_argument("--seconds", type=float, default=5.0, metavar="S", help="how long to measure each variant (5)")
    parse.add_argument("--repeat", type=int, metavar="N", help="make exactly N calls instead; of a region: at most N (100)")
    parse.add_argument("--size", type=int, default=32, metavar="N", help="the size to use where an input_signature leaves one open (32)")
    parse.add_argument("--json", action="store_true", help="print the figures as JSON")
    parse.add_argument("program", metavar="PROGRAM.py[:FUNCTION,...]", help="the program, and the functions to measure")
    parse.add_argument("arguments", metavar="ARGUMENT", nargs="...", help="the program's arguments")
    return parse


class Variant:
    """A process that has loaded the program on one package."""

    def __init__(self, package, python, path, functions, options):
        self.package = package
        read, write = os.pipe()
        command = [python, "-u", os.path.abspath(bench_child.__file__), "--module", package, "--answers", str(write),
                   "--size", str(options.size), "--repeat", str(options.repeat or 100)]
        if functions:
            command += ["--function", ",".join(functions)]
        try:
            self._process = subprocess.Popen([*command, path, *options.arguments], stdin=subprocess.PIPE, stdout=sys.stderr,
                                             pass_fds=(write,), text=True)
        except OSError as e:
            os.close(read)
            raise Failure(f"cannot start {python}: {e.strerror}; name a virtual environment with --peers") from None
        finally:
            os.close(write)
        self._answers = os.fdopen(read)

    def answer(self):
        line = self._answers.readline()
        if not line:
            raise Failure(f"the program ended on {self.package} before it was measured (status {self._process.wait()})", 1)
        data = json.loads(line)
        if "failed" in data:
            raise Failure(data["failed"] if not data.get("raised") else f"on {self.package} the program failed: {data['failed']}; mend it first",
                          1 if data.get("raised") else 2)
        return data

    def measure(self, which, n):
        self._process.stdin.write(f"measure {which} {n}\n")
        self._process.stdin.flush()
        return self.answer()["times"]

    def go(self):
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self.answer()

    def end(self):
        try:
            self._process.stdin.write("quit\n")
            self._process.stdin.close()
        except OSError:
            pass
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()


def _python_of(folder, package):
    if not folder:
        raise Failure(f"--compare {package} needs an environment that has it: give --peers FOLDER or set EF_PEERS")
    path = os.path.join(folder, "bin", "python")
    if not os.path.exists(path):
        raise Failure(f"{folder!r} has no bin/python; --peers takes the folder of a virtual environment")
    return path


def _waiting(progress, text, work):
    """Runs `work` in another thread, while the progress line shows the elapsed time."""
    outcome = []

    def run():
        try:
            outcome.append((work(), None))
        except BaseException as e:
            outcome.append((None, e))

    thread, began = threading.Thread(target=run, daemon=True), time.monotonic()
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
        progress.show(f"{text} ({time.monotonic() - began:.0f} s)")
    result, error = outcome[0]
    if error is not None:
        raise error
    return result


def _measure_functions(variants, functions, options, progress):
    """({(package, function): times}, {package: time of the first calls}), measured in turns."""
    first = {v.package: _waiting(progress, f"loading the program on {v.package}", v.answer)["first_ns"] for v in variants}
    pairs = [(v, k) for v in variants for k in range(len(functions))]
    times = {(v.package, functions[k]): [] for v, k in pairs}
    warm = {pair: pair[0].measure(pair[1], 3) for pair in pairs}
    rounds = min(ROUNDS, options.repeat or ROUNDS)
    for turn in range(rounds):
        for v, k in pairs if turn % 2 == 0 else pairs[::-1]:
            if options.repeat:
                n = options.repeat * (turn + 1) // rounds - options.repeat * turn // rounds
            else:
                taken = times[v.package, functions[k]] or warm[v, k]
                n = max(1, min(100000, int(options.seconds / rounds * 1e9 / max(bench_numbers.median(taken), 200))))
            progress.show(f"measuring {functions[k]} on {v.package}: turn {turn + 1} of {rounds}")
            times[v.package, functions[k]] += v.measure(k, n)
    return times, first


def _measure_regions(variants, progress):
    """({(package, region): times}, {}). A program pauses after every few measurements until it is its turn again."""
    times, running = {}, []
    for v in variants:
        answer = _waiting(progress, f"loading the program on {v.package}", v.answer)
        running.append((v, answer))
    turn = 0
    while running:
        turn, still = turn + 1, []
        for v, answer in running:
            if "regions" not in answer:
                progress.show(f"measuring on {v.package}: turn {turn}")
                answer = v.go()
                still.append((v, answer))
                continue
            times.update({(v.package, name): values for name, values in answer["regions"].items() if values})
        running = still
    order = [v.package for v in variants]
    return dict(sorted(times.items(), key=lambda item: order.index(item[0][0]))), {}


def _report(times, first, options, stream):
    paint, rows = Paint(stream), {key: bench_numbers.summary(values) for key, values in times.items()}
    wide = max(20, min(60, width() - 46))
    lines = []
    for (package, name), s in rows.items():
        values = times[package, name]
        moved = f"drift {100 * s['drift']:+.1f} %"
        moved = paint.bad(moved) if s["drift"] > 0.05 else moved
        bars, low, high = bench_numbers.distribution(values, wide)
        lines += [f"{paint.bold(name)} on {package}: {paint.bold(duration(s['median_ns']))} "
                  f"[{duration(s['low_ns'])} .. {duration(s['high_ns'])}], {moved}, {s['calls']} calls"
                  + (f", first call {duration(first[package])}" if package in first and len({n for _, n in rows}) == 1 else ""),
                  f"  over time     {bench_numbers.over_time(values, wide)}",
                  f"  distribution  {bars}  {duration(low)} .. {duration(high)}"]
    for line in _comparisons(times):
        lines.append(f"{line['name']}: {line['fast']} takes {line['ratio']:.3g} [{line['low']:.3g} .. {line['high']:.3g}] of the time "
                     f"of {line['slow']}")
    return lines


def _comparisons(times):
    """Each variant against the first: evenflow against the other package, or the first function against each other one."""
    keys, found = list(times), []
    names = list(dict.fromkeys(name for _, name in keys))
    for name in names:
        own = [k for k in keys if k[1] == name]
        for other in own[1:]:
            found.append((name, own[0], other, own[0][0], other[0]))
    for package in dict.fromkeys(p for p, _ in keys) if len(names) > 1 else ():
        own = [k for k in keys if k[0] == package]
        for other in own[1:]:
            found.append((package, own[0], other, own[0][1], other[1]))
    result = []
    for name, a, b, fast, slow in found:
        ratio, low, high = bench_numbers.ratio_interval(times[a][:2000], times[b][:2000])
        result.append({"name": name, "fast": fast, "slow": slow, "ratio": ratio, "low": low, "high": high})
    return result


def main(arguments, run_file):
    del run_file  # variants run in processes of their own
    options = parser().parse_args(arguments)
    if options.repeat is not None and options.repeat < 1 or not 0 < options.seconds < float("inf"):
        raise Failure("--repeat and --seconds must be positive")
    if options.size < 0:
        raise Failure(f"--size is {options.size}; it must not be negative")
    path, name = programs.split(options.program)
    programs.check_file(path)
    functions = name.split(",") if name else []
    packages = [("evenflow", sys.executable)]
    if options.compare:
        packages.append((OTHERS[options.compare], _python_of(options.peers, options.compare)))
    variants = []
    try:
        with Progress() as progress:
            for package, python in packages:
                variants.append(Variant(package, python, path, functions, options))
            if functions:
                times, first = _measure_functions(variants, functions, options, progress)
            else:
                times, first = _measure_regions(variants, progress)
    finally:
        for v in variants:
            v.end()
    if options.json:
        out(json.dumps({"results": [{"package": p, "name": n, **bench_numbers.summary(v)} for (p, n), v in times.items()],
                        "comparisons": _comparisons(times)}))
    else:
        out("\n".join(_report(times, first, options, sys.stdout)))
    return 0
