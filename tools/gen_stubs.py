#!/usr/bin/env python3
"""Writes the type stubs of the Python package from its actual public names and signatures.

usage: gen_stubs.py [FOLDER]      (default: python/evenflow)

`raw_ops.pyi` comes from the engine's op table; one stub per public namespace (`__init__.pyi`, `math.pyi`, ...)
comes from the published names and their signatures. A test compares the result with what is checked in.
"""
import inspect
import keyword
import os
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEAD = '"""Type stubs of evenflow.{}. Written by tools/gen_stubs.py."""\n'
ATTR = {"int": "int", "float": "float", "bool": "bool", "string": "str", "type": "_DTypeLike", "shape": "_ShapeLike",
        "tensor": "_TensorLike", "func": "Any"}
ARITHMETIC = set("""abs add and eq floordiv ge getitem gt invert le lt matmul mod mul ne neg or pow radd rand rfloordiv rmatmul
    rmod rmul ror rpow rsub rtruediv rxor sub truediv xor""".split())  # operators of tensors that return tensors
OPERATORS = dict.fromkeys(ARITHMETIC, "Any") | {
    "bool": "builtins.bool", "call": "Any", "contains": "builtins.bool", "delitem": "None", "enter": "Any", "exit": "None",
    "float": "builtins.float", "hash": "builtins.int", "index": "builtins.int", "int": "builtins.int", "iter": "Any",
    "len": "builtins.int", "next": "Any", "setitem": "None"}


def annotation(kind):
    """The Python type of an attribute, from TensorFlow's notation."""
    if kind.startswith("list("):
        inner = kind[5:].split(")")[0]
        return f"Sequence[{ATTR.get(inner, 'Any')}]"
    if kind.startswith("{"):
        return "str" if "'" in kind else "_DTypeLike"
    return ATTR.get(kind.split()[0], "Any")


def default(value, kind):
    """A default of the op table as Python text; `...` if only the engine can parse it."""
    text = {"true": "True", "false": "False"}.get(value, value)
    if kind in ("int", "float", "bool", "string") or "'" in kind or kind.startswith("int"):
        return text
    return "..."


def raw_stub(core, public):
    lines = [HEAD.format("raw_ops"), "from typing import Any, Sequence", "",
             "from evenflow import Operation, Tensor", "", "_TensorLike = Any", "_DTypeLike = Any", "_ShapeLike = Any", ""]
    for name in sorted(core.op_names()):
        if name.startswith("_"):
            continue
        d = core.describe_op(name)
        own = [row[0] for row in d["inputs"]] + [row[0] for row in d["attrs"] if not row[3]]
        shown = dict(zip(own, getattr(public, name)._params))
        params = [f"{shown[n]}: {'Sequence[_TensorLike]' if many else '_TensorLike'}" for n, _, _, many in d["inputs"]]
        late = []
        for n, kind, value, inferred in d["attrs"]:
            if not inferred:
                (late if value is not None else params).append(
                    f"{shown[n]}: {annotation(kind)}" + ("" if value is None else f" = {default(value, kind)}"))
        params += late + ["name: str | None = None"]
        params = [f"{p.split(':')[0]}_:{p.split(':', 1)[1]}" if keyword.iskeyword(p.split(':')[0]) else p for p in params]
        lines += [f"def {name}(*, {', '.join(params)}) -> {result(d['outputs'])}:", f"    {quoted(d['doc'])}", ""]
    return "\n".join(lines)


def result(outputs):
    if not outputs:
        return "Operation | None"
    if len(outputs) == 1:
        return "list[Tensor]" if outputs[0][3] else "Tensor"
    return "tuple[" + ", ".join("list[Tensor]" if o[3] else "Tensor" for o in outputs) + "]"


def quoted(doc):
    first = (doc or "").strip().split("\n")[0].replace("\\", "\\\\").replace('"', "'")
    return f'"""{first}"""' if first else "..."


def parameter(p):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    if p.default is not p.empty:
        text += "=" + (repr(p.default) if isinstance(p.default, (int, float, str, bool, type(None))) else "...")
    return text


def signature(obj):
    """The parameter list of a callable as text."""
    try:
        found = inspect.signature(obj)
    except (TypeError, ValueError):
        return "(*args, **kwargs)"
    parts, star = [], False
    for p in found.parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        parts.append(parameter(p))
    return "(" + ", ".join(parts) + ")"


