"""Programs of TensorFlow 1 run as printed by `evenflow run`; what they print was recorded from TensorFlow 2.21's compat.v1."""
import json
import subprocess
import sys

import numpy as np
import pytest

import v1_programs

RECORDED = json.loads((v1_programs.HERE / "v1_programs.json").read_text())


def _printed(tmp_path, source):
    path = tmp_path / "program.py"
    path.write_text(v1_programs.START + source)
    done = subprocess.run([sys.executable, "-m", "evenflow", "run", str(path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return np.array(done.stdout.split(), float)


@pytest.mark.parametrize("name", list(v1_programs.PROGRAMS))
def test_as_tensorflow(tmp_path, name):
    found, want = _printed(tmp_path, v1_programs.PROGRAMS[name]), np.array(RECORDED[name].split(), float)
    np.testing.assert_allclose(found, want, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("name, want", [("layers", [1, 8]), ("lstm", [1, 12]), ("bidirectional rnn", [1, 10]),
                                        ("stacked static rnn", [1, 4]), ("variational autoencoder", [1]),
                                        ("transposed convolutions", [4, 12, 12, 1, 1, 1])])
def test_what_tensorflow_no_longer_has(tmp_path, name, want):
    assert _printed(tmp_path, v1_programs.ONLY_HERE[name]).tolist() == want
