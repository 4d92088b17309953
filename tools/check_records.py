#!/usr/bin/env python3
"""All facts about an op are in its record (src/ops/op.h), so no other C code distinguishes ops by name.

These may name ops: src/ops, which has the records; tests; the tables of rewrite rules, whose patterns contain `OP(Mul)`;
and code that adds a particular op to a graph with `ef_emit` (ops/build.h)."""
import re
import sys

import source

EMITTED = re.compile(r'\bef_emit\w*\(\s*[^,"]*,\s*"\w+"')


def op_names(root=source.ROOT):
    listed = root / "src" / "ops" / "all.def"
    return re.findall(r"^EF_OP\((\w+)\)", listed.read_text(), re.M) if listed.exists() else []


def named(text, ops):
    """(line, op) of every op that this C text names by its record, its number or its name."""
    code = EMITTED.sub(lambda m: re.sub(r"\w", " ", m[0]), source.blank(text, strings=False))
    for number, line in enumerate(code.split("\n"), 1):
        for record, string in re.findall(r'\b(?:ef_op_|EF_OP_)(\w+)|"(\w+)"', line):
            if (record or string) in ops:
                yield number, record or string


def complaints(root=source.ROOT):
    ops = set(op_names(root))
    for path in source.files(".c", ".h", root=root):
        name = path.relative_to(root)
        if name.parts[0] == "src" and name.parts[1] != "ops" and not source.is_test(path):
            for number, op in named(path.read_text(), ops):
                yield f"{name}:{number}: {op} is named outside its record; give the record a column or a trait"


def main():
    found = list(complaints())
    print("\n".join(found + [f"{len(found)} ops named outside their records"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
