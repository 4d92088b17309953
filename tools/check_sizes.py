#!/usr/bin/env python3
"""Reject files over 1200 lines and functions over 150 lines; report those over 800 and over 80."""
import sys

import source

FILE_REPORT, FILE_LIMIT = 800, 1200
FUNCTION_REPORT, FUNCTION_LIMIT = 80, 150
ROOM_CMAKE_LIMIT, TOOL_LIMIT = 40, 200


def judge(what, size, report, limit):
    """(the line to print, or None; whether it is a failure)."""
    if size > limit:
        return f"{what}: {size} lines, over the limit of {limit}", True
    if size > report:
        return f"{what}: {size} lines (note: over {report})", False
    return None, False


def sizes():
    """Yields (file or function, size, size above which it is reported, limit)."""
    for path in source.files(".c", ".h", ".cpp", ".py", ".def"):
        name = path.relative_to(source.ROOT)
        text = path.read_text()
        limit = TOOL_LIMIT if path.suffix == ".py" and name.parts[0] == "tools" else FILE_LIMIT
        if path.name != "all.def":  # a list with one line per op
            yield name, text.count("\n"), min(FILE_REPORT, limit), limit
        if path.suffix in (".c", ".h"):
            for function, line, size in source.functions(text):
                yield f"{name}:{line}: {function}", size, FUNCTION_REPORT, FUNCTION_LIMIT
    for path in sorted((source.ROOT / "src").glob("*/CMakeLists.txt")):
        yield path.relative_to(source.ROOT), path.read_text().count("\n"), ROOM_CMAKE_LIMIT, ROOM_CMAKE_LIMIT


def main():
    failures = 0
    for what, size, report, limit in sizes():
        line, failed = judge(what, size, report, limit)
        failures += failed
        if line:
            print(line)
    print(f"{failures} files or functions over their limit")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
