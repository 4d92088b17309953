"""Reports the figures: the table on the terminal, docs/benchmarks.md, and the verdict for each limit."""
import dataclasses
import os
import platform
import re

import picture
from rows import LOADED, PEERS, ROWS

NAMES = {"evenflow": "Evenflow", **PEERS}


@dataclasses.dataclass
class Verdict:
    bar: object
    limit: float | None = None  # what ours may be
    ours: float | None = None
    held: bool | None = None    # None: not measured

    @property
    def wanted(self):
        """The bar in words: `1/60 of TensorFlow`."""
        peer, _, row = self.bar.peer.partition(":")
        if peer == "seconds":
            return quantity(self.bar.times, "time")
        who = "the best peer" if peer == "best" else NAMES[peer]
        if peer == "evenflow":
            who = f"our own \"{next(r.title for r in ROWS if r.name == row)}\""
        if peer == "jax":
            who = "jax.jit"
        t = self.bar.times
        whole = abs(1 / t - round(1 / t)) < 1e-6
        long = len(f"{t:g}") > 5  # 1/1.2 is easier to read than 0.833333
        return f"1/{1 / t:g} of {who}" if t < 1 and (whole or long) else f"{t:g} x {who}"

    @property
    def word(self):
        return {True: "held", False: "MISSED", None: "not measured"}[self.held]


def judge(figures, bars):
    """A verdict for each bar."""
    found = []
    for bar in bars:
        peer, _, row = bar.peer.partition(":")
        row = row or bar.row
        who = [] if peer == "seconds" else PEERS if peer == "best" else [peer]
        theirs = [1.0] if peer == "seconds" else [figures[p].get(row) for p in who]
        theirs = [t for t in theirs if t is not None]
        ours = figures["evenflow"].get(bar.row)
        v = Verdict(bar, ours=ours)
        if theirs and ours is not None:
            v.limit = min(theirs) * bar.times
            v.held = ours <= v.limit
        found.append(v)
    return found


@dataclasses.dataclass
class Loaded:
    """A row beside two busy processes: how many times its time alone, ours and of each peer."""
    row: object
    ratios: dict
    limit: float | None = None
    held: bool | None = None

    @property
    def word(self):
        return Verdict.word.fget(self)


def judge_loaded(figures, measured):
    """A verdict for each row beside two busy processes. Its limit is LOADED, or the ratio of the best peer there: the one
    that is quickest beside them, since a peer that is slow alone loses little."""
    found = []
    for row in ROWS:
        ratios = {name: of[row.name] for name, of in measured.items() if row.name in of}
        if not ratios:
            continue
        v = Loaded(row, ratios)
        peers = [n for n in ratios if n != "evenflow" and figures[n].get(row.name)]
        best = min(peers, key=lambda n: figures[n][row.name] * ratios[n], default=None)
        v.limit = max(LOADED, ratios[best] if best else 0.0)
        v.held = ratios["evenflow"] <= v.limit if "evenflow" in ratios else None
        found.append(v)
    return found


def summary(verdicts):
    missing = sum(v.held is None for v in verdicts)
    text = f"{sum(v.held is True for v in verdicts)} held, {sum(v.held is False for v in verdicts)} missed"
    return text + (f", {missing} not measured" if missing else "")


def quantity(value, unit):
    """A figure with three digits and its unit."""
    if value is None:
        return "-"
    if unit == "memory":
        return f"{value / 2**20:.0f} MB"
    for factor, name in ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1, "s")):
        if value * factor < 999.5 or name == "s":
            return f"{value * factor:.3g} {name}" if value * factor < 99.95 else f"{value * factor:.0f} {name}"


def lines(figures):
    """(title, one text for each of NAMES) of every row with a figure."""
    for row in ROWS:
        if any(row.name in f for f in figures.values()):
            yield row, [quantity(figures[name].get(row.name), row.unit) for name in NAMES]


def loaded_lines(verdicts):
    """(title, one ratio for each of NAMES, what it may be, verdict)"""
    for v in verdicts:
        yield (v.row.title, [f"{v.ratios[n]:.2f} x" if n in v.ratios else "-" for n in NAMES], f"{v.limit:.2f} x", v.word)


