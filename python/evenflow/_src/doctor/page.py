"""The report as one HTML file: no network, light and dark, readable on a phone. Pictures are SVG, made here."""
import collections
import html

from . import report, source
from .causes import table

COLOURS = {"trace": "#c2410c", "compile": "#b45309", "plan": "#a16207", "step": "#0f766e", "session run": "#1d4ed8",
           "function call": "#1d4ed8", "eager op": "#4338ca", "conversion": "#be185d", "host copy": "#9d174d",
           "wait": "#6b7280", "model entry": "#15803d"}
STYLE = """
:root { --ink: #1c1f24; --soft: #5b6472; --back: #ffffff; --card: #f5f6f8; --line: #d9dde3; --mark: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ee; --soft: #9aa4b2; --back: #14171c; --card: #1d2128; --line: #333a45; --mark: #ff8a7a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--ink);
       font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .35rem 0; } .soft { color: var(--soft); }
.finding { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; margin: .8rem 0; }
.finding b.code { color: var(--mark); } code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { overflow-x: auto; margin: .5rem 0; padding: .5rem .7rem; background: var(--back); border: 1px solid var(--line);
      border-radius: 6px; } pre .hit { font-weight: 700; color: var(--mark); }
svg { width: 100%; height: auto; display: block; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
svg text { fill: var(--soft); font: 11px system-ui, sans-serif; } svg .axis { stroke: var(--line); }
.legend span { display: inline-block; margin-right: .9rem; } .legend i { display: inline-block; width: .8em; height: .8em;
  border-radius: 2px; margin-right: .3em; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid
  var(--line); } td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
"""
WIDTH, HEIGHT, LEFT, BOTTOM = 900, 220, 60, 24


def headline(findings, observed):
    """The report in one sentence."""
    ran = report.amount(observed.wall_ms)
    if not findings:
        return f"Nothing made this program slow: it ran for {ran}."
    first = findings[0]
    here, there = report.costs(first)
    where = f"{report.short(first.place.file)}:{first.place.line}"
    title = table()[first.code].title.split(":")[-1].strip()
    return f"{where}: {title}. It cost {here} of {ran} here" + (f", and about {there} on TensorFlow." if there else ".")


def _excerpt(place):
    lines = []
    for k in range(max(1, place.line - 2), place.line + 3):
        text = source.text(place.file, k)
        if text or k == place.line:
            mark = ' class="hit"' if k == place.line else ""
            lines.append(f"<span{mark}>{k:5d}  {html.escape(text)}</span>")
    return f"<pre>{chr(10).join(lines)}</pre>"


def _finding(f):
    here, there = report.costs(f)
    there = f"; on TensorFlow 2.21 about {there} (measured)" if there else ""
    return (f'<section class="finding" id="{f.code}-{f.place.line}"><p><b class="code">{f.code}</b> '
            f"<b>{html.escape(table()[f.code].title)}</b></p>"
            f'<p class="soft">{html.escape(report.short(f.place.file))}:{f.place.line} in {html.escape(f.place.function)}</p>'
            f"{_excerpt(f.place)}<p>{html.escape(f.what)}.</p><p>Cost: here {html.escape(here)}{html.escape(there)}.</p>"
            f"<p><b>Fix:</b> {html.escape(f.fix)}.</p></section>")


def _frame(inside, label, x_end, y_end, unit):
    """Axes around a picture: time in seconds, and values up to y_end."""
    return (f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{html.escape(label)}">{inside}'
            f'<line class="axis" x1="{LEFT}" y1="{HEIGHT - BOTTOM}" x2="{WIDTH - 8}" y2="{HEIGHT - BOTTOM}"/>'
            f'<line class="axis" x1="{LEFT}" y1="8" x2="{LEFT}" y2="{HEIGHT - BOTTOM}"/>'
            f'<text x="{LEFT}" y="{HEIGHT - 8}">0</text>'
            f'<text x="{WIDTH - 10}" y="{HEIGHT - 8}" text-anchor="end">{x_end / 1e3:.3g} s</text>'
            f'<text x="{LEFT - 6}" y="18" text-anchor="end">{y_end:.3g} {unit}</text></svg>')


