#!/usr/bin/env python3
"""`make even`: checks that neither memory nor time grows, for all ops and all ways of calling them.

    main.py [--seconds S] [--seed N] [--parts million,golden,sweep] [--only TEXT]

Three parts: a million calls of the commonest kinds (million.py); every golden case 300 times in each mode; and a sweep over ops,
dtypes, sizes and ways of calling (cases.py, ways.py). Golden cases and sweep are random samples that share S seconds (default
600, or EVEN_SECONDS); 0 means all cases. Half of the sweep runs while two other processes are busy.

A case is measured in a worker process. A case that seems to grow or to slow down is a suspect: it is measured twice more, each
time in a new process, and late calls are timed in turn with those of a fresh process. A finding counts only if it is repeated
each time.
The last line is `N even, M uneven`; the exit status is 1 if something was uneven.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import threading
import time

import cases
import golden
import meter
import ways

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from load import Busy  # noqa: E402

EACH, TIMEOUT, DRIFT = 0.35, 60, 1.15
SURE = 40  # calls per block, for suspects: up to 48 ops are deferred before they run, which must not look like growth


class Worker:
    """A worker process. It is restarted if it has died or does not respond."""

    def __init__(self):
        self.child = None

    def ask(self, **what):
        if self.child is None:
            self.child = subprocess.Popen([sys.executable, str(HERE / "worker.py")], text=True, stdin=subprocess.PIPE,
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.answer()
        try:
            print(json.dumps(what), file=self.child.stdin, flush=True)
        except OSError:
            pass
        return self.answer()

    def answer(self):
        stalled = threading.Event()
        watch = threading.Timer(TIMEOUT, lambda: (stalled.set(), self.child.kill()))
        watch.start()
        line = self.child.stdout.readline()
        watch.cancel()
        if line:
            return json.loads(line)
        status, self.child = self.child.wait(), None
        return {"died": "stood still for a minute" if stalled.is_set() else f"the process died with status {status}"}

    def end(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            self.child = None


class Load:
    """Two busy processes that can be switched on and off."""

    def __init__(self):
        self.busy = None

    def set(self, on):
        if on and self.busy is None:
            self.busy = Busy(2)
            self.busy.__enter__()
        elif not on and self.busy is not None:
            self.busy.__exit__()
            self.busy = None


def drift_of(case):
    """The ratio of late to early calls: the median time of a process that has made many calls, divided by that of a fresh
    process, measured in turn."""
    old, young = Worker(), Worker()
    try:
        aged = old.ask(do="age", case=case, seconds=2.0)
        fresh = young.ask(do="age", case=case, seconds=0.0)
        if "block" not in aged or "block" not in fresh:
            return 0.0
        n = max(3, min(aged["block"], fresh["block"]))
        pairs = [(old.ask(do="block", calls=n).get("each", 0), young.ask(do="block", calls=n).get("each", 1)) for _ in range(15)]
        return meter.median(a / max(b, 1e-9) for a, b in pairs)
    finally:
        old.end()
        young.end()


def confirmed(ask, case):
    """The findings that a suspect shows in both of two more measurements, each in a new process; empty if it was chance."""
    for _ in range(2):
        worker = Worker()
        found = worker.ask(**ask)
        worker.end()
        if "died" in found:
            why = [found["died"]]
        elif "error" in found:
            why = [found["error"]]
        else:
            why = meter.verdict(found)
            if not why and case and found["drift"] > DRIFT:
                ratio = drift_of(case)
                why = [f"late calls take {ratio:.2f} x the time of early ones"] if ratio > DRIFT else []
        if not why:
            return []
    return why


class Count:
    def __init__(self):
        self.even, self.uneven, self.refused, self.began, self.told = 0, 0, {}, time.monotonic(), time.monotonic()

    def judge(self, worker, ask, what, case=None):
        found = worker.ask(**ask)
        if "error" in found:  # the op does not support this dtype
            self.refused.setdefault(found["error"].split("\n")[0][:90], []).append(what)
            return
        if "died" in found or meter.verdict(found) or found["drift"] > 1.3:
            worker.end()  # the next case begins without what this one left behind
            longer = {"seconds": 2 * EACH, "least": SURE} if case else {"warm": 20 * golden.WARM}
            why = confirmed({**ask, **longer}, case)
            if why:
                self.uneven += 1
                print(f"UNEVEN {what}: {'; '.join(why)}", flush=True)
                return
        self.even += 1

    def tell(self, part):
        if time.monotonic() - self.told > 15:
            self.told = time.monotonic()
            print(f"    {self.told - self.began:.0f} s, {part}: {self.even} even, {self.uneven} uneven", flush=True)


def run_golden(count, seconds, seed, only):
    work = [pair for pair in golden.everything() if only in pair[0]]
    random.Random(seed).shuffle(work)
    end, worker = time.monotonic() + seconds, Worker()
    for k, (name, mode) in enumerate(work):
        if seconds and time.monotonic() > end:
            break
        if k % 200 == 199:
            worker.end()
        count.judge(worker, {"do": "golden", "id": name, "mode": mode, "warm": golden.WARM}, f"golden {name} [{mode}]")
        count.tell("golden")
    worker.end()
    return f"{k + 1} of {len(work)} golden cases"


def run_sweep(count, seconds, seed, only):
    work = cases.sample(ways.WAYS, seed) if seconds else cases.all_cases(ways.WAYS)
    end, worker, load, k = time.monotonic() + seconds, Worker(), Load(), 0
    try:
        for k, case in enumerate(c for c in work if only in " ".join(map(str, c))):
            if seconds and time.monotonic() > end:
                break
            if k % 40 == 39:
                worker.end()
            load.set(k // 20 % 2 == 1)
            what = f"{case[0]} of {case[2]} {case[1]}, {case[3]}{' (loaded)' if load.busy else ''}"
            count.judge(worker, {"do": "measure", "case": case, "seconds": EACH, "least": 3}, what, case)
            count.tell("sweep")
    finally:
        load.set(False)
        worker.end()
    return f"{k} cases of the sweep"


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("--seconds", type=float, default=float(os.environ.get("EVEN_SECONDS", 600)))
    parse.add_argument("--seed", type=int, default=random.randrange(1 << 20))
    parse.add_argument("--parts", default="million,golden,sweep")
    parse.add_argument("--only", default="", help="only cases whose description contains this")
    args = parse.parse_args()
    parts, count = args.parts.split(","), Count()
    print(f"seed {args.seed}", flush=True)
    if "million" in parts:
        out = subprocess.run([sys.executable, str(HERE / "million.py")], stdout=subprocess.PIPE, text=True).stdout
        print(out, flush=True)
        rows = [line for line in out.splitlines() if line.endswith((" held", " MISSED"))]
        count.uneven += sum(line.endswith("MISSED") for line in rows) if rows else 1
        count.even += sum(line.endswith("held") for line in rows)
    share = 0.3 if "sweep" in parts else 1.0
    done = []
    if "golden" in parts:
        done.append(run_golden(count, args.seconds * share, args.seed, args.only))
    if "sweep" in parts:
        done.append(run_sweep(count, args.seconds * (0.7 if "golden" in parts else 1.0), args.seed, args.only))
    for why, cases_refused in sorted(count.refused.items(), key=lambda kv: -len(kv[1])):
        print(f"not possible ({len(cases_refused)}, such as {cases_refused[0]}): {why}")
    print("; ".join(done))
    print(f"{count.even} even, {count.uneven} uneven")
    return count.uneven > 0


if __name__ == "__main__":
    sys.exit(main())
