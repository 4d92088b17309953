#!/usr/bin/env python3
"""Run clang-tidy over every file of the compilation database, in parallel.

A file without findings is not checked again until its preprocessed text, its flags or .clang-tidy
change; <build>/tidy/ caches this. With words as arguments, it checks only files whose paths contain
one of them, and prints each finding in full.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import source


def entries(build):
    """Our C files in the database: (path, command as a list, directory)."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.suffix == ".c" and build not in path.parents and path.exists():
            command = [w for w in shlex.split(entry["command"]) if not w.endswith("ccache")]
            yield path, command, entry["directory"]


def fingerprint(command, directory, config):
    """A hash of everything that determines the findings, or None if the file does not compile."""
    words = [w for w in command if not re.match(r"-M[A-Z]*$", w)]
    words[words.index("-c")] = "-E"
    if "-o" in words:
        words[words.index("-o") + 1] = "-"
    run = subprocess.run(words, cwd=directory, capture_output=True)
    if run.returncode:
        return None
    return hashlib.sha256(run.stdout + "\0".join(command).encode() + config).hexdigest()


def promise_nonnull(folder):
    """Tells the analyzer what base/status.h documents: `ef_error` never returns NULL, nor does `ef_status_add` for an
    error. Otherwise the analyzer would assume that every caller of a function that may fail continues with
    uninitialized results."""
    (folder / "promises.h").write_text("""#include "base/status.h"
static inline ef_status *ef_surely(ef_status *s) {
    if (!s) __builtin_unreachable();
    return s;
}
static inline ef_status *ef_still(const ef_status *before, ef_status *s) {
    if (before && !s) __builtin_unreachable();
    return s;
}
#pragma clang system_header
#define ef_error(...) ef_surely(ef_error(__VA_ARGS__))
#define ef_no_memory(n) ef_surely(ef_no_memory(n))
#define ef_status_add(s, ...) ({ ef_status *ef_is_ = (s); ef_still(ef_is_, ef_status_add(ef_is_, __VA_ARGS__)); })
""")
    return ["--extra-arg=-include", f"--extra-arg={folder}/promises.h"]


def needs_promises(path):
    return path.name != "status.c"  # it defines these functions


def borrow_omp_header(folder):
    """Makes a copy of gcc's omp.h without the attribute that clang rejects, because clang has no omp.h without its own
    runtime."""
    omp = subprocess.run(["gcc", "-print-file-name=include/omp.h"], capture_output=True, text=True)
    if os.path.isfile(omp.stdout.strip()):
        text = pathlib.Path(omp.stdout.strip()).read_text()
        (folder / "omp.h").write_text(re.sub(r"__malloc__\s*\([^)]*\)", "__malloc__", text))
    return ["--extra-arg=-isystem", f"--extra-arg={folder}"]


def tidy(path, command, directory, build, memory, config, extra):
    """Findings of one file as text."""
    mark = fingerprint(command, directory, config)
    if mark and (memory / mark).exists():
        return ""
    run = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), *extra,
                          "--extra-arg=-Wno-unknown-warning-option", str(path)],
                         capture_output=True, text=True)
    if run.returncode == 0:
        if mark:
            (memory / mark).touch()
        return ""
    return run.stdout if run.stdout.strip() else f"{path}: {run.stderr}"


def brief(text):
    """The findings with the source line of each, without the steps of the analyzer's path."""
    lines, keep = [], 0
    for line in text.splitlines():
        if re.search(r": (error|warning|note): ", line):
            keep = 3 if ": note: " not in line else 0
        if keep:
            lines.append(line.replace(f"{source.ROOT}/", ""))
            keep -= 1
    return "\n".join(lines) or text


def main(build, only):
    memory = build / "tidy"
    memory.mkdir(exist_ok=True)
    config = (source.ROOT / ".clang-tidy").read_bytes()
    omp, promises = borrow_omp_header(memory), promise_nonnull(memory)
    work = [e for e in entries(build) if not only or any(o in str(e[0]) for o in only)]
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(tidy, *entry, build, memory, config, omp + promises * needs_promises(entry[0]))
                for entry in work]
        for job in concurrent.futures.as_completed(jobs):
            if job.result():
                failures += 1
                print(job.result() if only else brief(job.result()), flush=True)
    print(f"{len(work)} files, {failures} with findings")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build").resolve(), sys.argv[2:]))
