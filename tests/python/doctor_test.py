"""The doctor: each cause is found at its line, and nothing is found where nothing is wrong."""
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import doctor_programs
import numpy as np
import pytest

import evenflow as tf
from evenflow import _core
from evenflow._src.doctor import causes, patch, prices, report

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"


def examine(text, path, everything=True):
    """Runs a program under the doctor; it stands in a file, since findings name its lines."""
    path.write_text(text)
    _core.clear_programs()  # plans of programs that were run before would be found again
    names = {"tf": tf, "np": np, "__name__": "__main__"}
    with tf.experimental.doctor(show=False, everything=everything) as found:
        exec(compile(text, str(path), "exec"), names)
    return [f for f in found.findings if f.place.file == str(path)], found


@pytest.mark.parametrize("code", sorted(doctor_programs.PAIRS))
def test_cause(code, tmp_path):
    wrong, right = doctor_programs.PAIRS[code]
    found, _ = examine(wrong, tmp_path / "wrong.py")
    line = next(k for k, text in enumerate(wrong.split("\n"), 1) if "# here" in text)
    assert (code, line) in [(f.code, f.place.line) for f in found], [report.line(f) for f in found]
    found, _ = examine(right, tmp_path / "right.py")
    assert code not in [f.code for f in found], [report.line(f) for f in found]


@pytest.mark.parametrize("name", sorted(doctor_programs.ORDINARY))
def test_no_false_alarm(name, tmp_path):
    found, _ = examine(doctor_programs.ORDINARY[name], tmp_path / "ordinary.py", everything=False)
    assert found == [], [report.line(f) for f in found]


def test_every_cause_is_told():
    for code, cause in causes.table().items():
        text = report.explain(code)
        assert code in text and cause.title in text and "Instead of" in text
    assert report.explain("E999") is None
    assert set(doctor_programs.PAIRS) <= set(causes.table())


def test_prices_follow_from_the_results():
    """What TensorFlow costs is data: each price is what its formula says of the measured results."""
    results = {r["name"]: r for r in json.loads((ZOO / "results-tensorflow-2.21.json").read_text())["results"]}
    for name, price in prices.PRICES.items():
        fields = results[price.program]
        assert price.us == pytest.approx(eval(price.formula, {}, fields), rel=0.01, abs=0.1 if price.us > 1 else 1e-4), name
        assert price.kb == pytest.approx(fields["rss_growth_kb_per_1000_calls"] / 1000, abs=0.06), name


def test_a_comment_silences(tmp_path):
    wrong = doctor_programs.PAIRS["E104"][0]
    found, _ = examine(wrong.replace("# here", "# evenflow: ignore E104"), tmp_path / "a.py")
    assert "E104" not in [f.code for f in found]
    found, _ = examine(wrong.replace("# here", "# evenflow: ignore E101"), tmp_path / "b.py")
    assert "E104" in [f.code for f in found]


@pytest.mark.parametrize("code", sorted(patch.PATCHES))
def test_a_patch_cures(code, tmp_path):
    wrong = "import evenflow as tf\n" + doctor_programs.PAIRS[code][0]
    path = tmp_path / "program.py"
    found, _ = examine(wrong, path)
    text = patch.diff([f for f in found if f.code == code])
    assert text.startswith(f"--- {path}\n+++ {path}\n")
    subprocess.run(["patch", "-s", "-p0", str(path)], input=text, text=True, check=True, cwd=tmp_path)
    again, _ = examine(path.read_text(), tmp_path / "cured.py")
    assert code not in [f.code for f in again], path.read_text()


def command(*arguments, **environment):
    return subprocess.run([sys.executable, "-m", "evenflow", *arguments], text=True, capture_output=True,
                          env={**os.environ, "NO_COLOR": "1", **environment})


def test_command(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import tensorflow as tf\nimport sys\nprint(sys.argv[1:])\n" + doctor_programs.PAIRS["E104"][0])
    done = command("doctor", str(program), "--own", "option")
    assert done.returncode == 0 and done.stdout.startswith("['--own', 'option']\n")
    assert "program.py:9: E104 function-in-loop" in done.stderr and "Fix: wrap it" in done.stderr
    done = command("doctor", "--json", "--fail-on", "E1xx", str(program))
    assert done.returncode == 3
    (finding,) = json.loads(done.stdout[done.stdout.index("\n") + 1:])["findings"]
    assert finding["code"] == "E104" and finding["line"] == 9 and finding["count"] == 30
    assert finding["measured_by"] == "04_function_made_in_loop"
    assert command("doctor", "--fail-on", "E2xx", str(program)).returncode == 0
    done = command("doctor", "--diff", str(program))
    assert "+body_function = tf.function(body)" in done.stdout
    done = command("doctor", "explain", "E104")
    assert done.returncode == 0 and "function-in-loop" in done.stdout
    assert command("doctor", "explain", "E999").returncode == 2
    assert command("doctor").returncode == 2


def test_page(tmp_path):
    program, page = tmp_path / "program.py", tmp_path / "report.html"
    program.write_text("import tensorflow as tf\nimport time\n" + doctor_programs.PAIRS["E104"][0] + "\ntime.sleep(0.6)\n"
                       "f = tf.function(lambda v: v)\nfor _ in range(3000): f(x)\n")
    done = command("doctor", "--html", str(page), str(program))
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    parsed = xml.etree.ElementTree.fromstring(text.split("\n", 1)[1].replace('<meta charset="utf-8">', "").replace(
        '<meta name="viewport" content="width=device-width, initial-scale=1">', "").replace("<br>", ""))
    assert parsed.find("body/h1").text.endswith("on TensorFlow.") and len(text) < 1 << 20
    assert "tf.function(body)(x)" in text and len(parsed.findall(".//circle")) > 10 and len(parsed.findall(".//polyline")) == 1
    assert "http" not in text and "<script" not in text
    assert "cannot write" in command("doctor", "--html", "/nowhere/x.html", str(program)).stderr


def test_environment(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import evenflow as tf\n" + doctor_programs.PAIRS["E104"][0])
    done = subprocess.run([sys.executable, str(program)], text=True, capture_output=True,
                          env={**os.environ, "EVENFLOW_DOCTOR": "1"})
    assert done.returncode == 0 and "E104" in done.stderr


def test_context_manager(capsys):
    with tf.experimental.doctor():
        for _ in range(20):
            tf.function(lambda v: v)(1.0)
    assert "E104" in capsys.readouterr().err
