"""The command `evenflow doctor` when it is used wrongly: one line with a remedy, before anything is run."""
import os
import subprocess
import sys

import doctor_programs
import pytest


def doctor(*arguments, cwd=None, **environment):
    return subprocess.run([sys.executable, "-m", "evenflow", "doctor", *arguments], text=True, capture_output=True, cwd=cwd,
                          env={**os.environ, **environment})


@pytest.fixture
def program(tmp_path):
    made = tmp_path / "program.py"
    (tmp_path / "other.json").write_text('{"evenflow_doctor": 1}')
    made.write_text("import tensorflow as tf\nprint('ran')\n" + doctor_programs.PAIRS["E104"][0])
    return made


WRONG = {
    "no such code": (["--fail-on", "nonsense", "program.py"], "E104 or E1xx"),
    "a code that is too short": (["--fail-on", "E1x", "program.py"], "E104 or E1xx"),
    "one of two codes": (["--fail-on", "E104,E999", "program.py"], "'E999'"),
    "every without live": (["--every", "2", "program.py"], "--live PID --every SECONDS"),
    "a page of another process": (["--live", "1", "--html", "a.html"], "--html FILE PROGRAM.py"),
    "two kinds of output": (["--json", "--diff", "program.py"], "give one of them"),
    "a page into no folder": (["--html", "nowhere/a.html", "program.py"], "there is no such folder"),
    "a page onto a folder": (["--html", ".", "program.py"], "it is a folder"),
    "a page onto a program": (["--html", "program.py", "program.py"], "it is a program"),
    "a page without a name": (["--html", "", "program.py"], "the name is empty"),
    "two reports in one file": (["--html", "a", "--memory", "./a", "program.py"], "give two"),
    "a program beside a process": (["--live", "1", "program.py"], "leave 'program.py' out"),
    "a process that cannot be": (["--live", "0"], "pgrep"),
    "no time to wait": (["--live", "1", "--every", "0"], "--every 10"),
    "a time that is no number": (["--live", "1", "--every", "nan"], "--every 10"),
    "a file that is not JSON": (["--read", "program.py"], "ef_doctor_save"),
    "a file with other JSON": (["--read", "other.json"], "ef_doctor_save"),
    "a profile into no folder": (["--memory", "nowhere/a.json", "program.py"], "there is no such folder"),
    "a process that is no number": (["--live", "abc"], "--help"),
    "an unknown option": (["--bogus", "program.py"], "stand before the program"),
    "no program": ([], "evenflow doctor PROGRAM.py"),
    "no file to read": (["--read", "nofile"], "ef_doctor_save"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_one_line_with_a_remedy(name, program):
    arguments, remedy = WRONG[name]
    done = doctor(*arguments, cwd=program.parent)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("evenflow doctor: ") and remedy in done.stderr, done.stderr


def test_codes_in_small_letters(program):
    assert doctor("--fail-on", "e1xx", str(program)).returncode == 3


def test_an_option_behind_the_program(program):
    done = doctor(str(program), "--html", "a.html", cwd=program.parent)
    assert done.returncode == 0 and "an option of the doctor stands before the program" in done.stderr
    assert not (program.parent / "a.html").exists()


def test_what_was_written_is_named(program):
    done = doctor("--html", "a.html", str(program), cwd=program.parent)
    assert "evenflow doctor: wrote a.html\n" in done.stderr and (program.parent / "a.html").exists()


def test_no_patch_is_said(program):
    program.write_text("import tensorflow as tf\n" + doctor_programs.PAIRS["E106"][0])
    done = doctor("--diff", str(program))
    assert done.stdout == "" and "E106" in done.stderr and "there is no patch" in done.stderr


def test_a_reader_that_has_gone(program):
    """As `evenflow doctor explain | head -1`: no traceback."""
    program.write_text(program.read_text().replace("print('ran')\n", ""))
    for arguments in (["explain"], ["explain", "E104"], ["--json", str(program)]):
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([sys.executable, "-u", "-m", "evenflow", "doctor", *arguments], stdout=write, stderr=subprocess.PIPE, text=True,
                              env=os.environ)
        os.close(write)
        assert "BrokenPipe" not in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_colours_only_on_a_terminal(program):
    """In a pipe there are none; on a terminal there are, unless NO_COLOR is set."""
    assert "\033" not in doctor(str(program)).stderr
    for environment, expected in (({}, True), ({"NO_COLOR": "1"}, False)):
        ours, theirs = os.openpty()
        env = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        done = subprocess.Popen([sys.executable, "-m", "evenflow", "doctor", str(program)], stdout=subprocess.DEVNULL, stderr=theirs,
                                env={**env, **environment})
        os.close(theirs)
        shown = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:
                break
            if not more:
                break
            shown += more
        os.close(ours)
        assert done.wait() == 0 and b"E104" in shown and (b"\033[1m" in shown) == expected


def test_a_family_of_causes():
    done = doctor("explain", "e30x")
    assert done.returncode == 0 and [f"E30{k} " in done.stdout for k in range(1, 8)] == [True] * 6 + [False]
    assert doctor("explain", "E999", "E104").returncode == 2
    for name, code in (("function-in-loop", "E104"), ("dataset-recreated", "E107"), ("recompiled", "E108")):
        assert doctor("explain", name).stdout == doctor("explain", code).stdout != ""


@pytest.mark.parametrize("value", ["off", "0", "no", "false"])
def test_switched_off_in_the_environment(value, program):
    done = subprocess.run([sys.executable, "-c", "import evenflow"], text=True, capture_output=True, env={**os.environ, "EVENFLOW_DOCTOR": value})
    assert done.returncode == 0 and done.stderr == ""


def test_codes_of_the_fixture(monkeypatch):
    """In small letters they are the same codes; one that no cause has is an error, not a check that always passes."""
    from evenflow import pytest_plugin

    examination = pytest_plugin.Examination()
    examination.end()
    examination._diagnosis.findings = [type("Found", (), {"code": "E104"})()]
    monkeypatch.setattr(pytest_plugin.Examination, "report", "the report")
    with pytest.raises(pytest.fail.Exception, match="the report"):
        examination.check("e1xx")
    examination.check("E2xx")
    with pytest.raises(ValueError, match="E7xx"):
        examination.check("E7xx")


def test_a_trace_onto_a_program(program):
    text = program.read_text()
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", "--trace", str(program), str(program)], text=True, capture_output=True)
    assert done.returncode == 2 and "it is a program" in done.stderr and program.read_text() == text
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", f"--trace={program.parent / 'trace.json'}", str(program)], text=True,
                          capture_output=True)
    assert done.returncode == 0 and "traceEvents" in (program.parent / "trace.json").read_text(), done.stderr
