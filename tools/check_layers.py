#!/usr/bin/env python3
"""Read the list of rooms in docs/style.md, and reject cycles in it and includes that it does not allow."""
import pathlib
import re
import sys

import source

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)
PUBLIC = {"evenflow.h", "evenflow_binding.h", "ef_ops.h"}


def rooms(style):
    """Room -> the rooms it may include, from lines like `src/plan   what it is. → base graph`."""
    allowed = {}
    for name, uses in re.findall(r"^src/(\w+)\s.*→\s*(.*)$", style, re.M):
        if uses.startswith("(libc"):
            allowed[name] = set()
        elif uses.startswith("all of the above except"):
            allowed[name] = set(allowed) - set(uses.split("except")[1].replace(".", "").split())
        else:
            allowed[name] = set(uses.split())
    return allowed


def themes(style):
    """Folder of src/ops -> the folders it may include, from lines like `src/ops/nn   what it is. → array`."""
    return {name: set(uses.split()) for name, uses in re.findall(r"^src/ops/(\w+)\s.*→\s*(.*)$", style, re.M)}


def theme_complaint(parts, target, allowed):
    """Why a file of src/ops may not include a header of src/ops, or None."""
    if len(parts) < 4:
        return None  # the files that all themes share
    here = parts[2]
    if here not in allowed:
        return f"src/ops/{here} is not in docs/style.md's list of themes"
    if len(target) == 3 and target[0] == "ops" and target[1] != here and target[1] not in allowed[here]:
        return f"ops/{here} may not include {'/'.join(target)}"
    return None


def cycle(allowed):
    """A list of rooms that lead back to the first one, or None; unknown rooms raise KeyError."""
    done = set()

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        if room in done:
            return None
        for used in sorted(allowed[room]):
            found = visit(used, path + [room])
            if found:
                return found
        done.add(room)
        return None

    return next((c for c in (visit(room, []) for room in allowed) if c), None)


def complaint(path, quoted, name, allowed, root):
    """Why this file may not include this name, or None."""
    parts = path.relative_to(root).parts
    target = name.split("/")
    if parts[0] == "src":
        here = parts[1]
        if here not in allowed:
            return f"src/{here} is not in docs/style.md's list of rooms"
        if name in PUBLIC or (len(target) == 1 and (not quoted or (path.parent / name).exists())):
            return None
        if source.is_test(path) and len(target) == 1 and (root / "tests" / name).exists():
            return None
        if (root / "src" / target[0]).is_dir() and target[0] in allowed:
            if target[0] != here and target[0] not in allowed[here]:
                return f"{here} may not include {name}"
        elif quoted:
            return f'"{name}" names no room'
    elif parts[0] in ("include", "examples", "python") and quoted:
        local = (path.parent / name).exists()
        if name not in PUBLIC and not local:
            return f"{parts[0]} may include only the public headers, not {name}"
    return None


def violations(root):
    """file:line: text of every include that breaks the list."""
    style = (root / "docs" / "style.md").read_text()
    allowed, in_ops = rooms(style), themes(style)
    found = []
    for path in source.files(".c", ".h", ".def", root=root):
        text = source.blank(path.read_text(), strings=False)
        for match in INCLUDE.finditer(text):
            why = complaint(path, match[1] == '"', match[2], allowed, root)
            parts = path.relative_to(root).parts
            if not why and parts[:2] == ("src", "ops"):
                why = theme_complaint(parts, match[2].split("/"), in_ops)
            if why:
                line = text.count("\n", 0, match.start(2)) + 1
                found.append(f"{path.relative_to(root)}:{line}: {why}")
    return found


def main(root):
    allowed = rooms((root / "docs" / "style.md").read_text())
    loop = cycle(allowed)
    if loop:
        print("the rooms form a cycle: " + " -> ".join(loop))
        return 1
    found = violations(root)
    print("\n".join(found + [f"{len(allowed)} rooms, {sum(map(len, allowed.values()))} edges, "
                             f"{len(found)} includes that break them"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else source.ROOT))
