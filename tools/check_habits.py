#!/usr/bin/env python3
"""Checks rules by searching the source text: the library never aborts, exits or prints; all its memory
comes from base/alloc.h; there are no notes to self and no commented-out code."""
import re
import sys

import source

LIBRARY = [  # (pattern, rule, files that are exempt)
    (r"\b(abort|exit|_Exit|quick_exit)\s*\(", "the library never ends the process",
     ("src/base/mutex.c",)),  # aborts on a wrong order of locks, in builds with assertions
    (r"(?<![\w.>])(printf|puts|putchar|perror)\s*\(", "the library never prints", ()),
    (r"(?<![\w.>])(malloc|calloc|realloc|free|strdup|aligned_alloc|posix_memalign)\s*\(",
     "memory comes from base/alloc.h", ("src/base/alloc.c", "src/device/memory.c")),
    (r"\b(strcpy|strcat|sprintf|vsprintf|gets)\s*\(", "this call does not know the size of its target", ()),
    (r"\b(pthread_mutex_\w+)\s*\(", "mutexes have ranks: base/mutex.h", ("src/base/mutex.",)),
    (r"\b(pthread_create)\s*\(", "threads are made in base/pool.c, base/interrupt.c, data/ and for queues of devices only",
     ("src/base/pool.c", "src/base/interrupt.c", "src/data/", "src/device/test.c")),
]
EVERYWHERE = [(r"\b(TODO|FIXME|XXX|HACK)\b", "finish it, or describe it in an issue")]
DEAD = re.compile(r"^\s*(//|/\*|\*)?\s*(//|/\*)\s*\w[^.?!]*(;|\{|\})\s*(\*/)?\s*$")


def complaints(path):
    name = str(path.relative_to(source.ROOT))
    raw = path.read_text()
    code = source.blank(raw).split("\n")
    library = name.startswith("src/") and not source.is_test(path)
    for number, (line, full) in enumerate(zip(code, raw.split("\n")), 1):
        for pattern, rule, free in LIBRARY if library else ():
            found = re.search(pattern, line)
            if found and not name.startswith(tuple(free) or ("\0",)):
                yield f"{name}:{number}: {found[1]}: {rule}"
        for pattern, rule in EVERYWHERE:
            found = re.search(pattern, full)
            if found:
                yield f"{name}:{number}: {found[1]}: {rule}"
        if line.strip() == "" and DEAD.match(full):
            yield f"{name}:{number}: commented-out code"


def main():
    found = [c for path in source.files(".c", ".h", ".def") for c in complaints(path)]
    print("\n".join(found + [f"{len(found)} lines against our habits"]))
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
