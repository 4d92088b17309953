"""What a module of the package takes from another, and which ops it calls, is there: found by reading, so that a line
no test runs cannot hide a missing name."""
import ast
import importlib
import pathlib
import types

import pytest

import evenflow

ROOT = pathlib.Path(evenflow.__file__).parent
FILES = [p for p in sorted(ROOT.rglob("*.py")) if p.name != "__main__.py"]


def has(module, name):
    try:
        return hasattr(module, name) or importlib.import_module(f"{module.__name__}.{name}") is not None
    except ModuleNotFoundError:
        return False


def imported(node, package):
    """The module and the names of a `from .x import a, b`."""
    parts = package.split(".")
    parts = parts[:len(parts) - node.level + 1] + (node.module.split(".") if node.module else [])
    return importlib.import_module(".".join(parts)), [alias.name for alias in node.names]


def nodes(tree, inside=frozenset()):
    """All nodes, each with the names that parameters around it hide."""
    for node in ast.iter_child_nodes(tree):
        arguments = getattr(node, "args", None)
        inner = inside
        if isinstance(arguments, ast.arguments):
            inner = inside | {a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)}
        yield node, inner
        yield from nodes(node, inner)


def missing(path):
    parts = ["evenflow", *path.relative_to(ROOT).with_suffix("").parts]
    package = ".".join(parts[:-1])
    module = importlib.import_module(package if parts[-1] == "__init__" else ".".join(parts))
    for node, hidden in nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            source, names = imported(node, package)
            yield from (f"line {node.lineno}: {source.__name__}.{n}" for n in names if not has(source, n))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id not in hidden:
            owner = evenflow.raw_ops if node.value.id == "raw" else getattr(module, node.value.id, None)
            ours = isinstance(owner, types.ModuleType) and owner.__name__.startswith("evenflow")
            if (ours or owner is evenflow.raw_ops) and not has(owner, node.attr):
                yield f"line {node.lineno}: {node.value.id}.{node.attr}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_names_are_there(path):
    assert list(missing(path)) == []