def _calls(events, x_end):
    """Call times over the run: flat dots mean that calls do not get slower."""
    calls = [e for e in events if e[2] in ("function call", "session run", "eager op", "model entry")]
    if len(calls) < 2:
        return "<p class='soft'>Too few calls were sampled for a picture.</p>"
    most = sorted(e[1] for e in calls)[min(len(calls) - 1, int(0.99 * len(calls)))] * 1.25
    dots = []
    for end, took, kind, place in calls[:: max(1, len(calls) // 1500)]:
        x = LEFT + (WIDTH - LEFT - 8) * min(1.0, end / x_end)
        y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 12) * min(1.0, took / most)
        where = f"{report.short(place.file)}:{place.line}" if place else "unknown place"
        dots.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{COLOURS[kind]}" fill-opacity=".6">'
                    f"<title>{html.escape(where)}: {1e3 * took:.3g} us</title></circle>")
    return _frame("".join(dots), "call times over the run", x_end, most * 1e3, "us")


def _memory(memory, x_end):
    if len(memory) < 2:
        return "<p class='soft'>The run was too short for a picture.</p>"
    most = max(b for _, b in memory) * 1.1
    points = " ".join(f"{LEFT + (WIDTH - LEFT - 8) * min(1.0, t / x_end):.1f},"
                      f"{HEIGHT - BOTTOM - (HEIGHT - BOTTOM - 12) * b / most:.1f}" for t, b in memory)
    return _frame(f'<polyline points="{points}" fill="none" stroke="#1d4ed8" stroke-width="2"/>', "memory over the run", x_end,
                  most / 2**20, "MB")


def _timeline(events, x_end):
    """Traces, plans, steps and calls, a row for each kind."""
    kinds = [k for k in COLOURS if any(e[2] == k for e in events)]
    if not kinds:
        return "<p class='soft'>No events were kept.</p>"
    row, bars = 20, []
    for r, kind in enumerate(kinds):
        mine = [e for e in events if e[2] == kind]
        bars.append(f'<text x="{4}" y="{r * row + 16}">{kind}</text>')
        for end, took, _, place in mine[:: max(1, len(mine) // 400)]:
            x = 110 + (WIDTH - 118) * max(0.0, end - took) / x_end
            wide = max(0.7, (WIDTH - 118) * took / x_end)
            where = f"{report.short(place.file)}:{place.line}" if place else "unknown place"
            bars.append(f'<rect x="{x:.1f}" y="{r * row + 5}" width="{wide:.1f}" height="{row - 6}" fill="{COLOURS[kind]}">'
                        f"<title>{kind} at {html.escape(where)}: {took:.3g} ms</title></rect>")
    return (f'<svg viewBox="0 0 {WIDTH} {len(kinds) * row + 8}" role="img" aria-label="timeline of events">'
            f'{"".join(bars)}</svg>')


def _lines(observed):
    """Where the time went, by line."""
    spent = collections.Counter()
    for kind in ("function call", "session run", "eager op", "trace", "conversion", "model entry"):
        for r in observed.rows(kind, by=("place",)):
            spent[r.place.file, r.place.line] += r.ms
    rows = []
    for (file, line), ms in spent.most_common(12):
        share = min(100.0, 100 * ms / max(observed.wall_ms, 1e-9))
        rows.append(f'<tr><td><code>{html.escape(report.short(file))}:{line}</code><br><code class="soft">'
                    f"{html.escape(source.text(file, line).strip()[:80])}</code></td><td class='n'>{report.amount(ms)}</td>"
                    f"<td class='n'>{share:.0f} %</td></tr>")
    return ("<table><tr><th>line</th><th class='n'>in the engine</th><th class='n'>of the run</th></tr>"
            + "".join(rows) + "</table>") if rows else "<p class='soft'>No calls were sampled.</p>"


def page(findings, observed, recorder):
    """The whole file, as text."""
    x_end = max(observed.wall_ms, 1.0)
    legend = "".join(f'<span><i style="background:{COLOURS[k]}"></i>{k}</span>'
                     for k in ("function call", "session run", "eager op", "model entry"))
    found = "".join(_finding(f) for f in findings) or "<p>No findings.</p>"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>evenflow doctor</title><style>{STYLE}</style></head><body>
<h1>{html.escape(headline(findings, observed))}</h1>
<p class="soft">evenflow doctor: {len(findings)} finding{'s' * (len(findings) != 1)}, {report.amount(observed.wall_ms)}</p>
{found}
<h2>Call times over the run</h2><p class="legend soft">{legend}</p>{_calls(recorder.events, x_end)}
<h2>Memory over the run</h2>{_memory(recorder.memory, x_end)}
<h2>What happened when</h2>{_timeline(recorder.events, x_end)}
<h2>Where the time went</h2>{_lines(observed)}
</body></html>
"""
