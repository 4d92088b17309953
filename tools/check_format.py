#!/usr/bin/env python3
"""Ask clang-format whether every C file is formatted as .clang-format says."""
import subprocess
import sys

import source


def main():
    files = [str(p) for p in source.files(".c", ".h", ".cpp")]
    if not files:
        print("0 files")
        return 0
    run = subprocess.run(["clang-format", "--dry-run", "-Werror", "--ferror-limit=3", *files],
                         capture_output=True, text=True)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if ": error:" in line})
    print("\n".join(bad + [f"{len(files)} files, {len(bad)} to reformat (clang-format -i)"]))
    return len(bad) > 0 or run.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
