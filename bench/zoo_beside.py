"""Measures the programs of tests/zoo with Evenflow and with TensorFlow in turn, and writes their part of docs/benchmarks.md.

    python bench/zoo_beside.py --measure [--only 04 ...] [--seconds 50]   measures; figures go to bench/zoo_beside.json
    python bench/zoo_beside.py --write                                    docs/benchmarks.md and docs/pictures/zoo_*.svg

A program is measured on both before the next one begins. With --seconds it stops in time and goes on from there when it is
started again; --again forgets what was measured. TensorFlow is that of scripts/peers_venv, or of EF_PEERS.
"""
import argparse
import json
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests" / "zoo"), str(ROOT / "bench" / "peers")]
import picture  # noqa: E402
import report  # noqa: E402
import run as zoo  # noqa: E402

FIGURES, HEADING = ROOT / "bench" / "zoo_beside.json", "## The zoo"
KEPT = ("name", "calls", "first_ms", "typical_us", "drift_judged", "rss_growth_kb_per_1000_calls", "rss_is_user_data", "error")
NAMES = {"evenflow": "Evenflow", "tensorflow": "TensorFlow"}


def programs():
    return sorted((ROOT / "tests" / "zoo").glob("[0-9][0-9]_*.py"))


def read():
    return json.loads(FIGURES.read_text()) if FIGURES.exists() else {}


def about(path):
    """The first sentence of a program's text."""
    text = " ".join(path.read_text().split('"""')[1].split())
    return text.split(". ")[0].rstrip(".").split(": ")[0]


def measure(only, seconds, again):
    peers = pathlib.Path(os.environ.get("EF_PEERS") or ROOT / "build" / "peers-venv") / "bin" / "python"
    figures, end = {} if again else read(), time.monotonic() + seconds
    for path in programs():
        name = path.stem
        if (only and not any(o in name for o in only)) or (name in figures and not only):
            continue
        usual = (zoo_wall(name) or 15) * 1.2
        if time.monotonic() + usual > end and seconds != float("inf"):
            continue
        both = {}
        for module, python in (("evenflow", sys.executable), ("tensorflow", str(peers))):
            found = zoo.run_one(python, str(path), module, 120)
            both[module] = {k: found[k] for k in KEPT if k in found}
        figures[name] = both
        FIGURES.write_text(json.dumps(figures, indent=1, sort_keys=True) + "\n")
        print(name, *(f"{m} {both[m].get('typical_us', both[m].get('error'))}" for m in NAMES), flush=True)
    print(f"{len(figures)} of {len(programs())} measured")


def zoo_wall(name):
    """How long TensorFlow took for it before, in seconds."""
    results = json.loads((ROOT / "tests" / "zoo" / "results-tensorflow-2.21.json").read_text())["results"]
    return next((r.get("wall_s") for r in results if r["name"] == name), None)


def grown(found):
    """KB per 1000 calls; 0 if it is within the precision of the measurement (zoo.RSS_GRAIN_KB) or the program keeps it."""
    rate = max(0.0, found["rss_growth_kb_per_1000_calls"])
    return 0.0 if found.get("rss_is_user_data") or rate * 0.7 * found["calls"] / 1000 <= zoo.RSS_GRAIN_KB else rate


def growth(found):
    return "kept by the program" if found.get("rss_is_user_data") else f"{grown(found):,.0f} KB" if grown(found) else "none"


def section(figures):
    """The lines of the document."""
    whole = {n: f for n, f in figures.items() if not any("error" in f[m] for m in NAMES)}
    quicker = sorted(f["tensorflow"]["typical_us"] / f["evenflow"]["typical_us"] for f in whole.values())
    text = [HEADING, "",
            "Programs that get slow or grow on TensorFlow (`tests/zoo`), measured on both by `bench/zoo_beside.py --measure`, one program after the",
            "other. A call is what the program repeats. Drift: the median call at the end over that at the beginning. Growth: of resident",
            f"memory per 1000 calls; what stays below {zoo.RSS_GRAIN_KB:.0f} KB in the whole run is none. A dash: the program fails there. The median program is {quicker[len(quicker) // 2]:.0f} times as fast here.", "",
            "| program | call, Evenflow | call, TensorFlow | drift, Evenflow | drift, TensorFlow | growth, Evenflow | growth, TensorFlow |",
            "| --- |" + " ---: |" * 6]
    for path in programs():
        found = figures.get(path.stem)
        if not found:
            continue
        cells = []
        for tell in (lambda r: report.quantity(r["typical_us"] / 1e6, "time"), lambda r: f"{r['drift_judged']:.2f}", growth):
            cells += [tell(found[m]) if "error" not in found[m] else "-" for m in NAMES]
        text.append(f"| [{path.stem}](../tests/zoo/{path.name}) | " + " | ".join(cells) + " |")
    return [*text, "", "![time of one call](pictures/zoo_time.svg)", "", "![growth of memory](pictures/zoo_memory.svg)", "",
            "![drift](pictures/zoo_drift.svg)"]


def write():
    figures = read()
    pictures = ROOT / "docs" / "pictures"

    def groups(tell):
        return [(n[3:].replace("_", " "), {m: tell(f[m]) for m in NAMES if "error" not in f[m]}) for n, f in sorted(figures.items())]

    (pictures / "zoo_time.svg").write_text(picture.bars(
        "Time of one call of each program of the zoo (shorter is better; each step to the right is ten times as long)",
        groups(lambda r: r["typical_us"] / 1e6), NAMES, lambda v: report.quantity(v, "time")))
    (pictures / "zoo_memory.svg").write_text(picture.bars(
        "Growth of memory in 1000 calls (shorter is better; each step to the right is ten times as much)",
        groups(lambda r: max(1.0, grown(r))), NAMES,
        lambda v: "none" if v <= 1 else f"{v:,.0f} KB"))
    (pictures / "zoo_drift.svg").write_text(picture.bars(
        "The median call at the end of the run over that at its beginning (1: calls do not get slower)",
        groups(lambda r: r["drift_judged"]), NAMES, lambda v: f"{v:.2f}", log=False))
    document = ROOT / "docs" / "benchmarks.md"
    before = document.read_text().split(f"\n{HEADING}\n")[0].rstrip("\n")
    document.write_text(before + "\n\n" + "\n".join(section(figures)) + "\n")


def main():
    parse = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parse.add_argument("--measure", action="store_true", help="measure what has not been measured")
    parse.add_argument("--again", action="store_true", help="with --measure: everything, once more")
    parse.add_argument("--only", action="append", default=[], help="programs whose name contains this")
    parse.add_argument("--seconds", type=float, default=float("inf"), help="begin nothing that would end later")
    parse.add_argument("--write", action="store_true", help="write docs/benchmarks.md and its pictures")
    options = parse.parse_args()
    if not options.measure and not options.write:
        parse.error("nothing to do: give --measure or --write")
    if options.measure:
        measure(options.only, options.seconds, options.again)
    if options.write:
        write()


if __name__ == "__main__":
    main()
