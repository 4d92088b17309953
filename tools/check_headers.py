#!/usr/bin/env python3
"""Compile every header alone: a header includes what it uses, and its include guard is its own."""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

import source

FLAGS = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-Wno-unused-variable",
         "-Wno-unused-function", "-fopenmp", "-D_GNU_SOURCE=", "-fsyntax-only"]


def march(header, build):
    if header.stem.endswith("_v4"):  # for files that are compiled for this level alone
        return ["-march=x86-64-v4"]
    cache = build / "CMakeCache.txt"
    found = cache.exists() and re.search(r"^EF_MARCH:\w+=(\S+)", cache.read_text(), re.M)
    return [f"-march={found[1]}"] if found else []


def compile_alone(header, build):
    """The compiler's messages; empty if the header compiles."""
    folders = [source.ROOT / "src", source.ROOT / "include", source.ROOT / "tests", build / "include"]
    command = ["gcc", *FLAGS, *march(header, build), *(f"-I{f}" for f in folders), "-x", "c", "-"]
    run = subprocess.run(command, input=f'#include "{header}"\ntypedef int not_empty;\n',
                         capture_output=True, text=True)
    return run.stderr if run.returncode else ""


def same_guards(headers):
    """Names of headers that a file cannot include together, since they have the same include guard."""
    by_guard = {}
    for header in headers:
        guard = re.search(r"^#ifndef (\w+)\n#define \1$", header.read_text(), re.M)
        if guard:
            by_guard.setdefault(guard[1], []).append(str(header.relative_to(source.ROOT)))
    return [f"{' and '.join(names)}: the same include guard {guard}\n" for guard, names in by_guard.items() if len(names) > 1]


def main(build):
    twice = same_guards(source.files(".h"))
    headers = [h for h in source.files(".h") if h.relative_to(source.ROOT).parts[0] != "python"]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = list(pool.map(lambda h: compile_alone(h, build), headers))
    bad = twice + [c for c in complaints if c]
    print("".join(bad) + f"{len(headers)} headers, {len(bad)} that do not compile alone or share a guard")
    return len(bad) > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve()))
