#!/usr/bin/env python3
"""`make bench-peers`: compares Evenflow with TensorFlow, PyTorch and JAX on the same machine at the same time.

Each peer has its own process for the whole run. The rounds are interleaved: for each row, every peer is measured
in turn (in a changing order), so that other load on the machine affects all of them alike. A figure is the median
over all rounds. In some rounds every row is then measured once more beside two busy processes, and its time there is divided by
the one just measured without them, since the machine's own speed can change within a minute. A figure beside busy processes is
the mean of longer stretches: the scheduler takes the processor away for some milliseconds at a time, which a sample of two
milliseconds either misses or meets whole, and the median of such samples is not what a caller waits. The end is a table
with each bar and its verdict; docs/benchmarks.md and its pictures are written from the same figures.
"""
import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

import report
from rows import BARS, PEERS, ROWS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from load import Busy  # noqa: E402

PAUSE = 0.3  # seconds between peers: a team of OpenMP's threads spins for 200 ms after its last region
SETTLE = 0.5  # seconds after busy processes end: who adapted to them takes the machine for crowded a little longer
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}  # as for an installed package


class Peer:
    """A worker process and what it has answered."""

    def __init__(self, name, python):
        self.name, self.python = name, python
        self.child = subprocess.Popen([python, HERE / "worker.py", name], text=True, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENVIRONMENT)
        hello = self.answer()
        self.rows, self.version = hello.get("rows", []), hello.get("version", "not installed")
        self.times, self.ratios, self.errors = {}, {}, {}  # ratios: time beside busy processes by time alone

    def answer(self):
        try:
            return json.loads(self.child.stdout.readline())
        except ValueError:
            return {"error": "the worker died"}

    def measure(self, row, seconds, figure=statistics.median, most=10):
        """One round's figure; None: there is none."""
        if row not in self.rows or row in self.errors:
            return None
        try:
            print(json.dumps({"row": row, "seconds": seconds, "most": most}), file=self.child.stdin, flush=True)
        except OSError:
            pass
        got = self.answer()
        if "error" in got:
            self.errors[row] = got["error"]
            return None
        return figure(got["times"])

    def fresh(self, row, how):
        """One figure from a process of its own."""
        if not self.rows:
            return
        done = subprocess.run([self.python, HERE / "worker.py", self.name, how], text=True, capture_output=True,
                              env=ENVIRONMENT)
        if done.returncode:
            self.errors[row] = (done.stderr.strip().splitlines() or ["no answer"])[-1]
        else:
            self.times.setdefault(row, []).append(json.loads(done.stdout))

    def close(self):
        self.child.stdin.close()
        self.child.wait()


class Progress:
    """A bar on the terminal; nothing where the output is kept in a file."""

    def __init__(self, steps):
        self.steps, self.done, self.began = steps, 0, time.monotonic()

    def step(self, what):
        self.done += 1
        if not sys.stderr.isatty():
            return
        full = 30 * self.done // self.steps
        left = (time.monotonic() - self.began) / self.done * (self.steps - self.done)
        text = f"[{'#' * full}{'.' * (30 - full)}] {100 * self.done // self.steps:3d} %  {left:4.0f} s left  {what}"
        print(f"\r{text:<100.100}", end="" if self.done < self.steps else "\n", file=sys.stderr, flush=True)


def round_of(peers, row, seconds, loaded):
    """Measures a row for all peers: {peer: time}, and beside two busy processes {peer: ratio} if `loaded`."""
    alone, ratios = {}, {}
    for peer in random.sample(peers, len(peers)):
        time.sleep(PAUSE)
        alone[peer] = peer.measure(row.name, seconds)
    if loaded:
        with Busy(2):  # new processes each time: their placement on processors matters, for all peers
            for peer in random.sample(peers, len(peers)):
                time.sleep(PAUSE)
                beside = peer.measure(row.name, 3 * seconds, statistics.fmean, most=50)
                ratios[peer] = beside / alone[peer] if beside and alone[peer] else None
        time.sleep(SETTLE)
    return alone, ratios


def measure(peers, rounds, loaded_rounds, seconds, only):
    rows = [r for r in ROWS if not only or r.name in only]
    warm = [r for r in rows if not r.fresh]
    fresh = [r for r in rows if r.fresh]
    progress = Progress((rounds + 1) * len(warm) + min(rounds, 5) * len(fresh))
    for k in range(rounds + 1):
        for row in warm:
            alone, ratios = round_of(peers, row, seconds, 0 < k <= loaded_rounds)
            for peer in peers:
                if k and alone[peer]:  # the first round sets up and warms up
                    peer.times.setdefault(row.name, []).append(alone[peer])
                if ratios.get(peer):
                    peer.ratios.setdefault(row.name, []).append(ratios[peer])
            progress.step(row.name)
    for peer in peers:
        peer.close()
    for _ in range(min(rounds, 5)):
        for row in fresh:
            for peer in peers:
                peer.fresh(row.name, "--import" if row.name == "import" else "--once")
            progress.step(row.name)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parse.add_argument("--python", default=str(ROOT / ".venv/bin/python"), help="the Python that has evenflow")
    parse.add_argument("--peers", default=str(ROOT / "build/peers-venv"), help="virtual environment of the peers")
    parse.add_argument("--rounds", type=int, default=9)
    parse.add_argument("--loaded-rounds", type=int, default=5, help="rounds beside two busy processes")
    parse.add_argument("--seconds", type=float, default=0.15, help="per row, peer and round")
    parse.add_argument("--only", action="append", default=[], help="only this row (nothing is written)")
    parse.add_argument("--no-write", action="store_true", help="leave docs/benchmarks.md as it is")
    args = parse.parse_args()
    python = str(pathlib.Path(args.peers) / "bin/python")
    peers = [Peer("evenflow", args.python)] + [Peer(name, python) for name in PEERS]
    for peer in peers:
        print(f"{PEERS.get(peer.name, 'Evenflow')} {peer.version}", flush=True)
    measure(peers, args.rounds, args.loaded_rounds, args.seconds, args.only)
    figures = {p.name: {row: statistics.median(t) for row, t in p.times.items() if t} for p in peers}
    ratios = {p.name: {row: statistics.median(r) for row, r in p.ratios.items()} for p in peers}
    errors = {p.name: p.errors for p in peers if p.errors}
    verdicts = report.judge(figures, [b for b in BARS if not args.only or b.row in args.only])
    loaded = report.judge_loaded(figures, ratios)
    print(report.table(figures, verdicts, loaded))
    for name, found in errors.items():
        for row, error in found.items():
            print(f"{name} {row}: {error}")
    if not args.only and not args.no_write:
        versions = {p.name: p.version for p in peers}
        report.write(ROOT, figures, verdicts, loaded, versions)
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build/peers.json").write_text(json.dumps({"figures": figures, "loaded": ratios, "versions": versions}, indent=1))
    print(report.summary([*verdicts, *loaded]))
    return any(v.held is not True for v in [*verdicts, *loaded])


if __name__ == "__main__":
    sys.exit(main())
