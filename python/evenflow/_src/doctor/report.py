"""Findings as text and as JSON."""
import json
import os
import sys
import textwrap

from . import source
from .causes import amount, table
from .prices import PRICES


def kept(number):
    """A stream of its own to where standard output (1) or standard error (2) goes now: the program may replace or close its own. None:
    there is none."""
    like = sys.__stdout__ if number == 1 else sys.__stderr__
    try:
        return open(os.dup(number), "w", encoding=getattr(like, "encoding", None) or "utf-8", errors=getattr(like, "errors", None))
    except OSError:
        return None


def worth_showing(finding, observed, there_ms):
    """Whether a finding is 1 % of the run, here or on TensorFlow, or a megabyte."""
    return (finding.cost_ms >= 0.01 * observed.wall_ms or (finding.tensorflow_ms or 0) >= 0.01 * there_ms
            or finding.bytes >= 1 << 20 or finding.tensorflow_kb >= 1024)


def select(findings, observed, everything=False, silenced=True):
    """The findings to show: none that a comment silences, and none too small, unless everything is asked for."""
    there = observed.wall_ms + sum(f.tensorflow_ms or 0 for f in findings)
    found = [f for f in findings if not (silenced and source.silences(f.place.file, f.place.line, f.code))]
    return [f for f in found if everything or worth_showing(f, observed, there)]


def costs(f):
    """What it cost here, and what it costs on TensorFlow."""
    there = []
    if f.tensorflow_ms:
        there.append(amount(f.tensorflow_ms))
    if f.tensorflow_kb >= 1024:
        there.append(f"{f.tensorflow_kb / 1024:.0f} MB")
    here = amount(f.cost_ms) if f.cost_ms else "nothing to speak of"
    if f.bytes >= 1 << 20:
        here += f", {f.bytes / 2**20:.0f} MB"
    return here, " and ".join(there)


def _folder():
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return os.sep


STARTED_IN = _folder()  # the reader of the report is still there when the program has gone elsewhere


def short(path):
    relative = os.path.relpath(path, STARTED_IN) if os.path.isabs(path) else path
    return path if relative.startswith("..") else relative


def line(f):
    """A finding on one line: FILE:LINE: CODE what happened, with numbers. Fix: what to write."""
    here, there = costs(f)
    there = f"; on TensorFlow about {there}" if there else ""
    return f"{short(f.place.file)}:{f.place.line}: {f.code} {f.what}. Cost here: {here}{there}. Fix: {f.fix}."


NOTED = ((True, "Not a cause"), (False, "Would matter in a longer run"))  # headings of notes, by whether they are harmless


def ended(ending):
    """The error that ended the program, as a sentence."""
    where = f"at {short(ending.place.file)}:{ending.place.line} " if ending.place else ""
    return f"The program ended {where}with an error (the report covers what happened before): {ending.what}"


def as_text(findings, observed, stream=None, hidden=0, notes=(), ending=None):
    """The report, wrapped for a terminal."""
    stream = stream or sys.stderr
    if stream is None:
        return  # the process has no standard error
    colour = stream.isatty() and not os.environ.get("NO_COLOR")
    bold, dim, plain = ("\033[1m", "\033[2m", "\033[0m") if colour else ("", "", "")
    try:
        width = max(60, min(110, os.get_terminal_size(stream.fileno()).columns))
    except (OSError, ValueError, AttributeError):
        width = 100
    out = [f"evenflow doctor: {len(findings)} finding{'s' * (len(findings) != 1)} in {amount(observed.wall_ms)}"]
    if hidden:
        out[0] += f" (and {hidden} too small to matter: --all shows them)"
    if ending:
        out += ["", *textwrap.wrap(ended(ending), width, break_long_words=False, break_on_hyphens=False)]
    for f in findings:
        here, there = costs(f)
        out += ["", f"{bold}{short(f.place.file)}:{f.place.line}: {f.code}{plain} {table()[f.code].title.split(':')[0]}"]
        quoted = source.text(f.place.file, f.place.line).strip()
        if quoted:
            cut = quoted if len(quoted) <= width - 4 else quoted[:width - 8] + " ..."
            out.append(f"    {dim}{cut}{plain}")
        program = PRICES[f.priced_by].program if f.priced_by else None
        there = f"; on TensorFlow 2.21 about {there} (measured by tests/zoo/{program}.py)" if there and program else (
            f"; on TensorFlow 2.21 about {there}" if there else "")
        for label, text in (("", f"{f.what}."), ("Cost: ", f"here {here}{there}."), ("Fix: ", f"{f.fix}.")):
            out += textwrap.wrap(label + text, width - 4, initial_indent="    ", subsequent_indent="    ",
                                 break_long_words=False, break_on_hyphens=False)
    for n in notes:
        if n.place is None:
            out += ["", *textwrap.wrap(f"{n.what[0].upper()}{n.what[1:]}.", width)]
    for harmless, heading in NOTED:
        placed = [(f"{short(n.place.file)}:{n.place.line}: ", n.what) for n in notes if n.place and n.harmless == harmless]
        out += ["", f"{bold}{heading}{plain}"] if placed else []
        for where, what in placed:
            out += textwrap.wrap(f"{where}{what}.", width - 2, initial_indent="  ", subsequent_indent="    ", break_long_words=False,
                                 break_on_hyphens=False)
    print("\n".join(out), file=stream, flush=True)


def as_json(findings, observed, notes=(), ending=None):
    """One object with the findings, each with code, file, line, function, count, cost_ms, message and fix; the notes; and the
    error that ended the program, or null."""
    error = ending and {"type": ending.name, "message": ending.message, "file": ending.place and ending.place.file,
                        "line": ending.place and ending.place.line}
    return json.dumps({"wall_ms": round(observed.wall_ms, 3), "findings": [
        {"code": f.code, "file": f.place.file, "line": f.place.line, "function": f.place.function, "count": f.count,
         "cost_ms": round(f.cost_ms, 3), "tensorflow_ms": None if f.tensorflow_ms is None else round(f.tensorflow_ms, 1),
         "tensorflow_kb": round(f.tensorflow_kb, 1), "bytes": f.bytes, "message": f.what, "fix": f.fix,
         "measured_by": f.priced_by and PRICES[f.priced_by].program} for f in findings],
        "notes": [{"file": n.place and n.place.file, "line": n.place and n.place.line, "message": n.what, "harmless": n.harmless}
                  for n in notes], "error": error}, indent=1)


def explain(code):
    """A cause with an example of the wrong and the right form, if it has them; None: there is no such code."""
    c = table().get(code.upper())
    if c is None:
        return None
    def indent(text):
        return textwrap.indent(text, "    ")

    about = f"{c.code} {c.title}\n\n{textwrap.fill(c.symptom, 100)}\nThe engine counts: {c.counter}.\n\n"
    if not c.wrong:
        return about + "No form is wrong by itself; a finding says what to do."
    return about + f"Instead of\n\n{indent(c.wrong)}\n\nwrite\n\n{indent(c.right)}"
