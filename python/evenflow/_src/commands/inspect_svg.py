"""Draws the memory plan of a function: a rectangle for each value, which spans horizontally from the step that computes it
to the last step that reads it, and vertically its bytes in the arena."""
from html import escape

from .terminal import duration, size

LEFT, TOP, RIGHT, BOTTOM, TALL = 78, 64, 16, 104, 340
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#b79a20", "#439894", "#e45756", "#9d755d", "#b279a2", "#79706e")


def lives(plan):
    """[(slot or None for scratch memory, first step, last step, offset, bytes)] of the values in the arena. A slot that no
    step computes is a view, which extends the lifetime of the value whose bytes it shares."""
    made, read = {}, {}
    for k, step in enumerate(plan["steps"]):
        for slot in step["out"]:
            made.setdefault(slot, k)
            read[slot] = k
        for slot in step["in"]:
            read[slot] = k
    found = []
    for number, slot in enumerate(plan["slots"]):
        if slot["kind"] == "arena" and slot["bytes"] and number in made:
            found.append([number, made[number], read[number], slot["offset"], slot["bytes"]])
    for number, slot in enumerate(plan["slots"]):
        if slot["kind"] != "arena" or number in made or number not in read:
            continue
        roots = [f for f in found if f[3] == slot["offset"] and f[1] <= read[number]]
        if roots:
            root = max(roots, key=lambda f: f[1])
            root[2] = max(root[2], read[number])
    for k, step in enumerate(plan["steps"]):
        if step["scratch"] > 1:
            found.append([None, k, k, step["scratch_offset"], step["scratch"]])
    return [tuple(f) for f in found]


def memory(found):
    plan, steps = found.plan, found.steps
    blocks, n, top = lives(plan), max(1, len(steps)), max(1, plan["arena"])
    step_width = max(14, min(120, 900 / n))
    wide, tall = LEFT + RIGHT + max(420, step_width * n), TOP + TALL + BOTTOM
    step_width = (wide - LEFT - RIGHT) / n
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {tall}" width="{wide:.0f}" height="{tall}" '
           'font-family="sans-serif" font-size="11">',
           "<style>text{fill:#222}.axis{stroke:#999}.page{fill:#fff}"
           "@media (prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#16181c}}</style>",
           f'<rect class="page" width="{wide:.0f}" height="{tall}"/>',
           f'<text x="{LEFT}" y="20" font-size="14">{escape(found.title)}</text>',
           f'<text x="{LEFT}" y="38">arena {size(plan["arena"])} (least possible {size(plan["least"])}), {len(steps)} steps</text>']
    for part in range(5):
        y = TOP + TALL * (1 - part / 4)
        out.append(f'<line class="axis" x1="{LEFT}" y1="{y:.1f}" x2="{wide - RIGHT:.1f}" y2="{y:.1f}" stroke-width="0.5"/>'
                   f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{size(round(plan["arena"] * part / 4))}</text>')
    for k, step in enumerate(steps):
        x = LEFT + step_width * (k + 0.5)
        time = f" {duration(step.ns)}" if step.ns is not None else ""
        if step_width >= 12:
            out.append(f'<text x="{x:.1f}" y="{TOP + TALL + 14}" font-size="9" transform="rotate(35 {x:.1f} {TOP + TALL + 14})">'
                       f"{k} {escape(step.title[:26])}{time}</text>")
    for order, (slot, first, last, offset, bytes_) in enumerate(blocks):
        x, y = LEFT + step_width * first, TOP + TALL * (1 - (offset + bytes_) / top)
        w, h = step_width * (last - first + 1) - 1, max(1.0, TALL * bytes_ / top - 0.5)
        kind = plan["slots"][slot]["type"] if slot is not None else None
        what = f"{kind['dtype']} {kind['shape']} made by" if kind else "scratch of"
        title = f"{what} step {first} ({steps[first].title}); bytes {offset} to {offset + bytes_}; until step {last}"
        colour = "#bbbbbb" if slot is None else COLOURS[order % len(COLOURS)]
        out.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{colour}" fill-opacity="0.8" rx="2">'
                   f"<title>{escape(title)}</title></rect>")
        if h >= 12 and w >= 60:
            label = "scratch" if slot is None else plan["slots"][slot]["type"]["shape"]
            out.append(f'<text x="{x + 4:.1f}" y="{y + min(h, 14) - 3:.1f}" font-size="10">'
                       f"{escape(label[:int(w / 6)])} {size(bytes_)}</text>")
    if not blocks:
        out.append(f'<text x="{LEFT + 10}" y="{TOP + TALL / 2}">no value is in the arena: results have their own memory</text>')
    return "\n".join([*out, "</svg>\n"])
