"""What the documents name is there: files, headings, and the lines of source that contributing.md shows."""
import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
FOLDERS = {"bench", "cmake", "docs", "examples", "include", "python", "scripts", "src", "tests", "tools"}
NOT_YET = {"src/device/opencl.c", "src/kernels/opencl"}  # devices.md says what they will hold
PROSE = re.compile(r"^```.*?^```", re.M | re.S)
CODE = re.compile(r"^```(?:c|python|diff)\n(.*?)^```", re.M | re.S)
# Examples that are no lines of the source: rows of a record that show a choice, and Softsign, which a macro writes.
MADE_UP = ("some_run", "run_fast", "softsign")


def anchors(path):
    text = PROSE.sub("", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", line).strip().lower().replace(" ", "-") for line in re.findall(r"^#+ (.*)$", text, re.M)}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    text, wrong = PROSE.sub("", page.read_text(encoding="utf-8")), []
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        name, _, anchor = target.partition("#")
        path = page.parent / name if name else page
        if "://" not in target and (not path.exists() or (anchor and anchor not in anchors(path))):
            wrong.append(target)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_named_files_exist(page):
    text = page.read_text(encoding="utf-8")
    named = {n for n in re.findall(r"`([\w./-]+)`", text) if n.split("/")[0] in FOLDERS and "/" in n} - NOT_YET
    assert sorted(n for n in named if not (ROOT / n).exists()) == []


def squeezed(text):
    return re.sub(r"\s+", "", text)


def test_lines_of_source_are_as_contributing_shows_them():
    page = (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
    source = "\n".join(squeezed(p.read_text(encoding="utf-8")) for folder in ("src", "python", "tests/python")
                       for end in ("*.c", "*.h", "*.def", "*.py") for p in sorted((ROOT / folder).rglob(end)))
    gone = []
    for block in CODE.findall(page):
        if any(name in block for name in MADE_UP):
            continue
        lines = [line for line in block.split("\n") if not line.startswith("-")]
        for part in re.split(r"^ *\.\.\.$|\n\n", "\n".join(line.removeprefix("+") for line in lines), flags=re.M):
            if squeezed(part) not in source:
                gone.append(part)
    assert gone == []


def test_help_of_make_has_every_target():
    spec = importlib.util.spec_from_file_location("make_help", ROOT / "tools" / "make_help.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    shown = " ".join(command for command, _ in tool.commands((ROOT / "README.md").read_text(encoding="utf-8")))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    assert [t for t in targets if not re.search(rf"make {t}\b(?!-)", shown)] == ["all", "setup", "build"]
