"""The report as one HTML file: no network, light and dark, readable on a phone. What it shows is in it as JSON; a small
script draws it (`page_script`), so that one can zoom."""
import collections
import html
import json
import os
import re

from . import holders, pipeline, report, source
from .causes import table
from .page_script import SCRIPT
from .page_style import STYLE
from .recorder import SHOWN

CALLS = SHOWN[:4]
CALLED = {"model entry": "model", "host copy": "copy", "pipeline stage": "pipeline"}  # in the pictures


def headline(findings, observed, ending=None):
    """The report in one sentence."""
    ran = report.amount(observed.wall_ms)
    if not findings:
        until = ", until it ended with an error" if ending else ""
        return f"Nothing made this program slow: it ran for {ran}{until}."
    first = findings[0]
    here, there = report.costs(first)
    where = f"{report.short(first.place.file)}:{first.place.line}"
    cost = f"That cost {here} of {ran} here" if first.cost_ms or first.bytes else f"Here that cost next to nothing of {ran}"
    what = re.sub(r" \([^()]*\)$", "", first.what.split(";")[0])  # details stand below
    return f"{where}: {what}. {cost}" + (f", and costs about {there} on TensorFlow." if there else ".")


def _excerpt(place):
    lines = []
    for k in range(max(1, place.line - 2), place.line + 3):
        text = source.text(place.file, k)
        if text or k == place.line:
            mark = ' class="hit"' if k == place.line else ""
            lines.append(f"<span{mark}>{k:4d}  {html.escape(text)}</span>")
    return f"<pre>{''.join(lines)}</pre>"


def _bars(f, most):
    rows = [("here", f.cost_ms, "here")]
    here, there = report.costs(f)
    if there:
        rows.append(("TensorFlow 2.21, measured", f.tensorflow_ms or 0.0, "there"))
    told = {"here": here, "there": f"about {there}"}
    return '<div class="costs">' + "".join(
        f'<span class="soft">{name}</span><span class="bar"><i style="width:{max(0.3, 60 * ms / most):.1f}%;background:var(--{kind})"></i>'
        f"<span>{html.escape(told[kind])}</span></span>" for name, ms, kind in rows) + "</div>"


def _sentence(text):
    """With a capital, unless it begins with a name."""
    return text[:1].upper() + text[1:] if text.split(" ")[0].isalpha() else text


def _finding(f, most):
    c = table()[f.code]
    short, _, rest = c.title.partition(": ")
    forms = "" if not c.wrong else (
             f'<div><small>instead of</small><pre><span>{html.escape(c.wrong)}</span></pre></div>'
             f'<div><small>write</small><pre><span>{html.escape(c.right)}</span></pre></div>')
    return (f'<details class="finding" open id="{f.code}-{f.place.line}"><summary><span class="code">{f.code}</span> <b>{html.escape(short)}</b>'
            f'<span class="where">{html.escape(report.short(f.place.file))}:{f.place.line} in {html.escape(f.place.function)}</span></summary>'
            f"<div>{_excerpt(f.place)}<p>{html.escape(_sentence(f.what))}.</p>{_bars(f, most)}"
            f'<p class="fix"><b>Fix:</b> {html.escape(f.fix)}.</p>'
            f'<details class="more"><summary>What {f.code} means</summary><p class="soft">{html.escape(_sentence(rest))}. '
            f'{html.escape(c.symptom)}</p><div class="forms">{forms}</div></details></div></details>')