def table(figures, verdicts, loaded):
    """What the terminal shows at the end."""
    out = ["", f"{'':52}" + "".join(f"{n:>12}" for n in NAMES.values())]
    for row, texts in lines(figures):
        out.append(f"{row.title.replace('`', ''):52}" + "".join(f"{t:>12}" for t in texts))
    titles = {r.name: r for r in ROWS}
    out += ["", f"{'bar':76}{'may be':>10}{'is':>10}  verdict"]
    for v in verdicts:
        row = titles[v.bar.row]
        what = f"{row.title.replace('`', '')}: {v.wanted}"
        out.append(f"{what:76}{quantity(v.limit, row.unit):>10}{quantity(v.ours, row.unit):>10}  {v.word}")
    if loaded:
        out += ["", f"{'beside two busy processes, times the time alone':52}" + "".join(f"{n:>12}" for n in NAMES.values())
                + f"{'may be':>10}  verdict"]
        out += [f"{title.replace('`', ''):52}" + "".join(f"{t:>12}" for t in texts) + f"{limit:>10}  {word}"
                for title, texts, limit, word in loaded_lines(loaded)]
    return "\n".join(out) + "\n"


def machine():
    try:
        with open("/proc/cpuinfo") as f:
            model = re.search(r"model name\s*:\s*(.*)", f.read())[1]
    except (OSError, TypeError):
        model = platform.processor() or platform.machine()
    load = f"; load average {os.getloadavg()[0]:.1f} when it ended (1 is this program alone)"
    return f"{model}, {os.cpu_count()} threads, {platform.system()}, Python {platform.python_version()}{load}"


def write(root, figures, verdicts, loaded, versions):
    """docs/benchmarks.md and docs/pictures/peers_*.svg."""
    pictures = root / "docs" / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    titles = {r.name: r for r in ROWS}
    times = [(r.title.replace("`", ""), {n: f[r.name] for n, f in figures.items() if r.name in f})
             for r in ROWS if not r.fresh]
    (pictures / "peers_time.svg").write_text(picture.bars(
        "Time of one call (shorter is better; each step to the right is ten times as long)", times, NAMES,
        lambda v: quantity(v, "time")))
    fresh = [(r.title, {n: f[r.name] for n, f in figures.items() if r.name in f}, r.unit) for r in ROWS if r.fresh]
    for title, values, unit in fresh:
        name = "peers_memory.svg" if unit == "memory" else "peers_import.svg"
        (pictures / name).write_text(picture.bars(title.capitalize(), [("", values)], NAMES,
                                                  lambda v, u=unit: quantity(v, u), log=False))
    text = ["# Beside the others", "",
            "Written by `make bench-peers`; do not edit by hand. Each package has a process of its own. A round",
            "measures each row on every package in turn; a figure is the median over the rounds. `bench/peers/` holds the programs;",
            "Evenflow and TensorFlow run the same one.", "",
            f"Machine: {machine()}.",
            "Versions: " + ", ".join(f"{NAMES[n]} {v}" for n, v in versions.items() if n != "evenflow") + ".", "",
            "| | " + " | ".join(NAMES.values()) + " |", "| --- |" + " ---: |" * len(NAMES)]
    text += [f"| {row.title} | " + " | ".join(texts) + " |" for row, texts in lines(figures)]
    text += ["", "![time of one call](pictures/peers_time.svg)", "", "![import](pictures/peers_import.svg)", "",
             "![memory](pictures/peers_memory.svg)", "",
             "A function is `tf.function`, `jax.jit`, and in PyTorch plain Python. A dash: there is no such thing there. The models are Keras's in Evenflow and TensorFlow, and PyTorch's own layers with channels-last pictures there.",
             "", "## Bars", "", "| row | at most | which is | ours | verdict |", "| --- | --- | ---: | ---: | --- |"]
    for v in verdicts:
        row = titles[v.bar.row]
        text.append(f"| {row.title} | {v.wanted} | {quantity(v.limit, row.unit)} | {quantity(v.ours, row.unit)} | "
                    f"{v.word} |")
    text += ["", "## Beside two busy processes", "",
             "Each row again while two processes use all the time of two cores: how many times its time alone. Ours may be "
             f"{LOADED} x, or as many as the peer's that is quickest there.", "",
             "| row | " + " | ".join(NAMES.values()) + " | ours may be | verdict |", "| --- |" + " ---: |" * (len(NAMES) + 1) + " --- |"]
    text += [f"| {title} | " + " | ".join(texts) + f" | {limit} | {word} |" for title, texts, limit, word in loaded_lines(loaded)]
    text += ["", summary([*verdicts, *loaded]) + "."]
    document = root / "docs" / "benchmarks.md"
    zoo = document.read_text().partition("\n## The zoo\n") if document.exists() else ("", "", "")
    document.write_text("\n".join(text) + "\n" + zoo[1] + zoo[2])  # that part is bench/zoo_beside.py's
