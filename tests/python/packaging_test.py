"""What is installed: one version everywhere, an extension that exports one name and needs system libraries only."""
import pathlib
import re
import subprocess
import sys

import evenflow
from evenflow import _core, _level

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SYSTEM = ("libdnnl", "libopenblas", "liblapacke", "libpcre2", "libz.", "libjpeg", "libpng", "libgif", "libgomp", "libmvec", "libm.", "libc.", "libpthread", "ld-linux",
          "libgcc_s", "libdl.", "librt.")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_version():
    stated = re.search(r"project\(evenflow VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert _core.version == stated
    assert tuple(int(n) for n in evenflow.__version__.split(".")[:2]) >= (2, 21)  # TensorFlow's, whose surface this is


def test_exports():
    names = [line.split()[-1].split("@")[0] for line in output("nm", "-D", "--defined-only", _core.__file__).splitlines()]
    assert names == ["PyInit__core"]


def test_libraries():
    needed = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", _core.__file__))
    assert needed and [n for n in needed if not n.startswith(SYSTEM)] == []


def test_import_brings_no_strangers():
    code = ("import sys, evenflow; "
            "print([m for m in ('tensorflow', 'keras', 'torch', 'jax', 'h5py', 'rich', 'pytest') if m in sys.modules])")
    assert output(sys.executable, "-c", code) == "[]\n"


def test_every_module_says_what_it_is():
    files = sorted((ROOT / "python" / "evenflow").rglob("*.py"))
    silent = [str(f) for f in files if f.stat().st_size and not f.read_text().lstrip().startswith(('"""', 'r"""', "'''"))]
    assert files and silent == []


def test_levels():
    """The newest level that the processor has; a package without levels, or an older processor, has the plain extension."""
    new = set().union(*_level.LEVELS.values())
    assert _level.choose(["x86-64-v3"], new | {"avx512f"}) == "x86-64-v3"
    assert _level.choose(["x86-64-v3"], new - {"fma"}) is None and _level.choose([], new) is None
    assert _level.choose(["x86-64-v3"], new, "x86-64-v2") is None and _level.choose(["x86-64-v9"], new) is None
    assert set(_level.processor()) or not pathlib.Path("/proc/cpuinfo").exists()