def _drift(events):
    """(how call times at the busiest place changed over the run, that place with the kind of its calls), of places with enough calls for
    that, over a fifth of the time at least. (None, None): there is none."""
    calls, end = collections.defaultdict(list), max((e[0] for e in events), default=0.0)
    for e in sorted(e for e in events if e[2] in CALLS and e[3]):
        calls[e[3], e[2]].append(e)
    long = [place for place, made in calls.items() if len(made) >= 24 and made[-1][0] - made[0][0] >= 0.2 * end]
    main = max(long, key=lambda place: sum(e[1] for e in calls[place]), default=None)
    if main is None:
        return None, None
    took = [e[1] for e in calls[main]]
    part = max(8, len(took) // 4)
    first, last = sorted(took[part // 2:part + part // 2]), sorted(took[-part:])
    return last[len(last) // 2] / max(first[len(first) // 2], 1e-9), main


def _tile(value, name):
    return f'<div class="tile"><b>{html.escape(value)}</b><span>{html.escape(name)}</span></div>'


def _tiles(findings, observed, recorder, drift):
    peak = max((m[1] for m in recorder.memory), default=0)
    tiles = [_tile(report.amount(observed.wall_ms), "run time"), _tile(str(len(findings)), "findings"),
             _tile(f"{peak / 2**20:.0f} MB", "most memory in use")]
    if drift is not None:
        said = "steady" if 0.8 < drift < 1.25 else f"{drift:.2g} times the first" if drift >= 1.25 else "quicker than at first"
        tiles.append(_tile(said, "calls at the end of the run"))
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _pipelines(observed):
    """Each pipeline as boxes from its source to its end; the slowest stage is marked."""
    made = pipeline.stages(observed)
    if not made:
        return ""
    out = []
    for chain in sorted(pipeline.chains(made), key=lambda c: -c[-1].ms)[:6]:
        slow = max(chain, key=lambda s: s.own_ms)
        boxes = []
        for s in chain:
            where = f"{os.path.basename(s.place.file)}:{s.place.line}"
            mark = slow is s and s.own_ms > 0.3 * sum(c.own_ms for c in chain)
            each = f", {report.amount(s.own_ms / max(1, s.elements))} each" if s.own_ms else ""
            took = f"{report.amount(s.own_ms)} of its own" if s.own_ms else f"its reader waited {report.amount(s.ms)}"
            boxes.append(f'<div class="stage{" slow" if mark else ""}"><b>{html.escape(s.name)}{" (slowest)" if mark else ""}</b>'
                         f"{took}<br><small>{s.elements:,} elements{each}<br>"
                         f"{html.escape(where)}</small></div>")
        out.append(f'<div class="flow">{"<span class=arrow>&#10140;</span>".join(boxes)}</div>')
    return ('<h2 id="pipelines">The pipeline</h2><p class="soft">Stages from the source to the loop that reads them, with the time each took '
            "without its sources.</p>" + "".join(out))


def _held(name):
    return f"<span class='soft'>{html.escape(name)}</span>" if isinstance(name, str) else _line(*name)


def _holders(observed, recorder):
    """Who holds memory, by line: where tensors took most, and at the end."""
    peak, end = holders.at_peak(recorder.memory), recorder.memory[-1] if recorder.memory else None
    lines = {}
    for column, moment in enumerate((peak, end)):
        for name, size in moment[3] if moment else ():
            lines.setdefault(name, [0, 0, 0])[column] = size
    for place, weight, held, _ in observed.kept:
        if held:
            lines.setdefault((place.file, place.line), [0, 0, 0])[2] += weight
    rows, kept = [], any(results >= 100 for *_, results in lines.values())
    for name, (most, last, results) in sorted(lines.items(), key=lambda kv: -max(kv[1][0], kv[1][1], 160 * kv[1][2])):
        if max(most, last) < 1024 and results < 100:
            continue
        cells = (_megabytes(most) if most else "", _megabytes(last) if last else "", f"about {results:,}" if results >= 100 else "")
        names = ("at the peak", "at the end", "results kept")[:3 if kept else 2]
        rows.append(f"<tr><td>{_held(name)}</td>" + "".join(
            f"<td class='n' data-name='{n if c else ''}'>{c}</td>" for n, c in zip(names, cells)) + "</tr>")
    if not rows:
        return ""
    return ("<table><tr><th>tensors made by this line</th>" + "".join(f"<th class='n'>{n}</th>" for n in names) + "</tr>"
            + "".join(rows[:12]) + "</table>")


def _megabytes(n):
    return f"{n / 2**20:.1f} MB" if n >= 1 << 20 else f"{n / 1024:.1f} KB"


def _line(file, line):
    text = source.text(file, line).strip()
    text = text if len(text) <= 90 else text[:88] + " \u2026"
    return f"<code>{html.escape(report.short(file))}:{line}</code><br><code class='soft'>{html.escape(text)}</code>"


def _lines(observed):
    """Where the time of the engine went, by line."""
    spent = collections.Counter()
    for kind in ("function call", "session run", "eager op", "trace", "conversion"):
        for r in observed.rows(kind, by=("place",)):
            spent[r.place.file, r.place.line] += r.ms
    for r in observed.rows("model entry", by=("place",)):  # what it calls is part of it
        spent[r.place.file, r.place.line] = max(r.ms, spent[r.place.file, r.place.line])
    spent = collections.Counter({line: min(ms, observed.wall_ms) for line, ms in spent.items()})  # of sampled calls it is an estimate
    rows = []
    for (file, line), ms in spent.most_common(12):
        share = min(100.0, 100 * ms / max(observed.wall_ms, 1e-9))
        if rows and share < 0.05:
            break
        rows.append(f"<tr><td>{_line(file, line)}</td><td class='n' data-name='in the engine'>{report.amount(ms)}</td><td class='n' data-name='of the run'>{f'{share:.0f}' if share >= 0.95 else f'{share:.1f}'} %</td></tr>")
    return ("<table><tr><th>line</th><th class='n'>in the engine</th><th class='n'>of the run</th></tr>"
            + "".join(rows) + "</table>") if rows else ""


def _frame(file, line, function):
    where = f"{os.path.basename(file)}:{line}"
    return where if function == "<module>" else f"{function} {where}"


def _flame(node, name, least):
    below = sorted(((k, n) for k, n in node.below.items() if n.ms >= least), key=lambda kn: -kn[1].ms)
    made = {"n": name, "t": round(node.ms, 3)}
    if below:
        made["c"] = [_flame(n, k if isinstance(k, str) else _frame(*k), least) for k, n in below]
    return made


def _data(recorder, observed, main):
    """What the script draws: times in milliseconds, places and kinds by number."""
    places, end = {}, max(observed.wall_ms, 0.001)

    def number(place):
        if place is None:
            return -1
        return places.setdefault(f"{report.short(place.file)}:{place.line}", len(places))

    def row(e):
        return [round(e[0], 3), float(f"{e[1]:.4g}"), SHOWN.index(e[2]), number(e[3])]

    events = sorted(recorder.events, key=lambda e: e[0] - e[1])
    calls = [row(e) for e in events if e[2] in CALLS]
    kinds = collections.defaultdict(list)
    for e in events:
        kinds[e[2]].append(row(e))
    shown = [r for rows in kinds.values() for r in rows[:: max(1, len(rows) // 500)]]
    flame = _flame(recorder.stacks, "the program", recorder.stacks.ms / 400)
    return {"end": round(end, 3), "kinds": [CALLED.get(k, k) for k in SHOWN], "calls": calls[:: max(1, len(calls) // 1500)], "events": shown,
            **_memory(recorder),
            "flame": flame, "main": [number(main[0]), SHOWN.index(main[1])] if main else [-1, -1], "places": list(places)}


def _memory(recorder):
    """Moments, and the six lines that held most at any of them, with their bytes at each."""
    moments = recorder.memory[:: max(1, len(recorder.memory) // 500)]
    if len(moments) > 1 and moments[-1] is not recorder.memory[-1]:
        moments.append(recorder.memory[-1])
    most = collections.Counter()
    for *_, held in moments:
        for name, size in held:
            most[name] = max(most[name], size)
    shown = [name for name, size in most.most_common(6) if size >= 4096]
    names = [n if isinstance(n, str) else f"{report.short(n[0])}:{n[1]}" for n in shown]
    return {"memory": [[round(t, 1), rss, own, [dict(held).get(n, 0) for n in shown]] for t, rss, own, held in moments], "holders": names}


def _pictures(recorder, observed, data, main):
    seen = [k for k in CALLS if any(c[2] == SHOWN.index(k) for c in data["calls"])]
    legend = "".join(f'<span><i style="background:var(--k{SHOWN.index(k)})"></i>{CALLED.get(k, k)}</span>' for k in seen)
    line = (f"; the line is the median of the busiest place ({html.escape(f'{report.short(main[0].file)}:{main[0].line}')}). A flat line means "
            "that calls do not get slower." if main else ".")
    calls = (f'<p class="soft">Each dot is a sampled call{line}</p><p class="legend">{legend}</p><div class="chart" id="calls" data-label="call times over the run"></div>'
             if len(data["calls"]) > 1 else '<p class="soft">Too few calls were sampled for a picture.</p>')
    tools = ('<div class="tools"><button id="in" aria-label="zoom in">+</button><button id="out" aria-label="zoom out">\u2212</button>'
             '<button id="left" aria-label="earlier">\u2190</button><button id="right" aria-label="later">\u2192</button>'
             '<button id="reset">whole run</button><span id="range"></span></div>')
    held = "".join(f'<span><i style="background:var(--h{k})"></i>{html.escape(name)}</span>' for k, name in enumerate(data["holders"]))
    memory = ('<p class="legend"><span><i style="background:var(--k0)"></i>the process</span><span><i style="background:var(--k3)"></i>'
              'tensors</span></p><div class="chart" id="memory" data-label="memory over the run"></div>'
              + ('<p class="soft">Tensors by the line that made them:</p>'
                 f'<p class="legend">{held}</p><div class="chart" id="holders" data-label="memory of tensors by line"></div>' if held else "")
              if len(data["memory"]) > 1 else '<p class="soft">The run was too short for a picture.</p>')
    flame = ('<p class="soft" id="flamewhat"></p><div class="chart" id="flame" data-label="where the time went"></div>'
             if data["flame"]["t"] > 0 else '<p class="soft" id="flamewhat">The run was too short for a picture.</p>')
    return (f"{tools}<h2>Call times over the run</h2>{calls}<h2>Memory over the run</h2>{memory}{_holders(observed, recorder)}"
            f"<h2>What happened when</h2>" + ('<div class="chart" id="timeline" data-label="timeline of events"></div>'
                                              if data["events"] else '<p class="soft">No events were kept.</p>')
            + _pipelines(observed) + f"<h2>Where the time went</h2>{flame}{_lines(observed)}")


def _notes(notes):
    return "".join(_noted([n for n in notes if n.harmless == harmless], heading, harmless) for harmless, heading in report.NOTED)


def _noted(notes, heading, harmless):
    if not notes:
        return ""
    said = "What one may suspect, and what was measured." if harmless else "Too short or too seldom here to cost anything."
    rows = "".join(f"<li>{_line(n.place.file, n.place.line) if n.place else ''}<p>{html.escape(_sentence(n.what))}.</p></li>" for n in notes)
    return f'<h2>{heading}</h2><p class="soft">{said}</p><ul class="notes{"" if harmless else " later"}">{rows}</ul>'


def _ending(ending):
    return f'<p class="ending"><b>Error</b> {html.escape(report.ended(ending))}</p>' if ending else ""


def page(findings, observed, recorder, notes=(), ending=None):
    """The whole file, as text."""
    drift, main = _drift(recorder.events)
    data = _data(recorder, observed, main)
    most = max((f.cost for f in findings), default=1.0) or 1.0
    found = "".join(_finding(f, most) for f in findings) or '<p class="soft">No findings.</p>'
    packed = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>evenflow doctor</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body>
<header><p class="brand">evenflow doctor</p><h1>{html.escape(headline(findings, observed, ending))}</h1>{_ending(ending)}</header>
{_tiles(findings, observed, recorder, drift)}
<h2>Findings</h2>{found}
{_notes(notes)}
{_pictures(recorder, observed, data, main)}
<div id="tip"></div><noscript><p>The pictures need JavaScript; nothing is loaded from a network.</p></noscript>
<script type="application/json" id="data">{packed}</script>
<script>{SCRIPT}</script>
</body></html>
"""
