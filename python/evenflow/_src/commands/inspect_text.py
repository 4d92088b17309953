"""The result of an inspection as readable text."""
import os
import sys

from .terminal import Paint, duration, size

MOST_LINES = 40  # the most lines of a table, unless --all is given


def _place(node_or_place):
    if isinstance(node_or_place, dict):
        node_or_place = (node_or_place["file"], node_or_place["line"]) if "file" in node_or_place else None
    if node_or_place is None:
        return ""
    file, line = node_or_place
    return f"{os.path.basename(file)}:{line}"


def _table(rows, indent="  ", right=()):
    """Rows as aligned lines. The columns `right` are right-aligned."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))] if rows else []
    return [(indent + "  ".join(cell.rjust(w) if k in right else cell.ljust(w) for k, (cell, w) in enumerate(zip(row, widths)))).rstrip()
            for row in rows]


def _cut(lines, everything, what):
    if everything or len(lines) <= MOST_LINES:
        return lines
    return [*lines[:MOST_LINES], f"  ... and {len(lines) - MOST_LINES} more {what} (--all shows them)"]


def _types(values):
    return ", ".join(f"{v['dtype']} {v['shape']}" for v in values)


# ---- functions ------------------------------------------------------------------------------------------------


def _edge(e):
    return f"%{e[0]}" + (f".{e[1]}" if e[1] else "")


def nodes(graph, everything=True, depth=0):
    """One line per node; the function graphs of a node are listed below it."""
    rows, after = [], {}
    for node in graph["nodes"]:
        ins = ", ".join([*map(_edge, node["in"]), *(f"^%{n}" for n in node["after"])])
        rows.append((f"%{node['id']}", f"{node['op']}({ins})", _types(node["out"]), _place(node)))
        after[len(rows) - 1] = node.get("functions", ())
    lines = []
    for k, line in enumerate(_table(rows, "  " + "    " * depth)):
        lines.append(line)
        for number, inner in enumerate(after[k]):
            lines.append("  " + "    " * depth + f"    function {number}:")
            lines += nodes(inner, everything, depth + 2)
    return lines


def _signed(ops):
    return " ".join(f"{n:+d} {op}" if abs(n) > 1 else f"{'+' if n > 0 else '-'}{op}" for op, n in ops.items())


def _passes(data, everything):
    """The changes of each pass. Rewrites by the same rule are counted."""
    lines = []
    for p in data["passes"]:
        if not p["ops"] and not p["rewritten"]:
            continue
        inner = f" (function at depth {p['depth']})" if p["depth"] else ""
        lines.append(f"  {p['pass']:<10} {p['before']} -> {p['after']} nodes   {_signed(p['ops'])}{inner}".rstrip())
        counts = {}
        for r in p["rewrites"]:
            counts.setdefault(r["rule"], []).append(f"{r['before']} => {r['after']}")
        for rule, where in counts.items():
            times = f" {len(where)} times, first" if len(where) > 1 else ""
            lines.append(f"             {rule}:{times} {where[0]}")
    return _cut(lines, everything, "lines of passes") or ["  no pass changed anything"]


def _memory(slot):
    if slot["kind"] == "arena":
        return f"arena {slot['offset']}..{slot['offset'] + slot['bytes']}"
    return slot["kind"] if not slot["bytes"] else f"{slot['kind']} {size(slot['bytes'])}"


def _step_lines(steps, total, indent, shown_time):
    rows, below = [], []
    for k, step in enumerate(steps):
        title = step.title
        if step.fused:
            done = sum(step.compiled)
            if done:
                title += " [machine code]" if done == len(step.compiled) else f" [{done} of {len(step.compiled)} as machine code]"
        elif step.way not in ("kernel", "fused"):
            title += f" [{step.way}]"
        time = (duration(step.ns), f"{100 * step.ns / total:.0f} %" if total else "") if step.ns is not None else ("", "")
        scratch = step.data["scratch"]
        memory = ", ".join(_memory(s) for s in step.results) + (f"; scratch {size(scratch)}" if scratch > 1 else "")
        row = (f"{k}", title, _types([s["type"] for s in step.results]), memory, _place(step.place))
        rows.append((row[0], *time, *row[1:]) if shown_time else row)
        inner = []
        for role, steps_inside in step.inner:
            inner.append(f"{indent}      {role}:")
            inner += _step_lines(steps_inside, 0, indent + "        ", False)
        below.append(inner)
    lines = []
    for line, inner in zip(_table(rows, indent, right=(0, 1, 2) if shown_time else (0,)), below):
        lines += [line, *inner]
    return lines


def function(found, everything=False, stream=None):
    paint, data, plan = Paint(stream or sys.stdout), found.data, found.plan
    measured = data["runs"] > 0
    total = sum(s.ns for s in found.steps) if measured else 0
    traced, planned = len(data["traced"]["nodes"]), len(data["graph"]["nodes"])
    groups = sum(bool(s.fused) for s in found.steps)
    out = [paint.bold(found.title), f"  {traced} ops traced, {planned} after the passes, {len(found.steps)} steps, {groups} of them fused; "
           f"arena {size(plan['arena'])}" + (f", the least possible is {size(plan['least'])}" if plan["least"] != plan["arena"] else "")]
    if measured:
        out.append(f"  {duration(total)} in all steps (medians of {data['runs']} runs, {data['threads']} threads)")
    out += [f"  {remark}" for remark in found.remarks]
    out += ["", paint.bold("traced"), *_cut(nodes(data["traced"], everything), everything, "ops")]
    out += ["", paint.bold("passes"), *_passes(data, everything)]
    out += ["", paint.bold("planned"), *_cut(nodes(data["graph"], everything), everything, "ops")]
    out += ["", paint.bold("steps"), *(_cut(_step_lines(found.steps, total, "  ", measured), everything, "lines of steps") or ["  none"])]
    return "\n".join(out)


# ---- graphs and datasets --------------------------------------------------------------------------------------


def graph(found, everything=False, stream=None):
    paint = Paint(stream or sys.stdout)
    rows = []
    for op in found.graph.get_operations():
        ins = ", ".join([t.name for t in op.inputs] + [f"^{c.name}" for c in op.control_inputs])
        types = ", ".join(f"{t.dtype.name} {t.shape.as_list() if t.shape.rank is not None else '?'}" for t in op.outputs)
        rows.append((op.name, f"{op.type}({ins})", types))
    out = [paint.bold(f"{found.title}: {len(rows)} ops"), *_cut(_table(rows), everything, "ops")]
    return "\n".join(out)


def _stage(data):
    """A dataset in one line: its op with its arguments and the ops of its functions."""
    named = ", ".join(f"{k}={v:g}" if isinstance(v, (int, float)) else f"{k}={v}" for k, v in data["arguments"].items())
    functions = "".join(f"  {k}: {' '.join(op for op in ops if op != 'Placeholder') or 'identity'}"
                        for k, ops in data["functions"].items())
    return f"{data['op']}({named})", _types(data["element"]), functions.strip()


def _stages(data, depth=0):
    title, element, functions = _stage(data)
    rows = [("  " * depth + title, element, functions)]
    for source in data["sources"]:
        rows += _stages(source, depth + 1)
    return rows


def dataset(found, everything=False, stream=None):
    paint = Paint(stream or sys.stdout)
    return "\n".join([paint.bold(found.title + ", the last stage first; each reads the one below it"),
                      *_cut(_table(_stages(found.data)), everything, "stages")])
