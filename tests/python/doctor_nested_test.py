"""One examination inside another: each tells what happened in it, and the outer one loses nothing."""
import os
import subprocess
import sys

import evenflow as tf


@tf.function
def scale(x, n):
    return x * n


def calls(first):
    for n in range(first, first + 30):
        scale(tf.constant(1.0), n)


def test_a_block_in_a_block():
    with tf.experimental.doctor(show=False, everything=True) as outer:
        calls(0)
        with tf.experimental.doctor(show=False, everything=True) as quiet:
            scale(tf.constant(1.0), 0)
        with tf.experimental.doctor(show=False, everything=True) as inner:
            calls(1000)
    assert "E101" not in quiet.codes
    assert [f.count for f in inner.findings if f.code == "E101"] == [30]
    assert [f.count for f in outer.findings if f.code == "E101"][0] >= 59


def test_elements_after_an_inner_block():
    """The end of an inner block does not end the counting of pipelines of the outer one."""
    with tf.experimental.doctor(show=False, everything=True) as outer:
        with tf.experimental.doctor(show=False):
            pass
        for _ in tf.data.Dataset.range(12000).map(lambda v: v + 1):
            pass
    assert "E403" in outer.codes


def test_a_block_in_a_program(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("""import tensorflow as tf
@tf.function
def scale(x, n): return x * n
for n in range(40): scale(tf.constant(1.0), n)
with tf.experimental.doctor(show=False) as found: pass
print(found.codes)
""")
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", str(program)], text=True, capture_output=True,
                          env={**os.environ, "EVENFLOW_DOCTOR": "1"})
    assert done.stdout == "[]\n" and done.stderr.count("program.py:4: E101") == 1, done.stderr
