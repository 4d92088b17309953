"""Helpers of the checkers for C text: lists the project's files, removes comments, finds functions."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "include", "tests", "examples", "bench", "tools", "python")


def files(*suffixes, root=ROOT):
    """The tracked or new (but not ignored) files with these suffixes, sorted."""
    try:
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FOLDERS], cwd=root,
                                capture_output=True, text=True, check=True).stdout
        found = [root / name for name in set(listed.splitlines())]
    except (OSError, subprocess.CalledProcessError):  # no git here, or an unpacked archive
        found = [p for folder in FOLDERS for p in (root / folder).rglob("*")]
    return sorted(p for p in found if p.suffix in suffixes and p.is_file())


def is_test(path):
    """Tests, benchmarks and fuzzers are not part of the library."""
    return bool(re.search(r"_(test|bench|fuzz)\.c$", path.name)) or "tests" in path.parts


_TOKEN = re.compile(r"""//(?:\\\n|[^\n])*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.S)


def blank(text, strings=True):
    """The text with comments (and the insides of strings) blanked; every newline stays."""
    def hide(match):
        token = match[0]
        if token[0] in "\"'":
            return token[0] + re.sub(r"[^\n]", " ", token[1:-1]) + token[0] if strings else token
        return re.sub(r"[^\n]", " ", token)
    return _TOKEN.sub(hide, text)


def _macros(lines):
    """Removes preprocessor lines from `lines`. Yields (name, first line, length) of the macros among them."""
    i = 0
    while i < len(lines):
        if not lines[i].lstrip().startswith("#"):
            i += 1
            continue
        start = i
        while lines[i].rstrip().endswith("\\") and i + 1 < len(lines):
            i += 1
        i += 1
        named = re.match(r"\s*#\s*define\s+(\w+)", lines[start])
        for k in range(start, i):
            lines[k] = ""
        if named:
            yield named[1] + " (macro)", start + 1, i - start


def functions(text):
    """(name, first line, number of lines) of every function and macro of a C file.

    A function is a brace at file level that follows a closing parenthesis; its length counts from
    the line where its declaration starts to its last brace.
    """
    lines = blank(text).split("\n")
    found = list(_macros(lines))
    head, depth, start, name, wrappers = "", 0, 0, None, 0
    head_line = None
    for number, line in enumerate(lines, 1):
        for c in line:
            if c == "{":
                if depth == wrappers:
                    if re.search(r'extern\s*"[^"]*"\s*$', head):
                        wrappers, depth, head, head_line = wrappers + 1, depth + 1, "", None
                        continue
                    ends = re.search(r"\)\s*$", re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head))
                    called = re.search(r"(\w+)\s*\(", head)
                    name = called[1] if ends and called and "=" not in head else None
                    if name and re.fullmatch(r"[A-Z0-9_]+", name):  # EF_TEST(adds) and the like
                        inside = re.search(r"\(\s*(\w+)", head)
                        name = f"{name}({inside[1] if inside else ''})"
                    start = head_line or number
                depth += 1
            elif c == "}":
                depth -= 1
                if depth < wrappers:
                    wrappers = max(depth, 0)
                    depth = max(depth, 0)
                elif depth == wrappers and name:
                    found.append((name, start, number - start + 1))
                    name = None
                if depth == wrappers:
                    head, head_line = "", None
            elif depth == wrappers:
                if c == ";":
                    head, head_line = "", None
                else:
                    if head_line is None and not c.isspace():
                        head_line = number
                    head += c
        if depth == wrappers:
            head += " "
    return sorted(found, key=lambda f: f[1])
