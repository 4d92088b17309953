"""How the commands behave on a terminal and in a pipe; shell completion and manual pages."""
import importlib.util
import io
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys

import pytest
from evenflow._src.commands import COMMANDS, completion, module, terminal

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "evenflow"]
PROGRAM = "import tensorflow as tf\n@tf.function\ndef f(x): return x * 2.0\nf(tf.ones([3]))\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def on_a_terminal(arguments, **environment):
    """What a command writes to a terminal."""
    main, other = pty.openpty()
    child = subprocess.Popen([*COMMAND, *arguments], stdout=other, stderr=other, stdin=other,
                             env={k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"} | environment)
    os.close(other)
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
    os.close(main)
    return child.wait(), text.decode()


def test_colours_on_a_terminal_only(tmp_path):
    path = tmp_path / "p.py"
    path.write_text(PROGRAM)
    status, text = on_a_terminal(["inspect", f"{path}:f"])
    assert status == 0 and "\x1b[1m" in text
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        status, text = on_a_terminal(["inspect", f"{path}:f"], **environment)
        assert status == 0 and "function f" in text and "\x1b" not in text
    piped = subprocess.run([*COMMAND, "inspect", f"{path}:f"], capture_output=True, text=True)
    assert "\x1b" not in piped.stdout and piped.stderr == ""


def test_a_reader_that_has_gone(tmp_path):
    """As `evenflow inspect program.py:f | head -1`: no traceback."""
    path = tmp_path / "p.py"
    path.write_text(PROGRAM)
    for arguments in (["inspect", f"{path}:f"], ["inspect", "--json", f"{path}:f"], ["completion", "bash"],
                      ["bench", "--repeat", "20", f"{path}:f"]):
        if arguments[0] == "bench":
            path.write_text(PROGRAM + "f_args = (tf.ones([3]),)\n")
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([*COMMAND, *arguments], stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        assert (done.returncode, done.stderr) == (0, "")


def test_progress_shows_itself_late_and_leaves_nothing(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: clock[0])
    screen = Terminal()
    with terminal.Progress(screen) as progress:
        progress.show("early")
        assert screen.getvalue() == ""
        clock[0] += 1
        progress.show("late")
        assert screen.getvalue() == "\rlate"
        progress.show("too soon again")
        assert screen.getvalue() == "\rlate"
    assert screen.getvalue() == "\rlate\r    \r"
    pipe = io.StringIO()
    with terminal.Progress(pipe) as progress:
        clock[0] += 9
        progress.show("nothing in a pipe")
    assert pipe.getvalue() == ""


def test_amounts():
    assert [terminal.duration(n) for n in (12, 3400, 5_600_000, 7.8e9, 999.7)] == ["12 ns", "3.4 µs", "5.6 ms", "7.8 s", "1 µs"]
    assert [terminal.size(n) for n in (12, 3482, 5 * 2**20, 3 * 2**30)] == ["12 B", "3.4 KiB", "5 MiB", "3 GiB"]


# ---- completion -----------------------------------------------------------------------------------------------


def bash_completes(*words):
    """What bash offers for the last word."""
    script = completion.bash() + f"COMP_WORDS=({' '.join(words) or ''}{' ' * (not words[-1])}{chr(34) * 2 * (not words[-1])})\n" \
        f"COMP_CWORD={len(words) - 1}\n_evenflow\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd="/")
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completion():
    assert bash_completes("evenflow", "ins") == ["inspect"]
    assert set(COMMANDS) <= set(bash_completes("evenflow", ""))
    assert "--compare" in bash_completes("evenflow", "bench", "--c")
    assert bash_completes("evenflow", "completion", "z") == ["zsh"]


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_completion_knows_every_option(shell):
    text = getattr(completion, shell)()
    for name in COMMANDS:
        for action in module(name).parser()._actions:
            for option in action.option_strings:
                assert re.search(rf"(-l |-s |[\s'\"]){re.escape(option.lstrip('-') if shell == 'fish' else option)}\b", text), (name, option)
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=text, text=True, capture_output=True).returncode == 0


# ---- manual pages ---------------------------------------------------------------------------------------------


def test_manual_pages_are_up_to_date():
    spec = importlib.util.spec_from_file_location("gen_man", ROOT / "tools" / "gen_man.py")
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    pages = tool.pages()
    assert {f"evenflow-{name}.1" for name in COMMANDS} | {"evenflow.1"} == set(pages)
    there = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "man").glob("*.1")}
    stale = [name for name in pages if there.get(name) != pages[name]] + [name for name in there if name not in pages]
    assert not stale, f"run tools/gen_man.py: {stale}"


@pytest.mark.skipif(not shutil.which("groff"), reason="groff is not installed")
@pytest.mark.parametrize("name", ["evenflow", *(f"evenflow-{n}" for n in COMMANDS)])
def test_manual_pages_can_be_shown(name):
    done = subprocess.run(["groff", "-man", "-Tutf8", "-Kutf8", "-ww", str(ROOT / "docs" / "man" / f"{name}.1")], capture_output=True, text=True)
    shown = re.sub(".\b", "", done.stdout)  # bold letters are struck twice
    assert (done.returncode, done.stderr) == (0, "") and "NAME" in shown and "SYNOPSIS" in shown
