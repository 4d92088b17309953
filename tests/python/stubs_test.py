"""The checked-in type stubs are what tools/gen_stubs.py writes today."""
import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_stubs_are_up_to_date():
    spec = importlib.util.spec_from_file_location("gen_stubs", ROOT / "tools" / "gen_stubs.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    stale = [name for name, text in tool.stubs().items()
             if not (ROOT / "python" / "evenflow" / name).exists()
             or (ROOT / "python" / "evenflow" / name).read_text(encoding="utf-8") != text]
    assert not stale, f"run tools/gen_stubs.py: {stale}"
