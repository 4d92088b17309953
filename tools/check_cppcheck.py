#!/usr/bin/env python3
"""Run cppcheck over the library, the tools and the examples. It caches its results in <build>/cppcheck/."""
import argparse
import os
import pathlib
import subprocess
import sys

import source

SUPPRESS = [
    "missingInclude", "missingIncludeSystem", "unmatchedSuppression", "preprocessorErrorDirective",
    "normalCheckLevelMaxBranches",
    "uninitvar", "uninitdata",  # gcc and clang-tidy find these too, with fewer false positives in loops
    "returnDanglingLifetime",   # mistakes EF_TRY(f(&local)) for returning the local
    "invalidPointerCast",       # a struct's fields are reached by offset, aligned by construction
    "incorrectLogicOperator",   # misreads hexadecimal floating-point constants
]


def main(build):
    memory = build / "cppcheck"
    memory.mkdir(parents=True, exist_ok=True)
    files = [str(p) for p in source.files(".c")]
    if not files:
        print("0 files")
        return 0
    command = ["cppcheck", "--quiet", "--std=c11", "--language=c", "--platform=unix64", "--inline-suppr",
               "--enable=warning,performance,portability", "--error-exitcode=1", f"-j{os.cpu_count()}",
               f"--cppcheck-build-dir={memory}", "--max-configs=1", "-D_GNU_SOURCE", "-D__x86_64__",
               # cppcheck does not read Python's headers
               "-DPy_RETURN_NONE=return Py_None", "-DPy_RETURN_FALSE=return Py_False",
               f"-I{source.ROOT}/src", f"-I{source.ROOT}/include", f"-I{source.ROOT}/tests",
               f"-I{build}/include", *(f"--suppress={s}" for s in SUPPRESS), *files]
    status = subprocess.run(command).returncode
    print(f"{len(files)} files, " + ("findings above" if status else "no findings"))
    return status


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("build", nargs="?", default="build", type=pathlib.Path)
    sys.exit(main(arguments.parse_args().build.resolve()))
