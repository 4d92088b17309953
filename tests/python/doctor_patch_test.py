"""Patches of `evenflow doctor --diff` as a user applies them: from where the doctor was started, with `patch` and with git."""
import os
import shutil
import subprocess
import sys

import pytest

PROGRAM = """import tensorflow as tf
@tf.function
def scale(x, n):
    return x * n
for i in range(40):
    scale(tf.constant(1.0), i)
"""


def patch_of(folder, name):
    done = subprocess.run([sys.executable, "-m", "evenflow", "doctor", "--diff", name], capture_output=True, cwd=folder, env=os.environ)
    assert done.returncode == 0, done.stderr
    return done.stdout


FORMS = {
    "plain": ("program.py", PROGRAM),
    "in a folder": ("models/first/program.py", PROGRAM),
    "a name with spaces": ("my models/my program.py", PROGRAM),
    "lines that end in CRLF": ("program.py", PROGRAM.replace("\n", "\r\n")),
    "no end of the last line": ("program.py", PROGRAM.rstrip("\n")),
    "a program that goes elsewhere": ("program.py", PROGRAM + "import os\nos.chdir('/')\n"),
}


@pytest.mark.parametrize("tool", [["patch", "-p0", "--binary"], ["git", "apply", "-p0"]], ids=["patch", "git"])
@pytest.mark.parametrize("form", sorted(FORMS))
def test_it_applies_where_it_was_made(form, tool, tmp_path):
    if not shutil.which(tool[0]):
        pytest.skip(f"{tool[0]} is not installed")
    name, text = FORMS[form]
    program = tmp_path / name
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_bytes(text.encode())
    made = patch_of(tmp_path, name)
    done = subprocess.run(tool, input=made, capture_output=True, cwd=tmp_path, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)})
    assert done.returncode == 0, (made.decode(), done.stdout, done.stderr)
    assert program.read_bytes() == text.replace("1.0), i)", "1.0), tf.constant(i))").encode()
