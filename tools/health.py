#!/usr/bin/env python3
"""Measures the figures of docs/health.md, which show whether the code stays simple, on the tree and on a build."""
import collections
import os
import pathlib
import re
import statistics
import subprocess
import sys

import capacities
import check_layers
import check_python_layers
import check_records
import source


def sources():
    """(path, text) of the library's own C files and headers."""
    return [(p, p.read_text()) for p in source.files(".c", ".h", ".def")
            if p.relative_to(source.ROOT).parts[0] in ("src", "include") and not source.is_test(p)]


def files_per_op(tree, ops):
    """For each op the number of files that must name it: the file of its record, the list, and any file that
    compares its number. A record is written as ef_op_X or by a macro, NAME(X, ...)."""
    counts = dict.fromkeys(ops, 0)
    for path, text in tree:
        if path.suffix == ".h":
            continue
        code = source.blank(text)
        named = set(re.findall(r"\bef_op_(\w+)\s*=", code)) | set(re.findall(r"^[A-Z][A-Z0-9_]*\((\w+)", code, re.M))
        named |= set(re.findall(r"\bcase\s+EF_OP_(\w+)", code))
        for op in named & counts.keys():
            counts[op] += 1
    return [n for n in counts.values() if n]


def op_switches(tree):
    """Places that branch on the number of an op, outside the graph's printer."""
    found = []
    for path, text in tree:
        name = str(path.relative_to(source.ROOT))
        if not name.startswith("src/graph/print"):
            n = len(re.findall(r"\bcase\s+EF_OP_\w+", source.blank(text)))
            found += [f"{name} ({n})"] if n else []
    return found


def cloners(tree):
    """Files that copy nodes from graph to graph: they add a node and record which old node it replaces."""
    return [str(path.relative_to(source.ROOT)) for path, text in tree
            if re.search(r"\bcopies = ", source.blank(text)) and re.search(r"\bef_graph_add", source.blank(text))]


def longest(tree):
    """The longest file and the longest function, as text."""
    files = max(((text.count("\n"), p) for p, text in tree if p.name != "all.def"), default=None)
    functions = max(((size, name, p) for p, text in tree for name, _, size in source.functions(text)),
                    key=lambda f: f[0], default=None)
    if not files:
        return "none", "none"
    one = f"{files[1].relative_to(source.ROOT)}, {files[0]} lines"
    two = f"`{functions[1]}` in {functions[2].relative_to(source.ROOT)}, {functions[0]} lines" if functions else "none"
    return one, two


def lacking(build):
    """(summary, details) of tools/ef_ops_report about ops that lack a column."""
    program = build / "tools" / "ef_ops_report"
    if not program.exists():
        return "not measured (ef_ops_report is not built)", ""
    run = subprocess.run([program], capture_output=True, text=True)
    lines = run.stdout.strip().splitlines()
    if run.returncode or not lines:
        return f"ef_ops_report failed with status {run.returncode}", ""
    return lines[-1], "\n".join(lines[:-1])


def allocations():
    """(kind of call, allocations per call) of warm calls, measured by running them."""
    python = source.ROOT / ".venv" / "bin" / "python"
    run = subprocess.run([python, source.ROOT / "tools" / "health_calls.py"], capture_output=True, text=True)
    if run.returncode:
        return [("a call", "not measured: " + (run.stderr.strip().splitlines() or ["no answer"])[-1])]
    return [tuple(line.rsplit(": ", 1)) for line in run.stdout.splitlines()]


def on_models():
    """(figure, now) of what only a run can tell: caches under the budget, and groups of ops that fusion gave up."""
    python = source.ROOT / ".venv" / "bin" / "python"
    run = subprocess.run([python, source.ROOT / "tools" / "health_models.py"], capture_output=True, text=True,
                         env={**os.environ, "EF_LOG": "fuse"})
    if run.returncode:
        why = "not measured: " + (run.stderr.strip().splitlines() or ["no answer"])[-1]
        return [(why, "0")] * 2
    groups = [int(n) for n in re.findall(r"^fuse: \d+ ops in (\d+) groups", run.stderr, re.M)]
    dropped = [int(n) for n in re.findall(r"(\d+) groups dropped", run.stderr)]
    return [(f"{sum(dropped)} of {sum(groups)}", "0"), (run.stdout.strip(), "all of them")]


