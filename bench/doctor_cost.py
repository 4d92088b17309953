"""What counting costs: the dispatch rows of bench/peers with hardly any samples, with the samples that are always taken, and
under the doctor. The three are interleaved in one process; the figure is the median of the ratios of neighbouring samples.

    python bench/doctor_cost.py [SECONDS per row]
"""
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "peers"))
import subject_tensorflow  # noqa: E402
from worker import Subject  # noqa: E402

from evenflow import _core  # noqa: E402
from evenflow._src.doctor import session  # noqa: E402
from evenflow._src.doctor.observed import Watch  # noqa: E402

ROWS = ("eager_add", "function_call", "signature_call", "concrete_call", "dict_result", "tape_gradient", "fresh_function", "session_run",
        "graph_in_loop")
RARELY, ALWAYS = 1 << 24, 1024


def sample(subject, period):
    _core.event_period(period)
    return min(subject.sample() for _ in range(3))


def main():
    rounds = int(20 * float(sys.argv[1] if len(sys.argv) > 1 else 3))
    session.begin()  # its wrappers stay; only the period differs below
    made = subject_tensorflow.rows("evenflow")
    print(f"{'row':<18}{'us':>9}{'always on':>12}{'doctor':>10}")
    for name in ROWS:
        subject = Subject(name, made[name])
        base, always, doctor = [], [], []
        for _ in range(rounds):
            off = sample(subject, RARELY)
            always.append(sample(subject, ALWAYS) / off)
            doctor.append(sample(subject, Watch.PERIOD) / off)
            base.append(off)
        print(f"{name:<18}{1e6 * min(base):>9.3f}{100 * (statistics.median(always) - 1):>10.1f} %{100 * (statistics.median(doctor) - 1):>8.1f} %",
              flush=True)


if __name__ == "__main__":
    main()
