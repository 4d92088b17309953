#!/usr/bin/env python3
"""Run every test program of a build and add up their counts.

A test program prints `N passed, M failed, K skipped` as its last line. Programs come from
<build>/tests.txt (written by CMake), from tests/*_test.py, and from tests/python/*_test.py, which pytest
runs. Python programs run in .venv where there is one. A program that crashes, runs out of
time, prints no counts, or exits with a status that contradicts them counts as one more failure.
Logs stay in <build>/test-logs/.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped\s*$", re.M)
ROOT = pathlib.Path(__file__).resolve().parent.parent


def programs(build, only, with_python):
    """Name and command of each test program, filtered by name."""
    found = []
    listed = build / "tests.txt"
    if listed.exists():
        found += [(pathlib.Path(p).name, [p]) for p in listed.read_text().split("\n") if p]
    own = ROOT / ".venv" / "bin" / "python"
    python = str(own) if own.exists() else sys.executable
    if not with_python:
        found += sanitized(build, python)
    else:
        found += [(p.stem, [python, str(p)]) for p in sorted((ROOT / "tests").glob("*_test.py"))]
        found += [("py_" + p.stem, [python, "-m", "pytest", "-p", "no:cacheprovider", str(p)])
                  for p in sorted((ROOT / "tests" / "python").glob("*_test.py"))]
    return [(n, c) for n, c in found if not only or any(o in n for o in only)]


def sanitized(build, python):
    """The Python tests for a sanitized build: its extension in a package of symbolic links, with the sanitizer's runtime
    preloaded."""
    package = build / "python" / "evenflow"
    kind = re.search(r"^EF_SANITIZE:\w+=(\w+)$", (build / "CMakeCache.txt").read_text(), re.M)
    cores = list((build / "python").glob("_core*.so"))
    if not kind or not cores:
        return []
    package.mkdir(exist_ok=True)
    for old in package.iterdir():
        old.unlink()
    for file in [*cores, *(ROOT / "python" / "evenflow").iterdir()]:
        if file.name != "__pycache__" and (file in cores or file.suffix != ".so"):
            (package / file.name).symlink_to(file)
    runtime = {"thread": "libtsan.so", "address": "libasan.so"}[kind[1]]
    library = subprocess.run(["gcc", f"-print-file-name={runtime}"], capture_output=True, text=True).stdout.strip()
    settings = [f"LD_PRELOAD={library}", f"PYTHONPATH={package.parent}", "EF_TURNS=20", "PYTHONMALLOC=malloc",
                "ASAN_OPTIONS=detect_leaks=0"]
    file = ROOT / "tests" / "python" / "threads_test.py"
    return [("py_threads_test", ["env", *settings, python, "-m", "pytest", "-p", "no:cacheprovider", str(file)])]


def environment(build):
    """The environment of test programs: sanitizer options, and passive waiting of OpenMP threads, because several programs
    run at the same time."""
    env = dict(os.environ)
    env.setdefault("OMP_WAIT_POLICY", "passive")
    env.setdefault("ASAN_OPTIONS", "detect_leaks=1:detect_stack_use_after_return=1")
    env.setdefault("LSAN_OPTIONS", f"suppressions={ROOT}/tools/lsan.supp:print_suppressions=0")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    env.setdefault("TSAN_OPTIONS", f"suppressions={ROOT}/tools/tsan.supp:second_deadlock_stack=1:"
                                  "allocator_may_return_null=1:die_after_fork=0")
    env["EF_BUILD_DIR"] = str(build)
    env["EF_COUNTS"] = "1"  # tests/python/conftest.py prints the counts
    return env


def run(name, command, build, limit):
    """Returns name, counts, a reason if something is wrong, the output, and the seconds taken."""
    log = build / "test-logs" / f"{name}.log"
    began = time.monotonic()
    with open(log, "wb") as sink:
        child = subprocess.Popen(command, stdout=sink, stderr=subprocess.STDOUT, cwd=ROOT,
                                 env=environment(build), stdin=subprocess.DEVNULL,
                                 start_new_session=True)
        try:
            status, reason = child.wait(limit), ""
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            status, reason = child.wait(), f"ran out of time ({limit} s)"
    took = time.monotonic() - began
    output = log.read_text(errors="replace")
    found = COUNTS.findall(output)
    counts = [int(c) for c in found[-1]] if found else [0, 0, 0]
    if not reason and status < 0:
        reason = f"killed by {signal.Signals(-status).name}"
    elif not reason and not found:
        reason = f"exit status {status} and no counts"
    elif not reason and (status != 0) != (counts[1] > 0):
        reason = f"exit status {status} though it counted {counts[1]} failed"
    if reason:
        counts[1] += 1
    return name, counts, reason, output, took


def show(name, counts, reason, output, took):
    line = f"{name:<32} {counts[0]:5d} passed"
    line += f", {counts[1]} failed" if counts[1] else ""
    line += f", {counts[2]} skipped" if counts[2] else ""
    print(f"{line}  {took:.1f} s" + (f"  {reason}" if reason else ""))
    if counts[1]:
        lines = output.rstrip().split("\n")
        if len(lines) > 200:
            lines = lines[:120] + [f"... {len(lines) - 200} lines left out ..."] + lines[-80:]
        print("\n".join("    " + text for text in lines))
    elif counts[2]:
        print("\n".join("    " + t for t in output.split("\n") if t.startswith("skipped ")))
    sys.stdout.flush()


def main():
    # A shell that starts us in the background lets us ignore SIGINT, which the tests of interrupts would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("build", type=pathlib.Path)
    parse.add_argument("only", nargs="*", help="run programs whose names contain one of these")
    parse.add_argument("--jobs", type=int, default=2)
    parse.add_argument("--limit", type=int, default=300, help="seconds per program")
    parse.add_argument("--no-python", action="store_true", help="of the Python tests, only those for a sanitized build")
    args = parse.parse_intermixed_args()
    build = args.build.resolve()
    (build / "test-logs").mkdir(parents=True, exist_ok=True)
    total = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(run, name, command, build, args.limit)
                for name, command in programs(build, args.only, not args.no_python)]
        for job in concurrent.futures.as_completed(jobs):
            show(*job.result())
            total = [a + b for a, b in zip(total, job.result()[1])]
    if not jobs:
        print("no test program is built" + (f" whose name contains {' or '.join(args.only)}" if args.only else ""), file=sys.stderr)
        return 2
    verdict = f"{total[0]} passed, {total[1]} failed, {total[2]} skipped"
    (build / "test-logs" / "verdict").write_text(verdict + "\n")
    print(verdict)
    return total[1] > 0


if __name__ == "__main__":
    sys.exit(main())