def op_strings(ops):
    """Places outside the records that compare the name of an op with a string: file and number of lines."""
    found, names = [], set(ops)
    for path in source.files(".c", ".h", ".py"):
        name = str(path.relative_to(source.ROOT))
        if not name.startswith(("src/", "python/")) or source.is_test(path):
            continue
        n = 0
        for line in path.read_text().splitlines():
            if re.search(r"\b(str|strn|mem)cmp\(", line) or re.search(r"\.(type|name|op_type) (==|!=|in|not in) ", line):
                n += sum(text in names for text in re.findall(r"""["'](\w+)["']""", line))
        found += [f"{name} ({n})"] if n else []
    return found


def lines_per_room(tree):
    lines = collections.Counter()
    tests = collections.Counter()
    for path, text in tree:
        parts = path.relative_to(source.ROOT).parts
        lines[parts[1] if parts[0] == "src" else "include"] += text.count("\n")
    for path in source.files(".c", ".h"):
        parts = path.relative_to(source.ROOT).parts
        if parts[0] == "src" and source.is_test(path):
            tests[parts[1]] += path.read_text().count("\n")
    order = list(check_layers.rooms((source.ROOT / "docs" / "style.md").read_text())) + ["include"]
    return [(room, lines[room], tests[room]) for room in order if lines[room] or tests[room]]


def main(build):
    tree, ops = sources(), check_records.op_names()
    per_op = files_per_op(tree, ops)
    switches = op_switches(tree)
    file, function = longest(tree)
    summary, details = lacking(build)
    python = check_python_layers.figures()
    fused, caches = on_models()
    figures = [
        ("files touched to add an op", f"{statistics.median(per_op):g} in the median, {max(per_op)} at most, "
         "the list included" if per_op else "no ops", "2: its file and one line of `all.def`"),
        ("ops", str(len(ops)), ""),
        ("ops lacking a column", summary, "0"),
        ("`switch` cases over ops outside the graph's printer", ", ".join(switches) or "0", "0"),
        ("longest file", file, "1200 lines"),
        ("longest function", function, "150 lines"),
        ("includes that break the layers", str(len(check_layers.violations(source.ROOT))), "0"),
        ("Python imports that break the layers, or make a cycle", str(python[0]), "0"),
        ("Python imports inside functions", str(python[1]), "10, each with its reason"),
        ("ops named outside their records, tests and rules", str(len(list(check_records.complaints()))), "0"),
        ("ops named by string comparison", ", ".join(op_strings(ops)) or "0", "0"),
        ("files that copy nodes from graph to graph", ", ".join(cloners(tree)) or "0", "1: the cloner"),
        ("fused groups dropped over the models of the benchmark", *fused),
        ("caches under the one byte budget", *caches),
        *((f"allocations per call: {what}", n, "0") for what, n in allocations()),
    ]
    text = ["# Health", "", "Written by `tools/health.py` (the last step of `make check`); do not edit by hand.", "",
            "| figure | now | goal |", "| --- | --- | --- |"]
    text += [f"| {a} | {b} | {c} |" for a, b, c in figures]
    rooms = lines_per_room(tree)
    text += ["", "| room | lines | lines of tests beside it |", "| --- | ---: | ---: |"]
    text += [f"| {room} | {n} | {t} |" for room, n, t in rooms]
    text += [f"| all | {sum(r[1] for r in rooms)} | {sum(r[2] for r in rooms)} |"]
    limits, complaints = capacities.table()
    text += ["", "Fixed capacities, listed in `tools/capacities.py`, with what happens beyond them:", "", *limits]
    text += ["", "Ops lacking a column:", "", "```text", details, "```"] if details else []
    (source.ROOT / "docs" / "health.md").write_text("\n".join(text) + "\n")
    for a, b, _ in figures:
        print(f"{a}: {b}")
    print("lines per room: " + ", ".join(f"{room} {n}" for room, n, _ in rooms))
    print("\n".join([f"fixed capacities: {len(limits) - 2}", *complaints]))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()))
