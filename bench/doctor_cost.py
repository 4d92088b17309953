"""Measures the cost of counting events: the dispatch rows of bench/peers almost without samples, with default sampling, under
the doctor, and while `evenflow doctor --live` reads the sums five times a second. All are interleaved in one process; a
figure is the median of the ratios of neighbouring samples.

    python bench/doctor_cost.py [SECONDS per row] [--rows eager_add,session_run] [--no-live]
"""
import argparse
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
import subject_tensorflow  # noqa: E402
from worker import Subject  # noqa: E402

from evenflow import _core  # noqa: E402
from evenflow._src.doctor import session  # noqa: E402
from evenflow._src.doctor.observed import Watch  # noqa: E402

ROWS = ("eager_add", "function_call", "signature_call", "concrete_call", "dict_result", "tape_gradient", "fresh_function", "session_run",
        "graph_in_loop")
RARELY, ALWAYS, READ_EVERY = 1 << 24, 1024, 0.2


def sample(subject, period):
    _core.event_period(period)
    return min(subject.sample() for _ in range(3))


class Reader:
    """A process that reads the sums of this one, and can be paused."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-m", "evenflow", "doctor", "--json", "--live", str(os.getpid()), "--every", str(READ_EVERY)],
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if b"{" not in self.process.stdout.readline():
            raise SystemExit("doctor_cost: --live cannot read this process (see docs/doctor.md on ptrace_scope); use --no-live")
        os.set_blocking(self.process.stdout.fileno(), False)
        self.wait()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def wait(self):
        self.process.send_signal(signal.SIGSTOP)
        while self.process.stdout.read():
            pass

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)


def block(subject, seconds=READ_EVERY):
    """The median of the samples over a time that is long enough to contain a reading."""
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end:
        times.append(subject.sample())
    return statistics.median(times)


def live_ratio(subject, reader, rounds):
    """Measures with and without a reader in turn, in both orders."""
    _core.event_period(ALWAYS)
    ratios = []
    for k in range(rounds):
        found = {}
        for read in (k % 2 == 0, k % 2 == 1):
            if read:
                reader.go_on()
            found[read] = block(subject)
            if read:
                reader.wait()
        ratios.append(found[True] / found[False])
    return statistics.median(ratios)


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("seconds", nargs="?", type=float, default=3, help="time for each row (3)")
    parse.add_argument("--rows", default=",".join(ROWS), help="the rows to measure, by name")
    parse.add_argument("--no-live", action="store_true", help="leave --live out")
    options = parse.parse_args()
    rounds = max(1, int(20 * options.seconds))
    session.begin()  # its wrappers stay; only the period differs below
    made = subject_tensorflow.rows("evenflow")
    print(f"{'row':<18}{'us':>9}{'always on':>12}{'doctor':>10}{'--live':>10}")
    for name in options.rows.split(","):
        subject = Subject(name, made[name])
        base, always, doctor = [], [], []
        for _ in range(rounds):
            off = sample(subject, RARELY)
            always.append(sample(subject, ALWAYS) / off)
            doctor.append(sample(subject, Watch.PERIOD) / off)
            base.append(off)
        line = f"{name:<18}{1e6 * min(base):>9.3f}{100 * (statistics.median(always) - 1):>10.1f} %{100 * (statistics.median(doctor) - 1):>8.1f} %"
        if not options.no_live:
            with Reader() as reader:
                line += f"{100 * (live_ratio(subject, reader, max(3, int(3 * options.seconds))) - 1):>8.1f} %"
        print(line, flush=True)


if __name__ == "__main__":
    main()
