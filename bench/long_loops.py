"""Long loops: 10,000 iterators made and dropped, half of them unfinished, and 500 times build, fit, predict, save, load and
clear_session. Prints threads, descriptors and memory before and after, and how the time of a turn moved.

.venv/bin/python bench/long_loops.py [iterators N] [models N] [--tracemalloc] [--tensorflow]
"""
import pathlib
import statistics
import sys
import tempfile
import tracemalloc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "python"))
if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import evenflow as tf
import loop_programs as programs  # noqa: E402


def iterators(n, folder):
    datasets = programs.pipelines(tf, folder)
    programs.drop_iterators(datasets, 200)
    before = programs.state()
    programs.drop_iterators(datasets, n)
    after = programs.state()
    print(f"{n} iterators, half unfinished: threads {before[0]} -> {after[0]}, descriptors {before[1]} -> {after[1]}, "
          f"memory {(after[2] - before[2]) / 1e6:+.2f} MB", flush=True)


def models(n, folder):
    watch = "--tracemalloc" in sys.argv
    if watch:
        programs.model_lives(tf, folder, 20)
        tracemalloc.start(8)
        first = tracemalloc.take_snapshot()
    kept, seconds, busy = programs.model_lives(tf, folder, n)
    tenth = max(n // 10, 1)
    times = "; ".join(f"{1e3 * early:.1f} ms {what} early, {1e3 * late:.1f} ms late ({late / early:.3f})" for what, early, late in (
        (what, statistics.median(of[20:20 + tenth]), statistics.median(of[-tenth:]))
        for what, of in (("elapsed", seconds), ("of processors", busy))))
    print(f"{n} models: memory after the first 20 {kept[0] / 1e6:.1f} MB, then "
          + " ".join(f"{(k - kept[0]) / 1e6:+.2f}" for k in kept[1:])
          + f"; a turn: {times}", flush=True)
    if watch:
        grown = tracemalloc.take_snapshot().compare_to(first, "lineno")
        print(f"  Python objects: {sum(g.size_diff for g in grown) / 1e6:+.2f} MB; the largest by line:")
        for g in grown[:12]:
            print(f"    {g.size_diff / 1e3:+9.1f} KB {g.count_diff:+7d}  {g.traceback[0].filename}:{g.traceback[0].lineno}")


def main():
    asked = {w: int(sys.argv[k + 1]) for k, w in enumerate(sys.argv) if w in ("iterators", "models")}
    with tempfile.TemporaryDirectory() as folder:
        for name, run, n in (("iterators", iterators, 10_000), ("models", models, 500)):
            if not asked or name in asked:
                run(asked.get(name, n), folder)


if __name__ == "__main__":
    main()
