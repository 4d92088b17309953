#!/usr/bin/env python3
"""Read the layers of the Python package in docs/style.md, and reject imports that they do not allow.

A file may import files of its own layer and of the layers before it, and no two files import each other, directly or by way
of others. An import inside a function hides a cycle, or delays work: it needs a comment that says why, on its line or the
line before, and there are at most LIMIT of them.
"""
import ast
import fnmatch
import re
import sys

import source

PACKAGE = source.ROOT / "python" / "evenflow" / "_src"
LIMIT = 10


def layers(style):
    """[(name of a layer, patterns of its modules)] from lines like `_src: ops   what it is. = ops.math ops.array`."""
    return [(name, patterns.split()) for name, patterns in re.findall(r"^_src: (\w+)\s.*? = (.*)$", style, re.M)]


def modules():
    """Module, as a dotted name inside the package -> file."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    found.pop("", None)
    return found


def imported(module, path, node, known):
    """The modules of the package that an import statement loads."""
    if isinstance(node, ast.Import) or node.level == 0:
        return set()
    home = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    home = home[: len(home) - node.level + 1]
    base = ".".join(home + ([node.module] if node.module else []))
    found = set()
    for alias in node.names:
        inner = f"{base}.{alias.name}" if base else alias.name
        found.add(inner if inner in known else base)
    return {name for name in found if name in known and name != module}


def scan(known):
    """({module: modules it imports when it is loaded}, [(module, line, statement, reason or None)] inside functions)."""
    graph, inside = {}, []
    for module, path in known.items():
        text = path.read_text()
        lines, graph[module] = text.split("\n"), set()

        def visit(node, in_function):
            for child in ast.iter_child_nodes(node):
                deeper = in_function or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
                if not isinstance(child, (ast.Import, ast.ImportFrom)):
                    visit(child, deeper)
                elif in_function:
                    around = lines[child.lineno - 2] + lines[child.end_lineno - 1]
                    inside.append((module, child.lineno, ast.unparse(child), re.search(r"#(?! noqa: \w+$)\s*\w.*", around)))
                else:
                    graph[module] |= imported(module, path, child, known)  # noqa: B023 - called immediately

        visit(ast.parse(text), False)
    return graph, inside


def cycle(graph):
    """A list of modules that lead back to the first one, or None."""
    done = set()

    def visit(module, path):
        if module in path:
            return path[path.index(module):] + [module]
        if module in done:
            return None
        for used in sorted(graph[module]):
            found = visit(used, path + [module])
            if found:
                return found
        done.add(module)
        return None

    return next((c for c in (visit(module, []) for module in sorted(graph)) if c), None)


def place_of(module, order):
    """The number of the layer of a module: the layer that lists its name, or has the longest matching pattern; or None."""
    fits = [(len(pattern.rstrip("*")), pattern == module, k) for k, (_, patterns) in enumerate(order) for pattern in patterns
            if fnmatch.fnmatchcase(module, pattern)]
    return max(fits, key=lambda fit: (fit[1], fit[0]))[2] if fits else None


def complaints(graph, inside, order):
    """A list of all violations, one sentence each."""
    wrong = []
    for module in graph:
        here = place_of(module, order)
        if here is None:
            wrong.append(f"{module}: is in no layer of docs/style.md")
            continue
        for used in sorted(graph[module]):
            there = place_of(used, order)
            if there is not None and there > here:
                wrong.append(f"{module} (layer {order[here][0]}) may not import {used} (layer {order[there][0]})")
    found = cycle(graph)
    if found:
        wrong.append("a cycle: " + " imports ".join(found))
    for module, line, statement, reason in inside:
        if reason is None:
            wrong.append(f"{module}, line {line}: `{statement}` inside a function, without a comment that says why")
    if len(inside) > LIMIT:
        wrong.append(f"{len(inside)} imports inside functions, at most {LIMIT} are allowed")
    return wrong


def figures():
    """(imports that break the layers or make a cycle, imports inside functions)"""
    order = layers((source.ROOT / "docs" / "style.md").read_text())
    graph, inside = scan(modules())
    return len(complaints(graph, [], order)), len(inside)


def main():
    """Prints the violations and the figures. Returns the exit status."""
    order = layers((source.ROOT / "docs" / "style.md").read_text())
    known = modules()
    graph, inside = scan(known)
    wrong = complaints(graph, inside, order)
    for line in wrong:
        print(line)
    print(f"{len(order)} Python layers, {len(known)} files, {sum(map(len, graph.values()))} imports, "
          f"{len(inside)} inside functions, {len(wrong)} complaints")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
