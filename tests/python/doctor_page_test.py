"""The doctor's page in a real browser: what it shows, and that it answers clicks and zooms."""
import os
import subprocess
import sys

import browser
import pytest

PROGRAM = """
import tensorflow as tf
import time

kept = []
def slow(v):
    time.sleep(0.002)
    return v

def body(v):
    return v * 2.0

x = tf.ones([4])
weights = tf.Variable(tf.zeros([64, 64]))
for _ in range(30):
    tf.function(body)(x)

ds = tf.data.Dataset.range(120).map(lambda v: tf.numpy_function(slow, [v], tf.int64)).batch(4)
for batch in ds:
    time.sleep(0.004)
once = tf.function(body)
for turn in range(12):
    for _ in range(4000):
        once(x)
    time.sleep(0.02)
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    program, report = folder / "program.py", folder / "report.html"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--html", str(report), str(program)], text=True,
                          capture_output=True, env={**os.environ, "NO_COLOR": "1"}, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert report.stat().st_size < 1 << 20
    return report


@pytest.fixture(scope="module")
def opened(page, tmp_path_factory):
    if browser.CHROMIUM is None:
        pytest.skip("chromium is not installed")
    b = browser.Browser(tmp_path_factory.mktemp("browser"))
    yield b
    b.close()


def test_what_is_shown(opened, page):
    opened.show(page)
    assert opened.ask("document.querySelector('h1').textContent").startswith("program.py:")
    assert opened.ask("[...document.querySelectorAll('.finding .code')].map(e => e.textContent).includes('E104')")
    assert "tf.function(body)(x)" in opened.ask("document.querySelector('.finding pre .hit').parentElement.textContent") or opened.ask(
        "document.querySelectorAll('.finding pre .hit').length") > 1
    assert opened.ask("document.querySelectorAll('#calls circle').length") > 50
    assert opened.ask("[...document.querySelectorAll('.median')].reduce((n, e) => n + e.points.length, 0)") > 3
    assert opened.ask("document.querySelectorAll('#memory polyline').length") == 2
    assert opened.ask("document.querySelectorAll('#timeline rect').length") > 5
    assert {"trace", "function call"} <= set(opened.ask("[...document.querySelectorAll('#timeline text.label')].map(e => e.textContent)"))
    assert opened.ask("document.querySelectorAll('#flame rect').length") > 3
    assert opened.ask("[...document.querySelectorAll('.stage b')].map(e => e.textContent)")[1] == "Map (slowest)"
    assert opened.ask("document.querySelectorAll('.stage.slow').length") == 1
    assert opened.messages == [] and all(r.startswith(("file:", "data:")) for r in opened.requests)


def test_zoom(opened, page):
    opened.show(page)
    assert opened.ask("document.querySelector('#range').textContent").startswith("the whole run")
    whole = int(opened.ask("document.querySelector('#calls').dataset.shown"))
    opened.click("#in")
    assert " to " in opened.ask("document.querySelector('#range').textContent")
    opened.click("#in")
    assert int(opened.ask("document.querySelector('#calls').dataset.shown")) < whole
    opened.click("#right")
    opened.click("#reset")
    assert int(opened.ask("document.querySelector('#calls').dataset.shown")) == whole
    x, y = opened.place("#timeline svg")
    opened.mouse("mousePressed", x, y)
    opened.mouse("mouseMoved", x + 120, y)
    opened.mouse("mouseReleased", x + 120, y)
    assert " to " in opened.ask("document.querySelector('#range').textContent")
    assert opened.messages == []


def test_flame_graph(opened, page):
    opened.show(page)
    before = opened.ask("document.querySelector('#flame svg').textContent")
    opened.click("#flame svg g:nth-child(2) rect")
    assert opened.ask("document.querySelector('#flamewhat').textContent").startswith("Showing ")
    opened.click("#flame svg g:nth-child(1) rect")
    assert opened.ask("document.querySelector('#flame svg').textContent") == before
    assert opened.messages == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_no_line_is_wider_than_the_window(opened, page, width, dark):
    opened.show(page, width=width, height=844, dark=dark)
    assert opened.ask("document.documentElement.scrollWidth") <= width
    background = opened.ask("getComputedStyle(document.body).backgroundColor")
    assert (int(background.split("(")[1].split(",")[0]) < 60) == dark


def test_a_finding_closes(opened, page):
    opened.show(page)
    assert opened.ask("document.querySelector('.finding').open")
    opened.click(".finding > summary")
    assert not opened.ask("document.querySelector('.finding').open")
