#!/usr/bin/env python3
"""Writes the reference of ops, docs/ops/*.md: an index and a page per theme (the folders of src/ops).

usage: gen_op_docs.py [BUILD [FOLDER]]      (default: build, docs/ops)

BUILD/tools/gen_docs writes the records of the ops as JSON, from which the pages are made; the Python names come from the package.
A test compares the result with what is checked in.
"""
import inspect
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
THEMES = {"array": "Shapes, slices and copies", "control": "Control flow and calls", "data": "Datasets", "image": "Images", "io": "Files and formats",
          "linalg": "Linear algebra", "list": "Tensor lists", "math": "Arithmetic and reductions", "nn": "Neural networks", "queue": "Queues", "random": "Random numbers",
          "signal": "Signals", "sparse": "Sparse tensors", "state": "Variables and resources", "string": "Strings"}
RECORD = r"\bef_op_{0}\s*=\s*\{{|\bEF_NAMED\({0}\)|^\s*[A-Z][A-Z_0-9]*\((?:\w+, )*?{0}\b"
NAMES_SHOWN = 6


def themes(ops):
    """{op: (theme, file)}: where its record is. An op whose name is built by a macro is assumed to be beside the op with the
    most similar name."""
    texts = {}
    for folder, _, files in os.walk(os.path.join(ROOT, "src", "ops")):
        theme = os.path.relpath(folder, os.path.join(ROOT, "src", "ops")).split(os.sep)[0]
        for name in files:
            if theme != "." and name.endswith((".c", ".inc")) and not name.endswith("_test.c"):
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    texts[theme, os.path.relpath(os.path.join(folder, name), ROOT)] = file.read()
    found = {}
    for op in ops:
        pattern = re.compile(RECORD.format(op), re.M)
        where = sorted(key for key, text in texts.items() if pattern.search(text))
        if where:
            found[op] = where[0]
    for op in ops:
        if op not in found:
            found[op] = found[max((o for o in ops if o in found), key=lambda o: (len(os.path.commonprefix([o, op])), o))]
    return found


def python_names():
    """{op: (public names that are the op itself, public names of Python functions that call it)}"""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import evenflow
    from evenflow._src import namespace

    found = {}
    for name, obj in namespace.names().items():
        if name.startswith(("__", "raw_ops.")):
            continue
        own = getattr(obj, "_op_name", None)
        if isinstance(obj, evenflow._core.Front):
            obj = obj.__wrapped__
        if own is None and inspect.isfunction(obj) and obj.__module__.startswith("evenflow."):
            called = re.findall(r"\braw\.([A-Z]\w+)", inspect.getsource(obj))
        else:
            called = [own] if own else []
        for op in set(called):
            found.setdefault(op, ([], []))[own is None].append(name)
    del evenflow

    def in_order(names):
        return sorted(names, key=lambda n: (n.startswith("compat."), n.startswith("experimental."), n.count("."), n))

    return {op: (in_order(own), in_order(callers)) for op, (own, callers) in found.items()}


def anchor(op):
    return op["name"].lower()


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def listed(names):
    return ", ".join([f"`tf.{n}`" for n in names[:NAMES_SHOWN]] + [f"and {len(names) - NAMES_SHOWN} more"] * (len(names) > NAMES_SHOWN))


def section(op, file, names):
    lines = [f"## {op['name']}", "", op["doc"] or "(no description)", ""]
    for what in ("inputs", "outputs"):
        if op[what]:
            lines.append(f"- {what}: " + ", ".join(f"`{a}`" for a in op[what]))
    for a in op["attrs"]:
        default = f", `{a['default']}` by default" if "default" in a else ", must be given"
        lines.append(f"- attribute `{a['name']}`: `{a['type']}`{default}")
    if op["types"]:
        lines.append("- dtypes: " + "; ".join(f"`{t.strip()}`" for t in op["types"].split(";")))
    lines += [f"- gradient: {op['gradient']}", f"- fuses: {op['fuses']}"]
    own, callers = names
    lines.append("- in Python: " + (listed(own + [f"raw_ops.{op['name']}"] * (not op["name"].startswith("_"))) or "not public"))
    if callers:
        lines.append("- called by: " + listed(callers))
    for e in op["examples"]:
        lines.append(f"- example: `{e['of']}`" + (f" gives {e['gives']}" if e["gives"] else ""))
    return "\n".join([*lines, f"- record: `{file}`", ""])


def pages(build):
    """File name -> text of every page."""
    ops = json.loads(subprocess.run([os.path.join(build, "tools", "gen_docs")], check=True, capture_output=True, text=True).stdout)
    where, names = themes([op["name"] for op in ops]), python_names()
    index = ["# Ops", "", f"The {len(ops)} ops of the registry (`src/ops`), by theme. Written by `tools/gen_op_docs.py` from their records: an",
             "argument is written `name: type` in TensorFlow's notation; an example is the inputs' dtypes and shapes, then attributes,",
             "and what shape inference makes of it. [contributing.md](../contributing.md) shows how to add an op.", ""]
    made = {}
    for theme, title in THEMES.items():
        own = [op for op in ops if where[op["name"]][0] == theme]
        index += [f"## [{title}]({theme}.md)", "", "| op | what it does | gradient | fuses |", "|---|---|---|---|"]
        index += [f"| [{op['name']}]({theme}.md#{anchor(op)}) | {cell(op['doc'])} | {op['gradient'].split(',')[0].split(':')[0]} | "
                  f"{'yes' if op['fuses'][:3] in ('yes', 'end') else 'no'} |" for op in own] + [""]
        made[f"{theme}.md"] = "\n".join([f"# {title}", "", f"{len(own)} ops; `src/ops/{theme}`. [All ops](README.md).", "",
                                         *(section(op, where[op["name"]][1], names.get(op["name"], ([], []))) for op in own)])
    made["README.md"] = "\n".join(index)
    missing = {where[op["name"]][0] for op in ops} - set(THEMES)
    if missing:
        raise SystemExit(f"gen_op_docs: THEMES has no title for src/ops/{', '.join(sorted(missing))}")
    return made


def main():
    build = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build")
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "docs", "ops")
    os.makedirs(folder, exist_ok=True)
    for name, text in pages(build).items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
