"""Bar charts as SVG, in plain text: groups of horizontal bars on a logarithmic or linear scale."""
import html
import math

COLOURS = {"evenflow": "#0b7a75", "tensorflow": "#e8833a", "torch": "#c8452f", "jax": "#5b6bbf"}
FONT = 'font-family="system-ui, sans-serif"'
LEFT, WIDTH, BAR, GAP = 330, 900, 13, 14


def text(x, y, content, size=12, anchor="start", colour="#222"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" {FONT} font-size="{size}" text-anchor="{anchor}" fill="{colour}">'
            f"{html.escape(content)}</text>")


def scale(values, log):
    """A function from a value to its share of the width, from 0 to 1."""
    top = max(values, default=1)
    if not log:
        return lambda v: v / top
    low = math.floor(math.log10(min(values)))
    span = max(1, math.log10(top) - low)
    return lambda v: max(0.004, (math.log10(v) - low) / span)


def bars(title, groups, names, label, log=True):
    """The picture. groups: (title, {name: value}); names: which bars there may be, and how they are called."""
    groups = [(t, v) for t, v in groups if v]
    values = [v for _, g in groups for v in g.values()]
    share = scale(values, log)
    room = WIDTH - LEFT - 90
    out, y = [text(16, 24, title, 15)], 44
    x = 16
    for name, called in names.items():
        out.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" rx="2" fill="{COLOURS[name]}"/>')
        out.append(text(x + 18, y, called))
        x += 110
    y += 20
    for group, found in groups:
        out.append(text(LEFT - 12, y + BAR * len(found) / 2 + 4, group, 12, "end"))
        for name in names:
            if name in found:
                long = room * share(found[name])
                out.append(f'<rect x="{LEFT}" y="{y}" width="{long:.1f}" height="{BAR - 2}" rx="2" '
                           f'fill="{COLOURS[name]}"/>')
                out.append(text(LEFT + long + 6, y + BAR - 3, label(found[name]), 11, colour="#555"))
                y += BAR
        y += GAP
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" height="{y}">\n'
            f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>\n' + "\n".join(out) + "\n</svg>\n")
