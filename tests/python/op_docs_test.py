"""The checked-in reference of ops is what tools/gen_op_docs.py writes today."""
import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


@pytest.fixture(scope="module")
def pages():
    if not (BUILD / "tools" / "gen_docs").exists():
        pytest.skip("build/tools/gen_docs is not built")
    spec = importlib.util.spec_from_file_location("gen_op_docs", ROOT / "tools" / "gen_op_docs.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    return tool.pages(str(BUILD))


def test_pages_are_up_to_date(pages):
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "ops").glob("*.md")}
    stale = [name for name in pages if there.get(name) != pages[name]] + [name for name in there if name not in pages]
    assert not stale, f"run tools/gen_op_docs.py: {stale}"


def test_every_op_is_described(pages):
    ops = (ROOT / "src" / "ops" / "all.def").read_text().count("\nEF_OP(")
    text = "".join(text for name, text in pages.items() if name != "README.md")
    assert text.count("\n## ") == ops > 600 and "(no description)" not in text


def test_a_page_says_what_matters(pages):
    own = pages["math.md"].split("\n## AddV2\n")[1].split("\n## ")[0]
    for line in ("- inputs: `x: T`, `y: T`", "- gradient: yes", "- fuses: yes, and becomes machine code", "`tf.math.add`", "`tf.raw_ops.AddV2`"):
        assert line in own
    own = pages["linalg.md" if "\n## MatMul\n" in pages["linalg.md"] else "math.md"].split("\n## MatMul\n")[1].split("\n## ")[0]
    assert "- attribute `transpose_a`: `bool`, `false` by default" in own and "- fuses: no" in own
    (callers,) = re.findall("- called by: (.*)", own)
    assert "`tf.matmul`" in callers and "`tf.linalg.matmul`" in callers