def member(name, obj):
    """The lines of an attribute of a class."""
    if isinstance(obj, (staticmethod, classmethod)):
        return [f"    @{type(obj).__name__}", *member(name, obj.__func__)]
    if inspect.isroutine(obj) or hasattr(obj, "_op_name"):
        text = signature(obj)
        if text.startswith("(*args") or "/" in text:
            text = "(self, *args, **kwargs)"
        return [f"    def {name}{text}: ..."]
    if inspect.isdatadescriptor(obj) or type(obj).__name__ == "cached_property":
        return ["    @property", f"    def {name}(self) -> Any: ..."]
    return [f"    {name}: Any"]


def operator(key, name):
    """The line of an operator of class `name`, or none."""
    result = OPERATORS.get(key.strip("_")) if key.startswith("__") else None
    if name in ("Tensor", "Variable") and key.strip("_") in ARITHMETIC:
        result = "Tensor"
    return [] if result is None else [f"    def {key}(self, *args: Any) -> {result}: ..."]


def class_stub(name, cls):
    """A class with the members of itself and its bases. The stub of Tensor has the names of eager tensors too."""
    lines = [f"class {name}:", f"    {quoted(cls.__doc__)}"]
    init = cls.__dict__.get("__init__")
    if init is None and any(b.__module__ == "evenflow._core" and b.__text_signature__ for b in cls.__mro__):  # made in C
        text = signature(cls).replace("(", "(self, ", 1)
    else:
        text = signature(init) if inspect.isfunction(init) else "(self, *args, **kwargs)"
    lines.append(f"    def __init__{text}: ...")
    seen = {}
    for base in reversed(cls.__mro__[:-1]):
        seen.update(vars(base))
    if name == "DType":  # a class in C has all comparisons; these raise
        for key in ("__lt__", "__le__", "__gt__", "__ge__"):
            seen.pop(key, None)
    for key in sorted(seen):
        if key.startswith("_"):
            lines += operator(key, name)
        elif key.isidentifier() and not keyword.iskeyword(key):
            lines += member(key, seen[key])
    return [*lines, ""]


def entry(name, obj, core):
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("__"):
        return []
    if isinstance(obj, types.ModuleType):
        return [f"from evenflow import {name} as {name}"] if obj.__name__ == f"evenflow.{name}" else []
    if isinstance(obj, type):
        return class_stub(name, type(core.convert(0)) if name == "Tensor" else obj)
    if callable(obj):
        made = f" -> {result(core.describe_op(obj._op_name)['outputs'])}" if hasattr(obj, "_op_name") else ""
        return [f"def {name}{signature(obj)}{made}:", f"    {quoted(getattr(obj, '__doc__', None))}", ""]
    return [f"{name}: {type(obj).__name__ if obj is not None else 'None'}"]


def space_stub(name, names, core, inner=()):
    lines = [HEAD.format(name).replace("evenflow.__init__", "evenflow"), "import builtins", "from typing import Any", ""]
    if name != "__init__":
        lines[-1:] = ["", "from evenflow import Operation, Tensor", ""]
    lines += [f"from . import {space} as {space}" for space in sorted(inner)] + [""] * bool(inner)
    for key in sorted(names):
        lines += entry(key, names[key], core)
    return "\n".join(lines).rstrip() + "\n"


def stubs():
    """File name -> text of every stub."""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import evenflow
    from evenflow._src import namespace

    spaces = {"__init__": {}}
    for dotted, obj in namespace.names().items():
        outer, _, last = dotted.rpartition(".")
        if outer.count(".") == 0 and outer != "compat":
            spaces.setdefault(outer or "__init__", {})[last] = obj
    spaces = {name: names for name, names in spaces.items() if not name.startswith("__inter")}
    top = spaces.pop("__init__")
    made = {f"{name}.pyi": space_stub(name, names, evenflow._core) for name, names in spaces.items()}
    made["__init__.pyi"] = space_stub("__init__", top, evenflow._core, {*spaces, "raw_ops", "compat"} - set(top))
    made["raw_ops.pyi"] = raw_stub(evenflow._core, evenflow.raw_ops)
    return made


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "python", "evenflow")
    os.makedirs(folder, exist_ok=True)
    for name, text in stubs().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    main()
