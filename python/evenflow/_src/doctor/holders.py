"""Who holds memory, by line: blocks of 4 KiB and more count for the line that had them made, for as long as they live. Smaller
ones are one holder. A result that is computed later than it is asked for counts for the line that needs its value."""
import json

from evenflow import _core

from .observed import Place

MOST = 8  # holders of one moment; the others are added up
SMALL, OTHERS = "blocks under 4 KiB", "other lines"


def watch(on):
    _core.holders_watch(on)


def now(current, most=MOST):
    """[(Place or label, bytes)] of this moment, the largest first: together they are the `current` bytes."""
    lines = {}
    for number, label, held, _ in _core.holders():
        at = _core.event_place(number) if number else None
        name = Place(*at) if at else label or OTHERS
        name = (name.file, name.line) if at else name  # several instructions of a line are one holder
        lines[name] = lines.get(name, 0) + held
    found = sorted(lines.items(), key=lambda kv: -kv[1])
    rest = current - sum(lines.values())
    if rest > 0:
        found.append((SMALL, rest))
        found.sort(key=lambda kv: -kv[1])
    if len(found) > most:
        found = [*found[:most - 1], (OTHERS, sum(held for _, held in found[most - 1:]))]
    return tuple(found)


def at_peak(memory):
    """The moment of a recording at which tensors took most; None: there is none."""
    return max(memory, key=lambda m: m[2], default=None)


def as_json(recorder, wall_ms):
    """The memory profile as text: moments of the run with the bytes of the process, of tensors, and of each holder."""
    names, moments = {}, []
    for ms, process, tensors, held in recorder.memory:
        moments.append({"ms": round(ms, 1), "process": process, "tensors": tensors,
                        "held": [[names.setdefault(name, len(names)), size] for name, size in held]})
    holders = [{"file": n[0], "line": n[1]} if isinstance(n, tuple) else {"label": n} for n in names]
    usage = _core.memory("CPU:0")
    return json.dumps({"evenflow_memory": 1, "wall_ms": round(wall_ms, 1), "peak": usage["peak"], "current": usage["current"],
                       "holders": holders, "moments": moments})
